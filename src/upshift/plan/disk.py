"""Notes in, the same notes after a restart out.

A notebook is one JSON file of one note a line. Tabs and newlines stand only between the parts of a line, since JSON
escapes them inside texts: a note is found without parsing the others. The file is replaced as a whole, and whatever is
wrong with it (another machine, another version, damage) means that it is empty.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import json
import logging
import os
import stat
import sys
import threading
import time
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..config import settings
from ..folder import folder, is_ours, say_once, stamp

if sys.platform != "win32":
    import fcntl

log = logging.getLogger("upshift")

FORMAT = 1
MOST_NOTES, MOST_BYTES = 2000, 1 << 19
"""What a file holds at most; the notes that were not used for the longest time are dropped."""
MOST_NOTE, MOST_HEAD = 1 << 14, 1 << 12
"""Bytes of one note, and of what stands before the first."""
MOST_FILES = 8
"""Machines and versions whose files are kept in one folder."""
EVERY = 1.0
"""Seconds from the first note that is not on disk until it is."""
PATIENCE = 0.05
"""Seconds that a process waits for its turn. Who is late writes all the same, and may lose what another one wrote."""
STALE = 10.0
"""Seconds after which a temporary file is nobody's."""
DAY = 86_400 * 10**9
"""Nanoseconds: how exactly it is kept when a note was used last."""


# ---- a file of notes: head, then lines of "key": [written, used, note], with times in nanoseconds

_HEAD_ENDS, _ENDS = b',\n"notes": {', b"\n}}\n"
_EMPTY = b"\n" + _ENDS
_text_of = json.JSONEncoder(allow_nan=False).encode


def _wrap(written: int, used: int, text: str) -> str:
    return f"[{written},\t{used},\t{text}]"


def _unwrap(line: str) -> tuple[int, int, str]:
    try:
        written, used, text = line[1:-1].split(",\t")
        return int(written), int(used), text
    except ValueError:
        return 0, 0, "null"


def _find(body: bytes, key: str) -> str | None:
    start = f"\n{key}:\t".encode("ascii")
    at = body.find(start)
    return None if at < 0 else body[at + len(start) : body.index(b"\n", at + 1)].decode("ascii").removesuffix(",")


def _lines_of(body: bytes) -> dict[str, str]:
    pairs = [line.split(":\t", 1) for line in body[1 : -len(_ENDS)].decode("ascii").split(",\n")]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _body_of(lines: dict[str, str]) -> bytes:
    return b"\n" + ",\n".join([f"{key}:\t{line}" for key, line in lines.items()]).encode("ascii") + _ENDS


def _head_of(body: bytes) -> bytes:
    about = {"format": FORMAT, "check": zlib.crc32(body), "stamp": stamp()}
    return json.dumps(about)[:-1].encode("ascii") + _HEAD_ENDS


def _load(file: Path) -> bytes:
    """The body of a file; an empty one where there is none, or none that can be used."""
    try:
        # Nothing is waited for (a pipe), nothing is followed (a link).
        flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(file, os.O_RDONLY | flags), "rb", buffering=0) as opened:
            about = os.fstat(opened.fileno())
            if not stat.S_ISREG(about.st_mode) or not is_ours(about):
                raise ValueError("it is no file, or others may write to it")
            if about.st_size > 2 * MOST_BYTES:
                raise ValueError("it is too large")
            head = opened.read(MOST_HEAD)
            opened.seek(max(head.find(_HEAD_ENDS), 0) + len(_HEAD_ENDS))
            return _checked(head, opened.read())
    except FileNotFoundError:
        return _EMPTY
    except (OSError, ValueError, RecursionError) as reason:
        say_once(file, logging.INFO, f"{file} is not used and will be replaced: {reason}")
        return _EMPTY


def _checked(head: bytes, body: bytes) -> bytes:
    about = json.loads(head.partition(_HEAD_ENDS)[0] + b"}")
    if not isinstance(about, dict) or about.get("format") != FORMAT or about.get("stamp") != stamp():
        raise ValueError("it is of another version or machine")
    if not body.endswith(_ENDS) or about.get("check") != zlib.crc32(body):
        raise ValueError("it is damaged")
    return body


def _merge(theirs: dict[str, str], mine: dict[str, str], now: int) -> dict[str, str]:
    """The newer note of each key, as many as a file holds."""
    for key, line in mine.items():
        written, used, text = _unwrap(line)
        other = _unwrap(theirs.get(key, ""))
        if written < other[0] <= now:  # a clock that was wrong must not win for ever
            written, text = other[0], other[2]
        theirs[key] = _wrap(written, max(used, min(other[1], now)), text)
    size = sum(map(len, theirs.values())) + sum(map(len, theirs)) + 4 * len(theirs)
    return theirs if len(theirs) <= MOST_NOTES and size <= MOST_BYTES else _used_last(theirs, now)


def _used_last(lines: dict[str, str], now: int) -> dict[str, str]:
    """Nine tenths of what fits, so that the next note does not need this again."""
    kept: dict[str, str] = {}
    size = 0
    used = {key: min(_unwrap(line)[1], now) for key, line in lines.items()}
    for key in sorted(lines, key=lambda key: used[key], reverse=True)[: MOST_NOTES * 9 // 10]:
        size += len(key) + len(lines[key]) + 4
        if size > MOST_BYTES * 9 // 10:
            break
        kept[key] = lines[key]
    return kept


def _replace(file: Path, *parts: bytes) -> None:
    """Whoever reads sees the file before or the file after, and nothing in between."""
    temporary = f"{file}.{os.urandom(6).hex()}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(temporary, flags, 0o600), "wb") as opened:
            opened.writelines(parts)
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _sweep(place: Path, name: str) -> None:
    """Removes temporary files of processes that were killed, and files of versions that nobody uses any more."""
    with contextlib.suppress(OSError):
        with os.scandir(place) as entries:
            found = sorted((e.stat().st_mtime, e.path) for e in entries if e.name.startswith(f"{name}-"))
        now = time.time()
        left = [path for at, path in found if path.endswith(".tmp") and abs(now - at) > STALE]
        for path in left + [path for _, path in found if path.endswith(".json")][:-MOST_FILES]:
            os.unlink(path)


@contextlib.contextmanager
def _turn(place: Path) -> Iterator[None]:
    """One process after the other, as far as patience goes."""
    opened = os.open(place / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + PATIENCE
    try:
        while not _is_turn(opened) and time.monotonic() < until:
            time.sleep(0.002)
        yield
        if sys.platform != "win32":
            fcntl.flock(opened, fcntl.LOCK_UN)  # closing is not enough: a child forked meanwhile has it open, too
    finally:
        os.close(opened)


def _is_turn(opened: int) -> bool:
    """Always, where a file system has no locks, and on Windows."""
    if sys.platform != "win32":
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass
    return True


_notebooks: weakref.WeakSet[Notebook] = weakref.WeakSet()


class Notebook:
    """Notes by key, a bounded number of them, which outlive the process.

    What is written is on disk a second later, and at exit. A process that is killed before loses it.
    """

    def __init__(self, name: str = "plans") -> None:
        self.name = name
        self.stored: bytes | None = None
        """The body of the file when it was last seen."""
        self.swept = False
        self.begin()
        _notebooks.add(self)

    def begin(self) -> None:
        """Nothing to write, nobody at work: so it is at first, and in a forked child, whose parent writes its own."""
        self.lines: dict[str, str] = {}
        """What the file does not have yet."""
        self.lock, self.writing = threading.Lock(), threading.Lock()
        self.waits = False

    def read(self, key: str) -> dict[str, Any] | None:
        """The note as JSON has it (tuples are lists), to keep or change as one likes."""
        if settings().disable:
            return None
        name, now = _text_of(key), time.time_ns()
        with self.lock:
            line = self.lines.get(name) or self._find(name)
            if line is None:
                return None
            written, used, text = _unwrap(line)
            if now - used > DAY:
                self._put(name, _wrap(written, now, text))
        try:
            note = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return note if isinstance(note, dict) else None

    def _find(self, name: str) -> str | None:
        if self.stored is None:
            place = folder()
            self.stored = _load(self._file(place)) if place else _EMPTY
        return _find(self.stored, name)

    def write(self, key: str, note: dict[str, Any]) -> None:
        """The note as it is now; one that JSON cannot hold, or that is too long, is not kept."""
        if settings().disable:
            return
        try:
            text = _text_of(note)
        except (TypeError, ValueError, RecursionError) as reason:
            say_once("note", logging.WARNING, f"a note is not kept: {reason}")
            return
        if len(text) > MOST_NOTE:
            say_once("note", logging.WARNING, f"a note of {len(text)} bytes is not kept")
            return
        name, now = _text_of(key), time.time_ns()
        with self.lock:
            if len(self.lines) >= 2 * MOST_NOTES:  # there is no disk to write them to
                self.lines = _merge({}, self.lines, now)
            self._put(name, _wrap(now, now, text))

    def _put(self, name: str, line: str) -> None:
        self.lines[name] = line
        if not self.waits:
            try:
                _thread.start_new_thread(self._flush_later, ())  # threading.Timer waits until it runs, up to 4 ms
                self.waits = True
            except RuntimeError:  # no threads any more: flushed at exit
                pass

    def _flush_later(self) -> None:
        time.sleep(EVERY)
        self.waits = False
        self.flush()

    def flush(self) -> None:
        """Writes what is not on disk yet, together with what other processes wrote meanwhile."""
        if not self.writing.acquire(timeout=10 * PATIENCE):
            return
        try:
            with self.lock:
                mine = dict(self.lines)
            place = folder() if mine else None
            if place is not None:
                self._write_out(place, mine)
        except OSError as reason:
            say_once(self.name, logging.INFO, f"notes are not on disk yet: {reason}")
        finally:
            self.writing.release()

    def _write_out(self, place: Path, mine: dict[str, str]) -> None:
        file = self._file(place)
        with _turn(place):
            if not self.swept:
                _sweep(place, self.name)
                self.swept = True
            body = _body_of(_merge(_lines_of(_load(file)), mine, time.time_ns()))
            _replace(file, _head_of(body), body)
        with self.lock:
            self.stored = body
            self.lines = {name: line for name, line in self.lines.items() if mine.get(name) != line}

    def _file(self, place: Path) -> Path:
        """Every machine and version has a file of its own, so that two that take turns do not undo each other."""
        return place / f"{self.name}-{zlib.crc32(repr(stamp()).encode()):08x}.json"


NOTEBOOK = Notebook()
"""The one of this process."""


@atexit.register
def _at_exit() -> None:
    for notebook in list(_notebooks):
        notebook.flush()


def _in_child() -> None:
    for notebook in list(_notebooks):
        notebook.begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
