"""Functions that make less of an axis: sums, means, extremes, quantiles; and running ones, which keep it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...columns.layout import order_of
from .call import (
    ARRAYS,
    Called,
    Named,
    NoRule,
    Run,
    Slot,
    along,
    broadcasting,
    by_rows,
    flat,
    flat_as_it_lies,
    named,
    negative,
    over,
    over_two,
    row,
)

_REST = ("dtype", "ddof", "initial", "method", "interpolation", "correction", "overwrite_input")


def _first(call: Named) -> str:
    return next(iter(call.given))


@named
def reduction(call: Named) -> Run:
    """Over all axes, over some, over one. A whole lane is reduced as one row, in the plain call's own order."""
    fn, x = call.called.fn, call.lane(_first(call))
    axis, keep, where = call.constant("axis"), bool(call.constant("keepdims", False)), call.any("where")
    rest = call.rest(*_REST)
    if where is not None:
        return _masked(call, x, axis, keep, where, rest)
    if axis is None:
        if x.ndim == 1 and not keep:
            return over(x, lambda X: fn(X, axis=-1, **rest))
        rows = flat_as_it_lies if ARRAYS[fn].ordered else flat
        if not keep:
            return over(x, lambda X: fn(rows(X), axis=-1, **rest))
        ones = (1,) * x.ndim
        return over(x, lambda X: fn(rows(X), axis=-1, **rest).reshape(len(X), *ones))
    last = negative(axis, x.ndim)
    if keep:
        return over(x, lambda X: fn(X, axis=last, keepdims=True, **rest))
    return over(x, lambda X: fn(X, axis=last, **rest))


def _masked(call: Named, x: Any, axis: Any, keep: bool, where: Any, rest: dict[str, Any]) -> Run:
    fn = call.called.fn
    last = negative(range(x.ndim) if axis is None else axis, x.ndim)
    if not isinstance(where, Slot) or where.ndim != x.ndim:
        raise NoRule
    return over_two(x, where, lambda X, W: fn(X, axis=last, keepdims=keep, where=W, **rest))


def reductions(names: str, *samples: str, warns: bool = False, ordered: bool = False) -> None:
    """Adds a rule for each of these NumPy functions that make less of an axis; `{}` in a sample is its name."""
    for name in names.split():
        row(getattr(np, name), reduction, *(sample.format(name) for sample in samples), warns=warns, ordered=ordered)


_ALL = ("np.{0}(x)", "np.{0}(x, axis=0)", "np.{0}(x, axis=1)", "np.{0}(x, axis=-1, keepdims=True)",
        "np.{0}(x, keepdims=True)", "np.{0}(c, axis=(0, 2))", "np.{0}(v)", "np.{0}(k)")  # fmt: skip
reductions("sum prod", *_ALL, "x.{0}()", "x.{0}(axis=0)", "np.{0}(f)", "np.{0}(b)", "np.{0}(x, dtype=np.float32)",
           "np.{0}(x, initial=2.0)", "np.{0}(x, where=x > 0)", "np.{0}(x.T)", ordered=True)  # fmt: skip
reductions("mean", *_ALL, "x.{0}()", "np.{0}(f)", "np.{0}(x, where=x > -9)", "np.{0}(f, dtype=np.float64)",
           "x.T.{0}()", ordered=True)  # fmt: skip
reductions("std var", *_ALL, "x.{0}(ddof=1)", "np.{0}(x, axis=0, ddof=1)", "np.{0}(f)", "x.T.{0}()",
           warns=True, ordered=True)  # fmt: skip
reductions("max min", *_ALL, "x.{0}()", "np.{0}(x, initial=0.5)", "np.{0}(x, axis=1, where=x > 0, initial=0)")
reductions("amax amin", "np.{0}(x, axis=0)")
reductions("all any", "np.{0}(x > 0)", "np.{0}(b, axis=0)", "(x > 0).{0}(axis=1)", "np.{0}(x, keepdims=True)")
reductions("ptp count_nonzero", "np.{0}(x)", "np.{0}(x, axis=0)", "np.{0}(k)")
reductions("argmax argmin", "np.{0}(x)", "np.{0}(x, axis=0)", "x.{0}(axis=1)", "np.{0}(x, axis=1, keepdims=True)")
reductions("median", "np.{0}(x)", "np.{0}(x, axis=0)", "np.{0}(c, axis=(0, 1))", "np.{0}(x, keepdims=True)")
row(np.nanmedian, by_rows, "np.nanmedian(q)", "np.nanmedian(q, axis=0)", warns=True)
for _names, _ordered in (("nansum nanprod nanmean nanstd nanvar", True), ("nanmax nanmin", False)):
    reductions(_names, "np.{0}(q)", "np.{0}(q, axis=0)", "np.{0}(q, axis=1, keepdims=True)", "np.{0}(q.T)",
               warns=True, ordered=_ordered)  # fmt: skip
reductions("nanargmax nanargmin", "np.{0}(q)", "np.{0}(q, axis=0)")


@named
def running(call: Named) -> Run:
    """Along one axis, or along the whole lane as one row."""
    fn, x = call.called.fn, call.lane(_first(call))
    axis, rest = call.constant("axis"), call.rest("dtype", "include_initial")
    return along(x, axis, lambda X, last: fn(X, axis=last, **rest))


for _name in "cumsum cumprod nancumsum nancumprod".split():
    row(getattr(np, _name), running, f"np.{_name}(x)", f"np.{_name}(x, axis=0)", f"np.{_name}(v)", f"np.{_name}(f)")
if hasattr(np, "cumulative_sum"):
    for _name in "cumulative_sum cumulative_prod".split():
        row(getattr(np, _name), running, f"np.{_name}(v)", f"np.{_name}(x, axis=1)")


@named
def quantile(call: Named) -> Run:
    """The quantiles of constants come first, before the lanes: they are moved behind."""
    fn, x, q = call.called.fn, call.lane("a"), call.constant("q")
    axis, keep, rest = call.constant("axis"), bool(call.constant("keepdims", False)), call.rest(*_REST)
    ahead = np.ndim(q)

    def run(X: Any) -> Any:
        if axis is None:
            out = fn(flat(X), q, axis=-1, **rest)
            out = out.reshape(*out.shape, *(1,) * x.ndim) if keep else out
        else:
            out = fn(X, q, axis=negative(axis, x.ndim), keepdims=keep, **rest)
        return np.moveaxis(out, ahead, 0) if ahead else out

    return over(x, run)


for _name in "quantile percentile nanquantile nanpercentile".split():
    _q = "0.3" if "quantile" in _name else "30"
    _qs = "[0.25, 0.5]" if "quantile" in _name else "[25, 50]"
    row(getattr(np, _name), quantile, f"np.{_name}(x, {_q})", f"np.{_name}(x, {_qs}, axis=0)",
        f"np.{_name}(x, {_q}, axis=1, keepdims=True)", f"np.{_name}(v, {_qs}, method='lower')", warns=True)  # fmt: skip


@named
def average(call: Named) -> Run:
    """The rule of `np.average`, with weights or without."""
    x, axis, weights = call.lane("a"), call.constant("axis"), call.any("weights")
    call.rest()
    if weights is None:
        return (
            over(x, lambda X: np.average(flat_as_it_lies(X), axis=-1))
            if axis is None
            else over(x, lambda X: np.average(X, axis=negative(axis, x.ndim)))
        )
    if not isinstance(weights, Slot) or weights.shape != x.shape or (not weights.lane and x.ndim > 1):
        raise NoRule
    if not weights.lane:
        return over_two(x, weights, lambda X, W: np.average(X, axis=-1, weights=W))
    if axis is None:
        return over_two(x, weights, _average_of_all)
    return over_two(x, weights, lambda X, W: np.average(X, axis=negative(axis, x.ndim), weights=W))


def _average_of_all(X: Any, W: Any) -> Any:
    if order_of(X.shape, X.strides) != order_of(W.shape, W.strides):
        raise NoRule
    return np.average(flat_as_it_lies(X), axis=-1, weights=flat_as_it_lies(W))


row(np.average, average, "np.average(x)", "np.average(x, axis=0)", "np.average(x, weights=np.abs(y) + 1)",
    "np.average(x, axis=1, weights=np.abs(y) + 1)", "np.average(v, weights=np.arange(1.0, 7.0))", "np.average(x.T)",
    ordered=True)  # fmt: skip


def allclose(called: Called) -> Run:
    """The rule of `np.allclose`."""
    close = broadcasting(called, np.isclose)
    return lambda *values: flat(close(*values)).all(axis=-1)


row(np.allclose, allclose, "np.allclose(x, y)", "np.allclose(x, x)", "np.allclose(x, 0.0, atol=10)")


def array_equal(called: Called) -> Run | None:
    """The rule of `np.array_equal` of arrays of one shape."""
    a, b = called.leaves[:2]
    if len(called.leaves) != 2 or not isinstance(a, Slot) or not isinstance(b, Slot) or a.shape != b.shape:
        return None
    return over_two(a, b, lambda A, B: flat(np.equal(A, B)).all(axis=-1))


row(np.array_equal, array_equal, "np.array_equal(x, y)", "np.array_equal(x, x)")


def ufunc_reduce(called: Called) -> Run | None:
    """`np.add.reduce(x, axis=0)` and its like."""
    args, keywords = called.arguments
    if len(args) > 2 or not set(keywords) <= {"axis", "keepdims", "dtype"} or not isinstance(args[0], Slot):
        return None
    x, axis = args[0], args[1] if len(args) == 2 else keywords.pop("axis", 0)
    if any(isinstance(value, Slot) for value in (axis, *keywords.values())) or not x.lane or not x.ndim:
        return None
    last = tuple(range(-x.ndim, 0)) if axis is None else negative(axis, x.ndim)
    return over(x, lambda X: called.fn(X, axis=last, **keywords))
