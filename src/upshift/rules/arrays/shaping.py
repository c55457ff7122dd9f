"""Functions that move the numbers of an array, and compute nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...columns.kinds import Column
from .call import (
    Called,
    Named,
    NoRule,
    Run,
    Slot,
    along,
    flat,
    is_lane,
    lanes_in,
    named,
    negative,
    over,
    row,
    widened,
)


@named
def reshape(call: Named) -> Run:
    """The rule of `np.reshape` in C's order."""
    x = call.lane("a")
    shape = call.constant("shape", call.constant("newshape"))
    order = call.rest("order", "copy").get("order", "C")
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if order != "C" or call.called.kind is None:
        raise NoRule
    sizes = call.called.kind.lane_shape
    return over(x, lambda X: X.reshape(len(X), *sizes))


row(np.reshape, reshape, "x.reshape(20)", "np.reshape(x, (5, 4))", "x.reshape(2, -1)", "x.reshape(-1)[::2]",
    "x.T.reshape(4, 5)", "x.reshape((4, 5), order='F')")  # fmt: skip


@named
def ravel(call: Named) -> Run:
    """The rule of `np.ravel` in C's order."""
    x = call.lane("a")
    if call.rest("order").get("order", "C") != "C":
        raise NoRule
    return over(x, flat)


row(np.ravel, ravel, "x.ravel()", "np.ravel(x.T)", "x.flatten()", "np.ravel(x, order='F')")


@named
def transpose(call: Named) -> Run:
    """The rule of `np.transpose` and `x.T`."""
    x, axes = call.lane("a"), call.constant("axes")
    call.rest()
    order = [a + 1 for a in (range(x.ndim)[::-1] if axes is None else [int(a) % x.ndim for a in axes])]
    return over(x, lambda X: X.transpose(0, *order))


row(np.transpose, transpose, "x.T", "np.transpose(c, (2, 0, 1))", "c.transpose(1, 0, 2)", "x.transpose()", "v.T")
if hasattr(np, "matrix_transpose"):
    row(np.matrix_transpose, lambda called: over(called.slots[0], lambda X: np.swapaxes(X, -1, -2)), "c.mT",
        "np.matrix_transpose(x)")  # fmt: skip


@named
def moveaxis(call: Named) -> Run:
    """The rule of `np.moveaxis`."""
    x, source, target = call.lane("a"), call.constant("source"), call.constant("destination")
    call.rest()
    return over(x, lambda X: np.moveaxis(X, negative(source, x.ndim), negative(target, x.ndim)))


row(np.moveaxis, moveaxis, "np.moveaxis(c, 0, 2)", "np.moveaxis(c, [0, 1], [2, 0])")


@named
def swapaxes(call: Named) -> Run:
    """The rule of `np.swapaxes`."""
    x = call.lane("a")
    a, b = negative(call.constant("axis1"), x.ndim), negative(call.constant("axis2"), x.ndim)
    call.rest()
    return over(x, lambda X: np.swapaxes(X, a, b))


row(np.swapaxes, swapaxes, "np.swapaxes(x, 0, 1)", "c.swapaxes(0, -1)")


@named
def rollaxis(call: Named) -> Run:
    """The rule of `np.rollaxis`."""
    x, axis, start = call.lane("a"), call.constant("axis"), call.constant("start", 0)
    call.rest()
    return over(x, lambda X: np.rollaxis(X, axis % x.ndim + 1, (start + x.ndim if start < 0 else start) + 1))


row(np.rollaxis, rollaxis, "np.rollaxis(c, 2)", "np.rollaxis(c, 0, 2)")


@named
def shaped_as_known(call: Named) -> Run:
    """Axes of length one come or go: the result's shape says all."""
    x = call.lane(next(iter(call.given)))
    assert call.called.kind is not None
    call.constant("axis")
    call.rest()
    shape = call.called.kind.lane_shape
    return over(x, lambda X: X.reshape(len(X), *shape))


row(np.squeeze, shaped_as_known, "np.squeeze(x[:1])", "x[:, :1].squeeze(axis=1)", "np.squeeze(x[:1, :1])")
row(np.expand_dims, shaped_as_known, "np.expand_dims(x, 0)", "np.expand_dims(v, (0, 2))")


def at_least(called: Called) -> Run | None:
    """The rule of `np.atleast_1d` and its relatives."""
    kind, slots = called.kind, called.slots
    if kind is None or len(called.leaves) != 1:
        return None
    shape = kind.lane_shape
    return over(slots[0], lambda X: X.reshape(len(X), *shape))


row(np.atleast_1d, at_least, "np.atleast_1d(x)", "np.atleast_1d(s)")
row(np.atleast_2d, at_least, "np.atleast_2d(v)", "np.atleast_2d(s)")
row(np.atleast_3d, at_least, "np.atleast_3d(x)", "np.atleast_3d(v)")


@named
def flip(call: Named) -> Run:
    """The rule of `np.flip`."""
    x, axis = call.lane("m"), call.constant("axis")
    call.rest()
    last = negative(range(x.ndim), x.ndim) if axis is None else negative(axis, x.ndim)
    return over(x, lambda X: np.flip(X, last))


row(np.flip, flip, "np.flip(x)", "np.flip(x, 0)", "np.flip(c, (0, 2))", "np.flip(v)")
row(np.fliplr, lambda called: over(called.slots[0], lambda X: X[:, :, ::-1]), "np.fliplr(x)", "np.fliplr(c)")
row(np.flipud, lambda called: over(called.slots[0], lambda X: X[:, ::-1]), "np.flipud(x)", "np.flipud(v)")


@named
def rot90(call: Named) -> Run:
    """The rule of `np.rot90`."""
    x, k, axes = call.lane("m"), call.constant("k", 1), call.constant("axes", (0, 1))
    call.rest()
    return over(x, lambda X: np.rot90(X, k, negative(axes, x.ndim)))


row(np.rot90, rot90, "np.rot90(x)", "np.rot90(x, 2)", "np.rot90(c, -1, axes=(1, 2))")


@named
def roll(call: Named) -> Run:
    """The rule of `np.roll`."""
    x, shift, axis = call.lane("a"), call.constant("shift"), call.constant("axis")
    call.rest()
    if axis is None:
        return over(x, lambda X: np.roll(flat(X), shift, axis=-1).reshape(X.shape))
    return over(x, lambda X: np.roll(X, shift, axis=negative(axis, x.ndim)))


row(np.roll, roll, "np.roll(x, 2)", "np.roll(x, 1, axis=0)", "np.roll(x, (1, 2), axis=(0, 1))", "np.roll(v, -1)")


@named
def tile(call: Named) -> Run:
    """The rule of `np.tile`."""
    x, reps = call.lane("A"), call.constant("reps")
    call.rest()
    times = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    ndim = max(x.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    wide = widened(x.ndim, ndim) or (lambda X: X)
    return over(x, lambda X: np.tile(wide(X), (1, *times)))


row(np.tile, tile, "np.tile(x, 2)", "np.tile(v, (3, 1))", "np.tile(x, (2, 1))", "np.tile(s, 3)")


@named
def repeat(call: Named) -> Run:
    """The rule of `np.repeat` with counts that are the same for all lanes."""
    x, times, axis = call.lane("a"), call.constant("repeats"), call.constant("axis")
    call.rest()
    return along(x, axis, lambda X, last: np.repeat(X, times, axis=last))


row(np.repeat, repeat, "np.repeat(x, 2)", "np.repeat(x, 3, axis=0)", "x.repeat([1, 2, 0, 1], axis=0)")


@named
def broadcast_to(call: Named) -> Run:
    """The rule of `np.broadcast_to`."""
    x = call.lane("array")
    shape = call.constant("shape")
    call.rest("subok")
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    wide = widened(x.ndim, len(sizes)) or (lambda X: X)
    return over(x, lambda X: np.broadcast_to(wide(X), (len(X), *sizes)))


row(np.broadcast_to, broadcast_to, "np.broadcast_to(v, (3, 6)) + 1", "np.broadcast_to(s, (2, 2)) * 2")


def broadcast_arrays(called: Called) -> Run | None:
    """The rule of `np.broadcast_arrays`."""
    shape = np.broadcast_shapes(*(leaf.shape if isinstance(leaf, Slot) else np.shape(leaf) for leaf in called.leaves))

    def one(leaf: Any, value: Any, n: int) -> Any:
        value = np.asarray(value)
        wide = value.reshape(n, *(1,) * (len(shape) - value.ndim + 1), *value.shape[1:]) if is_lane(leaf) else value
        return np.broadcast_to(wide, (n, *shape))

    def run(*values: Any) -> Any:
        n = lanes_in(called, values)
        return tuple(one(leaf, value, n) for leaf, value in zip(called.leaves, values, strict=True))

    return run


row(
    np.broadcast_arrays, broadcast_arrays, "np.broadcast_arrays(v, s)[1] + 0", "np.broadcast_arrays(x, x[:, :1])[1] + 0"
)


@named
def pad(call: Named) -> Run:
    """The rule of `np.pad`, in the modes that copy numbers and compute none."""
    x, width = call.lane("array"), call.constant("pad_width")
    mode = call.constant("mode", "constant")
    rest = call.rest("constant_values", "reflect_type")
    if not isinstance(mode, str) or mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise NoRule
    widths = np.broadcast_to(np.asarray(width), (x.ndim, 2)).tolist()
    if np.ndim(rest.get("constant_values", 0)):
        raise NoRule
    fill: Any = np.pad
    return over(x, lambda X: fill(X, [(0, 0), *widths], mode=mode, **rest))


row(np.pad, pad, "np.pad(x, 1)", "np.pad(x, ((1, 2), (0, 3)), constant_values=7)", "np.pad(v, 2, mode='edge')",
    "np.pad(x, 2, mode='reflect')", "np.pad(v, (1, 0), mode='wrap')", "np.pad(x, 1, 'symmetric')")  # fmt: skip


@named
def diagonal(call: Named) -> Run:
    """The rule of `np.diagonal`."""
    x = call.lane("a")
    offset, a, b = call.constant("offset", 0), call.constant("axis1", 0), call.constant("axis2", 1)
    call.rest()
    return over(x, lambda X: np.diagonal(X, offset, negative(a, x.ndim), negative(b, x.ndim)))


row(np.diagonal, diagonal, "np.diagonal(m)", "x.diagonal(1)", "np.diagonal(c, 0, 0, 2)")


def _triangle(name: str) -> Any:
    fn = getattr(np, name)

    @named
    def rule(call: Named) -> Run:
        x, k = call.lane("m"), call.constant("k", 0)
        call.rest()
        if x.ndim < 2:
            raise NoRule
        return over(x, lambda X: fn(X, k))

    return rule


row(np.tril, _triangle("tril"), "np.tril(x)", "np.tril(m, -1)", "np.tril(c, 1)")
row(np.triu, _triangle("triu"), "np.triu(x)", "np.triu(m, 1)")


@named
def diag(call: Named) -> Run:
    """The rule of `np.diag`: the diagonal of a matrix, or a matrix of a diagonal."""
    x, k = call.lane("v"), call.constant("k", 0)
    call.rest()
    if x.ndim == 2:
        return over(x, lambda X: np.diagonal(X, k, -2, -1))
    size = x.shape[0] + abs(k)
    rows, columns = np.arange(x.shape[0]) + max(-k, 0), np.arange(x.shape[0]) + max(k, 0)

    def run(X: Column) -> Column:
        out = np.zeros((len(X), size, size), X.dtype)
        out[:, rows, columns] = X
        return out

    return over(x, run)


row(np.diag, diag, "np.diag(v)", "np.diag(v, -2)", "np.diag(m)", "np.diag(x, 1)")


@named
def sliding_windows(call: Named) -> Run:
    """The rule of `np.lib.stride_tricks.sliding_window_view`."""
    x, shape, axis = call.lane("x"), call.constant("window_shape"), call.constant("axis")
    call.rest("writeable", "subok")
    if axis is None:
        axis = tuple(range(x.ndim))
        shape = tuple(shape) if np.ndim(shape) else (shape,)
    return over(x, lambda X: np.lib.stride_tricks.sliding_window_view(X, shape, axis=negative(axis, x.ndim)))


row(np.lib.stride_tricks.sliding_window_view, sliding_windows, "np.lib.stride_tricks.sliding_window_view(v, 3) * 2",
    "np.lib.stride_tricks.sliding_window_view(x, (2, 2)).sum(axis=(-1, -2))",
    "np.lib.stride_tricks.sliding_window_view(x, 3, axis=1).mean(axis=-1)")  # fmt: skip
