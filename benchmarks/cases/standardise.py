"""Images of 64 by 64 by 3 float32, each to mean 0 and deviation 1."""

import numpy as np

from .data import images

SIZES = (100, 1_000)
PATHS = 1
ARRAYS = True
data = images


def f(x):
    return (x - x.mean()) / x.std()


def in_numpy(xs):
    axes = (1, 2, 3)
    return (xs - xs.mean(axis=axes, keepdims=True)) / xs.std(axis=axes, keepdims=True)


def in_tensorflow(x):
    import tensorflow as tf

    return (x - tf.reduce_mean(x)) / tf.math.reduce_std(x)


def in_numba(xs):
    out = np.empty_like(xs)
    for i in range(len(xs)):
        x, y = xs[i].ravel(), out[i].ravel()
        mean = x.sum() / len(x)
        square = 0.0
        for j in range(len(x)):
            square += (x[j] - mean) ** 2
        scale = np.float32(1.0 / np.sqrt(square / len(x)))
        for j in range(len(x)):
            y[j] = (x[j] - np.float32(mean)) * scale
    return out


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": f, "tensorflow": in_tensorflow}
