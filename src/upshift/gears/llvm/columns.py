"""Elements as machine code reads them: their kind, and arrays of their numbers.

[1.5, 2.5]        -> float, one array
[[1, 2], [3]]     -> list of int: the items one behind the other, and where each list begins
[(1, 2.5)]        -> tuple of int and float: one array each
["ab", "c"]       -> text: its bytes, and where each text begins
[1, None]         -> either of int and None: a tag for each, then the columns of both
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ...columns.forms import is_namedtuple
from ...columns.inputs import Elements, Records
from ...columns.kinds import Column, fits_int64
from ...columns.list_reader import numbers_in
from ...columns.unboxed import Unboxed
from ...compiler.kinds import BOOL, COMPLEX, FLOAT, INT, NONE, NUMPY, STR, Array, Cell, Either, Kind, List, Tuple
from .arrays import words_of
from .records import numbers_in as numbers_in_fields

Key = Any
"""What the kind of an element is made from: a class, a dtype, or `(list, key)`, `(tuple, class, keys...)`,
`(Either, keys...)`."""
_CLASSES: dict[Any, Kind] = {int: INT, float: FLOAT, bool: BOOL, complex: COMPLEX, str: STR, type(None): NONE}
_DTYPES = {int: np.dtype(np.int64), float: np.dtype(np.float64), bool: np.dtype(bool), complex: np.dtype(complex)}
_PYTHON = {"b": bool, "i": int, "f": float, "c": complex}
MOST_ITEMS = 64
"""Items of a tuple, each of which is a column."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument for all lanes: the key of its kind, and its columns."""

    key: Key
    arrays: tuple[Column, ...]
    owner: Any = None
    """What has to live as long as the addresses in its columns are used."""


class NotColumns(Exception):
    """Why elements are not all of one kind that machine code reads."""


def kind_of_key(key: Key) -> Kind:
    """The kind of elements, with cells of its own."""
    if isinstance(key, np.dtype):
        return NUMPY[key]
    if not isinstance(key, tuple):
        return _CLASSES[key]
    if key[0] is Either:
        return Either(tuple(map(kind_of_key, key[1:])))
    if key[0] is Array:
        return Array(key[1], key[2], None, key[3])
    if key[0] is list:
        return List(Cell(kind_of_key(key[1])) if key[1] is not None else Cell())
    return Tuple(tuple(map(kind_of_key, key[2:])), key[1])


def read(elements: Elements) -> Argument:
    """The columns of elements that are all of one kind; `NotColumns` where they are not."""
    if isinstance(elements, np.ndarray):
        return _array(elements)
    if isinstance(elements, range):
        return _range(elements)
    if isinstance(elements, Unboxed):
        return Argument(_PYTHON[elements.array.dtype.kind], (np.ascontiguousarray(elements.array),))
    if isinstance(elements, Records):
        if elements.cls is not tuple and not hasattr(elements.cls, "_fields"):
            raise NotColumns(f"elements are records of class {elements.cls.__name__}")
        return _tuples(elements.cls, [read(column) for column in elements.columns])
    return _listed(elements)


def _array(array: Column) -> Argument:
    dtype = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
    if array.ndim < 1 or type(array) is not np.ndarray or dtype not in NUMPY:
        raise NotColumns(f"elements are of an array of {array.ndim} axes and dtype {dtype}")
    if array.ndim > 1:
        return _parts_of(np.asarray(array, dtype))
    return Argument(dtype, (np.ascontiguousarray(array, dtype),))


def _parts_of(array: Column) -> Argument:
    """Elements that are parts of one array: they share lengths and strides."""
    first = array[0]
    words = np.array([0, array.strides[0], array.ctypes.data, *first.shape, *first.strides], np.int64)
    return Argument(_array_key(first), (words,), array)


def _array_key(array: Column) -> Key:
    return (Array, array.dtype, array.ndim, array.flags.c_contiguous)


def _arrays(elements: Sequence[Column]) -> Argument:
    """Elements that are arrays of their own: one row of words for each."""
    first = elements[0]
    found = words_of(elements) if first.dtype in NUMPY else None
    if found is None:
        raise NotColumns("elements are arrays of several dtypes and ranks")
    return Argument((Array, first.dtype, first.ndim, found[1]), (found[0],), elements)


def _range(numbers: range) -> Argument:
    if len(numbers) and not all(map(fits_int64, (numbers[0], numbers[-1], numbers.step))):
        raise NotColumns("ints beyond 64 bits")
    column = np.arange(len(numbers), dtype=np.int64) * numbers.step + numbers.start  # what wraps around wraps back
    return Argument(int, (column,))


def _listed(elements: Sequence[Any]) -> Argument:
    cls = type(elements[0]) if len(elements) else float
    if cls is float or cls is int:
        column = numbers_in(elements)
        if column is not None:
            return Argument(cls, (column,))
    if cls is np.ndarray:
        return _arrays(elements)
    if cls is tuple or (elements and is_namedtuple(elements[0])):
        width = len(elements[0])
        found = numbers_in_fields(elements, [("item", j) for j in range(width)]) if width <= MOST_ITEMS else None
        if found is not None:
            return _tuples(cls, [_item(elements, j, column) for j, column in enumerate(found)])
    classes = set(map(type, elements))
    if len(classes) > 1:
        return _mixed(elements, classes)
    if cls in _DTYPES:
        try:
            return Argument(cls, (np.array(elements, _DTYPES[cls]),))
        except OverflowError:
            raise NotColumns("some ints are beyond 64 bits") from None
    if cls is list:
        return _lists(elements)
    if cls is str:
        return _texts(elements)
    if cls is tuple or (elements and is_namedtuple(elements[0])):
        width = len(elements[0])
        if width > MOST_ITEMS or set(map(len, elements)) != {width}:
            raise NotColumns("elements are tuples of many or of several lengths")
        return _tuples(cls, [_item(elements, j, None) for j in range(width)])
    if cls is type(None):
        return Argument(cls, ())
    if issubclass(cls, np.generic) and elements[0].dtype in NUMPY:
        return Argument(elements[0].dtype, (np.array(elements, elements[0].dtype),))
    raise NotColumns(f"elements are of class {cls.__name__}")


def _item(elements: Sequence[Any], j: int, column: Elements | None) -> Argument:
    """The column of an item, which may have been read already."""
    return read(list(map(operator.itemgetter(j), elements)) if column is None else column)


def _tuples(cls: type, items: list[Argument]) -> Argument:
    named = cls if cls is not tuple else None
    return Argument((tuple, named, *(item.key for item in items)), tuple(a for item in items for a in item.arrays))


def _lists(elements: Sequence[list[Any]]) -> Argument:
    offsets = np.zeros(len(elements) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, elements), np.int64, len(elements)), out=offsets[1:])
    items = list(chain.from_iterable(elements))
    if not items:
        return Argument((list, int), (np.zeros(1, np.int64), offsets))
    inside = _listed(items)
    return Argument((list, inside.key), (*inside.arrays, offsets))


_NOTHING: dict[type, Any] = {int: 0, float: 0.0, bool: False, complex: 0j, str: "", type(None): None, list: []}
"""What stands in the columns of a class where an element is of another one."""
MOST_CLASSES = 4


def _mixed(elements: Sequence[Any], classes: set[type]) -> Argument:
    """Elements of several classes: a column of tags, then the columns of every class."""
    if len(classes) > MOST_CLASSES or not classes <= _NOTHING.keys():
        names = ", ".join(sorted(c.__name__ for c in classes)[:4])
        raise NotColumns(f"elements are of several classes: {names}")
    order = sorted(classes, key=lambda c: c.__name__)
    numbers = {cls: i for i, cls in enumerate(order)}
    tags = np.fromiter((numbers[type(x)] for x in elements), np.int8, len(elements))
    parts = [_listed([x if type(x) is cls else _NOTHING[cls] for x in elements]) for cls in order]
    return Argument((Either, *(part.key for part in parts)), (tags, *(a for part in parts for a in part.arrays)))


def _texts(elements: Sequence[str]) -> Argument:
    text = "".join(elements)
    if not text.isascii():
        raise NotColumns("elements are texts with letters beyond ASCII")
    offsets = np.zeros(len(elements) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, elements), np.int64, len(elements)), out=offsets[1:])
    return Argument(str, (np.frombuffer(text.encode("ascii") + b"\0", np.uint8), offsets))
