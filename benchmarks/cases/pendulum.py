"""A damped pendulum, 100 steps of Runge and Kutta: a small differential equation for every element."""

import math

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000)
PATHS = 1
STEPS, DT, DAMPING = 100, 0.05, 0.2


def data(n, rng):
    return rng.uniform(-3.0, 3.0, n), rng.uniform(-1.0, 1.0, n)


def f(angle, speed):
    for _ in range(STEPS):
        a1 = -math.sin(angle) - DAMPING * speed
        v2 = speed + 0.5 * DT * a1
        a2 = -math.sin(angle + 0.5 * DT * speed) - DAMPING * v2
        v3 = speed + 0.5 * DT * a2
        a3 = -math.sin(angle + 0.5 * DT * v2) - DAMPING * v3
        v4 = speed + DT * a3
        a4 = -math.sin(angle + DT * v3) - DAMPING * v4
        angle = angle + DT / 6.0 * (speed + 2.0 * v2 + 2.0 * v3 + v4)
        speed = speed + DT / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return angle, speed


def move(angle, speed, sin):
    """One step, whose operations are those of `f`, for arrays of any library."""
    a1 = -sin(angle) - DAMPING * speed
    v2 = speed + 0.5 * DT * a1
    a2 = -sin(angle + 0.5 * DT * speed) - DAMPING * v2
    v3 = speed + 0.5 * DT * a2
    a3 = -sin(angle + 0.5 * DT * v2) - DAMPING * v3
    v4 = speed + DT * a3
    a4 = -sin(angle + DT * v3) - DAMPING * v4
    return angle + DT / 6.0 * (speed + 2.0 * v2 + 2.0 * v3 + v4), speed + DT / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)


def in_numpy(angle, speed):
    for _ in range(STEPS):
        angle, speed = move(angle, speed, np.sin)
    return angle, speed


def in_jax(angle, speed):
    import jax
    import jax.numpy as jnp

    return jax.lax.fori_loop(0, STEPS, lambda _, state: move(*state, jnp.sin), (angle, speed))


def in_tensorflow(angle, speed):
    import tensorflow as tf

    def step(i, angle, speed):
        return i + 1, *move(angle, speed, tf.sin)

    return tf.while_loop(lambda i, *_: i < STEPS, step, (tf.constant(0), angle, speed))[1:]


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
