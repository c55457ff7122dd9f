"""Jobs on threads or processes, where the user names one of them: for functions that no compiler takes."""

from __future__ import annotations

from typing import Any

from ..errors import Refusal
from ..gears.job import Job
from ..gears.processes import run_processes
from ..gears.threads import run_threads
from .batched import Batched
from .ledger import Ledger

GEARS = ("threads", "processes")


def force(gear: str, job: Job, ledger: Ledger) -> Batched | Refusal:
    """A job on workers that the user asked for, whatever it costs."""
    if gear == "threads":
        ran = run_threads(job)
        return ran if isinstance(ran, Refusal) else Batched(ran[0], skipped=ran[1])
    made = run_processes(job, refusals_of(ledger))
    return made if isinstance(made, Refusal) else Batched(made.pieces, skipped=made.skipped)


def refusals_of(ledger: Ledger) -> dict[str, Any]:
    """Which gears are known not to run the function: workers need not find out again."""
    return {arm.name: arm.refusal for arm in ledger.arms[1:] if arm.refusal is not None}
