"""What a new function costs over its first 1 to 1,000 calls, left to the plan and in each gear.

Nothing is forgiven: tracing, checks and compilation are in the first calls. Only what any function would find done is
done before the clock starts: frameworks are loaded, this machine is calibrated.
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import upshift as up
from upshift.report.demo import SHOWN

from .cases import Case, Columns
from .contenders import UPSHIFT, Run, make_fresh, make_loop
from .measure import SEED, clock, no_garbage_collection

CALLS = (1, 10, 100, 1_000)
SIZES = (10, 100, 1_000, 10_000, 100_000)
PATIENCE = (
    3.0  # so many times as long as any gear may take is the plan waited for: it should take at most twice as long
)


@dataclass(frozen=True)
class Life:
    """The seconds of the first calls of a new function, all together; `gear` is up.map where nobody named one."""

    case: str
    size: int
    calls: int
    gear: str
    seconds: float


@contextlib.contextmanager
def empty_cache() -> Iterator[None]:
    """Nothing that an earlier process has learnt helps, and nothing is left for later ones."""
    before = os.environ.get("UPSHIFT_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="upshift-bench-", ignore_cleanup_errors=True) as folder:
        os.environ["UPSHIFT_CACHE_DIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["UPSHIFT_CACHE_DIR"]
            else:
                os.environ["UPSHIFT_CACHE_DIR"] = before


def warm_up() -> None:
    """Load what the gears need."""
    for gear in (None, *SHOWN):
        with contextlib.suppress(up.GearRefused):
            up.map(make_fresh(lambda x: x * 2.0 + 1.0), np.arange(64.0), gear=gear)


def measure_lives(case: Case, sizes: tuple[int, ...], limit: float, rounds: int) -> list[Life]:
    """Every size whose loop is worth waiting for; the shortest of some lives."""
    found: list[Life] = []
    for size in sorted(sizes):
        columns = case.data(size, np.random.default_rng(SEED))
        part = tuple(column[:10] for column in columns)
        once = min(clock(make_loop(case.f), part) for _ in range(3))
        if once * size / len(part[0]) < limit:
            found += lives_at(case, size, columns, limit, rounds)
    return found


def lives_at(case: Case, size: int, columns: Columns, limit: float, rounds: int) -> list[Life]:
    shortest: dict[tuple[str, int], float] = {}
    order = ["loop", *SHOWN, UPSHIFT]
    shuffle = random.Random(SEED).shuffle
    for _ in range(rounds):
        for gear in order:
            try:
                totals = live(case, gear, columns, limit * (PATIENCE if gear == UPSHIFT else 1.0))
            except up.GearRefused:
                continue
            for calls, seconds in totals.items():
                shortest[gear, calls] = min(seconds, shortest.get((gear, calls), seconds))
        shuffle(order)
    return [Life(case.name, size, calls, gear, seconds) for (gear, calls), seconds in shortest.items()]


def live(case: Case, gear: str, columns: Columns, limit: float) -> dict[int, float]:
    """One life: the total after each number of calls, until it has taken too long."""
    f = make_fresh(case.f)
    run: Run = partial(up.map, f) if gear == UPSHIFT else partial(up.map, f, gear=gear)
    case.reset()
    totals: dict[int, float] = {}
    total = 0.0
    with no_garbage_collection():
        for call in range(1, CALLS[-1] + 1):
            began = time.perf_counter()
            run(*columns)
            total += time.perf_counter() - began
            if call in CALLS:
                totals[call] = total
            if total > limit:
                break
    return totals
