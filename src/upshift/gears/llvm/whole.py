"""One call of a whole function as machine code: a C-level callable that takes Python's arguments and gives its result.

It looks at its arguments itself: their classes, dtypes, axes. Arrays are the caller's own and are written in place;
where the call cannot be finished (an error, a warning, an int beyond 64 bits) they are put back as they were, and
`Left` is raised: the call is the plain function's. Ctrl-C is heard in every loop.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...compiler import kernel, module
from ...compiler.check import Spec, Unit, WholeCall
from ...compiler.code import Shape
from ...compiler.follow import text_home
from ...compiler.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    STR,
    Array,
    Cell,
    Either,
    Fields,
    Kind,
    Known,
    List,
    Object,
    Refused,
    Scalar,
    Tuple,
    items_in,
    ll_of,
    plain,
)
from ...compiler.rows import results
from ...compiler.rows.memory import HEADER, struct_of
from ...compiler.rows.nests import FLAGS, SETTINGS, flags_now, underflow_is_told
from ...compiler.tables import build
from ...compiler.write import Module, write_unit
from ..calls import Argument, ArrayOf, CompiledFunction, Fixed, Held
from ..capture_reader import MISS, capture_reader_of
from ..ran import NotCompiled
from . import objects
from .entry import FASTCALL, MethodDef
from .gear import refusal_of
from .layout import PAYLOAD, Own, is_known, memory_handler

GEAR = "llvm"
SIGNALS, STATE = 14, 15
"""Words of the context: what is called to hear of Ctrl-C, and Python's thread where the interpreter's lock is free."""
CARRAY, BEHAVED, OWNDATA = 0x501, 0x500, 0x4
"""NumPy's flags of an array without gaps that can be written to, of any that can, and of one that frees its memory."""
BASE, EXTOBJ, MASK, BUSY, TICKS = range(5)
"""Words of a call's own: of the context, NumPy's settings of warnings as they were last seen and the flags that stand
for them, whether it is running, and how many calls go by until one is looked at."""
NEVER = 1 << 62
"""Calls that nobody counts."""


class Left(Exception):
    """The call is the plain function's."""


def compile_call(f: Any, arguments: Sequence[Argument], free: bool) -> CompiledFunction:
    """Machine code for calls with such arguments; `free`: other threads run meanwhile."""
    return begin_call(f, arguments, free).call()


def begin_call(f: Any, arguments: Sequence[Argument], free: bool) -> Begun:
    """All of that but what LLVM does."""
    if not is_known() or SETTINGS is None:
        raise NotCompiled(GEAR, "this Python keeps its objects in another way")
    try:
        return Begun(f, arguments, free)
    except Refused as refused:
        found = refusal_of(refused)
        raise NotCompiled(GEAR, found.reason, found.where, found.remedy) from None


class Begun:
    """A function whose module is written; LLVM has not seen it yet."""

    def __init__(self, f: Any, arguments: Sequence[Argument], free: bool) -> None:
        kinds = [_kind_of_argument(argument) for argument in arguments]
        fixed = {i: argument.value for i, argument in enumerate(arguments) if isinstance(argument, Fixed)}
        checked = kernel.check(f, kinds, None, WholeCall(*_shape_of(f), fixed))
        self.captures = captures = checked.unit.captures
        self.writes = _written(checked.root)
        writer = _Call(checked.unit, checked.root, arguments, self.writes, free)
        self.looked_at = [replace(capture, id=-i) for i, capture in enumerate(captures.looked_at.values(), start=1)]
        tables = captures.tables
        self.inputs = [one.path for one in self.looked_at if one.is_input and one.path not in tables]
        checked.unit.given_back = writer.given_back
        self.text, self.symbols, written = writer.text([captures.inputs[path] for path in self.inputs])
        self.watches, self.may_underflow = written.watches, written.may_underflow
        self.kept = writer.arguments, writer.objects
        self.gains = bool(written.items)
        """Whether there is better code than that of a few passes: loops over whole arrays are as good as they get."""
        self.gains_little = bool(written.nests) and not kernel.has_loops_over_items(written)

    def is_at_hand(self) -> bool:
        """Whether its code is on disk."""
        return module.kept_code(self.text, self.gains) is not None or module.kept_code(self.text, False) is not None

    def call(self, best: bool = False) -> CompiledFunction:
        """Its machine code, by a few passes of LLVM's, or the best that there is. It may be made on any thread."""
        code = module.kept_code(self.text, True) if self.gains else None
        best = self.gains and (best or code is not None)
        loaded = module.Loaded(code or module.object_code(self.text, best), ("entry",), self.symbols)
        captures, looked_at = self.captures, self.looked_at
        tables = {path: build(kind, value) for path, (kind, value) in captures.tables.items()}
        block: Any = np.zeros(max(captures.size, 8), np.uint8)
        for path, table in tables.items():
            struct.pack_into("<q", block, captures.inputs[path].slot, table.address)
        run, refresh, ticks = self._bound(loaded, block, tables)
        bind = capture_reader_of(looked_at) if looked_at else None
        if bind is not None and len(self.inputs) < sum(capture.is_input for capture in looked_at):
            kept = [capture.path not in captures.tables for capture in looked_at if capture.is_input]
            bind = _without_tables(bind, kept)
        dependencies = [] if captures.tables else looked_at
        better = functools.partial(self.call, True) if self.gains and not best else None
        return CompiledFunction(
            run, bind, object, dependencies, self.writes, False, GEAR,
            refresh=refresh, better=better, gains_little=self.gains_little, ticks=ticks,
        )  # fmt: skip

    def _bound(self, loaded: Any, block: Any, tables: Any) -> tuple[Any, Any, Any]:
        """The callable; what brings the flags it looks at up to date; how many calls go by until one is looked at."""
        context = kernel.Context.new()
        own = np.zeros(5, np.int64)
        own[TICKS] = NEVER
        own[BASE] = context.words.ctypes.data
        context.words[kernel.CAPTURED] = block.ctypes.data

        def refresh() -> None:
            now = SETTINGS.get()
            kept[0] = now
            unseen = self.may_underflow and underflow_is_told()
            own[EXTOBJ], own[MASK] = 0 if unseen else id(now), flags_now()

        kept: list[Any] = [None]
        refresh()
        self_ = Own(struct.pack("<q", own.ctypes.data))
        definition = MethodDef(b"upshift call", loaded.address("entry"), FASTCALL, None)
        self_.kept = (definition, context, loaded, block, own, tables, kept, self.kept)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.POINTER(MethodDef), ctypes.py_object, ctypes.c_void_p)
        run = new(ctypes.byref(definition), self_, None)
        return run, refresh if self.watches or self.may_underflow else None, own[TICKS:]


def _without_tables(bind: Any, kept: list[bool]) -> Any:
    """What is bound without lists and dicts, which are in memory already."""

    def bound(f: Any) -> Any:
        values = bind(f)
        return values if values is MISS else tuple(value for value, keep in zip(values, kept) if keep)

    return bound


def _shape_of(f: Any) -> tuple[Shape, tuple[int, ...]]:
    """How the arguments of a function are passed, and where each stands in the order of `signatures.names_of`."""
    code = f.__code__
    plain, only = code.co_argcount, code.co_kwonlyargcount
    words: list[str | None] = list(code.co_varnames[plain : plain + only])
    starred = [False] * plain
    order = list(range(plain)) + list(range(plain, plain + only))
    more = plain + only
    if code.co_flags & inspect.CO_VARARGS:
        starred.append(True)
        order.insert(plain, more)
        more += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        words.append(None)
        order.append(more)
    return Shape(tuple(starred), tuple(words)), tuple(order)


def _kind_of_argument(argument: Argument) -> Kind:
    if isinstance(argument, ArrayOf):
        return Array(argument.dtype, argument.ndim, None, argument.contiguous)
    if isinstance(argument, Fixed):
        return NONE
    if isinstance(argument, tuple):
        return Tuple(tuple(map(_kind_of_argument, argument)))
    if isinstance(argument, Held):
        parts = tuple(map(_kind_of_argument, argument.parts))
        if argument.cls is dict:
            return Known(argument.keys, parts)
        if issubclass(argument.cls, tuple):
            return Tuple(parts, argument.cls)
        fields = Fields()
        fields.cells = {name: Cell(kind, fixed=True) for name, kind in zip(argument.keys, parts)}
        return Object(argument.cls, fields)
    found = _CLASSES.get(argument)
    if found is None and isinstance(argument, type) and issubclass(argument, np.generic):
        found = NUMPY.get(np.dtype(argument))
    if found is None:
        raise Refused(f"is given a {argument}")
    return found


_CLASSES: dict[Any, Kind] = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, type(None): NONE}


def _written(root: Spec) -> tuple[int, ...]:
    """Positions of arrays that the function may write into."""
    found = []
    for i, kind in enumerate(root.kinds):
        if isinstance(kind, Array):
            if kind.cell.find().written:
                found.append(i)
        elif any(isinstance(k, Array) and k.cell.find().written for k in items_in(kind)):
            raise Refused("writes into an array inside a tuple or dict")
    return tuple(found)


def _helper(unit: Unit, text: str, kinds: list[Kind]) -> Spec:
    """A function of the unit that is called from outside of the user's code."""
    home = text_home(text)
    spec = unit.spec(home, home.code, kinds)
    spec.sweep()
    return spec


_SAVE = "def saved(x):\n    return x.copy()"
_RESTORE = "def restored(x, y):\n    x[...] = y"


def _given_back(kind: Kind) -> frozenset[Cell]:
    """The cells of arrays in a result, where no two of them may be one array."""
    kinds = kind.items if isinstance(kind, Tuple) else (kind,)
    cells = [one.cell.find() for one in kinds if isinstance(one, Array) and one.contiguous]
    known = len(set(cells)) == len(cells) and all(isinstance(one, Array | Scalar) for one in kinds)
    return frozenset(cells) if known else frozenset()


_ALWAYS = frozenset(
    {"PyErr_SetNone", "PyErr_CheckSignals", "PyEval_SaveThread", "PyEval_RestoreThread", "Py_DecRef", "up_gettrace"}
)


class _Call(objects.Writer):
    """Writes the entry of one function."""

    def __init__(
        self, unit: Unit, root: Spec, arguments: Sequence[Argument], written: Sequence[int], free: bool
    ) -> None:
        super().__init__()
        self.unit, self.root, self.arguments, self.written, self.free = unit, root, arguments, written, free
        self.arrays: list[tuple[Array, str, str]] = []
        """Arrays among the arguments: kind, value and object."""
        self.helpers: dict[Any, Spec] = {}
        self._reasons: list[Any] = []
        for i in written:
            kind = root.kinds[i]
            assert isinstance(kind, Array)
            fresh = Array(kind.dtype, kind.ndim, None, True)
            self.helpers["save", i] = _helper(unit, _SAVE, [kind])
            self.helpers["restore", i] = _helper(unit, _RESTORE, [kind, fresh])
        self._prepare_result(root.result.kind or NONE)
        self.given_back = _given_back(root.result.kind or NONE) if memory_handler() is not None else frozenset()
        """Cells of arrays that are made where they stay."""

    def _prepare_result(self, kind: Kind) -> None:
        kind = plain(kind)
        if isinstance(kind, Tuple):
            for item in kind.items:
                self._prepare_result(item)
        elif isinstance(kind, Either):
            for one in kind.kinds:
                self._prepare_result(one)
        elif isinstance(kind, List):
            inside = kind.cell.kind
            if kind.cell.find().borrowed or inside not in (INT, FLOAT, BOOL):
                raise Refused(f"returns {kind!r}")
        elif not isinstance(kind, Scalar | Array) or (kind.ll is None and kind is not NONE):
            raise Refused(f"returns {kind!r}")

    def text(self, inputs: Sequence[Any]) -> tuple[str, dict[str, int], Module]:
        """The whole module as text; what it needs to be linked; and what is known of the function's part."""
        written = write_unit(self.unit)
        self._reasons = written.reasons
        body = self._body(written, inputs)
        entry, nobody = "\n".join(self.entry), self.object(None)
        slots = [f"  store ptr null, ptr %memo{slot}" for _, slot, _ in self.unit.memos.values()]
        memos = [f"  %memo{s} = getelementptr ptr, ptr %context, i64 {s}" for _, s, _ in self.unit.memos.values()]
        clear = "call void @up_clear(ptr %context)" if self.given_back else ""
        if self.given_back:
            written.declare("@up_result", results.IR)
            written.declare("@up_clear", results.ENDING)
        text = f"""{written.assembled()}
{self.declarations()}
define internal i32 @up_signals(ptr %context) noinline {{
  %p = getelementptr ptr, ptr %context, i64 {STATE}
  %state = load ptr, ptr %p
  %held = icmp eq ptr %state, null
  br i1 %held, label %ask, label %take
take:
  call void @PyEval_RestoreThread(ptr %state)
  br label %ask
ask:
  %came = call i32 @PyErr_CheckSignals()
  br i1 %held, label %end, label %give
give:
  %again = call ptr @PyEval_SaveThread()
  store ptr %again, ptr %p
  br label %end
end:
  ret i32 %came
}}
define ptr @entry(ptr %self, ptr %args, i64 %nargs) {{
entry:
{entry}
  %payload = getelementptr i8, ptr %self, i64 {PAYLOAD}
  %own = load ptr, ptr %payload, align 1
  %ticksp = getelementptr i64, ptr %own, i64 {TICKS}
  %ticks = load i64, ptr %ticksp
  %fewer = sub i64 %ticks, 1
  store i64 %fewer, ptr %ticksp
  %counted = icmp slt i64 %fewer, {NEVER // 2}
  br i1 %counted, label %count, label %ready
count:
  %unseen = icmp sgt i64 %fewer, 0
  br i1 %unseen, label %watched, label %miss, !prof !1
watched:
  %watcher = call ptr @up_gettrace(ptr null, ptr null)
  call void @Py_DecRef(ptr %watcher)
  %alone = icmp eq ptr %watcher, {nobody}
  br i1 %alone, label %ready, label %miss, !prof !1
ready:
  %context = load ptr, ptr %own
  %busyp = getelementptr i64, ptr %own, i64 {BUSY}
  %busy = load i64, ptr %busyp
  %idle = icmp eq i64 %busy, 0
  br i1 %idle, label %begin, label %miss, !prof !1
begin:
  %arena = load i64, ptr %context
  %statep = getelementptr ptr, ptr %context, i64 {STATE}
{chr(10).join([*memos, *slots])}
{body}
undone:
  store i64 %arena, ptr %context
  {clear}
  store i64 0, ptr %busyp
  br label %miss
miss:
  call void @PyErr_SetNone(ptr {self.object(Left)})
  ret ptr null
failed:
  store i64 %arena, ptr %context
  {clear}
  store i64 0, ptr %busyp
  ret ptr null
}}
"""
        names = {*_ALWAYS, *self.used}
        symbols = {**written.symbols, **objects.symbols_of(names), **self.object_symbols()}
        return text + self.object_declarations(), symbols, written

    def declarations(self) -> str:
        self.used |= _ALWAYS
        return super().declarations()

    def _body(self, written: Module, inputs: Sequence[Any]) -> str:
        kinds = self.root.kinds
        self.miss_unless(self.new(f"icmp eq i64 %nargs, {len(kinds) + len(inputs)}"))
        if written.watches or written.may_underflow:
            self._look_at_settings()
        values = []
        for i, kind in enumerate(kinds):
            item = self.at("%args", 8 * i, "ptr")
            values.append("" if isinstance(self.arguments[i], Fixed) else self._unbox(kind, item, i in self.written))
        for i, one in enumerate(inputs):
            self._take_along(one, self.at("%args", 8 * (len(kinds) + i), "ptr"))
        self.do("store i64 1, ptr %busyp")
        self._set(kernel.TURNS, str(kernel.NO_LIMIT))
        self._set(SIGNALS, "ptrtoint (ptr @up_signals to i64)")
        self._set(4, "0")
        if self.free:
            self.do(f"store ptr {self.call('PyEval_SaveThread', '')}, ptr %statep")
        saved = {i: self._call_helper("save", i, [values[i]]) for i in self.written}
        result = self.root.result.kind or NONE
        ll = f"{{ {ll_of(result)}, i32 }}"
        given = ["ptr %context", *(f"{kind.ll} {value}" for kind, value in zip(kinds, values) if kind.ll is not None)]
        both = self.new(f"call {ll} @{self.root.name}({', '.join(given)})")
        status = self.new(f"extractvalue {ll} {both}, 1")
        value = self.new(f"extractvalue {ll} {both}, 0") if result.ll is not None else ""
        self._finish(status, saved, values)
        made = self._box(plain(result), value, saved, values)
        if self.given_back:
            self.do("call void @up_clear(ptr %context)")
        self.do("store i64 %arena, ptr %context")
        self.do("store i64 0, ptr %busyp")
        self.do(f"ret ptr {made}")
        self.start("spent")
        self._undo(saved, values)
        self.do("br label %failed")
        return "\n".join(self.lines)

    def _set(self, word: int, value: str) -> None:
        self.do(f"store i64 {value}, ptr {self.new(f'getelementptr i64, ptr %context, i64 {word}')}")

    def _look_at_settings(self) -> None:
        """Go on where NumPy warns of what it warned of when that was last looked at."""
        slot = self.local("ptr")
        self.call("PyContextVar_Get", f"ptr {self.object(SETTINGS)}, ptr null, ptr {slot}")
        now = self.new(f"load ptr, ptr {slot}")
        self.call("Py_DecRef", f"ptr {now}")
        seen = self.new(f"load ptr, ptr {self.new(f'getelementptr i64, ptr %own, i64 {EXTOBJ}')}")
        self.miss_unless(self.new(f"icmp eq ptr {now}, {seen}"))
        mask = self.new(f"load i64, ptr {self.new(f'getelementptr i64, ptr %own, i64 {MASK}')}")
        self._set(FLAGS, mask)

    def _call_helper(self, word: str, key: Any, values: list[str]) -> str:
        """The result of one of our own functions; nothing is done where it cannot be had."""
        spec = self.helpers[word, key]
        result = ll_of(spec.result.kind or NONE)
        given = ["ptr %context", *(f"{kind.ll} {value}" for kind, value in zip(spec.kinds, values))]
        both = self.new(f"call {{ {result}, i32 }} @{spec.name}({', '.join(given)})")
        if word != "restore":
            status = self.new(f"extractvalue {{ {result}, i32 }} {both}, 1")
            self._miss_free(self.new(f"icmp eq i32 {status}, 0"))
        return self.new(f"extractvalue {{ {result}, i32 }} {both}, 0")

    def _miss_free(self, flag: str) -> None:
        """Leave the call where a flag is not set, with the interpreter's lock."""
        if not self.free:
            return self.miss_unless(flag, "undone")
        on, off = self.label("on"), self.label("off")
        self.do(f"br i1 {flag}, label %{on}, label %{off}, !prof !1")
        self.start(off)
        self._lock()
        self.do("br label %undone")
        self.start(on)
        return None

    def _lock(self) -> None:
        if self.free:
            self.call("PyEval_RestoreThread", f"ptr {self.new('load ptr, ptr %statep')}")
            self.do("store ptr null, ptr %statep")

    def _finish(self, status: str, saved: dict[int, str], values: list[str]) -> None:
        """Take the lock again; where the function did not come to its end, arrays are as they were."""
        good, bad = self.label("good"), self.label("bad")
        self.do(f"br i1 {self.new(f'icmp eq i32 {status}, 0')}, label %{good}, label %{bad}, !prof !1")
        self.start(bad)
        self._undo(saved, values)
        self._lock()
        reason = self.new(f"lshr i32 {status}, 8")
        interrupted = [i + 1 for i, one in enumerate(self._reasons) if one.text == "it was interrupted"]
        if interrupted:
            flags = [self.new(f"icmp eq i32 {reason}, {number}") for number in interrupted]
            either = flags[0]
            for flag in flags[1:]:
                either = self.new(f"or i1 {either}, {flag}")
            self.do(f"br i1 {either}, label %failed, label %undone")
        else:
            self.do("br label %undone")
        self.start(good)
        self._lock()

    def _undo(self, saved: dict[int, str], values: list[str]) -> None:
        for i, copy in saved.items():
            self._call_helper("restore", i, [values[i], copy])

    # ---- arguments

    def _unbox(self, kind: Kind, item: str, is_written: bool = False) -> str:
        """The value of an argument; a miss where it is another kind of object."""
        if isinstance(kind, Array):
            return self._unbox_array(kind, item, is_written)
        if isinstance(kind, Object):
            return self._unbox_object(kind, item)
        if isinstance(kind, Tuple | Known):
            self.is_of(item, tuple)
            self.miss_unless(self.new(f"icmp eq i64 {self.at(item, 16, 'i64')}, {len(kind.items)}"))
            made = "undef"
            for i, part in enumerate(kind.items):
                value = self._unbox(part, self.at(item, 24 + 8 * i, "ptr")) or "0"
                made = self.new(f"insertvalue {kind.ll} {made}, {ll_of(part)} {value}, {i}")
            return made
        assert isinstance(kind, Scalar)
        if kind is NONE:
            self.miss_unless(self.new(f"icmp eq ptr {item}, {self.object(None)}"))
            return ""
        self.is_of(item, kind.cls)
        if kind is INT:
            return self.read_int(item)
        if kind is BOOL:
            return self.new(f"icmp eq ptr {item}, {self.object(True)}")
        if kind is COMPLEX:
            real, imag = self.at(item, 16, "double"), self.at(item, 24, "double")
            made = self.new(f"insertvalue {{ double, double }} undef, double {real}, 0")
            return self.new(f"insertvalue {{ double, double }} {made}, double {imag}, 1")
        if kind.ll == "i1":
            return self.new(f"icmp ne i8 {self.at(item, 16, 'i8')}, 0")
        return self.at(item, 16, kind.ll or "")

    def _unbox_object(self, kind: Object, item: str) -> str:
        """An object whose fields are passed as a tuple: its own in memory, which nobody changes."""
        struct = struct_of(kind)
        self.is_of(item, tuple)
        size = f"ptrtoint (ptr getelementptr ({struct}, ptr null, i64 1) to i64)"
        made = self.new(f"call ptr @up_alloc(ptr %context, i64 {size})")
        self.miss_unless(self.new(f"icmp ne ptr {made}, null"), "undone")
        for i, cell in enumerate(kind.fields.find().cells.values()):
            inside = cell.kind or NONE
            value = self._unbox(inside, self.at(item, 24 + 8 * i, "ptr"))
            if inside.ll is not None:
                place = self.new(f"getelementptr inbounds {struct}, ptr {made}, i64 0, i32 {i}")
                self.do(f"store {inside.ll} {value}, ptr {place}")
        return made

    def _unbox_array(self, kind: Array, item: str, is_written: bool) -> str:
        self.is_of(item, np.ndarray)
        self.miss_unless(self.new(f"icmp eq ptr {self.at(item, 56, 'ptr')}, {self.object(kind.dtype)}"))
        self.miss_unless(self.new(f"icmp eq i32 {self.at(item, 24, 'i32')}, {kind.ndim}"))
        wanted = 0x100 | (0x1 if kind.contiguous else 0) | (0x400 if is_written else 0)
        flags = self.new(f"and i32 {self.at(item, 64, 'i32')}, {wanted}")
        self.miss_unless(self.new(f"icmp eq i32 {flags}, {wanted}"))
        shape, strides = self.at(item, 32, "ptr"), self.at(item, 40, "ptr")
        made = self.new(f"insertvalue {kind.ll} undef, ptr {self.at(item, 16, 'ptr')}, 0")
        for i in range(kind.ndim):
            made = self.new(f"insertvalue {kind.ll} {made}, i64 {self.at(shape, 8 * i, 'i64')}, 1, {i}")
            made = self.new(f"insertvalue {kind.ll} {made}, i64 {self.at(strides, 8 * i, 'i64')}, 2, {i}")
        self.arrays.append((kind, made, item))
        return made

    def _take_along(self, one: Any, item: str) -> None:
        """Something captured, into the block of captured values."""
        block = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr %context, i64 {kernel.CAPTURED}')}")
        kind = one.kind
        value = (
            self._unbox_array(_replace_layout(kind), item, False)
            if isinstance(kind, Array)
            else self._unbox(kind, item)
        )
        if kind.ll == "i1":
            value = self.new(f"zext i1 {value} to i8")
            self.do(f"store i8 {value}, ptr {self.place(block, one.slot)}")
        elif kind.ll is not None:
            self.do(f"store {kind.ll} {value}, ptr {self.place(block, one.slot)}")

    # ---- results

    def _box(self, kind: Kind, value: str, saved: dict[int, str], values: list[str]) -> str:
        """A Python object of a result."""
        if isinstance(kind, Array):
            return self._box_array(kind, value, saved, values)
        if isinstance(kind, Tuple):
            parts = []
            for i, item in enumerate(kind.items):
                part = self.new(f"extractvalue {kind.ll} {value}, {i}") if item.ll is not None else ""
                parts.append(self._box(item, part, saved, values))
            made = self._whole(self.call("PyTuple_New", f"i64 {len(parts)}"))
            for i, part in enumerate(parts):
                self.do(f"store ptr {part}, ptr {self.place(made, 24 + 8 * i)}")
            if kind.cls is None:
                return made
            return self._whole(self.call("PyObject_CallObject", f"ptr {self.object(kind.cls)}, ptr {made}"))
        if isinstance(kind, List):
            return self._box_list(kind, value)
        if isinstance(kind, Either):
            return self._box_either(kind, value, saved, values)
        if kind is NONE:
            self.call("Py_IncRef", f"ptr {self.object(None)}")
            return self.object(None)
        return self._whole(self._box_number(kind, value))

    def _box_either(self, kind: Either, value: str, saved: dict[int, str], values: list[str]) -> str:
        tag = self.new(f"extractvalue {kind.ll} {value}, 0")
        labels, on = [self.label("kind") for _ in kind.kinds], self.label("on")
        cases = " ".join(f"i8 {i}, label %{label}" for i, label in enumerate(labels[1:], start=1))
        self.do(f"switch i8 {tag}, label %{labels[0]} [ {cases} ]")
        ways = []
        for i, (one, label) in enumerate(zip(kind.kinds, labels)):
            self.start(label)
            part = self.new(f"extractvalue {kind.ll} {value}, {i + 1}") if one.ll is not None else ""
            made, last = self._box(one, part, saved, values), self.label("boxed")
            self.do(f"br label %{last}")
            self.start(last)
            self.do(f"br label %{on}")
            ways.append((made, last))
        self.start(on)
        return self.new("phi ptr " + ", ".join(f"[ {made}, %{last} ]" for made, last in ways))

    def _box_number(self, kind: Kind, value: str) -> str:
        if kind is FLOAT:
            return self.call("PyFloat_FromDouble", f"double {value}")
        if kind is INT:
            return self.call("PyLong_FromLongLong", f"i64 {value}")
        if kind is BOOL:
            return self.call("PyBool_FromLong", f"i64 {self.new(f'zext i1 {value} to i64')}")
        if kind is COMPLEX:
            parts = [self.new(f"extractvalue {{ double, double }} {value}, {i}") for i in range(2)]
            return self.call("PyComplex_FromDoubles", f"double {parts[0]}, double {parts[1]}")
        if kind is STR:
            parts = [self.new(f"extractvalue {{ ptr, i64 }} {value}, {i}") for i in range(2)]
            return self.call("PyUnicode_FromStringAndSize", f"ptr {parts[0]}, i64 {parts[1]}")
        assert isinstance(kind, Scalar) and kind.dtype is not None
        ll = "i8" if kind.ll == "i1" else kind.ll or ""
        slot = self.local(ll)
        stored = self.new(f"zext i1 {value} to i8") if kind.ll == "i1" else value
        self.do(f"store {ll} {stored}, ptr {slot}")
        return self.call("up_array_scalar", f"ptr {slot}, ptr {self.object(kind.dtype)}, ptr null")

    def _whole(self, made: str) -> str:
        """An object that could be made."""
        self.miss_unless(self.new(f"icmp ne ptr {made}, null"), "spent")
        return made

    def _box_list(self, kind: List, value: str) -> str:
        inside = kind.cell.kind
        count = self.new(f"load i64, ptr {value}")
        made = self._whole(self.call("PyList_New", f"i64 {count}"))
        data = self.new(f"load ptr, ptr {self.new(f'getelementptr {HEADER}, ptr {value}, i64 0, i32 2')}")
        first = self.at(made, 24, "ptr")
        ll = "i8" if inside is BOOL else ll_of(inside or INT)

        def one(i: str) -> None:
            item = self.new(f"load {ll}, ptr {self.new(f'getelementptr {ll}, ptr {data}, i64 {i}')}")
            if inside is BOOL:
                item = self.new(f"trunc i8 {item} to i1")
            boxed = self._whole(self._box_number(inside or INT, item))
            self.do(f"store ptr {boxed}, ptr {self.new(f'getelementptr ptr, ptr {first}, i64 {i}')}")

        some, none = self.label("some"), self.label("none")
        self.do(f"br i1 {self.new(f'icmp sgt i64 {count}, 0')}, label %{some}, label %{none}")
        self.start(some)
        self.loop(count, one)
        self.do(f"br label %{none}")
        self.start(none)
        return made

    def _box_array(self, kind: Array, value: str, saved: dict[int, str], values: list[str]) -> str:
        """A new array, or the very one that was given; a part of one that was given is left to the plain function."""
        data = self.new(f"extractvalue {kind.ll} {value}, 0")
        where = self.new(f"ptrtoint ptr {data} to i64")
        end = self.at("%context", 8, "i64")
        above = self.new(f"icmp uge i64 {where}, %arena")
        inside = self.new(f"and i1 {above}, {self.new(f'icmp ule i64 {where}, {end}')}")
        fresh, given, on = self.label("fresh"), self.label("given"), self.label("on")
        ways: list[tuple[str, str]] = []
        if kind.cell.find() in self.given_back:
            ways.append(self._handed_over(kind, value, data, on))
            inside = self.new(f"or i1 {inside}, {self.new(f'call i1 @up_is_own(ptr %context, i64 {where})')}")
        self.do(f"br i1 {inside}, label %{fresh}, label %{given}")
        self.start(given)
        for own, other, item in self.arrays:
            if own.dtype != kind.dtype or own.ndim != kind.ndim:
                continue
            flags = [self.new(f"icmp eq ptr {data}, {self.new(f'extractvalue {own.ll} {other}, 0')}")]
            for which in (1, 2):
                for i in range(kind.ndim):
                    pair = [
                        self.new(f"extractvalue {k.ll} {x}, {which}, {i}") for k, x in ((kind, value), (own, other))
                    ]
                    flags.append(self.new(f"icmp eq i64 {pair[0]}, {pair[1]}"))
            same = flags[0]
            for flag in flags[1:]:
                same = self.new(f"and i1 {same}, {flag}")
            yes, no = self.label("same"), self.label("other")
            self.do(f"br i1 {same}, label %{yes}, label %{no}")
            self.start(yes)
            self.call("Py_IncRef", f"ptr {item}")
            self.do(f"br label %{on}")
            ways.append((item, yes))
            self.start(no)
        self._undo(saved, values)
        self.do("br label %undone")
        self.start(fresh)
        made, last = self._copied(kind, value)
        self.do(f"br label %{on}")
        self.start(on)
        return self.new("phi ptr " + ", ".join(f"[ {v}, %{label} ]" for v, label in [*ways, (made, last)]))

    def _handed_over(self, kind: Array, value: str, data: str, on: str) -> tuple[str, str]:
        """An array in memory of its own, which becomes NumPy's as it is."""
        shape, size = self._lengths(kind, value)
        own, other, last = self.label("own"), self.label("other"), self.label("handed")
        taken = self.new(f"call i1 @up_hand_over(ptr %context, ptr {data}, i64 {size})")
        self.do(f"br i1 {taken}, label %{own}, label %{other}")
        self.start(own)
        made = self._whole(self._array_over(kind, shape, data, CARRAY))
        flags = self.new(f"or i32 {self.at(made, 64, 'i32')}, {OWNDATA}")
        self.do(f"store i32 {flags}, ptr {self.place(made, 64)}")
        handler = self.object(memory_handler())
        self.call("Py_IncRef", f"ptr {handler}")
        self.do(f"store ptr {handler}, ptr {self.place(made, 88)}")
        self.do(f"br label %{last}")
        self.start(last)
        self.do(f"br label %{on}")
        self.start(other)
        return made, last

    def _lengths(self, kind: Array, value: str) -> tuple[str, str]:
        """Where the shape of an array is, and how many bytes it has."""
        shape = self.local(f"[{max(kind.ndim, 1)} x i64]")
        size = str(kind.dtype.itemsize)
        for i in range(kind.ndim):
            n = self.new(f"extractvalue {kind.ll} {value}, 1, {i}")
            self.do(f"store i64 {n}, ptr {self.place(shape, 8 * i)}")
            size = self.new(f"mul i64 {size}, {n}")
        return shape, size

    def _array_over(self, kind: Array, shape: str, data: str = "null", flags: int = 0) -> str:
        given = f"ptr {self.object(np.ndarray)}, i32 {kind.ndim}, ptr {shape}, i32 {kind.dtype.num}, ptr null"
        return self.call("up_array_new", f"{given}, ptr {data}, i32 0, i32 {flags}, ptr null")

    def _copied(self, kind: Array, value: str) -> tuple[str, str]:
        shape, size = self._lengths(kind, value)
        data = self.new(f"extractvalue {kind.ll} {value}, 0")
        made = (
            self._whole(self._array_over(kind, shape))
            if kind.contiguous
            else self._view_of_copy(kind, value, shape, size)
        )
        if kind.contiguous:
            self.call("memcpy", f"ptr {self.at(made, 16, 'ptr')}, ptr {data}, i64 {size}")
        last = self.label("copied")
        self.do(f"br label %{last}")
        self.start(last)
        return made, last

    def _view_of_copy(self, kind: Array, value: str, shape: str, size: str) -> str:
        """An array with gaps, or whose axes lie in another order: the same view of a copy of all that is around it."""
        low = high = self.new(f"ptrtoint ptr {self.new(f'extractvalue {kind.ll} {value}, 0')} to i64")
        first, strides = low, self.local(f"[{kind.ndim} x i64]")
        for i in range(kind.ndim):
            n, step = (self.new(f"extractvalue {kind.ll} {value}, {which}, {i}") for which in (1, 2))
            self.do(f"store i64 {step}, ptr {self.place(strides, 8 * i)}")
            span = self.new(f"mul i64 {self.new(f'sub i64 {n}, 1')}, {step}")
            down = self.new(f"icmp slt i64 {span}, 0")
            low = self.new(f"add i64 {low}, {self.new(f'select i1 {down}, i64 {span}, i64 0')}")
            high = self.new(f"add i64 {high}, {self.new(f'select i1 {down}, i64 0, i64 {span}')}")
        none = self.new(f"icmp eq i64 {size}, 0")
        span = self.new(f"add i64 {self.new(f'sub i64 {high}, {low}')}, {kind.dtype.itemsize}")
        span = self.new(f"select i1 {none}, i64 0, i64 {span}")
        before = self.new(f"select i1 {none}, i64 0, i64 {self.new(f'sub i64 {first}, {low}')}")
        slot = self.local("i64")
        self.do(f"store i64 {span}, ptr {slot}")
        kept = self._whole(self._array_over(Array(np.dtype(np.uint8), 1), slot))
        data = self.at(kept, 16, "ptr")
        self.call("memcpy", f"ptr {data}, ptr {self.new(f'inttoptr i64 {low} to ptr')}, i64 {span}")
        start = self.new(f"getelementptr i8, ptr {data}, i64 {before}")
        given = f"ptr {self.object(np.ndarray)}, i32 {kind.ndim}, ptr {shape}, i32 {kind.dtype.num}, ptr {strides}"
        made = self._whole(self.call("up_array_new", f"{given}, ptr {start}, i32 0, i32 {BEHAVED}, ptr null"))
        self.call("up_array_base", f"ptr {made}, ptr {kept}")
        return made


def _replace_layout(kind: Array) -> Array:
    """A captured array, of which only dtype and axes are known."""
    return Array(kind.dtype, kind.ndim, kind.cell, False)
