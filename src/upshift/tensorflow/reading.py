"""Reads TensorFlow's graph of one element as a Python function of NumPy numbers and arrays."""

from __future__ import annotations

import ast
import functools
import math
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_util
from tensorflow.python.ops import while_v2

from ..compiler.parsing import parsed
from ..compiler.source import adopt_source
from .bridge import as_array
from .draws import drawing, names_of
from .kinds import CALLS, IF, WHILE
from .operations import BINARY, DTYPES, RULES, Step, Unreadable
from .trace import Traced

MOST_LINES = 2000
WEAK = frozenset((*BINARY, "FloorDiv", "FloorMod"))
"""Operations a side of which may be a Python number, which takes on the dtype of the other."""


@dataclass(frozen=True)
class Read:
    """The function, and where the values that it captured are to be found."""

    source: str
    namespace: dict[str, Any]
    captured: tuple[tuple[str, Any], ...]
    """A name, and the variable, tensor or place in the closure behind it."""

    @functools.cached_property
    def _tree(self) -> ast.Module:
        return parsed(self.source)

    @functools.cached_property
    def _fixed(self) -> Any:
        namespace = dict(self.namespace)
        exec(compile(self._tree, "<read from a TensorFlow graph>", "exec"), namespace)
        return namespace["element"], namespace

    def show_compiler(self) -> None:
        """Let our compiler have the source, which is in no file. TensorFlow warns of nothing, so its code need not."""
        for node in self._tree.body:
            assert isinstance(node, ast.FunctionDef)
            adopt_source(self._fixed[1][node.name].__code__, node, quiet=True)

    def function(self, lifted: Sequence[Any], **names: Any) -> Any:
        """The function with what it captured as it is now, and with other things by these names."""
        function, namespace = self._fixed
        if not self.captured and not names:
            return function
        now = namespace | names
        for name, origin in self.captured:
            value = as_array(lifted[origin] if isinstance(origin, int) else origin)
            now[name] = value[()] if not value.ndim else value
        for name, value in namespace.items():
            if isinstance(value, types.FunctionType) and name not in names:
                now[name] = types.FunctionType(value.__code__, now, name)
        return now["element"]


def read(traced: Traced, elements: int) -> Read:
    """A traced function of so many tensors, and then of its draws, read. Unreadable where an operation has no rule."""
    reader = Reader()
    graph = traced.graph
    inputs = list(graph.inputs)
    names = names_of(drawing(traced))
    drawn = list(names.values())
    for i, tensor in enumerate(inputs[:elements]):
        names[tensor.name] = f"x{i}"
        _check(tensor)
    captured = captured_by(traced, elements)
    for tensor, (name, _) in zip(inputs[elements:], captured, strict=True):
        names[tensor.name] = name
    parameters = [f"x{i}" for i in range(elements)]
    reader.write("element", parameters + drawn, graph, names, single=len(graph.outputs) == 1)
    return Read("\n\n".join(reader.functions), reader.namespace, captured)


def captured_by(traced: Traced, elements: int) -> tuple[tuple[str, Any], ...]:
    """For every input of a graph besides its elements a name, and what is behind it."""
    lifted = len(traced.lifted.cells)
    others = range(len(traced.graph.inputs) - elements)
    return tuple((f"c{k}", k if k < lifted else _origin(traced, k - lifted)) for k in others)


def _origin(traced: Traced, i: int) -> Any:
    """The variable or tensor that a graph captured."""
    outer = traced.captured[i]
    if outer.dtype != tf.resource:
        return outer
    for variable in traced.graph.variables:
        if variable.handle is outer:
            return variable
    raise Unreadable("it captures a resource that is no variable")


def _check(tensor: Any) -> None:
    if tensor.dtype == tf.resource:
        return
    if tensor.dtype not in DTYPES:
        raise Unreadable(f"{tensor.op.type} works with {tensor.dtype.name}")
    if not tensor.shape.is_fully_defined():
        raise Unreadable(f"{tensor.op.type} has a shape that is not known beforehand")


class Reader:
    """Writes one function for the graph, and one for every branch and loop in it."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.namespace: dict[str, Any] = {"np": np}

    def keep(self, value: Any) -> str:
        """The name of a constant."""
        name = f"k{len(self.namespace)}"
        array = np.asarray(value)
        array.flags.writeable = False
        self.namespace[name] = array[()] if not array.ndim else array
        return name

    def write(self, name: str, parameters: list[str], graph: Any, names: dict[str, str], single: bool = False) -> None:
        """One graph as one function, which gives a tuple of its outputs."""
        lines = self.body(graph, names)
        outs = [names[out.name] for out in graph.outputs]
        result = outs[0] if single else f"({', '.join(outs)},)"
        body = "".join(f"    {line}\n" for text in lines for line in text.split("\n"))
        self.functions.append(f"def {name}({', '.join(parameters)}):\n{body}    return {result}\n")

    def body(self, graph: Any, names: dict[str, str]) -> list[str]:
        """The lines of a graph, after which its outputs have names."""
        lines: list[str] = []
        for op in graph.get_operations():
            lines += self.step(op, names, graph)
            if len(lines) > MOST_LINES:
                raise Unreadable("it is longer than reading is worth")
        return lines

    def step(self, op: Any, names: dict[str, str], graph: Any) -> list[str]:
        """The lines of one operation; its outputs get names."""
        if op.type in ("Placeholder", "NoOp") or (op.outputs and op.outputs[0].name in names):
            return []
        for out in op.outputs:
            _check(out)
        if op.type in (*WHILE, *IF, *CALLS):
            return self.branch(op, names, graph)
        if op.type in ("Shape", "Size", "Rank", "Const", "Range"):
            return self.constant(op, names)
        if op.type == "Unpack":
            return self.unpack(op, names)
        if op.type == "IdentityN":
            for one, out in zip(op.inputs, op.outputs, strict=True):
                names[out.name] = names[one.name]
            return []
        rule = RULES.get(op.type)
        if rule is None:
            raise Unreadable(f"{op.type} has no rule")
        arguments = [self.argument(op, i, names) for i in range(len(op.inputs))]
        step = self.step_of(op, arguments)
        expression = rule(step)
        if expression.isidentifier():
            names[op.outputs[0].name] = expression
            return step.lines
        name = names[op.outputs[0].name] = f"v{len(names)}"
        return [*step.lines, f"{name} = {self.made(op, expression)}"]

    def step_of(self, op: Any, arguments: list[str]) -> Step:
        """An operation as its rule sees it."""
        return Step(op, arguments, self.keep)

    def made(self, op: Any, expression: str) -> str:
        """What is assigned to the name of an operation's result."""
        return expression

    def argument(self, op: Any, i: int, names: dict[str, str]) -> str:
        """A name, or a Python number where a constant meets another operand, whose dtype it takes on."""
        tensor = op.inputs[i]
        if op.type in WEAK and tensor.op.type == "Const" and not tensor.shape.rank:
            other = op.inputs[1 - i]
            value = tensor_util.constant_value(tensor)
            if other.op.type != "Const" and not tensor.dtype.is_complex and math.isfinite(value):
                number = value.item()
                return f"({number!r})" if number < 0 else repr(number)
        return names[tensor.name]

    def constant(self, op: Any, names: dict[str, str]) -> list[str]:
        value = tensor_util.constant_value(op.outputs[0])
        if value is None:
            raise Unreadable(f"{op.type} is not known beforehand")
        names[op.outputs[0].name] = self.keep(value)
        return []

    def unpack(self, op: Any, names: dict[str, str]) -> list[str]:
        """Lines that take an array apart along an axis."""
        axis, source = op.get_attr("axis"), names[op.inputs[0].name]
        lines = []
        for i, out in enumerate(op.outputs):
            name = names[out.name] = f"v{len(names)}"
            keys = ", ".join([":"] * axis + [str(i)]) if axis >= 0 else f"..., {i}"
            lines.append(f"{name} = {source}[{keys}]")
        return lines

    # ---- branches and loops

    def branch(self, op: Any, names: dict[str, str], graph: Any) -> list[str]:
        """Lines for a branch or a loop: calls of functions that are written for what is in it."""
        place = f"{len(self.functions)}_{len(names)}"
        passed = [names[one.name] for one in op.inputs]
        outs = []
        for out in op.outputs:
            outs.append(f"v{len(names)}")
            names[out.name] = outs[-1]
        made = ", ".join(outs) + ","
        if op.type in WHILE:
            test = self.inner(f"test_{place}", while_v2._get_graph(op, "cond", "_cond_graph"), single=True)
            body = self.inner(f"body_{place}", while_v2._get_graph(op, "body", "_body_graph"))
            return [
                f"{made} = {', '.join(passed)},",
                f"while {test}({', '.join(outs)}):",
                f"    {made} = {body}({', '.join(outs)})",
            ]
        if op.type in IF:
            given = ", ".join(passed[1:])
            then = self.inner(f"then_{place}", while_v2._get_graph(op, "then_branch", "_true_graph"))
            other = self.inner(f"other_{place}", while_v2._get_graph(op, "else_branch", "_false_graph"))
            return [f"if {passed[0]}:", f"    {made} = {then}({given})", "else:", f"    {made} = {other}({given})"]
        called = self.inner(f"call_{place}", graph._get_function(op.get_attr("f").name).graph)
        return [f"{made} = {called}({', '.join(passed)})"]

    def inner(self, name: str, graph: Any, single: bool = False) -> str:
        """Writes a function for a graph within the graph; its name."""
        names = {tensor.name: f"a{i}" for i, tensor in enumerate(graph.inputs)}
        for tensor in graph.inputs:
            if tensor.consumers():
                _check(tensor)
        self.write(name, list(names.values()), graph, names, single)
        return name
