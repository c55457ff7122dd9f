"""A job in; its results by machine code out: compiled once, checked against the loop, trusted from then on."""

from __future__ import annotations

import itertools
import logging
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..columns.forms import flatten
from ..columns.inputs import Group, Lanes, elements_of
from ..columns.kinds import Kind, fits_int64, kind_of
from ..config import settings
from ..errors import Refusal
from ..gears.binder import MISS
from ..gears.direct import written
from ..gears.express import is_array_form
from ..gears.frameworks import prepare
from ..gears.job import Job
from ..gears.ran import Prepared, Ran
from ..trace import Tree
from ..verify import check_columns, sample
from .batched import Batched
from .calibration import has_compiled
from .refusals import note_refusal, refused_before

log = logging.getLogger("upshift")
Row = Callable[[int], tuple[Any, ...]]
MOST_VARIANTS = 4
MANY = 1 / 16
"""The share of lanes from which on it is too much that machine code of what was traced leaves them."""
CHANGES = "what it captured changes while it runs"
FEW_LEFT = 8
"""Lanes, besides one of a thousand, that may be left without a second thought."""
SPOT_CHECK = 200
"""Of so many calls by trusted machine code, one element of one is compared with the plain function."""
_SPOTS = random.Random(1)  # our own: the user's random state is never touched


@dataclass(slots=True, eq=False)
class Machine:
    """Machine code of a function, and what its results are to the plain function."""

    prepared: Prepared
    kinds: tuple[Kind, ...] | None = None


@dataclass(slots=True)
class Machines:
    """All machine code of a function in one compiled gear, by the kind of its elements."""

    gear: str = "numba"
    ready: dict[Any, list[Machine]] = field(default_factory=dict)
    refused: dict[Any, Refusal] = field(default_factory=dict)
    noted: Refusal | None = None
    """What another process has found."""
    forced: bool = False
    """Whether the user named the gear: then it is tried, whatever was noted."""
    seconds: float = 0.0
    """What compilations have cost so far, with the checks of what they made."""

    def why_not(self, job: Job) -> Refusal | None:
        """Why a job cannot be run, as far as is known."""
        if self.noted is not None or not self.refused:
            return self.noted
        for group in job.groups():
            if group.lanes is not None and _key(group.lanes, job) in self.refused:
                return self.refused[_key(group.lanes, job)]
        return None

    def is_ready(self, job: Job) -> bool:
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
    machine, ran = _ran(job, lanes, machines, row, n, trees)
    if isinstance(machine, Refusal):
        machines.refused[key] = machine
        return machine
    assert ran is not None
    new = machine.kinds is None
    made.invested |= new
    began = time.perf_counter()
    refused = _trust(machines, machine, ran, job, row, lanes)
    machines.seconds += time.perf_counter() - began if new else 0.0
    if refused is not None:
        return refused
    assert machine.kinds is not None
    made.add(ran.pieces(machine.kinds), [ran.left] if len(ran.left) else [], index)
    return None


def _ran(
    job: Job, lanes: Lanes, machines: Machines, row: Row, n: int, trees: Callable[[Lanes], Tree | None]
) -> tuple[Machine | Refusal, Ran | None]:
    """The machine code that stands on what the function captures now, and what it made; compiled where none does."""
    variants = machines.ready.setdefault(_key(lanes, job), [])
    threads = settings().num_threads
    for machine in variants:
        ran = machine.prepared.over(job.f, job.shared, lanes.columns, n, threads)
        if ran is not None:
            return machine, ran
    began = time.perf_counter()
    tree = trees(lanes) if len(variants) < MOST_VARIANTS else None
    found = _prepared(job, lanes, machines, row, n, tree)
    if tree is not None and found[1] is not None and len(found[1].left) > MANY * n:
        other = _prepared(job, lanes, machines, row, n, None)  # it takes paths that were not traced
        if other[1] is not None and len(other[1].left) < len(found[1].left):
            found = other
    machines.seconds += time.perf_counter() - began
    if not isinstance(found[0], Refusal):
        variants.insert(0, found[0])
        del variants[MOST_VARIANTS:]
    return found


def _prepared(
    job: Job, lanes: Lanes, machines: Machines, row: Row, n: int, tree: Tree | None
) -> tuple[Machine | Refusal, Ran | None]:
    """New machine code, of the tree or of the function itself, and what it made."""
    known = None if machines.forced else refused_before(machines.gear, job, lanes)
    if known is not None:
        return known, None
    began = time.perf_counter()
    prepared = prepare(machines.gear, job.f, job.shared, lanes, tree, job.exact)
    if isinstance(prepared, Refusal):
        note_refusal(prepared, job, lanes, time.perf_counter() - began)
        return prepared, None
    if machines.gear == "numba":
        has_compiled(time.perf_counter() - began, type(prepared).__name__)
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


class Swift:
    """Trusted machine code on plain arrays, with nothing left to decide."""

    def __init__(self, machines: Machines, machine: Machine) -> None:
        self.machines, self.machine, self.prepared = machines, machine, machine.prepared
        self.dtypes = [kind.dtype for kind in machine.prepared.kinds]
        shapes = [kind.lane_shape for kind in machine.prepared.kinds]
        self.shapes = shapes if any(shapes) else None
        kinds = (*machine.prepared.kinds, *(machine.kinds or ()))
        self.width = sum(kind.dtype.itemsize * math.prod(kind.lane_shape) for kind in kinds)
        """Bytes of an element and its result."""
        self.made: tuple[Kind, ...] = machine.kinds or ()
        self.misses = self.timed = 0
        direct = machine.prepared.direct()
        self.turns: Iterator[bool] = itertools.cycle((*[False] * (SPOT_CHECK - 1), True))
        self.short = None if direct is None else written(direct, self)
        """`short(f, *columns)`: the same for brief calls, where it can be had."""

    def fits(self, columns: tuple[Any, ...]) -> bool:
        return [column.shape[1:] for column in columns] == self.shapes

    def over(self, f: Any, columns: tuple[Any, ...], given: tuple[Any, ...] | None = None) -> Any:
        """The result for these arrays, or MISS. `given`: what they were made of, whose elements are the function's."""
        if self.short is not None and (given is None or given is columns):
            result = self.short(f, *columns)
            if result is not MISS:
                return result
        return self._at_length(f, columns, given or columns, next(self.turns))

    def checked(self, f: Any, columns: tuple[Any, ...]) -> Any:
        return self._at_length(f, columns, columns, True)

    def _at_length(self, f: Any, columns: tuple[Any, ...], given: tuple[Any, ...], check: bool) -> Any:
        n = len(columns[0])
        ran = self.prepared.over(f, {}, columns, n, settings().num_threads)
        if ran is None or (len(ran.left) and not self._fill_in(f, given, ran)):
            self.misses += ran is None
            return MISS
        if check and not self._is_right(f, given, ran):
            return MISS
        return _built(ran)

    def left_over(self, f: Any, columns: tuple[Any, ...], outs: tuple[Any, ...], left: Any) -> Any:
        """The result of a brief call that has left some lanes."""
        ran = Ran(self.prepared.form, outs, left.nonzero()[0], len(left))
        return _built(ran) if self._fill_in(f, columns, ran) else MISS

    def _fill_in(self, f: Any, given: tuple[Any, ...], ran: Ran) -> bool:
        """The plain function's results for the lanes that were left, where these are few and like the others."""
        if len(ran.left) > FEW_LEFT + ran.n // 1000:
            return False
        elements = [elements_of(column) for column in given]
        for i in ran.left.tolist():
            try:
                form, leaves = flatten(f(*(column[i] for column in elements)))
            except Exception:  # it is raised again where its element is named
                return False
            if form != ran.form or not all(map(_is_of, leaves, self.made)):
                return False
            for out, leaf in zip(ran.outs, leaves, strict=True):
                out[i] = leaf
        return True

    def _is_right(self, f: Any, given: tuple[Any, ...], ran: Ran) -> bool:
        """One element, compared with the plain function; a difference is the end of this machine code."""
        i = _SPOTS.randrange(ran.n)
        elements = [elements_of(column) for column in given]
        found = check_columns(ran, self.prepared.exact, f, lambda i: tuple(e[i] for e in elements), [i])
        if isinstance(found, str):
            self.machines.drop(self.machine, found)
            self.misses = 1 << 30
        return not isinstance(found, str)


def _is_of(leaf: Any, kind: Kind) -> bool:
    """Whether a result has its place in a column of this kind."""
    return kind_of(leaf) is kind and (type(leaf) is not int or fits_int64(leaf))


def _built(ran: Ran) -> Any:
    return ran.outs[0] if ran.form.cls is None else ran.form.build(iter(ran.outs))


def swift_of(machines: Machines, job: Job) -> Swift | None:
    """The shortest way to run more jobs like this one."""
    group = job.groups()[0]
    if len(job.groups()) != 1 or group.lanes is None or job.shared or job.exact:
        return None
    variants = machines.ready.get(_key(group.lanes, job))
    if not variants or variants[0].kinds is None or variants[0].prepared.mixed:
        return None
    machine = variants[0]
    if any(child.cls is not None for child in group.lanes.form.children) or not is_array_form(machine.prepared.form):
        return None
    return Swift(machines, machine)
