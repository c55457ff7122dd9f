"""A job in, its results out, in the gear that pays: the loop first, batched when that is worth it, always checked."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..columns.inputs import Group, take
from ..columns.kinds import Column
from ..columns.outputs import ClassesLost, Objects, Placed, Stored, gather, stack
from ..config import settings
from ..errors import GearRefused, Refusal, Untraceable
from ..gears.job import Job
from ..gears.loop import SKIPPED, OnError, run_loop
from ..gears.numpy import Pace, Run, TooBlurred
from ..gears.program import Care
from ..trace import Tree, bind
from ..verify import check, sample
from .batched import Batched
from .choice import AT_STAKE, compile_seconds, compiling_pays, machine_is_best, review_after
from .costs import FIXED, SETUP
from .machine import run_machine, swift_of
from .memory import Known
from .notes import recall, remember

log = logging.getLogger("upshift")


def run_in(gear: str, job: Job, known: Known, on_error: OnError) -> Any:
    """The job in a gear that the user named."""
    if gear == "loop":
        return stacked(run_loop(job.call, job.columns, on_error), on_error)
    if gear == "numba":
        made = run_machine(job, known.machines, known.tree_of)
    else:
        made = batch(job, known, Pace(FORCED, FORCED_SECONDS))
    if isinstance(made, Refusal):
        raise GearRefused(made)
    try:
        return conclude(job.n, [_plain(job, made, on_error)], made.pieces, on_error == "skip")
    except ClassesLost:
        raise GearRefused(Refusal(gear, "its results are of classes that cannot be stored alike")) from None


def run_best(job: Job, known: Known, on_error: OnError) -> Any:
    """The job in the gear that is expected to be fastest; a new function starts in the loop."""
    result = NOT_DONE
    known.costs.think_again()
    if on_error == "raise" and _machine_pays(job, known):
        result = _by_machine(job, known, on_error, [])
    if result is NOT_DONE and known.trees and (known.express is not None or batch_pays(job, known)):
        result = _by_batch(job, known, on_error)
    if result is NOT_DONE:
        result = _climb(job, known, on_error)
    known.set_quick()
    return result


NOT_DONE = object()
"""What a gear gives that refused."""


def _by_batch(job: Job, known: Known, on_error: OnError) -> Any:
    """The whole job by a tree that is known."""
    began = time.perf_counter()
    made = batch(job, known, _pace(known, job.n))
    if isinstance(made, Refusal):
        return NOT_DONE
    _left_to_machine(job, known, on_error, made)
    result = conclude(job.n, [_plain(job, made, on_error)], made.pieces, on_error == "skip")
    seconds = time.perf_counter() - began
    known.costs.add_batched(job.n, seconds, made.invested)
    known.walked()
    _regret(seconds, known)
    return result


def _climb(job: Job, known: Known, on_error: OnError) -> Any:
    """A new function: the loop first, until a higher gear is expected to pay for the rest."""
    results: list[Any] = []
    while True:
        gear = _loop_until(job, known, on_error, results)
        if gear is None:
            began = time.perf_counter()
            result = stacked(results, on_error)
            if known.of_arrays:
                known.costs.add_stack(job.n, time.perf_counter() - began)
            _regret(known.costs.loop_rate * job.n, known)
            return result
        rest = _rest if gear == "numpy" else _by_machine
        result = rest(job, known, on_error, results)
        if result is not NOT_DONE:
            return result


def _loop_until(job: Job, known: Known, on_error: OnError, results: list[Any]) -> str | None:
    """More results of the plain loop, up to the element from which on a gear is expected to pay; None at the end."""
    if job.n <= 2 * FEW:
        results += _timed_loop(job, known, on_error, 0)
        return None
    if not results:
        results += _timed_loop(job.part(0, FEW), known, on_error, 0)
    while len(results) < job.n:
        done, left = len(results), job.n - len(results)
        costs = known.costs
        enough = left * costs.loop_rate < SETUP and costs.loop_spent < SETUP
        if not enough and done > FEW:
            if _may_batch(job, known) and costs.worth_tracing(left, known):
                return "numpy"
            if on_error == "raise" and left * costs.loop_rate > WORTH_A_THOUGHT and _compiling_pays(job, left, known):
                return "numba"
        block = left if enough else max(done, int(20e-6 / max(costs.loop_rate, 1e-9)))
        if block * costs.loop_rate > WORTH_A_THOUGHT:
            block = max(int(WORTH_A_THOUGHT / costs.loop_rate), 1)
        results += _timed_loop(job.part(done, done + block), known, on_error, done)
    return None


WORTH_A_THOUGHT = 0.1
"""Seconds of the loop after which compiling is considered again."""


def _may_batch(job: Job, known: Known) -> bool:
    if known.refusal is not None and job.n < known.retry_above:
        return False
    return not known.costs.batched.seen or batch_pays(job, known)


def _rest(job: Job, known: Known, on_error: OnError, results: list[Any]) -> Any:
    """What the loop has not done yet, batched; NOT_DONE where that is refused."""
    done = len(results)
    joined = done > 0.05 * job.n  # a few results made twice cost less than joining them
    known.costs.invested += known.setup
    if known.of_arrays:
        began = time.perf_counter()
        stacked(list(results), on_error)
        known.costs.add_stack(done, time.perf_counter() - began)
    rest = job.part(done) if joined else job
    made = batch(rest, known, _pace(known, rest.n), again=not joined)
    if isinstance(made, Refusal) and not joined and known.draws:
        joined, rest = True, job.part(done)
        made = batch(rest, known, _pace(known, rest.n))
    if isinstance(made, Refusal):
        known.refusal, known.retry_above = made, 8 * job.n
        return NOT_DONE
    _left_to_machine(rest, known, on_error, made)
    return _joined(job, rest, made, on_error, results, joined)


def _joined(job: Job, rest: Job, made: Batched, on_error: OnError, results: list[Any], joined: bool) -> Any:
    """Results of the loop for the first rows, and what a gear made of the rest, or of all."""
    done = len(results)
    lanes, plain = _plain(rest, made, on_error, () if joined else results)
    if not joined:
        return conclude(job.n, [(lanes, plain)], made.pieces, on_error == "skip")
    pieces = [(_moved(at, done), piece) for at, piece in made.pieces]
    return conclude(job.n, [(slice(0, done), results), (_moved(lanes, done), plain)], pieces, on_error == "skip")


# ---- machine code


def _machine_pays(job: Job, known: Known) -> bool:
    if not known.costs.loop_rate or known.draws:
        return False
    if known.machines.is_ready(job):
        return machine_is_best(job, known)
    lower = known.costs.loop_rate * job.n
    known.regret, known.small = known.regret + known.small, 0.0
    if known.until_review < 0 < known.reviewed:
        known.regret = max(known.regret, compile_seconds(known))  # so many went by express that it would have paid
    batched = known.costs.batched_seconds(job.n)
    if batched is None and known.trees:
        batched = 2 * FIXED + job.n * known.costs.expected_rate(known)
    return _compiling_pays(job, job.n, known, lower if batched is None else min(lower, batched))


def _compiling_pays(job: Job, n: int, known: Known, lower: float | None = None) -> bool:
    if lower is None:
        lower = n * known.costs.loop_rate
        known.regret = max(known.regret, known.costs.loop_spent)
    if lower + known.regret < AT_STAKE:
        return False
    recall(known, job)
    if known.machines.why_not(job) is not None:
        return False
    pays = compiling_pays(n, lower, known)
    known.review(review_after(known))
    return pays


def _by_machine(job: Job, known: Known, on_error: OnError, results: list[Any]) -> Any:
    """What is not done yet, by machine code; NOT_DONE where that is refused."""
    began, before = time.perf_counter(), known.machines.seconds
    joined = len(results) > 0.05 * job.n
    rest = job.part(len(results)) if joined else job
    made = run_machine(rest, known.machines, known.tree_of)
    if isinstance(made, Refusal):
        remember(known, known.machines.why_not(job))
        return NOT_DONE
    if made.invested:
        known.regret = 0.0  # it is paid
    remember(known, compiled=True)
    try:
        result = _joined(job, rest, made, on_error, results, joined)
    except ClassesLost:
        return NOT_DONE
    if known.swift is None:
        known.swift = swift_of(known.machines, job)
    if not made.invested or known.swift is None:
        compiling = known.machines.seconds - before
        known.costs.machine.add(rest.n, time.perf_counter() - began - compiling)
    return result


def _left_to_machine(job: Job, known: Known, on_error: OnError, made: Batched) -> None:
    """What the numpy gear has left, by machine code where so much is left that this pays."""
    count = sum(map(len, made.left))
    if on_error != "raise" or count * known.costs.loop_rate < WORTH_A_THOUGHT:
        return
    if not known.machines.is_ready(job) and not _compiling_pays(job, count, known):
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


def _regret(seconds: float, known: Known) -> None:
    """Keep in mind what machine code would have saved: most of it."""
    known.regret += seconds
    if known.regret > AT_STAKE:
        remember(known)
        if known.costs.batched.seen and known.express is not None:
            known.review(review_after(known))


def stacked(results: list[Any], on_error: OnError) -> Any:
    return stack([r for r in results if r is not SKIPPED] if on_error == "skip" else results)


def batch_pays(job: Job, known: Known) -> bool:
    batched = known.costs.batched_seconds(job.n)
    loop = known.costs.loop_rate * job.n
    if known.refusal is not None and job.n < known.retry_above:
        return False
    return (batched if batched is not None else 2 * FIXED + job.n * known.costs.expected_rate(known)) <= loop


def _pace(known: Known, n: int) -> Pace:
    """Tracing may cost a small part of what the loop would: when it fails, little is lost."""
    rate = known.costs.loop_rate
    return Pace(rate, max((0.3 if known.sure else 0.06) * n * rate, 0.4 * known.setup))


FORCED = 1e9
"""Seconds that the loop is said to take for an element where a gear was asked for by name: everything pays."""
FORCED_SECONDS = 2.0
"""How long a gear that was asked for by name may trace; what is not traced then is left to the plain function."""
FEW = 16
"""Elements whose time is taken before anything is decided; twice, since the first run of anything is slow."""


def _timed_loop(job: Job, known: Known, on_error: OnError, offset: int) -> list[Any]:
    began = time.perf_counter()
    results = run_loop(job.call, job.columns, on_error, offset)
    known.costs.add_loop(job.n, time.perf_counter() - began)
    return results


# ---- the numpy gear, group by group


def batch(job: Job, known: Known, pace: Pace, again: bool = False) -> Batched | Refusal:
    """All groups of a job in the numpy gear; a refusal where none can be."""
    made = Batched(again=again)
    refusals = []
    kinds = len(job.groups())
    if pace.per_element < FORCED and kinds > 4 and job.n < FEW * kinds:
        return Refusal("numpy", f"its elements are of {kinds} kinds, too few of each to batch")
    for group in job.groups():
        if group.lanes is None:
            refused: Refusal | None = Refusal("numpy", group.reason)
        else:
            refused = _batch_group(job, group, known, pace, made)
        if refused is not None:
            if group.lanes is not None or len(job.groups()) == 1:
                return refused
            refusals.append(refused)
            assert group.index is not None
            made.left.append(group.index)
    return refusals[0] if refusals and not made.pieces else made


def _batch_group(job: Job, group: Group, known: Known, pace: Pace, made: Batched) -> Refusal | None:
    """One homogeneous group: run, check, and only then keep the results."""
    lanes = group.lanes
    assert lanes is not None
    index = group.index

    def row(i: int) -> tuple[Any, ...]:
        return job.row(i if index is None else int(index[i]))

    reason: str | None = ""
    for care in [care for care in Care if care >= (Care.EXACT if job.exact else known.care)]:
        try:
            tree, captured = known.tree(lanes, job.f, job.shared)
            with tree.lock:
                if len(captured) < tree.inputs:  # another thread has grown it meanwhile
                    captured = _again(tree, job)
                run = Run(tree, job.f, job.shared, lanes, captured, row, pace, care, lambda t=tree: _again(t, job))  # type: ignore[misc]
                try:
                    run.over_all(settings().num_threads)
                except BaseException:
                    if run.drawn is not None:
                        run.drawn.put_back()
                    raise
                tree.young = False
            suspects = run.suspects[:64]
            if suspects and check(job.call, row, run.store.results(suspects), False, suspects):
                raise TooBlurred
        except Untraceable as refusal:
            known.trees.clear()
            return Refusal("numpy", refusal.reason, refusal.where, refusal.remedy)
        except TooBlurred:
            known.care = Care.EXACT
            continue
        made.invested |= bool(run.grown) or not tree.trusted
        if run.slow:
            known.refusal, known.retry_above = Refusal("numpy", "a batch of it is no faster than the loop"), 8 * job.n
        if run.drawn is not None:
            return _keep_drawn(run, tree, job, row, index, made)
        reason = _check(run, tree, job, row)
        if reason is None:
            made.add(run.store.pieces(), run.left, index)
            _warn(run, job, row)
            return None
        log.warning("upshift: results of the numpy gear are not used: %s", reason)
        known.care = Care(min(care + 1, Care.EXACT))
        tree.trusted = False
    known.trees.clear()
    return Refusal("numpy", f"its result is not the loop's: {reason}")


def _keep_drawn(run: Run, tree: Tree, job: Job, row: Any, index: Column | None, made: Batched) -> Refusal | None:
    """Results that random numbers were drawn for: all or none, since the plain function would draw again."""
    drawn = run.drawn
    assert drawn is not None
    drawn.put_back()
    if index is not None or made.again:
        return Refusal("numpy", "it draws random numbers, which elements of several kinds must draw in turn")
    if run.left or run.warned:
        return Refusal("numpy", "it draws random numbers, and some elements need the plain function")
    if settings().verify and not tree.trusted:
        first = list(range(min(run.n, 8)))
        reason = check(job.call, row, run.store.results(first), run.care is Care.EXACT, first)
        drawn.put_back()
        if reason is not None:
            return Refusal("numpy", f"its result is not the loop's: {reason}")
        tree.trusted = True
    drawn.go_on()
    made.add(run.store.pieces(), run.left, index)
    return None


def _again(tree: Tree, job: Job) -> dict[int, Any]:
    captured = bind(tree, job.f, job.shared)
    if captured is None:
        raise Untraceable("what it captured changed while it ran")
    return captured


def _check(run: Run, tree: Tree, job: Job, row: Any) -> str | None:
    """New trees are checked on a sample, new paths on the element that was traced."""
    if not settings().verify or (tree.trusted and not run.grown):
        return None
    named = list(run.grown) if tree.trusted else [*run.grown, *sample(run.lanes, run.n)]
    reason = check(job.call, row, run.store.results(named), run.care is Care.EXACT, named)
    tree.trusted = reason is None
    return reason


def _warn(run: Run, job: Job, row: Any) -> None:
    """NumPy's warnings come from the user's own line: elements that warn are run by the plain function."""
    for i in {i for few in run.warned.values() for i in few}:
        try:
            job.call(*row(i))
        except Exception:
            pass  # the same element is among those left, and raises there


# ---- what is left to the plain function, and the whole


def _plain(job: Job, made: Batched, on_error: OnError, have: Sequence[Any] = ()) -> tuple[Any, list[Any]]:
    """The rows that were left, by the plain function, in order; not again for the first ones, whose results we have."""
    if not made.left:
        return np.empty(0, np.int64), []
    lanes = np.sort(np.concatenate(made.left))
    done = int(np.searchsorted(lanes, len(have)))
    results = [have[i] for i in lanes[:done].tolist()]
    if len(lanes) == job.n and not done:
        return slice(0, job.n), run_loop(job.call, job.columns, on_error, job.offset)
    rows = [take(column, lanes[done:]) for column in job.columns]
    return lanes, results + run_loop(job.call, rows, on_error, positions=lanes[done:] + job.offset)


def _moved(lanes: Any, by: int) -> Any:
    if isinstance(lanes, slice):
        return slice(lanes.start + by if lanes.start else by, lanes.stop + by if lanes.stop is not None else None)
    return lanes + by


def conclude(n: int, looped: list[tuple[Any, list[Any]]], pieces: list[Placed], skips: bool = False) -> Any:
    """Results of the loop and pieces of a gear -> what the user gets back."""
    if skips:
        return _without_skipped(n, looped, pieces)
    placed = [*pieces, *((lanes, Objects(results)) for lanes, results in looped if results)]
    return gather(n, [(slice(None), placed[0][1])] if len(placed) == 1 else placed)


def _without_skipped(n: int, looped: list[tuple[Any, list[Any]]], pieces: list[Placed]) -> Any:
    """Skipped elements are left out; the others move up."""
    kept = np.ones(n, bool)
    placed = list(pieces)
    for lanes, results in looped:
        stays = np.array([result is not SKIPPED for result in results], bool)
        kept[lanes] = stays
        if stays.any():
            placed.append((np.arange(n)[lanes][stays], Objects([r for r in results if r is not SKIPPED])))
    new = np.cumsum(kept) - 1
    return gather(int(kept.sum()), [(new[lanes], piece) for lanes, piece in placed])
