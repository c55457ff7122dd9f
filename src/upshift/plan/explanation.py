"""A job in; which gear runs it, what each costs and why one refuses, in fields and in words, out."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns.kinds import Kind
from ..columns.outputs import ClassesLost
from ..config import settings
from ..errors import Refusal
from ..gears.job import Job
from ..gears.loop import run_loop
from ..gears.pace import Pace
from ..loading import Later
from .arms import Llvm, Optimised
from .batched import Batched
from .functions import Function
from .ledger import Ledger
from .whole import conclude, plain_rows, stacked

if TYPE_CHECKING:
    from ..gears import draws, streams
    from ..trace import tree as trees_
    from ..trace.tree import Tree
    from . import batch as batches
else:
    draws, streams, batches = (Later(f"upshift.{name}") for name in ("gears.draws", "gears.streams", "plan.batch"))
    trees_ = Later("upshift.trace.tree")


@dataclass(slots=True)
class Explanation:
    """What Upshift knows of a function on these elements."""

    function: str
    n: int
    elements: str
    gear: str
    paths: int = 0
    steps: int = 0
    longest: int = 0
    left: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.function} over {self.n:,} elements ({self.elements})", f"  runs in the gear {self.gear!r}"]
        for gear, seconds in self.seconds.items():
            lines.append(f"  {gear:<6} {_time(seconds):>9}   {_time(seconds / max(self.n, 1)):>8} per element")
        for gear, refusal in self.refusals.items():
            lines.append(f"  {gear:<6} refuses: {refusal.reason}" + (f"   {refusal.where}" if refusal.where else ""))
            if refusal.remedy:
                lines.append(f"  {'':<6} try this: {refusal.remedy}")
        if self.paths:
            lines.append(f"  {self.paths} paths, {self.steps} steps, the longest path has {self.longest}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


SWITCHED_OFF = "Upshift is switched off (UPSHIFT_DISABLE=1, or up.config(disable=True)): the loop runs everything"


def explain(job: Job, function: Function) -> Explanation:
    """Trace the function as far as patience goes, measure, and tell. Random generators are put back where they were."""
    generators = streams.generators_in(job.f, job.shared)
    before = [draws.state_of(generator) for generator in generators]
    try:
        return _explain(job, function)
    finally:
        for generator, state in zip(generators, before, strict=True):
            draws.set_state(generator, state)


def _explain(job: Job, function: Function) -> Explanation:
    name = getattr(job.f, "__qualname__", None) or type(job.f).__name__
    made = Explanation(name.replace("<locals>.", ""), job.n, _elements(job), "loop")
    if job.n == 0:
        made.notes.append("an empty batch: the function is not called")
        return made
    if settings().disable:
        made.notes.append(SWITCHED_OFF)
        return made
    ledger = function.ledger
    for arm in ledger.arms[1:]:
        _begin(arm, job, function)
    if any(arm.open for arm in ledger.arms[1:]):  # it does nothing but compute: it may be run to be timed
        _measure_loop(job, ledger)
    for arm in ledger.arms[1:]:
        if isinstance(arm, Optimised) and not arm.base.open:
            continue
        found = _measure(arm, job, function)
        if isinstance(found, Refusal):
            made.refusals[arm.name] = found
        elif found is not None and arm.name == "numpy":
            _describe(function, found, made)
        elif isinstance(arm, Optimised) and arm.last is not None and arm.status is not None:
            _describe_left(arm, made)
    made.gear = ledger.cheapest(job.n).name
    for arm in ledger.arms:
        if arm.ready and arm.open and arm.line.seen:
            made.seconds[arm.name] = min(arm.seconds(job.n), made.seconds.get(arm.name, math.inf))
    return made


def _begin(arm: Any, job: Job, function: Function) -> None:
    """The first step of a gear: a trace or a check, which tells whether it can run the function."""
    if not arm.open or arm.ready:
        return
    if arm.name == "numpy":
        made = batches.batch(function.by_fields(job), function.traces, Pace(batches.FORCED, PATIENCE))
        arm.ready, arm.refusal = not isinstance(made, Refusal), made if isinstance(made, Refusal) else None
    elif isinstance(arm, Llvm) and not arm.sure:
        arm.waited_for = True
        arm.build(function.by_fields(job))
        arm.waited_for = False


def _measure_loop(job: Job, ledger: Ledger) -> None:
    """The loop on a few elements, often: the first run of anything is slow."""
    few = job.part(0, min(job.n, 200))
    for policy in ("raise", "raise", "raise", "return"):
        began = time.perf_counter()
        try:
            stacked(run_loop(few.call, few.columns, policy), policy)
        except Exception:
            continue  # the other runs keep errors in place
        ledger.ran(ledger.arms[0], few.n, time.perf_counter() - began)


def _measure(arm: Any, job: Job, function: Function) -> Batched | Refusal | None:
    """A gear on all of these elements, where it is ready or can be made so in reasonable time."""
    if arm.refusal is not None:
        return arm.refusal  # type: ignore[no-any-return]
    if not arm.ready and arm.price > PATIENCE and function.ledger.arms[0].seconds(job.n) < WORTH_COMPILING:
        return None
    if isinstance(arm, Llvm):
        arm.waited_for = True
        while arm.open and not arm.ready and not arm.busy:
            arm.build(function.by_fields(job))
        arm.waited_for = False
    found: Batched | Refusal | None = arm.run(function.by_fields(job))
    for _ in range(2):
        if isinstance(found, Refusal):
            return found
        began = time.perf_counter()
        found = arm.run(function.by_fields(job))
        if not isinstance(found, Refusal):
            _join(job, found)
        arm.ready = True
        function.ledger.ran(arm, job.n, time.perf_counter() - began)
    return found


def _join(job: Job, made: Batched) -> None:
    """What a call does besides: elements that are left go to the plain function, and all results together."""
    try:
        conclude(job.n, [plain_rows(job, made, "return")], made.pieces)
    except ClassesLost:
        pass


PATIENCE = 0.5
"""Seconds that an explanation may spend on making a gear ready that the elements at hand do not pay for."""
WORTH_COMPILING = 10e-3
"""Seconds of the loop from which on an explanation does that all the same."""


def _describe_left(arm: Llvm, made: Explanation) -> None:
    """Why machine code has left lanes to the plain function, with the lines."""
    assert arm.last is not None
    made.left = int((arm.status != 0).sum())
    for reason, count in arm.last.reasons(arm.status)[:5]:
        made.notes.append(
            f"{count:,} elements ({count / len(arm.status):.2%}) are left to the plain function: {reason}"
        )


def _describe(function: Function, batched: Batched, made: Explanation) -> None:
    trees = [variants[0] for variants in function.traces.trees.values() if variants]
    made.paths = sum(tree.paths for tree in trees)
    made.steps = sum(len(node.steps) for tree in trees for node in tree.nodes())
    made.longest = max((_longest(tree) for tree in trees), default=0)
    made.left = len(np.concatenate(batched.left)) if batched.left else 0
    if made.left:
        made.notes.append(f"{made.left:,} elements are left to the plain function{_why_left(trees)}")
    for tree in trees:
        for where in sorted({f"{end.mode} at {_short(end.where)}" for end in _ends(tree, trees_.Guard) if end.where}):
            made.notes.append(f"splits by {where}")


def _why_left(trees: list[Tree]) -> str:
    errors = sorted({f"{end.error} at {_short(end.where)}" for tree in trees for end in _ends(tree, trees_.Raises)})
    return f": {'; '.join(errors[:3])}" if errors else " (beyond 64 bits, or on a path not worth a trace)"


def _ends(tree: Tree, cls: type) -> list[Any]:
    return [node.end for node in tree.nodes() if isinstance(node.end, cls)]


def _longest(tree: Tree) -> int:
    if tree.root is None:
        return 0
    most, pending = 0, [(tree.root, 0)]
    while pending:
        node, above = pending.pop()
        most = max(most, above + len(node.steps))
        pending += [(child, above + len(node.steps)) for child in node.children()]
    return most


def _short(where: str) -> str:
    return where.rsplit("/", 1)[-1]


def _elements(job: Job) -> str:
    group = job.groups()[0] if job.n else None
    if group is None or group.lanes is None:
        return ", ".join(type(job.row(0)[i]).__name__ for i in range(len(job.columns))) if job.n else "none"
    kinds: list[Kind] = list(group.lanes.kinds)
    more = f", in {len(job.groups())} groups" if len(job.groups()) > 1 else ""
    return ", ".join(kind.name for kind in kinds[:6]) + ("..." if len(kinds) > 6 else "") + more


__all__ = ["Explanation", "explain"]
