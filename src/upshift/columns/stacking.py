"""Stacks the loop's results, as fast as their classes allow.

`outputs.py` has the law of stacking for results that come in pieces; this is the same law for a list, where a look at
the classes of all results (some 20 ns each) tells nearly everything:

>>> stack([1, 2.5])
array([1. , 2.5])
>>> stack([(1, "a"), (2, "b")])
(array([1, 2]), ['a', 'b'])
>>> stack([[1, 2], [3, 4]])
array([[1, 2],
       [3, 4]])
>>> stack([[1, 2], [3]])
[[1, 2], [3]]
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .forms import assemble, is_leaf
from .kinds import NUMERIC, Column, kind_of_type, promote
from .list_reader import numbers_in
from .outputs import Objects, are_scattered, axis_of, gather, of_objects, own

LOOPED_OVER = 64
"""Results up to which a loop over them is as fast as what NumPy and C do for many."""
READ_IN_PLACE = 512
"""Results from which on numbers are read where they lie."""
_AT_ONCE: dict[type, np.dtype[Any]] = {
    cls: np.dtype(cls)
    for cls in (
        bool,
        int,
        float,
        complex,
        np.float64,
        np.float32,
        np.int64,
        np.int32,
        np.uint8,
        np.bool_,
        np.complex128,
    )
}


def stack(results: Sequence[Any]) -> Any:
    """A loop's results -> what the user gets back."""
    if not results:
        return _in_general(results)
    cls = type(results[0])
    if len(results) <= LOOPED_OVER:
        for result in results:
            if type(result) is not cls:
                return _of_several(results, set(map(type, results)))
    else:
        numbers = numbers_in(results) if len(results) >= READ_IN_PLACE else None
        if numbers is not None:
            return numbers
        if [*map(type, results)].count(cls) != len(results):  # in half the time of a set of all classes
            return _of_several(results, set(map(type, results)))
    dtype = _AT_ONCE.get(cls)
    if dtype is not None:
        try:
            return np.fromiter(results, dtype, len(results))
        except OverflowError:
            return of_objects(results)
    by_class = _BY_CLASS.get(cls)
    if by_class is not None:
        return by_class(results)
    if is_leaf(cls) and not issubclass(cls, np.generic | np.ndarray):
        return list(results)
    if issubclass(cls, tuple):
        columns, names = _columns_of(results), getattr(cls, "_fields", ())
        if columns is not None and len(columns) == len(names):
            return assemble(cls, names, [*map(stack, columns)])
    return _in_general(results)


def _in_general(results: Sequence[Any]) -> Any:
    return gather(len(results), [(slice(None), Objects(list(results)))])


def _of_several(results: Sequence[Any], classes: set[type]) -> Any:
    """Results of several classes: an array where all are numbers, else the list."""
    dtype = _common_dtype(frozenset(classes))
    if dtype is not None and dtype.kind in "fc":
        try:
            made = np.array(results, dtype)
        except OverflowError:
            return of_objects(results)
        large = int in classes and bool((np.abs(made) >= 2.0**63).any())
        return of_objects(results) if large and Objects(list(results)).is_wide() else made
    if all(issubclass(cls, np.generic | np.ndarray | int | float | complex) for cls in classes):
        return _in_general(results)
    return [*map(own, results)] if np.ndarray in classes else list(results)


@functools.lru_cache(maxsize=256)
def _common_dtype(classes: frozenset[type]) -> np.dtype[Any] | None:
    """The dtype for numbers of these classes; None where one is no number's class."""
    kinds = [kind_of_type(cls) for cls in classes]
    return promote([k for k in kinds if k is not None]) if kinds and None not in kinds else None


def _of_tuples(results: Sequence[tuple[Any, ...]]) -> Any:
    columns = _columns_of(results)
    return list(results) if columns is None else tuple(map(stack, columns))


def _columns_of(results: Sequence[tuple[Any, ...]]) -> list[Any] | None:
    """Tuples of one length as columns; None where there are several lengths."""
    if len(results) <= LOOPED_OVER:  # as below, for few results
        try:
            return [*zip(*results, strict=True)]
        except ValueError:
            return None
    flat, width = list(itertools.chain.from_iterable(results)), min(map(len, results))
    return [flat[j::width] for j in range(width)] if len(flat) == width * len(results) else None


def _of_lists(results: Sequence[list[Any]]) -> Any:
    """Lists of one length become an axis, where their items stack to arrays of one shape."""
    n, width = len(results), len(results[0])
    if any(length != width for length in map(len, results)):
        return list(results)
    if not width:
        return np.empty((n, 0))
    flat = list(itertools.chain.from_iterable(results))
    classes = set(map(type, flat))
    if len(classes) == 1:
        items = stack(flat)
        if not isinstance(items, np.ndarray):
            return list(results)
        if items.dtype != object:
            return items.reshape(n, width, *items.shape[1:])
    elif any(is_leaf(cls) and not issubclass(cls, _STACKED) for cls in classes):
        return list(results)
    made = axis_of(n, [stack(flat[j::width]) for j in range(width)])  # integers that fit no dtype: position by position
    return list(results) if made is None else made


_STACKED = np.generic | np.ndarray | bool | int | float | complex


def _of_dicts(results: Sequence[dict[Any, Any]]) -> Any:
    """Dicts that have the same keys become a dict of columns."""
    keys = tuple(results[0])
    if any(length != len(keys) for length in map(len, results)):
        return list(results)
    try:
        columns = [[result[key] for result in results] for key in keys]
    except KeyError:
        return list(results)
    return dict(zip(keys, map(stack, columns)))


def _of_arrays(arrays: Sequence[Any]) -> Any:
    """Arrays of one shape as one array, faster than `np.stack` makes it."""
    if arrays[0].ndim and arrays[0].dtype.kind in NUMERIC and not are_scattered(arrays):
        try:
            made: Column = np.array(arrays)
        except (ValueError, TypeError):  # shapes that differ, or dtypes that have nothing in common
            return _in_general(arrays)
        if made.dtype.kind in NUMERIC:
            return made
    return _in_general(arrays)


_BY_CLASS: dict[type, Callable[[Any], Any]] = {
    tuple: _of_tuples,
    list: _of_lists,
    dict: _of_dicts,
    np.ndarray: _of_arrays,
}
