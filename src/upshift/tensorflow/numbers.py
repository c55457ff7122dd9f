"""A traced function in; a function of a call out that reads it as NumPy and runs it in the gears of `up.map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ..api import map as map_elements
from ..errors import GearRefused
from .bridge import Array, as_array, as_tensor
from .call import Call
from .kinds import CUTS
from .reading import read
from .trace import Traced

MINDS_TINY = frozenset("DivNoNan RealDiv Reciprocal Sqrt Rsqrt Log Pow Atan2".split())
"""Operations, besides decisions, for which a subnormal number is far from zero."""
MANY = 256
MOST_TINY = 1000
"""Elements with subnormal numbers that are run by the function itself."""


def over(call: Call, traced: Traced) -> Callable[[Call], list[Any]]:
    """`Unreadable` where it has an operation that NumPy has not."""
    found, lifted = read(traced, len(call.leaves)), traced.lifted
    fresh = [True]
    minds = bool(traced.kinds & (CUTS | MINDS_TINY))

    def run(call: Call) -> list[Any]:
        columns = [as_array(leaf) for leaf in call.leaves]
        function = found.function(lifted.values(call.fn))
        with np.errstate(all="ignore"):  # TensorFlow never warns
            made = _first(function, columns) if fresh else map_elements(function, *columns)
        fresh.clear()
        outs = list(made) if isinstance(made, tuple) else [made]
        if minds:
            patch(call, columns, outs)
        return [as_tensor(out) for out in outs]

    return run


def _first(function: Any, columns: list[Array]) -> Any:
    """The first results: by NumPy at once where there are many, since that is known to be what a graph can be."""
    try:
        return map_elements(function, *columns, gear="numpy" if len(columns[0]) >= MANY else None)
    except GearRefused:
        return map_elements(function, *columns)


def patch(call: Call, columns: list[Array], outs: list[Array]) -> None:
    """TensorFlow takes subnormal numbers for zero, NumPy does not: where that shows, these elements are run again."""
    rows = np.unique(np.concatenate([_subnormal(column) for column in columns if column.dtype.kind == "f"] or [[]]))
    if len(rows) > MOST_TINY:
        raise ArithmeticError("too many subnormal numbers")
    for i in rows.astype(int).tolist():
        result = call.fn(call.row(i))
        for out, leaf in zip(outs, tf.nest.flatten(result), strict=True):
            out[i] = leaf


def _subnormal(column: Array) -> Any:
    bits = column.view(f"u{column.itemsize}") & np.array((1 << (8 * column.itemsize - 1)) - 1, f"u{column.itemsize}")
    least = np.array(np.finfo(column.dtype).smallest_normal).view(bits.dtype)
    found = bits - 1 < least - 1  # zero wraps around to the largest
    return np.flatnonzero(found.reshape(len(column), -1).any(axis=1)) if found.any() else []
