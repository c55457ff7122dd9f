"""Arrays seen in another shape: transposed, reshaped, turned around, with axes added or left out. The same memory
wherever NumPy gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..check import Walk
from ..kinds import NUMPY, Array
from ..rows import arrays
from ..rows.numbers import safe
from .elementwise import force, transposed, transposed_row
from .making import packed

__all__ = ["drop", "expand", "flipped", "part_row", "reshaped", "transposed", "transposed_row"]


def part_row(kind: Array, which: str) -> tuple[Array, Any]:
    """The real or imaginary parts of complex numbers, where they lie."""
    dtype = np.empty(0, kind.dtype).real.dtype
    made = Array(dtype, kind.ndim, kind.cell)

    def emit(w: Any, x: str) -> str:
        pointer = arrays.data(w, kind, x)
        if which == "imag":
            pointer = w.new(f"getelementptr i8, ptr {pointer}, i64 {dtype.itemsize}")
        view = arrays.put_together(w, made, pointer, arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x))
        return arrays.passes_on(w, kind, x, view)

    return made, safe(emit)


def expand(walk: Walk, name: str, axis: int) -> str:
    """One more axis, of length 1."""
    kind = force(walk, name)
    made = Array(kind.dtype, kind.ndim + 1, kind.cell, kind.contiguous)

    def emit(w: Any, x: str) -> str:
        shape, strides = arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x)
        behind = str(kind.dtype.itemsize)
        if axis < kind.ndim:
            behind = arrays.product(w, strides[axis], shape[axis])
        shape.insert(axis, "1")
        strides.insert(axis, behind)
        return arrays.passes_on(w, kind, x, arrays.put_together(w, made, arrays.data(w, kind, x), shape, strides))

    return walk.temporary(made, safe(emit), name)


def drop(walk: Walk, name: str, axes: Sequence[int]) -> str:
    """Without axes of length 1; the one item where none is left."""
    kind = walk.env[name]
    if not axes or not isinstance(kind, Array):
        return name
    rest = [a for a in range(kind.ndim) if a not in axes]
    if not rest:
        return walk.temporary(
            NUMPY[kind.dtype], safe(lambda w, x: arrays.load(w, kind.dtype, arrays.data(w, kind, x))), name
        )
    made = Array(kind.dtype, len(rest), kind.cell, kind.contiguous)

    def emit(w: Any, x: str) -> str:
        shape, strides = arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x)
        shape, strides = [shape[a] for a in rest], [strides[a] for a in rest]
        return arrays.passes_on(w, kind, x, arrays.put_together(w, made, arrays.data(w, kind, x), shape, strides))

    return walk.temporary(made, safe(emit), name)


def reshaped(walk: Walk, name: str, lengths: Sequence[str], copies: bool = False) -> str:
    """Another shape: the same memory where NumPy gives the same, else a copy. One length may be -1. `copies`: whatever
    has gaps is copied, as `ravel` does."""
    kind = force(walk, name)
    gaps = not kind.contiguous and kind.ndim > 0 and not copies
    if not gaps:
        name = packed(walk, name)
    elif len(lengths) == 1:
        name = packed(walk, name, _one_step)
    elif kind.ndim > 1:
        walk.step(_leave_gaps(kind), None, (name,))
    kind = force(walk, name)
    made = Array(kind.dtype, len(lengths), kind.cell, not gaps)

    def emit(w: Any, x: str, *values: str) -> str:
        total = arrays.count(w, arrays.shape_of(w, kind, x))
        shape = _completed(w, list(values), total)
        count = arrays.count(w, shape)
        w.leave_if(w.new(f"icmp ne i64 {count}, {total}"), ValueError, "cannot reshape array")
        strides = arrays.packed(w, kind.dtype, shape)
        if gaps and shape:
            strides = [arrays.strides_of(w, kind, x)[-1]]
            for n in reversed(shape[1:]):
                strides.insert(0, arrays.product(w, strides[0], n))
        return arrays.put_together(w, made, arrays.data(w, kind, x), shape, strides)

    return walk.temporary(made, emit, name, *lengths)


def _one_step(w: Any, kind: Array, x: str) -> str:
    """Whether all items lie in their order with the same gap after each."""
    shape, strides = arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x)
    flags = [w.new(f"icmp eq i64 {strides[a]}, {arrays.product(w, strides[a + 1], shape[a + 1])}")
             for a in range(kind.ndim - 1)]  # fmt: skip
    found, alone = arrays.all_of(w, flags), "false"
    for n in shape if flags else ():
        alone = w.new(f"or i1 {alone}, {w.new(f'icmp eq i64 {n}, 1')}")
    w.leave_if(w.new(f"and i1 {alone}, {w.new(f'xor i1 {found}, true')}"), None, "reshapes an array with gaps")
    return found


def _leave_gaps(kind: Array) -> Any:
    """Leave where NumPy may show the same memory in another shape, in spite of gaps."""

    def emit(w: Any, x: str) -> None:
        flags = arrays.is_packed(w, kind.dtype, arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x))
        w.leave_if(w.new(f"xor i1 {arrays.all_of(w, flags)}, true"), None, "reshapes an array with gaps")

    return emit


def _completed(w: Any, shape: list[str], total: str) -> list[str]:
    """A shape in which a length of -1 is worked out."""
    known = [n for n in shape if n.lstrip("-").isdigit()]
    if all(n != "-1" for n in known) and len(known) == len(shape):
        return shape
    if known.count("-1") > 1:
        w.leave_if("true", ValueError, "can only specify one unknown dimension")
        return ["0"] * len(shape)
    rest = "1"
    for n in shape:
        if n != "-1":
            rest = arrays.product(w, rest, n)
    made = []
    for n in shape:
        if n == "-1":
            none = w.new(f"icmp eq i64 {rest}, 0")
            w.leave_if(none, None, "reshapes an array without items")
            made.append(w.new(f"sdiv i64 {total}, {w.choose(none, 'i64', '1', rest)}"))
        else:
            if not n.isdigit():
                w.leave_if(w.new(f"icmp slt i64 {n}, 0"), None, "a length that is not known beforehand is negative")
            made.append(n)
    return made


def flipped(walk: Walk, name: str, axes: Sequence[int]) -> str:
    """Turned around along some axes."""
    kind = force(walk, name)
    made = Array(kind.dtype, kind.ndim, kind.cell)

    def emit(w: Any, x: str) -> str:
        shape, strides = arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x)
        pointer = arrays.data(w, kind, x)
        for a in axes:
            some = w.choose(w.new(f"icmp sgt i64 {shape[a]}, 0"), "i64", w.new(f"sub i64 {shape[a]}, 1"), "0")
            pointer = arrays.moved(w, pointer, some, strides[a])
            strides[a] = arrays.product(w, strides[a], "-1")
        return arrays.passes_on(w, kind, x, arrays.put_together(w, made, pointer, shape, strides))

    return walk.temporary(made, safe(emit), name)
