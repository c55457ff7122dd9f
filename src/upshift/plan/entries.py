"""Calls that are settled: one look-up from a function, the kinds of its columns and their length to what runs it.

An entry is used for as many calls as the ledger has nothing to think about; then one call goes through it. Brief calls
of a function of which nothing is known have one, too: the loop, until together they have cost a few milliseconds.
"""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.inputs import elements_of
from ..columns.stacking import stack
from ..columns.unboxed import Unboxed
from ..compiler.rows.nests import underflow_is_told
from ..config import settings
from ..errors import Refusal
from ..gears.capture_reader import MISS
from ..gears.job import Job
from ..gears.llvm.gear import Prepared
from ..gears.loop import name_reached, run_loop, run_over_arrays, run_plain
from .arms import LONG, Llvm, Numpy, Simd, Way
from .assembly import conclude, plain_rows
from .call import FIRST, LEAST, Begun
from .functions import Function, kind_of_element
from .ledger import TRIES, Arm, Ledger

MOST_ENTRIES = 4096
MOST_CALLS = 256
"""Calls by an entry between two that are timed."""
RENTED = 3e-3
"""What calls of a new function may cost together, all of them the loop's, before there is a ledger."""
_NUMBERS = frozenset("biufc")
_WITH_PARTS = (list, tuple, np.ndarray)
"""Classes of elements whose lengths or shapes belong to their kind."""


class Entry:
    """A settled way for calls of about one size; without a ledger where nobody has thought about it yet."""

    __slots__ = ("arm", "calls", "code", "ledger", "run", "total", "workers")

    def __init__(
        self, code: types.CodeType, run: Callable[..., Any], calls: int, arm: Arm | None, ledger: Ledger | None
    ) -> None:
        self.code, self.run, self.calls, self.arm, self.ledger = code, run, calls, arm, ledger
        self.total, self.workers = calls, settings().workers


ENTRIES: dict[Any, Entry] = {}


@dataclass(slots=True)
class Brief:
    """Calls of a function that has no ledger yet."""

    left: float = RENTED
    """Seconds that they may still take; none where there is a ledger."""
    runs: list[tuple[int, float, Entry]] = field(default_factory=list)
    """For every size: how many elements, the seconds of the first call, and the entry of all."""

    def begun(self, results: list[Any] | None = None, seconds: float = 0.0) -> Begun:
        """There is to be a ledger, which is told what they have cost."""
        told = [(n, took, max(entry.total - max(entry.calls, 0), 1)) for n, took, entry in self.runs]
        self.left, self.runs = 0.0, []
        return Begun(results or [], seconds, told)


BRIEF: dict[Any, Brief] = {}
"""By keys without their size."""


def key_of(f: types.FunctionType, xs: tuple[Any, ...]) -> Any:
    """What decides how a call is run, found in a fraction of a microsecond; None where it takes more."""
    if len(xs) == 1:
        x = xs[0]
        cls = type(x)
        if cls is list:
            if not x:
                return None
            first = type(x[0])
            if first not in _WITH_PARTS:
                return id(f.__code__), first, len(x).bit_length()
        elif cls is np.ndarray and x.ndim == 1 and x.dtype.kind in _NUMBERS and len(x):
            return id(f.__code__), x.dtype, len(x).bit_length()
    kinds: list[Any] = [id(f.__code__)]
    n = -1
    for x in xs:
        cls = type(x)
        if cls is np.ndarray and x.ndim and x.dtype.kind in _NUMBERS and len(x):
            kinds.append(x.dtype if x.ndim == 1 else (x.dtype, x.shape[1:]))
        elif cls is list and x:
            kinds.append(kind_of_element(x[0]))
        elif cls is Unboxed and len(x):
            kinds.append((Unboxed, x.array.dtype))
        else:
            return None
        if len(x) != n != -1:
            return None
        n = len(x)
    kinds.append(n.bit_length())
    return tuple(kinds)


def look_up(f: types.FunctionType, xs: tuple[Any, ...]) -> Any:
    """The result of a call that is settled, or brief and new; else MISS, or what is known of a function that was."""
    key = key_of(f, xs)
    if key is None:
        return MISS
    entry = ENTRIES.get(key)
    if entry is None:
        return _first(f, xs, key)
    now = settings()
    if entry.code is not f.__code__ or now.disable or entry.workers != now.workers:
        return MISS
    entry.calls -= 1
    if entry.calls > 0:
        result = entry.run(f, xs)
        if result is MISS:
            _missed(key, entry, len(xs[0]))
        return result
    ENTRIES.pop(key, None)
    if entry.ledger is not None:
        return _timed(f, xs, entry)
    brief = BRIEF.get(key[:-1])
    return MISS if brief is None or brief.left <= 0 else brief.begun()


def _missed(key: Any, entry: Entry, n: int) -> None:
    """An entry that misses is used no more: what its calls have cost is told, and the next one is thought about."""
    ENTRIES.pop(key, None)
    calls = entry.total - max(entry.calls, 0)
    if entry.ledger is not None and entry.arm is not None:
        entry.ledger.ran(entry.arm, n, entry.arm.seconds(n), calls)


def _first(f: types.FunctionType, xs: tuple[Any, ...], key: Any) -> Any:
    """A call of which nothing is known: the loop, as long as that is brief; else what has begun."""
    brief = BRIEF.get(key[:-1])
    if brief is None:
        brief = BRIEF[key[:-1]] = Brief()
    if brief.left <= 0 or settings().disable:
        return MISS
    n, run = len(xs[0]), _loop_of(xs)
    columns = xs if run is not _loop_over_arrays else [elements_of(x) for x in xs]
    began = time.perf_counter()
    results, seconds = _begin(f, columns, n, brief.left)
    if len(results) < n:
        return brief.begun(results, seconds)
    took = max(time.perf_counter() - began, 1e-6)
    entry = Entry(f.__code__, run, max(min(int(brief.left / took), MOST_CALLS), 1), None, None)
    brief.left -= entry.total * took
    brief.runs.append((n, took, entry))
    _keep(key, entry)
    return stack(results)


def _begin(f: types.FunctionType, columns: Any, n: int, left: float) -> tuple[list[Any], float]:
    """Results of all elements, where they take no longer than that; else of as many as tell it.

    And their seconds, but for the very first one, which is slower than all others.
    """
    results, seconds, count = run_loop(f, [x[:1] for x in columns], "raise"), 0.0, FIRST
    while (done := len(results)) < n:
        if seconds >= LEAST and seconds / (done - 1) * (n - done) > left:
            break
        began = time.perf_counter()
        results += run_loop(f, [x[done : done + count] for x in columns], "raise", offset=done)
        seconds += time.perf_counter() - began
        count *= 8
    return results, seconds


def _timed(f: Any, xs: tuple[Any, ...], entry: Entry) -> Any:
    """The last call of an entry tells the ledger what all of them have cost."""
    began = time.perf_counter()
    result = entry.run(f, xs)
    if result is not MISS and entry.ledger is not None and entry.arm is not None:
        entry.ledger.ran(entry.arm, len(xs[0]), time.perf_counter() - began, entry.total)
    return result


def settle(f: Any, xs: tuple[Any, ...], function: Function, n: int) -> None:
    """Make or renew the entry of a call that has just run, where there is nothing to think about for some time."""
    key = key_of(f, xs) if type(f) is types.FunctionType else None
    if key is None:
        return
    BRIEF[key[:-1]] = Brief(0.0)
    ledger = function.ledger
    arm = ledger.best(n)
    settled = arm is ledger.cheapest(n) and arm.runs >= TRIES
    calls = int(min(ledger.budget(n) / max(arm.seconds(n), 1e-7), MOST_CALLS)) if settled else 0
    run = _runner(arm, xs, function, n) if calls > 1 else None
    if run is not None:
        _keep(key, Entry(f.__code__, run, calls, arm, ledger))


def _keep(key: Any, entry: Entry) -> None:
    if len(ENTRIES) >= MOST_ENTRIES:
        ENTRIES.clear()
        BRIEF.clear()
    ENTRIES[key] = entry


def _runner(arm: Arm, xs: tuple[Any, ...], function: Function, n: int) -> Callable[..., Any] | None:
    """`run(f, xs)`: the result, or MISS."""
    if arm.name == "loop":
        return _loop_of(xs)
    if isinstance(arm, Llvm) and function.reader.fields is None:
        return _machine_code(arm, function, n)
    return _by_arm(arm, function) if isinstance(arm, Llvm | Simd | Numpy) else None


def _by_arm(arm: Way, function: Function) -> Callable[..., Any]:
    """All elements by an arm, and those that it leaves by the plain function."""

    def run(f: Any, xs: tuple[Any, ...]) -> Any:
        job = Job(f, [elements_of(x) for x in xs], {}, len(xs[0]))
        made = arm.run(function.by_fields(job))
        if isinstance(made, Refusal):
            return MISS
        return conclude(job.n, [plain_rows(job, made, "raise")], made.pieces)

    return run


def _loop_of(xs: tuple[Any, ...]) -> Callable[..., Any]:
    """The loop over such columns: the caller's arrays are not to be written to."""
    arrays = [x.ndim > 1 if type(x) is np.ndarray else type(x[0]) is np.ndarray for x in xs]
    if any(arrays):
        return _loop_over_arrays
    return _loop if len(xs) > 1 else _loop_over_one


def _loop_over_one(f: Any, xs: tuple[Any, ...]) -> Any:
    place = iter(xs[0])
    try:
        results = [f(element) for element in place]
    except Exception as error:
        name_reached(error, xs[0], place)
        raise
    return stack(results)


def _loop(f: Any, xs: tuple[Any, ...]) -> Any:
    return stack(run_plain(f, xs))


def _loop_over_arrays(f: Any, xs: tuple[Any, ...]) -> Any:
    return stack(run_over_arrays(f, [elements_of(x) for x in xs]))


def _machine_code(arm: Llvm, function: Function, n: int) -> Callable[..., Any] | None:
    prepared, direct = arm.last, arm.direct
    if prepared is None:
        return None
    if direct is not None and prepared.whole and n * prepared.flat_rate <= LONG:
        return _direct(direct, prepared)
    return _by_arm(arm, function)


def _direct(entry: Callable[..., Any], prepared: Prepared) -> Callable[..., Any]:
    """A call of machine code that looks at the columns itself."""
    careful = prepared.kernel.may_underflow
    if prepared.bind is None:

        def run(f: Any, xs: tuple[Any, ...]) -> Any:
            if careful and underflow_is_told():
                return MISS
            result = entry(0, *xs)
            return MISS if result is NotImplemented else result

        return run
    address = prepared.address

    def run_captured(f: Any, xs: tuple[Any, ...]) -> Any:
        captured = address(f)
        if captured is MISS or (careful and underflow_is_told()):
            return MISS
        result = entry(captured, *xs)
        return MISS if result is NotImplemented else result

    return run_captured
