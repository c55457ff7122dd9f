"""A hundred steps in a Python loop inside tf.map_fn, run by a session, on code that is eager now."""

import sys

import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
xs = tf.linspace(0.0, 1.0, N)


def decay(x):
    for _ in range(100):
        x = x * 0.99
    return x


ys = tf.map_fn(decay, xs)
with tf.compat.v1.Session() as sess:
    # run the graph
    result = sess.run(ys)
    print(result.shape, result.dtype, f"{result.sum():.3f}")
