"""A tree of array calls in; a kernel that runs it as one nest of loops out."""

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
from ...emit.nest import Nest
from ...emit.nests import nest_of
from ...emit.select_rows import FLOATS_AND_BOOL, NoSelect
from ...trace import Tree
from ..binder import MISS, Binder, binder_of
from ..direct import Direct
from ..ran import NotCompiled, Ran
from . import flags
from .floats import register_symbols
from .function import NONE_LEFT, Stretches, as_numbers, seek
from .kept import kernel_of
from .loops import mapped, reduced


@dataclass(slots=True)
class CompiledNest:
    """All steps of a tree on arrays, lane by lane."""

    tree: Tree
    paths: int
    run: Any
    """`run(*columns, *outs, *shared)`."""
    nest: Nest
    form: Form
    exact: bool
    bind: Binder
    shared: tuple[int, ...]
    """Which of the captured values it takes."""
    stretches: Stretches
    mixed = False

    @property
    def kinds(self) -> Sequence[Kind]:
        return self.tree.kinds

    def direct(self) -> Direct:
        captures = list(self.tree.captures.values())
        outs = [(kind.dtype, kind.lane_shape) for kind in self.nest.kinds]
        return Direct(
            self, "run", captures, self.shared, self.kinds, outs, self.form, flags=flags.at_hand(), tree=self.tree
        )

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        captured: Any = self.bind(f, shared) if self.tree.paths == self.paths else MISS
        if captured is MISS:
            return None
        taken = [as_numbers(captured[i]) if type(captured[i]) is np.ndarray else captured[i] for i in self.shared]
        columns = [column if type(column) is np.ndarray else column[0 : len(column)] for column in columns]
        outs = [np.empty((n, *kind.lane_shape), kind.dtype) for kind in self.nest.kinds]
        if not all(column.flags.c_contiguous for column in columns):  # NumPy may add up in another order
            return Ran(self.form, outs, np.arange(n), n)
        run = self.run
        if n <= self.stretches.alone:
            flags.clear()
            run(*columns, *outs, *taken)
            if not flags.warns():
                return Ran(self.form, outs, NONE_LEFT, n)
        watched, left = flags.watched(), np.zeros(n, bool)

        def stretch(span: slice) -> None:
            run(*[lanes[span] for lanes in (*columns, *outs)], *taken)

        self.stretches.run(lambda span: seek(stretch, span, left, watched), n, threads)
        return Ran(self.form, outs, left.nonzero()[0] if left.any() else NONE_LEFT, n)


def prepare(tree: Tree, exact: bool) -> CompiledNest:
    """Compile a tree, or say why not."""
    register_symbols()
    if not flags.are_known():
        raise NotCompiled("numba", "this machine does not tell when NumPy would warn")
    try:
        nest = nest_of(tree, exact)
    except NoSelect as reason:
        raise NotCompiled("numba", str(reason)) from None
    assert nest.form is not None
    space: dict[str, Any] = {
        "__name__": __name__, "empty": np.empty, "sqrt": math.sqrt, "floor": np.floor, "ceil": np.ceil,
        "trunc": np.trunc, "isinf": math.isinf, "isfinite": math.isfinite,
        **{f"{dtype.name}_": dtype.type for dtype in FLOATS_AND_BOOL}, **nest.constants,
        **{f"type_{name}": dtype for name, dtype in [*((n, d) for n, _, d in nest.stored), *nest.types.items()]},
    }  # fmt: skip
    for way, name, dtype in nest.loops:
        made = (mapped if way == "map" else reduced)(getattr(np, name), dtype)
        if made is None:
            raise NotCompiled("numba", f"NumPy's {name} of {dtype} has no loop of its own")
        space[f"{way}_{name}_{dtype.name}"] = made
    source, signature = _source(nest, len(tree.kinds)), _signature(tree.kinds, nest)
    run = kernel_of(source, space, nest.constants, signature)
    captures = list(tree.captures.values())
    inputs = [capture.id for capture in captures if capture.is_input]
    taken = tuple(inputs.index(ref) for ref in nest.shared.values())
    return CompiledNest(tree, tree.paths, run, nest, nest.form, not nest.close, binder_of(captures), taken, Stretches())


def _source(nest: Nest, columns: int) -> str:
    """The loop over lanes."""
    xs = [f"x{i}" for i in range(columns)]
    ys = [f"y{i}" for i in range(len(nest.kinds))]
    arrays = [name for name, _, _ in nest.stored] + [name for name, (_, shape) in nest.shared_kinds.items() if shape]
    lines = [
        f"def kernel({', '.join([*xs, *ys, *nest.shared])}):",
        *[f"    {name} = empty({shape}, type_{name})" for name, shape, _ in nest.stored],
        *[f"    {name}f = {name}.ravel()" for name in (*xs, *ys)],
        *[f"    {name}_ = {name}.ravel()" for name in arrays],
        *[f"    {line}" for line in nest.before],
        "    for i in range(len(y0)):",
        *[f"        {line}" for line in nest.lines],
    ]
    return "\n".join(lines)


def _signature(kinds: Sequence[Kind], nest: Nest) -> Any:
    def array(dtype: np.dtype[Any], ndim: int, readonly: bool) -> Any:
        return types.Array(from_dtype(dtype), ndim, "C", readonly=readonly)

    columns = [array(kind.dtype, 1 + len(kind.lane_shape), True) for kind in kinds]
    outs = [array(kind.dtype, 1 + len(kind.lane_shape), False) for kind in nest.kinds]
    shared = [
        from_dtype(dtype) if shape is None else array(dtype, len(shape), True)
        for dtype, shape in nest.shared_kinds.values()
    ]
    return types.void(*columns, *outs, *shared)
