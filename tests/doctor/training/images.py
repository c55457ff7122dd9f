"""Trains a small convolutional network on made-up images, with a tf.data pipeline and a loop of its own."""

import argparse
import dataclasses

import numpy as np
import tensorflow as tf


@dataclasses.dataclass
class Options:
    """What the command line says."""

    examples: int = 64
    size: int = 8
    batch: int = 16
    epochs: int = 1
    rate: float = 0.05


def read_options():
    parser = argparse.ArgumentParser(description=__doc__)
    for field in dataclasses.fields(Options):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    return Options(**vars(parser.parse_args()))


def make_images(options):
    """Squares and crosses, with noise."""
    rng = np.random.default_rng(7)
    images = rng.integers(0, 64, (options.examples, options.size, options.size, 1)).astype(np.uint8)
    labels = np.arange(options.examples) % 2
    half = options.size // 2
    for image, label in zip(images, labels):
        if label:
            image[half, :] = 255
            image[:, half] = 255
        else:
            image[1:half, 1:half] = 255
    return images, labels.astype(np.int32)


def scale(image):
    return tf.cast(image, tf.float32) * 0.00390625


def make_pipeline(images, labels, options):
    pixels = tf.data.Dataset.from_tensor_slices(images)
    pixels = pixels.map(scale).batch(options.batch)
    answers = tf.data.Dataset.from_tensor_slices(labels).batch(options.batch)
    return tf.data.Dataset.zip((pixels, answers))


class Network(tf.Module):
    """One convolution, one dense layer."""

    def __init__(self, options):
        super().__init__()
        start = np.random.default_rng(1)
        self.kernel = tf.Variable(start.normal(0, 0.3, (3, 3, 1, 4)).astype(np.float32))
        self.weights = tf.Variable(start.normal(0, 0.1, (options.size * options.size * 4, 2)).astype(np.float32))
        self.bias = tf.Variable(tf.zeros(2))

    def __call__(self, images):
        hidden = tf.nn.relu(tf.nn.conv2d(images, self.kernel, 1, "SAME"))
        flat = tf.reshape(hidden, (tf.shape(hidden)[0], -1))
        return tf.matmul(flat, self.weights) + self.bias


@tf.function
def step(network, images, labels, rate):
    with tf.GradientTape() as tape:
        logits = network(images)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    variables = network.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(rate * gradient)
    return loss


def measure_accuracy(network, data):
    right = total = 0
    for images, labels in data:
        guesses = tf.argmax(network(images), axis=1, output_type=tf.int32)
        right += int(tf.reduce_sum(tf.cast(guesses == labels, tf.int32)))
        total += len(labels)
    return right / total


def count_bright(images):
    """How many bright pixels each image has: one call for each image."""
    flat = tf.cast(images, tf.float32)
    scaled = tf.map_fn(lambda image: image * 0.5 + 1.0, flat)
    return tf.reduce_sum(tf.cast(scaled > 100.0, tf.int32), axis=(1, 2, 3))


def smooth(values):
    """An exponential average of the losses."""
    average, out = values[0], []
    for value in values:
        average = 0.9 * average + 0.1 * value
        out.append(average)
    return out


def main():
    options = read_options()
    images, labels = make_images(options)
    data = make_pipeline(images, labels, options)
    network = Network(options)
    rate = tf.constant(options.rate)
    losses = []
    for epoch in range(options.epochs):
        for batch, answers in data:
            loss = step(network, batch, answers, rate)
            losses.append(loss)  # converted once, below
        print("epoch", epoch, "accuracy", round(measure_accuracy(network, data), 3))
    values = [float(v) for v in losses]
    print("losses", [f"{v:.3f}" for v in smooth(values)])
    print("bright", int(tf.reduce_sum(count_bright(images))))


if __name__ == "__main__":
    main()
