"""What all array rules share: a call on one element's arrays as a call on columns.

A rule gets a `Called`: the function and its arguments, with a `Slot` wherever a value is known only when lanes run. It
gives a function of those values, lanes first: a column has one more axis, in front. It gives None where it cannot; then
the plain call is made for every lane. What a rule must keep is the plain call's shape, dtype and bits, for every lane.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...columns.forms import Form
from ...columns.kinds import Column, Kind
from ...columns.layout import order_of
from .op import call_on, protected

Run = Callable[..., Any]
"""The values of a step's arguments in order (columns where they are lanes) -> the column of results."""


@dataclass(frozen=True, slots=True)
class Slot:
    """An argument that is known only when lanes run: its place in the step, its kind, one per lane or one for all."""

    at: int
    kind: Kind
    lane: bool

    @property
    def ndim(self) -> int:
        """How many axes one element's array has."""
        return len(self.kind.lane_shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one element's array."""
        return self.kind.lane_shape


@dataclass(frozen=True, slots=True)
class Called:
    """One call, for its rule."""

    fn: Callable[..., Any]
    form: Form
    leaves: tuple[Any, ...]
    kind: Kind | None
    """Of the result; None where it is several arrays."""
    makes: tuple[Kind, ...] = ()
    """The kinds of all results."""
    through: bool = False
    """Whether the result is written through, so that it must be a view."""

    @property
    def slots(self) -> list[Slot]:
        """The arguments that are known only when lanes run, in order."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Slot)]

    @property
    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and named arguments, with slots in place of values."""
        args, keywords = self.form.build(iter(self.leaves))
        return tuple(args), dict(keywords)

    def bound(self) -> dict[str, Any]:
        """Arguments by name, as the function names them; only those that were given."""
        args, keywords = self.arguments
        found = dict(_signature(self.fn).bind(*args, **keywords).arguments)
        found |= found.pop("kwargs", {})
        return found

    def remade(self, changes: dict[int, Callable[[Any], Any]], fn: Callable[..., Any] | None = None) -> Run:
        """The same call on all lanes, with some arguments changed on their way."""
        call, form, flat = fn or self.fn, self.form, is_flat(self.form)
        if flat and not changes:
            return call

        def run(*values: Any) -> Any:
            made = list(values)
            for at, change in changes.items():
                made[at] = change(made[at])
            if flat:
                return call(*made)
            args, keywords = form.build(iter(made))
            return call(*args, **keywords)

        return run


def is_flat(form: Form) -> bool:
    """Whether a call's arguments, a tuple and a dict, are nothing but leaves in order."""
    positional, named = form.children
    return not named.children and all(child.cls is None for child in positional.children)


@functools.lru_cache(maxsize=1024)
def _signature(fn: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(fn)


Rule = Callable[[Called], Run | None]


@dataclass(frozen=True, slots=True)
class Row:
    """How one function is batched, and calls of it that become tests.

    `close`: bits may differ from the plain call's. `warns`: it may warn as a ufunc does. `ordered`: NumPy goes through
    an array as it lies in memory, and its bits depend on that. `frees`: a call frees the interpreter.
    """

    fn: Callable[..., Any]
    rule: Rule
    samples: tuple[str, ...] = ()
    close: bool = False
    warns: bool = False
    ordered: bool = False
    frees: bool = False


class WithRow:
    """A callable that brings its row along, since it is not there for good."""

    row: Row


ARRAYS: dict[Callable[..., Any], Row] = {}


def row(
    fn: Callable[..., Any],
    rule: Rule,
    *samples: str,
    close: bool = False,
    warns: bool = False,
    ordered: bool = False,
) -> None:
    """Add one row."""
    ARRAYS[fn] = Row(fn, rule, samples, close, warns, ordered)


# ---- what rules share


class NoRule(Exception):
    """These arguments are none of the rule's: the plain call is made for every lane."""


@dataclass(slots=True)
class Named:
    """The arguments of a call by name, asked for one by one: what is not asked for is not known, and refused."""

    called: Called
    given: dict[str, Any]
    asked: set[str] = field(default_factory=set)

    def lane(self, name: str) -> Slot:
        """An argument that must be a column."""
        slot = self.any(name)
        if not isinstance(slot, Slot) or not slot.lane:
            raise NoRule
        return slot

    def any(self, name: str, default: Any = None) -> Any:
        """An argument: a slot, or a constant."""
        self.asked.add(name)
        return self.given.get(name, default)

    def constant(self, name: str, default: Any = None) -> Any:
        """An argument that must be known now."""
        value = self.any(name, default)
        if has_slots(value):
            raise NoRule
        return value

    def rest(self, *known: str) -> dict[str, Any]:
        """What else was given: constants with these names, passed on as they are."""
        others = {name: value for name, value in self.given.items() if name not in self.asked}
        if any(name not in known or has_slots(value) for name, value in others.items()):
            raise NoRule
        return others


def has_slots(value: Any) -> bool:
    """Whether a value, or something nested in it, is known only when lanes run."""
    if isinstance(value, list | tuple):
        return any(map(has_slots, value))
    if isinstance(value, slice):
        return has_slots((value.start, value.stop, value.step))
    return isinstance(value, Slot)


def is_lane(leaf: Any) -> bool:
    """Whether an argument is a column."""
    return isinstance(leaf, Slot) and leaf.lane


def lanes_in(called: Called, values: Any) -> int:
    """How many lanes there are."""
    return next(len(value) for leaf, value in zip(called.leaves, values, strict=True) if is_lane(leaf))


def named(rule: Callable[[Named], Run]) -> Rule:
    """A rule that looks at its arguments by name."""

    @functools.wraps(rule)
    def lowered(called: Called) -> Run | None:
        return rule(Named(called, called.bound()))

    return lowered


def over(slot: Slot, run: Callable[[Column], Any]) -> Run:
    """A function of one argument of the step."""
    at = slot.at
    return lambda *values: run(values[at])


def over_two(a: Slot, b: Slot, run: Callable[[Column, Column], Any]) -> Run:
    """A function of two arguments of the step."""
    return lambda *values: run(values[a.at], values[b.at])


def negative(axis: Any, ndim: int) -> Any:
    """An axis, or several, counted from the last, where a column has the same axes as an element."""
    if isinstance(axis, list | tuple | range):
        return tuple(negative(a, ndim) for a in axis)
    axis = int(axis)
    return axis if axis < 0 else axis - ndim


def flat(x: Column) -> Column:
    """Every lane as one row, in C order."""
    return x.reshape(len(x), -1) if x.size or x.ndim == 2 else x.reshape(len(x), int(np.prod(x.shape[1:])))


def flat_as_it_lies(x: Column) -> Column:
    """Every lane as one row, in the order in which it lies in memory."""
    if x.flags.c_contiguous:
        return flat(x)
    return flat(x.transpose(0, *(1 + axis for axis in order_of(x.shape[1:], x.strides[1:]))))


def along(x: Slot, axis: Any, run: Callable[[Column, Any], Any]) -> Run:
    """A function along an axis; along the whole lane as one row where there is none."""
    if axis is None:
        return over(x, lambda X: run(flat(X), -1))
    last = negative(axis, x.ndim)
    return over(x, lambda X: run(X, last))


def widened(ndim: int, to: int) -> Callable[[Column], Column] | None:
    """What puts axes between the lanes and an element's own, so that elements broadcast as they would alone."""
    if ndim == to:
        return None
    ones = (1,) * (to - ndim)
    return lambda x: x.reshape(len(x), *ones, *x.shape[1:])


def broadcasting(called: Called, fn: Callable[..., Any] | None = None) -> Run:
    """The same call on columns, for functions of arrays that broadcast."""
    shapes = [slot.ndim for slot in called.slots]
    shapes += [np.ndim(leaf) for leaf in called.leaves if isinstance(leaf, np.ndarray)]
    most = max(shapes, default=0)
    changes = {}
    for slot in called.slots:
        change = widened(slot.ndim, most) if slot.lane else None
        if change is not None:
            changes[slot.at] = change
    return called.remade(changes, fn)


def by_rows(called: Called) -> Run:
    """One call for every lane, by the library's own code, into one column for each result."""
    fn, form, makes, several = called.fn, called.form, called.makes, called.kind is None
    lanes = [slot.at for slot in called.slots if slot.lane]
    args, _ = called.arguments
    simple = [at for at, arg in enumerate(args) if isinstance(arg, Slot) and arg.lane]
    flat_call = len(simple) == len(lanes)  # every lane stands by itself among the arguments

    def rows(values: Any, n: int) -> Iterator[Any]:
        if flat_call:
            given, named = form.build(iter(values))
            row = list(given)
            columns = [(at, protected(given[at])) for at in simple]
            for i in range(n):
                for at, column in columns:
                    row[at] = column[i]
                yield call_on(fn, row, named)
            return
        values = [protected(value) if at in lanes else value for at, value in enumerate(values)]
        for i in range(n):
            leaves = list(values)
            for at in lanes:
                leaves[at] = values[at][i]
            given, named = form.build(iter(leaves))
            yield call_on(fn, given, named)

    def run(*values: Any) -> Any:
        n = len(values[lanes[0]])
        outs = tuple(np.empty((n, *kind.lane_shape), kind.dtype) for kind in makes)
        for i, made in enumerate(rows(values, n)):
            for out, one in zip(outs, made if several else (made,), strict=True):
                if (
                    np.shape(one) != out.shape[1:]
                    or (one.dtype if isinstance(one, np.ndarray) else out.dtype) != out.dtype
                ):
                    return None
                out[i] = one
        return outs if several else outs[0]

    return run


def never(called: Called) -> Run | None:
    """No call for all lanes: results may have another size in every lane."""
    return None
