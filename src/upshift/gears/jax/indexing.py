"""Reading and writing parts of arrays in JAX: `x[key]`, `x[key] = value`, `take`.

JAX takes an index that is out of bounds for the nearest one within; NumPy raises. Such lanes are odd. A write makes a
new array: where each number of the storage comes from is worked out while tracing, through whatever views it goes.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...rules.arrays import Put
from . import arithmetic as do
from .call import JaxCall, is_known, known, value_of
from .value import Traced, Value, Work, refuse


def getitem(work: Work, call: JaxCall) -> Value:
    """`x[key]`."""
    x, key = call.args
    if not isinstance(x, Value):
        x = value_of(work, x)
    return work.moved(read(work, x.x, key, call.kind.lane_shape), x)


def read(work: Work, x: Traced, key: Any, shape: tuple[int, ...]) -> Traced:
    """`x[key]`."""
    if is_known(key):
        return x[_listed(key)]
    if isinstance(key, Value) and key.dtype == bool:
        return _masked(x, key, shape)
    return x[_within(work, key, x.shape)]


def _listed(key: Any) -> Any:
    """JAX does not take lists for indices."""
    if isinstance(key, tuple):
        return tuple(_listed(item) for item in key)
    return np.asarray(key, None if len(key) else int) if isinstance(key, list) else key


def _masked(x: Traced, mask: Value, shape: tuple[int, ...]) -> Traced:
    """Every lane on this path picks equally many, which a guard has seen to."""
    rest = x.shape[mask.ndim :]
    count = shape[0]
    places = jnp.nonzero(jnp.ravel(mask.x), size=count, fill_value=0)[0]
    return jnp.reshape(x, (mask.x.size, *rest))[places]


def _within(work: Work, key: Any, shape: tuple[int, ...]) -> Any:
    """The key for JAX; lanes with an index that is out of bounds are odd."""
    items = key if isinstance(key, tuple) else (key,)
    axes = sum(item is not None and item is not Ellipsis for item in items)
    made: list[Any] = []
    axis = 0
    for item in items:
        if isinstance(item, Value):
            if item.dtype.kind not in "iu" or not item.sharp:
                raise refuse("an index that is no exact int")
            size = shape[axis]
            work.odd((item.x < -size) | (item.x >= size) if item.dtype.kind == "i" else item.x >= size)
            made.append(item.x)
        elif not is_known(item):
            raise refuse("an index made of lists")
        else:
            made.append(_listed(item))
        if item is Ellipsis:
            axis += len(shape) - axes
        elif item is not None:
            axis += 1
    return tuple(made) if isinstance(key, tuple) else made[0]


def take(work: Work, call: JaxCall) -> Value:
    """`np.take`."""
    given = call.bound("a", "indices", "axis")
    a, axis = value_of(work, given["a"]), known(given.get("axis"), "an axis")
    x = jnp.ravel(a.x) if axis is None else a.x
    axis = 0 if axis is None else int(axis) % x.ndim
    index = given["indices"]
    index = value_of(work, index) if not is_known(index) else np.asarray(index)
    key = (*(slice(None),) * axis, index)
    return work.moved(x[_within(work, key, x.shape)], a)


def take_along_axis(work: Work, call: JaxCall) -> Value:
    """`np.take_along_axis`; lanes with an index out of bounds are left."""
    given = call.bound("arr", "indices", "axis")
    a, index = value_of(work, given["arr"]), value_of(work, given["indices"])
    axis = known(given.get("axis", -1), "an axis")
    if axis is None or not index.sharp or index.dtype.kind not in "iu":
        raise refuse("take_along_axis with these arguments")
    size = a.shape[axis]
    work.odd((index.x < -size) | (index.x >= size))
    return work.moved(jnp.take_along_axis(a.x, index.x, axis=axis), a)


# ---- writing


def put(work: Work, call: JaxCall) -> Value:
    """The storage with a value put into one of its views."""
    base, value, key = call.args
    fn = call.fn
    assert isinstance(fn, Put)
    base = value_of(work, base)
    value = value_of(work, value)
    if value.dtype.kind == "c" and base.dtype.kind != "c":
        raise refuse("it drops imaginary parts")
    value = do.cast(work, value, base.dtype)
    places = np.arange(base.x.size).reshape(base.shape)
    for seen in fn.path:
        places = seen.of(places)
    if is_known(key):
        return _put_known(work, base, value, places[_listed(key)])
    if isinstance(key, Value) and key.dtype == bool:
        return _put_masked(work, base, value, places, key)
    return _put_anywhere(work, base, value, jnp.asarray(places)[_within(work, key, places.shape)])


def _put_known(work: Work, base: Value, value: Value, places: Any) -> Value:
    """Where places are written twice, the last counts, as in NumPy."""
    places = np.asarray(places)
    written = np.zeros(base.x.size, bool)
    written[places.ravel()] = True
    written = written.reshape(base.shape)
    if not value.ndim or value.x.size == 1:
        new = jnp.reshape(value.x, ())
    elif places.shape == base.shape and (places.ravel() == np.arange(base.x.size)).all():
        new = jnp.broadcast_to(value.x, places.shape)
    else:
        source = np.zeros(base.x.size, np.int64)
        source[places.ravel()] = np.arange(places.size)
        new = jnp.ravel(jnp.broadcast_to(value.x, places.shape))[source].reshape(base.shape)
    return work.moved(jnp.where(written, new, base.x), base, value)


def _put_masked(work: Work, base: Value, value: Value, places: Any, mask: Value) -> Value:
    if value.ndim:
        raise refuse("it writes an array where data choose")
    picked = jnp.reshape(mask.x, (*mask.shape, *(1,) * (places.ndim - mask.ndim)))
    picked = jnp.broadcast_to(picked, places.shape)
    whole = jnp.zeros(base.x.size, bool).at[places.ravel()].set(jnp.ravel(picked), unique_indices=True)
    same = places.shape == base.shape and (places.ravel() == np.arange(base.x.size)).all()
    chosen = picked if same else jnp.reshape(whole, base.shape)
    return work.moved(jnp.where(chosen, value.x, base.x), base, value)


def _put_anywhere(work: Work, base: Value, value: Value, places: Traced) -> Value:
    """At places that lanes choose; where one is chosen twice, lanes with different numbers for it are odd."""
    flat = jnp.ravel(places)
    if value.ndim and value.x.size > 1 and flat.size > 1:
        ordered = jnp.sort(flat)
        work.odd(ordered[1:] == ordered[:-1])
    new = jnp.ravel(jnp.broadcast_to(value.x, places.shape))
    return work.moved(jnp.reshape(jnp.ravel(base.x).at[flat].set(new), base.shape), base, value)
