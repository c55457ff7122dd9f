"""How many elements are run at once where somebody watches, or where columns are files in memory; and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.mapped import Mapped, mapped_in
from ..views import progress

FIRST_PART = 64
"""A job of which nobody knows how long it takes is begun with so many-th of it."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """One job's: both may be there, or one of them."""

    watch: progress.Watch | None
    mapped: Mapped | None

    def most(self, left: int, seconds: float | None) -> int:
        """How many of so many elements are next. `seconds`: what one is expected to take, where that is known."""
        most = min(left, self.mapped.rows) if self.mapped is not None else left
        if self.watch is None:
            return most
        if seconds is None:
            return min(most, -(-left // FIRST_PART))
        return min(most, max(int(progress.APART / max(seconds, 1e-10)), 1))

    def done(self, count: int, gear: str) -> None:
        """So many have been run."""
        if self.mapped is not None:
            self.mapped.give_back()
        if self.watch is not None:
            self.watch.advance(count, gear)


def blocks_of(xs: Sequence[Any], watch: progress.Watch | None) -> Blocks | None:
    """None where elements may be run as they come."""
    mapped = mapped_in(xs) if any(isinstance(x, np.memmap) for x in xs) else None
    return Blocks(watch, mapped) if watch is not None or mapped is not None else None
