"""A histogram of 256 bins of every image of 64 by 64 by 3 float32."""

import numpy as np

from .data import images

SIZES = (100, 1_000)
PATHS = 1
ARRAYS = True
data = images


def f(x):
    return np.histogram(x, bins=256, range=(0.0, 1.0))[0]


def in_numpy(xs):
    """Which bin, by one product, and one count for all images: not quite np.histogram's edges."""
    bins = np.minimum((xs.reshape(len(xs), -1) * np.float32(256)).astype(np.intp), 255)
    bins += np.arange(len(xs))[:, None] * 256
    return np.bincount(bins.ravel(), minlength=256 * len(xs)).reshape(len(xs), 256)


def in_jax(x):
    import jax.numpy as jnp

    return jnp.histogram(x, bins=256, range=(0.0, 1.0))[0]


def in_numba(xs):
    """As in NumPy: one product says which bin."""
    out = np.zeros((len(xs), 256), np.int64)
    for i in range(len(xs)):
        for x in xs[i].ravel():
            out[i, min(int(x * np.float32(256)), 255)] += 1
    return out


def in_tensorflow(x):
    import tensorflow as tf

    return tf.histogram_fixed_width(x, [0.0, 1.0], nbins=256, dtype=tf.int64)


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": in_jax, "tensorflow": in_tensorflow}
