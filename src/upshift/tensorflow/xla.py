"""One XLA program for a traced function over a fixed number of elements.

Draws are columns, branches are selects (both sides are computed), loops are run for one element after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import types_pb2

from .bridge import as_tensor
from .call import Call
from .draws import drawing, drawn_by
from .kinds import CONTROL, EXACT, READS
from .operations import Unreadable
from .replay import replay
from .trace import Traced, is_free_draw

PRODUCTS, SUMS = frozenset(("Mul", "Square")), frozenset(("Add", "AddV2", "Sub", "AddN"))
DIVISIONS = frozenset(("Div", "FloorDiv", "FloorMod", "Mod", "RealDiv", "DivNoNan"))
FLOATS = (types_pb2.DT_HALF, types_pb2.DT_BFLOAT16, types_pb2.DT_FLOAT, types_pb2.DT_DOUBLE)
PASSED = frozenset(
    "Placeholder Const NoOp RandomUniform RandomStandardNormal RandomUniformInt Exp Log Sin Cos Tanh Sigmoid Sum Mean "
    "MatMul Rsqrt".split()
)
"""Operations that XLA computes as closely as TensorFlow does, or that are not part of its program."""


def over(call: Call, traced: Traced) -> Callable[[Call], list[Any]]:
    """`Unreadable` where XLA is not known to give what the loop gives."""
    _check(traced)
    draws = [drawn_by(op) for op in drawing(traced)]
    compiled = _compiled(call, traced)
    lifted = traced.lifted

    def run(call: Call) -> list[Any]:
        drawn = [as_tensor(draw(call.n or 0)) for draw in draws]
        made: list[Any] = compiled(*call.leaves, *drawn, *lifted.values(call.fn))
        return made

    return run


def _check(traced: Traced) -> None:
    odd = min(traced.kinds - EXACT - READS - CONTROL - PASSED, default="")
    odd = odd or next((node.op for node in traced.nodes if _means_otherwise(node)), "")
    if odd:
        raise Unreadable(f"of {odd} it is not known that XLA gives the same")
    if sum(map(is_free_draw, traced.nodes)) > len(drawing(traced)):
        raise Unreadable("it draws random numbers in a branch or a loop")
    if any(map(_fuses, _bodies(traced))):
        raise Unreadable("XLA would round a product and the sum of it only once")


def _means_otherwise(node: Any) -> bool:
    """Whether XLA has an answer of its own: where TensorFlow raises, for numbers that do not fit, and for NaN."""
    if node.op == "Cast":
        return node.attr["SrcT"].type in FLOATS and node.attr["DstT"].type not in FLOATS
    return node.op in ("GatherV2", "ArgMax", "ArgMin") or (node.op in DIVISIONS and node.attr["T"].type not in FLOATS)


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
