"""Square roots of images of 64 by 64 by 3 float32."""

import numpy as np

from .data import images

SIZES = (100, 1_000)
PATHS = 1
ARRAYS = True
data = images


def f(x):
    return np.sqrt(x)


def in_numpy(xs):
    return np.sqrt(xs)


def in_jax(x):
    import jax.numpy as jnp

    return jnp.sqrt(x)


def in_tensorflow(x):
    import tensorflow as tf

    return tf.sqrt(x)


def in_numba(xs):
    out = np.empty_like(xs)
    numbers, roots = xs.ravel(), out.ravel()
    for i in range(len(numbers)):
        roots[i] = np.sqrt(numbers[i])
    return out


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": in_jax, "tensorflow": in_tensorflow}
