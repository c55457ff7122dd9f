"""Functions of one element that `benchmarks.tensorflow` maps, the same by hand for a batch, and their elements."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from skimage.transform import rotate

NUMBERS, IMAGES = (1, 10, 100, 1_000, 10_000, 100_000), (1, 10, 100, 1_000)
FEW, SMALL = (1, 10, 50), (1, 10, 100, 1_000, 10_000)
"""Of images that take long, and of small ones."""
EAGER = ("eager",)
MAPS = ("eager", "up.map", "graph", "tape", "graph tape", "pipeline")
UNDRAWN = ("eager", "graph", "pipeline")
"""Without a gradient."""
MODES = (*MAPS, "function")


@dataclass(frozen=True)
class Case:
    """A function of one element, the same written for a batch by hand, and how elements are made."""

    name: str
    fn: Callable[[Any], Any]
    direct: Callable[[Any], Any] | None
    data: Callable[[int], Any]
    sizes: tuple[int, ...] = NUMBERS
    random: bool = False
    autograph: bool = False
    numpy: Callable[[Any], Any] | None = None
    """The same of an array, where it is no function of tensors that a graph could hold."""
    modes: tuple[str, ...] = MAPS
    usual: int = 1_000
    """How many elements there are in modes other than eager."""
    signature: Any = None
    """What `tf.map_fn` has to be told."""
    wrap: Callable[[Any], Any] = lambda fn: fn

    def fresh(self) -> Any:
        """The function, as one that nobody has seen before."""
        fn = self.fn
        return self.wrap(types.FunctionType(fn.__code__.replace(), fn.__globals__, fn.__name__, fn.__defaults__))


def square(x: Any) -> Any:
    return x * x


def sine_mix(x: Any) -> Any:
    return tf.sin(x) + tf.cos(x) * tf.exp(-x)


def polynomial(x: Any) -> Any:
    return x**3 - 2.0 * x**2 + 3.0 * x - 1.0


def hundred_steps(x: Any) -> Any:
    for _ in range(100):
        x = x * 0.99 + 0.01
    return x


def accumulate(x: Any) -> Any:
    total, i = tf.constant(0.0), tf.constant(0)
    while i < 50:
        if x * tf.cast(i, tf.float32) > 1.0:
            total += x
        i += 1
    return total


def root(image: Any) -> Any:
    return tf.sqrt(image)


def root_of_bytes(image: Any) -> Any:
    return tf.cast(tf.sqrt(tf.cast(image, tf.float32)), tf.uint8)


def add_one(x: Any) -> Any:
    return x + 1.0


def flip(pair: Any) -> Any:
    image, label = pair
    if tf.random.uniform(()) > 0.5:
        return tf.reverse(image, [1]), 1 - label
    return image, label


def flip_batch(pair: Any) -> Any:
    images, labels = pair
    draw = tf.random.uniform([tf.shape(labels)[0]]) > 0.5
    flipped = tf.where(draw[:, None, None, None], tf.reverse(images, [2]), images)
    return flipped, tf.where(draw, 1 - labels, labels)


def numpy_sines(x: Any) -> Any:
    return np.sin(x) + np.cos(x) * np.exp(-x)


def on_numpy_sines(x: Any) -> Any:
    return numpy_sines(x.numpy())


def numpy_sines_of_batch(xs: Any) -> Any:
    return tf.numpy_function(numpy_sines, [xs], tf.float32)


def checkered(image: Any) -> Any:
    out = image.copy()
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = image[i, j] * 2 if (i + j) % 2 else image[i, j] + 1
    return out


def on_checkered(x: Any) -> Any:
    return checkered(x.numpy())


def turned(image: Any) -> Any:
    return rotate(image, 30.0)


def on_turned(x: Any) -> Any:
    return turned(x.numpy())


def numbers(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).uniform(0, 2, n), tf.float32)


def side(n: int) -> int:
    return 256 if n < 1_000 else 128


def pictures(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).random((n, side(n), side(n), 3), np.float32))


def pictures_of_bytes(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).integers(0, 256, (n, side(n), side(n), 3), np.uint8))


def small_pictures(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).random((n, 24, 24), np.float32))


def labelled(n: int) -> Any:
    return pictures_of_bytes(n), tf.range(n) % 2


def power(x: Any) -> Any:
    return x**2


def fifty_turns(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 50, lambda i, y: (i + 1, y * 0.99 + tf.sin(y)), (0, x))[1]


def top(x: Any) -> Any:
    return tf.math.top_k(x, 5).values


def in_order(x: Any) -> Any:
    return tf.sort(x)


def solved(pair: Any) -> Any:
    return tf.linalg.solve(pair[0], pair[1][:, None])[:, 0]


def solved_in_batch(pair: Any) -> Any:
    return tf.linalg.solve(pair[0], pair[1][:, :, None])[:, :, 0]


def eigenvalues(matrix: Any) -> Any:
    return tf.linalg.eigvalsh(matrix)


def standardised(x: Any) -> Any:
    return (x - tf.reduce_mean(x)) / (tf.math.reduce_std(x) + 1e-6)


def standardised_in_batch(xs: Any) -> Any:
    return (xs - tf.reduce_mean(xs, 1, keepdims=True)) / (tf.math.reduce_std(xs, 1, keepdims=True) + 1e-6)


def affinity(v: Any) -> Any:
    return tf.reduce_sum(tf.exp(-((v[:, None] - v[None, :]) ** 2)))


def signed_root(x: Any) -> Any:
    return tf.sqrt(x) if x > 1 else -x


def vectors(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).uniform(0, 2, (n, 100)), tf.float32)


def long_vectors(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).uniform(0, 2, (n, 1_000)), tf.float32)


def systems(n: int) -> Any:
    made = np.random.default_rng(7).uniform(0, 1, (n, 8, 8)) + 8 * np.eye(8)
    return tf.constant(made, tf.float32), tf.constant(np.ones((n, 8)), tf.float32)


def symmetric(n: int) -> Any:
    made = np.random.default_rng(7).normal(size=(n, 8, 8))
    return tf.constant(made + made.swapaxes(1, 2), tf.float32)


# ---- whole functions

WEIGHTS, OPTIMIZER = tf.Variable(tf.zeros((4, 1))), tf.keras.optimizers.SGD(0.0)


def train_step(x: Any, y: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ WEIGHTS - y) ** 2)
    OPTIMIZER.apply_gradients(zip(tape.gradient(loss, [WEIGHTS]), [WEIGHTS]))
    return loss


def iterate(x: Any, n: int) -> Any:
    for _ in range(n):
        x = tf.sin(x) * 0.5 + tf.cos(x)
    return x


def training_batch(n: int) -> Any:
    rng = np.random.default_rng(7)
    return tf.constant(rng.normal(size=(n, 4)), tf.float32), tf.constant(rng.normal(size=(n, 1)), tf.float32)


CASES = (
    Case("squares", square, square, numbers),
    Case("sine mix", sine_mix, sine_mix, numbers),
    Case("polynomial", polynomial, polynomial, numbers),
    Case("100 steps", hundred_steps, hundred_steps, numbers, autograph=True),
    Case("add one", add_one, add_one, numbers),
    Case("conditional accumulation", accumulate, None, numbers, autograph=True),
    Case("sqrt of images", root, root, pictures, IMAGES, usual=10),
    Case("cast, sqrt, cast", root_of_bytes, root_of_bytes, pictures_of_bytes, IMAGES, modes=UNDRAWN, usual=10),
    Case("random flip", flip, flip_batch, labelled, IMAGES, random=True, autograph=True, modes=UNDRAWN, usual=10),
    Case("NumPy's sines", on_numpy_sines, numpy_sines_of_batch, numbers, numpy=numpy_sines, modes=EAGER),
    Case("writes by pixel 24x24", on_checkered, None, small_pictures, SMALL, numpy=checkered, modes=EAGER),
    Case("rotation by skimage", on_turned, None, pictures, FEW, numpy=turned, modes=EAGER),
    Case("power", power, power, numbers, (1_000,)),
    Case("if", signed_root, None, numbers, (1_000,), autograph=True),
    Case("while_loop with an int", fifty_turns, fifty_turns, vectors, (64,), usual=64),
    Case("top_k", top, top, vectors, (64,), usual=64),
    Case("sort", in_order, in_order, vectors, (64,), usual=64),
    Case("solve", solved, solved_in_batch, systems, (64,), usual=64, signature=tf.float32),
    Case("eigvalsh", eigenvalues, eigenvalues, symmetric, (64,), usual=64),
    Case("standardise", standardised, standardised_in_batch, vectors, (1_000,)),
    Case("affinity", affinity, None, long_vectors, (50,), usual=50),
    Case("a tf.function of sines", sine_mix, sine_mix, numbers, (1_000,), wrap=tf.function),
    Case("a tf.function of 100 steps", hundred_steps, hundred_steps, numbers, (1_000,), wrap=tf.function),
    Case("training step", train_step, None, training_batch, modes=("function",), usual=32),
    Case("50 turns", iterate, None, lambda n: (vectors(1)[0], 50), modes=("function",), usual=1),
)
