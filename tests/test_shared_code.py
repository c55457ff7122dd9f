"""Functions that share their code but not what they captured; and the user's world, which is left alone."""

from __future__ import annotations

import functools
import math
import types
from dataclasses import dataclass

import pytest

import upshift as up
from changes import VALUES, XS, agree, follow, setter
from functions import helper_module
from law import GEARS, check

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
each_gear = pytest.mark.parametrize("gear", GEARS)
LIMIT = 1


@dataclass
class Gain:
    gain: float

    def scaled(self, x):
        return x * self.gain

    def __call__(self, x):
        return x - self.gain


@each_gear
def test_closures_of_one_code(gear):
    def make(k):
        return lambda x: x + k

    for f in [make(value) for value in VALUES] * 2:
        agree(f, gear, XS)


@each_gear
def test_defaults_of_one_code(gear):
    for f in [lambda x, k=k: x * k for k in VALUES]:
        agree(f, gear, XS)


@each_gear
def test_one_code_in_two_namespaces(gear):
    code = compile("def f(x):\n    return g(x) * K\n", "<shared>", "exec")
    spaces = [{"K": 2, "g": abs}, {"K": 0.5, "g": math.floor}, {"K": 3, "g": lambda x: x}]
    for space in spaces:
        exec(code, space)
    for space in spaces * 2:
        agree(space["f"], gear, XS)


@each_gear
def test_methods_of_two_objects(gear):
    boxes = [Gain(value) for value in VALUES]
    for box in boxes:
        agree(box.scaled, gear, XS)
        agree(box, gear, XS)


@each_gear
def test_partials_of_one_function(gear):
    for k in VALUES:
        agree(functools.partial(lambda x, k: x * k, k=k), gear, XS)


@each_gear
def test_functions_that_come_and_go(gear):
    """A new function may have the address of one that is gone."""
    for k in range(60):
        space = {}
        exec(f"def f(x):\n    return x * {k} + {k % 7}.5\n", space)
        agree(space["f"], gear, XS[:20])


# -- the names under which the standard library is known ----------------------------------------------------
@each_gear
def test_module_that_only_looks_like_math(gear):
    math_like = types.SimpleNamespace(sin=lambda x: x + 1, pi=3)
    space = {"math": math_like}
    exec("def f(x):\n    return math.sin(x) * math.pi\n", space)
    follow(space["f"], [setter(math_like, "pi", 4), setter(math_like, "sin", math.cos)], gear)


def test_captured_values_in_results():
    constants = [2.5, 1]
    check(lambda x: (x, constants[0], constants[1], LIMIT), XS)
    check(lambda x: constants, XS)


@each_gear
def test_result_is_not_the_captured_object(gear):
    """Stacking copies numbers; what comes back as a list holds the loop's own objects."""
    captured = object()
    results = up.map(lambda x: captured, [1.0, 2.0], gear="loop" if gear == "numpy" else gear)
    assert results == [captured, captured]


# -- the user's world is left alone -------------------------------------------------------------------------
@each_gear
def test_nothing_of_the_users_is_patched(gear):
    before = (
        math.sin,
        abs,
        min,
        helper_module.scale,
        helper_module.scale.__code__,
        dict(vars(helper_module)),
    )

    def f(x):
        return helper_module.scale(math.sin(x)) + min(abs(x), 1)

    names = sorted(vars(f)), f.__code__, f.__globals__ is globals(), dict(f.__globals__)
    check(f, XS, gears=(gear,))
    assert (
        math.sin,
        abs,
        min,
        helper_module.scale,
        helper_module.scale.__code__,
        dict(vars(helper_module)),
    ) == before
    assert (sorted(vars(f)), f.__code__, f.__globals__ is globals(), dict(f.__globals__)) == names
