"""The user's function in; a kernel of it out, ready to run over lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns.inputs import Lanes, Stacked
from ...columns.kinds import Column, Kind
from ...trace.paths import Roots
from ..chunks import chunks_of, side_by_side
from ..ran import NotCompiled, Ran
from . import flags
from .kernel import Kernel, compile_kernel
from .unit import bind

FEWEST = 64
"""Lanes among which the one that raised a flag is no longer sought."""
LARGEST = 1 << 18
"""Lanes that one call of a kernel runs, at most: in between, Ctrl-C is heard."""

Stretch = Callable[[slice], None]


@dataclass(slots=True)
class CompiledFunction:
    """The function itself, as machine code."""

    kernel: Kernel
    size: int = 1 << 12
    """Lanes at a time; grows while they take little time."""
    exact = True

    @property
    def mixed(self) -> bool:
        return self.kernel.mixed

    def over(self, f: Any, shared: dict[str, Any], lanes: Lanes, n: int, threads: int) -> Ran | None:
        kernel = self.kernel
        captured = _captured(kernel, f, shared)
        if captured is None:
            return None
        columns = [as_column(column, kind) for column, kind in zip(lanes.columns, lanes.kinds, strict=True)]
        outs = [np.empty((n, *kind.lane_shape), kind.dtype) for kind in kernel.kinds]
        left = np.zeros(n, bool)

        def stretch(span: slice) -> None:
            kernel.run(span.start, span.stop, left, *columns, *outs, *captured)

        watched = flags.watched() if kernel.near_numpy else 0
        run_stretches(lambda span: watch(stretch, span, left, watched), n, threads)
        return Ran(kernel.form, outs, np.flatnonzero(left), n)


def prepare(f: Any, shared: dict[str, Any], lanes: Lanes, shapes: Sequence[Any]) -> CompiledFunction:
    """Compile a function for lanes of this kind, or say why not. `shapes`: of results, as the plain function's are."""
    if any(child.cls is not None for child in lanes.form.children):
        raise NotCompiled("numba", "its elements are records, not numbers or arrays")
    try:
        kernel = compile_kernel(f, lanes.kinds, shared, shapes)
    except NotCompiled as reason:
        if "setitem" not in reason.refusal.reason:  # its element is read-only, unless it is a copy
            raise
        kernel = compile_kernel(f, lanes.kinds, shared, shapes, writes=True)
    if kernel.near_numpy and not flags.are_known():
        raise NotCompiled("numba", "this machine does not tell when NumPy would warn")
    return CompiledFunction(kernel)


def run_stretches(work: Stretch, n: int, threads: int) -> None:
    """Lanes in stretches, on some threads."""
    chunks = chunks_of(0, n, min(LARGEST, -(-n // threads)), threads)
    side_by_side(work, chunks, threads)


def watch(stretch: Stretch, span: slice, left: Column, watched: int) -> None:
    """One stretch of lanes. Those that raise a flag are sought by halves, and left: the plain function warns."""
    if not watched:
        stretch(span)
        return
    flags.clear()
    stretch(span)
    if not flags.raised(watched):
        return
    if span.stop - span.start <= FEWEST:
        left[span] = True
        return
    middle = (span.start + span.stop) // 2
    for half in (slice(span.start, middle), slice(middle, span.stop)):
        left[half] = False
        watch(stretch, half, left, watched)


def as_column(column: Any, kind: Kind) -> Column:
    """A column as kernels read it: numbers side by side, arrays as they lie."""
    if isinstance(column, Stacked):
        return column[0 : len(column)]
    return np.ascontiguousarray(column) if kind.shape is None else column


def _captured(kernel: Kernel, f: Any, shared: dict[str, Any]) -> list[Any] | None:
    """What the function captured, as it is now; None where the machine code no longer stands."""
    roots = Roots(f, shared)
    if not bind(kernel.unit, roots):
        return None
    try:
        values = [roots.read(taken.path) for taken in kernel.bound]
    except (LookupError, AttributeError, TypeError):
        return None
    return values if all(t.holds(v) for t, v in zip(kernel.bound, values, strict=True)) else None
