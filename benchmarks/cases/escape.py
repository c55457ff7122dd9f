"""Escape time of the Mandelbrot set: up to 100 steps, which each point leaves at its own."""

import numpy as np

SIZES = (1, 10, 100, 1_000, 10_000, 100_000)
PATHS = 101
STEPS = 100


def data(n, rng):
    return rng.uniform(-2.0, 0.5, n), rng.uniform(-1.25, 1.25, n)


def f(cr, ci):
    zr, zi = 0.0, 0.0
    for step in range(STEPS):
        if zr * zr + zi * zi > 4.0:
            return step
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
    return STEPS


def in_numpy(cr, ci):
    out, lanes = np.full(len(cr), STEPS), np.arange(len(cr))
    zr, zi = np.zeros(len(cr)), np.zeros(len(cr))
    for step in range(STEPS):
        inside = zr * zr + zi * zi <= 4.0
        if not inside.all():
            out[lanes[~inside]] = step
            lanes, cr, ci, zr, zi = lanes[inside], cr[inside], ci[inside], zr[inside], zi[inside]
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
    return out


def in_jax(cr, ci):
    import jax

    def going(state):
        zr, zi, step = state
        return (zr * zr + zi * zi <= 4.0) & (step < STEPS)

    def move(state):
        zr, zi, step = state
        return zr * zr - zi * zi + cr, 2.0 * zr * zi + ci, step + 1

    return jax.lax.while_loop(going, move, (0.0 * cr, 0.0 * ci, 0))[2]


def in_tensorflow(cr, ci):
    import tensorflow as tf

    def going(zr, zi, step):
        return tf.logical_and(zr * zr + zi * zi <= 4.0, step < STEPS)

    def move(zr, zi, step):
        return zr * zr - zi * zi + cr, 2.0 * zr * zi + ci, step + 1

    return tf.while_loop(going, move, (0.0 * cr, 0.0 * ci, tf.constant(0, tf.int64)))[2]


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax, "tensorflow": in_tensorflow}
