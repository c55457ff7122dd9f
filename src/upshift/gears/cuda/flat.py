"""A compiled function in; out, one lane's work as one flat function in LLVM's words, for any processor.

The numba gear gives LLVM a function that means what Python means, and that raises where it is not sure. None of that
hangs on the processor, so a GPU is given the very same function. Here it is inlined into `lane`, which reads lane i of
every column, computes, and writes lane i of every result, or returns 1 where the plain function is to run the lane.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import types
from numba.core.registry import cpu_target
from numba.np.arrayobj import populate_array

from ...columns.kinds import Kind
from ..ran import NotCompiled
from .target import Target, keep_only
from .ufuncs import LOOP, loops_in

I8, I32, I64, F64 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
POINTER = I8.as_pointer()
LANE = "upshift_lane"
OF_C = "upshift_"
"""What the names of C's functions begin with."""


@dataclass(frozen=True, slots=True)
class Shared:
    """An argument that all lanes share: a number, or an array of so many axes, which lies in C's order."""

    dtype: np.dtype[Any]
    ndim: int | None = None

    @property
    def words(self) -> list[Any]:
        """What it is in a list of arguments: 64 bits each."""
        if self.ndim is not None:
            return [POINTER, *[I64] * self.ndim]
        return {"c": [F64, F64], "f": [F64]}.get(self.dtype.kind, [I64])


@dataclass(frozen=True, slots=True)
class Compiled:
    """What Numba made of a function of one lane, before it is machine code."""

    library: Any
    fndesc: Any
    signature: Any
    marks: bool = False
    """Whether the last of its results says that the lane is left."""


@dataclass(frozen=True, slots=True)
class Flat:
    """One lane's work: `i32 @upshift_lane(i64 lane, *columns, *outs, *shared)`, 0 where its results stand."""

    text: str
    words: tuple[Any, ...]
    """Types of the arguments behind the first."""
    maths: frozenset[str]
    """C's functions that it calls."""

    @property
    def loops(self) -> bool:
        """Whether lanes may take different times: a block is entered again from one below it."""
        seen: set[str] = set()
        for line in self.text.splitlines():
            label = re.match(r'((?:[-\w.$]+|"[^"]*")):', line)
            if label:
                seen.add(f"%{label[1]}")
            elif re.match(r"  (br|switch) ", line) and seen.intersection(
                re.findall(r'label (%[-\w.$]+|%"[^"]*")', line)
            ):
                return True
        return False

    @property
    def close(self) -> bool:
        """Whether it hangs on functions whose last bits a GPU has otherwise."""
        return bool(self.maths - {"fmod"})


def flatten_lane(made: Compiled, kinds: Sequence[Kind], shared: Sequence[Shared], target: Target) -> Flat:
    """One function from all that Numba made, or `NotCompiled`."""
    text, words = _Lane(made, kinds, shared).write()
    module = target.parse(text)
    parts = [str(library._final_module) for library in _libraries(made.library)]
    for part in [*parts, loops_in(parts)]:
        module.link_in(target.parse(part))
    keep_only(module, [LANE])
    for fn in module.functions:
        if not fn.is_declaration and fn.name != LANE:
            fn.add_function_attribute("alwaysinline")
    target.optimise(module, 2, unroll=False)
    flat = _without_remainders(str(module))
    # What LLVM found out of its result need not hold when more lanes are left.
    flat = re.sub(rf"^define [^@\n]*i32 @{LANE}\(", f"define i32 @{LANE}(", flat, flags=re.MULTILINE)
    return Flat(flat, tuple(words), _maths_of(flat))


def _libraries(library: Any) -> Iterator[Any]:
    """A library of Numba's and all that it is linked with, each once."""
    seen, waiting = set(), [library]
    while waiting:
        library = waiting.pop()
        if library not in seen:
            seen.add(library)
            yield library
            waiting += library._linking_libraries


def _without_remainders(text: str) -> str:
    """C's fmod for LLVM's `frem`, of which GPUs have only an approximation."""
    made = r"= call double @upshift_fmod(double \1, double \2)"
    text, found = re.subn(r"= frem double ([^,\n]+), ([^,\n]+)", made, text)
    if not found or re.search(r"^declare [^\n]*@upshift_fmod\(", text, re.MULTILINE):
        return text
    return f"{text}\ndeclare double @upshift_fmod(double, double) nounwind readnone\n"


def _maths_of(text: str) -> frozenset[str]:
    called = set(re.findall(r"\bcall [^@\n]*@([\w.$]+)\(", text))
    others = sorted(name for name in called if not name.startswith((OF_C, "llvm.")))
    if any("NRT" in name for name in others):
        raise NotCompiled("cuda", "it makes arrays or lists, for which a thread of a GPU has no memory")
    others += sorted(name.replace(LOOP, "numpy.") for name in called if name.startswith(LOOP))
    if others:
        raise NotCompiled("cuda", f"it calls {others[0]}, which is not compiled for GPUs")
    return frozenset(name.removeprefix(OF_C) for name in called if name.startswith(OF_C))


class _Lane:
    """Writes the function around the compiled one."""

    def __init__(self, made: Compiled, kinds: Sequence[Kind], shared: Sequence[Shared]) -> None:
        self.made, self.kinds, self.shared = made, kinds, shared
        self.context = cpu_target.target_context
        self.module = ir.Module(LANE)
        self.result = made.signature.return_type
        outs = sum(1 for _ in _leaf_types(self.result)) - made.marks
        self.words = [*[POINTER] * (len(kinds) + outs), *(word for one in shared for word in one.words)]
        self.lane = ir.Function(self.module, ir.FunctionType(I32, [I64, *self.words]), LANE)
        self.builder = ir.IRBuilder(self.lane.append_basic_block("entry"))

    def write(self) -> tuple[str, list[Any]]:
        builder, made = self.builder, self.made
        index, *rest = self.lane.args
        columns, rest = rest[: len(self.kinds)], rest[len(self.kinds) :]
        first = len(rest) - sum(len(one.words) for one in self.shared)
        outs, words = rest[:first], iter(rest[first:])
        for pointer in (*columns, *outs):
            pointer.add_attribute("noalias")
        given = [self._element(kind, column, index) for kind, column in zip(self.kinds, columns, strict=True)]
        given += [self._shared(one, words) for one in self.shared]
        callee = self.context.declare_function(self.module, made.fndesc)
        status, value = self.context.call_conv.call_function(builder, callee, self.result, made.signature.args, given)
        self._leave(status.is_error)
        leaves = list(self._leaves(self.result, value))
        if made.marks:
            self._leave(leaves.pop()[1])
        for (leaf, one), out in zip(leaves, outs, strict=True):
            self.context.pack_value(builder, leaf, one, self._place(out, leaf, index))
        builder.ret(I32(0))
        return str(self.module), self.words

    def _leave(self, odd: Any) -> None:
        with self.builder.if_then(odd, likely=False):
            self.builder.ret(I32(1))

    def _place(self, pointer: Any, number: Any, index: Any) -> Any:
        stored = self.context.get_data_type(number)
        return self.builder.gep(self.builder.bitcast(pointer, stored.as_pointer()), [index])

    def _element(self, kind: Kind, column: Any, index: Any) -> Any:
        number = from_dtype(kind.dtype)
        if kind.shape is None:
            return self.context.unpack_value(self.builder, number, self._place(column, number, index))
        size = kind.dtype.itemsize * int(np.prod(kind.shape, dtype=np.int64))
        data = self.builder.gep(column, [self.builder.mul(index, I64(size))])
        return self._array(number, data, [I64(axis) for axis in kind.shape])

    def _shared(self, one: Shared, words: Iterator[Any]) -> Any:
        number = from_dtype(one.dtype)
        if one.ndim is not None:
            return self._array(number, next(words), [next(words) for _ in range(one.ndim)])
        if one.dtype.kind == "c":
            pair = self.context.make_complex(self.builder, number)
            pair.real, pair.imag = next(words), next(words)
            return pair._getvalue()
        word = next(words)
        if one.dtype.kind == "b":
            return self.builder.icmp_signed("!=", word, I64(0))
        return self.builder.fptrunc(word, ir.FloatType()) if one.dtype == np.float32 else word

    def _array(self, number: Any, data: Any, shape: list[Any]) -> Any:
        """An array as Numba sees it, in memory that nobody counts references to."""
        kind = types.Array(number, len(shape), "A", readonly=True)
        array = self.context.make_array(kind)(self.context, self.builder)
        size = I64(np.dtype(str(number) if not isinstance(number, types.Boolean) else "bool").itemsize)
        strides = [size]
        for axis in shape[:0:-1]:
            strides.insert(0, self.builder.mul(strides[0], axis))
        data = self.builder.bitcast(data, self.context.get_data_type(number).as_pointer())
        populate_array(array, data=data, shape=shape, strides=strides[: len(shape)], itemsize=size, meminfo=None)
        return array._getvalue()

    def _leaves(self, kind: Any, value: Any) -> Iterator[tuple[Any, Any]]:
        if not isinstance(kind, types.BaseTuple):
            yield types.unliteral(kind), value
            return
        for i, part in enumerate(kind):
            yield from self._leaves(part, self.builder.extract_value(value, i))


def _leaf_types(kind: Any) -> Iterator[Any]:
    if not isinstance(kind, types.BaseTuple):
        yield kind
        return
    for part in kind:
        yield from _leaf_types(part)
