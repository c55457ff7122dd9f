"""Functions that put arrays together or take them apart, and compute nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...columns.kinds import Column
from .call import (
    Called,
    Named,
    NoRule,
    Run,
    Slot,
    flat,
    has_slots,
    is_lane,
    lanes_in,
    named,
    negative,
    over,
    row,
)


def _columns(leaves: list[Any], values: Any, n: int) -> list[Column]:
    """Every leaf as a column: what is the same for all lanes is broadcast."""
    made = []
    for leaf, value in zip(leaves, values, strict=True):
        value = np.asarray(value)
        made.append(value if is_lane(leaf) else np.broadcast_to(value, (n, *value.shape)))
    return made


def joining(fn: Callable[..., Any], change_axis: Callable[[Any, int], Any], default: Any = 0) -> Any:
    """`fn([a, b, ...], axis)` on columns."""

    def rule(called: Called) -> Run | None:
        args, keywords = called.arguments
        arrays = args[0]
        if not isinstance(arrays, list | tuple) or any(isinstance(a, list | tuple) for a in arrays):
            return None
        axis = args[1] if len(args) > 1 else keywords.get("axis", default)
        others = {name: value for name, value in keywords.items() if name != "axis"}
        if len(args) > 2 or has_slots([axis, *others.values()]) or set(others) - {"dtype", "casting"}:
            return None
        leaves = list(arrays)
        ndim = max(leaf.ndim if isinstance(leaf, Slot) else np.ndim(leaf) for leaf in leaves)
        weak = [not isinstance(leaf, Slot) and type(leaf) in (int, float, complex, bool) for leaf in leaves]
        if any(weak):
            return None

        def run(*values: Any) -> Any:
            n = lanes_in(called, values)
            columns = _columns(leaves, values[: len(leaves)], n)
            if axis is None:
                return fn([flat(c) for c in columns], axis=-1, **others)
            return fn(columns, axis=change_axis(axis, ndim), **others)

        return run

    return rule


row(np.concatenate, joining(np.concatenate, negative), "np.concatenate([x, y])", "np.concatenate((x, y), axis=1)",
    "np.concatenate([v, v[:2]])", "np.concatenate([x, y], axis=None)", "np.concatenate([x, np.ones((1, 5))])",
    "np.concatenate([f, k])")  # fmt: skip
row(np.stack, joining(np.stack, lambda axis, ndim: negative(axis, ndim + 1)), "np.stack([x, y])",
    "np.stack([x, y], axis=-1)",
    "np.stack([v, v * s], axis=1)", "np.stack((v, np.arange(6.0)))")  # fmt: skip


def _as_stack(name: str, axis: Callable[[int], int], least: int) -> Any:
    def rule(called: Called) -> Run | None:
        args, keywords = called.arguments
        arrays = args[0]
        if (
            keywords
            or len(args) != 1
            or not isinstance(arrays, list | tuple)
            or any(not isinstance(a, Slot) for a in arrays)
        ):
            return None
        leaves = list(arrays)
        if len({leaf.ndim for leaf in leaves}) != 1 or leaves[0].ndim < least:
            return None
        ndim = leaves[0].ndim

        def run(*values: Any) -> Any:
            columns = _columns(leaves, values, lanes_in(called, values))
            if ndim == 1 and name == "vstack":
                return np.stack(columns, axis=1)
            if name == "column_stack" and ndim == 1:
                return np.stack(columns, axis=-1)
            if name == "dstack" and ndim < 3:
                columns = [c[..., None] if ndim == 2 else c[:, None, :, None] for c in columns]
                return np.concatenate(columns, axis=-1)
            return np.concatenate(columns, axis=axis(ndim))

        return run

    return rule


row(np.vstack, _as_stack("vstack", lambda ndim: 1, 1), "np.vstack([x, y])", "np.vstack([v, v * 2])")
row(np.hstack, _as_stack("hstack", lambda ndim: 1 if ndim == 1 else 2, 1), "np.hstack([x, y])", "np.hstack([v, v * 2])")
row(np.dstack, _as_stack("dstack", lambda ndim: 3, 1), "np.dstack([x, y])", "np.dstack([v, v])")
row(
    np.column_stack,
    _as_stack("column_stack", lambda ndim: 2, 1),
    "np.column_stack([v, v * 2])",
    "np.column_stack([x, y])",
)


@named
def append(call: Named) -> Run:
    """The rule of `np.append`."""
    a, b, axis = call.any("arr"), call.any("values"), call.constant("axis")
    call.rest()
    if not (isinstance(a, Slot) and isinstance(b, Slot)) or (axis is not None and a.ndim != b.ndim):
        raise NoRule

    def run(*values: Any) -> Any:
        n = lanes_in(call.called, values)
        x, y = _columns([a, b], [values[a.at], values[b.at]], n)
        if axis is None:
            return np.concatenate([flat(x), flat(y)], axis=-1)
        return np.concatenate([x, y], axis=negative(axis, a.ndim))

    return run


row(np.append, append, "np.append(x, y)", "np.append(x, y, axis=0)", "np.append(v, s)")


@named
def split(call: Named) -> Run:
    """The rule of `np.split` and its relatives, with bounds that are the same for all lanes."""
    x, parts = call.lane("ary"), call.constant("indices_or_sections")
    axis = negative(call.constant("axis", 0), x.ndim)
    call.rest()
    return over(x, lambda X: tuple(np.array_split(X, parts, axis=axis)))


row(np.split, split, "np.split(x, 2)", "np.split(x, [1, 3], axis=1)", "np.split(v, 3)[1]")
row(np.array_split, split, "np.array_split(v, 4)", "np.array_split(x, 3, axis=1)[0]")


def _split_at(name: str) -> Any:
    def rule(called: Called) -> Run | None:
        (x, parts), keywords = called.arguments
        if keywords or has_slots(parts) or not is_lane(x):
            return None
        axis = {"vsplit": 1, "hsplit": 2 if x.ndim > 1 else 1, "dsplit": 3}[name]
        return over(x, lambda X: tuple(np.array_split(X, parts, axis=axis)))

    return rule


row(np.vsplit, _split_at("vsplit"), "np.vsplit(x, 2)")
row(np.hsplit, _split_at("hsplit"), "np.hsplit(x, [2])", "np.hsplit(v, 2)")
row(np.dsplit, _split_at("dsplit"), "np.dsplit(c, 2)")
if hasattr(np, "unstack"):

    @named
    def unstack(call: Named) -> Run:
        """The rule of `np.unstack`: the parts along an axis."""
        x, axis = call.lane("x"), call.constant("axis", 0)
        call.rest()
        return over(x, lambda X: tuple(np.moveaxis(X, negative(axis, x.ndim), 0)))

    row(np.unstack, unstack, "np.unstack(x)[1]", "np.unstack(x, axis=1)")


def made_of(called: Called) -> Run | None:
    """`np.array([[a, b], [c, d]])`: every leaf goes to its place."""
    args, keywords = called.arguments
    kind = called.kind
    if kind is None or len(args) != 1 or set(keywords) - {"dtype", "copy", "ndmin"}:
        return None
    places: list[tuple[Any, tuple[int, ...]]] = []

    def visit(item: Any, place: tuple[int, ...]) -> None:
        if isinstance(item, list | tuple):
            for i, child in enumerate(item):
                visit(child, (*place, i))
        else:
            places.append((item, place))

    visit(args[0], ())
    shape, dtype = kind.lane_shape, kind.dtype
    if keywords.get("ndmin", 0) > 1:
        return None

    def run(*values: Any) -> Any:
        n = lanes_in(called, values)
        if len(places) == 1 and places[0][1] == ():
            return np.array(values[0], dtype=dtype)
        out: Any = np.empty((n, *shape), dtype)
        for (_, place), value in zip(places, values, strict=False):
            out[(slice(None), *place)] = value
        return out

    return run


for _name in ("array", "asarray", "asanyarray", "ascontiguousarray"):
    row(getattr(np, _name), made_of, f"np.{_name}([s, 2 * s])", f"np.{_name}([[s, 1.0], [0, s]])",
    f"np.{_name}([v, v])",
        f"np.{_name}(x)", f"np.{_name}([s, 2], dtype=np.float32)")  # fmt: skip
