"""`**` in; powers with Python's very bits out: ints by products that are checked, floats by C's pow."""

from __future__ import annotations

import contextvars
import operator
import platform
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types

from .blocks import F64, I64, Refused, check_numbers, external, is_bool, is_complex, is_int, leave, leave_domain
from .build import BUILD


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
    """Of an int and a float, which NumPy computes in its own way where the int is its own and the float is Python's."""
    BUILD.get().loose = True
    floats = [context.cast(builder, value, t, types.float64) for value, t in zip(values, sig.args, strict=True)]
    return power_of_floats(context, builder, sig, floats)


def power_of_floats(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """C's pow. Powers of ten are looked up, squares and cubes are products, where that is sure to be the same."""
    if not SHORTENED.get():
        return _by_c(context, builder, values)
    made = cgutils.alloca_once(builder, F64)
    with builder.if_else(_is_of_ten(builder, *values)) as (of_ten, of_other):
        with of_ten:
            builder.store(_looked_up(builder, values[1]), made)
        with of_other:
            product, sure = _product(builder, *values)
            builder.store(product, made)
            with builder.if_then(builder.not_(sure), likely=False):
                builder.store(_by_c(context, builder, values), made)
    return builder.load(made)


def _by_c(context: Any, builder: Any, values: Any) -> Any:
    found = external(builder, "upshift_pow", 2, values)
    leave_domain(context, builder, found, values)
    return found


def _is_of_ten(builder: Any, base: Any, exponent: Any) -> Any:
    """Whether it is a power of ten that is in the table. Of a base that LLVM does not know, this is not even asked."""
    kind = ir.FunctionType(ir.IntType(1), [F64])
    known = builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.is.constant.f64"), [base])
    fabs, trunc = (builder.module.declare_intrinsic(f"llvm.{name}", [F64]) for name in ("fabs", "trunc"))
    ten = builder.and_(known, builder.fcmp_ordered("==", base, ir.Constant(F64, 10.0)))
    near = builder.fcmp_ordered("<=", builder.call(fabs, [exponent]), ir.Constant(F64, float(TENS)))
    whole = builder.fcmp_ordered("==", builder.call(trunc, [exponent]), exponent)
    return builder.and_(ten, builder.and_(near, whole))


def _looked_up(builder: Any, exponent: Any) -> Any:
    powers = ir.Constant.literal_array([ir.Constant(F64, 10.0**i) for i in range(-TENS, TENS + 1)])
    table = cgutils.global_constant(builder, "upshift_tens", powers)
    index = builder.add(builder.fptosi(exponent, I64), ir.Constant(I64, TENS))
    return builder.load(builder.gep(table, [ir.Constant(I64, 0), index]))


TENS = 22
"""Powers of ten, up to this one and its inverse, are looked up: they are Python's own, made by C's pow."""


def _product(builder: Any, x: Any, exponent: Any) -> tuple[Any, Any]:
    """A square or a cube as a product, and whether C's pow is sure to be the same. LLVM drops what is not asked for."""
    square = builder.fmul(x, x)
    rest = builder.fma(x, x, builder.fneg(square))
    cube = builder.fmul(square, x)
    more = builder.fma(rest, x, builder.fma(square, x, builder.fneg(cube)))
    rounded = builder.fadd(cube, more)
    off = builder.fsub(more, builder.fsub(rounded, cube))
    two, three = (builder.fcmp_ordered("==", exponent, ir.Constant(F64, of)) for of in (2.0, 3.0))
    by_two = builder.and_(two, _is_sure(builder, square, rest))
    by_three = builder.and_(three, _is_sure(builder, rounded, off))
    return builder.select(three, rounded, square), builder.or_(by_two, by_three)


def _is_sure(builder: Any, product: Any, rest: Any) -> Any:
    """Whether C's pow gives this very float, where `rest` is what the power itself is more than it.

    Where the result is within 2**-48 and 2**48, pow is off by less than 0.513 of the distance between floats: before
    it rounds, by less than 0.013. So where the product is off by less than 0.487 of that distance, pow can only round
    to the same float; and it is, where somewhat more than the rest, added to the product, is still rounded off.
    """
    more = builder.fmul(rest, ir.Constant(F64, 0.5 / 0.487))
    near = builder.fcmp_ordered("==", builder.fadd(product, more), product)
    fabs = builder.module.declare_intrinsic("llvm.fabs", [F64])
    bits = builder.bitcast(builder.call(fabs, [product]), I64)
    low, high = (1023 - 48) << 52, (1023 + 48) << 52
    above = builder.sub(bits, ir.Constant(I64, low))
    return builder.and_(near, builder.icmp_unsigned("<", above, ir.Constant(I64, high - low)))


def _knows_pow() -> bool:
    """Whether C's pow is the one whose error is known, and a product's rest costs one instruction."""
    name, version = platform.libc_ver()
    known = name == "glibc" and tuple(map(int, version.split(".")[:2])) >= (2, 28)
    return known and bool(llvm.get_host_cpu_features().get("fma") or platform.machine() in ("aarch64", "arm64"))


_KNOWS_POW: bool = _knows_pow()
SHORTENED: contextvars.ContextVar[bool] = contextvars.ContextVar("shortened", default=_KNOWS_POW)
"""Whether powers may do without C's pow."""


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
