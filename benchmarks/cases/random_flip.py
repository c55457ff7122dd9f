"""An image and its boxes, flipped where a random number says so: the loop's own numbers."""

import numpy as np

SIZES = (100, 1_000)
PATHS = 2
ARRAYS = True


rng = np.random.default_rng(0)


def reset():
    rng.bit_generator.state = np.random.default_rng(0).bit_generator.state


def data(n, rng):
    return rng.random((n, 64, 64, 3), dtype=np.float32), rng.random((n, 4))


def f(image, box):
    if rng.random() < 0.5:
        return image[:, ::-1], box[::-1]
    return image, box


def in_numpy(images, boxes):
    flips = rng.random(len(images)) < 0.5
    images = np.where(flips[:, None, None, None], images[:, :, ::-1], images)
    return images, np.where(flips[:, None], boxes[:, ::-1], boxes)


PEERS = {"numpy": in_numpy}
