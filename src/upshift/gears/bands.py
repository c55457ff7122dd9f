"""Lanes that go through the tree together: what they carry, and how some of them part from the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.kinds import NUMERIC, Column, kind_of
from ..rules.error_bounds import Error
from ..rules.op import Span
from ..trace.tree import Const, Node
from .store import Where


@dataclass(slots=True)
class Band:
    """Lanes that have answered all guards alike: where they are in the tree, and the values they carry by id.

    `spans` are what is known of the ranges of those values, `errors` how far they may be off, for these lanes alone.
    `owned` are the values in memory that this band made for itself.
    """

    node: Node | None
    lanes: Where
    values: dict[int, Any]
    spans: dict[int, Span]
    errors: dict[int, Error]
    owned: set[int] = field(default_factory=set)

    def part(self, index: Column, ids: Iterable[int], node: Node | None) -> Band:
        """Some of these lanes, with some of their values."""
        values = {id: take(self.values[id], index) for id in ids if id >= 0}
        return Band(node, pick(self.lanes, index), values, dict(self.spans), dict(self.errors), set(values))


def plain(value: Any) -> Any:
    """A column as it is; what is the same for all lanes as its value."""
    return value.value if type(value) is Const else value


def is_few(lanes: Column) -> bool:
    """Whether the plain function can take these lanes without being missed."""
    return int(np.count_nonzero(lanes)) <= 0.05 * len(lanes) + 16


def either(a: Column | None, b: Column | None) -> Column | None:
    """The lanes of two masks together; None stands for none."""
    return b if a is None else a if b is None else a | b


def pick(lanes: Where, index: Column) -> Column:
    """Some of these lanes, by their index among them."""
    return index + lanes.start if isinstance(lanes, slice) else lanes[index]


def take(value: Any, index: Column) -> Any:
    """A value for some of the lanes that hold it; constants are the same for all."""
    if type(value) is tuple:
        return tuple(take(one, index) for one in value)
    return value if type(value) is Const else value.take(index, 0)


def share(a: Column, b: Column) -> bool:
    """Whether two arrays may share memory; told by their owners where these are arrays."""
    mine, other = (a if a.base is None else a.base), (b if b.base is None else b.base)
    if type(mine) is np.ndarray and type(other) is np.ndarray and mine.base is None and other.base is None:
        return mine is other
    return bool(np.may_share_memory(a, b))


def is_like(arg: Any, out: Column) -> bool:
    """Whether an argument can be looked at beside the result, number by number."""
    if isinstance(arg, np.ndarray):
        return arg.shape in ((), out.shape) and arg.dtype.kind in NUMERIC
    return kind_of(arg) is not None
