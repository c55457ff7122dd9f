"""Jobs on threads, processes or a cluster, where the user names one of them: for functions that no compiler takes."""

from __future__ import annotations

import numpy as np

from ..columns.outputs import Objects, Placed
from ..config import settings
from ..errors import Refusal
from ..gears import processes
from ..gears.frameworks import run_on_ray
from ..gears.job import Job
from ..gears.loop import SKIPPED
from ..gears.threads import run_threads
from ..gears.threads import why_not as why_not_threads
from ..gears.workers import pool
from .assembly import moved
from .batched import Batched
from .block import run_block


def force(gear: str, job: Job) -> Batched | Refusal:
    """A job on workers that the user asked for, whatever it costs."""
    if gear == "ray":
        return _on_ray(job)
    refused = why_not_threads(job.f, job.shared) if gear == "threads" else processes.why_not(job.f, job.shared)
    if refused is not None:
        return refused
    made = run_threads(job, settings().workers or pool.count()) if gear == "threads" else processes.run_processes(job)
    return made if isinstance(made, Refusal) else Batched(made.pieces, skipped=made.skipped)


def _on_ray(job: Job) -> Batched | Refusal:
    answers = run_on_ray(job, run_block)
    if isinstance(answers, Refusal):
        return answers
    pieces: list[Placed] = []
    skipped: list[int] = []
    for low, n, (looped, made) in answers:
        pieces += [(moved(lanes, low, n), piece) for lanes, piece in made]
        for lanes, results in looped:
            at = np.arange(low, low + n)[lanes]
            kept = np.array([result is not SKIPPED for result in results], bool)
            skipped += at[~kept].tolist()
            if kept.all():
                pieces.append((moved(lanes, low, n), Objects(results)))
            elif kept.any():
                pieces.append((at[kept], Objects([result for result in results if result is not SKIPPED])))
    if skipped and not isinstance(job.on_error, str):
        pieces.append((np.array(skipped), Objects([job.on_error[1]] * len(skipped))))
        skipped = []
    return Batched(pieces, skipped=skipped)
