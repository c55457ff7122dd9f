"""Gives the pages of memory maps (np.memmap) back to the system when they have been read."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from typing import Any

import numpy as np

BYTES_AT_ONCE = 1 << 26
"""Bytes of such columns that are read, or written, before they are given back."""


class Mapped:
    """The memory maps among the columns of a job."""

    def __init__(self, arrays: list[Any]) -> None:
        self.maps = [array._mmap for array in arrays]
        bytes_of_a_row = sum(array.nbytes // max(len(array), 1) for array in arrays)
        self.rows = max(BYTES_AT_ONCE // max(bytes_of_a_row, 1), 1)

    def give_back(self) -> None:
        """Nothing is lost by it: what was written is the file's, and what is read again comes from there."""
        for one in self.maps:
            if not one.closed:
                one.madvise(mmap.MADV_DONTNEED)


def mapped_in(columns: Iterable[Any]) -> Mapped | None:
    """What can be given back; a map that keeps changes to itself (mode "c") would lose them, and is left alone."""
    found = [x for x in columns if isinstance(x, np.memmap) and x.ndim and _is_shared(x) and x.nbytes > BYTES_AT_ONCE]
    return Mapped(found) if found and hasattr(mmap, "MADV_DONTNEED") else None


def _is_shared(array: Any) -> bool:
    return getattr(array, "mode", None) in ("r", "r+", "w+") and array._mmap is not None
