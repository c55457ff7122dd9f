"""A traced function in; TensorFlow operations over all elements out: a function to call, or operations in a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from . import results
from .call import Call
from .captured import portray
from .trace import Traced, convert, trace_element


@dataclass(frozen=True)
class Options:
    """What `tf.map_fn` is told besides."""

    parallel_iterations: int | None = None
    back_prop: bool = True
    swap_memory: bool = False
    infer_shape: bool = True
    name: str | None = None


PLAIN = Options()


def why_not_vectorized(traced: Traced, proven: bool) -> str:
    """Why `tf.vectorized_map` might give something else than one element after the other; empty where it would not.

    `proven`: nobody is going to compare results, so that every operation has to be known.
    """
    if traced.draws:
        return "it draws random numbers"
    if proven and traced.unknown:
        return f"of {traced.unknown} it is not known that a batch gives the same"
    return why_not_batched(traced)


def why_not_batched(traced: Traced) -> str:
    """Why a batch might give something else than one element after the other; empty where it would not."""
    if not all(isinstance(spec, tf.TensorSpec) for spec in traced.out_specs):
        return "its results are ragged or sparse"
    if traced.checks:
        return "it checks its elements, and a batch would check the first only"
    if traced.edge:
        return f"{traced.edge} decides by a number whose last bits differ between one element and a batch"
    return ""


def mapped(fn: Any, traced: Traced, elems: Any, options: Options = PLAIN) -> Any:
    """`tf.map_fn`, told what the function gives."""
    return tf.map_fn(
        _of_results(fn, traced), elems, parallel_iterations=options.parallel_iterations, back_prop=options.back_prop,
        swap_memory=options.swap_memory, infer_shape=options.infer_shape, name=options.name,
        fn_output_signature=traced.signature,
    )  # fmt: skip


def vectorized(fn: Any, traced: Traced, elems: Any) -> Any:
    """`tf.vectorized_map`; ValueError where an operation would become a loop."""
    elems = tf.nest.map_structure(_with_dense_gradients, elems)
    made = tf.vectorized_map(_of_results(fn, traced), elems, fallback_to_while_loop=False, warn=False)
    return tf.nest.map_structure(_with_shape, made, traced.signature)


def _with_dense_gradients(column: Any) -> Any:
    """Elements are gathered, whose gradients are slices; those of a reshape are whole, as in `tf.map_fn`."""
    return tf.reshape(column, tf.shape(column)) if column.dtype.is_floating or column.dtype.is_complex else column


def _with_shape(made: Any, spec: Any) -> Any:
    made.set_shape([made.shape[0], *spec.shape] if spec.shape.rank is not None else None)
    return made


def _of_results(fn: Any, traced: Traced) -> Callable[[Any], Any]:
    """The function, converted where it has to be, with numbers and arrays among its results made tensors."""
    inner = convert(fn) if traced.decides else fn
    specs = tf.nest.flatten(traced.signature)

    def one(element: Any) -> Any:
        leaves = tf.nest.flatten(inner(element))
        return traced.pack([_as_result(leaf, spec) for leaf, spec in zip(leaves, specs, strict=True)])

    return one


def _as_result(leaf: Any, spec: Any) -> Any:
    if isinstance(spec, tf.RaggedTensorSpec) and isinstance(leaf, tf.Tensor):
        return tf.RaggedTensor.from_tensor(leaf) if spec.ragged_rank else leaf
    return (
        results.as_result(leaf, None, None) if not isinstance(leaf, results.NUMBERS) else tf.constant(leaf, spec.dtype)
    )


def batched(call: Call, traced: Traced, how: str) -> Any:
    """A concrete function of columns of any length, and of the tensors in the closure. ValueError: see `vectorized`."""
    count = len(call.leaves)
    columns = [spec._batch(None) for spec in call.specs]
    captured = [tf.type_spec_from_value(value) for value in traced.lifted.values(call.fn)]
    fn, pack, lifted = call.fn, call.pack, traced.lifted

    def over(*leaves: Any) -> list[Any]:
        inner, elems = lifted.bind(fn, leaves[count:]), pack(leaves[:count])
        made = vectorized(inner, traced, elems) if how == "vectorized" else mapped(inner, traced, elems)
        return list(tf.nest.flatten(made))

    return tf.function(over, autograph=False).get_concrete_function(*columns, *captured)


def emit(call: Call, options: Options) -> Any:
    """Operations of TensorFlow alone: within a graph, whose elements nobody knows yet."""
    portrait = portray(call.fn)
    traced = trace_element(call, decides=portrait.decides)
    if isinstance(traced, str) or traced.concrete is None:
        return tf.map_fn(
            convert(call.fn), call.elems, parallel_iterations=options.parallel_iterations, back_prop=options.back_prop,
            swap_memory=options.swap_memory, infer_shape=options.infer_shape, name=options.name,
            fn_output_signature=call.signature,
        )  # fmt: skip
    if call.n == 0:
        return traced.pack([empty(spec) for spec in traced.out_specs])
    reads_python = portrait.acts or traced.acts or not call.is_dense
    if not reads_python and not why_not_vectorized(traced, proven=True):
        try:
            return vectorized(call.fn, traced, call.elems)
        except ValueError:
            pass  # an operation without a converter
    return mapped(call.fn, traced, call.elems, options)


def empty(spec: Any) -> Any:
    """No results of this kind."""
    if isinstance(spec, tf.TensorSpec):
        return tf.zeros([0, *(size or 0 for size in spec.shape)], spec.dtype)
    if isinstance(spec, tf.RaggedTensorSpec):
        splits = tf.zeros([1], spec.row_splits_dtype)
        return tf.RaggedTensor.from_row_splits(tf.zeros([0], spec.dtype), splits)
    return tf.sparse.from_dense(tf.zeros([0, *(size or 0 for size in spec.shape)], spec.dtype))
