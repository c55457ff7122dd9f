"""Measures the contenders of a case: one Row each per size, with the seconds of its first and later calls."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case, Columns
from .contenders import BY_HAND, LOOP, UPSHIFT, Contender, Run, list_contenders

SEED = 7
RIVALS = (LOOP, UPSHIFT, BY_HAND)
SETTLE = 0.03  # seconds of calls before the steady state is measured
MANY = 1_000  # elements from which on a plan is given the time that it needs to compile,
DEAR = 1e-3  # or seconds of a call
SAMPLE = 100e-6  # shorter calls are repeated within one sample, or the clock is what is measured


def peak_memory(run: Run, columns: Columns) -> int | None:
    """The bytes that a call takes at most, as Linux counts them for this process; None elsewhere."""
    try:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)  # what was given back may not be taken again unseen
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = _status("VmRSS")
        run(*columns)
        return max(_status("VmHWM") - before, 0)
    except (OSError, StopIteration):
        return None


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024


@dataclass(frozen=True)
class Effort:
    """How long to look: up to `rounds` samples of a contender, at least `least`, in `budget` seconds."""

    rounds: int = 11
    least: int = 3
    budget: float = 0.12
    again: float = 1.5  # seconds more for rivals that end up close
    limit: float = 2.0  # the longest call worth waiting for
    settle: float = 2.0  # seconds of calls with many elements until a plan has compiled what it will
    memory: bool = False  # whether to look at what a call takes of it


@dataclass(frozen=True)
class Row:
    """One contender at one size. `status` says why there is no time, or how it was found."""

    case: str
    data: str  # "array" or "list": what the loop iterates over
    size: int
    contender: str
    status: str = "ok"  # "ok", "estimated" (from a smaller size), "slow" (skipped), "failed", "wrong"
    first: float | None = None  # fastest call of a fresh function
    steady: float | None = None  # fastest later call
    first_median: float | None = None
    steady_median: float | None = None
    note: str = ""
    memory: int | None = None  # bytes that a later call takes besides what is there already


class Entrant:
    """A contender on its way through the sizes of one case."""

    def __init__(self, contender: Contender) -> None:
        self.name, self.contender = contender.name, contender
        self.run: Run | None = None
        self.seen: tuple[int, float] | None = None  # the last size, and seconds per call there
        self.failure = ""
        self.firsts: list[float] = []
        self.samples: list[float] = []
        self.number = 1  # calls per sample
        self.memory: int | None = None

    def expect(self, size: int) -> float:
        """At most this many seconds per call: the last size's time, scaled."""
        assert self.seen is not None
        seen_size, seconds = self.seen
        return seconds * max(1.0, size / seen_size)

    def climb(self, size: int, columns: Columns, limit: float) -> bool:
        """Whether a call at `size` is worth waiting for; tries smaller sizes first where that is unclear."""
        if self.seen is None:
            self.probe(1, columns)
        while self.expect(size) > limit:
            small = self.seen[0] * 10
            if small >= size or self.expect(small) > limit:
                return False
            self.probe(small, columns)
        return True

    def probe(self, size: int, columns: Columns) -> None:
        run = self.contender.make()
        part = tuple(column[:size] for column in columns)
        clock(run, part)
        self.seen = size, clock(run, part)


def clock(run: Run, columns: Columns, number: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(number):
        run(*columns)
    return (time.perf_counter() - start) / number


def measure_case(case: Case, sizes: tuple[int, ...], effort: Effort, lists: bool, peers: bool) -> list[Row]:
    """All sizes, smallest first, so that each tells which contenders can be waited for at the next."""
    return measure_contenders(case, list_contenders(case, lists, peers), sizes, effort, lists)


def measure_contenders(
    case: Case, contenders: list[Contender], sizes: tuple[int, ...], effort: Effort, lists: bool = False
) -> list[Row]:
    entrants = [Entrant(contender) for contender in contenders]
    rows: list[Row] = []
    gc.collect()
    for size in sorted(sizes):
        columns = case.data(size, np.random.default_rng(SEED))
        if lists:
            columns = tuple(column.tolist() for column in columns)
        rows += measure_size(case, "list" if lists else "array", size, columns, entrants, effort)
    return rows


def measure_size(
    case: Case, data: str, size: int, columns: Columns, entrants: list[Entrant], effort: Effort
) -> list[Row]:
    ready = [e for e in entrants if attempt(e, lambda e=e: e.climb(size, columns, effort.limit))]
    wrong = call_first(ready, columns, effort, case.reset)
    ready = [e for e in ready if not e.failure]
    call_often(ready, columns, effort)
    for entrant in ready:
        entrant.seen = size, min(entrant.samples)
        entrant.memory = peak_memory(entrant.run, columns) if effort.memory else None
    return [make_row(case, data, size, e, ready, wrong.get(e.name, "")) for e in entrants]


def make_row(case: Case, data: str, size: int, entrant: Entrant, ready: list[Entrant], wrong: str) -> Row:
    key = case.name, data, size, entrant.name
    if entrant.failure:
        return Row(*key, "failed", note=entrant.failure)
    if entrant not in ready:
        if entrant.name == LOOP:
            expected = entrant.expect(size)
            return Row(*key, "estimated", expected, expected, expected, expected)
        return Row(*key, "slow")
    fastest = min(entrant.firsts), min(entrant.samples)
    medians = statistics.median(entrant.firsts), statistics.median(entrant.samples)
    return Row(*key, "wrong" if wrong else "ok", *fastest, *medians, wrong, entrant.memory)


def call_first(ready: list[Entrant], columns: Columns, effort: Effort, reset: Callable[[], None]) -> dict[str, str]:
    """Times first calls of fresh functions; gives what is wrong with the results, by name."""
    wrong: dict[str, str] = {}
    reference: list[Any] = []

    def call(entrant: Entrant) -> bool:
        entrant.run = entrant.contender.make()
        reset()
        start = time.perf_counter()
        result = entrant.run(*columns)
        entrant.firsts.append(time.perf_counter() - start)
        if entrant.name == LOOP:
            reference[:] = [result]
        elif reference and (difference := compare(result, reference[0], entrant.name == UPSHIFT)):
            wrong[entrant.name] = difference
        return True

    for entrant in ready:
        entrant.firsts, entrant.number = [], 1
    take_turns(ready, Phase(lambda e: attempt(e, lambda: call(e)), lambda e: e.firsts, once=True), effort)
    return wrong


def call_often(ready: list[Entrant], columns: Columns, effort: Effort) -> None:
    """Times later calls, after some that nobody times: a plan may change its mind at first."""

    def call(entrant: Entrant) -> None:
        if entrant.number > 1:
            # The one before has filled the processor's caches with its own things.
            entrant.run(*columns)
        entrant.samples.append(clock(entrant.run, columns, entrant.number))

    for entrant in ready:
        calls: list[float] = []
        settle = SETTLE
        size = len(columns[0])
        if entrant.contender.settles and (size >= MANY or entrant.expect(size) > DEAR):
            settle = effort.settle
        while entrant.seen[1] < settle and sum(calls) < settle:
            calls.append(clock(entrant.run, columns))
        entrant.samples, entrant.number = [], max(1, int(SAMPLE / min(calls, default=SAMPLE)))
    take_turns(ready, Phase(call, lambda e: e.samples, once=False), effort)


@dataclass(frozen=True)
class Phase:
    """How a sample is taken, and where it is kept; `once`: one of a compiled contender is enough."""

    take: Callable[[Entrant], Any]
    samples: Callable[[Entrant], list[float]]
    once: bool

    def spent(self, entrant: Entrant) -> float:
        return sum(self.samples(entrant)) * entrant.number

    def wants(self, entrant: Entrant, turn: int, effort: Effort) -> bool:
        compiled = entrant.contender.compiled
        if turn == 0 or (compiled and self.once):
            return turn == 0
        return turn < (1 if compiled else effort.least) or self.spent(entrant) < effort.budget


def take_turns(ready: list[Entrant], phase: Phase, effort: Effort) -> None:
    """One sample of each contender in every round, in changing order: what disturbs one disturbs all alike.

    Where Upshift and a rival end up close, both get more rounds: noise must not break or keep a promise.
    """
    order, shuffle = list(ready), random.Random(SEED).shuffle
    with no_garbage_collection():
        for turn in range(effort.rounds):
            for entrant in order:
                if phase.wants(entrant, turn, effort):
                    phase.take(entrant)
            shuffle(order)
        for _ in range(3 * effort.rounds):
            close = find_close({e: min(phase.samples(e)) for e in ready if e.name in RIVALS})
            if not close or sum(map(phase.spent, close)) > effort.again:
                break
            shuffle(close)
            for entrant in close:
                phase.take(entrant)


def find_close(fastest: dict[Entrant, float]) -> list[Entrant]:
    """Upshift and those that may or may not be faster than it."""
    ours = next((e for e in fastest if e.name == UPSHIFT), None)
    if ours is None:
        return []
    rivals = [e for e, seconds in fastest.items() if 1.03 < fastest[ours] / seconds < 2.0]
    return [ours, *rivals] if rivals else []


def attempt(entrant: Entrant, action: Callable[[], bool]) -> bool:
    """Runs `action` for a contender; a peer that cannot is out, with its words kept. Upshift may not fail."""
    if entrant.failure:
        return False
    if not entrant.contender.compiled:
        return action()
    try:
        with quiet_stderr():
            return action()
    except Exception as error:
        text = str(error).strip().splitlines()
        entrant.failure = f"{type(error).__name__}: {text[0][:200] if text else ''}"
        return False


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """XLA writes pages from C++ when it refuses a program; what it says is in the exception too."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "w") as sink:
        os.dup2(sink.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def compare(result: Any, reference: Any, strict: bool) -> str:
    """What differs from the loop's result, or nothing.

    Upshift keeps the dtypes, and the digits of results near zero; peers may round before they cancel.
    """
    if not isinstance(reference, tuple):
        result, reference = (result,), (reference,)
    for got, want in zip(result, reference, strict=True):
        if getattr(want, "dtype", np.dtype(object)).kind not in "biufc":
            if list(got) != list(want):
                return "values differ"
            continue
        if strict and got.dtype != want.dtype:
            return f"dtype {got.dtype} instead of {want.dtype}"
        rtol = 1e-5 if want.dtype == np.float32 else 1e-9
        near_zero = 0.0 if strict and want.ndim == 1 else rtol * float(np.nanmax(np.abs(want), initial=0.0))
        same = np.isclose(got, want, rtol=rtol, atol=near_zero, equal_nan=True)
        if not same.all():
            return f"{np.count_nonzero(~same)} values differ"
    return ""
