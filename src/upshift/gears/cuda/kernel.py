"""Makes a kernel of one lane's function in LLVM IR: a GPU runs it with a thread for every lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from ...columns.kinds import Column, Kind
from .driver import Gpu, Launcher
from .flat import F64, I32, I64, LANE, POINTER, Flat
from .sincos import both_at_once
from .support import ON_A_GPU, support_for
from .target import Target, ptx_of

ENTRY, SCATTER = "upshift_kernel", "upshift_scatter"
HEAD = 256
"""Bytes before the bits of lanes that are left; the first four say how many are."""


SHARED, RESIDENT, TEAM, BLOCKS = 228 << 10, 2048, 256, 4
"""Bytes and threads of a multiprocessor; threads that run a lane together, and how many such teams it is to have."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function for one kind of elements, in the words that NVIDIA's driver compiles."""

    ptx: str
    kinds: tuple[Kind, ...]
    """Of the columns."""
    outs: tuple[np.dtype[Any], ...]
    captured: int = 0
    """How many arguments of 64 bits hold what was captured."""
    threads: int = 256
    """Of a block: few where lanes take their own time, so that one that takes long does not keep many from ending."""
    lanes: int = 1
    """That one thread runs."""
    shapes: tuple[tuple[int, ...], ...] = ()
    """Of one lane's results; () where they are numbers."""
    shared: int = -1
    """Bytes that the threads of a block share, where they run a lane together."""
    form: str = field(init=False)
    """Of its arguments, as `struct` has it."""
    record: int = field(init=False)
    """How many words of 64 bits a note of a lane has: its position and its elements; 0 where they are arrays."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", f"<{4 + len(self.kinds) + len(self.outs) + self.captured}q")
        known = all(kind.shape is None for kind in self.kinds)
        object.__setattr__(self, "record", 1 + sum(map(_words_of, self.kinds)) if known else 0)

    def start(
        self,
        on: Gpu,
        n: int,
        marks: int,
        notes: Notes,
        columns: Sequence[int],
        outs: Sequence[int],
        words: Sequence[Any],
        stream: int,
    ) -> None:
        """Queue the kernel for n lanes, given addresses in the GPU's memory. The context must be current.

        `marks` must be clear: lanes that are left are counted there, and have their bits set.
        """
        given = (n, marks, *notes, *columns, *outs, *words)
        if self.shared < 0:
            self.launcher(on).start(-(-n // self.lanes), self.threads, given, stream)
            return
        blocks = min(n, on.processors * min(SHARED // (self.shared + 1024), RESIDENT // self.threads))
        self.launcher(on).start(n, self.threads, given, stream, blocks, self.shared)

    def launcher(self, on: Gpu) -> Launcher:
        """The kernel as the GPU has it. The context must be current."""
        return on.launcher(self.ptx, ENTRY, self.form, max(self.shared, 0))

    def elements(self, records: Column) -> list[Column]:
        """Columns of the elements in some notes."""
        found, k = [], 1
        for kind in self.kinds:
            size = kind.dtype.itemsize
            words = records[:, k : k + _words_of(kind)]
            k += words.shape[1]
            if size != 8:
                words = np.ascontiguousarray(words).view(np.uint8)[:, :size].copy()
            found.append(words.view(kind.dtype)[:, 0])
        return found


class Notes(NamedTuple):
    """Where a kernel writes down lanes that are left: a word that says that some are, then so many notes."""

    address: int
    capacity: int = 0


def _words_of(kind: Kind) -> int:
    return -(-kind.dtype.itemsize // 8)


def marks_size(n: int) -> int:
    """Bytes that tell which of n lanes are left."""
    return HEAD + 8 * -(-n // 64)


def lanes_in(bits: Column) -> Column:
    """Positions of the lanes whose bits are set, of which there are few. `bits`: bytes, eight at a time."""
    words = np.flatnonzero(bits.view(np.uint64))
    found = np.unpackbits(bits.reshape(-1, 8)[words], axis=1, bitorder="little")
    word, bit = np.nonzero(found)
    return words[word] * 64 + bit


# ---- LLVM IR


def ptx_of_lane(flat: Flat, kinds: Sequence[Kind], target: Target, lanes: int = 1) -> str:
    """PTX of `upshift_kernel(n, marks, notes, capacity, *columns, *outs, *captured)`. `lanes`: that one thread runs."""
    flat = both_at_once(flat, target)
    entry = _Entry(flat, kinds)
    texts = entry.write_team() if flat.team else entry.write(lanes), flat.text
    ptx = ptx_of([*texts, support_for("\n".join(texts), ON_A_GPU)], ENTRY, flat.maths, target)
    if flat.team:
        ptx = ptx.replace("\n)\n{", f"\n)\n.maxntid {TEAM}, 1, 1\n.minnctapersm {BLOCKS}\n{{", 1)
    return ptx


class _Entry:
    """Writes the kernel around a lane's function."""

    def __init__(self, flat: Flat, kinds: Sequence[Kind]) -> None:
        self.kinds = kinds
        self.module = ir.Module(ENTRY)
        self.lane = ir.Function(self.module, ir.FunctionType(I32, [I64, *flat.words]), LANE)
        words = [POINTER, POINTER, I64, *flat.words]
        self.builder, self.thread, self.width, (self.n, self.marks, self.notes, self.capacity, *self.given) = _thread(
            self.module, ENTRY, words
        )
        for pointer in (self.marks, self.notes, *self.given):
            if pointer.type == POINTER:
                pointer.add_attribute("noalias")

    def write(self, lanes: int) -> str:
        """A thread's lanes are as far apart as its block is wide. What they read is read before the first is run."""
        builder, (block, inside) = self.builder, self.thread
        first = builder.add(builder.mul(builder.mul(block, self.width), I64(lanes)), inside)
        places = [builder.add(first, builder.mul(self.width, I64(k))) for k in range(lanes)]
        with builder.if_else(builder.icmp_signed("<", places[-1], self.n)) as (all_of_them, some):
            with all_of_them:
                if lanes > 1:
                    self._read_ahead(places)
                for i in places:
                    self._run(i)
            with some:
                self._run_some(first)
        builder.ret_void()
        return str(self.module)

    def write_team(self) -> str:
        """A block's lanes are as far apart as there are blocks; all its threads run each of them."""
        builder, (block, inside) = self.builder, self.thread
        wait = ir.Function(self.module, ir.FunctionType(ir.VoidType(), []), "upshift_wait")
        wait.attributes.add("convergent")
        before, head, body, end = (
            builder.block, *(builder.append_basic_block(name) for name in ("head", "lane", "end"))
        )  # fmt: skip
        blocks = ir.Function(self.module, ir.FunctionType(I32, []), "llvm.nvvm.read.ptx.sreg.nctaid.x")
        step = builder.zext(builder.call(blocks, []), I64)
        builder.branch(head)
        builder.position_at_end(head)
        i = builder.phi(I64)
        i.add_incoming(block, before)
        builder.cbranch(builder.icmp_signed("<", i, self.n), body, end)
        builder.position_at_end(body)
        odd = builder.call(self.lane, [i, *self.given])
        first = builder.icmp_signed("==", inside, I64(0))
        with builder.if_then(builder.and_(first, builder.icmp_signed("!=", odd, I32(0))), likely=False):
            _mark(builder, self.marks, i)
            builder.store(I64(1), builder.bitcast(self.notes, I64.as_pointer()))
        builder.call(wait, [])
        i.add_incoming(builder.add(i, step), builder.block)
        builder.branch(head)
        builder.position_at_end(end)
        builder.ret_void()
        return str(self.module)

    def _run_some(self, first: Any) -> None:
        """The last lanes, one after the other."""
        builder = self.builder
        before, head, body, end = (
            builder.block, *(builder.append_basic_block(name) for name in ("head", "lane", "end"))
        )  # fmt: skip
        builder.branch(head)
        builder.position_at_end(head)
        i = builder.phi(I64)
        i.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", i, self.n), body, end)
        builder.position_at_end(body)
        self._run(i)
        i.add_incoming(builder.add(i, self.width), builder.block)
        builder.branch(head)
        builder.position_at_end(end)

    def _read_ahead(self, places: Sequence[Any]) -> None:
        """Loads that nothing may throw away; those of the lane's function are found to be the same."""
        for i in places:
            for kind, column in zip(self.kinds, self.given, strict=False):
                if kind.shape is None and kind.dtype.itemsize == 8:
                    item = F64 if kind.dtype.kind == "f" else I64
                    value = self.builder.load(self.builder.gep(self.builder.bitcast(column, item.as_pointer()), [i]))
                    kept = ir.FunctionType(ir.VoidType(), [item])
                    self.builder.asm(kept, "", "d" if item == F64 else "l", [value], side_effect=True)

    def _run(self, i: Any) -> None:
        odd = self.builder.call(self.lane, [i, *self.given])
        with self.builder.if_then(self.builder.icmp_signed("!=", odd, I32(0)), likely=False):
            count = _mark(self.builder, self.marks, i)
            columns = list(zip(self.kinds, self.given, strict=False))
            _note(self.builder, self.notes, self.capacity, i, self.builder.zext(count, I64), columns)


def _thread(module: Any, name: str, words: Sequence[Any]) -> tuple[Any, tuple[Any, Any], Any, Any]:
    """A kernel whose first argument is a count: its block's number and its own, how wide a block is, the arguments."""
    kernel = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64, *words]), name)
    kernel.calling_convention = "ptx_kernel"
    builder = ir.IRBuilder(kernel.append_basic_block("entry"))

    def register(name: str) -> Any:
        fn = ir.Function(module, ir.FunctionType(I32, []), f"llvm.nvvm.read.ptx.sreg.{name}.x")
        return builder.zext(builder.call(fn, []), I64)

    return builder, (register("ctaid"), register("tid")), register("ntid"), kernel.args


def _mark(builder: Any, marks: Any, i: Any) -> Any:
    """Set a lane's bit; how many were left before it."""
    words = builder.bitcast(marks, I32.as_pointer())
    place = builder.gep(words, [_word_of(builder, i)])
    bit = builder.shl(I32(1), builder.trunc(builder.and_(i, I64(31)), I32))
    builder.atomic_rmw("or", place, bit, "monotonic")
    return builder.atomic_rmw("add", words, I32(1), "monotonic")


def _word_of(builder: Any, i: Any) -> Any:
    """Which word of the marks holds a lane's bit."""
    return builder.add(builder.lshr(i, I64(5)), I64(HEAD // 4))


def _note(builder: Any, notes: Any, capacity: Any, i: Any, count: Any, columns: Sequence[tuple[Kind, Any]]) -> None:
    words = builder.bitcast(notes, I64.as_pointer())
    builder.store(I64(1), words)
    if any(kind.shape is not None for kind, _ in columns):
        return
    with builder.if_then(builder.icmp_signed("<", count, capacity)):
        width = 1 + sum(_words_of(kind) for kind, _ in columns)
        place = builder.gep(words, [builder.add(builder.mul(count, I64(width)), I64(1))])
        k = 1
        for kind, column in columns:
            part = ir.IntType(8 * min(kind.dtype.itemsize, 8))
            start = builder.mul(i, I64(_words_of(kind)))
            for j in range(_words_of(kind)):
                item = builder.gep(builder.bitcast(column, part.as_pointer()), [builder.add(start, I64(j))])
                value = builder.load(item)
                builder.store(value if part.width == 64 else builder.zext(value, I64), builder.gep(place, [I64(k)]))
                k += 1
        builder.fence("seq_cst")  # who sees the position sees the elements
        builder.store(i, place)


def ptx_of_scatter(target: Target) -> str:
    """PTX of `upshift_scatter(n, size, positions, values, out, marks)`: n values of so many bytes to their positions.

    Their lanes are no longer left: the words that hold their bits are cleared, and the count of them.
    """
    module = ir.Module(SCATTER)
    words = [I64, POINTER, POINTER, POINTER, POINTER]
    builder, (block, inside), width, (n, size, positions, values, out, marks) = _thread(module, SCATTER, words)
    i = builder.add(builder.mul(block, width), inside)
    with builder.if_then(builder.icmp_signed("<", i, n)):
        position = builder.load(builder.gep(builder.bitcast(positions, I64.as_pointer()), [i]))
        counted = builder.bitcast(marks, I32.as_pointer())
        builder.store(I32(0), counted)
        builder.store(I32(0), builder.gep(counted, [_word_of(builder, position)]))
        start, end = builder.mul(i, size), builder.mul(position, size)
        before, body, after = builder.block, builder.append_basic_block("byte"), builder.append_basic_block("end")
        builder.branch(body)
        builder.position_at_end(body)
        k = builder.phi(I64)
        byte = builder.load(builder.gep(values, [builder.add(start, k)]))
        builder.store(byte, builder.gep(out, [builder.add(end, k)]))
        following = builder.add(k, I64(1))
        k.add_incoming(I64(0), before)
        k.add_incoming(following, body)
        builder.cbranch(builder.icmp_signed("<", following, size), body, after)
        builder.position_at_end(after)
    builder.ret_void()
    return ptx_of((str(module),), SCATTER, (), target)
