"""Square root by Newton's method: a loop that each element leaves when it is exact enough."""

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 7


def data(n, rng):
    return (rng.uniform(1.0, 100.0, n),)


def f(x):
    guess = 0.5 * (x + 1.0)
    for _ in range(30):
        better = 0.5 * (guess + x / guess)
        if abs(better - guess) <= 1e-9 * better:
            break
        guess = better
    return better


def in_numpy(xs):
    out, lanes = np.empty_like(xs), np.arange(len(xs))
    guess = 0.5 * (xs + 1.0)
    for _ in range(30):
        better = 0.5 * (guess + xs / guess)
        out[lanes] = better
        going = np.abs(better - guess) > 1e-9 * better
        lanes, xs, guess = lanes[going], xs[going], better[going]
        if not len(lanes):
            break
    return out


def in_jax(x):
    import jax
    import jax.numpy as jnp

    def improve(state):
        _, better, step = state
        return better, 0.5 * (better + x / better), step + 1

    def going(state):
        guess, better, step = state
        return (jnp.abs(better - guess) > 1e-9 * better) & (step < 30)

    guess = 0.5 * (x + 1.0)
    return jax.lax.while_loop(going, improve, (guess, 0.5 * (guess + x / guess), 1))[1]


def in_tensorflow(x):
    import tensorflow as tf

    def improve(guess, better, step):
        return better, 0.5 * (better + x / better), step + 1

    def going(guess, better, step):
        return tf.logical_and(tf.abs(better - guess) > 1e-9 * better, step < 30)

    guess = 0.5 * (x + 1.0)
    return tf.while_loop(going, improve, (guess, 0.5 * (guess + x / guess), tf.constant(1)))[1]


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
