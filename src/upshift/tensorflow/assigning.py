"""Makes a graph that assigns to variables undo what it assigned where a call of it fails.

Whatever a graph raises, the plain function is called in its place, and must find every variable as it was. Either all
that may fail is made to run before the first assignment, or values are held for the time of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .bridge import as_array
from .kinds import ASSIGNS, CALLS, CASE, CHECKS, CLOSE, CONTROL, EXACT, IF, PASSED, READS, SHAPES, WHILE

MAY_FAIL = frozenset(
    "GatherV2 Gather GatherNd Reshape MatMul BatchMatMulV2 Einsum ConcatV2 Pack StridedSlice Slice Tile FloorDiv "
    "FloorMod SparseSoftmaxCrossEntropyWithLogits SoftmaxCrossEntropyWithLogits Split SplitV BroadcastTo Range".split()
)
"""Operations that refuse some numbers or shapes; all others that are known here compute with every number alike."""


class State:
    """The variables that a graph assigns to."""

    def __init__(self, variables: list[Any], ordered: bool) -> None:
        self.variables, self.ordered = variables, ordered

    def save(self) -> list[Any]:
        """Their values. No memory is copied: an assignment makes a new value where an old one is held."""
        return [tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=v.dtype) for v in self.variables]

    def restore(self, saved: list[Any]) -> None:
        """Puts all variables back to what they held."""
        for variable, value in zip(self.variables, saved, strict=True):
            variable.assign(value)

    @staticmethod
    def arrays(saved: list[Any]) -> Any:
        """What was saved, as arrays, to be compared."""
        return tuple(map(as_array, saved))

    def kept(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """The same, but if it raises, variables are what they were."""
        if self.ordered:
            return run

        def careful(*values: Any) -> Any:
            saved = self.save()
            try:
                return run(*values)
            except Exception:
                self.restore(saved)
                raise

        return careful


def assigned(concrete: Any) -> list[Any] | None:
    """The variables that a graph is given, any of which it may assign to; None where it is given other resources."""
    handles = {id(handle) for handle in concrete.captured_inputs if handle.dtype == tf.resource}
    found = [v for v in concrete.graph.variables if id(v.handle) in handles]
    return found if len(found) == len(handles) else None


def _is_assignment(op: Any) -> bool:
    return op.type in ASSIGNS or op.type.startswith("ResourceApply")


def put_assignments_last(graph: Any) -> bool:
    """Let every assignment wait for all that may fail, while a graph is being made. False: that cannot be had."""
    if any(op.type in CONTROL and _has_resource(op) for op in graph.get_operations()):
        return False  # there may be assignments inside
    after, free = _parted(graph)
    if not any(map(_is_assignment, after)) or any(map(_may_fail, after)):
        return False
    consumed = {id(tensor.op) for op in free for tensor in op.inputs}
    with tf.control_dependencies([op for op in free if id(op) not in consumed]):
        barrier = tf.no_op()
    for op in after:
        if _is_assignment(op):
            op._add_control_input(barrier)
    return True


def _parted(graph: Any) -> tuple[list[Any], list[Any]]:
    """Operations that depend on an assignment, which is one of them; and all others that compute."""
    after: list[Any] = []
    free: list[Any] = []
    known: set[int] = set()
    written: set[int] = set()
    for op in graph.get_operations():
        resources = {id(tensor) for tensor in op.inputs if tensor.dtype == tf.resource}
        hangs = any(id(tensor.op) in known for tensor in op.inputs) or any(id(c) in known for c in op.control_inputs)
        if hangs or _is_assignment(op) or resources & written:
            after.append(op)
            known.add(id(op))
            written |= resources if _is_assignment(op) else set()
        elif op.type not in PASSED:
            free.append(op)
    return after, free


def _has_resource(op: Any) -> bool:
    return any(tensor.dtype == tf.resource for tensor in op.inputs)


def _may_fail(op: Any) -> bool:
    if _is_assignment(op) or op.type in READS or op.type in SHAPES:
        return False
    control = op.type in WHILE or op.type in IF or op.type in CASE or op.type in CALLS
    return control or op.type in CHECKS or op.type in MAY_FAIL or not (op.type in EXACT or op.type in CLOSE)
