"""Programs of numbers that a search for differences found; and the search itself, in small."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest

import upshift as up
from law import check

XS = np.concatenate([np.random.default_rng(4).normal(0, 3, 400), np.arange(-4.0, 5.0)])


def kept_as_a_float(x):
    """`float(y)` was y's own memory, into which `np.cos(y)` was then written."""
    y = np.sin(x)
    z = float(y)
    return z + np.cos(y)


def kept_beyond_a_branch(x):
    y = np.arcsinh(x) if x * x > 1 else np.minimum(x, x)
    z = float(y)
    return np.subtract(x, z) if np.sin(y) > 0.1 else np.subtract(z, 1.0)


@pytest.mark.parametrize("f", [kept_as_a_float, kept_beyond_a_branch])
def test_memory_that_somebody_else_looks_at_is_not_written_over(f):
    check(f, XS, must_batch=True)
    check(f, XS.tolist(), must_batch=True)


def test_narrow_floats_are_exact_before_they_become_wide():
    """A square of float32 is off by 1e-7 at most: much, in a result of float64."""

    def f(x):
        y = x**2 - x if np.abs(x) > 1 else np.tanh(x)
        return np.true_divide(x, np.abs(math.log(abs(x) + 0.1)) + 0.2) + y

    xs = np.random.default_rng(0).normal(0, 3, 20_000).astype(np.float32)
    np.testing.assert_allclose(up.map(f, xs, gear="numpy"), up.map(f, xs, gear="loop"), rtol=1e-9)


def test_small_differences_of_large_numbers():
    """So many results are too inexact to be sure of that some are looked at: not those that are left out anyway."""

    def f(x):
        y = np.multiply(x, x) if math.floor(x) > 0 else np.negative(x)
        return np.multiply(-math.tanh(y), y) + y

    for seed in range(5):
        check(f, np.random.default_rng(seed).normal(0, 3, 100))


UNARY = ("math.exp({a} * 0.3)", "math.sin({a})", "math.cos({a})", "math.log(abs({a}) + 0.1)", "math.atan({a})",
         "np.sin({a})", "np.exp(-{a} * {a})", "np.sqrt(np.abs({a}))", "np.tanh({a})", "np.square({a})", "float({a})",
         "np.log(np.abs({a}) + 0.5)", "np.arctan({a})", "np.log10(np.abs({a}) + 1.0)", "np.cosh({a} * 0.1)", "abs({a})",
         "np.arcsinh({a})", "np.exp2({a} * 0.2)", "np.expm1({a} * 0.1)", "np.arcsin(np.sin({a}))", "np.negative({a})",
         "np.fabs({a})", "math.sqrt(abs({a}))", "-{a}")  # fmt: skip
BINARY = ("{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / (abs({b}) + 0.3)", "np.add({a}, {b})", "np.subtract({a}, {b})",
          "np.multiply({a}, {b})", "np.true_divide({a}, np.abs({b}) + 0.2)", "np.maximum({a}, {b})", "min({a}, {b})",
          "np.minimum({a}, {b})", "np.add(0.25, {a})", "max({a}, {b})", "0.5 * {a} + {b}",
          "{a} ** 2 - {b}")  # fmt: skip
TESTS = ("{a} > {b}", "{a} < 0.5", "np.sin({a}) > 0.1", "{a} >= {b} * 0.9", "int({a}) % 2 == 0", "math.floor({a}) > 0",
         "{a} * {a} < 1.0", "np.abs({a}) > 1.0")  # fmt: skip


def made_up(seed: int) -> str:
    """A program of Python's and NumPy's functions of numbers."""
    rng = random.Random(seed)
    names, lines = ["x"], ["def f(x):"]

    def value() -> str:
        return rng.choice(UNARY + BINARY).format(a=rng.choice(names), b=rng.choice(names))

    for i in range(rng.randint(3, 8)):
        if rng.random() < 0.35:
            test = rng.choice(TESTS).format(a=rng.choice(names), b=rng.choice(names))
            lines += [f"    if {test}:", f"        v{i} = {value()}", "    else:", f"        v{i} = {value()}"]
        else:
            lines.append(f"    v{i} = {value()}")
        names.append(f"v{i}")
    last, other = names[-1], rng.choice(names)
    lines.append(f"    return {last} + {other}" if rng.random() < 0.8 else f"    return {last}, {other} > 0")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(200))
def test_made_up_programs(seed):
    text = made_up(seed)
    space = {"np": np, "math": math}
    exec(compile(text, f"<program {seed}>", "exec"), space)
    rng = np.random.default_rng(seed)
    xs = np.concatenate([rng.normal(0, 3, 80), rng.integers(-4, 5, 20).astype(float)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(space["f"], xs)
        check(space["f"], xs.tolist())
