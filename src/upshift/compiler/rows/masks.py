"""Arrays of bools as masks, in LLVM IR: how many items are set, and loops over those that are; eight at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..kinds import Array, Kind
from . import arrays
from .items import Width
from .nests import Nest
from .numpy_casts import cast, operand_of

WIDTHS = (8,) if sys.byteorder == "little" else ()
"""Items of a mask in one word."""


def count(w: Any, kind: Array, x: str) -> str:
    """How many items of a mask are set."""
    room = w.local("i64")
    w.do(f"store i64 0, ptr {room}")

    def item(v: Width, pointers: list[str]) -> None:
        found = w.new(f"load i{8 * v.count}, ptr {pointers[0]}, align 1")
        if v.count == 1:
            found = w.new(f"zext i8 {found} to i64")
        else:
            found = w.intrinsic("llvm.ctpop.i64", "i64", ("i64", found))
        before = w.new(f"load i64, ptr {room}")
        w.do(f"store i64 {w.new(f'add i64 {before}, {found}')}, ptr {room}")

    Nest(w, arrays.shape_of(w, kind, x), [(kind, x)]).items(item, WIDTHS)
    return str(w.new(f"load i64, ptr {room}"))


def _each_true(w: Any, parts: Sequence[tuple[Array, str]], body: Callable[[list[str]], None]) -> None:
    """`body(pointers)` for every item, row by row, where the first of some arrays of one shape, a mask, is set: the
    addresses of the others' items."""
    nest = Nest(w, arrays.shape_of(w, *parts[0]), parts)

    def item(v: Width, pointers: list[str]) -> None:
        word = w.new(f"load i{8 * v.count}, ptr {pointers[0]}, align 1")
        if v.count == 1:
            some, on = w.fresh("set"), w.fresh("on")
            w.do(f"br i1 {w.new(f'icmp ne i8 {word}, 0')}, label %{some}, label %{on}")
            w.start(some)
            body(pointers[1:])
            w.do(f"br label %{on}")
            w.start(on)
            return
        before, head, turn, last, on = w.label, w.fresh("bits"), w.fresh("set"), w.fresh("last"), w.fresh("on")
        rest = f"%{w.fresh('rest')}"
        w.do(f"br label %{head}")
        w.start(head)
        bits = w.new(f"phi i64 [ {word}, %{before} ], [ {rest}, %{last} ]")
        w.do(f"br i1 {w.new(f'icmp ne i64 {bits}, 0')}, label %{turn}, label %{on}")
        w.start(turn)
        first = w.intrinsic("llvm.cttz.i64", "i64", ("i64", bits), ("i1", "true"))
        j = w.new(f"lshr i64 {first}, 3")
        body([
            w.new(f"getelementptr inbounds {arrays.item_ll(kind.dtype)}, ptr {pointer}, i64 {j}")
            for (kind, _), pointer in zip(parts[1:], pointers[1:])
        ])  # fmt: skip
        w.do(f"br label %{last}")
        w.start(last)
        w.do(f"{rest} = and i64 {bits}, {w.new(f'sub i64 {bits}, 1')}")
        w.do(f"br label %{head}")
        w.start(on)

    nest.items(item, WIDTHS, len(parts))


def taken(made: Array, mask: Array, kind: Array) -> Any:
    """The items of an array where a mask is set, into one that has room for them."""

    def emit(w: Any, room: str, m: str, x: str) -> None:
        next_ = _walking(w, made, room)
        _each_true(w, [(mask, m), (kind, x)], lambda at: next_(arrays.load(w, kind.dtype, at[0])))

    return emit


def put(kind: Array, mask: Array, given: Kind) -> Any:
    """A number, or the items of an array one after the other, where a mask is set."""

    def emit(w: Any, x: str, m: str, value: str) -> None:
        if not isinstance(given, Array):
            operand = operand_of(given)
            assert operand is not None
            number = cast(w, value, operand.dtype, kind.dtype)
            return _each_true(w, [(mask, m), (kind, x)], lambda at: arrays.store(w, kind.dtype, at[0], number))
        i = w.local("i64")
        w.do(f"store i64 0, ptr {i}")

        def one(at: list[str]) -> None:
            own = w.new(f"load i64, ptr {i}")
            found = arrays.load(w, given.dtype, arrays.place(w, given, value, [own]))
            arrays.store(w, kind.dtype, at[0], cast(w, found, given.dtype, kind.dtype))
            w.do(f"store i64 {w.new(f'add i64 {own}, 1')}, ptr {i}")

        return _each_true(w, [(mask, m), (kind, x)], one)

    return emit


def _walking(w: Any, kind: Array, x: str) -> Callable[[str], None]:
    """What puts one item after the other into an array of one axis."""
    room = w.local("ptr")
    w.do(f"store ptr {arrays.data(w, kind, x)}, ptr {room}")

    def next_(value: str) -> None:
        pointer = w.new(f"load ptr, ptr {room}")
        arrays.store(w, kind.dtype, pointer, value)
        following = w.new(f"getelementptr inbounds {arrays.item_ll(kind.dtype)}, ptr {pointer}, i64 1")
        w.do(f"store ptr {following}, ptr {room}")

    return next_
