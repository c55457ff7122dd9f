"""Compilations that were tried in vain: a refusal in; a note on disk out, which the next process reads first."""

from __future__ import annotations

import functools
from pathlib import Path

from ..columns.inputs import Lanes
from ..errors import Refusal
from ..gears.job import Job
from .disk import NOTEBOOK
from .fingerprint import fingerprint

WORTH_A_NOTE = 30e-3
"""Seconds of a compilation that was refused, from which on that is noted."""


def refused_before(gear: str, job: Job, lanes: Lanes) -> Refusal | None:
    """Why another process, or this one, could not compile a function for such elements."""
    key = _key(gear, job, lanes)
    note = NOTEBOOK.read(key) if key is not None else None
    refused = None if note is None else note.get("refused")
    if isinstance(refused, list) and len(refused) == 3 and all(isinstance(part, str) for part in refused):
        return Refusal(gear, *refused)
    return None


def note_refusal(refusal: Refusal, job: Job, lanes: Lanes, seconds: float) -> None:
    """Keep in mind that a compilation was refused after so many seconds."""
    key = _key(refusal.gear, job, lanes) if seconds > WORTH_A_NOTE else None
    if key is not None:
        NOTEBOOK.write(key, {"refused": [refusal.reason, refusal.where, refusal.remedy]})


def _key(gear: str, job: Job, lanes: Lanes) -> str | None:
    """Of the function, the kinds of its elements and the gear as it is now: another version may know better."""
    kinds = (repr(lanes.form), *(kind.name for kind in lanes.kinds), *job.shared)
    return fingerprint(job.f, "refused", gear, str(job.exact), *kinds, _maker(gear))


@functools.cache
def _maker(gear: str) -> str:
    """What tells the files of a gear from those of any other day."""
    folder = Path(__file__).parents[1] / "gears" / gear
    files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(folder.glob("*.py"))]
    return repr(files)
