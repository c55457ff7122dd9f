"""A function that checks its input and may raise; the data is good. JAX cannot raise, XLA drops checks."""

import math

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 3


def data(n, rng):
    return (rng.uniform(0.0, 10.0, n),)


def f(x):
    if not math.isfinite(x):
        raise ValueError("x must be finite")
    if x < 0.0:
        raise ValueError("x must not be negative")
    return 2.0 * math.log1p(x)


def in_numpy(xs):
    if not np.isfinite(xs).all():
        raise ValueError("x must be finite")
    if (xs < 0.0).any():
        raise ValueError("x must not be negative")
    return 2.0 * np.log1p(xs)


def in_tensorflow(x):
    import tensorflow as tf

    tf.debugging.assert_equal(tf.math.is_finite(x), True, "x must be finite")
    tf.debugging.assert_non_negative(x, "x must not be negative")
    return 2.0 * tf.math.log1p(x)


PEERS = {"numpy": in_numpy, "numba": f, "tensorflow": in_tensorflow}
