"""A column of Python's numbers, held as an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .kinds import Column


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
