"""Functions and columns through the jax gear in; a failure out where they are not the loop, nor a reason in words."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import upshift as up
from functions.table import Data, Row
from law import Rule, compare
from stacking import Raised, outcomes, stack
from test_law import ROWS, check_all
from upshift.columns.inputs import elements_of
from upshift.columns.outputs import Objects, gather
from upshift.gears.job import Job
from upshift.gears.ran import NotCompiled
from upshift.plan.memory import MEMORY
from upshift.verify import check_columns

jax = pytest.importorskip("jax")

from upshift.gears.jax.gear import Compiled, prepare  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@dataclasses.dataclass
class Outcome:
    """What became of a batch: why it was refused, or the program and the share of elements that it left."""

    reason: str | None = None
    compiled: Compiled | None = None
    left: float = 0.0


def trees_of(f: Any, xs: tuple[Any, ...]) -> dict[Any, Any]:
    """What the numpy gear has traced, by the signature of elements."""
    MEMORY.known.clear()
    up.map(f, *xs, gear="numpy", on_error="return")
    return {signature: found[0] for known in MEMORY.known.values() for signature, found in known.trees.items() if found}


def compiled_for(f: Any, *xs: Any) -> Compiled:
    """The program for a batch of one kind of elements."""
    (tree,) = trees_of(f, xs).values()
    return prepare(tree, False)


def run(f: Any, *xs: Any, atol: float = 0.0) -> Outcome:
    """All groups of a batch through the gear, and against the loop."""
    try:
        trees = trees_of(f, xs)
    except up.GearRefused as refused:
        return Outcome(str(refused))
    job = Job(f, [elements_of(x) for x in xs], {}, len(xs[0]))
    outcome = Outcome("there is nothing to compile")
    found = outcomes(f, xs, {})
    for group in job.groups():
        tree = trees.get(group.lanes.signature) if group.lanes is not None else None
        if tree is None or tree.root is None:
            continue
        try:
            compiled = prepare(tree, False)
        except NotCompiled as reason:
            assert reason.refusal.reason
            return Outcome(str(reason.refusal))
        index = np.arange(job.n) if group.index is None else group.index
        ran = compiled.over(f, {}, group.lanes.columns, len(index), 2)
        assert ran is not None, "it does not stand on what it was traced with"
        against_the_loop(f, ran, index, found, job, atol)
        outcome = Outcome(None, compiled, len(ran.left) / ran.n)
    return outcome


def against_the_loop(f: Any, ran: Any, index: Any, found: list[Any], job: Job, atol: float) -> None:
    kept = sorted(set(range(ran.n)) - set(ran.left.tolist()))
    if not kept:
        return
    raised = [i for i in kept if isinstance(found[index[i]], Raised)]
    assert not raised, f"element {raised[0]} raises in the loop: {found[index[raised[0]]]!r}"
    kinds = check_columns(ran, False, f, lambda i: job.row(int(index[i])), kept)
    if isinstance(kinds, str) and kinds.startswith("the loop's results are"):
        return  # ints here and floats there: the plan refuses such a batch
    assert not isinstance(kinds, str), kinds
    want = [found[i] for i in index]
    if any(isinstance(one, Raised) for one in want):
        want = [want[i] for i in kept]
        got = gather(len(kept), [(slice(None), piece) for _, piece in ran.pieces(kinds)])
    else:
        left = [(ran.left, Objects([want[i] for i in ran.left.tolist()]))] if len(ran.left) else []
        got = gather(ran.n, [*ran.pieces(kinds), *left])
    difference = compare(stack(want, f), got, Rule(atol=atol))
    assert difference is None, difference


# ---- the tables


def chosen(row: Row) -> tuple[Data, ...]:
    """Datasets of a row: a nasty one if there is, and an ordinary one of another kind; compiling takes its time."""
    full = [data for data in row.data if all(map(len, data.columns))]
    nasty = [data for data in full if data.name.startswith(("nasty", "wide", "halves"))]
    others = [data for data in full if data not in nasty]
    at = sum(map(ord, row.name))
    return tuple(some[at % len(some)] for some in (nasty, others) if some)


@pytest.mark.parametrize("row", ROWS)
def test_same_as_the_loop(row: Row) -> None:
    check_all(row, lambda data: run(row.f, *data.columns).reason, chosen(row))
