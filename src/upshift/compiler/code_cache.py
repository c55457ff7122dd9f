"""Object code on disk, under a hash of all that it was made from: another process loads it in about a millisecond.

A file holds the hash of its own contents in front of them: one that was cut off or damaged is made anew. The folder is
one that only this user may write to; where there is none, nothing is kept.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..folder import folder, is_ours
from ..loading import Later

if TYPE_CHECKING:
    import hashlib
    from pathlib import Path
else:
    hashlib = Later("hashlib")

MOST_FILES = 4096
"""Object files that are kept; the oldest go first."""
SWEPT = 64
"""Files written between two looks at how many there are."""
DIGEST = 32
_WRITTEN = 0


def name_of(*parts: str) -> str:
    """The name of what is made of these parts."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode())
        found.update(b"\0")
    return found.hexdigest()[:40]


def load(name: str) -> bytes | None:
    """The object code of this name; None where there is none that is whole."""
    place = _place()
    if place is None:
        return None
    try:
        with open(place / name, "rb") as file:
            if not is_ours(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    code = data[DIGEST:]
    return code if hashlib.sha256(code).digest() == data[:DIGEST] else None


def keep(name: str, code: bytes) -> None:
    """Write object code to the disk, whole or not at all."""
    global _WRITTEN
    place = _place()
    if place is None:
        return
    temporary = place / f"{name}.{os.urandom(4).hex()}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        temporary.write_bytes(hashlib.sha256(code).digest() + code)
        os.replace(temporary, place / name)
        _WRITTEN += 1
        if _WRITTEN % SWEPT == 1:
            _sweep(place)
    except OSError:
        temporary.unlink(missing_ok=True)  # this process has it all the same


def _place() -> Path | None:
    found = folder()
    return None if found is None else found / "code"


def _sweep(place: Path) -> None:
    files = sorted(place.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in files[:-MOST_FILES]:
        path.unlink(missing_ok=True)
