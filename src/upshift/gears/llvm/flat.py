"""A traced function without branches as vector code: all paths are computed, eight elements at a time.

`emit/select.py` writes the program, a straight line of simple Python on floats and flags, with a bound on how far any
value may be off; here each line becomes vector instructions. `sin`, `exp` and their like are libmvec's vector code,
whose last bits are not C's: lanes in which that could tell are marked odd, and are the plain function's.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns.forms import Form
from ...columns.kinds import Kind
from ...compiler import module
from ...compiler.parsing import parsed
from ...compiler.rows import items
from ...compiler.rows.items import Width
from ...compiler.rows.numbers import INFINITY
from ...emit.select import Select, select_of
from ...emit.select_rows import NUMBERS, NoSelect
from ...trace.tree import Tree
from ..capture_reader import MISS, CaptureReader, capture_reader_of
from ..chunks import THREADS_PAY_SECONDS, chunks_of, side_by_side
from ..ran import NotCompiled, Ran
from ..uniform import shared_values

GEAR = "simd"
WIDE = 8
"""Elements that are computed at once."""
REGISTER = 256
"""Bits of the registers that libmvec's functions are called with."""
F64, F32, FLAG, INT = (np.dtype(t) for t in (np.float64, np.float32, np.bool_, np.int64))
DType = np.dtype[Any]
Value = tuple[str, DType]
_NO_LANES: Any = np.empty(0, np.int64)


@functools.cache
def _libmvec() -> Any:
    """glibc's library of vector functions; None where there is none."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None


def _vector_function(name: str, arity: int, dtype: DType) -> tuple[str, int] | None:
    """The name and address of a vector function; None where there is none."""
    library = _libmvec()
    if library is None or not items.has_avx2():
        return None
    count = REGISTER // (8 * dtype.itemsize)
    symbol = f"_ZGVdN{count}{'v' * arity}_{name}{'f' if dtype == F32 else ''}"
    found = getattr(library, symbol, None)
    return None if found is None else (symbol, ctypes.cast(found, ctypes.c_void_p).value or 0)


class Lines:
    """Turns the lines of a program into IR, for one element or several at once."""

    def __init__(self, w: _Writer, v: Width, names: dict[str, Value]) -> None:
        self.w, self.v, self.names = w, v, names

    def run(self, lines: Sequence[str]) -> None:
        """Writes the instructions of lines such as `v3 = v1 * v2 + k0`."""
        for line in lines:
            statement = parsed(line).body[0]
            assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
            self.names[statement.targets[0].id] = self.value(statement.value)

    def value(self, node: ast.expr, like: DType | None = None) -> Value:
        """The value of an expression; numbers that stand in it take the dtype of what is beside them."""
        if isinstance(node, ast.Constant):
            return self.constant(node.value, like)
        if isinstance(node, ast.Name):
            found = self.names[node.id]
            return self.constant(found, like) if not isinstance(found, tuple) else found
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, like)
        if isinstance(node, ast.BinOp):
            return self._binary(node, like)
        if isinstance(node, ast.Compare):
            (a, of), (b, _) = self._pair(node.left, node.comparators[0], None)
            return items.compare(self.v, of, _SIGNS[type(node.ops[0])], a, b), FLAG
        if isinstance(node, ast.IfExp):
            (a, of), (b, _) = self._pair(node.body, node.orelse, like)
            flag, t = self.value(node.test)[0], self.v.type(of)
            return self.v.new(f"select {self.v.of('i1')} {flag}, {t} {a}, {t} {b}"), of
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return self._call(node.func.id, node.args, like)

    def constant(self, value: Any, like: DType | None) -> Value:
        """A constant, of the dtype of what stands beside it."""
        if isinstance(value, bool | np.bool_):
            return self.v.constant("i1", "true" if value else "false"), FLAG
        dtype = like if like is not None and like.kind == "f" else F64
        return self.v.number(dtype, items.float_constant(dtype, float(value))), dtype

    def _pair(self, left: ast.expr, right: ast.expr, like: DType | None) -> tuple[Value, Value]:
        """Two operands of one dtype."""
        first = self.value(left, like) if not self._is_number(left) else None
        second = self.value(right, first[1] if first is not None else like)
        a = first if first is not None else self.value(left, second[1])
        of = max((a[1], second[1]), key=lambda dtype: (dtype.kind == "f", dtype.itemsize))
        return self.as_dtype(a, of), self.as_dtype(second, of)

    def _is_number(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._is_number(node.operand)
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.Name) and not isinstance(self.names[node.id], tuple)
        )

    def as_dtype(self, value: Value, want: DType) -> Value:
        """A value cast to another dtype."""
        if value[1] == want:
            return value
        return items.cast(self.v, value[1], want, value[0])[0], want

    def _unary(self, node: ast.UnaryOp, like: DType | None) -> Value:
        value, of = self.value(node.operand, like)
        t = self.v.type(of)
        if isinstance(node.op, ast.Not):
            return self.v.new(f"xor {self.v.of('i1')} {value}, {self.v.constant('i1', 'true')}"), FLAG
        assert isinstance(node.op, ast.USub)
        return self.v.new(f"fneg {t} {value}"), of

    def _binary(self, node: ast.BinOp, like: DType | None) -> Value:
        (a, of), (b, _) = self._pair(node.left, node.right, like)
        word = (_FLAG_WORDS if of == FLAG else _WORDS)[type(node.op)]
        return self.v.new(f"{word} {self.v.type(of)} {a}, {b}"), of

    def _call(self, name: str, args: list[ast.expr], like: DType | None) -> Value:
        v = self.v
        if name.endswith("_") and name[:-1] in _CASTS:
            return self.as_dtype(self.value(args[0], _CASTS[name[:-1]]), _CASTS[name[:-1]])
        values = [self.value(arg, like) for arg in args]
        of = max((value[1] for value in values), key=lambda dtype: dtype.itemsize)
        given = [self.as_dtype(value, of)[0] for value in values]
        if name == "abs":
            return v.intrinsic("fabs", of, given[0]), of
        if name in ("sqrt", "floor", "ceil", "trunc"):
            return v.intrinsic(name, of, given[0]), of
        if name in ("isinf", "isfinite"):
            sign = "oeq" if name == "isinf" else "one"
            size = v.intrinsic("fabs", of, given[0])
            return v.new(f"fcmp {sign} {v.type(of)} {size}, {v.number(of, INFINITY)}"), FLAG
        kind, _, function = name.partition("_")
        if kind == "vector":
            found = _vector_function(function, len(given), of)
            if found is not None:
                return self._by_vectors(found, of, given), of
        return self._one_by_one(function, of, given), of

    def _by_vectors(self, found: tuple[str, int], of: DType, given: list[str]) -> str:
        """A vector function, called as often as it takes to fill all elements."""
        symbol, place = found
        count, whole = REGISTER // (8 * of.itemsize), self.v.count
        ll = "double" if of == F64 else "float"
        part = f"<{count} x {ll}>"
        self.w.declare(symbol, f"declare {part} @{symbol}({', '.join([part] * len(given))})", place)
        t, made = self.v.type(of), []
        for start in range(0, whole, count):
            mask = ", ".join(f"i32 {start + i}" for i in range(count))
            pieces = [self.v.new(f"shufflevector {t} {x}, {t} poison, <{count} x i32> <{mask}>") for x in given]
            if whole == count:
                pieces = given
            made.append(self.v.new(f"call {part} @{symbol}({', '.join(f'{part} {x}' for x in pieces)}) nounwind"))
        joined, size = made, count
        while len(joined) > 1:
            mask = ", ".join(f"i32 {i}" for i in range(2 * size))
            ll_now = f"<{size} x {ll}>"
            joined = [
                self.v.new(f"shufflevector {ll_now} {a}, {ll_now} {b}, <{2 * size} x i32> <{mask}>")
                for a, b in zip(joined[::2], joined[1::2])
            ]
            size *= 2
        return joined[0]

    def _one_by_one(self, function: str, of: DType, given: list[str]) -> str:
        """C's own function, for one element after the other."""
        name, ll, t = function + ("f" if of == F32 else ""), "double" if of == F64 else "float", self.v.type(of)
        self.w.declare(name, f"declare {ll} @{name}({', '.join([ll] * len(given))})", None)
        made = "poison"
        for i in range(self.v.count):
            ones = [self.v.new(f"extractelement {t} {x}, i64 {i}") for x in given]
            one = self.v.new(f"call {ll} @{name}({', '.join(f'{ll} {x}' for x in ones)}) nobuiltin nounwind")
            made = self.v.new(f"insertelement {t} {made}, {ll} {one}, i64 {i}")
        return made


_SIGNS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_WORDS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_FLAG_WORDS = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
_CASTS = {"float64": F64, "float32": F32, "bool": FLAG, "int64": INT}


class _Writer:
    """Writes the loop over all elements."""

    def __init__(self, select: Select, kinds: Sequence[Kind]) -> None:
        self.select, self.kinds = select, kinds
        self.lines: list[str] = []
        self.count = 0
        self.declared: dict[str, str] = {}
        self.symbols: dict[str, int] = {}

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def declare(self, name: str, text: str, place: int | None) -> None:
        self.declared[name] = text
        if place is not None:
            self.symbols[name] = place

    def intrinsic(self, name: str, ll: str, *args: tuple[str, str]) -> str:
        self.declared[name] = f"declare {ll} @{name}({', '.join(t for t, _ in args)})"
        return self.new(f"call {ll} @{name}({', '.join(f'{t} {v}' for t, v in args)})")

    def text(self) -> str:
        head = self._pointers()
        self.lines = []
        self._body("%i", None)
        whole = "\n".join(self.lines)
        odd = f"%t{self.count}"
        self.lines = []
        self._body("%whole", "%rest")
        rest, odd_rest = "\n".join(self.lines), f"%t{self.count}"
        declared = "\n".join(self.declared.values())
        return f"""{declared}
define i64 @flat(ptr %columns, ptr %outs, ptr %left, ptr %shared, i64 %from, i64 %to) nounwind {{
entry:
{head}
  %n = sub i64 %to, %from
  %many = and i64 %n, -{WIDE}
  %whole = add i64 %from, %many
  %some = icmp sgt i64 %many, 0
  br i1 %some, label %loop, label %after
loop:
  %i = phi i64 [ %from, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
{whole}
  %more = add i64 %sum, {odd}
  %next = add i64 %i, {WIDE}
  %again = icmp slt i64 %next, %whole
  br i1 %again, label %loop, label %after
after:
  %total = phi i64 [ 0, %entry ], [ %more, %loop ]
  %rest = sub i64 %to, %whole
  %none = icmp sle i64 %rest, 0
  br i1 %none, label %end, label %tail
tail:
{rest}
  %all = add i64 %total, {odd_rest}
  ret i64 %all
end:
  ret i64 %total
}}
"""

    def _pointers(self) -> str:
        lines = []
        for word, count in (("columns", len(self.kinds)), ("outs", len(self.select.results))):
            for i in range(count):
                lines.append(f"  %{word}.{i}p = getelementptr ptr, ptr %{word}, i64 {i}")
                lines.append(f"  %{word}.{i} = load ptr, ptr %{word}.{i}p")
        for i, name in enumerate(self.select.uniform):
            lines.append(f"  %{name}.p = getelementptr double, ptr %shared, i64 {i}")
            lines.append(f"  %{name} = load double, ptr %{name}.p")
        return "\n".join(lines)

    def _body(self, at: str, rest: str | None) -> None:
        """The elements from one place on, or as many as `rest` says. The last value is how many of them are odd."""
        v = Width(self, WIDE)
        mask = self._mask(rest) if rest is not None else None
        names: dict[str, Any] = dict(self.select.constants)
        for i, kind in enumerate(self.kinds):
            names[f"v{i}"] = self._load(v, kind.dtype, f"%columns.{i}", at, mask), kind.dtype
        for name, kind in zip(self.select.uniform, self.select.uniform_kinds):
            names[name] = v.spread(F64, f"%{name}"), F64
            if kind.dtype == F32:
                names[name] = items.cast(v, F64, F32, names[name][0])[0], F32
        lines = Lines(self, v, names)
        lines.run(self.select.lines)
        for i, (result, dtype) in enumerate(zip(self.select.results, self.select.dtypes)):
            value = lines.value(parsed(result, mode="eval").body, dtype)
            self._store(v, dtype, f"%outs.{i}", at, lines.as_dtype(value, dtype)[0], mask)
        odd = names["odd"][0] if isinstance(names.get("odd"), tuple) else v.constant("i1", "false")
        if mask is not None:
            odd = self.new(f"and <{WIDE} x i1> {odd}, {mask}")
        self._store(v, FLAG, "%left", at, odd, mask)
        bits = self.new(f"bitcast <{WIDE} x i1> {odd} to i{WIDE}")
        count = self.intrinsic(f"llvm.ctpop.i{WIDE}", f"i{WIDE}", (f"i{WIDE}", bits))
        self.new(f"zext i{WIDE} {count} to i64")

    def _mask(self, rest: str) -> str:
        one = self.new(f"insertelement <{WIDE} x i64> poison, i64 {rest}, i64 0")
        many = self.new(f"shufflevector <{WIDE} x i64> {one}, <{WIDE} x i64> poison, <{WIDE} x i32> zeroinitializer")
        steps = ", ".join(f"i64 {i}" for i in range(WIDE))
        return self.new(f"icmp slt <{WIDE} x i64> <{steps}>, {many}")

    def _place(self, dtype: DType, base: str, at: str) -> str:
        ll = "i8" if dtype == FLAG else items.name_of(dtype)
        return self.new(f"getelementptr inbounds {ll}, ptr {base}, i64 {at}")

    def _load(self, v: Width, dtype: DType, base: str, at: str, mask: str | None) -> str:
        place = self._place(dtype, base, at)
        if mask is None:
            return v.load(dtype, place)
        ll = "i8" if dtype == FLAG else items.name_of(dtype)
        t = f"<{WIDE} x {ll}>"
        name = f"llvm.masked.load.v{WIDE}{_suffix(dtype)}.p0"
        self.declared[name] = f"declare {t} @{name}(ptr, i32, <{WIDE} x i1>, {t})"
        value = self.new(
            f"call {t} @{name}(ptr {place}, i32 {dtype.itemsize}, <{WIDE} x i1> {mask}, {t} zeroinitializer)"
        )
        return self.new(f"icmp ne {t} {value}, zeroinitializer") if dtype == FLAG else value

    def _store(self, v: Width, dtype: DType, base: str, at: str, value: str, mask: str | None) -> None:
        place = self._place(dtype, base, at)
        if mask is None:
            return v.store(dtype, place, value)
        ll = "i8" if dtype == FLAG else items.name_of(dtype)
        t = f"<{WIDE} x {ll}>"
        if dtype == FLAG:
            value = self.new(f"zext <{WIDE} x i1> {value} to {t}")
        name = f"llvm.masked.store.v{WIDE}{_suffix(dtype)}.p0"
        self.declared[name] = f"declare void @{name}({t}, ptr, i32, <{WIDE} x i1>)"
        return self.do(f"call void @{name}({t} {value}, ptr {place}, i32 {dtype.itemsize}, <{WIDE} x i1> {mask})")


def _suffix(dtype: DType) -> str:
    return f"{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"


@dataclass(slots=True)
class Flat:
    """All paths of a tree in one loop, ready to run."""

    tree: Tree
    paths: int
    call: Any
    loaded: Any
    select: Select
    form: Form
    exact: bool
    bind: CaptureReader
    inputs: tuple[int, ...]
    """Ids of what `bind` gives."""
    rate: float = 0.0
    """Seconds for an element, as last measured."""

    @property
    def mixed(self) -> bool:
        """Whether some results are Python's numbers and others NumPy's."""
        return self.select.mixed

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of an element's numbers."""
        return self.tree.kinds

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        captured: Any = self.bind(f, shared) if self.tree.paths == self.paths else MISS
        if captured is MISS:
            return None
        uniform: Any = shared_values(self.select, dict(zip(self.inputs, captured, strict=True)))
        if uniform is None:
            return None
        columns = [np.ascontiguousarray(column, kind.dtype) for column, kind in zip(columns, self.kinds)]
        outs = [np.empty(n, dtype) for dtype in self.select.dtypes]
        left = np.empty(n, bool)
        own = np.array([*uniform, 0.0], np.float64)
        given, into = (np.array([a.ctypes.data for a in arrays], np.int64) for arrays in (columns, outs))
        odd: list[int] = []

        def stretch(span: slice) -> None:
            odd.append(self.call(*(a.ctypes.data for a in (given, into, left, own)), span.start, span.stop))

        if threads > 1 and n * self.rate > THREADS_PAY_SECONDS:
            side_by_side(stretch, chunks_of(0, n, max(n // (4 * threads), 1), threads), threads)
        else:
            stretch(slice(0, n))
        found = np.flatnonzero(left) if any(odd) else _NO_LANES
        return Ran(self.form, outs, found, n, self.mixed, self.select.unsure)


def prepare(tree: Tree, exact: bool) -> Flat:
    """Vector code of a tree, or why there is none."""
    try:
        select = select_of(tree, exact)
    except NoSelect as reason:
        raise NotCompiled(GEAR, str(reason)) from None
    if any(kind.dtype not in NUMBERS for kind in (*tree.kinds, *select.uniform_kinds)):
        raise NotCompiled(GEAR, "it computes with other numbers than floats")
    assert select.form is not None
    writer = _Writer(select, tree.kinds)
    text = writer.text()
    loaded = module.Loaded(module.object_code(text, False), ("flat",), writer.symbols)
    call: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)(loaded.address("flat"))
    captures = list(tree.captures.values())
    inputs = tuple(capture.id for capture in captures if capture.is_input)
    return Flat(
        tree, tree.paths, call, loaded, select, select.form, not select.close, capture_reader_of(captures), inputs
    )
