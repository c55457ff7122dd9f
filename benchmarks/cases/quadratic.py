"""Roots of `a x² + b x + c`: three columns in, two out, with early returns for lines and for no real root."""

import math

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 3


def data(n, rng):
    a = rng.uniform(-2.0, 2.0, n)
    a[rng.random(n) < 0.1] = 0.0
    return a, rng.uniform(1.0, 5.0, n), rng.uniform(-3.0, 3.0, n)


def f(a, b, c):
    if a == 0.0:
        return -c / b, -c / b
    d = b * b - 4.0 * a * c
    if d < 0.0:
        return math.nan, math.nan
    r = math.sqrt(d)
    return (-b - r) / (2.0 * a), (-b + r) / (2.0 * a)


def in_numpy(a, b, c):
    first, second = np.full(len(a), np.nan), np.full(len(a), np.nan)
    line = a == 0.0
    first[line] = second[line] = -c[line] / b[line]
    d = b * b - 4.0 * a * c
    real = ~line & (d >= 0.0)
    a, b, r = a[real], b[real], np.sqrt(d[real])
    first[real] = (-b - r) / (2.0 * a)
    second[real] = (-b + r) / (2.0 * a)
    return first, second


def in_jax(a, b, c):
    import jax.numpy as jnp

    d = b * b - 4.0 * a * c
    r = jnp.sqrt(jnp.where(d < 0.0, jnp.nan, d))
    twice = jnp.where(a == 0.0, 1.0, 2.0 * a)
    line = -c / b
    return jnp.where(a == 0.0, line, (-b - r) / twice), jnp.where(a == 0.0, line, (-b + r) / twice)


def in_tensorflow(a, b, c):
    import tensorflow as tf

    d = b * b - 4.0 * a * c
    r = tf.sqrt(tf.where(d < 0.0, tf.constant(math.nan, d.dtype), d))
    twice = tf.where(a == 0.0, tf.ones_like(a), 2.0 * a)
    line = -c / b
    return tf.where(a == 0.0, line, (-b - r) / twice), tf.where(a == 0.0, line, (-b + r) / twice)


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
