"""Collects the results of lanes as leaves of the tree are reached."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns.kinds import Column, Kind
from ..columns.outputs import Numbers, Placed, Same, piece_of
from ..trace.tree import Const, Leaf

Where = slice | Column
"""Positions of lanes: a whole chunk, or an index."""


def count_of(lanes: Where) -> int:
    """How many lanes these are."""
    return lanes.stop - lanes.start if isinstance(lanes, slice) else len(lanes)


def index_of(lanes: Where) -> Column:
    """Their positions, one by one."""
    return np.arange(lanes.start, lanes.stop) if isinstance(lanes, slice) else lanes


class Store:
    """Where the results of lanes are written: one set of columns for every form and kinds that leaves have."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.sets: dict[Any, tuple[list[Any], list[Where]]] = {}

    def write(self, leaf: Leaf, found: list[Any], kinds: list[Kind | None], where: Where) -> None:
        """Writes the results of lanes that ended at a leaf."""
        key = leaf.key if leaf.key is not None and None not in kinds else _key(leaf, kinds, found)
        if key not in self.sets:
            made: list[Any] = [
                np.empty((self.n, *k.lane_shape), k.dtype) if k is not None else Const(v)
                for k, v in zip(kinds, found, strict=True)
            ]
            self.sets[key] = made, []
        columns, places = self.sets[key]
        for column, value, kind in zip(columns, found, kinds, strict=True):
            if kind is not None:
                column[where] = value
        places.append(where)

    def pieces(self) -> list[Placed]:
        """Every set of columns as a piece of the result."""
        made = []
        for (form, kinds), (columns, places) in self.sets.items():
            count = sum(map(count_of, places))
            lanes = slice(None) if count == self.n else np.concatenate([index_of(place) for place in places])
            leaves = [
                Numbers(c if count == self.n else c[lanes], k) if isinstance(k, Kind) else Same(c.value, count)
                for c, k in zip(columns, kinds, strict=True)
            ]
            made.append((lanes, piece_of(form, iter(leaves), count)))
        return made

    def results(self, wanted: list[int]) -> dict[int, Any]:
        """The results of single lanes, as the loop would give them; lanes that were left are missing."""
        found: dict[int, Any] = {}
        for (form, kinds), (columns, places) in self.sets.items():
            here = np.zeros(self.n, bool)
            for place in places:
                here[place] = True
            for i in wanted:
                if here[i]:
                    pairs = zip(columns, kinds, strict=True)
                    leaves = [k.scalars(c[i : i + 1])[0] if isinstance(k, Kind) else c.value for c, k in pairs]
                    found[i] = form.build(iter(leaves))
        return found


def _key(leaf: Leaf, kinds: list[Kind | None], found: list[Any]) -> Any:
    """What leaves must share to be written into the same columns; remembered where it is the same for every call."""
    key = (leaf.form, tuple(k if k is not None else Const(v) for k, v in zip(kinds, found, strict=True)))
    if None not in kinds:
        leaf.key = key
    return key
