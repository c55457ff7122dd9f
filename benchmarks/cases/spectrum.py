"""The power spectrum of signals of 1,000."""

import numpy as np

from .data import signals

SIZES = (100, 1_000, 10_000)
PATHS = 1
ARRAYS = True
data = signals


def f(x):
    return np.abs(np.fft.rfft(x)) ** 2


def in_numpy(xs):
    return np.abs(np.fft.rfft(xs)) ** 2


def in_jax(x):
    import jax.numpy as jnp

    return jnp.abs(jnp.fft.rfft(x)) ** 2


def in_tensorflow(x):
    import tensorflow as tf

    return tf.abs(tf.signal.rfft(x)) ** 2


PEERS = {"numpy": in_numpy, "jax": in_jax, "tensorflow": in_tensorflow}
