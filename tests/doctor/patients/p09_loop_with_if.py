"""A loop of 10,000 with an `if`, inside a tf.function."""

import tensorflow as tf


@tf.function
def count():
    total = 0
    for i in tf.range(10_000):
        if i % 3 == 0:
            total += i
    return total


for _ in range(5):
    result = count()
print(result)
