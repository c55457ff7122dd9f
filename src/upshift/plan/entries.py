"""Calls that are settled: one look-up from a function, the kinds of its columns and their length to what runs it.

An entry is used for as many calls as the ledger has nothing to think about; then one call goes through it. Brief calls
of a function of which nothing is known have one, too: the loop, until together they have cost a few milliseconds.
"""

from __future__ import annotations

import time
import types
from collections.abc import Callable
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
from ..gears.loop import run_column, run_loop, run_plain
from .arms import Llvm, Numpy, Simd, Way
from .assembly import conclude, plain_rows
from .functions import FUNCTIONS, Function, kind_of_element
from .ledger import TRIES, Arm, Ledger

MOST_ENTRIES = 4096
MOST_CALLS = 256
"""Calls by an entry between two that are timed."""
BRIEF = 300e-6
"""Calls within this are not worth a ledger, as long as all of them have not cost `RENTED`."""
RENTED = 3e-3
_NUMBERS = frozenset("biufc")
_WITH_PARTS = (list, tuple, np.ndarray)
"""Classes of elements whose lengths or shapes belong to their kind."""


class Entry:
    """A settled way for calls of about one size; without a ledger where nobody has thought about it yet."""

    __slots__ = ("arm", "calls", "code", "ledger", "run", "total")

    def __init__(
        self, code: types.CodeType, run: Callable[..., Any], calls: int, arm: Arm | None, ledger: Ledger | None
    ) -> None:
        self.code, self.run, self.calls, self.arm, self.ledger = code, run, calls, arm, ledger
        self.total = calls


class Begun:
    """The loop has run the first elements of a call that is worth a thought: their results."""

    __slots__ = ("results",)

    def __init__(self, results: list[Any]) -> None:
        self.results = results


ENTRIES: dict[Any, Entry] = {}
THOUGHT_ABOUT: set[Any] = set()
"""Keys without their size of functions that have a ledger, or should have one."""


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
    """The result of a call that is settled, or brief and new; else MISS, or what has begun."""
    key = key_of(f, xs)
    if key is None:
        return MISS
    entry = ENTRIES.get(key)
    if entry is None:
        return _first(f, xs, key)
    if entry.code is not f.__code__ or settings().disable:
        return MISS
    entry.calls -= 1
    if entry.calls > 0:
        result = entry.run(f, xs)
        if result is MISS:
            _missed(key, entry, len(xs[0]))
        return result
    ENTRIES.pop(key, None)
    return MISS if entry.ledger is None else _timed(f, xs, entry)


def _missed(key: Any, entry: Entry, n: int) -> None:
    """An entry that misses is used no more: what its calls have cost is told, and the next one is thought about."""
    ENTRIES.pop(key, None)
    calls = entry.total - max(entry.calls, 0)
    if entry.ledger is not None and entry.arm is not None:
        entry.ledger.ran(entry.arm, n, entry.arm.seconds(n), calls)


def _first(f: types.FunctionType, xs: tuple[Any, ...], key: Any) -> Any:
    """A call of which nothing is known: the loop, where its first element tells that it is brief."""
    n = len(xs[0])
    if n > MOST_NEW or key[:-1] in THOUGHT_ABOUT or settings().disable:
        return MISS
    began = time.perf_counter()
    run = _loop_of(xs)
    columns = xs if run is not _loop_over_arrays else [elements_of(x) for x in xs]
    if n > FEW_NEW:
        results = run_loop(f, [x[:1] for x in columns], "raise")
        if (time.perf_counter() - began) * n > 4 * BRIEF:  # the first one is slower than all others
            THOUGHT_ABOUT.add(key[:-1])
            return Begun(results)
        results += run_loop(f, [x[1:] for x in columns], "raise", offset=1)
    else:
        results = run_loop(f, columns, "raise")
    took = time.perf_counter() - began
    if took < BRIEF:
        calls = min(int(RENTED / max(took, 1e-6)), MOST_CALLS)
        _keep(key, Entry(f.__code__, run, max(calls, 2), None, None))
    else:
        THOUGHT_ABOUT.add(key[:-1])
        ledger = FUNCTIONS.of(f, columns, {}, False).ledger
        ledger.ran(ledger.arms[0], n, took)
    return stack(results)


FEW_NEW, MOST_NEW = 16, 2048
"""Elements of a new function that are the loop's without a thought, and with one."""


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
    THOUGHT_ABOUT.add(key[:-1])
    ledger = function.ledger
    arm = ledger.best(n)
    settled = arm is ledger.cheapest(n) and arm.runs >= TRIES
    calls = int(min(ledger.budget(n) / max(arm.seconds(n), 1e-7), MOST_CALLS)) if settled else 0
    run = _runner(arm, xs, function) if calls > 1 else None
    if run is not None:
        _keep(key, Entry(f.__code__, run, calls, arm, ledger))


def _keep(key: Any, entry: Entry) -> None:
    if len(ENTRIES) >= MOST_ENTRIES:
        ENTRIES.clear()
        THOUGHT_ABOUT.clear()
    ENTRIES[key] = entry


def _runner(arm: Arm, xs: tuple[Any, ...], function: Function) -> Callable[..., Any] | None:
    """`run(f, xs)`: the result, or MISS."""
    if arm.name == "loop":
        return _loop_of(xs)
    if isinstance(arm, Llvm) and function.reader.fields is None:
        return _machine_code(arm, function)
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
    return stack(run_column(f, xs[0]))


def _loop(f: Any, xs: tuple[Any, ...]) -> Any:
    return stack(run_plain(f, xs))


def _loop_over_arrays(f: Any, xs: tuple[Any, ...]) -> Any:
    return stack(run_loop(f, [elements_of(x) for x in xs], "raise"))


def _machine_code(arm: Llvm, function: Function) -> Callable[..., Any] | None:
    prepared, direct = arm.last, arm.direct
    if prepared is None:
        return None
    if direct is not None and prepared.whole:
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
