"""Imports a framework whole, so that Ctrl-C in the middle does not leave it broken.

Python takes a module that was interrupted out of `sys.modules`, but not those that it had imported: the next import
finds them, does not find them in their package, and fails for good. So frameworks are imported in a thread of their
own, which no interrupt reaches. The call that waits for it is interrupted at once; the next one finds it all there.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

WAKES = 0.1
"""Seconds after which a call that waits looks whether it was interrupted."""
_loaded: dict[Callable[[], None], Future[None]] = {}
_lock = threading.Lock()


def loaded(load: Callable[[], None], within_imports: bool = False) -> None:
    """Run a function that imports, once in this process; an error of it is raised, and it is tried again.

    `within_imports`: whether it never needs a module that the caller may be in the middle of importing.
    """
    found = _loaded.get(load)
    if found is None:
        if (
            not within_imports and _is_importing()
        ):  # to wait here for another thread's import might be to wait for ourselves
            load()
            return
        found = begin(load, here=threading.current_thread() is not threading.main_thread())
    while not found.done():  # a wait without an end cannot be interrupted everywhere
        wait([found], WAKES)
    if found.exception() is not None:
        _loaded.pop(load, None)
    found.result()


def begin(load: Callable[[], None], here: bool = False) -> Future[None]:
    """Run such a function on a thread of its own, and do not wait for it: `loaded` does. `here`: on this thread, which
    no interrupt reaches either, as it is not the main one."""
    with _lock:
        found = _loaded.get(load)
        if found is not None:
            return found
        found = Future()
        if not here:
            threading.Thread(target=_run, args=(load, found), name="upshift import").start()
        _loaded[load] = found  # not before: an interrupt in between would leave a promise that nobody keeps
    if here:
        _run(load, found)
    return found


def _run(load: Callable[[], None], found: Future[None]) -> None:
    try:
        load()
        found.set_result(None)
    except BaseException as error:
        found.set_exception(error)


def _in_child() -> None:
    """In a forked child nobody goes on with what the parent's threads were importing."""
    global _lock
    _lock = threading.Lock()
    for load, found in list(_loaded.items()):
        if not found.done():
            del _loaded[load]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def _is_importing() -> bool:
    """Whether an import statement is running in this thread."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


class Later:
    """A module of ours that is imported when something in it is first asked for: `import upshift` stays brief."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if self._name not in sys.modules:
            loaded(_loader(self._name))
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


@functools.cache
def _loader(name: str) -> Callable[[], None]:
    """The same function for the same module, so that it is loaded once."""

    def load() -> None:
        importlib.import_module(name)

    return load
