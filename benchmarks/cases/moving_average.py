"""A moving average of 10 over signals of 1,000."""

import numpy as np

from .data import signals

SIZES = (100, 1_000, 10_000)
PATHS = 1
ARRAYS = True
data = signals


WINDOW = np.ones(10) / 10


def f(x):
    return np.convolve(x, WINDOW, mode="valid")


def in_numpy(xs):
    out = xs[:, :991] * 0.1
    for i in range(1, 10):
        out += xs[:, i : i + 991] * 0.1
    return out


def in_jax(x):
    import jax.numpy as jnp

    return jnp.convolve(x, WINDOW, mode="valid")


def in_numba(xs):
    out = np.empty((len(xs), 991))
    for i in range(len(xs)):
        for j in range(991):
            total = 0.0
            for k in range(10):
                total += xs[i, j + k]
            out[i, j] = total / 10
    return out


def in_tensorflow(x):
    import tensorflow as tf

    return tf.nn.conv1d(x[None, :, None], tf.constant(WINDOW)[:, None, None], stride=1, padding="VALID")[0, :, 0]


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": in_jax, "tensorflow": in_tensorflow}
