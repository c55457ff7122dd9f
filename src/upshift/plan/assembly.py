"""Assembles one call's results out of pieces from several gears and from the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..columns.inputs import take
from ..columns.outputs import Objects, Placed, gather
from ..columns.stacking import stack
from ..gears.job import Job
from ..gears.loop import SKIPPED, OnError, run_loop
from .batched import Batched

Looped = tuple[Any, list[Any]]
"""Positions, and the results that the plain function has for them."""


def stacked(results: list[Any], on_error: OnError) -> Any:
    """Results of the loop alone."""
    return stack([r for r in results if r is not SKIPPED] if on_error == "skip" else results)


def plain_rows(job: Job, made: Batched, on_error: OnError, have: Sequence[Any] = ()) -> Looped:
    """The rows that were left, by the plain function, in order; not again for the first ones, whose results we have."""
    if made.skipped:
        return np.array(sorted(made.skipped), np.int64), [SKIPPED] * len(made.skipped)
    if not made.left:
        return np.empty(0, np.int64), []
    lanes = np.sort(np.concatenate(made.left))
    done = int(np.searchsorted(lanes, len(have)))
    results = [have[i] for i in lanes[:done].tolist()]
    if len(lanes) == job.n and not done:
        return slice(0, job.n), run_loop(job.call, job.columns, on_error, job.offset)
    rows = [take(column, lanes[done:]) for column in job.columns]
    return lanes, results + run_loop(job.call, rows, on_error, positions=lanes[done:] + job.offset)


def moved(lanes: Any, by: int, n: int) -> Any:
    """Positions among n rows that begin at `by`, as positions among all."""
    if isinstance(lanes, slice):
        return slice(by + (lanes.start or 0), by + (n if lanes.stop is None else lanes.stop))
    return lanes + by


def conclude(n: int, looped: list[Looped], pieces: list[Placed], skips: bool = False) -> Any:
    """Results of the loop and pieces of a gear -> what the user gets back."""
    if skips:
        return _without_skipped(n, looped, pieces)
    placed = [*pieces, *((lanes, Objects(results)) for lanes, results in looped if results)]
    return gather(n, [(slice(None), placed[0][1])] if len(placed) == 1 else placed)


def _without_skipped(n: int, looped: list[Looped], pieces: list[Placed]) -> Any:
    """Skipped elements are left out; the others move up."""
    kept = np.ones(n, bool)
    placed = list(pieces)
    for lanes, results in looped:
        stays = np.array([result is not SKIPPED for result in results], bool)
        kept[lanes] = stays
        if stays.any():
            placed.append((np.arange(n)[lanes][stays], Objects([r for r in results if r is not SKIPPED])))
    new = np.cumsum(kept) - 1
    return gather(int(kept.sum()), [(new[lanes], piece) for lanes, piece in placed])
