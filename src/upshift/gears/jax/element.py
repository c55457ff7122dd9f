"""The tree as a JAX function of one lane without branches: all paths are computed, results are selected.

Lanes that the program is not right for (an untraced path, an error, a float that may be off) are `odd`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...columns.forms import Form
from ...columns.kinds import RTOL, Kind, array_kind, kind_of, kind_of_value
from ...emit.select import flows, warns_at
from ...rules import lower
from ...rules.arrays.dynamic import Each, Unpack, signature_of
from ...trace.tree import Const, Guard, Leaf, Node, Raises, Ref, Step, Tree
from . import arithmetic as do
from . import arrays, numbers
from .value import MOST_NUMBERS, Traced, Value, Work, refuse

MOST_STEPS, MOST_PATHS = 500, 16


@dataclass(slots=True)
class Outline:
    """What is known of a program before it is traced: its results, and what all lanes share."""

    form: Form
    dtypes: list[np.dtype[Any]]
    shapes: list[tuple[int, ...]]
    mixed: bool
    captured: dict[int, Kind]
    uniform: list[Step]
    """Steps on what was captured, done by Python before each run."""
    warns: bool = False
    """Whether arrays in it may make NumPy warn."""
    writes: bool = False
    """Whether it writes into arrays, so that what is a view matters."""
    on_cpu: bool = True
    """Where the host looks for infinities in results, which it does better than XLA."""
    constants: list[float] = field(default_factory=list)


def outline_of(tree: Tree) -> Outline:
    """The outline of a tree, or why it has no program."""
    nodes = list(tree.nodes())
    leaves = [node.end for node in nodes if isinstance(node.end, Leaf)]
    steps = [step for node in nodes for step in node.steps]
    if not leaves or len(steps) > MOST_STEPS or len(leaves) > MOST_PATHS:
        raise refuse(f"it has {len(steps)} steps on {len(leaves)} paths")
    if tree.draws:
        raise refuse("it draws random numbers")
    for kind in tree.kinds:
        _known_dtype(kind)
    first = leaves[0]
    if any(leaf.form != first.form for leaf in leaves):
        raise refuse("its results have different forms")
    outline = Outline(first.form, [], [], False, _captured(tree), [step for step in steps if step.op is None])
    for i in range(len(first.refs)):
        kinds = {_known_dtype(_kind_of_result(leaf, i)) for leaf in leaves}
        if len({kind.shape for kind in kinds}) != 1:
            raise refuse("its results have different shapes")
        outline.dtypes.append(np.result_type(*(kind.dtype for kind in kinds)))
        outline.mixed |= len({kind.dtype for kind in kinds}) > 1
        outline.shapes.append(next(iter(kinds)).lane_shape)
    outline.warns = any(step.op.warns for step in steps if step.op is not None and step.of_arrays)
    outline.writes = any(getattr(step.op, "updates", False) for step in steps)
    return outline


def _known_dtype(kind: Kind) -> Kind:
    if kind.dtype.kind not in "biufc" or kind.dtype == np.float16 or kind.dtype.itemsize > 16 or kind.parts:
        raise refuse(f"it computes with {kind.dtype.name}")
    if kind.shape is None and kind.dtype.kind == "c":
        raise refuse("it computes with complex numbers")
    return kind


def _kind_of_result(leaf: Leaf, i: int) -> Kind:
    kind, ref = leaf.kinds[i], leaf.refs[i]
    if kind is None and isinstance(ref, Const):
        kind = kind_of(ref.value)
    if kind is None:
        raise refuse("its results are not numbers")
    return kind


def _captured(tree: Tree) -> dict[int, Kind]:
    found = {}
    for capture in tree.captures.values():
        if not capture.is_input:
            continue
        expected = capture.expected
        kind = expected if isinstance(expected, Kind) else array_kind(*expected)
        if kind is not None:
            found[capture.id] = kind
    return found


@dataclass(slots=True)
class Shared:
    """What all lanes share, as arguments of the program."""

    captured: dict[int, Traced]
    made: dict[int, Traced]
    """What uniform steps make, by their place in the outline; several are a tuple."""
    broken: Traced | None
    """Which of the uniform steps could not be done; None where JAX does them."""


def program_of(
    tree: Tree, outline: Outline, careful: bool
) -> Callable[[Sequence[Traced], Shared, Traced], tuple[list[Traced], Traced]]:
    """`program(columns, shared, numbers)`: results of one lane, and whether it is odd."""

    def program(columns: Sequence[Traced], shared: Shared, given: Traced) -> tuple[list[Traced], Traced]:
        work = Work(given, careful, outline.on_cpu)
        results = _Writer(tree, outline, work, columns, shared).write()
        outline.constants = [0.0, *map(float, work.places)]
        return [result.x for result in results], work.all_odd()

    return program


def numbers_of(outline: Outline) -> Any:
    """The constants of a program that was traced."""
    made = np.zeros(MOST_NUMBERS)
    made[: len(outline.constants)] = outline.constants
    return made


class _Writer:
    def __init__(self, tree: Tree, outline: Outline, work: Work, columns: Sequence[Traced], shared: Shared) -> None:
        self.tree, self.outline, self.work, self.shared = tree, outline, work, shared
        self.inputs = {i: replace(work.input(x), python=k.python) for i, (x, k) in enumerate(zip(columns, tree.kinds))}
        self.kinds: dict[int, Kind | None] = dict(enumerate(tree.kinds))
        self.places = {id(step): i for i, step in enumerate(outline.uniform)}
        floats = [x for x, kind in zip(columns, tree.kinds) if kind.dtype.kind == "f" and kind.shape is None]
        self.where = ""
        """Of the last decision."""
        self.nan = jnp.zeros((), bool)
        for x in floats if work.careful else ():
            self.nan = self.nan | (x != x)

    def write(self) -> list[Value]:
        assert self.tree.root is not None
        return self._node(self.tree.root, dict(self.inputs))

    # ---- nodes

    def _node(self, node: Node, values: dict[int, Value]) -> list[Value]:
        """The results of a node and of all below it."""
        for step in node.steps:
            values[step.out] = self._step(step, values)
        end = node.end
        if isinstance(end, Leaf):
            return [self._result(ref, i, values) for i, ref in enumerate(end.refs)]
        if not isinstance(end, Guard):
            return self._nothing((end.where if isinstance(end, Raises) else "") or self.where)
        return self._branches(end, values)

    def _nothing(self, where: str) -> list[Value]:
        if not self.work.careful:
            raise refuse("it raises for some elements, which JAX cannot", where)
        self.work.odd(jnp.ones((), bool))
        pairs = zip(self.outline.dtypes, self.outline.shapes, strict=True)
        return [Value(jnp.zeros(shape, dtype)) for dtype, shape in pairs]

    def _branches(self, guard: Guard, values: dict[int, Value]) -> list[Value]:
        decision = self._value(guard.ref, values)
        before = self.work.path
        made: list[Value] | None = None
        covered = jnp.zeros((), bool)
        if not self.work.careful and decision.waiting is None and (guard.mode != "truth" or len(guard.children) < 2):
            raise refuse("it takes a branch that was not tried", guard.where)
        for answer, child in guard.children.items():
            taken = self._answers(decision, guard, answer)
            covered = covered | taken
            self.where = guard.where
            self.work.path = taken if before is None else before & taken
            found = self._node(child, self._entering(values))
            made = found if made is None else [do.pick(self.work, taken, a, b) for a, b in zip(found, made)]
        self.work.path = before
        if guard.mode != "truth" or len(guard.children) < 2:
            self.work.odd(~covered)
        assert made is not None
        return made

    def _answers(self, decision: Value, guard: Guard, answer: Any) -> Traced:
        if guard.mode == "truth":
            return decision.x if answer else ~decision.x
        if decision.waiting is not None and len(guard.children) == 1:
            return jnp.ones((), bool)  # what JAX makes is of one kind for all lanes
        if decision.waiting is not None or not decision.sharp:
            raise refuse("it takes a path for every value of what may be off in its last bits", guard.where)
        if decision.dtype.kind in "biu":
            return decision.x == jnp.asarray(answer[1], decision.dtype)
        raise refuse("it takes a path for every value", guard.where)

    def _entering(self, values: dict[int, Value]) -> dict[int, Value]:
        """Inside somebody's `grad`: what goes wrong in a branch that is not taken must not come back out of it."""
        if self.work.careful:
            return dict(values)
        path = self.work.path
        return {id: self._masked(value, path) for id, value in values.items()}

    def _masked(self, value: Value, path: Traced) -> Value:
        if value.x is None or value.dtype.kind not in "fc":
            return value
        return replace(value, x=jnp.where(path, value.x, lax.stop_gradient(value.x)))

    def _result(self, ref: Ref, i: int, values: dict[int, Value]) -> Value:
        dtype, shape = self.outline.dtypes[i], self.outline.shapes[i]
        value = self._value(ref, values)
        self._must_be_close(value, ref, dtype)
        made = do.cast(self.work, value, dtype)
        return replace(made, x=jnp.broadcast_to(made.x, shape))

    def _must_be_close(self, value: Value, ref: Ref, dtype: np.dtype[Any]) -> None:
        """Lanes whose result may be further off than the law allows, or would have come with a warning, are odd."""
        work = self.work
        if not work.careful or value.dtype.kind not in "fc":
            return
        law = RTOL[dtype.itemsize // (2 if dtype.kind == "c" else 1)]
        allowed = 0.5 * law
        if value.relative > allowed:
            raise refuse(f"its {dtype.name} results may be off by more than {law}")
        if not value.ndim:
            work.decide_on(value)
        if value.absolute is not None:
            fine = value.absolute <= (allowed - value.relative) * value.most() + 1e-300
            work.odd(~fine & jnp.isfinite(value.x) if not value.ndim else ~fine)
        if value.ndim and self.outline.warns and not self.outline.on_cpu:
            work.odd(~jnp.isfinite(value.x))
        elif not value.ndim and isinstance(ref, int) and ref >= 0 and warns_at(self.tree, ref):
            work.odd(~jnp.isfinite(value.x) & ~self.nan)

    # ---- steps

    def _step(self, step: Step, values: dict[int, Value]) -> Value:
        kind = step.kind
        if kind is None:
            raise refuse("it makes other things than numbers", step.where)
        if step.op is None:
            if self.shared.broken is not None:
                return self._uniform(step)
            step = replace(step, op=lower(step.fn, step.kinds, kind))
        args: list[Any] = [ref.value if isinstance(ref, Const) else self._value(ref, values) for ref in step.refs]
        if isinstance(step.op, Each) or step.fn is signature_of:
            return Value(None, waiting=(step, args))
        if isinstance(step.fn, Unpack):
            made_by, args = args[0].waiting
            step = replace(made_by, kind=kind)
        for part in kind.parts or (kind,):
            _known_dtype(part)
        if step.of_arrays or any(isinstance(a, Value) and (a.ndim or a.parts) for a in args):
            made = arrays.made_by(self.work, step, args)
        else:
            made = numbers.made_by(self.work, step, args, self._number_kinds(step, args))
            self._watch(step, made)
        return made if made.x is None or made.python == kind.python else replace(made, python=kind.python)

    def _number_kinds(self, step: Step, args: list[Any]) -> list[Kind]:
        found = []
        for arg, kind in zip(args, step.kinds, strict=True):
            known = kind if kind is not None else kind_of(arg)
            if known is None:
                raise refuse("it computes with other things than numbers", step.where)
            found.append(_known_dtype(known))
        return found

    def _watch(self, step: Step, made: Value) -> None:
        """Where NumPy would warn and no result tells, the lane is odd."""
        assert step.op is not None
        if self.work.careful and step.op.warns and made.dtype.kind == "f" and not flows(self.tree, step.out):
            self.work.odd(~jnp.isfinite(made.x) & ~self.nan)

    # ---- values

    def _uniform(self, step: Step) -> Value:
        place = self.places[id(step)]
        assert self.shared.broken is not None
        self.work.odd(self.shared.broken[place])
        made = self.shared.made[place]
        assert step.kind is not None
        if step.kind.parts is not None:
            return Value(None, parts=tuple(self.work.input(x) for x in made))
        return replace(self.work.input(made), python=step.kind.python)

    def _value(self, ref: Ref, values: dict[int, Value]) -> Value:
        if isinstance(ref, Const):
            kind = kind_of_value(ref.value)
            if kind is None:
                raise refuse("it computes with other things than numbers")
            return replace(do.from_constant(self.work, ref.value, kind.dtype), python=kind.python)
        if ref >= 0:
            return values[ref]
        if ref not in self.outline.captured:
            raise refuse("it computes with other captured things than numbers")
        return replace(self.work.input(self.shared.captured[ref]), python=self.outline.captured[ref].python)
