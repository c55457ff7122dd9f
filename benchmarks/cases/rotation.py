"""Vectors of three numbers, turned by one matrix."""

import numpy as np

SIZES = (100, 1_000, 10_000, 100_000)
PATHS = 1
ARRAYS = True


TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])


def data(n, rng):
    return (rng.normal(size=(n, 3)),)


def f(v):
    return TURN @ v


def in_numpy(vs):
    return vs @ TURN.T


def in_tensorflow(v):
    import tensorflow as tf

    return tf.linalg.matvec(TURN, v)


def in_numba(vs):
    out = np.empty_like(vs)
    for i in range(len(vs)):
        for j in range(3):
            out[i, j] = TURN[j, 0] * vs[i, 0] + TURN[j, 1] * vs[i, 1] + TURN[j, 2] * vs[i, 2]
    return out


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": f, "tensorflow": in_tensorflow}
