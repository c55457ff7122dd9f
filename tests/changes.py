"""Changes what a function stands on, from a list of such changes, and sees that every gear takes note."""

from __future__ import annotations

import math

import numpy as np

import upshift as up
from law import compare
from stacking import outcomes, stack

XS = [k * 0.5 for k in range(-40, 40)]
VALUES = (3, 2.5, True, 3.0, -0.0, 0, 0.0, np.float32(3), np.float64(3), math.nan, 2**70, 1j, 3)


def follow(f, changes, gear, xs=XS):
    """After each change the gear agrees with the loop as it is now."""
    agree(f, gear, xs)
    for change in changes:
        change()
        agree(f, gear, xs)
        agree(f, gear, xs)


def agree(f, gear, xs):
    expected = stack(outcomes(f, (xs,), {}))
    try:
        actual = up.map(f, xs, gear=gear)
    except up.GearRefused as refusal:
        assert gear == "numpy" and "numpy" in str(refusal)
        return
    difference = compare(expected, actual)
    assert difference is None, difference


def setter(target, name, value):
    return lambda: setattr(target, name, value)
