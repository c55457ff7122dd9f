"""One call of a map: its elements, block by block, each by the arm that the ledger says."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ..columns.outputs import ClassesLost, Placed
from ..errors import Refusal
from ..gears.job import Job
from ..gears.loop import OnError, run_loop
from .arms import MANY, Way
from .assembly import Looped, conclude, moved, plain_rows, stacked
from .batched import Batched
from .functions import Function
from .ledger import TRIES

FIRST = 8
"""Elements of a function's first block, after the very first one, which is slower than all others."""
LEAST = 50e-6
"""Seconds of the loop before which nobody knows how fast it is."""
MOST_LEFT = 0.5
"""The share of the elements that an arm of unknown speed may leave to the plain function; else all go to another."""


@dataclass(slots=True)
class Begun:
    """What the loop has run of a function that had no ledger: the first elements of this call, and calls before."""

    results: list[Any]
    seconds: float
    """For all of them but the very first one, which is slower than all others."""
    calls: list[tuple[int, float, int]]
    """Calls before this one: how many elements, in how many seconds, how often."""


class Call:
    """A job on its way through blocks."""

    def __init__(self, job: Job, function: Function, on_error: OnError) -> None:
        self.job, self.function, self.on_error = job, function, on_error
        self.ledger = function.ledger
        self.loop: Any = self.ledger.arms[0]
        self.done = 0
        self.looped: list[Looped] = []
        self.pieces: list[Placed] = []
        self.single: tuple[Way, float] | None = None
        """The one arm that ran all elements, and when it began."""

    def run(self) -> Any:
        self.go()
        result = self._result()
        if self.single is not None:
            arm, began = self.single
            self.ledger.ran(arm, self.job.n, time.perf_counter() - began)
        return result

    def go(self) -> None:
        """All elements, each by some arm."""
        while self.done < self.job.n:
            left = self.job.n - self.done
            if not self.loop.line.seen or self.loop.runs == 0:
                self._first_blocks()
                continue
            self.function.look_for_workers(self.job, left)
            arm = self.ledger.to_build(left)
            if arm is not None:
                self._build(arm)
                continue
            arm = self.ledger.best(left)
            self._by(arm, self._count(arm, left))

    def _first_blocks(self) -> None:
        """A function of which nothing is known: the loop, until that tells how fast it is."""
        at = self.done
        if not self.done:
            self._loop(1)
        spent, count, taken = 0.0, FIRST, 0
        while self.done < self.job.n and spent < LEAST:
            began = time.perf_counter()
            before = self.done
            self._loop(count)
            spent += time.perf_counter() - began
            taken += self.done - before
            count = min(count * 8, 4096)
        self._loop_is_known(taken, spent)
        if self.job.blocks is not None:
            self.job.blocks.done(self.done - at, self.loop.name)

    def _loop_is_known(self, taken: int, seconds: float, times: int = 1) -> None:
        """The loop has run so many elements of a new function in so many seconds, so often."""
        if not taken:
            self.ledger.ran(self.loop, 1, LEAST)  # one element in all says next to nothing
            return
        self.ledger.ran(self.loop, taken, seconds, times)
        for arm in self.ledger.arms[1:]:
            arm.expect(seconds / taken)  # type: ignore[attr-defined]

    def go_on(self, begun: Begun) -> None:
        """The first elements are done."""
        self.done = len(begun.results)
        if self.done:
            self.looped.append((slice(0, self.done), begun.results))
        for n, seconds, times in begun.calls:
            self._loop_is_known(n, seconds, times)
        if self.done > 1:
            self._loop_is_known(self.done - 1, begun.seconds)

    def _count(self, arm: Any, left: int) -> int:
        """How many elements an arm runs before the next look at the ledger."""
        most = self.job.blocks.most(left, arm.seconds(left) / left) if self.job.blocks is not None else left
        if arm is not self.loop:
            return min(most, int(arm.most(left)))
        per_element = arm.seconds(left) / left
        budget = self.ledger.budget(left)
        count = int(max(budget, 4 * LEAST) / max(per_element, 1e-9)) + 1
        return min(left if 1.5 * count >= left else count, most)

    def _build(self, arm: Any) -> None:
        if not self.ledger.begin(arm):  # another thread was faster
            return
        began, was_sure = time.thread_time(), arm.sure  # what others do meanwhile is not what it costs
        try:
            few = self.job.part(self.done, self.done + MANY)
            arm.build(self.function.by_fields(few), self.job.n - self.done)
        finally:
            arm.building = False
        self.ledger.built(arm, time.thread_time() - began, was_sure)

    def _by(self, arm: Any, count: int) -> None:
        whole = count == self.job.n
        began = time.perf_counter()
        if arm is self.loop:
            self._loop(count)
        else:
            part = self.job if whole else self.job.part(self.done, self.done + count)
            made = arm.run(self.function.by_fields(part))
            if isinstance(made, Refusal):
                return
            left = sum(map(len, made.left))
            if left > MOST_LEFT * count and arm.runs < TRIES and not made.overran:
                self.ledger.left_most(arm, count, time.perf_counter() - began, self.loop.seconds(left))
                return
            self._keep(part, made)
        if whole:
            self.single = arm, began
        else:
            self.ledger.ran(arm, count, time.perf_counter() - began)
        if self.job.blocks is not None:
            self.job.blocks.done(count, arm.name)

    def _loop(self, count: int) -> None:
        part = self.job.part(self.done, self.done + count)
        results = run_loop(part.call, part.columns, self.on_error, self.job.offset + self.done)
        self.looped.append((slice(self.done, self.done + part.n), results))
        self.done += part.n

    def _keep(self, part: Job, made: Batched) -> None:
        lanes, plain = plain_rows(part, made, self.on_error)
        self.looped.append((moved(lanes, self.done, part.n), plain))
        self.pieces += [(moved(at, self.done, part.n), piece) for at, piece in made.pieces]
        self.done += part.n

    def _result(self) -> Any:
        if not self.pieces:
            return stacked(self._looped_results(), self.on_error)
        try:
            return conclude(self.job.n, self.looped, self.pieces, self.on_error == "skip")
        except ClassesLost:  # a gear that does not know which results were ints: once more, by the loop
            return stacked(run_loop(self.job.call, self.job.columns, self.on_error), self.on_error)

    def _looped_results(self) -> list[Any]:
        """Results of a call that was all the loop's, in their order."""
        results: list[Any] = self.looped[0][1] if len(self.looped) == 1 else []
        if len(self.looped) > 1:
            for _, some in self.looped:
                results += some
        return results


def run(job: Job, function: Function, on_error: OnError, begun: Begun | None = None) -> Any:
    """A job in the ways that its ledger finds. `begun`: its first elements, which the loop has run."""
    call = Call(job, function, on_error)
    if begun is not None:
        call.go_on(begun)
    return call.run()
