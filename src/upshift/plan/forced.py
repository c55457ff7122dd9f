"""A job in the gear that the user named, whatever it costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..columns.outputs import ClassesLost, Placed
from ..errors import GearRefused, Refusal
from ..gears.job import Job
from ..gears.loop import OnError, run_loop
from ..loading import Later
from .assembly import Looped, conclude, moved, plain_rows, stacked
from .functions import Function

if TYPE_CHECKING:
    from . import workers
else:
    workers = Later("upshift.plan.workers")

ON_WORKERS = ("threads", "processes", "ray")
"""Gears that run the plain function on workers."""


def run_in(gear: str, job: Job, function: Function, on_error: OnError) -> Any:
    """The job in a gear that the user named."""
    looped: list[Looped] = []
    pieces: list[Placed] = []
    if gear == "loop":
        results: list[Any] = []
        for part, _ in _parts(gear, job, function):
            results += run_loop(part.call, part.columns, on_error, part.offset)
        return stacked(results, on_error)
    for part, low in _parts(gear, job, function):
        by_fields = function.by_fields(part)
        made = workers.force(gear, by_fields) if gear in ON_WORKERS else function.force(gear, by_fields)
        if isinstance(made, Refusal):
            raise GearRefused(made)
        lanes, plain = plain_rows(part, made, on_error)
        looped.append((moved(lanes, low, part.n), plain))
        pieces += [(moved(at, low, part.n), piece) for at, piece in made.pieces]
    try:
        return conclude(job.n, looped, pieces, on_error == "skip")
    except ClassesLost:
        raise GearRefused(Refusal(gear, "its results are of classes that cannot be stored alike")) from None


def _parts(gear: str, job: Job, function: Function) -> Iterator[tuple[Job, int]]:
    """The whole job, or block by block where somebody watches; workers cut it themselves, and tell of their chunks."""
    blocks = job.blocks
    if blocks is None or gear in ON_WORKERS:
        yield job, 0
        return
    arm = function.arm(gear)
    low, rate = 0, arm.seconds(job.n) / job.n if arm is not None and arm.runs else None
    while low < job.n:
        count = blocks.most(job.n - low, rate)
        began = time.perf_counter()
        yield job.part(low, low + count), low
        rate, low = (time.perf_counter() - began) / count, low + count
        blocks.done(count, gear)
