"""Loops in; the same loops out, in which sums and products of ints that are known to be small go unchecked.

A check of every sum and product costs little by itself, but LLVM makes no select of a branch that has one, and a loop
such as Collatz's then waits for mispredicted branches. So the ints that an innermost loop begins a turn with are looked
at once: a lane whose are not small is left. What is computed from small ints by a few sums and products is then known
to fit, and needs no check.
"""

from __future__ import annotations

import contextvars
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from llvmlite import ir as llvm_ir
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.types import none

from .blocks import I64, is_int, leave, stand_in
from .build import OwnPass
from .narrow import is_narrow
from .semantics import STAND_INS, UNCHECKED

SMALL = 56
"""Bits, at least, of the ints that a turn of a loop may begin with."""
RELAXED: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("relaxed", default=None)
"""Takes the names of variables that are looked at; None where all checks are to stay."""
FITS = 62.0
UNKNOWN = 64.0


@dataclass(frozen=True, slots=True)
class Bound:
    """So many bits an int has at most, where these variables are small."""

    bits: float
    small: frozenset[str] = frozenset()


ANY = Bound(UNKNOWN)
_OF_STAND_IN = {STAND_INS[fn]: fn for fn in UNCHECKED}
_QUOTIENTS = {STAND_INS[operator.floordiv]: False, STAND_INS[operator.mod]: True}


@register_pass(mutates_CFG=False, analysis_only=False)
class KnowRanges(OwnPass):
    """Checks that cannot fail are left out of innermost loops."""

    _name = "upshift_know_ranges"

    def run_pass(self, state: Any) -> bool:
        relaxed = RELAXED.get()
        if relaxed is None:
            return False
        blocks = state.func_ir.blocks
        graph = compute_cfg_from_blocks(blocks)
        loops = graph.loops()
        for header, loop in loops.items():
            if not any(other in loop.body for other in loops if other != header):
                relaxed += _Loop(blocks, graph, header, loop.body).relax()
        return bool(relaxed)


@dataclass(slots=True)
class _Loop:
    """An innermost loop, turn by turn."""

    blocks: dict[int, Any]
    graph: Any
    header: int
    body: Any
    stand_ins: dict[str, Any] = field(default_factory=dict)
    """By variable: the stand-in that it stands for."""
    safe: dict[int, Bound] = field(default_factory=dict)
    """Statements whose result is known to fit, by identity."""

    def relax(self) -> list[str]:
        """Take out checks; the variables that have to be small for that."""
        for block in self.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Global):
                    self.stand_ins[statement.target.name] = statement.value.value
        known = {name: Bound(SMALL, frozenset((name,))) for name in self._defined()}
        after: dict[int, dict[str, Bound]] = {}
        for label in self._in_order():
            before = known if label == self.header else self._joined(label, after)
            after[label] = self._walk(self.blocks[label], dict(before))
        return self._rewrite() if self._has_choice() else []

    def _has_choice(self) -> bool:
        """Whether all sums of a branch within the loop are known to fit: elsewhere a check costs less than a look."""
        over = self.graph.dominators()
        ends = [label for label, _ in self.graph.predecessors(self.header) if label in self.body]
        always = set(self.body).intersection(*(over[end] for end in ends))
        sums = [one for label in set(self.body) - always for one in self.blocks[label].body if self._is_sum(one)]
        return bool(sums) and all(id(one) in self.safe for one in sums)

    def _is_sum(self, statement: Any) -> bool:
        value = getattr(statement, "value", None)
        return isinstance(value, ir.Expr) and value.op == "call" and self.stand_ins.get(value.func.name) in _OF_STAND_IN

    def _defined(self) -> Iterator[str]:
        """Variables that have a value whenever the loop is entered."""
        for label in self.graph.dominators()[self.header] - {self.header}:
            for statement in self.blocks[label].body:
                if isinstance(statement, ir.Assign) and not statement.target.name.startswith("$"):
                    yield statement.target.name

    def _in_order(self) -> list[int]:
        """The loop's blocks, each behind all that lead to it."""
        return [label for label in self.graph.topo_order() if label in self.body]

    def _joined(self, label: int, after: dict[int, dict[str, Bound]]) -> dict[str, Bound]:
        """What holds on every way to a block."""
        ways = [after[before] for before, _ in self.graph.predecessors(label) if before in after]
        names = set[str]().union(*ways)
        return {name: _wider([way.get(name, ANY) for way in ways]) for name in names}

    def _walk(self, block: Any, known: dict[str, Bound]) -> dict[str, Bound]:
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                known[statement.target.name] = self._bound(statement, known)
        return known

    def _bound(self, statement: Any, known: dict[str, Bound]) -> Bound:
        value = statement.value
        if isinstance(value, ir.Var):
            return known.get(value.name, ANY)
        if isinstance(value, ir.Const):
            return Bound(math.log2(abs(value.value) + 1)) if type(value.value) is int else ANY
        if not isinstance(value, ir.Expr) or value.op != "call" or value.func.name not in self.stand_ins:
            return ANY
        stand_in_of = self.stand_ins[value.func.name]
        args = [known.get(arg.name, ANY) for arg in value.args]
        if stand_in_of in _OF_STAND_IN:
            return self._arithmetic(statement, _OF_STAND_IN[stand_in_of], args)
        if stand_in_of in _QUOTIENTS:
            return args[1] if _QUOTIENTS[stand_in_of] else args[0]
        return ANY

    def _arithmetic(self, statement: Any, fn: Any, args: list[Bound]) -> Bound:
        a, b = args
        bits = a.bits + b.bits if fn is operator.mul else max(a.bits, b.bits) + 1
        if bits > FITS:
            return ANY
        self.safe[id(statement)] = made = Bound(bits, a.small | b.small)
        return made

    def _rewrite(self) -> list[str]:
        small: set[str] = set()
        for label in self.body:
            block, body = self.blocks[label], []
            for statement in block.body:
                made = self.safe.get(id(statement))
                if made is not None:
                    small |= made.small
                    fn = _OF_STAND_IN[self.stand_ins[statement.value.func.name]]
                    callee = ir.Var(block.scope, f"$unchecked{id(statement)}", statement.loc)
                    body.append(ir.Assign(ir.Global("unchecked", UNCHECKED[fn], statement.loc), callee, statement.loc))
                    statement.value = ir.Expr.call(callee, statement.value.args, (), statement.loc)
                body.append(statement)
            block.body = body
        header, names = self.blocks[self.header], sorted(small)
        room = int(FITS - max(bound.bits for bound in self.safe.values()))
        header.body = [*self._looks(header, names, SMALL_OR_LEFT[SMALL + room]), *header.body]
        return names

    def _looks(self, block: Any, names: list[str], small_or_left: Any) -> Iterator[Any]:
        """A look at every int that has to be small."""
        for i, name in enumerate(names):
            callee = ir.Var(block.scope, f"$small{self.header}.{i}", block.loc)
            nothing = ir.Var(block.scope, f"$looked{self.header}.{i}", block.loc)
            yield ir.Assign(ir.Global("small", small_or_left, block.loc), callee, block.loc)
            call = ir.Expr.call(callee, (ir.Var(block.scope, name, block.loc),), (), block.loc)
            yield ir.Assign(call, nothing, block.loc)


def _wider(bounds: list[Bound]) -> Bound:
    return Bound(max(bound.bits for bound in bounds), frozenset().union(*(bound.small for bound in bounds)))


def _small_or_left(bits: int) -> Any:
    """An int of more bits leaves its lane; what is no int passes."""

    def check(typing: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            if is_int(value) and not is_narrow(value):
                shifted = builder.add(values[0], llvm_ir.Constant(I64, 1 << bits))
                leave(context, builder, builder.icmp_unsigned(">=", shifted, llvm_ir.Constant(I64, 2 << bits)))
            return context.get_dummy_value()

        return none(value), generate

    return stand_in(check)


SMALL_OR_LEFT = {bits: _small_or_left(bits) for bits in range(SMALL, int(FITS) + 1)}
