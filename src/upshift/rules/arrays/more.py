"""Creation with lane-valued arguments, sets, selections whose size is the data's, polynomials, other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...columns.kinds import Column
from .call import Called, Named, NoRule, Run, Slot, by_rows, flat, has_slots, named, never, over, over_two, row

# ---- creation


@named
def full(call: Named) -> Run:
    """The rule of `np.full` with a number that differs from lane to lane."""
    shape, fill, kind = call.constant("shape"), call.lane("fill_value"), call.called.kind
    call.rest("dtype")
    if fill.ndim or kind is None or has_slots(shape):
        raise NoRule
    dtype, sizes = kind.dtype, kind.lane_shape
    ones = (1,) * len(sizes)
    return over(fill, lambda X: np.broadcast_to(X.astype(dtype).reshape(len(X), *ones), (len(X), *sizes)))


row(
    np.full, full, "np.full(3, s)", "np.full((2, 2), s) + m[:2, :2]", "np.full(2, i)", "np.full(2, s, dtype=np.float32)"
)


@named
def linspace(call: Named) -> Run:
    """The rule of `np.linspace` between numbers that differ from lane to lane."""
    start, stop = call.any("start"), call.any("stop")
    rest = call.rest("num", "endpoint", "dtype")
    if any(isinstance(edge, Slot) and edge.ndim for edge in (start, stop)) or rest.get("num", 50) == 0:
        raise NoRule

    def edge(slot: Any, values: Any) -> Any:
        return values[slot.at] if isinstance(slot, Slot) else slot

    return lambda *values: np.linspace(edge(start, values), edge(stop, values), axis=-1, **rest)


row(np.linspace, linspace, "np.linspace(0, s, 5)", "np.linspace(s, 2.0, 4, endpoint=False)", "np.linspace(s, s + 1)",
    close=True)  # fmt: skip


@named
def vander(call: Named) -> Run:
    """The rule of `np.vander`."""
    x, count = call.lane("x"), call.constant("N")
    increasing = call.constant("increasing", False)
    call.rest()
    columns = x.shape[0] if count is None else count

    def run(X: Column) -> Column:
        out = np.empty((*X.shape, columns), np.promote_types(X.dtype, int))
        powers = out if increasing else out[..., ::-1]
        if columns > 0:
            powers[..., 0] = 1
        if columns > 1:
            powers[..., 1:] = X[..., None]
            np.multiply.accumulate(powers[..., 1:], out=powers[..., 1:], axis=-1)
        return out

    return over(x, run)


row(np.vander, vander, "np.vander(v)", "np.vander(v, 3, increasing=True)")


@named
def resize(call: Named) -> Run:
    """The rule of `np.resize`: the numbers again and again until the shape is full."""
    x, kind = call.lane("a"), call.called.kind
    call.constant("new_shape")
    call.rest()
    if kind is None or not x.shape or 0 in x.shape:
        raise NoRule
    shape, size = kind.lane_shape, int(np.prod(kind.lane_shape))
    return over(x, lambda X: np.tile(flat(X), (1, -(-size // flat(X).shape[1])))[:, :size].reshape(len(X), *shape))


row(np.resize, resize, "np.resize(v, (2, 5))", "np.resize(x, 3)")


@named
def insert(call: Named) -> Run:
    """The rule of `np.insert` of one number into a vector, at a place that is the same for all lanes."""
    x, at, value, axis = call.lane("arr"), call.constant("obj"), call.any("values"), call.constant("axis")
    call.rest()
    if (axis is None and x.ndim != 1) or not isinstance(at, int) or not isinstance(value, Slot) or value.ndim:
        raise NoRule
    if axis not in (None, 0, -1) or x.ndim != 1:
        raise NoRule
    at = at + x.shape[0] if at < 0 else at

    def run(*values: Any) -> Any:
        X, new = values[x.at], np.asarray(values[value.at])
        new = np.broadcast_to(new.reshape(-1, 1), (len(X), 1)).astype(X.dtype)
        return np.concatenate([X[:, :at], new, X[:, at:]], axis=1)

    return run


row(np.insert, insert, "np.insert(v, 2, s)", "np.insert(v, -1, s)")


def meshgrid(called: Called) -> Run | None:
    """The rule of `np.meshgrid` of vectors."""
    args, keywords = called.arguments
    if set(keywords) - {"indexing"} or any(not isinstance(a, Slot) or a.ndim != 1 for a in args):
        return None
    xy = keywords.get("indexing", "xy") == "xy"
    shape = [a.shape[0] for a in args]
    axes = list(range(len(args)))
    if xy and len(args) > 1:
        axes[0], axes[1] = 1, 0
    sizes = [0] * len(args)
    for axis, size in zip(axes, shape, strict=True):
        sizes[axis] = size

    def run(*values: Any) -> Any:
        n = next(len(values[a.at]) for a in args if a.lane)
        made = []
        for a, axis in zip(args, axes, strict=True):
            ones = [1] * len(args)
            ones[axis] = a.shape[0]
            made.append(np.broadcast_to(np.asarray(values[a.at]).reshape(n if a.lane else 1, *ones), (n, *sizes)))
        return tuple(made)

    return run


row(np.meshgrid, meshgrid, "np.meshgrid(v, v)[0] + 0", "np.meshgrid(v, np.arange(3.0), indexing='ij')[1] * s")


# ---- sizes that the data decide: lanes of one size go together


def nonzero(called: Called) -> Run | None:
    """Every lane has as many, which a guard has seen to."""
    (x,), keywords = called.arguments
    if keywords or not isinstance(x, Slot) or not x.lane or not x.ndim:
        return None

    def run(X: Column) -> Any:
        found = np.nonzero(X)
        count = len(found[0]) // len(X)
        return tuple(axis.reshape(len(X), count) for axis in found[1:])

    return over(x, run)


row(np.nonzero, nonzero, "np.nonzero(x > 0)", "(v > 0).nonzero()[0]")
row(np.flatnonzero, lambda called: over(called.slots[0], lambda X: np.nonzero(flat(X))[1].reshape(len(X), -1)),
    "np.flatnonzero(x > 0)", "np.flatnonzero(v > 9)")  # fmt: skip
row(np.argwhere, lambda called: over(called.slots[0], lambda X: np.argwhere(X)[:, 1:].reshape(
    len(X), -1, called.slots[0].ndim)), "np.argwhere(x > 0)", "np.argwhere(v > 0)")  # fmt: skip


@named
def extract(call: Named) -> Run:
    """The rule of `np.extract`, for lanes that take the same number of elements."""
    condition, x = call.lane("condition"), call.lane("arr")
    call.rest()
    return over_two(condition, x, lambda C, X: flat(X)[flat(C).astype(bool)].reshape(len(X), -1))


row(np.extract, extract, "np.extract(x > 0, x)")


def distinct(x: Any) -> int:
    """How many different numbers there are."""
    return int(np.unique(x).size)


def _firsts(rows: Column) -> Column:
    """Where sorted rows change; NaN counts as one number."""
    changes = np.ones(rows.shape, bool)
    changes[:, 1:] = rows[:, 1:] != rows[:, :-1]
    if rows.dtype.kind in "fcmM":
        nan = np.isnan(rows)
        changes[:, 1:] &= ~(nan[:, 1:] & nan[:, :-1])
    return changes


def _distinct(called: Called) -> Run:
    return over(called.slots[0], lambda X: _firsts(np.sort(flat(X), axis=-1)).sum(axis=-1))


row(distinct, _distinct)


def unique(called: Called) -> Run | None:
    """The rule of `np.unique`, for lanes with the same number of different values."""
    args, keywords = called.arguments
    if len(args) != 1 or keywords or not isinstance(args[0], Slot) or not args[0].lane:
        return None

    def run(X: Column) -> Any:
        rows = np.sort(flat(X), axis=-1)
        return rows[_firsts(rows)].reshape(len(X), -1)

    return over(args[0], run)


row(np.unique, unique, "np.unique(k)", "np.unique(q)", "np.unique(k, return_counts=True)", "np.unique(k).size")
if hasattr(np, "unique_values"):
    row(np.unique_values, never, "np.unique_values(k)")
row(np.union1d, never, "np.union1d(k, j)")
row(np.intersect1d, never, "np.intersect1d(k, j)")
row(np.setdiff1d, never, "np.setdiff1d(k, j)")
row(np.setxor1d, never, "np.setxor1d(k, j)")
row(np.trim_zeros, never, "np.trim_zeros(k)")


# ---- polynomials, products and linear algebra by other names


for _name, _calls in {
    "polyfit": ("(np.arange(6.0), v, 2)",), "polyadd": ("(v, [1.0, 2.0])",), "polysub": ("(v, [1.0])",),
    "polymul": ("(v, [1.0, 2.0])",), "polyder": ("(v)",), "polyint": ("(v)",), "lexsort": ("((v, k))",),
    "array_equiv": ("(x, y)",), "block": ("([[m, m], [m, m]])",), "histogram_bin_edges": ("(v, bins=4)",),
    "ravel_multi_index": ("((k, j), (5, 3))",), "unravel_index": ("(k, (2, 3))[0]",), "diagflat": ("(v)",),
}.items():  # fmt: skip
    row(getattr(np, _name), by_rows, *(f"np.{_name}{call}" for call in _calls))
for _name, _calls in {
    "eig": ("(m + m.T)[0]",), "eigvals": ("(m + m.T)",), "lstsq": ("(x, x[:, 0])[0]",), "tensorinv": ("(m, ind=1)",),
}.items():  # fmt: skip
    row(getattr(np.linalg, _name), by_rows, *(f"np.linalg.{_name}{call}" for call in _calls))
row(np.linalg.multi_dot, by_rows, "np.linalg.multi_dot([m, m, m])")


def _by_signature(called: Called) -> Run | None:
    """Generalised ufuncs take lanes in front by themselves."""
    args, keywords = called.arguments
    if keywords or any(not isinstance(a, Slot) for a in args):
        return None
    core = [part.count(",") + 1 for part in called.fn.signature.split("->")[0].strip("()").split("),(")]  # type: ignore[attr-defined]
    if any(slot.ndim != size for slot, size in zip(args, core, strict=True)):
        return None
    return called.fn


for _name, _call in (("vecdot", "(v, v)"), ("matvec", "(m, m[0])"), ("vecmat", "(m[0], m)")):
    if hasattr(np, _name):
        row(getattr(np, _name), _by_signature, f"np.{_name}{_call}", close=True)
for _name in ("cross", "outer", "matmul", "vecdot", "vector_norm", "matrix_norm", "tensordot"):
    _fn: Callable[..., Any] | None = getattr(np.linalg, _name, None)
    if _fn is not None:
        _call = {"cross": "(m, m[::-1])", "outer": "(v, v)", "matmul": "(m, m)", "vecdot": "(v, v)",
                 "vector_norm": "(v)", "matrix_norm": "(m)", "tensordot": "(m, m)"}[_name]  # fmt: skip
        row(_fn, by_rows, f"np.linalg.{_name}{_call}")
