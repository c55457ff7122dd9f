"""In a worker process: notices what a function does besides computing, before it is done, and ends the chunk.

Nothing of this is ever active in the user's own process. Python tells of files, sockets and processes by audit events;
output goes through streams of ours; random states and what the function holds are compared before and after.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import Signal
from ...folder import folder

_EVENTS = {
    "os.remove os.rename os.mkdir os.rmdir os.truncate os.chmod os.chown os.link os.symlink os.utime os.listdrives "
    "shutil.copyfile shutil.move shutil.rmtree shutil.make_archive tempfile.mkdtemp tempfile.mkstemp": "changes files",
    "os.putenv os.unsetenv": "changes the environment",
    "os.system os.exec os.fork os.forkpty os.kill os.posix_spawn os.spawn subprocess.Popen": "starts processes",
    "socket.connect socket.bind socket.sendto socket.getaddrinfo sqlite3.connect urllib.Request": "uses the network",
    "builtins.input builtins.input/result": "reads input",
}
_REASONS = {event: reason for events, reason in _EVENTS.items() for event in events.split()}


class Impure(Signal):
    """The function is about to act on the world."""


class _State:
    active = False
    seen = ""
    hooked = False
    own = ""


def _refuse(reason: str) -> None:
    _State.seen = _State.seen or reason
    raise Impure(reason)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _State.active:
        return
    if event == "open":
        path, _, flags = args
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT)
        if writes and not _is_ours(path):
            _refuse("writes a file")
    elif event in _REASONS and not _is_ours(args[0] if args else ""):
        _refuse(_REASONS[event])


def _is_ours(path: Any) -> bool:
    """Whether a file is object code that Upshift itself keeps, or Python's own of a module that is imported."""
    name = os.fsdecode(path) if isinstance(path, str | bytes) else ""
    return (bool(_State.own) and name.startswith(_State.own)) or "__pycache__" in name or name == os.devnull


class _Stream(io.TextIOBase):
    """Output that is not the worker's to make, while a guard is on."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        if _State.active:
            _refuse("prints")
        return self.stream.write(text)  # type: ignore[no-any-return]

    def flush(self) -> None:
        self.stream.flush()


def install() -> None:
    """Once in a worker's life."""
    if not _State.hooked:
        _State.hooked = True
        _State.own = str(folder() or "")
        sys.addaudithook(_hook)
        sys.stdout, sys.stderr = _Stream(sys.stdout), _Stream(sys.stderr)


def _random_states() -> Any:
    state: Any = np.random.get_state(legacy=False)
    return random.getstate(), state["state"]["pos"], state["state"]["key"].tobytes(), state["has_gauss"]


@contextlib.contextmanager
def watched(held: Any) -> Iterator[None]:
    """While the block runs, effects raise `Impure`; those that show only afterwards do then.

    `held`: a function that gives the bytes of what calls could change.
    """
    install()
    before = _random_states(), held()
    _State.seen, _State.active = "", True
    try:
        yield
    finally:
        _State.active = False
    if _State.seen:  # and swallowed by an `except` of the user's
        raise Impure(_State.seen)
    states, after = _random_states(), held()
    if states != before[0]:
        raise Impure("draws random numbers from shared state")
    if after != before[1]:
        raise Impure("changes what it captures, or its elements")
