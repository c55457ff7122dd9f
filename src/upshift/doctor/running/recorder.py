"""Counts and times what happens at each site of a running script, and keeps a few calls to try alternatives on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType, TracebackType
from typing import Any

from .sites import Site

KEPT = 2
"""Calls kept for each site: the first ones."""
MANY, SHORT, EVERY = 200, 50e-6, 32
"""Calls, and seconds for each, from which on a site's calls are sampled: one in so many is timed."""
LARGEST = 256 * 2**20
"""Bytes of an argument above which it is not copied, and the call not kept."""


@dataclass
class Kept:
    """One call that may be replayed."""

    fn: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any
    seconds: float

    def fresh(self) -> Kept:
        """The same, with the names of a loop copied: whoever runs it again may write into them."""
        if self.fn is not None:
            return self
        return replace(self, keywords={name: _copy(value) for name, value in self.keywords.items()})


@dataclass
class Record:
    """What happened at a site."""

    calls: int = 0
    elements: int = 0
    seconds: float = 0.0
    kept: list[Kept] = field(default_factory=list)
    traces: int = 0
    function: Any = None
    each: int = 0
    """Elements of the first call, where only that was looked at."""
    skip: int = 0
    """How many calls are not timed until one is again."""
    passed: int = 0
    """Calls that were not timed, and the next `skip` ones: taken to be like the others."""

    def add(self, seconds: float, elements: int) -> None:
        """A call that was timed. Of many short ones few are, so that the run is not slowed down."""
        self.calls += 1
        self.seconds += seconds
        self.elements += elements
        if self.calls > MANY and self.seconds < self.calls * SHORT:
            self.skip = EVERY - 1
            self.passed += self.skip


class Recorder:
    """What the instrumented script calls."""

    def __init__(self, sites: Iterable[Site] = ()) -> None:
        self.sites: list[Site] = []
        self.records: list[Record] = []
        self.imports = Imports()
        self.add(sites)

    def add(self, sites: Iterable[Site]) -> None:
        """Sites whose numbers go on from those that are here."""
        self.sites += sorted(sites, key=lambda site: site.number)
        self.records += [Record() for _ in range(len(self.sites) - len(self.records))]

    def call(self, number: int, fn: Callable[..., Any]) -> Callable[..., Any]:
        """`fn`, timed."""
        record = self.records[number]
        if record.skip:
            record.skip -= 1
            return fn

        def timed(*args: Any, **keywords: Any) -> Any:
            copies = self.arguments_before(record, fn, args, keywords) if record.calls < KEPT else None
            start = time.perf_counter()
            result = fn(*args, **keywords)
            seconds = time.perf_counter() - start
            record.add(seconds, _length(fn, (*args, *keywords.values())))
            if copies is not None:
                record.kept.append(Kept(fn, *copies, result, seconds))
            return result

        return timed

    def arguments_before(
        self, record: Record, fn: Any, args: Any, keywords: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Before a call that is kept: the arguments, as they are now."""
        if record.calls == 0:
            record.function, record.traces = fn, -_traces(fn)
        return _copied(args, keywords)

    def start(self, number: int, over: Any, element: Any) -> tuple[Record, Any, Any, float] | None:
        """A comprehension begins; None where it is not timed."""
        record = self.records[number]
        if record.skip:
            record.skip -= 1
            return None
        return record, over, element, time.perf_counter()

    def stop(self, started: tuple[Record, Any, Any, float] | None, made: Any) -> Any:
        """A comprehension has ended."""
        if started is None:
            return made
        seconds = time.perf_counter() - started[3]
        record, over, element, _ = started
        record.add(seconds, len(made))
        if over is not None and element is not None and not record.kept:
            record.kept.append(Kept(element, (_copy(over),), {}, made, seconds))
        return made

    def take(self, number: int) -> tuple[Record, dict[str, Any] | None, float] | None:
        """An expression is about to be evaluated; what the first one reads is kept. None where it is not timed."""
        record = self.records[number]
        if record.skip:
            record.skip -= 1
            return None
        names = None if record.calls else names_of(sys._getframe(1), self.sites[number].reads)
        return record, names, time.perf_counter()

    def took(self, taken: tuple[Record, dict[str, Any] | None, float] | None, made: Any) -> Any:
        """An expression has been evaluated."""
        if taken is None:
            return made
        seconds = time.perf_counter() - taken[2]
        record = taken[0]
        record.add(seconds, 0)
        if taken[1] is not None:
            record.kept.append(Kept(None, (), taken[1], made, seconds))
            record.each = max((_size(value) for value in taken[1].values()), default=0)
        return made

    def loop(self, number: int) -> _Timed | _Passed:
        """A loop, as a context; what the first one reads and makes is kept where there is something to try on it."""
        record, site = self.records[number], self.sites[number]
        if record.skip:
            record.skip -= 1
            return _PASSED
        if record.calls or not site.writes:
            return _Timed(record)
        return _Kept(record, site, sys._getframe(1))

    def finish(self, whole: float) -> None:
        """Count what has been traced in all, and what was not timed; no site took longer than the whole run."""
        for record in self.records:
            record.passed, record.skip = record.passed - record.skip, 0
            if record.passed:
                share = (record.calls + record.passed) / record.calls
                record.seconds = min(record.seconds * share, whole)
                record.elements = round(record.elements * share)
                record.calls += record.passed
            if record.each:
                record.elements = record.each * record.calls
            if record.function is not None:
                record.traces = max(0, record.traces + _traces(record.function))


class Imports:
    """How long imports have taken: one within another is counted once, and what the user's modules do is not."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._since: list[float | None] = [None]

    def __enter__(self) -> None:
        self._since.append(self._since[-1] or time.perf_counter())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        start = self._since.pop()
        if self._since[-1] is None and start is not None:
            self.seconds += time.perf_counter() - start

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within an import, but not of it: the import will count all of its time, imports of the module theirs."""
        start = time.perf_counter()
        self._since.append(None)
        try:
            yield
        finally:
            self._since.pop()
            if self._since[-1] is not None:
                self.seconds -= time.perf_counter() - start


class _Passed:
    """A loop that is not timed."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_PASSED = _Passed()


class _Timed:
    def __init__(self, record: Record) -> None:
        self.record = record

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.record.add(time.perf_counter() - self.start, 0)


class _Kept(_Timed):
    """A loop whose names are copied before and after it."""

    def __init__(self, record: Record, site: Site, frame: FrameType) -> None:
        super().__init__(record)
        self.site, self.frame = site, frame

    def __enter__(self) -> None:
        self.before = names_of(self.frame, self.site.reads)
        super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, error, at)
        if kind is None and self.before is not None:
            after = names_of(self.frame, self.site.writes)
            self.record.kept.append(Kept(None, (), self.before, after, self.record.seconds))
            self.record.each = max((_size(v) for v in self.before.values()), default=0)
        self.frame = None  # type: ignore[assignment]


def names_of(frame: FrameType, wanted: Iterable[str]) -> dict[str, Any] | None:
    """Names of the script as they are now; None where copying them would be too much."""
    own, around = frame.f_locals, frame.f_globals
    found = {name: own[name] if name in own else around[name] for name in wanted if name in own or name in around}
    copied = _copied((), found)
    return copied[1] if copied is not None else None


def _traces(fn: Any) -> int:
    count = getattr(fn, "experimental_get_tracing_count", None)
    return int(count()) if callable(count) else 0


def _copied(args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Arguments as they are now; None where that would be too much."""
    sizes = [getattr(value, "nbytes", 0) for value in (*args, *keywords.values())]
    if sum(size for size in sizes if isinstance(size, int)) > LARGEST:
        return None
    return tuple(_copy(a) for a in args), {k: _copy(v) for k, v in keywords.items()}


def _copy(value: Any) -> Any:
    """Arrays, frames and lists may change before the replay; tensors do not."""
    np, pd = sys.modules.get("numpy"), sys.modules.get("pandas")
    if np is not None and isinstance(value, np.ndarray):
        return value.copy()
    if pd is not None and isinstance(value, pd.DataFrame | pd.Series):
        return value.copy()
    return list(value) if type(value) is list else value


def _length(fn: Any, args: tuple[Any, ...]) -> int:
    """How many elements a call is about: the length of its longest argument, or of what its method belongs to."""
    longest = 1
    for value in args:
        size = _size(value)
        longest = size if size > longest else longest
    if longest == 1 and getattr(fn, "__self__", None) is not None:
        longest = max(1, _size(fn.__self__))
    return longest


def _size(value: Any) -> int:
    shape = getattr(value, "shape", None)
    try:
        if shape is not None:
            return int(shape[0]) if len(shape) else 1
        return len(value) if isinstance(value, list | tuple) else 1
    except (TypeError, ValueError):
        return 1
