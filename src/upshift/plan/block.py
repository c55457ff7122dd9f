"""What a worker of a cluster runs: a function and a block of elements in, pieces of the result out.

It is one call of a map, which uses the best gear of its own; what it learns it keeps for its next blocks.
"""

from __future__ import annotations

from typing import Any

from ..config import be_worker
from ..gears.job import Job
from ..gears.workers.answers import Answer
from ..gears.workers.functions import NotSendable, answer_parcel, unpacked
from ..gears.workers.remote import Task, told
from .call import Call
from .functions import FUNCTIONS

MOST_TASKS = 16
_TASKS: dict[bytes, Task] = {}
"""By digest: functions that were sent here lately."""


class Block(Task):
    """A function that is run in the gear that pays, and not only by the loop."""

    def _run(self, job: Job, answer: Answer, beat: Any) -> None:
        call = Call(job, FUNCTIONS.of(job.f, job.columns, job.shared, job.exact), job.on_error)
        call.go()
        answer.made = call.looped, call.pieces
        for _, results in call.looped:
            for result in results:
                if isinstance(result, Exception) and job.on_error == "return":
                    told(result)


def run_block(function: list[Any], columns: list[Any], low: int) -> list[Any]:
    """Parts of parcels in and out; `function` has its digest before them, `low` is where the block begins."""
    be_worker()
    digest = bytes(function[0])
    try:
        if digest not in _TASKS:
            while len(_TASKS) >= MOST_TASKS:
                _TASKS.pop(next(iter(_TASKS)))
            _TASKS[digest] = Block(*unpacked(function[1:]))
        found = unpacked(columns)
    except Exception as error:  # a module that is not there, a __setstate__ that raises
        words = f"{type(error).__name__}: {error}"
        return answer_parcel(Answer(refused=f"it cannot be unpickled in another process: {words}")).arrays()
    answer = _TASKS[digest].run(found, low)
    try:
        return answer_parcel(answer).arrays()
    except NotSendable as reason:
        return answer_parcel(Answer(refused=str(reason))).arrays()
