"""What one pass of a tree over lanes knows and comes to: shared by all of its chunks."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.inputs import Lanes
from ..columns.kinds import Column
from ..trace.sequential_draws import OfLane
from ..trace.tree import Tree
from .draws import Drawn
from .pace import Pace
from .program import Care
from .store import Store


class TooInexact(Exception):
    """Too many lanes are too close to call: the values that decide have to be exact."""


class Pass:
    """What all chunks of one pass over lanes share: the tree that they walk, and what they have come to."""

    def __init__(
        self,
        tree: Tree,
        f: Callable[..., Any],
        shared: dict[str, Any],
        lanes: Lanes,
        captured: dict[int, Any],
        row: Callable[[int], tuple[Any, ...]],
        pace: Pace,
        care: Care,
        rebind: Callable[[], dict[int, Any]],
    ) -> None:
        self.tree, self.f, self.shared, self.lanes, self.captured = tree, f, shared, lanes, captured
        self.row, self.pace, self.care, self.rebind = row, pace, care, rebind
        self.n = len(lanes.columns[0])
        self.store = Store(self.n)
        self.left: list[Column] = []
        self.deferred: list[Column] = []
        self.warned: dict[int, list[int]] = {}
        self.grown: list[int] = []
        self.suspects: list[int] = []
        self.drawn: Drawn | None = None
        self.by_value = 0
        """Lanes that take paths by values of which there are too many."""
        self.until = math.inf
        """When the lanes at hand have to be done, by the clock."""
        self.spent = 0.0
        """Seconds of tracing, which has an allowance of its own."""
        self.late = False
        """Whether they were not: the loop would have been faster."""
        self.strict = "raise" in np.geterr().values() or any(entry[0] == "error" for entry in warnings.filters)

    def is_late(self) -> bool:
        """Whether time is up, for this chunk and for all that follow."""
        self.late = self.late or time.perf_counter() > self.until
        return self.late

    def draw(self, columns: Callable[[list[int]], dict[int, Column]]) -> Drawn:
        """The random numbers of all lanes, drawn when they are first needed, with columns that the elements give."""
        if self.drawn is None:
            turns = self.tree.turns or []
            ids = [arg.id for turn in turns for arg in turn.args if isinstance(arg, OfLane)]
            given = columns(ids) if ids else {}
            self.drawn = Drawn(turns, self.f, self.shared, self.captured, given, self.n)
        return self.drawn
