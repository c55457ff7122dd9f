"""The environment in; the folder out where this user's notes and machine code are kept, or None."""

from __future__ import annotations

import functools
import importlib.util
import logging
import os
import platform
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .config import settings

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
        say_once("folder", logging.INFO, f"nothing is remembered on disk: {error}")
        return None
    if not is_ours(about):
        reason = f"{path} belongs to another user, or others may write to it (chmod 700 helps)"
        say_once(path, logging.WARNING, f"nothing is remembered on disk: {reason}")
        return None
    if not writable:
        say_once(path, logging.INFO, f"nothing is remembered on disk: {path} cannot be written to")
        return None
    return path


def _place() -> Path:
    """The folder asked for, or the user's cache folder as platformdirs gives it, which takes longer to import."""
    asked = os.environ.get("UPSHIFT_CACHE_DIR")
    if asked:
        return Path(asked).expanduser().absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "upshift" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "upshift"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "upshift"


def is_ours(about: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else may write to it."""
    return not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & 0o022)


_said: set[Any] = set()


def say_once(about: Any, level: int, text: str) -> None:
    """One line on the log, the first time only."""
    if about not in _said:
        _said.add(about)
        log.log(level, "upshift: %s", text)


@functools.cache
def stamp() -> dict[str, str]:
    """What measured times depend on besides the function: versions and the processor."""
    return {
        "upshift": getattr(sys.modules[__name__.partition(".")[0]], "__version__", ""),
        "python": sys.version,
        "numpy": np.__version__,
        "numba": _numba_version(),
        "processor": _processor(),
    }


def _numba_version() -> str:
    """By the name of its folder: importing Numba takes a quarter of a second, importlib.metadata some 15 ms."""
    try:
        found = importlib.util.find_spec("numba")
        beside = os.listdir(Path(found.origin).parents[1]) if found and found.origin else []
    except (OSError, ValueError):
        return ""
    return " ".join(sorted(name[6:-10] for name in beside if name.startswith("numba-") and name.endswith(".dist-info")))


def _processor() -> str:
    """Name and features of the first core; the whole of /proc/cpuinfo takes long where there are many."""
    words = ("model name", "flags", "Features", "CPU implementer", "CPU part", "cpu", "isa")
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as opened:
            lines = opened.read(8192).decode("ascii", "replace").partition("\n\n")[0].split("\n")
    except OSError:
        return f"{platform.machine()} {os.environ.get('PROCESSOR_IDENTIFIER', '')}"
    told = [line for line in lines if line.partition(":")[0].strip() in words]
    name = next((line.partition(":")[2].strip() for line in told if line.startswith("model name")), "")
    return f"{platform.machine()} {name} {zlib.crc32('|'.join(told).encode()):08x}"
