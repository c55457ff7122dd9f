"""Runs a job by machine code: compiled once, checked against the loop, trusted from then on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..columns.inputs import Group, Lanes
from ..columns.kinds import Kind
from ..config import settings
from ..errors import Refusal
from ..gears.frameworks import prepare
from ..gears.job import Job
from ..gears.ran import Prepared, Ran
from ..verify import check_columns, sample
from .batched import Batched

if TYPE_CHECKING:
    from ..trace.tree import Tree

log = logging.getLogger("upshift")
Row = Callable[[int], tuple[Any, ...]]
MOST_VARIANTS = 4
MANY = 1 / 16
"""The share of lanes from which on it is too much that machine code of what was traced leaves them."""
CHANGES = "what it captured changes while it runs"


@dataclass(slots=True, eq=False)
class Machine:
    """Machine code of a function, and what its results are to the plain function."""

    prepared: Prepared
    kinds: tuple[Kind, ...] | None = None


@dataclass(slots=True)
class Machines:
    """All machine code of a function in one compiled gear, by the kind of its elements."""

    gear: str
    ready: dict[Any, list[Machine]] = field(default_factory=dict)
    refused: dict[Any, Refusal] = field(default_factory=dict)

    def is_ready(self, job: Job) -> bool:
        """Whether machine code for some of these elements is ready to run."""
        if not self.ready:
            return False  # to group elements may take longer than the loop
        return any(group.lanes is not None and self.ready.get(_key(group.lanes, job)) for group in job.groups())

    def drop(self, machine: Machine, reason: str) -> None:
        """Machine code that was seen to differ from the plain function."""
        log.warning("upshift: results of the %s gear are not used: %s", self.gear, reason)
        for key, variants in self.ready.items():
            if machine in variants:
                variants.remove(machine)
                self.refused[key] = Refusal(self.gear, f"its result is not the loop's: {reason}")


def _key(lanes: Lanes, job: Job) -> Any:
    return lanes.form, lanes.kinds, job.exact


def run_machine(job: Job, machines: Machines, trees: Callable[[Lanes], Tree | None]) -> Batched | Refusal:
    """All groups of a job by machine code; a refusal where one cannot be. `trees`: what the numpy gear has traced."""
    made = Batched()
    for group in job.groups():
        refused: Refusal | None = Refusal(machines.gear, group.reason)
        if group.lanes is not None:
            refused = _run_group(job, group, machines, trees, made)
        if refused is None:
            continue
        if group.lanes is not None or group.index is None:
            return refused
        made.left.append(group.index)
    return made


def prepare_machine(job: Job, machines: Machines, trees: Callable[[Lanes], Tree | None]) -> Refusal | None:
    """Machine code for elements like those of a job, which nobody has run or compared yet; a refusal where one cannot
    be. The plain function is not called: it may be done on any thread."""
    for group in job.groups():
        if group.lanes is None:
            return Refusal(machines.gear, group.reason)
        key = _key(group.lanes, job)
        made = prepare(machines.gear, job.f, job.shared, group.lanes, trees(group.lanes), job.exact)
        if isinstance(made, Refusal):
            machines.refused[key] = made
            return made
        machines.ready.setdefault(key, []).insert(0, Machine(made))
    return None


def _run_group(
    job: Job, group: Group, machines: Machines, trees: Callable[[Lanes], Tree | None], made: Batched
) -> Refusal | None:
    lanes, index = group.lanes, group.index
    assert lanes is not None
    key = _key(lanes, job)
    n = job.n if index is None else len(index)

    def row(i: int) -> tuple[Any, ...]:
        return job.row(i if index is None else int(index[i]))

    if key in machines.refused:
        return machines.refused[key]
    machine, ran = _ran(job, lanes, machines, n, trees)
    if isinstance(machine, Refusal):
        machines.refused[key] = machine
        return machine
    assert ran is not None
    refused = _trust(machines, machine, ran, job, row, lanes)
    if refused is not None:
        return refused
    assert machine.kinds is not None
    made.add(ran.pieces(machine.kinds), [ran.left] if len(ran.left) else [], index)
    return None


def _ran(
    job: Job, lanes: Lanes, machines: Machines, n: int, trees: Callable[[Lanes], Tree | None]
) -> tuple[Machine | Refusal, Ran | None]:
    """The machine code that stands on what the function captures now, and what it made; compiled where none does."""
    variants = machines.ready.setdefault(_key(lanes, job), [])
    threads = settings().num_threads
    for machine in variants:
        ran = machine.prepared.over(job.f, job.shared, lanes.columns, n, threads)
        if ran is not None:
            return machine, ran
    tree = trees(lanes) if len(variants) < MOST_VARIANTS else None
    found = _prepared(job, lanes, machines, n, tree)
    if tree is not None and found[1] is not None and len(found[1].left) > MANY * n:
        other = _prepared(job, lanes, machines, n, None)  # it takes paths that were not traced
        if other[1] is not None and len(other[1].left) < len(found[1].left):
            found = other
    if not isinstance(found[0], Refusal):
        variants.insert(0, found[0])
        del variants[MOST_VARIANTS:]
    return found


def _prepared(
    job: Job, lanes: Lanes, machines: Machines, n: int, tree: Tree | None
) -> tuple[Machine | Refusal, Ran | None]:
    """New machine code, of the tree or of the function itself, and what it made."""
    prepared = prepare(machines.gear, job.f, job.shared, lanes, tree, job.exact)
    if isinstance(prepared, Refusal):
        return prepared, None
    ran = prepared.over(job.f, job.shared, lanes.columns, n, settings().num_threads)
    return (Machine(prepared), ran) if ran is not None else (Refusal(machines.gear, CHANGES), None)


def _trust(machines: Machines, machine: Machine, ran: Ran, job: Job, row: Row, lanes: Lanes) -> Refusal | None:
    """New machine code is compared with the plain function; what may be an int here and a float there, every time."""
    prepared = machine.prepared
    if machine.kinds is not None and not prepared.mixed:
        return None
    kept = ran.some_kept()
    if not kept:
        return Refusal(machines.gear, "every element of this batch is the plain function's")
    found: tuple[Kind, ...] | str = "not looked at"
    if machine.kinds is not None or not settings().verify:
        found = check_columns(ran, prepared.exact, job.call, row, kept[:1])
    if isinstance(found, str):
        found = check_columns(ran, prepared.exact, job.call, row, sorted({*sample(lanes, ran.n), *kept}))
    if not isinstance(found, str):
        machine.kinds = found
        return None
    if not prepared.mixed:
        machines.drop(machine, found)
    return Refusal(machines.gear, f"its result is not the loop's: {found}")
