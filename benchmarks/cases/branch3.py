"""Three-way branch: each element takes one of three formulas."""

import math

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 3


def data(n, rng):
    return (rng.uniform(-3.0, 3.0, n),)


def f(x):
    if x < -1.0:
        return -0.5 * x
    elif x < 1.0:
        return x * x
    return math.sqrt(x) + 1.0


def in_numpy(xs):
    out = xs * xs
    low, high = xs < -1.0, xs >= 1.0
    out[low] = -0.5 * xs[low]
    out[high] = np.sqrt(xs[high]) + 1.0
    return out


def in_jax(x):
    import jax.numpy as jnp

    high = jnp.sqrt(jnp.maximum(x, 0.0)) + 1.0
    return jnp.where(x < -1.0, -0.5 * x, jnp.where(x < 1.0, x * x, high))


def in_tensorflow(x):
    import tensorflow as tf

    high = tf.sqrt(tf.maximum(x, 0.0)) + 1.0
    return tf.where(x < -1.0, -0.5 * x, tf.where(x < 1.0, x * x, high))


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
