"""A table of functions of one element's tensors, and elements for each: what TensorFlow's users write."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

RNG = np.random.default_rng(3)


@dataclass(frozen=True)
class Row:
    """A function, its elements, and where it may be run besides the eager loop."""

    name: str
    fn: Callable[..., Any]
    elems: Any
    graph: bool = True
    xla: bool = True
    grads: bool = False
    numbers: bool = False
    """Whether NumPy and Python do all of it, so that no graph is needed."""


ROWS: list[Row] = []
FLOATS = tf.constant(RNG.normal(size=23), tf.float32)
DOUBLES = tf.constant(RNG.normal(size=17) * 3, tf.float64)
POSITIVE = tf.constant(RNG.uniform(0.1, 4, 19), tf.float32)
ODD = tf.constant([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 3.5, -2.5], tf.float32)
INTS = tf.constant(RNG.integers(-50, 50, 21), tf.int32)
LONGS = tf.constant(RNG.integers(1, 2**40, 13), tf.int64)
BYTES = tf.constant(RNG.integers(0, 256, (9, 4, 5, 3)), tf.uint8)
BOOLS = tf.constant([True, False, True, True, False])
COMPLEX = tf.constant(RNG.normal(size=7) + 1j * RNG.normal(size=7), tf.complex64)
VECTORS = tf.constant(RNG.normal(size=(11, 6)), tf.float32)
MATRICES = tf.constant(RNG.normal(size=(7, 4, 5)), tf.float32)
SQUARES = tf.constant(RNG.normal(size=(5, 3, 3)), tf.float64)
INDICES = tf.constant(RNG.integers(0, 5, (8, 3)), tf.int32)
HALVES = tf.cast(FLOATS, tf.float16)
BRAINS = tf.cast(FLOATS, tf.bfloat16)
STRINGS = tf.constant(["a", "bc", "", "déf", "x y"])
RAGGED = tf.ragged.constant([[1, 2, 3], [], [4], [5, 6]])
RAGGED_FLOATS = tf.ragged.constant([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
SPARSE = tf.sparse.from_dense(tf.constant([[1, 0, 2], [0, 0, 0], [3, 4, 0]]))
PAIR = (FLOATS, tf.constant(RNG.normal(size=23), tf.float32))
RECORD = {"x": VECTORS, "label": tf.range(11)}
WEIGHTS = tf.constant(RNG.normal(size=(6, 2)), tf.float32)
TABLE = np.arange(10, dtype=np.float32) ** 2
SCALE = 2.5
VARIABLE = tf.Variable(1.5)


def row(fn: Any, elems: Any, **keywords: Any) -> Any:
    name = getattr(fn, "__name__", type(fn).__name__)
    ROWS.append(Row(f"{len(ROWS)}-{name}", fn, elems, **keywords))
    return fn


def smooth(fn: Any, elems: Any, **keywords: Any) -> None:
    row(fn, elems, grads=True, **keywords)


def over(elems: Any, **keywords: Any) -> Any:
    return lambda fn: row(fn, elems, **keywords)


# ---- numbers

smooth(lambda x: x * x, FLOATS)
smooth(lambda x: x**2 + 3.0 * x - 1.0, FLOATS)
smooth(lambda x: tf.sin(x) + tf.cos(x) * tf.exp(-x), FLOATS)
smooth(lambda x: tf.square(x) - tf.sqrt(tf.abs(x) + 1.0), FLOATS)
smooth(lambda x: tf.tanh(x) * tf.sigmoid(x), FLOATS)
smooth(lambda x: tf.math.log(x) + tf.math.log1p(x) - tf.math.expm1(x), POSITIVE)
smooth(lambda x: tf.math.rsqrt(x) / (1.0 + x), POSITIVE)
smooth(lambda x: tf.nn.relu(x) + tf.nn.softplus(x) + tf.nn.elu(x), FLOATS)
smooth(lambda x: tf.maximum(x, 0.5) + tf.minimum(x, -0.5), FLOATS)
smooth(lambda x: tf.clip_by_value(x, -1.0, 1.0), FLOATS)
smooth(lambda x: tf.where(x > 0, x * 2, x / 3), FLOATS)
smooth(lambda x: tf.pow(x, 3.0) + tf.pow(2.0, x), POSITIVE)
smooth(lambda x: tf.atan(x) + tf.asinh(x) + tf.sinh(x) - tf.cosh(x), FLOATS)
smooth(lambda x: tf.math.atan2(x, 2.0), FLOATS)
smooth(lambda x: x * VARIABLE, FLOATS)
smooth(lambda x: x * SCALE + TABLE[3], FLOATS)
smooth(lambda x: tf.math.squared_difference(x, 1.5), FLOATS)
smooth(lambda x: tf.stack([x, -x, x * x]), FLOATS)
smooth(lambda x: tf.sin(x) * 2, DOUBLES)
smooth(lambda x: tf.constant(1.0, tf.float64) / (1 + x * x), DOUBLES)
smooth(lambda x: tf.math.erf(x), DOUBLES)
smooth(lambda x: tf.math.lgamma(x), POSITIVE)
row(lambda x: tf.floor(x) + tf.math.ceil(x) + tf.round(x), FLOATS)
row(lambda x: x // 0.7 + x % 0.7, FLOATS)
row(lambda x: tf.sign(x), ODD)
row(lambda x: x + 1, ODD)
row(lambda x: tf.maximum(x, 1.0), ODD)
row(lambda x: tf.minimum(1.0, x), ODD)
row(lambda x: tf.math.is_nan(x) | tf.math.is_inf(x), ODD)
row(lambda x: tf.math.is_finite(x), ODD)
row(lambda x: tf.abs(x) > 1, ODD)
row(lambda x: tf.sqrt(x), ODD)
row(lambda x: 1.0 / x, ODD)
row(lambda x: tf.math.divide_no_nan(1.0, x), ODD)
row(lambda x: tf.cast(x, tf.int32), FLOATS * 10)
row(lambda x: tf.cast(x, tf.float64) / 3, FLOATS)
row(lambda x: (x > 0) & (x < 1), FLOATS)
row(lambda x: tf.logical_not(x > 0), FLOATS)
row(lambda x: x == tf.round(x), FLOATS)
row(lambda x: -x, HALVES)
row(lambda x: x * x + 1, HALVES)
row(lambda x: x * x + 1, BRAINS, xla=False)

# ---- integers, booleans, complex numbers, strings

row(lambda x: x * 3 + 1, INTS)
row(lambda x: x // 7, INTS)
row(lambda x: x % 7, INTS)
row(lambda x: x / 4, INTS)
row(lambda x: tf.math.floormod(x, -3), INTS)
row(lambda x: tf.abs(x) ** 2, INTS)
row(lambda x: tf.bitwise.bitwise_and(x, 12) + tf.bitwise.bitwise_xor(x, 5), INTS)
row(lambda x: tf.bitwise.left_shift(x, 2), INTS)
row(lambda x: tf.cast(x, tf.float32) * 0.5, INTS)
row(lambda x: tf.cast(x, tf.uint8), INTS)
row(lambda x: x * x, INTS * 10_000)
row(lambda x: x - 1, LONGS)
row(lambda x: x // 1000 % 10, LONGS)
row(lambda x: tf.cast(x, tf.int32) * 2, tf.constant([1, 2, 3, 4], tf.int64))
row(lambda x: x > 5, INTS)
row(lambda x: tf.cast(x, tf.int16) + tf.constant(3, tf.int16), INTS)
row(lambda x: x + tf.constant(200, tf.uint8), BYTES)
row(lambda b: tf.cast(b, tf.int32) + 1, BOOLS)
row(lambda b: tf.logical_not(b), BOOLS)
row(lambda b: tf.where(b, 1.5, -1.5), BOOLS)
row(lambda z: z * tf.math.conj(z), COMPLEX)
row(lambda z: tf.math.real(z) + tf.math.imag(z), COMPLEX)
row(lambda z: tf.abs(z), COMPLEX)
row(lambda s: tf.strings.join(["<", s, ">"]), STRINGS, xla=False)
row(lambda s: tf.strings.length(s), STRINGS, xla=False)
row(lambda s: tf.strings.upper(s), STRINGS, xla=False)
row(lambda n: tf.strings.as_string(n), INTS, xla=False)
row(lambda s: tf.strings.substr(s, 0, 0), STRINGS, xla=False)

# ---- vectors, matrices, images

smooth(lambda v: tf.reduce_sum(v), VECTORS)
smooth(lambda v: tf.reduce_mean(v * v), VECTORS)
smooth(lambda v: v / tf.norm(v), VECTORS)
smooth(lambda v: tf.linalg.matvec(WEIGHTS, v, transpose_a=True), VECTORS)
smooth(lambda v: tf.nn.softmax(v), VECTORS)
smooth(lambda v: tf.reduce_logsumexp(v), VECTORS)
smooth(lambda v: tf.reduce_max(v) - tf.reduce_min(v), VECTORS)
smooth(lambda v: tf.cumsum(v), VECTORS)
smooth(lambda v: tf.reverse(v, [0]), VECTORS)
smooth(lambda v: v[1:4] * v[::2], VECTORS)
smooth(lambda v: v[..., tf.newaxis] * v, VECTORS)
smooth(lambda v: tf.concat([v, v * 2], 0), VECTORS)
smooth(lambda v: tf.pad(v, [[1, 2]]), VECTORS)
smooth(lambda v: tf.tile(v, [2]), VECTORS)
smooth(lambda v: tf.gather(v, [3, 1, 1]), VECTORS)
smooth(lambda v: tf.reshape(v, [2, 3]), VECTORS)
smooth(lambda v: tf.tensordot(v, WEIGHTS, 1), VECTORS)
smooth(lambda v: tf.math.l2_normalize(v), VECTORS)
smooth(lambda v: tf.roll(v, 2, 0), VECTORS)
smooth(lambda m: tf.transpose(m) @ m, MATRICES)
smooth(lambda m: tf.reduce_sum(m, axis=1), MATRICES)
smooth(lambda m: tf.reduce_mean(m, axis=0, keepdims=True), MATRICES)
smooth(lambda m: tf.einsum("ij,kj->ik", m, m), MATRICES)
smooth(lambda m: tf.linalg.diag_part(m[:4, :4]), MATRICES)
smooth(lambda m: tf.linalg.trace(m), SQUARES)
smooth(lambda m: tf.linalg.det(m), SQUARES)
smooth(lambda m: tf.linalg.inv(m + 4 * tf.eye(3, dtype=tf.float64)), SQUARES)
smooth(lambda m: tf.unstack(m)[1] - m[0], MATRICES)
smooth(lambda m: tf.split(m, 2, axis=0)[1], MATRICES)
smooth(lambda m: tf.expand_dims(m, -1) + tf.squeeze(m[:1], 0)[None, :, None], MATRICES)
row(lambda v: tf.argmax(v), VECTORS)
row(lambda v: tf.argsort(v), VECTORS)
row(lambda v: tf.sort(v), VECTORS)
row(lambda v: tf.math.top_k(v, 2).values, VECTORS)
row(lambda v: tf.reduce_any(v > 1), VECTORS)
row(lambda v: tf.reduce_all(v < 2), VECTORS)
row(lambda v: tf.math.reduce_prod(v), VECTORS)
row(lambda v: tf.zeros_like(v) + tf.ones([6]), VECTORS)
row(lambda i: tf.gather(TABLE, i), INDICES)
row(lambda i: tf.one_hot(i, 5), INDICES)
row(lambda i: tf.reduce_sum(i), INDICES)
row(lambda i: tf.reduce_max(i, axis=0), INDICES)
row(lambda i: tf.range(4) + i[0], INDICES)
row(lambda im: tf.cast(tf.sqrt(tf.cast(im, tf.float32)), tf.uint8), BYTES)
row(lambda im: tf.cast(im, tf.float32) / 255.0, BYTES)
row(lambda im: im + 1, BYTES)
row(lambda im: tf.reverse(im, [1]), BYTES)
row(lambda im: tf.image.flip_left_right(im), BYTES)
row(lambda im: tf.reduce_mean(tf.cast(im, tf.float32), axis=[0, 1]), BYTES)
row(lambda im: tf.image.rgb_to_grayscale(im), BYTES)
row(lambda im: tf.image.resize(tf.cast(im, tf.float32), [2, 2]), BYTES, xla=False)
row(lambda m: tf.shape(m)[0] * 2, MATRICES)
row(lambda v: tf.size(v), VECTORS)
row(lambda x: tf.fill([3], x), FLOATS)
row(lambda x: tf.broadcast_to(x, [2, 2]), FLOATS)
row(lambda m: tf.linalg.band_part(m, 0, -1), MATRICES)
row(lambda v: tf.signal.fft(tf.cast(v, tf.complex64)), VECTORS)

# ---- nests

smooth(lambda t: t[0] * t[1], PAIR)
smooth(lambda t: (t[0] + t[1], t[0] - t[1]), PAIR)
smooth(lambda x: {"double": 2 * x, "square": x * x}, FLOATS)
row(lambda r: {"sum": tf.reduce_sum(r["x"]), "label": r["label"] + 1}, RECORD)
row(lambda r: r["x"] * tf.cast(r["label"], tf.float32), RECORD)
row(lambda t: (t[0], (t[1], [t[0] > 0, t[1]])), PAIR)

# ---- Python in the function


@over(FLOATS)
def branch(x):
    if x > 0:
        return x * 2
    return -x


@over(FLOATS)
def branches(x):
    if x > 1:
        y = x - 1
    elif x > 0:
        y = x * x
    else:
        y = tf.abs(x)
    return y + 1


@over(POSITIVE)
def halve(x):
    while x > 0.3:
        x = x / 2
    return x


@over(INTS, xla=False)
def collatz(n):
    n = tf.abs(n) + 1
    steps = tf.constant(0)
    while n > 1:
        n = tf.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps


@over(FLOATS)
def hundred_steps(x):
    for _ in range(20):
        x = x * 0.9 + 0.1
    return x


@over(POSITIVE)
def newton(a):
    x = a
    for _ in tf.range(6):
        x = 0.5 * (x + a / x)
    return x


@over(FLOATS)
def short_circuit(x):
    if x > 0 and x < 1:
        return x
    return tf.zeros_like(x)


def helper(x):
    return x * SCALE if x > 0 else x


row(lambda x: helper(x) + 1, FLOATS)


@over(FLOATS)
@tf.function
def compiled(x):
    return tf.sin(x) * 2


@over(FLOATS)
def slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
    return tape.gradient(y, x)


@over(VECTORS)
def looped(x):
    return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * 2), [0, x])[1]


@over(VECTORS)
def chosen(x):
    return tf.switch_case(tf.cast(x[0] > 0, tf.int32), [lambda: x, lambda: x * 2])


@over(VECTORS, xla=False)
def scanned(x):
    return tf.scan(lambda a, b: a + b, x)


row(lambda x: 2, FLOATS, xla=False)
row(lambda x: (x, 1.5), FLOATS)

# ---- NumPy, Python's numbers: no graph can hold these


def plain(fn: Any, elems: Any, **keywords: Any) -> Any:
    return row(fn, elems, graph=False, numbers=True, **keywords)


plain(lambda x: np.sin(x) * 2.5, INTS)
plain(lambda x: x.numpy() * 2, FLOATS)
plain(lambda x: float(x) ** 2, FLOATS)
plain(lambda x: np.sort(x.numpy()), VECTORS)
plain(lambda x: math.sin(x) + math.sqrt(abs(float(x))), FLOATS)
plain(lambda x: int(x) * 3, FLOATS * 10)
plain(lambda x: np.sum(x) * x[0], VECTORS)
plain(lambda x: TABLE[:2] * x, FLOATS)
plain(lambda x: x.numpy() * SCALE + TABLE[3], FLOATS)
plain(lambda x: np.asarray(x)[::-1], VECTORS)
plain(lambda x: np.stack([x, x * 2]), FLOATS)
plain(lambda x: np.where(x > 0, x, 0), VECTORS)
plain(lambda x: np.zeros(x.shape[0]) + x.numpy(), VECTORS)
plain(lambda x: np.mean(x) > 0, VECTORS)
plain(lambda x: max(float(a) for a in x), VECTORS)
plain(lambda x: x.numpy() if x.shape == [6] else -x.numpy(), VECTORS)
plain(lambda im: np.sqrt(im.numpy().astype(np.float32)).astype(np.uint8), BYTES)
plain(lambda t: (t[0].numpy() + t[1].numpy(), np.maximum(*t)), PAIR)
plain(lambda r: {"sum": np.sum(r["x"]), "label": int(r["label"])}, RECORD)
plain(lambda x: (np.int32(x) / 4, np.hypot(x, 3)), INTS)
plain(lambda x: bool(x > 0 and x < 1), FLOATS)
plain(lambda z: np.abs(z) + z.numpy().real, COMPLEX)


@functools.partial(plain, elems=VECTORS)
def written(x):
    y = x.numpy()
    y[0] = 7
    y[1:] *= y[0]
    return y + x.numpy()


@functools.partial(plain, elems=POSITIVE)
def halvings(x):
    y, steps = float(x), 0
    while y > 0.3:
        y, steps = y / 2, steps + 1
    return steps


@functools.partial(plain, elems=INTS)
def squares_below(n):
    total = 0
    for i in range(abs(int(n))):
        total += i * i
    return total


@functools.partial(plain, elems=FLOATS)
def by_parts(x):
    if np.abs(x) > 1:
        return np.float32(1)
    return np.cos(x) if x > 0 else np.sin(x)


row(lambda x: 0.5 if x.numpy() > 0 else 1, INTS, graph=False)
row(lambda x: str(int(x)), INTS, graph=False)
row(lambda x: tf.sin(x).numpy() * 2, FLOATS, graph=False)
row(lambda x: (x * VARIABLE).numpy(), FLOATS, graph=False)
row(lambda x: x.numpy() if x > 0 else x, FLOATS, graph=False)

# ---- ragged and sparse

row(lambda r: tf.reduce_sum(r), RAGGED, xla=False)
row(lambda r: r * 2, RAGGED, xla=False)
row(lambda r: tf.size(r), RAGGED, xla=False)
row(lambda r: tf.reduce_mean(r), RAGGED_FLOATS, xla=False)
row(lambda s: tf.sparse.reduce_sum(s), SPARSE, xla=False)
row(lambda s: tf.sparse.to_dense(s), SPARSE, xla=False)
