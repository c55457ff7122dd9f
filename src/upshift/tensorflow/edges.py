"""Finds decisions in the graph of one element that depend on last bits, which a batch may have others of.

A batch of sines is not, to the last bit, one sine after the other. Where such a number is only computed with, results
are as close as they were; where it is compared, rounded or sorted, another bit may be another branch.
"""

from __future__ import annotations

from typing import Any

from tensorflow.python.ops import while_v2

from .kinds import CALLS, CASE, CUTS, EXACT, IF, MOVES, PASSED, READS, SHAPES, WHILE


def find_edge(graph: Any, close: frozenset[str] = frozenset()) -> str:
    """The name of an operation that decides by a number whose last bits are a kernel's own; empty where none does.
    `close`: operations that give others in this place, exact as they are."""
    try:
        _Walk(close).over(graph, [False] * len(graph.inputs))
    except _Found as found:
        return str(found)
    return ""


class _Found(Exception):
    pass


class _Walk:
    """Follows through a graph, its branches and its loops, which tensors may differ in their last bits."""

    def __init__(self, close: frozenset[str]) -> None:
        self.exact = (EXACT | MOVES) - close

    def over(self, graph: Any, given: list[bool]) -> list[bool]:
        """Which outputs differ, where these inputs do."""
        close = {tensor.name for tensor, differs in zip(graph.inputs, given, strict=True) if differs}
        for op in graph.get_operations():
            inputs = [tensor.name in close for tensor in op.inputs]
            if op.type in WHILE:
                made = self._loop(op, inputs)
            elif op.type in IF or op.type in CASE:
                made = self._branches(_branches_of(op, graph), inputs[1:])
            elif op.type in CALLS:
                made = self.over(graph._get_function(op.get_attr("f").name).graph, inputs)
            else:
                made = self._step(op, any(inputs))
            close.update(tensor.name for tensor, differs in zip(op.outputs, made, strict=True) if differs)
        return [tensor.name in close for tensor in graph.outputs]

    def _step(self, op: Any, uncertain: bool) -> list[bool]:
        if op.type in PASSED or op.type in READS or op.type in SHAPES:
            return [False] * len(op.outputs)
        integral = [one.dtype.is_integer or one.dtype.is_bool for one in op.outputs]
        to_float = op.type == "Cast" and not integral[0]
        if uncertain and not to_float and (op.type in CUTS or any(integral)):
            raise _Found(op.type)
        differs = uncertain or op.type not in self.exact
        return [differs and not whole for whole in integral]

    def _loop(self, op: Any, given: list[bool]) -> list[bool]:
        """What differs after one turn differs in the next, until nothing is added."""
        test = while_v2._get_graph(op, "cond", "_cond_graph")
        body = while_v2._get_graph(op, "body", "_body_graph")
        while True:
            self.over(test, given)
            after = [a or b for a, b in zip(given, self.over(body, given), strict=True)]
            if after == given:
                return given
            given = after

    def _branches(self, graphs: list[Any], given: list[bool]) -> list[bool]:
        made = [self.over(graph, given) for graph in graphs]
        return [any(outputs) for outputs in zip(*made, strict=True)]


def _branches_of(op: Any, graph: Any) -> list[Any]:
    if op.type in CASE:
        return [graph._get_function(branch.name).graph for branch in op.get_attr("branches")]
    names = ("then_branch", "_true_graph"), ("else_branch", "_false_graph")
    return [while_v2._get_graph(op, *name) for name in names]
