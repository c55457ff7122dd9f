"""One XLA program for a traced function over a fixed number of elements.

Draws are columns, branches are selects (both sides are computed), loops are run for one element after the other.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import tensor_util

from .bridge import as_tensor
from .call import Call
from .draws import drawing, drawn_by
from .edges import find_edge
from .kinds import CONTROL, EXACT, READS
from .operations import Unreadable
from .replay import replay
from .trace import Traced, is_free_draw

PRODUCTS, SUMS = frozenset(("Mul", "Square")), frozenset(("Add", "AddV2", "Sub", "AddN"))
DIVISIONS = frozenset(("Div", "FloorDiv", "FloorMod", "Mod", "RealDiv", "DivNoNan"))
DIVIDES = frozenset(("Div", "RealDiv", "DivNoNan"))
FLOATS = (types_pb2.DT_HALF, types_pb2.DT_BFLOAT16, types_pb2.DT_FLOAT, types_pb2.DT_DOUBLE)
PASSED = frozenset(
    "Placeholder Const NoOp RandomUniform RandomStandardNormal RandomUniformInt Exp Log Sin Cos Tanh Sigmoid Sum Mean "
    "MatMul Rsqrt".split()
)
"""Operations that XLA computes as closely as TensorFlow does, or that are not part of its program."""

Span = tuple[float, float]
CORNERS: dict[str, Callable[..., float]] = {
    "Identity": lambda a: a, "Neg": operator.neg, "Sqrt": math.sqrt, "Relu": lambda a: max(a, 0.0),
    "Add": operator.add, "AddV2": operator.add, "Sub": operator.sub, "Mul": operator.mul, "RealDiv": operator.truediv,
    "Maximum": max, "Minimum": min, "ClipByValue": lambda a, low, high: min(max(a, low), high),
}  # fmt: skip
"""Operations whose results lie between those of the ends of their operands' spans."""
ROUNDED, LARGEST = 1e-6, 1e30
"""How far, as a share, rounding may carry a float32 out of a span; a span that may end at infinity is none."""


def over(call: Call, traced: Traced) -> Callable[[Call], list[Any]]:
    """A function of calls, of a graph that was looked at (`check`)."""
    draws = [drawn_by(op) for op in drawing(traced)]
    compiled = _compiled(call, traced)
    lifted = traced.lifted

    def run(call: Call) -> list[Any]:
        drawn = [as_tensor(draw(call.n or 0)) for draw in draws]
        made: list[Any] = compiled(*call.leaves, *drawn, *lifted.values(call.fn))
        return made

    return run


def check(traced: Traced) -> None:
    """`Unreadable` where XLA is not known to give what the loop gives."""
    odd = min(traced.kinds - EXACT - READS - CONTROL - PASSED, default="")
    spans = _spans(traced.graph)
    odd = odd or next((node.op for node in traced.nodes if _means_otherwise(node, spans)), "")
    if odd:
        raise Unreadable(f"of {odd} it is not known that XLA gives the same")
    if sum(map(is_free_draw, traced.nodes)) > len(drawing(traced)):
        raise Unreadable("it draws random numbers in a branch or a loop")
    edge = find_edge(traced.graph, DIVIDES)
    if edge:
        raise Unreadable(f"{edge} decides by a quotient, and XLA multiplies by the inverse of a constant instead")
    if any(map(_fuses, _bodies(traced))):
        raise Unreadable("XLA would round a product and the sum of it only once")


def _means_otherwise(node: Any, spans: dict[str, Span]) -> bool:
    """Whether XLA has an answer of its own: where TensorFlow raises, for numbers that do not fit, and for NaN."""
    if node.op == "Cast":
        if node.attr["SrcT"].type not in FLOATS or node.attr["DstT"].type in FLOATS:
            return False
        dtype, span = tf.as_dtype(node.attr["DstT"].type), spans.get(node.input[0])
        return span is None or not dtype.is_integer or not dtype.min - 1 < span[0] <= span[1] < dtype.max + 1
    return node.op in ("GatherV2", "ArgMax", "ArgMin") or (node.op in DIVISIONS and node.attr["T"].type not in FLOATS)


def _spans(graph: Any) -> dict[str, Span]:
    """Between which numbers tensors lie, NaN not among them, by their names; of most it is not known."""
    found: dict[str, Span] = {}
    for op in graph.get_operations():
        given = [found.get(_named(tensor)) for tensor in op.inputs]
        span = _span_of(op, given) if len(op.outputs) == 1 else None
        if span is not None:
            found[_named(op.outputs[0])] = span
    return found


def _named(tensor: Any) -> str:
    """As nodes call their inputs."""
    return str(tensor.name).removesuffix(":0")


def _span_of(op: Any, given: list[Span | None]) -> Span | None:
    if op.type == "Const":
        value = tensor_util.constant_value(op.outputs[0])
        finite = value is not None and value.dtype.kind in "iuf" and value.size and np.isfinite(value).all()
        return (float(value.min()), float(value.max())) if finite else None
    if op.outputs[0].dtype not in (tf.float32, tf.float64):
        return None
    if op.type == "Cast" and op.inputs[0].dtype.is_integer:
        return _rounded(*(given[0] or (float(op.inputs[0].dtype.min), float(op.inputs[0].dtype.max))))
    known = [span for span in given if span is not None]
    if op.type not in CORNERS or len(known) < len(given):
        return None
    if (op.type == "Sqrt" and known[0][0] < 0) or (op.type == "RealDiv" and known[1][0] <= 0 <= known[1][1]):
        return None
    ends = [CORNERS[op.type](*corner) for corner in itertools.product(*known)]
    return _rounded(min(ends), max(ends))


def _rounded(low: float, high: float) -> Span | None:
    return (low - ROUNDED * abs(low), high + ROUNDED * abs(high)) if max(-low, high) < LARGEST else None


def _bodies(traced: Traced) -> Iterator[Any]:
    """The nodes of the graph, and of every branch and loop."""
    definition = traced.graph.as_graph_def()
    yield definition.node
    for function in definition.library.function:
        yield function.node_def


def _fuses(nodes: Any) -> bool:
    """Whether floats are multiplied, and the product added to something."""
    products = {node.name for node in nodes if node.op in PRODUCTS and node.attr["T"].type in FLOATS}
    for node in nodes:
        if node.op in ("Neg", "Identity", "Reshape") and node.input[0].split(":")[0] in products:
            products.add(node.name)
        if node.op in SUMS and any(source.split(":")[0] in products for source in node.input):
            return True
    return False


def _compiled(call: Call, traced: Traced) -> Any:
    count, draws = len(call.leaves), drawing(traced)
    columns = [spec._batch(None) for spec in call.specs]
    columns += [tf.TensorSpec([None, *op.outputs[0].shape], op.outputs[0].dtype) for op in draws]
    captured = [tf.type_spec_from_value(value) for value in traced.lifted.values(call.fn)]
    element = _element(traced, count)
    signature = list(traced.out_specs)

    def batch(*leaves: Any) -> list[Any]:
        rows, held = list(leaves[: len(columns)]), leaves[len(columns) :]
        if traced.loops:
            return list(tf.map_fn(lambda row: element(row, held), rows, fn_output_signature=signature))
        return list(tf.vectorized_map(lambda row: element(row, held), rows, fallback_to_while_loop=False, warn=False))

    return tf.function(batch, autograph=False, jit_compile=True).get_concrete_function(*columns, *captured)


def _element(traced: Traced, count: int) -> Callable[[Any, Any], list[Any]]:
    """The graph of one element, as a function of its leaves and draws, and of the tensors in the closure."""
    graph, draws = traced.graph, drawing(traced)
    held_for_good = traced.captured

    def element(row: Any, held: Any) -> list[Any]:
        known = {op.outputs[0].name: value for op, value in zip(draws, row[count:], strict=True)}
        return replay(graph, [*row[:count], *held, *held_for_good], known)

    return element
