"""The worker process: it runs the plain function over the chunks that it is sent.

It runs the plain function: a gear that every worker would have to try for itself costs more than its chunks are worth.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...columns.inputs import Records, elements_of
from ...config import be_worker, in_force
from ...errors import is_of_upshift
from ..job import Job
from ..loop import SKIPPED, run_loop
from .answers import Answer, Surroundings
from .functions import NotSendable, answer_parcel, load, parcel_of
from .guard import Impure, watched
from .pool import DEPTH, MOST_HELD, Beat
from .purity import held_by, is_fixed
from .segments import Channel, Segment, read


class Task:
    """A function that was sent here."""

    def __init__(self, f: Any, shared: dict[str, Any], surroundings: Surroundings) -> None:
        self.f, self.shared, self.surroundings = f, shared, surroundings
        self.held = None if surroundings.settings.pure else held_by(f, shared)

    def run(self, columns: list[Any], low: int, beat: Beat | None = None) -> Answer:
        """The results of elements that begin at position `low`."""
        around = self.surroundings
        columns = [_received(column) for column in columns]
        job = Job(self.f, columns, self.shared, len(columns[0]), around.exact, low, around.on_error)
        answer = Answer()
        changing = [c for c in columns if isinstance(c, list) and any(not is_fixed(x) for x in c[:8])]
        began = time.perf_counter()
        try:
            with _in(around, answer), in_force(around.settings), np.errstate(**around.errors):
                if self.held is None:
                    self._run(job, answer, beat)
                else:
                    with watched(lambda: [bytes(p) for p in parcel_of((self.held, changing)).parts]):
                        self._run(job, answer, beat)
        except Impure as effect:
            answer.refused = str(effect)
        except NotSendable as reason:
            answer.refused = str(reason)
        except Exception as error:
            at = getattr(error, "upshift_element", None)
            answer.raised = low if at is None else at, told(error)
        except BaseException as error:  # such as SystemExit, which the loop would let through as well
            answer.raised = low, told(error)
        answer.seconds = time.perf_counter() - began
        return answer

    def _run(self, job: Job, answer: Answer, beat: Beat | None) -> None:
        call = job.call if beat is None else _beating(job.call, beat)
        answer.results = run_loop(call, job.columns, job.on_error, job.offset)
        for k, result in enumerate(answer.results):
            if result is SKIPPED:
                answer.skipped.append(k)
                answer.results[k] = None
            elif job.on_error == "return" and isinstance(result, Exception):
                told(result)


def _beating(call: Callable[..., Any], beat: Beat) -> Callable[..., Any]:
    """The same call, which tells each time that it begins."""
    count, tell = itertools.count(1), beat.tell

    def beating(*row: Any) -> Any:
        tell(next(count))
        return call(*row)

    return beating


def _received(column: Any) -> Any:
    """A column as the loop would see it here: arrays are not to be written to."""
    if isinstance(column, Records):
        return Records(column.cls, column.keys, [_received(one) for one in column.columns])
    return elements_of(column) if isinstance(column, list | np.ndarray) else column


def told(error: BaseException) -> BaseException:
    """An error with the way it came as a note, since a traceback cannot travel."""
    if error.__traceback__ is not None:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_of_upshift(f.filename)]
        lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames)]
        with contextlib.suppress(AttributeError, TypeError):
            error.add_note("In a worker process:\n" + "".join(lines).rstrip())
    error.__traceback__ = None
    return error


@contextlib.contextmanager
def _in(around: Surroundings, answer: Answer) -> Iterator[None]:
    """The other process's folder, modules and warnings."""
    if os.getcwd() != around.folder:
        os.chdir(around.folder)
    if tuple(sys.path) != around.path:
        sys.path[:] = around.path

    def note(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        answer.warned.append((str(message), category, filename, lineno))

    with warnings.catch_warnings():
        warnings.filters[:] = around.filters  # type: ignore[index]
        warnings._filters_mutated()  # type: ignore[attr-defined]
        warnings.showwarning = note  # type: ignore[assignment]
        yield


def main(fd: int) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that hired us hears it, and ends us
    be_worker()
    channel = Channel(socket.socket(fileno=fd))
    threading.Thread(target=_end_with_the_other, args=(fd,), daemon=True).start()
    worker = _Serving(channel)
    channel.send(("hello",))
    with contextlib.suppress(EOFError, OSError):
        while True:
            worker.serve(*channel.receive())
    os._exit(0)


def _end_with_the_other(fd: int) -> None:
    """When the process that hired us is gone, nobody wants what we compute."""
    poll = select.poll()
    poll.register(fd, getattr(select, "POLLRDHUP", 0) | select.POLLHUP)
    while not any(events & ~select.POLLIN for _, events in poll.poll()):
        time.sleep(0.1)
    os._exit(0)


class _Serving:
    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.tasks: dict[bytes, Callable[[], Task]] = {}
        self.made: dict[bytes, Task] = {}
        self.inbox = [Segment() for _ in range(DEPTH)]
        self.outbox = [Segment() for _ in range(DEPTH)]
        self.beat: Beat | None = None

    def serve(self, message: Any, descriptors: list[int]) -> None:
        if message[0] == "function":
            _, digest, extents = message
            if len(descriptors) > 1:
                self.beat = Beat(descriptors[1])
            segment = Segment(descriptors[0])
            self.tasks[digest] = lambda: Task(*read(segment, extents, False, load))
            if len(self.tasks) > MOST_HELD:
                oldest = next(iter(self.tasks))
                del self.tasks[oldest]
                self.made.pop(oldest, None)
            return
        _, slot, digest, low, extents = message
        if descriptors:
            self.inbox[slot].close()
            self.inbox[slot] = Segment(descriptors[0])
        self._answer(slot, self._run(slot, digest, low, extents))

    def _run(self, slot: int, digest: bytes, low: int, extents: Any) -> Answer:
        assert self.beat is not None
        self.beat.begin()
        try:
            if digest not in self.made:
                self.made[digest] = self.tasks[digest]()
            task = self.made[digest]
            columns = read(self.inbox[slot], extents, False, load)
        except Exception as error:  # a module that is not there, a __setstate__ that raises
            words = f"{type(error).__name__}: {error}"
            return Answer(refused=f"it cannot be unpickled in another process: {words}")
        return task.run(columns, low, self.beat if task.surroundings.settings.timeout else None)

    def _answer(self, slot: int, answer: Answer) -> None:
        try:
            parcel = answer_parcel(answer)
        except NotSendable as reason:
            parcel = answer_parcel(Answer(refused=str(reason)))
        extents, new = parcel.write(self.outbox[slot])
        self.channel.send(("done", slot, extents), [self.outbox[slot].fd] if new else [])


__all__ = ["Task", "main"]
