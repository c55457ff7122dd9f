"""A tree in select form in; a kernel that LLVM vectorises out, with vector maths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types

from ...columns.forms import Form
from ...columns.kinds import Kind
from ...emit.select import Select, select_of
from ...emit.select_rows import NUMBERS, NoSelect
from ...trace import Const, Step, Tree
from ..binder import MISS, Binder, binder_of
from ..direct import Direct
from ..express import made_as
from ..ran import NotCompiled, Ran
from . import vector
from .floats import C_FUNCTIONS, called_as_it_is, register_symbols
from .function import NONE_LEFT, Stretches, as_numbers
from .kept import kernel_of


@dataclass(slots=True)
class Branchless:
    """All paths of a tree in one loop."""

    tree: Tree
    paths: int
    run: Any
    """`run(left, *columns, *outs, *shared)`: how many lanes are odd."""
    select: Select
    form: Form
    exact: bool
    bind: Binder
    inputs: tuple[int, ...]
    """Ids of what `bind` gives."""
    stretches: Stretches

    @property
    def mixed(self) -> bool:
        return self.select.mixed

    @property
    def kinds(self) -> Sequence[Kind]:
        return self.tree.kinds

    def direct(self) -> Direct | None:
        if self.select.uniform_steps:
            return None
        taken = [self.inputs.index(-int(name[1:])) for name in self.select.uniform]
        outs: list[tuple[Any, tuple[int, ...]]] = [(dtype, ()) for dtype in self.select.dtypes]
        captures = list(self.tree.captures.values())
        return Direct(self, "run", captures, taken, self.kinds, outs, self.form, "empty", tree=self.tree)

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        captured: Any = self.bind(f, shared) if self.tree.paths == self.paths else MISS
        if captured is MISS:
            return None
        uniform: Any = ()
        if self.select.uniform:
            uniform = shared_values(self.select, dict(zip(self.inputs, captured, strict=True)))
            if uniform is None:
                return None
        columns = [as_numbers(column) for column in columns]
        outs = [np.empty(n, dtype) for dtype in self.select.dtypes]
        left = np.empty(n, bool)
        if n <= self.stretches.alone:
            count = self.run(left, *columns, *outs, *uniform)
            return Ran(self.form, outs, left.nonzero()[0] if count else NONE_LEFT, n, self.mixed, self.select.unsure)
        odd: list[int] = []

        def stretch(span: slice) -> None:
            odd.append(self.run(*[lanes[span] for lanes in (left, *columns, *outs)], *uniform))

        self.stretches.run(stretch, n, threads)
        return Ran(self.form, outs, np.flatnonzero(left) if any(odd) else NONE_LEFT, n, self.mixed, self.select.unsure)


def shared_values(select: Select, captured: dict[int, Any]) -> list[Any] | None:
    """What all lanes share, as it is now; None where it is no longer what was traced."""
    found: dict[str, Any] = {}
    values: dict[int, Any] = dict(captured)
    steps = iter(select.uniform_steps)
    for name, kind in zip(select.uniform, select.uniform_kinds, strict=True):
        if name.startswith("c"):
            found[name] = captured[-int(name[1:])]
            continue
        value = _once(next(steps), values)
        if not made_as(value, kind):
            return None
        found[name] = value
    return list(found.values())


def _once(step: Step, values: dict[int, Any]) -> Any:
    args = [ref.value if isinstance(ref, Const) else values[ref] for ref in step.refs]
    try:
        values[step.out] = step.fn(*args)
    except Exception:  # of a pure function of numbers: the plain function will raise it where it matters
        return None
    return values[step.out]


def prepare(tree: Tree, exact: bool) -> Branchless:
    """Compile a tree, or say why not."""
    register_symbols()
    try:
        select = select_of(tree, exact)
    except NoSelect as reason:
        raise NotCompiled("numba", str(reason)) from None
    assert select.form is not None
    space = {
        "__name__": __name__,
        **{f"{dtype.name}_": dtype.type for dtype in NUMBERS},
        **{f"vector_{name}": fn for name, fn in vector.MATHS.items()},
        **{f"exact_{name}": called_as_it_is(name) for name in C_FUNCTIONS},
        "sqrt": math.sqrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
        "isinf": math.isinf, "isfinite": math.isfinite, **select.constants,
    }  # fmt: skip
    source, signature = source_of(select, len(tree.kinds)), _signature(tree.kinds, select)
    run = kernel_of(source, space, select.constants, signature)
    captures = list(tree.captures.values())
    inputs = tuple(capture.id for capture in captures if capture.is_input)
    return Branchless(
        tree, tree.paths, run, select, select.form, not select.close, binder_of(captures), inputs, Stretches()
    )


def source_of(select: Select, columns: int) -> str:
    """The loop over lanes."""
    xs = [f"x{i}" for i in range(columns)]
    ys = [f"y{i}" for i in range(len(select.results))]
    checks = any(line.startswith("odd = odd") for line in select.lines)
    lines = [
        f"def kernel(left, {', '.join([*xs, *ys, *select.uniform])}):",
        "    count = 0",
        "    for i in range(len(left)):",
        *[f"        v{i} = {x}[i]" for i, x in enumerate(xs)],
        *[f"        {line}" for line in select.lines],
        *[f"        {y}[i] = {result}" for y, result in zip(ys, select.results, strict=True)],
        *(["        left[i] = odd", "        count += odd"] if checks else []),
        "    return count",
    ]
    return "\n".join(lines)


def _signature(kinds: Sequence[Kind], select: Select) -> Any:
    columns = [types.Array(from_dtype(kind.dtype), 1, "C", readonly=True) for kind in kinds]
    outs = [types.Array(from_dtype(dtype), 1, "C") for dtype in select.dtypes]
    shared = [from_dtype(kind.dtype) for kind in select.uniform_kinds]
    left = types.Array(types.boolean, 1, "C")
    return types.int64(left, *columns, *outs, *shared)
