"""New arrays: of lists, tuples and numbers; of zeros, ones and other numbers; copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..check import Leaves, Walk
from ..follow import called
from ..kinds import BOOL, COMPLEX, FLOAT, INT, NONE, NUMPY, Array, Either, Fused, Kind, List, Literal, Static, Tuple
from ..rows import arrays, nests, numbers, numpy_numbers, teams
from ..rows.numbers import base
from ..rows.numpy_casts import DType, operand_of
from ..values import item_of_tuple, list_of
from .elementwise import as_dtype, converted, force, is_array, new_kind

_PLAIN = {BOOL: np.dtype(bool), INT: np.dtype(np.int64), FLOAT: np.dtype(float), COMPLEX: np.dtype(complex)}


def dtype_of(walk: Walk, name: str | None) -> DType | None:
    """The dtype that an argument names; None where it is left out."""
    kind = walk.env[name] if name is not None else NONE
    if kind is NONE:
        return None
    value = kind.value if isinstance(kind, Static | Literal) else None
    if isinstance(value, type | str | np.dtype):
        try:
            found = np.dtype(value)
        except TypeError:
            raise Leaves(TypeError, f"{value!r} is no dtype") from None
        if found in NUMPY and found.isnative:
            return found
    raise walk.doubt(f"makes an array of dtype {kind!r}")


def lengths_of(walk: Walk, name: str) -> list[str]:
    """The names of the ints that a shape is made of."""
    kind = walk.env[name]
    if isinstance(kind, Tuple):
        names = [item_of_tuple(walk, name, i) for i in range(len(kind.items))]
    elif isinstance(kind, List) and walk.displays.get(name) is not None:
        names = walk.displays[name]
    else:
        names = [name]
    return [_length(walk, one) for one in names]


def _length(walk: Walk, name: str) -> str:
    kind = walk.env[name]
    if numpy_numbers.is_int(kind):
        row = numpy_numbers.converted(kind, INT)
        return walk.temporary(INT, row, name)
    if base(kind) not in (INT, BOOL):
        raise walk.doubt(f"makes an array of length {kind!r}")
    if base(kind) is BOOL:
        return walk.temporary(INT, lambda w, x: numbers.to_int(w, x, kind), name)
    return name


def empty(walk: Walk, lengths: Sequence[str], dtype: DType, fill: Any = None) -> str:
    """An array of this shape; `fill(w, kind, x)` writes what is put there."""
    made = new_kind(walk, dtype, len(lengths))

    def emit(w: Any, *values: str) -> str:
        for value in values:
            if not value.isdigit():
                w.leave_if(w.new(f"icmp slt i64 {value}, 0"), ValueError, "negative dimensions are not allowed")
        x = arrays.new(w, made, list(values))
        if fill is not None:
            fill(w, made, x)
        return x

    return walk.temporary(made, emit, *lengths)


def zeroed(w: Any, kind: Array, x: str) -> None:
    """Sets all items of a new array to zero."""
    if w.module.team:
        items, ll = arrays.count(w, arrays.shape_of(w, kind, x)), arrays.item_ll(kind.dtype)
        data = arrays.data(w, kind, x)

        def clear(i: str) -> None:
            w.do(f"store {ll} zeroinitializer, ptr {w.new(f'getelementptr {ll}, ptr {data}, i64 {i}')}")

        teams.each(w, items, clear)
        return
    size = arrays.product(w, arrays.count(w, arrays.shape_of(w, kind, x)), str(kind.dtype.itemsize))
    w.module.declare("@llvm.memset.p0.i64", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    w.do(f"call void @llvm.memset.p0.i64(ptr {arrays.data(w, kind, x)}, i8 0, i64 {size}, i1 false)")


def full(walk: Walk, lengths: Sequence[str], dtype: DType, value: str) -> str:
    """An array of one number."""
    operand = operand_of(walk.env[value])
    if operand is None:
        raise walk.doubt(f"fills an array with {walk.env[value]!r}")
    number = as_dtype(walk, value, operand, dtype)
    name = empty(walk, lengths, dtype)
    made = walk.env[name]
    assert isinstance(made, Array)
    fused = Fused((NUMPY[dtype], Tuple((INT,) * made.ndim)), dtype, made.ndim, 0)

    def emit(w: Any, x: str, v: str) -> None:
        given = w.new(f"insertvalue {fused.ll} undef, {NUMPY[dtype].ll} {v}, 0")
        nests.fill(w, made, x, fused, given)

    walk.step(emit, None, (name, number))
    return name


# ---- copies and conversions


def copy(walk: Walk, name: str) -> str:
    """A new array with the same items."""
    kind = walk.env[name]
    if isinstance(kind, Fused):
        force(walk, name)
        return name
    assert isinstance(kind, Array)
    made = new_kind(walk, kind.dtype, kind.ndim)

    def emit(w: Any, own: str) -> str:
        x = arrays.new(w, made, arrays.shape_of(w, kind, own))
        nests.copy(w, made, x, kind, own)
        return x

    return walk.temporary(made, emit, name)


def packed(walk: Walk, name: str, serves: Any = None) -> str:
    """An array without gaps: the same one where it has none, or where `serves` says that it will do; else a copy."""
    kind = force(walk, name)
    if kind.contiguous or kind.ndim == 0:
        return name
    made = Array(kind.dtype, kind.ndim, kind.cell, serves is None)

    def emit(w: Any, own: str) -> str:
        shape, strides = arrays.shape_of(w, kind, own), arrays.strides_of(w, kind, own)
        if serves is None:
            flag = arrays.all_of(w, arrays.is_packed(w, kind.dtype, shape, strides))
            strides = arrays.packed(w, kind.dtype, shape)
        else:
            flag = serves(w, kind, own)
        other, on = w.fresh("gaps"), w.fresh("on")
        same = arrays.put_together(w, made, arrays.data(w, kind, own), shape, strides)
        before = w.label
        w.do(f"br i1 {flag}, label %{on}, label %{other}")
        w.start(other)
        x = arrays.new(w, made, shape)
        nests.copy(w, made, x, kind, own)
        last = w.label
        w.do(f"br label %{on}")
        w.start(on)
        return str(w.new(f"phi {made.ll} [ {same}, %{before} ], [ {x}, %{last} ]"))

    return walk.temporary(made, emit, name)


def array_of(walk: Walk, name: str, dtype: DType | None) -> str:
    """What `np.asarray` makes of a list, tuple or number; arrays are as they are, or converted."""
    kind = walk.env[name]
    if is_array(kind):
        return name if dtype is None else converted(walk, name, dtype)
    if isinstance(kind, Tuple) and all(
        isinstance(item, Tuple | List) or is_array(item) or _number(item) for item in kind.items
    ):
        name = list_of(walk, [item_of_tuple(walk, name, i) for i in range(len(kind.items))])
        kind = walk.env[name]
    if not isinstance(kind, List):
        raise walk.doubt(f"makes an array of {kind!r}")
    return _of_list(walk, name, kind, dtype)


def _number(kind: Kind) -> DType | None:
    """The dtype that a number alone gives an array."""
    if base(kind) in _PLAIN:
        return _PLAIN[base(kind)]  # type: ignore[index]
    operand = operand_of(kind)
    return operand.dtype if operand is not None and not operand.weak else None


def _depth(walk: Walk, kind: Kind) -> tuple[int, set[DType], bool]:
    """How deep lists are nested, the dtypes of their numbers, and whether the innermost are arrays."""
    if isinstance(kind, List):
        inside = walk.read(kind.cell)
        depth, found, of_arrays = _depth(walk, inside)
        return depth + 1, found, of_arrays
    if isinstance(kind, Tuple) and kind.items:
        parts = [_depth(walk, item) for item in kind.items]
        if len({part[0] for part in parts}) == 1 and not any(part[2] for part in parts):
            return parts[0][0] + 1, set().union(*(part[1] for part in parts)), False
    if isinstance(kind, Either):
        parts = [_depth(walk, one) for one in kind.kinds]
        if len({part[0] for part in parts}) == 1 and not any(part[2] for part in parts):
            return parts[0][0], set().union(*(part[1] for part in parts)), False
    if isinstance(kind, Array):
        return kind.ndim, {kind.dtype}, True
    dtype = _number(kind)
    if dtype is None:
        raise walk.doubt(f"makes an array of {kind!r}")
    return 0, {dtype}, False


MOST_AXES = 5


def _of_list(walk: Walk, name: str, kind: List, dtype: DType | None) -> str:
    depth, found, of_arrays = _depth(walk, kind)
    if depth > MOST_AXES:
        raise walk.doubt("makes an array of lists that are nested deeply")
    want = dtype or np.result_type(*found)
    if want not in NUMPY or (
        len(found) > 1 and dtype is None and {d.kind for d in found} > {"b"} and "b" in {d.kind for d in found}
    ):
        raise walk.doubt("makes an array of bools and numbers")
    levels = 0
    one: Kind = kind
    while isinstance(one, List):
        levels += 1
        one = walk.read(one.cell)
    if isinstance(one, Tuple) or (isinstance(one, Either) and not all(map(_number, one.kinds))):
        raise walk.doubt("makes an array of tuples")
    lines = ["def made(x0):"]
    for i in range(levels):
        lines.append(f"    n{i} = len(x{i})")
        if dtype is None or i < levels - 1 or of_arrays:
            lines += [f"    if n{i} == 0:", "        give_up()"]
        if i < levels - 1 or of_arrays:
            lines.append(f"    x{i + 1} = x{i}[0]")
    lengths = [f"n{i}" for i in range(levels)]
    lengths += [f"x{levels}.shape[{a}]" for a in range(depth - levels)]
    lines.append(f"    made = np.empty(({', '.join(lengths)},), np.{_spelled(want)})")
    for i in range(levels):
        pad = "    " * (i + 1)
        lines.append(f"{pad}for i{i} in range(n{i}):")
        lines.append(f"{pad}    y{i + 1} = {'x0' if i == 0 else f'y{i}'}[i{i}]")
        if i < levels - 1:
            lines += [f"{pad}    if len(y{i + 1}) != n{i + 1}:", f"{pad}        give_up()"]
    pad = "    " * (levels + 1)
    where = ", ".join(f"i{i}" for i in range(levels))
    if of_arrays:
        lines += [f"{pad}if y{levels}.shape != x{levels}.shape:", f"{pad}    give_up()"]
        lines.append(f"{pad}made[{where}] = y{levels}")
    else:
        lines.append(f"{pad}set_at(made, {where}, y{levels})")
    lines.append("    return made")
    return called(walk, "\n".join(lines), [name])


def _spelled(dtype: DType) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name
