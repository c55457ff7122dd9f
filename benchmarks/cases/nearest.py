"""The mean distance to the 4 nearest of 64 points in space, by plain loops."""

import math

import numpy as np

SIZES = (100, 1_000, 10_000)
PATHS = None
ARRAYS = True
POINTS = np.random.default_rng(1).normal(size=(64, 3))


def data(n, rng):
    return (rng.normal(size=(n, 3)),)


def f(p):
    nearest = [math.inf, math.inf, math.inf, math.inf]
    for q in POINTS:
        d = (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2
        for k in range(4):
            if d < nearest[k]:
                nearest[k], d = d, nearest[k]
    return (math.sqrt(nearest[0]) + math.sqrt(nearest[1]) + math.sqrt(nearest[2]) + math.sqrt(nearest[3])) / 4.0


def in_numpy(ps):
    d = ((ps[:, None] - POINTS) ** 2).sum(axis=-1)
    return np.sqrt(np.partition(d, 3, axis=1)[:, :4]).mean(axis=1)


def in_jax(p):
    import jax
    import jax.numpy as jnp

    d = ((p - POINTS) ** 2).sum(axis=-1)
    return jnp.sqrt(-jax.lax.top_k(-d, 4)[0]).mean()


def in_tensorflow(p):
    import tensorflow as tf

    d = tf.reduce_sum((p - POINTS) ** 2, axis=-1)
    return tf.reduce_mean(tf.sqrt(-tf.math.top_k(-d, 4).values))


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
