"""A tree with one path in; one Python function for it out, with nothing left to decide but whether all lanes follow.

The numpy gear walks a tree step by step, which costs some tens of microseconds a call. Where only one path is known,
the walk can be written down once: captured values are read and compared, every step is one line, every guard must hold
for all lanes. Whatever is not so (a lane on another path, an overflow, a warning) is a miss, and the walk decides.
"""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.forms import Form, flatten
from ..columns.kinds import Column, Kind, fits_int64, kind_of, kind_of_value
from ..config import settings
from ..rules.arrays import ArrayOp, flat_results
from ..rules.blur import EXACT, Blurred, Error, spread, too_close, too_inexact
from ..trace import Const, Guard, Leaf, Node, Ref, Tree
from .binder import MISS, Writer, binder_of, bound_in
from .chunks import CHUNK, CHUNK_BYTES, THREADS_PAY_SECONDS, chunks_of, side_by_side
from .direct import MOST_MISSES, built, called, fitting
from .program import Care, Instruction, program_of


@dataclass(slots=True)
class _Path(Writer):
    """The lines of one path."""

    blurred: set[int] = field(default_factory=set)

    def ref(self, ref: Ref) -> str:
        if isinstance(ref, Const):
            return repr(ref.value) if type(ref.value) is int else self.name(ref.value)
        return f"v{ref}" if ref >= 0 else f"c{-ref}"


def express_of(tree: Tree) -> Express | None:
    """The one path of a tree as a function; None where there are more, or it needs the walk."""
    nodes = _single_path(tree)
    if nodes is None:
        return None
    leaf = nodes[-1].end
    assert isinstance(leaf, Leaf)
    instructions = [i for node in nodes for i in program_of(node, Care.CLOSE)]
    made = {i.out for i in instructions if i.op is not None}
    plain = bool(leaf.refs) and all(isinstance(ref, int) and ref in made for ref in leaf.refs)
    plain = plain and is_array_form(leaf.form)
    plain = plain and len(set(leaf.refs)) == len(leaf.refs)  # else two results would share their memory
    plain = plain and not tree.draws
    plain = plain and not any(isinstance(i.op, ArrayOp) and i.op.updates for i in instructions)
    if not plain:
        return None
    writer = _Path()
    for node in nodes:
        for instruction in program_of(node, Care.CLOSE):
            _step(writer, instruction, leaf)
            _blur(writer, instruction)
        if isinstance(node.end, Guard):
            _guard(writer, node.end)
    results = ", ".join(writer.ref(ref) for ref in leaf.refs)
    errors = ", ".join(f"e{ref}" if ref in writer.blurred else "EXACT" for ref in leaf.refs)
    inputs = ", ".join(f"v{i}" for i in range(len(tree.kinds)))
    captured = ", ".join(f"c{-c.id}" for c in tree.captures.values() if c.mode == "input")
    head = f"def run({captured + ', ' if captured else ''}{inputs}, out=None):"
    source = "\n    ".join([head, *writer.lines, f"return ({results},), ({errors},)"])
    space = {**writer.space, "MISS": MISS, "EXACT": EXACT, "Blurred": Blurred, "spans_of": _spans_of}
    exec(compile(source, "<upshift express>", "exec"), space)
    made_here = {i.out for i in instructions if i.op is not None and i.op.simple and isinstance(i.op.run, np.ufunc)}
    return Express(tree, space["run"], leaf, own=made_here.issuperset(leaf.refs), exact=not writer.blurred)


def is_array_form(form: Form) -> bool:
    """Whether columns in the place of leaves are already what the user gets back (lists would become an axis)."""
    return form.cls is None or (form.cls is not list and all(is_array_form(child) for child in form.children))


def _single_path(tree: Tree) -> list[Node] | None:
    nodes = [tree.root] if tree.root is not None else []
    while nodes and isinstance(nodes[-1].end, Guard):
        children = nodes[-1].children()
        if len(children) != 1 or nodes[-1].end.mode != "truth":
            return None
        nodes.append(children[0])
    return nodes if nodes and isinstance(nodes[-1].end, Leaf) else None


def _step(writer: _Path, instruction: Instruction, leaf: Leaf) -> None:
    out, op = f"v{instruction.out}", instruction.op
    args = ", ".join(writer.ref(ref) for ref in instruction.refs)
    if op is None:
        kind = writer.name(instruction.step.kind)
        writer.lines += [
            f"{out} = {writer.name(instruction.step.fn)}({args})",
            f"if not {writer.name(made_as)}({out}, {kind}): return MISS",
        ]
    elif not op.simple:
        writer.lines += [
            f"{out}, leave, _ = {writer.name(op.over)}([{args}], spans_of([{args}]))",
            "if leave is not None: return MISS",
        ]
    elif isinstance(op.run, np.ufunc):
        into = f"v{instruction.into}" if instruction.into is not None else ""
        if leaf.refs == (instruction.out,):
            into = "out"
        writer.lines.append(f"{out} = {writer.name(op.run)}({args}{', ' + into if into else ''})")
    else:
        writer.lines.append(f"{out} = {writer.name(op.run)}({args})")


def _blur(writer: _Path, instruction: Instruction) -> None:
    """The error bound of a result, and a look at decisions that it might change."""
    op = instruction.op
    if op is None or not (instruction.decisive or instruction.edge):
        return
    errors = [f"e{ref}" if ref in writer.blurred else "EXACT" for ref in instruction.refs]
    if not op.close and not any(ref in writer.blurred for ref in instruction.refs):
        return
    pairs = zip(instruction.refs, errors, strict=True)
    args = ", ".join(f"Blurred({writer.ref(ref)}, {error})" for ref, error in pairs)
    if instruction.edge:
        writer.lines.append(f"if {writer.name(too_close)}({op.name!r}, [{args}]).any(): return MISS")
        return
    fn, out = writer.name(instruction.step.fn), f"v{instruction.out}"
    writer.lines.append(f"e{instruction.out} = {writer.name(spread)}({fn}, {op.close}, {out}, [{args}])")
    writer.blurred.add(instruction.out)


def _guard(writer: _Path, guard: Guard) -> None:
    answer = next(iter(guard.children))
    ref = writer.ref(guard.ref)
    if guard.ref < 0:
        writer.lines.append(f"if bool({ref}) is not {answer}: return MISS")
        return
    all_or_none = f"{ref}.all()" if answer else f"not {ref}.any()"
    writer.lines.append(f"if not ({all_or_none} if hasattr({ref}, 'any') else bool({ref}) is {answer}): return MISS")


def made_as(value: Any, kind: Kind | None) -> bool:
    """Whether what a call on captured values made is still of the kind that it was when it was traced."""
    if kind is not None and kind.parts is not None:
        return tuple(map(kind_of_value, flat_results(value))) == kind.parts
    return kind_of_value(value) is kind and (type(value) is not int or fits_int64(value))


def span_of(arg: Any) -> tuple[Any, Any]:
    """The smallest and the largest value of an argument, as Python numbers."""
    if isinstance(arg, np.ndarray):
        return (arg.min().item(), arg.max().item()) if arg.size else (0, 0)
    number = arg.item() if isinstance(arg, np.generic) else arg
    number = int(number) if isinstance(number, bool) else number
    return number, number


def _spans_of(args: list[Any]) -> Callable[[int, bool], tuple[Any, Any]]:
    def span(i: int, tight: bool) -> tuple[Any, Any]:
        return span_of(args[i])

    return span


class _Flagged(Exception):
    """NumPy would have warned: the walk knows how."""


def _flag(kind: str, flags: int) -> None:
    raise _Flagged(kind)


_AT_HAND: dict[str, list[contextvars.Context]] = {"call": [], "ignore": []}
"""Contexts in which NumPy's flags are exceptions, by what is done about underflow: entered faster than `np.errstate`.

One context serves one thread at a time; there are as many as were ever needed at once.
"""


def _flagging(under: Any, run: Callable[..., Any], *args: Any) -> Any:
    """What a function gives, or `_Flagged` where NumPy would have warned."""
    try:
        context = _AT_HAND[under].pop()
    except IndexError:
        context = contextvars.Context()
        context.run(np.seterr, divide="call", over="call", invalid="call", under=under)
        context.run(np.seterrcall, _flag)
    try:
        return context.run(run, *args)
    finally:
        _AT_HAND[under].append(context)


class Express:
    """A tree of one path, ready to run on whole arrays."""

    def __init__(self, tree: Tree, run: Callable[..., Any], leaf: Leaf, own: bool, exact: bool) -> None:
        self.tree, self.paths, self.captures = tree, tree.paths, len(tree.captures)
        self.run, self.bind = run, binder_of(tree.captures.values())
        self.dtypes = [kind.dtype for kind in tree.kinds]
        shapes = [kind.lane_shape for kind in tree.kinds]
        self.shapes = shapes if any(shapes) else None
        """Of elements; None where all are numbers."""
        self.layouts = [layout or () for layout in tree.layouts]
        self.form, self.kinds = leaf.form, leaf.kinds
        self.made = [kind.dtype for kind in leaf.kinds if kind is not None]
        self.steps = sum(len(node.steps) for node in tree.nodes())
        self.own, self.exact = own, exact
        """Whether results are always made anew, and always exact."""
        self.chunks = (0, 0, 0), CHUNK
        """Limits, and how many lanes at a time they allow."""
        self.under: Any = "call"
        self.misses = self.seen = self.timed = 0
        self.rate = 0.0
        """Seconds for one lane in the last large call, on one thread."""
        self.short = _short_of(self) if self.shapes is None and own and exact else None
        """`short(f, *columns)`: the same for brief calls, where it can be had."""

    def fits(self, columns: tuple[Any, ...]) -> bool:
        """Whether these arrays are made of elements that lie in memory as those that were traced."""
        return [c.shape[1:] for c in columns] == self.shapes and [c.strides[1:] for c in columns] == self.layouts

    def over(self, f: Any, columns: tuple[Any, ...], given: Any = None) -> Any:
        """The result for these arrays, or MISS. `given`: what they were made of, which does not matter here."""
        if min([column.strides[0] for column in columns]) < 0:  # to be turned round first
            return MISS
        captured = self.bind(f)
        if captured is MISS or self.tree.paths != self.paths or len(self.tree.captures) != self.captures:
            self.misses += 1
            return MISS
        if self.under == "ignore" and np.geterr()["under"] != "ignore":
            return MISS
        chunk = self.chunk() if self.shapes is not None else CHUNK
        n = len(columns[0])
        alone = self.steps == 1 and (self.shapes is None or self.seen < 3 or n * self.rate < THREADS_PAY_SECONDS)
        small = n <= chunk or alone  # one step gains nothing from caches
        try:
            made = self._at_once(f, captured, columns) if small else self._in_chunks(f, captured, columns)
        except _Flagged as flagged:
            if flagged.args == ("underflow",) and self.under == "call" and np.geterr()["under"] == "ignore":
                self.under = "ignore"  # it happens, and nobody minds: from now on it is looked up who does
                return self.over(f, columns)
            made = MISS
        except (ArithmeticError, TypeError, ValueError):
            made = MISS
        if made is MISS:
            self.misses += 1
            return MISS
        self.misses = 0
        return made[0] if self.form.cls is None else self.form.build(iter(made))

    def chunk(self) -> int:
        """How many lanes at a time."""
        limits = CHUNK, CHUNK_BYTES, settings().memory // settings().num_threads
        known, lanes = self.chunks
        if known != limits:  # threads may have settings of their own
            lanes = self.tree.chunk(*limits)
            self.chunks = limits, lanes
        return lanes

    def _at_once(self, f: Any, captured: tuple[Any, ...], columns: tuple[Column, ...]) -> Any:
        began = time.perf_counter() if self.shapes is not None else 0.0
        made = _flagging(self.under, self.run, *captured, *columns)
        if made is MISS:
            return MISS
        if began:
            rate = (time.perf_counter() - began) / len(columns[0])
            self.seen, self.rate = self.seen + 1, min(rate, self.rate) if self.seen else rate
        outs = made[0]
        if not self.own or [column.dtype for column in outs] != self.made:
            outs = tuple([_own(column, dtype, columns) for column, dtype in zip(outs, self.made, strict=True)])
        bad = None if self.exact else _inexact(outs, made[1])
        return outs if bad is None or self._mended(f, columns, outs, bad) else MISS

    def _in_chunks(self, f: Any, captured: tuple[Any, ...], columns: tuple[Column, ...]) -> Any:
        """All lanes, chunk by chunk, each written where it belongs; on threads where that pays."""
        n = len(columns[0])
        outs = tuple(np.empty((n, *kind.lane_shape), kind.dtype) for kind in self.kinds if kind is not None)
        single = outs[0] if len(outs) == 1 else None
        inexact: list[Column] = []

        def work(part: slice) -> None:
            given = (column[part] for column in columns)
            made = _flagging(self.under, self.run, *captured, *given, None if single is None else single[part])
            if made is MISS:
                raise _Flagged
            for out, column in zip(outs, made[0], strict=True):
                if column.base is not out:
                    out[part] = column
            bad = _inexact(made[0], made[1])
            if bad is not None:
                inexact.append(bad + part.start)

        threads = settings().num_threads if n * self.rate > THREADS_PAY_SECONDS else 1
        began = time.perf_counter()
        side_by_side(work, chunks_of(0, n, self.chunk(), threads), threads)
        if threads == 1:
            self.rate = (time.perf_counter() - began) / n
        return outs if not inexact or self._mended(f, columns, outs, np.concatenate(inexact)) else MISS

    def _mended(self, f: Any, columns: Any, outs: Any, bad: Column) -> bool:
        """Put the plain function's results where they are too inexact; False where these are many, or different."""
        if len(bad) > 16 + 0.01 * len(outs[0]):
            return False
        for i in bad.tolist():
            form, leaves = flatten(f(*(column[i] for column in columns)))
            if form != self.form or any(kind_of(x) is not k for x, k in zip(leaves, self.kinds, strict=True)):
                return False
            for out, leaf in zip(outs, leaves, strict=True):
                out[i] = leaf
        return True


def _short_of(express: Express) -> Callable[..., Any]:
    """All lanes of numbers at once, with nothing left to decide: the result, or MISS."""
    writer, tree = Writer(), express.tree
    xs = [f"x{i}" for i in range(len(tree.kinds))]
    own, most = writer.name(express), 1 << 62 if express.steps == 1 else CHUNK
    writer.lines += [
        f"n = len({xs[0]})",
        *fitting(writer, tree.kinds, xs, strided=False),
        f"if n > {most} or {own}.misses > {MOST_MISSES} or {own}.under != 'call': return MISS",
        f"if {own}.tree.paths != {express.paths} or len({own}.tree.captures) != {express.captures}: return MISS",
    ]
    captured = bound_in(writer, tree.captures.values())
    run = f"{writer.name(_flagging)}('call', {own}.run, {', '.join([*captured, *xs])})"
    ys = [f"y{i}" for i in range(len(express.made))]
    writer.lines += [f"made = {run}", "if made is MISS: return MISS", f"{', '.join(ys)}, = made[0]"]
    for y, dtype in zip(ys, map(writer.name, express.made), strict=True):
        writer.lines.append(f"if {y}.dtype is not {dtype} and {y}.dtype != {dtype}: return MISS")
    writer.lines.append(f"return {built(writer, express.form, iter(ys))}")
    return called(writer, xs, f", ArithmeticError, {writer.name(_Flagged)}")


def _inexact(columns: tuple[Column, ...], errors: tuple[Error, ...]) -> Column | None:
    """The lanes where one of these columns may be further off than the law allows; None where there are none."""
    found = None
    for column, error in zip(columns, errors, strict=True):
        bad = too_inexact(Blurred(column, error)) if error is not EXACT else None
        found = bad if found is None else found if bad is None else found | bad
    return None if found is None else found.nonzero()[0]


def _own(column: Column, dtype: np.dtype[Any], given: tuple[Column, ...]) -> Column:
    """A column of the kind that was traced, and not the caller's own."""
    own = column.base is None and column.dtype == dtype and all(column is not other for other in given)
    return column if own else column.astype(dtype)
