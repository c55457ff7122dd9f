"""Linear systems of 6 equations."""

import numpy as np

SIZES = (100, 1_000, 10_000)
PATHS = 1
ARRAYS = True


def data(n, rng):
    return rng.normal(size=(n, 6, 6)) + 6 * np.eye(6), rng.normal(size=(n, 6))


def f(a, b):
    return np.linalg.solve(a, b)


def in_numpy(a, b):
    return np.linalg.solve(a, b[..., None])[..., 0]


def in_jax(a, b):
    import jax.numpy as jnp

    return jnp.linalg.solve(a, b)


def in_numba(a, b):
    out = np.empty_like(b)
    for i in range(len(b)):
        out[i] = np.linalg.solve(a[i], b[i])
    return out


def in_tensorflow(a, b):
    import tensorflow as tf

    return tf.linalg.solve(a, b[:, None])[:, 0]


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": in_jax, "tensorflow": in_tensorflow}
