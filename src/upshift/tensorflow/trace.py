"""Has TensorFlow trace the function of one element, or finds the reason why it cannot be traced."""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tensorflow as tf
from tensorflow.core.function.polymorphism import function_type
from tensorflow.python.autograph.core import ag_ctx
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
from tensorflow.python.framework import func_graph, op_def_registry, ops
from tensorflow.python.ops import resource_variable_ops

from . import results
from .call import Call
from .edges import find_edge
from .kinds import ASSIGNS, CHECKS, CONTROL, READS, WHILE


@dataclass(frozen=True)
class Lifted:
    """Tensors in the closure of a function: inputs of its graph, so that others in their place need no new one."""

    cells: tuple[int, ...] = ()

    def values(self, fn: Any) -> list[Any]:
        """The tensors that a function has in its closure now."""
        return [fn.__closure__[i].cell_contents for i in self.cells]

    def bind(self, fn: Any, values: Sequence[Any]) -> Any:
        """The function with other tensors in its closure."""
        if not self.cells:
            return fn
        closure = list(fn.__closure__)
        for i, value in zip(self.cells, values, strict=True):
            closure[i] = types.CellType(value)
        made = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, tuple(closure))
        made.__kwdefaults__, made.__module__, made.__qualname__ = fn.__kwdefaults__, fn.__module__, fn.__qualname__
        return made


NOTHING_LIFTED = Lifted()


def convert(fn: Any) -> Callable[..., Any]:
    """The function with its control flow as TensorFlow's, where it depends on tensors."""
    enabled = ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED)
    converted: Callable[..., Any] = tf.__internal__.autograph.tf_convert(fn, enabled)
    return converted


@dataclass(frozen=True)
class Traced:
    """The graph of one element. Its inputs are the element's tensors, what was lifted, and what was captured."""

    graph: Any
    structure: Any
    out_specs: tuple[Any, ...]
    lifted: Lifted = NOTHING_LIFTED

    @property
    def captured(self) -> list[Any]:
        """The tensors and variables, from outside, that the last inputs stand for."""
        return list(self.graph.external_captures)

    @property
    def signature(self) -> Any:
        """What `tf.map_fn` has to be told of the results."""
        return self.pack(self.out_specs)

    def pack(self, leaves: Sequence[Any]) -> Any:
        return tf.nest.pack_sequence_as(self.structure, list(leaves))

    @cached_property
    def concrete(self) -> Any:
        """The same as a function to call."""
        return function_of(self.graph)

    def watch(self) -> None:
        """Let tapes, and the graph that is being made, know of the variables that are read."""
        for variable in self.graph.variables:
            resource_variable_ops.variable_accessed(variable)

    @cached_property
    def nodes(self) -> list[Any]:
        """All operations, those within branches and loops included."""
        definition = self.graph.as_graph_def()
        return [*definition.node, *(node for f in definition.library.function for node in f.node_def)]

    @cached_property
    def size(self) -> int:
        """Operations that compute."""
        return sum(node.op != "Const" for node in self.nodes)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The names of all operations in the graph."""
        return frozenset(node.op for node in self.nodes)

    @cached_property
    def loops(self) -> bool:
        """Whether how often something is done depends on numbers."""
        return not self.kinds.isdisjoint(WHILE)

    @cached_property
    def acts(self) -> str:
        """An operation that does more than compute; empty where there is none."""
        return next(self._acting(), "")

    @cached_property
    def assigns(self) -> bool:
        """Whether all that it does besides computing is to change variables, as far as it does anything."""
        return all(op in ASSIGNS or op.startswith("ResourceApply") for op in self._acting())

    def _acting(self) -> Iterator[str]:
        for node in self.nodes:
            if node.op in READS or node.op in CHECKS or node.op in CONTROL or is_free_draw(node):
                continue
            definition = op_def_registry.get(node.op)
            if definition is None or definition.is_stateful:
                yield str(node.op)

    @cached_property
    def draws(self) -> bool:
        """Whether it draws random numbers that nobody asked to be the same again."""
        return any(is_free_draw(node) for node in self.nodes)

    @property
    def checks(self) -> bool:
        """Whether it may refuse an element; a batch would only look at the first."""
        return bool(self.kinds & CHECKS)

    @cached_property
    def own_gradients(self) -> bool:
        """Whether the user says what a gradient is (`tf.custom_gradient`), which other operations would not know."""
        named = {node.attr["_gradient_op_type"].s.decode() for node in self.nodes if "_gradient_op_type" in node.attr}
        return not all(map(_is_natural, named))

    @cached_property
    def edge(self) -> str:
        """A decision that depends on a number whose last bits are a kernel's own; empty where there is none."""
        return find_edge(self.graph)


def function_of(graph: Any) -> Any:
    """A graph as a function to call."""
    signature = function_type.from_structured_signature(
        graph.structured_input_signature, graph.structured_outputs, graph.function_captures.capture_types
    )
    return ConcreteFunction.from_func_graph(graph, signature, {}, shared_func_graph=True)


def _is_natural(name: str) -> bool:
    """Whether a gradient that was registered is only a shorter way to what the operations would give."""
    pending, seen = [ops.gradient_registry.lookup(name)], set()
    while pending:
        one = pending.pop()
        if getattr(one, "__qualname__", "").startswith("swish.<locals>") and "nn_impl" in one.__module__:
            return True
        if isinstance(one, types.FunctionType) and id(one) not in seen:
            seen.add(id(one))
            pending += [cell.cell_contents for cell in one.__closure__ or () if cell != types.CellType()]
    return False


def is_free_draw(node: Any) -> bool:
    """A random number whose seed was left to TensorFlow."""
    drawing = "seed" in node.attr and "seed2" in node.attr
    return drawing and node.attr["seed"].i == 0 and node.attr["seed2"].i == 0


def trace_element(call: Call, lifted: Lifted = NOTHING_LIFTED, decides: bool = True) -> Traced | str:
    """The graph of a call's function for one element, or one sentence why there is none.

    `decides`: whether there is control flow in the function's code, which takes some time to convert.
    The function is called once.
    """
    found: list[Any] = []
    made_variables: list[Any] = []

    def one(*leaves: Any) -> list[Any]:
        count = len(call.leaves)
        fn = lifted.bind(call.fn, leaves[count:])
        if call.around is not None and call.loop is not None:
            fn = call.around(_converted(call.loop[0], decides))
        else:
            fn = _converted(fn, decides)
        made = fn(call.pack(leaves[:count]))
        values, specs = results.of_element(made, call)
        found[:] = [made if call.signature is None else call.signature, specs]
        return values

    def create(make: Any, **keywords: Any) -> Any:
        made_variables.append(make(**keywords))
        return made_variables[-1]

    captured = [tf.type_spec_from_value(value) for value in lifted.values(call.fn)]
    try:
        with tf.variable_creator_scope(create), variables_as_they_were():
            graph = func_graph.func_graph_from_py_func("element", one, (*call.specs, *captured), {})
    except results.WrongSignature as error:
        raise TypeError(str(error)) from None  # AutoGraph keeps the class of built-in errors only
    except results.WrongShape as error:
        raise ValueError(str(error)) from None
    except Exception as error:  # the loop decides what the function does: this was only an attempt
        return f"{type(error).__name__}: {_first_line(error)}"
    if made_variables and tf.compat.v1.executing_eagerly_outside_functions():
        return "it makes a variable for every element"
    if graph.deferred_external_captures:
        return "what it captured is known only when it runs"
    structure, specs = found
    return Traced(graph, structure, tuple(specs), lifted)


@contextlib.contextmanager
def variables_as_they_were() -> Iterator[None]:
    """Tracing, and `tf.map_fn`, leave settings of theirs behind in the scope of variables if the function raises."""
    scope = tf.compat.v1.get_variable_scope()
    before = scope.use_resource, scope.caching_device
    try:
        yield
    except BaseException:
        if not tf.executing_eagerly() or before[0]:  # in eager mode it cannot be set to False, and does not matter
            scope.set_use_resource(before[0])
        if not tf.executing_eagerly():
            scope.set_caching_device(before[1])
        raise


def _converted(fn: Any, decides: bool) -> Any:
    return convert(fn) if decides and _has_source(fn) else fn


def _has_source(fn: Any) -> bool:
    """AutoGraph logs a warning about a function without one, and leaves it as it is."""
    try:
        return bool(inspect.getsource(fn))
    except TypeError:  # an object that is called
        return True
    except OSError:
        return False


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    inner = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception"))]
    return (inner[-1] if inner else lines[0] if lines else "")[:200]
