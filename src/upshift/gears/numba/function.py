"""The user's function in; a kernel of it out, ready to run over lanes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns.forms import Form
from ...columns.inputs import Lanes, Stacked
from ...columns.kinds import Column, Kind
from ..binder import MISS, Binder, binder_of
from ..chunks import THREADS_PAY_SECONDS, WAKING, chunks_of, side_by_side
from ..direct import Direct
from ..ran import NotCompiled, Ran
from . import flags
from .kernel import Kernel, Shapes, compile_kernel

SEARCHES = 2000
"""Calls of a kernel, at most, by which the lanes that raised a flag are sought; what is not searched then is left."""
LONGEST = 0.1
"""Seconds that one call of a kernel takes, at most, as far as is known: in between, Ctrl-C is heard."""
MANY = 1 / 16
"""The share of lanes that may be left by a kernel that would rather leave one than check every sum."""
FIRST = 1 << 14
"""Lanes of the first call of a kernel, whose speed nobody knows."""
SLOW_RUNS = 6
"""The first runs of a kernel, which are slower than all others."""
NONE_LEFT = np.empty(0, np.int64)


class Stretches:
    """Lanes in stretches, on some threads where that pays; learns how long a lane takes."""

    def __init__(self) -> None:
        self.rate = 0.0
        self.runs = 0
        self.alone = 0
        """Lanes up to which one call of the kernel is all there is to do."""

    def run(self, work: Callable[[slice], object], n: int, threads: int) -> None:
        if n * self.rate < THREADS_PAY_SECONDS and (self.rate or n <= FIRST):
            self._timed(work, slice(0, n))
            return
        start = 0 if self.rate else FIRST
        if start:
            self._timed(work, slice(0, start))
        size = max(min(int(LONGEST / self.rate), -(-(n - start) // threads)), 1)
        began = time.perf_counter()
        side_by_side(work, chunks_of(start, n, size, threads), threads)
        took = time.perf_counter() - began
        worked = took if threads == 1 else max(took - WAKING, 0.3 * took)
        self._learn(min(worked * threads / (n - start), self.rate))

    def _timed(self, work: Callable[[slice], object], span: slice) -> None:
        began = time.perf_counter()
        work(span)
        rate = (time.perf_counter() - began) / (span.stop - span.start)
        self._learn(min(rate, 0.7 * self.rate + 0.3 * rate) if self.rate else rate)

    def _learn(self, rate: float) -> None:
        self.rate = rate
        self.runs += 1
        if self.runs > SLOW_RUNS:
            self.alone = int(THREADS_PAY_SECONDS / rate)


@dataclass(slots=True)
class CompiledFunction:
    """The function itself, as machine code."""

    kernel: Kernel
    strict: Callable[[], Kernel]
    """Makes the kernel that leaves no lanes whose ints only might become too large."""
    kinds: Sequence[Kind]
    bind: Binder
    stretches: Stretches

    @property
    def exact(self) -> bool:
        return self.kernel.exact

    @property
    def mixed(self) -> bool:
        return self.kernel.mixed

    @property
    def form(self) -> Form:
        return self.kernel.form

    def direct(self) -> Direct:
        kernel = self.kernel
        captures = [*kernel.unit.built_in, *kernel.bound]
        outs = [(kind.dtype, kind.lane_shape) for kind in kernel.kinds]
        watched = flags.at_hand() if kernel.near_numpy else None
        strided = not kernel.packed
        return Direct(
            self, "kernel.run", captures, None, self.kinds, outs, kernel.form, "zeros", watched, strided=strided
        )

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        captured = self.bind(f, shared)
        if captured is MISS:
            return None
        columns = [as_column(column, kind) for column, kind in zip(columns, self.kinds, strict=True)]
        if self.kernel.packed and not all(a.flags.c_contiguous for a in (*columns, *captured) if type(a) is np.ndarray):
            return None
        ran = self._run(captured, columns, n, threads)
        if self.kernel.relaxed and len(ran.left) > MANY * n:
            self.kernel = self.strict()
            ran = self._run(captured, columns, n, threads)
        return ran

    def _run(self, captured: Sequence[Any], columns: Sequence[Any], n: int, threads: int) -> Ran:
        kernel = self.kernel
        outs = [np.empty((n, *kind.lane_shape), kind.dtype) for kind in kernel.kinds]
        left = np.zeros(n, bool)
        if n <= self.stretches.alone:
            if kernel.near_numpy:
                flags.clear()
            count = kernel.run(left, *columns, *outs, *captured)
            if not kernel.near_numpy or not flags.warns():
                return Ran(kernel.form, outs, left.nonzero()[0] if count else NONE_LEFT, n, kernel.mixed, kernel.unsure)
        watched = flags.watched() if kernel.near_numpy else 0

        def stretch(span: slice) -> None:
            kernel.run(*[lanes[span] for lanes in (left, *columns, *outs)], *captured)

        def watch(span: slice) -> None:
            seek(stretch, span, left, watched)

        self.stretches.run(watch if watched else stretch, n, threads)
        return Ran(kernel.form, outs, left.nonzero()[0] if left.any() else NONE_LEFT, n, kernel.mixed, kernel.unsure)


def seek(stretch: Callable[[slice], None], span: slice, left: Column, watched: int) -> None:
    """Run a stretch of lanes. Those that raise a flag are sought by halves, and left: the plain function warns."""
    pending, calls = [span], 0
    while pending:
        span = pending.pop()
        calls += 1
        if calls > SEARCHES:
            left[span] = True
            continue
        left[span] = False
        flags.clear()
        stretch(span)
        if not flags.raised(watched):
            continue
        if span.stop - span.start == 1:
            left[span] = True
            continue
        middle = (span.start + span.stop) // 2
        pending += [slice(middle, span.stop), slice(span.start, middle)]


def prepare(f: Any, shared: dict[str, Any], lanes: Lanes, shapes: Shapes, exact: bool = False) -> CompiledFunction:
    """Compile a function for lanes of this kind, or say why not. `shapes`: of results, as the plain function's are."""
    if any(child.cls is not None for child in lanes.form.children):
        raise NotCompiled("numba", "its elements are records, not numbers or arrays")
    arrays = [column for column, kind in zip(lanes.columns, lanes.kinds, strict=True) if kind.shape is not None]
    packed = all((c[0:2] if isinstance(c, Stacked) else c).flags.c_contiguous for c in arrays)
    given, writes = (f, lanes.kinds, shared, shapes, packed), False
    try:
        kernel = compile_kernel(*given)
    except NotCompiled as reason:
        if "setitem" not in reason.refusal.reason:  # its element is read-only, unless it is a copy
            raise
        writes = True
        kernel = compile_kernel(*given, writes)
    if exact and not kernel.exact:
        raise NotCompiled("numba", "NumPy's own power of an int and a float may differ in the last bit")
    if kernel.near_numpy and not flags.are_known():
        raise NotCompiled("numba", "this machine does not tell when NumPy would warn")
    bind = binder_of([*kernel.unit.built_in, *kernel.bound])
    return CompiledFunction(
        kernel, lambda: compile_kernel(*given, writes, relaxed=False), lanes.kinds, bind, Stretches()
    )


def as_numbers(column: Any) -> Column:
    """A column of numbers, side by side."""
    return column if column.flags.c_contiguous else np.ascontiguousarray(column)


def as_column(column: Any, kind: Kind) -> Column:
    """A column as kernels read it: numbers side by side, arrays as they lie."""
    if isinstance(column, Stacked):
        return column[0 : len(column)]
    return as_numbers(column) if kind.shape is None else column
