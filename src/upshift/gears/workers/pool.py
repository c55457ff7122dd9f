"""Worker processes of this process: started when first needed, used again by later calls, gone when it ends.

A worker that is idle costs memory only. Each is its own process with a socket to this one: when one is killed, the
others do not notice. (An executor of the standard library, or loky's, is broken as a whole then; and loky leaves two
more processes behind an interrupt.)
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import mmap
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from ...config import cores, in_worker
from .segments import Channel, Parcel, Segment, read

DEPTH = 2
"""Chunks that a worker is given at a time: while it runs one, the next one lies there."""
MOST_HELD = 8
"""Functions that a worker keeps."""
DRAINS = 0.2
"""Seconds that a worker has to finish what nobody wants any more, before it is ended."""
COMMAND = "import sys; sys.path[:] = {path!r}; from upshift.gears.workers.remote import main; main({fd})"


class Worker:
    """One process, and what it was given."""

    def __init__(self) -> None:
        mine, other = socket.socketpair()
        with other:
            self.channel = Channel(mine)
            self.process = subprocess.Popen(
                [sys.executable, *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
                 "-c", COMMAND.format(path=[path or os.getcwd() for path in sys.path], fd=other.fileno())],
                pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, process_group=0,
            )  # fmt: skip
        self.inbox = [Segment() for _ in range(DEPTH)]
        self.outbox = [Segment() for _ in range(DEPTH)]
        self.beat = Segment()
        self.beat.reserve(_BEAT.size)
        self.greeted = self.told = False
        self.held: dict[bytes, None] = {}
        self.given: list[Any] = []
        """Chunks that it has not answered yet, in order."""
        self.stale = 0
        """Answers that nobody wants any more."""
        self.free = list(range(DEPTH))

    def fileno(self) -> int:
        """Of its socket, so that several workers can be waited for at once."""
        return self.channel.fileno()

    def teach(self, digest: bytes, extents: Any, segment: Segment) -> None:
        """Give it a function, unless it has it; it forgets the one it got first."""
        if digest in self.held:
            return
        descriptors = [segment.fd] if self.told else [segment.fd, self.beat.fd]
        self.channel.send(("function", digest, extents), descriptors)
        self.told = True
        self.held[digest] = None
        if len(self.held) > MOST_HELD:
            del self.held[next(iter(self.held))]

    def give(self, chunk: Any, digest: bytes, parcel: Parcel, low: int) -> None:
        """Elements to run: they are written where it can see them."""
        slot = self.free.pop()
        segment = self.inbox[slot]
        extents, new = parcel.write(segment)
        self.channel.send(("chunk", slot, digest, low, extents), [segment.fd] if new else [])
        self.given.append(chunk)

    def answer(self, load: Any) -> tuple[Any, Any] | None:
        """What it says next: a chunk that it was given and the answer; None where that is nothing of interest."""
        message, descriptors = self.channel.receive()
        if message[0] == "hello":
            self.greeted = True
            return None
        _, slot, extents = message
        if descriptors:
            self.outbox[slot].close()
            self.outbox[slot] = Segment(descriptors[0])
        self.free.append(slot)
        if self.stale:
            self.stale -= 1
            return None
        found = read(self.outbox[slot], extents, True, load)
        return self.given.pop(0), found

    def at(self) -> tuple[int, int]:
        """Chunks that it has begun, and elements of the last one."""
        assert self.beat.memory is not None
        return _BEAT.unpack_from(self.beat.memory)

    def end(self) -> str:
        """Kill it, if it still runs; how it ended, in words."""
        code = self.process.poll()
        if code is None and self.channel.socket.fileno() >= 0:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
        if code is None:
            code = self.process.wait()
        self.channel.close()
        for segment in [*self.inbox, *self.outbox, self.beat]:
            segment.close()
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"ended by signal {-code}"

    def forget(self) -> None:
        """In a forked child: it is the parent's."""
        self.channel.close()


_BEAT = struct.Struct("<qq")


class Beat:
    """Seen from the worker: where it tells how far it is, so that it can be ended when an element takes too long."""

    def __init__(self, fd: int) -> None:
        self.memory = mmap.mmap(fd, _BEAT.size)
        self.chunks = 0

    def begin(self) -> None:
        """A chunk begins."""
        self.chunks += 1
        _BEAT.pack_into(self.memory, 0, self.chunks, 0)

    def tell(self, elements: int) -> None:
        """So many elements of it are done."""
        _BEAT.pack_into(self.memory, 0, self.chunks, elements)


_idle: list[Worker] = []
_all: list[Worker] = []
_lock = threading.Lock()


def count() -> int:
    """How many there may be, where nobody says."""
    return 1 if in_worker() else cores()


def why_not() -> str:
    """Why this process can have no workers, in words; empty where it can."""
    if sys.platform == "win32":
        return "its workers need sockets that carry descriptors, which Windows has not"
    if getattr(sys, "frozen", False) or not sys.executable:
        return "there is no Python to start workers with, only a program that contains it"
    return ""


def waiting() -> int:
    """How many wait for work."""
    return len(_idle)


def prepare(wanted: int) -> None:
    """So many are started, if there are not yet, and have said that they are there."""
    with hired(wanted) as workers:
        for worker in workers:
            if not worker.greeted:
                worker.answer(None)


def start() -> Worker:
    """A new process, which need not be there yet."""
    worker = Worker()
    with _lock:
        _all.append(worker)
    return worker


@contextlib.contextmanager
def hired(wanted: int) -> Iterator[list[Worker]]:
    """So many workers for the length of a `with` block; all processes are ended where it is left by an interrupt."""
    workers: list[Worker] = []
    try:
        while len(workers) < wanted:
            with _lock:
                found = _idle.pop() if _idle else None
            if found is not None and found.process.poll() is not None:
                dismiss(found)
                continue
            workers.append(found or start())
        yield workers
    except Exception:
        give_back(workers)
        raise
    except BaseException:  # Ctrl-C
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            dismiss(worker)
        _end_idle()
        raise
    else:
        give_back(workers)


def give_back(workers: list[Worker]) -> None:
    """Workers wait for the next call; one that is still busy with what nobody wants has a moment to finish it."""
    until = time.monotonic() + DRAINS
    for worker in workers:
        worker.stale += len(worker.given)
        worker.given.clear()
        try:
            while worker.stale and _is_readable(worker, until - time.monotonic()):
                worker.answer(None)
        except (EOFError, OSError):
            worker.stale = 1
        if worker.stale or len(_idle) >= 2 * cores():
            dismiss(worker)
        else:
            with _lock:
                _idle.append(worker)


def _is_readable(worker: Worker, seconds: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(worker, selectors.EVENT_READ)
        return bool(selector.select(max(seconds, 0.0)))


def dismiss(worker: Worker) -> str:
    """End a process; how it ended, in words."""
    with _lock:
        if worker in _all:
            _all.remove(worker)
    return worker.end()


def _end_idle() -> None:
    """End all processes that wait for work."""
    with _lock:
        workers = _idle[:]
        _idle.clear()
    for worker in workers:
        dismiss(worker)


def end_all() -> None:
    """End every process of the pool."""
    _idle.clear()
    for worker in _all[:]:
        dismiss(worker)


def _in_child() -> None:
    """A forked child has workers of its own, and must not keep the parent's sockets open."""
    global _lock
    _lock = threading.Lock()
    for worker in itertools.chain(_all):
        worker.forget()
    _idle.clear()
    _all.clear()


atexit.register(end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
