"""Writes rows of a run as text for a terminal, or as a compact table in Markdown."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable

import numpy as np

from .cases import load
from .contenders import BY_HAND, JAX, LOOP, NAMES, NUMBA, UPSHIFT, XLA
from .life import Life
from .measure import Row

PAGE_SIZES = (10, 1_000, 100_000, 1_000_000)
PAGE_CONTENDERS = (
    UPSHIFT,
    "np.vectorize",
    BY_HAND,
    NUMBA,
    JAX,
    "tf.map_fn graph",
    XLA,
)


def show_time(seconds: float) -> str:
    if math.isinf(seconds):
        return "too long"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def show_size(size: int) -> str:
    for unit, scale in (("M", 1_000_000), ("k", 1_000)):
        if size >= scale and size % scale == 0:
            return f"{size // scale}{unit}"
    return str(size)


def show_ratio(ratio: float) -> str:
    if ratio >= 99.5:
        return f"{ratio:.0f}"
    return f"{ratio:.2g}" if ratio >= 0.01 else f"{ratio:.0e}"


def show_machine() -> str:
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}"
    )


def speed(row: Row | None, loop: Row | None, first: bool = False) -> str:
    """How many times the loop's speed; '-' where it takes too long, 'x' where it fails."""
    if row is None or loop is None:
        return ""
    if row.status == "slow":
        return "-"
    if row.status in ("failed", "wrong"):
        return {"failed": "x", "wrong": "wrong"}[row.status]
    mine, theirs = (row.first, loop.first) if first else (row.steady, loop.steady)
    if mine is None or theirs is None:
        return ""
    return ("~" if loop.status == "estimated" else "") + show_ratio(theirs / mine)


def index(rows: Iterable[Row]) -> dict[tuple[str, str, int, str], Row]:
    return {(row.case, row.data, row.size, row.contender): row for row in rows}


def table_of_case(rows: list[Row], first: bool) -> str:
    """One case and one kind of data: contenders down, sizes across."""
    case, data = rows[0].case, rows[0].data
    sizes = sorted({row.size for row in rows})
    found = index(rows)
    loops = [found[case, data, size, LOOP] for size in sizes]
    calls = "first call" if first else "steady"
    lines = [[f"{case} ({data}), {calls}", *map(show_size, sizes)]]
    times = [loop.first if first else loop.steady for loop in loops]
    marks = ["~" if loop.status == "estimated" else "" for loop in loops]
    lines.append(["loop, time", *(mark + show_time(t or 0.0) for mark, t in zip(marks, times))])
    for name in NAMES[1:]:
        if any(row.contender == name for row in rows):
            cells = [speed(found.get((case, data, size, name)), loop, first) for size, loop in zip(sizes, loops)]
            lines.append([f"{name}, × loop", *cells])
    return align(lines)


def table_of_lives(lives: list[Life]) -> str:
    """One case: sizes and numbers of calls down, gears across; the time of all calls together."""
    gears = [*dict.fromkeys(life.gear for life in lives)]
    found = {(life.size, life.calls, life.gear): life for life in lives}
    lines = [[f"{lives[0].case}, whole life", "calls", *gears]]
    for size, calls in sorted({(life.size, life.calls) for life in lives}):
        cells = [found.get((size, calls, gear)) for gear in gears]
        lines.append([show_size(size), show_size(calls), *(show_time(c.seconds) if c else "-" for c in cells)])
    return align(lines)


def align(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths)))
        for line in lines
    )


def markdown(rows: list[Row]) -> str:
    """Steady speed relative to the loop, a row for each case and size."""
    found = index(rows)
    names = [name for name in PAGE_CONTENDERS if any(row.contender == name for row in rows)]
    head = ["case", "size", "loop", *names, "up.map on a list"]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for case in dict.fromkeys(row.case for row in rows):
        title = f"[{case}](../benchmarks/cases/{case}.py)"
        sizes = {row.size for row in rows if row.case == case}
        for size in sorted(sizes) if load(case).arrays else PAGE_SIZES:
            loop = found.get((case, "array", size, LOOP))
            if loop is None or loop.steady is None:
                continue
            time = ("~" if loop.status == "estimated" else "") + show_time(loop.steady)
            cells = [speed(found.get((case, "array", size, name)), loop) for name in names]
            if names and cells[0] not in ("", "-", "x", "wrong"):
                cells[0] = f"**{cells[0]}**"
            listed = speed(found.get((case, "list", size, UPSHIFT)), found.get((case, "list", size, LOOP)))
            lines.append([title, show_size(size), time, *cells, listed])
            title = ""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
