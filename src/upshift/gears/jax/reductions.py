"""Reductions and running sums in JAX, with error bounds.

Sums are added up in another order than the loop's. On double floats the bound holds whatever is added up; on single
floats, where the law leaves little room, it is what roundings amount to unless they conspire.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...rules.slopes import ROUND
from . import arithmetic as do
from .call import JaxCall, Row, axes_of, known, value_of
from .value import FLOAT, Traced, Value, Work, larger_of, refuse


def depth(n: int, bytes: int, pairwise: bool) -> float:
    """How many roundings a number goes through while `n` are added up, by us or by the loop."""
    if bytes == 4:
        return min(n, 20) if pairwise else n
    return min(n, 64 + math.sqrt(n)) if pairwise else min(n, 1024 + 8 * math.sqrt(n))


def spread(n: int, bytes: int) -> float:
    """How much larger the error of a sum is than that of what is added up."""
    return min(n, 4 * math.sqrt(n)) if bytes == 4 else n


def _sizes(x: Value, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def summed(work: Work, a: Value, axes: tuple[int, ...], keepdims: bool = False) -> Value:
    """The sum along axes."""
    x = jnp.sum(a.x, axis=axes, keepdims=keepdims, dtype=a.dtype)
    if a.dtype.kind not in "fc" or not work.careful:
        return work.made(x, a)
    n = max(_sizes(a, axes), 1)
    pairwise = len(axes) == a.ndim or a.ndim - 1 in axes
    own = depth(n, a.bytes, pairwise) * ROUND[a.bytes]
    if n == 1:
        return work.moved(x, a)
    if a.nonneg:
        absolute = None if a.absolute is None else n * a.absolute
        return work.made(x, a, relative=a.relative + own, absolute=absolute, nonneg=True)
    rounding = own * (n if a.bytes == 8 else math.sqrt(n)) * a.most()
    return work.made(x, a, relative=own, absolute=rounding + spread(n, a.bytes) * a.off())


def _asked(call: JaxCall, *names: str) -> dict[str, Any]:
    return call.bound("a", "x", "axis", "keepdims", *names)


def _operand(work: Work, given: dict[str, Any], dtype: np.dtype[Any] | None = None) -> Value:
    return value_of(work, given["a"] if "a" in given else given["x"], dtype)


def sum_(work: Work, call: JaxCall) -> Value:
    """`np.sum`."""
    given = _asked(call, "dtype")
    a = _operand(work, given, call.kind.dtype)
    return summed(work, a, axes_of(given.get("axis"), a.ndim), bool(given.get("keepdims", False)))


def mean(work: Work, call: JaxCall) -> Value:
    """`np.mean`."""
    given = _asked(call, "dtype")
    a = _operand(work, given, call.kind.dtype)
    return _mean(work, a, axes_of(given.get("axis"), a.ndim), bool(given.get("keepdims", False)))


def _mean(work: Work, a: Value, axes: tuple[int, ...], keepdims: bool, less: float = 0) -> Value:
    count = _sizes(a, axes) - less
    if count <= 0 or a.dtype.kind not in "fc":
        raise refuse("the mean of nothing, or of ints as ints")
    made = summed(work, a, axes, keepdims)
    real = np.dtype(np.float64 if a.bytes == 8 else np.float32)
    return do.divide(work, made, do.cast(work, do.from_constant(work, float(count), real), a.dtype))


def var(work: Work, call: JaxCall) -> Value:
    """`np.var`: the mean of squared distances from the mean."""
    given = _asked(call, "dtype", "ddof", "correction")
    a = _operand(work, given, call.kind.dtype)
    if a.dtype.kind != "f":
        raise refuse("the variance of complex numbers")
    axes = axes_of(given.get("axis"), a.ndim)
    middle = _mean(work, a, axes, True)
    centred = do.subtract(work, a, middle)
    less = known(given.get("ddof") or given.get("correction") or 0, "ddof")
    keepdims = bool(given.get("keepdims", False))
    if not work.careful or not a.sharp:
        return _mean(work, do.multiply(work, centred, centred), axes, keepdims, less)
    # What the mean is off by is squared: to first order, differences from the mean cancel.
    plain = work.made(centred.x, a, relative=ROUND[a.bytes])
    made = _mean(work, do.multiply(work, plain, plain), axes, keepdims, less)
    return work.made(made.x, made, relative=made.relative, absolute=2 * jnp.square(middle.off()), nonneg=True)


def std(work: Work, call: JaxCall) -> Value:
    """`np.std`: the root of the variance."""
    return do.sqrt(work, var(work, call))


def prod(work: Work, call: JaxCall) -> Value:
    """`np.prod`."""
    given = _asked(call, "dtype")
    a = _operand(work, given, call.kind.dtype)
    axes = axes_of(given.get("axis"), a.ndim)
    x = jnp.prod(a.x, axis=axes, keepdims=bool(given.get("keepdims", False)), dtype=a.dtype)
    if a.dtype.kind not in "fc" or not work.careful:
        return work.made(x, a)
    if a.absolute is not None:
        raise refuse("a product of what may be off in its last bits")
    n = _sizes(a, axes)
    return work.made(x, a, relative=1.01 * n * (a.relative + 4 * ROUND[a.bytes]), nonneg=a.nonneg)


def extreme(fn: Callable[..., Traced]) -> Row:
    """The row of `np.max` or `np.min`."""

    def row(work: Work, call: JaxCall) -> Value:
        given = _asked(call)
        a = _operand(work, given)
        if a.dtype.kind == "c":
            raise refuse("the order of complex numbers")
        x = fn(a.x, axis=axes_of(given.get("axis"), a.ndim), keepdims=bool(given.get("keepdims", False)))
        return work.moved(x, a)

    return row


def ptp(work: Work, call: JaxCall) -> Value:
    """`np.ptp`: the distance of the largest number from the smallest."""
    return do.subtract(work, extreme(jnp.max)(work, call), extreme(jnp.min)(work, call))


def truths(fn: Callable[..., Traced]) -> Row:
    """`any` and `all`."""

    def row(work: Work, call: JaxCall) -> Value:
        given = _asked(call)
        a = do.truth(work, _operand(work, given))
        return Value(fn(a.x, axis=axes_of(given.get("axis"), a.ndim), keepdims=bool(given.get("keepdims", False))))

    return row


def count_nonzero(work: Work, call: JaxCall) -> Value:
    """`np.count_nonzero`."""
    given = _asked(call)
    a = do.truth(work, _operand(work, given))
    axes = axes_of(given.get("axis"), a.ndim)
    return Value(jnp.sum(a.x, axis=axes, keepdims=bool(given.get("keepdims", False)), dtype=call.kind.dtype))


def arg_extreme(fn: Callable[..., Traced], best: Callable[..., Traced]) -> Row:
    """`argmax` and `argmin`: where another number is as good within the bound, the lane is odd."""

    def row(work: Work, call: JaxCall) -> Value:
        given = _asked(call)
        a = _operand(work, given)
        axis = known(given.get("axis"), "an axis")
        if a.dtype.kind == "c":
            raise refuse("the order of complex numbers")
        work.decide_on(a)
        if work.careful and not a.sharp:
            gap = jnp.abs(a.x - best(a.x, axis=axis, keepdims=True)).astype(FLOAT)
            rivals = jnp.sum(gap <= 2 * a.off(), axis=axis)
            work.odd(rivals != 1)
        return Value(fn(a.x, axis=axis, keepdims=bool(given.get("keepdims", False))).astype(call.kind.dtype))

    return row


def cumsum(work: Work, call: JaxCall) -> Value:
    """`np.cumsum`."""
    return _running_sum(work, call, jnp.cumsum)


def _running_sum(work: Work, call: JaxCall, fn: Callable[..., Traced]) -> Value:
    given = _asked(call, "dtype")
    a = _operand(work, given, call.kind.dtype)
    axis = known(given.get("axis"), "an axis")
    x = fn(a.x, axis=axis, dtype=a.dtype)
    if a.dtype.kind not in "fc" or not work.careful:
        return work.made(x, a)
    n = max(a.x.size if axis is None else a.shape[axis], 1)
    own = depth(n, a.bytes, pairwise=False) * ROUND[a.bytes]
    if a.nonneg:
        absolute = None if a.absolute is None else n * a.absolute
        return work.made(x, a, relative=a.relative + own, absolute=absolute, nonneg=True)
    return work.made(x, a, relative=own, absolute=n * (own * a.most() + a.off()))


def cumprod(work: Work, call: JaxCall) -> Value:
    """`np.cumprod`."""
    given = _asked(call, "dtype")
    a = _operand(work, given, call.kind.dtype)
    axis = known(given.get("axis"), "an axis")
    x = jnp.cumprod(a.x, axis=axis, dtype=a.dtype)
    if a.dtype.kind not in "fc" or not work.careful:
        return work.made(x, a)
    if a.absolute is not None:
        raise refuse("a product of what may be off in its last bits")
    n = a.x.size if axis is None else a.shape[axis]
    return work.made(x, a, relative=1.01 * n * (a.relative + 4 * ROUND[a.bytes]), nonneg=a.nonneg)


def running_extreme(fn: Callable[..., Traced]) -> Row:
    """The row of `np.maximum.accumulate` or `np.minimum.accumulate`; lanes with NaN are left."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound("array", "axis")
        a = value_of(work, given["array"])
        if not a.ndim or a.dtype.kind == "f":
            work.odd(jnp.isnan(a.x) if a.dtype.kind == "f" else jnp.zeros((), bool))
        return work.moved(fn(a.x, axis=known(given.get("axis", 0), "an axis") % a.ndim), a)

    return row


def _sorted_along(work: Work, given: dict[str, Any]) -> tuple[Value, int, int]:
    """Sorted along one axis (the last, where all are one); the axis, and how many there are."""
    a = _operand(work, given)
    if a.dtype.kind not in "f":
        a = do.cast(work, a, FLOAT)
    axis = known(given.get("axis"), "an axis")
    if isinstance(axis, list | tuple):
        raise refuse("several axes of a quantile")
    x = jnp.ravel(a.x) if axis is None else a.x
    last = x.ndim - 1 if axis is None else int(axis) % x.ndim
    work.odd(jnp.isnan(x))
    return work.moved(jnp.sort(x, axis=last), a), last, x.shape[last]


def _at(work: Work, a: Value, i: int, axis: int) -> Value:
    return work.moved(lax.index_in_dim(a.x, i, axis, keepdims=False), a)


def median(work: Work, call: JaxCall) -> Value:
    """`np.median`: the middle number, or the mean of the middle two."""
    given = call.bound("a", "axis")
    a, axis, n = _sorted_along(work, given)
    if n % 2:
        return _at(work, a, n // 2, axis)
    both = do.add(work, _at(work, a, n // 2 - 1, axis), _at(work, a, n // 2, axis))
    return do.divide(work, both, do.from_constant(work, 2.0, a.dtype))


def quantile(scale: float) -> Row:
    """`quantile` and `percentile` with one number to ask for, between two neighbours."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound("a", "q", "axis")
        asked = known(given["q"], "a quantile")
        if np.ndim(asked):
            raise refuse("several quantiles")
        a, axis, n = _sorted_along(work, given)
        place = (n - 1) * (float(asked) / scale)
        below = min(math.floor(place), n - 1)
        low, high = _at(work, a, below, axis), _at(work, a, min(below + 1, n - 1), axis)
        part = place - below
        step = do.subtract(work, high, low)
        if part < 0.5:
            made = do.add(work, low, do.multiply(work, step, do.from_constant(work, part, a.dtype)))
        else:
            made = do.subtract(work, high, do.multiply(work, step, do.from_constant(work, 1 - part, a.dtype)))
        off = larger_of([made.absolute, 4 * ROUND[a.bytes] * a.most()]) if work.careful else None
        return work.made(made.x, made, relative=made.relative, absolute=off)

    return row
