"""Runs a traced function over all elements by TensorFlow's operations: as a function, or inside a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.impl.api import autograph_artifact
from tensorflow.python.framework import func_graph

from . import direct
from .batchwise import Unknown
from .call import Call
from .captured import snapshot_of
from .followed import plain_function
from .replay import replay
from .results import WrongShape, WrongSignature
from .trace import Traced, convert, function_of, trace_element, variables_as_they_were
from .vectorized import columns_of, too_heavy, vectorized, why_not, why_not_compiled


@dataclass(frozen=True)
class Options:
    """What `tf.map_fn` is told besides."""

    parallel_iterations: int | None = None
    back_prop: bool = True
    swap_memory: bool = False
    infer_shape: bool = True
    name: str | None = None

    def told(self) -> dict[str, Any]:
        """The options as keywords."""
        return dataclasses.asdict(self)


PLAIN = Options()


def mapped(traced: Traced, leaves: Sequence[Any], held: Sequence[Any], options: Options = PLAIN) -> list[Any]:
    """`tf.map_fn` of the traced function: leaf by leaf, one element after the other."""
    plain = not (traced.acts or traced.checks or traced.draws or traced.own_gradients)

    def one(element: list[Any]) -> list[Any]:
        given = [*tf.nest.flatten(element, expand_composites=True), *held]
        if not plain:
            made: list[Any] = traced.concrete._call_flat(given, traced.concrete.captured_inputs)
            return made
        traced.watch()
        flat = replay(traced.graph, [*given, *traced.captured], chooses=False)
        packed: list[Any] = tf.nest.pack_sequence_as(traced.graph.structured_outputs, flat, expand_composites=True)
        return packed

    made: list[Any] = _map_fn(autograph_artifact(one), list(leaves), list(traced.out_specs), options)
    return made


def _map_fn(fn: Any, elems: Any, signature: Any, options: Options) -> Any:
    """`tf.map_fn`, without what it leaves behind in the scope of variables if the function raises."""
    with variables_as_they_were():
        return tf.map_fn(fn, elems, fn_output_signature=signature, **options.told())


class Batched:
    """A function of columns, and of the tensors in the closure: one graph for the number of elements that it was made
    for, whose shapes are all known, and one for any number, when another comes. ValueError: see `vectorized`.

    A function that may be called on columns is."""

    def __init__(self, call: Call, traced: Traced, how: str) -> None:
        self.call, self.traced, self.how = call, traced, how
        self.n = call.n if how == "vectorized" else None
        self.known = self._made(self.n)
        self.any = self.known if self.n is None else None

    def _made(self, n: int | None) -> Any:
        count = len(self.call.leaves)
        columns = [spec._batch(n) for spec in self.call.specs]
        captured = [tf.type_spec_from_value(value) for value in self.traced.lifted.values(self.call.fn)]

        def over(*leaves: Any) -> list[Any]:
            rows, held = leaves[:count], leaves[count:]
            columnwise = _columnwise(dataclasses.replace(self.call, n=n)) if self.how == "vectorized" else None
            if columnwise is not None:
                inner = self.traced.lifted.bind(plain_function(self.call.fn), held)
                return direct.leaves_of(columnwise(inner, self.call.pack(rows)), self.call)
            if self.how == "vectorized":
                return vectorized(self.traced, columns_of(rows) or (), held, n)
            return mapped(self.traced, rows, held)

        return function_of(func_graph.func_graph_from_py_func("batch", over, (*columns, *captured), {}))

    def __call__(self, call: Call) -> list[Any]:
        concrete = self.known
        if call.n != self.n:
            self.any = concrete = self.any or self._made(None)
        given = [*call.leaves, *self.traced.lifted.values(call.fn)]
        flat = given if call.is_dense else tf.nest.flatten(given, expand_composites=True)
        made: list[Any] = concrete._call_flat(flat, concrete.captured_inputs)
        return made


def _columnwise(call: Call) -> direct.Columnwise | None:
    """What the function does to whole columns, if that is known."""
    try:
        return direct.look_at(call)
    except Unknown:
        return None


def emit(call: Call, options: Options) -> Any:
    """Operations of TensorFlow alone: within a graph, whose elements nobody knows yet."""
    columnwise = _columnwise(call)
    if columnwise is not None:
        return _directly(call, columnwise, options)
    snapshot = snapshot_of(call.fn)
    traced = trace_element(call, decides=snapshot.decides)
    if isinstance(traced, str):
        return _by_tensorflow(call, options)
    if call.n == 0:
        return traced.pack([empty(spec) for spec in traced.out_specs])
    if not (snapshot.acts or traced.acts or too_heavy(traced) or why_not(traced) or why_not_compiled(traced)):
        columns = columns_of(call.leaves)
        if columns is not None:
            try:
                return traced.pack(vectorized(traced, columns, (), call.n))
            except ValueError:
                pass  # an operation that has a batched form, but not for these arguments
    return traced.pack(mapped(traced, call.leaves, (), options))


def _directly(call: Call, columnwise: direct.Columnwise, options: Options) -> Any:
    """The function, called on whole columns."""
    with tf.name_scope(options.name or "map"):
        made = columnwise(plain_function(call.fn), call.elems)
        try:
            leaves = direct.leaves_of(made, call)
        except (WrongSignature, WrongShape) as error:  # AutoGraph keeps the class of built-in errors only
            raise (TypeError if isinstance(error, TypeError) else ValueError)(str(error)) from None
        return tf.nest.pack_sequence_as(made if call.signature is None else call.signature, leaves)


def _by_tensorflow(call: Call, options: Options) -> Any:
    """TensorFlow's own map of a function that has no graph of one element; it says why, if it has none either."""
    if call.dense_results:
        return tf.vectorized_map(convert(call.fn), call.elems)
    return _map_fn(convert(call.fn), call.elems, call.signature, options)


def empty(spec: Any) -> Any:
    """No results of this kind."""
    if isinstance(spec, tf.TensorSpec):
        return tf.zeros([0, *(size or 0 for size in spec.shape)], spec.dtype)
    if isinstance(spec, tf.RaggedTensorSpec):
        splits = tf.zeros([1], spec.row_splits_dtype)
        return tf.RaggedTensor.from_row_splits(tf.zeros([0], spec.dtype), splits)
    if isinstance(spec, tf.SparseTensorSpec):
        return tf.sparse.from_dense(tf.zeros([0, *(size or 0 for size in spec.shape)], spec.dtype))
    parts = [empty(part) for part in spec._flat_tensor_specs]
    return spec._batch(0)._from_compatible_tensor_list(parts)
