"""Predicates over columns or single numbers: what must hold for a lane so that the plain call does not raise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .op import Op


@dataclass(frozen=True, eq=False)
class Predicate(Op):
    """A predicate that may hold for all lanes because of arguments that are constants (lane values come as None)."""

    always: Callable[..., bool] = lambda *_: False


def _not(name: str, spell: str, run: Any) -> Op:
    return Op(name, lambda *args: np.logical_not(run(*args)), spell, cuts=True)


TRUE = Op("true", lambda x: np.not_equal(x, 0), "{0} != 0", cuts=True)
NOT_NEGATIVE = _not("not_negative", "~({0} < 0)", lambda x: np.less(x, 0))
POSITIVE = _not("positive", "~({0} <= 0)", lambda x: np.less_equal(x, 0))
ABOVE_MINUS_ONE = _not("above_minus_one", "~({0} <= -1)", lambda x: np.less_equal(x, -1))
AT_LEAST_ONE = _not("at_least_one", "~({0} < 1)", lambda x: np.less(x, 1))
WITHIN_ONE = _not("within_one", "~(({0} > 1) | ({0} < -1))", lambda x: np.greater(x, 1) | np.less(x, -1))
INSIDE_ONE = _not("inside_one", "~(({0} >= 1) | ({0} <= -1))", lambda x: np.greater_equal(x, 1) | np.less_equal(x, -1))
NOT_NAN = Op("not_nan", lambda x: np.equal(x, x), "{0} == {0}", soft=True)
NOT_INFINITE = Op("not_infinite", lambda x: np.logical_not(np.isinf(x)), "~np.isinf({0})", soft=True)
FINITE = Op("finite", np.isfinite, "np.isfinite({0})", soft=True)


def _has_remainder(x: Any, y: Any) -> Any:
    """Whether `fmod` has a value: NaN of a NaN is one."""
    return np.isnan(x) | np.isnan(y) | (np.not_equal(y, 0) & ~np.isinf(x))


HAS_REMAINDER = Op(
    "has_remainder", _has_remainder,
    "(np.isnan({0}) | np.isnan({1}) | (np.not_equal({1}, 0) & ~np.isinf({0})))", cuts=True,
)  # fmt: skip


def _real_power(base: Any, exponent: Any) -> Any:
    """Whether a power of floats is a float: of a negative base only where the exponent is whole."""
    whole = np.equal(exponent, np.floor(exponent)) | np.isinf(exponent)
    return np.greater_equal(base, 0) | whole | np.isnan(base) | np.isnan(exponent) | np.isinf(base)


REAL_POWER = Predicate(
    "real_power", _real_power, "(({0} >= 0) | ({1} == np.floor({1})) | ~np.isfinite({0} + {1}))", cuts=True,
    always=lambda base, exponent: exponent is not None and exponent == exponent // 1,
)  # fmt: skip
NOT_ZERO_TO_MINUS = Predicate(
    "not_zero_to_minus", lambda base, exponent: np.not_equal(base, 0) | ~np.less(exponent, 0),
    "(({0} != 0) | ~({1} < 0))", cuts=True, always=lambda base, exponent: exponent is not None and exponent >= 0,
)  # fmt: skip
