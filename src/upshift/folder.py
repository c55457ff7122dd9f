"""Where machine code and notes are kept on disk: a folder that only this user can write, or none."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from .config import settings
from .loading import Later

if TYPE_CHECKING:
    import pathlib
    from pathlib import Path
else:  # which loads more than all that brief calls need
    pathlib = Later("pathlib")

log = logging.getLogger("upshift")


def folder() -> Path | None:
    """Where notes are kept, made if need be; None where that is no folder which this user alone may write to."""
    if settings().disable:
        return None
    try:
        path = _place()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = path.stat()
        writable = os.access(path, os.W_OK | os.X_OK)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: there is no home
        _say_once("folder", logging.INFO, f"nothing is remembered on disk: {error}")
        return None
    if not is_ours(about):
        reason = f"{path} belongs to another user, or others may write to it (chmod 700 helps)"
        _say_once(path, logging.WARNING, f"nothing is remembered on disk: {reason}")
        return None
    if not writable:
        _say_once(path, logging.INFO, f"nothing is remembered on disk: {path} cannot be written to")
        return None
    return path


def _place() -> Path:
    """The folder asked for, or the user's cache folder as platformdirs gives it, which takes longer to import."""
    asked = os.environ.get("UPSHIFT_CACHE_DIR")
    if asked:
        return pathlib.Path(asked).expanduser().absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or pathlib.Path.home() / "AppData" / "Local"
        return pathlib.Path(local) / "upshift" / "Cache"
    if sys.platform == "darwin":
        return pathlib.Path.home() / "Library" / "Caches" / "upshift"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (pathlib.Path(base) if os.path.isabs(base) else pathlib.Path.home() / ".cache") / "upshift"


def is_ours(about: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else may write to it."""
    return not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & 0o022)


_said: set[Any] = set()


def _say_once(about: Any, level: int, text: str) -> None:
    """One line on the log, the first time only."""
    if about not in _said:
        _said.add(about)
        log.log(level, "upshift: %s", text)
