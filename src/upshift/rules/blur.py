"""How far a column that is only close may be off, and which lanes are then too close to a decision to call.

Batched `sin` and libm's differ in the last bits. Where a comparison hangs on such a value, an error bound is carried
along with the column; a lane whose value is nearer to the edge than the bound is left to the plain function. So the
branch that is taken is the loop's for every lane, at the price of a few lanes, not of a call per lane.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.kinds import Column
from .conversions import larger, smaller

ROUND = 2.0**-52
"""One rounding, relative."""
CLOSE = 16 * ROUND
"""How far a batched function and libm's may be apart, relative; NumPy promises 4 roundings to the true value."""


@dataclass(frozen=True, slots=True)
class Blurred:
    """A column, and how far it may be off at most (0: not at all)."""

    column: Any
    error: float

    @property
    def most(self) -> float:
        """The largest magnitude."""
        return largest(self.column)

    @property
    def least(self) -> float:
        """The smallest magnitude that the true value may have; 0 where it may be anything."""
        size = np.abs(self.column)
        return max(float(np.fmin.reduce(np.atleast_1d(size))) - self.error, 0.0) if np.size(size) else math.inf


def largest(column: Any) -> float:
    """The largest magnitude in a column, NaN left aside."""
    if not isinstance(column, np.ndarray):
        return float(abs(column))
    if not column.size:
        return 0.0
    column = np.abs(column) if column.dtype.kind == "c" else column
    return max(abs(float(np.fmax.reduce(column))), abs(float(np.fmin.reduce(column))))


Spread = Callable[..., float]


def _add(a: Blurred, b: Blurred) -> float:
    return a.error + b.error


def _multiply(a: Blurred, b: Blurred) -> float:
    return a.error * b.most + b.error * a.most + a.error * b.error


def _divide(a: Blurred, b: Blurred) -> float:
    least = b.least
    if not b.error:
        return a.error / least if least else (math.inf if a.error else 0.0)
    return (a.error + a.most / least * b.error) / least if least else math.inf


def _root(a: Blurred) -> float:
    least = a.least
    return min(math.sqrt(a.error), a.error / (2 * math.sqrt(least)) if least else math.inf)


def _power(a: Blurred, b: Blurred) -> float:
    if not a.error and not b.error:
        return 0.0
    if b.error or isinstance(b.column, np.ndarray) or b.column < 1:
        return math.inf
    return float(float(b.column) * (a.most + a.error) ** (float(b.column) - 1) * a.error)


def _same(a: Blurred) -> float:
    return a.error


def _exponential(a: Blurred) -> float:
    return math.inf if a.error > 1 or a.most > 700 else (math.exp(a.most) + 1) * math.expm1(a.error)


def _logarithm(a: Blurred) -> float:
    return 2 * a.error / a.least if a.least else (math.inf if a.error else 0.0)


def _arc(a: Blurred) -> float:
    return 2.5 * math.sqrt(a.error)


def _either(a: Blurred, b: Blurred) -> float:
    return max(a.error, b.error)


def _only_exact(*args: Blurred) -> float:
    return math.inf if any(a.error for a in args) else 0.0


SPREAD: dict[Any, Spread] = {
    operator.add: _add, operator.sub: _add, operator.mul: _multiply, operator.truediv: _divide, operator.pow: _power,
    operator.neg: _same, operator.pos: _same, operator.abs: _same, smaller: _either, larger: _either, float: _same,
    math.sqrt: _root, math.sin: _same, math.cos: _same, math.atan: _same, math.tanh: _same, math.asinh: _same,
    math.exp: _exponential, math.expm1: _exponential, math.sinh: _exponential, math.cosh: _exponential,
    math.log: _logarithm, math.log2: _logarithm, math.log10: _logarithm, math.log1p: _only_exact,
    math.asin: _arc, math.acos: _arc, math.hypot: _add, math.fabs: _same, math.tan: _only_exact,
    math.atan2: _only_exact,
    math.degrees: lambda a: 60 * a.error, math.radians: _same, math.atanh: _only_exact, math.acosh: _only_exact,
    math.cbrt: _only_exact, math.exp2: _exponential, math.pow: _only_exact,
}  # fmt: skip
"""How the errors of arguments spread to the result, before the call adds its own."""


def spread(fn: Any, close: bool, out: Any, args: list[Blurred]) -> float:
    """How far the result of a call may be off."""
    if not close and not any(arg.error for arg in args):
        return 0.0
    error = SPREAD[fn](*args) + (CLOSE if close else ROUND) * largest(out)
    return error if error == error else math.inf


def _difference(a: Any, b: Any) -> Any:
    return a - b


EDGES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _difference),
    **dict.fromkeys(("true", "not_negative", "positive"), lambda x: x),
    "above_minus_one": lambda x: x + 1,
    "at_least_one": lambda x: x - 1,
    "within_one": lambda x: np.abs(x) - 1,
    "inside_one": lambda x: np.abs(x) - 1,
    **dict.fromkeys(("int", "trunc", "floor", "ceil"), lambda x: x - np.rint(x)),
    "round": lambda x: x - np.floor(x) - 0.5,
}
"""By the name of a cutting op: how far its arguments are from where its result jumps."""


def too_close(name: str, args: list[Any], error: float) -> Column:
    """Lanes whose decision may not be the loop's."""
    return np.asarray(np.abs(EDGES[name](*args)) <= error)
