"""Machine code for traced functions of numbers, in TensorFlow's own dtypes, in one pass over all elements.

A function that works on every number of an array alike is taken for a function of numbers, too.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ..config import settings
from ..gears.chunks import chunks_of, side_by_side
from ..gears.frameworks import INSTALL, is_installed
from ..loading import loaded
from .bridge import adopt, aligned, as_array
from .call import Call
from .draws import drawing, drawn_by, names_of
from .kinds import CONTROL, CUTS, WHILE
from .numbers import MINDS_TINY, mend, tiny_rows
from .operations import ELEMENTWISE, Step, Unreadable
from .reading import Reader, captured_by
from .trace import Traced

GRAIN, LEAST = 1 << 19, 1 << 12
"""Operations, and numbers, that are worth a thread's attention."""
TURNS = 16
"""How often a loop is taken to turn."""
BAD, TINY = 1, 2
KEEP_FLOATS = frozenset(("Add", "AddV2", "Sub", "Mul", "Neg"))
"""Operations by which floats stay of their dtype in Numba, too."""
OPTIONS = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}


class TypedReader(Reader):
    """Writes every value with its dtype, since Numba promotes by rules of its own."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        """Of the array whose numbers are the elements; empty where elements are numbers."""
        self.flags = False

    def keep(self, value: Any) -> str:
        array = np.asarray(value)
        if array.ndim:
            raise Unreadable("it works with arrays")
        if array.dtype == bool:
            return repr(array.item())
        name = f"k{len(self.namespace)}"  # a global name costs the compiler less than a call
        self.namespace[name] = array[()]
        return name

    def step(self, op: Any, names: dict[str, str], graph: Any) -> list[str]:
        users = op.outputs[0].consumers() if op.type == "Const" else ()
        if users and all(user.outputs and user.outputs[0].name in names for user in users):
            return []  # the shape of a draw
        for out in () if op.type == "Placeholder" else op.outputs:
            if out.dtype != tf.resource and tuple(out.shape) not in ((), self.shape):
                raise Unreadable(f"{op.type} works with arrays")
            if out.dtype.is_complex:
                raise Unreadable(f"{op.type} works with complex numbers")
        if self.shape and op.type not in ELEMENTWISE:
            raise Unreadable(f"{op.type} does not work on every number alike")
        return super().step(op, names, graph)

    def argument(self, op: Any, i: int, names: dict[str, str]) -> str:
        return names[op.inputs[i].name]

    def made(self, op: Any, expression: str) -> str:
        dtype = op.outputs[0].dtype
        kept = dtype == tf.bool or (dtype.is_floating and op.type in KEEP_FLOATS)
        return expression if kept else f"np.{dtype.name}({expression})"

    def step_of(self, op: Any, arguments: list[str]) -> Step:
        """An operation on numbers, to be written with its dtype."""
        return Number(op, arguments, self.keep, self.flags)

    def body(self, graph: Any, names: dict[str, str]) -> list[str]:
        """Where no branch is taken, refusals are flags, so that a loop over elements has no exits."""
        self.flags = not self.functions and not any(op.type in CONTROL for op in graph.get_operations())
        return super().body(graph, names)


class Number(Step):
    """An operation on numbers, whatever array they are in. `flags`: refusals are noted, so that loops have no exits."""

    def __init__(self, op: Any, names: list[str], keep: Any, flags: bool) -> None:
        super().__init__(op, names, keep)
        self.flags = flags

    def rank(self, i: int = 0) -> int:
        """None of its operands has axes: it is written for single numbers."""
        return 0

    def refuse(self, condition: str) -> None:
        if self.flags:
            self.lines.append(f"bad |= {condition}")
        else:
            super().refuse(condition)


def over(call: Call, traced: Traced) -> Callable[[Call], list[Any]]:
    """`Unreadable` where it is not a function of numbers."""
    minds = bool(traced.kinds & (CUTS | MINDS_TINY))
    kernel = _compile_kernel(call, traced, minds)
    lifted, captured = traced.lifted, captured_by(traced, len(call.leaves))
    draws = [drawn_by(op) for op in drawing(traced)]
    grain = max(LEAST, GRAIN // max(8, _operations(traced)))
    dtypes = [spec.dtype.as_numpy_dtype for spec in traced.out_specs]

    def run(call: Call) -> list[Any]:
        columns = [as_array(leaf) for leaf in call.leaves]
        held = lifted.values(call.fn)
        values = [as_array(held[origin] if isinstance(origin, int) else origin)[()] for _, origin in captured]
        outs = [aligned(columns[0].shape, dtype) for dtype in dtypes]
        flat = [column.reshape(-1) for column in (*columns, *(draw(len(columns[0])) for draw in draws))]
        said = _in_parts(kernel, flat, values, [out.reshape(-1) for out in outs], grain)
        if said & BAD:
            raise ArithmeticError("an element for which C and TensorFlow may differ")
        if said & TINY:
            mend(call, tiny_rows(columns), outs)
        return [adopt(out) for out in outs]

    return run


def _operations(traced: Traced) -> int:
    """That one number goes through, roughly."""
    count = len([node for node in traced.nodes if node.op != "Const"])
    return count * TURNS if traced.kinds.intersection(WHILE) else count


def _in_parts(kernel: Any, columns: list[Any], values: list[Any], outs: list[Any], grain: int) -> int:
    """On threads where there is enough to do; what was said of some element."""
    size, threads = len(columns[0]), settings().num_threads
    if threads < 2 or size <= 2 * grain:
        return int(kernel(*columns, *values, *outs))
    said: list[int] = []

    def work(part: slice) -> None:
        said.append(kernel(*(column[part] for column in columns), *values, *(out[part] for out in outs)))

    side_by_side(work, chunks_of(0, size, max(grain, -(-size // (4 * threads)))), threads)
    return functools.reduce(operator.or_, said)


def _compile_kernel(call: Call, traced: Traced, minds_tiny: bool) -> Any:
    """The loop over elements, for these dtypes. It says BAD or TINY of elements that it may not be right for."""
    shapes = {tuple(spec.shape) for spec in call.specs}
    if len(shapes) > 1 or any(tuple(spec.shape) not in shapes for spec in traced.out_specs):
        raise Unreadable("its elements or results are arrays of several shapes")
    shape = shapes.pop()
    if any(tuple(op.outputs[0].shape) != shape for op in drawing(traced)):
        raise Unreadable("it draws arrays of another shape than its elements")
    reader = TypedReader(shape)
    graph, count = traced.graph, len(traced.graph.inputs)
    names = {tensor.name: f"a{i}" for i, tensor in enumerate(graph.inputs)}
    drawn = names_of(drawing(traced))
    names |= drawn
    for tensor in graph.inputs[len(call.leaves) :]:
        if tensor.dtype != tf.resource and tensor.shape.rank:
            raise Unreadable("it captures an array")
    lines = [f"a{i} = x{i}[i]" for i in range(len(call.leaves))]
    lines += [f"{name} = x{name}[i]" for name in drawn.values()]
    if minds_tiny:
        lines += [_tiny(i, spec.dtype.as_numpy_dtype) for i, spec in enumerate(call.specs) if spec.dtype.is_floating]
    lines += reader.body(graph, names)
    outs = [f"y{k}" for k in range(len(graph.outputs))]
    lines += [f"{out}[i] = {names[tensor.name]}" for out, tensor in zip(outs, graph.outputs, strict=True)]
    columns = [*(f"x{i}" for i in range(len(call.leaves))), *(f"x{name}" for name in drawn.values())]
    inputs = columns + [f"a{i}" for i in range(len(call.leaves), count)]
    body = "".join(f"        {line}\n" for text in lines for line in text.split("\n"))
    reader.functions.append(
        f"def kernel({', '.join(inputs + outs)}):\n    bad = tiny = False\n    for i in range(len(x0)):\n{body}"
        f"    return {BAD} * bad + {TINY} * tiny\n"
    )
    namespace: dict[str, Any] = reader.namespace | {"njit": _njit(), "options": OPTIONS}
    source = "\n\n".join(f"@njit(**options)\n{function}" for function in reader.functions)
    exec(compile(source, "<read from a TensorFlow graph>", "exec"), namespace)
    return namespace["kernel"]


def _njit() -> Any:
    """Numba's compiler, which is loaded when a graph is first compiled by it."""
    if not is_installed("numba"):
        raise Unreadable(f"numba is not installed: {INSTALL['tensorflow']}")
    loaded(_load_numba)
    from numba import njit

    return njit


def _load_numba() -> None:
    import numba  # noqa: F401


def _tiny(i: int, dtype: Any) -> str:
    least = np.finfo(dtype).smallest_normal
    return f"tiny |= (abs(a{i}) < np.{np.dtype(dtype).name}({float(least)!r})) & (a{i} != 0)"
