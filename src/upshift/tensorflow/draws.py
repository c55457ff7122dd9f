"""Random numbers that a traced function draws, for all elements at once.

Nobody asked for these numbers to be the same again, so that others of the same distribution will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tensorflow.python.framework import tensor_util

from .bridge import Array
from .operations import Unreadable
from .trace import Traced, is_free_draw

Drawn = Callable[[int], Array]
"""How many elements there are; a column of their draws."""
_RNG = np.random.default_rng()
_FLOATS: dict[str, Any] = {"RandomUniform": _RNG.random, "RandomStandardNormal": _RNG.standard_normal}


def drawing(traced: Traced) -> list[Any]:
    """The operations that draw outside of branches and loops: every element draws these. Others have no column."""
    return [op for op in traced.graph.get_operations() if is_free_draw(op.node_def)]


def names_of(operations: list[Any]) -> dict[str, str]:
    """What their results are called where the graph is read."""
    return {op.outputs[0].name: f"d{k}" for k, op in enumerate(operations)}


def drawn_by(op: Any) -> Drawn:
    """What draws as an operation does. `Unreadable` where that depends on the element, or is not known."""
    shape, *bounds = (tensor_util.constant_value(one) for one in op.inputs)
    dtype = op.outputs[0].dtype.as_numpy_dtype
    if shape is None or any(bound is None for bound in bounds):
        raise Unreadable(f"{op.type} depends on the element")
    sizes = shape.tolist()
    if op.type == "RandomUniformInt":
        low, high = (int(bound) for bound in bounds)
        return lambda n: np.asarray(_RNG.integers(low, high, [n, *sizes], dtype))
    draw = _FLOATS.get(op.type)
    if draw is None or dtype not in (np.float32, np.float64):
        raise Unreadable(f"{op.type} draws {np.dtype(dtype)} in a way of TensorFlow's own")
    return lambda n: draw([n, *sizes], dtype)
