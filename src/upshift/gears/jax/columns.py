"""JAX arrays as columns, and results as JAX arrays on the same device.

Elements are what iterating `np.asarray(column)` yields, and results have the dtype that the loop gives them: float64
where it does, whatever JAX is set to. Odd lanes are run by the plain function on the host and put in place.

Inside somebody's own `jit`, `grad` or `vmap` columns have no numbers yet. There the function is traced with examples,
and only JAX operations are left of it: every branch must have been tried, since no lane can be left to the plain
function. Results then have the dtypes of the user's own setting, and branches are decided by XLA's arithmetic.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...columns.forms import Form, assemble, flatten
from ...columns.inputs import Lanes, common_length, copied, elements_of, lanes_of
from ...columns.kinds import Column, kind_of_value
from ...errors import GearRefused
from ...trace.grow import bind, grow
from ...trace.tree import Tree
from ..loop import run_loop
from ..ran import NotCompiled, Ran
from .context import in_full
from .element import Shared, outline_of, program_of
from .gear import Compiled, prepare
from .value import refuse

log = logging.getLogger("upshift")
BUDGET = 20_000
"""Steps that one trace may have."""
ROUNDS = 4
"""How often a tree is grown by elements that were left, before they are run by the plain function."""
SAMPLE = 12
MOST_READY = 256
Check = Callable[..., Any]
"""`verify.check_columns`."""
Plain = Callable[[list[Column]], Any]
"""What `map` makes of NumPy columns."""


def run_on_jax(f: Any, columns: Sequence[Any], shared: dict[str, Any], plain: Plain, check: Check) -> Any:
    """`map` over JAX arrays. What the gear refuses is `plain`'s, and becomes JAX arrays afterwards."""
    if any(isinstance(x, jax.core.Tracer) for x in (*columns, *shared.values())):
        try:
            return _inside(f, columns, shared)
        except NotCompiled as reason:
            raise GearRefused(reason.refusal) from None
    common_length(columns)
    shared = {name: np.asarray(x) if isinstance(x, jax.Array) else x for name, x in shared.items()}
    device = next(iter(next(x for x in columns if isinstance(x, jax.Array)).devices()))
    try:
        return _Batch(f, columns, shared, device, check).result()
    except NotCompiled:
        return _to_jax(plain([np.asarray(column) for column in columns]), device)


# ---- columns with numbers in them


class _Ready:
    """Programs that were compiled, by function and kind of element."""

    def __init__(self) -> None:
        self.found: OrderedDict[Any, list[Compiled]] = OrderedDict()
        self.lock = threading.Lock()

    def of(self, key: Any) -> list[Compiled]:
        with self.lock:
            variants = self.found.setdefault(key, [])
            self.found.move_to_end(key)
            while len(self.found) > MOST_READY:
                self.found.popitem(last=False)
            return variants


_READY = _Ready()


class _Batch:
    """One call over JAX arrays."""

    def __init__(self, f: Any, columns: Sequence[Any], shared: dict[str, Any], device: Any, check: Check) -> None:
        self.f, self.shared, self.device, self.check = f, shared, device, check
        self.call = partial(f, **shared) if shared else f
        self.on_host = device.platform == "cpu"
        self.columns = [np.asarray(c) if self.on_host or not isinstance(c, jax.Array) else c for c in columns]
        self.n = len(columns[0])

    def result(self) -> Any:
        if not self.n:
            raise refuse("there are no elements")
        rng = np.random.default_rng(self.n)
        chosen = np.unique([0, self.n - 1, self.n // 2, *rng.integers(0, self.n, SAMPLE).tolist()])
        rows = self.rows(chosen)
        group = lanes_of(rows)[0]
        if group.lanes is None:
            raise refuse(group.reason)
        variants = _READY.of((_anchor(self.f), group.lanes.form, group.lanes.kinds))
        compiled, given = self._ready(variants, group.lanes, rows)
        outs, odd = self._run(compiled, given)
        for _ in range(ROUNDS):
            left = np.flatnonzero(odd)
            if len(left) <= SAMPLE or not self._grown(compiled.tree, left):
                break
            variants[:] = [one for one in variants if one is not compiled]
            compiled, given = self._ready(variants, group.lanes, rows)
            outs, odd = self._run(compiled, given)
        if compiled.mixed:
            raise refuse("its results are ints here and floats there")
        self._trust(compiled, outs, odd, chosen)
        return _built(compiled.form, self._finished(compiled, outs, np.flatnonzero(odd)))

    def rows(self, index: Column) -> list[Any]:
        """Some elements, as the loop sees them."""
        made = [
            column[index] if self.on_host else np.asarray(jnp.take(column, index, axis=0)) for column in self.columns
        ]
        return [elements_of(column) for column in made]

    def _ready(self, variants: list[Compiled], lanes: Lanes, rows: list[Any]) -> tuple[Compiled, list[Any]]:
        """A program for what the function captures now: one that is ready, or a new one."""
        for compiled in variants:
            given = compiled.shared(self.f, self.shared, lanes.columns)
            if given is not None:
                return compiled, given
        known = next((c.tree for c in variants if bind(c.tree, self.f, self.shared) is not None), None)
        tree = known or Tree(lanes)
        for i in range(len(rows[0])):
            _grow(tree, self.f, tuple(column[i] for column in rows), self.shared)
        compiled = prepare(tree, exact=False)
        variants.insert(0, compiled)
        del variants[4:]
        given = compiled.shared(self.f, self.shared, lanes.columns)
        if given is None:
            raise refuse("what it captured changes while it runs")
        return compiled, given

    def _grown(self, tree: Tree, left: Column) -> bool:
        """Whether some of the elements that were left go where nobody has been."""
        before = tree.paths
        few = left[:: max(len(left) // SAMPLE, 1)][:SAMPLE]
        rows = self.rows(few)
        for i in range(len(few)):
            _grow(tree, self.f, tuple(column[i] for column in rows), self.shared)
        return tree.paths > before

    def _run(self, compiled: Compiled, given: list[Any]) -> tuple[list[Any], Column]:
        size = compiled.size_for(self.n)
        with in_full(), jax.default_device(self.device):
            *outs, odd = compiled.run([self._padded(column, size) for column in self.columns], given)
            return [self._cut(out) for out in outs], np.asarray(odd)[: self.n]

    def _padded(self, column: Any, size: int) -> Any:
        if self.n == size:
            return column
        like = np if self.on_host else jnp
        return like.concatenate([column, like.broadcast_to(column[-1:], (size - self.n, *column.shape[1:]))])

    def _cut(self, out: Any) -> Any:
        out = out if out.shape[0] == self.n else out[: self.n]
        return out if isinstance(out, jax.Array) and not self.on_host else jax.device_put(np.asarray(out), self.device)

    def _trust(self, compiled: Compiled, outs: list[Any], odd: Column, chosen: Column) -> None:
        """The first results of a program are compared with the plain function's."""
        if compiled.trusted:
            return
        kept = chosen[~odd[chosen]]
        if not len(kept):
            raise refuse("every element of a sample is the plain function's")
        made = [np.asarray(out[kept]) for out in outs]
        rows = self.rows(kept)
        ran = Ran(compiled.form, made, np.empty(0, np.int64), len(kept))
        found = self.check(ran, False, self.call, lambda i: copied(tuple(c[i] for c in rows)), range(len(kept)))
        if isinstance(found, str):
            log.warning("upshift: results of the jax gear are not used: %s", found)
            raise refuse(f"its result is not the loop's: {found}")
        compiled.trusted = True

    def _finished(self, compiled: Compiled, outs: list[Any], left: Column) -> list[Any]:
        """The results, with those of the plain function where lanes were left."""
        if not len(left):
            return outs
        found = [flatten(result) for result in run_loop(self.call, self.rows(left), "raise", positions=left)]
        outline = compiled.program.outline
        columns = [list(column) for column in zip(*(leaves for _, leaves in found), strict=True)]
        alike = all(form == outline.form for form, _ in found)
        for column, dtype, shape in zip(columns, outline.dtypes, outline.shapes, strict=True):
            kinds = {kind_of_value(leaf) for leaf in column}
            alike &= all(k is not None and k.dtype == dtype and k.lane_shape == shape for k in kinds)
        if not alike:
            raise refuse("some of its results are of another kind")
        with in_full():
            pairs = zip(outs, columns, outline.dtypes, strict=True)
            return [out.at[left].set(np.array(column, dtype)) for out, column, dtype in pairs]


def _anchor(f: Any) -> Any:
    """What programs of a function are found by; whether one fits what it captures is looked at for each call."""
    return getattr(f, "__code__", None) or type(f)


def _grow(tree: Tree, f: Any, row: tuple[Any, ...], shared: dict[str, Any]) -> None:
    with tree.lock:
        outcome = grow(tree, f, copied(row), shared, BUDGET)
    if outcome.refusal is not None:
        refusal = outcome.refusal
        raise NotCompiled("jax", refusal.reason, refusal.where, refusal.remedy)


def _built(form: Form, outs: list[Any]) -> Any:
    """Columns of results in the place of leaves; items of lists are an axis, where they stack."""
    leaves = iter(outs)

    def build(form: Form) -> Any:
        if form.cls is None:
            return next(leaves)
        children = [build(child) for child in form.children]
        if form.cls is not list:
            return assemble(form.cls, form.keys, children)
        if not children or any(not isinstance(c, jax.Array) or c.shape != children[0].shape for c in children):
            raise refuse("its lists do not stack")
        with in_full():
            return jnp.stack(children, axis=1)

    return build(form)


def _to_jax(result: Any, device: Any) -> Any:
    """Arrays among results, on a device."""
    form, leaves = flatten(result)
    with in_full():
        made = [jax.device_put(leaf, device) if _is_numeric(leaf) else leaf for leaf in leaves]
    return form.build(iter(made))


def _is_numeric(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biufc" and leaf.dtype.itemsize <= 16


# ---- columns without numbers


def _inside(f: Any, columns: Sequence[Any], shared: dict[str, Any]) -> Any:
    """All lanes, as part of somebody's own program."""
    held = {name: _example(x, 5, -1) if isinstance(x, jax.Array) else x for name, x in shared.items()}
    examples = [np.stack([_example(x[0], i, at) for i in range(len(_SCALES))]) for at, x in enumerate(columns)]
    group = lanes_of([elements_of(column) for column in examples])[0]
    if group.lanes is None:
        raise refuse(group.reason)
    tree = Tree(group.lanes)
    for i in range(len(_SCALES)):
        _grow(tree, f, tuple(column[i] for column in group.lanes.columns), held)
    outline = outline_of(tree)
    captured = bind(tree, f, held)
    if captured is None:
        raise refuse("what it captured changes while it is traced")
    for capture in tree.captures.values():
        way, name = capture.path[0]
        if capture.is_input and len(capture.path) == 1 and way == "shared" and isinstance(shared[name], jax.Array):
            captured[capture.id] = shared[name]
    program = program_of(tree, outline, careful=False)
    dtypes = [jax.dtypes.canonicalize_dtype(dtype) for dtype in outline.dtypes]
    with in_full():
        given = {id: jnp.asarray(captured[id], kind.dtype) for id, kind in outline.captured.items()}
        outs = jax.vmap(lambda *row: program(row, Shared(given, {}, None), None)[0])(*columns)
        outs = [out.astype(dtype) for out, dtype in zip(outs, dtypes, strict=True)]
        return _built(outline.form, outs)


_SCALES = (0.0, 1.0, -1.0, 0.5, -0.5, *(0.1, 1.0, 3.0, 10.0, 100.0) * 5)
"""What examples are made of: the first ones are all the same number, then come random ones of these sizes."""


def _example(x: Any, i: int, at: int) -> Column:
    """Numbers that a JAX array might hold: the i-th example for the column at this place."""
    shape, dtype = tuple(x.shape), np.dtype(x.dtype)
    rng = np.random.default_rng([i, at + 1])
    made = np.full(shape, _SCALES[i]) if i < 5 else rng.normal(size=shape) * _SCALES[i]
    if dtype.kind == "b":
        return np.asarray(made > 0)
    if dtype.kind == "u":
        made = np.abs(made)
    return np.asarray(made).astype(dtype)
