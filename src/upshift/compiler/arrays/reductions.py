"""Sums, products, extremes of arrays, along all axes or some: NumPy's own inner loops, in its order.

NumPy goes over an array as it lies in memory, row by row; a row that is added up is one call of the loop that adds by
halves, a row that is kept is one call that adds item by item. Axes at the end that lie without gaps are one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..check import Leaves, Walk
from ..kinds import INT, NONE, NUMPY, Array, Fused, Kind, Literal, Scalar, Tuple
from ..rows import arrays, loops, nests, numpy_conversions, teams
from ..rows.numbers import safe
from ..rows.numpy_casts import DType
from ..rows.numpy_functions import resolved
from ..rows.numpy_numbers import binary
from .elementwise import apply, converted, force, new_kind, order_row, room_kind


def axes_of(walk: Walk, name: str | None, ndim: int) -> list[int] | None:
    """The axes that an argument names; None for all of them."""
    kind: Kind = walk.env[name] if name is not None else NONE
    if kind is NONE:
        return None
    items = kind.items if isinstance(kind, Tuple) else (kind,)
    found = []
    for item in items:
        if not isinstance(item, Literal) or item.kind is not INT:
            raise walk.doubt("an axis that is not known beforehand")
        if not -ndim <= item.value < ndim:
            raise Leaves(np.exceptions.AxisError, "axis is out of bounds")
        found.append(item.value % ndim)
    if len(set(found)) != len(found):
        raise Leaves(ValueError, "duplicate value in 'axis'")
    return sorted(found)


def _sum_dtype(dtype: DType) -> DType:
    """The dtype in which NumPy adds up."""
    made: DType = np.add.reduce(np.ones(1, dtype)).dtype
    return made


STARTS: dict[Any, Any] = {np.add: 0, np.multiply: 1, np.logical_and: True, np.logical_or: False,
                          np.bitwise_or: 0, np.bitwise_xor: 0, np.bitwise_and: -1}  # fmt: skip
"""What a reduction begins with; those that are not here begin with the first item."""


def reduce(
    walk: Walk, ufunc: Any, name: str, axes: list[int] | None, keepdims: bool, dtype: DType | None = None
) -> str:
    """`ufunc.reduce(x, axis)`: a number, or an array of the other axes."""
    kind = force(walk, name)
    if axes is None:
        axes = list(range(kind.ndim))
    if ufunc in (np.add, np.multiply):
        want = dtype or _sum_dtype(kind.dtype)
    elif ufunc in (np.logical_and, np.logical_or):
        want = np.dtype(bool)
    else:
        want = kind.dtype
    name = converted(walk, name, want)
    kind = force(walk, name)
    dtypes = resolved(ufunc, (want, want))
    if (
        dtypes is None
        or loops.find(ufunc, dtypes) is None
        or want.char == "e"
        or (want.kind == "c" and ufunc not in STARTS)
    ):
        raise walk.doubt(f"{ufunc.__name__} of {kind!r}")
    if kind.ndim > 2 and not kind.contiguous:
        walk.step(order_row(kind), None, (name,))
    if ufunc not in STARTS:
        walk.step(_some(kind, axes), None, (name,))
    kept = [a for a in range(kind.ndim) if a not in axes]
    shown = list(range(kind.ndim)) if keepdims else kept
    if not shown:
        return walk.temporary(NUMPY[dtypes[-1]], _to_number(ufunc, dtypes, kind, axes), name)
    made = new_kind(walk, dtypes[-1], len(shown))
    inner = room_kind(dtypes[-1], kind.ndim)

    def emit(w: Any, x: str) -> str:
        lengths = [arrays.dim(w, kind, x, a) for a in range(kind.ndim)]
        out = arrays.new(w, made, ["1" if a in axes else lengths[a] for a in shown])
        strides = dict(zip(shown, arrays.strides_of(w, made, out)))
        steps = [strides[a] if a in kept else "0" for a in range(kind.ndim)]
        ones = ["1" if a in axes else n for a, n in enumerate(lengths)]
        whole = arrays.put_together(w, inner, arrays.data(w, made, out), ones, arrays.packed(w, made.dtype, ones))
        _begin(w, ufunc, kind, x, inner, whole)
        nests.watched(w, lambda: _run(w, ufunc, dtypes, kind, x, axes, arrays.data(w, made, out), steps))
        return out

    return walk.temporary(made, emit, name)


def _some(kind: Array, axes: Sequence[int]) -> Any:
    def emit(w: Any, x: str) -> None:
        for a in axes:
            w.leave_if(w.new(f"icmp eq i64 {arrays.dim(w, kind, x, a)}, 0"), ValueError, "zero-size array to reduction")

    return emit


def _to_number(ufunc: Any, dtypes: tuple[DType, ...], kind: Array, axes: Sequence[int]) -> Any:
    def emit(w: Any, x: str) -> str:
        of = dtypes[-1]
        cell = w.local(arrays.item_ll(of))
        if ufunc in STARTS:
            arrays.store(w, of, cell, _start(ufunc, of))
        else:
            arrays.store(w, of, cell, arrays.load(w, of, arrays.data(w, kind, x)))
        nests.watched(w, lambda: _run(w, ufunc, dtypes, kind, x, axes, cell, ["0"] * kind.ndim))
        return arrays.load(w, of, cell)

    return emit


_NEGATIVE_ZERO = bool(np.signbit(np.add.reduce(np.array([-0.0]))))


def _start(ufunc: Any, of: DType) -> str:
    value = STARTS[ufunc]
    if of.kind == "b":
        return "true" if value else "false"
    if of.kind == "f":
        return "-0.0" if ufunc is np.add and _NEGATIVE_ZERO else f"{float(value):.1f}"
    if of.kind == "c":
        part = "double" if of.itemsize == 16 else "float"
        return f"{{ {part} {float(value):.1f}, {part} 0.0 }}"
    return str(int(value))


def _begin(w: Any, ufunc: Any, kind: Array, x: str, out: Array, whole: str) -> None:
    """What all items of the result begin with; `whole` has length 1 along the axes that are reduced."""
    if ufunc in STARTS:
        start = _start(ufunc, out.dtype)
        fused = Fused((NUMPY[out.dtype], Tuple((INT,) * out.ndim)), out.dtype, out.ndim, 0)
        given = w.new(f"insertvalue {fused.ll} undef, {NUMPY[out.dtype].ll} {start}, 0")
        return nests.fill(w, out, whole, fused, given)
    first = arrays.put_together(
        w, kind if not kind.contiguous else Array(kind.dtype, kind.ndim, kind.cell), arrays.data(w, kind, x),
        arrays.shape_of(w, out, whole), arrays.strides_of(w, kind, x),
    )  # fmt: skip
    return nests.copy(w, out, whole, Array(kind.dtype, kind.ndim, kind.cell), first)


def _run(w: Any, ufunc: Any, dtypes: tuple[DType, ...], kind: Array, x: str, axes: Sequence[int], cell: str,
         steps: Sequence[str]) -> None:  # fmt: skip
    """Row by row. `steps`: the strides of the result along the axes of the array, 0 where they are reduced."""
    shape, strides = arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x)
    last = kind.ndim - 1
    alone = w.new(f"icmp eq i64 {shape[last]}, 1") if last and last not in axes else "false"
    if kind.ndim == 2 and (not kind.contiguous or alone != "false"):
        sizes = [w.intrinsic("llvm.abs.i64", "i64", ("i64", step), ("i1", "false")) for step in strides]
        turned = w.new(f"or i1 {alone}, {w.new(f'icmp slt i64 {sizes[0]}, {sizes[1]}')}")
        shape, strides = _turned(w, turned, shape), _turned(w, turned, strides)
        steps = _turned(w, turned, list(steps))
    elif alone != "false" and ufunc in (np.add, np.multiply) and kind.dtype.kind in "fc":
        w.leave_if(alone, None, "NumPy adds up along another axis where the last one has length 1")
    trailing = 0
    while trailing < kind.ndim and kind.ndim - 1 - trailing in axes:
        trailing += 1
    if trailing > 1 and not (kind.ndim == 2 and not kind.contiguous and len(axes) < 2):
        shape, flat = _joined(w, kind, shape, strides, trailing)
        if flat != "true" and ufunc in (np.add, np.multiply) and kind.dtype.kind in "fc":
            w.leave_if(w.new(f"xor i1 {flat}, true"), None, "NumPy adds up what has gaps in a way of its own")

    if w.module.team and _run_shared(w, ufunc, dtypes, arrays.data(w, kind, x), cell, shape, strides, steps):
        return

    def at(indices: list[str]) -> None:
        source, target = _moved(w, arrays.data(w, kind, x), cell, indices, strides, steps)
        nests.call_loop(w, ufunc, dtypes, [target, source, target], shape[-1], [steps[-1], strides[-1], steps[-1]])

    arrays.nested(w, shape[:-1], at)


def _moved(w: Any, source: str, target: str, indices: Sequence[str], strides: Sequence[str],
           steps: Sequence[str]) -> tuple[str, str]:  # fmt: skip
    for i, step, own in zip(indices, strides, steps):
        source, target = arrays.moved(w, source, i, step), arrays.moved(w, target, i, own)
    return source, target


def _run_shared(w: Any, ufunc: Any, dtypes: tuple[DType, ...], source: str, cell: str, shape: Sequence[str],
                strides: Sequence[str], steps: Sequence[str]) -> bool:  # fmt: skip
    """The same by the threads of a GPU's block, where that is known: rows that are all one number's, added up by all
    of them together; rows of a number each, by a thread each; and rows that are kept, item by item."""
    of = dtypes[0]
    if any(step != "0" and not step.isdigit() and step.startswith("%choose") for step in steps):
        return False
    if all(step == "0" for step in steps):
        if ufunc not in teams.REDUCED or of.char not in "df":
            return False

        def row(indices: list[str]) -> None:
            start, _ = _moved(w, source, cell, indices, strides, steps)
            made = teams.reduced(w, ufunc, of, start, shape[-1], strides[-1])
            other = w.local("i64"), arrays.load(w, of, cell)
            arrays.store(w, of, other[0], made or "")
            nests.call_loop(w, ufunc, dtypes, [cell, other[0], cell], "1", ["0"] * 3)

        arrays.nested(w, shape[:-1], row)
        return True
    if steps[-1] == "0":

        def one(indices: list[str]) -> None:
            start, target = _moved(w, source, cell, indices, strides, steps)
            nests.call_loop(w, ufunc, dtypes, [target, start, target], shape[-1], ["0", strides[-1], "0"], alone=True)

        if any(step == "0" for step in steps[:-1]):
            return False
        teams.items(w, shape[:-1], one)
        return True
    return False


def _turned(w: Any, flag: str, pair: Sequence[str]) -> list[str]:
    a, b = pair
    return [w.choose(flag, "i64", b, a), w.choose(flag, "i64", a, b)]


def _joined(w: Any, kind: Array, shape: list[str], strides: list[str], trailing: int) -> tuple[list[str], str]:
    """Where the last axes lie without gaps between them, all their items are one row; whether that is so."""
    start = kind.ndim - trailing
    last = strides[-1]
    flags = []
    step = last
    for a in range(kind.ndim - 1, start, -1):
        step = arrays.product(w, step, shape[a])
        flags.append(w.new(f"icmp eq i64 {strides[a - 1]}, {step}"))
    flat = "true" if kind.contiguous else arrays.all_of(w, flags)
    total = arrays.count(w, shape[start:])
    joined = [w.choose(flat, "i64", "1", n) for n in shape[start:-1]] + [w.choose(flat, "i64", total, shape[-1])]
    return [*shape[:start], *joined], flat


def mean(walk: Walk, name: str, axes: list[int] | None, keepdims: bool) -> str:
    """As NumPy's own Python computes it: the sum, divided by how many there are."""
    kind = force(walk, name)
    dtype = np.dtype(float) if kind.dtype.kind in "biu" else None
    count = walk.temporary(INT, _count_row(kind, axes), name)
    walk.step(lambda w, n: w.leave_if(w.new(f"icmp eq i64 {n}, 0"), None, "the mean of nothing"), None, (count,))
    total = reduce(walk, np.add, name, axes, keepdims, dtype)
    return divided(walk, total, count)


def divided(walk: Walk, total: str, count: str) -> str:
    """A sum by a count, in double precision as NumPy has it, and in the sum's own dtype again."""
    kind = walk.env[total]
    count = walk.temporary(NUMPY[np.dtype(np.int64)], safe(lambda w, n: n), count)
    if isinstance(kind, Array):
        return converted(walk, apply(walk, np.true_divide, [total, count]), kind.dtype)
    row = binary("Div", kind, NUMPY[np.dtype(np.int64)])
    assert isinstance(row, tuple) and isinstance(kind, Scalar) and kind.dtype is not None
    made = walk.temporary(row[0], row[1], total, count)
    back = numpy_conversions.cast_row(row[0], kind.dtype)
    return made if row[0] is kind or back is None else walk.temporary(back[0], back[1], made)


def _count_row(kind: Array, axes: list[int] | None) -> Any:
    return lambda w, x: arrays.count(
        w, [n for a, n in enumerate(arrays.shape_of(w, kind, x)) if axes is None or a in axes]
    )
