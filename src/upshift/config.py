"""Settings: environment variables and `up.config(...)` in, one Settings object out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace


def _flag(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0", "false", "no")


def _threads() -> int:
    """How many threads a gear may use; OMP_NUM_THREADS is obeyed where our own variable is not set."""
    for name in ("UPSHIFT_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isdigit() and int(text) > 0:
            return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set: every field is an environment variable UPSHIFT_<FIELD> and a keyword of `up.config`."""

    disable: bool = False
    num_threads: int = 1
    verify: bool = True


def from_environment() -> Settings:
    """The settings that the environment asks for now."""
    return Settings(
        disable=_flag("UPSHIFT_DISABLE"),
        num_threads=_threads(),
        verify=os.environ.get("UPSHIFT_VERIFY", "1") not in ("0", "false", "no"),
    )


class _Current:
    """The settings in force, for all threads."""

    settings = from_environment()


def settings() -> Settings:
    """The settings in force."""
    return _Current.settings


@contextmanager
def config(**changes: object) -> Iterator[Settings]:
    """Change settings for the length of a `with` block.

    >>> with config(disable=True) as settings:
    ...     settings.disable
    True
    """
    known = [f.name for f in fields(Settings)]
    for name in changes:
        if name not in known:
            raise TypeError(f"no setting named {name!r}; there are {', '.join(known)}")
    before = _Current.settings
    _Current.settings = replace(before, **changes)  # type: ignore[arg-type]
    try:
        yield _Current.settings
    finally:
        _Current.settings = before
