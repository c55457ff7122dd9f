"""NumPy's numbers of less than 64 bits: what an operator makes of them in; code that computes the same out.

To machine code an `np.uint8` is eight bits, and to Numba they grow with every sum. To NumPy they stay eight, whatever
Python's own numbers are beside them, and what does not fit warns. Here they are brought to the type in which NumPy
computes; ints are computed in 64 bits and looked at, and a lane in which one does not fit is left.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import types

from .blocks import (
    F32,
    F64,
    I64,
    Refused,
    check_numbers,
    external,
    is_bool,
    is_complex,
    is_float,
    is_int,
    leave,
    leave_large,
    not_finite,
    stand_in,
)
from .unit import NARROW

TYPES = {from_dtype(dtype): dtype for dtype in NARROW}
_WIDE = {types.int64: np.dtype(np.int64), types.float64: np.dtype(np.float64), types.boolean: np.dtype(np.bool_)}
_COMPARISONS = frozenset((operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt))
_OF_FLOATS = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}

Check = Callable[..., tuple[Any, Any]]
"""What an intrinsic is made from: `check(typing context, *types)` gives a signature, and how to generate its code."""


def is_narrow(t: Any) -> bool:
    return t in TYPES


def meeting(a: Any, b: Any, strong: bool = False) -> Any:
    """The type in which NumPy computes with two numbers, one of them narrow.

    A wide one is Python's own, whose class counts and whose size does not, unless it is `strong`: NumPy's.
    """
    a, b = types.unliteral(a), types.unliteral(b)
    if is_complex(a) or is_complex(b):
        raise Refused(f"an operator on {a} and {b} is not compiled")
    narrow, other = (a, b) if is_narrow(a) else (b, a)
    if strong or is_narrow(other) or is_bool(other):
        return from_dtype(np.promote_types(_dtype(narrow), _dtype(other)))
    return types.float64 if is_float(other) and not is_float(narrow) else narrow


def _dtype(t: Any) -> np.dtype[Any]:
    return TYPES[t] if t in TYPES else _WIDE[t]


# ---- from one type to another


def converted(context: Any, builder: Any, value: Any, have: Any, want: Any) -> Any:
    """A number in another type. A lane is left where it does not fit, or where NumPy would warn of that."""
    have, want = types.unliteral(have), types.unliteral(want)
    if have == want:
        return value
    if is_bool(want):
        return context.cast(builder, value, have, want)
    if is_int(want):
        return _to_int(context, builder, value, have, want)
    if is_int(have):
        value = context.cast(builder, value, have, types.int64)
        leave_large(context, builder, value)
        have = types.int64
    if want == types.float32 and not is_bool(have):
        value = context.cast(builder, value, have, types.float64)
        made = builder.fptrunc(value, F32)
        lost = builder.and_(not_finite(builder, made), builder.not_(not_finite(builder, value)))
        leave(context, builder, lost)
        return made
    return context.cast(builder, value, have, want)


def _to_int(context: Any, builder: Any, value: Any, have: Any, want: Any) -> Any:
    if is_float(have):
        value = context.cast(builder, value, have, types.float64)
        size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [F64]), [value])
        leave(context, builder, builder.fcmp_unordered(">=", size, ir.Constant(F64, 2.0**63)))
        value = builder.fptosi(value, I64)
    else:
        value = context.cast(builder, value, have, types.int64)
    if want == types.int64:
        return value
    info = np.iinfo(_dtype(want))
    low = builder.icmp_signed("<", value, ir.Constant(I64, int(info.min)))
    leave(context, builder, builder.or_(low, builder.icmp_signed(">", value, ir.Constant(I64, int(info.max)))))
    return builder.trunc(value, ir.IntType(want.bitwidth))


# ---- operators


def of_two(fn: Any, check: Check, strong: bool = False, wide: Check | None = None) -> Check:
    """What an operator makes of two numbers, narrow ones as well.

    `check`: what it makes of wide ones. `wide`: the same where nothing narrow is to be computed by it.
    """

    def both(typing: Any, a: Any, b: Any) -> tuple[Any, Any]:
        if not is_narrow(a) and not is_narrow(b):
            return (wide or check)(typing, a, b)
        check_numbers(fn, (a, b))
        a, b = types.unliteral(a), types.unliteral(b)
        common = meeting(a, b, strong)
        if fn in _COMPARISONS or fn is operator.truediv:
            common = types.int64 if is_int(common) and not is_float(a) and not is_float(b) else common
        if common == types.float32:
            return _of_singles(fn, a, b)
        return _by_wide(check, typing, common, a, b)

    return both


def _by_wide(check: Check, typing: Any, common: Any, *args: Any) -> tuple[Any, Any]:
    """What is computed with 64 bits, and then is to fit."""
    wide = types.float64 if is_float(common) else types.int64
    signature, plain = check(typing, *(wide for _ in args))
    result = common if signature.return_type == types.int64 else signature.return_type

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        given = [
            converted(context, builder, converted(context, builder, value, have, common), common, wide)
            for value, have in zip(values, args, strict=True)
        ]
        return converted(context, builder, plain(context, builder, signature, given), signature.return_type, result)

    return result(*args), generate


def _of_singles(fn: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Two numbers as float32."""
    if fn not in _OF_FLOATS and fn not in _COMPARISONS and fn is not operator.pow:
        raise Refused(f"{fn.__name__} of float32 is not compiled")
    result = types.boolean if fn in _COMPARISONS else types.float32

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        x, y = (converted(context, builder, v, have, types.float32) for v, have in zip(values, (a, b), strict=True))
        if fn in _COMPARISONS:
            order = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "ge": ">=", "gt": ">"}[fn.__name__]
            return (builder.fcmp_unordered if fn is operator.ne else builder.fcmp_ordered)(order, x, y)
        if fn is operator.pow:
            return external(builder, "upshift_powf", 2, [x, y], F32)
        if fn is operator.truediv:
            leave(context, builder, builder.fcmp_ordered("==", y, ir.Constant(F32, 0.0)))
        return getattr(builder, _OF_FLOATS[fn])(x, y)

    return result(a, b), generate


def soft_of_two(check: Check) -> Check:
    """The same where the number on one side may still be the literal that a variable began with.

    A literal is Python's own. Beside a number of the type that it was given it counts for nothing; else lanes are left.
    """

    def three(typing: Any, a: Any, b: Any, literal: Any) -> tuple[Any, Any]:
        signature, plain = check(typing, a, b)
        alike = types.unliteral(a) == types.unliteral(b)

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            if not alike:
                leave(context, builder, values[2])
            return plain(context, builder, signature, values[:2])

        return signature.return_type(*signature.args, literal), generate

    return three


def of_one(fn: Any, check: Check) -> Check:
    """- + ~ abs: what they make of a number, a narrow one as well."""

    def one(typing: Any, a: Any) -> tuple[Any, Any]:
        if not is_narrow(a):
            return check(typing, a)
        if fn is operator.pos:
            return a(a), lambda context, builder, sig, values: values[0]
        if fn is operator.invert and is_int(a):
            return a(a), lambda context, builder, sig, values: builder.not_(values[0])
        if is_int(a):
            return _by_wide(check, typing, a, a)
        if fn is operator.neg:
            return a(a), lambda context, builder, sig, values: builder.fneg(values[0])
        return a(a), _size

    return one


def _size(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    return builder.call(builder.module.declare_intrinsic("llvm.fabs", [F32]), values)


# ---- classes and stores


def _cast_to(want: Any) -> Any:
    """np.float32(x), np.uint8(x) and their like."""

    def check(typing: Any, a: Any) -> tuple[Any, Any]:
        check_numbers(_dtype(want).type, (a,))
        if is_complex(a):
            raise Refused(f"a complex number has no {want}")
        a = types.unliteral(a)
        return want(a), lambda context, builder, sig, values: converted(context, builder, values[0], a, want)

    return stand_in(check)


CAST_TO = {t: _cast_to(t) for t in TYPES}
CASTS = {TYPES[t].type: cast for t, cast in CAST_TO.items()}


def _item_of(typing: Any, array: Any, value: Any) -> tuple[Any, Any]:
    """What is stored into an array, as one of its items."""
    if not isinstance(array, types.Array) or not isinstance(value, types.Number | types.Boolean):
        if isinstance(array, types.Array) and isinstance(value, types.Array) and array.dtype != value.dtype:
            raise Refused(f"storing {value.dtype} in an array of {array.dtype} is not compiled")
        return value(array, value), lambda context, builder, sig, values: _lent(context, builder, value, values[1])
    have, want = types.unliteral(value), array.dtype
    if is_complex(have) and not is_complex(want):
        raise Refused(f"storing a complex number in an array of {want} is not compiled")
    if is_complex(want):
        return value(array, value), lambda context, builder, sig, values: values[1]
    return want(array, have), lambda context, builder, sig, values: converted(context, builder, values[1], have, want)


def _lent(context: Any, builder: Any, t: Any, value: Any) -> Any:
    """A value that is held twice from now on."""
    context.nrt.incref(builder, t, value)
    return value


ITEM_OF = stand_in(_item_of)


def _settled(typing: Any, value: Any, literal: Any) -> tuple[Any, Any]:
    """A number that is to be no literal any more."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        leave(context, builder, values[1])
        return values[0]

    return value(value, literal), generate


SETTLED = stand_in(_settled)
