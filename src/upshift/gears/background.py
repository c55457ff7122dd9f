"""Work that is done on another thread, such as LLVM's, and its result when it is there.

LLVM computes without the interpreter's lock, so that the function it compiles goes on being called. A process that ends
waits for it, and so does a fork: a child would find half of what LLVM was doing.
"""

from __future__ import annotations

import contextvars
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

T = TypeVar("T")
AT_ONCE = False
"""Whether work is done where it is begun; tests set it to True, so that nothing depends on the clock."""
MOST_WAITED = 5.0
"""Seconds that a fork waits at most."""
_UNDER_WAY: weakref.WeakSet[Future[object]] = weakref.WeakSet()


class Background(Generic[T]):
    """A computation on another thread."""

    def __init__(self, make: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        if AT_ONCE:
            self._run(make)
            return
        _UNDER_WAY.add(self.future)  # type: ignore[arg-type]
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._run, make), name="upshift compiler").start()

    def _run(self, make: Callable[[], T]) -> None:
        try:
            self.future.set_result(make())
        except BaseException as error:
            self.future.set_exception(error)

    def is_done(self) -> bool:
        """Whether the result, or an error, is there."""
        return self.future.done()

    def result_or(self, otherwise: Callable[[BaseException], T]) -> T:
        """What was made, or something else where there was an error; waits where it is not there yet."""
        error = self.future.exception()
        return self.future.result() if error is None else otherwise(error)


def _before_fork() -> None:
    wait(list(_UNDER_WAY), MOST_WAITED)


def _in_child() -> None:
    """Nobody goes on with it here."""
    for future in list(_UNDER_WAY):
        if not future.done():
            future.set_exception(RuntimeError("the process was forked meanwhile"))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
