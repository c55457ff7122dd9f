"""A tree, the function and one element in; the tree with that element's path out, and what became of the attempt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.forms import Form, flatten
from ..errors import Leave, OverBudget, Untraceable
from .capture import Holder
from .held import refuse_changes
from .lane import Lane
from .paths import Roots, holds
from .record import Trace
from .tree import Tree


@dataclass(frozen=True, slots=True)
class Outcome:
    """`grown`: the tree has the element's path. Else it is the plain function's, or nothing can be traced."""

    grown: bool
    refusal: Untraceable | None = None
    over_budget: bool = False


def grow(
    tree: Tree,
    f: Any,
    element: tuple[Any, ...],
    shared: dict[str, Any],
    budget: int,
    drawn: Iterable[Any] = (),
    seconds: float = 1e9,
) -> Outcome:
    """Run `f` on lane values made of one element (a tuple of arguments); `drawn` are its random numbers, if known."""
    trace = Trace(tree, budget, list(drawn), seconds)
    holder = Holder(trace)
    try:
        with np.errstate(all="ignore"):
            copy = holder.hold(f, (("f", None),))
            held = {name: holder.hold(value, (("shared", name),)) for name, value in shared.items()}
            lanes = _lanes_of(element, tree.form, trace)
            before = [flatten(lane) for lane in lanes]
            try:
                result = copy(*lanes, **held)
            except Exception as error:
                _refuse_changes(trace, lanes, before)
                trace.fail(error)
            else:
                _refuse_changes(trace, lanes, before)
                trace.finish(result)
    except Untraceable as refusal:
        return Outcome(False, refusal)
    except (Leave, OverBudget) as signal:
        return Outcome(False, None, isinstance(signal, OverBudget))
    if trace.ended is not None:
        return Outcome(False, trace.ended if isinstance(trace.ended, Untraceable) else None)
    return Outcome(True)


def _refuse_changes(trace: Trace, lanes: Any, before: list[Any]) -> None:
    """Neither what was captured nor an element that the caller owns may have changed."""
    refuse_changes(trace)
    for fresh, lane, (form, leaves) in zip(trace.tree.fresh, lanes, before, strict=True):
        form_now, leaves_now = flatten(lane)
        same = form == form_now and all(a is b for a, b in zip(leaves, leaves_now, strict=False))
        if not fresh and not same:
            raise Untraceable("changes its element", "work on a copy")


def _lanes_of(element: tuple[Any, ...], form: Form, trace: Trace) -> Any:
    _, leaves = flatten(element)
    return _build(form, iter([_lane_of(value, i, trace) for i, value in enumerate(leaves)]))


def _lane_of(value: Any, i: int, trace: Trace) -> Lane:
    return trace.arrays.of_element(value, i) if isinstance(value, np.ndarray) else Lane(value, i, trace)


def _build(form: Form, leaves: Any) -> Any:
    if form.cls is not np.void:
        if form.cls is None:
            return next(leaves)
        children = iter([_build(child, leaves) for child in form.children])
        return Form(form.cls, form.keys, tuple(Form() for _ in form.children)).build(children)
    return Row(form.keys, [_build(child, leaves) for child in form.children])


class Row:
    """An element of a structured array, field by field."""

    __slots__ = ("_up_fields", "_up_names")

    def __init__(self, names: tuple[str, ...], fields: list[Any]) -> None:
        self._up_names, self._up_fields = names, fields

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.void

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and key in self._up_names:
            return self._up_fields[self._up_names.index(key)]
        if type(key) is int:
            return self._up_fields[key]
        raise Untraceable(f"reads a structured element by {key!r}")

    def __len__(self) -> int:
        return len(self._up_fields)

    def __iter__(self) -> Any:
        return iter(self._up_fields)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Untraceable("writes into a structured element")

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"reads .{name} of a structured element")


def bind(tree: Tree, f: Any, shared: dict[str, Any]) -> dict[int, Any] | None:
    """The captured inputs as they are now, by id; None where something else that the tree stands on has changed."""
    roots = Roots(f, shared)
    values: dict[int, Any] = {}
    for capture in tree.captures.values():
        same, value = holds(capture, roots)
        if not same:
            return None
        if capture.mode == "input":
            values[capture.id] = value
    return values
