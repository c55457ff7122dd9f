"""Elements on several threads, for functions that free the interpreter's lock; results in order, the loop's errors."""

from __future__ import annotations

import threading
from typing import Any

from ..config import settings
from ..errors import Refusal
from .chunks import chunks_of, side_by_side
from .job import Job
from .loop import SKIPPED, run_loop
from .workers.answers import Made, made_of
from .workers.purity import REMEDY, may_change, why_impure

GEAR = "threads"
CHUNKS = 16
"""Chunks for each thread: no thread waits long for the last one."""


def why_not(f: Any, shared: dict[str, Any]) -> Refusal | None:
    """Why a function is not for threads, as far as its code tells."""
    if settings().pure:
        return None
    reason, where = why_impure(f, shared)
    reason = reason or may_change(f, shared)
    return Refusal(GEAR, reason, where, REMEDY) if reason else None


def run_threads(job: Job, threads: int) -> Made:
    """A job on so many threads, whatever its function is."""
    results: list[Any] = [None] * job.n
    errors: dict[int, Exception] = {}
    stopped = threading.Event()

    def work(chunk: slice) -> None:
        if any(low < chunk.start for low in list(errors)):
            return  # the loop would not have come here
        part = job.part(chunk.start, chunk.stop)
        call, is_stopped = part.call, stopped.is_set

        def unless_stopped(*row: Any) -> Any:
            if is_stopped():
                raise KeyboardInterrupt
            return call(*row)

        try:
            results[chunk] = run_loop(unless_stopped, part.columns, job.on_error, part.offset)
            if job.blocks is not None:
                job.blocks.done(part.n, GEAR)
        except Exception as error:
            errors[chunk.start] = error
        except BaseException:  # Ctrl-C: the others finish no more than the element that they are at
            stopped.set()
            raise

    try:
        side_by_side(work, chunks_of(0, job.n, max(job.n // (CHUNKS * threads), 1)), threads)
    except BaseException:
        stopped.set()
        raise
    if errors:
        raise errors[min(errors)]
    return made_of(results, [i for i, result in enumerate(results) if result is SKIPPED])
