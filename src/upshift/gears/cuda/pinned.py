"""A pool of pinned memory: NumPy arrays for results, which a GPU writes by itself.

Such memory (pinned) is dear to get and may not be swapped out. So what arrays gave back is kept for the next ones, up
to a limit, and no more than a part of this machine's memory is lent at a time.
"""

from __future__ import annotations

import functools
import os
import weakref
from typing import Any

import numpy as np

from ...columns.kinds import Column
from . import driver
from .driver import Gpu, RegisteredMemory

LEAST = 1 << 20
"""Bytes of an array from which on pinned memory pays."""
MOST_IDLE = 1 << 30
_STEP = 1 << 21


class _PinnedMemory:
    """Pinned memory that an array stands on; given back when the last array that sees it is gone."""

    def __init__(self, pool: PinnedPool, memory: RegisteredMemory) -> None:
        weakref.finalize(self, pool.give_back, memory).atexit = False
        self.__array_interface__ = {
            "shape": (memory.size,), "typestr": "|u1", "data": (memory.address, False), "version": 3,
        }  # fmt: skip


class PinnedPool:
    """The pinned arrays of one GPU."""

    def __init__(self, on: Gpu) -> None:
        self.on = on
        self.idle: list[RegisteredMemory] = []
        self.lent = 0

    def take(self, n: int, dtype: np.dtype[Any], threads: int) -> Column | None:
        """An array that is not filled in; None where an ordinary one does as well. The context must be current."""
        size = n * dtype.itemsize
        if size < LEAST or self.lent + size > _most_lent():
            return None
        memory = self._found(size)
        if memory is None:
            try:
                memory = RegisteredMemory(self.on, -(-size // _STEP) * _STEP, threads)
            except driver.DriverError:
                return None
        self.lent += memory.size
        return np.asarray(_PinnedMemory(self, memory))[:size].view(dtype)

    def _found(self, size: int) -> RegisteredMemory | None:
        for i, memory in enumerate(self.idle):
            if size <= memory.size <= 2 * size + _STEP:
                return self.idle.pop(i)
        return None

    def give_back(self, memory: RegisteredMemory) -> None:
        """Keep memory that no array stands on any more; the oldest goes where too much of it is idle."""
        self.lent -= memory.size
        self.idle.append(memory)
        while sum(one.size for one in self.idle) > MOST_IDLE:
            del self.idle[0]


@functools.cache
def _most_lent() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8
    except (AttributeError, ValueError, OSError):
        return 1 << 30


@functools.cache
def pinned_pool(on: int) -> PinnedPool:
    """The pinned arrays of a GPU, by its number."""
    return PinnedPool(driver.gpu(on))
