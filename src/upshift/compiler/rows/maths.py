"""Functions of `math` that are C's own, with the errors that Python makes of their results."""

from __future__ import annotations

import math
import struct
from typing import Any

from ..captures import literal_of
from ..kinds import BOOL, FLOAT, INT, Kind, Literal
from .numbers import INFINITY, base, fabs, rank, safe, to_float, to_int

INTO_INT = 9.2233720368547748e18


def _floats(*kinds: Kind) -> bool:
    return all(0 <= rank(kind) <= 2 for kind in kinds)


def _is_infinite(w: Any, x: str) -> str:
    return str(w.new(f"fcmp oeq double {fabs(w, x)}, {INFINITY}"))


def _both(w: Any, a: str, b: str) -> str:
    return str(w.new(f"and i1 {a}, {b}"))


def _c_function(name: str, overflows: bool) -> Any:
    """Python's wrapping of one of C's functions of one number (`math_1`): NaN of a number is a domain error, an
    infinite result of a finite number an overflow or a domain error."""

    def row(walk: Any, kind: Kind) -> Any:
        if not _floats(kind):
            return None

        def emit(w: Any, value: str) -> str:
            x = to_float(w, value, kind)
            result = w.call_c(name, "double", ("double", x))
            if w.module.for_gpu:  # one look, after which the plain function says what it is
                odd = w.new(f"fcmp une double {w.new(f'fsub double {result}, {result}')}, 0.0")
                w.leave_if(odd, None, "math range error")
                return str(result)
            nan = _both(w, w.new(f"fcmp uno double {result}, 0.0"), w.new(f"fcmp ord double {x}, 0.0"))
            w.leave_if(nan, ValueError, "math domain error")
            far = _both(w, _is_infinite(w, result), w.new(f"fcmp one double {fabs(w, x)}, {INFINITY}"))
            w.leave_if(far, OverflowError if overflows else ValueError, "math range error")
            return str(result)

        return FLOAT, emit

    return row


def logarithm(name: str) -> Any:
    """Of ints as well as floats, where they are not too large."""

    def row(walk: Any, kind: Kind) -> Any:
        if not _floats(kind):
            return None

        def emit(w: Any, value: str) -> str:
            x = to_float(w, value, kind)
            w.leave_if(w.new(f"fcmp ole double {x}, 0.0"), ValueError, "math domain error")
            return str(w.call_c(name, "double", ("double", x)))

        return FLOAT, emit

    return row


def _log_row(walk: Any, kind: Kind, of: Kind | None = None) -> Any:
    """`math.log(x)` and `math.log(x, base)`."""
    row = logarithm("log")
    if of is None:
        return row(walk, kind)
    if not _floats(kind, of):
        return None

    def emit(w: Any, x: str, b: str) -> str:
        above = row(walk, kind)[1](w, x)
        below = row(walk, of)[1](w, b)
        w.leave_if(w.new(f"fcmp oeq double {below}, 0.0"), ZeroDivisionError, "division by zero")
        return str(w.new(f"fdiv double {above}, {below}"))

    return FLOAT, emit


def sqrt_row(walk: Any, kind: Kind) -> Any:
    """`math.sqrt`: an instruction, and a ValueError for what is negative."""
    if not _floats(kind):
        return None

    def emit(w: Any, value: str) -> str:
        x = to_float(w, value, kind)
        w.leave_if(w.new(f"fcmp olt double {x}, 0.0"), ValueError, "math domain error")
        return str(w.intrinsic("llvm.sqrt.f64", "double", ("double", x)))

    return FLOAT, emit


def _two_floats(name: str) -> Any:
    """C's function of two numbers, without errors: atan2, copysign, ..."""

    def row(walk: Any, a: Kind, b: Kind) -> Any:
        if not _floats(a, b):
            return None
        return FLOAT, safe(
            lambda w, x, y: w.call_c(name, "double", ("double", to_float(w, x, a)), ("double", to_float(w, y, b)))
        )

    return row


def _fmod_row(walk: Any, a: Kind, b: Kind) -> Any:
    if not _floats(a, b):
        return None

    def emit(w: Any, x: str, y: str) -> str:
        x, y = to_float(w, x, a), to_float(w, y, b)
        result = w.call_c("fmod", "double", ("double", x), ("double", y))
        known = _both(w, w.new(f"fcmp ord double {x}, {y}"), w.new(f"fcmp uno double {result}, 0.0"))
        w.leave_if(known, ValueError, "math domain error")
        return str(result)

    return FLOAT, emit


def _pow_row(walk: Any, a: Kind, b: Kind) -> Any:
    """`math.pow`: C's pow, and errors for what it does not define."""
    if not _floats(a, b):
        return None

    def emit(w: Any, x: str, y: str) -> str:
        x, y = to_float(w, x, a), to_float(w, y, b)
        result = w.call_c("pow", "double", ("double", x), ("double", y))
        finite = _both(
            w, w.new(f"fcmp one double {fabs(w, x)}, {INFINITY}"), w.new(f"fcmp one double {fabs(w, y)}, {INFINITY}")
        )
        finite = _both(w, finite, w.new(f"fcmp ord double {x}, {y}"))
        nan = _both(w, finite, w.new(f"fcmp uno double {result}, 0.0"))
        w.leave_if(nan, ValueError, "math domain error")
        far = _both(w, finite, _is_infinite(w, result))
        zero = _both(w, far, w.new(f"fcmp oeq double {x}, 0.0"))
        w.leave_if(zero, ValueError, "math domain error")
        w.leave_if(far, OverflowError, "math range error")
        return str(result)

    return FLOAT, emit


def _float_to_int(w: Any, x: str) -> str:
    """A float's int, left where it does not fit or there is none."""
    w.leave_if(w.new(f"fcmp uno double {x}, 0.0"), ValueError, "cannot convert float NaN to integer")
    w.leave_if(_is_infinite(w, x), OverflowError, "cannot convert float infinity to integer")
    inside = w.new(f"fcmp ole double {fabs(w, x)}, {_double(INTO_INT)}")
    w.leave_if(w.new(f"xor i1 {inside}, true"), None, "an int goes beyond 64 bits")
    return str(w.new(f"fptosi double {x} to i64"))


def _double(x: float) -> str:
    return "0x" + struct.pack(">d", x).hex().upper()


def rounding(intrinsic: str | None) -> Any:
    """int, floor, ceil, trunc and round of one number."""

    def row(walk: Any, kind: Kind) -> Any:
        if rank(kind) in (0, 1):
            return INT, safe(lambda w, x: to_int(w, x, kind))
        if base(kind) is not FLOAT:
            return None

        def emit(w: Any, x: str) -> str:
            return _float_to_int(w, w.intrinsic(intrinsic, "double", ("double", x)) if intrinsic else x)

        return INT, emit

    return row


def _abs_row(walk: Any, kind: Kind) -> Any:
    if isinstance(kind, Literal) and kind.kind in (INT, FLOAT, BOOL):
        made = literal_of(abs(kind.value))
        assert isinstance(made, Literal)
        return made, safe(lambda w, x: w.module.constant(made.kind, made.value))
    if rank(kind) in (0, 1):

        def emit(w: Any, x: str) -> str:
            x = to_int(w, x, kind)
            minus = w.overflowing("ssub", "0", x)
            return str(w.choose(w.new(f"icmp slt i64 {x}, 0"), "i64", minus, x))

        return INT, emit
    if base(kind) is FLOAT:
        return FLOAT, safe(fabs)
    return None


def _float_row(walk: Any, kind: Kind | None = None) -> Any:
    if kind is None:
        return Literal(FLOAT, 0.0), safe(lambda w: "0.0")
    if _floats(kind):
        return FLOAT, safe(lambda w, x: to_float(w, x, kind))
    return None


def _test(emit: Any) -> Any:
    def row(walk: Any, kind: Kind) -> Any:
        if not _floats(kind):
            return None
        return BOOL, safe(lambda w, x: emit(w, to_float(w, x, kind)))

    return row


def _is_finite(w: Any, x: str) -> str:
    return str(w.new(f"fcmp one double {fabs(w, x)}, {INFINITY}"))


def angle(factor: float) -> Any:
    """The row of `math.degrees` and `math.radians`: a product."""

    def row(walk: Any, kind: Kind) -> Any:
        if not _floats(kind):
            return None
        return FLOAT, safe(lambda w, x: w.new(f"fmul double {to_float(w, x, kind)}, {_double(factor)}"))

    return row


MATHS: dict[Any, Any] = {
    math.sqrt: sqrt_row, math.log: _log_row, math.log2: logarithm("log2"), math.log10: logarithm("log10"),
    math.pow: _pow_row, math.fmod: _fmod_row, math.atan2: _two_floats("atan2"), math.copysign: _two_floats("copysign"),
    math.nextafter: _two_floats("nextafter"), math.fabs: _test(None), math.floor: rounding("llvm.floor.f64"),
    math.ceil: rounding("llvm.ceil.f64"), math.trunc: rounding(None), abs: _abs_row, float: _float_row,
    math.radians: angle(math.pi / 180.0), math.degrees: angle(180.0 / math.pi),
    math.isnan: _test(lambda w, x: w.new(f"fcmp uno double {x}, 0.0")), math.isinf: _test(_is_infinite),
    math.isfinite: _test(_is_finite),
}  # fmt: skip
for _name in "sin cos tan asin acos atan asinh acosh atanh tanh erf erfc cbrt".split():
    MATHS[getattr(math, _name)] = _c_function(_name, overflows=False)
for _name in "exp sinh cosh expm1 exp2".split():
    MATHS[getattr(math, _name)] = _c_function(_name, overflows=True)
MATHS[math.log1p] = _c_function("log1p", overflows=False)


def _fabs_row(walk: Any, kind: Kind) -> Any:
    return (FLOAT, safe(lambda w, x: fabs(w, to_float(w, x, kind)))) if _floats(kind) else None


MATHS[math.fabs] = _fabs_row
