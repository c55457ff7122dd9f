"""Functions whose branch or result depends on the last bits of sin, exp, log: a failure for each miss."""

from __future__ import annotations

import math

import numpy as np
import pytest

import upshift as up
from law import check
from upshift.rules.slopes import NUMPY_NAMES, SLOPES


def neighbours(x, count):
    """Floats next to x, on both sides."""
    bits = np.float64(x).view(np.int64) + np.arange(-count, count + 1)
    return bits.view(np.float64)


@pytest.mark.parametrize("fn", [math.sin, math.cos, math.exp, math.log, math.atan, math.sqrt, math.tanh])
@pytest.mark.parametrize("at", [0.3, 0.7, 1.1, 2.9])
def test_branches_at_the_edge(fn, at):
    edge = fn(at)

    def above(x):
        return 1 if fn(x) > edge else 2

    check(above, neighbours(at, 200), must_batch=True)
    check(above, neighbours(at, 200).tolist(), must_batch=True)


@pytest.mark.parametrize("name", SLOPES)
def test_no_function_is_steeper_than_the_table_says(name):
    slope, fn = SLOPES[name], getattr(math, name, None) or getattr(np, NUMPY_NAMES.get(name, name))
    for x in np.concatenate([np.linspace(-9, 9, 1001), np.logspace(-6, 3, 401)]).tolist():
        near = x + 1e-4 * max(abs(x), 1e-3)
        if (slope.by_inverse and x <= 0) or (slope.by_result and x > 700):
            continue
        steep = slope.fixed + slope.by_result * max(abs(fn(x)), abs(fn(near)))
        steep += slope.by_inverse / x if slope.by_inverse else 0.0
        assert abs(fn(near) - fn(x)) <= 1.001 * steep * (near - x) + 1e-15, x


AFTER = {
    "add": lambda y: np.add(0.25, y), "subtract": lambda y: np.subtract(2.0, y),
    "multiply": lambda y: np.multiply(y, 3.0),
    "divide": lambda y: np.true_divide(1.5, y), "square": np.square, "maximum": lambda y: np.maximum(y, 0.1),
    "minimum": lambda y: np.minimum(9.0, y), "sqrt": np.sqrt, "negative": np.negative, "absolute": np.absolute,
    "sin": np.sin, "tanh": np.tanh, "exp": np.exp, "cosh": np.cosh, "expm1": np.expm1, "log": np.log,
    "arctan": np.arctan, "arcsinh": np.arcsinh, "log10": np.log10, "exp2": np.exp2,
    "arcsin": lambda y: np.arcsin(y * 0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("at", [0.3, 1.1])
def test_branches_at_the_edge_of_what_numpy_makes_of_it(name, at):
    """Errors spread through NumPy's functions as through Python's."""
    after = AFTER[name]
    edge = after(math.exp(at))

    def above(x):
        return 1 if after(math.exp(x)) > edge else 2

    check(above, neighbours(at, 200), must_batch=True)
    check(above, neighbours(at, 200).tolist())


def test_an_edge_among_many():
    edge = math.sin(0.7)

    def above(x):
        return math.sin(x) > edge

    xs = np.concatenate([np.linspace(0, 3, 50_000), neighbours(0.7, 50)])
    assert up.map(above, xs, gear="numpy").tolist() == [above(x) for x in xs]


def test_differences_of_nearly_equal_numbers():
    def rest(x):
        return math.log1p(x) - math.log(1 + x)

    check(rest, np.linspace(0.1, 5, 500))
    check(rest, np.linspace(0.1, 5, 500).tolist())


def test_floors_of_powers():
    check(lambda x: math.floor(10.0**x), [0.0, 1.0, 2.0, 3.0, 0.5, 2.9999999999999996] * 30, must_batch=True)
    check(lambda x: int(math.log10(x)), [1, 9, 10, 99, 100, 999, 1000, 10**15] * 20, must_batch=True)
