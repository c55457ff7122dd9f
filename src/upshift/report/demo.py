"""The command `upshift demo`: real functions in every gear, side by side."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api import GEARS, Gear, explain
from ..api import map as up_map
from ..errors import GearRefused

SIZES = (10, 1_000, 10_000, 100_000)


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
    return best_time(lambda: up_map(f, *columns, gear=gear), 0.03)


def show(out: Any = None) -> None:
    """Print the table, and an explanation of one row."""
    write = (out or sys.stdout).write
    write("Six functions of one element, mapped. Times of the plain loop, and how many times faster each gear is.\n\n")
    write(f"{'function':<16}{'elements':>9}{'loop':>12}" + "".join(f"{g:>9}" for g in SHOWN) + f"{'up.map':>9}\n")
    for n in SIZES:
        for f, columns in cases(n):
            loop = best_time(lambda f=f, c=columns: up_map(f, *c, gear="loop"), 0.04)  # type: ignore[misc]
            forced = [time_in(gear, f, columns) for gear in SHOWN]
            for _ in range(4):
                up_map(f, *columns)
            chosen = best_time(lambda f=f, c=columns: up_map(f, *c), 0.04)  # type: ignore[misc]
            cells = [f"{loop / seconds:.1f}x" if seconds else "-" for seconds in (*forced, chosen)]
            write(f"{f.__name__:<16}{n:>9,}{loop * 1e3:>9.3f} ms" + "".join(f"{cell:>9}" for cell in cells) + "\n")
        write("\n")
    f, columns = cases(SIZES[-1])[0]
    write(f"up.explain({f.__name__}, prices):\n\n{explain(f, *columns)}\n")
