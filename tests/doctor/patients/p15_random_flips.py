"""Random flips of image and label together through tf.numpy_function, in tf.data."""

import sys

import numpy as np
import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 500
rng = np.random.default_rng(0)
images = np.arange(N * 16 * 16, dtype=np.float32).reshape(N, 16, 16)
labels = images[:, ::2, ::2].copy()


def flip(image, label):
    if rng.random() < 0.5:
        return image[:, ::-1].copy(), label[:, ::-1].copy()
    return image, label


ds = tf.data.Dataset.from_tensor_slices((images, labels))
ds = ds.map(lambda image, label: tf.numpy_function(flip, [image, label], [tf.float32, tf.float32]))
total, flipped = 0.0, 0
for image, label in ds.batch(50):
    total += float(tf.reduce_sum(image)) + float(tf.reduce_sum(label))
    flipped += int(tf.reduce_sum(tf.cast(image[:, 0, 0] > image[:, 0, 1], tf.int32)))
print(f"{total:.0f}", flipped)
