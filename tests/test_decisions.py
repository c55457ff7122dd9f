"""Decisions that depend on sines, exponentials and their like are the loop's, also where the last bits tell.

Vector functions have other last bits than C's. Machine code decides by them, and leaves lanes in which that could
matter; elements here lie at the very places where decisions change, and within a few floats of them. (Without those
marks, `of_a_power` fails.)
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import upshift as up
from law import check
from upshift.emit.select import select_of
from upshift.plan.functions import FUNCTIONS

RNG = np.random.default_rng(7)


def around(points: np.ndarray) -> np.ndarray:
    """Each point, and the floats next to it."""
    steps = [points]
    for toward in (-np.inf, np.inf):
        near = points
        for _ in range(4):
            near = np.nextafter(near, toward)
            steps.append(near)
    mixed = np.concatenate(steps)
    RNG.shuffle(mixed)
    return mixed


def three_ways(x, level):
    y = math.sin(x)
    return 1.0 if y < level else 2.0 if y == level else 3.0


def root_of_a_difference(x, level):
    return math.sqrt(math.cos(x) - level)


def logarithm_of_a_difference(x, level):
    return math.log(math.exp(x) - level)


def arc_of_a_product(x, level):
    return math.asin(math.sin(x) * level)


def of_infinities(x, level):
    y = math.cosh(x) * level
    return 0.0 if math.isinf(y) else 1.0


def nested(x, level):
    return math.sin(math.exp(x) * level) + math.cos(math.sinh(x))


def of_a_power(x, level):
    return x if math.sin(x) ** 2 + math.cos(x) ** 2 <= level else -x


def normal(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def option(price, strike):
    first = (math.log(price / strike) + 0.05) / 0.2
    return price * normal(first) - strike * math.exp(-0.03) * normal(first - 0.2)


LEVELS = RNG.uniform(-0.99, 0.99, 300)
LARGE = RNG.uniform(1.0, 50.0, 300)
SINES = around(np.arcsin(LEVELS))
EDGES = {
    three_ways: (SINES, np.sin(SINES)),
    root_of_a_difference: (around(np.arccos(LEVELS)), np.tile(LEVELS, 9)),
    logarithm_of_a_difference: (around(np.log(LARGE)), np.tile(LARGE, 9)),
    arc_of_a_product: (SINES, 1.0 / np.sin(SINES)),
    of_infinities: (around(np.full(300, 700.0)), np.exp(RNG.uniform(9.7, 9.8, 2700))),
    nested: (RNG.uniform(-3.0, 3.0, 2700), RNG.uniform(0.1, 2.0, 2700)),
    of_a_power: (RNG.uniform(-9.0, 9.0, 2700), RNG.choice([1.0 - 2.0**-53, 1.0, 1.0 + 2.0**-52], 2700)),
    option: (RNG.uniform(80.0, 120.0, 2700), RNG.uniform(80.0, 120.0, 2700)),
}


@pytest.mark.parametrize("f", EDGES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("listed", [False, True], ids=["array", "list"])
def test_decisions_are_the_loops(f, listed: bool) -> None:
    columns = [column.tolist() if listed else column for column in EDGES[f]]
    check(f, *columns, gears=("numpy", "llvm", "simd"))


@pytest.mark.parametrize("f", EDGES, ids=lambda f: f.__name__)
def test_such_decisions_are_made_by_vector_functions(f) -> None:
    """Else the test above would show nothing."""
    columns = EDGES[f]
    up.map(f, *columns, gear="numpy", on_error="return")
    tree = FUNCTIONS.of(f, columns, {}, False).traces.traced()
    assert tree is not None
    lines = "\n".join(select_of(tree).lines)
    assert "vector_" in lines and "exact_" not in lines, lines
