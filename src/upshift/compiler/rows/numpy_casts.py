"""NumPy's numbers from one dtype to another, in LLVM IR: as NumPy casts them, and left where it would warn.

`np.float32(1) + 2` turns the 2 into a float32 by way of a double, `np.int8(1) + 300` raises OverflowError,
`np.float16(np.float64(1e6))` warns. Ints of Python's are *weak*: they take the dtype of what stands beside them.
"""

from __future__ import annotations

import functools
import platform
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kinds import BIG, BOOL, COMPLEX, FLOAT, INT, NUMPY, Kind, Literal, Scalar
from .numbers import INFINITY, base
from .powers import has_feature

DType = np.dtype[Any]
HALF, SINGLE, DOUBLE = (np.dtype(name) for name in ("float16", "float32", "float64"))
BOOLEAN, LONG, ULONG = (np.dtype(name) for name in ("bool", "int64", "uint64"))
OF_PYTHON = {BOOL: BOOLEAN, INT: LONG, FLOAT: DOUBLE, COMPLEX: np.dtype("complex128")}
WARNS = "NumPy warns of a number that does not fit"


@dataclass(frozen=True, slots=True)
class Operand:
    """A number beside an operator: its dtype, whether it takes that of what stands beside it, its value if known."""

    dtype: DType
    weak: bool = False
    literal: Any = None
    plain: bool = False
    """Whether it is a number or bool of Python's."""

    @property
    def cls(self) -> type:
        """The class of such numbers."""
        return {"b": bool, "i": int, "f": float, "c": complex}[self.dtype.kind] if self.plain else self.dtype.type


def operand_of(kind: Kind) -> Operand | None:
    """What a kind is to NumPy's arithmetic; None where it is no number, or one that is not known here."""
    of = base(kind)
    literal = kind.value if isinstance(kind, Literal) else None
    if of is BIG:
        return Operand(LONG, True, literal, True)
    if of in OF_PYTHON:
        return Operand(OF_PYTHON[of], of is not BOOL, literal, True)
    if isinstance(of, Scalar) and of.dtype is not None:
        return Operand(of.dtype) if of.dtype != HALF or has_halves() else None
    return None


@functools.cache
def has_halves() -> bool:
    """Whether the processor converts float16 itself; machine code calls no library for that."""
    if platform.machine() in ("aarch64", "arm64"):
        return True
    return has_feature("F16C")


def ll(dtype: DType) -> str:
    """LLVM's type for a number of a dtype."""
    found = NUMPY[dtype].ll
    assert found is not None
    return found


def bits(dtype: DType) -> int:
    """How many bits a number of a dtype has in a register."""
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize


def part(dtype: DType) -> DType:
    """The dtype of a complex number's parts."""
    return SINGLE if dtype.itemsize == 8 else DOUBLE


def double(value: float) -> str:
    """A float as LLVM IR spells it, to the last bit."""
    return "0x" + struct.pack(">d", value).hex().upper()


# ---- floats


def size_of(w: Any, t: str, x: str) -> str:
    """|x|."""
    name = {"float": "llvm.fabs.f32", "double": "llvm.fabs.f64"}[t]
    return str(w.intrinsic(name, t, (t, x)))


def is_nan(w: Any, t: str, x: str) -> str:
    """Whether a float is NaN."""
    return str(w.new(f"fcmp uno {t} {x}, 0.0"))


def is_infinite(w: Any, t: str, x: str) -> str:
    """Whether a float is infinite."""
    return str(w.new(f"fcmp oeq {t} {size_of(w, t, x)}, {INFINITY}"))


def is_finite(w: Any, t: str, x: str) -> str:
    """Whether a float is neither infinite nor NaN."""
    return str(w.new(f"fcmp one {t} {size_of(w, t, x)}, {INFINITY}"))


def warned(w: Any, t: str, result: str, *operands: str) -> str:
    """Whether an operation on floats has raised a flag: NaN from numbers, infinity from finite ones."""
    if getattr(w, "quiet", False):
        return "false"  # the processor's own flags are looked at, or nothing is
    if w.module.for_gpu:
        w.module.watches = True
        return "false"
    w.module.may_underflow = True
    known = w.new(f"fcmp ord {t} {operands[0]}, {operands[-1]}")
    odd = both(w, is_nan(w, t, result), known)
    far = is_infinite(w, t, result)
    for operand in operands:
        far = both(w, far, is_finite(w, t, operand))
    return str(w.new(f"or i1 {odd}, {far}"))


def both(w: Any, a: str, b: str) -> str:
    """Whether two flags hold."""
    return str(w.new(f"and i1 {a}, {b}"))


def either(w: Any, a: str, b: str) -> str:
    """Whether one of two flags holds."""
    return str(w.new(f"or i1 {a}, {b}"))


def widened(w: Any, x: str, dtype: DType) -> str:
    """A float16 as a float32; all others as they are."""
    return str(w.new(f"fpext half {x} to float")) if dtype == HALF else x


def narrowed(w: Any, x: str, dtype: DType) -> str:
    """A float32 as a float16, where that is asked for."""
    return str(w.new(f"fptrunc float {x} to half")) if dtype == HALF else x


def wide(dtype: DType) -> str:
    """The LLVM type in which floats of a dtype are computed."""
    return "double" if dtype == DOUBLE else "float"


def _half_of_double(w: Any, x: str) -> str:
    """The nearest float16, rounded once: the float32 between them is rounded to odd."""
    near = w.new(f"fptrunc double {x} to float")
    back = w.new(f"fpext float {near} to double")
    raw = w.new(f"bitcast float {near} to i32")
    off = w.new(f"fcmp one double {back}, {x}")
    even = w.new(f"icmp eq i32 {w.new(f'and i32 {raw}, 1')}, 0")
    above = w.new(f"fcmp ogt double {size_of(w, 'double', back)}, {size_of(w, 'double', x)}")
    odd = w.choose(above, "i32", w.new(f"sub i32 {raw}, 1"), w.new(f"add i32 {raw}, 1"))
    made = w.new(f"bitcast i32 {w.choose(both(w, off, even), 'i32', odd, raw)} to float")
    return str(w.new(f"fptrunc float {made} to half"))


def _float_to_float(w: Any, x: str, have: DType, want: DType) -> str:
    x, t = widened(w, x, have), wide(have)
    if want == HALF:
        made = _half_of_double(w, x) if t == "double" else w.new(f"fptrunc float {x} to half")
        w.leave_if(_lost(w, "float", widened(w, made, HALF), t, x), None, WARNS)
        return str(made)
    if wide(want) == t:
        return x
    if want == DOUBLE:
        return str(w.new(f"fpext float {x} to double"))
    made = w.new(f"fptrunc double {x} to float")
    w.leave_if(_lost(w, "float", made, t, x), None, WARNS)
    return str(made)


def _lost(w: Any, t: str, made: str, of: str, x: str) -> str:
    """Whether a finite float has become infinite."""
    if getattr(w, "quiet", False):
        return "false"
    return both(w, is_infinite(w, t, made), is_finite(w, of, x))


def _float_to_int(w: Any, x: str, have: DType, want: DType, plain: bool) -> str:
    """Without its fraction; left where that does not fit. `plain`: of Python's float, which raises there."""
    x = _float_to_float(w, x, have, DOUBLE)
    w.leave_if(is_nan(w, "double", x), ValueError if plain else None, "an int of NaN")
    info = np.iinfo(want)
    if want.itemsize == 8:
        above = w.new(f"fcmp oge double {x}, {double(float(2 ** (64 if want.kind == 'u' else 63)))}")
    else:
        above = w.new(f"fcmp oge double {x}, {double(float(info.max) + 1.0)}")
    lowest = float(info.min)
    sign, low = ("olt", lowest) if lowest - 1.0 == lowest else ("ole", lowest - 1.0)
    below = w.new(f"fcmp {sign} double {x}, {double(low)}")
    w.leave_if(either(w, above, below), OverflowError if plain else None, WARNS)
    return str(w.new(f"fpto{'ui' if want.kind == 'u' else 'si'} double {x} to {ll(want)}"))


def _int_to_float(w: Any, x: str, have: DType, want: DType) -> str:
    sign = "s" if have.kind == "i" else "u"
    t = wide(want)
    if want == DOUBLE and have == LONG and x.lstrip("-").isdigit():
        return double(float(int(x)))
    made = w.new(f"{sign}itofp {ll(have)} {x} to {t}")
    if want != HALF:
        return str(made)
    small = w.new(f"fptrunc float {made} to half")
    w.leave_if(_lost(w, "float", widened(w, small, HALF), "float", made), None, WARNS)
    return str(small)


def _int_to_int(w: Any, x: str, have: DType, want: DType) -> str:
    """As many of its bits as there is room for."""
    a, b = bits(have), bits(want)
    if a == b:
        return x
    if a > b:
        return str(w.new(f"trunc i{a} {x} to i{b}"))
    return str(w.new(f"{'sext' if have.kind == 'i' else 'zext'} i{a} {x} to i{b}"))


def is_true(w: Any, x: str, dtype: DType) -> str:
    """What `bool` says of a number: it is not zero."""
    if dtype.kind == "b":
        return x
    if dtype.kind in "iu":
        return str(w.new(f"icmp ne {ll(dtype)} {x}, 0"))
    if dtype.kind == "f":
        return str(w.new(f"fcmp une {wide(dtype)} {widened(w, x, dtype)}, 0.0"))
    t = wide(part(dtype))
    real, imag = (w.new(f"fcmp une {t} {w.extract(ll(dtype), x, i)}, 0.0") for i in range(2))
    return either(w, real, imag)


# ---- from any dtype to any other


def cast(w: Any, x: str, have: DType, want: DType, plain: bool = False) -> str:
    """A number in another dtype, as `astype` makes it."""
    if have == want:
        return x
    if want.kind == "c":
        return _to_complex(w, x, have, want)
    if want.kind == "b":
        return is_true(w, x, have)
    assert have.kind != "c"
    if have.kind == "f":
        return _float_to_float(w, x, have, want) if want.kind == "f" else _float_to_int(w, x, have, want, plain)
    return _int_to_float(w, x, have, want) if want.kind == "f" else _int_to_int(w, x, have, want)


def _to_complex(w: Any, x: str, have: DType, want: DType) -> str:
    of = part(want)
    t = wide(of)
    if have.kind == "c":
        parts = [cast(w, w.extract(ll(have), x, i), part(have), of) for i in range(2)]
    else:
        parts = [cast(w, x, have, of), "0.0"]
    return str(w.build(ll(want), (t, parts[0]), (t, parts[1])))


def loaded(w: Any, x: str, operand: Operand, want: DType) -> str:
    """A number beside another, in the dtype in which both are computed."""
    if not operand.weak:
        return cast(w, x, operand.dtype, want)
    if operand.dtype.kind != "i":
        return cast(w, x, operand.dtype, want, plain=True)
    if operand.literal is not None and not -(2**63) <= operand.literal < 2**63:
        return _large(w, operand.literal, want)
    if want.kind in "iu":
        _leave_beyond(w, x, want, operand.literal)
        return _int_to_int(w, x, LONG, want)
    if want.kind == "b":
        return is_true(w, x, LONG)
    return cast(w, cast(w, x, LONG, DOUBLE), DOUBLE, want)  # through a double, also to float32


def _large(w: Any, value: int, want: DType) -> str:
    """A literal that no i64 holds."""
    if want == ULONG and 0 <= value < 2**64:
        return str(value - 2**64)
    if want.kind in "iub" or abs(value) > 2**1000:
        w.leave_if("true", None, "an int goes beyond 64 bits")
        return "undef"
    return cast(w, double(float(value)), DOUBLE, want)


def _leave_beyond(w: Any, x: str, want: DType, literal: int | None = None) -> None:
    """OverflowError where an int of Python's is none of this dtype."""
    info = np.iinfo(want)
    low, high = max(int(info.min), -(2**63)), min(int(info.max), 2**63 - 1)
    if literal is not None:
        outside = "false" if low <= literal <= high else "true"
    elif (low, high) == (-(2**63), 2**63 - 1):
        return
    else:
        below, above = w.new(f"icmp slt i64 {x}, {low}"), w.new(f"icmp sgt i64 {x}, {high}")
        outside = either(w, below, above)
    w.leave_if(outside, OverflowError, f"an int is out of bounds for {want}")
