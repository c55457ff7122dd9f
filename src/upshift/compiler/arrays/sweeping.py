"""Gives back the memory of arrays that no variable holds any more, while a loop runs.

All that a function makes lies in the arena behind the place where it began. Now and then, between two turns of a loop,
the arrays that its variables still hold are moved to the beginning of that part, and the rest is free again. Which
variables are still read is known; where one of them is a list or an object, nothing is moved.
"""

from __future__ import annotations

from typing import Any

from ..check import Walk
from ..code import Block
from ..kinds import (
    NONE,
    STR,
    Array,
    Either,
    Fused,
    Generator,
    Items,
    Kind,
    Literal,
    Range,
    Scalar,
    Slice,
    Static,
    Tuple,
)
from ..rows import arrays
from ..rows.numbers import safe

FIRST = 1 << 22
"""Bytes that a function makes before it is looked whether some can be given back."""
MOST = 24
COMPACT = """
define internal i64 @up_compact(ptr %context, i64 %mark, ptr %table, i64 %n) noinline nounwind {
entry:
  %now = load i64, ptr %context
  br label %next
next:
  %to = phi i64 [ %mark, %entry ], [ %after, %move ]
  %above = phi i64 [ %mark, %entry ], [ %hi, %move ]
  br label %search
search:
  %i = phi i64 [ 0, %next ], [ %i1, %step ]
  %best = phi i64 [ -1, %next ], [ %best1, %step ]
  %least = phi i64 [ %now, %next ], [ %least1, %step ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %step, label %found
step:
  %at = mul i64 %i, 3
  %p = getelementptr i64, ptr %table, i64 %at
  %low = load i64, ptr %p
  %hp = getelementptr i64, ptr %p, i64 1
  %high = load i64, ptr %hp
  %big = icmp ugt i64 %high, %low
  %behind = icmp uge i64 %low, %mark
  %inside = icmp ult i64 %low, %now
  %np = getelementptr i64, ptr %p, i64 2
  %done = load i64, ptr %np
  %todo = icmp eq i64 %done, 0
  %a = and i1 %big, %behind
  %b = and i1 %inside, %todo
  %c = and i1 %a, %b
  %less = icmp ult i64 %low, %least
  %isbest = and i1 %c, %less
  %best1 = select i1 %isbest, i64 %i, i64 %best
  %least1 = select i1 %isbest, i64 %low, i64 %least
  %i1 = add i64 %i, 1
  br label %search
found:
  %none = icmp slt i64 %best, 0
  br i1 %none, label %end, label %look
look:
  %bat = mul i64 %best, 3
  %bp = getelementptr i64, ptr %table, i64 %bat
  %lo = load i64, ptr %bp
  %bhp = getelementptr i64, ptr %bp, i64 1
  %hi = load i64, ptr %bhp
  %overlaps = icmp ult i64 %lo, %above
  br i1 %overlaps, label %no, label %move
move:
  %size = sub i64 %hi, %lo
  %dst = inttoptr i64 %to to ptr
  %src = inttoptr i64 %lo to ptr
  call void @llvm.memmove.p0.p0.i64(ptr %dst, ptr %src, i64 %size, i1 false)
  %bnp = getelementptr i64, ptr %bp, i64 2
  store i64 %to, ptr %bnp
  %end0 = add i64 %to, %size
  %end1 = add i64 %end0, 63
  %after = and i64 %end1, -64
  br label %next
end:
  store i64 %to, ptr %context
  ret i64 %to
no:
  ret i64 0
}
"""


def sweep(walk: Walk, head: Block, after: Block) -> None:
    """Between two turns of a loop, from its head on: see above. Loops that make no arrays are left alone."""
    if walk.unit.memos or walk.unit.making.isdisjoint(_inside(walk.block, head, after)):
        return
    live = walk.spec.live(walk.frame, walk.block, walk.at + 1, walk.env)
    if not all(map(_is_plain, live.values())) or not all(map(_is_plain, walk.spec.kinds)):
        return
    held = [name for name, kind in live.items() if isinstance(kind, Array)]
    if len(held) > MOST:
        return
    kinds = [walk.env[name] for name in held]
    rooms: list[str] = []

    def look(w: Any, *values: str) -> None:
        rooms[:] = _emit(w, kinds, values)  # type: ignore[arg-type]

    walk.step(safe(look), None, tuple(held))
    for i, name in enumerate(held):
        walk.step(safe(_moved_row(kinds[i], rooms, i)), name, (name,), kinds[i])  # type: ignore[arg-type]


def _inside(turn: Block, head: Block, after: Block) -> set[Block]:
    """The blocks of a loop."""
    found, todo = {head}, [turn]
    while todo:
        block = todo.pop()
        if block is not after and block not in found:
            found.add(block)
            todo += block.targets
    return found


def _is_plain(kind: Kind) -> bool:
    """Whether a value holds nothing in memory, or is an array by itself."""
    if isinstance(kind, Tuple | Slice):
        return all(_is_plain(item) and not isinstance(item, Array) for item in kind.items)
    if isinstance(kind, Either | Fused):
        return False
    if isinstance(kind, Scalar):
        return kind is not STR
    return isinstance(kind, Array | Literal | Static | Range | Generator | Items) or kind is NONE


def _moved_row(kind: Array, rooms: list[str], i: int) -> Any:
    def emit(w: Any, x: str) -> str:
        if w.module.for_gpu:
            return x
        pointer = w.new(f"load ptr, ptr {rooms[i]}")
        return arrays.put_together(w, kind, pointer, arrays.shape_of(w, kind, x), _strides(w, kind, x))

    return emit


def _strides(w: Any, kind: Array, x: str) -> list[str]:
    return [w.extract(kind.ll, x, 2, i) for i in range(kind.ndim)]


def _emit(w: Any, kinds: list[Array], values: Any) -> list[str]:
    """Rooms that hold the addresses of the arrays, where they are now; a GPU's memory is not swept."""
    if w.module.for_gpu:
        return []
    w.module.declare("@up_compact", COMPACT)
    w.module.declare("@llvm.memmove.p0.p0.i64", "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
    limit = w.kept("limit of the arena")
    rooms = [w.local("ptr") for _ in kinds]
    for kind, x, room in zip(kinds, values, rooms):
        w.do(f"store ptr {arrays.data(w, kind, x)}, ptr {room}")
    used = w.new(f"sub i64 {w.new('load i64, ptr %context')}, {w.arena}")
    bound = w.new(f"add i64 {w.new(f'load i64, ptr {limit}')}, {FIRST}")
    full, on = w.fresh("full"), w.fresh("on")
    w.do(f"br i1 {w.new(f'icmp ugt i64 {used}, {bound}')}, label %{full}, label %{on}, !prof !0")
    w.start(full)
    table = w.local(f"[{3 * max(len(kinds), 1)} x i64]")
    lows = []
    for i, (kind, x) in enumerate(zip(kinds, values)):
        low, high = arrays.extent(w, kind, x)
        lows.append(low)
        for j, word in enumerate((low, high, "0")):
            w.do(f"store i64 {word}, ptr {w.new(f'getelementptr i64, ptr {table}, i64 {3 * i + j}')}")
    end = w.new(f"call i64 @up_compact(ptr %context, i64 {w.arena}, ptr {table}, i64 {len(kinds)})")
    kept = w.new(f"sub i64 {end}, {w.arena}")
    failed = w.new(f"icmp eq i64 {end}, 0")
    again = w.choose(failed, "i64", w.new(f"shl i64 {used}, 1"), w.new(f"mul i64 {kept}, 5"))
    w.do(f"store i64 {again}, ptr {limit}")
    for i, (kind, x, room) in enumerate(zip(kinds, values, rooms)):
        new = w.new(f"load i64, ptr {w.new(f'getelementptr i64, ptr {table}, i64 {3 * i + 2}')}")
        stays = w.new(f"icmp eq i64 {new}, 0")
        by = w.choose(stays, "i64", "0", w.new(f"sub i64 {new}, {lows[i]}"))
        moved = w.new(f"getelementptr i8, ptr {arrays.data(w, kind, x)}, i64 {by}")
        w.do(f"store ptr {moved}, ptr {room}")
    w.do(f"br label %{on}")
    w.start(on)
    return rooms
