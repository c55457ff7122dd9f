"""Python's functions of numbers (abs, int, round, min, ...) in; the same in machine code out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import types

from .blocks import (
    F64,
    I64,
    LEAST,
    Refused,
    check_numbers,
    external,
    is_bool,
    is_complex,
    is_float,
    is_int,
    leave,
    leave_domain,
    leave_large,
    plainly,
    stand_in,
)


def absolute_of(typing: Any, a: Any) -> Any:
    check_numbers(abs, (a,))
    if is_bool(a):
        raise Refused("abs of a boolean is not compiled")
    if is_complex(a):
        return types.float64(a), absolute_of_complex
    if is_float(a):
        return plainly(typing, abs, (a,))

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        leave(context, builder, builder.icmp_signed("==", values[0], ir.Constant(I64, LEAST)))
        below = builder.icmp_signed("<", values[0], ir.Constant(I64, 0))
        return builder.select(below, builder.neg(values[0]), values[0])

    return types.int64(types.int64), generate


def absolute_of_complex(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    number = context.make_complex(builder, sig.args[0], value=values[0])
    args = [number.real, number.imag]
    made = external(builder, "upshift_hypot", 2, args)
    leave_domain(context, builder, made, args)
    return made


def whole(rounding: str | None, of_ints: str = "same") -> Any:
    """int, round, math.floor, math.ceil, math.trunc: a float to an int, where one of 64 bits can hold it.

    `math` rounds NumPy's ints by way of floats, and does not truncate them at all.
    """

    def check(typing: Any, a: Any) -> Any:
        check_numbers(int, (a,))
        if is_int(a) or is_bool(a):
            if of_ints == "refuse" or (is_bool(a) and rounding is not None):
                raise Refused(f"rounding {a} means one thing for Python's and another for NumPy's")
            return types.int64(types.int64), same_int(of_ints == "as floats")
        if not is_float(a):
            raise Refused("a complex number has no int")

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            value = values[0]
            if rounding is not None:
                value = builder.call(builder.module.declare_intrinsic(f"llvm.{rounding}", [F64]), [value])
            size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [F64]), [value])
            leave(context, builder, builder.fcmp_unordered(">=", size, ir.Constant(F64, 2.0**63)))
            return builder.fptosi(value, I64)

        return types.int64(types.float64), generate

    return stand_in(check)


def same_int(as_floats: bool) -> Any:
    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        if as_floats:
            leave_large(context, builder, values[0])
        return values[0]

    return generate


def float_of(typing: Any, a: Any) -> Any:
    check_numbers(float, (a,))
    if is_complex(a):
        raise Refused("a complex number has no float")
    return types.float64(types.float64), lambda context, builder, sig, values: values[0]


def complex_of(typing: Any, a: Any, b: Any) -> Any:
    """complex of two parts, which are real."""
    check_numbers(complex, (a, b))
    if is_complex(a) or is_complex(b):
        raise Refused("complex of complex numbers is not compiled")

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        made = context.make_complex(builder, types.complex128)
        made.real, made.imag = values
        return made._getvalue()

    return types.complex128(types.float64, types.float64), generate


def bool_of(typing: Any, a: Any) -> Any:
    check_numbers(bool, (a,))
    return plainly(typing, bool, (a,))


def extreme(fn: Any, less: str) -> Any:
    """min and max of numbers of one class: the first that none is below, or above."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        check_numbers(fn, (a, b))
        a, b = types.unliteral(a), types.unliteral(b)
        if a != b or is_complex(a):
            raise Refused(f"{fn.__name__} of {a} and {b}, whose class hangs on which it is, is not compiled")

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            first, second = values
            return builder.select(is_second(builder, a, less, values), second, first)

        return a(a, a), generate

    return stand_in(check)


def is_second(builder: Any, t: Any, less: str, values: Sequence[Any]) -> Any:
    """Whether `min` or `max` is the second of two numbers of one type."""
    first, second = values
    if is_float(t):
        return builder.fcmp_ordered(less, second, first)
    return (builder.icmp_signed if is_int(t) and t.signed else builder.icmp_unsigned)(less, second, first)
