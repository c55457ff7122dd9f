"""Steps of the Collatz sequence down to one: nearly every element takes its own path."""

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = None


def data(n, rng):
    return (rng.integers(1, 100_000, n),)


def f(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def in_jax(n):
    import jax
    import jax.numpy as jnp

    def step(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return jax.lax.while_loop(lambda state: state[0] != 1, step, (n, jnp.zeros_like(n)))[1]


def in_tensorflow(n):
    import tensorflow as tf

    def step(n, steps):
        return tf.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return tf.while_loop(lambda n, steps: tf.not_equal(n, 1), step, (n, tf.zeros_like(n)))[1]


PEERS = {"numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
