"""What is known of a function in; notes on disk out, and back in another process.

Notes are read when a tenth of a second is at stake, not before: a small call pays nothing for them.
"""

from __future__ import annotations

from typing import Any

from ..errors import Refusal
from ..gears.job import Job
from .disk import NOTEBOOK
from .fingerprint import fingerprint
from .memory import Known, kind_of_column

STEP = 0.1
"""Seconds by which regret must have grown before it is noted again."""


def recall(known: Known, job: Job) -> None:
    """What other processes have noted of this function, once."""
    if known.noted is not None:
        return
    known.noted = fingerprint(job.f, *(str(kind_of_column(column)) for column in job.columns), *job.shared) or ""
    note = NOTEBOOK.read(known.noted) if known.noted else None
    if note is None:
        return
    known.regret += _number(note.get("regret"))
    known.noted_regret = known.regret
    known.compiled_before = note.get("compiled") is True
    refused = note.get("refused")
    if isinstance(refused, list) and len(refused) == 3 and all(isinstance(part, str) for part in refused):
        known.machines.noted = Refusal("numba", *refused)


def remember(known: Known, refusal: Refusal | None = None, compiled: bool = False) -> None:
    """Note what the next process should know, where it is news."""
    if not known.noted:
        return
    news = (compiled and not known.compiled_before) or refusal is not None
    if not news and abs(known.regret - known.noted_regret) < STEP:
        return
    known.noted_regret = known.regret
    known.compiled_before |= compiled
    note: dict[str, Any] = {"regret": known.regret, "loop": known.costs.loop_rate, "compiled": known.compiled_before}
    if refusal is not None:
        note["refused"] = [refusal.reason, refusal.where, refusal.remedy]
    NOTEBOOK.write(known.noted, note)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else 0.0
