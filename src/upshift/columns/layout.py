"""Copies an array into a given memory layout, on which views and the bits of products depend."""

from __future__ import annotations

import numpy as np

from .kinds import Column

Strides = tuple[int, ...]
MOST_REACH = 1 << 28
"""Bytes from the first to the last number of an array that a copy may span."""


def laid_out(array: Column, strides: Strides) -> Column:
    """A copy with these strides; a compact one where they reach too far."""
    ends = [stride * (length - 1) for stride, length in zip(strides, array.shape, strict=True)]
    low, high = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    if high - low > MOST_REACH or not array.size or array.dtype.hasobject:
        return array.copy(order="K")
    buffer = np.empty(high - low + array.itemsize, np.uint8)
    made: Column = np.ndarray(array.shape, array.dtype, buffer, -low, strides)
    made[...] = array
    return made


def order_of(shape: tuple[int, ...], strides: Strides) -> list[int]:
    """The axes of an array in the order in which NumPy goes through it, the outermost first.

    That is as they lie in memory. An axis of one number, or one that is the same number again and again, lies nowhere:
    the others pass it by.
    """
    reach = [abs(stride) if length > 1 else 0 for length, stride in zip(shape, strides, strict=True)]
    inner: list[int] = []
    for axis in range(len(shape) - 1, -1, -1):
        place = len(inner)
        for i in range(len(inner) - 1, -1, -1):
            if reach[axis] and reach[inner[i]]:
                if reach[inner[i]] <= reach[axis]:
                    break
                place = i
        inner.insert(place, axis)
    return inner[::-1]


def forwards(column: Column) -> Column:
    """A column whose lanes follow each other in memory: NumPy computes `exp` and its like otherwise backwards."""
    return column if column.strides[0] >= 0 else np.ascontiguousarray(column)


def is_dense(shape: tuple[int, ...], strides: Strides, itemsize: int) -> bool:
    """Whether the numbers of an array lie side by side, in whatever order of axes, and forwards."""
    step = itemsize
    for axis in reversed(order_of(shape, strides)):
        if shape[axis] > 1:
            if strides[axis] != step:
                return False
            step *= shape[axis]
    return True


def lanes_laid_out(column: Column, order: list[int]) -> Column:
    """A column whose lanes have their axes in memory in this order, each lane by itself."""
    if column.flags.c_contiguous:
        if order == sorted(order):
            return column
    elif order_of(column.shape, column.strides) == [0, *(1 + axis for axis in order)]:
        return column
    axes = [0, *(1 + axis for axis in order)]
    return np.ascontiguousarray(column.transpose(axes)).transpose(np.argsort(axes))


def copy_as_it_lies(array: Column) -> Column:
    """A copy that lies in memory as the array does."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array.copy(order="K")
    return laid_out(array, array.strides)
