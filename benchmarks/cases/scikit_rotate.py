"""scikit-image's rotation of images of 64 by 64: it holds the interpreter, so that nothing beats the loop."""

import numpy as np
from skimage.transform import rotate

SIZES = (100,)
PATHS = 1
ARRAYS = True


def data(n, rng):
    return (rng.random((n, 64, 64)),)


def f(x):
    return rotate(x, 30.0)


def in_numpy(xs):
    return np.stack([rotate(x, 30.0) for x in xs])


PEERS = {"numpy": in_numpy}
