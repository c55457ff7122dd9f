"""All distances between 16 points in space."""

import numpy as np

SIZES = (100, 1_000, 10_000)
PATHS = 1
ARRAYS = True


def data(n, rng):
    return (rng.normal(size=(n, 16, 3)),)


def f(p):
    d = p[:, None] - p[None]
    return np.sqrt((d**2).sum(axis=-1))


def in_numpy(ps):
    d = ps[:, :, None] - ps[:, None]
    return np.sqrt((d**2).sum(axis=-1))


def in_jax(p):
    import jax.numpy as jnp

    d = p[:, None] - p[None]
    return jnp.sqrt((d**2).sum(axis=-1))


PEERS = {"numpy": in_numpy, "jax": in_jax}
