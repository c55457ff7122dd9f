"""Functions that put elements of arrays in order, count them, or look them up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...columns.kinds import Column
from .call import Named, NoRule, Run, Slot, along, by_rows, flat, has_slots, named, negative, over, over_two, row


@named
def sorting(call: Named) -> Run:
    """The rule of `np.sort`, `np.argsort` and others that take an axis."""
    fn, x = call.called.fn, call.lane("a")
    axis, rest = call.constant("axis", -1), call.rest("kind", "stable", "kth")
    if axis is None:
        return over(x, lambda X: fn(flat(X), axis=-1, **rest))
    last = negative(axis, x.ndim)
    return over(x, lambda X: fn(X, axis=last, **rest))


row(
    np.sort,
    sorting,
    "np.sort(x)",
    "np.sort(x, axis=0)",
    "np.sort(x, axis=None)",
    "np.sort(v, kind='stable')",
    "np.sort(q)",
)
row(np.argsort, sorting, "np.argsort(x)", "np.argsort(x, axis=0)", "v.argsort()", "np.argsort(k, kind='stable')")


@named
def partition(call: Named) -> Run:
    """The rule of `np.partition` and `np.argpartition`."""
    fn, x, kth, axis = call.called.fn, call.lane("a"), call.constant("kth"), call.constant("axis", -1)
    call.rest()
    return along(x, axis, lambda X, last: fn(X, kth, axis=last))


row(np.partition, partition, "np.partition(v, 2)", "np.partition(x, 1, axis=0)")
row(np.argpartition, partition, "np.argpartition(v, 2)", "np.argpartition(x, 1, axis=0)")


@named
def searchsorted(call: Named) -> Run:
    """In a table that is the same for all lanes. A table of every lane's own is sought by counting."""
    table, x = call.any("a"), call.any("v")
    side = call.constant("side", "left")
    if call.constant("sorter") is not None:
        raise NoRule
    call.rest()
    if isinstance(x, Slot) and x.lane and not (isinstance(table, Slot) and table.lane):
        known = table if not isinstance(table, Slot) else None
        if known is not None and has_slots(known):
            raise NoRule
        return lambda *values: np.searchsorted(values[table.at] if known is None else known, values[x.at], side=side)
    raise NoRule


row(np.searchsorted, searchsorted, "np.searchsorted(np.arange(-2.0, 2.0, 0.5), x)", "np.searchsorted([0.0, 1.0], s)",
    "np.searchsorted([-1, 0, 1], v, side='right')", "np.searchsorted(np.sort(v), s)")  # fmt: skip


@named
def digitize(call: Named) -> Run:
    """The rule of `np.digitize` with bins that are the same for all lanes."""
    x, bins = call.lane("x"), call.any("bins")
    right = call.constant("right", False)
    call.rest()
    if isinstance(bins, Slot):
        if bins.lane:
            raise NoRule
        return over_two(x, bins, lambda X, B: np.digitize(X, B, right=right))
    if has_slots(bins):
        raise NoRule
    return over(x, lambda X: np.digitize(X, bins, right=right))


row(np.digitize, digitize, "np.digitize(x, [-1.0, 0.0, 1.0])", "np.digitize(v, np.linspace(-1, 1, 5), right=True)")


def count_rows(index: Column, width: int, weights: Column | None = None) -> Column:
    """How often every number below `width` is in each row."""
    n = len(index)
    lanes = np.arange(n)[:, None] * width
    counts = np.bincount((index + lanes).ravel(), None if weights is None else weights.ravel(), minlength=n * width)
    return counts.reshape(n, width)


@named
def bincount(call: Named) -> Run:
    """The rule of `np.bincount`, for lanes whose result has the same length."""
    x, weights, least = call.lane("x"), call.any("weights"), call.constant("minlength", 0)
    call.rest()
    kind = call.called.kind
    if kind is None or (weights is not None and not (isinstance(weights, Slot) and weights.lane)):
        raise NoRule
    width = kind.lane_shape[0]

    def run(*values: Any) -> Any:
        index = values[x.at].astype(np.int64, copy=False)
        if index.size and (
            index.min() < 0 or index.max() >= width or (width > least and index.max(axis=1).min() + 1 < width)
        ):
            return None  # lanes with more or fewer bins
        return count_rows(index, width, None if weights is None else values[weights.at])

    return run


row(np.bincount, bincount, "np.bincount(k, minlength=9)", "np.bincount(k, weights=v, minlength=9)", "np.bincount(k)")


row(np.histogram, by_rows, "np.histogram(x, bins=4, range=(-1, 1))", "np.histogram(x, 8, (0.0, 1.0))[0]",
    "np.histogram(v, bins=3)",
    "np.histogram(k, bins=5, range=(0, 5))[0]", "np.histogram(x, bins=[-1.0, 0.0, 2.0])[0]")  # fmt: skip


@named
def isin(call: Named) -> Run:
    """The rule of `np.isin` in a table that is the same for all lanes."""
    x, table = call.lane("element"), call.any("test_elements")
    rest = call.rest("invert", "assume_unique", "kind")
    if isinstance(table, Slot):
        if table.lane:
            raise NoRule
        return over_two(x, table, lambda X, T: np.isin(X, T, **rest))
    if has_slots(table):
        raise NoRule
    return over(x, lambda X: np.isin(X, table, **rest))


row(np.isin, isin, "np.isin(k, [1, 3])", "np.isin(k, [2], invert=True)")


@named
def diff(call: Named) -> Run:
    """The rule of `np.diff`."""
    x, times, axis = call.lane("a"), call.constant("n", 1), call.constant("axis", -1)
    call.rest()
    return over(x, lambda X: np.diff(X, times, axis=negative(axis, x.ndim)))


row(np.diff, diff, "np.diff(v)", "np.diff(x, axis=0)", "np.diff(x, n=2)", "np.diff(k)", "np.diff(x > 0)")


@named
def ediff1d(call: Named) -> Run:
    """The rule of `np.ediff1d`."""
    x = call.lane("ary")
    call.rest()
    return over(x, lambda X: flat(X)[:, 1:] - flat(X)[:, :-1])


row(np.ediff1d, ediff1d, "np.ediff1d(v)", "np.ediff1d(x)")


@named
def packing(call: Named) -> Run:
    """The rule of `np.packbits` and `np.unpackbits`."""
    x, axis = call.lane("a"), call.constant("axis")
    fn, rest = call.called.fn, call.rest("bitorder", "count")
    return along(x, axis, lambda X, last: fn(X, axis=last, **rest))


row(np.packbits, packing, "np.packbits(x > 0)", "np.packbits(x > 0, axis=1)", "np.packbits(b, bitorder='little')")
row(np.unpackbits, packing, "np.unpackbits(np.packbits(x > 0))", "np.unpackbits(k.astype(np.uint8))")
