"""An array in, the same numbers in a given layout out. What is a view, and the bits of products, hang on it."""

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


def copy_as_it_lies(array: Column) -> Column:
    """A copy that lies in memory as the array does."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array.copy(order="K")
    return laid_out(array, array.strides)
