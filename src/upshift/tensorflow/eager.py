"""The eager loop: the function on every element's tensors, one by one. For tensors, this is the law."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from ..errors import name_element
from . import results
from .call import Call, is_flat
from .results import EAGER


def run_loop(call: Call) -> Any:
    """`[fn(e) for e in elems]`, stacked; there is at least one element."""
    return results.stack(call_each(call), call)


def call_each(call: Call, start: int = 0, most: int | None = None) -> list[Any]:
    """The function's own results on some elements; an error names its element."""
    stop = (call.n or 0) if most is None else start + most
    done = list(call.begun) if start == 0 < stop else []
    return done + _call_rest(call, start + len(done), stop) if start + len(done) < stop else done


def _call_rest(call: Call, start: int, stop: int) -> list[Any]:
    if call.loop is None:
        return _call_each(call.fn, ((row,) for row in call.rows(start, stop - start)), start)
    f, columns = call.loop
    whole = start == 0 and stop >= (call.n or 0)
    parts = columns if whole else [column[start:stop] for column in columns]
    return _call_each(f, zip(*parts, strict=True), start)


def _call_each(f: Callable[..., Any], rows: Iterable[tuple[Any, ...]], start: int) -> list[Any]:
    made: list[Any] = []
    row: tuple[Any, ...] = ()
    try:
        for row in rows:
            result = f(*row)
            made.append(result if type(result) is EAGER else _as_it_is_now(result))
    except Exception as error:
        name_element(error, start + len(made), row)
        raise
    return made


def _as_it_is_now(result: Any) -> Any:
    """A result whose variables, which later elements may assign to, are read."""
    if isinstance(result, tf.Tensor) or is_flat(result):
        return result
    return tf.nest.map_structure(lambda x: tf.convert_to_tensor(x) if isinstance(x, tf.Variable) else x, result)
