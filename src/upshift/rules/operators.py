"""Rules for Python's operators, on Python's numbers and on NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..columns.kinds import INT, INT64_MAX, INT64_MIN, Column, Kind
from .int_ranges import REACH, beyond, hull, outside
from .op import Op, Proved, Span, Watched
from .predicates import NOT_NEGATIVE, NOT_ZERO_TO_MINUS, REAL_POWER, TRUE
from .table import Domain, Lower, rule

EXACT_FLOAT = 2**53
"""Ints up to here are floats exactly; beyond, int/int and int<float round differently in Python and NumPy."""

_SPELL = {
    operator.add: "{0} + {1}",
    operator.sub: "{0} - {1}",
    operator.mul: "{0} * {1}",
    operator.truediv: "{0} / {1}",
    operator.floordiv: "{0} // {1}",
    operator.mod: "{0} % {1}",
    operator.pow: "{0} ** {1}",
    operator.lshift: "{0} << {1}",
    operator.rshift: "{0} >> {1}",
    operator.and_: "{0} & {1}",
    operator.or_: "{0} | {1}",
    operator.xor: "{0} ^ {1}",
    operator.neg: "-{0}",
    operator.pos: "+{0}",
    operator.invert: "~{0}",
    operator.abs: "np.abs({0})",
    operator.lt: "{0} < {1}",
    operator.le: "{0} <= {1}",
    operator.gt: "{0} > {1}",
    operator.ge: "{0} >= {1}",
    operator.eq: "{0} == {1}",
    operator.ne: "{0} != {1}",
}
_UFUNC: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.lshift: np.left_shift,
    operator.rshift: np.right_shift,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.invert: np.invert,
    operator.abs: np.absolute,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
}
_RUN = {**_UFUNC, operator.pow: operator.pow}
"""What is run on columns: `column ** 2` is a multiplication, `np.power(column, 2)` is not."""
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
OPERATORS = tuple(_UFUNC)
_fn: Callable[..., Any]
_INTS = [(7, 3), (-7, 3), (0, 5), (2**62, 4), (-(2**63), 1)]
_FLOATS = [(7.5, 2.0), (-7.5, 2.0), (0.0, -1.5), (1e308, 10.0), (float("nan"), 1.0), (float("inf"), -2.0)]


def finite_or_leave(out: Column, *args: Any) -> Column | None:
    """Lanes where finite numbers gave infinity or NaN: Python raises there."""
    bad = ~np.isfinite(out)
    if not bad.any():
        return None
    for arg in args:
        bad = bad & np.isfinite(arg)
    return bad if bad.any() else None


def plain_or_leave(out: Column, *args: Any) -> Column | None:
    """Lanes with an infinity, a NaN or a negative zero that was not there: NumPy has short cuts for those."""
    odd = ~np.isfinite(out) | ((out == 0) & np.signbit(out.real))
    if not odd.any():
        return None
    for arg in args:
        odd = odd & np.equal(arg, arg)
    return odd if odd.any() else None


def _plain(fn: Callable[..., Any], close: bool = False, cuts: bool = False) -> Op:
    return Op(fn.__name__.rstrip("_"), _UFUNC[fn], _SPELL[fn], close=close, cuts=cuts)


def _ints(fn: Callable[..., Any]) -> Proved:
    return _within(fn, _RUN[fn], (INT64_MIN, INT64_MAX), warns=False)


def _within(fn: Callable[..., Any], run: Callable[..., Any], limits: Span, warns: bool) -> Proved:
    """An operation on ints that is right while its result fits."""
    check = ""
    if fn in (operator.floordiv, operator.mod):
        check = f"({{0}} != {limits[0]}) & ({{1}} != {limits[0]})"
    elif fn is operator.lshift:
        check = "inside(np.asarray({0}, float) * np.exp2(np.asarray({1}, float)), -(2.0**62), 2.0**62)"
    return Proved(
        fn.__name__, run, _SPELL[fn], cuts=True, warns=warns, reach=REACH[fn], limits=limits,
        outside=outside(fn, limits), watch=tuple(range(_SPELL[fn].count("{"))), check=check,
    )  # fmt: skip


_DIVIDE_INTS = Proved(
    "truediv", np.true_divide, "{0} / {1}",
    reach=hull, outside=beyond(EXACT_FLOAT), watch=(0, 1), limits=(-EXACT_FLOAT, EXACT_FLOAT), makes_span=False,
    check="inside({0}, -2**53, 2**53) & inside({1}, -2**53, 2**53)",
)  # fmt: skip


def _compare(fn: Callable[..., Any]) -> Lower:
    """Python compares an int with a float exactly, NumPy after rounding the int: the same up to 2**53."""

    def make(kinds: tuple[Kind | None, ...], kind: Kind) -> Op:
        ints = tuple(i for i, k in enumerate(kinds) if k is INT)
        if not ints or len(ints) == len(kinds):
            return _plain(fn, cuts=True)

        def far(*args: Any) -> Column:
            return np.broadcast_to(beyond(EXACT_FLOAT)(*(args[i] for i in ints)), np.broadcast(*args).shape)

        return Proved(
            fn.__name__, _UFUNC[fn], _SPELL[fn], cuts=True, reach=hull, outside=far, watch=ints,
            limits=(-EXACT_FLOAT, EXACT_FLOAT), makes_span=False,
            check=" & ".join(f"inside({{{i}}}, -2**53, 2**53)" for i in ints),
        )  # fmt: skip

    return make


for _fn in (operator.add, operator.sub, operator.mul):
    rule(_fn, on="int bool", lower=_ints(_fn), samples=_INTS)
    rule(_fn, on="float complex", lower=_plain(_fn, close=False), samples=_FLOATS)


def _odd_left(fn: Callable[..., Any], run: Callable[..., Any]) -> Watched:
    check = "(np.isfinite({out}) & ~(({out} == 0) & np.signbit({out}.real))) | np.isnan({sum})"
    return Watched(fn.__name__, run, _SPELL[fn], close=True, wrong=plain_or_leave, check=check)


rule(operator.mul, on="complex", lower=_odd_left(operator.mul, np.multiply), samples=[(1 + 2j, 3 - 1j)])
for _fn in (operator.neg, operator.abs):
    rule(_fn, on="int bool", lower=_ints(_fn), samples=[(3,), (-3,), (-(2**63),)])
    rule(_fn, on="float", lower=_plain(_fn), samples=[(-1.5,), (-0.0,)])
rule(operator.neg, on="complex", lower=_plain(operator.neg), samples=[(1 - 2j,)])
rule(operator.pos, on="int bool float complex", lower=_plain(operator.pos), samples=[(-1.5,)])
rule(
    operator.abs,
    on="complex",
    lower=Watched("abs", np.absolute, "np.abs({0})", close=True, wrong=finite_or_leave),
    samples=[(3 + 4j,), (1e308 + 1e308j,)],
)
for _fn in (operator.floordiv, operator.mod):
    rule(_fn, on="int bool", lower=_ints(_fn), domain=((TRUE, (1,)),), samples=[*_INTS, (1, 0), (-(2**63), -1)])
    rule(_fn, on="float", lower=_plain(_fn, cuts=True), domain=((TRUE, (1,)),), samples=[*_FLOATS, (1.0, 0.0)])
rule(operator.truediv, on="int bool", lower=_DIVIDE_INTS, domain=((TRUE, (1,)),), samples=[*_INTS, (2**60, 7)])
rule(operator.truediv, on="float", lower=_plain(operator.truediv), domain=((TRUE, (1,)),), samples=_FLOATS)
rule(operator.truediv, on="complex", lower=_odd_left(operator.truediv, np.true_divide), domain=((TRUE, (1,)),),
     samples=[(1 + 2j, 3 - 1j), (1j, 0j)])  # fmt: skip
for _fn in (operator.and_, operator.or_, operator.xor):
    rule(_fn, on="int bool", lower=_plain(_fn, cuts=True), samples=_INTS)
rule(operator.invert, on="int bool", lower=_plain(operator.invert, cuts=True), samples=[(5,), (-1,)])
rule(operator.lshift, on="int bool", lower=_ints(operator.lshift), domain=((NOT_NEGATIVE, (1,)),),
     samples=[(3, 4), (1, 62), (1, 63), (1, 200), (1, -1)])  # fmt: skip
rule(operator.rshift, on="int bool", lower=_plain(operator.rshift, cuts=True), domain=((NOT_NEGATIVE, (1,)),),
     samples=[(300, 4), (-1, 70), (1, -1)])  # fmt: skip


def _power_of_ints(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
    return _ints(operator.pow) if kind is INT else None


def _power_of_floats(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
    if kind.dtype.kind != "f":
        return None
    return _odd_left(operator.pow, operator.pow)


rule(operator.pow, on="int bool", lower=_power_of_ints, domain=((NOT_NEGATIVE, (1,)),),
     samples=[(3, 4), (2, 62), (2, 64), (-2, 63), (2, -1), (0, 0)])  # fmt: skip
rule(operator.pow, on="float", lower=_power_of_floats, domain=((NOT_ZERO_TO_MINUS, (0, 1)), (REAL_POWER, (0, 1))),
     samples=[(2.5, 3.0), (-2.0, 3.0), (-8.0, 0.5), (0.0, -1.0), (1e200, 2.0)])  # fmt: skip
for _fn in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    rule(_fn, on="int bool float", lower=_compare(_fn), samples=[(2, 2.5), (2**53 + 1, 2.0**53), (1.0, float("nan"))])
for _fn in (operator.eq, operator.ne):
    rule(_fn, on="complex", lower=_plain(_fn, cuts=True), samples=[(1j, 1j), (1j, 2.0)])


def _mixes_uint64(kinds: tuple[Kind | None, ...]) -> bool:
    """Columns of uint64 and of signed ints would be compared as floats."""
    found = {k.dtype.kind + str(k.dtype.itemsize) for k in kinds if k is not None and k.dtype.kind in "iu"}
    return "u8" in found and len(found) > 1 and any(k is not None and k.dtype.kind == "i" for k in kinds)


def _numpy_operator(fn: Callable[..., Any]) -> Lower:
    """NumPy's scalars follow NumPy's own arithmetic, so the operator itself is applied to the columns."""

    def make(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
        if fn in COMPARISONS and _mixes_uint64(kinds):
            return None
        cuts = kind.dtype.kind in "biu" or fn in (operator.floordiv, operator.mod)
        if fn in REACH and kind.dtype.kind in "iu" and fn is not operator.lshift:
            info = np.iinfo(kind.dtype)
            return _within(fn, _RUN[fn], (int(info.min), int(info.max)), warns=True)
        if fn is operator.pow or (kind.dtype.kind == "c" and fn in (operator.mul, operator.truediv)):
            return replace(_odd_left(fn, _RUN[fn]), warns=True)
        of_complex = any(k is not None and k.dtype.kind == "c" for k in kinds)
        return Op(fn.__name__, _RUN[fn], _SPELL[fn], close=of_complex and fn is operator.abs, cuts=cuts, warns=True)

    return make


def _whole_powers(kinds: tuple[Kind | None, ...]) -> Domain:
    """NumPy's ints have no negative powers."""
    return ((NOT_NEGATIVE, (1,)),) if all(k is not None and k.dtype.kind in "iub" for k in kinds) else ()


for _fn in OPERATORS:
    domain = _whole_powers if _fn is operator.pow else ()
    rule(
        _fn,
        on="numpy",
        domain=domain,
        lower=_numpy_operator(_fn),
        samples=[(np.float64(2.5), 2), (np.int32(7), np.int64(-3))],
    )
