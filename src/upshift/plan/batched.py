"""What a gear made of a job's rows, as the plan puts it together."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..columns.kinds import Column
from ..columns.outputs import Placed


@dataclass(slots=True)
class Batched:
    """Pieces of the result, and positions for the plain function."""

    pieces: list[Placed] = field(default_factory=list)
    left: list[Column] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    """Positions of elements that raised, where those are left out."""
    overran: bool = False
    """Whether some are left because there was no time for them: the loop would have been faster."""
    trial: bool = False
    """Whether only the trace is wanted and the results are thrown away: no random numbers are drawn for them."""

    def add(self, pieces: list[Placed], left: list[Column], index: Column | None) -> None:
        """Results of a group: positions within it become positions within the job."""
        self.pieces += [(lanes if index is None else index[lanes], piece) for lanes, piece in pieces]
        self.left += [lanes if index is None else index[lanes] for lanes in left]
