"""Products of matrices, and linear algebra: NumPy's own inner loops, which call the BLAS and LAPACK that it loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..check import Leaves, Walk
from ..kinds import NUMPY, Array, Kind, Tuple
from ..rows import arrays, loops, nests
from ..rows.numpy_casts import DType
from . import shaping
from .elementwise import PRODUCT, apply, converted, force, is_array, new_kind, stretch
from .making import packed

LINALG = getattr(np.linalg, "_umath_linalg", None)
"""The functions behind `np.linalg`, each of one matrix or system."""


@dataclass(frozen=True, slots=True)
class Core:
    """What a loop computes from whole matrices and vectors: the names of their axes, in and out."""

    ufunc: Any
    given: tuple[str, ...]
    made: tuple[str, ...]
    raises: type | None = None
    """The exception that stands behind an invalid operation, which the loop reports by a flag."""


def run(walk: Walk, core: Core, names: Sequence[str], dtypes: tuple[DType, ...]) -> str:
    """Call a loop for arrays whose last axes are those of the core, and whose first ones are a batch."""
    if loops.find(core.ufunc, dtypes) is None:
        raise walk.doubt(f"{core.ufunc.__name__} of {dtypes[0]}")
    names = [converted(walk, name, dtype) for name, dtype in zip(names, dtypes)]
    kinds = [force(walk, name) for name in names]
    batches = [kind.ndim - len(axes) for kind, axes in zip(kinds, core.given)]
    if min(batches) < 0:
        raise walk.doubt(f"{core.ufunc.__name__} of arrays of fewer axes")
    batch = max(batches)
    outs: list[Kind] = []
    for axes, dtype in zip(core.made, dtypes[len(core.given) :]):
        ndim = batch + len(axes)
        outs.append(new_kind(walk, dtype, ndim) if ndim else NUMPY[dtype])
        walk.made += 1
    whole: Kind = outs[0] if len(outs) == 1 else Tuple(tuple(outs))

    def emit(w: Any, *values: str) -> str:
        sizes = _sizes(w, core, kinds, values)
        lead = [arrays.shape_of(w, kind, x)[:n] for kind, x, n in zip(kinds, values, batches)]
        shape = stretch(w, lead) if batch else []
        made = [_room(w, kind, [*shape, *(sizes[a] for a in axes)]) for kind, axes in zip(outs, core.made)]
        parts = [_part(w, kind, x, axes) for kind, x, axes in zip(kinds, values, core.given)]
        parts += [_part(w, kind, x, axes) for kind, x, axes in zip(outs, made, core.made)]
        steps = [_outer(w, kind, x, batch, len(axes)) for kind, x, axes in zip(kinds, values, core.given)]
        steps += [_outer(w, kind, x, batch, len(axes)) for kind, x, axes in zip(outs, made, core.made)]
        order = list(dict.fromkeys("".join(core.given) + "".join(core.made)))

        def one(indices: list[str]) -> None:
            pointers = []
            for (pointer, _), own in zip(parts, steps):
                for i, step in zip(indices, own):
                    pointer = arrays.moved(w, pointer, i, step)
                pointers.append(pointer)
            _call(w, core, dtypes, pointers, [sizes[a] for a in order], [s for _, strides in parts for s in strides])

        flags = nests.FLAG_BITS["invalid"] if core.raises is not None else None
        nests.watched(w, lambda: arrays.nested(w, shape, one), flags, core.raises)
        results = [arrays.load(w, kind.dtype, x) if not isinstance(kind, Array) else x for kind, x in zip(outs, made)]  # type: ignore[attr-defined]
        if len(results) == 1:
            return results[0]
        return str(w.build(whole.ll, *((kind.ll, x) for kind, x in zip(outs, results))))

    return walk.temporary(whole, emit, *names)


def _sizes(w: Any, core: Core, kinds: Sequence[Array], values: Sequence[str]) -> dict[str, str]:
    """The length of every axis of the core; ValueError where two that should be alike differ."""
    found: dict[str, str] = {}
    for kind, x, axes in zip(kinds, values, core.given):
        shape = arrays.shape_of(w, kind, x)[kind.ndim - len(axes) :]
        for axis, n in zip(axes, shape):
            if axis in found and found[axis] != n:
                w.leave_if(w.new(f"icmp ne i64 {found[axis]}, {n}"), None, "axes of a product have different lengths")
            found.setdefault(axis, n)
    return found


def _room(w: Any, kind: Kind, shape: list[str]) -> str:
    if isinstance(kind, Array):
        return arrays.new(w, kind, shape)
    return str(w.local(arrays.item_ll(kind.dtype)))  # type: ignore[attr-defined]


def _part(w: Any, kind: Kind, x: str, axes: str) -> tuple[str, list[str]]:
    """The address of an array and its strides along the axes of the core."""
    if not isinstance(kind, Array):
        return x, []
    strides = arrays.strides_of(w, kind, x)[kind.ndim - len(axes) :]
    return arrays.data(w, kind, x), strides


def _outer(w: Any, kind: Kind, x: str, batch: int, core: int) -> list[str]:
    """Strides along the axes of the batch: 0 where an array has no such axis, or one of length 1."""
    if not isinstance(kind, Array):
        return []
    own = kind.ndim - core
    found = ["0"] * (batch - own)
    for axis in range(own):
        one = w.new(f"icmp eq i64 {arrays.dim(w, kind, x, axis)}, 1")
        found.append(w.choose(one, "i64", "0", arrays.stride(w, kind, x, axis)))
    return found


def _call(
    w: Any, core: Core, dtypes: tuple[DType, ...], pointers: list[str], sizes: list[str], strides: list[str]
) -> None:
    """One turn of the loop: a batch of one."""
    name, own = nests.declare_loop(w, core.ufunc, dtypes)
    count = len(pointers)
    columns, lengths = w.local(f"[{count} x ptr]"), w.local(f"[{1 + len(sizes)} x i64]")
    steps = w.local(f"[{count + len(strides)} x i64]")
    for i, pointer in enumerate(pointers):
        w.do(f"store ptr {pointer}, ptr {w.new(f'getelementptr ptr, ptr {columns}, i64 {i}')}")
    for i, n in enumerate(["1", *sizes]):
        w.do(f"store i64 {n}, ptr {w.new(f'getelementptr i64, ptr {lengths}, i64 {i}')}")
    for i, step in enumerate(["0"] * count + strides):
        w.do(f"store i64 {step}, ptr {w.new(f'getelementptr i64, ptr {steps}, i64 {i}')}")
    w.do(f"call void @{name}(ptr {columns}, ptr {lengths}, ptr {steps}, ptr {own}) nounwind")


# ---- products


_MATMUL = Core(np.matmul, ("nk", "km"), ("nm",))


def matmul(walk: Walk, a: str, b: str) -> str:
    """`a @ b` of vectors, matrices and stacks of matrices: a vector is a matrix with one more axis, left out later."""
    ka, kb = force(walk, a), force(walk, b)
    if not ka.ndim or not kb.ndim:
        raise Leaves(ValueError, "matmul of arrays without axes")
    dtype = np.result_type(ka.dtype, kb.dtype)
    if dtype.char == "e":
        raise walk.doubt(f"a product of {dtype}")
    left = shaping.expand(walk, a, 0) if ka.ndim == 1 else a
    right = shaping.expand(walk, b, 1) if kb.ndim == 1 else b
    made = run(walk, _MATMUL, [left, right], (dtype,) * 3)
    last = max(ka.ndim, kb.ndim, 2) - 1
    return shaping.drop(walk, made, [last - 1] * (ka.ndim == 1) + [last] * (kb.ndim == 1))


def dot(walk: Walk, a: str, b: str) -> str:
    """`np.dot` of arrays of at most two axes; a number scales the other one."""
    ka, kb = walk.env[a], walk.env[b]
    if not is_array(ka) or not is_array(kb):
        return apply(walk, np.multiply, [a, b])
    if ka.ndim > 2 or kb.ndim > 2:  # type: ignore[attr-defined]
        raise walk.doubt("np.dot of arrays of more than two axes")
    return matmul(walk, packed(walk, a, _for_blas), packed(walk, b, _for_blas))


def _for_blas(w: Any, kind: Array, x: str) -> str:
    """Whether BLAS takes an array as it lies; `np.dot` copies all others, where `@` adds up by itself."""
    strides = arrays.strides_of(w, kind, x)
    if kind.ndim == 1:
        return str(w.new(f"icmp sgt i64 {strides[0]}, 0"))
    size = kind.dtype.itemsize
    rows = [w.new(f"icmp eq i64 {strides[1]}, {size}"), w.new(f"icmp sge i64 {strides[0]}, {size}")]
    columns = [w.new(f"icmp eq i64 {strides[0]}, {size}"), w.new(f"icmp sge i64 {strides[1]}, {size}")]
    return str(w.new(f"or i1 {arrays.all_of(w, rows)}, {arrays.all_of(w, columns)}"))


PRODUCT["matmul"] = matmul
