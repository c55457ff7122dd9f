"""Ranges of integers: proofs that the result of an operation fits into 64 bits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.kinds import Column
from .op import Span

ENDLESS: Span = (-(2**300), 2**300)


def span_of(arg: Any) -> tuple[Any, Any]:
    """The smallest and the largest value of an argument, as Python numbers."""
    if isinstance(arg, np.ndarray):
        return (arg.min().item(), arg.max().item()) if arg.size else (0, 0)
    number = arg.item() if isinstance(arg, np.generic) else arg
    number = int(number) if isinstance(number, bool) else number
    return number, number


def _of_corners(fn: Callable[[Any, Any], Any]) -> Callable[[Span, Span], Span]:
    def reach(a: Span, b: Span) -> Span:
        corners = [fn(x, y) for x in a for y in b]
        return min(corners), max(corners)

    return reach


def hull(*spans: Span) -> Span:
    """The smallest range that holds all of these."""
    return min(s[0] for s in spans), max(s[1] for s in spans)


def _negated(a: Span) -> Span:
    return -a[1], -a[0]


def _power(a: Span, b: Span) -> Span:
    if b[1] > 64 or b[0] < 0:
        return ENDLESS if max(abs(a[0]), abs(a[1])) > 1 or b[0] < 0 else (-1, 1)
    corners = [x**y for x in (*a, 0) for y in b]
    most = max(map(abs, corners))
    return (-most if a[0] < 0 else 0), most


def _shifted(a: Span, b: Span) -> Span:
    if b[1] > 64 or b[0] < 0:
        return ENDLESS
    return hull((a[0] << b[0], a[1] << b[0]), (a[0] << b[1], a[1] << b[1]))


REACH: dict[Callable[..., Any], Callable[..., Span]] = {
    operator.add: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    operator.sub: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    operator.mul: _of_corners(operator.mul),
    operator.neg: _negated,
    operator.abs: lambda a: (0, max(abs(a[0]), abs(a[1]))),
    operator.pow: _power,
    operator.lshift: _shifted,
    operator.floordiv: lambda a, b: hull(a, _negated(a)),
    operator.mod: lambda a, b: hull(b, _negated(b)),
}
"""What the results of an operation on ints may reach, from what the operands may be."""


def outside(fn: Callable[..., Any], limits: Span) -> Callable[..., Column]:
    """Lanes whose result may be beyond the limits, from the same operation on floats (never too few lanes)."""
    slack = max(1, limits[1] >> 48)
    low, high = float(limits[0] + slack), float(limits[1] - slack)
    by_float = _shift_of_floats if fn is operator.lshift else fn

    def mask(*args: Any) -> Column:
        with np.errstate(all="ignore"):
            about = by_float(*(np.asarray(a, dtype=np.float64) for a in args))
            return np.asarray(~((about >= low) & (about <= high)))

    if fn is operator.floordiv or fn is operator.mod:
        return lambda a, b: np.broadcast_to(np.equal(a, limits[0]) | np.equal(b, limits[0]), np.broadcast(a, b).shape)
    return mask


def _shift_of_floats(a: Column, b: Column) -> Column:
    return np.asarray(a * np.exp2(b))


def beyond(limit: int) -> Callable[..., Column]:
    """A mask of lanes with an argument beyond +-limit."""

    def mask(*args: Any) -> Column:
        masks = [(np.less(a, -limit) | np.greater(a, limit)) for a in args]
        return np.asarray(np.logical_or.reduce(np.broadcast_arrays(*masks)))

    return mask
