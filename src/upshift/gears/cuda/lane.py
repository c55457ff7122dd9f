"""Writes one lane's work as one flat function in LLVM IR, for any processor.

It is the compiler's own IR. Whatever it calls is inlined into `upshift_lane`, which reads lane i of every column,
computes, and writes lane i of every result, or gives 1 where the plain function is to run the lane. A thread has a
little memory of its own for lists and arrays that are made on the way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...columns.forms import LEAF, Form
from ...columns.kinds import Kind, array_kind, kind_of_dtype
from ...columns.kinds import kind_of_type as number_of_class
from ...compiler import kernel
from ...compiler.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    Array,
    Either,
    Refused,
    Scalar,
    Tuple,
    ll_of,
    plain,
)
from ...compiler.kinds import Kind as Known
from ...compiler.lanes import Loop
from ...compiler.rows import teams
from ...compiler.rows.arrays import item_ll
from ...compiler.rows.memory import CHANGES
from ...compiler.write import PRELUDE_IR, Module, write_unit
from ..capture_reader import MISS, capture_reader_of
from ..ran import NotCompiled
from . import driver
from .flat import I64, LANE, OF_C, POINTER, Flat
from .support import MOST_ROOM, NAMES
from .target import Target, keep_only
from .ufuncs import C_NAMES, LOOP, loops_in

Shapes = Sequence[tuple[int, ...]]
ALONE = 64
"""Items of an array up to which one thread runs a lane; a larger one has a team of them."""
ROOM = 4096
"""Bytes of memory that a thread has for what a lane makes."""
MOST_CAPTURED = 2048
"""Bytes of captured numbers: they are arguments of the kernel, of which there may be 4 kB."""
MOST_LINES = 20_000
CONTEXT = 32
AT, END, CAPTURED, BASE = 0, 1, 2, 20
"""Words of the context: where the memory goes on, counted from its beginning, and where it ends; the captured values;
its beginning."""
_PYTHON: dict[str, Known] = {"b": BOOL, "i": INT, "f": FLOAT, "c": COMPLEX}

_MEMORY = (
    PRELUDE_IR[: PRELUDE_IR.index("define internal i1 @up_poll")].replace(
        "%p = inttoptr i64 %at to ptr",
        "%basep = getelementptr i64, ptr %context, i64 20\n  %base = load i64, ptr %basep\n"
        "  %p = call ptr @upshift_memory(i64 %base, i64 %at, i64 %whole)",
    )
    + "declare nonnull ptr @upshift_memory(i64, i64, i64) nounwind willreturn memory(none)\n"
)
"""Whatever is made on the way is known by a call of its own as long as lines are looked at (`checks.py`)."""
ARENA = "declare i64 @upshift_arena() nounwind willreturn memory(none)"
_NO_POLL = """
define internal i1 @up_poll(ptr %context) alwaysinline nounwind {
  ret i1 false
}
"""


@dataclass(frozen=True, slots=True)
class Captured:
    """What a function takes from outside: how it is read anew, and how it lies in the kernel's arguments."""

    bind: Callable[..., Any]
    paths: tuple[Any, ...]
    captures: Any

    @property
    def words(self) -> int:
        """How many arguments of 64 bits."""
        return -(-int(self.captures.size) // 8)

    def values(self, f: Any, shared: dict[str, Any]) -> Any:
        """What is captured now, in order; None where it is no longer what the function was compiled for."""
        found = self.bind(f, shared)
        return None if found is MISS else found

    def block(self, values: Sequence[Any], place: Callable[[Any], int]) -> list[int]:
        """The arguments. `place`: where an array whose items lie side by side is, as the kernel sees it."""
        found = {
            path: np.ascontiguousarray(value) if type(value) is np.ndarray else value
            for path, value in zip(self.paths, values, strict=True)
        }
        block = kernel.captured_block(self.captures, found, {})
        for path, taken in self.captures.inputs.items():
            if isinstance(taken.kind, Array):
                block[taken.slot : taken.slot + 8] = np.array([place(found[path])], np.int64).view(np.uint8)
        words: list[int] = block[: 8 * self.words].view(np.int64).tolist()
        return words


class NoShapes(NotCompiled):
    """The results are arrays, and nobody has said of what shape."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane of the user's function."""

    flat: Flat
    captured: Captured
    form: Form
    outs: tuple[Kind, ...]
    near_numpy: bool
    """Whether NumPy's numbers are in play, which warn where Python's do not."""
    mixed: bool = False
    """Whether ints and floats are stored alike."""
    unsure: bool = False
    """Whether some results may be Python's numbers and others NumPy's."""


def lane_of(
    f: Any, form: Form, kinds: Sequence[Kind], shared: dict[str, Any], target: Target, shapes: Shapes | None = None
) -> Lane:
    """What the compiler makes of a function of such elements, or `NotCompiled`. `shapes`: of the results that are
    arrays, in order, where several threads may run a lane together."""
    sizes = [math.prod(shape) for shape in (*(shapes or ()), *(kind.lane_shape for kind in kinds))]
    team, shapes = shapes is not None and max(sizes) > ALONE, shapes or ()
    leaves = iter(kinds)
    try:
        checked = kernel.check(f, [_given(child, leaves) for child in form.children], shared)
        module = write_unit(checked.unit, for_gpu=True, team=team)
        writer = _Writer(module, checked.root, kinds, shapes)
        text = writer.lane()
    except Refused as refused:
        where = f"{refused.filename}:{refused.line}" if refused.line else ""
        raise NotCompiled("cuda", refused.reason, where, refused.remedy) from None
    _refuse(module, text)
    captures = checked.unit.captures
    looked_at = [replace(capture, id=-i) for i, capture in enumerate(captures.looked_at.values(), start=1)]
    captured = Captured(capture_reader_of(looked_at), tuple(c.path for c in looked_at if c.is_input), captures)
    if captures.tables:
        raise NotCompiled("cuda", "it reads a list, dict or set that it captured", remedy="capture an array instead")
    if captures.size > MOST_CAPTURED:
        raise NotCompiled("cuda", "it captures too many numbers")
    words = (*[POINTER] * (len(kinds) + len(writer.outs)), *[I64] * captured.words)
    flat = _flattened(module.assembled() + text, words, target, team)
    form, outs = _form_of(checked.result, iter(shapes))
    return Lane(flat, captured, form, tuple(outs), module.watches, writer.mixed, writer.unsure)


def _refuse(module: Module, text: str) -> None:
    if module.unit.recursive:
        raise NotCompiled("cuda", "it calls itself, for which a thread of a GPU has no room")
    if module.unit.memos:
        raise NotCompiled("cuda", "it remembers results, for which a thread of a GPU has no memory")
    if any(reason.text == CHANGES for reason in module.reasons):
        raise NotCompiled("cuda", CHANGES, remedy="change a copy of it")
    if sum(part.count("\n") for part in module.functions) > MOST_LINES:
        raise NotCompiled("cuda", "it is too long for a GPU")


def _given(form: Form, leaves: Iterator[Kind]) -> Known:
    """The compiler's kind of an argument."""
    if form.cls is None:
        kind = next(leaves)
        if kind.shape is not None:
            if kind.dtype not in NUMPY:
                raise NotCompiled("cuda", f"its elements are arrays of {kind.dtype}")
            return Array(kind.dtype, len(kind.shape), None, True)
        if kind.python:
            return _PYTHON[kind.dtype.kind]
        if kind.dtype not in NUMPY:
            raise NotCompiled("cuda", f"its elements are of {kind.name}")
        return NUMPY[kind.dtype]
    if form.cls is tuple or hasattr(form.cls, "_fields"):
        named = None if form.cls is tuple else form.cls
        return Tuple(tuple(_given(child, leaves) for child in form.children), named)
    raise NotCompiled("cuda", "its elements are records, not numbers, tuples or arrays")


def _form_of(result: Known, shapes: Iterator[tuple[int, ...]] | None = None) -> tuple[Form, list[Kind]]:
    """The form of a result, and the kinds of its leaves."""
    result = plain(result)
    if isinstance(result, Array):
        shape = None if shapes is None else next(shapes, None)
        kind = None if shape is None else array_kind(result.dtype, shape)
        if kind is None or shape is None or len(shape) != result.ndim:
            raise NoShapes("cuda", "it returns arrays, whose shapes are not known")
        return LEAF, [kind]
    if isinstance(result, Tuple):
        parts = [_form_of(item, shapes) for item in result.items]
        cls = result.cls or tuple
        keys = getattr(cls, "_fields", tuple(range(len(parts))))
        return Form(cls, keys, tuple(form for form, _ in parts)), [leaf for _, leaves in parts for leaf in leaves]
    if isinstance(result, Either):
        return LEAF, [_common(result)]
    if isinstance(result, Scalar) and result is not NONE and result.ll is not None and result.ll != "{ ptr, i64 }":
        kind = number_of_class(result.cls) if result.dtype is None else kind_of_dtype(result.dtype)
        if kind is not None:
            return LEAF, [kind]
    raise NotCompiled("cuda", f"it returns {result!r}")


def _common(result: Either) -> Kind:
    """The kind in which a result of several kinds of numbers is stored."""
    kinds = [_form_of(one)[1][0] for one in result.kinds if isinstance(one, Scalar)]
    if len(kinds) == len(result.kinds):
        if len({kind.dtype for kind in kinds}) == 1:
            return kinds[0]
        if all(kind.dtype in (np.dtype(float), np.dtype(np.int64)) for kind in kinds):
            return number_of_class(float) or kinds[0]
    raise NotCompiled("cuda", f"it returns {result!r}")


class _Writer(Loop):
    """Writes the function around the compiled one."""

    def __init__(self, module: Module, spec: Any, kinds: Sequence[Kind], shapes: Shapes) -> None:
        super().__init__(module, spec)
        self.kinds, self.shapes = kinds, iter(shapes)
        _form_of(spec.result.kind or NONE, iter(shapes))
        self.mixed = self.unsure = False

    def _store_result(self, kind: Known, value: str, odd: str) -> None:
        kind = plain(kind)
        if isinstance(kind, Array):
            return self._store_array(kind, value, next(self.shapes))
        if not isinstance(kind, Either):
            return super()._store_result(kind, value, odd)
        common = FLOAT if _common(kind).dtype == np.dtype(float) else kind.kinds[0]
        tag, made = self.extract(ll_of(kind), value, 0), ""
        for i, one in enumerate(kind.kinds):
            part = self.extract(ll_of(kind), value, i + 1)
            if one.ll == "i64" and common.ll == "double":
                part, self.mixed = self._float_of(part), True
            is_it = "" if not made else self.new(f"icmp eq i8 {tag}, {i}")
            made = self.choose(is_it, ll_of(common), part, made) if made else part
        self.unsure = not self.mixed
        return super()._store_result(common, made, odd)

    def _store_array(self, kind: Array, value: str, shape: tuple[int, ...]) -> None:
        """The items of a result that has the expected shape, by all threads that there are."""
        for axis, n in enumerate(shape):
            wrong, on = self.new(f"icmp ne i64 {self.extract(ll_of(kind), value, 1, axis)}, {n}"), self._label("on")
            self.do(f"br i1 {wrong}, label %left, label %{on}, !prof !0")
            self.lines.append(f"{on}:")
        out, ll, count = self._out(kind), item_ll(kind.dtype), int(np.prod(shape, dtype=np.int64))
        first = self.new(f"getelementptr {ll}, ptr {out}, i64 {self.new(f'mul i64 %i, {count}')}")
        thread, step = "0", "1"
        if self.module.team:
            teams.begin(self)
            thread, step = self.new(f"call i64 {teams.THREAD}()"), self.new(f"call i64 {teams.SIZE}()")
        before, head, body, end = (self._label(hint) for hint in ("before", "head", "body", "end"))
        self.do(f"br label %{before}")
        self.lines += [f"{before}:", f"  br label %{head}", f"{head}:"]
        following = f"%{self._label('following')}"
        k = self.new(f"phi i64 [ {thread}, %{before} ], [ {following}, %{body} ]")
        self.do(f"br i1 {self.new(f'icmp slt i64 {k}, {count}')}, label %{body}, label %{end}")
        self.lines += [teams.BEGIN, f"{body}:"]
        place = self.extract(ll_of(kind), value, 0)
        for i, index in enumerate(teams.indices_of(self, k, [str(n) for n in shape]) if shape else []):
            by = self.extract(ll_of(kind), value, 2, i)
            place = self.new(f"getelementptr i8, ptr {place}, i64 {self.new(f'mul i64 {index}, {by}')}")
        item = self.new(f"load {ll}, ptr {place}")
        self.do(f"store {ll} {item}, ptr {self.new(f'getelementptr {ll}, ptr {first}, i64 {k}')}")
        self.lines += [f"  {following} = add i64 {k}, {step}", f"  br label %{head}", teams.END, f"{end}:"]

    def _float_of(self, part: str) -> str:
        """An int as a float; the lane is left where no float is that int."""
        made = self.new(f"sitofp i64 {part} to double")
        on = self._label("on")
        far = self.new(f"icmp ugt i64 {self.new(f'add i64 {part}, {1 << 53}')}, {1 << 54}")
        self.do(f"br i1 {far}, label %left, label %{on}")
        self.lines.append(f"{on}:")
        return made

    def lane(self) -> str:
        """`upshift_lane(i, *columns, *outs, *captured)`."""
        module, spec = self.module, self.spec
        given = ["ptr %context"]
        for kind, own in zip(spec.kinds, module.unit.given):
            value = self.load(own, kind, "%i")
            if kind.ll is not None:
                given.append(f"{kind.ll} {value}")
        result = spec.result.kind or NONE
        ll = f"{{ {ll_of(result)}, i32 }}"
        both = self.new(f"call {ll} @{spec.name}({', '.join(given)})")
        odd = self.new(f"icmp ne i32 {self.new(f'extractvalue {ll} {both}, 1')}, 0")
        self.do(f"br i1 {odd}, label %left, label %made, !prof !0")
        self.lines.append("made:")
        self._store_result(result, self.new(f"extractvalue {ll} {both}, 0"), odd)
        return self._defined(-(-module.unit.captures.size // 8))

    def _defined(self, captured: int) -> str:
        parameters = [f"ptr noalias readonly %c{k}" for k in range(self.columns)]
        parameters += [f"ptr noalias %o{k}" for k in range(len(self.outs))]
        parameters += [f"i64 %captured{k}" for k in range(captured)]
        makes = any("@up_alloc(" in text for text in self.module.functions)
        room = 0 if not makes else MOST_ROOM if self.module.team else ROOM
        own = [f"  %memory = alloca [{max(room, 16)} x i8], align 16", "  %first = ptrtoint ptr %memory to i64"]
        if self.module.team and makes:
            self.module.declare("@upshift_arena", ARENA)
            own = ["  %first = call i64 @upshift_arena()"]
        lines = [
            f"  %context = alloca [{CONTEXT} x i64], align 16",
            f"  %block = alloca [{max(captured, 1)} x i64], align 16",
            *own,
        ]
        words = [(AT, "0"), (END, str(room)), (BASE, "%first")]
        for word, value in words:
            lines.append(f"  %context.{word} = getelementptr i64, ptr %context, i64 {word}")
            lines.append(f"  store i64 {value}, ptr %context.{word}")
        lines.append(f"  %context.{CAPTURED} = getelementptr ptr, ptr %context, i64 {CAPTURED}")
        lines.append(f"  store ptr %block, ptr %context.{CAPTURED}")
        for k in range(captured):
            lines.append(f"  %block.{k} = getelementptr i64, ptr %block, i64 {k}")
            lines.append(f"  store i64 %captured{k}, ptr %block.{k}")
        poor = ["poor:", "  ret i32 1"] if self.poor else []
        body = [*lines, *self.entry, *self.lines, "  ret i32 0", "left:", "  ret i32 1", *poor]
        head = f"define i32 @{LANE}(i64 %i, {', '.join(parameters)}) nounwind {{\nentry:\n"
        return "\n" + head + "\n".join(body) + "\n}\n"

    def _load_array(self, kind: Array, at: str) -> str:
        """An array whose lengths are known; all elements lie one behind the other."""
        column = self._column()
        given = self.kinds[self.columns - 1]
        shape = given.lane_shape
        size = given.dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        made = self.new(f"getelementptr i8, ptr {column}, i64 {self.new(f'mul i64 {at}, {size}')}")
        made = self.new(f"insertvalue {kind.ll} undef, ptr {made}, 0")
        for axis, n in enumerate(shape):
            step = given.dtype.itemsize * int(np.prod(shape[axis + 1 :], dtype=np.int64))
            made = self.new(f"insertvalue {kind.ll} {made}, i64 {n}, 1, {axis}")
            made = self.new(f"insertvalue {kind.ll} {made}, i64 {step}, 2, {axis}")
        return made


# ---- one function, for any processor


_SINGLE = frozenset(("fmodf", "powf", "hypotf"))
"""C's functions of float32 that are called by their own names."""


def _flattened(text: str, words: tuple[Any, ...], target: Target, team: bool) -> Flat:
    """One function from all that was written."""
    text = text.replace(PRELUDE_IR, _MEMORY + _NO_POLL)
    text = text.replace(", !invariant.load !2", "").replace(" noinline", "")
    for name in sorted(C_NAMES | _SINGLE):
        own = f"single_{name[:-1]}" if name in _SINGLE else name
        text = re.sub(rf"@{name}\(", f"@{OF_C}{own}(", text)
    text = re.sub(
        rf"^(declare (?:double|float) @{OF_C}\w+\([^)\n]*\))$", r"\1 nounwind willreturn memory(none)", text, flags=re.M
    )
    text = re.sub(rf"^@{LOOP}\w+_data = external [^\n]*$", "", text, flags=re.M)
    text = loops_in(re.sub(rf"ptr @{LOOP}\w+_data\b", "ptr null", text))
    if team:
        text = waiting(text)
    try:
        module = target.parse(text)
    except RuntimeError as error:
        raise NotCompiled(
            "cuda", f"LLVM does not take its IR: {str(error).splitlines()[0]}", remedy="report it"
        ) from None
    keep_only(module, [LANE])
    for fn in module.functions:
        if not fn.is_declaration and fn.name != LANE:
            fn.add_function_attribute("alwaysinline")
    target.scalarise(module)
    target.optimise(module, 2, unroll=False)
    flat = str(module)
    # What LLVM found out of its result need not hold when more lanes are left.
    flat = re.sub(rf"^define [^@\n]*i32 @{LANE}\(", f"define i32 @{LANE}(", flat, flags=re.MULTILINE)
    return Flat(flat, words, _maths_of(flat), team, _shared_bytes(flat) if team else 0)


def _shared_bytes(text: str) -> int:
    """Bytes that a team's lane takes of the memory that its threads share."""
    made = re.findall(r"call ptr @upshift_memory\(i64 [^,]*, i64 ([^,]*), i64 ([^,)]*)\)", text)
    if not all(at.isdigit() and size.isdigit() for at, size in made):
        return MOST_ROOM
    return max((int(at) + int(size) for at, size in made), default=0)


_STORE = re.compile(r"  (?:store [^\n]*, ptr|call void @llvm\.mem\w+\.[\w.]+\(ptr) (%[\w.]+|@[\w.]+)")
_LOCAL = re.compile(r"  (%[\w.]+) = (?:alloca |getelementptr [^\n]*?ptr (%[\w.]+))")


def waiting(text: str) -> str:
    """The text of a team's functions in which all threads wait before and behind whatever each of them writes to the
    memory that they share."""
    lines, own, shared, apart = [], {"%context"}, 0, False
    for line in text.split("\n"):
        if line.startswith("define "):
            own, shared, apart = {"%context"}, 0, "@apart_" in line
        shared += (line == teams.BEGIN) - (line == teams.END)
        local = _LOCAL.match(line)
        if local and (local[2] is None or local[2] in own):
            own.add(local[1])
        store = _STORE.match(line)
        if store and not shared and not apart and store[1] not in own:
            lines += [f"  call void {teams.WAIT}()", line, f"  call void {teams.WAIT}()"]
        else:
            lines.append(line)
    if f"declare void {teams.WAIT}" not in text:
        lines.append(f"declare void {teams.WAIT}() convergent nounwind")
    return "\n".join(lines)


def _maths_of(text: str) -> frozenset[str]:
    called = set(re.findall(r"\bcall [^@\n]*@([\w.$]+)\(", text))
    others = sorted(name for name in called if not name.startswith((OF_C, "llvm.")))
    if others:
        name = re.sub(r"^upshift_numpy_(\w+)__\w+$", r"numpy.\1", others[0])
        raise NotCompiled("cuda", f"it calls {name}, which is not compiled for GPUs")
    found = frozenset(name.removeprefix(OF_C) for name in called if name.startswith(OF_C)) - NAMES
    for name in sorted(found):
        if re.fullmatch(r"numpy_\w+__\w+", name):
            raise NotCompiled("cuda", f"it calls numpy.{name[6:].split('__')[0]}, which is not compiled for GPUs")
    return found


class Arrays:
    """Captured arrays in a GPU's memory, for as long as this object lives."""

    def __init__(self, on: driver.Gpu) -> None:
        self.on = on
        self.memory: list[driver.Memory] = []

    def place(self, array: Any) -> int:
        """Send an array whose items lie side by side; where it is."""
        self.memory.append(driver.Memory(self.on, array.nbytes))
        driver.send(self.memory[-1].address, array.ctypes.data, array.nbytes)
        driver.wait()
        return self.memory[-1].address
