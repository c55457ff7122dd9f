"""A function made ready as machine code, and run over columns: on threads, interruptible, with the lanes it leaves."""

from __future__ import annotations

import logging
import math
import operator
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...columns.kinds import Column
from ...columns.outputs import Placed
from ...compiler import code_cache, kernel, llvm
from ...compiler.check import TakesLonger
from ...compiler.kinds import Refused
from ...compiler.results import objects_of
from ...compiler.rows.memory import CHANGES
from ...compiler.tables import Table, build
from ...errors import Refusal
from ..capture_reader import MISS, capture_reader_of
from ..chunks import THREADS_PAY_SECONDS, chunks_of, pool
from .columns import Argument, Key, kind_of_key
from .results import piece_of_columns, pieces_of

GEAR = "llvm"
BRIEFLY = 4000
"""Looks at the clock (some 5 us each) that machine code may take on the caller's own thread: Ctrl-C waits no longer."""
LANES_AT_ONCE = 1 << 20
"""Lanes of a function without loops between two moments in which Ctrl-C is heard."""


class NotReady(Exception):
    """What the function captured is not what this machine code was made for."""


@dataclass(slots=True)
class Ran:
    """Results by position, and the positions of lanes that are the plain function's."""

    pieces: list[Placed]
    left: Column
    status: Column
    made: kernel.Made
    overran: bool = False
    """Whether there was no time for all lanes."""


@dataclass(slots=True)
class Prepared:
    """A function as machine code, for elements of certain kinds."""

    kernel: kernel.Kernel
    bind: Any
    """`bind(f, shared)`: what was captured, as it is now, in order; MISS where it is no longer what it was."""
    paths: list[Any]
    tables: dict[Any, Table]
    flat_rate: float = field(default=0.0)
    """Seconds for a lane, as last measured."""
    blocks: deque[tuple[Any, Any, int]] = field(default_factory=lambda: deque(maxlen=64))
    """Values, blocks of them and their addresses: some thread may still use one that is no longer the last."""

    whole: bool = False
    """Whether what its C-level callable gives is the result."""

    def pieces_of_entry(self, result: Any, n: int) -> list[Placed]:
        """What the C-level callable gave, as pieces of the result."""
        if self.whole:
            return [(slice(None), piece_of_columns(self.kernel.result, result, n))]
        outs = list(result)
        stream = outs.pop() if self.kernel.streams else None
        for out, column in zip(self.kernel.outs, outs):
            if out.stream:
                column -= column[0]
        made = kernel.Made(outs, None, 0, stream, 0 if stream is None else len(stream))
        return pieces_of(self.kernel.result, made, slice(None), n)

    def as_optimised(self) -> Prepared:
        """The same, in the best code that there is."""
        return replace(self, kernel=self.kernel.as_optimised(), flat_rate=0.0, blocks=deque(maxlen=64), whole=False)

    def address(self, f: Any) -> Any:
        """The address of a block of the values that are captured now, 0 where there are none; or MISS."""
        if self.bind is None:
            return 0
        values = self.bind(f)
        if values is MISS or not self.kernel.captures.inputs:
            return MISS if values is MISS else 0
        if self.blocks:
            last, _, address = self.blocks[-1]
            if all(map(operator.is_, last, values)) and not any(type(value) is np.ndarray for value in values):
                return address
        block = self._block(values)
        self.blocks.append((values, block, block.ctypes.data))
        return self.blocks[-1][2]

    def over(
        self, f: Any, shared: dict[str, Any], arguments: Sequence[Argument], n: int, threads: int,
        limit: float = math.inf,
    ) -> Ran:  # fmt: skip
        """All lanes, or as many as there is time for; `NotReady` where something captured has changed."""
        captured = self.captured(f, shared)
        columns = [array for argument in arguments for array in argument.arrays]
        call = kernel.Launch(self.kernel, captured, columns, n)
        began = time.perf_counter()
        _run(call, n, threads if n * self.flat_rate > THREADS_PAY_SECONDS else 1, limit)
        self.flat_rate = (time.perf_counter() - began) / n
        made = call.made()
        if not made.left:
            return Ran(pieces_of(self.kernel.result, made, slice(None), n), _NONE, made.status, made)
        done, left = np.flatnonzero(made.status == 0), np.flatnonzero(made.status)
        pieces = pieces_of(self.kernel.result, made, done, n) if len(done) else []
        return Ran(pieces, left, made.status, made, bool(call.stop[0]))

    def stands(self, f: Any, shared: dict[str, Any]) -> bool:
        """Whether what the function captures is still what this was made for."""
        return self.bind is None or self.bind(f, shared) is not MISS

    def captured(self, f: Any, shared: dict[str, Any]) -> Any:
        """The block of captured values, as they are now."""
        values = self.bind(f, shared) if self.bind is not None else ()
        if values is MISS:
            raise NotReady
        return self._block(values) if self.kernel.captures.inputs else None

    def _block(self, values: Any) -> Any:
        addresses = {path: table.address for path, table in self.tables.items()}
        return kernel.captured_block(self.kernel.captures, dict(zip(self.paths, values)), addresses)

    def objects(self, ran: Ran, lanes: Column) -> list[Any]:
        """The results of some lanes that were not left, as Python's objects."""
        return objects_of(self.kernel.result, ran.made, lanes)

    def changes(self, status: Column) -> Refusal | None:
        """Why the loop has to run all elements, where a lane would have changed what it was given."""
        for number in set((status[status != 0] // 256 - 1).tolist()) if status.any() else ():
            reason = self.kernel.reasons[number]
            if reason.text == CHANGES:
                return Refusal(GEAR, CHANGES, f"{reason.filename}:{reason.line}", "change a copy of it")
        return None

    def reasons(self, status: Column) -> list[tuple[str, int]]:
        """Why lanes were left, and how many for each reason, the most frequent first."""
        found = Counter((status[status != 0] // 256 - 1).tolist())
        return [(str(self.kernel.reasons[number]), count) for number, count in found.most_common()]


_NONE: Column = np.empty(0, np.int64)


def check(
    f: Any, keys: Sequence[Key], shared: dict[str, Any], limit: float = math.inf
) -> kernel.Checked | Refusal | None:
    """Whether a function compiles for elements of these kinds; needs no LLVM. None: not known after `limit` seconds."""
    try:
        return kernel.check(f, [kind_of_key(key) for key in keys], shared, limit=limit)
    except TakesLonger:
        return None
    except Refused as refused:
        return refusal_of(refused)


def is_loaded() -> bool:
    """Whether LLVM is in memory."""
    return llvm.is_loaded()


def find() -> None:
    """Import what LLVM and its code on disk need, before another thread does: two milliseconds, once in a process."""
    llvm.find()
    code_cache.name_of()


def load() -> None:
    """Load LLVM, once in a process: some ten milliseconds, half of them without the interpreter's lock."""
    llvm.llvm()


def refusal_of(refused: Refused) -> Refusal:
    """Why a function is not compiled, in the words of the plan: with place and remedy."""
    where = f"{refused.filename}:{refused.line}" if refused.line else ""
    return Refusal(GEAR, refused.reason, where, refused.remedy)


def prepare(checked: kernel.Checked, quick: bool = False) -> Prepared | Refusal:
    """Machine code of a function that was checked. `quick`: made in a quarter of the time, less optimised."""
    try:
        made = kernel.Kernel(checked, quick)
    except Refused as refused:
        return refusal_of(refused)
    except RuntimeError as error:  # LLVM does not take what was written: a mistake of ours, not the user's
        if not kernel.GUARDED:
            raise
        logging.getLogger(__name__).debug("LLVM failed", exc_info=True)
        return Refusal(GEAR, f"the compiler failed: {str(error).splitlines()[0]}", "", "report it")
    captures = made.captures
    tables = {path: build(kind, value) for path, (kind, value) in captures.tables.items()}
    looked_at = [replace(capture, id=-i) for i, capture in enumerate(captures.looked_at.values(), start=1)]
    inputs = [capture.path for capture in looked_at if capture.is_input]
    return Prepared(made, capture_reader_of(looked_at) if looked_at else None, inputs, tables)


# ---- running


def _run(call: kernel.Launch, n: int, threads: int, limit: float) -> None:
    """All lanes: on this thread while that is brief, else on others, so that Ctrl-C and the clock are heard."""
    if threads > 1:
        return _on_threads(call, chunks_of(0, n, max(n // (4 * threads), 1), threads), threads, limit)
    at = 0
    while at < n:
        stop = min(at + LANES_AT_ONCE, n) if call.kernel.flat else n
        reached = call.lanes(at, stop, BRIEFLY if _is_main() else kernel.NO_LIMIT)
        if reached < stop:
            return _on_threads(call, [slice(reached, n)], 1, limit)
        at = stop
    return None


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _on_threads(call: kernel.Launch, chunks: list[slice], threads: int, limit: float) -> None:
    """Chunks on other threads, while this one waits and listens; what is not done after `limit` seconds is left."""
    waiting = iter(chunks)
    lock = threading.Lock()
    undone: list[slice] = []

    def some() -> None:
        while not call.stop[0]:
            with lock:
                chunk = next(waiting, None)
            if chunk is None:
                return
            reached = call.lanes(chunk.start, chunk.stop, kernel.NO_LIMIT)
            if reached < chunk.stop:
                undone.append(slice(reached, chunk.stop))

    helpers = [pool(max(threads, 1)).submit(some) for _ in range(max(min(threads, len(chunks)), 1))]
    try:
        wait(helpers, None if limit == math.inf else limit)
        if not all(helper.done() for helper in helpers):
            call.stop[0] = 1
        for helper in helpers:
            helper.result()
    except BaseException:
        call.stop[0] = 1
        for helper in helpers:
            helper.cancel() or helper.exception()
        raise
    for lanes in (*undone, *waiting):
        call.leave(lanes)
