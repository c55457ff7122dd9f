"""Functions that use a class with `__float__`, `__int__` or `__array__`: a failure where a gear differs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from law import check

XS = np.linspace(-3, 3, 41)
ROWS = np.random.default_rng(0).normal(size=(23, 5))


class Length:
    def __init__(self, metres: Any) -> None:
        self.metres = metres

    def __float__(self) -> float:
        return float(self.metres)

    def __int__(self) -> int:
        return int(self.metres)

    def __bool__(self) -> bool:
        return bool(self.metres > 0)


class Track:
    def __init__(self, points: Any) -> None:
        self.points = points

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.points, dtype)


FUNCTIONS = {
    "float": (lambda x: float(Length(x)) * 2, XS),
    "int": (lambda x: int(Length(x * 4)), XS),
    "bool": (lambda x: 1.0 if Length(x) else -1.0, XS),
    "math": (lambda x: math.sin(Length(x)) + math.hypot(Length(x), 2.0), XS),
    "ufunc": (lambda x: np.sin(Track(x)) + 1, ROWS),
    "two": (lambda x: np.maximum(Track(x), 0.5), ROWS),
    "function": (lambda x: np.sum(Track(x)), ROWS),
    "list": (lambda x: np.stack([Track(x), Track(-x)]), ROWS),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_and_arrays_are_asked_for(name: str) -> None:
    f, xs = FUNCTIONS[name]
    check(f, xs, must_batch=True)
