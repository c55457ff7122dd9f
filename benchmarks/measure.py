"""In: a case. Out: one Row per size and contender: the seconds of its first and of its later calls."""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cases import Case, Columns
from .contenders import BY_HAND, LOOP, UPSHIFT, Contender, Run, list_contenders

SEED = 20_25
SETTLE = 0.03  # seconds of calls before the steady state is measured: a plan may change its mind at first
AGAIN = 12  # times the budget, for all rivals together, when it is close
SAMPLE = 100e-6  # shorter calls are repeated within one sample, or the clock is what is measured


@dataclass(frozen=True)
class Effort:
    """How long to look: up to `rounds` samples of a contender, at least `least`, in `budget` seconds."""

    rounds: int = 15
    least: int = 3
    budget: float = 0.15
    limit: float = 2.0  # the longest call worth waiting for


@dataclass(frozen=True)
class Row:
    """One contender at one size. `status` says why there is no time, or how it was found."""

    case: str
    data: str  # "array" or "list": what the loop iterates over
    size: int
    contender: str
    status: str = "ok"  # "ok", "estimated" (from a smaller size), "slow" (skipped), "failed", "wrong"
    first: float | None = None  # median of fresh functions
    steady: float | None = None  # fastest sample
    median: float | None = None
    note: str = ""


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
    entrants = [Entrant(contender) for contender in list_contenders(case, lists, peers)]
    rows: list[Row] = []
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
    wrong = call_first(ready, columns, effort)
    ready = [e for e in ready if not e.failure]
    call_often(ready, columns, effort)
    for entrant in ready:
        entrant.seen = size, min(entrant.samples)
    return [make_row(case, data, size, e, ready, wrong.get(e.name, "")) for e in entrants]


def make_row(case: Case, data: str, size: int, entrant: Entrant, ready: list[Entrant], wrong: str) -> Row:
    key = case.name, data, size, entrant.name
    if entrant.failure:
        return Row(*key, "failed", note=entrant.failure)
    if entrant not in ready:
        if entrant.name == LOOP:
            expected = entrant.expect(size)
            return Row(*key, "estimated", expected, expected, expected)
        return Row(*key, "slow")
    first, median = statistics.median(entrant.firsts), statistics.median(entrant.samples)
    return Row(*key, "wrong" if wrong else "ok", first, min(entrant.samples), median, wrong)


def call_first(ready: list[Entrant], columns: Columns, effort: Effort) -> dict[str, str]:
    """Times first calls of fresh functions; gives what is wrong with the results, by name."""
    wrong: dict[str, str] = {}
    reference: list[Any] = []

    def call(entrant: Entrant) -> bool:
        entrant.run = entrant.contender.make()
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
    phase = Phase(lambda e: attempt(e, lambda: call(e)), lambda e: e.firsts, statistics.median, True)
    take_turns(ready, phase, effort)
    return wrong


def call_often(ready: list[Entrant], columns: Columns, effort: Effort) -> None:
    """Times later calls, after some that nobody times."""
    for entrant in ready:
        last = spent = 0.0 if entrant.contender.compiled else entrant.firsts[-1]
        while spent < SETTLE:
            last = clock(entrant.run, columns)
            spent += last
        entrant.samples, entrant.number = [], max(1, int(SAMPLE / last))
    phase = Phase(
        lambda e: e.samples.append(clock(e.run, columns, e.number)), lambda e: e.samples, min, False
    )
    take_turns(ready, phase, effort)


@dataclass(frozen=True)
class Phase:
    """How a sample is taken, where it is kept, what stands for all of them; `once`: compiled ones get one."""

    take: Callable[[Entrant], Any]
    samples: Callable[[Entrant], list[float]]
    judge: Callable[[list[float]], float]
    once: bool

    def spent(self, entrant: Entrant) -> float:
        return sum(self.samples(entrant)) * entrant.number

    def wants(self, entrant: Entrant, turn: int, effort: Effort) -> bool:
        compiled = entrant.contender.compiled
        if turn == 0 or (compiled and self.once):
            return turn == 0
        return turn < (1 if compiled else effort.least) or self.spent(entrant) < effort.budget


def take_turns(ready: list[Entrant], phase: Phase, effort: Effort) -> None:
    """One sample of each contender in every round, so that a slow moment of the machine hits all alike.

    Where Upshift and a rival end up close, both get more rounds: noise must not break or keep a promise.
    """
    rivals = [e for e in ready if e.name in (LOOP, UPSHIFT, BY_HAND)]
    with no_garbage_collection():
        for turn in range(effort.rounds):
            for entrant in ready:
                if phase.wants(entrant, turn, effort):
                    phase.take(entrant)
        for _ in range(2 * effort.rounds):
            close = in_doubt({e.name: phase.judge(phase.samples(e)) for e in rivals})
            if not close or sum(map(phase.spent, rivals)) > AGAIN * effort.budget:
                break
            for entrant in rivals:
                phase.take(entrant)


def in_doubt(seconds: dict[str, float]) -> bool:
    ours = seconds.get(UPSHIFT)
    return ours is not None and any(1.03 < ours / other < 2.0 for other in seconds.values())


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
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def compare(result: Any, reference: Any, strict: bool) -> str:
    """What differs from the loop's result, or nothing. Only Upshift promises the dtypes, too."""
    if not isinstance(reference, tuple):
        result, reference = (result,), (reference,)
    for got, want in zip(result, reference, strict=True):
        if strict and got.dtype != want.dtype:
            return f"dtype {got.dtype} instead of {want.dtype}"
        if not np.allclose(got, want, rtol=1e-9, atol=1e-300, equal_nan=True):
            return f"{np.count_nonzero(~np.isclose(got, want, rtol=1e-9, equal_nan=True))} values differ"
    return ""
