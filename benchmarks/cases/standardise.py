"""Images of 64 by 64 by 3 float32, each to mean 0 and deviation 1."""

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


PEERS = {"numpy": in_numpy, "jax": f, "tensorflow": in_tensorflow}
