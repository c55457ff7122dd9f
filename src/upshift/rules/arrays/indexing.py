"""Reading and writing parts of arrays: `x[key]`, `x[key] = value`, and NumPy's functions that do the same."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns.kinds import Column, Kind
from ..interned import Interned
from .call import ARRAYS, Called, Named, NoRule, Run, Slot, along, flat, has_slots, named, negative, row


@dataclass(frozen=True, slots=True)
class Key:
    """A key with every axis spelled out, and what NumPy makes of it."""

    items: tuple[Any, ...]
    advanced: int
    """How many axes the arrays among the items make together."""
    front: int
    """How many axes of the result come before those."""
    together: bool

    @property
    def lanes(self) -> bool:
        """Whether part of the key differs from lane to lane."""
        return any(isinstance(item, Slot) and item.lane for item in self.items)


def _is_advanced(item: Any) -> bool:
    return isinstance(item, Slot | np.ndarray | int | np.integer) and not isinstance(item, bool)


def spelled_out(key: Any, ndim: int) -> Key:
    """The key's items, one for each axis; NoRule where there is none of this kind of key."""
    items: list[Any] = []
    for item in key if isinstance(key, tuple) else (key,):
        item = (
            np.asarray(item, int if not len(item) else None) if isinstance(item, list) and not has_slots(item) else item
        )
        if isinstance(item, np.ndarray) and item.dtype == bool:
            if not item.ndim:
                raise NoRule
            items += item.nonzero()
        else:
            items.append(item)
    for item in items:
        known = item is None or item is Ellipsis or isinstance(item, slice) or _is_advanced(item)
        if not known or (has_slots(item) and not isinstance(item, Slot)):
            raise NoRule
        if isinstance(item, Slot) and item.kind.dtype.kind not in "iu":
            raise NoRule
    axes = sum(item is not None and item is not Ellipsis for item in items)
    rest = [slice(None)] * (ndim - axes)
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    items = [*items[:at], *rest, *items[at + 1 :]]
    places = [i for i, item in enumerate(items) if _is_advanced(item)]
    sizes = [item.ndim if isinstance(item, Slot | np.ndarray) else 0 for item in items if _is_advanced(item)]
    together = not places or places == list(range(places[0], places[-1] + 1))
    front = places[0] if places and together else 0
    return Key(tuple(items), max(sizes, default=0), front, together)


def _filled(key: Key, values: Any, n: int) -> tuple[Any, ...]:
    """The key for columns: one index array for the lanes, the others beside it."""
    made: list[Any] = [np.arange(n).reshape(n, *(1,) * key.advanced)]
    for item in key.items:
        if isinstance(item, Slot):
            value = np.asarray(values[item.at])
            made.append(value.reshape(n, *(1,) * (key.advanced - item.ndim), *value.shape[1:]) if item.lane else value)
        else:
            made.append(item)
    return tuple(made)


def _plain(key: Key, values: Any) -> tuple[Any, ...]:
    return (slice(None), *(values[item.at] if isinstance(item, Slot) else item for item in key.items))


def getitem(called: Called) -> Run | None:
    """The rule of `x[key]`: a key for the whole column, or a gather where the key differs from lane to lane."""
    (x, key), _ = called.arguments
    if not isinstance(x, Slot):
        return None
    if isinstance(key, Slot) and key.kind.dtype.kind == "b" and key.ndim and called.kind is not None:
        return _mask(x, key, called.kind)
    spelled = spelled_out(key, x.ndim)
    assert called.kind is not None
    small = not called.through and 4 * math.prod(called.kind.lane_shape) <= math.prod(x.shape)
    if not spelled.lanes:
        if not x.lane:
            return None
        aside = spelled.advanced and not spelled.together

        def run(*values: Any) -> Any:
            out = values[x.at][_plain(spelled, values)]
            out = np.moveaxis(out, spelled.advanced, 0) if aside else out
            return out.copy() if small and out.base is not None else out

        return run
    advanced, front = spelled.advanced, spelled.front

    def gather(*values: Any) -> Any:
        n = next(len(values[slot.at]) for slot in called.slots if slot.lane)
        column = values[x.at] if x.lane else np.broadcast_to(values[x.at], (n, *x.shape))
        out = column[_filled(spelled, values, n)]
        if advanced and front:
            out = np.moveaxis(out, range(1, 1 + advanced), range(1 + front, 1 + front + advanced))
        return out

    return gather


def _mask(x: Slot, mask: Slot, kind: Kind) -> Run | None:
    """`x[mask]`, where every lane picks equally many."""
    if not mask.lane:
        return (lambda *values: values[x.at][:, values[mask.at]]) if x.lane else None
    shape = kind.lane_shape

    def run(*values: Any) -> Any:
        picks = values[mask.at]
        column = values[x.at] if x.lane else np.broadcast_to(values[x.at], (len(picks), *x.shape))
        return column[picks].reshape(len(picks), *shape)

    return run


row(operator.getitem, getitem, "x[0]", "x[1, 2]", "x[1:3]", "x[:, ::-1]", "x[..., 0]", "x[None, :, 1]", "x[-1, -2]",
    "x[[0, 2]]", "x[:, [1, 1, 0]]", "x[[0, 1], [1, 2]]", "c[[0, 1], :, [1, 0]]", "c[:, [0, 1], [1, 0]]", "x[i]",
    "x[:, i]", "x[i, i]", "v[k]", "x[:, k]", "x[j, k]", "c[i, :, j]", "c[:, j, k]", "m[:, k[:3] % 3]",
    "c[:, k[:3] % 3, 1]", "w[i]", "w[k]", "w[i, :2]",
    "x[x > 0]", "v[v > 0]",
    "x[v[:4] > 0]", "x[np.array([True, False, True, True])]", "x[()]", "x[i:i + 2]", "v[i:]", "c[0][1]", "c[i][j]",
    "x[np.ix_([0, 2], [1, 3])]", "x[-i - 1]", "x[1:3, 1:3][0, 1]")  # fmt: skip


# ---- writing


@dataclass(frozen=True, slots=True)
class Seen:
    """One call by which a view is seen from what it is a view of."""

    fn: Callable[..., Any]
    form: Any
    leaves: tuple[Any, ...]
    kind: Kind

    def of(self, value: Any) -> Any:
        """The view that this indexing makes of an array."""
        args, keywords = self.form.build(iter((value, *(leaf.value for leaf in self.leaves))))
        return self.fn(*args, **keywords)

    def on_lanes(self, before: Kind) -> Run:
        """The same indexing for all lanes; it is a view, so that writing through it reaches the column."""
        leaves = (Slot(0, before, True), *(leaf.value for leaf in self.leaves))
        called = Called(self.fn, self.form, leaves, self.kind, (self.kind,), through=True)
        run = ARRAYS[self.fn].rule(called) if self.fn in ARRAYS else None
        if run is None:
            raise NoRule
        return run


class Put(Interned):
    """`view[key] = value` as a function: an array in, the array with the value put into one of its views out."""

    def __init__(self, path: tuple[Seen, ...]) -> None:
        self.path = path
        self.called("put")

    def __call__(self, base: Any, value: Any, key: Any) -> Any:
        out = base.copy(order="K")
        view = out
        for seen in self.path:
            view = seen.of(view)
        view[key] = value
        return out


def put(called: Called) -> Run | None:
    """The rule of `x[key] = value`, written through the views that lead from the base array to `x`."""
    (base, value, key), _ = called.arguments
    path: tuple[Seen, ...] = called.fn.path  # type: ignore[attr-defined]
    if not isinstance(base, Slot) or isinstance(value, list | tuple):
        return None
    views, kind = [], base.kind
    for seen in path:
        views.append(seen.on_lanes(kind))
        kind = seen.kind
    given = value.kind if isinstance(value, Slot) else None
    if given is not None and (given.dtype.kind, kind.dtype.kind) not in _SAFE:
        return None
    if (
        given is not None
        and given.shape is None
        and kind.dtype.kind in "iu"
        and not np.can_cast(given.dtype, kind.dtype)
    ):
        return None  # a number may be too large for it, or none at all, which raises
    assign = _assignment(key, value, kind)

    def run(*values: Any, own: bool = False) -> Any:
        n = next(len(values[slot.at]) for slot in called.slots if slot.lane)
        column = values[base.at]
        if not base.lane:
            column = np.broadcast_to(column, (n, *base.shape))
        if not own or not column.flags.c_contiguous:
            column = np.array(column, order="C")
        view = column
        for step in views:
            view = step(view)
        if views and not np.may_share_memory(view, column):
            raise NoRule
        assign(view, values, n)
        return column

    return run


_SAFE = {(a, b) for a, b in ("bb", "bi", "bu", "bf", "bc", "ii", "iu", "if", "ic", "uu", "ui", "uf", "uc", "ff", "fc",
                             "cc", "mm", "MM", "fi")}  # fmt: skip
"""Kinds of dtypes that are assigned to others without a warning."""


def _assignment(key: Any, value: Any, kind: Kind) -> Callable[[Column, Any, int], None]:
    """What writes `value` for every lane into columns of this kind."""
    size = value.ndim if isinstance(value, Slot) else np.ndim(value)
    ndim = len(kind.lane_shape)

    def given(values: Any) -> Any:
        return values[value.at] if isinstance(value, Slot) else value

    if isinstance(key, Slot) and key.kind.dtype.kind == "b" and key.ndim:
        if size or not key.lane:
            raise NoRule

        def mask(view: Column, values: Any, n: int) -> None:
            put_in = np.asarray(given(values), kind.dtype)
            put_in = put_in.reshape(n, *(1,) * ndim) if isinstance(value, Slot) and value.lane else put_in
            picks = values[key.at]
            np.copyto(view, put_in, where=picks.reshape(*picks.shape, *(1,) * (ndim + 1 - picks.ndim)))

        return mask
    spelled = spelled_out(key, ndim)
    target = spelled.advanced + sum(item is None or isinstance(item, slice) for item in spelled.items)
    if size > target:
        raise NoRule
    advanced, front, lane = spelled.advanced, spelled.front, isinstance(value, Slot) and value.lane

    def whole(values: Any, n: int, shape: tuple[int, ...]) -> Any:
        put_in = np.asarray(given(values))
        if lane:
            put_in = put_in.reshape(n, *(1,) * (target - size), *put_in.shape[1:])
        return np.broadcast_to(put_in, shape)

    if not spelled.lanes:

        def plain(view: Column, values: Any, n: int) -> None:
            at = _plain(spelled, values)
            if advanced and not spelled.together:
                shape = view[at].shape
                lanes_first = (shape[advanced], *shape[:advanced], *shape[advanced + 1 :])
                view[at] = np.moveaxis(whole(values, n, lanes_first), 0, advanced)
            elif lane:
                put_in = values[value.at]
                view[at] = put_in.reshape(n, *(1,) * (target - size), *put_in.shape[1:])
            else:
                view[at] = given(values)

        return plain

    def scatter(view: Column, values: Any, n: int) -> None:
        at = _filled(spelled, values, n)
        shape = view[at].shape
        if advanced and front:
            block, rest = shape[1 : 1 + advanced], shape[1 + advanced :]
            put_in = whole(values, n, (n, *rest[:front], *block, *rest[front:]))
            put_in = np.moveaxis(put_in, range(1 + front, 1 + front + advanced), range(1, 1 + advanced))
        else:
            put_in = whole(values, n, shape)
        view[at] = put_in

    return scatter


row(Put, put)


# ---- the same, by functions


@named
def take(call: Named) -> Run:
    """The rule of `np.take`."""
    x, index, axis = call.any("a"), call.any("indices"), call.constant("axis")
    call.rest()
    if not isinstance(x, Slot):
        raise NoRule
    if not has_slots(index) and x.lane:
        picks = np.asarray(index)
        return along(x, axis, lambda X, last: np.take(X, picks, axis=last))
    if not isinstance(index, Slot) or index.kind.dtype.kind not in "iu" or (axis is not None and axis % x.ndim):
        raise NoRule

    def run(*values: Any) -> Any:
        n = next(len(values[slot.at]) for slot in call.called.slots if slot.lane)
        column = values[x.at] if x.lane else np.broadcast_to(values[x.at], (n, *x.shape))
        column = flat(column) if axis is None else column
        at = values[index.at]
        lanes = np.arange(n).reshape(n, *(1,) * index.ndim)
        return column[lanes, at if index.lane else np.asarray(at)[None]]

    return run


row(np.take, take, "np.take(x, [0, 2], axis=0)", "np.take(x, 3)", "x.take([0, 7])", "np.take(v, k)", "np.take(x, k)",
    "np.take(x, [1, 0], axis=-1)", "np.take(x, i)")  # fmt: skip


@named
def take_along_axis(call: Named) -> Run:
    """The rule of `np.take_along_axis`."""
    x, index, axis = call.lane("arr"), call.lane("indices"), call.constant("axis", -1)
    call.rest()
    if axis is None or x.ndim != index.ndim:
        raise NoRule
    last = negative(axis, x.ndim)
    return lambda *values: np.take_along_axis(values[x.at], values[index.at], last)


row(np.take_along_axis, take_along_axis, "np.take_along_axis(x, np.argsort(x, axis=1), axis=1)",
    "np.take_along_axis(x, np.argmax(x, axis=0)[None], 0)")  # fmt: skip


def select(called: Called) -> Run | None:
    """Conditions and choices of one shape."""
    (conditions, choices, *default), keywords = called.arguments
    pieces = [*conditions, *choices]
    if keywords or any(not isinstance(p, Slot) or not p.lane for p in pieces) or len({p.shape for p in pieces}) != 1:
        return None
    if default and has_slots(default[0]):
        return None

    def run(*values: Any) -> Any:
        return np.select([values[c.at] for c in conditions], [values[c.at] for c in choices], *default)

    return run


row(np.select, select, "np.select([x > 1, x > 0], [x, y])", "np.select([x > 1], [x * 2], 7.0)")


@named
def compress(call: Named) -> Run:
    """The rule of `np.compress` with a condition that is the same for all lanes."""
    x, condition, axis = call.lane("a"), call.constant("condition"), call.constant("axis")
    call.rest()
    return along(x, axis, lambda X, last: np.compress(condition, X, axis=last))


row(np.compress, compress, "np.compress([True, False, True], x, axis=0)", "np.compress([0, 1, 1], v)")


@named
def delete(call: Named) -> Run:
    """The rule of `np.delete` with positions that are the same for all lanes."""
    x, what, axis = call.lane("arr"), call.constant("obj"), call.constant("axis")
    call.rest()
    return along(x, axis, lambda X, last: np.delete(X, what, axis=last))


row(np.delete, delete, "np.delete(x, 1, axis=0)", "np.delete(v, [0, 2])", "np.delete(x, slice(0, 2), axis=1)")


def choose(called: Called) -> Run | None:
    """The rule of `np.choose` among arrays of the index's shape."""
    (index, choices), keywords = called.arguments
    if keywords or not isinstance(index, Slot) or not index.lane or not isinstance(choices, list | tuple):
        return None
    if any(not isinstance(c, Slot) or c.shape != index.shape for c in choices):
        return None
    return lambda *values: np.choose(values[index.at], [values[c.at] for c in choices])


row(np.choose, choose, "np.choose((v > 0).astype(int), [v, -v])")
