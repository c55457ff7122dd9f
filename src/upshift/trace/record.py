"""Records one run of a function on lane values as steps and guards of the tree."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..columns.forms import Form, flatten
from ..columns.kinds import BOOL, Kind, fits_int64, kind_of, kind_of_value
from ..errors import Leave, OverBudget, Signal, Untraceable
from ..libraries import method_acting
from ..rules import Op, guards, lane_by_lane, lower
from ..rules.conversions import conjugate, imag_part, larger, real_part, smaller, weak_cast
from ..rules.operators import COMPARISONS, OPERATORS
from ..rules.predicates import TRUE, Predicate
from .arrays import Arrays
from .classes import original_of
from .lane import LANES, Lane, LaneArray, is_lane
from .names import member_of, user_line
from .sequential_draws import Turns
from .tree import Const, Guard, Leaf, Node, Raises, Ref, Step, Tree

_MEETS_NUMPY = frozenset((*OPERATORS, smaller, larger))
_COUNTS_BOOLS = frozenset(OPERATORS) - frozenset(COMPARISONS)
_LOGICAL = frozenset((operator.and_, operator.or_, operator.xor))
_NUMBERS = (int, float, complex, np.generic)  # bool is an int


class Trace:
    """Walks down the tree while the function runs; grows it where the function goes somewhere new.

    New nodes hang on the trace alone until it ends well, so that the tree never holds half a path.
    """

    def __init__(self, tree: Tree, budget: int, drawn: list[Any], seconds: float = 1e9) -> None:
        self.tree, self.budget, self.deadline = tree, budget, time.perf_counter() + seconds
        self.growing = tree.root is None
        self.node = tree.root or Node()
        self.trail = [self.node]
        self.hang: tuple[dict[Any, Node], Any, Node] | None = None
        self.at = 0
        self.fresh = len(tree.kinds)
        self.known: dict[Any, Lane] = {}
        self.truths: dict[int, bool] = {}
        self.pinned: set[int] = set()
        self.inexact: set[int] = set()
        self.ended: Signal | None = None
        self.held: dict[Any, Any] = {}
        self.watched: list[tuple[Any, Any]] = []
        self.captures: dict[Any, Any] = {}
        self.arrays = Arrays(self)
        self.numbers: Any = Turns(self, drawn)

    # ---- what lane values call

    def record_operator(self, fn: Callable[..., Any], a: Any, b: Any) -> Any:
        """Records an operator of which one side is a lane value."""
        if type(a) is LaneArray or type(b) is LaneArray or type(a) is np.ndarray or type(b) is np.ndarray:
            return self._array_operator(fn, a, b)
        other = b if is_lane(a) else a
        if not is_lane(other) and not isinstance(other, _NUMBERS):
            lane = a if is_lane(a) else b
            if not isinstance(lane._up_value, np.generic):
                return NotImplemented
            if other is None or isinstance(other, str | bytes):
                return fn(self._value(a), self._value(b))  # the same for every number
            return self.call_plain(fn, (a, b), {}) if isinstance(other, list | tuple) else NotImplemented
        return self.record(fn, (a, b))

    def _array_operator(self, fn: Callable[..., Any], a: Any, b: Any) -> Any:
        if isinstance(a, list | tuple) or isinstance(b, list | tuple):
            a = self.arrays.call(np.asarray, (a,), {}) if isinstance(a, list | tuple) else a
            b = self.arrays.call(np.asarray, (b,), {}) if isinstance(b, list | tuple) else b
        for side in (a, b):
            if not is_lane(side) and not isinstance(side, (*_NUMBERS, np.ndarray)):
                if side is None or isinstance(side, str | bytes):
                    return self.arrays.call(fn, (a, b), {})
                if getattr(side, "__array_ufunc__", 0) is None or getattr(side, "__array_priority__", 0) > 0:
                    return NotImplemented  # its own operator is asked
                name = type(side).__name__
                raise Untraceable(f"computes with an array and a {name}", where=user_line())
        return self.arrays.call(fn, (a, b), {})

    def record(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """The call's true value, as a lane value where it is a number."""
        self._alive()
        uniform = pinned = True
        for a in args:
            if type(a) in LANES:
                if type(a) is LaneArray:
                    return self.arrays.call(fn, args, {})
                uniform &= a._up_uniform
                pinned &= a._up_id in self.pinned
        if pinned:
            return fn(*(self._value(a) for a in args))
        key = (fn, tuple([a._up_id if type(a) in LANES else Const(a) for a in args]))
        found = self.known.get(key)
        if found is None:
            made = self._uniform_step(fn, args) if uniform else self._batched_step(fn, args)
            if not is_lane(made):
                return made
            found = self.known[key] = made
        return found

    def record_ufunc(self, ufunc: np.ufunc, method: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Records a call of a ufunc, or of one of its methods."""
        plain = method == "__call__" and not keywords and ufunc.nout == 1
        if plain and all(type(a) is Lane or isinstance(a, _NUMBERS) for a in args):
            return self.record(ufunc, args)
        return self.arrays.ufunc(ufunc, method, args, dict(keywords))

    def record_attribute(self, lane: Lane, name: str, found: Any) -> Any:
        """Records an attribute of a lane's number, or gives a method that records its call."""
        if not callable(found):
            fn = {"real": real_part, "imag": imag_part}.get(name) or member_of(name, False)
            return self.record(fn, (lane,))
        if method_acting(name):
            raise Untraceable(f"{method_acting(name)}: .{name}", where=user_line())
        fn = conjugate if name in ("conjugate", "conj") else member_of(name, True)

        def method(*args: Any, **keywords: Any) -> Any:
            if keywords:
                return self.call_plain(fn, (lane, *args), keywords)
            return self.record(fn, (lane, *args))

        return method

    def call_plain(self, fn: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call with no rule at all: every lane value in it is guarded by its value, then Python does it."""
        self._alive()
        return fn(*self._plain(args), **{name: self._plain((value,))[0] for name, value in keywords.items()})

    def refuse_write(self, reason: str) -> None:
        """Ends the trace at a write to what the function captured."""
        raise Untraceable(reason, "return a new value instead", user_line())

    def refuse(self, reason: str) -> None:
        """Ends the trace: the function is not traced, for this reason."""
        raise Untraceable(reason, where=user_line())

    def same(self, a: Any, b: Any) -> bool:
        """`a is b`, one of them a lane value: only bools (and None, which is no lane) can be told by identity."""
        values = [self._value(a), self._value(b)]
        if any(type(side) is LaneArray for side in (a, b)):
            return values[0] is values[1]
        if all(isinstance(v, bool | np.bool_) for v in values):
            for side in (a, b):
                if is_lane(side):
                    self.decide_truth(side)
            return values[0] is values[1]
        if any(kind_of(v) is None or isinstance(v, bool | np.bool_) for v in values):
            return False
        raise Untraceable("compares numbers by `is`", "compare them with ==", user_line())

    # ---- guards

    def decide_truth(self, lane: Lane) -> bool:
        """The lane's truth, guarded."""
        self._alive()
        value = lane._up_value
        if lane._up_id in self.pinned:
            return bool(value)
        if not isinstance(value, bool | np.bool_):
            truth = self._known_step(TRUE, bool, (lane,), bool(value), BOOL)
            return self.decide_truth(truth) if is_lane(truth) else bool(truth)
        if lane._up_id not in self.truths:
            self.truths[lane._up_id] = bool(value)
            self._decide(lane._up_id, "truth", bool(value), kind_of(value))
        return bool(value)

    def pin(self, lane: Lane) -> Any:
        """The lane's value, guarded: the trace goes on for lanes that hold the same."""
        self._alive()
        value = lane._up_value
        if type(lane) is LaneArray:
            return self.arrays.pin(lane)
        if lane._up_id not in self.pinned:
            self.pinned.add(lane._up_id)
            self._decide(lane._up_id, "value", value_key(value), kind_of(value))
        return value

    def _decide(self, ref: int, mode: str, answer: Any, kind: Kind | None) -> None:
        if self.growing:
            child = Node()
            self.node.end = Guard(ref, mode, kind, user_line(), {answer: child})
        else:
            end = self.node.end
            if self.at != len(self.node.steps) or not isinstance(end, Guard) or end.ref != ref or end.mode != mode:
                self._wandered()
            assert isinstance(end, Guard)
            found = end.children.get(answer)
            if found is None:
                found = Node()
                self.hang, self.growing = (end.children, answer, found), True
            child = found
        self.node, self.at = child, 0
        self.trail.append(child)

    # ---- steps

    def _batched_step(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        values = [a._up_value if type(a) in LANES else a for a in args]
        kinds = tuple(map(kind_of, values))
        if BOOL in kinds:
            args, kinds = self._cast_bools(fn, args, kinds)
        for predicate, positions in guards(fn, kinds):
            if not self._holds(predicate, tuple(args[i] for i in positions)):
                return self._off_domain(fn, args, values)
        try:
            value = fn(*values)
        except Exception as error:
            raise self._leaves(f"{type(error).__name__} in {fn}") from error
        kind = kind_of(value)
        if kind is None:
            return fn(*(self.pin(a) if is_lane(a) else a for a in args))
        if type(value) is int and not fits_int64(value):
            raise self._leaves("an int beyond 64 bits")
        if len(kinds) > 1 and any(k is not None and not k.python for k in kinds):
            args, kinds = self._cast_weak(fn, args, kinds, kind)
        return self._step(fn, args, kinds, value, kind, lower(fn, kinds, kind) if self._fits(args) else None)

    def _off_domain(self, fn: Callable[..., Any], args: tuple[Any, ...], values: list[Any]) -> Any:
        """A call outside its rule's domain: it raises, or gives another kind of number, as Python decides."""
        value = fn(*values)
        kind = kind_of(value)
        if kind is None or (type(value) is int and not fits_int64(value)):
            raise self._leaves("a result outside the rule's domain")
        kinds = tuple(kind_of(v) for v in values)
        return self._step(fn, args, kinds, value, kind, None)

    def _step(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kinds: tuple[Kind | None, ...],
        value: Any,
        kind: Kind,
        op: Op | None,
    ) -> Lane:
        return Lane(value, self._write(fn, args, kinds, kind, op or lane_by_lane(fn, kinds, kind)), self)

    def _uniform_step(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """A call on captured values: Python does it once for all lanes. Its result is a number or an array."""
        try:
            value = fn(*(self._value(a) for a in args))
        except Exception:
            self._plain(args)  # it raises for these captured values, and may not for others
            raise
        if kind_of(value) is None:
            raise Untraceable(f"makes a {type(value).__name__} from captured values", where=user_line())
        if type(value) is int and not fits_int64(value):
            raise Untraceable("makes an int beyond 64 bits from captured values", where=user_line())
        out = self._write(fn, args, tuple(kind_of(self._value(a)) for a in args), kind_of(value), None)
        return Lane(value, out, self, uniform=True)

    def _known_step(self, op: Op, fn: Callable[..., Any], args: tuple[Any, ...], value: Any, kind: Kind) -> Lane:
        key = (fn, tuple(a._up_id if is_lane(a) else Const(a) for a in args))
        if key not in self.known:
            uniform = self._uniform(args)
            kinds = tuple(kind_of(self._value(a)) for a in args)
            out = self._write(fn, args, kinds, kind, None if uniform else op)
            self.known[key] = Lane(value, out, self, uniform)
        return self.known[key]

    def _holds(self, predicate: Op, args: tuple[Any, ...]) -> bool:
        """A rule's predicate, guarded where it looks at lane values."""
        values = [self._value(a) for a in args]
        if isinstance(predicate, Predicate) and predicate.always(*(None if is_lane(a) else a for a in args)):
            return True
        truth = bool(predicate.run(*values))
        if not any(is_lane(a) for a in args) or self._pinned(args):
            return truth
        fn = bool if predicate is TRUE else predicate.run
        if predicate is TRUE and isinstance(values[0], bool):
            return self.decide_truth(args[0])
        return self.decide_truth(self._known_step(predicate, fn, args, truth, BOOL))

    def _cast_bools(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kinds: tuple[Kind | None, ...]
    ) -> tuple[tuple[Any, ...], tuple[Kind | None, ...]]:
        """Python's bools count as ints in arithmetic; NumPy's do not."""
        if fn not in _COUNTS_BOOLS or BOOL not in kinds or not all(k is not None and k.python for k in kinds):
            return args, kinds
        if fn in _LOGICAL and all(k is BOOL for k in kinds):
            return args, kinds
        cast = tuple(self.record(int, (a,)) if is_lane(a) and type(a._up_value) is bool else a for a in args)
        cast = tuple(int(a) if type(a) is bool else a for a in cast)
        return cast, tuple(kind_of(self._value(a)) for a in cast)

    def _cast_weak(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kinds: tuple[Kind | None, ...], made: Kind | None = None
    ) -> tuple[tuple[Any, ...], tuple[Kind | None, ...]]:
        """A Python number takes on the kind of the NumPy number it meets, lane values too.

        `made`: of the result. Where ints make floats, as in a division, an int need not fit the other's kind.
        """
        weak = [
            i for i, (a, k) in enumerate(zip(args, kinds, strict=True)) if is_lane(a) and k is not None and k.python
        ]
        if not weak or (fn not in _MEETS_NUMPY and not isinstance(fn, np.ufunc)):
            return args, kinds
        strong = [k for k in kinds if k is not None and not k.python]
        cast = list(args)
        for i in weak:
            a, k = args[i], kinds[i]
            if a._up_uniform or k is None:
                continue
            dtype = np.result_type(*(s.dtype for s in strong), k.dtype.type(0).item())
            if made is not None and dtype.kind in "iu" and made.dtype.kind == "f":
                dtype = made.dtype
            kind = kind_of(dtype.type(0))
            if kind is None or dtype.kind in "mM":
                raise self._leaves("numbers and times mixed")
            if fn in COMPARISONS and dtype.kind in "iu":
                continue  # Python's ints are compared as they are, whatever the other side could hold
            plain, make = weak_cast(kind)
            op = make((k,), kind)
            value = plain(a._up_value)
            cast[i] = Lane(value, self._write(plain, (a,), (k,), kind, op), self)
        return tuple(cast), tuple(kind_of_value(self._value(a)) for a in cast)

    def _write(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kinds: tuple[Kind | None, ...],
        kind: Kind | None,
        op: Op | None,
    ) -> int:
        """One step of the tree: a new one, or the one that is there, which must be the same."""
        refs: tuple[Ref, ...] = tuple([a._up_id if type(a) in LANES else Const(a) for a in args])
        if self.growing:
            self.budget -= 1
            if self.budget < 0 or (self.budget & 15 == 0 and time.perf_counter() > self.deadline):
                raise self._end(OverBudget("the trace became longer than it is worth"))
            used = [r for r in refs if isinstance(r, int)]
            inexact = op is not None and (op.close or not self.inexact.isdisjoint(used))
            lanes = tuple([type(a) in LANES and not a._up_uniform for a in args])
            self.node.steps.append(Step(fn, refs, self.fresh, kind, op, kinds, user_line(), inexact, lanes))
            self.tree.steps += 1
        else:
            steps = self.node.steps
            if self.at >= len(steps) or steps[self.at].fn is not fn or steps[self.at].refs != refs:
                self._wandered()
            inexact = steps[self.at].inexact
        if inexact:
            self.inexact.add(self.fresh)
        self.at, self.fresh = self.at + 1, self.fresh + 1
        return self.fresh - 1

    # ---- the ends

    def finish(self, result: Any) -> None:
        """The function returned."""
        self._alive()
        form, leaves = flatten(result)
        refs: list[Ref] = []
        for leaf in leaves:
            refs.append(leaf._up_id if is_lane(leaf) else Const(_returnable(leaf)))
        kinds = tuple(kind_of_value(self._value(leaf)) for leaf in leaves)
        self.numbers.finish()
        self._close(Leaf(_original(form), tuple(refs), kinds))

    def fail(self, error: BaseException) -> None:
        """The function raised."""
        self._close(Raises(type(error).__name__, user_line()))

    def _close(self, end: Leaf | Raises) -> None:
        self._alive()
        if not self.growing:
            if self.at != len(self.node.steps) or type(self.node.end) is not type(end):
                self._wandered()
            return
        self.node.end = end
        self.tree.captures.update(self.captures)
        if self.hang is not None:
            children, answer, node = self.hang
            children[answer] = node
        else:
            self.tree.root = self.trail[0]
        for node in reversed(self.trail):
            self.tree.sharpened += node.settle()
        self.tree.paths += 1

    def _leaves(self, reason: str) -> Signal:
        return self._end(Leave(reason))

    def _end(self, signal: Signal) -> Signal:
        self.ended = signal
        return signal

    def _alive(self) -> None:
        """A bare `except:` in the user's code must not bring an ended trace back to life."""
        if self.ended is not None:
            raise self.ended

    def _wandered(self) -> None:
        raise self._end(Untraceable("does not do the same twice on the same element", where=user_line()))

    # ---- small questions

    def _value(self, arg: Any) -> Any:
        return arg._up_value if is_lane(arg) else arg

    def _plain(self, args: Iterable[Any]) -> list[Any]:
        return [self.pin(a) if is_lane(a) else a for a in args]

    def _uniform(self, args: tuple[Any, ...]) -> bool:
        return all(not is_lane(a) or a._up_uniform for a in args)

    def _pinned(self, args: tuple[Any, ...]) -> bool:
        return all(not is_lane(a) or a._up_id in self.pinned for a in args)

    def _fits(self, args: tuple[Any, ...]) -> bool:
        """Whether NumPy can hold the constants: an int beyond 64 bits beside a column is Python's business."""
        return all(type(a) is not int or fits_int64(a) for a in args)


def value_key(value: Any) -> Any:
    """What lanes that share a value guard have in common: class and bits."""
    if isinstance(value, float | complex | np.inexact):
        return type(value), repr(value)
    return type(value), value


def _returnable(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray) or type(leaf).__module__.startswith("upshift."):
        raise Untraceable(f"returns a {type(leaf).__name__} made while tracing")
    if leaf is None or isinstance(leaf, str | bytes | int | float | complex | np.generic | type | frozenset):
        return leaf
    if callable(leaf) or hasattr(leaf, "__dict__") or isinstance(leaf, list | dict | set | bytearray):
        raise Untraceable(f"returns a {type(leaf).__name__}, which every element must have for itself")
    raise Untraceable(f"returns a {type(leaf).__name__}")


def _original(form: Form) -> Form:
    """The user's own classes in place of their traced copies."""
    if form.cls is None:
        return form
    return Form(original_of(form.cls), form.keys, tuple(_original(child) for child in form.children))
