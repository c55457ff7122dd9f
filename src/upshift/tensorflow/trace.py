"""A function and the kind of its elements in; TensorFlow's own graph of one element out, or why there is none."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.core import ag_ctx
from tensorflow.python.framework import op_def_registry

from . import results
from .call import Call
from .kinds import CHECKS, CLOSE, CONTROL, CUTS, EXACT, READS


@dataclass(frozen=True)
class Lifted:
    """Tensors in the closure of a function: inputs of its graph, so that others in their place need no new one."""

    cells: tuple[int, ...] = ()

    def values(self, fn: Any) -> list[Any]:
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
    """The function with its control flow as TensorFlow's, where it hangs on tensors."""
    enabled = ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED)
    converted: Callable[..., Any] = tf.__internal__.autograph.tf_convert(fn, enabled)
    return converted


@dataclass(frozen=True)
class Traced:
    """The graph of one element."""

    concrete: Any
    structure: Any
    out_specs: tuple[Any, ...]
    lifted: Lifted
    decides: bool

    @property
    def graph(self) -> Any:
        return self.concrete.graph

    @property
    def signature(self) -> Any:
        """What `tf.map_fn` has to be told of the results."""
        return self.pack(self.out_specs)

    def pack(self, leaves: Sequence[Any]) -> Any:
        return tf.nest.pack_sequence_as(self.structure, list(leaves))

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
        return frozenset(node.op for node in self.nodes)

    @cached_property
    def acts(self) -> str:
        """An operation that does more than compute; empty where there is none."""
        for node in self.nodes:
            if node.op in READS or node.op in CHECKS or node.op in CONTROL or is_free_draw(node):
                continue
            definition = op_def_registry.get(node.op)
            if definition is None or definition.is_stateful:
                return str(node.op)
        return ""

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers that nobody asked to be the same again."""
        return any(is_free_draw(node) for node in self.nodes)

    @property
    def checks(self) -> bool:
        """Whether it may refuse an element; a batch would only look at the first."""
        return bool(self.kinds & CHECKS)

    @cached_property
    def edge(self) -> str:
        """A decision that hangs on a number whose last bits are a kernel's own; empty where there is none."""
        return find_edge(self.graph)

    @cached_property
    def unknown(self) -> str:
        """An operation of which nobody has shown that a batch gives the same; empty where there is none."""
        return min(self.kinds - EXACT - CLOSE - READS - {"NoOp", "Placeholder", "Const"}, default="")


def is_free_draw(node: Any) -> bool:
    """A random number whose seed was left to TensorFlow."""
    drawing = "seed" in node.attr and "seed2" in node.attr
    return drawing and node.attr["seed"].i == 0 and node.attr["seed2"].i == 0


def find_edge(graph: Any) -> str:
    close: set[str] = set()
    for op in graph.get_operations():
        uncertain = any(one.name in close for one in op.inputs)
        inner = {node.op for f in _functions_of(op, graph) for node in f.node_def}
        if (uncertain and (op.type in CUTS or inner & CUTS)) or (inner & CUTS and inner & CLOSE):
            cast_to_float = op.type == "Cast" and op.outputs[0].dtype.is_floating
            if not cast_to_float and not all(one.dtype.is_integer or one.dtype.is_bool for one in op.inputs):
                return str(op.type)
        integral = op.outputs and all(one.dtype.is_integer or one.dtype.is_bool for one in op.outputs)
        if (uncertain and not integral) or (op.type in CLOSE and not integral) or inner & CLOSE:
            close.update(one.name for one in op.outputs)
    return ""


def _functions_of(op: Any, graph: Any) -> Iterator[Any]:
    """The bodies of a branch or loop, all the way down."""
    if op.type not in CONTROL:
        return
    library = {f.signature.name: f for f in graph.as_graph_def().library.function}
    names = [value.func.name for value in op.node_def.attr.values() if value.HasField("func")]
    while names:
        found = library.pop(names.pop(), None)
        if found is not None:
            yield found
            names += [v.func.name for node in found.node_def for v in node.attr.values() if v.HasField("func")]


def trace_element(call: Call, lifted: Lifted = NOTHING_LIFTED, decides: bool = True) -> Traced | str:
    """The graph of a call's function for one element, or one sentence why there is none.

    `decides`: whether there is control flow in the function's code, which takes some time to convert.
    """
    structure: list[Any] = []
    columns: list[Any] = []

    def one(*leaves: Any) -> list[Any]:
        count = len(call.leaves)
        fn = lifted.bind(call.fn, leaves[count:])
        made = (convert(fn) if decides and _has_source(fn) else fn)(call.pack(leaves[:count]))
        structure[:] = [made]
        columns[:] = results.columns_for(made, call.elems, call.leaves)
        specs = [None] * len(columns)
        if call.signature is not None:
            tf.nest.assert_same_structure(call.signature, made)
            specs = tf.nest.flatten(results.specs_of(call.signature))
            structure[:] = [call.signature]
        parts = zip(tf.nest.flatten(made), columns, specs, strict=True)
        return [results.as_result(*part) for part in parts]

    captured = [tf.type_spec_from_value(value) for value in lifted.values(call.fn)]
    try:
        concrete = tf.function(one, autograph=False).get_concrete_function(*call.specs, *captured)
    except results.WrongSignature as error:
        raise TypeError(str(error)) from None  # AutoGraph keeps the class of built-in errors only
    except Exception as error:  # the loop decides what the function does: this was only an attempt
        return f"{type(error).__name__}: {_first_line(error)}"
    outs = concrete.structured_outputs
    if not outs:
        return "it gives nothing"
    specs = [_spec_of(out, column, call.signature) for out, column in zip(outs, columns, strict=True)]
    return Traced(concrete, structure[0], tuple(specs), lifted, decides)


def _has_source(fn: Any) -> bool:
    """AutoGraph logs a warning about a function without one, and leaves it as it is."""
    try:
        return bool(inspect.getsource(fn))
    except TypeError:  # an object that is called
        return True
    except OSError:
        return False


def _spec_of(out: Any, column: Any, signature: Any) -> Any:
    if signature is None and isinstance(out, tf.Tensor) and results.is_ragged_like(column, out.dtype, out.shape.rank):
        return tf.RaggedTensorSpec(
            column.shape[1:], column.dtype, column.ragged_rank - 1, row_splits_dtype=column.row_splits.dtype
        )
    return tf.type_spec_from_value(out)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    inner = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception"))]
    return (inner[-1] if inner else lines[0] if lines else "")[:200]
