"""The loop that copies columns to a GPU and results back, chunk by chunk, as machine code of its own.

A thread that runs it needs the interpreter for none of it. Threads of Python that copy, queue and wait in turn hand the
interpreter to each other thousands of times, which takes longer than the bus does.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir

from .driver import Calls
from .flat import I32, I64, POINTER
from .kernel import HEAD, marks_size
from .target import Target

ALIGNED = 256


class Layout(NamedTuple):
    """Columns, then marks of lanes that are left, then results: the bytes of one number or array of each."""

    ins: tuple[int, ...]
    outs: tuple[int, ...]
    lanes: int
    """Of a chunk, a multiple of 64."""
    threads: int
    """Of a block."""
    each: int
    """Lanes that a thread runs."""

    @property
    def places(self) -> list[int]:
        """Where each begins, and where all ends."""
        sizes = [*(self.lanes * size for size in self.ins), marks_size(self.lanes)]
        sizes += [self.lanes * size for size in self.outs]
        return [0, *itertools.accumulate(-(-size // ALIGNED) * ALIGNED for size in sizes)]


NEXT, CHUNKS, TOTAL, ERROR, LEFT, BITS, KERNEL, FIRST = range(8)
"""What stands where in a plan, which all threads share. Then, for every column and result, its address, and 1 where it
is pinned."""
STREAM, HERE, THERE, WORDS, EXTRA = range(5)
"""What stands where in a staging buffer's own words."""


@functools.lru_cache(maxsize=64)
def copy_loop_of(layout: Layout, calls: Calls) -> Any:
    """`copy_chunks(plan, buffer, most)`: 1 after `most` chunks, 0 when there are no more. Threads of Python call it."""
    target = _this_machine()
    module = target.parse(_CopyLoop(layout, calls).write())
    target.optimise(module, 1)
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_triple(target.triple).create_target_machine(opt=2))
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    copy_chunks = kind(engine.get_function_address("upshift_copy_loop"))
    copy_chunks.engine = engine  # type: ignore[attr-defined]
    return copy_chunks


@functools.cache
def _this_machine() -> Target:
    return Target(llvm.get_process_triple())


class _CopyLoop:
    """Writes the loop over chunks."""

    def __init__(self, layout: Layout, calls: Calls) -> None:
        self.layout, self.calls, self.places = layout, calls, layout.places
        self.module = ir.Module("upshift_copy_loop")
        kind = ir.FunctionType(I64, [I64.as_pointer(), I64.as_pointer(), I64])
        self.fn = ir.Function(self.module, kind, "upshift_copy_loop")
        self.plan, self.buffer, self.most = self.fn.args
        self.copy = ir.Function(self.module, ir.FunctionType(POINTER, [POINTER, POINTER, I64]), "memcpy")
        self.builder = ir.IRBuilder(self.fn.append_basic_block("entry"))
        self.codes: list[Any] = []

    def write(self) -> str:
        b = self.builder
        head, body, more = (b.append_basic_block(name) for name in ("head", "body", "more"))
        entry = b.block
        b.branch(head)
        b.position_at_end(head)
        done = b.phi(I64)
        done.add_incoming(I64(0), entry)
        chunk = b.atomic_rmw("add", self._at(self.plan, NEXT), I64(1), "monotonic")
        over = b.icmp_signed(">=", chunk, self._read(self.plan, CHUNKS))
        self._return_where(over, 0)
        b.branch(body)
        b.position_at_end(body)
        self._copy_chunks(b.mul(chunk, I64(self.layout.lanes)))
        following = b.add(done, I64(1))
        done.add_incoming(following, b.block)
        b.cbranch(b.icmp_signed("<", following, self.most), head, more)
        b.position_at_end(more)
        b.ret(I64(1))
        return str(self.module)

    def _copy_chunks(self, start: Any) -> None:
        b, layout, k = self.builder, self.layout, len(self.layout.ins)
        rest = b.sub(self._read(self.plan, TOTAL), start)
        n = b.select(b.icmp_signed("<", rest, I64(layout.lanes)), rest, I64(layout.lanes))
        here, there, stream = (self._read(self.buffer, which) for which in (HERE, THERE, STREAM))
        marks = b.add(I64(HEAD), b.mul(b.udiv(b.add(n, I64(63)), I64(64)), I64(8)))
        self._call(self.calls.clear, [b.add(there, I64(self.places[k])), I32(0), marks, stream])
        for j, size in enumerate(layout.ins):
            source = self._source(j, b.add(here, I64(self.places[j])), start, n, size)
            self._call(self.calls.send, [b.add(there, I64(self.places[j])), source, b.mul(n, I64(size)), stream])
        self._launch(n, stream)
        for j, size in enumerate(layout.outs, start=k + 1):
            to = b.add(self._read(self.plan, FIRST + 2 * (j - 1)), b.mul(start, I64(size)))
            to = b.select(self._is_pinned(j - 1), to, b.add(here, I64(self.places[j])))
            self._call(self.calls.fetch, [to, b.add(there, I64(self.places[j])), b.mul(n, I64(size)), stream])
        self._call(
            self.calls.fetch, [b.add(here, I64(self.places[k])), b.add(there, I64(self.places[k])), marks, stream]
        )
        self._call(self.calls.wait, [stream])
        self._stop_on_errors()
        for j, size in enumerate(layout.outs, start=k + 1):
            with b.if_then(b.not_(self._is_pinned(j - 1))):
                to = b.add(self._read(self.plan, FIRST + 2 * (j - 1)), b.mul(start, I64(size)))
                self._copy(to, b.add(here, I64(self.places[j])), b.mul(n, I64(size)))
        self._keep_marks(b.add(here, I64(self.places[k])), start, marks)

    def _source(self, j: int, place: Any, start: Any, n: Any, size: int) -> Any:
        """Where a part of a column is sent from: its own place where it is pinned, else the staging buffer."""
        b = self.builder
        own = b.add(self._read(self.plan, FIRST + 2 * j), b.mul(start, I64(size)))
        with b.if_then(b.not_(self._is_pinned(j))):
            self._copy(place, own, b.mul(n, I64(size)))
        return b.select(self._is_pinned(j), own, place)

    def _launch(self, n: Any, stream: Any) -> None:
        b, layout = self.builder, self.layout
        words = b.inttoptr(self._read(self.buffer, WORDS), I64.as_pointer())
        b.store(n, words)
        threads = b.udiv(b.add(n, I64(layout.each - 1)), I64(layout.each))
        blocks = b.trunc(b.udiv(b.add(threads, I64(layout.threads - 1)), I64(layout.threads)), I32)
        shape = [blocks, I32(1), I32(1), I32(layout.threads), I32(1), I32(1), I32(0)]
        kernel, extra = self._read(self.plan, KERNEL), self._read(self.buffer, EXTRA)
        self._call(self.calls.launch, [kernel, *shape, stream, I64(0), extra])

    def _keep_marks(self, marks: Any, start: Any, size: Any) -> None:
        b = self.builder
        count = b.load(b.inttoptr(marks, I32.as_pointer()))
        with b.if_then(b.icmp_signed("!=", count, I32(0)), likely=False):
            to = b.add(self._read(self.plan, BITS), b.udiv(start, I64(8)))
            self._copy(to, b.add(marks, I64(HEAD)), b.sub(size, I64(HEAD)))
            b.store(I64(1), self._at(self.plan, LEFT))

    def _stop_on_errors(self) -> None:
        b = self.builder
        code = functools.reduce(b.or_, self.codes)
        self.codes.clear()
        failed = b.icmp_signed("!=", code, I32(0))
        with b.if_then(failed, likely=False):
            b.store(b.zext(code, I64), self._at(self.plan, ERROR))
            b.store(self._read(self.plan, CHUNKS), self._at(self.plan, NEXT))
            b.ret(I64(0))

    # ---- words

    def _at(self, words: Any, which: int) -> Any:
        return self.builder.gep(words, [I64(which)])

    def _read(self, words: Any, which: int) -> Any:
        return self.builder.load(self._at(words, which))

    def _is_pinned(self, j: int) -> Any:
        return self.builder.icmp_signed("!=", self._read(self.plan, FIRST + 2 * j + 1), I64(0))

    def _copy(self, to: Any, start: Any, size: Any) -> None:
        b = self.builder
        b.call(self.copy, [b.inttoptr(to, POINTER), b.inttoptr(start, POINTER), size])

    def _call(self, address: int, args: Sequence[Any]) -> None:
        """A call of the driver. All integers are as wide as what it takes, so that pointers are integers as well."""
        kind = ir.FunctionType(I32, [arg.type for arg in args])
        fn = self.builder.inttoptr(I64(address), kind.as_pointer())
        self.codes.append(self.builder.call(fn, args))

    def _return_where(self, condition: Any, code: int) -> None:
        with self.builder.if_then(condition):
            self.builder.ret(I64(code))
