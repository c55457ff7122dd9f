"""Elements on several threads, for functions that free the interpreter's lock; results in order, the loop's errors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.outputs import Objects, Placed
from ..config import settings
from ..errors import Refusal
from .chunks import chunks_of, side_by_side
from .job import Job
from .loop import SKIPPED, run_loop
from .workers import pool
from .workers.purity import REMEDY, may_change, why_impure

GEAR = "threads"
CHUNK_SECONDS = 20e-3
"""What a chunk is expected to take."""


def why_not(f: Any, shared: dict[str, Any]) -> Refusal | None:
    """Why a function is not for threads, as far as its code tells."""
    if settings().pure:
        return None
    reason, where = why_impure(f, shared)
    reason = reason or may_change(f, shared)
    return Refusal(GEAR, reason, where, REMEDY) if reason else None


def run_threads(
    job: Job, rate: float = 0.0, told: Callable[[int], None] = lambda count: None
) -> tuple[list[Placed], list[int]] | Refusal:
    """Results of a job, and positions of elements that are left out. `rate`: seconds for an element, if known."""
    refused = why_not(job.f, job.shared)
    if refused is not None:
        return refused
    threads = settings().workers or pool.count()
    size = max(int(CHUNK_SECONDS / rate), 1) if rate else max(job.n // (16 * threads), 1)
    results: list[Any] = [None] * job.n
    errors: dict[int, Exception] = {}
    lock = threading.Lock()

    def work(chunk: slice) -> None:
        if any(low < chunk.start for low in list(errors)):
            return  # the loop would not have come here
        part = job.part(chunk.start, chunk.stop)
        try:
            results[chunk] = run_loop(part.call, part.columns, job.on_error, part.offset)
        except Exception as error:
            errors[chunk.start] = error
            return
        with lock:
            told(part.n)

    side_by_side(work, chunks_of(0, job.n, min(size, -(-job.n // threads))), threads)
    if errors:
        raise errors[min(errors)]
    skipped = [i for i, result in enumerate(results) if result is SKIPPED]
    if not skipped:
        return [(slice(0, job.n), Objects(results))], []
    kept = [i for i, result in enumerate(results) if result is not SKIPPED]
    placed: list[Placed] = [] if not kept else [(np.array(kept, np.int64), Objects([results[i] for i in kept]))]
    return placed, skipped
