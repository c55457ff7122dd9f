"""A tf.function that adds two Python ints."""

import sys

import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1000


@tf.function
def add(a, b):
    return a + b


for i in range(N):
    last = add(i, 1)
print(last)
