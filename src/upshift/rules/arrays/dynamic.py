"""Calls whose results are known only when made: one call for every lane, then lanes of one kind go together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns.forms import flatten
from ...columns.kinds import Column, Kind, kind_of_value
from ...columns.layout import Strides
from ..interned import Interned
from ..op import Op, Span, Spans
from .op import call_on, flat_results, rows_of

AS_MADE = Kind("made", np.dtype(object), False)
"""The kind of columns that hold results as they were made."""
_SEEN: dict[Any, int] = {}


def signature_of(value: Any) -> int:
    """A number for the kinds that a call made, the same for the same kinds."""
    form, leaves = flatten(value)
    key = (form, tuple(map(kind_of_value, leaves)))
    return _SEEN.setdefault(key, len(_SEEN))


def _objects(results: list[Any]) -> Column:
    out = np.empty(len(results), object)
    for i, result in enumerate(results):
        out[i] = result
    return out


SIGNATURES = Op("signature", lambda made: np.array([signature_of(one) for one in made], np.int64), "", cuts=True)


@dataclass(frozen=True, eq=False)
class Each(Op):
    """The plain call for every lane, whose arrays lie as they did when traced; lanes that raise leave."""

    lanes: tuple[bool, ...] = ()
    kinds: tuple[Kind | None, ...] = ()
    layouts: tuple[Strides | None, ...] = ()

    simple = False
    each = True

    @classmethod
    def of(
        cls,
        plain: Callable[..., Any],
        lanes: tuple[bool, ...],
        kinds: tuple[Kind | None, ...],
        layouts: tuple[Strides | None, ...],
    ) -> Each:
        """The op that makes a call once for every lane; `lanes` says which of its arguments are columns."""
        return cls(getattr(plain, "__name__", "call"), plain, "", lanes=lanes, kinds=kinds, layouts=layouts)

    def over(self, args: list[Any], spans: Spans) -> tuple[Any, Column | None, Span | None]:
        """Calls the function for every lane; lanes whose call raises are left to the plain function."""
        n = len(args[self.lanes.index(True)])
        results, leave = [], np.zeros(n, bool)
        for i, row in enumerate(rows_of(args, self.lanes, self.kinds, n, self.layouts)):
            try:
                results.append(call_on(self.run, row))
            except Exception:  # of a pure function: the plain function will raise it
                results.append(None)
                leave[i] = True
        return _objects(results), leave if leave.any() else None, None


class Unpack(Interned):
    """Results as they were made, all of one kind, as columns."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.called("unpack")
        self.op = Op("unpack", self._columns, "")

    def __call__(self, value: Any) -> Any:
        return value

    def _columns(self, made: Column) -> Any:
        if self.kind.parts is None:
            return _stacked(list(made), self.kind)
        rows = [flat_results(one) for one in made]
        return tuple(_stacked([row[j] for row in rows], kind) for j, kind in enumerate(self.kind.parts))


def _stacked(results: list[Any], kind: Kind) -> Column:
    out = np.empty((len(results), *kind.lane_shape), kind.dtype)
    for i, one in enumerate(results):
        out[i] = one
    return out


class Item(Interned):
    """One of several arrays that a call made."""

    def __init__(self, j: int) -> None:
        self.j = j
        self.called(f"item_{j}")
        self.op = Op("item", lambda columns: columns[j], "")

    def __call__(self, value: Any) -> Any:
        return flat_results(value)[self.j]
