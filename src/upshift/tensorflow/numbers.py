"""Runs a traced function as a NumPy function, in the gears of `up.map`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from ..api import map as map_elements
from ..columns.outputs import place
from ..config import settings
from ..errors import GearRefused
from ..gears.chunks import chunks_of, side_by_side
from .bridge import Array, adopt, aligned, as_array, as_tensor
from .call import Call
from .draws import drawing, drawn_by
from .kinds import CLOSE, CUTS
from .reading import read
from .trace import Traced

MINDS_TINY = frozenset("DivNoNan RealDiv Reciprocal Sqrt Rsqrt Log Pow Atan2".split())
"""Operations, besides decisions, for which a subnormal number is far from zero."""
MANY = 64
LARGE = 1 << 16
"""Bytes of an element and its result from which on the way through Python costs less than copies do."""
Gear = Literal["llvm", "numpy"]
Compute = Callable[[Any, list[Array]], tuple[list[Array], list[int] | None]]
"""A function of one element's numbers, and columns of them; columns of its results, and rows with subnormal numbers."""
BLOCK = 1 << 16
"""Numbers that are looked at together."""
MOST_TINY = 1000
"""Elements with subnormal numbers that are run by the function itself."""


def over(call: Call, traced: Traced) -> Callable[[Call], list[Any]]:
    """`Unreadable` where it has an operation that NumPy has not."""
    found, lifted, draws = read(traced, len(call.leaves)), traced.lifted, [*map(drawn_by, drawing(traced))]
    minds = bool(traced.kinds & (CUTS | MINDS_TINY))
    large = _bytes_of((*call.specs, *traced.out_specs)) >= LARGE
    if large:
        compute = _row_by_row(traced, minds)
    else:
        found.show_compiler()
        compute = in_gears(warns=False, first=first_gear(traced))

    def run(call: Call) -> list[Any]:
        columns = [as_array(leaf) for leaf in call.leaves]
        drawn = [draw(len(columns[0])) for draw in draws]
        outs, tiny = compute(found.function(lifted.values(call.fn)), columns + drawn)
        if minds:
            mend(call, tiny_rows(columns) if tiny is None else tiny, outs)
        return [adopt(out) if large else as_tensor(out) for out in outs]

    return run


def first_gear(traced: Traced) -> Gear:
    """In which a graph is run first: as machine code where it is arithmetic of single numbers, or loops over them."""
    ends = (*traced.graph.inputs, *traced.out_specs)
    numbers = all(end.shape.rank == 0 for end in ends if end.dtype != tf.resource)
    return "llvm" if numbers and (traced.loops or traced.kinds.isdisjoint(CLOSE)) else "numpy"


def in_gears(warns: bool, first: Gear = "numpy", after: float = 0.0) -> Compute:
    """By the plan of `up.map`. `warns`: as NumPy does; TensorFlow never does. `first`: the gear of the first call,
    which is known to be what a graph can be; NumPy only if there is much to do. `after`: of the first one when calls
    have taken so many seconds."""
    left, fresh = [after], [True]

    def compute(function: Any, columns: list[Array]) -> tuple[list[Array], None]:
        named = bool(fresh) and left[0] <= 0.0
        began = time.perf_counter()
        with contextlib.nullcontext() if warns else np.errstate(all="ignore"):
            made = _first(function, columns, first) if named else map_elements(function, *columns)
        if named:
            fresh.clear()
        left[0] -= time.perf_counter() - began
        return list(made) if isinstance(made, tuple) else [made], None

    return compute


def _row_by_row(traced: Traced, minds: bool) -> Compute:
    """One element after the other, on threads: where these are large, a batch would only leave the caches."""
    specs = traced.out_specs
    several = len(specs) > 1

    def compute(function: Any, columns: list[Array]) -> tuple[list[Array], list[int]]:
        n, threads = len(columns[0]), settings().num_threads
        floats = [column for column in columns if column.dtype.kind == "f"] if minds else []
        tiny: list[int] = []
        rooms = [aligned((n, *spec.shape), spec.dtype.as_numpy_dtype) for spec in specs]

        def work(part: slice) -> None:
            with np.errstate(all="ignore"):
                for i in range(part.start, part.stop):
                    made = function(*[column[i] for column in columns])
                    for room, leaf in zip(rooms, made if several else (made,), strict=True):
                        place(np.asarray(leaf), room[i : i + 1].reshape(room.shape[1:]))
                    if any(len(_subnormal(column[i : i + 1])) for column in floats):
                        tiny.append(i)

        side_by_side(work, chunks_of(0, n, max(1, n // (4 * threads))), threads)
        return rooms, tiny

    return compute


def _bytes_of(specs: Any) -> int:
    """Of one element and its result; none where a shape is not known."""
    if not all(spec.shape.is_fully_defined() for spec in specs):
        return 0
    return sum(spec.shape.num_elements() * spec.dtype.size for spec in specs)


def _first(function: Any, columns: list[Array], gear: Gear) -> Any:
    many = gear != "numpy" or len(columns[0]) >= MANY
    try:
        return map_elements(function, *columns, gear=gear if many else None)
    except GearRefused:
        return map_elements(function, *columns)


def tiny_rows(columns: list[Array]) -> list[int]:
    """Elements with subnormal numbers in them."""
    found = [_subnormal(column) for column in columns if column.dtype.kind == "f"]
    if not any(map(len, found)):
        return []
    rows: list[int] = np.unique(np.concatenate(found)).astype(int).tolist()
    return rows


def mend(call: Call, rows: list[int], outs: list[Array]) -> None:
    """TensorFlow takes subnormal numbers for zero, NumPy does not: where that shows, these elements are run again."""
    if len(rows) > MOST_TINY:
        raise ArithmeticError("too many subnormal numbers")
    for i in rows:
        result = call.fn(call.row(i))
        for out, leaf in zip(outs, tf.nest.flatten(result), strict=True):
            out[i] = leaf


def _subnormal(column: Array) -> Any:
    """The rows with subnormal numbers in them, some at a time: what is compared stays in the caches."""
    step = max(1, BLOCK // max(1, column[:1].size))
    if len(column) <= step:
        return _subnormal_in(column)
    return np.concatenate([low + np.asarray(_subnormal_in(column[low : low + step]), int)
                           for low in range(0, len(column), step)])  # fmt: skip


def _subnormal_in(column: Array) -> Any:
    bits = column.view(f"u{column.itemsize}") & np.array((1 << (8 * column.itemsize - 1)) - 1, f"u{column.itemsize}")
    least = np.array(np.finfo(column.dtype).smallest_normal).view(bits.dtype)
    found = bits - 1 < least - 1  # zero wraps around to the largest
    return np.flatnonzero(found.reshape(len(column), -1).any(axis=1)) if found.any() else []
