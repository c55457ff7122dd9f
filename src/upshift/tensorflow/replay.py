"""Makes the operations of a traced graph anew in the graph that is being built.

Calls are written out. With `chooses`, branches become selects: both sides are computed, and nothing that follows is
divided. Only branches with loops in them stay branches, since a loop on the wrong side might never end.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops, tensor_util
from tensorflow.python.ops import handle_data_util, while_v2

from .kinds import CALLS, CASE, IF, WHILE

_OF_THE_FIRST_GRAPH = ("_class", "_gradient_op_type")
"""Attributes that stand for something in the graph that operations come from, such as a short way to a gradient."""


def replay(graph: Any, given: Sequence[Any], known: dict[str, Any] | None = None, chooses: bool = True) -> list[Any]:
    """The results of a graph for other inputs. `known`: tensors in it that are not to be computed."""
    values = dict(known or {})
    values |= {tensor.name: value for tensor, value in zip(graph.inputs, given, strict=True)}
    for op in graph.get_operations():
        if op.type in ("Placeholder", "NoOp") or (op.outputs and op.outputs[0].name in values):
            continue
        inputs = [values[tensor.name] for tensor in op.inputs]
        made = _again(op, inputs, graph, chooses)
        values |= {tensor.name: one for tensor, one in zip(op.outputs, made, strict=True)}
    return [values[tensor.name] for tensor in graph.outputs]


def is_square(op: Any) -> bool:
    """Whether floats are raised to the power of 2, which is a product. The gradient of a power has others in it, and
    logarithms, which a loop computes whether somebody needs them or not."""
    if op.type != "Pow" or not op.inputs[0].dtype.is_floating or op.inputs[1].shape.rank != 0:
        return False
    exponent = tensor_util.constant_value(op.inputs[1])
    return exponent is not None and exponent == 2


def _again(op: Any, inputs: list[Any], graph: Any, chooses: bool) -> list[Any]:
    if is_square(op):
        return [tf.square(inputs[0])]
    if op.type in IF:
        return _choose(op, inputs[0], inputs[1:], chooses)
    if op.type in WHILE:
        return _loop(op, inputs, chooses)
    if op.type in CASE:
        branches = [graph._get_function(branch.name).graph for branch in op.get_attr("branches")]
        return list(tf.switch_case(inputs[0], [functools.partial(replay, one, inputs[1:], None, chooses)
                                               for one in branches]))  # fmt: skip
    if op.type in CALLS:
        return replay(graph._get_function(op.get_attr("f").name).graph, inputs, None, chooses)
    attributes = {name: value for name, value in op.node_def.attr.items() if name not in _OF_THE_FIRST_GRAPH}
    with tf.device(op.device or None) if op.device else tf.name_scope(""):
        into = ops.get_default_graph()
        made = into._create_op_internal(op.type, inputs, attrs=attributes, op_def=op.op_def)
    for old, new in zip(op.outputs, made.outputs, strict=True):
        handle_data_util.copy_handle_data(old, new)
    return list(made.outputs)


def _choose(op: Any, condition: Any, given: list[Any], chooses: bool) -> list[Any]:
    names = ("then_branch", "_true_graph"), ("else_branch", "_false_graph")
    sides = [while_v2._get_graph(op, *name) for name in names]
    computed = [functools.partial(replay, side, given, None, chooses) for side in sides]
    if not chooses or any(node.op in WHILE for side in sides for node in _nodes(side)):
        return list(tf.cond(condition, *computed))
    yes, no = (compute() for compute in computed)
    return [tf.where(condition, a, b) for a, b in zip(yes, no, strict=True)]


def _loop(op: Any, given: list[Any], chooses: bool) -> list[Any]:
    test = while_v2._get_graph(op, "cond", "_cond_graph")
    body = while_v2._get_graph(op, "body", "_body_graph")
    most = tensor_util.constant_value(op.inputs[1])
    made = tf.while_loop(
        lambda *state: replay(test, state, None, chooses)[0], lambda *state: replay(body, state, None, chooses), given,
        shape_invariants=[out.shape for out in op.outputs],
        parallel_iterations=op.get_attr("parallel_iterations"),
        maximum_iterations=int(most) if most is not None and most >= 0 else None,
    )  # fmt: skip
    return list(made)


def _nodes(graph: Any) -> list[Any]:
    definition = graph.as_graph_def()
    return [*definition.node, *(node for function in definition.library.function for node in function.node_def)]
