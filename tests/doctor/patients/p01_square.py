"""Squares of an array of 1,000: a list comprehension, and tf.map_fn."""

import sys

import numpy as np
import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
array = np.linspace(0.0, 1.0, N)
xs = tf.constant(array, dtype=tf.float32)

squares = [x * x for x in array]
mapped = tf.map_fn(lambda x: x * x, xs)

print("comprehension", len(squares), f"{sum(squares):.6f}", type(squares[0]).__name__)
print("map_fn", mapped.shape, mapped.dtype.name, f"{float(tf.reduce_sum(mapped)):.4f}")
