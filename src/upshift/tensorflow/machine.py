"""A traced function of numbers in; machine code for TensorFlow's own dtypes out, one pass over all elements.

A function that works on every number of an array alike is taken for a function of numbers, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import tensorflow as tf

from ..config import settings
from ..gears.chunks import chunks_of, side_by_side
from .bridge import adopt, aligned, as_array
from .call import Call
from .kinds import CONTROL, CUTS
from .numbers import MINDS_TINY, patch
from .operations import ELEMENTWISE, Step, Unreadable
from .reading import Reader, captured_by
from .trace import Traced

GRAIN = 1 << 16
"""Numbers that are worth a thread's attention."""
OPTIONS = {"error_model": "numpy", "nogil": True}


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
        number = array.item()
        text = {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}.get(repr(number), repr(number))
        return text if array.dtype == bool else f"np.{array.dtype.name}({text})"

    def step(self, op: Any, names: dict[str, str], graph: Any) -> list[str]:
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
        return expression if dtype == tf.bool else f"np.{dtype.name}({expression})"

    def step_of(self, op: Any, arguments: list[str]) -> Step:
        return Number(op, arguments, self.keep, self.flags)

    def write(self, name: str, parameters: list[str], graph: Any, names: dict[str, str], single: bool = False) -> None:
        self.flags = name == "element" and not any(op.type in CONTROL for op in graph.get_operations())
        super().write(name, parameters, graph, names, single)


class Number(Step):
    """An operation on numbers, whatever array they are in. `flags`: refusals are noted, so that loops have no exits."""

    def __init__(self, op: Any, names: list[str], keep: Any, flags: bool) -> None:
        super().__init__(op, names, keep)
        self.flags = flags

    def rank(self, i: int = 0) -> int:
        return 0

    def refuse(self, condition: str) -> None:
        if self.flags:
            self.lines.append(f"bad |= {condition}")
        else:
            super().refuse(condition)


def over(call: Call, traced: Traced) -> Callable[[Call], list[Any]]:
    """`Unreadable` where it is not a function of numbers."""
    kernel = compile_kernel(call, traced)
    lifted, captured = traced.lifted, captured_by(traced, len(call.leaves))
    dtypes = [spec.dtype.as_numpy_dtype for spec in traced.out_specs]
    minds = bool(traced.kinds & (CUTS | MINDS_TINY))

    def run(call: Call) -> list[Any]:
        columns = [as_array(leaf) for leaf in call.leaves]
        held = lifted.values(call.fn)
        values = [as_array(held[origin] if isinstance(origin, int) else origin)[()] for _, origin in captured]
        outs = [aligned(columns[0].shape, dtype) for dtype in dtypes]
        flat = [column.reshape(-1) for column in columns]
        if not _in_parts(kernel, flat, values, [out.reshape(-1) for out in outs]):
            raise ArithmeticError("an element for which C and TensorFlow may differ")
        if minds and not all(_in_parts(no_tiny, [one], [_least(one)], []) for one in flat if one.dtype.kind == "f"):
            patch(call, columns, outs)
        return [adopt(out) for out in outs]

    return run


@numba.njit(**OPTIONS)  # type: ignore[untyped-decorator]
def no_tiny(column: Any, least: Any) -> bool:
    """Whether no number is subnormal."""
    found = False
    for i in range(len(column)):
        size = abs(column[i])
        found |= (size < least) & (size > 0)
    return not found


def _least(column: Any) -> Any:
    return np.finfo(column.dtype).smallest_normal


def _in_parts(kernel: Any, columns: list[Any], values: list[Any], outs: list[Any]) -> bool:
    """On threads where there is enough to do. False where a part says so."""
    size, threads = len(columns[0]), settings().num_threads
    if threads < 2 or size <= 2 * GRAIN:
        return bool(kernel(*columns, *values, *outs))
    said: list[bool] = []

    def work(part: slice) -> None:
        said.append(kernel(*(column[part] for column in columns), *values, *(out[part] for out in outs)))

    side_by_side(work, chunks_of(0, size, max(GRAIN, -(-size // (4 * threads)))), threads)
    return all(said)


def compile_kernel(call: Call, traced: Traced) -> Any:
    """The loop over elements, for these dtypes."""
    shapes = {tuple(spec.shape) for spec in call.specs}
    if len(shapes) > 1 or any(tuple(spec.shape) not in shapes for spec in traced.out_specs):
        raise Unreadable("its elements or results are arrays of several shapes")
    reader = TypedReader(shapes.pop())
    graph, count = traced.graph, len(traced.graph.inputs)
    names = {tensor.name: f"a{i}" for i, tensor in enumerate(graph.inputs)}
    for tensor in graph.inputs[len(call.leaves) :]:
        if tensor.dtype != tf.resource and tensor.shape.rank:
            raise Unreadable("it captures an array")
    reader.write("element", list(names.values()), graph, names)
    reader.functions[-1] = _flagged(reader.functions[-1])
    inputs = [f"x{i}[i]" if i < len(call.leaves) else f"x{i}" for i in range(count)]
    outs = [f"y{k}" for k in range(len(graph.outputs))]
    reader.functions.append(
        f"def kernel({', '.join([f'x{i}' for i in range(count)] + outs)}):\n"
        "    bad = False\n"
        "    for i in range(len(x0)):\n"
        f"        {', '.join(f'{out}[i]' for out in outs)}, one = element({', '.join(inputs)})\n"
        "        bad |= one\n"
        "    return not bad\n"
    )
    namespace: dict[str, Any] = {"np": np, "njit": numba.njit, "options": OPTIONS}
    source = "\n\n".join(f"@njit(**options)\n{function}" for function in reader.functions)
    exec(compile(source, "<read from a TensorFlow graph>", "exec"), namespace)
    return namespace["kernel"]


def _flagged(function: str) -> str:
    """The function of one element, which also says whether it is to be refused."""
    head, _, body = function.partition("\n")
    return f"{head}\n    bad = False\n{body.rstrip().removesuffix(')')} bad)\n"
