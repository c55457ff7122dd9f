"""Elements on several processes: chunks go to workers by shared memory, results come back in order.

up.map(parse, paths, gear="processes", workers=4)

A worker that is killed costs nothing but its chunk, which is run once more; an element that takes longer than the
timeout ends its worker. The first error in the order of the elements is the one that is raised, as in the loop.
"""

from __future__ import annotations

import contextlib
import heapq
import importlib.util
import selectors
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.inputs import Elements
from ..config import settings
from ..errors import Refusal, WorkerLost, name_element
from .job import Job
from .workers import pool
from .workers.answers import Answer, Made, made_of, surroundings_of
from .workers.functions import NotSendable, function_parcel, load, parcel_of
from .workers.purity import REMEDY, why_impure
from .workers.segments import Segment

GEAR = "processes"
CHUNK_SECONDS = 30e-3
"""What a chunk is expected to take: long enough to cost nothing, short enough that no worker waits for the last one."""
CHUNK_BYTES = 1 << 23
"""How many bytes of elements are in a chunk at most, unless it is one element."""
TWICE = 2
"""How often a chunk may lose its worker."""


@dataclass(order=True, slots=True)
class Chunk:
    """Elements from `low` to `high`, by position in the job."""

    low: int
    high: int = field(compare=False)
    lost: int = field(compare=False, default=0)
    """How often its worker has ended meanwhile."""


def why_not(f: Any, shared: dict[str, Any]) -> Refusal | None:
    """Why a function is not for worker processes, as far as can be told without one."""
    if reason := pool.why_not():
        return Refusal(GEAR, reason)
    if importlib.util.find_spec("cloudpickle") is None:
        return Refusal(GEAR, "cloudpickle is not installed", remedy='pip install "upshift[parallel]"')
    if not settings().pure:
        reason, where = why_impure(f, shared)
        if reason:
            return Refusal(GEAR, reason, where, REMEDY)
    return None


class Run:
    """One job on its way through workers."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.rate, self.bytes = 0.0, bytes_of(job.columns)
        around = surroundings_of(settings(), job.on_error, job.exact)
        self.parcel, self.digest = function_parcel(job.f, job.shared, around)
        self.next = 0
        self.again: list[Chunk] = []
        self.answers: dict[int, tuple[Chunk, Answer]] = {}
        self.failed: tuple[int, BaseException] | None = None
        """The first element that raised, as far as is known."""
        self.refused = ""
        self.timeout = settings().timeout
        self.ends: dict[int, BaseException] = {}
        """Elements that took too long, where that is not the end of all."""
        self.watched: dict[pool.Worker, tuple[tuple[int, int], float]] = {}
        """Where a worker was, and since when."""

    def run(self, count: int) -> Made | str:
        """All chunks by so many workers; or why not, in words."""
        segment = Segment()
        try:
            extents, _ = self.parcel.write(segment)
            with pool.hired(count) as workers, selectors.DefaultSelector() as selector:
                self.workers, self.selector = workers, selector
                self.lesson = self.digest, extents, segment
                for worker in workers:
                    self._begin(worker)
                while self._is_busy() and not self.refused and not self._is_settled():
                    self._hear()
        finally:
            segment.close()
        if self.refused:
            return self.refused
        if self.failed is not None:
            raise self.failed[1]
        return self._made()

    def _begin(self, worker: pool.Worker) -> None:
        self.selector.register(worker, selectors.EVENT_READ)
        self.watched[worker] = worker.at(), time.monotonic()
        with contextlib.suppress(ConnectionError):  # it has ended while it was idle, which its socket tells next
            worker.teach(*self.lesson)
            self._feed(worker)

    def _is_busy(self) -> bool:
        """Whether elements are to be run, or are run."""
        left = bool(self.again) or (self.failed is None and self.next < self.job.n)
        return left or any(worker.given for worker in self.workers)

    def _is_settled(self) -> bool:
        """Whether the error that will be raised is known: all elements before it are done."""
        if self.failed is None:
            return False
        before = [chunk for worker in self.workers for chunk in worker.given] + self.again
        return not any(chunk.low < self.failed[0] for chunk in before)

    def _feed(self, worker: pool.Worker) -> None:
        while worker.free and (chunk := self._take(worker)) is not None:
            part = self.job.part(chunk.low, chunk.high)
            try:
                parcel = parcel_of(list(part.columns))
            except NotSendable as reason:
                self.refused = str(reason)
                return
            self.bytes = max(self.bytes, parcel.nbytes / part.n)
            try:
                worker.give(chunk, self.digest, parcel, part.offset)
            except ConnectionError:  # it has just ended: this chunk is another one's
                heapq.heappush(self.again, chunk)
                return

    def _take(self, worker: pool.Worker) -> Chunk | None:
        if self.again and (not self.again[0].lost or not worker.given):  # what has ended a worker has one to itself
            return heapq.heappop(self.again)
        if self.failed is not None or self.next >= self.job.n:
            return None
        low, left = self.next, self.job.n - self.next
        share = -(-left // (2 * pool.DEPTH * len(self.workers)))
        size = min(share, int(CHUNK_SECONDS / self.rate) if self.rate else 1, int(CHUNK_BYTES / max(self.bytes, 1)))
        self.next = low + max(size, 1)
        return Chunk(low, min(self.next, self.job.n))

    def _hear(self) -> None:
        """Wait for what workers say, or until one has taken too long."""
        for key, _ in self.selector.select(min(self.timeout / 4, 0.1) if self.timeout else 1.0):
            worker: Any = key.fileobj
            try:
                found = worker.answer(load)
            except (EOFError, OSError):
                self._lost(worker)
                continue
            if found is not None:
                self._keep(*found)
                self._feed(worker)
        if self.timeout:
            for worker in list(self.workers):
                self._look_at(worker)

    def _keep(self, chunk: Chunk, answer: Answer) -> None:
        answer.warn()
        if answer.refused:
            self.refused = answer.refused
        elif answer.raised is not None:
            at = answer.raised[0] - self.job.offset
            if self.failed is None or at < self.failed[0]:
                self.failed = at, answer.raised[1]
        else:
            rate = max(answer.seconds / (chunk.high - chunk.low), 1e-7)
            self.rate = rate if not self.rate else 0.5 * self.rate + 0.5 * rate
            self.answers[chunk.low] = chunk, answer
            if self.job.blocks is not None:
                self.job.blocks.done(chunk.high - chunk.low, GEAR)

    def _lost(self, worker: pool.Worker) -> None:
        """A worker has ended: what it ran is run once more, by another one."""
        given, greeted = worker.given, worker.greeted
        self._remove(worker)
        how = pool.dismiss(worker)
        if not greeted:
            raise WorkerLost(f"a worker process could not be started: it {how}")
        if given:
            first = given[0]
            first.lost += 1
            if first.lost >= TWICE:
                low = self.job.offset + first.low
                raise WorkerLost(
                    f"worker processes were lost {TWICE} times while they ran elements {low} to "
                    f"{self.job.offset + first.high - 1}: the last one {how}"
                )
        self._replace(given)

    def _remove(self, worker: pool.Worker) -> None:
        self.selector.unregister(worker)
        self.workers.remove(worker)

    def _replace(self, given: list[Chunk]) -> None:
        for chunk in given:
            heapq.heappush(self.again, chunk)
        new = pool.start()
        self.workers.append(new)
        self._begin(new)

    def _look_at(self, worker: pool.Worker) -> None:
        """End a worker whose element has taken longer than the timeout."""
        now, at = time.monotonic(), worker.at()
        before, since = self.watched.get(worker, (at, now))
        if at != before or not worker.given:
            self.watched[worker] = at, now
            return
        assert self.timeout is not None
        if now - since < self.timeout or not at[1]:
            return
        given = worker.given
        self._remove(worker)
        pool.dismiss(worker)
        first = given.pop(0)
        i = min(first.low + at[1] - 1, first.high - 1)
        low = self.job.offset + first.low
        error = TimeoutError(
            f"an element took longer than {self.timeout:g} s (of elements {low} to {low + first.high - first.low - 1})"
        )
        name_element(error, self.job.offset + i, self.job.row(i))
        if self.job.on_error == "raise":
            if self.failed is None or i < self.failed[0]:
                self.failed = i, error
            given = [chunk for chunk in given if chunk.low < self.failed[0]]
            given += [Chunk(first.low, i)] if i > first.low else []
        else:
            self.ends[i] = error
            given += [Chunk(a, b) for a, b in ((first.low, i), (i + 1, first.high)) if b > a]
        self._replace(given)

    def _made(self) -> Made:
        on_error = self.job.on_error
        results: list[Any] = [None] * self.job.n
        skipped: list[int] = []
        for chunk, answer in self.answers.values():
            results[chunk.low : chunk.high] = answer.results
            skipped += [chunk.low + k for k in answer.skipped]
        for i, error in self.ends.items():
            results[i] = error
            skipped += [i] if on_error != "return" else []
        if isinstance(on_error, str):
            return made_of(results, sorted(skipped))
        for i in skipped:
            results[i] = on_error[1]
        return made_of(results, [])


def bytes_of(columns: Any) -> float:
    """About how many bytes an element has, as far as a look at its columns tells."""
    sizes = [_bytes(column) for column in columns]
    return float(sum(sizes))


def _bytes(column: Elements) -> float:
    if isinstance(column, np.ndarray):
        return column.nbytes / max(len(column), 1)
    first = column[0] if len(column) else None
    return float(first.nbytes) if isinstance(first, np.ndarray) else 8.0


def run_processes(job: Job) -> Made | Refusal:
    """A job on worker processes, which refuse what they see it do besides computing."""
    try:
        run = Run(job)
        made = run.run(min(settings().workers or pool.count(), max(job.n, 1)))
    except NotSendable as reason:
        return Refusal(GEAR, str(reason))
    return Refusal(GEAR, made, remedy=REMEDY) if isinstance(made, str) else made
