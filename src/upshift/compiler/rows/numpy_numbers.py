"""Operators and comparisons of NumPy's numbers: the dtype that NumPy computes in, and a lane left where it warns.

What an operator makes of two dtypes is asked of NumPy itself, with a pair of ones. Its scalars compute as C does, with
a warning where an int wraps, a finite float becomes infinite, or a number NaN; the plain function gives that warning.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kinds import BOOL, COMPLEX, FLOAT, INT, NUMPY, Kind, Scalar, Tuple
from . import numbers
from .numbers import ORDERED, SIGNED, base, is_numpy_number, safe
from .numpy_arithmetic import OPERATIONS, complex_of, divided_floats, divided_ints, parts, power_by_loop
from .numpy_casts import (
    BOOLEAN,
    DOUBLE,
    HALF,
    LONG,
    ULONG,
    WARNS,
    DType,
    Operand,
    both,
    cast,
    either,
    is_true,
    ll,
    loaded,
    operand_of,
    part,
    size_of,
    wide,
    widened,
)

Emit = Callable[..., Any]
Row = tuple[Kind, Emit]
_NAMES: dict[str, Any] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "LShift": operator.lshift,
    "RShift": operator.rshift, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
    "divmod": divmod,
}  # fmt: skip
_UNARY: dict[str, Any] = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert, "abs": abs}


@functools.cache
def _made_by(op: str, *samples: Any) -> DType | None:
    """The dtype that NumPy gives for an operator on numbers of these classes; None where it raises."""
    fn = _NAMES.get(op) or _UNARY[op]
    try:
        with np.errstate(all="ignore"):
            made = fn(*(1j if cls is complex else cls(1) for cls in samples))
    except TypeError:
        return None
    if isinstance(made, tuple):
        made = made[0]
    return made.dtype if isinstance(made, np.generic) and type(made) is NUMPY[made.dtype].cls else None


def _pair(a: Kind, b: Kind) -> tuple[Operand, Operand] | None:
    if not is_numpy_number(a) and not is_numpy_number(b):
        return None
    x, y = operand_of(a), operand_of(b)
    return None if x is None or y is None else (x, y)


def _is_plain(x: Operand, y: Operand) -> bool:
    """Whether Python computes it: a complex number takes an np.float64, which is a float, for one."""
    return x.cls is complex and y.cls is np.float64


def binary(op: str, a: Kind, b: Kind) -> Row | str | None:
    """The row of an operator on two numbers, one of them NumPy's; None where there is none."""
    pair = _pair(a, b)
    if pair is None or op not in _NAMES:
        return None
    x, y = pair
    if _is_plain(x, y):
        return numbers.binary(op, a, FLOAT)
    want = _made_by(op, x.cls, y.cls)
    if want is None or want not in NUMPY:
        return None
    row = OPERATIONS[want.kind].get(op)
    if row is None:
        return None
    by_ufunc = op == "Pow" and not _converts(x, y, want)

    def emit(w: Any, u: str, v: str) -> Any:
        left, right = loaded(w, u, x, want), loaded(w, v, y, want)
        if by_ufunc and want.kind == "f":
            return power_by_loop(w, left, right, want)
        return row(w, left, right, want)

    return NUMPY[want], emit


def _converts(x: Operand, y: Operand, want: DType) -> bool:
    """Whether one of two numbers has the dtype of the result, so that its own class computes it, and not a ufunc."""
    if x.dtype == BOOLEAN and not x.plain:
        return False  # NumPy's bools have no arithmetic of their own
    return any(not o.plain and o.dtype == want for o in (x, y))


def division(a: Kind, b: Kind) -> Row | None:
    """`divmod(a, b)`: a pair of numbers of one dtype."""
    pair = _pair(a, b)
    if pair is None:
        return None
    x, y = pair
    want = _made_by("divmod", x.cls, y.cls)
    if want is None or want.kind not in "iuf":
        return None
    kind = Tuple((NUMPY[want], NUMPY[want]))

    def emit(w: Any, u: str, v: str) -> Any:
        left, right = loaded(w, u, x, want), loaded(w, v, y, want)
        made = divided_ints(w, left, right, want) if want.kind in "iu" else divided_floats(w, left, right, want)
        return w.build(kind.ll, *((ll(want), value) for value in made))

    return kind, emit


# ---- comparisons

_UNSIGNED = {"Eq": "eq", "NotEq": "ne", "Lt": "ult", "LtE": "ule", "Gt": "ugt", "GtE": "uge"}
NUMPY_BOOL = NUMPY[BOOLEAN]


def compare(op: str, a: Kind, b: Kind) -> Row | None:
    """A comparison of two numbers, one of them NumPy's, which gives a bool of NumPy's."""
    pair = _pair(a, b)
    if pair is None or op not in SIGNED:
        return None
    if _is_plain(*pair):
        return numbers.compare(op, a, FLOAT)
    return compare_operands(op, *pair)


def compare_operands(op: str, x: Operand, y: Operand) -> Row | None:
    """The row of a comparison of two numbers, one of them NumPy's, in the dtype in which NumPy compares."""
    if x.dtype.kind in "biu" and y.dtype.kind in "biu":
        return _compare_ints(op, x, y)
    want = _made_by("Add", x.cls, y.cls)
    if want is None or want not in NUMPY:
        return None

    def emit(w: Any, u: str, v: str) -> str:
        left, right = loaded(w, u, x, want), loaded(w, v, y, want)
        if want.kind == "c":
            return _compare_complex(w, op, left, right, want)
        return str(w.new(f"fcmp {ORDERED[op]} {wide(want)} {widened(w, left, want)}, {widened(w, right, want)}"))

    loses = want.kind == "c" or (want.itemsize < 8 and (x.weak or y.weak))
    return NUMPY_BOOL, emit if loses else safe(emit)


def _compare_ints(op: str, x: Operand, y: Operand) -> Row | None:
    """Exactly, whatever their dtypes are."""
    large = [o.literal for o in (x, y) if o.literal is not None and not -(2**63) <= o.literal < 2**63]
    if large and (BOOLEAN in (x.dtype, y.dtype) or abs(large[0]) >= 2**127):
        return None
    table, of = SIGNED, "i64"
    if x.dtype == y.dtype == ULONG:
        table = _UNSIGNED
    elif large or ULONG in (x.dtype, y.dtype):
        of = "i128"

    def widen(w: Any, value: str, operand: Operand) -> str:
        if operand.literal is not None:
            return str(int(operand.literal))
        have = ll(operand.dtype)
        if have == of:
            return value
        return str(w.new(f"{'sext' if operand.dtype.kind == 'i' else 'zext'} {have} {value} to {of}"))

    return NUMPY_BOOL, safe(lambda w, u, v: w.new(f"icmp {table[op]} {of} {widen(w, u, x)}, {widen(w, v, y)}"))


def _compare_complex(w: Any, op: str, a: str, b: str, of: DType) -> str:
    """By their real parts first; left where a part is NaN and an order is asked for."""
    t = wide(part(of))
    (ar, ai), (br, bi) = parts(w, a, of), parts(w, b, of)
    same = w.new(f"fcmp oeq {t} {ar}, {br}")
    if op in ("Eq", "NotEq"):
        equal = both(w, same, w.new(f"fcmp oeq {t} {ai}, {bi}"))
        return equal if op == "Eq" else str(w.new(f"xor i1 {equal}, true"))
    odd = either(w, w.new(f"fcmp uno {t} {ar}, {br}"), w.new(f"fcmp uno {t} {ai}, {bi}"))
    w.leave_if(odd, None, "an order of complex numbers with NaN")
    first, second = w.new(f"fcmp {ORDERED[op]} {t} {ar}, {br}"), w.new(f"fcmp {ORDERED[op]} {t} {ai}, {bi}")
    return str(w.choose(same, "i1", second, first))


# ---- one operand


def unary(op: str, a: Kind) -> Row | None:
    """`-x`, `+x`, `~x` and `abs(x)` of a number of NumPy's."""
    operand = operand_of(a) if is_numpy_number(a) else None
    if operand is None:
        return None
    of, made = operand.dtype, _made_by(op, operand.cls)
    if made is None:
        return None
    kind = NUMPY[made]
    t = ll(of)
    if op == "UAdd":
        return kind, safe(lambda w, x: x)
    if op == "Invert":
        return kind, safe(lambda w, x: w.new(f"xor {t} {x}, {'true' if t == 'i1' else '-1'}"))
    if of.kind == "b":
        return kind, safe(lambda w, x: x)
    if of.kind in "iu":
        return kind, _signed(op, of)
    if of.kind == "f":
        return kind, safe(lambda w, x: _sign_of_float(w, op, x, of))
    if op == "abs":
        return kind, safe(lambda w, z: _size_of_complex(w, z, of))
    one = wide(part(of))

    def negative(w: Any, z: str) -> str:
        real, imag = parts(w, z, of)
        return complex_of(w, w.new(f"fneg {one} {real}"), w.new(f"fneg {one} {imag}"), of)

    return kind, safe(negative)


def _signed(op: str, of: DType) -> Emit:
    t = ll(of)
    if of.kind == "u":
        if op == "abs":
            return safe(lambda w, x: x)

        def minus(w: Any, x: str) -> str:
            w.leave_if(w.new(f"icmp ne {t} {x}, 0"), None, WARNS)
            return "0"

        return minus

    def emit(w: Any, x: str) -> str:
        w.leave_if(w.new(f"icmp eq {t} {x}, {np.iinfo(of).min}"), None, WARNS)
        negative = w.new(f"sub {t} 0, {x}")
        return str(negative if op == "USub" else w.choose(w.new(f"icmp slt {t} {x}, 0"), t, negative, x))

    return emit


def _sign_of_float(w: Any, op: str, x: str, of: DType) -> str:
    if of == HALF:  # by its bits
        raw = w.new(f"bitcast half {x} to i16")
        made = w.new(f"xor i16 {raw}, -32768" if op == "USub" else f"and i16 {raw}, 32767")
        return str(w.new(f"bitcast i16 {made} to half"))
    return str(w.new(f"fneg {ll(of)} {x}")) if op == "USub" else size_of(w, ll(of), x)


def _size_of_complex(w: Any, z: str, of: DType) -> str:
    """C's hypot, which is what `cabs` is."""
    t = wide(part(of))
    real, imag = parts(w, z, of)
    return str(w.call_c("hypot" if t == "double" else "hypotf", t, (t, real), (t, imag)))


def truth(kind: Kind) -> Emit:
    """The row of `bool` for a number of NumPy's."""
    dtype = kind.dtype  # type: ignore[attr-defined]
    return safe(lambda w, x: is_true(w, x, dtype))


# ---- as numbers of Python's


def converted(kind: Kind, wanted: Kind) -> Emit | None:
    """A number of NumPy's as one of Python's, where a function takes it for one; None where Python raises or warns."""
    operand = operand_of(kind)
    wanted = base(wanted)
    if operand is None or (operand.dtype.kind == "c" and wanted is not COMPLEX):
        return None
    have = operand.dtype
    if wanted is INT:
        if have.kind not in "iu":
            return None
        if have == ULONG:
            return _index
        return safe(lambda w, x: cast(w, x, have, LONG))
    if wanted is FLOAT:
        return safe(lambda w, x: cast(w, x, have, DOUBLE))
    if wanted is COMPLEX:
        return safe(lambda w, x: cast(w, x, have, np.dtype("complex128")))
    if wanted is BOOL and have.kind == "b":
        return safe(lambda w, x: x)
    return None


def _index(w: Any, x: str) -> str:
    w.leave_if(w.new(f"icmp slt i64 {x}, 0"), None, "an int goes beyond 64 bits")
    return x


def is_int(kind: Kind) -> bool:
    """Whether it is an int of NumPy's, which Python takes for one."""
    return is_numpy_number(kind) and kind.dtype.kind in "iu"  # type: ignore[attr-defined]


def own_class(kind: Kind) -> Scalar | None:
    """The class of Python's that `x.item()` gives."""
    operand = operand_of(kind)
    if operand is None:
        return None
    return {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}[operand.dtype.kind]
