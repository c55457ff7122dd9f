"""Rules for `math`: functions of Python floats (or ints) that raise where they have no value, and return Python's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.kinds import Column, Kind
from .int_ranges import beyond, hull
from .op import Op, Proved, Watched
from .operators import finite_or_leave
from .predicates import (
    ABOVE_MINUS_ONE,
    AT_LEAST_ONE,
    FINITE,
    HAS_REMAINDER,
    INSIDE_ONE,
    NOT_INFINITE,
    NOT_NAN,
    NOT_NEGATIVE,
    POSITIVE,
    WITHIN_ONE,
)
from .table import Domain, Lower, rule

_ONE: list[tuple[Any, ...]] = [(0.5,), (-0.5,), (0.0,), (-0.0,), (3,), (1e300,), (math.nan,), (math.inf,), (-math.inf,)]
_TWO: list[tuple[Any, ...]] = [(0.5, 2.0), (-3.5, 2), (1.0, 0.0), (math.inf, 1.0), (1.0, math.inf), (math.nan, 0.0)]
FLOAT_BELOW, FLOAT_ABOVE = -(2.0**63), 2.0**63 - 1024
"""The floats that an int64 can hold, as far as floats can tell."""


def as_float(x: Any) -> Any:
    """What `math` sees of a number: its double."""
    return x if not isinstance(x, np.ndarray) or x.dtype == np.float64 else x.astype(np.float64)


def on_floats(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function on the doubles of its arguments (float32 columns would stay float32, bools become float16)."""
    return lambda *args: fn(*map(as_float, args))


def as_floats(spell: str) -> str:
    """The same source on the doubles of its arguments."""
    return spell.replace("{0}", "np.asarray({0}, float)").replace("{1}", "np.asarray({1}, float)")


def maths(
    fn: Callable[..., Any],
    batched: np.ufunc,
    domain: Domain = (),
    close: bool = True,
    overflows: bool = False,
    samples: list[tuple[Any, ...]] = _ONE,
) -> None:
    """One row for a function of floats that gives a float."""
    holes = ", ".join(f"{{{i}}}" for i in range(len(samples[0])))
    spell = f"np.{batched.__name__}({holes})"

    def make(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
        if len(kinds) != batched.nin:  # one more would be taken for `out`
            return None
        doubles = all(k is not None and k.dtype == np.float64 for k in kinds)
        run, text = (batched, spell) if doubles else (on_floats(batched), as_floats(spell))
        if overflows:
            return Watched(fn.__name__, run, text, close=close, wrong=finite_or_leave)
        return Op(fn.__name__, run, text, close=close)

    rule(fn, on="any", lower=make, domain=domain, samples=samples)


maths(math.sqrt, np.sqrt, ((NOT_NEGATIVE, (0,)),), close=False)
maths(math.fabs, np.fabs, close=False)
maths(math.sin, np.sin, ((NOT_INFINITE, (0,)),))
maths(math.cos, np.cos, ((NOT_INFINITE, (0,)),))
maths(math.tan, np.tan, ((NOT_INFINITE, (0,)),))
maths(math.asin, np.arcsin, ((WITHIN_ONE, (0,)),))
maths(math.acos, np.arccos, ((WITHIN_ONE, (0,)),))
maths(math.atan, np.arctan)
maths(math.sinh, np.sinh, overflows=True)
maths(math.cosh, np.cosh, overflows=True)
maths(math.tanh, np.tanh)
maths(math.asinh, np.arcsinh)
maths(math.acosh, np.arccosh, ((AT_LEAST_ONE, (0,)),))
maths(math.atanh, np.arctanh, ((INSIDE_ONE, (0,)),))
maths(math.exp, np.exp, overflows=True)
maths(math.expm1, np.expm1, overflows=True)
maths(math.log, np.log, ((POSITIVE, (0,)),))
maths(math.log2, np.log2, ((POSITIVE, (0,)),))
maths(math.log10, np.log10, ((POSITIVE, (0,)),))
maths(math.log1p, np.log1p, ((ABOVE_MINUS_ONE, (0,)),))
maths(math.degrees, np.degrees)
maths(math.radians, np.radians)
maths(math.cbrt, np.cbrt)
maths(math.exp2, np.exp2, overflows=True)
maths(math.atan2, np.arctan2, samples=_TWO)
maths(math.copysign, np.copysign, close=False, samples=_TWO)
maths(math.hypot, np.hypot, overflows=True, samples=_TWO)
maths(math.nextafter, np.nextafter, close=False, samples=_TWO)
maths(math.pow, np.power, overflows=True, samples=_TWO)


_fn: Callable[..., Any]
_batched: np.ufunc


def _cutting(fn: Callable[..., Any], run: Callable[..., Any], spell: str) -> Op:
    return Op(fn.__name__, run, as_floats(spell), cuts=True)


rule(math.fmod, on="any", lower=_cutting(math.fmod, on_floats(np.fmod), "np.fmod({0}, {1})"),
     domain=((HAS_REMAINDER, (0, 1)),),
     samples=[*_TWO, (math.nan, 1.0), (2.0, math.nan), (math.inf, math.nan)])  # fmt: skip
for _fn, _batched in ((math.isnan, np.isnan), (math.isinf, np.isinf), (math.isfinite, np.isfinite)):
    rule(_fn, on="any", lower=_cutting(_fn, on_floats(_batched), f"np.{_fn.__name__}({{0}})"), samples=_ONE)


def frexp_mantissa(x: Any) -> float:
    """The first half of `math.frexp`."""
    return math.frexp(x)[0]


def frexp_exponent(x: Any) -> int:
    """The second half of `math.frexp`."""
    return math.frexp(x)[1]


def modf_fraction(x: Any) -> float:
    """The first half of `math.modf`."""
    return math.modf(x)[0]


def modf_whole(x: Any) -> float:
    """The second half of `math.modf`."""
    return math.modf(x)[1]


rule(frexp_mantissa, on="any", lower=_cutting(frexp_mantissa, on_floats(lambda x: np.frexp(x)[0]), "np.frexp({0})[0]"),
     samples=_ONE)  # fmt: skip
rule(frexp_exponent, on="any", domain=((FINITE, (0,)),), samples=_ONE, lower=_cutting(
    frexp_exponent, on_floats(lambda x: np.frexp(x)[1].astype(np.int64)),
    "np.frexp({0})[1].astype(np.int64)"))  # fmt: skip
rule(modf_fraction, on="any", lower=_cutting(modf_fraction, on_floats(lambda x: np.modf(x)[0]), "np.modf({0})[0]"),
     samples=_ONE)  # fmt: skip
rule(modf_whole, on="any", lower=_cutting(modf_whole, on_floats(lambda x: np.modf(x)[1]), "np.modf({0})[1]"),
     samples=_ONE)  # fmt: skip


def _beyond_int64(x: Any) -> Column:
    doubles = as_float(x)  # float32 would round the bounds
    return np.asarray(~((doubles >= FLOAT_BELOW) & (doubles <= FLOAT_ABOVE)))


def whole(fn: Callable[..., Any], rounded: Callable[..., Any], spell: str, exact_ints: bool = True) -> Lower:
    """A float becomes an int while 64 bits hold it. An int stays an int; `math.floor(np.int64)` takes its double."""

    def make(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
        if len(kinds) != 1 or kinds[0] is None or kind.dtype != np.int64 or not kind.python:
            return None
        of = kinds[0].dtype
        if kinds[0].dtype.kind in "iu" and not kinds[0].python and not exact_ints:
            return None
        if of.kind in "bi" or (of.kind == "u" and of.itemsize < 8):
            return Op(fn.__name__, lambda x: x.astype(np.int64), "{0}.astype(np.int64)", cuts=True)
        if of.kind != "f":
            return None
        return Proved(
            fn.__name__, lambda x: rounded(x).astype(np.int64), f"{spell}.astype(np.int64)", cuts=True,
            limits=(FLOAT_BELOW, FLOAT_ABOVE), outside=_beyond_int64, watch=(0,), makes_span=False,
            check="inside(np.asarray({0}, float), -(2.0**63), 2.0**63 - 1024)",
        )  # fmt: skip

    return make


_WHOLE: list[tuple[Any, ...]] = [(2.5,), (-2.5,), (3,), (True,), (1e18,), (1e19,), (math.nan,), (math.inf,), (-0.0,)]
WHOLE_DOMAIN: Domain = ((NOT_NAN, (0,)), (NOT_INFINITE, (0,)))
"""NaN is a ValueError, infinity an OverflowError."""
for _fn, _batched in ((math.floor, np.floor), (math.ceil, np.ceil), (math.trunc, np.trunc)):
    _lower = whole(_fn, _batched, f"np.{_fn.__name__}({{0}})", exact_ints=_fn is math.trunc)
    rule(_fn, on="any", lower=_lower, domain=WHOLE_DOMAIN, samples=_WHOLE)


def _gcd(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
    if len(kinds) != 2 or kind.dtype != np.int64:
        return None
    return Proved("gcd", np.gcd, "np.gcd({0}, {1})", cuts=True, reach=hull, limits=(-(2**62), 2**62),
                  outside=beyond(2**62), watch=(0, 1), makes_span=False,
                  check="inside({0}, -(2**62), 2**62) & inside({1}, -(2**62), 2**62)")  # fmt: skip


rule(math.gcd, on="int", lower=_gcd, samples=[(12, 18), (-4, 6), (0, 0)])


def _ldexp(kinds: tuple[Kind | None, ...], kind: Kind) -> Op:
    return Watched("ldexp", lambda x, i: np.ldexp(as_float(x), np.clip(i, -5000, 5000).astype(np.intc)
                                                  if isinstance(i, np.ndarray) else max(-5000, min(i, 5000))),
                   "np.ldexp({0}, {1})", wrong=finite_or_leave)  # fmt: skip


rule(math.ldexp, on="int float", lower=_ldexp, samples=[(0.5, 3), (1.5, 2000), (1.5, -2000), (0.0, 3)])
