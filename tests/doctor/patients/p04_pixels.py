"""Pixel by pixel into an image, in nested Python loops inside tf.map_fn: tensors do not take items."""

import sys

import numpy as np
import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 100
SIZE = int(sys.argv[2]) if len(sys.argv) > 2 else 64
images = tf.constant(np.arange(N * SIZE * SIZE * 3, dtype=np.float32).reshape(N, SIZE, SIZE, 3) % 256)


def brighten(image):
    for i in range(SIZE):
        for j in range(SIZE):
            for c in range(3):
                image[i, j, c] = image[i, j, c] * 0.5 + 16.0
    return image


out = tf.map_fn(brighten, images)
print(out.shape, out.dtype.name, f"{float(tf.reduce_mean(out)):.3f}")
