"""Jobs on threads or processes, where the user names one of them: for functions that no compiler takes."""

from __future__ import annotations

from ..errors import Refusal
from ..gears.job import Job
from ..gears.processes import run_processes
from ..gears.threads import run_threads
from .batched import Batched

GEARS = {"threads": run_threads, "processes": run_processes}


def force(gear: str, job: Job) -> Batched | Refusal:
    """A job on workers that the user asked for, whatever it costs."""
    made = GEARS[gear](job)
    return made if isinstance(made, Refusal) else Batched(made.pieces, skipped=made.skipped)
