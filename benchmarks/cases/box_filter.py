"""A 3 by 3 box filter of images of 64 by 64 by 3 float32, by slices."""

import numpy as np

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


def in_numba(xs):
    n, height, width, colours = xs.shape
    out = np.empty((n, height - 2, width - 2, colours), xs.dtype)
    for i in range(n):
        for y in range(height - 2):
            for x in range(width - 2):
                for c in range(colours):
                    total = np.float32(0.0)
                    for dy in range(3):
                        for dx in range(3):
                            total += xs[i, y + dy, x + dx, c]
                    out[i, y, x, c] = total / np.float32(9.0)
    return out


PEERS = {"numpy": in_numpy, "numba_columns": in_numba, "jax": f, "tensorflow": f}
