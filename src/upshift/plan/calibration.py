"""Nothing in; what this machine takes for a call, a step, an element, a thread and a compilation out, in seconds."""

from __future__ import annotations

import math
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from itertools import repeat
from typing import Any, ClassVar

import numpy as np

from ..config import settings
from .disk import NOTEBOOK

KEY = "calibration"
KEPT_SECONDS = 30 * 86_400
"""A machine that was busy when it was measured is not taken for slow for ever."""
BUDGET = 0.05
"""Seconds after which no further round of measuring is begun."""
ROUNDS = 7
FROM_DISK = 0.05
"""Within so many seconds, machine code is loaded, not made."""
CALLS_PER_COMPILATION = 5e6
"""A small Numba compilation takes about as long as this many empty calls: both are the work of one core."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What this machine costs, in seconds."""

    call: float
    """One empty Python call in a loop."""
    step: float
    """One operation on floats in plain Python."""
    ufunc: float
    """One NumPy call on a tiny array: what it costs before the first element."""
    stream: float
    """One element of a simple NumPy operation on a column that is in the cache."""
    thread: float
    """Handing work to a thread that waits, and its result back."""
    cores: int
    """Cores that this process may use."""
    compile: float
    """A small Numba compilation, once Numba is loaded and has compiled before."""


TYPICAL = Calibration(
    call=50e-9, step=20e-9, ufunc=500e-9, stream=500e-12, thread=40e-6, cores=1, compile=50e-9 * CALLS_PER_COMPILATION
)
"""What is said where nothing may be measured."""
FARTHEST = 100.0
"""No machine is that much faster or slower: what is measured beyond is an accident."""


class _Current:
    """What is known in this process."""

    lock = threading.RLock()
    found: Calibration | None = None
    compilations: int = 0
    """How many were timed; before the first one, their time is a guess."""
    measured: float = 0.0
    """When, in seconds since 1970."""
    warm: ClassVar[set[str]] = set()
    """What kinds of machine code this process has made."""


def calibration() -> Calibration:
    """What this machine costs: measured once, and remembered on disk."""
    found = _Current.found
    if settings().disable:
        return replace(TYPICAL, cores=_cores())
    if found is None:
        with _Current.lock:
            found = _Current.found or _recall() or _measure()
            _Current.found = found
    return found


def is_warm() -> bool:
    """Whether this process has compiled anything, for which all of Numba is loaded."""
    return bool(_Current.warm)


def has_compiled(seconds: float, kind: str) -> None:
    """A function was made in this time. The first of a kind is dearer than others, and some lie on the disk."""
    if kind in _Current.warm and seconds > FROM_DISK:
        note_compile(seconds)
    _Current.warm.add(kind)


def note_compile(seconds: float) -> None:
    """A small function was compiled, by a Numba that is loaded and has compiled before, in this time."""
    if settings().disable or not 0 < seconds < math.inf:
        return
    with _Current.lock:
        before = calibration()
        share = 0.3 if _Current.compilations else 1.0
        expected = before.compile ** (1 - share) * seconds**share
        _Current.compilations += 1
        _Current.found = replace(before, compile=_sane("compile", expected))
        _keep(_Current.found)


# ---- on disk


def _keep(found: Calibration) -> None:
    if not _is_watched():
        known = {"compilations": _Current.compilations, "measured": _Current.measured}
        NOTEBOOK.write(KEY, {**asdict(found), **known})


def _recall() -> Calibration | None:
    """What an earlier process measured; cores are counted anew, since they are the process's."""
    note = NOTEBOOK.read(KEY)
    if note is None:
        return None
    measured = _number(note, "measured")
    if not 0 <= time.time() - measured < KEPT_SECONDS:
        return None
    seconds = {name: _number(note, name) for name in _SECONDS}
    if any(_sane(name, value) != value for name, value in seconds.items()):
        return None
    _Current.compilations, _Current.measured = int(_number(note, "compilations")), measured
    return Calibration(cores=_cores(), **seconds)


def _number(note: dict[str, Any], name: str) -> float:
    value = note.get(name)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e18 else 0.0


def _is_watched() -> bool:
    """Debuggers, profilers and coverage make Python slow, for this process only."""
    tools = getattr(sys, "monitoring", None)
    watching = tools is not None and any(tools.get_tool(tool) for tool in range(6))
    return bool(watching or sys.gettrace() or sys.getprofile())


# ---- measuring


def _measure() -> Calibration:
    """Rounds over all probes, so that a moment's noise does not hit one of them alone."""
    times: dict[str, list[float]] = {name: [] for name in (*_PROBES, "thread")}
    until = time.perf_counter() + BUDGET
    with ThreadPoolExecutor(1, "upshift") as pool:
        for _ in range(ROUNDS):
            for name, probe in _PROBES.items():
                times[name].append(probe())
            times["thread"].append(_time_thread(pool))
            if time.perf_counter() > until:
                break
    seconds = {name: _sane(name, min(seen)) for name, seen in times.items()}
    # The fastest of the others is the truth and noise; a thread wakes up sooner or later, which is its truth.
    seconds["thread"] = _sane("thread", statistics.median(times["thread"]))
    expected = _sane("compile", seconds["call"] * CALLS_PER_COMPILATION)
    found = Calibration(cores=_cores(), compile=expected, **seconds)
    _Current.compilations, _Current.measured = 0, time.time()
    _keep(found)
    return found


def _empty(x: float) -> float:
    return x


def _time_call() -> float:
    count, f = 300, _empty
    began = time.perf_counter()
    for _ in repeat(None, count):
        f(1.0)
    return (time.perf_counter() - began) / count


def _time_step() -> float:
    count, x, y = 60, 1.0, 0.5
    began = time.perf_counter()
    for _ in repeat(None, count):
        y = x * 0.5 + y * 0.25 - x
        x = y * 0.5 + x * 0.25 - y
    return (time.perf_counter() - began) / (8 * count)


def _time_ufunc() -> float:
    count, add, tiny = 100, np.add, np.ones(1)
    began = time.perf_counter()
    for _ in repeat(None, count):
        add(tiny, tiny)
    return (time.perf_counter() - began) / count


def _time_stream() -> float:
    count, add, column = 6, np.add, np.ones(1 << 14)
    out = np.empty_like(column)
    add(column, column, out)
    began = time.perf_counter()
    for _ in repeat(None, count):
        add(column, column, out)
    return (time.perf_counter() - began) / (count * column.size)


def _time_thread(pool: ThreadPoolExecutor) -> float:
    try:
        pool.submit(int).result()
        began = time.perf_counter()
        pool.submit(int).result()
        return time.perf_counter() - began
    except RuntimeError:  # no thread can be started
        return math.inf


_PROBES: dict[str, Callable[[], float]] = {
    "call": _time_call,
    "step": _time_step,
    "ufunc": _time_ufunc,
    "stream": _time_stream,
}
_SECONDS = tuple(field.name for field in fields(Calibration) if field.name != "cores")


def _sane(name: str, seconds: float) -> float:
    typical: float = getattr(TYPICAL, name)
    return min(max(seconds, typical / FARTHEST), typical * FARTHEST)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_child() -> None:
    _Current.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
