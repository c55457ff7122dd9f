"""Runs a kernel over columns in this machine's memory: sends them to the GPU in chunks, and fetches the results.

Every chunk goes through a staging buffer: pinned memory, which the GPU copies by itself, as much memory of the GPU's,
and a queue of work. While one buffer is filled, another is under way, a third is computed on and a fourth on its way
back, so that both directions of the bus are busy. What is pinned already is copied from where it lies.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...columns.inputs import Stacked
from ...columns.kinds import Column
from ..chunks import side_by_side
from . import driver
from .copy_loop import FIRST, Layout, copy_loop_of
from .driver import Gpu, Memory, RegisteredMemory
from .kernel import Kernel, lanes_in

PIECE = 4 << 20
"""Bytes of a chunk that go one way, if an element is not larger."""
SIZE = 2 * PIECE + (1 << 20)
"""Bytes of a staging buffer."""
MOST = 8
"""Staging buffers at a time: as many threads copy between the user's memory and them."""
LONGEST = 0.05
"""Seconds after which a thread looks whether it is to stop."""


class StagingBuffer:
    """Memory on both sides of the bus, and a queue of work."""

    def __init__(self, on: Gpu) -> None:
        self.here, self.there = RegisteredMemory(on, SIZE), Memory(on, SIZE)
        self.stream = driver.new_stream()


class StagingPool:
    """The staging buffers of one GPU, kept for the next call."""

    def __init__(self, on: Gpu) -> None:
        self.on = on
        self.idle: list[StagingBuffer] = []

    def take(self) -> StagingBuffer:
        """A buffer that nobody uses, or a new one."""
        try:
            return self.idle.pop()
        except IndexError:
            return StagingBuffer(self.on)

    def give_back(self, buffer: StagingBuffer) -> None:
        """Keep a buffer for whoever takes one next."""
        if len(self.idle) < MOST:
            self.idle.append(buffer)


@functools.cache
def staging_pool(on: int) -> StagingPool:
    """The staging buffers of a GPU, by its number."""
    return StagingPool(driver.gpu(on))


def layout_of(kernel: Kernel) -> Layout | None:
    """How a chunk lies in a staging buffer; None where not even 64 lanes do."""
    ins = tuple(int(kind.dtype.itemsize * np.prod(kind.lane_shape, dtype=np.int64)) for kind in kernel.kinds)
    outs = tuple(dtype.itemsize for dtype in kernel.outs)
    lanes = max(PIECE // max(sum(ins), sum(outs), 1) // 64 * 64, 64)
    layout = Layout(ins, outs, lanes, kernel.threads, kernel.lanes)
    return layout if layout.places[-1] <= SIZE else None


class Transfer:
    """One call: columns there, results back."""

    def __init__(
        self,
        kernel: Kernel,
        columns: Sequence[Any],
        outs: Sequence[Column],
        words: Sequence[Any],
        on: Gpu,
        threads: int,
    ) -> None:
        layout = layout_of(kernel)
        assert layout is not None
        self.kernel, self.words, self.on, self.layout, self.n = kernel, words, on, layout, len(outs[0])
        self.arrays = [*map(_side_by_side, columns), *outs]
        self.bits = np.zeros(-(-self.n // 64) * 8, np.uint8)
        chunks = -(-self.n // layout.lanes)
        self.workers = min(threads, MOST, chunks)
        with on.current():
            self.launcher = kernel.launcher(on)
            places = [word for array in self.arrays for word in (_address(array), _is_pinned(array))]
        head = [0, chunks, self.n, 0, 0, _address(self.bits), self.launcher.kernel]
        self.plan = (ctypes.c_int64 * (FIRST + len(places)))(*head, *places)

    def run(self) -> Column:
        """Fill in the results; the positions of lanes that are left."""
        side_by_side(self._work, [slice(0, 1)] * self.workers, self.workers)
        _, _, _, error, left, *_ = self.plan
        if error:
            raise driver.DriverError(f"error {error} while lanes were sent over the bus")
        return lanes_in(self.bits) if left else NONE_LEFT

    def _work(self, one: slice) -> None:
        """One thread's part: as many chunks as it gets hold of."""
        pool = staging_pool(self.on.ordinal)
        with self.on.current():
            buffer = pool.take()
            self._copy_chunks(buffer)
        pool.give_back(buffer)

    def _copy_chunks(self, buffer: StagingBuffer) -> None:
        there = [buffer.there.address + place for place in self.layout.places]
        k = len(self.layout.ins)
        given = (self.n, there[k], there[k] + 8, 0, *there[:k], *there[k + 1 : -1], *self.words)
        words = (ctypes.c_uint8 * struct.calcsize(self.kernel.form))()
        struct.pack_into(self.kernel.form, words, 0, *given)
        size = ctypes.c_size_t(len(words))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(words), 2, ctypes.addressof(size), 0)
        own = (
            buffer.stream,
            buffer.here.address,
            buffer.there.address,
            ctypes.addressof(words),
            ctypes.addressof(extra),
        )
        mine = (ctypes.c_int64 * len(own))(*own)
        copy_chunks, most, more = copy_loop_of(self.layout, driver.calls()), 4, 1
        while more:
            began = time.perf_counter()
            more = copy_chunks(ctypes.addressof(self.plan), ctypes.addressof(mine), most)
            most *= 2 if time.perf_counter() - began < LONGEST / 2 else 1


NONE_LEFT = np.empty(0, np.int64)


def _side_by_side(column: Any) -> Column:
    return np.ascontiguousarray(column[0 : len(column)] if isinstance(column, Stacked) else column)


def _address(array: Column) -> int:
    return int(array.__array_interface__["data"][0])


def _is_pinned(array: Column) -> bool:
    """Whether the GPU copies an array by itself."""
    start = _address(array)
    return bool(array.nbytes) and driver.is_pinned(start) and driver.is_pinned(start + array.nbytes - 1)
