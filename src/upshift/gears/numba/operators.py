"""Python's operators of 64-bit numbers in; the same in machine code out, which leaves what it is not sure of."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from .blocks import (
    F64,
    I64,
    LEAST,
    Check,
    Refused,
    check_numbers,
    is_bool,
    is_complex,
    is_float,
    is_int,
    leave,
    leave_large,
    plainly,
)


def arithmetic(fn: Any, llvm_name: str) -> Check:
    """+ - *: ints beyond 64 bits are left."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        check_numbers(fn, (a, b))
        if is_bool(a) and is_bool(b):
            raise Refused(f"{fn.__name__} of two booleans means one thing for Python's and another for NumPy's")
        if not (is_int(a) or is_bool(a)) or not (is_int(b) or is_bool(b)):
            return plainly(typing, fn, (a, b))

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            pair = getattr(builder, llvm_name)(*values)
            leave(context, builder, builder.extract_value(pair, 1))
            return builder.extract_value(pair, 0)

        return types.int64(types.int64, types.int64), generate

    return check


def division(fn: Any) -> Check:
    """/ // %: by zero raises; ints that no float holds are left where floats are made of them."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        check_numbers(fn, (a, b))
        if is_bool(a) and is_bool(b):
            raise Refused(f"{fn.__name__} of two booleans means one thing for Python's and another for NumPy's")
        if is_complex(a) or is_complex(b):
            raise Refused(f"{fn.__name__} of complex numbers means one thing for Python's and another for NumPy's")
        if is_float(a) or is_float(b):
            return plainly(typing, fn, (a, b))
        if fn is operator.truediv:
            return types.float64(types.int64, types.int64), divide_ints
        by = b.literal_value if isinstance(b, types.IntegerLiteral) else 0
        if by > 0 and by & (by - 1) == 0:
            return types.int64(types.int64, b), by_power_of_two(by, fn is operator.mod)
        return types.int64(types.int64, b if by else types.int64), floor_ints(fn is operator.mod, by)

    return check


def by_power_of_two(by: int, remainder: bool) -> Any:
    """Floor division by a power of two, which the function wrote itself, is a shift; what remains are the low bits."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        if remainder:
            return builder.and_(values[0], ir.Constant(I64, by - 1))
        return builder.ashr(values[0], ir.Constant(I64, by.bit_length() - 1))

    return generate


def divide_ints(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    for value in values:
        leave_large(context, builder, value)
    leave(context, builder, builder.icmp_signed("==", values[1], ir.Constant(I64, 0)))
    return builder.fdiv(*(builder.sitofp(value, F64) for value in values))


def floor_ints(remainder: bool, by: int) -> Any:
    """// and %: those of ints that are not negative are the processor's own, others are mended after it.

    `by`: what the function wrote itself, or 0. LLVM knows how to divide by it without a division.
    """

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        a, b = values
        zero = ir.Constant(I64, 0)
        leave(context, builder, builder.icmp_signed("==", b, zero))
        if by:
            return mended(context, builder, a, b)
        made = cgutils.alloca_once(builder, I64)
        with builder.if_else(builder.icmp_signed(">=", builder.or_(a, b), zero), likely=True) as (then, otherwise):
            with then:
                builder.store(builder.urem(a, b) if remainder else builder.udiv(a, b), made)
            with otherwise:
                builder.store(mended(context, builder, a, b), made)
        return builder.load(made)

    def mended(context: Any, builder: Any, a: Any, b: Any) -> Any:
        zero, lowest = ir.Constant(I64, 0), builder.icmp_signed("==", a, ir.Constant(I64, LEAST))
        leave(context, builder, builder.and_(lowest, builder.icmp_signed("==", b, ir.Constant(I64, -1))))
        quotient, rest = builder.sdiv(a, b), builder.srem(a, b)
        signs_differ = builder.icmp_signed("<", builder.xor(rest, b), zero)
        off = builder.and_(builder.icmp_signed("!=", rest, zero), signs_differ)
        if remainder:
            return builder.select(off, builder.add(rest, b), rest)
        return builder.select(off, builder.sub(quotient, ir.Constant(I64, 1)), quotient)

    return generate


def shift(fn: Any) -> Check:
    """<< >>: by less than 0 or by 64 and more is left; so is a shift that loses a bit."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        check_numbers(fn, (a, b))
        if not is_int(a) or not is_int(b):
            raise Refused(f"{fn.__name__} of {a} and {b} is not compiled")

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            value, by = values
            leave(context, builder, builder.icmp_unsigned(">", by, ir.Constant(I64, 63)))
            if fn is operator.rshift:
                return builder.ashr(value, by)
            made = builder.shl(value, by)
            leave(context, builder, builder.icmp_signed("!=", builder.ashr(made, by), value))
            return made

        return types.int64(types.int64, types.int64), generate

    return check


def bits(fn: Any) -> Check:
    """& | ^ of ints, or of booleans."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        check_numbers(fn, (a, b))
        if (is_int(a) and is_int(b)) or (is_bool(a) and is_bool(b)):
            return plainly(typing, fn, (types.unliteral(a), types.unliteral(b)))
        raise Refused(f"{fn.__name__} of {a} and {b} is not compiled")

    return check


def comparison(fn: Any) -> Check:
    """< <= == != >= >: an int beyond what floats hold is not compared with one."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        check_numbers(fn, (a, b))
        if is_complex(a) or is_complex(b) or is_float(a) is is_float(b):
            return plainly(typing, fn, (a, b))
        signature, plain = plainly(typing, fn, (types.float64, types.float64))
        kinds = [types.float64 if is_float(t) else types.int64 for t in (a, b)]

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            as_floats = []
            for value, kind in zip(values, kinds, strict=True):
                if kind is types.int64:
                    leave_large(context, builder, value)
                    value = builder.sitofp(value, F64)
                as_floats.append(value)
            return plain(context, builder, signature, as_floats)

        return types.boolean(*kinds), generate

    return check


def negative_of(typing: Any, a: Any) -> Any:
    check_numbers(operator.neg, (a,))
    if is_bool(a):
        raise Refused("minus a boolean is not compiled")
    if not is_int(a):
        return plainly(typing, operator.neg, (a,))

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        leave(context, builder, builder.icmp_signed("==", values[0], ir.Constant(I64, LEAST)))
        return builder.neg(values[0])

    return types.int64(types.int64), generate


def same_number(fn: Any) -> Check:
    """+x and ~x, of anything but booleans."""

    def check(typing: Any, a: Any) -> Any:
        check_numbers(fn, (a,))
        if is_bool(a):
            raise Refused(f"{fn.__name__} of a boolean is not compiled")
        return plainly(typing, fn, (types.unliteral(a),))

    return check


def truth_of(typing: Any, a: Any) -> Any:
    check_numbers(operator.not_, (a,))
    return plainly(typing, operator.not_, (a,))
