"""Draws from the user's own generator, in the order in which the loop would draw.

Elements draw in turn. Where every element draws the same numbers of the same distributions, whatever it decides, the
numbers of all elements can be drawn beforehand, in the loop's order. Where one draws more than another, the loop's
numbers would depend on all elements before.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.forms import flatten
from ..columns.kinds import Column, Kind, kind_of_value
from ..errors import Untraceable
from ..rules import Op
from ..rules.streams import Drawing
from .lane import is_lane
from .names import user_line
from .paths import Path
from .tree import Const, Node, Ref

_REMEDY = 'draw the same numbers for every element, or pass randomness="independent"'


@dataclass(frozen=True, slots=True)
class Computed:
    """A parameter that the function computes from what it captured."""

    fn: Callable[..., Any]
    args: tuple[Ref | Computed, ...]


@dataclass(frozen=True, slots=True)
class OfLane:
    """A parameter that every element computes without a draw."""

    id: int
    kind: Kind


Argument = Ref | Computed | OfLane


@dataclass(frozen=True, slots=True)
class Turn:
    """One draw of every element: the generator's path, the call, and its arguments."""

    path: Path
    drawing: Drawing
    args: tuple[Argument, ...]
    kind: Kind

    def calls(self, generator: Any, captured: dict[int, Any], columns: dict[int, Column]) -> Iterator[Draw]:
        """The draws of all elements, in order; those of one that is the same for all go on for ever."""
        method = getattr(generator, self.drawing.method)
        values = [
            arg.kind.scalars(columns[arg.id]) if isinstance(arg, OfLane) else itertools.repeat(_value(arg, captured))
            for arg in self.args
        ]
        if not any(isinstance(arg, OfLane) for arg in self.args):
            return itertools.repeat(self._call(method, (next(iter(value)) for value in values)))
        return (self._call(method, iter(row)) for row in zip(*values))

    def _call(self, method: Callable[..., Any], leaves: Iterator[Any]) -> Draw:
        args, keywords = self.drawing.form.build(leaves)
        return functools.partial(method, *args, **keywords)


Draw = Callable[[], Any]


def _value(arg: Ref | Computed, captured: dict[int, Any]) -> Any:
    if isinstance(arg, Computed):
        return arg.fn(*(_value(inner, captured) for inner in arg.args))
    return arg.value if isinstance(arg, Const) else captured[arg]


@dataclass(frozen=True, eq=False)
class DrawOp(Op):
    """Numbers that were drawn beforehand for all lanes."""

    simple = False


class Turns:
    """The numbers of one trace: `drawn`, where they are known, or those that a copy of the generator gives."""

    def __init__(self, trace: Any, drawn: list[Any]) -> None:
        self.trace, self.drawn = trace, drawn
        self.made: list[Turn] = []
        self.copies: dict[int, Any] = {}

    def draw(self, generator: Any, path: Path, method: str, args: Any, keywords: dict[str, Any]) -> Any:
        """Records a draw from the user's own generator, of which a copy is used."""
        trace, at = self.trace, len(self.made)
        form, leaves = flatten((args, keywords))
        drawing = Drawing.of(method, form)
        if at < len(self.drawn):
            value = self.drawn[at]
        else:
            value = drawing(self._copy_of(generator), *(leaf._up_value if is_lane(leaf) else leaf for leaf in leaves))
        kind = kind_of_value(value)
        if kind is None:
            raise Untraceable(f"draws a {type(value).__name__}, not numbers", where=user_line())
        self.made.append(Turn(path, drawing, tuple(map(self._argument, leaves)), kind))
        self._insist(at + 1)
        kinds = tuple(kind_of_value(leaf._up_value) if is_lane(leaf) else None for leaf in leaves)
        id = trace._write(drawing, (at, *leaves), (None, *kinds), kind, DrawOp("draw", drawing, ""))
        return trace.arrays._fresh(value, id, uniform=False)

    def finish(self) -> None:
        """The path ends: it must have drawn what all others did."""
        if self.trace.tree.turns is None:
            self.trace.tree.turns = self.made
        self._insist(len(self.trace.tree.turns))

    def _insist(self, count: int) -> None:
        known = self.trace.tree.turns
        if known is not None and self.made[:count] != known[:count]:
            raise Untraceable("what it draws depends on a decision", _REMEDY, user_line())

    def _argument(self, leaf: Any) -> Argument:
        if not is_lane(leaf):
            return Const(leaf)
        if leaf._up_uniform:
            return self._resolved(leaf._up_id)
        kind = kind_of_value(leaf._up_value)
        if kind is None or leaf._up_id in hanging_on_draws(self.trace.trail):
            raise Untraceable("draws random numbers with a parameter that was drawn", _REMEDY, user_line())
        return OfLane(leaf._up_id, kind)

    def _resolved(self, ref: Ref) -> Ref | Computed:
        if isinstance(ref, Const) or ref < 0:
            return ref
        step = next(step for node in self.trace.trail for step in node.steps if step.out == ref)
        return Computed(step.fn, tuple(map(self._resolved, step.refs)))

    def _copy_of(self, generator: Any) -> Any:
        """A twin of a generator, which this trace may draw from."""
        if id(generator) not in self.copies:
            self.copies[id(generator)] = copied(generator)
        return self.copies[id(generator)]


def hanging_on_draws(nodes: Iterable[Node]) -> set[int]:
    """The values of these nodes, parents first, that were drawn or computed from such."""
    found: set[int] = set()
    for node in nodes:
        for step in node.steps:
            if isinstance(step.op, DrawOp) or not found.isdisjoint(ref for ref in step.refs if isinstance(ref, int)):
                found.add(step.out)
    return found


def copied(generator: Any) -> Any:
    """A generator in the same state."""
    if isinstance(generator, np.random.RandomState):
        twin = np.random.RandomState()
        twin.set_state(generator.get_state())
        return twin
    return copy.deepcopy(generator)
