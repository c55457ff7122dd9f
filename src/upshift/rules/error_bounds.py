"""Error bounds: how far a column may be off, and which lanes are then too close to a decision, or too inexact.

Batched `sin` and libm's differ in the last bits. An error bound is carried along with such a column. At a comparison, a
lane whose value is nearer to the edge than the bound is left to the plain function, and so is a lane whose result may
be further off than the law allows (a difference of two nearly equal numbers). So branches are the loop's and results
are as close as promised, for every lane, at the price of a few lanes and not of a call per lane.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.kinds import RTOL, Column
from .conversions import larger, smaller
from .slopes import NUMPY_NAMES, SLOPES, Slope

CLOSE = 16
"""How many roundings a batched function and libm's may be apart; NumPy promises 4 to the true value."""


@dataclass(slots=True)
class Error:
    """A bound on how far values may be off: relative to each, and absolute (None: known by the relative one)."""

    relative: float
    absolute: float | None = None


EXACT = Error(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Inexact:
    """A column and its error."""

    column: Any
    error: Error

    @property
    def most(self) -> float:
        """The largest magnitude."""
        return largest(self.column)

    @property
    def off(self) -> float:
        """The absolute error."""
        if self.error.absolute is None:
            self.error.absolute = self.error.relative * self.most * 1.001
        return self.error.absolute

    @property
    def least(self) -> float:
        """The smallest magnitude that a true value may have."""
        size = np.abs(self.column)
        return max(float(np.fmin.reduce(np.atleast_1d(size))) - self.off, 0.0) if np.size(size) else math.inf

    @property
    def sharp(self) -> bool:
        """Whether every number is the loop's, bit for bit."""
        return self.error.relative == 0 or self.error.absolute == 0


def largest(column: Any) -> float:
    """The largest magnitude in a column, NaN left aside."""
    if not isinstance(column, np.ndarray):
        return float(abs(column))
    if not column.size:
        return 0.0
    column = np.abs(column) if column.dtype.kind == "c" else column
    high, low = float(column.max()), float(column.min())
    if high != high:
        high, low = float(np.fmax.reduce(column)), float(np.fmin.reduce(column))
    return max(abs(high), abs(low))


Spread = Callable[..., Error]


def _add(a: Inexact, b: Inexact) -> Error:
    return Error(math.inf, a.off + b.off)


def _multiply(a: Inexact, b: Inexact) -> Error:
    relative = a.error.relative + b.error.relative
    if relative < 1e-3:
        return Error(1.01 * relative)
    return Error(math.inf, a.off * b.most + b.off * a.most + a.off * b.off)


def _divide(a: Inexact, b: Inexact) -> Error:
    relative = a.error.relative + b.error.relative
    if relative < 1e-3:
        return Error(1.01 * relative)
    least = b.least
    if not least:
        return Error(math.inf, math.inf)
    return Error(math.inf, (a.off + a.most / least * b.off) / least)


def _root(a: Inexact) -> Error:
    if a.error.relative < 1e-3:
        return Error(a.error.relative)
    least = a.least
    return Error(math.inf, min(math.sqrt(a.off), a.off / (2 * math.sqrt(least)) if least else math.inf))


def _power(a: Inexact, b: Inexact) -> Error:
    if a.sharp and b.sharp:
        return Error(0.0)
    if not b.sharp or isinstance(b.column, np.ndarray):
        return Error(math.inf, math.inf)
    p = float(b.column)
    if abs(p) * a.error.relative < 1e-3:
        return Error(1.01 * abs(p) * a.error.relative)
    return Error(math.inf, p * (a.most + a.off) ** (p - 1) * a.off if p >= 1 else math.inf)


def _same(a: Inexact) -> Error:
    return Error(a.error.relative, a.error.absolute)


def _by_slope(slope: Slope) -> Spread:
    """How the error of an argument spreads to the result of a function that is no steeper than this."""

    def spread(a: Inexact) -> Error:
        if a.sharp:
            return Error(0.0)
        if slope.by_inverse:
            relative = min(a.error.relative, a.off / a.least if a.least else math.inf)
            return Error(math.inf, 1.01 * slope.by_inverse * relative if relative < 1e-3 else math.inf)
        if not slope.by_result:
            return Error(math.inf, slope.fixed * a.off)
        if slope.fixed:  # of what has exp(|x|) / 2 for its largest values
            large = a.off > 1 or a.most > 700
            return Error(math.inf, math.inf if large else (math.exp(a.most) + 1) * math.expm1(a.off))
        return Error(1.01 * slope.by_result * a.off) if a.off < 1e-3 else Error(math.inf, math.inf)

    return spread


def _arc(a: Inexact) -> Error:
    return Error(0.0) if a.sharp else Error(math.inf, 2.5 * math.sqrt(a.off))


def _either(a: Inexact, b: Inexact) -> Error:
    relative = max(a.error.relative, b.error.relative)
    return Error(relative) if relative < 1e-3 else Error(math.inf, max(a.off, b.off))


def _scaled(scale: float) -> Spread:
    """A constant times the argument."""
    return lambda a: Error(a.error.relative, None if a.error.absolute is None else scale * a.error.absolute)


def _only_sharp(*args: Inexact) -> Error:
    return Error(0.0) if all(a.sharp for a in args) else Error(math.inf, math.inf)


def _named(*names: str) -> list[Any]:
    """Functions of `math` and of NumPy by C's names."""
    found = [(getattr(math, name, None), getattr(np, NUMPY_NAMES.get(name, name), None)) for name in names]
    return [fn for both in found for fn in both if fn is not None]


SPREAD: dict[Any, Spread] = {
    **{fn: _by_slope(slope) for name, slope in SLOPES.items() for fn in _named(name)},
    **{fn: _scaled(SLOPES[fn.__name__].fixed) for fn in _named("degrees", "radians")},
    **dict.fromkeys(_named("asin", "acos"), _arc), **dict.fromkeys(_named("sqrt"), _root),
    **dict.fromkeys((math.tan, math.atan2, math.atanh, math.acosh, math.cbrt, math.pow), _only_sharp),
    **dict.fromkeys((math.log1p, math.hypot), _only_sharp),
    operator.add: _add, operator.sub: _add, operator.mul: _multiply, operator.truediv: _divide, operator.pow: _power,
    np.add: _add, np.subtract: _add, np.multiply: _multiply, np.true_divide: _divide,
    np.square: lambda a: _multiply(a, a),
    **dict.fromkeys((smaller, larger, np.maximum, np.minimum), _either),
    **dict.fromkeys((operator.neg, operator.pos, operator.abs, math.fabs, float, np.float64), _same),
    **dict.fromkeys((np.negative, np.positive, np.absolute, np.fabs), _same),
}  # fmt: skip
"""How the errors of arguments spread to the result, before the call adds its own."""


def spread_of(fn: Any) -> Spread | None:
    """How errors spread through a function: its row, or what it brings along; None where nobody knows."""
    return SPREAD.get(fn) or getattr(fn, "spread", None)


def spread(fn: Any, close: bool, out: Any, args: list[Inexact]) -> Error:
    """How far the result of a call may be off."""
    if not close and all(arg.sharp for arg in args):
        return EXACT
    row = spread_of(fn)
    assert row is not None
    made = row(*args)
    own = (CLOSE if close else 1) * float(np.finfo(out.dtype).eps if out.dtype.kind in "fc" else 2.0**-52)
    if made.absolute is None:
        return Error(made.relative + own, 2 * own if fn in _BELOW_TWO and not made.relative else None)
    absolute = made.absolute + own * largest(out)
    return Error(math.inf, absolute if absolute == absolute else math.inf)


_BELOW_TWO = frozenset((math.sin, math.cos, math.atan, math.tanh))
"""Functions whose values, and so their absolute errors, are small whatever the argument."""


def _from_infinite(x: Any) -> Any:
    """Far, unless it is so large that what is off could make it infinite, or finite."""
    return np.where(np.abs(x) > 1e-8 * np.finfo(np.asarray(x).dtype).max, 0.0, np.inf)


EDGES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), lambda a, b: a - b),
    **dict.fromkeys(("true", "not_negative", "positive"), lambda x: x),
    "above_minus_one": lambda x: x + 1,
    "at_least_one": lambda x: x - 1,
    "within_one": lambda x: np.abs(x) - 1,
    "inside_one": lambda x: np.abs(x) - 1,
    **dict.fromkeys(("int", "trunc", "floor", "ceil"), lambda x: x - np.rint(x)),
    "round": lambda x: x - np.floor(x) - 0.5,
    **dict.fromkeys(("not_infinite", "isinf", "finite", "isfinite"), _from_infinite),
}
"""By the name of a cutting op: how far its arguments are from where its result jumps."""


def too_close(name: str, args: list[Inexact]) -> Column:
    """Lanes whose decision may not be the loop's."""
    return np.asarray(np.abs(EDGES[name](*(arg.column for arg in args))) <= sum(arg.off for arg in args))


def too_inexact(result: Inexact, allowed: float | None = None) -> Column | None:
    """Lanes whose result may be further off than the law allows; None where there are none."""
    column = result.column
    if allowed is None:
        allowed = RTOL.get(column.dtype.itemsize // (2 if column.dtype.kind == "c" else 1), 1e-9) * 0.5
    if result.sharp or result.error.relative <= allowed or not column.size:
        return None
    bad = np.asarray(np.abs(column) < result.off / allowed)
    return bad if bad.any() else None
