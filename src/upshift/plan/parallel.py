"""The plain function on threads or processes, as arms of the ledger for what is slow and does not compile.

Threads are an arm of every function that has no effects, holds nothing that calls could change, and calls libraries
that are known to be re-entrant. Processes are one only where the user says `workers=`, which also allows threads for
whatever else has no effects.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..columns.inputs import Elements, Records, Rows
from ..config import cores, in_worker, settings
from ..errors import Refusal
from ..gears import threads
from ..gears.job import Job
from ..gears.threads import run_threads
from ..gears.workers.answers import Made
from ..gears.workers.purity import held_by, is_plain, may_write, unknown_library
from ..loading import Later
from . import prices
from .arms import SLOW, Way
from .batched import Batched
from .ledger import TRIES, Arm, Ledger

if TYPE_CHECKING:
    from ..gears import processes
    from ..gears.workers import functions as sent
    from ..gears.workers import pool
else:  # only where the user allows processes
    processes, pool = Later("upshift.gears.processes"), Later("upshift.gears.workers.pool")
    sent = Later("upshift.gears.workers.functions")

LOOK = 1e-3
"""To look for effects in a function's code, and in that of what it calls."""
THREADS_CALL = 300e-6
"""A call on threads, before its first element."""
PROCESSES = 0.4
"""To start worker processes, on another thread and beside the loop."""
PROCESSES_CALL, PROCESSES_ITEM = 3e-3, 20e-6
"""A call on processes that wait for it, and an element's way to one and its result's way back, besides its bytes."""
PROCESSES_BYTES = 1e9
"""How many times a byte is carried there in a second."""
TRIAL = 20e-3
"""Seconds of the loop that workers are given at a time, as long as it is not known whether they are faster."""
FEW = 16
"""Elements that are looked into whole, to see of what they are made."""


class Workers(Way):
    """An arm that runs the plain function, several elements at a time."""

    def __init__(self, name: str, ledger: Callable[[], Ledger], after: Arm | None) -> None:
        super().__init__(name, price=prices.factor("look") * LOOK, guess=self.least, after=after)
        self.ledger = ledger
        self.asked = settings().workers > 1
        """Whether the user has said that there may be workers."""
        self.looked = False

    @property
    def count(self) -> int:
        """How many elements may run at a time."""
        now = settings()
        return now.workers or min(now.num_threads, cores())

    def seconds(self, n: int) -> float:
        """What was measured, but not less than so many workers can do: a small call says nothing of a smaller one."""
        found, least = self.line.seconds(n), self.least(n)
        return least if found is None else max(found, least)

    def least(self, n: int) -> float:
        """Seconds that n elements take at least, by the loop's; never where they are brief, or there is one."""
        loop, count = self.ledger().arms[0].seconds(n), min(self.count, n)
        if count < 2 or loop < SLOW * n:
            return math.inf
        return math.ceil(n / count) * loop / n + self.overhead(n)

    def overhead(self, n: int) -> float:
        """Seconds that a call of n elements takes besides them."""
        raise NotImplementedError

    def build(self, job: Job, n: int) -> None:
        """First a look at the code, and whatever else tells that a function is not for workers."""
        if self.looked:
            return self.prepare()
        began = time.perf_counter()
        self.refusal = self.why_not(_whole(job)) or self.why_never(_whole(job))
        prices.learn("look", self.price, time.perf_counter() - began)
        self.looked = self.sure = self.refusal is None
        if self.looked:
            self.order()
        return None

    def why_not(self, job: Job) -> Refusal | None:
        """What speaks against it in the function's code and in what it captures: asked before every run."""
        raise NotImplementedError

    def why_never(self, job: Job) -> Refusal | None:
        """What else does, which takes longer to find; asked once."""

    def order(self) -> None:
        """Sets the price of what is still to be made ready."""
        self.ready = True

    def prepare(self) -> None:
        """Makes the rest ready."""

    def most(self, n: int) -> int:
        """Few, as long as it is not known whether that is faster than the loop: they tell."""
        ledger = self.ledger()
        if self.runs >= TRIES and ledger.cheapest(n) is self:
            return n
        few = max(int(TRIAL * n / max(ledger.arms[0].seconds(n), 1e-9)), 2 * self.count)
        return n if 2 * few >= n else few

    def run(self, job: Job) -> Batched | Refusal:
        job = _whole(job)
        few = job.part(0, FEW)
        refused = self.why_not(few) or (None if self.looked else self.why_never(few))
        made = refused or self.on_workers(job.part(0))
        if isinstance(made, Refusal):
            self.refusal = made
            return made
        return Batched(made.pieces, skipped=made.skipped)

    def on_workers(self, job: Job) -> Made | Refusal:
        """All elements of a job."""
        raise NotImplementedError


class Threads(Workers):
    """The plain function on several threads: faster where it frees the interpreter's lock, which a first part tells."""

    def __init__(self, ledger: Callable[[], Ledger], after: Arm | None) -> None:
        super().__init__("threads", ledger, after)

    def overhead(self, n: int) -> float:
        return THREADS_CALL

    def why_not(self, job: Job) -> Refusal | None:
        return threads.why_not(job.f, job.shared) if self.asked else why_not_unasked(job)

    def on_workers(self, job: Job) -> Made | Refusal:
        return run_threads(job, self.count)


class Processes(Workers):
    """The plain function in worker processes, where the user has said `workers=`."""

    def __init__(self, ledger: Callable[[], Ledger], after: Arm | None, columns: list[Elements]) -> None:
        super().__init__("processes", ledger, after)
        self.bytes = processes.bytes_of(columns)

    def overhead(self, n: int) -> float:
        return PROCESSES_CALL + n * (PROCESSES_ITEM + self.bytes / PROCESSES_BYTES)

    def why_not(self, job: Job) -> Refusal | None:
        return processes.why_not(job.f, job.shared)

    def why_never(self, job: Job) -> Refusal | None:
        try:
            sent.parcel_of((job.f, job.shared, [column[:FEW] for column in job.columns]))
        except sent.NotSendable as reason:
            return Refusal(self.name, str(reason))
        return None

    def order(self) -> None:
        self.ready = pool.waiting() >= self.count
        self.price = 0.0 if self.ready else prices.factor("processes") * PROCESSES

    def prepare(self) -> None:
        count = self.count  # settings are the caller's, and another thread has others

        def start() -> None:
            began = time.perf_counter()
            try:
                pool.prepare(count)
            except (OSError, EOFError) as error:
                self.refusal = Refusal(self.name, f"its workers cannot be started: {error}")
                return
            prices.learn("processes", PROCESSES, time.perf_counter() - began)
            self.ready = True

        self.elsewhere(start)

    def on_workers(self, job: Job) -> Made | Refusal:
        return processes.run_processes(job)


def why_not_unasked(job: Job) -> Refusal | None:
    """Why a function is not run on threads unless the user says that there may be workers."""
    refused = threads.why_not(job.f, job.shared)
    if refused is not None or settings().pure:
        return refused
    if held_by(job.f, job.shared):
        reason = "it holds objects that calls could change"
    elif library := unknown_library(job.f, job.shared):
        reason = f"nobody knows whether {library} may be called from several threads at once"
    else:
        reason = _unlike_plain(job)
    return Refusal("threads", reason, remedy="where that does no harm, say workers=") if reason else None


def _whole(job: Job) -> Job:
    """The job of the function as it is, where columns are fields of records."""
    return job.whole or job


def _unlike_plain(job: Job) -> str:
    """Whether elements are of other things than numbers, texts, arrays and containers, or calls change containers."""
    fixed = True
    for column in job.columns:
        for part in column.columns if isinstance(column, Records) else [column]:
            if isinstance(part, np.ndarray) and part.dtype != object:
                continue
            if isinstance(part, Rows | Records) or not all(map(is_plain, part[:FEW])):
                return "its elements are objects that calls could change"
            fixed = fixed and all(isinstance(one, str | bytes | int | float | complex) for one in part[:FEW])
    return "" if fixed else may_write(job.f, job.shared)


def workers_of(ledger: Callable[[], Ledger], columns: list[Elements]) -> list[Workers]:
    """The arms of workers that there are to map a slow function."""
    if in_worker() or settings().workers == 1 or (not settings().workers and settings().num_threads < 2):
        return []
    after = next((arm for arm in ledger().arms if arm.name == "llvm"), None)
    made: list[Workers] = [Threads(ledger, after)]
    if settings().workers > 1 and may_start_processes():
        made.append(Processes(ledger, after, columns))
    return made


def may_start_processes() -> bool:
    """Whether another interpreter can be started that is like this one: Python's own, and not a program around it."""
    return "py" in os.path.basename(sys.executable or "").lower() and not pool.why_not()
