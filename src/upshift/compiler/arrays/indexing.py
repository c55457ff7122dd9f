"""Items and parts of arrays by ints, slices, new axes and `...`, and what is written there."""

from __future__ import annotations

from typing import Any

from ..check import Leaves, Walk
from ..code import Op
from ..kinds import ELLIPSIS, INT, NONE, NUMPY, Array, Kind, List, Literal, Slice, Tuple
from ..rows import arrays, memory, numbers, numpy_numbers
from ..rows.numbers import base
from ..rows.numpy_casts import Operand, cast, loaded, operand_of
from ..values import item_of_tuple
from .elementwise import assign, force, force_all, is_array
from .making import array_of
from .taking import Part, is_whole, put, take


def parts_of(walk: Walk, index: str) -> list[Part] | None:
    """An index item by item; None where one of them is something else."""
    kind = walk.env[index]
    names = [index]
    if isinstance(kind, Tuple) and kind.cls is None:
        names = [item_of_tuple(walk, index, i) for i in range(len(kind.items))]
    found = []
    for name in names:
        name, own = as_int(walk, name)
        if base(own) is INT:
            sort = "int"
        elif isinstance(own, Slice):
            sort = "slice"
        elif own is NONE:
            sort = "new"
        elif own is ELLIPSIS or (getattr(own, "value", None) is Ellipsis):
            sort = "dots"
        elif isinstance(own, List):
            name, sort = array_of(walk, name, None), "array"
        elif is_array(own):
            sort = "array"
        else:
            return None
        found.append(Part(sort, name, own))
    return found if sum(part.sort == "dots" for part in found) <= 1 else None


def as_int(walk: Walk, name: str) -> tuple[str, Kind]:
    """An index as an int of 64 bits, where it is an int of NumPy's; else as it is."""
    kind = walk.env[name]
    if numpy_numbers.is_int(kind):
        row = numpy_numbers.converted(kind, INT)
        if row is not None:
            name = walk.temporary(INT, row, name)
    return name, walk.env[name]


def item(walk: Walk, op: Op, owner: str, index: str) -> bool:
    """`owner[index]` of an array."""
    kind = force(walk, owner)
    parts = parts_of(walk, index)
    if parts is None:
        raise walk.doubt(f"indexes an array with {walk.env[index]!r}")
    if any(part.sort == "array" for part in parts):
        return take(walk, op, owner, parts)
    made, emit = _part_row(walk, kind, parts)
    walk.give(op, made, emit, owner, *_names(parts))
    return True


def _names(parts: list[Part]) -> list[str]:
    return [part.name for part in parts if part.sort in ("int", "slice")]


def _part_row(walk: Walk, kind: Array, parts: list[Part]) -> tuple[Kind, Any]:
    """What an index of ints and slices leads to, an item or a view, and how it is found."""
    taken = sum(part.sort in ("int", "slice") for part in parts)
    if taken > kind.ndim:
        raise Leaves(IndexError, "too many indices for an array")
    rest = kind.ndim - taken
    if not any(part.sort == "dots" for part in parts):
        parts = [*parts, Part("dots", "", NONE)]
    ndim = kind.ndim - sum(part.sort == "int" for part in parts) + sum(part.sort == "new" for part in parts)
    if ndim == 0 and taken == kind.ndim and all(part.sort in ("int", "dots") for part in parts):
        if any(part.sort == "dots" and part.name for part in parts):
            raise walk.doubt("an array without axes")
        return NUMPY[kind.dtype], _item_row(kind, [part for part in parts if part.sort == "int"])
    made = Array(kind.dtype, ndim, kind.cell, _stays_packed(kind, parts, rest))

    def emit(w: Any, x: str, *values: str) -> str:
        given = iter(values)
        pointer = arrays.data(w, kind, x)
        shape: list[str] = []
        strides: list[str] = []
        axis = 0
        for part in parts:
            if part.sort == "new":
                shape.append("1")
                strides.append("0")
                continue
            if part.sort == "dots":
                for _ in range(rest):
                    shape.append(arrays.dim(w, kind, x, axis))
                    strides.append(arrays.stride(w, kind, x, axis))
                    axis += 1
                continue
            n, step = arrays.dim(w, kind, x, axis), arrays.stride(w, kind, x, axis)
            axis += 1
            if part.sort == "int":
                where = memory.index(w, n, next(given), "array")
                pointer = arrays.moved(w, pointer, where, step)
                continue
            start, length, by = _slice_bounds(w, part.kind, next(given), n)  # type: ignore[arg-type]
            pointer = arrays.moved(w, pointer, start, step)
            shape.append(length)
            strides.append(arrays.product(w, step, by))
        return arrays.passes_on(w, kind, x, arrays.put_together(w, made, pointer, shape, strides))

    return made, emit


def _item_row(kind: Array, parts: list[Part]) -> Any:
    def emit(w: Any, x: str, *values: str) -> str:
        return arrays.load(w, kind.dtype, place_of(w, kind, x, values))

    return emit


def place_of(w: Any, kind: Array, x: str, values: Any) -> str:
    """The address of an item whose indices may be negative, or outside."""
    where = [memory.index(w, arrays.dim(w, kind, x, i), value, "array") for i, value in enumerate(values)]
    return arrays.place(w, kind, x, where)


def _stays_packed(kind: Array, parts: list[Part], rest: int) -> bool:
    """Whether a view of an array without gaps has none either: all axes behind the first slice are whole."""
    if not kind.contiguous:
        return False
    sliced = False
    for part in parts:
        if part.sort == "new":
            return False
        if sliced and (part.sort != "dots" and not is_whole(part.kind)):
            return False
        if part.sort == "slice":
            sliced = True
            if not _steps_by_one(part.kind):
                return False
        if part.sort == "dots" and rest:
            sliced = True
    return True


def _steps_by_one(kind: Kind) -> bool:
    step = kind.items[2]  # type: ignore[attr-defined]
    return step is NONE or (isinstance(step, Literal) and step.value == 1)


def _slice_bounds(w: Any, kind: Slice, value: str, n: str) -> tuple[str, str, str]:
    """Where a slice begins, how many items it has and its step, as Python adjusts them to a length."""
    start, stop, step = (_bound(w, kind, value, i) for i in range(3))
    by = step or "1"
    literal = int(by) if by.lstrip("-").isdigit() else None
    if literal is None:
        w.leave_if(w.new(f"icmp eq i64 {by}, 0"), ValueError, "slice step cannot be zero")
        down = w.new(f"icmp slt i64 {by}, 0")
        low, high = w.choose(down, "i64", "-1", "0"), w.choose(down, "i64", w.new(f"sub i64 {n}, 1"), n)
    elif literal == 0:
        w.leave_if("true", ValueError, "slice step cannot be zero")
        return "0", "0", "1"
    else:
        low, high = ("-1", w.new(f"sub i64 {n}, 1")) if literal < 0 else ("0", n)
        down = "true" if literal < 0 else "false"
    first = _adjusted(w, start, n, low, high) if start else _either(w, down, high, "0")
    last = _adjusted(w, stop, n, low, high) if stop else _either(w, down, "-1", n)
    if literal == 1:
        span = w.new(f"sub i64 {last}, {first}") if first != "0" else last
        if first != "0" or last != n:
            span = w.choose(w.new(f"icmp sgt i64 {span}, 0"), "i64", span, "0")
        return first, span, by
    size = by.lstrip("-") if literal is not None else w.choose(down, "i64", w.new(f"sub i64 0, {by}"), by)
    forward, back = w.new(f"sub i64 {last}, {first}"), w.new(f"sub i64 {first}, {last}")
    span = _either(w, down, back, forward)
    some = w.new(f"icmp sgt i64 {span}, 0")
    less = w.new(f"sub i64 {span}, 1")
    turns = w.new(f"add i64 {w.new(f'udiv i64 {less}, {size}')}, 1")
    return first, w.choose(some, "i64", turns, "0"), by


def _either(w: Any, flag: str, yes: str, no: str) -> str:
    if flag in ("true", "false"):
        return yes if flag == "true" else no
    return str(w.choose(flag, "i64", yes, no))


def _bound(w: Any, kind: Slice, value: str, i: int) -> str:
    own = kind.items[i]
    if own is NONE:
        return ""
    if isinstance(own, Literal):
        return str(int(own.value))
    part = w.extract(kind.ll, value, i)
    return numbers.to_int(w, part, own)


def _adjusted(w: Any, bound: str, n: str, low: str, high: str) -> str:
    if bound.isdigit():
        if bound == "0" and low == "0":
            return "0"
        return str(w.choose(w.new(f"icmp sgt i64 {bound}, {high}"), "i64", high, bound))
    if bound.startswith("-") and bound[1:].isdigit():
        moved = w.new(f"add i64 {n}, {bound}")
        return str(w.choose(w.new(f"icmp slt i64 {moved}, {low}"), "i64", low, moved))
    moved = w.choose(w.new(f"icmp slt i64 {bound}, 0"), "i64", w.new(f"add i64 {bound}, {n}"), bound)
    moved = w.choose(w.new(f"icmp slt i64 {moved}, {low}"), "i64", low, moved)
    return str(w.choose(w.new(f"icmp sgt i64 {moved}, {high}"), "i64", high, moved))


# ---- writing


def set_item(walk: Walk, op: Op, owner: str, index: str, value: str) -> bool:
    """`owner[index] = value` of an array."""
    kind = force(walk, owner)
    force_all(walk, (value,))
    parts = parts_of(walk, index)
    if parts is None:
        raise walk.doubt(f"indexes an array with {walk.env[index]!r}")
    if any(part.sort == "array" for part in parts):
        return put(walk, op, owner, parts, value)
    made, emit = _part_row(walk, kind, parts)
    if isinstance(made, Array):
        view = walk.temporary(made, emit, owner, *_names(parts))
        if walk.env[value] is not made:
            value = _assignable(walk, value)
        assign(walk, view, value)
        walk.next_op()
        return True
    return _set_one(walk, op, kind, owner, parts, value)


def _assignable(walk: Walk, value: str) -> str:
    """What is put into an array: an array or number, or made one."""
    return array_of(walk, value, None) if isinstance(walk.env[value], Tuple | List) else value


def _set_one(walk: Walk, op: Op, kind: Array, owner: str, parts: list[Part], value: str) -> bool:
    given = walk.env[value]
    operand = operand_of(given)
    walk.writes(kind.cell)
    if operand is None:
        if not is_array(given):
            raise walk.doubt(f"puts {given!r} into an array")
        raise walk.doubt("puts an array where a number goes")
    if operand.dtype.kind == "c" and kind.dtype.kind != "c":
        raise walk.doubt("puts a complex number into an array of real ones")
    if operand.plain and not operand.weak:
        operand = Operand(operand.dtype)

    def emit(w: Any, x: str, *values: str) -> None:
        *where, number = values
        made = loaded(w, number, operand, kind.dtype) if operand.weak else cast(w, number, operand.dtype, kind.dtype)
        arrays.store(w, kind.dtype, place_of(w, kind, x, where), made)

    walk.step(emit, None, (owner, *_names(parts), value))
    walk.next_op()
    return True
