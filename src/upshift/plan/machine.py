"""A job in; its results by machine code out: compiled once, checked against the loop, trusted from then on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..columns.forms import flatten
from ..columns.inputs import Group, Lanes
from ..columns.kinds import Kind
from ..config import settings
from ..errors import Refusal
from ..gears.frameworks import prepare_function
from ..gears.job import Job
from ..gears.ran import Prepared, Ran
from ..verify import check_columns, sample
from .batched import Batched

log = logging.getLogger("upshift")
Row = Callable[[int], tuple[Any, ...]]
MOST_VARIANTS = 4


@dataclass(slots=True)
class Machine:
    """Machine code of a function, and what its results are to the plain function."""

    prepared: Prepared
    kinds: tuple[Kind, ...] | None = None


@dataclass(slots=True)
class Machines:
    """All machine code of a function, by the kind of its elements."""

    ready: dict[Any, list[Machine]] = field(default_factory=dict)
    refused: dict[Any, Refusal] = field(default_factory=dict)

    def of(self, lanes: Lanes) -> list[Machine]:
        return self.ready.setdefault(_key(lanes), [])

    def why_not(self, job: Job) -> Refusal | None:
        """Why a job cannot be run, as far as is known."""
        for group in job.groups():
            if group.lanes is not None and _key(group.lanes) in self.refused:
                return self.refused[_key(group.lanes)]
        return None

    def is_ready(self, job: Job) -> bool:
        return any(group.lanes is not None and self.ready.get(_key(group.lanes)) for group in job.groups())


def _key(lanes: Lanes) -> Any:
    return lanes.form, lanes.kinds


def run_machine(job: Job, machines: Machines, threads: int) -> Batched | Refusal:
    """All groups of a job by machine code; a refusal where one cannot be."""
    made = Batched()
    for group in job.groups():
        refused = (
            Refusal("numba", group.reason) if group.lanes is None else _run_group(job, group, machines, threads, made)
        )
        if refused is None:
            continue
        if group.lanes is not None or group.index is None:
            return refused
        made.left.append(group.index)
    return made if made.pieces or made.left else Refusal("numba", "there is nothing to compile")


def _run_group(job: Job, group: Group, machines: Machines, threads: int, made: Batched) -> Refusal | None:
    lanes, index = group.lanes, group.index
    assert lanes is not None
    n = job.n if index is None else len(index)

    def row(i: int) -> tuple[Any, ...]:
        return job.row(i if index is None else int(index[i]))

    if _key(lanes) in machines.refused:
        return machines.refused[_key(lanes)]
    machine, ran = _ran(job, lanes, machines, row, n, threads)
    if isinstance(machine, Refusal):
        machines.refused[_key(lanes)] = machine
        return machine
    assert ran is not None
    made.invested |= machine.kinds is None
    reason = _trust(machines, machine, ran, job, row, lanes)
    if reason is not None:
        return reason
    assert machine.kinds is not None
    made.add(ran.pieces(machine.kinds), [ran.left] if len(ran.left) else [], index)
    return None


def _ran(
    job: Job, lanes: Lanes, machines: Machines, row: Row, n: int, threads: int
) -> tuple[Machine | Refusal, Ran | None]:
    """The machine code that stands on what the function captures now, and what it made; compiled where none does."""
    variants = machines.of(lanes)
    for machine in variants:
        ran = machine.prepared.over(job.f, job.shared, lanes, n, threads)
        if ran is not None:
            return machine, ran
    prepared = prepare_function(job.f, job.shared, lanes, _shapes(job, row, n))
    if isinstance(prepared, Refusal):
        return prepared, None
    machine = Machine(prepared)
    variants.insert(0, machine)
    del variants[MOST_VARIANTS:]
    ran = prepared.over(job.f, job.shared, lanes, n, threads)
    return (machine, ran) if ran is not None else (Refusal("numba", "what it captured changes while it runs"), None)


def _shapes(job: Job, row: Row, n: int) -> list[Any]:
    """The shapes of the arrays among a result, from the first element that has one."""
    for i in range(min(n, 8)):
        try:
            return [getattr(leaf, "shape", None) for leaf in flatten(job.call(*row(i)))[1]]
        except Exception:  # the element is the plain function's, which raises it again
            continue
    return []


def _trust(machines: Machines, machine: Machine, ran: Ran, job: Job, row: Row, lanes: Lanes) -> Refusal | None:
    """New machine code is compared with the plain function; what may be an int here and a float there, every time."""
    if machine.kinds is not None and not machine.prepared.mixed:
        return None
    kept = ran.some_kept()
    if not kept:
        return Refusal("numba", "every element of this batch is the plain function's")
    verify = settings().verify or machine.prepared.mixed
    named = sorted({*sample(lanes, ran.n), *kept}) if verify else kept[:1]
    found = check_columns(ran, machine.prepared.exact, job.call, row, named)
    if isinstance(found, str):
        refusal = Refusal("numba", f"its result is not the loop's: {found}")
        if not machine.prepared.mixed:
            log.warning("upshift: results of the numba gear are not used: %s", found)
            machines.refused[_key(lanes)] = refusal
        return refusal
    machine.kinds = found
    return None
