"""Arithmetic of NumPy's numbers, by families of dtypes, and a lane left where NumPy warns.

Every function here is given numbers that have the dtype of the result already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import loops
from .numpy_casts import (
    HALF,
    LONG,
    ULONG,
    WARNS,
    DType,
    bits,
    both,
    cast,
    either,
    ll,
    narrowed,
    part,
    size_of,
    warned,
    wide,
    widened,
)
from .powers import power_of_doubles

Emit = Callable[..., Any]


# ---- ints


def _checked(name: str) -> Emit:
    def emit(w: Any, a: str, b: str, of: DType) -> str:
        t, sign = ll(of), "s" if of.kind == "i" else "u"
        if getattr(w, "quiet", False):
            return str(w.new(f"{name} {t} {a}, {b}"))
        both_ = w.intrinsic(f"llvm.{sign}{name}.with.overflow.{t}", f"{{ {t}, i1 }}", (t, a), (t, b))
        w.leave_if(w.extract(f"{{ {t}, i1 }}", both_, 1), None, WARNS)
        return str(w.extract(f"{{ {t}, i1 }}", both_, 0))

    return emit


def divided_ints(w: Any, a: str, b: str, of: DType) -> tuple[str, str]:
    """Quotient, rounded down, and remainder."""
    t = ll(of)
    w.leave_if(w.new(f"icmp eq {t} {b}, 0"), None, "NumPy warns of a division by zero")
    if of.kind == "u":
        return w.new(f"udiv {t} {a}, {b}"), w.new(f"urem {t} {a}, {b}")
    lowest = w.new(f"icmp eq {t} {a}, {np.iinfo(of).min}")
    w.leave_if(both(w, lowest, w.new(f"icmp eq {t} {b}, -1")), None, WARNS)
    quotient, rest = w.new(f"sdiv {t} {a}, {b}"), w.new(f"srem {t} {a}, {b}")
    differ = w.new(f"icmp slt {t} {w.new(f'xor {t} {rest}, {b}')}, 0")
    off = both(w, w.new(f"icmp ne {t} {rest}, 0"), differ)
    less, more = w.new(f"sub {t} {quotient}, 1"), w.new(f"add {t} {rest}, {b}")
    return w.choose(off, t, less, quotient), w.choose(off, t, more, rest)


def power_of_ints(w: Any, a: str, b: str, of: DType) -> str:
    """Modulo 2 to the number of bits, without a warning."""
    if of.kind == "i":
        w.leave_if(w.new(f"icmp slt {ll(of)} {b}, 0"), ValueError, "an int to a negative power")
    w.module.declare("@up_wrapping_power", WRAPPING_POWER)
    wide_of = LONG if of.kind == "i" else ULONG
    made = w.new(f"call i64 @up_wrapping_power(i64 {cast(w, a, of, wide_of)}, i64 {cast(w, b, of, wide_of)})")
    return cast(w, made, wide_of, of)


WRAPPING_POWER = """
define internal i64 @up_wrapping_power(i64 %a, i64 %b) nounwind {
entry:
  br label %loop
loop:
  %base = phi i64 [ %a, %entry ], [ %square, %more ]
  %left = phi i64 [ %b, %entry ], [ %half, %more ]
  %made = phi i64 [ 1, %entry ], [ %next, %more ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %out, label %more
more:
  %bit = and i64 %left, 1
  %odd = icmp ne i64 %bit, 0
  %factor = select i1 %odd, i64 %base, i64 1
  %next = mul i64 %made, %factor
  %square = mul i64 %base, %base
  %half = lshr i64 %left, 1
  br label %loop
out:
  ret i64 %made
}
"""


def _shifted_up(w: Any, a: str, b: str, of: DType) -> str:
    t = ll(of)
    inside = w.new(f"icmp ult {t} {b}, {bits(of)}")
    by = w.choose(inside, t, b, "0")
    return str(w.choose(inside, t, w.new(f"shl {t} {a}, {by}"), "0"))


def _shifted_down(w: Any, a: str, b: str, of: DType) -> str:
    t = ll(of)
    inside = w.new(f"icmp ult {t} {b}, {bits(of)}")
    if of.kind == "u":
        by = w.choose(inside, t, b, "0")
        return str(w.choose(inside, t, w.new(f"lshr {t} {a}, {by}"), "0"))
    return str(w.new(f"ashr {t} {a}, {w.choose(inside, t, b, str(bits(of) - 1))}"))


def _bitwise(word: str) -> Emit:
    return lambda w, a, b, of: w.new(f"{word} {ll(of)} {a}, {b}")


def _remainder_of_ints(w: Any, a: str, b: str, of: DType) -> str:
    """Unlike the quotient, it is known for the lowest int and -1."""
    t = ll(of)
    if of.kind == "u":
        return divided_ints(w, a, b, of)[1]
    minus = w.new(f"icmp eq {t} {b}, -1")
    rest = divided_ints(w, a, w.choose(minus, t, "1", b), of)[1]
    return str(rest)


_INTS: dict[str, Emit] = {
    "Add": _checked("add"), "Sub": _checked("sub"), "Mult": _checked("mul"),
    "FloorDiv": lambda w, a, b, of: divided_ints(w, a, b, of)[0], "Mod": _remainder_of_ints, "Pow": power_of_ints,
    "LShift": _shifted_up, "RShift": _shifted_down,
    "BitAnd": _bitwise("and"), "BitOr": _bitwise("or"), "BitXor": _bitwise("xor"),
}  # fmt: skip
_BOOLS: dict[str, Emit] = {
    "Add": _bitwise("or"), "Mult": _bitwise("and"),
    "BitAnd": _bitwise("and"), "BitOr": _bitwise("or"), "BitXor": _bitwise("xor"),
}  # fmt: skip


# ---- floats


def _float(word: str) -> Emit:
    def emit(w: Any, a: str, b: str, of: DType) -> str:
        t = wide(of)
        a, b = widened(w, a, of), widened(w, b, of)
        return checked(w, w.new(f"{word} {t} {a}, {b}"), of, a, b)

    return emit


def checked(w: Any, result: str, of: DType, *operands: str) -> str:
    """A float as it was computed, in its own dtype; left where NumPy warns. Operands are as they were computed with."""
    made = narrowed(w, result, of)
    w.leave_if(warned(w, wide(of), widened(w, made, of), *operands), None, "NumPy warns")
    return made


def divided_floats(w: Any, a: str, b: str, of: DType) -> tuple[str, str]:
    """Quotient, rounded down, and remainder, as `npy_divmod` finds them."""
    quotient, rest = _divmod(w, a, b, of)
    t = wide(of)
    x, y = widened(w, a, of), widened(w, b, of)
    made = narrowed(w, quotient, of), narrowed(w, rest, of)
    for one in made:
        w.leave_if(warned(w, t, widened(w, one, of), x, y), None, "NumPy warns")
    return made


def _divmod(w: Any, a: str, b: str, of: DType) -> tuple[str, str]:
    t = wide(of)
    x, y = widened(w, a, of), widened(w, b, of)
    zero = w.new(f"fcmp oeq {t} {y}, 0.0")
    rest = w.call_c("fmod" if t == "double" else "fmodf", t, (t, x), (t, y))
    some = w.new(f"fcmp une {t} {rest}, 0.0")
    differ = w.new(f"xor i1 {w.new(f'fcmp olt {t} {y}, 0.0')}, {w.new(f'fcmp olt {t} {rest}, 0.0')}")
    off = both(w, some, differ)
    turns = w.new(f"fdiv {t} {w.new(f'fsub {t} {x}, {rest}')}, {y}")
    turns = w.choose(off, t, w.new(f"fsub {t} {turns}, 1.0"), turns)
    more = w.choose(off, t, w.new(f"fadd {t} {rest}, {y}"), rest)
    name = f"llvm.copysign.f{64 if t == 'double' else 32}"
    more = w.choose(some, t, more, w.intrinsic(name, t, (t, "0.0"), (t, y)))
    down = w.intrinsic(f"llvm.floor.f{64 if t == 'double' else 32}", t, (t, turns))
    up = w.new(f"fcmp ogt {t} {w.new(f'fsub {t} {turns}, {down}')}, 0.5")
    down = w.choose(up, t, w.new(f"fadd {t} {down}, 1.0"), down)
    ratio = w.new(f"fdiv {t} {x}, {y}")
    none = w.new(f"fcmp oeq {t} {turns}, 0.0")
    quotient = w.choose(none, t, w.intrinsic(name, t, (t, "0.0"), (t, ratio)), down)
    return w.choose(zero, t, ratio, quotient), w.choose(zero, t, rest, more)


def _floor_divide(w: Any, a: str, b: str, of: DType) -> str:
    quotient, _ = _divmod(w, a, b, of)
    x, y = widened(w, a, of), widened(w, b, of)
    if of == HALF:  # which looks at the bits of what it divides by
        w.leave_if(w.new(f"fcmp oeq float {y}, 0.0"), None, "NumPy warns of a division by zero")
    return checked(w, quotient, of, x, y)


def _remainder(w: Any, a: str, b: str, of: DType) -> str:
    if of == HALF:  # whose quotient is rounded, too, and may warn
        return divided_floats(w, a, b, of)[1]
    _, rest = _divmod(w, a, b, of)
    return checked(w, rest, of, widened(w, a, of), widened(w, b, of))


def _power(w: Any, a: str, b: str, of: DType) -> str:
    t = wide(of)
    x, y = widened(w, a, of), widened(w, b, of)
    if t == "double":
        made = power_of_doubles(w, x, y)
    else:
        made = w.call_c("powf", "float", ("float", x), ("float", y))
    return checked(w, made, of, x, y)


def power_by_loop(w: Any, a: str, b: str, of: DType) -> str:
    """What numbers of two other dtypes are raised to: by the loop of `np.power`, but for a few exponents."""
    t = wide(of)
    x, y = widened(w, a, of), widened(w, b, of)
    zero = both(w, w.new(f"fcmp oeq {t} {x}, 0.0"), w.new(f"fcmp olt {t} {y}, 0.0"))
    w.leave_if(zero, None, "NumPy warns of a division by zero")
    made = widened(w, loops.run(w, np.power, (of, of, of), a, b)[0], of)
    root = w.intrinsic(f"llvm.sqrt.f{64 if t == 'double' else 32}", t, (t, x))
    others = {"2.0": w.new(f"fmul {t} {x}, {x}"), "-1.0": w.new(f"fdiv {t} 1.0, {x}"), "0.5": root, "1.0": x}
    for exponent, other in others.items():
        made = w.choose(w.new(f"fcmp oeq {t} {y}, {exponent}"), t, other, made)
    return checked(w, made, of, x, y)


_FLOATS: dict[str, Emit] = {
    "Add": _float("fadd"), "Sub": _float("fsub"), "Mult": _float("fmul"), "Div": _float("fdiv"),
    "FloorDiv": _floor_divide, "Mod": _remainder, "Pow": _power,
}  # fmt: skip


# ---- complex numbers


def parts(w: Any, z: str, of: DType) -> tuple[str, str]:
    """The real and the imaginary part of a complex number."""
    return w.extract(ll(of), z, 0), w.extract(ll(of), z, 1)


def complex_of(w: Any, real: str, imag: str, of: DType) -> str:
    """A complex number of its parts."""
    t = wide(part(of))
    return str(w.build(ll(of), (t, real), (t, imag)))


def _op(w: Any, word: str, t: str, a: str, b: str) -> str:
    """One operation on floats, left where it warns."""
    made = w.new(f"{word} {t} {a}, {b}")
    w.leave_if(warned(w, t, made, a, b), None, "NumPy warns")
    return str(made)


def _complex(word: str) -> Emit:
    def emit(w: Any, a: str, b: str, of: DType) -> str:
        t = wide(part(of))
        (ar, ai), (br, bi) = parts(w, a, of), parts(w, b, of)
        return complex_of(w, _op(w, word, t, ar, br), _op(w, word, t, ai, bi), of)

    return emit


def _times(w: Any, a: str, b: str, of: DType) -> str:
    t = wide(part(of))
    (ar, ai), (br, bi) = parts(w, a, of), parts(w, b, of)
    one, two = _op(w, "fmul", t, ar, br), _op(w, "fmul", t, ai, bi)
    three, four = _op(w, "fmul", t, ar, bi), _op(w, "fmul", t, ai, br)
    return complex_of(w, _op(w, "fsub", t, one, two), _op(w, "fadd", t, three, four), of)


def _by_loop(ufunc: np.ufunc) -> Emit:
    """By NumPy's loop; left where any part of operands or result is not finite."""

    def emit(w: Any, a: str, b: str, of: DType) -> str:
        if ufunc is np.power:
            leave_far(w, b, of)
        made = loops.run(w, ufunc, (of, of, of), a, b)[0]
        leave_unless_finite(w, of, a, b, made)
        return made

    return emit


def leave_far(w: Any, z: str, of: DType) -> None:
    """Exponents so large that their product with a logarithm warns."""
    t = wide(part(of))
    flags = [w.new(f"fcmp ogt {t} {size_of(w, t, x)}, 0x4330000000000000") for x in parts(w, z, of)]
    w.leave_if(either(w, *flags), None, "NumPy warns")


def leave_unless_finite(w: Any, of: DType, *values: str) -> None:
    """Leaves the lane where a complex number is infinite or NaN: NumPy has rules of its own for those."""
    t = wide(part(of))
    flag = "true"
    for z in values:
        for x in parts(w, z, of):
            small = w.new(f"fcmp one {t} {size_of(w, t, x)}, 0x7FF0000000000000")
            flag = small if flag == "true" else both(w, flag, small)
    w.leave_if(w.new(f"xor i1 {flag}, true"), None, "a complex number that is not finite")


_COMPLEXES: dict[str, Emit] = {
    "Add": _complex("fadd"), "Sub": _complex("fsub"), "Mult": _times, "Div": _by_loop(np.divide),
    "Pow": _by_loop(np.power),
}  # fmt: skip

OPERATIONS: dict[str, dict[str, Emit]] = {"b": _BOOLS, "i": _INTS, "u": _INTS, "f": _FLOATS, "c": _COMPLEXES}
