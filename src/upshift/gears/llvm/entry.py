"""A C-level callable for settled calls: it looks at its arguments itself, runs the kernel, and makes the result.

One function of machine code for every signature (lists of floats, arrays of int32, ...), shared by all kernels that
have it: Python calls it as it calls its own C functions, with the kernel as its `self`. Whatever does not fit (another
class, dtype, stride, an int beyond 60 bits, a lane that is left) gives NotImplemented, and the ordinary way is taken.
It reads CPython's and NumPy's objects by their layout, which is tested once before it is relied on.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compiler import kernel, module
from ...compiler.kinds import BOOL, COMPLEX, FLOAT, INT, Kind, Scalar, Tuple
from ...compiler.lanes import LEFT, STREAM, STREAM_END
from . import objects
from .columns import Key
from .layout import PAYLOAD, Own, is_known

NUMBERS: dict[Any, str] = {float: "double", int: "i64", bool: "i8"}
FREES_LOCK = 2048
"""Lanes from which on the interpreter's lock is given up meanwhile."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What an entry is made for."""

    keys: tuple[Key, ...]
    outs: tuple[np.dtype[Any], ...]
    whole: bool
    """Whether its columns of results are the result; else they are given as a tuple, for others to make pieces of."""
    as_tuple: bool
    streams: bool
    """Whether lists or texts come as words, in one more array."""


def signature_of(made: kernel.Kernel, keys: tuple[Key, ...]) -> Signature | None:
    """What the entry of a kernel is made for; None where there is none for such columns."""
    if not all(map(_is_known_key, keys)) or made.watches or not is_known():
        return None
    outs = None if made.streams else _outs_of(made.result)
    if outs is not None:
        return Signature(keys, tuple(outs), True, isinstance(made.result, Tuple), False)
    columns = tuple(np.dtype(kernel.dtype_of(out)) for out in made.outs)
    return Signature(keys, columns, False, True, made.streams) if columns else None


def entry_of(made: kernel.Kernel, signature: Signature) -> Callable[..., Any]:
    """`entry(captured, *columns)`: the result of a call, or its columns, or NotImplemented."""
    code = _CODES.get(signature)
    if code is None:
        code = _CODES[signature] = _code_of(signature)
    return _bound(code, made)


_CODES: dict[Signature, int] = {}


def _outs_of(result: Kind) -> list[np.dtype[Any]] | None:
    items = result.items if isinstance(result, Tuple) and result.cls is None else (result,)
    found = []
    for item in items:
        if not isinstance(item, Scalar) or (item.dtype is None and item not in (INT, FLOAT, BOOL, COMPLEX)):
            return None
        found.append(item.dtype or np.dtype(item.cls))
    return found or None


def _is_known_key(key: Key) -> bool:
    if isinstance(key, np.dtype):
        return True
    if isinstance(key, tuple):
        return key[0] is list and key[1] in (int, float)
    return key in NUMBERS


class MethodDef(ctypes.Structure):
    """CPython's PyMethodDef: a function in C with its name, for `PyCFunction_New`."""

    _fields_ = (("name", ctypes.c_char_p), ("meth", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


FASTCALL = 0x0080


def _bound(address: int, made: kernel.Kernel) -> Callable[..., Any]:
    """A built-in function of this machine code, with the kernel's addresses as its self."""
    context = _next_context()
    lanes = ctypes.cast(made.lanes, ctypes.c_void_p).value
    assert lanes is not None
    own = Own(struct.pack("<qq", lanes, context.words.ctypes.data))
    definition = MethodDef(b"upshift entry", address, FASTCALL, None)
    own.kept = (definition, context, made)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.POINTER(MethodDef), ctypes.py_object, ctypes.c_void_p)
    found: Callable[..., Any] = new(ctypes.byref(definition), own, None)
    return found


MOST_CONTEXTS = 4
_CONTEXTS: list[kernel.Context] = []
"""Taken by entries in turn: two that share one and run at once are not both served, and the ordinary way is taken."""
_TURNS = itertools.count()


def _next_context() -> kernel.Context:
    if len(_CONTEXTS) < MOST_CONTEXTS:
        _CONTEXTS.append(kernel.Context.new(kernel.KEPT))
    return _CONTEXTS[next(_TURNS) % len(_CONTEXTS)]


_LOADED: list[tuple[module.Loaded, Any]] = []
"""The machine code of all signatures, and the objects that it knows, for as long as the process lives."""


def _code_of(signature: Signature) -> int:
    """The address of the machine code for a signature."""
    writer = _Writer(signature)
    text = writer.text()
    symbols = {"up_not_implemented": id(NotImplemented), **writer.object_symbols()}
    symbols |= objects.symbols_of({"up_array_new", "PyEval_SaveThread", "PyEval_RestoreThread", "PyTuple_New"})
    loaded = module.Loaded(module.object_code(text, False, level=0), ("entry",), symbols)
    _LOADED.append((loaded, writer.objects))
    return loaded.address("entry")


class _Writer(objects.Writer):
    """Writes the IR of one entry."""

    def __init__(self, signature: Signature) -> None:
        self.keys, self.outs, self.as_tuple = signature.keys, signature.outs, signature.as_tuple
        self.streams = signature.streams
        super().__init__()

    def text(self) -> str:
        self._look_at_arguments()
        self._read_columns()
        self._run()
        body = "\n".join(self.lines)
        return f"""
declare ptr @up_array_new(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyTuple_New(i64)
declare ptr @memcpy(ptr, ptr, i64)
@up_not_implemented = external global i8
{self.object_declarations()}define internal void @drop(ptr %o) nounwind {{
  %n = load i64, ptr %o
  %big = icmp sgt i64 %n, 1
  br i1 %big, label %less, label %last
less:
  %m = sub i64 %n, 1
  store i64 %m, ptr %o
  ret void
last:
  %tp = getelementptr i8, ptr %o, i64 8
  %t = load ptr, ptr %tp
  %dp = getelementptr i8, ptr %t, i64 48
  %d = load ptr, ptr %dp
  store i64 0, ptr %o
  call void %d(ptr %o)
  ret void
}}
define ptr @entry(ptr %self, ptr %args, i64 %nargs) {{
entry:
  %columns = alloca [{2 * len(self.keys)} x ptr]
  %outs = alloca [{len(self.outs)} x ptr]
  %made = alloca [{len(self.outs)} x ptr]
  %length = alloca i64
{body}
unready:
  store i64 0, ptr %busyp
  br label %miss
miss:
  %refs = load i64, ptr @up_not_implemented
  %refs1 = add i64 %refs, {0 if sys.version_info >= (3, 12) else 1}
  store i64 %refs1, ptr @up_not_implemented
  ret ptr @up_not_implemented
}}
{objects.MARKS}"""

    # ---- arguments

    def _look_at_arguments(self) -> None:
        """Classes, dtypes, ranks, strides and lengths; before anything is allocated."""
        self.miss_unless(self.new(f"icmp eq i64 %nargs, {len(self.keys) + 1}"))
        self.captured = self._captured()
        self.given = [self.at("%args", 8 * (i + 1), "ptr") for i in range(len(self.keys))]
        self.n = ""
        for x, key in zip(self.given, self.keys):
            cls = np.ndarray if isinstance(key, np.dtype) else list
            self.miss_unless(self.new(f"icmp eq ptr {self.at(x, 8, 'ptr')}, {self.object(cls)}"))
            count = self._array(x, key) if cls is np.ndarray else self.at(x, 16, "i64")
            if self.n:
                self.miss_unless(self.new(f"icmp eq i64 {count}, {self.n}"))
            else:
                self.n = count
                self.miss_unless(self.new(f"icmp sgt i64 {count}, 0"))

    def _captured(self) -> str:
        """The address of the block of captured values: an int, of which Python keeps digits of 30 bits; 0 for none."""
        p = self.new("load ptr, ptr %args")
        return self._int(p)

    def _int(self, p: str) -> str:
        """The value of an int that is known to be one of at most two digits, and not negative."""
        low, high = self.at(p, 24, "i32"), self.at(p, 28, "i32")
        size = self.at(p, 16, "i64")
        count = self.new(f"lshr i64 {size}, 3") if sys.version_info >= (3, 12) else size
        some, two = self.new(f"icmp sgt i64 {count}, 0"), self.new(f"icmp sgt i64 {count}, 1")
        first = self.new(f"select i1 {some}, i32 {low}, i32 0")
        second = self.new(f"select i1 {two}, i32 {high}, i32 0")
        upper = self.new(f"shl i64 {self.new(f'zext i32 {second} to i64')}, 30")
        return self.new(f"or i64 {upper}, {self.new(f'zext i32 {first} to i64')}")

    def _array(self, x: str, dtype: np.dtype[Any]) -> str:
        self.miss_unless(self.new(f"icmp eq ptr {self.at(x, 56, 'ptr')}, {self.object(dtype)}"))
        self.miss_unless(self.new(f"icmp eq i32 {self.at(x, 24, 'i32')}, 1"))
        stride = self.new(f"load i64, ptr {self.at(x, 40, 'ptr')}")
        self.miss_unless(self.new(f"icmp eq i64 {stride}, {dtype.itemsize}"))
        return self.new(f"load i64, ptr {self.at(x, 32, 'ptr')}")

    def _read_columns(self) -> None:
        """Addresses of arrays' numbers; lists are read into the arena, which nobody else uses meanwhile."""
        own = self.new(f"getelementptr i8, ptr %self, i64 {PAYLOAD}")
        self.lanes = self.new(f"load ptr, ptr {own}, align 1")
        nextp = self.new(f"getelementptr i8, ptr {own}, i64 8")
        self.context = self.new(f"load ptr, ptr {nextp}, align 1")
        self.lines.append(f"  %busyp = getelementptr i64, ptr {self.context}, i64 {kernel.BUSY}")
        self.miss_unless(self.new(f"icmp eq i64 {self.new('load i64, ptr %busyp')}, 0"))
        self.do("store i64 1, ptr %busyp")
        self.base = self.new(f"load i64, ptr {self.context}")
        self.end = whole_end = self.at(self.context, 8, "i64")
        if self.streams:  # the upper half is the stream's
            half = self.new(f"lshr i64 {self.new(f'sub i64 {whole_end}, {self.base}')}, 1")
            self.end = self.new(f"and i64 {self.new(f'add i64 {self.base}, {half}')}, -64")
            self._set(8, self.end)
            self._set(8 * STREAM, self.end)
            self._set(8 * STREAM_END, whole_end)
            self.whole_end = whole_end
        self.cursor = self.base
        self.status = self._scratch(self.new(f"shl i64 {self.n}, 2"))
        column = 0
        for x, key in zip(self.given, self.keys):
            if isinstance(key, np.dtype):
                self._put(column, self.at(x, 16, "ptr"))
                column += 1
            elif isinstance(key, tuple):
                self._read_lists(column, x, key[1])
                column += 2
            else:
                self._put(column, self._read_list(x, key))
                column += 1

    def _set(self, offset: int, value: str) -> None:
        """A word of the context."""
        self.do(f"store i64 {value}, ptr {self.new(f'getelementptr i8, ptr {self.context}, i64 {offset}')}")

    def _put(self, column: int, p: str) -> None:
        place = self.new(f"getelementptr ptr, ptr %columns, i64 {column}")
        self.do(f"store ptr {p}, ptr {place}")

    def _scratch(self, size: str) -> str:
        """So many bytes behind what is used of the arena."""
        whole = self.new(f"and i64 {self.new(f'add i64 {size}, 63')}, -64")
        p = self.new(f"inttoptr i64 {self.cursor} to ptr")
        self.cursor = self.new(f"add i64 {self.cursor}, {whole}")
        self.miss_unless(self.new(f"icmp ult i64 {self.cursor}, {self.end}"), "unready")
        return p

    def _read_list(self, x: str, cls: type) -> str:
        """The numbers of a list."""
        p = self._scratch(self.new(f"shl i64 {self.n}, 3"))
        items = self.at(x, 24, "ptr")
        self.loop(self.n, lambda i: self._read_item(items, i, cls, p, i))
        return p

    def _read_item(self, items: str, i: str, cls: type, to: str, at: str) -> None:
        """One number of a list into its place."""
        item = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr {items}, i64 {i}')}")
        self.miss_unless(self.new(f"icmp eq ptr {self.at(item, 8, 'ptr')}, {self.object(cls)}"), "unready")
        if cls is float:
            value = self.at(item, 16, "i64")
            self.do(f"store i64 {value}, ptr {self.new(f'getelementptr i64, ptr {to}, i64 {at}')}")
        elif cls is bool:
            value = self.new(f"zext i1 {self.new(f'icmp eq ptr {item}, {self.object(True)}')} to i8")
            self.do(f"store i8 {value}, ptr {self.new(f'getelementptr i8, ptr {to}, i64 {at}')}")
        else:
            self.do(
                f"store i64 {self.read_int(item, 'unready')}, ptr {self.new(f'getelementptr i64, ptr {to}, i64 {at}')}"
            )

    def _read_lists(self, column: int, x: str, cls: type) -> None:
        """Lists of numbers: where each begins, then all their numbers."""
        offsets = self._scratch(self.new(f"shl i64 {self.new(f'add i64 {self.n}, 1')}, 3"))
        items = self.at(x, 24, "ptr")
        self.do("store i64 0, ptr %length")
        self.do(f"store i64 0, ptr {offsets}")

        def measure(i: str) -> None:
            item = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr {items}, i64 {i}')}")
            self.miss_unless(self.new(f"icmp eq ptr {self.at(item, 8, 'ptr')}, {self.object(list)}"), "unready")
            total = self.new(f"add i64 {self.new('load i64, ptr %length')}, {self.at(item, 16, 'i64')}")
            self.do(f"store i64 {total}, ptr %length")
            after = self.new(f"getelementptr i64, ptr {offsets}, i64 {self.new(f'add i64 {i}, 1')}")
            self.do(f"store i64 {total}, ptr {after}")

        self.loop(self.n, measure)
        p = self._scratch(self.new(f"shl i64 {self.new('load i64, ptr %length')}, 3"))

        def read(i: str) -> None:
            item = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr {items}, i64 {i}')}")
            count, inner = self.at(item, 16, "i64"), self.at(item, 24, "ptr")
            start = self.new(f"load i64, ptr {self.new(f'getelementptr i64, ptr {offsets}, i64 {i}')}")
            some, none = self.label("some"), self.label("none")
            self.do(f"br i1 {self.new(f'icmp sgt i64 {count}, 0')}, label %{some}, label %{none}")
            self.start(some)
            self.loop(count, lambda j: self._read_item(inner, j, cls, p, self.new(f"add i64 {start}, {j}")))
            self.do(f"br label %{none}")
            self.start(none)

        self.loop(self.n, read)
        self._put(column, p)
        self._put(column + 1, offsets)

    # ---- the call

    def _run(self) -> None:
        self.do(f"store i64 {self.n}, ptr %length")
        arrays = []
        for i, dtype in enumerate(self.outs):
            made = self._new_array(dtype)
            arrays.append(made)
            place = self.new(f"getelementptr ptr, ptr %outs, i64 {i}")
            self.do(f"store ptr {self.at(made, 16, 'ptr')}, ptr {place}")
        words = self.context
        self.do(f"store i64 {self.cursor}, ptr {words}")
        captured = self.new(f"getelementptr i64, ptr {words}, i64 {kernel.CAPTURED}")
        self.do(f"store i64 {self.captured}, ptr {captured}")
        turns = self.new(f"getelementptr i64, ptr {words}, i64 {kernel.TURNS}")
        self.do(f"store i64 {kernel.BRIEF_TURNS}, ptr {turns}")
        reached = self._call(words)
        left = self.at(words, 8 * LEFT, "i64")
        self.do(f"store i64 {self.base}, ptr {words}")
        if self.streams:
            self._set(8, self.whole_end)
            arrays.append(self._stream(words))
        self.do("store i64 0, ptr %busyp")
        done = self.new(f"icmp eq i64 {reached}, {self.n}")
        none = self.new(f"icmp eq i64 {left}, 0")
        yes, no = self.label("yes"), self.label("no")
        self.do(f"br i1 {self.new(f'and i1 {done}, {none}')}, label %{yes}, label %{no}, !prof !1")
        self.start(no)
        for array in arrays:
            self.do(f"call void @drop(ptr {array})")
        self.do("br label %miss")
        self.start(yes)
        self._give(arrays)

    def _stream(self, words: str) -> str:
        """An array of the words that were made."""
        size = self.new(f"sub i64 {self.at(words, 8 * STREAM, 'i64')}, {self.end}")
        self.do(f"store i64 {self.new(f'lshr i64 {size}, 3')}, ptr %length")
        made = self._new_array(np.dtype(np.int64))
        source = self.new(f"inttoptr i64 {self.end} to ptr")
        self.do(f"call ptr @memcpy(ptr {self.at(made, 16, 'ptr')}, ptr {source}, i64 {size})")
        return made

    def _new_array(self, dtype: np.dtype[Any]) -> str:
        """An array of as many numbers as %length says."""
        cls = f"ptr {self.object(np.ndarray)}"
        rest = "ptr null, ptr null, i32 0, i32 0, ptr null"
        return self.new(f"call ptr @up_array_new({cls}, i32 1, ptr %length, i32 {dtype.num}, {rest})")

    def _call(self, words: str) -> str:
        """The lanes; without the interpreter's lock where there are many."""
        given = f"(ptr {words}, ptr %columns, ptr %outs, ptr {self.status}, i64 0, i64 {self.n})"
        few, many, on = self.label("few"), self.label("many"), self.label("on")
        self.do(f"br i1 {self.new(f'icmp slt i64 {self.n}, {FREES_LOCK}')}, label %{few}, label %{many}")
        self.start(few)
        a = self.new(f"call i64 {self.lanes}{given}")
        self.do(f"br label %{on}")
        self.start(many)
        state = self.new("call ptr @PyEval_SaveThread()")
        b = self.new(f"call i64 {self.lanes}{given}")
        self.do(f"call void @PyEval_RestoreThread(ptr {state})")
        self.do(f"br label %{on}")
        self.start(on)
        return self.new(f"phi i64 [ {a}, %{few} ], [ {b}, %{many} ]")

    def _give(self, arrays: list[str]) -> None:
        if not self.as_tuple:
            self.do(f"ret ptr {arrays[0]}")
            return
        made = self.new(f"call ptr @PyTuple_New(i64 {len(arrays)})")
        for i, array in enumerate(arrays):
            place = self.new(f"getelementptr i8, ptr {made}, i64 {24 + 8 * i}")
            self.do(f"store ptr {array}, ptr {place}")
        self.do(f"ret ptr {made}")
