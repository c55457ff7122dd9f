"""The lanes of one chunk on their way through a tree: from the root to results, or left to the plain function."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.forms import LEAF
from ..columns.kinds import Column, fits_int64
from ..columns.layout import forwards
from ..errors import Untraceable
from ..rules import Op
from ..rules.arrays import NoRule
from ..rules.error_bounds import EXACT, Inexact, spread, too_close, too_inexact
from ..rules.int_ranges import span_of
from ..rules.op import Span
from ..trace.grow import grow
from ..trace.record import value_key
from ..trace.sequential_draws import DrawOp, hanging_on_draws
from ..trace.tree import Const, Guard, Leaf, Node, Raises, Ref, Waiting
from .bands import Band, either, is_few, is_like, pick, plain, share
from .passes import Pass, TooInexact
from .program import Care, Instruction, program_of
from .store import Where, count_of, index_of
from .uniform import made_as

STEP_SECONDS = 0.8e-6
"""What one step costs on few lanes, about."""
NOISE = 1e-3
"""A result that may be off by this much of itself is no result, however loose the bound."""
SUSPECTS = 32
"""Lanes of a chunk that are compared with the loop where an error bound is too loose to tell."""


class Chunk:
    """The lanes of one chunk on their way through the tree."""

    def __init__(self, run: Pass, growing: bool) -> None:
        self.of, self.growing = run, growing
        self.flagged = self.underflowed = False

    def flag(self, kind: str, flags: int) -> None:
        """NumPy's word that a step divided by zero, overflowed, underflowed or made a NaN."""
        self.flagged = True
        self.underflowed = kind == "underflow"

    def run(self, where: Where) -> None:
        """All lanes at `where`, from the root to their ends."""
        pending = [self._start(where)]
        while pending:
            band = pending.pop()
            if self.of.is_late():
                self._leave(band.lanes)
                continue
            if band.node is None:
                pending += self._untraced(None, None, band)
                continue
            if count_of(band.lanes) * self.of.pace.per_element < 0.5 * STEP_SECONDS * band.node.weight:
                self._leave(band.lanes)
                continue
            band = self._steps(band.node, band, self.of.care)
            if count_of(band.lanes):
                pending += self._end(band)

    def _start(self, where: Where) -> Band:
        values: dict[int, Any] = {i: forwards(column[where]) for i, column in enumerate(self.of.lanes.columns)}
        return Band(self.of.tree.root, where, values, {}, {})

    # ---- steps

    def _steps(self, node: Node, band: Band, care: Care) -> Band:
        values, spans = band.values, band.spans
        for instruction in program_of(node, care):
            op = instruction.op
            args = [self._value(ref, values) for ref in instruction.refs]
            if self.of.is_late():
                self._leave(band.lanes)
                return Band(node, slice(0, 0), {}, {}, {})
            if op is None:
                made = self._once(instruction, args)
                if made is None:
                    self._leave(band.lanes)
                    return Band(node, slice(0, 0), {}, {}, {})
                values[instruction.out] = made
                continue
            if type(op) is DrawOp:
                values[instruction.out] = self.of.draw(self._before_draws).columns[args[0]][band.lanes]
                continue
            leave = None
            self.flagged = False
            try:
                out = self._in_place(instruction, args, band) if instruction.updates else None
                if out is not None:
                    pass
                elif not op.simple:
                    out, leave, span = op.over(args, self._spans_of(instruction, args, spans))
                    if span is not None:
                        spans[instruction.out] = span
                else:
                    out = op.run(*args) if instruction.into is None else op.run(*args, out=values[instruction.into])
            except (
                ArithmeticError,
                TypeError,
                ValueError,
                LookupError,
            ):  # a captured number that the column's dtype cannot meet
                self._leave(band.lanes)
                return Band(node, slice(0, 0), {}, {}, {})
            dtype = instruction.dtype
            if dtype is not None and out.dtype is not dtype and out.dtype != dtype:
                out, leave, _ = self._other_dtype(instruction, node).over(
                    args, self._spans_of(instruction, args, spans)
                )
            if instruction.decisive or (instruction.edge and band.errors):
                leave = self._note_error(instruction, band, out, args, leave)
            if self.flagged and op.warns:
                leave = self._warned(instruction, band.lanes, out, args, leave)
            values[instruction.out] = out
            if instruction.fresh:
                band.owned.add(instruction.out)
            for id in instruction.dead:
                values.pop(id, None)
            if leave is not None:
                self._leave(pick(band.lanes, np.flatnonzero(leave)))
                band = band.part(np.flatnonzero(~leave), values, node)
                values, spans = band.values, band.spans
                if not count_of(band.lanes):
                    break
        return band

    def _before_draws(self, ids: list[int]) -> dict[int, Column]:
        """What all lanes give to draws, to the last bit: they must come to it by one path, before anything is drawn."""
        node, band = self.of.tree.root, self._start(slice(0, self.of.n))
        drawn = hanging_on_draws(self.of.tree.nodes())
        while node is not None and not all(id in band.values for id in ids):
            following = {id for child in node.children() for id in child.needs}
            if isinstance(node.end, Guard):
                following.add(node.end.ref)
            known = Node()
            known.steps = [step for step in node.steps if step.out not in drawn]
            known.end = Leaf(LEAF, tuple(following.union(ids) - drawn), ())
            band = self._steps(known, band, Care.EXACT)
            if count_of(band.lanes) < self.of.n:
                break
            node = self._same_child(node, band)
        if count_of(band.lanes) < self.of.n or not all(id in band.values for id in ids):
            raise Untraceable("draws random numbers with a parameter that depends on a decision")
        return {id: band.values[id] for id in ids}

    def _same_child(self, node: Node, band: Band) -> Node | None:
        """Where all lanes go on to; None where they part, or do not know yet."""
        guard = node.end
        if not isinstance(guard, Guard) or (guard.ref >= 0 and guard.ref not in band.values):
            return None
        answers = np.atleast_1d(self._value(guard.ref, band.values))
        if not (answers == answers[0]).all():
            return None
        first = answers[0] if guard.kind is None else guard.kind.scalars(answers[:1])[0]
        return guard.children.get(bool(first) if guard.mode == "truth" else value_key(first))

    def _other_dtype(self, instruction: Instruction, node: Node) -> Op:
        """A column and a number do not always make the dtype that two numbers make: then the plain call does."""
        step = instruction.step
        step.op = step.plain_op
        node.program = None
        return step.op

    def _in_place(self, instruction: Instruction, args: list[Any], band: Band) -> Any:
        """A write into memory that nobody else looks at; None where it is not, or NumPy refuses before it writes."""
        assert instruction.op is not None
        if instruction.refs[0] not in band.owned or not self._is_alone(instruction, args, band.values):
            return None
        try:
            return instruction.op.run(*args, own=True)
        except (NoRule, LookupError, TypeError, ValueError):
            return None

    def _is_alone(self, instruction: Instruction, args: list[Any], values: dict[int, Any]) -> bool:
        """Whether nobody but this step looks at the memory of its first argument."""
        first, own = args[0], instruction.refs[0]
        if type(first) is not np.ndarray or not first.flags.c_contiguous or not first.flags.writeable:
            return False
        others = [plain(value) for id, value in values.items() if id != own and id not in instruction.dead]
        others += args[1:]
        arrays = (a for value in others for a in (value if type(value) is tuple else (value,)))
        return not any(type(a) is np.ndarray and share(a, first) for a in arrays)

    def _note_error(self, instruction: Instruction, band: Band, out: Any, args: list[Any], leave: Column | None) -> Any:
        """Keep in mind how far a result may be off; at a decision, let go of the lanes that are too close to call."""
        inexact = [
            Inexact(arg, band.errors.get(ref, EXACT) if isinstance(ref, int) else EXACT)
            for arg, ref in zip(args, instruction.refs, strict=True)
        ]
        op = instruction.op
        assert op is not None
        if instruction.decisive:
            error = spread(instruction.step.fn, op.close, out, inexact)
            if error is not EXACT:
                band.errors[instruction.out] = error
        if not instruction.edge or all(arg.sharp for arg in inexact):
            return leave
        close = too_close(op.name, inexact)
        if not is_few(close):
            raise TooInexact
        return either(leave, close)

    def _value(self, ref: Ref, values: dict[int, Any]) -> Any:
        """What a reference stands for: a constant, a captured value as it is now, a column."""
        if isinstance(ref, Const):
            return ref.value
        return self.of.captured[ref] if ref < 0 else plain(values[ref])

    def _once(self, instruction: Instruction, args: list[Any]) -> Const | None:
        """A step on captured values, by Python; None where it is not what it was: the plain function decides."""
        try:
            value = instruction.step.fn(*args)
        except Exception:  # the plain function will raise it, from the user's own line
            return None
        if not made_as(value, instruction.step.kind):
            return None
        return Const(value)

    def _spans_of(
        self, instruction: Instruction, args: list[Any], spans: dict[int, Span]
    ) -> Callable[[int, bool], Span]:
        def span(i: int, tight: bool) -> Span:
            arg, ref = args[i], instruction.refs[i]
            if not isinstance(arg, np.ndarray):
                return span_of(arg)
            known = spans.get(ref) if isinstance(ref, int) else None
            if known is None or tight:
                known = span_of(arg)
                if isinstance(ref, int):
                    spans[ref] = known
            return known

        return span

    def _leave(self, lanes: Where) -> None:
        self.of.left.append(index_of(lanes))

    def _warned(self, instruction: Instruction, lanes: Where, out: Any, args: list[Any], leave: Column | None) -> Any:
        """The loop would warn here. The plain function runs a few such lanes for the warning, all if it raises."""
        if type(out) is tuple:
            for one in out:
                leave = self._warned(instruction, lanes, one, args, leave)
            return leave
        if out.dtype.kind in "fc":
            odd = ~np.isfinite(out)
            for arg in args:
                if arg is out or not is_like(arg, out):
                    continue  # overwritten: what it was is gone, so more lanes are taken for odd
                odd = odd & (np.isfinite(arg) | (np.isnan(out) & ~np.isnan(arg)))
            if self.underflowed:
                odd |= _too_small(out, args)
        else:
            odd = _odd_for_ints(args, len(out))
        odd = odd.reshape(len(odd), -1).any(axis=1) if odd.ndim > 1 else odd
        if self.of.strict:  # where it cannot be told which lanes warn, all of them may
            odd = odd if odd.any() else np.ones(len(out), bool)
            return odd if leave is None else odd | leave
        if not odd.any():
            return leave
        places = np.flatnonzero(odd)
        if out.dtype.kind in "fc":  # a NaN warns in other words than an infinity
            nan = np.isnan(out).reshape(len(out), -1).any(axis=1)
            places = np.concatenate([np.flatnonzero(odd & nan)[:2], np.flatnonzero(odd & ~nan)[:2]])
        few = pick(lanes, places[:4])
        self.of.warned.setdefault(id(instruction.step), few.tolist())
        return leave

    # ---- ends

    def _end(self, band: Band) -> list[Band]:
        assert band.node is not None
        end = band.node.end
        if isinstance(end, Leaf):
            band = self._exact_enough(end, band) if band.errors else band
            if count_of(band.lanes):
                self._write(end, band)
            return []
        if isinstance(end, Raises) or end is None:
            self._leave(band.lanes)
            return []
        answers = band.values[end.ref] if end.ref >= 0 else Const(self.of.captured[end.ref])
        if isinstance(answers, Const):
            answer = bool(answers.value) if end.mode == "truth" else value_key(answers.value)
            return self._enter(end, answer, band)
        return self._split(end, answers, band) if end.mode == "truth" else self._by_value(end, answers, band)

    def _exact_enough(self, leaf: Leaf, band: Band) -> Band:
        """The lanes whose results are as close as the law asks; the others, if few, are the plain function's.

        Where there are many, either the values are noise, or the bound is loose: then the lanes that look worst are
        compared with the loop before any is used.
        """
        bad = None
        for ref in leaf.refs:
            if not isinstance(ref, int) or ref not in band.errors:
                continue
            result = Inexact(band.values[ref], band.errors[ref])
            odd = too_inexact(result)
            if odd is not None and not is_few(odd):
                odd = too_inexact(result, NOISE)
                if odd is not None and not is_few(odd):
                    raise TooInexact
                size = np.abs(result.column) if odd is None else np.where(odd, np.inf, np.abs(result.column))
                worst = np.argsort(size)[:SUSPECTS]
                self.of.suspects += pick(band.lanes, worst).tolist()
            bad = either(bad, odd)
        if bad is None:
            return band
        self._leave(pick(band.lanes, bad.nonzero()[0]))
        return band.part((~bad).nonzero()[0], band.values, band.node)

    def _write(self, leaf: Leaf, band: Band) -> None:
        found = [self._value(ref, band.values) for ref in leaf.refs]
        kinds = [
            k if not (type(v) is int and not fits_int64(v)) else None for k, v in zip(leaf.kinds, found, strict=True)
        ]
        self.of.store.write(leaf, found, kinds, band.lanes)

    def _split(self, guard: Guard, truth: Column, band: Band) -> list[Band]:
        yes = int(np.count_nonzero(truth))
        if yes == len(truth):
            return self._enter(guard, True, band)
        if yes == 0:
            return self._enter(guard, False, band)
        made = self._enter(guard, True, band, truth.nonzero()[0])
        return made + self._enter(guard, False, band, (~truth).nonzero()[0])

    def _by_value(self, guard: Guard, column: Column, band: Band) -> list[Band]:
        assert guard.kind is not None
        per_element = self.of.pace.per_element
        if per_element < SORT_SECONDS:
            self.of.by_value += len(column)
            self._leave(band.lanes)
            return []
        bits = column.view(f"u{column.itemsize}") if column.dtype.kind in "fmM" else column
        _, firsts, inverse, counts = np.unique(bits, return_index=True, return_inverse=True, return_counts=True)
        made: list[Band] = []
        order = np.argsort(inverse, kind="stable")
        ends = np.cumsum(counts)
        if 2 * len(counts) > len(column) > FEW_LANES and per_element < TRACE_SECONDS:
            self.of.by_value += len(column)
        worth = counts * per_element >= ENTER_SECONDS
        if not worth.all():
            self._leave(pick(band.lanes, (~worth[inverse]).nonzero()[0]))
        for i, first in zip(worth.nonzero()[0].tolist(), firsts[worth].tolist(), strict=True):
            answer = value_key(guard.kind.scalars(column[first : first + 1])[0])
            made += self._enter(guard, answer, band, order[ends[i] - counts[i] : ends[i]])
        return made

    def _enter(self, guard: Guard, answer: Any, band: Band, index: Column | None = None) -> list[Band]:
        """Lanes go on to the child for their answer; only what the child needs goes with them."""
        child = guard.children.get(answer)
        if child is None:
            return self._untraced(guard, answer, band if index is None else band.part(index, band.values, None))
        if index is not None:
            return [band.part(index, child.needs, child)]
        return [
            Band(
                child,
                band.lanes,
                {id: band.values[id] for id in child.needs if id >= 0},
                band.spans,
                band.errors,
                band.owned,
            )
        ]

    def _untraced(self, guard: Guard | None, answer: Any, band: Band) -> list[Band]:
        """Nobody has been here: trace one of these lanes if that pays, else leave them to the plain function."""
        run = self.of
        if not self.growing:
            run.deferred.append(index_of(band.lanes))
            return []
        waiting = run.tree.waiting if guard is None else guard.waiting.setdefault(answer, Waiting())
        waiting.lanes += count_of(band.lanes)
        worth = waiting.lanes * run.pace.per_element
        before = run.tree.sharpened
        pays = guard is None or worth >= TRACE_SECONDS
        if run.pace.allowance <= 0 or not pays or worth < 2 * waiting.broken_off or not self._grow(band.lanes, waiting):
            self._leave(band.lanes)
            return []
        child = run.tree.root if guard is None else guard.children.get(answer)
        if child is None:  # the traced lane answered otherwise than its column says: not to be trusted here
            self._leave(band.lanes)
            return []
        if all(id < 0 or id in band.values for id in child.needs) and run.tree.sharpened == before:
            return [Band(child, band.lanes, band.values, band.spans, band.errors, band.owned)]
        return [self._start(index_of(band.lanes))]

    def _grow(self, lanes: Where, waiting: Waiting) -> bool:
        """Trace one of some lanes. What lanes like them have cost in all calls may pay for more than this call does."""
        run = self.of
        index = index_of(lanes)
        worth = waiting.lanes * run.pace.per_element
        for i in {int(index[0]), int(index[len(index) // 2])}:
            began = time.perf_counter()
            allowed = max(run.pace.allowance, min(SHARE * worth, LONGEST_WAIT))
            steps = max(200, int(allowed / TRACE_STEP_SECONDS)) if allowed < 1e6 else 100_000
            drawn = run.draw(self._before_draws).of_lane(i) if run.tree.draws else []
            seconds = min(max(allowed, LONGEST_TRACE), max(run.pace.limit, LONGEST_TRACE))
            outcome = grow(run.tree, run.f, run.row(i), run.shared, steps, drawn, seconds)
            took = time.perf_counter() - began
            run.pace.spend(took)
            run.spent += took
            run.until += took
            if outcome.refusal is not None:
                raise outcome.refusal
            if outcome.grown:
                run.grown.append(i)
                run.captured = run.rebind()
                return True
            if outcome.over_budget:
                waiting.broken_off = worth
                return False
        return False


SHARE = 0.05
"""How much of what waiting lanes have cost may be spent on a trace; it is begun again when that has doubled."""
LONGEST_WAIT = 2.0
"""Seconds that no trace is worth."""
TRACE_SECONDS = 100e-6
"""What tracing one more path costs, about: groups of lanes that the loop runs faster than this are not traced."""
TRACE_STEP_SECONDS = 5e-6
LONGEST_TRACE = 2e-3
"""How long one trace may take, whatever is allowed for all: one that is broken off was for nothing."""
SORT_SECONDS = 150e-9
"""What it costs to tell lanes apart by their values, for each: a loop that is faster than that had better go on."""
FEW_LANES = 256
"""Of so few lanes, many may have values of their own by chance."""
ENTER_SECONDS = 10e-6
"""What it costs to go on with a group of lanes; of many values, those that few lanes have are the plain function's."""


def _too_small(out: Column, args: list[Any]) -> Column:
    """Where a number may have become too small for its dtype: it is, and none of the arguments was zero."""
    small: Column = np.abs(out) < np.finfo(out.dtype).tiny
    for arg in args:
        if arg is not out and is_like(arg, out):
            small = small & (arg != 0)
    return small


def _odd_for_ints(args: list[Any], n: int) -> Column:
    """Lanes whose ints come with a warning: of a division by zero, or of a float that no int can hold."""
    first = np.asarray(args[0])
    odd = ~(np.abs(first) < 2.0**63) if first.dtype.kind in "fc" else np.equal(np.asarray(args[-1]), 0)
    if odd.ndim and len(odd) == n:
        return odd.reshape(n, -1).any(axis=1) if odd.size else np.zeros(n, bool)
    return np.full(n, bool(odd.any()))
