"""A concrete call in; the results of its function on every element's tensors, one by one, out. This is the law."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..errors import name_element
from . import results
from .call import Call, is_flat


def run_loop(call: Call) -> Any:
    """`[fn(e) for e in elems]`, stacked; there is at least one element."""
    if not results.is_dense(call.signature):
        return tf.map_fn(call.fn, call.elems, fn_output_signature=call.signature)
    return results.stack(call_each(call), call.elems, call.leaves, call.signature)


def call_each(call: Call, start: int = 0, most: int | None = None) -> list[Any]:
    """The function's own results on some elements; an error names its element."""
    made: list[Any] = []
    fn = call.fn
    for row in call.rows(start, most):
        try:
            made.append(_as_it_is_now(fn(row)))
        except Exception as error:
            name_element(error, start + len(made), (row,))
            raise
    return made


def _as_it_is_now(result: Any) -> Any:
    """A result whose variables, which later elements may assign to, are read."""
    if isinstance(result, tf.Tensor) or is_flat(result):
        return result
    return tf.nest.map_structure(lambda x: tf.convert_to_tensor(x) if isinstance(x, tf.Variable) else x, result)
