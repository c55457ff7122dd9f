"""Cuts lanes into cache-sized chunks, and runs them on threads."""

from __future__ import annotations

import contextvars
import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

CHUNK = 1 << 15
"""Lanes at a time: a handful of float64 columns of this length stay in a core's cache."""
CHUNK_BYTES = 1 << 20
"""And a column of arrays may be as large as this."""
THREADS_PAY_SECONDS = 300e-6
"""Work below this is done before a second thread is awake."""


def chunks_of(start: int, stop: int, size: int, share: int = 1) -> list[slice]:
    """Equal chunks of at most `size` lanes; their number is a multiple of `share`, so that no thread waits long."""
    n = stop - start
    count = -(-n // size)
    count = -(-count // share) * share
    edges = [start + n * i // count for i in range(count + 1)]
    return [slice(low, high) for low, high in itertools.pairwise(edges) if high > low]


def side_by_side(work: Callable[[slice], object], chunks: list[slice], threads: int) -> None:
    """`work` on every chunk, on this thread and others: NumPy frees the interpreter. The first error is raised.

    The others run in copies of this thread's context: settings and NumPy's error state are those of the caller. One
    that has not begun by the end is not waited for: it may be queued behind the very call that this one is part of.
    """
    waiting = iter(chunks)

    def some() -> None:
        for chunk in waiting:
            work(chunk)

    more = min(threads, len(chunks)) - 1 if threads > 1 else 0
    helpers = [pool(threads - 1).submit(contextvars.copy_context().run, some) for _ in range(more)]
    try:
        some()
    finally:
        for _ in waiting:  # after an error nobody starts another one
            pass
        errors = [helper.exception() for helper in helpers if not helper.cancel()]
    for error in errors:
        if error is not None:
            raise error


@functools.lru_cache(maxsize=4)
def pool(threads: int) -> ThreadPoolExecutor:
    """The threads that all runs share; a forked child makes its own."""
    return ThreadPoolExecutor(threads, "upshift")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
