"""Grows a tree by the path of one element."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.forms import Form, assemble, flatten
from ..errors import TRACE, Leave, OverBudget, Signal, Untraceable
from .capture import Holder
from .lane import Lane
from .paths import Roots, holds
from .read_only import refuse_changes
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
    token = TRACE.set(trace)
    try:
        return _run(trace, f, element, shared)
    finally:
        TRACE.reset(token)


def _run(trace: Trace, f: Any, element: tuple[Any, ...], shared: dict[str, Any]) -> Outcome:
    holder, tree = Holder(trace), trace.tree
    try:
        with np.errstate(all="ignore"):
            copy = holder.hold(f, (("f", None),))
            held = {name: holder.hold(value, (("shared", name),)) for name, value in shared.items()}
            lanes = _lanes_of(element, tree, holder)
            before = [flatten(lane) for lane in lanes]
            try:
                result = copy(*lanes, **held)
            except BaseException as error:
                if isinstance(error, Signal | KeyboardInterrupt):
                    raise
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


def _lanes_of(element: tuple[Any, ...], tree: Tree, holder: Holder) -> Any:
    _, leaves = flatten(element)
    lanes = iter([_lane_of(value, i, holder.trace) for i, value in enumerate(leaves)])
    return tuple(_build(form, lanes, holder, fresh) for form, fresh in zip(tree.form.children, tree.fresh))


def _lane_of(value: Any, i: int, trace: Trace) -> Lane:
    return trace.arrays.of_element(value, i) if isinstance(value, np.ndarray) else Lane(value, i, trace)


def _build(form: Form, leaves: Any, holder: Holder, fresh: bool) -> Any:
    """An element of this form: records are of copied classes, so that their methods are traced."""
    if form.cls is None:
        return next(leaves)
    children = [_build(child, leaves, holder, fresh) for child in form.children]
    if form.cls is np.void:
        return Row(form.keys, children)
    if fresh and hasattr(form.cls, "__del__"):
        raise Untraceable(f"elements have a finaliser: {form.cls.__qualname__}.__del__")
    cls = form.cls if form.cls in (tuple, list, dict) else holder.hold(form.cls, (("given", form.cls),))
    return assemble(cls, form.keys, children)


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
