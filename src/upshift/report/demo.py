"""The command `upshift demo`: real functions in every gear, side by side."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api import GEARS, Gear, explain
from ..api import map as up_map
from ..errors import GearRefused

SIZES = (10, 1_000, 100_000)


def discount(price: float) -> float:
    """A price list: three branches."""
    if price < 20:
        return price
    if price < 100:
        return price * 0.95
    return price * 0.9 - 1.5


def distance(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Kilometres between two places."""
    p1, p2 = math.radians(lat1), math.radians(lat2)
    half = math.sin((p2 - p1) / 2) ** 2
    half += math.cos(p1) * math.cos(p2) * math.sin(math.radians(lon2 - lon1) / 2) ** 2
    return 12742 * math.asin(math.sqrt(half))


def roots(a: float, b: float, c: float) -> tuple[float, float]:
    """Both roots of a quadratic, NaN where there is none: early returns."""
    square = b * b - 4 * a * c
    if square < 0:
        return math.nan, math.nan
    if a == 0:
        return -c / b, math.nan
    root = math.sqrt(square)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def square_root(x: float) -> float:
    """Newton's method, left as soon as it is good enough."""
    guess = x
    for _ in range(50):
        better = 0.5 * (guess + x / guess)
        if abs(better - guess) < 1e-12:
            return better
        guess = better
    return guess


def balance(start: float, rate: float) -> float:
    """Ten years of interest, with a fee while the balance is low."""
    for _ in range(10):
        start *= 1 + rate
        start -= 5 if start < 1000 else 0
    return start


def common_divisor(a: int, b: int) -> int:
    """Euclid: as many steps as each pair needs."""
    while b:
        a, b = b, a % b
    return a


def cases(n: int) -> list[tuple[Callable[..., Any], list[Any]]]:
    """The functions, each with n elements."""
    rng = np.random.default_rng(0)
    places = [rng.uniform(-80, 80, n) for _ in range(4)]
    return [
        (discount, [rng.uniform(0, 200, n)]),
        (distance, places),
        (roots, [rng.normal(size=n) for _ in range(3)]),
        (square_root, [rng.uniform(0.1, 1000, n)]),
        (balance, [rng.uniform(500, 5000, n), rng.uniform(0.01, 0.08, n)]),
        (common_divisor, [rng.integers(1, 10**6, n), rng.integers(1, 10**6, n)]),
    ]


def best_time(run: Callable[[], Any], seconds: float) -> float:
    """The shortest of some runs, as many as fit into the time."""
    best, until = math.inf, time.perf_counter() + seconds
    while True:
        began = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - began)
        if time.perf_counter() > until:
            return best


SHOWN: list[Gear] = [gear for gear in GEARS[1:] if gear not in ("threads", "processes", "ray")]
"""Gears that make code of a function; the others are for what none of these takes."""


def time_in(gear: Gear, f: Callable[..., Any], columns: list[Any]) -> float | None:
    """The shortest run in a gear, what it has to compile not counted; None where it refuses."""
    try:
        up_map(f, *columns, gear=gear)
    except GearRefused:
        return None
    return best_time(lambda: up_map(f, *columns, gear=gear), 0.05)


def measure(n: int) -> dict[str, tuple[float, float, float]]:
    """By function: seconds of the loop, of the first call in this process, and of later calls."""
    found = {}
    for f, columns in cases(n):
        began = time.perf_counter()
        up_map(f, *columns)
        first = time.perf_counter() - began
        best_time(lambda f=f, c=columns: up_map(f, *c), 0.2)  # type: ignore[misc]
        later = best_time(lambda f=f, c=columns: up_map(f, *c), 0.05)  # type: ignore[misc]
        loop = best_time(lambda f=f, c=columns: up_map(f, *c, gear="loop"), 0.05)  # type: ignore[misc]
        found[f.__name__] = loop, first, later
    return found


def measured_anew(n: int) -> dict[str, tuple[float, float, float]]:
    """The same in a process of its own, to which everything is new."""
    script = f"import json; from {__name__} import measure; print(json.dumps(measure({n})))"
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(made.stdout)  # type: ignore[no-any-return]


def show(out: Any = None) -> None:
    """Print both tables, and an explanation of one row."""
    write = (out or sys.stdout).write
    write("Six functions of one element: the plain loop beside up.map, to which they are new in a new process.\n\n")
    write(f"{'function':<16}{'elements':>9}{'loop':>13}{'first call':>13}{'later calls':>13}\n")
    for n in SIZES:
        for name, (loop, first, later) in measured_anew(n).items():
            times = "".join(f"{seconds * 1e3:>10.3f} ms" for seconds in (loop, first, later))
            write(f"{name:<16}{n:>9,}{times}{loop / later:>8.1f}x\n")
        write("\n")
    write(
        f"Later calls in every gear, by its name, over {SIZES[-1]:,} elements: how many times faster than the loop.\n\n"
    )
    write(f"{'function':<16}" + "".join(f"{gear:>9}" for gear in SHOWN) + "\n")
    for f, columns in cases(SIZES[-1]):
        loop = best_time(lambda f=f, c=columns: up_map(f, *c, gear="loop"), 0.05)  # type: ignore[misc]
        found = [time_in(gear, f, columns) for gear in SHOWN]
        cells = [f"{loop / seconds:.1f}x" if seconds else "-" for seconds in found]
        write(f"{f.__name__:<16}" + "".join(f"{cell:>9}" for cell in cells) + "\n")
    f, columns = cases(SIZES[-1])[0]
    write(f"\nup.explain({f.__name__}, prices):\n\n{explain(f, *columns)}\n")
