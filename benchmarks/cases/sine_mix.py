"""Straight-line mathematics with the math module: `sin(x) + cos(x) * exp(x)`."""

import math

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 1


def data(n, rng):
    return (rng.uniform(-3.0, 3.0, n),)


def f(x):
    return math.sin(x) + math.cos(x) * math.exp(x)


def in_numpy(xs):
    return np.sin(xs) + np.cos(xs) * np.exp(xs)


def in_jax(x):
    import jax.numpy as jnp

    return jnp.sin(x) + jnp.cos(x) * jnp.exp(x)


def in_tensorflow(x):
    import tensorflow as tf

    return tf.sin(x) + tf.cos(x) * tf.exp(x)


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
