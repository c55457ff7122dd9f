"""Loops over the items of whole arrays: arithmetic in one pass, everything else by NumPy's own inner loops.

`a * b + 1` of arrays is one loop, in which LLVM finds vectors. A function that NumPy computes in its own way (`exp`,
`sin`, sums by halves) is NumPy's inner loop, called for one row after the other: the very bits that NumPy gives. Where
an operation would make NumPy warn, the processor's flags tell, and the lane is left.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kinds import INT, Array, Fused, Scalar, Tuple
from . import arrays, items, loops, teams
from .items import Width
from .numpy_casts import DType, cast

LEAST_WIDE = 4
"""Items that are computed side by side at least, of what is left of a row."""
MOST_WIDTHS = 2
"""Loops for less and less of a row at once."""
MOST_LOOSE = 4
"""Arrays up to which there is a loop for rows some of which are one item again and again, where only lengths tell."""
FLAGS = 13
"""The word of the context that says which of the processor's flags are looked at."""
WARNS = "NumPy warns"
APART = "apart_"
"""What the name of a loop begins with that one thread of a team runs by itself."""
_X86 = platform.machine() in ("x86_64", "AMD64")
FLAG_BITS: dict[str, int] = (
    {"invalid": 1, "divide": 4, "over": 8, "under": 16} if _X86 else {"invalid": 1, "divide": 2, "over": 4, "under": 8}
)
"""The processor's flags, by the names that NumPy has for what they mean."""
ALL_FLAGS = 0x3F if _X86 else 0x1F


SETTINGS: Any = getattr(getattr(np, "_core", np).umath, "_extobj_contextvar", None)
"""Where NumPy keeps what it warns of."""
_seen: tuple[Any, int] = None, 0


def flags_now() -> int:
    """The flags of which NumPy warns, or raises, as it is set now."""
    global _seen
    now = SETTINGS.get() if SETTINGS is not None else None
    if now is None or now is not _seen[0]:
        _seen = now, sum(FLAG_BITS[word] for word, way in np.geterr().items() if way != "ignore")
    return _seen[1]


def underflow_is_told() -> bool:
    """Whether NumPy warns, or raises, where a number becomes too small."""
    return bool(flags_now() & FLAG_BITS["under"])


class Quiet:
    """A writer inside of a loop over items: what would leave the lane is noted, and looked at behind the loop."""

    quiet = True

    def __init__(self, w: Any) -> None:
        self.w = w
        self.new, self.do, self.choose, self.extract = w.new, w.do, w.choose, w.extract
        self.build, self.intrinsic, self.fresh, self.start = w.build, w.intrinsic, w.fresh, w.start
        self.noted: dict[tuple[type | None, str], str] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.w, name)

    @property
    def label(self) -> str:
        """The block that is being written, for phi nodes."""
        return str(self.w.label)

    def leave_if(self, flag: str, cls: type | None, reason: str) -> None:
        """Notes that the lane is to be left, without a jump out of the loop."""
        if flag == "false" or reason == WARNS:
            return  # the processor's flags will tell
        slot = self.noted.get((cls, reason))
        if slot is None:
            slot = self.noted[cls, reason] = self.w.local("i1")
            self.w.entry.append(f"  store i1 false, ptr {slot}")
        before = self.new(f"load i1, ptr {slot}")
        self.do(f"store i1 {self.new(f'or i1 {before}, {flag}')}, ptr {slot}")

    def leave_noted(self) -> None:
        """Leaves the lane behind the loop, for what was noted in it."""
        for (cls, reason), slot in self.noted.items():
            flag = self.w.new(f"load i1, ptr {slot}")
            self.w.leave_if(teams.any_of(self.w, flag) if self.w.module.team else flag, cls, reason)
            self.w.do(f"store i1 false, ptr {slot}")


# ---- warnings


_CLEAR_X87 = 'call void asm sideeffect "fnclex", "~{dirflag},~{fpsr},~{flags}"()'
_READ_X87 = 'call i16 asm sideeffect "fnstsw $0", "={ax},~{dirflag},~{fpsr},~{flags}"()'
"""The flags of the old floating-point unit: C's `feraiseexcept` sets those of overflow and underflow there."""


def watched(
    w: Any, run: Callable[[], Any], always: int | None = None, raises: type | None = None, of_loop: bool = False
) -> Any:
    """Something in which NumPy may warn: the lane is left where one of the flags is set that are looked at. `always`:
    flags that stand for an exception, whatever NumPy warns of; `of_loop`: of NumPy's, which may set flags by itself."""
    w.module.watches = True
    if w.module.for_gpu:
        return run()
    slot = w.local("i32")
    mask = str(always)
    if always is None:
        mask = w.new(f"load i32, ptr {w.new(f'getelementptr i64, ptr %context, i64 {FLAGS}')}")
    if not _X86:
        w.call_c("feclearexcept", "i32", ("i32", str(ALL_FLAGS)))
        made = run()
        raised = w.call_c("fetestexcept", "i32", ("i32", mask))
    else:
        w.module.declare("@llvm.x86.sse.stmxcsr", "declare void @llvm.x86.sse.stmxcsr(ptr)")
        w.module.declare("@llvm.x86.sse.ldmxcsr", "declare void @llvm.x86.sse.ldmxcsr(ptr)")
        _clear_flags(w, slot)
        if of_loop:
            w.do(_CLEAR_X87)
        made = run()
        w.do(f"call void @llvm.x86.sse.stmxcsr(ptr {slot})")
        flags = w.new(f"load i32, ptr {slot}")
        if of_loop:
            flags = w.new(f"or i32 {flags}, {w.new(f'zext i16 {w.new(_READ_X87)} to i32')}")
        raised = w.new(f"and i32 {flags}, {mask}")
    w.leave_if(w.new(f"icmp ne i32 {raised}, 0"), raises, WARNS if always is None else "a loop of NumPy's fails")
    return made


def _clear_flags(w: Any, slot: str) -> None:
    """Clear those of the processor's flags that are looked at; to write them takes long, and mostly they are clear."""
    w.do(f"call void @llvm.x86.sse.stmxcsr(ptr {slot})")
    before = w.new(f"load i32, ptr {slot}")
    some = w.new(f"icmp ne i32 {w.new(f'and i32 {before}, {sum(FLAG_BITS.values())}')}, 0")
    clear, on = w.fresh("clear"), w.fresh("on")
    w.do(f"br i1 {some}, label %{clear}, label %{on}, !prof !0")
    w.start(clear)
    w.do(f"store i32 {w.new(f'and i32 {before}, {~ALL_FLAGS}')}, ptr {slot}")
    w.do(f"call void @llvm.x86.sse.ldmxcsr(ptr {slot})")
    w.do(f"br label %{on}")
    w.start(on)


# ---- what an item is made of


def _item_of(v: Width, quiet: Quiet, fused: Fused, tree: Any, leaves: Sequence[str]) -> tuple[str, DType]:
    """The value of a node of the tree, given those of its leaves, and its dtype; for one item, or several at once."""
    if isinstance(tree, int):
        return leaves[tree], fused.items[tree].dtype  # type: ignore[attr-defined]
    word, dtypes, *children = tree
    given = []
    for child, want in zip(children, dtypes):
        value, have = _item_of(v, quiet, fused, child, leaves)
        given.append(_cast_item(v, quiet, value, have, want))
    if word == "cast":
        return given[0], dtypes[0]
    if word == "where":
        t = v.type(dtypes[1])
        return v.new(f"select {v.of('i1')} {given[0]}, {t} {given[1]}, {t} {given[2]}"), dtypes[1]
    row = items.row_of(word, dtypes)
    assert row is not None
    return row(v, dtypes[0], *given), dtypes[-1]


def _cast_item(v: Width, quiet: Quiet, value: str, have: DType, want: DType) -> str:
    if not items.can_cast(have, want):
        return cast(quiet, value, have, want)
    made, odd = items.cast(v, have, want, value)
    if odd and v.count > 1:
        name = f"llvm.vector.reduce.or.v{v.count}i1"
        odd = quiet.w.intrinsic(name, "i1", (f"<{v.count} x i1>", odd))
    if odd:
        quiet.leave_if(odd, None, "a float that does not fit becomes an int")
    return made


def _dtypes_in(fused: Fused) -> set[DType]:
    """All dtypes that an item goes through."""
    found = {fused.dtype, *(kind.dtype for kind in fused.items[:-1])}  # type: ignore[attr-defined]

    def look(tree: Any) -> None:
        if not isinstance(tree, int):
            found.update(tree[1])
            for child in tree[2:]:
                look(child)

    look(fused.tree)
    return found


# ---- loops over several arrays at once


class Nest:
    """Loops over arrays of one shape, or that are stretched to it: the innermost one over whatever lies in one row."""

    def __init__(self, w: Any, shape: Sequence[str], parts: Sequence[tuple[Array, str]], whole: bool = False) -> None:
        """`whole`: it is looked whether there are gaps where no kind tells, too."""
        self.w, self.shape, self.parts = w, list(shape), list(parts)
        w.module.nests.add(w.module.at)
        self.n = len(shape)
        self.pointers = [arrays.data(w, kind, x) for kind, x in parts]
        self.strides = [self._stretched(kind, x) for kind, x in parts]
        self._flatten(whole)

    def _stretched(self, kind: Array, x: str) -> list[str]:
        """Strides along the axes of the nest: 0 where an array has no such axis, or one of length 1."""
        w, missing = self.w, self.n - kind.ndim
        found = ["0"] * missing
        for axis, whole in enumerate(self.shape[missing:]):
            step, n = arrays.stride(w, kind, x, axis), arrays.dim(w, kind, x, axis)
            if n.isdigit() and n != whole:
                step = "0" if n == "1" else step
            elif n != whole:
                step = w.choose(w.new(f"icmp eq i64 {n}, 1"), "i64", "0", step)
            found.append(step)
        return found

    def _flatten(self, whole: bool) -> None:
        """Where all arrays have the shape of the nest and no gaps, one long row takes the place of many."""
        w = self.w
        if self.n < 2 or any(kind.ndim != self.n for kind, _ in self.parts):
            return
        loose = [part for part in self.parts if not part[0].contiguous]
        if loose and not whole:
            return
        flags = []
        for kind, x in self.parts:
            own = arrays.shape_of(w, kind, x)
            flags += [w.new(f"icmp eq i64 {a}, {b}") for a, b in zip(own, self.shape) if a != b]
        for kind, x in loose:
            flags += arrays.is_packed(w, kind.dtype, self.shape, arrays.strides_of(w, kind, x))
        flat = arrays.all_of(w, flags)
        total = arrays.count(w, self.shape)
        self.shape = [
            *(w.choose(flat, "i64", "1", n) for n in self.shape[:-1]), w.choose(flat, "i64", total, self.shape[-1])
        ]  # fmt: skip
        for (kind, _), strides in zip(self.parts, self.strides):
            size = str(kind.dtype.itemsize)
            strides[-1] = size if strides[-1] == size else w.choose(flat, "i64", size, strides[-1])

    def shared(self, body: Callable[[list[str]], None]) -> None:
        """`body(pointers)` for all items, by the threads of a GPU's block."""

        def at(indices: list[str]) -> None:
            pointers = []
            for pointer, strides in zip(self.pointers, self.strides):
                for i, step in zip(indices, strides):
                    pointer = arrays.moved(self.w, pointer, i, step)
                pointers.append(pointer)
            body(pointers)

        teams.items(self.w, self.shape, at)

    def rows(self, body: Callable[[list[str], str, list[str]], None]) -> None:
        """`body(pointers, n, strides)` for every row."""
        w = self.w

        def at(indices: list[str]) -> None:
            pointers = []
            for pointer, strides in zip(self.pointers, self.strides):
                for i, step in zip(indices, strides):
                    pointer = arrays.moved(w, pointer, i, step)
                pointers.append(pointer)
            body(pointers, self.shape[-1], [strides[-1] for strides in self.strides])

        arrays.nested(w, self.shape[:-1], at)

    def items(self, body: Callable[[Width, list[str]], None], widths: Sequence[int], kept: int = 1) -> None:
        """`body(width, pointers)` for all items: of rows without gaps so many at once, by less and less of them, the
        others one by one. `kept`: parts whose items are needed where they lie; those of the others may be given as a
        copy, where a row is one item again and again, or lies backwards."""
        w = self.w
        if w.module.team:
            return self.shared(lambda pointers: body(Width(w, 1), pointers))
        turns = [
            (ways, wide, flag) for ways, flag, some in (self._ways(kept) if widths else ()) for wide in widths[:some]
        ]

        def row(pointers: list[str], n: str, strides: list[str]) -> None:
            def alone(j: str) -> None:
                body(Width(w, 1), [arrays.moved(w, pointer, j, step) for pointer, step in zip(pointers, strides)])

            first = "0"
            for ways, wide, flag in turns:
                last = w.new(f"and i64 {n}, {-wide}")
                last = last if flag == "true" else w.choose(flag, "i64", last, first)
                rows = _spread(w, ways, pointers, first, last, wide)
                at = functools.partial(_at_once, w, body, ways, rows, wide)
                arrays.each(w, last, at, first, wide)
                first = last
            arrays.each(w, n, alone, first)

        return self.rows(row)

    def _ways(self, kept: int) -> list[tuple[list[_Way], str, int]]:
        """How several items of a row may be found at once, the flag that tells whether they may, and for how many of
        the widths: those of rows without gaps, and of rows some of which are one item again and again."""
        w, pairs = self.w, [(kind, strides[-1]) for (kind, _), strides in zip(self.parts, self.strides)]
        own = [arrays.strides_of(w, kind, x)[-1] if kind.ndim else "0" for kind, x in self.parts]
        found = []
        unit = "false"
        for loose in (False, True):
            ways = [_Way(w, kind, step, own[i], i < kept, loose) for i, (kind, step) in enumerate(pairs)]
            flag = arrays.all_of(w, [flag for way in ways for flag in way.needs])
            if not loose:
                unit = flag
                found.append((ways, flag, MOST_WIDTHS))
            elif unit != "true" and len(pairs) <= MOST_LOOSE and any(way.same.startswith("%") for way in ways):
                found.append((ways, str(w.new(f"and i1 {flag}, {w.new(f'xor i1 {unit}, true')}")), 1))
        return found


def _at_once(w: Any, body: Any, ways: Sequence[_Way], rows: Sequence[str], wide: int, j: str) -> None:
    body(Width(w, wide), [way.at(pointer, j, wide) for way, pointer in zip(ways, rows)])


class _Way:
    """How several items of a row are found at once."""

    def __init__(self, w: Any, kind: Array, step: str, own: str, kept: bool, loose: bool) -> None:
        """`own`: the array's own stride, where its rows are not one item; `loose`: whether they are is looked at when
        the loop begins."""
        self.w, self.kind, self.step = w, kind, step
        size = str(kind.dtype.itemsize)
        self.back = own == f"-{size}" and not kept
        """Whether they lie side by side, but backwards."""
        self.same = "false"
        """Whether they are one item."""
        self.needs: list[str] = []
        """What has to hold besides."""
        if step == (own if self.back else size):
            return
        if self.back:
            self.needs = [w.new(f"icmp eq i64 {step}, {own}")]
            return
        if not kept and (loose or step == "0"):
            self.same = "true" if step == "0" else w.new(f"icmp eq i64 {step}, 0")
        if self.same != "true":
            side = w.new(f"icmp eq i64 {step}, {size}")
            self.needs = [side if self.same == "false" else w.new(f"or i1 {self.same}, {side}")]

    def at(self, pointer: str, j: str, wide: int) -> str:
        """The address of the items from one on."""
        w = self.w
        if self.same == "true":
            return pointer
        if self.back:
            last = _item(w, self.kind, pointer, w.new(f"sub i64 {1 - wide}, {j}"))
            many = Width(w, wide)
            order = ", ".join(f"i32 {i}" for i in reversed(range(wide)))
            ll, room = many.of(arrays.item_ll(self.kind.dtype)), w.local(many.of(arrays.item_ll(self.kind.dtype)))
            found = w.new(f"load {ll}, ptr {last}, align {self.kind.dtype.itemsize}")
            turned = w.new(f"shufflevector {ll} {found}, {ll} poison, <{wide} x i32> <{order}>")
            w.do(f"store {ll} {turned}, ptr {room}, align {self.kind.dtype.itemsize}")
            return str(room)
        return _item(w, self.kind, pointer, j) if self.same == "false" else arrays.moved(w, pointer, j, self.step)


def _spread(w: Any, ways: Sequence[_Way], pointers: list[str], first: str, last: str, wide: int) -> list[str]:
    """The address of every row, and of a copy of what is one item again and again, as many as are computed at once."""
    flags = {way.same for way in ways} - {"false"}
    if not flags:
        return pointers
    some, on = w.fresh("same"), w.fresh("on")
    rooms = {i: w.local(Width(w, wide).of(arrays.item_ll(way.kind.dtype))) for i, way in enumerate(ways)
             if way.same != "false"}  # fmt: skip
    w.do(f"br i1 {w.new(f'icmp slt i64 {first}, {last}')}, label %{some}, label %{on}")
    w.start(some)
    for i, room in rooms.items():
        dtype = ways[i].kind.dtype
        one = Width(w, 1).load(dtype, pointers[i])
        Width(w, wide).store(dtype, room, Width(w, wide).spread(dtype, one))
    w.do(f"br label %{on}")
    w.start(on)
    return [
        pointer
        if way.same == "false"
        else rooms[i]
        if way.same == "true"
        else w.choose(way.same, "ptr", rooms[i], pointer)
        for i, (way, pointer) in enumerate(zip(ways, pointers))
    ]


def _item(w: Any, kind: Array, pointer: str, j: str) -> str:
    return str(w.new(f"getelementptr inbounds {arrays.item_ll(kind.dtype)}, ptr {pointer}, i64 {j}"))


def fill(w: Any, out: Array, x: str, fused: Fused, value: str) -> None:
    """Compute all items of an array that has the shape of the fused one, and shares no memory with what it is made of
    but item by item."""
    leaves = [w.extract(fused.ll, value, i) for i in range(len(fused.items) - 1)]
    at = [i for i, kind in enumerate(fused.items[:-1]) if isinstance(kind, Array)]
    nest = Nest(w, arrays.shape_of(w, out, x), [(out, x), *((fused.items[i], leaves[i]) for i in at)])  # type: ignore[list-item]
    quiet = Quiet(w)
    dtypes = {out.dtype, *_dtypes_in(fused)}
    plain = all(dtype.kind != "c" and dtype.char != "e" for dtype in dtypes)
    wide = items.WIDE // max(dtype.itemsize for dtype in dtypes) if plain and not w.module.for_gpu else 1
    widths = [n for n in (wide, wide // 4) if n >= LEAST_WIDE or n == wide > 1]
    numbers = [i for i in range(len(leaves)) if i not in at]
    spread = {
        (i, n): Width(w, n).spread(fused.items[i].dtype, leaves[i])  # type: ignore[attr-defined]
        for i in numbers
        for n in widths
    }

    def item(v: Width, pointers: list[str]) -> None:
        values = list(leaves)
        for i in numbers if v.count > 1 else ():
            values[i] = spread[i, v.count]
        for i, pointer in zip(at, pointers[1:]):
            values[i] = v.load(fused.items[i].dtype, pointer)  # type: ignore[attr-defined]
        made, have = _item_of(v, quiet, fused, fused.tree, values)
        v.store(out.dtype, pointers[0], _cast_item(v, quiet, made, have, out.dtype))

    if _can_warn(fused.tree) or out.dtype != fused.dtype:
        watched(w, lambda: nest.items(item, widths))
    else:
        nest.items(item, widths)
    quiet.leave_noted()


def copy(w: Any, out: Array, x: str, kind: Array, own: str) -> None:
    """The items of one array into another of its shape and dtype."""
    fill(w, out, x, Fused((kind, Tuple((INT,) * out.ndim)), kind.dtype, out.ndim, 0), _alone(w, out, kind, own))


def _alone(w: Any, out: Array, kind: Array, own: str) -> str:
    ll = f"{{ {kind.ll}, {Tuple((INT,) * out.ndim).ll} }}"
    return str(w.new(f"insertvalue {ll} undef, {kind.ll} {own}, 0"))


_CALM = frozenset(
    (
        *(items.CLIP, np.maximum, np.minimum, np.negative, np.absolute, np.fabs, np.invert, np.logical_not),
        *(np.logical_and, np.logical_or, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.positive),
        *(np.copysign, np.floor, np.ceil, np.trunc, np.rint, np.isnan, np.isinf, np.isfinite, np.signbit, np.conjugate),
    )
)
"""Functions of which NumPy never warns."""


def _can_warn(tree: Any) -> bool:
    """Whether NumPy may warn of something in this."""
    if isinstance(tree, int):
        return False
    word, dtypes, *children = tree
    calm = word == "where" or word in _CALM or word in items.COMPARED
    if word == "cast":
        calm = dtypes[0].kind in "biu" or dtypes[0].itemsize >= 8
    if all(dtype.kind in "biu" for dtype in dtypes):
        calm = True
    return not calm or any(map(_can_warn, children))


# ---- NumPy's own loops


def declare_loop(w: Any, ufunc: Any, dtypes: tuple[DType, ...]) -> tuple[str, str]:
    """The name of a loop and of its data."""
    found = loops.find(ufunc, dtypes)
    assert found is not None
    name = loops.name_of(ufunc, dtypes)
    w.module.symbols[name] = found[0]
    w.module.declare(f"@{name}", f"declare void @{name}(ptr, ptr, ptr, ptr)")
    if not found[1]:
        return name, "null"
    w.module.symbols[name + "_data"] = found[1]
    w.module.declare(f"@{name}_data", f"@{name}_data = external global i8")
    return name, f"@{name}_data"


def call_loop(w: Any, ufunc: Any, dtypes: tuple[DType, ...], pointers: Sequence[str], n: str,
              strides: Sequence[str], alone: bool = False) -> None:  # fmt: skip
    """One row: the addresses of the first items, how many there are, and the strides. `alone`: by one thread of a
    team, which no other has to wait for."""
    name, own = declare_loop(w, ufunc, dtypes)
    if alone:
        w.module.declare(f"@{APART}{name}", f"declare void @{APART}{name}(ptr, ptr, ptr, ptr)")
        name = f"{APART}{name}"
    count = len(pointers)
    columns, steps, length = w.local(f"[{count} x ptr]"), w.local(f"[{count} x i64]"), w.local("i64")
    for i, (pointer, step) in enumerate(zip(pointers, strides, strict=True)):
        w.do(f"store ptr {pointer}, ptr {w.new(f'getelementptr ptr, ptr {columns}, i64 {i}')}")
        w.do(f"store i64 {step}, ptr {w.new(f'getelementptr i64, ptr {steps}, i64 {i}')}")
    w.do(f"store i64 {n}, ptr {length}")
    w.do(f"call void @{name}(ptr {columns}, ptr {length}, ptr {steps}, ptr {own}) nounwind")


def _leave_rearranged(w: Any, nest: Nest) -> None:
    """NumPy goes the other way along axes that lie backwards, and makes one row of those of length 1: its loops give
    other bits for numbers that do not lie one behind the other."""
    alone = w.new(f"icmp eq i64 {nest.shape[-1]}, 1")
    w.leave_if(alone, None, "rows of one item")
    for steps in nest.strides:
        for step in steps:
            if not step.lstrip("-").isdigit():
                w.leave_if(w.new(f"icmp slt i64 {step}, 0"), None, "arrays that lie backwards")


def _in_memory(w: Any, dtype: DType, value: str) -> str:
    """The address of a number, for a loop to read it."""
    cell = w.local(arrays.item_ll(dtype))
    arrays.store(w, dtype, cell, value)
    return str(cell)


def by_loop(w: Any, ufunc: Any, dtypes: tuple[DType, ...], outs: Sequence[tuple[Array, str]],
            given: Sequence[tuple[Any, str]]) -> None:  # fmt: skip
    """A ufunc of arrays and numbers that have its dtypes already, into arrays of the result's shape."""
    own = [(kind, x) for kind, x in given if isinstance(kind, Array)]
    nest = Nest(w, arrays.shape_of(w, *outs[0]), [*own, *outs], True)
    if nest.n > 1 and not all(kind.contiguous for kind, _ in own):
        _leave_rearranged(w, nest)
    cells = {
        i: _in_memory(w, kind.dtype or np.dtype(float), x)
        for i, (kind, x) in enumerate(given)
        if isinstance(kind, Scalar)
    }

    def row(pointers: list[str], n: str, strides: list[str]) -> None:
        rest = iter(zip(pointers, strides))
        places = [(cells[i], "0") if i in cells else next(rest) for i in range(len(given))]
        places += list(rest)
        call_loop(w, ufunc, dtypes, [p for p, _ in places], n, [s for _, s in places])

    def item(pointers: list[str]) -> None:
        rest = iter(pointers)
        places = [cells[i] if i in cells else next(rest) for i in range(len(given))]
        places += list(rest)
        call_loop(w, ufunc, dtypes, places, "1", ["0"] * len(places), alone=True)

    watched(w, lambda: nest.shared(item) if w.module.team else nest.rows(row), of_loop=True)
