"""Maps a function over arrays that lie in a GPU's memory; results are arrays of the same framework, on the same GPU.

Lanes that are left are noted by the kernel with their elements, run by the plain function, and handed in.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...columns.forms import LEAF, Form, flatten
from ...columns.inputs import Lanes
from ...columns.kinds import INT, Kind, array_kind, fits_int64, kind_of_dtype, kind_of_value
from ..ran import NotCompiled
from . import driver
from .adapters import Always, adapter_of
from .driver import Gpu, Memory, Pinned
from .function import prepare
from .kernel import HEAD, SCATTER, Kernel, Notes, lanes_in, marks_size, ptx_of_scatter
from .lane import NoShapes
from .target import target_of

FETCHED_SINGLY = 64
"""Elements up to which each is fetched by itself."""
LOOKED_AT = 9
"""Results of a new kernel that are compared with the plain function's."""
MOST_VARIANTS = 4
NOTES_AT_ONCE = 4
"""Notes that are worth a look while a kernel runs."""
LONGEST = 2e-3
"""Seconds for which a kernel is watched rather than waited for."""
NOTED = 1 << 18
"""Bytes for notes of lanes that are left; where they are not enough, whole columns are fetched."""
_NONE = np.empty(0, np.int64)
Differ = Callable[[Any, Any, bool], str | None]
Call = Callable[..., Any]
Rows = Callable[[list[Any]], list[Any]]


class View(NamedTuple):
    """Where an array lies in a GPU's memory."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class _LeftLanes:
    """Where a kernel notes lanes that are left, and where their results are handed in."""

    idle: ClassVar[list[_LeftLanes]] = []

    def __init__(self, on: Gpu, size: int) -> None:
        self.on, self.marks = on, Memory(on, size)
        self.notes, self.answers = Pinned(on, NOTED), Pinned(on, NOTED)
        self.words = self.notes.bytes.view(np.int64)
        self.words[0], self.words[1:] = 0, -1
        self.pending = False
        """Whether answers may still be on their way to their column."""
        self.scatter = on.launcher(_scatter(on.capability), SCATTER, "<6q")
        driver.clear(self.marks.address, size)
        driver.wait()

    @classmethod
    def take(cls, on: Gpu, n: int) -> _LeftLanes:
        size = marks_size(n)
        while cls.idle:
            one = cls.idle.pop()
            if one.on is on and one.marks.size >= size:
                return one
        return cls(on, size)

    def place(self, kernel: Kernel) -> Notes:
        """Where a kernel writes its notes."""
        return Notes(self.notes.address, (NOTED // 8 - 1) // kernel.record if kernel.record else 0)

    def follow(self, kernel: Kernel, stream: int, call: Rows) -> tuple[list[int], list[Any]]:
        """Wait for a kernel. Lanes that it leaves on its way are computed meanwhile: their positions and results."""
        until = time.perf_counter() + LONGEST
        positions: list[int] = []
        results: list[Any] = []
        while True:
            done = driver.is_done(stream)
            self.pending = self.pending and not (done and not stream)
            if self.words[0] and (done or self._has_note(len(positions) + NOTES_AT_ONCE, kernel)):
                some = self._notes_from(len(positions), kernel)
                positions += some[:, 0].tolist()
                results += call(kernel.elements(some))
            if done:
                return positions, results
            if time.perf_counter() > until:
                driver.wait(stream)

    def _has_note(self, which: int, kernel: Kernel) -> bool:
        at = 1 + which * kernel.record
        return at < len(self.words) and bool(self.words[at] >= 0)

    def _notes_from(self, start: int, kernel: Kernel) -> Any:
        """Notes that have been written since the last look."""
        notes, end = self.all_notes(kernel), start
        while end < len(notes) and notes[end, 0] >= 0:
            end += 1
        return notes[start:end]

    def all_notes(self, kernel: Kernel) -> Any:
        capacity = self.place(kernel).capacity
        return self.words[1 : 1 + capacity * kernel.record].reshape(capacity, max(kernel.record, 1))

    def left(self, kernel: Kernel, n: int, views: Sequence[View], stream: int) -> tuple[Any, list[Any]]:
        """Positions and elements of all lanes that are left, in order."""
        driver.wait(stream)
        marks = np.empty(marks_size(n), np.uint8)
        driver.fetch(marks.ctypes.data, self.marks.address, marks.nbytes, stream)
        driver.wait(stream)
        found = lanes_in(marks[HEAD:])
        return found, [taken(view, found) for view in views]

    def clear(self, kernel: Kernel, left: int) -> None:
        """So many lanes were left, each of which has a note as far as there is room, and all are handed in."""
        self.all_notes(kernel)[:left, 0] = -1
        self.words[0] = 0

    def write(self, out: int, positions: Any, values: Any, stream: int) -> None:
        """Results to their positions in a column, perhaps a moment later, in the stream's order; their marks go."""
        if self.pending:
            driver.wait()
        self.pending = not stream
        values = np.ascontiguousarray(values).reshape(len(values), -1).view(np.uint8)
        size = values.shape[1]
        most = NOTED // (8 + size)
        for start in range(0, len(positions), most):
            some, numbers = positions[start : start + most], values[start : start + most]
            middle, here = 8 * len(some), self.answers.address
            self.answers.bytes[:middle].view(np.int64)[:] = some
            self.answers.bytes[middle : middle + numbers.nbytes] = numbers.ravel()
            words = len(some), size, here, here + middle, out, self.marks.address
            self.scatter.start(len(some), 128, words, stream)
            if stream or start + most < len(positions):
                driver.wait(stream)


@functools.cache
def _scatter(capability: int) -> str:
    return ptx_of_scatter(target_of(capability))


def run_on_device(
    f: Any,
    columns: Sequence[Any],
    shared: dict[str, Any] | None = None,
    exact: bool = False,
    differ: Differ | None = None,
    prepared: Any = None,
) -> Any:
    """`f` of every element of arrays on a GPU, as arrays there; `NotCompiled` where that cannot be.

    Elements are what NumPy's arrays of the same dtype would yield. `differ(want, got, exact)` says why a result is not
    the loop's: the first results of a function are shown to it. `prepared`: a kernel that is there already.
    """
    shared = shared or {}
    try:
        if prepared is None and isinstance(f, FunctionType):
            for known in _READY.get(f, ()):
                captured = known.prepared.captured(f, shared) if known.fits(columns, exact) else None
                if captured is not None:
                    return known.run(f, columns, shared, captured)
        ready = _Ready(columns, exact)
        captured = ready.prepare(f, shared, prepared, columns)
        results = ready.run(f, columns, shared, captured, differ)
    except driver.DriverError as error:
        driver.give_up(str(error))
        raise NotCompiled("cuda", str(error)) from None
    if prepared is None and isinstance(f, FunctionType):
        _READY[f] = [ready, *_READY.get(f, [])[: MOST_VARIANTS - 1]]
    return results


_READY: weakref.WeakKeyDictionary[Any, list[_Ready]] = weakref.WeakKeyDictionary()
"""Kernels by function, the last first."""


class _Ready:
    """A kernel of a function for arrays of one framework, by their dtypes."""

    def __init__(self, columns: Sequence[Any], exact: bool) -> None:
        adapter = adapter_of(columns[0])
        if adapter is None or any(adapter_of(column) is not adapter for column in columns[1:]):
            raise NotCompiled("cuda", "its columns are not arrays of one framework on a GPU")
        if any(not column.shape or column.shape[0] != columns[0].shape[0] for column in columns):
            raise NotCompiled("cuda", "its columns are not of one length")
        self.adapter, self.exact = adapter, exact
        self.seen = [(type(column), column.dtype, column.shape[1:]) for column in columns]
        self.dtypes = [adapter.dtype(column) for column in columns]
        self.kinds = tuple(_kind(dtype, tuple(seen[2])) for dtype, seen in zip(self.dtypes, self.seen, strict=True))
        self.prepared: Any = None
        self.ask = not isinstance(adapter, Always)

    def _shapes(self, f: Any, shared: dict[str, Any], columns: Sequence[Any]) -> list[tuple[int, ...]]:
        """Of the arrays that the plain function gives for the first element."""
        first = [
            taken(view, np.zeros(1, np.int64)) for view in self._views(list(map(self.adapter.side_by_side, columns)))
        ]
        result = self._each(functools.partial(f, **shared), first)[0]
        return [leaf.shape for leaf in flatten(result)[1] if isinstance(leaf, np.ndarray)]

    def prepare(self, f: Any, shared: dict[str, Any], prepared: Any, columns: Sequence[Any]) -> Any:
        """Compile the function, unless that is done; what it captured."""
        form = Form(tuple, tuple(range(len(self.kinds))), (LEAF,) * len(self.kinds))
        lanes = Lanes(form, (), self.kinds)
        try:
            self.prepared = prepared or prepare(f, shared, lanes, self.exact, ())
        except NoShapes:
            self.prepared = prepare(f, shared, lanes, self.exact, self._shapes(f, shared, columns))
        if self.prepared.mixed:
            raise NotCompiled("cuda", "its results are ints for some elements and floats for others")
        if tuple(self.prepared.kernel.kinds) != self.kinds:
            raise NotCompiled("cuda", "its elements are not what it was compiled for")
        captured = self.prepared.captured(f, shared)
        if captured is None:
            raise NotCompiled("cuda", "what it captured changes while it runs")
        return captured

    def fits(self, columns: Sequence[Any], exact: bool) -> bool:
        """Whether arrays are as those that the kernel was made for."""
        if self.exact is not exact or len(columns) != len(self.seen):
            return False
        n = columns[0].shape[0]
        for column, (cls, dtype, tail) in zip(columns, self.seen, strict=True):
            shape = column.shape
            if type(column) is not cls or column.dtype != dtype or shape[0] != n or shape[1:] != tail:
                return False
            if self.ask and adapter_of(column) is None:
                return False
        return True

    def run(
        self, f: Any, columns: Sequence[Any], shared: dict[str, Any], captured: Any, differ: Differ | None = None
    ) -> Any:
        prepared, adapter, kernel = self.prepared, self.adapter, self.prepared.kernel
        columns = [adapter.side_by_side(column) for column in columns]
        ins = [adapter.address(column) for column in columns]
        n, on, stream = columns[0].shape[0], driver.gpu_of(ins[0]), adapter.stream(columns[0])
        if not n:
            raise NotCompiled("cuda", "there are no elements")
        with on.current():
            outs_ = zip(kernel.outs, kernel.shapes or [()] * len(kernel.outs), strict=True)
            made = [adapter.empty(columns[0], (n, *shape), dtype, on) for dtype, shape in outs_]
            outs = [address for _, address in made]
            words, kept = prepared.words(captured, on) if captured else ((), ())
            left_lanes = _LeftLanes.take(on, n)
            kernel.start(on, n, left_lanes.marks.address, left_lanes.place(kernel), ins, outs, words, stream)
            call = functools.partial(f, **shared) if shared else f
            if prepared.near_numpy and np.geterr()["under"] != "ignore":
                driver.wait(stream)
                raise NotCompiled("cuda", "a GPU does not tell of underflow")
            left, results = self._left(call, columns, left_lanes, stream)
            if differ is not None:
                self._look(call, self._views(columns), outs, left, differ)
            if results:
                for out, dtype, values in zip(outs, kernel.outs, results, strict=True):
                    left_lanes.write(out, left, np.array(values, dtype), stream)
                left_lanes.clear(kernel, len(left))
            _LeftLanes.idle.append(left_lanes)
            del kept
        if prepared.form.cls is None:
            return adapter.finished(made[0][0])
        return prepared.form.build(iter([adapter.finished(memory) for memory, _ in made]))

    def _views(self, columns: Sequence[Any]) -> list[View]:
        return [
            View(self.adapter.address(column), tuple(column.shape), dtype)
            for column, dtype in zip(columns, self.dtypes, strict=True)
        ]

    def _left(
        self, call: Call, columns: Sequence[Any], left_lanes: _LeftLanes, stream: int
    ) -> tuple[Any, list[list[Any]]]:
        """Lanes that are left, and the plain function's results for them, leaf by leaf."""
        kernel = self.prepared.kernel
        try:
            positions, results = left_lanes.follow(kernel, stream, functools.partial(self._each, call))
            if not left_lanes.words[0]:
                return _NONE, []
            if len(positions) < left_lanes.place(kernel).capacity:
                return np.array(positions), self._leaves(results)
        except Exception:  # of the user's function: the error of the first element that has one is wanted, see below
            pass
        views = self._views(columns)
        left, elements = left_lanes.left(kernel, views[0].shape[0], views, stream)
        return left, self._leaves(self._each(call, elements))

    def _each(self, call: Call, elements: list[Any]) -> list[Any]:
        columns = [kind.scalars(part) for kind, part in zip(self.kinds, elements, strict=True)]
        return [call(*row) for row in zip(*columns, strict=True)]

    def _look(self, call: Call, views: list[View], outs: list[int], left: Any, differ: Differ) -> None:
        """Compare some results with the plain function's."""
        n = views[0].shape[0]
        index = np.setdiff1d(np.linspace(0, n - 1, min(LOOKED_AT, n)).astype(np.int64), left)
        wanted = self._leaves(self._each(call, [taken(view, index) for view in views]))
        kernel = self.prepared.kernel
        shapes = kernel.shapes or [()] * len(outs)
        for address, dtype, shape, wants in zip(outs, kernel.outs, shapes, wanted, strict=True):
            self._compare(index, wants, taken(View(address, (n, *shape), dtype), index), dtype, differ)

    def _compare(self, index: Any, wants: list[Any], got: Any, dtype: np.dtype[Any], differ: Differ) -> None:
        for i, want, one in zip(index, wants, got, strict=True):
            one = np.asarray(one) if isinstance(want, np.ndarray) else one
            reason = differ(want if isinstance(want, np.ndarray) else dtype.type(want), one, self.prepared.exact)
            if reason:
                raise NotCompiled("cuda", f"its result is not the loop's: element {i}: {reason}")

    def _leaves(self, results: list[Any]) -> list[list[Any]]:
        """The plain function's results, leaf by leaf, as their columns can hold them."""
        form, outs = self.prepared.form, self.prepared.kernel.outs
        leaves: list[Any] = [results]
        if form.cls is not None:
            flat = [flatten(one) for one in results]
            if any(other != form for other, _ in flat):
                raise NotCompiled("cuda", "its results have different forms")
            leaves = [[below[i] for _, below in flat] for i in range(len(outs))]
        for column, dtype in zip(leaves, outs, strict=True):
            kinds = set(map(kind_of_value, column))
            if any(kind is None or kind.dtype != dtype for kind in kinds):
                raise NotCompiled("cuda", f"not all of its results are {dtype.name}")
            if INT in kinds and not all(map(fits_int64, column)):
                raise NotCompiled("cuda", "a result is an int beyond 64 bits")
        return leaves


def _kind(dtype: np.dtype[Any], tail: tuple[int, ...]) -> Kind:
    kind = array_kind(dtype, tail) if tail else kind_of_dtype(dtype)
    if kind is None:
        raise NotCompiled("cuda", f"its elements are of {dtype}")
    return kind


def taken(view: View, index: Any) -> Any:
    """Some lanes of a column in the GPU's memory, by position."""
    if len(index) > FETCHED_SINGLY:
        whole = np.empty(view.shape, view.dtype)
        driver.fetch(whole.ctypes.data, view.address, whole.nbytes)
        driver.wait()
        return whole[index]
    some = np.empty((len(index), *view.shape[1:]), view.dtype)
    size = some.nbytes // max(len(index), 1)
    for i, lane in enumerate(index.tolist()):
        driver.fetch(some.ctypes.data + i * size, view.address + lane * size, size)
    driver.wait()
    return some
