"""NumPy functions that reduce, move, join or pick, written in TensorFlow's operations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..rules.arrays import Put
from .elementwise import Row
from .value import EXACT, OFF, Call, NotNative, Value, constant, decided, operand

# ---- reductions


def _axes(axis: Any, ndim: int) -> list[int]:
    axis = constant(axis, "an axis")
    if axis is None:
        return list(range(ndim))
    listed = axis if isinstance(axis, list | tuple) else (axis,)
    return [int(one) % max(ndim, 1) for one in listed]


def reduced(op: Callable[..., Any], off: int = OFF) -> Row:
    """Numbers of the result's dtype; the order in which floats are added is TensorFlow's own."""

    def row(call: Call) -> Value:
        given = call.bound("a", "axis", "keepdims", "dtype")
        value = operand(given["a"], call.kind.dtype)
        made = op(value.x, axis=_axes(given.get("axis"), value.ndim), keepdims=bool(given.get("keepdims", False)))
        return Value(made, EXACT if not value.is_float else max(off, value.off))

    return row


def _extreme(op: Callable[..., Any]) -> Row:
    def row(call: Call) -> Value:
        given = call.bound("a", "axis", "keepdims")
        value = operand(given["a"], call.kind.dtype)
        axes, keeps = _axes(given.get("axis"), value.ndim), bool(given.get("keepdims", False))
        with tf.control_dependencies(_some(value.x, axes)):
            made = op(value.x, axis=axes, keepdims=keeps)
        if value.is_float:
            lost = tf.reduce_any(tf.math.is_nan(value.x), axis=axes, keepdims=keeps)
            made = tf.where(lost, tf.constant(math.nan, made.dtype), made)
        return Value(made, value.off, value.low, value.high)

    return row


def _some(x: Any, axes: Sequence[int]) -> list[Any]:
    """NumPy raises where there is nothing to choose from."""
    unknown = [axis for axis in axes if x.shape[axis] is None]
    return [tf.debugging.assert_positive(tf.shape(x)[axis], "there are no elements") for axis in unknown]


def _arg_extreme(op: Callable[..., Any]) -> Row:
    def row(call: Call) -> Value:
        given = call.bound("a", "axis")
        value = decided(operand(given["a"], given["a"].dtype), "a place")
        if value.dtype.kind == "b":
            raise NotNative("the place of a truth")
        axis = constant(given.get("axis"), "an axis")
        x = tf.reshape(value.x, [-1]) if axis is None else value.x
        axis = 0 if axis is None else int(axis) % value.ndim
        with tf.control_dependencies(_some(x, [axis])):
            made = op(x, axis=axis, output_type=tf.int64)
        if value.is_float:
            nan = tf.math.is_nan(x)
            first = tf.argmax(tf.cast(nan, tf.int32), axis=axis, output_type=tf.int64)
            made = tf.where(tf.reduce_any(nan, axis=axis), first, made)
        return Value(made)

    return row


def _truths(op: Callable[..., Any]) -> Row:
    def row(call: Call) -> Value:
        given = call.bound("a", "axis", "keepdims")
        value = operand(given["a"], np.dtype(bool))
        axes = _axes(given.get("axis"), value.ndim)
        return Value(op(value.x, axis=axes, keepdims=bool(given.get("keepdims", False))), EXACT, 0.0, 1.0)

    return row


def _spread(root: bool) -> Row:
    """`np.var` and `np.std`."""

    def row(call: Call) -> Value:
        given = call.bound("a", "axis", "keepdims", "ddof")
        value = operand(given["a"], call.kind.dtype)
        axes, keeps = _axes(given.get("axis"), value.ndim), bool(given.get("keepdims", False))
        apart = tf.square(value.x - tf.reduce_mean(value.x, axis=axes, keepdims=True))
        count = tf.cast(tf.reduce_prod(tf.gather(tf.shape(value.x), axes)), value.x.dtype)
        made = tf.reduce_sum(apart, axis=axes, keepdims=keeps) / (count - float(constant(given.get("ddof", 0), "ddof")))
        return Value(tf.sqrt(made) if root else made, OFF)

    return row


def _running(op: Callable[..., Any]) -> Row:
    def row(call: Call) -> Value:
        given = call.bound("a", "axis", "dtype")
        value = operand(given["a"], call.kind.dtype)
        axis = constant(given.get("axis"), "an axis")
        x = tf.reshape(value.x, [-1]) if axis is None else value.x
        return Value(op(x, axis=0 if axis is None else int(axis)), OFF if value.is_float else EXACT)

    return row


# ---- products


def _matmul(call: Call) -> Value:
    a, b = (operand(arg, call.kind.dtype) for arg in call.args)
    if call.keywords or not a.ndim or not b.ndim:
        raise NotNative(f"{call.name} of numbers")
    if a.ndim == b.ndim == 1:
        made = tf.tensordot(a.x, b.x, 1)
    elif b.ndim == 1:
        made = tf.linalg.matvec(a.x, b.x)
    elif a.ndim == 1:
        made = tf.linalg.matvec(b.x, a.x, transpose_a=True)
    else:
        made = tf.linalg.matmul(a.x, b.x)
    return Value(made, OFF if a.is_float else EXACT)


def _dot(call: Call) -> Value:
    given = call.bound("a", "b")
    a, b = (operand(given[name], call.kind.dtype) for name in "ab")
    if not a.ndim or not b.ndim:
        raise NotNative("np.dot of numbers")
    return Value(tf.tensordot(a.x, b.x, [[a.ndim - 1], [max(b.ndim - 2, 0)]]), OFF if a.is_float else EXACT)


def _einsum(call: Call) -> Value:
    words, *args = call.args
    if call.keywords or not isinstance(words, str) or "..." in words or "->" not in words:
        raise NotNative("np.einsum of this form")
    values = [operand(arg, call.kind.dtype) for arg in args]
    return Value(tf.einsum(words, *(value.x for value in values)), OFF if values[0].is_float else EXACT)


# ---- places


def moved(op: Callable[..., Any], *names: str) -> Row:
    """The same numbers in other places; all arguments but the first are constants."""

    def row(call: Call) -> Value:
        given = call.bound(*names)
        value = operand(given.pop(names[0]), call.kind.dtype)
        rest = {name: constant(arg, name) for name, arg in given.items()}
        return value.on(op(value.x, **rest))

    return row


def _transpose(x: Any, axes: Any = None) -> Any:
    return tf.transpose(x, None if axes is None else [int(axis) % x.shape.rank for axis in axes])


def _swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    order = list(range(x.shape.rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


def _flip(x: Any, axis: Any = None) -> Any:
    axes = _axes(axis, x.shape.rank)
    return tf.reverse(x, axes) if axes else x


def _roll(x: Any, shift: Any, axis: Any = None) -> Any:
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    return tf.roll(x, shift, axis)


def _reshape(x: Any, shape: Any) -> Any:
    return tf.reshape(x, shape if isinstance(shape, list | tuple) else [shape])


def _expand_dims(x: Any, axis: Any) -> Any:
    rank = x.shape.rank + (len(axis) if isinstance(axis, list | tuple) else 1)
    for one in sorted(int(one) % rank for one in (axis if isinstance(axis, list | tuple) else (axis,))):
        x = tf.expand_dims(x, one)
    return x


def _squeeze(x: Any, axis: Any = None) -> Any:
    if axis is None and None in x.shape.as_list():
        raise NotNative("np.squeeze of axes whose length is not known")
    return tf.squeeze(x, None if axis is None else _axes(axis, x.shape.rank))


def _repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    return tf.repeat(tf.reshape(x, [-1]) if axis is None else x, repeats, 0 if axis is None else axis)


def joined(op: Callable[..., Any], name: str, axis: int | None = 0) -> Row:
    """The row of a function that joins arrays along an axis, such as `np.concatenate`."""

    def row(call: Call) -> Value:
        given = call.bound(name, "axis")
        values = [operand(one, call.kind.dtype) for one in given[name]]
        along = constant(given.get("axis", axis), "an axis")
        if along is None:
            raise NotNative("arrays that are joined flat")
        made = op([value.x for value in values], axis=int(along))
        bounds = min(value.low for value in values), max(value.high for value in values)
        return Value(made, max(value.off for value in values), *bounds)

    return row


def _filled(number: float | None) -> Row:
    """`np.zeros_like` and its like."""

    def row(call: Call) -> Value:
        given = call.bound("a", "fill_value", "dtype")
        fill = operand(given["fill_value"] if number is None else number, call.kind.dtype)
        return fill.on(tf.broadcast_to(fill.x, tf.shape(given["a"].x)))

    return row


def _padded(call: Call) -> Value:
    given = call.bound("array", "pad_width", "mode", "constant_values")
    value = operand(given["array"], call.kind.dtype)
    if given.get("mode", "constant") != "constant":
        raise NotNative("np.pad of this mode")
    number = operand(constant(given.get("constant_values", 0), "a number"), call.kind.dtype)
    widths = np.broadcast_to(constant(given["pad_width"], "a width"), (value.ndim, 2))
    made = tf.pad(value.x, widths, constant_values=number.x)
    return Value(made, value.off, min(value.low, number.low), max(value.high, number.high))


# ---- parts


def _getitem(call: Call) -> Value:
    value, *key = call.args
    items = tuple(key[0]) if isinstance(key[0], tuple) else (key[0],)
    if any(not _is_basic(item) for item in items):
        raise NotNative("an index that is no number or slice")
    turned = [axis for axis, item in enumerate(items) if item == BACKWARDS]
    if not turned or not all(isinstance(item, slice) for item in items):
        return value.on(value.x[items])  # type: ignore[no-any-return]
    rest = tuple(slice(None) if item == BACKWARDS else item for item in items)
    x = value.x if all(item == slice(None) for item in rest) else value.x[rest]
    return value.on(tf.reverse(x, turned))  # type: ignore[no-any-return]


BACKWARDS = slice(None, None, -1)
"""For which `tf.reverse` is eight times as fast as a strided slice."""


def _is_basic(item: Any) -> bool:
    if isinstance(item, slice):
        return all(end is None or isinstance(end, int | np.integer) for end in (item.start, item.stop, item.step))
    plain = isinstance(item, int | np.integer) and not isinstance(item, bool)
    return plain or item is None or item is Ellipsis


def _put(call: Call) -> Value:
    """A number into the places that a key picks, or an array into whole rows."""
    base, given, *key = call.args
    assert isinstance(call.fn, Put)
    value = operand(given, base.dtype)
    items = _through(call.fn, tuple(key[0]) if isinstance(key[0], tuple) else (key[0],))
    if any(not _is_basic(item) or item is None for item in items):
        raise NotNative("a write by an index that is no number or slice")
    off, bounds = max(base.off, value.off), (min(base.low, value.low), max(base.high, value.high))
    everywhere = all(item is Ellipsis or item == slice(None) for item in items)
    if everywhere:
        return Value(tf.broadcast_to(value.x, tf.shape(base.x)), off, *bounds)
    spelled = _spelled(items, base.ndim)
    x = value.x
    if value.ndim:
        if any(isinstance(item, slice) and item != slice(None) for item in spelled):
            raise NotNative("an array is written into a part of another")
        rows = [axis for axis, item in enumerate(spelled) if isinstance(item, slice)]
        x = tf.broadcast_to(x, tf.gather(tf.shape(base.x), rows))
        for axis, item in enumerate(spelled):
            x = x if isinstance(item, slice) else tf.expand_dims(x, axis)
    return Value(tf.where(_picked(spelled, base), x, base.x), off, *bounds)


def _through(put: Put, items: tuple[Any, ...]) -> tuple[Any, ...]:
    """The key of a write, or that of the part into all of which is written."""
    if not put.path:
        return items
    (first, *more) = put.path
    if more or first.fn is not operator.getitem or items != (Ellipsis,):
        raise NotNative("a write through a view")
    (_, key), _ = first.form.build(iter((None, *(leaf.value for leaf in first.leaves))))
    return key if isinstance(key, tuple) else (key,)


def _spelled(items: tuple[Any, ...], ndim: int) -> list[Any]:
    """One item for every axis."""
    at = items.index(Ellipsis) if Ellipsis in items else len(items)
    rest = ndim - sum(item is not Ellipsis for item in items)
    return [*items[:at], *[slice(None)] * rest, *items[at + 1 :]]


def _picked(spelled: list[Any], base: Value) -> Any:
    """Truths in the places that a key picks."""
    sizes = tf.shape(base.x)
    picked = tf.ones([1] * base.ndim, tf.bool)
    for axis, item in enumerate(spelled):
        if item == slice(None):
            continue
        places = tf.range(sizes[axis])
        if isinstance(item, slice):
            taken = places[item]
            here = tf.reduce_any(tf.equal(places[:, None], taken[None, :]), axis=1)
        else:
            here = tf.equal(places, places[int(item)])
        picked = picked & tf.reshape(here, [-1 if i == axis else 1 for i in range(base.ndim)])
    return picked


def _take(call: Call) -> Value:
    given = call.bound("a", "indices", "axis")
    value = operand(given["a"], call.kind.dtype)
    axis = int(constant(given.get("axis", 0), "an axis"))
    size = value.x.shape[axis]
    places = np.asarray(constant(given["indices"], "an index"))
    if (
        size is None
        or "axis" not in given
        or places.dtype.kind not in "iu"
        or np.any((places < -size) | (places >= size))
    ):
        raise NotNative("np.take of this form")
    return value.on(tf.gather(value.x, places % size, axis=axis))


ROWS: dict[Any, Row] = {
    np.sum: reduced(tf.reduce_sum), np.mean: reduced(tf.reduce_mean), np.prod: reduced(tf.reduce_prod),
    np.max: _extreme(tf.reduce_max), np.min: _extreme(tf.reduce_min), np.amax: _extreme(tf.reduce_max),
    np.amin: _extreme(tf.reduce_min), np.any: _truths(tf.reduce_any), np.all: _truths(tf.reduce_all),
    np.argmax: _arg_extreme(tf.argmax), np.argmin: _arg_extreme(tf.argmin), np.var: _spread(False),
    np.std: _spread(True), np.cumsum: _running(tf.cumsum), np.cumprod: _running(tf.math.cumprod),
    np.matmul: _matmul, operator.matmul: _matmul, np.dot: _dot, np.einsum: _einsum,
    np.transpose: moved(_transpose, "a", "axes"), np.swapaxes: moved(_swapaxes, "a", "axis1", "axis2"),
    np.flip: moved(_flip, "m", "axis"), np.fliplr: moved(lambda x: tf.reverse(x, [1]), "m"),
    np.flipud: moved(lambda x: tf.reverse(x, [0]), "m"), np.roll: moved(_roll, "a", "shift", "axis"),
    np.reshape: moved(_reshape, "a", "shape"), np.ravel: moved(lambda x: tf.reshape(x, [-1]), "a"),
    np.expand_dims: moved(_expand_dims, "a", "axis"), np.squeeze: moved(_squeeze, "a", "axis"),
    np.tile: moved(lambda x, reps: tf.tile(x, reps), "A", "reps"), np.repeat: moved(_repeat, "a", "repeats", "axis"),
    np.concatenate: joined(tf.concat, "arrays"), np.stack: joined(tf.stack, "arrays"),
    np.zeros_like: _filled(0), np.ones_like: _filled(1), np.full_like: _filled(None), np.pad: _padded,
    operator.getitem: _getitem, np.take: _take, np.ascontiguousarray: moved(lambda x: x, "a"),
}  # fmt: skip


def row_of(fn: Any) -> Row | None:
    """The row of a function."""
    return _put if isinstance(fn, Put) else ROWS.get(fn)
