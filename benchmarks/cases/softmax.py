"""Softmax over 1,000 classes."""

import math

import numpy as np

from .data import signals

SIZES = (100, 1_000, 10_000)
PATHS = 1
ARRAYS = True
data = signals


def f(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def in_numpy(xs):
    e = np.exp(xs - xs.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def in_jax(x):
    import jax.numpy as jnp

    e = jnp.exp(x - x.max())
    return e / e.sum()


def in_tensorflow(x):
    import tensorflow as tf

    return tf.nn.softmax(x)


def in_numba(xs):
    out = np.empty_like(xs)
    for i in range(len(xs)):
        x, y = xs[i], out[i]
        largest = x.max()
        total = 0.0
        for j in range(len(x)):
            y[j] = math.exp(x[j] - largest)
            total += y[j]
        for j in range(len(x)):
            y[j] /= total
    return out


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": in_jax, "tensorflow": in_tensorflow}
