"""A sample of a 64 by 64 image between its pixels; coordinates beyond the border are clamped."""

import math

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 9
IMAGE = np.random.default_rng(1).random((64, 64))


def data(n, rng):
    return rng.uniform(-4.0, 68.0, n), rng.uniform(-4.0, 68.0, n)


def f(x, y):
    x, y = min(max(x, 0.0), 63.0), min(max(y, 0.0), 63.0)
    left, top = math.floor(x), math.floor(y)
    right, bottom = min(left + 1, 63), min(top + 1, 63)
    u, v = x - left, y - top
    above = IMAGE[top, left] * (1.0 - u) + IMAGE[top, right] * u
    below = IMAGE[bottom, left] * (1.0 - u) + IMAGE[bottom, right] * u
    return above * (1.0 - v) + below * v


def in_numpy(x, y):
    x, y = np.clip(x, 0.0, 63.0), np.clip(y, 0.0, 63.0)
    left, top = x.astype(np.intp), y.astype(np.intp)
    right, bottom = np.minimum(left + 1, 63), np.minimum(top + 1, 63)
    u, v = x - left, y - top
    above = IMAGE[top, left] * (1.0 - u) + IMAGE[top, right] * u
    below = IMAGE[bottom, left] * (1.0 - u) + IMAGE[bottom, right] * u
    return above * (1.0 - v) + below * v


def in_jax(x, y):
    import jax.numpy as jnp

    image = jnp.asarray(IMAGE)
    x, y = jnp.clip(x, 0.0, 63.0), jnp.clip(y, 0.0, 63.0)
    left, top = x.astype(int), y.astype(int)
    right, bottom = jnp.minimum(left + 1, 63), jnp.minimum(top + 1, 63)
    u, v = x - left, y - top
    above = image[top, left] * (1.0 - u) + image[top, right] * u
    below = image[bottom, left] * (1.0 - u) + image[bottom, right] * u
    return above * (1.0 - v) + below * v


def in_tensorflow(x, y):
    import tensorflow as tf

    image = tf.reshape(tf.constant(IMAGE), [-1])
    x, y = tf.clip_by_value(x, 0.0, 63.0), tf.clip_by_value(y, 0.0, 63.0)
    left, top = tf.cast(x, tf.int32), tf.cast(y, tf.int32)
    right, bottom = tf.minimum(left + 1, 63), tf.minimum(top + 1, 63)
    u, v = x - tf.cast(left, x.dtype), y - tf.cast(top, y.dtype)
    above = tf.gather(image, top * 64 + left) * (1.0 - u) + tf.gather(image, top * 64 + right) * u
    below = tf.gather(image, bottom * 64 + left) * (1.0 - u) + tf.gather(image, bottom * 64 + right) * u
    return above * (1.0 - v) + below * v


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
