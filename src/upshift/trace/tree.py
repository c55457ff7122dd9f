"""The tree: traces that share a prefix, split at guards. Written by a trace, read by the gears and by emit."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..columns.forms import Form
from ..columns.inputs import Lanes
from ..columns.kinds import Kind
from ..rules import Op, lane_by_lane
from ..rules.arrays import ArrayOp
from ..rules.error_bounds import EDGES, spread_of


class Const:
    """A value that the function wrote itself. Two are equal when no computation could tell them apart."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return False
        a, b = self.value, other.value
        if a is b:
            return True
        if type(a) is not type(b):
            return False
        if isinstance(a, np.ndarray):
            return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())  # type: ignore
        return repr(a) == repr(b) if isinstance(a, float | complex | np.inexact) else bool(a == b)

    def __hash__(self) -> int:
        value = self.value
        numbers = (
            isinstance(value, int | float | complex | np.number | np.bool_) and value == value
        )  # each NaN has its own hash
        return hash(value) if numbers or type(value) is str else hash(type(value))

    def __repr__(self) -> str:
        return repr(self.value)


Ref = int | Const
"""What a step works on: the id of a value (negative: a captured one) or a constant."""


@dataclass(slots=True)
class Step:
    """One call. A uniform step works on captured values and constants only: it runs once, by Python, for all lanes."""

    fn: Callable[..., Any]
    refs: tuple[Ref, ...]
    out: int
    kind: Kind | None
    op: Op | None
    kinds: tuple[Kind | None, ...]
    where: str
    inexact: bool = False
    """Whether it is only close, or works on what is."""
    lanes: tuple[bool, ...] = ()
    """Which arguments are columns; the others are the same for all lanes."""
    _exact: Op | None = None

    @property
    def uniform(self) -> bool:
        """Whether it is the same for all lanes, and computed once for a call."""
        return self.op is None

    @property
    def exact(self) -> Op:
        """The op that gives the loop's very bits."""
        assert self.op is not None and self.kind is not None
        if not self.op.close:
            return self.op
        if self._exact is None:
            self._exact = self.plain_op
        return self._exact

    @property
    def plain_op(self) -> Op:
        """The plain call for every lane."""
        assert self.op is not None and self.kind is not None
        if isinstance(self.op, ArrayOp):
            return replace(self.op, run=_no_rule, close=False)
        if not self.of_arrays:
            return lane_by_lane(self.fn, self.kinds, self.kind)
        return ArrayOp("call", _no_rule, "", plain=self.fn, lanes=self.lanes, kinds=self.kinds, makes=(self.kind,))

    @property
    def of_arrays(self) -> bool:
        """Whether it works on arrays, or makes them."""
        return any(k is not None and (k.shape is not None or k.dtype == object) for k in (self.kind, *self.kinds))


def _no_rule(*args: Any) -> None:
    """No call for all lanes."""


@dataclass(slots=True)
class Waiting:
    """Lanes that came to where nobody has traced on, in all calls, and were left to the plain function."""

    lanes: int = 0
    broken_off: float = 0.0
    """The seconds that they had cost when a trace was last begun here and became longer than it was worth."""


@dataclass(slots=True)
class Guard:
    """A decision on a value: `truth` splits lanes in two, `value` groups them by what they hold."""

    ref: int
    mode: str
    kind: Kind | None
    where: str
    children: dict[Any, Node] = field(default_factory=dict)
    waiting: dict[Any, Waiting] = field(default_factory=dict)


@dataclass(slots=True)
class Leaf:
    """The result of the lanes that end here."""

    form: Form
    refs: tuple[Ref, ...]
    kinds: tuple[Kind | None, ...]
    key: Any = None


@dataclass(slots=True)
class Raises:
    """Lanes that end here raise: the plain function is run on them, so that its very error is what the user sees."""

    error: str
    where: str


class Node:
    """Steps that every lane here takes, then a guard, a leaf or an error."""

    __slots__ = ("decisive", "end", "exact", "firm", "needs", "program", "sharp", "steps", "weight")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.end: Guard | Leaf | Raises | None = None
        self.needs: frozenset[int] = frozenset()
        self.sharp: frozenset[int] = frozenset()
        self.decisive: frozenset[int] = frozenset()
        self.firm: frozenset[int] = frozenset()
        self.exact: frozenset[int] | None = None
        self.weight = 0.0
        self.program: Any = None

    def children(self) -> list[Node]:
        """The nodes behind its guard."""
        return list(self.end.children.values()) if isinstance(self.end, Guard) else []

    def needed_after(self) -> set[int]:
        """The values that are needed once all steps here are done."""
        needed: set[int] = set()
        for child in self.children():
            needed |= child.needs
        if isinstance(self.end, Guard):
            needed.add(self.end.ref)
        elif isinstance(self.end, Leaf):
            needed.update(ref for ref in self.end.refs if isinstance(ref, int))
        return needed

    def settle(self) -> bool:
        """Work out, from the children, what is needed from above; True where a step has to be more exact than before.

        Decisions and results depend on values made here or above. `decisive`: they may be inexact if an error bound is
        carried along. `sharp`: they must be the loop's very bits. `firm`: what decisions alone depend on.
        """
        needs = self.needed_after()
        made = [(child, {step.out for step in child.steps}) for child in self.children()]
        decisive = set[int]().union(*(child.decisive - own for child, own in made))
        sharp = set[int]().union(*(child.sharp - own for child, own in made))
        firm = set[int]().union(*(child.firm - own for child, own in made))
        if isinstance(self.end, Guard):
            (decisive if self.end.mode == "truth" else sharp).add(self.end.ref)
            firm.add(self.end.ref)
        elif isinstance(self.end, Leaf):
            decisive |= needs
        for step in reversed(self.steps):
            needs.discard(step.out)
            ids = [ref for ref in step.refs if isinstance(ref, int)]
            needs.update(ids)
            _look_back(step, ids, decisive, sharp, firm)
            if step.op is not None and (step.op.cuts or (step.out in firm and not step.op.soft)):
                firm.update(ids)
        below = [child.weight for child in self.children()]
        self.weight = len(self.steps) + 1 + (sum(below) / len(below) if below else 0)
        self.needs, self.sharp, self.decisive, self.program = (
            frozenset(needs),
            frozenset(sharp),
            frozenset(decisive),
            None,
        )
        self.firm = frozenset(firm)
        before = self.exact
        self.exact = frozenset(s.out for s in self.steps if s.op is not None and s.out in (self.sharp | self.decisive))
        return before is not None and before != self.exact


def _look_back(step: Step, ids: list[int], decisive: set[int], sharp: set[int], firm: set[int]) -> None:
    """What a step's arguments must be, from what depends on its result and what it does.

    No error bounds are carried through arrays, nor through calls of which nobody knows how errors spread: where a
    decision depends on one, it must be the loop's very bits.
    """
    if step.op is None:
        return  # of captured values, by Python: as exact as can be
    if step.of_arrays:
        if step.op.cuts or step.out in firm or step.out in sharp:
            sharp.update((step.out, *ids))
        return
    if step.op.close and step.out in firm and spread_of(step.fn) is None:
        sharp.add(step.out)
    if step.op.cuts:
        (decisive if step.op.name in EDGES else sharp).update(ids)
    elif step.out in sharp and not step.op.soft:
        sharp.update(ids)
    elif step.out in decisive and not step.op.soft:
        (decisive if spread_of(step.fn) is not None else sharp).update(ids)
        sharp.update(_widened(step))  # what is off by little among narrow floats is off by much among wide ones


def _widened(step: Step) -> Iterator[int]:
    """The arguments that are floats of fewer bits than the result."""
    made = step.kind.dtype if step.kind is not None else np.dtype(object)
    for ref, kind in zip(step.refs, step.kinds, strict=True):
        narrow = kind is not None and kind.dtype.kind == "f" and kind.dtype.itemsize < made.itemsize
        if narrow and made.kind in "fc" and isinstance(ref, int):
            yield ref


class Tree:
    """All that is known of a function on one signature of elements."""

    def __init__(self, lanes: Lanes) -> None:
        self.form, self.kinds, self.fresh, self.layouts = lanes.form, lanes.kinds, lanes.fresh, lanes.layouts
        self.root: Node | None = None
        self.waiting = Waiting()
        """Lanes that came before anything was traced."""
        self.turns: list[Any] | None = None
        """What every element draws, in order; None before a path was traced to its end."""
        self.captures: dict[Any, Any] = {}
        self.inputs = 0
        self.paths = 0
        self.steps = 0
        """In all nodes."""
        self.sharpened = 0
        self.young = True
        self.trusted = False
        self.lock = threading.RLock()
        self._chunk: tuple[Any, int] = (None, 0)

    @property
    def draws(self) -> bool:
        """Whether elements draw the loop's random numbers."""
        return bool(self.turns)

    @property
    def each_lane(self) -> bool:
        """Whether it calls something for every lane, so that there may be nothing to gain."""
        return any(step.op.each for node in self.nodes() for step in node.steps if step.op is not None)

    @property
    def frees(self) -> bool:
        """Whether what it calls for every lane frees the interpreter, so that threads may gain."""
        return any(step.op.frees for node in self.nodes() for step in node.steps if step.op is not None)

    def chunk(self, lanes: int, bytes: int, all: int) -> int:
        """How many lanes at a time: as many as told, unless a column, or all together, would be larger than told.

        Where there are very many steps (loops over pixels), each costs more than caches save: then lanes are more.
        """
        key = self.paths, lanes, bytes, all
        known, found = self._chunk
        if known != key:
            kinds = [*self.kinds, *(step.kind for node in self.nodes() for step in node.steps)]
            bytes *= max(len(kinds) // max(self.paths, 1) // 64, 1)
            sizes = [k.dtype.itemsize * math.prod(k.shape) for k in kinds if k is not None and k.shape]
            live = max(*sizes, 1) * 16 if len(sizes) > 256 else sum(sizes)
            found = max(min(lanes, bytes // max(*sizes, 1), all // max(live, 1)), 1) if sizes else lanes
            self._chunk = key, found
        return found

    def nodes(self) -> Iterator[Node]:
        """All nodes, parents first."""
        pending = [self.root] if self.root else []
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children())
