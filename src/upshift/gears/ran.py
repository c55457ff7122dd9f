"""The results of a compiled gear: which lanes it ran, and what it made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..columns.forms import Form
from ..columns.kinds import Column, Kind
from ..columns.outputs import Numbers, Placed, Stored, Unsure, piece_of
from ..errors import Refusal


@dataclass(slots=True)
class Ran:
    """Columns of results, one for every leaf of their form, and the positions of lanes that are left."""

    form: Form
    outs: Sequence[Column]
    left: Column
    n: int
    mixed: bool = False
    """Whether ints and floats were stored alike."""
    unsure: bool = False
    """Whether some may be Python's numbers and others NumPy's."""

    def pieces(self, kinds: Sequence[Kind]) -> list[Placed]:
        """The results that were made, by position. `kinds`: what the plain function gives."""
        if not len(self.left):
            return [(slice(None), self._piece(self.outs, kinds, self.n))]
        stays = np.ones(self.n, bool)
        stays[self.left] = False
        lanes = np.flatnonzero(stays)
        return [(lanes, self._piece([out[lanes] for out in self.outs], kinds, len(lanes)))] if len(lanes) else []

    def some_kept(self) -> list[int]:
        """The first and the last of the lanes that are not left."""
        if not len(self.left):
            return [0, self.n - 1]
        kept = np.ones(self.n, bool)
        kept[self.left] = False
        lanes = np.flatnonzero(kept)
        return [*lanes[:2].tolist(), *lanes[-2:].tolist()]

    def _piece(self, outs: Sequence[Column], kinds: Sequence[Kind], n: int) -> Any:
        piece = Stored if self.mixed else Unsure if self.unsure else Numbers
        leaves = [piece(column, kind) for column, kind in zip(outs, kinds, strict=True)]
        return piece_of(self.form, iter(leaves), n)


class NotCompiled(Exception):
    """Why a compiled gear does not run a function."""

    def __init__(self, gear: str, reason: str, where: str = "", remedy: str = "") -> None:
        super().__init__(reason)
        self.refusal = Refusal(gear, reason, where, remedy)


class Prepared(Protocol):
    """A function that a compiled gear is ready to run."""

    @property
    def exact(self) -> bool:
        """Whether its results are the loop's very bits."""

    @property
    def mixed(self) -> bool:
        """Whether a result may be an int for one element and a float for another, which machine code stores alike."""

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        """All lanes; None where it no longer stands on what the function captured."""
