"""Settings, from environment variables and `up.config(...)`."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace


def _flag(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0", "false", "no")


def _threads() -> int:
    """How many threads a gear may use; OMP_NUM_THREADS is obeyed where our own variable is not set."""
    for name in ("UPSHIFT_NUM_THREADS", "OMP_NUM_THREADS"):
        found = _count(name)
        if found:
            return found
    return cores()


def _count(name: str) -> int:
    """The number that an environment variable begins with; 0 where it has none."""
    text = os.environ.get(name, "").split(",")[0].strip()
    return int(text) if text.isdigit() else 0


def _time(name: str) -> float | None:
    """The seconds that an environment variable says; None where it says none, or 0."""
    text = os.environ.get(name) or "0"
    try:
        return float(text) or None
    except ValueError:
        raise ValueError(f"{name} is a number of seconds, not {text!r}") from None


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def bytes_of(size: int | str) -> int:
    """A size in bytes, from a number or from words.

    >>> bytes_of("1.5 KB")
    1536
    """
    if isinstance(size, int):
        return size
    text = size.strip().upper()
    number = text.rstrip("KMGTB ")
    unit = text[len(number) :].strip()
    try:
        return int(float(number) * _UNITS[unit])
    except (KeyError, ValueError):
        raise ValueError(f'a size of memory is a number of bytes or words such as "512MB", not {size!r}') from None


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set: every field is an environment variable UPSHIFT_<FIELD> and a keyword of `up.config`."""

    disable: bool = False
    num_threads: int = 1
    verify: bool = True
    memory: int = 1 << 29
    """Bytes of temporary memory; results and what is passed in do not count."""
    workers: int = 0
    """Processes or threads for slow functions that do not compile. 0: as many as there are cores, and only threads, but
    where the gear is named."""
    timeout: float | None = None
    """Seconds that an element may take in a worker process."""
    pure: bool = False
    """Whether functions are said to do nothing but compute, whatever they look like."""


def _from_environment() -> Settings:
    """The settings that the environment asks for now."""
    return Settings(
        disable=_flag("UPSHIFT_DISABLE"),
        num_threads=_threads(),
        verify=os.environ.get("UPSHIFT_VERIFY", "1") not in ("0", "false", "no"),
        memory=bytes_of(os.environ.get("UPSHIFT_MEMORY") or "512MB"),
        workers=_count("UPSHIFT_WORKERS"),
        timeout=_time("UPSHIFT_TIMEOUT"),
        pure=_flag("UPSHIFT_PURE"),
    )


_SETTINGS: ContextVar[Settings] = ContextVar("upshift_settings", default=_from_environment())  # noqa: B039 - frozen
settings: Callable[[], Settings] = _SETTINGS.get
"""The settings in force, in this thread and task: without a frame of Python's, since every call of `map` asks."""


def _whole(name: str, value: object) -> int:
    if not hasattr(value, "__index__") or isinstance(value, bool) or operator.index(value) < 0:
        raise ValueError(f"{name} must be a number of them, 0 for as many as there are cores, not {value!r}")
    return operator.index(value)


def _seconds(name: str, value: object) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0):
        return value
    raise ValueError(f"{name} must be a number of seconds above 0, or None, not {value!r}")


def _size(name: str, value: object) -> int:
    if isinstance(value, int | str) and not isinstance(value, bool) and bytes_of(value) > 0:
        return bytes_of(value)
    raise ValueError(f'{name} must be a number of bytes or words such as "512MB", not {value!r}')


_CHECKS: dict[str, Callable[[str, object], object]] = {"workers": _whole, "timeout": _seconds, "memory": _size}
"""What a setting must be, and how it is kept."""


@contextmanager
def config(**changes: object) -> Iterator[Settings]:
    """Change settings for the length of a `with` block, in this thread (or task of asyncio) alone.

    >>> with config(disable=True) as settings:
    ...     settings.disable
    True
    """
    known = [f.name for f in fields(Settings)]
    for name in changes:
        if name not in known:
            raise TypeError(f"no setting named {name!r}; there are {', '.join(known)}")
    checked = {name: _CHECKS[name](name, value) if name in _CHECKS else value for name, value in changes.items()}
    changed = replace(_SETTINGS.get(), **checked)  # type: ignore[arg-type]
    with in_force(changed):
        yield changed


@contextmanager
def in_force(changed: Settings) -> Iterator[None]:
    """These settings for the length of a `with` block."""
    before, token = _SETTINGS.get(), _SETTINGS.set(changed)
    try:
        yield
    finally:
        try:
            _SETTINGS.reset(token)
        except ValueError:  # the block was left in another context than it was entered in
            _SETTINGS.set(before)


_IN_WORKER = False


def be_worker() -> None:
    """This process is a worker: it starts none of its own."""
    global _IN_WORKER
    _IN_WORKER = True


def in_worker() -> bool:
    """Whether this process is a worker of another one."""
    return _IN_WORKER
