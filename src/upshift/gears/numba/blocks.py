"""What stand-ins are built of: types told apart, ways to leave a lane, calls of C's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.extending import intrinsic

I64, F64 = ir.IntType(64), ir.DoubleType()
LEAST = -(2**63)
WHOLE = 2**53
"""Ints up to this are floats exactly."""
Check = Callable[..., tuple[Any, Any]]
"""What an intrinsic is made from: `check(typing context, *types)` gives a signature, and how to generate its code."""


class Refused(errors.TypingError):  # type: ignore[misc]
    """What cannot be compiled with Python's meaning; the text is the reason."""

    MARK = "upshift: "

    def __init__(self, reason: str) -> None:
        super().__init__(self.MARK + reason)


def is_int(t: Any) -> bool:
    return isinstance(t, types.Integer)


def is_bool(t: Any) -> bool:
    return isinstance(t, types.Boolean)


def is_float(t: Any) -> bool:
    return isinstance(t, types.Float)


def is_complex(t: Any) -> bool:
    return isinstance(t, types.Complex)


def is_number(t: Any) -> bool:
    return isinstance(t, types.Number | types.Boolean)


def leave(context: Any, builder: Any, odd: Any) -> None:
    """Raise where `odd` holds: the plain function will say what is to be said."""
    with builder.if_then(odd, likely=False):
        context.call_conv.return_user_exc(builder, OverflowError, ("left to the plain function",))


def not_finite(builder: Any, value: Any) -> Any:
    """Whether a float is NaN or infinite."""
    difference = builder.fsub(value, value)
    return builder.fcmp_unordered("!=", difference, ir.Constant(value.type, 0.0))


def is_nan(builder: Any, value: Any) -> Any:
    return builder.fcmp_unordered("uno", value, value)


def leave_domain(context: Any, builder: Any, made: Any, args: list[Any]) -> None:
    """`math` raises where a result is infinite or NaN and no argument is; so do floats raised to a power."""
    odd = not_finite(builder, made)
    for arg in args:
        odd = builder.and_(odd, builder.not_(is_nan(builder, arg)))
    leave(context, builder, odd)


def leave_large(context: Any, builder: Any, value: Any) -> None:
    """An int that no float holds exactly is compared and divided by other rules than floats are."""
    low = builder.icmp_signed("<", value, ir.Constant(I64, -WHOLE))
    leave(context, builder, builder.or_(low, builder.icmp_signed(">", value, ir.Constant(I64, WHOLE))))


def converted(context: Any, builder: Any, value: Any, have: Any, want: Any) -> Any:
    """A real number in another type. A lane is left where it does not fit, or where NumPy would warn of that."""
    have, want = types.unliteral(have), types.unliteral(want)
    if have == want or is_bool(want):
        return context.cast(builder, value, have, want)
    if is_int(want) and is_float(have):
        size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [F64]), [value])
        leave(context, builder, builder.fcmp_unordered(">=", size, ir.Constant(F64, 2.0**63)))
        return builder.fptosi(value, I64)
    if is_int(have) and not is_int(want):
        leave_large(context, builder, value)
    return context.cast(builder, value, have, want)


def external(builder: Any, name: str, arity: int, args: Any) -> Any:
    """A call of a C function by a name that LLVM knows nothing of, so that it is called as it is."""
    fn = cgutils.get_or_insert_function(builder.module, ir.FunctionType(F64, [F64] * arity), name)
    for attribute in ("nounwind", "readnone"):
        fn.attributes.add(attribute)
    return builder.call(fn, args)


def stand_in(check: Check) -> Any:
    """An intrinsic from `check(typing context, *types)`, which gives a signature and how to generate code for it."""
    return intrinsic(prefer_literal=False)(check)


def plainly(typing: Any, fn: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """What Numba itself makes of a call."""
    fnty = typing.resolve_value_type(fn)
    signature = fnty.get_call_type(typing, args, {})
    if signature is None:
        raise Refused(f"{fn.__name__} of {', '.join(map(str, args))} cannot be compiled")

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        made = context.get_function(fnty, signature)
        cast_values = [
            context.cast(builder, value, have, want)
            for value, have, want in zip(values, sig.args, signature.args, strict=True)
        ]
        return made(builder, cast_values)

    return signature.return_type(*args), generate


def check_numbers(fn: Any, args: tuple[Any, ...]) -> None:
    name = getattr(fn, "__name__", str(fn))
    for arg in args:
        if isinstance(arg, types.Array):
            raise Refused(f"{name} of whole arrays is the numpy gear's")
        if not is_number(arg):
            raise Refused(f"{name} of {arg} is not compiled")
