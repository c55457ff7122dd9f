"""A product of two 1000x1000 matrices, eagerly and in a tf.function: nothing is wrong here."""

import sys

import tensorflow as tf

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
a = tf.ones((N, N))


@tf.function
def product(a, b):
    return tf.matmul(a, b)


print(float(tf.matmul(a, a)[0, 0]), float(product(a, a)[0, 0]))
