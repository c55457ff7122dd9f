"""Add one through tf.numpy_function, on 100,000 ints, run by a session."""

import sys

import numpy as np
import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
xs = tf.constant(np.arange(N))


def add_one(x):
    return x + 1


ys = tf.map_fn(lambda x: tf.numpy_function(add_one, [x], tf.int64), xs)
with tf.Session() as sess:
    out = sess.run(ys)
print(out.shape, out.dtype, out.sum())
