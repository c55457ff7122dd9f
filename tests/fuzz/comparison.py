"""Two results in, whether they are the same out: values, classes, signs of zero, orders, exceptions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit and of the same class, all the way down; any NaN is as good as another."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and same(a.tolist(), b.tolist())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, set | frozenset):
        return same(list(a), list(b))
    if isinstance(a, complex | np.complexfloating):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, float | np.floating):
        x, y = float(a), float(b)
        return (x == y and math.copysign(1, x) == math.copysign(1, y)) or (x != x and y != y)
    if isinstance(a, BaseException):
        return same(_plain(a.args), _plain(b.args)) or str(a) == str(b)
    if dataclasses.is_dataclass(a):
        return same(vars(a), vars(b))
    return bool(a == b)


def _plain(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x for x in args if isinstance(x, int | float | str))


def shortened(x: Any, limit: int = 300) -> str:
    text = repr(x)
    return text if len(text) <= limit else f"{text[: limit - 40]} … {text[-36:]}"
