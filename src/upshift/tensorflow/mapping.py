"""`ut.map_fn` and `ut.vectorized_map`, with TensorFlow's own signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf
from tensorflow.python.autograph.impl.api import autograph_artifact
from tensorflow.python.eager import record

from ..errors import trim
from ..gears.capture_reader import MISS
from . import plan
from .call import Call, make_call
from .graph import PLAIN, Options, emit
from .results import EAGER
from .surroundings import scoped

__tracebackhide__ = True  # pytest and IPython show the user's call, not ours
F = TypeVar("F", bound=Callable[..., Any])


def as_written(f: F) -> F:
    """Not to be rewritten by AutoGraph; the functions that users pass are, by us."""
    made: F = autograph_artifact(f)
    return made


@as_written
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`tf.map_fn` with the loop's results, in the way that is fastest. The dtype of results is found out.

    >>> import tensorflow as tf, upshift.tensorflow as ut
    >>> ut.map_fn(lambda x: x * x if x > 1 else -x, tf.constant([1.0, 3.0])).numpy()
    array([-1.,  9.], dtype=float32)
    >>> ut.map_fn(lambda x: x / 2, tf.constant([1, 2])).numpy()
    array([0.5, 1. ])
    """
    if fn_output_signature is None:
        fn_output_signature = dtype
        if dtype is None and type(elems) is EAGER:
            made = plan.at_a_glance(fn, elems)
            if made is not MISS:
                return made
    call = make_call(fn, elems, fn_output_signature)
    return run(call, Options(parallel_iterations, back_prop, swap_memory, infer_shape, name))


@as_written
def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """`tf.vectorized_map` with the loop's results. Nothing has to be given up for speed: all functions may be mapped.

    >>> import tensorflow as tf, upshift.tensorflow as ut
    >>> ut.vectorized_map(lambda x: tf.reduce_sum(x), tf.ones((2, 3))).numpy()
    array([3., 3.], dtype=float32)

    `fallback_to_while_loop` and `warn` are taken for TensorFlow's sake: where an operation cannot be vectorized,
    another way is taken, and `ut.explain` says which operation it was.
    """
    if type(elems) is EAGER:
        made = plan.at_a_glance(fn, elems, dense=True)
        if made is not MISS:
            return made
    return run(make_call(fn, elems, broadcast=True))


def run(call: Call, options: Options = PLAIN) -> Any:
    """In a graph, operations; else the plan."""
    if not call.is_concrete:
        return emit(call, options)
    operations = record.could_possibly_record() or tf.distribute.has_strategy() or scoped()
    try:
        return plan.run(call, with_operations=operations)
    except BaseException as error:
        trim(error)
        raise
