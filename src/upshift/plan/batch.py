"""Runs a job in the numpy gear, and checks every new path against the loop before its results are kept."""

from __future__ import annotations

import logging
from typing import Any

from ..columns.inputs import Group
from ..columns.kinds import Column
from ..config import settings
from ..errors import Refusal, Untraceable
from ..gears.job import Job
from ..gears.numpy import Run, TooInexact
from ..gears.pace import Pace
from ..gears.program import Care
from ..trace.grow import bind
from ..trace.tree import Tree
from ..verify import check, sample
from .batched import Batched
from .traces import Traces

log = logging.getLogger("upshift")

FORCED = 1e9
"""Seconds that the loop is said to take for an element where a gear was asked for by name: everything pays."""
FEW = 16
"""Elements whose time is taken before anything is decided; twice, since the first run of anything is slow."""


MOST_SUSPECTS = 64
"""Lanes of a call that are compared with the loop where error bounds are too loose to tell."""
MANY_VALUES = "it takes a path for every value, of which there are many"


def batch(job: Job, known: Traces, pace: Pace, trial: bool = False) -> Batched | Refusal:
    """All groups of a job in the numpy gear; a refusal where none can be."""
    try:
        return _batch(job, known, pace, trial)
    except Exception:
        raise
    except BaseException:  # Ctrl-C may come between any two lines, and leave a tree with half a path
        known.trees.clear()
        raise


def _batch(job: Job, known: Traces, pace: Pace, trial: bool) -> Batched | Refusal:
    made = Batched(trial=trial)
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


def _batch_group(job: Job, group: Group, known: Traces, pace: Pace, made: Batched) -> Refusal | None:
    """One homogeneous group: run, check, and only then keep the results."""
    lanes = group.lanes
    assert lanes is not None
    index = group.index

    def row(i: int) -> tuple[Any, ...]:
        return job.row(i if index is None else int(index[i]))

    reason: str | None = ""
    for care in [care for care in Care if care >= (Care.EXACT if job.exact else known.care or Care.CLOSE)]:
        try:
            tree, captured = known.tree(lanes, job.f, job.shared)
            with tree.lock:
                if len(captured) < tree.inputs:  # another thread has grown it meanwhile
                    captured = _again(tree, job)
                run = Run(tree, job.f, job.shared, lanes, captured, row, pace, care, lambda t=tree: _again(t, job))  # type: ignore[misc]
                try:
                    run.over_all(settings().num_threads)
                finally:
                    _put_back(run)
                tree.young = tree.young and made.trial
                made.overran |= run.late
            suspects = run.suspects[:: 1 + len(run.suspects) // MOST_SUSPECTS]
            try:
                if suspects and check(job.call, row, run.store.results(suspects), False, suspects):
                    raise TooInexact
            finally:
                _put_back(run)
        except Untraceable as refusal:
            known.trees.clear()
            return Refusal("numpy", refusal.reason, refusal.where, refusal.remedy)
        except TooInexact:
            known.care = Care.EXACT
            continue
        if run.slow:  # a few rows have told that: the loop does them again faster than they could be joined to its own
            return Refusal("numpy", MANY_VALUES if run.by_value else "a batch of it is no faster than the loop")
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


def _put_back(run: Run) -> None:
    """Random numbers that were drawn for a batch are drawn only where its results are kept."""
    if run.drawn is not None:
        run.drawn.put_back()


def _keep_drawn(run: Run, tree: Tree, job: Job, row: Any, index: Column | None, made: Batched) -> Refusal | None:
    """Results that random numbers were drawn for: all or none, since the plain function would draw again."""
    drawn = run.drawn
    assert drawn is not None
    if made.trial:
        return Refusal("numpy", "it draws random numbers, which only the gears loop and numpy draw as the loop does")
    if index is not None:
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
