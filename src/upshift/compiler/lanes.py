"""The loop over lanes, in LLVM IR: each lane's results, or the number of the reason for which it is left.

A column is an address. Lists and texts are two: of their items one behind the other, and of where each begins. Results
that hold lists or texts go into a stream of 8-byte words, with the place of every lane's first word in a column.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from .check import Spec
from .kinds import (
    NONE,
    STATUS,
    STR,
    UNSET,
    Array,
    Cell,
    Compound,
    Either,
    Kind,
    List,
    Object,
    Refused,
    Scalar,
    Static,
    Tuple,
    items_in,
    key_of,
    ll_of,
    plain,
)
from .loading import Loading
from .prelude.tables import Defaultdict, Dict, GivenSet
from .rows.memory import HEADER, NO_MEMORY, item_type, struct_of
from .write import Module

STREAM, STREAM_END, LEFT, REACHED, NEEDED = 6, 7, 8, 11, 12
"""Words of the context: where the stream goes on, where its room ends, how many lanes were left, the end of what any
lane has used of the arena, and how many bytes were asked for when there was no room."""


HEAD = (
    "ptr noalias %context, ptr noalias readonly %columns, ptr noalias readonly %outs, ptr noalias %left, "
    "i64 %from, i64 %to"
)


@dataclass(frozen=True, slots=True)
class Out:
    """A column of results: the kind of its numbers; None for the tags of results of several kinds."""

    kind: Kind | None
    stream: bool = False


def needs_stream(kind: Kind) -> bool:
    """Whether a result is written as words: it holds something whose size depends on the lane."""
    return any(isinstance(k, List | Object | Array) or k is STR for k in items_in(kind))


def _is_returned_as_it_is(kind: Kind) -> bool:
    """Whether a result is the very object that was captured: a member of an enum, a class."""
    return isinstance(kind, Static) and kind.path is not None and isinstance(kind.value, enum.Enum | type)


def stored_fields(kind: Object) -> dict[str, Cell]:
    """The fields of an object that a result is made of."""
    cells = kind.fields.find().cells
    if issubclass(kind.cls, Dict):
        more = ("default_factory",) if kind.cls is Defaultdict else ()
        return {name: cells[name] for name in ("keys_", "values_", "alive", *more)}
    if issubclass(kind.cls, GivenSet):
        return cells
    if kind.cls.__module__.startswith("upshift.compiler") or issubclass(kind.cls, BaseException):
        raise Refused(f"returns {kind!r}")
    return cells


def check_result(kind: Kind) -> None:
    """`Refused` where results of this kind cannot be given back."""
    if any(k is STATUS for k in items_in(kind)):
        raise Refused("returns an exception")
    _refuse_circles(kind)
    for one in _parts(plain(kind)):
        known = isinstance(one, Compound) and not isinstance(one, Tuple)
        if known or (isinstance(one, Static) and not _is_returned_as_it_is(one)):
            raise Refused(f"returns {one!r}")
        if isinstance(one, Scalar) and one.ll is None and one not in (NONE, UNSET):
            raise Refused(f"returns {one!r}")
        if isinstance(one, Array) and not one.contiguous:
            raise Refused("returns arrays inside of lists or objects")
        if not isinstance(one, Scalar | Compound | Static | List | Object | Either | Array):
            raise Refused(f"returns {one!r}")


def _parts(kind: Kind) -> Iterator[Kind]:
    """A result and all that is given back with it."""
    yield kind
    inside: list[Kind] = []
    if isinstance(kind, Tuple):
        inside = list(kind.items)
    elif isinstance(kind, Either):
        inside = list(kind.kinds)
    elif isinstance(kind, List):
        inside = list(kind.cell.find().kinds)
    elif isinstance(kind, Object):
        inside = [one for cell in stored_fields(kind).values() for one in cell.find().kinds]
    for one in inside:
        yield from _parts(one)


def _refuse_circles(kind: Kind, around: tuple[object, ...] = ()) -> None:
    """What may hold itself has no end."""
    if isinstance(kind, List | Object):
        root = kind.cell.find() if isinstance(kind, List) else kind.fields.find()
        if root in around:
            raise Refused(f"returns {kind!r}, which may hold itself")
        around = (*around, root)
        cells = [kind.cell] if isinstance(kind, List) else list(stored_fields(kind).values())
        for one in [one for cell in cells for one in cell.find().kinds]:
            _refuse_circles(one, around)
    for one in kind.items if isinstance(kind, Tuple) else kind.kinds if isinstance(kind, Either) else ():
        _refuse_circles(one, around)


_REACHED = """\
  %used = load i64, ptr %context
  %farp = getelementptr i64, ptr %context, i64 {word}
  %far = load i64, ptr %farp
  %further = icmp ugt i64 %used, %far
  %furthest = select i1 %further, i64 %used, i64 %far
  store i64 %furthest, ptr %farp
"""


class Loop(Loading):
    """Writes the loop over lanes around a function: `lanes(context, columns, outs, left, from, to)`, which returns the
    lane that it came to: the last one, or one for which the stream had no room."""

    def __init__(self, module: Module, spec: Spec) -> None:
        self.module, self.spec = module, spec
        self.lines: list[str] = []
        self.count = self.columns = 0
        self.outs: list[Out] = []
        self.entry: list[str] = []
        self.streams: dict[object, str] = {}
        self.parts = {}
        self.full = False
        self.poor = False
        """Whether there may be lanes that there is no memory for."""

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def do(self, text: str) -> None:
        """Writes an instruction without a result."""
        self.lines.append(f"  {text}")

    def write(self, polls: bool) -> str:
        """The IR of the loop, and of the functions that it calls to write lists and texts."""
        spec = self.spec
        given = ["ptr %context"]
        for kind, own in zip(spec.kinds, self.module.unit.given):
            value = self.load(own, kind, "%i")
            if kind.ll is not None:
                given.append(f"{kind.ll} {value}")
        if self.poor:
            self._skip_poor()
        result = spec.result.kind or NONE
        ll = f"{{ {ll_of(result)}, i32 }}"
        both = self.new(f"call {ll} @{spec.name}({', '.join(given)})")
        status = self.new(f"extractvalue {ll} {both}, 1")
        value = self.new(f"extractvalue {ll} {both}, 0") if result.ll is not None else ""
        place = self.new("getelementptr inbounds i32, ptr %left, i64 %i")
        self.do(f"store i32 {status}, ptr {place}")
        odd = self.new(f"icmp ne i32 {status}, 0")
        if polls:
            self._stop_where_asked(odd)
        self._store_result(result, value, odd)
        return self._assembled(odd, polls)

    def _skip_poor(self) -> None:
        rich = self._label("rich")
        self.do(f"br label %{rich}")
        self.lines.append("poor:")
        number = self.module.status(None, NO_MEMORY, self.spec.code.filename, 0)
        self.do(f"store i32 {number}, ptr {self.new('getelementptr inbounds i32, ptr %left, i64 %i')}")
        self.do("br label %latch")
        self.lines.append(f"{rich}:")

    def _stop_where_asked(self, odd: str) -> None:
        look, on = self._label("look"), self._label("on")
        self.do(f"br i1 {odd}, label %{look}, label %{on}, !prof !0")
        self.lines.append(f"{look}:")
        stop = self.new("call i1 @up_poll(ptr %context)")
        self.do(f"br i1 {stop}, label %end, label %{on}, !prof !0")
        self.lines.append(f"{on}:")

    def _assembled(self, odd: str, polls: bool) -> str:
        body = "\n".join(self.lines)
        pointers = [f"  %c{k} = load ptr, ptr {self._pointer('columns', k)}" for k in range(self.columns)]
        pointers += [f"  %o{k} = load ptr, ptr {self._pointer('outs', k)}" for k in range(len(self.outs))]
        uses_arena = "@up_alloc(ptr %context" in "".join(self.module.functions) or self.poor
        reset = "  store i64 %arena, ptr %context\n" if uses_arena else ""
        reached = _REACHED.format(word=REACHED) if uses_arena else ""
        for _, slot, _ in self.module.unit.memos.values():
            self.entry.append(f"  %memo{slot} = getelementptr ptr, ptr %context, i64 {slot}")
            reset += f"  store ptr null, ptr %memo{slot}\n"
        if self.module.unit.recursive:
            reset += "  store i64 0, ptr %depth\n"
        entry = "\n".join([*self.entry, *pointers])
        full = "full:\n  br label %end\n" if self.full else ""
        ends = ["[ %next, %latch ]"] + (["[ %i, %full ]"] if self.full else [])
        counts = ["[ %more, %latch ]"] + (["[ %count, %full ]"] if self.full else [])
        if polls:
            at = next(line[:-1] for line in self.lines if line.startswith("look"))
            ends.append(f"[ %i, %{at} ]")
            counts.append(f"[ %count, %{at} ]")
        return f"""
define i64 @lanes({HEAD}) nounwind {{
entry:
{entry}
  %arena = load i64, ptr %context
  %depth = getelementptr i64, ptr %context, i64 4
  %counter = getelementptr i64, ptr %context, i64 {LEFT}
  br label %loop
loop:
  %i = phi i64 [ %from, %entry ], [ %next, %latch ]
  %count = phi i64 [ 0, %entry ], [ %more, %latch ]
{reset}{body}
  br label %tail
tail:
  br label %latch
latch:
  %is_odd = phi i1 [ {odd}, %tail ]{", [ true, %poor ]" if self.poor else ""}
{reached}  %one = zext i1 %is_odd to i64
  %more = add i64 %count, %one
  %next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %next, %to
  br i1 %again, label %loop, label %end
{full}end:
  %reached = phi i64 {", ".join(ends)}
  %odd = phi i64 {", ".join(counts)}
  store i64 %arena, ptr %context
  store i64 %odd, ptr %counter
  ret i64 %reached
}}
{"".join(self.streams_text)}"""

    @property
    def streams_text(self) -> list[str]:
        """The functions that turn lists, tuples and texts into words."""
        return [text for text in self.streams.values() if text]

    def _pointer(self, of: str, k: int) -> str:
        name = f"%{of}.{k}"
        self.entry.append(f"  {name} = getelementptr ptr, ptr %{of}, i64 {k}")
        return name

    def _label(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    # ---- results

    def _out(self, kind: Kind | None, stream: bool = False) -> str:
        self.outs.append(Out(kind, stream))
        return f"%o{len(self.outs) - 1}"

    def _store_result(self, kind: Kind, value: str, odd: str) -> None:
        kind = plain(kind)
        if needs_stream(kind):
            return self._store_stream(kind, value, odd)
        if isinstance(kind, Tuple):
            for i, item in enumerate(kind.items):
                part = self.new(f"extractvalue {kind.ll} {value}, {i}") if item.ll is not None else ""
                self._store_result(item, part, odd)
            return None
        if isinstance(kind, Either):
            tag = self.new(f"extractvalue {kind.ll} {value}, 0")
            self.do(f"store i8 {tag}, ptr {self.new(f'getelementptr inbounds i8, ptr {self._out(None)}, i64 %i')}")
            for i, one in enumerate(kind.kinds):
                part = self.new(f"extractvalue {kind.ll} {value}, {i + 1}") if one.ll is not None else ""
                self._store_result(one, part, odd)
            return None
        if kind is NONE or _is_returned_as_it_is(kind):
            return None
        if not isinstance(kind, Scalar) or kind.ll is None:
            raise Refused(f"returns {kind!r}")
        if kind.ll == "i1":
            place = self.new(f"getelementptr inbounds i8, ptr {self._out(kind)}, i64 %i")
            self.do(f"store i8 {self.new(f'zext i1 {value} to i8')}, ptr {place}")
        else:
            place = self.new(f"getelementptr inbounds {kind.ll}, ptr {self._out(kind)}, i64 %i")
            self.do(f"store {kind.ll} {value}, ptr {place}")
        return None

    def _store_stream(self, kind: Kind, value: str, odd: str) -> None:
        """The result as words, where the lane is not left; where there is no room for it, an end."""
        name = self._stream(kind)
        place = self.new(f"getelementptr inbounds i64, ptr {self._out(kind, True)}, i64 %i")
        p = self.new(f"getelementptr i64, ptr %context, i64 {STREAM}")
        start = self.new(f"load i64, ptr {p}")
        self.do(f"store i64 {start}, ptr {place}")
        yes, no, on = self._label("yes"), self._label("no"), self._label("on")
        self.do(f"br i1 {odd}, label %{on}, label %{yes}")
        self.lines.append(f"{yes}:")
        full = self.new(f"call i1 @{name}(ptr %context, {kind.ll} {value})")
        self.do(f"br i1 {full}, label %{no}, label %{on}, !prof !0")
        self.lines.append(f"{no}:")
        self.do(f"store i64 {start}, ptr {p}")
        self.do("br label %full")
        self.full = True
        self.lines.append(f"{on}:")

    def _stream(self, kind: Kind) -> str:
        """The name of a function that writes a value as words; it returns whether there was no room."""
        key = key_of(kind)
        names = {k: f"stream{i}" for i, k in enumerate(self.streams)}
        if key not in self.streams:
            self.streams[key] = ""
            name = f"stream{len(self.streams) - 1}"
            self.streams[key] = _Stream(self, name, kind).text()
            return name
        return names[key]


class _Stream:
    """Writes the function that turns values of one kind into words."""

    def __init__(self, loop: Loop, name: str, kind: Kind) -> None:
        self.loop, self.name, self.kind = loop, name, kind
        self.lines: list[str] = []
        self.count = 0

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def text(self) -> str:
        self._value(self.kind, "%value")
        body = "\n".join(self.lines)
        return (
            f"define internal i1 @{self.name}(ptr %context, {self.kind.ll} %value) nounwind {{\n"
            f"  %cursor = getelementptr i64, ptr %context, i64 {STREAM}\n"
            f"  %endp = getelementptr i64, ptr %context, i64 {STREAM_END}\n  %end = load i64, ptr %endp\n"
            f"  %needed = getelementptr i64, ptr %context, i64 {NEEDED}\n"
            f"{body}\n  ret i1 0\nfull:\n  ret i1 1\n}}\n"
        )

    def _label(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def _room(self, size: str) -> str:
        """The address of so many bytes."""
        at = self.new("load i64, ptr %cursor")
        after = self.new(f"add i64 {at}, {size}")
        on = self._label("on")
        if size != "8":
            self.lines.append(f"  store i64 {size}, ptr %needed")
        self.lines.append(f"  br i1 {self.new(f'icmp ugt i64 {after}, %end')}, label %full, label %{on}, !prof !0")
        self.lines += [f"{on}:", f"  store i64 {after}, ptr %cursor"]
        return self.new(f"inttoptr i64 {at} to ptr")

    def _word(self, value: str) -> None:
        self.lines.append(f"  store i64 {value}, ptr {self._room('8')}")

    def _value(self, kind: Kind, value: str) -> None:
        if isinstance(kind, Tuple):
            for i, item in enumerate(kind.items):
                self._value(item, self.new(f"extractvalue {kind.ll} {value}, {i}") if item.ll is not None else "")
        elif isinstance(kind, List):
            self._list(kind, value)
        elif kind is STR:
            count = self.new(f"extractvalue {{ ptr, i64 }} {value}, 1")
            self._word(count)
            padded = self.new(f"and i64 {self.new(f'add i64 {count}, 7')}, -8")
            p = self._room(padded)
            source = self.new(f"extractvalue {{ ptr, i64 }} {value}, 0")
            self._copy(p, source, count)
        elif isinstance(kind, Either):
            self._either(kind, value)
        elif isinstance(kind, Array):
            self._array(kind, value)
        elif isinstance(kind, Object):
            self._object(kind, value)
        elif isinstance(kind, Static) and not _is_returned_as_it_is(kind):
            raise Refused(f"returns {kind!r}")
        elif kind.ll is not None:
            self._scalar(kind, value)

    def _array(self, kind: Array, value: str) -> None:
        """An array without gaps: its lengths, then its items."""
        size = str(kind.dtype.itemsize)
        for i in range(kind.ndim):
            n = self.new(f"extractvalue {kind.ll} {value}, 1, {i}")
            self._word(n)
            size = self.new(f"mul i64 {size}, {n}")
        padded = self.new(f"and i64 {self.new(f'add i64 {size}, 7')}, -8")
        self._copy(self._room(padded), self.new(f"extractvalue {kind.ll} {value}, 0"), size)

    def _object(self, kind: Object, value: str) -> None:
        cells = kind.fields.find().cells
        for name, cell in stored_fields(kind).items():
            inside = cell.kind
            if inside is None:
                continue
            at = list(cells).index(name)
            place = self.new(f"getelementptr inbounds {struct_of(kind)}, ptr {value}, i64 0, i32 {at}")
            self._value(inside, self.new(f"load {inside.ll}, ptr {place}") if inside.ll is not None else "")

    def _scalar(self, kind: Kind, value: str) -> None:
        if (
            not isinstance(kind, Scalar)
            or kind.ll is None
            or (kind.ll.startswith("{") and kind.ll != "{ double, double }")
        ):
            raise Refused(f"returns {kind!r} inside a list")
        if kind.ll == "{ double, double }":
            for i in range(2):
                part = self.new(f"extractvalue {kind.ll} {value}, {i}")
                self._word(self.new(f"bitcast double {part} to i64"))
        elif kind.ll == "double":
            self._word(self.new(f"bitcast double {value} to i64"))
        elif kind.ll in ("float", "half"):
            bits = "i32" if kind.ll == "float" else "i16"
            self._word(self.new(f"zext {bits} {self.new(f'bitcast {kind.ll} {value} to {bits}')} to i64"))
        elif kind.ll == "i64":
            self._word(value)
        else:
            self._word(self.new(f"zext {kind.ll} {value} to i64"))

    def _copy(self, to: str, source: str, size: str) -> None:
        self.lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")

    def _list(self, kind: List, value: str) -> None:
        count = self.new(f"load i64, ptr {value}")
        self._word(count)
        inside = kind.cell.kind
        if inside is None or inside.ll is None:
            return
        datap = self.new(f"getelementptr {HEADER}, ptr {value}, i64 0, i32 2")
        data = self.new(f"load ptr, ptr {datap}")
        if inside.ll in ("i64", "double"):
            size = self.new(f"shl i64 {count}, 3")
            self._copy(self._room(size), data, size)
            return
        entry, head, body, end = (self._label(x) for x in ("entry", "head", "body", "end"))
        self.lines += [f"  br label %{entry}", f"{entry}:", f"  br label %{head}", f"{head}:"]
        turn = f"%{self._label('turn')}"
        i = self.new(f"phi i64 [ 0, %{entry} ], [ {turn}, %{body}.on ]")
        more = self.new(f"icmp slt i64 {i}, {count}")
        self.lines += [f"  br i1 {more}, label %{body}, label %{end}", f"{body}:"]
        ll = "i8" if inside.ll == "i1" else item_type(kind)
        item = self.new(f"load {ll}, ptr {self.new(f'getelementptr {ll}, ptr {data}, i64 {i}')}")
        if inside.ll == "i1":
            item = self.new(f"trunc i8 {item} to i1")
        name = self.loop._stream(inside)
        full = self.new(f"call i1 @{name}(ptr %context, {inside.ll} {item})")
        self.lines += [f"  br i1 {full}, label %full, label %{body}.on, !prof !0", f"{body}.on:"]
        self.lines += [f"  {turn} = add i64 {i}, 1", f"  br label %{head}", f"{end}:"]

    def _either(self, kind: Either, value: str) -> None:
        tag = self.new(f"extractvalue {kind.ll} {value}, 0")
        self._word(self.new(f"zext i8 {tag} to i64"))
        after = self._label("after")
        labels = [self._label("kind") for _ in kind.kinds]
        cases = " ".join(f"i8 {i}, label %{label}" for i, label in enumerate(labels[1:], start=1))
        self.lines.append(f"  switch i8 {tag}, label %{labels[0]} [ {cases} ]")
        for i, (one, label) in enumerate(zip(kind.kinds, labels)):
            self.lines.append(f"{label}:")
            self._value(one, self.new(f"extractvalue {kind.ll} {value}, {i + 1}") if one.ll is not None else "")
            self.lines.append(f"  br label %{after}")
        self.lines.append(f"{after}:")
