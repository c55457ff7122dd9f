"""Objects of the user's classes: equality of items, iteration by `__next__`."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from .arrays import argsort_packed, convolved, sort_packed
from .intrinsics import (
    at,
    count_true,
    give_up,
    lies_in_rows,
    new_array,
    plus,
    put_true,
    raise_broadcast,
    same_object,
    set_at,
    take_true,
    wrapped,
)
from .registry import inline, prelude

FLOATS = (float, complex, np.inexact)
GENERATOR = types.GeneratorType
WRITTEN = (
    np,
    at,
    count_true,
    give_up,
    lies_in_rows,
    math,
    new_array,
    plus,
    put_true,
    raise_broadcast,
    set_at,
    take_true,
    wrapped,
    argsort_packed,
    convolved,
    sort_packed,
)
"""What functions use that are written for arrays of certain axes."""


def nowhere() -> None:
    """Where functions stand that are written for certain kinds: they see the names of this file."""


class Box:
    """A variable that is kept in memory."""


@prelude
@inline
def equals(x: Any, y: Any) -> Any:
    """Whether two items count as the same in a list or tuple: one object, or equal ones. Which of Python's objects a
    NaN is, machine code does not know."""
    if same_object(x, y):
        return True
    if x == y:
        return True
    if isinstance(x, FLOATS) and isinstance(y, FLOATS) and x != x and y != y:
        give_up()
    return False


@prelude
@inline
def object_iterator(x: Any) -> Any:
    """`iter(x)` of an object that has `__iter__`."""
    it = x.__iter__()
    if isinstance(it, GENERATOR):
        return it
    return object_items(it)


def object_items(it: Any) -> Iterator[Any]:
    """What `__next__` of a user's iterator gives until it raises StopIteration."""
    while True:
        try:
            x = it.__next__()
        except StopIteration:
            return
        yield x


@prelude
def object_sequence(xs: Any) -> Iterator[Any]:
    """`iter(xs)` of an object that has `__getitem__` alone."""
    i = 0
    while True:
        try:
            x = xs[i]
        except IndexError:
            return
        yield x
        i += 1


@prelude
@inline
def object_in(x: Any, xs: Any) -> Any:
    """`x in xs` by the user's `__contains__`, as a bool."""
    if xs.__contains__(x):
        return True
    return False


@prelude
@inline
def object_not_in(x: Any, xs: Any) -> Any:
    """`x not in xs` by the user's `__contains__`, as a bool."""
    if xs.__contains__(x):
        return False
    return True


@prelude
@inline
def times_then_modulo(a: Any, b: Any, m: Any) -> Any:
    """`(a * b) % m`, which the compiler does in 128 bits where it finds the two together."""
    product = a * b
    return product % m
