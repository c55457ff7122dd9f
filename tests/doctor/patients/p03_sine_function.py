"""The mix of sines in tf.map_fn under tf.function, with 10,000 elements."""

import sys

import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000


@tf.function
def mix(xs):
    return tf.map_fn(lambda x: tf.sin(x) + tf.cos(x) * 0.5, xs)


xs = tf.linspace(0.0, 10.0, N)
ys = mix(xs)
print(ys.shape, ys.dtype.name, f"{float(tf.reduce_mean(ys)):.3f}")
