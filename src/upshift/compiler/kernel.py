"""A function made ready to run over lanes: checked, written, compiled, and called with columns of numbers."""

from __future__ import annotations

import copy
import ctypes
import logging
import math
import mmap
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import (
    library,  # noqa: F401  (what operations stand on)
    module,
)
from .captures import Captures
from .check import Spec, TakesLonger, Unit, WholeCall, circling, settled
from .kinds import NONE, Array, Kind, Refused
from .lanes import LEFT, NEEDED, REACHED, STREAM, STREAM_END, Loop, Out, check_result
from .rows.nests import FLAGS, flags_now
from .write import INTERRUPTED, Module, Reason, write_unit

CAPTURED, STOP, TURNS = 2, 3, 5
"""Words of the context: the block of captured values, the address of the flag that ends all loops, and how many more
times a loop may look at it."""
BUSY = 10
"""The word of a context that tells whether somebody uses it; only entries look at it."""
NO_LIMIT, BRIEF_TURNS = 1 << 62, 4000
"""Looks at the flag (some 5 us apart) without a limit, and on the caller's own thread."""
ARENA = 1 << 30
"""Bytes that one lane may allocate; only what is used takes memory."""
KEPT = 1 << 26
"""Bytes of an arena that stay in memory between two calls."""
WORDS = 32


@dataclass(slots=True)
class Checked:
    """A function whose kinds are all known: it will compile."""

    unit: Unit
    root: Spec

    @property
    def result(self) -> Kind:
        """The kind of what it returns."""
        return self.root.result.kind or NONE

    @property
    def size(self) -> int:
        """About how much code there is: steps of all versions."""
        return sum(len(v.steps) + 2 for spec in self.unit.specs.values() for v in spec.reachable())


GUARDED = True
"""Whether an error of the compiler's own is a refusal; tests set it to False."""


def check(
    f: Any,
    kinds: Sequence[Kind],
    shared: dict[str, Any] | None = None,
    whole: WholeCall | None = None,
    limit: float = math.inf,
) -> Checked:
    """Whether a function compiles for elements of these kinds: all kinds in it, or `Refused`. Needs no LLVM.
    `TakesLonger` where that is not known after `limit` seconds."""
    try:
        return _check(f, kinds, shared, whole, limit)
    except (Refused, TakesLonger):
        raise
    except Exception as error:
        if not GUARDED:
            raise
        logging.getLogger(__name__).debug("the compiler failed on %r", f, exc_info=True)
        raise Refused(f"the compiler failed: {type(error).__name__}", remedy="report it") from error


def _check(
    f: Any, kinds: Sequence[Kind], shared: dict[str, Any] | None, whole: WholeCall | None, limit: float
) -> Checked:
    unit, root = settled(f, list(kinds), shared, whole, limit)
    if root.result.kind is None:
        if unit.doubts:
            reason, line, filename = unit.doubts[0]
            raise Refused(reason, line, "", filename)
        raise Refused("it never returns")
    if whole is None:
        check_result(root.result.kind)
    return Checked(unit, root)


@dataclass(slots=True)
class Written:
    """A module of IR, and what it needs to be run."""

    text: str
    outs: list[Out]
    columns: int
    reasons: list[Reason]
    symbols: dict[str, int]
    flat: bool
    whole: bool
    """Whether optimised code is by all that LLVM knows: it finds vectors in the loop over lanes of code without loops,
    and loops over arrays take half the time. Other loops gain nothing by it."""
    watches: bool
    """Whether the processor's flags are looked at, which tell that NumPy would warn."""
    may_underflow: bool
    """Whether it does not see that a number of NumPy's becomes too small."""


def write(checked: Checked) -> Written:
    """LLVM IR for a function that was checked, with the loop over lanes around it."""
    module = write_unit(checked.unit)
    loop = Loop(module, checked.root)
    polls = any("call i1 @up_poll" in text for text in module.functions)
    lanes = loop.write(polls)
    flat = not polls and not checked.unit.recursive and not any(spec.loops() for spec in module.specs)
    whole = flat or gains_by_all(module)
    return Written(module.assembled() + lanes, loop.outs, loop.columns, module.reasons, module.symbols, flat, whole,
                   module.watches, module.may_underflow)  # fmt: skip


def gains_by_all(module: Module) -> bool:
    """Whether code is much better by all that LLVM knows: where there are arrays."""
    return any(map(_holds_arrays, module.specs))


def has_loops_over_items(module: Module) -> bool:
    """Whether a loop takes items of arrays one by one, and computes with no whole array meanwhile."""
    return any(module.items & circling(set(spec.reachable()) - module.nests) for spec in module.specs)


def _holds_arrays(spec: Spec) -> bool:
    """Whether a variable of a function is an array somewhere."""
    return any(isinstance(kind, Array) for version in spec.reachable() for kind in version.kinds.values())


@dataclass(slots=True)
class Made:
    """What a kernel made of lanes: columns of results, the status of every lane, the words of lists and texts."""

    outs: list[Any]
    status: Any
    left: int
    stream: Any = None
    used: int = 0
    """Words of the stream."""


class Kernel:
    """Machine code of one function over lanes."""

    def __init__(self, checked: Checked, quick: bool = False) -> None:
        """`quick`: with little optimisation, unless better code is on disk already."""
        self.written = written = write(checked)
        self.result = checked.result
        self.outs, self.reasons, self.flat = written.outs, written.reasons, written.flat
        code = module.kept_code(written.text, written.whole) if quick else None
        self.optimised = code is not None or not quick or bool(checked.unit.recursive)  # quick code needs a deep stack
        self._load(code or module.object_code(written.text, written.whole, 2 if self.optimised else 1))
        self.captures = checked.unit.captures
        self.streams = any(out.stream for out in self.outs)
        self.watches, self.may_underflow = written.watches, written.may_underflow
        self.width = 16
        """Words of the stream that a lane is expected to need."""

    def _load(self, code: bytes) -> None:
        self.loaded = module.Loaded(code, ("lanes",), self.written.symbols)
        self.lanes = module.LANES(self.loaded.address("lanes"))

    def as_optimised(self) -> Kernel:
        """The same function, in the best code that LLVM can make of it."""
        if self.optimised:
            return self
        made = copy.copy(self)
        made.optimised = True
        made._load(module.object_code(self.written.text, self.written.whole))
        return made

    def run(self, captured: Any, columns: Sequence[Any], n: int) -> Made:
        """All lanes, on this thread."""
        call = Launch(self, captured, columns, n)
        call.lanes(0, n, NO_LIMIT)
        return call.made()


class Launch:
    """One run of a kernel: its columns of results, to be filled part by part, by one thread or several."""

    def __init__(self, kernel: Kernel, captured: Any, columns: Sequence[Any], n: int) -> None:
        self.kernel, self.captured, self.columns, self.n = kernel, captured, columns, n
        self.outs = [np.empty(n, dtype_of(out)) for out in kernel.outs]
        self.status = np.empty(n, np.int32)
        self.left = 0
        self.parts: list[tuple[int, int, Any, int]] = []
        """Streams of the parts that are done: from which lane to which, the words, and how many."""
        self.column_addresses, self.out_addresses = _addresses(columns), _addresses(self.outs)
        self.flags = flags_now() if kernel.watches else 0
        self.stop = np.zeros(2, np.int32)
        """Its first number ends all loops where it is set."""

    def lanes(self, start: int, stop: int, limit: int) -> int:
        """Run some lanes, in at most `limit` looks at the clock; the lane that was reached."""
        kernel = self.kernel
        with _context() as context:
            words = context.words
            words[CAPTURED] = self.captured.ctypes.data if self.captured is not None else 0
            words[STOP], words[TURNS], words[FLAGS] = self.stop.ctypes.data, limit, self.flags
            stream = self._new_stream(words, stop - start) if kernel.streams else None
            at = start
            while at < stop:
                given = (words, self.column_addresses, self.out_addresses, self.status)
                at = kernel.lanes(*(array.ctypes.data for array in given), at, stop)
                self.left += int(words[LEFT])
                if at == stop or words[TURNS] < 0 or self.stop[0]:
                    break
                assert stream is not None
                stream = self._more(stream, words, start, at)
            if stream is not None:
                for out, column in zip(kernel.outs, self.outs):
                    if out.stream:
                        column[start:at] -= stream.ctypes.data
                used = (int(words[STREAM]) - stream.ctypes.data) // 8
                self.parts.append((start, at, stream, used))
                kernel.width = max(kernel.width, used // max(at - start, 1) + 1)
        return at

    def leave(self, lanes: slice) -> None:
        """Lanes that were not run, since there was no time for them."""
        reasons = self.kernel.reasons
        if not any(reason.text == INTERRUPTED for reason in reasons):  # machine code that never looks at the clock
            reasons.append(Reason(None, INTERRUPTED, "", 0))
        number = next(k for k, reason in enumerate(reasons) if reason.text == INTERRUPTED)
        self.status[lanes] = 256 * (number + 1)
        self.left += lanes.stop - lanes.start

    def _new_stream(self, words: Any, n: int) -> Any:
        stream = np.empty(max(n * self.kernel.width, 1024), np.int64)
        words[STREAM], words[STREAM_END] = stream.ctypes.data, stream.ctypes.data + stream.nbytes
        return stream

    def _more(self, stream: Any, words: Any, start: int, at: int) -> Any:
        """A longer stream, with the same words in it."""
        used = int(words[STREAM]) - stream.ctypes.data
        longer = np.empty(2 * len(stream) + int(words[NEEDED]) // 8, np.int64)
        words[NEEDED] = 0
        longer[: used // 8] = stream[: used // 8]
        for out, column in zip(self.kernel.outs, self.outs):
            if out.stream:
                column[start:at] += longer.ctypes.data - stream.ctypes.data
        words[STREAM], words[STREAM_END] = longer.ctypes.data + used, longer.ctypes.data + longer.nbytes
        return longer

    def made(self) -> Made:
        """What all parts together have made."""
        if not self.kernel.streams:
            return Made(self.outs, self.status, self.left)
        if not self.parts:  # there was no time for any lane
            return Made(self.outs, self.status, self.left, np.empty(0, np.int64))
        if len(self.parts) == 1:
            return Made(self.outs, self.status, self.left, self.parts[0][2], self.parts[0][3])
        base, words = 0, []
        for start, stop, stream, used in sorted(self.parts, key=lambda part: part[0]):
            for out, column in zip(self.kernel.outs, self.outs):
                if out.stream:
                    column[start:stop] += 8 * base
            words.append(stream[:used])
            base += used
        return Made(self.outs, self.status, self.left, np.concatenate(words or [np.empty(0, np.int64)]), base)


def dtype_of(out: Out) -> Any:
    """The dtype of a column of results."""
    if out.kind is None:
        return np.int8
    if out.stream:
        return np.int64
    return getattr(out.kind, "dtype", None) or out.kind.cls  # type: ignore[attr-defined]


def _addresses(arrays: Sequence[Any]) -> Any:
    return np.array([array.ctypes.data for array in arrays] or [0], np.int64)


@dataclass(slots=True)
class Context:
    """The words that machine code is given, and the arena of one thread."""

    words: Any
    arena: Any
    flag: Any
    busy: bool = False

    @classmethod
    def new(cls, size: int = ARENA) -> Context:
        """One with an arena of its own, which takes memory only where it is written to."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        arena = mmap.mmap(-1, size, flags=flags)
        words, flag = np.zeros(WORDS, np.int64), np.zeros(2, np.int32)
        words[0] = ctypes.addressof(ctypes.c_char.from_buffer(arena))
        words[1] = words[0] + size
        words[STOP] = flag.ctypes.data
        return cls(words, arena, flag)

    def __enter__(self) -> Context:
        self.busy = True
        return self

    def __exit__(self, *_: object) -> None:
        if self.words[REACHED] - self.words[0] > KEPT:
            self.arena.madvise(mmap.MADV_DONTNEED, KEPT)
            self.words[REACHED] = 0
        self.busy = False


_LOCAL = threading.local()


def _context() -> Context:
    context = getattr(_LOCAL, "context", None)
    if context is None or context.busy:
        context = Context.new()
        if not hasattr(_LOCAL, "context"):
            _LOCAL.context = context
    return context


_FORMATS = {"i64": "<q", "double": "<d", "i1": "<?", "{ double, double }": "<dd"}


def captured_block(captures: Captures, values: dict[Any, Any], tables: dict[Any, int]) -> Any:
    """The block of captured values: numbers as they are now, addresses of arrays and tables."""
    block: Any = np.zeros(max(captures.size, 8), np.uint8)
    for path, found in captures.inputs.items():
        kind, at = found.kind, found.slot
        value: Any = values.get(path)
        if isinstance(kind, Array):
            struct.pack_into(f"<{1 + 2 * kind.ndim}q", block, at, value.ctypes.data, *value.shape, *value.strides)
        elif path in captures.tables:
            struct.pack_into("<q", block, at, tables[path])
        elif kind.ll == "{ double, double }":
            struct.pack_into("<dd", block, at, value.real, value.imag)
        elif getattr(kind, "dtype", None) is not None:
            raw = np.asarray(value).tobytes()
            block[at : at + len(raw)] = np.frombuffer(raw, np.uint8)
        else:
            struct.pack_into(_FORMATS[kind.ll or ""], block, at, value)
    return block
