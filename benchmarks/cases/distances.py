"""All distances between 16 points in space."""

import math

import numpy as np

SIZES = (100, 1_000, 10_000)
PATHS = 1
ARRAYS = True


def data(n, rng):
    return (rng.normal(size=(n, 16, 3)),)


def f(p):
    d = p[:, None] - p[None]
    return np.sqrt((d**2).sum(axis=-1))


def in_numpy(ps):
    d = ps[:, :, None] - ps[:, None]
    return np.sqrt((d**2).sum(axis=-1))


def in_jax(p):
    import jax.numpy as jnp

    d = p[:, None] - p[None]
    return jnp.sqrt((d**2).sum(axis=-1))


def in_numba(ps):
    out = np.empty((len(ps), 16, 16))
    for i in range(len(ps)):
        p = ps[i]
        for j in range(16):
            for k in range(16):
                dx, dy, dz = p[j, 0] - p[k, 0], p[j, 1] - p[k, 1], p[j, 2] - p[k, 2]
                out[i, j, k] = math.sqrt(dx * dx + dy * dy + dz * dz)
    return out


def in_tensorflow(p):
    import tensorflow as tf

    d = p[:, None] - p[None]
    return tf.sqrt(tf.reduce_sum(d**2, axis=-1))


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": in_jax, "tensorflow": in_tensorflow}
