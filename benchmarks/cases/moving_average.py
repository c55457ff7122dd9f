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


PEERS = {"numpy": in_numpy, "jax": in_jax}
