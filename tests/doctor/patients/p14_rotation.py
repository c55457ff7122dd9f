"""Rotation by scikit-image through tf.numpy_function, against tf.contrib.image.rotate, which is gone."""

import sys

import numpy as np
import tensorflow as tf
from skimage.transform import rotate

N = int(sys.argv[1]) if len(sys.argv) > 1 else 50
images = np.zeros((N, 32, 32, 1), np.float32)
images[:, 8:24, 12:20] = 1.0
images = tf.constant(images)


def by_skimage(image):
    return rotate(image, 90.0, order=0).astype(np.float32)


slow = tf.map_fn(lambda im: tf.numpy_function(by_skimage, [im], tf.float32), images)
fast = tf.contrib.image.rotate(images, np.pi / 2)
print(slow.shape, fast.shape, float(tf.reduce_sum(fast)), bool(tf.reduce_all(tf.abs(slow - fast) < 0.5)))
