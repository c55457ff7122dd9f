"""Shows how many elements are finished: a bar by rich, in a notebook, as plain text, or calls of a function.

up.map(f, xs, progress=True)
up.map(f, xs, progress=lambda p: print(p.done, p.total, p.gear, p.rate))
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

APART = 0.1
"""Seconds between two looks at least; also what is run at once, where somebody watches."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a map has come."""

    done: int
    total: int
    gear: str
    """The one that ran the latest elements."""
    seconds: float

    @property
    def rate(self) -> float:
        """Elements a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        share = self.done / self.total if self.total else 1.0
        return f"{share:4.0%} {self.done:,} of {self.total:,} elements, {self.gear}, {self.rate:,.0f}/s"


class Bar(Protocol):
    """What shows progress."""

    def show(self, progress: Progress) -> None: ...

    def close(self) -> None: ...


class Watch:
    """Counts the finished elements of one map; any thread may."""

    def __init__(self, bar: Bar, total: int, gear: str) -> None:
        self.bar, self.total = bar, total
        self.done, self.gear = 0, gear
        self.lock = threading.Lock()
        self.began = time.perf_counter()
        self.told = self.began - APART

    def advance(self, count: int, gear: str) -> None:
        """So many more are done, by a gear."""
        with self.lock:
            self.done, self.gear = self.done + count, gear
            now = time.perf_counter()
            if now - self.told < APART:
                return
            self.told = now
            self.bar.show(self._progress(now))

    def close(self, finished: bool) -> None:
        """The map has ended; whatever ran, all its elements are done where it has not failed."""
        if finished:
            self.done = self.total
        try:
            self.bar.show(self._progress(time.perf_counter()))
        finally:
            self.bar.close()

    def _progress(self, now: float) -> Progress:
        return Progress(self.done, self.total, self.gear, now - self.began)


@contextlib.contextmanager
def shown(asked: Any, total: int, gear: str) -> Iterator[Watch | None]:
    """`asked`: True, or a function that is given a `Progress` now and then; else nobody watches."""
    if not asked:
        yield None
        return
    if asked is not True and not callable(asked):
        raise TypeError(f"progress must be True, False or a function of one argument, not {asked!r}")
    watch, finished = Watch(_bar() if asked is True else _Calls(asked), total, gear), False
    try:
        yield watch
        finished = True
    finally:
        watch.close(finished)


class _Calls:
    def __init__(self, call: Callable[[Progress], object]) -> None:
        self.call = call

    def show(self, progress: Progress) -> None:
        self.call(progress)

    def close(self) -> None:
        pass


def _bar() -> Bar:
    """A notebook's own bar there; rich's in a terminal that can show it; else plain text."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
        return _Notebook()
    if sys.stderr.isatty() and importlib.util.find_spec("rich") is not None:
        return _Rich()
    return _Plain()


class _Notebook:
    """An element of the page, which every look replaces."""

    def __init__(self) -> None:
        self.handle: Any = None

    def show(self, progress: Progress) -> None:
        display: Any = sys.modules["IPython"].display
        bar = f'<progress value="{progress.done}" max="{progress.total}" style="width:40%"></progress> {progress}'
        if self.handle is None:
            self.handle = display.display(display.HTML(bar), display_id=True)
        else:
            self.handle.update(display.HTML(bar))

    def close(self) -> None:
        pass


class _Rich:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        columns = BarColumn(), TextColumn("{task.fields[told]}")
        self.bars = Bars(*columns, console=Console(stderr=True), auto_refresh=False)
        self.task: Any = None

    def show(self, progress: Progress) -> None:
        if self.task is None:
            self.bars.start()
            self.task = self.bars.add_task("", total=progress.total, told="")
        self.bars.update(self.task, completed=progress.done, told=str(progress), refresh=True)

    def close(self) -> None:
        self.bars.stop()


class _Plain:
    """One line that is written over in a terminal; elsewhere the last one alone."""

    def __init__(self) -> None:
        self.latest = ""
        self.over = sys.stderr.isatty()

    def show(self, progress: Progress) -> None:
        before, self.latest = self.latest, str(progress)
        if self.over:
            print("\r" + self.latest.ljust(len(before)), end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("" if self.over else self.latest, file=sys.stderr, flush=True)
