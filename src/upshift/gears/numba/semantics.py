"""Python's operators and functions in; what machine code must do to mean the same out.

Numba computes as C does: ints wrap, `math.log(-1)` is NaN, two booleans add up to an int. Here every operator and
function that compiled code may use has a stand-in that gives the plain function's very bits, or raises. A lane that
raises is left to the plain function, so a stand-in may raise wherever it is not sure.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

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
    is_nan,
    leave,
    leave_domain,
    leave_large,
    not_finite,
    plainly,
    stand_in,
)
from .narrow import Check, is_narrow, of_one, of_two, soft_of_two
from .powers import power_of

# ---- arithmetic


def arithmetic(fn: Any, llvm_name: str, checked: bool = True) -> Check:
    """+ - *: ints beyond 64 bits are left, unless it is known that there are none."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        check_numbers(fn, (a, b))
        if is_bool(a) and is_bool(b):
            raise Refused(f"{fn.__name__} of two booleans means one thing for Python's and another for NumPy's")
        if not (is_int(a) or is_bool(a)) or not (is_int(b) or is_bool(b)):
            return plainly(typing, fn, (a, b))

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            if not checked:
                return getattr(builder, fn.__name__)(*values)
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
        return types.int64(types.int64, types.int64), floor_ints(fn is operator.mod)

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


def floor_ints(remainder: bool) -> Any:
    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        a, b = values
        zero = ir.Constant(I64, 0)
        leave(context, builder, builder.icmp_signed("==", b, zero))
        lowest = builder.icmp_signed("==", a, ir.Constant(I64, LEAST))
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


# ---- builtins


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
        if of_ints == "refuse" and is_narrow(a):
            raise Refused(f"math does not truncate {a}")

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


def extreme_of_any(fn: Any, less: str) -> Any:
    """The same, where one may be an int and the other a float: a float then, whose class is to be known elsewhere."""
    alike = extreme(fn, less)

    def check(typing: Any, a: Any, b: Any) -> Any:
        a, b = types.unliteral(a), types.unliteral(b)
        if {a, b} != {types.int64, types.float64}:
            return alike._defn(typing, a, b)

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            first, second = as_floats(context, builder, sig.args, values)
            return builder.select(is_second(builder, types.float64, less, (first, second)), second, first)

        return types.float64(a, b), generate

    return stand_in(check)


def as_floats(context: Any, builder: Any, kinds: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Numbers as floats; an int that is none is left to the plain function."""
    made = []
    for t, value in zip(kinds, values, strict=True):
        if is_int(t):
            leave_large(context, builder, value)
        made.append(builder.sitofp(value, F64) if is_int(t) else value)
    return made


# ---- functions of floats

C_FUNCTIONS = ("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 exp2 log log1p log2 log10 cbrt "
               "erf erfc atan2 fmod pow hypot").split()  # fmt: skip
"""Functions of `math` that are C's own; looked up in the very library that `math` calls."""
_OF_TWO = frozenset(("atan2", "fmod", "pow", "hypot"))
_OURS = frozenset(("asinh", "acosh", "atanh", "erf", "erfc", "hypot"))
"""Those that CPython may compute itself, or in which libraries differ: C's are not promised to be the same."""


def register_symbols() -> None:
    """Name C's functions for LLVM. To be done in every process before machine code is run, also when it was kept."""
    library = ctypes.CDLL(None)
    for name in C_FUNCTIONS:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"upshift_{name}", address)
    llvm.add_symbol("upshift_powf", ctypes.cast(library.powf, ctypes.c_void_p).value)


def called_as_it_is(name: str) -> Any:
    """C's own function, by a name that LLVM knows nothing of: its very bits, and no checks."""
    arity = 2 if name in _OF_TWO else 1
    return _of_numbers(
        name, arity, lambda context, builder, sig, values: external(builder, f"upshift_{name}", arity, values)
    )


def of_floats(name: str, arity: int) -> Any:
    """A function of `math`: C's own, and what is not finite is left."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        made = external(builder, f"upshift_{name}", arity, values)
        leave_domain(context, builder, made, values)
        return made

    return _of_numbers(name, arity, generate)


def _of_numbers(name: str, arity: int, generate: Any, result: Any = types.float64, of_numpy: bool = False) -> Any:
    """An intrinsic of one, two or more numbers that become floats; NumPy's of float32 stay such."""

    def signature(args: tuple[Any, ...]) -> Any:
        check_numbers(getattr(math, name, None) or operator.add, args)
        if any(is_complex(arg) for arg in args):
            raise Refused(f"{name} of a complex number is not compiled")
        if of_numpy and any(map(is_narrow, args)):
            if any(arg != types.float32 for arg in args):
                raise Refused(f"numpy's {name} of {', '.join(map(str, args))} is not compiled")
            return types.float32(*args), generate
        return result(*(types.float64 for _ in args)), generate

    if arity == 1:
        return stand_in(lambda typing, a: signature((a,)))
    return stand_in(lambda typing, a, b: signature((a, b)))


def by_llvm(name: str, checked: bool, of_numpy: bool = False) -> Any:
    """A function that processors have: sqrt, fabs, floor, copysign. `checked`: NaN from a number is left."""
    arity = 2 if name == "copysign" else 1

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        number = values[0].type
        kind = ir.FunctionType(number, [number] * arity)
        made = builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [number], kind), values)
        if checked:
            leave_domain(context, builder, made, list(values))
        return made

    return _of_numbers(name, arity, generate, of_numpy=of_numpy)


def is_what(name: str) -> Any:
    """isnan, isinf, isfinite."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        nan, odd = is_nan(builder, values[0]), not_finite(builder, values[0])
        if name == "isnan":
            return nan
        return builder.not_(odd) if name == "isfinite" else builder.and_(odd, builder.not_(nan))

    return _of_numbers(name, 1, generate, types.boolean)


def scaled(factor: float, name: str) -> Any:
    """degrees, radians: as CPython multiplies."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return builder.fmul(values[0], ir.Constant(F64, factor))

    return _of_numbers(name, 1, generate)


STAND_INS: dict[Any, Any] = {
    operator.neg: stand_in(of_one(operator.neg, negative_of)),
    operator.pos: stand_in(of_one(operator.pos, same_number(operator.pos))),
    operator.invert: stand_in(of_one(operator.invert, same_number(operator.invert))),
    operator.not_: stand_in(truth_of),
    abs: stand_in(of_one(abs, absolute_of)),
    int: whole(None),
    round: whole("roundeven"),
    float: stand_in(float_of),
    bool: stand_in(bool_of),
    min: extreme(min, "<"),
    max: extreme(max, ">"),
    math.floor: whole("floor", "as floats"),
    math.ceil: whole("ceil", "as floats"),
    math.trunc: whole(None, "refuse"),
    math.sqrt: by_llvm("sqrt", True),
    math.fabs: by_llvm("fabs", False),
    math.copysign: by_llvm("copysign", False),
    math.degrees: scaled(180.0 / math.pi, "degrees"),
    math.radians: scaled(math.pi / 180.0, "radians"),
    np.sqrt: by_llvm("sqrt", True, of_numpy=True),
    np.floor: by_llvm("floor", False, of_numpy=True),
    np.ceil: by_llvm("ceil", False, of_numpy=True),
    np.trunc: by_llvm("trunc", False, of_numpy=True),
    np.rint: by_llvm("roundeven", False, of_numpy=True),
    np.copysign: by_llvm("copysign", False, of_numpy=True),
    np.fabs: by_llvm("fabs", False, of_numpy=True),
}
OF_TWO: dict[Any, Check] = {operator.pow: power_of}
"""What operators make of two wide numbers."""
UNCHECKED: dict[Any, Any] = {}
"""Stand-ins for ints that are known to fit."""
for _fn, _name in ((operator.add, "sadd"), (operator.sub, "ssub"), (operator.mul, "smul")):
    OF_TWO[_fn] = arithmetic(_fn, f"{_name}_with_overflow")
    _bare = arithmetic(_fn, f"{_name}_with_overflow", checked=False)
    UNCHECKED[_fn] = stand_in(of_two(_fn, OF_TWO[_fn], wide=_bare))
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
for _fn in _DIVISIONS:
    OF_TWO[_fn] = division(_fn)
for _fn in (operator.lshift, operator.rshift):
    OF_TWO[_fn] = shift(_fn)
for _fn in (operator.and_, operator.or_, operator.xor):
    OF_TWO[_fn] = bits(_fn)
for _fn in (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt):
    OF_TWO[_fn] = comparison(_fn)
STRONG: dict[Any, Any] = {}
"""Stand-ins for a narrow number beside a wide one that is NumPy's."""
SOFT: dict[Any, Any] = {}
"""Stand-ins for numbers of which one may still be the literal that its variable began with: they are told as much."""
for _fn, _check in OF_TWO.items():
    STAND_INS[_fn] = intrinsic(prefer_literal=_fn in _DIVISIONS)(of_two(_fn, _check))
    STRONG[_fn] = stand_in(of_two(_fn, _check, strong=True))
    SOFT[_fn] = stand_in(soft_of_two(of_two(_fn, _check)))
for _name in ("isnan", "isinf", "isfinite"):
    STAND_INS[getattr(math, _name)] = STAND_INS[getattr(np, _name)] = is_what(_name)
for _name in C_FUNCTIONS:
    if _name not in _OURS and hasattr(math, _name):
        STAND_INS[getattr(math, _name)] = of_floats(_name, 2 if _name in _OF_TWO else 1)
IN_PLACE = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.ilshift: operator.lshift, operator.irshift: operator.rshift,
    operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor,
}  # fmt: skip

OF_ANY = {min: extreme_of_any(min, "<"), max: extreme_of_any(max, ">")}
"""Where classes are followed: see `classes.py`."""
