"""`**` in; powers with Python's very bits out: ints by products that are checked, floats by C's pow."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from .blocks import I64, Refused, check_numbers, external, is_bool, is_complex, is_int, leave, leave_domain


def power_of(typing: Any, a: Any, b: Any) -> Any:
    """**: ints are multiplied with checks; floats are C's pow, as in Python and NumPy."""
    check_numbers(operator.pow, (a, b))
    if is_bool(a) or is_bool(b) or is_complex(a) or is_complex(b):
        raise Refused("a power of booleans or complex numbers is not compiled")
    if is_int(a) and is_int(b):
        return types.int64(types.int64, types.int64), power_of_ints
    if any(is_int(t) and not isinstance(t, types.IntegerLiteral) for t in (a, b)):
        return types.float64(types.unliteral(a), types.unliteral(b)), power_of_both
    return types.float64(types.float64, types.float64), power_of_floats


def power_of_both(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    floats = [context.cast(builder, value, t, types.float64) for value, t in zip(values, sig.args, strict=True)]
    return power_of_floats(context, builder, sig, floats)


def power_of_floats(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """C's pow."""
    found = external(builder, "upshift_pow", 2, values)
    leave_domain(context, builder, found, values)
    return found


def power_of_ints(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    base, exponent = values
    leave(context, builder, builder.icmp_signed("<", exponent, ir.Constant(I64, 0)))
    made = cgutils.alloca_once_value(builder, ir.Constant(I64, 1))
    square = cgutils.alloca_once_value(builder, base)
    left = cgutils.alloca_once_value(builder, exponent)
    head, body, end = (builder.append_basic_block(f"power.{name}") for name in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    builder.cbranch(builder.icmp_signed(">", builder.load(left), ir.Constant(I64, 0)), body, end)
    builder.position_at_end(body)
    with builder.if_then(builder.trunc(builder.load(left), ir.IntType(1))):
        _multiply_into(context, builder, made, square)
    halved = builder.ashr(builder.load(left), ir.Constant(I64, 1))
    builder.store(halved, left)
    with builder.if_then(builder.icmp_signed(">", halved, ir.Constant(I64, 0))):
        _multiply_into(context, builder, square, square)
    builder.branch(head)
    builder.position_at_end(end)
    return builder.load(made)


def _multiply_into(context: Any, builder: Any, target: Any, factor: Any) -> None:
    pair = builder.smul_with_overflow(builder.load(target), builder.load(factor))
    leave(context, builder, builder.extract_value(pair, 1))
    builder.store(builder.extract_value(pair, 0), target)
