"""A job in, its results out, in the gear that pays: the loop first, a higher gear when that is worth it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..columns.inputs import take
from ..columns.outputs import ClassesLost, Placed, Stored
from ..errors import GearRefused, Refusal
from ..gears.job import Job
from ..gears.loop import OnError, run_loop
from ..gears.numpy import Pace
from .batch import FEW, FORCED, batch
from .batched import Batched
from .choice import AT_STAKE, Review, compiling_pays, machine_is_best, review_after
from .costs import FIXED, SETUP
from .machine import run_machine, swift_of
from .memory import WORTH_A_THOUGHT, Known
from .notes import recall, remember
from .whole import Looped, conclude, moved, plain_rows, stacked

FORCED_SECONDS = 2.0
"""How long a gear that was asked for by name may trace; what is not traced then is left to the plain function."""
TRACED_SECONDS = 0.1
"""How long a trace for machine code may take: what takes longer has more steps than such code is made of."""
LEAST_LOOPED = 150e-6
"""Seconds of the loop before which nobody knows how fast it is: quick functions are four times slower at first."""
AGAIN = 0.05
"""Seconds of a lower gear before machine code that did not pay is considered again."""
LOOKS_AT_LOOP = (4, 16, 64, 256)
"""Walks after which the loop is timed again."""
WORTH_REHEARSING = 1e-3
"""Seconds to make columns of elements, from which on a few of them are batched first."""
REHEARSED = 5 << 10
"""Elements that tell whether lanes scatter over too many paths."""
NOT_DONE = object()
"""What a gear gives that refused."""


def run_in(gear: str, job: Job, known: Known, on_error: OnError) -> Any:
    """The job in a gear that the user named."""
    if gear == "loop":
        return stacked(run_loop(job.call, job.columns, on_error), on_error)
    if gear == "numpy":
        made = batch(job, known, Pace(FORCED, FORCED_SECONDS))
    else:
        made = _in_compiled(gear, job, known)
    if isinstance(made, Refusal):
        raise GearRefused(made)
    try:
        return conclude(job.n, [plain_rows(job, made, on_error)], made.pieces, on_error == "skip")
    except ClassesLost:
        raise GearRefused(Refusal(gear, "its results are of classes that cannot be stored alike")) from None


def _in_compiled(gear: str, job: Job, known: Known) -> Batched | Refusal:
    machines = known.machines_in(gear)
    if gear == "jax" and not machines.is_ready(job):  # it runs what was traced
        traced = batch(job, known, Pace(FORCED, FORCED_SECONDS))
        if isinstance(traced, Refusal):
            return Refusal(gear, traced.reason, traced.where, traced.remedy)
    _trace_arrays(job, known)
    return run_machine(job, machines, known.tree_of)


def _trace_arrays(job: Job, known: Known) -> None:
    """Machine code of functions of arrays is made of what was traced: a few elements, where nothing was yet.

    A function whose batch is no faster than the loop has a tree, which nobody has checked.
    """
    if known.of_arrays and known.traced() is None and (known.trees or known.refusal is None):
        batch(job.part(0, FEW), known, Pace(FORCED, TRACED_SECONDS))


def run_best(job: Job, known: Known, on_error: OnError) -> Any:
    """The job in the gear that is expected to be fastest; a new function starts in the loop."""
    result = NOT_DONE
    known.costs.think_again()
    if on_error == "raise" and known.until_gpu < 0:
        result = _by_gpu(job, known)
    if result is NOT_DONE and on_error == "raise" and machine_pays(job, known):
        known_speed = known.costs.machine.seen or job.n * known.costs.loop_rate < WORTH_A_THOUGHT
        result = _by_machine(job, known, on_error) if known_speed else Climb(job, known, on_error).run("numba")
    looks = known.walks in LOOKS_AT_LOOP  # the loop was timed when nothing was warm: its first elements tell again
    known.walks += looks
    if result is NOT_DONE and known.trees and not looks and batch_pays(job, known):
        result = _by_batch(job, known, on_error)
    if result is NOT_DONE:
        result = Climb(job, known, on_error, looks).run()
    known.set_quick()
    return result


def run_rest(job: Job, known: Known, results: list[Any]) -> Any:
    """The job in the gear that is expected to be fastest, where the loop has run its first elements."""
    climb = Climb(job, known, "raise")
    climb.looped.append((slice(0, len(results)), results))
    climb.done = len(results)
    result = climb.run()
    known.set_quick()
    return result


def _by_batch(job: Job, known: Known, on_error: OnError) -> Any:
    """The whole job by a tree that is known."""
    began = time.perf_counter() - job.grouped_in
    made = batch(job, known, pace_of(known, job.n))
    if isinstance(made, Refusal):
        return NOT_DONE
    left_to_machine(job, known, on_error, made)
    try:
        result = conclude(job.n, [_rows_left(job, known, made, on_error)], made.pieces, on_error == "skip")
    except ClassesLost:
        return NOT_DONE
    seconds = time.perf_counter() - began
    known.costs.add_batched(job.n, seconds, made.invested)
    known.walked()
    add_regret(seconds, known)
    return result


def _rows_left(job: Job, known: Known, made: Batched, on_error: OnError, have: Sequence[Any] = ()) -> Looped:
    """Rows that a gear has left, by the plain function; where these are most, they tell how fast the loop is."""
    began = time.perf_counter()
    rows = plain_rows(job, made, on_error, have)
    if len(rows[1]) > job.n // 2 + len(have):
        known.costs.add_loop(len(rows[1]) - len(have), time.perf_counter() - began)
    return rows


def _by_machine(job: Job, known: Known, on_error: OnError) -> Any:
    """The whole job by machine code."""
    began, before = time.perf_counter() - job.grouped_in, known.machines.seconds
    made = _machine_code(job, known)
    if isinstance(made, Refusal):
        return NOT_DONE
    try:
        result = conclude(job.n, [plain_rows(job, made, on_error)], made.pieces)
    except ClassesLost:
        return NOT_DONE
    seconds = time.perf_counter() - began - (known.machines.seconds - before)
    lower = known.costs.batched_seconds(job.n) or known.costs.loop_rate * job.n
    if not made.invested or seconds > 4 * lower:  # the first run of new machine code is slower than the next
        known.costs.machine.add(job.n, seconds)
    return result


def _by_gpu(job: Job, known: Known) -> Any:
    """The whole job on a GPU, for the first time: whether that is faster from now on is measured."""
    known.until_gpu = float("inf")
    machines = known.machines_in("cuda")
    began, before = time.perf_counter(), machines.seconds
    made = run_machine(job, machines, known.tree_of)
    if isinstance(made, Refusal) or any(type(piece) is Stored for _, piece in made.pieces):
        return NOT_DONE
    known.costs.gpu.add(job.n, time.perf_counter() - began - (machines.seconds - before))
    known.on_gpu = swift_of(machines, job)
    known.forget_ways()
    return conclude(job.n, [plain_rows(job, made, "raise")], made.pieces)


class Climb:
    """One call of a function of which little is known: the loop first, a higher gear when that pays for the rest."""

    def __init__(self, job: Job, known: Known, on_error: OnError, looks: bool = False) -> None:
        self.job, self.known, self.on_error = job, known, on_error
        self.looks = looks
        """Whether the first elements are the loop's in any case, to time it."""
        self.done = 0
        self.shifted = False
        """Whether some rows were done in a higher gear."""
        self.compiles = on_error == "raise"
        """Whether machine code may be tried: not after it has refused some rows of this call."""
        self.looped: list[Looped] = []
        self.pieces: list[Placed] = []

    def run(self, gear: str | None = None) -> Any:
        """`gear`: the first to try."""
        while self.done < self.job.n:
            gear = gear or self._loop_until()
            if gear == "numpy":
                self._batch()
            elif gear == "numba":
                self._compile()
            gear = None
        try:
            return self._result()
        except ClassesLost:
            return stacked(run_loop(self.job.call, self.job.columns, self.on_error), self.on_error)

    def _result(self) -> Any:
        if self.pieces:
            return conclude(self.job.n, self.looped, self.pieces, self.on_error == "skip")
        began = time.perf_counter()
        result = stacked(self._results(), self.on_error)
        if self.known.of_arrays:
            self.known.costs.add_stack(self.job.n, time.perf_counter() - began)
        return result

    def _results(self) -> list[Any]:
        """What the loop has made so far."""
        return list(itertools.chain.from_iterable(results for _, results in self.looped))

    # ---- the loop

    def _loop_until(self) -> str | None:
        """Results of the plain loop, up to the element from which on a gear is expected to pay; None at the end."""
        costs = self.known.costs
        dear = costs.loop_spent > 4 * self.known.setup  # as small calls may have become
        if dear and not self.done and not self.looks:
            gear = self._higher(self.job.n)
            if gear is not None:
                return gear
        if self.job.n <= 2 * FEW:
            self._loop(self.job.n - self.done)
            return None
        if not self.done:
            self._loop(FEW)
        while self.done < self.job.n:
            left = self.job.n - self.done
            enough = left * costs.loop_rate < SETUP and costs.loop_spent < SETUP
            early = self.done <= FEW or costs.loop_spent < LEAST_LOOPED
            gear = None if enough or early else self._higher(left)
            if gear is not None:
                return gear
            until = max(20e-6, self.known.setup - costs.loop_spent)  # before that nothing changes
            block = left if enough else max(self.done, int(until / max(costs.loop_rate, 1e-9)))
            if block * costs.loop_rate > WORTH_A_THOUGHT:
                block = max(int(WORTH_A_THOUGHT / costs.loop_rate), 1)
            self._loop(block)
        return None

    def _loop(self, count: int) -> None:
        part = self.job.part(self.done, self.done + count)
        began = time.perf_counter()
        results = run_loop(part.call, part.columns, self.on_error, self.done)
        seconds = time.perf_counter() - began
        self.known.costs.add_loop(part.n, seconds)
        add_regret(seconds, self.known)
        self.looped.append((slice(self.done, self.done + part.n), results))
        self.done += part.n

    def _higher(self, left: int) -> str | None:
        """The gear that is expected to pay for the rest."""
        known, costs = self.known, self.known.costs
        may_batch = known.refusal is None or self.job.n >= known.retry_above
        lower = left * costs.loop_rate
        if may_batch and costs.batched.seen:
            batched = costs.batched_seconds(left) or lower
            may_batch, lower = batched <= lower, min(batched, lower)
        elif may_batch:
            may_batch = costs.worth_tracing(left, known)
        if self.compiles and known.machines.is_ready(self.job):
            best = machine_is_best(left, known, known.setup if may_batch else None)
            return "numba" if best else "numpy" if may_batch else None
        if may_batch and not costs.batched.seen:
            return "numpy"  # a trace is cheap, and tells how fast a batch is
        if self.compiles and lower > WORTH_A_THOUGHT and _compiling_pays(self.job, left, known, lower):
            return "numba"
        return "numpy" if may_batch else None

    # ---- a batch

    def _batch(self) -> None:
        """What is not done yet by the numpy gear; a part of it first where nobody knows how fast that is."""
        known, costs = self.known, self.known.costs
        left = self.job.n - self.done
        if not costs.batched.seen:
            costs.invested += known.setup
            self._time_stack()
            if left * known.entry > WORTH_REHEARSING and not self._rehearses(left):
                return
        rate = (costs.batched_seconds(left) or left * costs.loop_rate) / left
        count = left if left * rate < WORTH_A_THOUGHT else max(int(0.5 * WORTH_A_THOUGHT / rate), FEW)
        few = self.done <= 0.05 * self.job.n and not self.shifted  # a few made twice cost less than joining them
        whole = count == left and few
        part = self.job if whole else self.job.part(self.done, self.done + count)
        began = time.perf_counter() - part.grouped_in
        made = batch(part, known, pace_of(known, part.n), again=whole and self.done > 0)
        if isinstance(made, Refusal) and whole and known.draws:
            whole, part = False, self.job.part(self.done)
            made = batch(part, known, pace_of(known, part.n))
        if isinstance(made, Refusal):
            known.refusal, known.retry_above = made, 8 * self.job.n
            return
        seconds = time.perf_counter() - began
        left_to_machine(part, known, self.on_error, made)
        self._keep(part, made, whole)
        add_regret(seconds, known)
        if count < left:
            costs.batched.add(part.n, seconds)

    def _rehearses(self, left: int) -> bool:
        """Whether some elements can be batched: to make columns of a long list for nothing would take its time."""
        part = self.job.part(self.done, self.done + REHEARSED)
        made = batch(part, self.known, pace_of(self.known, left), again=True)
        if isinstance(made, Refusal) and not self.known.draws:
            self.known.refusal, self.known.retry_above = made, 8 * self.job.n
            return False
        return True

    def _time_stack(self) -> None:
        results = self._results()
        if self.known.of_arrays and results:
            began = time.perf_counter()
            stacked(results, self.on_error)
            self.known.costs.add_stack(len(results), time.perf_counter() - began)

    def _keep(self, part: Job, made: Batched, whole: bool) -> None:
        """What a gear made of the next rows, or of all."""
        have = self._results() if whole else []
        lanes, plain = _rows_left(part, self.known, made, self.on_error, have)
        if whole:
            self.looped, self.done = [], 0
        by = self.done
        self.shifted = True
        self.looped.append((moved(lanes, by, part.n), plain))
        self.pieces += [(moved(at, by, part.n), piece) for at, piece in made.pieces]
        self.done += part.n

    def _compile(self) -> None:
        """The rest by machine code; a part of it first where nobody knows how fast that is."""
        known, costs = self.known, self.known.costs
        left = self.job.n - self.done
        large = not costs.machine.seen and left * costs.loop_rate > WORTH_A_THOUGHT
        part = self.job.part(self.done, self.done + int(0.5 * WORTH_A_THOUGHT / costs.loop_rate) + 1 if large else None)
        began, before = time.perf_counter(), known.machines.seconds
        made = _machine_code(part, known)
        if isinstance(made, Refusal):
            self.compiles = False
            return
        if not made.invested:  # the first run of new machine code is not like the next
            costs.machine.add(part.n, time.perf_counter() - began - (known.machines.seconds - before))
        self._keep(part, made, whole=False)


# ---- machine code


def machine_pays(job: Job, known: Known) -> bool:
    """Whether to run a job by machine code, which is there or is to be made."""
    if not known.costs.loop_rate or known.draws:
        return False
    known.take_stock()
    if known.machines.is_ready(job):
        known.review = Review()
        untried = known.refusal is None and not known.costs.batched.seen
        return machine_is_best(job.n, known, known.setup if untried else None)
    lower = known.costs.loop_rate * job.n
    batched = known.costs.batched_seconds(job.n)
    if batched is None and known.trees:
        batched = 2 * FIXED + job.n * known.costs.expected_rate(known)
    return _compiling_pays(job, job.n, known, lower if batched is None else min(lower, batched))


def _compiling_pays(job: Job, n: int, known: Known, lower: float) -> bool:
    """Whether to compile before n elements, which the best gear so far would run in `lower` seconds."""
    if lower + known.regret < AT_STAKE:
        return False
    recall(known, job)
    if known.machines.why_not(job) is not None:
        known.review = Review()
        return False
    pays = compiling_pays(n, lower, known)
    known.review = review_after(known, AGAIN)
    return pays


def _machine_code(job: Job, known: Known) -> Batched | Refusal:
    _trace_arrays(job, known)
    made = run_machine(job, known.machines, known.tree_of)
    if isinstance(made, Refusal):
        remember(known, known.machines.why_not(job))
        return made
    if made.invested:
        known.regret = 0.0  # it is paid
    remember(known, compiled=True)
    if known.swift is None:
        known.swift = swift_of(known.machines, job)
        known.forget_ways()
    return made


def left_to_machine(job: Job, known: Known, on_error: OnError, made: Batched) -> None:
    """What the numpy gear has left, by machine code where so much is left that this pays."""
    count = sum(map(len, made.left))
    lower = count * known.costs.loop_rate
    if on_error != "raise" or lower < WORTH_A_THOUGHT:
        return
    if not known.machines.is_ready(job) and not _compiling_pays(job, count, known, lower):
        return
    lanes = np.sort(np.concatenate(made.left))
    rows = Job(job.f, [take(column, lanes) for column in job.columns], job.shared, count, job.exact)
    done = run_machine(rows, known.machines, lambda _: None)
    if isinstance(done, Refusal) or any(type(piece) is Stored for _, piece in done.pieces):
        return
    made.left.clear()
    made.add(done.pieces, done.left, lanes)
    if known.swift is None:
        known.swift = swift_of(known.machines, job)
        known.forget_ways()


def add_regret(seconds: float, known: Known) -> None:
    """Keep in mind what machine code would have saved: most of it."""
    known.regret += seconds
    known.take_stock()
    if known.regret > AT_STAKE:
        remember(known)
        if known.costs.batched.seen and known.express is not None:
            known.review = review_after(known)


# ---- a batch


def batch_pays(job: Job, known: Known) -> bool:
    """Whether a tree that is known is expected to be faster than the loop."""
    batched = known.costs.batched_seconds(job.n)
    if known.refusal is not None and job.n < known.retry_above:
        return False
    expected = 2 * FIXED + job.n * known.costs.expected_rate(known) if batched is None else batched
    return expected <= known.costs.loop_rate * job.n


def pace_of(known: Known, n: int) -> Pace:
    """Tracing may cost a small part of what the loop would: when it fails, little is lost."""
    rate = known.costs.loop_rate
    return Pace(rate, max((0.3 if known.sure else 0.06) * n * rate, 0.4 * known.setup))
