"""What a kernel made, as Python's objects: numbers from columns, lists and texts from the stream."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .kernel import Made
from .kinds import BOOL, COMPLEX, FLOAT, INT, NONE, STR, UNSET, Array, Either, Kind, List, Object, Static, Tuple
from .lanes import needs_stream, stored_fields
from .prelude.tables import Defaultdict, Dict, GivenSet


def objects_of(kind: Kind, made: Made, lanes: Any) -> list[Any]:
    """The results of some lanes as the very objects that the loop gives."""
    return _column(kind, iter(made.outs), made, lanes)


def _column(kind: Kind, outs: Iterator[Any], made: Made, lanes: Any) -> list[Any]:
    n = len(lanes)
    if needs_stream(kind):
        places = next(outs)[lanes] // 8
        return [_read(kind, made.stream, int(at))[0] for at in places]
    if isinstance(kind, Tuple):
        parts = [_column(item, outs, made, lanes) for item in kind.items]
        rows = zip(*parts) if parts else iter([()] * n)
        return [tuple(row) if kind.cls is None else kind.cls(*row) for row in rows]
    if isinstance(kind, Either):
        tags = next(outs)[lanes]
        found: list[Any] = [None] * n
        for tag, one in enumerate(kind.kinds):  # what a lane has under another tag is nothing
            own = np.flatnonzero(tags == tag)
            for i, value in zip(own.tolist(), _column(one, outs, made, np.asarray(lanes)[own])):
                found[i] = value
        return found
    if kind is NONE or isinstance(kind, Static):
        return [getattr(kind, "value", None)] * n
    column = next(outs)[lanes]
    return list(column) if getattr(kind, "dtype", None) is not None else column.tolist()


def _read(kind: Kind, stream: Any, at: int) -> tuple[Any, int]:
    """The value whose words begin at a place, and the place behind them."""
    if isinstance(kind, Tuple):
        items = []
        for item in kind.items:
            value, at = _read(item, stream, at)
            items.append(value)
        return (tuple(items) if kind.cls is None else kind.cls(*items)), at
    if isinstance(kind, List):
        return _read_list(kind, stream, at)
    if kind is STR:
        count = int(stream[at])
        words = (count + 7) // 8
        return stream[at + 1 : at + 1 + words].tobytes()[:count].decode("ascii"), at + 1 + words
    if isinstance(kind, Either):
        return _read(kind.kinds[int(stream[at])], stream, at + 1)
    if isinstance(kind, Object):
        return _read_object(kind, stream, at)
    if isinstance(kind, Array):
        return _read_array(kind, stream, at)
    if kind is UNSET:
        return UNSET, at
    if kind is NONE or isinstance(kind, Static):
        return getattr(kind, "value", None), at
    if kind is INT:
        return int(stream[at]), at + 1
    if kind is BOOL:
        return bool(stream[at]), at + 1
    if kind is FLOAT:
        return float(stream[at : at + 1].view(np.float64)[0]), at + 1
    if kind is COMPLEX:
        return complex(*stream[at : at + 2].view(np.float64).tolist()), at + 2
    dtype = kind.dtype  # type: ignore[attr-defined]
    words = (dtype.itemsize + 7) // 8
    return stream[at : at + words].view(np.uint8)[: dtype.itemsize].view(dtype)[0], at + words


def _read_array(kind: Array, stream: Any, at: int) -> tuple[Any, int]:
    shape = tuple(stream[at : at + kind.ndim].tolist())
    at += kind.ndim
    size = kind.dtype.itemsize * math.prod(shape)
    words = (size + 7) // 8
    items = stream[at : at + words].view(np.uint8)[:size].view(kind.dtype)
    return items.reshape(shape).copy(), at + words


def _read_object(kind: Object, stream: Any, at: int) -> tuple[Any, int]:
    """A dict, or an object of the user's with its fields."""
    found = {}
    for name, cell in stored_fields(kind).items():
        inside = cell.kind or NONE
        value, at = _read(inside, stream, at)
        if value is not UNSET:
            found[name] = value
    if issubclass(kind.cls, GivenSet):
        return kind.cls.gives(found.pop("listed"), **found), at
    if issubclass(kind.cls, Dict):
        items = zip(found["keys_"], found["values_"], found["alive"])
        pairs = {key: value for key, value, alive in items if alive}
        if kind.cls is Defaultdict:
            return collections.defaultdict(found["default_factory"], pairs), at
        return (pairs if kind.cls is Dict else kind.cls.stands_for(pairs)), at
    made: Any = object.__new__(kind.cls)
    for name, value in found.items():
        object.__setattr__(made, name, value)
    return made, at


def _read_list(kind: List, stream: Any, at: int) -> tuple[Any, int]:
    count = int(stream[at])
    at += 1
    inside = kind.cell.kind
    if inside is INT or inside is FLOAT:
        words = stream[at : at + count]
        items = words.tolist() if inside is INT else words.view(np.float64).tolist()
        return kind.cls(items), at + count
    items = []
    for _ in range(count):
        value, at = _read(inside or NONE, stream, at)
        items.append(value)
    return kind.cls(items), at
