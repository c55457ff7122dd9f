"""Every promise about speed, kept or broken, with the numbers measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .cases import load
from .contenders import BY_HAND, JAX, LOOP, NUMBA, UPSHIFT, XLA
from .life import Life
from .measure import Row
from .tables import show_time

US, MS = 1e-6, 1e-3


@dataclass(frozen=True)
class Figure:
    """One promise. `passed` is None where nothing was measured, or where nothing is promised."""

    promise: str
    passed: bool | None
    measured: str


@dataclass(frozen=True)
class Pair:
    """Upshift and another contender at the same place; `cost` over 1 breaks the promise."""

    case: str
    place: str
    ours: float
    other: float
    cost: float

    def __str__(self) -> str:
        return f"{self.place}: {show_time(self.ours)} against {show_time(self.other)}"


def figures(results: list[Row], lives: Sequence[Life] = ()) -> list[Figure]:
    """The fastest calls of both sides, from the same run."""
    found = [check_results(results)] if results else []
    numbers = [row for row in results if not load(row.case).arrays]
    for data in ("array", "list"):
        rows = [row for row in numbers if row.data == data]
        if rows:
            found += check_data(rows, f"{data}s")
    rows = [row for row in results if load(row.case).arrays]
    found += check_arrays(rows) if rows else []
    found += check_peers([row for row in results if row.data == "array"]) if results else []
    return found + check_lives(lives) if lives else found


def check_arrays(rows: list[Row]) -> list[Figure]:
    """Elements that are arrays."""
    return [
        worst(
            "elements that are arrays: never slower than 1.1 × loop + 20 µs, first calls included",
            [
                *pairs(rows, LOOP, is_any, limit(1.1, 20 * US)),
                *pairs(rows, LOOP, is_any, limit(1.1, 20 * US), first=True),
            ],
        ),
        worst(
            "elements that are arrays: at most 1.1 × NumPy by hand", [*pairs(rows, BY_HAND, is_any, limit(1.1, 0.0))]
        ),
        worst(
            "elements that are arrays: first call at most 5 ms over NumPy by hand",
            [*pairs(rows, BY_HAND, is_any, limit(1.0, 5 * MS), first=True)],
        ),
        on_median_case(
            "elements that are arrays: at least 0.9 × the speed of jax.jit(vmap) on the CPU, on the median case",
            0.9,
            [*pairs(rows, JAX, is_any, limit(1.0, 0.0))],
        ),
    ]


PEERS = (BY_HAND, NUMBA, JAX, XLA)
"""The fastest of these, for each case and size, is what a patient expert would have written."""


def check_peers(rows: list[Row]) -> list[Figure]:
    """Against the best that is written by hand for this machine's processor, and against the loop, in steady state."""
    best = [*against_best(rows)]
    near = [pair for pair in best if pair.cost <= 1.1]
    furthest = sorted(best, key=lambda pair: -pair.cost)[:3]
    chain = [pair for pair in best if pair.case == "sine_mix"]
    return [
        Figure(
            "1k elements and more: as fast as the best of NumPy by hand, Numba, jax.jit(vmap) and TensorFlow's XLA, "
            "within 10%, in 90% of the rows",
            len(near) >= 0.9 * len(best) if best else None,
            f"{len(near)} of {len(best)}; furthest {'; '.join(map(str, furthest))}" if best else "not measured",
        ),
        on_median_case("1k elements and more: 1.5 × the speed of the best of them on the median case", 1.5, best),
        on_median_case("1k elements and more: 2.5 × on chains of transcendental functions (sine_mix)", 2.5, chain),
        on_median_case(
            "100k elements: 50 × the loop's speed on the median case",
            50.0,
            [*pairs(rows, LOOP, lambda row: row.size == 100_000, limit(1.0, 0.0), estimated=True)],
        ),
    ]


def against_best(rows: list[Row]) -> Iterator[Pair]:
    """Upshift and the fastest peer wherever there is one; where Upshift was too slow to wait for, too."""
    peers: dict[tuple[str, int], float] = {}
    for row in rows:
        if row.contender in PEERS and row.status == "ok" and row.steady is not None:
            peers[row.case, row.size] = min(row.steady, peers.get((row.case, row.size), row.steady))
    for row in rows:
        peer = peers.get((row.case, row.size))
        if row.contender == UPSHIFT and row.size >= 1_000 and peer is not None:
            ours = math.inf if row.steady is None else row.steady
            yield Pair(row.case, f"{row.case} at {row.size:,}", ours, peer, ours / peer)


def on_median_case(promise: str, target: float, found: list[Pair]) -> Figure:
    """Each case counts once, by its median row."""
    speeds: dict[str, list[float]] = {}
    for pair in found:
        speeds.setdefault(pair.case, []).append(pair.other / pair.ours)
    if not speeds:
        return Figure(promise, None, "not measured")
    median = statistics.median(map(statistics.median, speeds.values()))
    return Figure(promise, median >= target, f"{median:.3g} × over {len(speeds)} cases")


def check_lives(lives: Sequence[Life]) -> list[Figure]:
    """The plan against the one gear that would have been best, had one known."""
    best: dict[tuple[str, int, int], Life] = {}
    chosen = {(life.case, life.size, life.calls): life for life in lives if life.gear == UPSHIFT}
    for life in lives:
        key = life.case, life.size, life.calls
        if life.gear != UPSHIFT and (key not in best or life.seconds < best[key].seconds):
            best[key] = life
    found = []
    for key, other in best.items():
        case, size, calls = key
        ours = chosen[key].seconds if key in chosen else math.inf
        place = f"{case} at {size:,}, {calls:,} calls ({other.gear})"
        found.append(Pair(case, place, ours, other.seconds, ours / (2.0 * other.seconds)))
    median = statistics.median(2.0 * pair.cost for pair in found) if found else None
    return [
        worst("whole life, 1 to 1,000 calls: at most 2.0 × the best single gear in hindsight", found),
        Figure(
            "whole life, 1 to 1,000 calls: at most 1.2 × the best single gear in hindsight, in the median",
            None if median is None else median <= 1.2,
            "not measured" if median is None else f"{median:.3g} × over {len(found)} lives",
        ),
    ]


def check_results(results: list[Row]) -> Figure:
    wrong = [row for row in results if row.contender == UPSHIFT and row.status in ("wrong", "failed")]
    text = "; ".join(f"{row.case} at {row.size}: {row.note}" for row in wrong)
    return Figure("up.map gives the loop's results", not wrong, text or f"{len(results)} rows")


def check_data(rows: list[Row], data: str) -> list[Figure]:
    anywhere = limit(1.1, 20 * US)
    return [
        worst(
            f"{data}: never slower than 1.1 × loop + 20 µs, first calls included",
            [*pairs(rows, LOOP, is_any, anywhere), *pairs(rows, LOOP, is_any, anywhere, first=True)],
        ),
        worst(
            f"{data}: steady calls with 1 to 10 elements cost at most 2 µs more than the loop",
            [*pairs(rows, LOOP, is_small, limit(1.0, 2 * US))],
        ),
        worst(
            f"{data}: straight lines, 10k and more: at most 1.1 × NumPy by hand",
            [*pairs(rows, BY_HAND, is_straight, limit(1.1, 0.0))],
        ),
        worst(
            f"{data}: straight lines, 10k and more: first call at most 1 ms over NumPy by hand",
            [*pairs(rows, BY_HAND, is_straight, limit(1.0, MS), first=True)],
        ),
        worst(
            f"{data}: branches with up to 8 paths, 100k: at least 10 × the loop's speed",
            [*pairs(rows, LOOP, is_branching, limit(0.1, 0.0))],
        ),
        tell(
            f"{data}: many paths (Collatz), no promise, × the loop's speed",
            [*pairs(rows, LOOP, is_scattered, limit(1.0, 0.0))],
        ),
    ]


def limit(times: float, plus: float) -> Callable[[float, float], float]:
    """The share of `times * other + plus` that is used up."""
    return lambda ours, other: ours / (times * other + plus)


def is_any(row: Row) -> bool:
    return True


def is_small(row: Row) -> bool:
    return row.size <= 10


def is_straight(row: Row) -> bool:
    return load(row.case).paths == 1 and row.size >= 10_000


def is_branching(row: Row) -> bool:
    return load(row.case).paths in range(2, 9) and row.size == 100_000


def is_scattered(row: Row) -> bool:
    return load(row.case).paths is None and row.size >= 1_000


def pairs(
    rows: list[Row],
    other: str,
    chosen: Callable[[Row], bool],
    cost: Callable[[float, float], float],
    first: bool = False,
    estimated: bool = False,
) -> Iterator[Pair]:
    """Upshift against `other`, wherever both were measured, or the other at least estimated."""
    trusted = ("ok", "estimated") if estimated else ("ok",)
    others = {(row.case, row.size): row for row in rows if row.contender == other and row.status in trusted}
    for row in rows:
        peer = others.get((row.case, row.size))
        if row.contender != UPSHIFT or row.status != "ok" or peer is None or not chosen(row):
            continue
        mine, theirs = (row.first, peer.first) if first else (row.steady, peer.steady)
        if mine is not None and theirs is not None:
            place = f"{row.case} at {row.size:,}{', first call' if first else ''}"
            yield Pair(row.case, place, mine, theirs, cost(mine, theirs))


def worst(promise: str, found: list[Pair]) -> Figure:
    if not found:
        return Figure(promise, None, "not measured")
    broken = sorted((pair for pair in found if pair.cost > 1.0), key=lambda pair: -pair.cost)
    if broken:
        text = "; ".join(map(str, broken[:4])) + ("; ..." if len(broken) > 4 else "")
        return Figure(promise, False, f"{len(broken)} of {len(found)} over: {text}")
    return Figure(promise, True, f"{len(found)} of {len(found)}; closest {max(found, key=lambda p: p.cost)}")


def tell(promise: str, found: list[Pair]) -> Figure:
    speeds = "; ".join(f"{pair.place}: {pair.other / pair.ours:.2g}" for pair in found)
    return Figure(promise, None, speeds or "not measured")
