"""A formula of whole arrays in; machine code out that computes it in one loop over their numbers, as NumPy does."""

from __future__ import annotations

import math
import types as pytypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numba.core import types

from ...trace.paths import Capture
from ..binder import binder_of
from ..calls import Argument, ArrayOf, Call, Result
from ..formula import Formula
from ..ran import NotCompiled
from . import flags
from .call import check, clear, kept_apart, lent, packed, register
from .kept import kept


def compile_call(f: pytypes.FunctionType, arguments: Sequence[Argument], wanted: Result, formula: Formula) -> Call:
    """Machine code for calls with such arguments. Where NumPy would warn, or shapes differ, it raises."""
    register()
    if not flags.are_known():
        raise NotCompiled("numba", "this machine does not tell when NumPy would warn")
    places = range(len(arguments))
    arrays = [i for i in places if isinstance(arguments[i], ArrayOf)]
    given, dense = (tuple(_type_of(argument, layout) for argument in arguments) for layout in "AC")

    def make() -> tuple[Any, Any]:
        space: dict[str, Any] = {"__name__": __name__, "sqrt": math.sqrt, "empty": np.empty}
        exec(compile(_loop(formula, places, arrays), "<upshift formula>", "exec"), space)
        inner = njit([dense], error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(space["inner"])
        apart = kept_apart(inner.overloads[dense])
        space |= {"inner": apart, "lent": lent, "packed": packed, "clear": clear, "check": check}
        exec(compile(_entry(places, arrays), "<upshift formula>", "exec"), space)
        entry = njit([given], nogil=True, no_cfunc_wrapper=True)(space["entry"])
        return entry.overloads[given], None

    run, _ = kept(f"formula\n{formula}\n{arguments}", make)
    standing = [Capture((("f", None), ("global", name)), "same", np) for name in formula.reads_numpy]
    return Call(run, binder_of(standing) if standing else None, wanted, standing, (), True, is_formula=True)


def _type_of(argument: Argument, layout: str) -> Any:
    if isinstance(argument, ArrayOf):
        return types.Array(types.float64, argument.ndim, layout)
    return types.int64 if argument is int else types.float64


def _loop(formula: Formula, places: Sequence[int], arrays: list[int]) -> str:
    """All numbers of all arrays, which must have one shape."""
    first, *others = arrays
    outs = range(len(formula.results))
    return "\n".join([
        f"def inner({', '.join(f'x{i}' for i in places)}):",
        f"    if x{first}.size == 0: raise ValueError",  # NumPy lays out what is empty in a way of its own
        *(f"    if x{i}.shape != x{first}.shape: raise ValueError" for i in others),
        *(f"    a{i} = float(x{i})" for i in places if i not in arrays),
        *(f"    y{k} = empty(x{first}.shape)" for k in outs),
        *(f"    xs{i} = x{i}.reshape(x{i}.size)" for i in arrays),
        *(f"    ys{k} = y{k}.reshape(y{k}.size)" for k in outs),
        f"    for i in range(x{first}.size):",
        *(f"        a{i} = xs{i}[i]" for i in arrays),
        *(f"        {line}" for line in formula.lines),
        *(f"        ys{k}[i] = {formula.results[k]}" for k in outs),
        f"    return {', '.join(f'y{k}' for k in outs)}{',' if formula.several else ''}",
    ])  # fmt: skip


def _entry(places: Sequence[int], arrays: list[int]) -> str:
    """The loop, between a look at the arrays and one at the processor's flags."""
    return "\n".join([
        f"def entry({', '.join(f'x{i}' for i in places)}):",
        *(f"    x{i} = lent(x{i})" for i in arrays),
        "    clear()",
        f"    made = inner({', '.join(f'packed(x{i})' if i in arrays else f'x{i}' for i in places)})",
        "    check()",
        "    return made",
    ])  # fmt: skip
