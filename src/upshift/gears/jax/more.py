"""JAX functions made of others: averages, quadrature, interpolation, creation, missing numbers."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...rules.slopes import ROUND
from . import arithmetic as do
from .call import JaxCall, Row, axes_of, known, value_of
from .reductions import summed
from .shaping import diff
from .value import FLOAT, Traced, Value, Work, refuse


def placed(*names: str) -> Row:
    """A function that only moves the numbers of one array: NumPy tells where each of them comes from."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound(*names)
        a = value_of(work, given[names[0]])
        rest = {name: known(value, name) for name, value in given.items() if name != names[0]}
        places = np.arange(a.x.size).reshape(a.shape)
        places = call.fn(places, **rest)
        return work.moved(jnp.ravel(a.x)[places], a)

    return row


def compress(work: Work, call: JaxCall) -> Value:
    """`np.compress` with a condition that is the same for all lanes."""
    given = call.bound("condition", "a", "axis")
    a = value_of(work, given["a"])
    places = np.arange(a.x.size).reshape(a.shape)
    picked = np.compress(known(given["condition"], "a condition"), places, axis=known(given.get("axis"), "an axis"))
    return work.moved(jnp.ravel(a.x)[picked], a)


def reshape(work: Work, call: JaxCall) -> Value:
    """`np.reshape` in C's or Fortran's order."""
    given = call.bound("a", "shape", "newshape", "order")
    a, order = value_of(work, given["a"]), given.get("order", "C")
    if order not in ("C", "F"):
        raise refuse(f"{call.name} in the order of memory")
    return work.moved(jnp.reshape(a.x, call.kind.lane_shape, order=order), a)


def at_least(fn: Callable[..., Traced]) -> Row:
    """The row of `np.atleast_1d` and its relatives."""

    def row(work: Work, call: JaxCall) -> Value:
        (arg,) = call.args
        a = value_of(work, arg)
        return work.moved(fn(a.x), a)

    return row


def unstack(work: Work, call: JaxCall) -> Value:
    """`np.unstack`: the parts along an axis."""
    given = call.bound("x", "axis")
    a, axis = value_of(work, given["x"]), int(known(given.get("axis", 0), "an axis"))
    made = [lax.index_in_dim(a.x, i, axis % a.ndim, keepdims=False) for i in range(a.shape[axis])]
    return Value(None, parts=tuple(work.moved(x, a) for x in made))


# ---- sums of other things


def average(work: Work, call: JaxCall) -> Value:
    """`np.average`, with weights of the array's shape or without."""
    given = call.bound("a", "axis", "weights", "keepdims")
    a = value_of(work, given["a"], call.kind.dtype)
    axes, keepdims = axes_of(given.get("axis"), a.ndim), bool(given.get("keepdims", False))
    if "weights" not in given:
        count = float(np.prod([a.shape[axis] for axis in axes]))
        return do.divide(work, summed(work, a, axes, keepdims), do.from_constant(work, count, a.dtype))
    weights = value_of(work, given["weights"], call.kind.dtype)
    if weights.shape != a.shape:
        raise refuse("weights of another shape")
    made = summed(work, do.multiply(work, a, weights), axes, keepdims)
    return do.divide(work, made, summed(work, weights, axes, keepdims))


def trapezoid(work: Work, call: JaxCall) -> Value:
    """`np.trapezoid` with a constant distance."""
    given = call.bound("y", "dx", "axis")
    y = value_of(work, given["y"])
    if y.dtype != call.kind.dtype:
        raise refuse(f"trapezoid of {y.dtype.name}")
    axis = int(known(given.get("axis", -1), "an axis")) % y.ndim
    size = y.shape[axis]
    after = work.moved(lax.slice_in_dim(y.x, 1, size, axis=axis), y)
    before = work.moved(lax.slice_in_dim(y.x, 0, size - 1, axis=axis), y)
    step = value_of(work, given.get("dx", 1.0), y.dtype)
    both = do.multiply(work, step, do.add(work, after, before))
    return summed(work, do.divide(work, both, do.from_constant(work, 2.0, y.dtype)), (axis,))


def without_nan(fill: float | None, fn: Callable[..., Traced] | None = None) -> Row:
    """`nansum`, `nanmean` (no fill), `nanmax` and `nanmin` (a function)."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound("a", "axis", "keepdims")
        a = value_of(work, given["a"])
        if a.dtype.kind != "f":
            raise refuse(f"{call.name} of {a.dtype.name}")
        axes, keepdims = axes_of(given.get("axis"), a.ndim), bool(given.get("keepdims", False))
        there = ~jnp.isnan(a.x)
        filled = do.pick(work, there, a, do.from_constant(work, fill or 0.0, a.dtype))
        if fn is None and fill is not None:
            return summed(work, filled, axes, keepdims)
        work.odd(~jnp.any(there, axis=axes))  # of nothing: NumPy warns
        if fn is not None:
            return work.moved(fn(filled.x, axis=axes, keepdims=keepdims), a)
        count = Value(jnp.sum(there, axis=axes, keepdims=keepdims).astype(a.dtype), nonneg=True)
        return do.divide(work, summed(work, filled, axes, keepdims), count)

    return row


# ---- between and beside


def interp(work: Work, call: JaxCall) -> Value:
    """`np.interp` of exact numbers; lanes whose table does not ascend are left."""
    given = call.bound("x", "xp", "fp")
    x, xp, fp = (value_of(work, given[name], FLOAT) for name in ("x", "xp", "fp"))
    if not (x.sharp and xp.sharp and fp.sharp):
        raise refuse("interpolation of what may be off in its last bits")
    work.decide_on(x, xp)
    work.odd(~(xp.x[1:] > xp.x[:-1]))
    made = jnp.interp(x.x, xp.x, fp.x)
    return work.made(made, x, xp, fp, relative=ROUND[8], absolute=16 * ROUND[8] * fp.most() if work.careful else None)


def digitize(work: Work, call: JaxCall) -> Value:
    """`np.digitize` of exact numbers; lanes whose bins do not ascend are left."""
    given = call.bound("x", "bins", "right")
    x, bins = value_of(work, given["x"], FLOAT), value_of(work, given["bins"], FLOAT)
    if not (x.sharp and bins.sharp):
        raise refuse("bins of what may be off in its last bits")
    work.decide_on(x, bins)
    work.odd(~(bins.x[1:] >= bins.x[:-1]))
    work.odd(jnp.isnan(x.x))
    side = "left" if known(given.get("right", False), "a side") else "right"
    return Value(jnp.searchsorted(bins.x, x.x, side=side).astype(call.kind.dtype))


def linspace(work: Work, call: JaxCall) -> Value:
    """`np.linspace` between two floats."""
    given = call.bound("start", "stop", "num", "endpoint")
    start, stop = (value_of(work, given[name], call.kind.dtype) for name in ("start", "stop"))
    num, ends = int(known(given.get("num", 50), "num")), bool(known(given.get("endpoint", True), "endpoint"))
    if start.ndim or stop.ndim or num < 2 or start.dtype.kind != "f":
        raise refuse("linspace with these arguments")
    steps = Value(jnp.arange(num).astype(start.dtype), nonneg=True)
    count = do.from_constant(work, float(num - 1 if ends else num), start.dtype)
    step = do.divide(work, do.subtract(work, stop, start), count)
    made = do.add(work, do.multiply(work, steps, step), start)
    x = made.x.at[-1].set(stop.x) if ends else made.x
    off = 4 * ROUND[start.bytes] * (start.most() + stop.most()) + made.off() if work.careful else None
    return work.made(x, made, relative=made.relative, absolute=off)


def heaviside(work: Work, a: Value, b: Value) -> Value:
    """`np.heaviside`."""
    zero = do.zero_of(work, a)
    below = do.compare(work, "less", a, zero)
    at = do.compare(work, "equal", a, zero)
    one = jnp.where(jnp.isnan(a.x), a.x, jnp.where(below.x, jnp.zeros_like(a.x), jnp.ones_like(a.x)))
    return work.moved(jnp.where(at.x, b.x, one), b)


def singular_values(work: Work, call: JaxCall) -> Value:
    """The singular values of a matrix; singular vectors have free signs and are refused."""
    given = call.bound("a", "x", "compute_uv", "full_matrices")
    if call.several or given.get("compute_uv") is True:
        raise refuse("singular vectors, whose signs are free")
    a = value_of(work, given.get("a", given.get("x")), call.kind.dtype)
    if not a.sharp or a.ndim != 2:
        raise refuse("linear algebra of what is no exact matrix")
    x = jnp.linalg.svd(a.x, compute_uv=False)
    off = 16 * max(a.shape) ** 1.5 * ROUND[a.bytes] * a.most() if work.careful else None
    return work.made(x, a, relative=ROUND[a.bytes], absolute=off, nonneg=True)


def differences(work: Work, call: JaxCall) -> Value:
    """`np.ediff1d`."""
    given = call.bound("ary")
    a = value_of(work, given["ary"])
    flat = work.moved(jnp.ravel(a.x), a)
    return diff(work, JaxCall(np.diff, (flat,), {}, call.makes))
