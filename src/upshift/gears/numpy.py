"""The gear `numpy`: interprets the tree over all lanes, chunk by chunk, on threads where that pays."""

from __future__ import annotations

import math
import time

import numpy as np

from ..config import settings
from ..errors import Untraceable
from .chunks import CHUNK, CHUNK_BYTES, THREADS_PAY_SECONDS, chunks_of, side_by_side
from .passes import Pass, TooInexact
from .store import Where
from .walk import Chunk

FIRST_CHUNK = 1 << 10
"""Lanes that a young tree grows on, before the rest follows in large chunks."""
JUDGED_SECONDS = 300e-6
"""A shorter run says little about how long a larger one will take."""
SLACK_SECONDS = 5e-3
"""How much later than the loop a batch may be before it is given up: machines are noisy."""
UNHEARD_SECONDS = 50e-3
"""Seconds of the loop that a chunk may take whose lanes are called one by one: the clock is not looked at meanwhile."""
LEAST_LANES = 16
"""Lanes that such a chunk has in any case."""


class Run(Pass):
    """One pass of a tree over lanes.

    Depth first: lanes are split at guards, only what a subtree needs travels on, every step runs for exactly the lanes
    that reach it. Where lanes reach a branch that nobody has traced, one of them is traced if that pays.
    """

    began = 0.0
    slow = False
    """Whether the first lanes took as long as the loop would have, with calls for each, or with a path for each."""

    def over_all(self, threads: int) -> None:
        """Every lane, in chunks; on threads once the tree has seen enough."""
        start, self.began = 0, time.perf_counter()
        size = self._size(threads)
        first = max(min(FIRST_CHUNK, size // 4), 1)
        if self.n > 4 * first and self.tree.young:
            began, allowed = time.perf_counter(), self.pace.allowance
            self._guarded(slice(0, first), growing=True)
            ran = time.perf_counter() - began - (allowed - self.pace.allowance)
            start, size = first, self._size(threads)
            self.slow = self.tree.each_lane and self._is_slow(first, ran)
            if self.slow and self.tree.frees and threads > 1 and self.n >= start + threads * first:
                start, self.slow = self._side_by_side(start, first, threads)
            self.slow |= self.by_value > 0.5 * first  # most take paths of their own
            if self.slow or self.late or self._scattered(start):
                self.left.append(np.arange(start, self.n))
                return
        chunks = chunks_of(start, self.n, size)
        began = time.perf_counter()
        for i, chunk in enumerate(chunks):
            if i == 1 and threads > 1 and (len(chunks) - i) * (time.perf_counter() - began) > THREADS_PAY_SECONDS:
                self.until = self._until(self.n)
                side_by_side(lambda chunk: self._guarded(chunk, growing=False), chunks[1:], threads)
                break
            self._guarded(chunk, growing=True)
        if self.deferred:  # they need a trace, which waits until all threads are done
            lanes = np.concatenate(self.deferred)
            for low in range(0, len(lanes), size):
                self._guarded(lanes[low : low + size], growing=True)

    def _size(self, threads: int) -> int:
        """Lanes in a chunk: few where the clock is heard between chunks only."""
        size = self.tree.chunk(CHUNK, CHUNK_BYTES, settings().memory // threads)
        if self.tree.each_lane and self.pace.limit < math.inf:
            size = min(size, max(int(UNHEARD_SECONDS / max(self.pace.per_element, 1e-9)), LEAST_LANES))
        return size

    def _until(self, stop: int) -> float:
        """When all lanes up to `stop` have to be done: as soon as the loop would have been, with some slack."""
        return self.began + self.spent + SLACK_SECONDS + self.pace.limit * stop / self.n

    def _is_slow(self, lanes: int, seconds: float) -> bool:
        return seconds > JUDGED_SECONDS and seconds > 0.8 * lanes * self.pace.per_element

    def _side_by_side(self, start: int, size: int, threads: int) -> tuple[int, bool]:
        """As many lanes again on every thread, since what they call for each lane frees the interpreter."""
        stop, began = start + threads * size, time.perf_counter()
        self.until, self.late = self._until(stop), False
        side_by_side(lambda chunk: self._guarded(chunk, growing=False), chunks_of(start, stop, size), threads)
        return stop, self._is_slow(stop - start, time.perf_counter() - began)

    def _scattered(self, done: int) -> bool:
        """Whether most lanes ended up with the plain function and nothing may be spent on tracing any more."""
        return self.pace.allowance <= 0 and sum(map(len, self.left)) > 0.6 * done

    def _guarded(self, where: Where, growing: bool) -> None:
        if growing:
            self.until = self._until(where.stop if isinstance(where, slice) else self.n)
        chunk = Chunk(self, growing)
        under = "ignore" if np.geterr()["under"] == "ignore" else "call"
        with np.errstate(divide="call", over="call", invalid="call", under=under, call=chunk.flag):  # type: ignore[arg-type]
            chunk.run(where)


__all__ = ["Run", "TooInexact", "Untraceable"]
