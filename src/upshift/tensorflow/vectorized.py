"""Makes the operations of a whole batch out of the graph of one element.

TensorFlow's own converters (`tf.vectorized_map` is made of them) are asked for every operation of the graph, as it was
traced, so that the function is not called again. Where the numbers between an element and its result are many, a loop
over parts of the batch bounds the memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import control_flow_util, while_v2
from tensorflow.python.ops.parallel_for import pfor

from ..config import settings
from .kinds import CALLS, CASE, CHECKS, CONTROL, IF, PASSED, READS, WHILE
from .replay import is_square
from .trace import Traced

PART_BYTES = 1 << 24
"""Of the numbers that one step of a batch reads and makes: more would leave the caches."""
FEWEST = 2
"""Elements in a part, below which one after the other costs no more."""
MUCH = 4
"""How many times the bytes of an element and its result a step may need, before a batch of any length is cut."""
SPREADS = frozenset("StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformFullInt StatelessMultinomial "
                    "StatelessRandomUniformInt StatelessTruncatedNormal StatelessRandomBinomial StatelessRandomGammaV2 "
                    "StatelessRandomPoisson StatelessParameterizedTruncatedNormal".split())  # fmt: skip
"""Operations that a batch draws other numbers by than one element after the other."""


def why_not(traced: Traced, gradients: bool = True) -> str:
    """Why a batch of operations cannot be had, or might give something else; empty where neither is so."""
    if traced.draws:
        return "it draws random numbers"
    odd = min(traced.kinds & SPREADS, default="")
    if odd:
        return f"{odd} draws other numbers for a batch"
    if gradients and traced.own_gradients:
        return "it has a gradient of the user's own, which a batch would not know"
    reason = why_not_batched(traced)
    lone = [] if reason else _lone_operations(traced)
    return f"{lone[0]} takes one element at a time" if lone else reason


def why_not_batched(traced: Traced) -> str:
    """Why a batch might give something else than one element after the other; empty where it would not."""
    if not all(parts_of(spec) for spec in traced.out_specs):
        return "its results are ragged or sparse"
    if traced.checks:
        return "it checks its elements, and a batch would check the first only"
    if traced.edge:
        return f"{traced.edge} decides by a number whose last bits differ between one element and a batch"
    return ""


def why_not_compiled(traced: Traced) -> str:
    """Why XLA, if it compiles the graph that is being made, could not compile a batch; empty where it could."""
    if not control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        return ""
    parts = {kind for kind in traced.kinds if kind in CONTROL - CALLS or kind.startswith("TensorList")}
    return f"{min(parts)} of a batch has sizes that XLA does not know" if parts else ""


def _lone_operations(traced: Traced) -> list[str]:
    """Operations, hanging on the element, that TensorFlow has no batched form of."""
    known = {*pfor._pfor_converter_registry, *PASSED, *CONTROL, *READS, *CHECKS}
    return sorted({op.type for op in dependent(traced.graph, _elements(traced))} - known)


def dependent(graph: Any, first: int | None = None) -> Iterator[Any]:
    """Operations whose results depend on the element, those in branches and loops included."""
    hang = {tensor.name for tensor in graph.inputs[:first]}
    for op in graph.get_operations():
        if any(tensor.name in hang for tensor in op.inputs):
            hang.update(tensor.name for tensor in op.outputs)
            yield op
            for inner in _inner_graphs(op, graph):
                yield from dependent(inner)


def _inner_graphs(op: Any, graph: Any) -> list[Any]:
    """Of a branch, a loop or a call."""
    if op.type in WHILE:
        return [while_v2._get_graph(op, "cond", "_cond_graph"), while_v2._get_graph(op, "body", "_body_graph")]
    if op.type in IF:
        names = ("then_branch", "_true_graph"), ("else_branch", "_false_graph")
        return [while_v2._get_graph(op, *name) for name in names]
    if op.type in CASE:
        return [graph._get_function(branch.name).graph for branch in op.get_attr("branches")]
    return [graph._get_function(op.get_attr("f").name).graph] if op.type in CALLS else []


def parts_of(spec: Any) -> list[Any] | None:
    """The tensors that a batch of such values is made of; None where those of one value are others."""
    if isinstance(spec, tf.TensorSpec):
        return [spec]
    batched, single = spec._flat_tensor_specs, tf.nest.flatten(spec, expand_composites=True)
    alike = len(batched) == len(single) and all(a.dtype == b.dtype for a, b in zip(batched, single, strict=True))
    return batched if alike and not any(one.dtype == tf.variant for one in batched) else None


def columns_of(leaves: Sequence[Any]) -> list[Any] | None:
    """The tensors that columns of elements are made of; None where an element's are others: ragged, sparse."""
    found: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, tf.Tensor):
            found.append(leaf)
            continue
        spec = tf.type_spec_from_value(leaf)
        if parts_of(spec._unbatch()) is None:
            return None
        found += spec._to_batched_tensor_list(leaf)
    return found


# ---- the operations


def vectorized(traced: Traced, columns: Sequence[Any], held: Sequence[Any], n: int | None) -> list[Any]:
    """The results of all elements, leaf by leaf; ValueError where an operation has no batched form."""
    columns = [_with_dense_gradients(column) for column in columns]
    size = _part_size(traced, n)

    def over(*rows: Any) -> list[Any]:
        return _converted(traced, rows, held)

    made = over(*columns) if size is None else _in_parts(over, columns, traced, size, n)
    rest = iter(made)
    leaves = []
    for spec in traced.out_specs:
        parts = [next(rest) for _ in parts_of(spec) or ()]
        whole = isinstance(spec, tf.TensorSpec)
        leaves.append(_with_shape(parts[0], spec) if whole else spec._batch(n)._from_compatible_tensor_list(parts))
    return leaves


def _converted(traced: Traced, rows: Sequence[Any], held: Sequence[Any]) -> list[Any]:
    graph = traced.graph
    length = rows[0].shape[0] if rows[0].shape[0] is not None else tf.shape(rows[0])[0]
    counter = tf.compat.v1.placeholder_with_default(0, shape=[])
    converter = pfor.PFor(counter, tf.convert_to_tensor(length), graph.get_operations(), fallback_to_while_loop=False)
    given = [pfor.wrap(row, True) for row in rows]
    given += [pfor.wrap(tf.convert_to_tensor(value), False) for value in (*held, *traced.captured)]
    for tensor, value in zip(graph.inputs, given, strict=True):
        converter._add_conversion(tensor, value)
    for op in filter(is_square, graph.get_operations()):
        x = converter._convert_helper(op.inputs[0])
        converter._add_conversion(op.outputs[0], pfor.wrap(tf.square(x.t), x.is_stacked))
    traced.watch()
    return [converter.convert(tensor) for tensor in graph.outputs]


def _with_dense_gradients(column: Any) -> Any:
    """Gradients of what is gathered are slices; those of a reshape are whole, as in `tf.map_fn`."""
    return tf.reshape(column, tf.shape(column)) if column.dtype.is_floating or column.dtype.is_complex else column


def _with_shape(made: Any, spec: Any) -> Any:
    made.set_shape([made.shape[0], *spec.shape] if spec.shape.rank is not None else None)
    return made


# ---- parts of a batch


def weight(traced: Traced) -> int:
    """Bytes that the largest step of one element reads and makes; shapes that are not known do not count."""
    steps = [sum(map(_bytes, (*op.inputs, *op.outputs))) for op in dependent(traced.graph, _elements(traced))]
    return max(steps, default=0)


def _part_size(traced: Traced, n: int | None) -> int | None:
    """How many elements make a part of the batch; None where it is one."""
    each = max(weight(traced), 1)
    size = max(min(PART_BYTES, settings().memory) // each, 1)
    if n is not None:
        return None if n <= 2 * size else size
    graph = traced.graph
    ends = sum(map(_bytes, (*graph.inputs[: _elements(traced)], *graph.outputs)))
    return size if each > MUCH * max(ends, 64) else None


def too_heavy(traced: Traced) -> bool:
    """Whether parts would be so small that one element after the other costs no more."""
    return weight(traced) * FEWEST > min(PART_BYTES, settings().memory)


def _elements(traced: Traced) -> int:
    return len(traced.graph.inputs) - len(traced.lifted.cells) - len(traced.captured)


def _bytes(tensor: Any) -> int:
    shape = tensor.shape
    if tensor.dtype in (tf.resource, tf.variant) or not shape.is_fully_defined():
        return 0
    return int(math.prod(shape)) * int(tensor.dtype.size or 8)


def _in_parts(
    over: Callable[..., list[Any]], columns: Sequence[Any], traced: Traced, size: int, n: int | None
) -> list[Any]:
    """One part after the other, all as long: the last begins earlier, and what it repeats is cut off."""
    total = n if n is not None else tf.shape(columns[0])[0]
    length = min(size, n) if n is not None else tf.maximum(tf.minimum(size, total), 1)
    count = -(-total // length)
    outputs = traced.graph.outputs

    def body(i: Any, *rooms: Any) -> Any:
        low = tf.minimum(i * length, total - length)
        rows = [_rows(column, low, length) for column in columns]
        return i + 1, *(room.write(i, one) for room, one in zip(rooms, over(*rows), strict=True))

    static = length if n is not None else None
    rooms = [
        tf.TensorArray(one.dtype, count, element_shape=tf.TensorShape([static]).concatenate(one.shape))
        for one in outputs
    ]
    made = tf.while_loop(
        lambda i, *_: i < count, body, [tf.constant(0), *rooms], parallel_iterations=1, maximum_iterations=count
    )[1:]
    return [_joined(room.stack(), one, total, length, count) for room, one in zip(made, outputs, strict=True)]


def _rows(column: Any, low: Any, length: Any) -> Any:
    rows = tf.slice(column, tf.concat([[low], tf.zeros([tf.rank(column) - 1], tf.int32)], 0),
                    tf.concat([[length], tf.shape(column)[1:]], 0))  # fmt: skip
    rows.set_shape([length if isinstance(length, int) else None, *column.shape[1:]])
    return rows


def _joined(stacked: Any, one: Any, total: Any, length: Any, count: Any) -> Any:
    """Parts (count, length, ...) as (total, ...)."""
    flat = tf.reshape(stacked, tf.concat([[count * length], tf.shape(stacked)[2:]], 0))
    begin = (count - 1) * length
    made = tf.concat([flat[:begin], flat[begin + (count * length - total) :]], 0)
    made.set_shape([total if isinstance(total, int) else None, *one.shape])
    return made
