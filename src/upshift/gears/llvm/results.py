"""What a kernel made, as pieces of the whole result: numbers and tuples as columns, lists of one length as blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...columns import kinds as columns
from ...columns.forms import Form
from ...columns.kinds import kind_of_dtype
from ...columns.outputs import Lists, Numbers, Objects, Piece, Placed, Record, Same
from ...compiler.kernel import Made
from ...compiler.kinds import BOOL, COMPLEX, FLOAT, INT, NONE, Array, Either, Kind, List, Scalar, Static, Tuple
from ...compiler.lanes import needs_stream
from ...compiler.results import objects_of

_NUMBERS = {INT: columns.INT, FLOAT: columns.FLOAT, BOOL: columns.BOOL, COMPLEX: columns.COMPLEX}


def number_kind(kind: Scalar) -> columns.Kind:
    """The kind of a column of results."""
    if kind.dtype is None:
        return _NUMBERS[kind]
    found = kind_of_dtype(kind.dtype)
    assert found is not None
    return found


def pieces_of(kind: Kind, made: Made, lanes: Any, n: int) -> list[Placed]:
    """The results of some lanes (a slice for all of them), by position."""
    found = _pieces(kind, iter(made.outs), made, lanes, n)
    if found is None:
        index = np.arange(n)[lanes] if isinstance(lanes, slice) else lanes
        return [(lanes, Objects(objects_of(kind, made, index)))]
    return found


def piece_of_columns(kind: Kind, result: Any, n: int) -> Piece:
    """The piece that a column of numbers is, or a tuple of them."""
    if isinstance(kind, Tuple):
        return _record(kind, [Numbers(c, number_kind(item)) for c, item in zip(result, kind.items)], n)  # type: ignore[arg-type]
    assert isinstance(kind, Scalar)
    return Numbers(result, number_kind(kind))


def _count(lanes: Any, n: int) -> int:
    return n if isinstance(lanes, slice) else len(lanes)


def _pieces(kind: Kind, outs: Iterator[Any], made: Made, lanes: Any, n: int) -> list[Placed] | None:
    """None where only the objects themselves will do."""
    if needs_stream(kind):
        piece = _from_stream(kind, made, next(outs)[lanes])
        return None if piece is None else [(lanes, piece)]
    if isinstance(kind, Either):
        return _by_tag(kind, outs, made, lanes, n)
    if isinstance(kind, Tuple):
        if kind.cls is list:  # whose items are of several kinds, or arrays: stacked as the loop's lists are
            return None
        children = []
        for item in kind.items:
            found = _pieces(item, outs, made, lanes, n)
            if found is None or len(found) != 1:
                return None
            children.append(found[0][1])
        return [(lanes, _record(kind, children, _count(lanes, n)))]
    if kind is NONE or isinstance(kind, Static):
        return [(lanes, Same(getattr(kind, "value", None), _count(lanes, n)))]
    assert isinstance(kind, Scalar)
    return [(lanes, Numbers(next(outs)[lanes], number_kind(kind)))]


def _record(kind: Tuple, children: list[Piece], n: int) -> Piece:
    cls = kind.cls or tuple
    keys = kind.cls._fields if kind.cls is not None else tuple(range(len(children)))  # type: ignore[attr-defined]
    return Record(Form(cls, keys, tuple(Form() for _ in children)), children, n)


def _by_tag(kind: Either, outs: Iterator[Any], made: Made, lanes: Any, n: int) -> list[Placed] | None:
    """Lanes whose results are of different kinds are pieces of their own."""
    tags = next(outs)[lanes]
    index = np.arange(n) if isinstance(lanes, slice) else lanes
    placed: list[Placed] = []
    for tag, one in enumerate(kind.kinds):
        own = index[tags == tag]
        if len(own) == n and isinstance(lanes, slice):
            own = lanes
        found = _pieces(one, outs, made, own, n)
        if found is None:
            return None
        if isinstance(own, slice) or len(own):
            placed += found
    return placed


# ---- the stream


def _from_stream(kind: Kind, made: Made, places: Any) -> Piece | None:
    """Lists of one length as a block, and tuples of them; None where lengths differ."""
    n = len(places)
    if n == 0 or isinstance(kind, Either):
        return None
    words = made.stream[: made.used]
    first = places[0] // 8
    width = (places[1] - places[0]) // 8 if n > 1 else made.used - first
    if width * n != made.used - first or width == 0 or (n > 1 and not (np.diff(places) == 8 * width).all()):
        return None
    table = words[first : first + n * width].reshape(n, width)
    found = _from_table(kind, table, 0)
    return None if found is None or found[1] != width else found[0]


def _from_table(kind: Kind, table: Any, at: int) -> tuple[Piece, int] | None:
    """The piece that begins in a column of a table of words, one row a lane, and the column behind it."""
    if isinstance(kind, Tuple):
        if kind.cls is list:
            return None
        children = []
        for item in kind.items:
            found = _from_table(item, table, at)
            if found is None:
                return None
            children.append(found[0])
            at = found[1]
        return _record(kind, children, len(table)), at
    if isinstance(kind, List):
        lengths = table[:, at]
        count = int(lengths[0])
        if not (lengths == count).all():
            return None
        inside = kind.cell.kind
        if kind.cls is list and isinstance(inside, Scalar) and inside in (INT, FLOAT, BOOL) and count:
            block = table[:, at + 1 : at + 1 + count]
            return Lists(_numbers(inside, block), number_kind(inside)), at + 1 + count
        children, at = [], at + 1
        for _ in range(count):
            found = _from_table(inside or NONE, table, at)
            if found is None:
                return None
            children.append(found[0])
            at = found[1]
        form = Form(kind.cls, tuple(range(count)), tuple(Form() for _ in children))
        return Record(form, children, len(table)), at
    if isinstance(kind, Array):
        return _arrays(kind, table, at)
    if kind is NONE:
        return Same(None, len(table)), at
    if kind in (INT, FLOAT, BOOL):
        assert isinstance(kind, Scalar)
        return Numbers(_numbers(kind, table[:, at]), number_kind(kind)), at + 1
    return None


def _arrays(kind: Array, table: Any, at: int) -> tuple[Piece, int] | None:
    """Arrays of one shape."""
    shape = table[0, at : at + kind.ndim]
    if not (table[:, at : at + kind.ndim] == shape).all():
        return None
    at += kind.ndim
    lengths = tuple(shape.tolist())
    size = kind.dtype.itemsize * math.prod(lengths)
    words = (size + 7) // 8
    raw = np.ascontiguousarray(table[:, at : at + words]).view(np.uint8).reshape(len(table), 8 * words)[:, :size]
    column = np.ascontiguousarray(raw).view(kind.dtype).reshape(len(table), *lengths)
    own = columns.array_kind(kind.dtype, lengths)
    assert own is not None
    return Numbers(column, own), at + words


def _numbers(kind: Scalar, words: Any) -> Any:
    words = np.ascontiguousarray(words)
    if kind is INT:
        return words
    return words.view(np.float64) if kind is FLOAT else words.astype(bool)
