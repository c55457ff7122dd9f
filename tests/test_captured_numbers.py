"""Captured numbers of every kind, with every kind of column, and steps that only captured numbers take."""

from __future__ import annotations

import math
import types

import numpy as np
import pytest

from changes import VALUES, XS
from law import GEARS, check

pytestmark = pytest.mark.filterwarnings("ignore")
each_gear = pytest.mark.parametrize("gear", GEARS)
LIMIT = 1


def raises_by_division(x):
    try:
        return 1 / LIMIT + x
    except ZeroDivisionError:
        return -1.0


def raises_by_conversion(x):
    try:
        return math.trunc(LIMIT) * x
    except (OverflowError, ValueError):
        return -1.0


def raises_by_domain(x):
    try:
        return math.sqrt(LIMIT)
    except ValueError:
        return x


def raises_by_look_up(x):
    try:
        return {1: 2.0}[LIMIT] + x
    except KeyError:
        return -1.0


def raises_on_one_path(x):
    return math.floor(LIMIT) if x > 2 else x


@each_gear
@pytest.mark.parametrize(
    "f",
    [raises_by_division, raises_by_conversion, raises_by_domain, raises_by_look_up, raises_on_one_path],
    ids=lambda f: f.__name__,
)
def test_what_a_capture_alone_raises(f, gear, monkeypatch):
    """A step on captured values raised in one call, and does not in the next; and the other way round."""
    values = (0, 2.0, math.inf, 1, -3.0, math.nan)
    for first in values:
        unseen = types.FunctionType(f.__code__.replace(co_name=f"{f.__name__}_{first}"), globals())
        for value in (first, *values, first):
            monkeypatch.setitem(globals(), "LIMIT", value)
            check(unseen, XS, gears=(gear,))


NUMPY_VALUES = (*VALUES, 300, -1, 2**40, np.int64(5), np.uint8(7), np.uint8(200), np.bool_(True), np.int8(-1), 2)
OPERATIONS = {
    "x + K": lambda x: x + LIMIT,
    "K - x": lambda x: LIMIT - x,
    "x * K": lambda x: x * LIMIT,
    "x & K": lambda x: x & LIMIT,
    "x % K": lambda x: x % LIMIT,
    "x // K": lambda x: x // LIMIT,
    "x < K": lambda x: x < LIMIT,
    "min": lambda x: min(x, LIMIT),
    "x + K * K": lambda x: x + LIMIT * LIMIT,
    "x % (K > 1)": lambda x: x % (LIMIT > 1),
    "branch": lambda x: x if LIMIT > 1 else LIMIT,
    "both": lambda x: (x, LIMIT) if x > LIMIT else (LIMIT, x),
}
COLUMNS = {
    "ints": [1, 2, -3, 0, 2**62],
    "floats": [1.0, -2.5, 0.0],
    "uint8": np.array([1, 2, 200], dtype=np.uint8),
    "int64": np.array([-8, 5, 2**62]),
    "float32": np.array([1.5, -2.0], dtype=np.float32),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("column", COLUMNS)
def test_every_kind_of_capture(operation, column, monkeypatch):
    for value in NUMPY_VALUES:
        monkeypatch.setitem(globals(), "LIMIT", value)
        check(OPERATIONS[operation], COLUMNS[column], gears=("numpy",))


PAIR = [0, np.int64(5)]
STEP = 3


def read_on_one_path(x, y):
    v = x and y
    if x < y <= x:
        pass
    elif (x < PAIR[1] <= PAIR[1]) == 0:
        v = STEP << x  # noqa: F841


def test_captures_read_on_one_path_for_nothing():
    check(read_on_one_path, np.array([4, 6, -(2**62)]), np.array([2, -4, -4]))
    check(read_on_one_path, [4, 6, -(2**62)], [2, -4, -4])
