"""The same polynomial, written for all elements: nothing is wrong here."""

import sys

import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
xs = tf.linspace(-1.0, 1.0, N)
ys = 3.0 * xs * xs * xs - 2.0 * xs * xs + xs - 5.0
print(f"{ys.numpy().sum():.3f}")
