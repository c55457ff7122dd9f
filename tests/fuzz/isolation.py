"""Runs a function on many things in child processes, so that a crash or a hang is a result like any other.

A child gives its results one by one through a pipe. Where it dies or is silent for too long, the thing it was at is
told as crashed or hung, and a new child goes on behind it.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
SILENCE = 60.0
"""Seconds without a result after which a child is taken to hang."""


class Died(Exception):
    """Why there is no result."""


def each(do: Callable[[T], Any], things: Sequence[T], silence: float = SILENCE) -> Iterator[tuple[T, Any]]:
    """Each thing with its result, or with a `Died`, in order."""
    at = 0
    while at < len(things):
        reader, child = _fork(do, things[at:])
        try:
            for result in _results(reader, child, silence):
                yield things[at], result
                at += 1
                if isinstance(result, Died):
                    break
        finally:
            os.close(reader)
            _end(child)


def alone(do: Callable[[T], Any], thing: T, silence: float = SILENCE) -> Any:
    """The result for one thing, or a `Died`."""
    return next(each(do, [thing], silence))[1]


def _fork(do: Callable[[T], Any], things: Sequence[T]) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return reader, child
    os.close(reader)
    try:
        for thing in things:
            sent = pickle.dumps(do(thing))
            _write(writer, struct.pack("<q", len(sent)) + sent)
        os._exit(0)
    finally:
        os._exit(70)


def _write(to: int, sent: bytes) -> None:
    while sent:
        sent = sent[os.write(to, sent) :]


def _results(reader: int, child: int, silence: float) -> Iterator[Any]:
    while True:
        try:
            head = _read(reader, 8, silence)
            if head is None:
                _, status = os.waitpid(child, 0)
                if status:
                    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                    yield Died(f"crashed: {signal.Signals(number).name if os.WIFSIGNALED(status) else number}")
                return
            sent = _read(reader, struct.unpack("<q", head)[0], silence)
        except TimeoutError:
            yield Died(f"hung: no result within {silence:.0f} s")
            return
        assert sent is not None
        yield pickle.loads(sent)


def _read(reader: int, count: int, silence: float) -> bytes | None:
    """So many bytes; None at the end."""
    found = b""
    while len(found) < count:
        if not select.select([reader], [], [], silence)[0]:
            raise TimeoutError
        more = os.read(reader, count - len(found))
        if not more:
            return None
        found += more
    return found


def _end(child: int) -> None:
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
