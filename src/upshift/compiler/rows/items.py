"""What one item of an array's arithmetic is, in LLVM IR: for a single number, or for several side by side.

A row is written once: `fadd double` for one item is `fadd <8 x double>` for eight. Only what gives NumPy's very bits is
here; for everything else NumPy's own inner loops are called.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kinds import NUMPY
from .numbers import INFINITY
from .numpy_casts import DType
from .powers import has_feature

Row = Callable[..., str]
WIDE = 64
"""Bytes of the widest numbers that are computed side by side."""


class Width:
    """How many items are computed at once, and how their types and constants are spelled then."""

    def __init__(self, w: Any, count: int) -> None:
        self.w, self.count = w, count

    def type(self, dtype: DType) -> str:
        """LLVM's type for so many items of a dtype."""
        return self.of(str(NUMPY[dtype].ll))

    def of(self, ll: str) -> str:
        """LLVM's type for so many of a type: `double`, or `<8 x double>`."""
        return ll if self.count == 1 else f"<{self.count} x {ll}>"

    def constant(self, ll: str, value: str) -> str:
        """The same constant for every item."""
        return value if self.count == 1 else f"splat ({ll} {value})"

    def number(self, dtype: DType, value: str) -> str:
        """A constant of a dtype, for every item."""
        return self.constant(str(NUMPY[dtype].ll), value)

    def new(self, text: str) -> str:
        """Writes an instruction; the name of its result."""
        return str(self.w.new(text))

    def intrinsic(self, name: str, dtype: DType, *values: str) -> str:
        """One of LLVM's own functions of numbers: `sqrt`, `floor`, `smin`."""
        letter = "f" if dtype.kind == "f" else "i"
        size = f"{letter}{8 * dtype.itemsize}"
        t = self.type(dtype)
        full = f"llvm.{name}.{size if self.count == 1 else f'v{self.count}{size}'}"
        return str(self.w.intrinsic(full, t, *((t, value) for value in values)))

    def load(self, dtype: DType, pointer: str) -> str:
        """Items side by side in memory."""
        ll = self.of("i8") if dtype.kind == "b" else self.type(dtype)
        value = self.new(
            f"load {ll}, ptr {pointer}, align {dtype.itemsize if dtype.kind != 'c' else dtype.itemsize // 2}"
        )
        return self.new(f"icmp ne {ll} {value}, {self.constant('i8', '0')}") if dtype.kind == "b" else value

    def store(self, dtype: DType, pointer: str, value: str) -> None:
        """Writes items to memory; bools are bytes there."""
        ll = self.type(dtype)
        if dtype.kind == "b":
            value, ll = self.new(f"zext {ll} {value} to {self.of('i8')}"), self.of("i8")
        self.w.do(
            f"store {ll} {value}, ptr {pointer}, align {dtype.itemsize if dtype.kind != 'c' else dtype.itemsize // 2}"
        )

    def spread(self, dtype: DType, value: str) -> str:
        """One number beside itself, as often as there are items."""
        if self.count == 1:
            return value
        ll, t = str(NUMPY[dtype].ll), self.type(dtype)
        one = self.new(f"insertelement {t} poison, {ll} {value}, i64 0")
        return self.new(f"shufflevector {t} {one}, {t} poison, <{self.count} x i32> zeroinitializer")


# ---- operations of two numbers, by their words


def _plain(word: str) -> Row:
    return lambda v, of, a, b: v.new(f"{word} {v.type(of)} {a}, {b}")


def _named(word: str) -> Row:
    return lambda v, of, *values: v.intrinsic(word, of, *values)


def _extreme(word: str) -> Row:
    return lambda v, of, a, b: v.intrinsic(("s" if of.kind == "i" else "u") + word, of, a, b)


def _same(v: Width, of: DType, a: str) -> str:
    return a


def _always(flag: str) -> Row:
    return lambda v, of, a: v.constant("i1", flag)


def _is_infinite(sign: str) -> Row:
    def row(v: Width, of: DType, a: str) -> str:
        size = v.intrinsic("fabs", of, a)
        return v.new(f"fcmp {sign} {v.type(of)} {size}, {v.number(of, INFINITY)}")

    return row


def _sign_bit(v: Width, of: DType, a: str) -> str:
    ll = v.of(f"i{8 * of.itemsize}")
    raw = v.new(f"bitcast {v.type(of)} {a} to {ll}")
    return v.new(f"icmp slt {ll} {raw}, {v.constant(f'i{8 * of.itemsize}', '0')}")


def _shift(word: str) -> Row:
    """A shift by more bits than there are gives 0, or the sign."""

    def row(v: Width, of: DType, a: str, b: str) -> str:
        t, most = v.type(of), 8 * of.itemsize
        inside = v.new(f"icmp ult {t} {b}, {v.number(of, str(most))}")
        by = v.new(f"select {v.of('i1')} {inside}, {t} {b}, {t} {v.number(of, str(most - 1))}")
        made = v.new(f"{word} {t} {a}, {by}")
        if word == "ashr":
            return made
        return v.new(f"select {v.of('i1')} {inside}, {t} {made}, {t} {v.number(of, '0')}")

    return row


def _down(v: Width, of: DType, a: str, b: str) -> str:
    return _shift("ashr" if of.kind == "i" else "lshr")(v, of, a, b)


def _larger(sign: str) -> Row:
    """The larger, or smaller, of two floats; NaN where one is NaN; the second one of two zeros."""

    def row(v: Width, of: DType, a: str, b: str) -> str:
        t = v.type(of)
        first = v.new(f"or {v.of('i1')} {v.new(f'fcmp uno {t} {a}, {a}')}, {v.new(f'fcmp {sign} {t} {a}, {b}')}")
        return v.new(f"select {v.of('i1')} {first}, {t} {a}, {t} {b}")

    return row


def _clipped(v: Width, of: DType, x: str, low: str, high: str) -> str:
    """Between two bounds, which are no NaN; a number that is equal to one of them is itself."""
    t = v.type(of)
    if of.kind != "f":
        sign = "s" if of.kind == "i" else "u"
        return v.intrinsic(f"{sign}min", of, v.intrinsic(f"{sign}max", of, x, low), high)
    up = v.new(f"select {v.of('i1')} {v.new(f'fcmp olt {t} {x}, {low}')}, {t} {low}, {t} {x}")
    return v.new(f"select {v.of('i1')} {v.new(f'fcmp ogt {t} {up}, {high}')}, {t} {high}, {t} {up}")


def _second_wins(ufunc: Any) -> bool:
    """Whether NumPy gives the second one of two zeros on this machine, wherever they stand."""
    for n in (1, 3, 8, 40):
        for dtype in (np.float32, np.float64):
            for a, b in ((0.0, -0.0), (-0.0, 0.0)):
                columns = np.full((2, n, 2), a, dtype)
                columns[1] = b
                for x, y in ((columns[0, :, 0], columns[1, :, 0]), (columns[0].ravel(), columns[1].ravel())):
                    if (np.signbit(ufunc(x, y)) != np.signbit(b)).any() or (
                        np.signbit(ufunc(x, y[0])) != np.signbit(b)
                    ).any():
                        return False
    return True


def _itself_stays() -> bool:
    """Whether NumPy's clip gives a zero as it is where a bound is the other zero."""
    cases = ((0.0, -0.0, 1.0), (-0.0, 0.0, 1.0), (0.0, -1.0, -0.0), (-0.0, -1.0, 0.0))
    found = [np.signbit(np.clip(np.full(n, x), low, high)) for n in (1, 40) for x, low, high in cases]
    return [bool(flags.any()) for flags in found] == [False, True, False, True] * 2


def _absolute(v: Width, of: DType, a: str) -> str:
    if of.kind == "u":
        return a
    t = v.type(of)
    less = v.new(f"icmp slt {t} {a}, {v.number(of, '0')}")
    minus = v.new(f"sub {t} {v.number(of, '0')}, {a}")
    return v.new(f"select {v.of('i1')} {less}, {t} {minus}, {t} {a}")


def _not(v: Width, of: DType, a: str) -> str:
    return v.new(f"xor {v.type(of)} {a}, {v.number(of, 'true' if of.kind == 'b' else '-1')}")


FLOATS: dict[Any, Row] = {
    np.add: _plain("fadd"), np.subtract: _plain("fsub"), np.multiply: _plain("fmul"), np.divide: _plain("fdiv"),
    np.sqrt: _named("sqrt"), np.absolute: _named("fabs"), np.fabs: _named("fabs"), np.floor: _named("floor"),
    np.ceil: _named("ceil"), np.trunc: _named("trunc"), np.rint: _named("roundeven"), np.copysign: _named("copysign"),
    np.square: lambda v, of, a: v.new(f"fmul {v.type(of)} {a}, {a}"),
    np.reciprocal: lambda v, of, a: v.new(f"fdiv {v.type(of)} {v.number(of, '1.0')}, {a}"),
    np.negative: lambda v, of, a: v.new(f"fneg {v.type(of)} {a}"), np.positive: _same, np.conjugate: _same,
    np.isnan: lambda v, of, a: v.new(f"fcmp uno {v.type(of)} {a}, {a}"), np.isinf: _is_infinite("oeq"),
    np.isfinite: _is_infinite("one"), np.signbit: _sign_bit,
}  # fmt: skip
INTS: dict[Any, Row] = {
    np.add: _plain("add"), np.subtract: _plain("sub"), np.multiply: _plain("mul"), np.bitwise_and: _plain("and"),
    np.bitwise_or: _plain("or"), np.bitwise_xor: _plain("xor"), np.left_shift: _shift("shl"), np.right_shift: _down,
    np.minimum: _extreme("min"), np.maximum: _extreme("max"), np.fmin: _extreme("min"), np.fmax: _extreme("max"),
    np.absolute: _absolute, np.invert: _not, np.positive: _same, np.conjugate: _same,
    np.negative: lambda v, of, a: v.new(f"sub {v.type(of)} {v.number(of, '0')}, {a}"),
    np.square: lambda v, of, a: v.new(f"mul {v.type(of)} {a}, {a}"), np.floor: _same, np.ceil: _same, np.trunc: _same,
    np.isnan: _always("false"), np.isinf: _always("false"), np.isfinite: _always("true"),
}  # fmt: skip
BOOLS: dict[Any, Row] = {
    np.logical_and: _plain("and"), np.logical_or: _plain("or"), np.logical_xor: _plain("xor"),
    np.bitwise_and: _plain("and"), np.bitwise_or: _plain("or"), np.bitwise_xor: _plain("xor"), np.add: _plain("or"),
    np.multiply: _plain("and"), np.logical_not: _not, np.invert: _not, np.isnan: _always("false"),
    np.isinf: _always("false"), np.isfinite: _always("true"),
}  # fmt: skip
CLIP = getattr(getattr(np, "_core", np).umath, "clip", None)
"""NumPy's clip, as the ufunc that it is."""
INTS[CLIP] = _clipped
if _second_wins(np.maximum) and _second_wins(np.minimum):
    FLOATS |= {np.maximum: _larger("ogt"), np.minimum: _larger("olt")}
if _itself_stays():
    FLOATS[CLIP] = _clipped
TABLES = {"f": FLOATS, "i": INTS, "u": INTS, "b": BOOLS}
COMPARED = {
    np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge", np.equal: "eq", np.not_equal: "ne",
}  # fmt: skip


def row_of(ufunc: Any, dtypes: tuple[DType, ...]) -> Row | None:
    """How an item of a ufunc's result is computed; None where NumPy's own loop has to be called."""
    of = dtypes[0]
    if any(dtype != of for dtype in dtypes[: ufunc.nin]) or of.char == "e" or of.kind == "c":
        return None
    if ufunc in COMPARED:
        return lambda v, of, a, b: compare(v, of, COMPARED[ufunc], a, b)
    return TABLES[of.kind].get(ufunc)


def compare(v: Width, of: DType, sign: str, a: str, b: str) -> str:
    """A comparison of items, by the signs that LLVM has for floats, ints with and without sign."""
    if of.kind == "f":
        return v.new(f"fcmp {'une' if sign == 'ne' else 'o' + sign} {v.type(of)} {a}, {b}")
    word = sign if sign in ("eq", "ne") else ("s" if of.kind == "i" else "u") + sign
    return v.new(f"icmp {word} {v.type(of)} {a}, {b}")


# ---- casts


def can_cast(have: DType, want: DType) -> bool:
    """Whether items are cast here."""
    return have == want or (have.kind in "biuf" and want.kind in "biuf" and "e" not in (have.char, want.char))


def cast(v: Width, have: DType, want: DType, a: str) -> tuple[str, str]:
    """Items in another dtype, and a flag for each that does not fit, "" where all do."""
    if have == want:
        return a, ""
    s, t = v.type(have), v.type(want)
    if want.kind == "b":
        return compare(v, have, "ne", a, v.number(have, "0.0" if have.kind == "f" else "0")), ""
    if have.kind == "f" and want.kind == "f":
        return v.new(f"{'fpext' if want.itemsize > have.itemsize else 'fptrunc'} {s} {a} to {t}"), ""
    if have.kind == "f":
        return _to_int(v, have, want, a)
    if want.kind == "f":
        return v.new(f"{'sitofp' if have.kind == 'i' else 'uitofp'} {s} {a} to {t}"), ""
    bits, wanted = (1 if have.kind == "b" else 8 * have.itemsize), 8 * want.itemsize
    if bits == wanted:
        return a, ""
    word = "trunc" if bits > wanted else "sext" if have.kind == "i" else "zext"
    return v.new(f"{word} {s} {a} to {t}"), ""


def _to_int(v: Width, have: DType, want: DType, a: str) -> tuple[str, str]:
    """Without the fraction; what does not fit is anybody's guess in NumPy, and left."""
    s, t = v.type(have), v.type(want)
    bits = 8 * want.itemsize
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if want.kind == "i" else (-1.0, 2.0**bits)
    above = v.new(f"fcmp uge {s} {a}, {v.number(have, float_constant(have, high))}")
    sign = "ult" if want.kind == "i" and 2.0 ** (bits - 1) >= 2.0 ** (24 if have.itemsize == 4 else 53) else "ule"
    bound = low if sign == "ult" else low - 1.0 if want.kind == "i" else low
    below = v.new(f"fcmp {sign} {s} {a}, {v.number(have, float_constant(have, bound))}")
    odd = v.new(f"or {v.of('i1')} {above}, {below}")
    zero = v.new(f"select {v.of('i1')} {odd}, {s} {v.number(have, '0.0')}, {s} {a}")
    return v.new(f"fpto{'ui' if want.kind == 'u' else 'si'} {s} {zero} to {t}"), odd


def float_constant(dtype: DType, value: float) -> str:
    """A float's constant, exactly."""
    return "0x" + struct.pack(">d", float(dtype.type(value))).hex().upper()


def name_of(dtype: DType) -> str:
    """The LLVM type of a number."""
    return str(NUMPY[dtype].ll)


def has_avx2() -> bool:
    """Whether the processor has vectors of 256 bits."""
    return has_feature("AVX2")
