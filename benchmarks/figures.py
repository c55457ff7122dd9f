"""In: the rows of a run. Out: each promise about speed, kept or broken, with the numbers measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .cases import load
from .contenders import BY_HAND, LOOP, UPSHIFT
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

    place: str
    ours: float
    other: float
    cost: float

    def __str__(self) -> str:
        return f"{self.place}: {show_time(self.ours)} against {show_time(self.other)}"


def figures(results: list[Row]) -> list[Figure]:
    """The fastest calls of both sides, from the same run."""
    found = [check_results(results)]
    numbers = [row for row in results if not load(row.case).arrays]
    for data in ("array", "list"):
        rows = [row for row in numbers if row.data == data]
        if rows:
            found += check_data(rows, f"{data}s")
    rows = [row for row in results if load(row.case).arrays]
    return found + check_arrays(rows) if rows else found


def check_arrays(rows: list[Row]) -> list[Figure]:
    """Elements that are arrays."""
    against_jax = sorted(pair.cost for pair in pairs(rows, "jax.jit(vmap)", is_any, limit(1 / 0.9, 0.0)))
    median = against_jax[len(against_jax) // 2] if against_jax else None
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
        Figure(
            "elements that are arrays: at least 0.9 of jax.jit(vmap) on the CPU, on the median case",
            None if median is None else median <= 1.0,
            "not measured"
            if median is None
            else f"{1 / (0.9 * median) * 0.81:.2g} of its speed"
            if median > 1
            else "yes",
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
            f"{data}: steady calls with 1 to 10 elements cost at most 3 µs more than the loop",
            [*pairs(rows, LOOP, is_small, limit(1.0, 3 * US))],
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
) -> Iterator[Pair]:
    """Upshift against `other`, wherever both were measured."""
    others = {(row.case, row.size): row for row in rows if row.contender == other and row.status == "ok"}
    for row in rows:
        peer = others.get((row.case, row.size))
        if row.contender != UPSHIFT or row.status != "ok" or peer is None or not chosen(row):
            continue
        mine, theirs = (row.first, peer.first) if first else (row.steady, peer.steady)
        if mine is not None and theirs is not None:
            place = f"{row.case} at {row.size:,}{', first call' if first else ''}"
            yield Pair(place, mine, theirs, cost(mine, theirs))


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
