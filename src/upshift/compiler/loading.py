"""Elements as a function's arguments: numbers out of columns, lists that lie in columns or are put together for a lane.

The columns of a list are those of its items, one behind the other, and of where each list begins; those of a value that
may be of several kinds are its tags, then the columns of every kind.
"""

from __future__ import annotations

from .kinds import INT, NONE, STR, Array, Either, Kind, List, Refused, Scalar, Static, Tuple, accepts, ll_of
from .rows.memory import BORROWED, HEADER, item_type
from .write import Aggregates, Module


def _width_of(kind: Kind) -> int:
    """How many columns elements of a kind have."""
    if isinstance(kind, Tuple):
        return sum(map(_width_of, kind.items))
    if isinstance(kind, Either):
        return 1 + sum(map(_width_of, kind.kinds))
    if isinstance(kind, List):
        return 1 + _width_of(kind.cell.kind or INT)
    return 2 if kind is STR else 0 if kind is NONE or isinstance(kind, Static) else 1


class Loading(Aggregates):
    """Writes how elements are read."""

    module: Module
    lines: list[str]
    entry: list[str]
    columns: int
    poor: bool

    def do(self, text: str) -> None:
        """Writes an instruction without a result."""
        raise NotImplementedError

    def _label(self, hint: str) -> str:
        raise NotImplementedError

    def _column(self) -> str:
        self.columns += 1
        return f"%c{self.columns - 1}"

    def load(self, kind: Kind, into: Kind, at: str) -> str:
        """The element at a place of its columns, as the function keeps it."""
        if isinstance(kind, Either):
            return self._load_either(kind, into, at)
        if isinstance(into, Either):
            way = next(one for one in into.kinds if accepts(one, kind))
            return self.wrap(way, self.load(kind, way, at), into)
        if isinstance(kind, Tuple) and isinstance(into, Tuple):
            parts = [(ll_of(own), self.load(item, own, at) or "0") for item, own in zip(kind.items, into.items)]
            return self.build(into.ll or "", *parts) if parts else "undef"
        if isinstance(kind, List) and isinstance(into, List):
            return self._load_list(kind, into, at)
        if kind is STR:
            data, count = self._slice_of("i8", at)
            return self.build("{ ptr, i64 }", ("ptr", data), ("i64", count))
        if kind is NONE or isinstance(kind, Static):
            return ""
        if isinstance(kind, Array):
            return self._load_array(kind, at)
        if not isinstance(kind, Scalar):
            raise Refused(f"an element is {kind!r}")
        return self._number("i8" if kind.ll == "i1" else kind.ll or "", at, kind.ll == "i1")

    def _number(self, ll: str, at: str, flag: bool = False) -> str:
        place = self.new(f"getelementptr inbounds {ll}, ptr {self._column()}, i64 {at}")
        value = self.new(f"load {ll}, ptr {place}")
        return self.new(f"trunc i8 {value} to i1") if flag else value

    def _load_array(self, kind: Array, at: str) -> str:
        """An array: its address, lengths and strides. The column begins with how many words there are for each element,
        and how far their addresses are apart where they share these words."""
        table = self._column()
        step = self.new(f"load i64, ptr {table}")
        apart = self.new(f"load i64, ptr {self.new(f'getelementptr i64, ptr {table}, i64 1')}")
        row = self.new(f"getelementptr i64, ptr {table}, i64 {self.new(f'mul i64 {at}, {step}')}")
        row = self.new(f"getelementptr i64, ptr {row}, i64 2")
        first = self.new(f"load ptr, ptr {row}")
        made = self.new(f"getelementptr i8, ptr {first}, i64 {self.new(f'mul i64 {at}, {apart}')}")
        made = self.new(f"insertvalue {kind.ll} undef, ptr {made}, 0")
        for which in (1, 2):
            for i in range(kind.ndim):
                place = self.new(f"getelementptr i64, ptr {row}, i64 {1 + (which - 1) * kind.ndim + i}")
                made = self.new(f"insertvalue {kind.ll} {made}, i64 {self.new(f'load i64, ptr {place}')}, {which}, {i}")
        return made

    def _load_either(self, kind: Either, into: Kind, at: str) -> str:
        tag = self._number("i8", at)
        made = ""
        for i, one in enumerate(kind.kinds):
            value = self.load(one, into, at)
            made = value if not made else self.choose(self.new(f"icmp eq i8 {tag}, {i}"), ll_of(into), value, made)
        return made

    def _slice_of(self, ll: str, at: str) -> tuple[str, str]:
        """The items of a list or text: their address and number."""
        items, offsets = self._column(), self._column()
        start, count = self._span(offsets, at)
        return self.new(f"getelementptr {ll}, ptr {items}, i64 {start}"), count

    def _span(self, offsets: str, at: str) -> tuple[str, str]:
        """Where a list begins among all items, and how many it has."""
        place = self.new(f"getelementptr inbounds i64, ptr {offsets}, i64 {at}")
        start = self.new(f"load i64, ptr {place}")
        stop = self.new(f"load i64, ptr {self.new(f'getelementptr inbounds i64, ptr {place}, i64 1')}")
        return start, self.new(f"sub i64 {stop}, {start}")

    def _load_list(self, kind: List, into: List, at: str) -> str:
        inside, own = kind.cell.kind or INT, into.cell.kind or INT
        if isinstance(inside, Scalar) and inside is own and inside is not STR and inside.ll is not None:
            return self._list_of_numbers(into, inside, at)
        offsets = f"%c{self.columns + _width_of(inside)}"
        start, count = self._span(offsets, at)
        size = self.new(f"mul i64 {count}, {self._size_of(item_type(into))}")
        data = self._alloc(size)
        before, head, body, turn, end = (self._label(hint) for hint in ("before", "head", "body", "turn", "end"))
        self.lines += [f"  br label %{before}", f"{before}:", f"  br label %{head}", f"{head}:"]
        following = f"%{self._label('following')}"
        i = self.new(f"phi i64 [ 0, %{before} ], [ {following}, %{turn} ]")
        self.do(f"br i1 {self.new(f'icmp slt i64 {i}, {count}')}, label %{body}, label %{end}")
        self.lines.append(f"{body}:")
        value = self.load(inside, own, self.new(f"add i64 {start}, {i}"))
        if own.ll == "i1":
            place = self.new(f"getelementptr inbounds i8, ptr {data}, i64 {i}")
            self.do(f"store i8 {self.new(f'zext i1 {value} to i8')}, ptr {place}")
        elif own.ll is not None:
            place = self.new(f"getelementptr inbounds {own.ll}, ptr {data}, i64 {i}")
            self.do(f"store {own.ll} {value}, ptr {place}")
        self.lines += [f"  br label %{turn}", f"{turn}:", f"  {following} = add i64 {i}, 1", f"  br label %{head}"]
        self.lines.append(f"{end}:")
        self.columns += 1
        return self._header(count, data, at)

    def _list_of_numbers(self, into: List, inside: Scalar, at: str) -> str:
        """A list that lies in its column."""
        data, count = self._slice_of("i8" if inside.ll == "i1" else inside.ll or "", at)
        return self._header(count, data, at)

    def _header(self, count: str, data: str, at: str) -> str:
        if at == "%i":
            header = f"%{self._label('h')}"
            self.entry.append(f"  {header} = alloca {HEADER}")
        else:
            header = self._alloc("24")
        self.do(f"store i64 {count}, ptr {header}")
        self.do(f"store i64 {BORROWED}, ptr {self.new(f'getelementptr {HEADER}, ptr {header}, i64 0, i32 1')}")
        self.do(f"store ptr {data}, ptr {self.new(f'getelementptr {HEADER}, ptr {header}, i64 0, i32 2')}")
        return header

    def _size_of(self, ll: str) -> str:
        return f"ptrtoint (ptr getelementptr ({ll}, ptr null, i64 1) to i64)"

    def _alloc(self, size: str) -> str:
        return self._or_poor(self.new(f"call ptr @up_alloc(ptr %context, i64 {size})"))

    def _or_poor(self, pointer: str) -> str:
        """A pointer that is there; without it the lane is left."""
        self.poor = True
        on = self._label("on")
        self.do(f"br i1 {self.new(f'icmp eq ptr {pointer}, null')}, label %poor, label %{on}, !prof !0")
        self.lines.append(f"{on}:")
        return pointer
