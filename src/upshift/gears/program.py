"""Compiles a node of the tree into the numpy gear's instructions: which op, and what may be overwritten or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from ..rules import Op
from ..rules.arrays import ArrayOp
from ..rules.error_bounds import EDGES, spread_of
from ..trace.tree import Node, Ref, Step


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step, ready to run.

    `into`: the argument whose buffer may take the result. `dead`: values not needed after it. `decisive`: a decision
    depends on it, so how far it may be off is kept in mind. `edge`: it is a decision.
    """

    step: Step
    op: Op | None
    refs: tuple[Ref, ...]
    out: int
    into: int | None
    dead: tuple[int, ...]
    dtype: np.dtype[Any] | None = None
    decisive: bool = False
    edge: bool = False
    updates: bool = False
    """Whether it may change its first argument in place, if nobody else looks at that."""
    fresh: bool = False
    """Whether its result is in memory of its own."""


class Care(IntEnum):
    """How exact steps must be that NumPy only gets close to."""

    CLOSE = 0  # decisions and results are guarded by error bounds
    EXACT = 1  # everything is the loop's very bits


def program_of(node: Node, care: Care) -> tuple[Instruction, ...]:
    """The node's instructions; kept with the node until the tree grows below it."""
    if node.program is None or node.program[0] != care:
        node.program = care, _compile(node, care)
    return node.program[1]  # type: ignore[no-any-return]


def _compile(node: Node, care: Care) -> tuple[Instruction, ...]:
    needed = node.needed_after()
    made: list[Instruction] = []
    buffers = _Buffers(node)
    last: list[tuple[Step, tuple[int, ...]]] = []
    for step in reversed(node.steps):
        ids = {ref for ref in step.refs if isinstance(ref, int)}
        dead = tuple(i for i in ids if i not in needed and i >= 0)
        last.append((step, dead))
        needed |= ids
        needed.discard(step.out)
    for step, dead in reversed(last):
        sharp = care is Care.EXACT or step.out in node.sharp
        op = (step.exact if sharp else step.op) if step.op is not None else None
        dtype = step.kind.dtype if step.kind is not None and step.kind.dtype != object else None
        step_inexact = step.inexact and not step.of_arrays
        decisive = care is Care.CLOSE and not sharp and step_inexact and step.out in node.decisive
        decisive = decisive and spread_of(step.fn) is not None
        edge = care is Care.CLOSE and op is not None and step_inexact and op.cuts and op.name in EDGES
        into = None if decisive or edge else buffers.overwritable(step, op, dead)
        updates = isinstance(op, ArrayOp) and op.updates
        alone = updates and step.refs[0] in dead
        fresh = op is not None and (isinstance(op.run, np.ufunc) or updates)
        made.append(Instruction(step, op, step.refs, step.out, into, dead, dtype, decisive, edge, alone, fresh))
        if fresh:
            buffers.ours.add(step.out)
    return tuple(made)


class _Buffers:
    """Which columns of a node may be written over."""

    def __init__(self, node: Node) -> None:
        self.kinds = {s.out: (s.kind.dtype, s.kind.lane_shape) for s in node.steps if s.kind is not None}
        self.ours: set[int] = set()
        """Made by this node, in memory of their own."""
        self.seen: set[int] = set()
        """May be looked at through another column, which is a view of them, or the same."""
        for step in node.steps:
            if not isinstance(getattr(step.op, "run", None), np.ufunc):  # `float(x)` may give x itself
                self.seen.update(ref for ref in step.refs if isinstance(ref, int))

    def overwritable(self, step: Step, op: Op | None, dead: tuple[int, ...]) -> int | None:
        """An argument that nobody needs any more, in a buffer of the result's kind."""
        if op is None or not op.simple or not isinstance(op.run, np.ufunc) or step.kind is None:
            return None
        kind = step.kind.dtype, step.kind.lane_shape
        return next((id for id in dead if id in self.ours and id not in self.seen and self.kinds.get(id) == kind), None)
