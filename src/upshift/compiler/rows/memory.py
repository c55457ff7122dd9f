"""Lists, objects and texts in memory: the few operations on them that are not written in Python."""

from __future__ import annotations

from typing import Any

from ..kinds import UNSET, Either, Kind, List, Object, Refused, ll_of
from .numbers import safe

HEADER = "{ i64, i64, ptr }"
"""A list: its length, capacity and items."""
TEXT = "{ ptr, i64 }"

GROW = """

define internal i1 @up_grow(ptr %context, ptr %list, i64 %size, i64 %least) noinline nounwind {
  %capp = getelementptr { i64, i64, ptr }, ptr %list, i64 0, i32 1
  %datap = getelementptr { i64, i64, ptr }, ptr %list, i64 0, i32 2
  %cap = load i64, ptr %capp
  %data = load ptr, ptr %datap
  %double = shl i64 %cap, 1
  %some = call i64 @llvm.smax.i64(i64 %double, i64 4)
  %new = call i64 @llvm.smax.i64(i64 %some, i64 %least)
  %large = icmp ugt i64 %new, 68719476736
  br i1 %large, label %no, label %ask
ask:
  %bytes = mul i64 %new, %size
  %p = call ptr @up_alloc(ptr %context, i64 %bytes)
  %none = icmp eq ptr %p, null
  br i1 %none, label %no, label %yes
yes:
  %len = load i64, ptr %list
  %old = mul i64 %len, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %data, i64 %old, i1 false)
  store i64 %new, ptr %capp
  store ptr %p, ptr %datap
  %stop = call i1 @up_poll(ptr %context)
  ret i1 %stop
no:
  ret i1 1
}
"""
NO_MEMORY = "needs more memory than a lane is given"
BORROWED = -1
"""The capacity of lists that are the caller's: not to be changed."""
CHANGES = "changes a list that it was given"


def item_type(kind: List) -> str:
    """The LLVM type of a list's items."""
    inside = kind.cell.kind
    return "i64" if inside is None else ll_of(inside)


@safe
def length(w: Any, xs: str) -> str:
    """How many items a list has."""
    return str(w.new(f"load i64, ptr {xs}"))


def data(w: Any, xs: str) -> str:
    """Where a list's items are."""
    p = w.new(f"getelementptr {HEADER}, ptr {xs}, i64 0, i32 2")
    return str(w.new(f"load ptr, ptr {p}"))


def place(w: Any, kind: List, xs: str, i: str) -> str:
    """The address of an item."""
    return str(w.new(f"getelementptr inbounds {item_type(kind)}, ptr {data(w, xs)}, i64 {i}"))


def get(w: Any, kind: List, xs: str, i: str) -> str:
    """An item of a list; the index is known to be within it."""
    inside = kind.cell.kind
    if inside is None or inside.ll is None:
        return ""
    if inside.ll == "i1":
        p = w.new(f"getelementptr inbounds i8, ptr {data(w, xs)}, i64 {i}")
        return str(w.new(f"trunc i8 {w.new(f'load i8, ptr {p}')} to i1"))
    return str(w.new(f"load {inside.ll}, ptr {place(w, kind, xs, i)}"))


def keep_callers(w: Any, kind: List, xs: str) -> None:
    """The lane is left where the list that is about to change is the caller's."""
    if kind.cell.find().borrowed:
        cap = w.new(f"load i64, ptr {w.new(f'getelementptr {HEADER}, ptr {xs}, i64 0, i32 1')}")
        w.leave_if(w.new(f"icmp slt i64 {cap}, 0"), None, CHANGES)


def set_length(w: Any, kind: List, xs: str, n: str) -> None:
    """Makes a list shorter, or as long as items have been put behind its end."""
    keep_callers(w, kind, xs)
    w.do(f"store i64 {n}, ptr {xs}")


def put(w: Any, kind: List, xs: str, i: str, value: str, of: Kind) -> None:
    """Writes an item of a list; the index is known to be within it."""
    inside = kind.cell.kind
    assert inside is not None
    if inside.ll is None:
        return
    value = w.wrap(of, value, inside)
    if inside.ll == "i1":
        p = w.new(f"getelementptr inbounds i8, ptr {data(w, xs)}, i64 {i}")
        w.do(f"store i8 {w.new(f'zext i1 {value} to i8')}, ptr {p}")
    else:
        w.do(f"store {inside.ll} {value}, ptr {place(w, kind, xs, i)}")


def new_list(w: Any, kind: List, count: str) -> str:
    """A list of so many items that are not set yet."""
    header = w.alloc("24")
    if count.isdigit():
        bytes_ = "0" if count == "0" else w.new(f"mul i64 {w.size_of(item_type(kind))}, {count}")
    else:
        w.leave_if(w.new(f"icmp ugt i64 {count}, 68719476736"), None, NO_MEMORY)
        bytes_ = w.new(f"mul i64 {w.size_of(item_type(kind))}, {count}")
    items = w.alloc(bytes_) if bytes_ != "0" else "null"
    w.do(f"store i64 {count}, ptr {header}")
    w.do(f"store i64 {count}, ptr {w.new(f'getelementptr {HEADER}, ptr {header}, i64 0, i32 1')}")
    w.do(f"store ptr {items}, ptr {w.new(f'getelementptr {HEADER}, ptr {header}, i64 0, i32 2')}")
    return str(header)


def middle(kind: List, part: List, start: int, after: int) -> Any:
    """A row that copies a list without its first and last items."""

    def emit(w: Any, xs: str) -> str:
        if item_type(kind) != item_type(part):  # a copy of bytes would be read as items of another kind
            raise Refused("the rest of a list behind a star becomes a list of other kinds")
        n = w.new(f"sub i64 {length(w, xs)}, {start + after}")
        made = new_list(w, part, n)
        size = w.new(f"mul i64 {n}, {w.size_of(item_type(kind))}")
        source = place(w, kind, xs, str(start))
        w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {data(w, made)}, ptr {source}, i64 {size}, i1 false)")
        return made

    return emit


def display(w: Any, kind: List, kinds: list[Kind], values: list[str]) -> str:
    """`[a, b, c]`."""
    made = new_list(w, kind, str(len(values)))
    for i, (of, value) in enumerate(zip(kinds, values)):
        put(w, kind, made, str(i), value, of)
    return made


def append(w: Any, kind: List, xs: str, value: str, of: Kind) -> None:
    """Adds an item; the list grows by doubling."""
    keep_callers(w, kind, xs)
    count = w.new(f"load i64, ptr {xs}")
    cap = w.new(f"load i64, ptr {w.new(f'getelementptr {HEADER}, ptr {xs}, i64 0, i32 1')}")
    full, on = w.fresh("full"), w.fresh("on")
    w.do(f"br i1 {w.new(f'icmp sge i64 {count}, {cap}')}, label %{full}, label %{on}, !prof !0")
    w.start(full)
    _reserve_now(w, kind, xs, "0")
    w.do(f"br label %{on}")
    w.start(on)
    put(w, kind, xs, count, value, of)
    w.do(f"store i64 {w.new(f'add i64 {count}, 1')}, ptr {xs}")


def _reserve_now(w: Any, kind: List, xs: str, least: str) -> None:
    """Make room for more items."""
    w.module.declare("@up_grow", GROW)
    w.module.declare("@llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    bad = w.new(f"call i1 @up_grow(ptr %context, ptr {xs}, i64 {w.size_of(item_type(kind))}, i64 {least})")
    w.leave_if(bad, None, NO_MEMORY)


def index(w: Any, n: str, i: str, what: str) -> str:
    """An index counted from the end where it is negative; IndexError where it is outside."""
    if i.isdigit():
        where = i
    elif i.startswith("-") and i[1:].isdigit():
        where = w.new(f"add i64 {n}, {i}")
    else:
        where = w.choose(w.new(f"icmp slt i64 {i}, 0"), "i64", w.new(f"add i64 {i}, {n}"), i)
    w.leave_if(w.new(f"icmp uge i64 {where}, {n}"), IndexError, f"{what} index out of range")
    return str(where)


# ---- objects


def struct_of(kind: Object) -> str:
    """LLVM's type for the fields of an object."""
    return (
        "{ "
        + ", ".join(ll_of(cell.kind) if cell.kind is not None else "i8" for cell in kind.fields.find().cells.values())
        + " }"
    )


def new_object(w: Any, kind: Object) -> str:
    """Memory for an object, whose fields are not set."""
    made = str(w.alloc(w.size_of(struct_of(kind))))
    for name, cell in kind.fields.find().cells.items():
        if isinstance(cell.kind, Either) and UNSET in cell.kind.kinds:
            set_field(w, kind, made, name, "", UNSET)
    return made


def get_set_field(w: Any, kind: Object, p: str, name: str, cls: type) -> str:
    """A field that may not be set: such lanes raise."""
    inside = kind.fields.find().cells[name].kind
    value = get_field(w, kind, p, name)
    if not isinstance(inside, Either) or UNSET not in inside.kinds:
        return value
    at = inside.kinds.index(UNSET)
    tag = w.extract(inside.ll, value, 0)
    w.leave_if(w.new(f"icmp eq i8 {tag}, {at}"), cls, f"{name} is not set")
    rest = without_unset(inside)
    parts = [(ll_of(one), w.extract(inside.ll, value, i + 1)) for i, one in enumerate(inside.kinds) if i != at]
    if not isinstance(rest, Either):
        return parts[0][1] if rest.ll is not None else ""
    behind = w.new(f"zext i1 {w.new(f'icmp ugt i8 {tag}, {at}')} to i8")
    return str(w.build(rest.ll, ("i8", w.new(f"sub i8 {tag}, {behind}")), *parts))


def is_set_field(w: Any, kind: Object, p: str, name: str) -> str:
    """Whether a field that may be unset is set."""
    inside = kind.fields.find().cells[name].kind
    if not isinstance(inside, Either) or UNSET not in inside.kinds:
        return "true"
    tag = w.extract(inside.ll, get_field(w, kind, p, name), 0)
    return str(w.new(f"icmp ne i8 {tag}, {inside.kinds.index(UNSET)}"))


def without_unset(kind: Kind) -> Kind:
    """What a field holds where it is set."""
    if not isinstance(kind, Either) or UNSET not in kind.kinds:
        return kind
    rest = tuple(one for one in kind.kinds if one is not UNSET)
    return rest[0] if len(rest) == 1 else Either(rest)


def _field_place(w: Any, kind: Object, p: str, name: str) -> str:
    at = list(kind.fields.find().cells).index(name)
    return str(w.new(f"getelementptr inbounds {struct_of(kind)}, ptr {p}, i64 0, i32 {at}"))


def get_field(w: Any, kind: Object, p: str, name: str) -> str:
    """Reads a field."""
    inside = kind.fields.find().cells[name].kind
    if inside is None or inside.ll is None:
        return ""
    return str(w.new(f"load {inside.ll}, ptr {_field_place(w, kind, p, name)}"))


def set_field(w: Any, kind: Object, p: str, name: str, value: str, of: Kind) -> None:
    """Writes a field."""
    inside = kind.fields.find().cells[name].kind
    assert inside is not None
    if inside.ll is not None:
        w.do(f"store {inside.ll} {w.wrap(of, value, inside)}, ptr {_field_place(w, kind, p, name)}")


def memo(w: Any, spec: Any, slot: int) -> str:
    """The dict of a cached function, made when a lane first asks for it."""
    p = w.new(f"getelementptr ptr, ptr %context, i64 {slot}")
    old = w.new(f"load ptr, ptr {p}")
    none, on = w.fresh("none"), w.fresh("on")
    before = w.label
    w.do(f"br i1 {w.new(f'icmp eq ptr {old}, null')}, label %{none}, label %{on}")
    w.start(none)
    made = w.call(spec, [])
    w.do(f"store ptr {made}, ptr {p}")
    last = w.label
    w.do(f"br label %{on}")
    w.start(on)
    return str(w.new(f"phi ptr [ {old}, %{before} ], [ {made}, %{last} ]"))


# ---- texts


@safe
def text_length(w: Any, s: str) -> str:
    """How many characters a text has."""
    return str(w.extract(TEXT, s, 1))


@safe
def text_byte(w: Any, s: str, i: str) -> str:
    """The code of a character, whose place is known to be inside."""
    p = w.new(f"getelementptr inbounds i8, ptr {w.extract(TEXT, s, 0)}, i64 {i}")
    return str(w.new(f"zext i8 {w.new(f'load i8, ptr {p}')} to i64"))


@safe
def text_part(w: Any, s: str, start: str, stop: str) -> str:
    """A part of a text, which shares its memory."""
    p = w.new(f"getelementptr i8, ptr {w.extract(TEXT, s, 0)}, i64 {start}")
    return str(w.build(TEXT, ("ptr", p), ("i64", w.new(f"sub i64 {stop}, {start}"))))


def text_new(w: Any, n: str) -> str:
    """A text of so many characters that are not set yet."""
    w.leave_if(w.new(f"icmp ugt i64 {n}, 68719476736"), None, NO_MEMORY)
    return str(w.build(TEXT, ("ptr", w.alloc(n)), ("i64", n)))


@safe
def text_put(w: Any, s: str, i: str, code: str) -> None:
    """Writes a character into a text that is being made."""
    p = w.new(f"getelementptr inbounds i8, ptr {w.extract(TEXT, s, 0)}, i64 {i}")
    w.do(f"store i8 {w.new(f'trunc i64 {code} to i8')}, ptr {p}")


def text_join(w: Any, *parts: str) -> str:
    """Texts, one behind the other."""
    w.module.declare("@up_grow", GROW)
    w.module.declare("@llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    lengths = [text_length(w, part) for part in parts]
    total = lengths[0] if lengths else "0"
    for n in lengths[1:]:
        total = w.new(f"add i64 {total}, {n}")
    made = w.alloc(total)
    at = made
    for part, n in zip(parts, lengths):
        w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {at}, ptr {w.extract(TEXT, part, 0)}, i64 {n}, i1 false)")
        at = w.new(f"getelementptr i8, ptr {at}, i64 {n}")
    return str(w.build(TEXT, ("ptr", made), ("i64", total)))


@safe
def text_equal(w: Any, a: str, b: str) -> str:
    """Whether two texts are the same characters."""
    n, m = text_length(w, a), text_length(w, b)
    same = w.new(f"icmp eq i64 {n}, {m}")
    shorter = w.choose(same, "i64", n, "0")
    order = w.call_c("memcmp", "i32", ("ptr", w.extract(TEXT, a, 0)), ("ptr", w.extract(TEXT, b, 0)), ("i64", shorter))
    return str(w.new(f"and i1 {same}, {w.new(f'icmp eq i32 {order}, 0')}"))


@safe
def text_order(w: Any, a: str, b: str) -> str:
    """Below, at or above zero, as the first text stands to the second."""
    n, m = text_length(w, a), text_length(w, b)
    less = w.new(f"icmp slt i64 {n}, {m}")
    shorter = w.choose(less, "i64", n, m)
    order = w.call_c("memcmp", "i32", ("ptr", w.extract(TEXT, a, 0)), ("ptr", w.extract(TEXT, b, 0)), ("i64", shorter))
    wide = w.new(f"sext i32 {order} to i64")
    return str(w.choose(w.new(f"icmp eq i64 {wide}, 0"), "i64", w.new(f"sub i64 {n}, {m}"), wide))
