"""A mix of sines, with eager operations for each element."""

import sys

import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
xs = tf.linspace(0.0, 10.0, N)

ys = tf.stack([tf.sin(x) + tf.cos(x) * 0.5 for x in xs])  # one operation after the other

print(ys.shape, ys.dtype.name, f"{float(tf.reduce_mean(ys)):.3f}")
