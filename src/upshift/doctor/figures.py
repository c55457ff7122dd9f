"""What a slow form and its remedy cost on this machine: each code's two programs, timed side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .sources import remember
from .table import Figure


def measure(figure: Figure, seconds: float = 0.3) -> tuple[float, float]:
    """Seconds for one evaluation of each: the median of evaluations that take turns, after one that is not counted."""
    slow, fast = programs_of(figure)
    slow(), fast()
    spent: tuple[list[float], list[float]] = ([], [])
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(spent[0]) < 3:
        for run, times in zip((slow, fast), spent):
            times.append(_time(run))
    return sorted(spent[0])[len(spent[0]) // 2], sorted(spent[1])[len(spent[1]) // 2]


def programs_of(figure: Figure) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Both programs, ready to run."""
    names: dict[str, Any] = {}
    place = f"<figure {id(figure)}>"
    remember(place, figure.setup)
    exec(compile(figure.setup, place, "exec"), names)
    slow, fast = (eval(f"lambda: {text}", names) for text in (figure.slow, figure.fast))
    return slow, fast


def _time(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def describe(figure: Figure) -> str:
    """Both programs with their times."""
    slow, fast = measure(figure)
    ratio = slow / fast
    word = "faster" if ratio >= 1 else "slower"
    return (
        f"{figure.setup}\n\n{figure.slow}\n    {duration(slow)}\n{figure.fast}\n    {duration(fast)}, "
        f"{max(ratio, 1 / ratio):.3g} times {word}\n"
    )


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{max(seconds, 0.0) / 1e-9:.3g} ns"
