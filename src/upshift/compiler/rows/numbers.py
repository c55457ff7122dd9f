"""Arithmetic and comparisons of Python's numbers: ints are checked, errors end the lane."""

from __future__ import annotations

import math
import operator
import struct
import sys
from collections.abc import Callable
from typing import Any

from ..captures import literal_of
from ..kinds import BIG, BOOL, COMPLEX, FLOAT, INT, NONE, STR, Kind, Literal, Scalar
from .powers import power_of_doubles

Emit = Callable[..., Any]
Row = tuple[Kind, Emit]
ZERO = "division by zero"
EXACT_INTS = 1 << 53
MOST_BITS = 8192
"""Of an int that is worked out of literals."""


def safe(emit: Emit) -> Emit:
    """Mark a row that can neither raise nor leave its lane."""
    emit.safe = True  # type: ignore[attr-defined]
    return emit


def base(kind: Kind) -> Kind:
    """The kind of a value, whether it is a literal or not."""
    return kind.kind if isinstance(kind, Literal) else kind


def is_numpy_number(kind: Kind) -> bool:
    """Whether it is a number of NumPy's, such as np.float64."""
    return isinstance(kind, Scalar) and kind.dtype is not None


# ---- conversions


def to_int(w: Any, value: str, kind: Kind) -> str:
    """A bool or int as an i64."""
    return str(w.new(f"zext i1 {value} to i64")) if base(kind) is BOOL else value


def to_float(w: Any, value: str, kind: Kind) -> str:
    """A bool, an int or a float as a double."""
    kind = base(kind)
    if kind is FLOAT:
        return value
    if kind is BOOL:
        return str(w.new(f"uitofp i1 {value} to double"))
    if value.lstrip("-").isdigit():
        return "0x" + struct.pack(">d", float(int(value))).hex().upper()
    return str(w.new(f"sitofp i64 {value} to double"))


def to_complex(w: Any, value: str, kind: Kind) -> str:
    """A number as two doubles, real and imaginary."""
    if base(kind) is COMPLEX:
        return value
    real = to_float(w, value, kind)
    return str(w.build("{ double, double }", ("double", real), ("double", "0.0")))


def rank(kind: Kind) -> int:
    """Where a kind stands among bool, int, float and complex; -1 for all others."""
    return _RANKS.get(base(kind), -1)


_RANKS: dict[Kind, int] = {BOOL: 0, INT: 1, FLOAT: 2, COMPLEX: 3}


# ---- ints


def _add(w: Any, a: str, b: str) -> Any:
    return w.overflowing("sadd", a, b)


def _sub(w: Any, a: str, b: str) -> Any:
    return w.overflowing("ssub", a, b)


def _mul(w: Any, a: str, b: str) -> Any:
    return w.overflowing("smul", a, b)


def _true_divide(w: Any, a: str, b: str) -> Any:
    w.leave_if(w.new(f"icmp eq i64 {b}, 0"), ZeroDivisionError, ZERO)
    quotient = w.new(f"fdiv double {to_float(w, a, INT)}, {to_float(w, b, INT)}")
    far = "false"
    for value in (a, b):
        if not _is_small(value):
            near = w.new(f"add i64 {value}, {EXACT_INTS}")
            one = w.new(f"icmp ugt i64 {near}, {2 * EXACT_INTS}")
            far = one if far == "false" else w.new(f"or i1 {far}, {one}")
    return quotient if far == "false" else _divide_far(w, a, b, quotient, far)


def _divide_far(w: Any, a: str, b: str, quotient: str, far: str) -> str:
    """The quotient of ints that no float holds, where a flag says so: rounded once, as Python does."""
    w.module.declare("@up_divide", DIVIDE)
    w.module.declare("@llvm.fma.f64", "declare double @llvm.fma.f64(double, double, double)")
    slow, on, before = w.fresh("far"), w.fresh("on"), w.label
    w.do(f"br i1 {far}, label %{slow}, label %{on}, !prof !0")
    w.start(slow)
    both = w.new(f"call {{ double, i1 }} @up_divide(i64 {a}, i64 {b})")
    w.leave_if(w.extract("{ double, i1 }", both, 1), None, "a quotient of ints between two floats")
    better, last = w.extract("{ double, i1 }", both, 0), w.label
    w.do(f"br label %{on}")
    w.start(on)
    return str(w.new(f"phi double [ {quotient}, %{before} ], [ {better}, %{last} ]"))


DIVIDE = """
define internal { double, i1 } @up_divide(i64 %a, i64 %b) nounwind {
  %a.rest = and i64 %a, 2047
  %a.most = sub i64 %a, %a.rest
  %a.big = sitofp i64 %a.most to double
  %a.small = sitofp i64 %a.rest to double
  %ah = fadd double %a.big, %a.small
  %a.back = fsub double %ah, %a.big
  %al = fsub double %a.small, %a.back
  %b.rest = and i64 %b, 2047
  %b.most = sub i64 %b, %b.rest
  %b.big = sitofp i64 %b.most to double
  %b.small = sitofp i64 %b.rest to double
  %bh = fadd double %b.big, %b.small
  %b.back = fsub double %bh, %b.big
  %bl = fsub double %b.small, %b.back
  %q = fdiv double %ah, %bh
  %minus = fneg double %q
  %r = call double @llvm.fma.f64(double %minus, double %bh, double %ah)
  %r2 = fadd double %r, %al
  %r3 = call double @llvm.fma.f64(double %minus, double %bl, double %r2)
  %c = fdiv double %r3, %bh
  %made = fadd double %q, %c
  %step = fsub double %made, %q
  %off = fsub double %c, %step
  %more = fmul double %off, 0x3FF0000010000000
  %again = fadd double %made, %more
  %unsure = fcmp une double %again, %made
  %p = insertvalue { double, i1 } poison, double %made, 0
  %s = insertvalue { double, i1 } %p, i1 %unsure, 1
  ret { double, i1 } %s
}
"""
"""A quotient of two ints, each the sum of two floats, with what its rounding has lost; and whether that is so near to
the middle of two floats that it is not known which one is nearer."""


def _is_small(text: str) -> bool:
    return text.lstrip("-").isdigit() and abs(int(text)) <= EXACT_INTS


def _divided(w: Any, a: str, b: str) -> tuple[str, str]:
    """Quotient and remainder, rounded down."""
    if b.isdigit() and int(b) > 0:
        if int(b) & (int(b) - 1) == 0:
            return w.new(f"ashr i64 {a}, {int(b).bit_length() - 1}"), w.new(f"and i64 {a}, {int(b) - 1}")
    else:
        w.leave_if(w.new(f"icmp eq i64 {b}, 0"), ZeroDivisionError, ZERO)
        minus = w.new(f"icmp eq i64 {b}, -1")
        least = w.new(f"icmp eq i64 {a}, -9223372036854775808")
        w.leave_if(w.new(f"and i1 {minus}, {least}"), None, "an int goes beyond 64 bits")
    quotient, remainder = w.new(f"sdiv i64 {a}, {b}"), w.new(f"srem i64 {a}, {b}")
    some = w.new(f"icmp ne i64 {remainder}, 0")
    differ = w.new(f"icmp slt i64 {w.new(f'xor i64 {remainder}, {b}')}, 0")
    off = w.new(f"and i1 {some}, {differ}")
    return (
        w.choose(off, "i64", w.new(f"add i64 {quotient}, -1"), quotient),
        w.choose(off, "i64", w.new(f"add i64 {remainder}, {b}"), remainder),
    )


def _floor_divide(w: Any, a: str, b: str) -> Any:
    return _divided(w, a, b)[0]


def _modulo(w: Any, a: str, b: str) -> Any:
    return _divided(w, a, b)[1]


def _power(w: Any, a: str, b: str) -> Any:
    if b.isdigit() and int(b) <= 64:
        return _power_by_squares(w, a, int(b))
    w.leave_if(w.new(f"icmp slt i64 {b}, 0"), None, "raises an int to a negative power")
    w.module.declare("@up_power", POWER)
    w.module.declare("@llvm.smul.with.overflow.i64", "declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)")
    both = w.new(f"call {{ i64, i1 }} @up_power(i64 {a}, i64 {b})")
    w.leave_if(w.extract("{ i64, i1 }", both, 1), None, "an int goes beyond 64 bits")
    return w.extract("{ i64, i1 }", both, 0)


def _power_by_squares(w: Any, a: str, n: int) -> str:
    result = None
    square = a
    while n:
        if n & 1:
            result = square if result is None else _mul(w, result, square)
        n >>= 1
        if n:
            square = _mul(w, square, square)
    return "1" if result is None else str(result)


POWER = """
define internal { i64, i1 } @up_power(i64 %a, i64 %b) nounwind {
entry:
  br label %loop
loop:
  %base = phi i64 [%a, %entry], [%base2, %next]
  %e = phi i64 [%b, %entry], [%e2, %next]
  %r = phi i64 [1, %entry], [%r2, %next]
  %bad = phi i1 [0, %entry], [%bad3, %next]
  %done = icmp eq i64 %e, 0
  %stop = or i1 %done, %bad
  br i1 %stop, label %out, label %more
more:
  %bit = and i64 %e, 1
  %odd = icmp ne i64 %bit, 0
  %f = select i1 %odd, i64 %base, i64 1
  %m = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %r, i64 %f)
  %r2 = extractvalue { i64, i1 } %m, 0
  %o1 = extractvalue { i64, i1 } %m, 1
  %e2 = lshr i64 %e, 1
  %last = icmp eq i64 %e2, 0
  br i1 %last, label %next, label %square
square:
  %s = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %base, i64 %base)
  %s0 = extractvalue { i64, i1 } %s, 0
  %o2 = extractvalue { i64, i1 } %s, 1
  br label %next
next:
  %base2 = phi i64 [%base, %more], [%s0, %square]
  %o3 = phi i1 [0, %more], [%o2, %square]
  %bad3 = or i1 %o1, %o3
  br label %loop
out:
  %p = insertvalue { i64, i1 } poison, i64 %r, 0
  %q = insertvalue { i64, i1 } %p, i1 %bad, 1
  ret { i64, i1 } %q
}
"""


def _shift_left(w: Any, a: str, b: str) -> Any:
    w.leave_if(w.new(f"icmp slt i64 {b}, 0"), ValueError, "negative shift count")
    large = w.new(f"icmp ugt i64 {b}, 63")
    some = w.new(f"icmp ne i64 {a}, 0")
    w.leave_if(w.new(f"and i1 {large}, {some}"), None, "an int goes beyond 64 bits")
    by = w.choose(large, "i64", "0", b)
    moved = w.new(f"shl i64 {a}, {by}")
    back = w.new(f"ashr i64 {moved}, {by}")
    w.leave_if(w.new(f"icmp ne i64 {back}, {a}"), None, "an int goes beyond 64 bits")
    return moved


def _shift_right(w: Any, a: str, b: str) -> Any:
    w.leave_if(w.new(f"icmp slt i64 {b}, 0"), ValueError, "negative shift count")
    by = w.choose(w.new(f"icmp ugt i64 {b}, 63"), "i64", "63", b)
    return w.new(f"ashr i64 {a}, {by}")


def _bits(op: str) -> Emit:
    return safe(lambda w, a, b: w.new(f"{op} i64 {a}, {b}"))


_INTS: dict[str, tuple[Scalar, Emit]] = {
    "Add": (INT, _add), "Sub": (INT, _sub), "Mult": (INT, _mul), "Div": (FLOAT, _true_divide),
    "FloorDiv": (INT, _floor_divide), "Mod": (INT, _modulo), "Pow": (INT, _power), "LShift": (INT, _shift_left),
    "RShift": (INT, _shift_right), "BitAnd": (INT, _bits("and")), "BitOr": (INT, _bits("or")),
    "BitXor": (INT, _bits("xor")),
}  # fmt: skip


# ---- floats


def _divide_floats(w: Any, a: str, b: str) -> Any:
    w.leave_if(w.new(f"fcmp oeq double {b}, 0.0"), ZeroDivisionError, "float division by zero")
    return w.new(f"fdiv double {a}, {b}")


def fabs(w: Any, x: str) -> str:
    """The absolute value of a double."""
    return str(w.intrinsic("llvm.fabs.f64", "double", ("double", x)))


INFINITY = "0x7FF0000000000000"


def _power_of_floats(w: Any, a: str, b: str) -> Any:
    """Python's `a ** b`: C's pow, with an error where Python raises one and left where the result is complex."""
    zero = w.new(f"fcmp oeq double {a}, 0.0")
    minus = w.new(f"fcmp olt double {b}, 0.0")
    minus = w.new(f"and i1 {minus}, {w.new(f'fcmp une double {b}, 0xFFF0000000000000')}")
    w.leave_if(w.new(f"and i1 {zero}, {minus}"), ZeroDivisionError, "0.0 cannot be raised to a negative power")
    whole = w.intrinsic("llvm.floor.f64", "double", ("double", b))
    broken = w.new(f"and i1 {w.new(f'fcmp olt double {a}, 0.0')}, {w.new(f'fcmp one double {whole}, {b}')}")
    w.leave_if(broken, None, "a power of a negative number is complex")
    result = power_of_doubles(w, a, b)
    _overflow(w, result, a, b)
    return result


def _overflow(w: Any, result: str, *operands: str) -> None:
    """OverflowError where finite numbers give an infinite one."""
    flag = w.new(f"fcmp oeq double {fabs(w, result)}, {INFINITY}")
    for operand in operands:
        flag = w.new(f"and i1 {flag}, {w.new(f'fcmp one double {fabs(w, operand)}, {INFINITY}')}")
    w.leave_if(flag, OverflowError, "the result is too large")


def _float(op: str) -> Emit:
    return safe(lambda w, a, b: w.new(f"{op} double {a}, {b}"))


_FLOATS: dict[str, Emit] = {
    "Add": _float("fadd"), "Sub": _float("fsub"), "Mult": _float("fmul"), "Div": _divide_floats,
    "Pow": _power_of_floats,
}  # fmt: skip


# ---- complex numbers


def _parts(w: Any, z: str) -> tuple[str, str]:
    return w.extract("{ double, double }", z, 0), w.extract("{ double, double }", z, 1)


def _complex(w: Any, real: str, imag: str) -> str:
    return str(w.build("{ double, double }", ("double", real), ("double", imag)))


def _add_complex(op: str) -> Emit:
    def emit(w: Any, a: str, b: str) -> str:
        (ar, ai), (br, bi) = _parts(w, a), _parts(w, b)
        return _complex(w, w.new(f"{op} double {ar}, {br}"), w.new(f"{op} double {ai}, {bi}"))

    return safe(emit)


def _multiply_complex(w: Any, a: str, b: str) -> str:
    (ar, ai), (br, bi) = _parts(w, a), _parts(w, b)
    one, two = w.new(f"fmul double {ar}, {br}"), w.new(f"fmul double {ai}, {bi}")
    three, four = w.new(f"fmul double {ar}, {bi}"), w.new(f"fmul double {ai}, {br}")
    return _complex(w, w.new(f"fsub double {one}, {two}"), w.new(f"fadd double {three}, {four}"))


_COMPLEXES: dict[str, Emit] = {
    "Add": _add_complex("fadd"), "Sub": _add_complex("fsub"), "Mult": safe(_multiply_complex),
}  # fmt: skip

BY_PRELUDE = {("FloorDiv", 2): "float_floor_divide", ("Mod", 2): "float_modulo", ("Div", 3): "complex_divide",
              ("Pow", 3): "complex_power"}  # fmt: skip
"""Operators of floats (2) and complex numbers (3) that are written in Python."""


def binary(op: str, a: Kind, b: Kind) -> Row | str | None:
    """The row of an operator; the name of a function of the prelude; None where there is none for these kinds."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        folded = _fold(op, a.value, b.value)
        if folded is not None:
            return folded, _constant(folded)
    high = max(rank(a), rank(b))
    if min(rank(a), rank(b)) < 0:
        return _with_big(op, a, b)
    if high == 0 and op in ("BitAnd", "BitOr", "BitXor"):
        word = {"BitAnd": "and", "BitOr": "or", "BitXor": "xor"}[op]
        return BOOL, safe(lambda w, x, y: w.new(f"{word} i1 {x}, {y}"))
    if high <= 1:
        if op == "Pow" and isinstance(b, Literal) and b.value < 0:
            return FLOAT, lambda w, x, y: _power_of_floats(w, to_float(w, x, a), to_float(w, y, b))
        if op not in _INTS:
            return None
        kind, emit = _INTS[op]
        if base(a) is INT and base(b) is INT:
            return kind, emit
        return kind, _like(emit, lambda w, x, y: emit(w, to_int(w, x, a), to_int(w, y, b)))
    if (op, high) in BY_PRELUDE:
        return BY_PRELUDE[op, high]
    table, convert = (_FLOATS, to_float) if high == 2 else (_COMPLEXES, to_complex)
    if op not in table:
        return None
    own = table[op]
    if base(a) is base(b):
        return (FLOAT, COMPLEX)[high - 2], own
    return (FLOAT, COMPLEX)[high - 2], _like(own, lambda w, x, y: own(w, convert(w, x, a), convert(w, y, b)))


def _like(emit: Emit, other: Emit) -> Emit:
    return safe(other) if hasattr(emit, "safe") else other


def _constant(literal: Kind) -> Emit:
    assert isinstance(literal, Literal)
    return safe(lambda w, *_: w.module.constant(literal.kind, literal.value))


def _fold(op: str, a: Any, b: Any) -> Kind | None:
    """What an operator makes of two literals, where it makes a number of reasonable size."""
    names = {
        "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
        "FloorDiv": operator.floordiv, "Mod": operator.mod, "LShift": operator.lshift, "RShift": operator.rshift,
        "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor, "Pow": operator.pow,
    }  # fmt: skip
    if op not in names or isinstance(a, str) or isinstance(b, str):
        return None
    whole = isinstance(a, int) and isinstance(b, int)
    if op in ("Pow", "LShift") and whole and abs(b) * max(a.bit_length(), 2) > MOST_BITS:
        return None
    try:
        value = names[op](a, b)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return literal_of(value) if type(value) in (bool, int, float, complex) else None


def _with_big(op: str, a: Kind, b: Kind) -> Row | None:
    """An int, or a float, and a literal that no i64 holds."""
    if isinstance(b, Literal) and b.kind is BIG and base(a) in (INT, BOOL):
        value = b.value
        if op == "Mod" and value > 0:
            return INT, lambda w, x, y: _not_negative(w, to_int(w, x, a))
        if op == "FloorDiv" and value > 0:
            return INT, safe(lambda w, x, y: w.new(f"ashr i64 {to_int(w, x, a)}, 63"))
        if op == "BitAnd" and value > 0:
            low = value & ((1 << 63) - 1)
            return INT, lambda w, x, y: w.new(f"and i64 {_not_negative(w, to_int(w, x, a))}, {low}")
        if op == "Div":
            return None
    big, other = (a, b) if isinstance(a, Literal) and a.kind is BIG else (b, a)
    if isinstance(big, Literal) and big.kind is BIG and base(other) is FLOAT:
        try:
            literal = Literal(FLOAT, float(big.value))
        except OverflowError:
            return None
        made = binary(op, literal, other) if big is a else binary(op, other, literal)
        if not isinstance(made, tuple):
            return None
        kind, emit = made
        number = literal

        def with_number(w: Any, x: str, y: str) -> Any:
            text = w.module.constant(FLOAT, number.value)
            return emit(w, text, y) if big is a else emit(w, x, text)

        return kind, with_number
    return None


def _not_negative(w: Any, x: str) -> str:
    w.leave_if(w.new(f"icmp slt i64 {x}, 0"), None, "an int goes beyond 64 bits")
    return x


# ---- one operand


def unary(op: str, a: Kind) -> Row | None:
    """The row of `-x`, `+x` or `~x` for a number of Python's; of a literal, the number itself."""
    kind = base(a)
    if op == "Invert" and kind is BOOL and sys.version_info >= (3, 12):
        return None  # it warns
    if isinstance(a, Literal) and a.kind is not STR:
        value = -a.value if op == "USub" else +a.value if op == "UAdd" else ~a.value if rank(a) < 2 else None
        if value is not None:
            made = literal_of(value)
            return made, _constant(made)
    if kind in (INT, BOOL):
        if op == "USub":
            return INT, lambda w, x: w.overflowing("ssub", "0", to_int(w, x, kind))
        if op == "UAdd":
            return INT, safe(lambda w, x: to_int(w, x, kind))
        return INT, safe(lambda w, x: w.new(f"xor i64 {to_int(w, x, kind)}, -1"))
    if kind is FLOAT and op != "Invert":
        return FLOAT, safe(lambda w, x: w.new(f"fneg double {x}") if op == "USub" else x)
    if kind is COMPLEX and op == "USub":

        def negative(w: Any, x: str) -> str:
            real, imag = _parts(w, x)
            return _complex(w, w.new(f"fneg double {real}"), w.new(f"fneg double {imag}"))

        return COMPLEX, safe(negative)
    if kind is COMPLEX and op == "UAdd":
        return COMPLEX, safe(lambda w, x: x)
    return None


# ---- comparisons

SIGNED = {"Eq": "eq", "NotEq": "ne", "Lt": "slt", "LtE": "sle", "Gt": "sgt", "GtE": "sge"}
ORDERED = {"Eq": "oeq", "NotEq": "une", "Lt": "olt", "LtE": "ole", "Gt": "ogt", "GtE": "oge"}
FLIPPED = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}


def compare(op: str, a: Kind, b: Kind) -> Row | None:
    """A comparison of two numbers."""
    if op not in SIGNED:
        return None
    if isinstance(a, Literal) and isinstance(b, Literal):
        answer = _compared(op, a.value, b.value)
        if answer is not None:
            return Literal(BOOL, answer), safe(lambda w, x, y: "true" if answer else "false")
    low, high = min(rank(a), rank(b)), max(rank(a), rank(b))
    if low < 0:
        return _compare_big(op, a, b)
    if high <= 1:
        if high == 0 and op in ("Eq", "NotEq"):
            return BOOL, safe(lambda w, x, y: w.new(f"icmp {SIGNED[op]} i1 {x}, {y}"))
        return BOOL, safe(lambda w, x, y: w.new(f"icmp {SIGNED[op]} i64 {to_int(w, x, a)}, {to_int(w, y, b)}"))
    if high == 2:
        if low == 2 or base(a) is BOOL or base(b) is BOOL:
            return BOOL, safe(
                lambda w, x, y: w.new(f"fcmp {ORDERED[op]} double {to_float(w, x, a)}, {to_float(w, y, b)}")
            )
        if base(a) is INT:
            return BOOL, safe(lambda w, x, y: _int_and_float(w, op, x, y))
        return BOOL, safe(lambda w, x, y: _int_and_float(w, FLIPPED[op], y, x))
    if op not in ("Eq", "NotEq"):
        return None

    def equal(w: Any, x: str, y: str) -> str:
        if INT in (base(a), base(b)):
            whole, z = (x, y) if base(a) is INT else (y, x)
            real, imag = _parts(w, z)
            one, two = _int_and_float(w, "Eq", whole, real), w.new(f"fcmp oeq double {imag}, 0.0")
        else:
            (ar, ai), (br, bi) = _parts(w, to_complex(w, x, a)), _parts(w, to_complex(w, y, b))
            one, two = w.new(f"fcmp oeq double {ar}, {br}"), w.new(f"fcmp oeq double {ai}, {bi}")
        same = w.new(f"and i1 {one}, {two}")
        return str(same if op == "Eq" else w.new(f"xor i1 {same}, true"))

    return BOOL, safe(equal)


def _compared(op: str, a: Any, b: Any) -> bool | None:
    names = {"Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt,
             "GtE": operator.ge}  # fmt: skip
    try:
        return bool(names[op](a, b))
    except TypeError:
        return None


def _int_and_float(w: Any, op: str, i: str, x: str) -> str:
    """An int and a float, compared exactly: where their doubles are equal, the int is compared with the float's int."""
    near = w.new(f"sitofp i64 {i} to double")
    if i.lstrip("-").isdigit() and abs(int(i)) <= EXACT_INTS:
        return str(w.new(f"fcmp {ORDERED[op]} double {near}, {x}"))
    by_double = w.new(f"fcmp {ORDERED[op]} double {near}, {x}")
    equal = w.new(f"fcmp oeq double {near}, {x}")
    beyond = w.new(f"fcmp oeq double {x}, 0x43E0000000000000")  # 2 ** 63, which no i64 reaches
    inside = w.choose(beyond, "double", "0.0", x)
    back = w.intrinsic("llvm.fptosi.sat.i64.f64", "i64", ("double", inside))
    by_int = w.new(f"icmp {SIGNED[op]} i64 {i}, {back}")
    below = "true" if op in ("Lt", "LtE", "NotEq") else "false"
    exactly = w.choose(beyond, "i1", below, by_int)
    return str(w.choose(equal, "i1", exactly, by_double))


def _compare_big(op: str, a: Kind, b: Kind) -> Row | None:
    if isinstance(b, Literal) and b.kind is BIG and base(a) in (INT, BOOL):
        answer = _compared(op, 0, b.value)
    elif isinstance(a, Literal) and a.kind is BIG and base(b) in (INT, BOOL):
        answer = _compared(op, a.value, 0)
    elif isinstance(b, Literal) and b.kind is BIG and base(a) is FLOAT:
        sign, limit = _against_big(op, b.value)
        return BOOL, safe(lambda w, x, y: w.new(f"fcmp {sign} double {x}, {limit}"))
    elif isinstance(a, Literal) and a.kind is BIG and base(b) is FLOAT:
        sign, limit = _against_big(FLIPPED[op], a.value)
        return BOOL, safe(lambda w, x, y: w.new(f"fcmp {sign} double {y}, {limit}"))
    else:
        return None
    made = Literal(BOOL, answer)
    return made, safe(lambda w, x, y: "true" if answer else "false")


def _against_big(op: str, value: int) -> tuple[str, str]:
    """How a float is compared with an int that no i64 holds: with a float beside it, none of which lies between."""
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    limit = "0x" + struct.pack(">d", near).hex().upper()
    if near == value:
        return ORDERED[op], limit
    if op in ("Eq", "NotEq"):
        return ("false" if op == "Eq" else "true"), limit
    if op in ("Lt", "LtE"):
        return ("olt" if near > value else "ole"), limit
    return ("oge" if near > value else "ogt"), limit


# ---- truth


def truth(kind: Kind) -> Row | bool | None:
    """Whether a value counts as true: known, or how to tell."""
    if isinstance(kind, Literal):
        return bool(kind.value)
    if kind is BOOL:
        return BOOL, safe(lambda w, x: x)
    if kind is INT:
        return BOOL, safe(lambda w, x: w.new(f"icmp ne i64 {x}, 0"))
    if kind is FLOAT:
        return BOOL, safe(lambda w, x: w.new(f"fcmp une double {x}, 0.0"))
    if kind is COMPLEX:

        def some(w: Any, z: str) -> str:
            real, imag = _parts(w, z)
            one, two = w.new(f"fcmp une double {real}, 0.0"), w.new(f"fcmp une double {imag}, 0.0")
            return str(w.new(f"or i1 {one}, {two}"))

        return BOOL, safe(some)
    if kind is STR:
        return BOOL, safe(lambda w, x: w.new(f"icmp ne i64 {w.extract('{ ptr, i64 }', x, 1)}, 0"))
    if kind is NONE:
        return False
    return None
