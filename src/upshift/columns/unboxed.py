"""A column of Python's numbers, held as an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .kinds import BOOL, COMPLEX, FLOAT, INT, INT64_MAX, Column, Kind


class Unboxed(Sequence[Any]):
    """A column of Python's numbers, held as an array: element i is what `tolist` has at i."""

    __slots__ = ("array",)

    def __init__(self, array: Column) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, i: Any) -> Any:
        return Unboxed(self.array[i]) if isinstance(i, slice) else self.array.item(i)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Column:
        return np.array(self.array, dtype, copy=copy)


KINDS: dict[str, Kind] = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}


def numbers_of(array: Column) -> Column | None:
    """The array with the dtype of Python's numbers; None where its elements are none, or ints beyond 64 bits."""
    kind = KINDS.get(array.dtype.kind)
    if kind is None or array.dtype.itemsize > kind.dtype.itemsize:
        return None
    if array.dtype.char in "QL" and array.size and array.max() > INT64_MAX:
        return None
    return array if array.dtype == kind.dtype else array.astype(kind.dtype)
