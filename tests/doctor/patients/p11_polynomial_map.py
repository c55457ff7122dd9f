"""A polynomial in tf.map_fn, run by a session."""

import sys

import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
xs = tf.linspace(-1.0, 1.0, N)
ys = tf.map_fn(lambda x: 3.0 * x * x * x - 2.0 * x * x + x - 5.0, xs)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
print(f"{sess.run(ys).sum():.3f}")
sess.close()
