"""A job in; which gear runs it, what each costs and why one refuses, in fields and in words, out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.kinds import Kind
from ..errors import Refusal
from ..gears.draws import set_state, state_of
from ..gears.job import Job
from ..gears.loop import run_loop
from ..gears.numpy import Pace
from ..gears.streams import generators_in
from ..trace import Guard, Raises, Tree
from .batch import batch
from .batched import Batched
from .choice import machine_is_best
from .machine import run_machine
from .memory import Known
from .shift import batch_pays

_PATIENCE = 0.5
"""Seconds that an explanation may spend on tracing."""


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


def explain(job: Job, known: Known) -> Explanation:
    """Trace the function as far as patience goes, measure, and tell. Random generators are put back where they were."""
    generators = generators_in(job.f, job.shared)
    before = [state_of(generator) for generator in generators]
    try:
        return _explain(job, known)
    finally:
        for generator, state in zip(generators, before, strict=True):
            set_state(generator, state)


def _explain(job: Job, known: Known) -> Explanation:
    name = getattr(job.f, "__qualname__", None) or type(job.f).__name__
    made = Explanation(name.replace("<locals>.", ""), job.n, _elements(job), "loop")
    if job.n == 0:
        made.notes.append("an empty batch: the function is not called")
        return made
    allowance = Pace(known.costs.loop_rate or 1e9, _PATIENCE)
    batched = batch(job, known, allowance)
    if isinstance(batched, Refusal):
        made.refusals["numpy"] = batched
        if known.costs.loop_rate:
            made.seconds["loop"] = known.costs.loop_rate * job.n
    else:
        _measure(job, known, made)
        _describe(job, known, batched, made)
        made.gear = "numpy" if batch_pays(job, known) else "loop"
    _measure_machine(job, known, made)
    return made


def _measure_machine(job: Job, known: Known, made: Explanation) -> None:
    """Machine code, where it is there or the loop takes so long that it might be."""
    refusal = known.machines.why_not(job)
    ready = known.machines.is_ready(job)
    if refusal is None and not ready and known.costs.loop_rate * job.n < WORTH_COMPILING:
        return
    for _ in range(2):
        began = time.perf_counter()
        ran = run_machine(job, known.machines, known.tree_of)
        if isinstance(ran, Refusal):
            made.refusals["numba"] = ran
            return
    known.costs.machine.add(job.n, time.perf_counter() - began)
    made.seconds["numba"] = known.costs.machine.predict(job.n, known.costs.loop_rate) or 0.0
    if machine_is_best(job.n, known):
        made.gear = "numba"
    on_gpu = known.costs.gpu.predict(job.n, known.costs.loop_rate)
    if on_gpu is not None:
        made.seconds["cuda"] = on_gpu
        made.gear = min(made.seconds, key=lambda gear: made.seconds[gear])


WORTH_COMPILING = 10e-3
"""Seconds of the loop from which on an explanation compiles the function, to tell what that would give."""


def _measure(job: Job, known: Known, made: Explanation) -> None:
    """Both gears on these elements: the loop on a few, the batch whole."""
    few = job.part(0, min(job.n, 200))
    for policy in ("raise", "raise", "raise", "return"):  # often: the first run of anything is slow
        began = time.perf_counter()
        try:
            run_loop(few.call, few.columns, policy)
        except Exception:
            continue  # the other runs keep errors in place
        known.costs.add_loop(few.n, time.perf_counter() - began)
    began = time.perf_counter()
    batch(job, known, Pace(known.costs.loop_rate, 0.0))
    known.costs.batched.add(job.n, time.perf_counter() - began)
    made.seconds["loop"] = known.costs.loop_rate * job.n
    made.seconds["numpy"] = known.costs.batched_seconds(job.n) or 0.0


def _describe(job: Job, known: Known, batched: Batched, made: Explanation) -> None:
    trees = [variants[0] for variants in known.trees.values() if variants]
    made.paths = sum(tree.paths for tree in trees)
    made.steps = sum(len(node.steps) for tree in trees for node in tree.nodes())
    made.longest = max((_longest(tree) for tree in trees), default=0)
    made.left = len(np.concatenate(batched.left)) if batched.left else 0
    if made.left:
        made.notes.append(f"{made.left:,} elements are left to the plain function{_why_left(trees)}")
    for tree in trees:
        for where in sorted({f"{end.mode} at {_short(end.where)}" for end in _ends(tree, Guard) if end.where}):
            made.notes.append(f"splits by {where}")


def _why_left(trees: list[Tree]) -> str:
    errors = sorted({f"{end.error} at {_short(end.where)}" for tree in trees for end in _ends(tree, Raises)})
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
