"""A 3 by 3 box filter of images of 64 by 64 by 3 float32, by slices."""

from .data import images

SIZES = (100, 1_000)
PATHS = 1
ARRAYS = True
data = images


def f(x):
    total = x[:-2, :-2] + x[:-2, 1:-1] + x[:-2, 2:]
    total = total + x[1:-1, :-2] + x[1:-1, 1:-1] + x[1:-1, 2:]
    total = total + x[2:, :-2] + x[2:, 1:-1] + x[2:, 2:]
    return total / 9


def in_numpy(xs):
    total = xs[:, :-2, :-2] + xs[:, :-2, 1:-1] + xs[:, :-2, 2:]
    total = total + xs[:, 1:-1, :-2] + xs[:, 1:-1, 1:-1] + xs[:, 1:-1, 2:]
    total = total + xs[:, 2:, :-2] + xs[:, 2:, 1:-1] + xs[:, 2:, 2:]
    return total / 9


PEERS = {"numpy": in_numpy, "jax": f, "tensorflow": f}
