"""Greatest common divisor by Euclid: a loop on whole numbers whose length depends on the element."""

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 30


def data(n, rng):
    return rng.integers(1, 1_000_000, n), rng.integers(1, 1_000_000, n)


def f(a, b):
    while b:
        a, b = b, a % b
    return a


def in_jax(a, b):
    import jax

    return jax.lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]


def in_tensorflow(a, b):
    import tensorflow as tf

    # A lane that has finished still takes part in the others' steps, and must not divide by its zero.
    def step(a, b):
        return b, tf.math.floormod(a, tf.maximum(b, 1))

    return tf.while_loop(lambda a, b: b > 0, step, (a, b))[0]


PEERS = {"numpy": np.gcd, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
