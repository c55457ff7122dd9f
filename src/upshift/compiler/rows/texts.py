"""Texts in machine code: comparing, joining and searching them, and what C's library does for floats."""

from __future__ import annotations

from typing import Any

from ..kinds import BOOL, STR, Kind, Literal
from ..prelude.powers_of_ten import powers
from .memory import NO_MEMORY, TEXT, text_byte, text_length
from .numbers import SIGNED, safe

# ---- comparing

EQUAL = """
define internal i1 @up_text_equal({ ptr, i64 } %a, { ptr, i64 } %b) nounwind {
  %n = extractvalue { ptr, i64 } %a, 1
  %m = extractvalue { ptr, i64 } %b, 1
  %p = extractvalue { ptr, i64 } %a, 0
  %q = extractvalue { ptr, i64 } %b, 0
  %same = icmp eq i64 %n, %m
  br i1 %same, label %look, label %no
look:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %yes, label %first
first:
  %x = load i8, ptr %p
  %y = load i8, ptr %q
  %alike = icmp eq i8 %x, %y
  br i1 %alike, label %rest, label %no
rest:
  %single = icmp eq i64 %n, 1
  br i1 %single, label %yes, label %all
all:
  %order = call i32 @memcmp(ptr %p, ptr %q, i64 %n) nobuiltin nounwind
  %equal = icmp eq i32 %order, 0
  ret i1 %equal
yes:
  ret i1 1
no:
  ret i1 0
}
"""
ORDER = """
define internal i64 @up_text_order({ ptr, i64 } %a, { ptr, i64 } %b) nounwind {
  %n = extractvalue { ptr, i64 } %a, 1
  %m = extractvalue { ptr, i64 } %b, 1
  %p = extractvalue { ptr, i64 } %a, 0
  %q = extractvalue { ptr, i64 } %b, 0
  %less = icmp slt i64 %n, %m
  %shorter = select i1 %less, i64 %n, i64 %m
  %longer = sub i64 %n, %m
  %none = icmp eq i64 %shorter, 0
  br i1 %none, label %by_length, label %first
first:
  %x = load i8, ptr %p
  %y = load i8, ptr %q
  %alike = icmp eq i8 %x, %y
  br i1 %alike, label %all, label %by_first
by_first:
  %wx = zext i8 %x to i64
  %wy = zext i8 %y to i64
  %apart = sub i64 %wx, %wy
  ret i64 %apart
all:
  %order = call i32 @memcmp(ptr %p, ptr %q, i64 %shorter) nobuiltin nounwind
  %wide = sext i32 %order to i64
  %equal = icmp eq i64 %wide, 0
  %either = select i1 %equal, i64 %longer, i64 %wide
  ret i64 %either
by_length:
  ret i64 %longer
}
"""
MEMCMP = "declare i32 @memcmp(ptr, ptr, i64)"


def compare(operator: str, a: Kind, b: Kind) -> tuple[Kind, Any]:
    """A comparison of two texts."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        answer = {"Eq": a.value == b.value, "NotEq": a.value != b.value, "Lt": a.value < b.value,
                  "LtE": a.value <= b.value, "Gt": a.value > b.value, "GtE": a.value >= b.value}[operator]  # fmt: skip
        return Literal(BOOL, answer), safe(lambda w, x, y: "true" if answer else "false")
    if operator in ("Eq", "NotEq"):
        known = b if isinstance(b, Literal) else a

        def equal(w: Any, x: str, y: str) -> str:
            if isinstance(known, Literal) and len(known.value) in _WORDS:
                flag = _equals_known(w, x if known is b else y, known.value)
            else:
                w.module.declare("@memcmp", MEMCMP)
                w.module.declare("@up_text_equal", EQUAL)
                flag = w.new(f"call i1 @up_text_equal({TEXT} {x}, {TEXT} {y})")
            return flag if operator == "Eq" else str(w.new(f"xor i1 {flag}, true"))

        return BOOL, safe(equal)

    def ordered(w: Any, x: str, y: str) -> str:
        w.module.declare("@memcmp", MEMCMP)
        w.module.declare("@up_text_order", ORDER)
        return str(w.new(f"icmp {SIGNED[operator]} i64 {w.new(f'call i64 @up_text_order({TEXT} {x}, {TEXT} {y})')}, 0"))

    return BOOL, safe(ordered)


_WORDS = {0: "", 1: "i8", 2: "i16", 4: "i32", 8: "i64"}


def _equals_known(w: Any, x: str, value: str) -> str:
    """Whether a text is a certain short one: its length, and then its characters as one number."""
    n = len(value)
    same = w.new(f"icmp eq i64 {text_length(w, x)}, {n}")
    if n == 0:
        return str(same)
    p = w.choose(same, "ptr", w.extract(TEXT, x, 0), w.module.text(value))
    word = int.from_bytes(value.encode("ascii"), "little")
    loaded = w.new(f"load {_WORDS[n]}, ptr {p}, align 1")
    return str(w.new(f"and i1 {same}, {w.new(f'icmp eq {_WORDS[n]} {loaded}, {word}')}"))


# ---- searching

FIND = """
define internal i64 @up_text_find(ptr %s, i64 %start, i64 %stop, ptr %sub, i64 %m) nounwind {
  %n = sub i64 %stop, %start
  %from = getelementptr i8, ptr %s, i64 %start
  %none = icmp eq i64 %m, 0
  br i1 %none, label %here, label %seek
here:
  ret i64 %start
seek:
  %p = call ptr @memmem(ptr %from, i64 %n, ptr %sub, i64 %m) nobuiltin nounwind
  %lost = icmp eq ptr %p, null
  %at = ptrtoint ptr %p to i64
  %base = ptrtoint ptr %s to i64
  %i = sub i64 %at, %base
  %found = select i1 %lost, i64 -1, i64 %i
  ret i64 %found
}
"""


@safe
def find(w: Any, s: str, sub: str, start: str, stop: str) -> str:
    """`s.find(sub, start, stop)`, where the bounds are known to be inside."""
    w.module.declare("@memmem", "declare ptr @memmem(ptr, i64, ptr, i64)")
    w.module.declare("@up_text_find", FIND)
    given = f"ptr {w.extract(TEXT, s, 0)}, i64 {start}, i64 {stop}, ptr {w.extract(TEXT, sub, 0)}"
    return str(w.new(f"call i64 @up_text_find({given}, i64 {text_length(w, sub)})"))


def is_in_known(value: str) -> Any:
    """`x in "aeiou"`: for one character, a look at the bits of two numbers."""
    bits = sum(1 << code for code in set(value.encode("ascii")))

    def emit(w: Any, x: str) -> str:
        one, other, on = w.fresh("one"), w.fresh("other"), w.fresh("on")
        single = w.new(f"icmp eq i64 {text_length(w, x)}, 1")
        w.do(f"br i1 {single}, label %{one}, label %{other}")
        w.start(one)
        code = text_byte(w, x, "0")
        upper = w.new(f"icmp ugt i64 {code}, 63")
        word = w.choose(upper, "i64", str(_signed(bits >> 64)), str(_signed(bits & (2**64 - 1))))
        bit = w.new(f"lshr i64 {word}, {w.new(f'and i64 {code}, 63')}")
        short = w.new(f"trunc i64 {bit} to i1")
        w.do(f"br label %{on}")
        w.start(other)
        place = find(w, w.module.constant(STR, value), x, "0", str(len(value)))
        long = w.new(f"icmp sge i64 {place}, 0")
        w.do(f"br label %{on}")
        w.start(on)
        return str(w.new(f"phi i1 [ {short}, %{one} ], [ {long}, %{other} ]"))

    return safe(emit)


def _signed(word: int) -> int:
    return word - 2**64 if word >> 63 else word


# ---- making texts

COPY = """
define internal void @up_text_copy(ptr %to, ptr %from, i64 %n) alwaysinline nounwind {
  %single = icmp eq i64 %n, 1
  br i1 %single, label %one, label %many
one:
  %c = load i8, ptr %from
  store i8 %c, ptr %to
  ret void
many:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}
"""


def _copy(w: Any, to: str, source: str, n: str) -> None:
    w.module.declare("@up_text_copy", COPY)
    w.do(f"call void @up_text_copy(ptr {to}, ptr {source}, i64 {n})")


@safe
def copy_text(w: Any, made: str, at: str, s: str) -> None:
    """Copies a text into another one that is being made."""
    to = w.new(f"getelementptr i8, ptr {w.extract(TEXT, made, 0)}, i64 {at}")
    _copy(w, to, w.extract(TEXT, s, 0), text_length(w, s))


@safe
def fill_text(w: Any, made: str, at: str, count: str, code: str) -> None:
    """Writes one character many times into a text that is being made."""
    w.module.declare("@llvm.memset.p0.i64", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    to = w.new(f"getelementptr i8, ptr {w.extract(TEXT, made, 0)}, i64 {at}")
    w.do(f"call void @llvm.memset.p0.i64(ptr {to}, i8 {w.new(f'trunc i64 {code} to i8')}, i64 {count}, i1 false)")


@safe
def character(w: Any, code: str) -> str:
    """The text of one character: a place in a table of all of them."""
    table = w.module.text("".join(map(chr, range(128))))
    p = w.new(f"getelementptr i8, ptr {table}, i64 {code}")
    return str(w.build(TEXT, ("ptr", p), ("i64", "1")))


def extended(key: str) -> Any:
    """`s + t`, where `s` is a variable that may grow: what is made has room behind it, which the next text takes that
    is put behind it under the same name."""

    def emit(w: Any, s: str, t: str) -> str:
        end, limit = (w.kept(f"{key} {what}") for what in ("end", "limit"))
        n, m = text_length(w, s), text_length(w, t)
        p, q = w.extract(TEXT, s, 0), w.extract(TEXT, t, 0)
        total = w.new(f"add i64 {n}, {m}")
        here = w.new(f"add i64 {w.new(f'ptrtoint ptr {p} to i64')}, {n}")
        after = w.new(f"add i64 {here}, {m}")
        last = w.new(f"icmp eq i64 {here}, {w.new(f'load i64, ptr {end}')}")
        room = w.new(f"icmp ule i64 {after}, {w.new(f'load i64, ptr {limit}')}")
        grow, move, on = w.fresh("grow"), w.fresh("move"), w.fresh("on")
        w.do(f"br i1 {w.new(f'and i1 {last}, {room}')}, label %{grow}, label %{move}")
        w.start(grow)
        _copy(w, w.new(f"inttoptr i64 {here} to ptr"), q, m)
        w.do(f"store i64 {after}, ptr {end}")
        w.do(f"br label %{on}")
        w.start(move)
        twice = w.new(f"shl i64 {total}, 1")
        size = w.choose(w.new(f"icmp ult i64 {total}, 32"), "i64", total, twice)
        size = w.new(f"and i64 {w.new(f'add i64 {size}, 15')}, -16")
        made = w.alloc(size)
        _copy(w, made, p, n)
        _copy(w, w.new(f"getelementptr i8, ptr {made}, i64 {n}"), q, m)
        start = w.new(f"ptrtoint ptr {made} to i64")
        w.do(f"store i64 {w.new(f'add i64 {start}, {total}')}, ptr {end}")
        w.do(f"store i64 {w.new(f'add i64 {start}, {size}')}, ptr {limit}")
        moved = w.label
        w.do(f"br label %{on}")
        w.start(on)
        place = w.new(f"phi ptr [ {p}, %{grow} ], [ {made}, %{moved} ]")
        return str(w.build(TEXT, ("ptr", place), ("i64", total)))

    return emit


# ---- single characters


def code_of(w: Any, s: str) -> str:
    """`ord(s)`."""
    w.leave_if(w.new(f"icmp ne i64 {text_length(w, s)}, 1"), TypeError, "ord() expects a character")
    return str(text_byte(w, s, "0"))


def character_of(w: Any, code: str) -> str:
    """`chr(code)`."""
    w.leave_if(w.new(f"icmp ugt i64 {code}, 1114111"), ValueError, "chr() arg not in range(0x110000)")
    w.leave_if(w.new(f"icmp ugt i64 {code}, 127"), None, "a character beyond ASCII")
    return str(character(w, code))


# ---- floats, by C's own functions


def c_text(w: Any, x: str, style: str, precision: str) -> str:
    """What snprintf writes, in memory that is as long as it has to be."""
    w.leave_if(w.new(f"icmp ugt i64 {precision}, 4000"), None, NO_MEMORY)
    w.module.declare("@snprintf", "declare i32 @snprintf(ptr, i64, ptr, ...)")
    size = w.new(f"add i64 {precision}, 352")
    p = w.alloc(size)
    scientific = w.new(f"icmp eq i64 {style}, 101")
    pattern = w.choose(scientific, "ptr", w.module.text("%.*e\0"), w.module.text("%.*f\0"))
    digits = w.new(f"trunc i64 {precision} to i32")
    given = f"ptr {p}, i64 {size}, ptr {pattern}, i32 {digits}, double {x}"
    n = w.new(f"call i32 (ptr, i64, ptr, ...) @snprintf({given}) nobuiltin nounwind")
    count = w.new(f"sext i32 {n} to i64")
    w.leave_if(w.new(f"icmp uge i64 {count}, {size}"), None, "a float's text is too long")
    end = w.new(f"add i64 {w.new(f'ptrtoint ptr {p} to i64')}, {w.new(f'add i64 {count}, 15')}")
    w.do(f"store i64 {w.new(f'and i64 {end}, -16')}, ptr %context")
    return str(w.build(TEXT, ("ptr", p), ("i64", count)))


@safe
def c_float(w: Any, s: str) -> str:
    """A float of a text that ends in a zero byte, by C's strtod."""
    return str(w.call_c("strtod", "double", ("ptr", w.extract(TEXT, s, 0)), ("ptr", "null")))


@safe
def scaled_power(w: Any, i: str, half: str) -> str:
    """Half of a power of ten in 128 bits, from the table in `prelude/powers_of_ten.py`."""
    words = ", ".join(f"i64 {_signed(word)}" for word in powers())
    w.module.declare("@up_powers", f"@up_powers = private unnamed_addr constant [{len(powers())} x i64] [{words}]")
    at = w.new(f"add i64 {w.new(f'shl i64 {i}, 1')}, {half}")
    return str(w.new(f"load i64, ptr {w.new(f'getelementptr i64, ptr @up_powers, i64 {at}')}"))
