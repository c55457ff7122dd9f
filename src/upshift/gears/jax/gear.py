"""Runs all lanes by one XLA program, and leaves lanes for which it may not be right to the plain function."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ...columns.forms import Form
from ...columns.inputs import Stacked
from ...columns.kinds import Column, Kind
from ...config import settings
from ...rules.arrays import flat_results
from ...trace.grow import bind
from ...trace.tree import Const, Step, Tree
from ..ran import NotCompiled, Ran
from ..uniform import made_as
from .context import in_full
from .element import Outline, Shared, numbers_of, outline_of, program_of
from .value import MOST_NUMBERS, Traced, refuse

FEWEST = 16
"""Lanes that a program is compiled for at least."""
PART_BYTES = 1 << 23
"""Of a column that a CPU runs at a time: the next pass over it then finds it in a cache."""
MARKS: dict[int, Any] = {8: np.int64(0x7FF8_0000_0DD1_A4E5), 4: np.int32(0x7FC0_DD1A)}
"""Bits of a NaN that stands for an odd lane."""


@dataclass(slots=True, eq=False)
class LaneProgram:
    """One lane's program, traced once: what XLA compiles for as many lanes as there are."""

    closed: Any
    outline: Outline
    numbers: Any

    def over(self, constants: Sequence[Any], columns: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """All lanes: columns of results, and which lanes are odd."""
        one = jaxpr_as_fun(ClosedJaxpr(self.closed.jaxpr, list(constants)))
        axes = (*(0 for _ in columns), *(None for _ in given))
        made: list[Any] = jax.vmap(one, in_axes=axes)(*columns, *given)
        return made


def traced(tree: Tree, careful: bool) -> LaneProgram:
    """One lane's program of a tree, or why there is none."""
    with tree.lock:
        outline = outline_of(tree)
        outline.on_cpu = jax.default_backend() == "cpu"
        program = program_of(tree, outline, careful)
        captured = list(outline.captured)

        def flat(columns: Any, values: Any, made: Any, broken: Any, given: Any) -> Any:
            shared = Shared(dict(zip(captured, values, strict=True)), dict(enumerate(made)), broken)
            results, odd = program(columns, shared, given)
            return [*results, odd]

        shapes = (
            [_shape(kind) for kind in tree.kinds],
            [_shape(kind) for kind in outline.captured.values()],
            [_shapes(step) for step in outline.uniform],
            jax.ShapeDtypeStruct((len(outline.uniform),), np.bool_),
            jax.ShapeDtypeStruct((MOST_NUMBERS,), np.float64),
        )
        try:
            with in_full():
                closed = jax.make_jaxpr(flat)(*shapes)
        except (TypeError, ValueError, IndexError, NotImplementedError, ArithmeticError) as error:
            text = str(error).strip().split("\n")[0]
            raise refuse(f"JAX does not take it: {text[:160]}") from error
    return LaneProgram(closed, outline, numbers_of(outline))


def _shape(kind: Kind) -> Any:
    return jax.ShapeDtypeStruct(kind.lane_shape, kind.dtype)


def _shapes(step: Step) -> Any:
    assert step.kind is not None
    for kind in step.kind.parts or (step.kind,):
        if kind.dtype.kind not in "biufc":
            raise refuse(f"it computes {kind.dtype.name} from what it captured", step.where)
    return _shape(step.kind) if step.kind.parts is None else tuple(map(_shape, step.kind.parts))


def shared_values(outline: Outline, captured: dict[int, Any]) -> list[Any]:
    """What all lanes share, as it is now: one array for every argument of the program behind its columns."""
    values = dict(captured)
    given = [np.asarray(captured[id], kind.dtype) for id, kind in outline.captured.items()]
    broken = np.zeros(len(outline.uniform), bool)
    for i, step in enumerate(outline.uniform):
        assert step.kind is not None
        found = _once(step, values)
        kinds = step.kind.parts or (step.kind,)
        broken[i] = found is None
        if found is None:
            values.pop(step.out, None)
            found = [np.zeros(kind.lane_shape, kind.dtype) for kind in kinds]
        given += [np.asarray(one, kind.dtype) for one, kind in zip(found, kinds, strict=True)]
    return [*given, broken]


def _once(step: Step, values: dict[int, Any]) -> list[Any] | None:
    """A step on what was captured, by Python; None where it is not what it was when it was traced."""
    try:
        args = [ref.value if isinstance(ref, Const) else values[ref] for ref in step.refs]
        made = step.fn(*args)
    except Exception:  # of a pure function: the plain function will raise it where it matters
        return None
    if not made_as(made, step.kind):
        return None
    values[step.out] = made
    return [made] if step.kind is not None and step.kind.parts is None else flat_results(made)


@dataclass(slots=True, eq=False)
class Compiled:
    """All paths of a tree in one program."""

    tree: Tree
    paths: int
    program: LaneProgram
    exact: bool = False
    sizes: list[int] = field(default_factory=list)
    """How many lanes it has been compiled for."""
    compilations: int = 0
    trusted: bool = False
    """Whether results for JAX arrays have been compared with the plain function's."""
    live: int = 1
    """Bytes of everything that a lane needs."""
    widest: int = 0
    """Bytes of the largest array of a lane; none where there are only numbers."""
    _run: Any = None

    def __post_init__(self) -> None:
        kinds = [*self.tree.kinds, *(step.kind for node in self.tree.nodes() for step in node.steps)]
        sizes = [(k.dtype.itemsize * math.prod(k.lane_shape), k.shape) for k in kinds if k is not None]
        self.live = max(sum(size for size, _ in sizes), 1)
        self.widest = max((size for size, shape in sizes if shape), default=0)

        def run(constants: Any, columns: Any, given: Any) -> Any:
            self.compilations += 1
            made = self.program.over(constants, columns, given)
            return _marked(*made) if self.marks else made

        self._run = jax.jit(run)

    @property
    def on_cpu(self) -> bool:
        """Whether XLA compiled it for this machine's processor."""
        return self.program.outline.on_cpu

    @property
    def marks(self) -> bool:
        """Whether odd lanes are marked in the first result, which saves a CPU from computing everything twice."""
        outline = self.program.outline
        return self.on_cpu and bool(outline.dtypes) and not outline.shapes[0] and outline.dtypes[0].kind in "fb"

    @property
    def mixed(self) -> bool:
        """Whether results of different kinds stand in one column."""
        return self.program.outline.mixed

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of the columns that it takes."""
        return self.tree.kinds

    @property
    def form(self) -> Form:
        """The structure of one result: how its columns form tuples, lists and dicts."""
        return self.program.outline.form

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        """All lanes; None where it no longer stands on what the function captured, or how its elements lie."""
        given = self.shared(f, shared, columns)
        if given is None:
            return None
        outline = self.program.outline
        outs = [np.empty((n, *shape), dtype) for dtype, shape in zip(outline.dtypes, outline.shapes, strict=True)]
        left: list[Column] = []
        if outline.warns and _warnings_raise():
            left.append(np.arange(n))
        else:
            with in_full():
                for part in self.parts(n):
                    left.append(self._part(columns, given, part, [out[part] for out in outs]) + part.start)
        return Ran(self.form, outs, left[0] if len(left) == 1 else np.concatenate([NONE_LEFT, *left]), n)

    def shared(self, f: Any, shared: dict[str, Any], columns: Sequence[Any]) -> list[Any] | None:
        """What all lanes share; None where the tree is not for this."""
        with self.tree.lock:
            if self.tree.paths != self.paths or (self.program.outline.writes and not self._lie_alike(columns)):
                return None
            captured = bind(self.tree, f, shared)
        return None if captured is None else shared_values(self.program.outline, captured)

    def _lie_alike(self, columns: Sequence[Any]) -> bool:
        """What is a view, and what a copy, depends on how elements lie in memory."""
        pairs = zip(columns, self.tree.layouts, strict=True)
        return all(layout is None or _strides(column) == layout for column, layout in pairs)

    def parts(self, n: int) -> list[slice]:
        """As many lanes at a time as caches like, and the memory allows."""
        most = max(settings().memory // self.live, 1)
        if self.on_cpu and self.widest:
            most = min(most, max(PART_BYTES // self.widest, FEWEST))
        return [slice(start, min(start + most, n)) for start in range(0, n, most)]

    def _part(self, columns: Sequence[Any], given: list[Any], part: slice, outs: list[Column]) -> Column:
        """Some lanes, into `outs`; the positions of those that are left."""
        n = part.stop - part.start
        size = self.size_for(n)
        padded = [_padded(column[part], kind, size) for column, kind in zip(columns, self.kinds, strict=True)]
        *made, odd = self.run(padded, given)
        odd = np.asarray(odd)[:n]
        for out, column in zip(outs, made, strict=True):
            out[...] = np.asarray(column)[:n]
            if self.on_cpu and self.program.outline.warns and out.ndim > 1 and out.dtype.kind in "fc":
                odd = odd | _not_finite(out)
        return np.flatnonzero(odd)

    def run(self, columns: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The program on columns of one length, wherever they are: columns of results, and which lanes are odd."""
        made: list[Any] = self._run(self.program.closed.consts, columns, [*given, self.program.numbers])
        return _unmarked(made, self.program.outline.dtypes[0]) if self.marks else made

    def size_for(self, n: int) -> int:
        """How many lanes to run for `n`: a size that is compiled already, if it wastes little.

        The first size is what was asked for, since most batches are as long as the last one.
        """
        fitting = [size for size in self.sizes if n <= size <= max(1.125 * n, FEWEST)]
        if fitting:
            return min(fitting)
        size = max(n, FEWEST) if not self.sizes else rounded_up(n)
        self.sizes.append(size)
        return size


NONE_LEFT = np.empty(0, np.int64)


def _marked(first: Traced, *rest: Traced) -> list[Traced]:
    """The first column with the odd lanes marked in it, and the others."""
    *others, odd = rest
    if first.dtype == bool:
        return [first.astype(np.uint8) | (odd.astype(np.uint8) << 1), *others]
    mark = MARKS[first.dtype.itemsize]
    return [jnp.where(odd, mark, lax.bitcast_convert_type(first, mark.dtype)), *others]


def _unmarked(made: list[Any], dtype: np.dtype[Any]) -> list[Any]:
    bits = np.asarray(made[0])
    if dtype.kind == "b":
        return [(bits & 1).view(np.bool_), *made[1:], bits > 1]
    return [bits.view(dtype), *made[1:], bits == MARKS[dtype.itemsize]]


def _not_finite(out: Column) -> Column | bool:
    """Lanes with an infinity or a NaN in them: NumPy would have warned."""
    with np.errstate(all="ignore"):
        if np.isfinite(out.sum()):  # one of them, and the sum is another
            return False
    return np.asarray(~np.isfinite(out).reshape(len(out), -1).all(axis=1))


def rounded_up(n: int) -> int:
    """The next of eight sizes between a power of two and the next."""
    step = 1 << max(n.bit_length() - 4, 0)
    return max(-(-n // step) * step, FEWEST)


def _padded(part: Any, kind: Kind, size: int) -> Column:
    """The lanes of a part, and the last of them again up to a size."""
    given: Column = np.asarray(part, kind.dtype)
    if len(given) == size:
        return given
    whole = np.empty((size, *given.shape[1:]), given.dtype)
    whole[: len(given)] = given
    whole[len(given) :] = given[-1]
    return whole


def _strides(column: Any) -> Any:
    return column.arrays[0].strides if isinstance(column, Stacked) else column.strides[1:]


def _warnings_raise() -> bool:
    """Whether the loop would raise where NumPy warns."""
    return "raise" in np.geterr().values() or any(entry[0] == "error" for entry in warnings.filters)


def prepare(tree: Tree, exact: bool) -> Compiled:
    """A tree, ready to be compiled, or why it cannot be."""
    if exact:
        raise NotCompiled("jax", "the last bits of XLA's results are not the loop's")
    with tree.lock:
        return Compiled(tree, tree.paths, traced(tree, careful=True))
