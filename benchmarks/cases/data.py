"""Columns of made-up data that several cases share."""

import numpy as np


def images(n, rng):
    """64 by 64 by 3 float32."""
    return (rng.random((n, 64, 64, 3), dtype=np.float32),)


def signals(n, rng):
    """1,000 floats."""
    return (rng.normal(size=(n, 1_000)),)
