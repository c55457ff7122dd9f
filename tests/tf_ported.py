"""Functions of the kinds that TensorFlow's own tests of maps go through, and elements for them, as tables."""

from __future__ import annotations

import collections
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

RNG = np.random.default_rng(7)
Ragged, Spec = tf.ragged.constant, tf.RaggedTensorSpec


@dataclass(frozen=True)
class Case:
    """One map: what TensorFlow's own gives for it, ours gives, too."""

    name: str
    fn: Any
    elems: Any
    signature: Any = None
    slopes: bool = True
    """Whether gradients are compared, where there are floats."""
    vectorized: bool = False
    """Whether this is for `vectorized_map`, else for `map_fn`."""
    everywhere: bool = False
    """Whether it is run in every mode; others are run in some."""


def floats(*shape: int, low: float = -1.0, dtype: str = "float32") -> Any:
    return tf.constant(RNG.uniform(low, 1.0, shape).astype(dtype))


def ints(*shape: int, most: int = 10) -> Any:
    return tf.constant(RNG.integers(0, most, shape), tf.int32)


NUMBERS = np.array([3, 1, 4, 1, 5, 9])
TABLE, KERNEL, LOOKED_UP = floats(4, 3), floats(2, 2, 1, 2), floats(5, 2)
LEVEL = tf.Variable([0.5, -0.25, 2.0])
Pair = collections.namedtuple("Pair", "left right")


# ---- map_fn: structures, dtypes, lengths


def turned(x: Any) -> Any:
    return {"up": x["down"], "down": [x["up"], x["down"] * 2.0]}


def steps_of_a_loop(x: Any) -> Any:
    total = tf.zeros([])
    for i in tf.range(4):
        if x[0] > 0.0:
            total += x[0] * tf.cast(i, tf.float32)
        else:
            total -= x[1]
    return total


def halved_often(x: Any) -> Any:
    count = 0
    while tf.abs(x) > 0.1:
        x /= 2.0
        count += 1
    return x, count


@tf.custom_gradient
def clipped(x: Any) -> Any:
    return x * 2.0, lambda upstream: tf.clip_by_value(upstream, -0.5, 0.5)


def map_within(x: Any) -> Any:
    return tf.map_fn(lambda y: y * 2.0 + x[0], x)


def row_of_a_table(i: Any) -> Any:
    return tf.gather(TABLE, i % 4) * LEVEL


MAPPED = [
    Case("sums and products", lambda x: (x - 2) * 5, tf.constant(NUMBERS, tf.int32)),
    Case("an array of NumPy's", lambda x: (x - 2) * 5, NUMBERS),
    Case("a list of arrays", lambda x: x[0] * x[1], [NUMBERS, NUMBERS[::-1].copy()], tf.int64),
    Case("several results", lambda x: (x * 3 + 1, x - 7), NUMBERS, (tf.int64, tf.int64)),
    Case("several elements, one result", lambda t: t[0] * t[1][1] - t[1][0], (NUMBERS, (NUMBERS, -NUMBERS)), tf.int64),
    Case("results built like elements", lambda t: (t[1][1], (t[0], t[1][0])), (NUMBERS, (NUMBERS * 2, -NUMBERS))),
    Case("dicts in, dicts and lists out", turned, {"up": floats(4), "down": floats(4)},
         {"up": tf.float32, "down": [tf.float32, tf.float32]}),
    Case("named tuples", lambda p: Pair(p.right, p.left), Pair(floats(3), floats(3))),
    Case("one element", lambda x: x + 1.0, floats(1, 3)),
    Case("other dtype", lambda x: tf.cast(x, tf.float64) / 3, NUMBERS, tf.float64),
    Case("truth", lambda x: x > 3, NUMBERS, tf.bool),
    Case("texts from numbers", tf.strings.as_string, NUMBERS, tf.string),
    Case("lengths of texts", tf.strings.length, tf.constant(["a", "bcd", ""]), tf.int32),
    Case("parts of texts", lambda s: tf.strings.substr(s, 0, 2), tf.constant(["spring", "autumn"])),
    Case("complex", lambda z: tf.math.conj(z) * z, tf.complex(floats(4), floats(4))),
    Case("half", lambda x: x * x + x, floats(5, dtype="float16")),
    Case("a shape that is told", lambda x: x[:2] * 2.0, floats(4, 3), tf.TensorSpec([2], tf.float32)),
    Case("a size that is not told", lambda x: x[:2] * 2.0, floats(4, 3), tf.TensorSpec([None], tf.float32)),
    Case("an unknown rank is told", lambda x: x[:2] * 2.0, floats(4, 3), tf.TensorSpec(None, tf.float32)),
    Case("a constant", lambda x: 1.0, floats(4)),
    Case("decisions in a loop", steps_of_a_loop, floats(6, 2), tf.float32, everywhere=True),
    Case("a loop until", halved_often, floats(5), (tf.float32, tf.int32), everywhere=True),
    Case("a map within", map_within, floats(3, 4), everywhere=True),
    Case("a gradient of one's own", clipped, floats(3, 2), tf.float32),
    Case("a variable and a table", row_of_a_table, tf.range(6), tf.float32),
    Case("a method of an object", functools.partial(tf.multiply, y=3.0), floats(4)),
    Case("sparse as it is", lambda s: s, tf.sparse.from_dense([[0, 4, 0], [5, 0, 6], [0, 0, 0]])),
    Case("sums of sparse", tf.sparse.reduce_sum, tf.sparse.from_dense([[0, 4, 0], [5, 0, 6]]), tf.int32),
    Case("dense of sparse", tf.sparse.to_dense, tf.sparse.from_dense([[0, 4, 0], [5, 0, 6]]), tf.int32),
    Case("sparse of dense", tf.sparse.from_dense, ints(3, 4, most=2), tf.SparseTensorSpec([4], tf.int32)),
]  # fmt: skip

# ---- map_fn: ragged elements and results


UNEVEN = Ragged([[3, 1, 4], [1, 5], [], [9]], tf.int64)
UNEVEN_FLOATS = Ragged([[3.0, 1.0, 4.0], [1.0, 5.0], [9.0]])
PAIRS = Ragged([[[3, 1], [4, 1]], [], [[5, 9]]], tf.int64, ragged_rank=1)
DEEP = Ragged([[[3, 1, 4]], [[1], [5, 9]]], tf.int64)
DEEPEST = Ragged([[[[[3, 1]], [[4], []]]], [[[[1]]], [[[5, 9], [2]]]]], tf.int64)
WORDS = Ragged([["if", "not", "now"], ["when"], ["else", "?"]])
PLACES = Ragged([[2, 0], [0], [1]])


def mean_and_sum(x: Any) -> Any:
    return tf.stack([tf.reduce_mean(x), tf.reduce_sum(x)])


def numbered(t: Any) -> Any:
    number, row = t
    return tf.stack([tf.fill(tf.shape(row), number), row], axis=1)


def more(d: Any) -> Any:
    return {"one": d["one"] + 1, "ten": d["ten"] + 10}


RAGGED = [
    Case("means", tf.reduce_mean, Ragged([[3, 1, 4], [1, 5], [9]]), tf.int32),
    Case("joined texts", tf.strings.reduce_join, WORDS, tf.string),
    Case("two numbers a row", mean_and_sum, UNEVEN_FLOATS, tf.float32),
    Case("rows", lambda x: x + np.int64(2), UNEVEN, Spec([None], tf.int64)),
    Case("rows of floats", lambda x: tf.sin(x) * x, UNEVEN_FLOATS, Spec([None], tf.float32)),
    Case("rows of pairs", lambda x: x + np.int64(2), PAIRS, Spec([None, 2], tf.int64, ragged_rank=0)),
    Case("deeper by one", lambda x: tf.RaggedTensor.from_row_starts(x, [0]), Ragged([[3, 1], [4], [1]]),
         Spec([None, None], tf.int32)),
    Case("flat values", lambda x: tf.ragged.map_flat_values(tf.add, x, 1), DEEP, Spec([None, None], tf.int64)),
    Case("sums along", lambda x: tf.reduce_sum(x, axis=1), DEEP, Spec([None], tf.int64)),
    Case("sums across", lambda x: tf.reduce_sum(x, axis=0), DEEP, Spec([None], tf.int64)),
    Case("sums of all", tf.reduce_sum, DEEP, tf.int64),
    Case("ranges", tf.range, tf.constant([4, 0, 2]), Spec([None], tf.int32)),
    Case("ranges of ranges", lambda n: tf.ragged.range(tf.range(n)), tf.constant([3, 0, 2]),
         Spec([None, None], tf.int32)),
    Case("very deep", lambda x: x + np.int64(2), DEEPEST, Spec([None] * 4, tf.int64)),
    Case("a dict of ragged", lambda d: tf.reduce_sum(d["a"]) - tf.reduce_max(d["b"]),
         {"a": UNEVEN[:2], "b": UNEVEN[:2] * 3}, tf.int64),
    Case("dicts of ragged in and out", more, {"one": UNEVEN, "ten": UNEVEN * 10},
         {"one": Spec([None], tf.int64), "ten": Spec([None], tf.int64)}),
    Case("rows and their numbers", numbered, (tf.range(4, dtype=tf.int64), UNEVEN),
         Spec([None, 2], tf.int64, ragged_rank=0)),
    Case("words by their places", lambda t: tf.gather(t[0], t[1]), (WORDS, PLACES), Spec([None], tf.string)),
    Case("ragged of sparse", lambda x: x, tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[3, 1], [4, 1]]))),
    Case("uniform rows", lambda x: x * 2, tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2)),
    Case("first of every row", lambda x: x[:1], UNEVEN, Spec([None], tf.int64)),
    Case("dense rows that are told", lambda x: x[:1] + 0, UNEVEN[:2], tf.TensorSpec([None], tf.int64)),
]  # fmt: skip

# ---- vectorized_map: many operations each


def each(name: str, elems: Any, *operations: Any, slopes: bool = True) -> Case:
    """One case for several functions of the same element."""
    return Case(name, lambda x: [operation(x) for operation in operations], elems, slopes=slopes, vectorized=True)


def pairwise(name: str, elems: Any, *operations: Any, slopes: bool = True) -> Case:
    """Functions of two, where either is an element or the same for all."""
    first, second = (leaf[0] for leaf in elems)

    def fn(t: Any) -> Any:
        a, b = t
        return [made for op in operations for made in (op(a, b), op(a, second), op(first, b))]

    return Case(name, fn, elems, slopes=slopes, vectorized=True)


maths, nn, linalg, image = tf.math, tf.nn, tf.linalg, tf.image
ROWS = floats(3, 4, 5)
SQUARE = floats(3, 4, 4) + 3.0 * tf.eye(4)
POSITIVE = tf.matmul(SQUARE, SQUARE, transpose_b=True)
IMAGES = floats(3, 6, 6, 2, low=0.0)
PHOTOS = floats(3, 4, 4, 3, low=0.0)
COMPLEX = tf.complex(floats(3, 4), floats(3, 4))


def by_cond(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x), lambda: x * TABLE[0, 0])


def by_case(x: Any) -> Any:
    return tf.switch_case(tf.cast(x[0] > 0.0, tf.int32), [lambda: x + 1.0, lambda: x * 2.0])


def by_while(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x + 1.0), [0, x])[1]


def by_while_of_its_own(x: Any) -> Any:
    return tf.while_loop(lambda y: tf.reduce_max(tf.abs(y)) > 0.25, lambda y: (y * 0.5,), [x])[0]


def by_while_over_rows(x: Any) -> Any:
    room = tf.TensorArray(tf.float32, 4)
    step = lambda i, r: (i + 1, r.write(i, x[i] * tf.cast(i, tf.float32)))
    return tf.while_loop(lambda i, r: i < 4, step, [0, room])[1].stack()


def by_array(x: Any) -> Any:
    room = tf.TensorArray(tf.float32, 4).unstack(x)
    return tf.TensorArray(tf.float32, 2).write(0, room.read(3)).write(1, room.read(0)).stack()


def by_scan(x: Any) -> Any:
    return tf.scan(lambda a, b: a * 0.5 + b, x), tf.foldl(lambda a, b: a * 0.5 + b, x)


def recurrent(x: Any) -> Any:
    state = tf.zeros([2])
    for i in range(4):
        state = tf.tanh(tf.linalg.matvec(TABLE[:2, :2], state) + x[i, :2])
    return state


def slope_within(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.reduce_sum(tf.sin(x) * x)
    return tape.gradient(made, x)


def jacobian_within(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.tanh(tf.linalg.matvec(TABLE, x[:3]))
    return tape.jacobian(made, x)


def looked_up(i: Any) -> Any:
    return [tf.gather(LOOKED_UP, i), nn.embedding_lookup(LOOKED_UP, i), tf.one_hot(i, 5), LOOKED_UP[i[0]],
            tf.gather(TABLE, i[0] % 3, axis=1), tf.gather_nd(LOOKED_UP, i[:, tf.newaxis])]  # fmt: skip


def scattered(i: Any) -> Any:
    return [tf.scatter_nd(i[:, tf.newaxis], tf.ones([3]), [5]), maths.bincount(i, minlength=5, maxlength=5),
            tf.tensor_scatter_nd_update(tf.zeros([5]), i[:1, tf.newaxis], [2.0]),
            maths.unsorted_segment_sum(tf.constant([1.0, 2.0, 3.0]), i, 5)]  # fmt: skip


VECTORIZED = [
    each("of one number", floats(3, 4), tf.abs, maths.asin, maths.asinh, maths.atan, maths.ceil, tf.cos, tf.cosh,
         maths.erf, tf.exp, maths.expm1, tf.floor, tf.negative, maths.rint, tf.sign, tf.sin, tf.sinh, tf.sigmoid,
         tf.square, tf.tan, tf.tanh),
    each("of one positive number", floats(3, 4, low=0.5) + 0.6, maths.acosh, maths.digamma, maths.lgamma, tf.math.log,
         maths.log1p, maths.reciprocal, maths.rsqrt, tf.sqrt, maths.erfc),
    each("activations", floats(3, 4), nn.elu, nn.gelu, nn.relu, nn.relu6, nn.selu, nn.softplus, nn.softsign, nn.swish,
         nn.leaky_relu, nn.softmax, nn.log_softmax, nn.l2_loss, lambda x: tf.clip_by_value(x, -0.5, 0.5)),
    each("what tensors are", floats(3, 4), tf.shape, tf.size, tf.rank, tf.zeros_like, tf.ones_like, maths.is_nan,
         maths.is_finite, tf.identity, tf.stop_gradient, lambda x: tf.fill([2], x[0]), slopes=False),
    each("casts", floats(3, 4) * 100, lambda x: tf.cast(x, tf.int32), lambda x: tf.bitcast(x, tf.int32),
         lambda x: tf.cast(tf.cast(x, tf.uint8), tf.float64), lambda x: tf.saturate_cast(x, tf.int8), slopes=False),
    each("of complex numbers", COMPLEX, tf.math.real, tf.math.imag, tf.math.conj, tf.abs, maths.angle, tf.exp,
         tf.signal.fft, lambda z: tf.signal.ifft(tf.signal.fft(z)), slopes=False),
    pairwise("arithmetic of two", (floats(3, 4, low=0.1), floats(3, 4, low=0.1)), tf.add, tf.subtract, tf.multiply,
             tf.divide, tf.maximum, tf.minimum, tf.pow, maths.squared_difference, maths.atan2, maths.xlogy,
             maths.divide_no_nan),
    pairwise("of unlike ranks", (floats(3, 2, 4, low=0.1), floats(3, 4, low=0.1)), tf.add, tf.multiply, tf.divide),
    pairwise("comparisons", (ints(3, 4), ints(3, 4)), tf.equal, tf.not_equal, tf.less, tf.greater_equal,
             lambda a, b: tf.where(a > b, a, b)),
    pairwise("bits", (ints(3, 4), ints(3, 4)), tf.bitwise.bitwise_and, tf.bitwise.bitwise_or, tf.bitwise.bitwise_xor,
             tf.bitwise.left_shift, tf.bitwise.right_shift, lambda a, b: tf.bitwise.invert(a)),
    pairwise("logic", (ints(3, 4) > 4, ints(3, 4) > 4), tf.logical_and, tf.logical_or, maths.logical_xor,
             lambda a, b: tf.logical_not(a)),
    pairwise("remainders", (ints(3, 4), ints(3, 4) + 1), maths.floordiv, maths.floormod, tf.truncatediv,
             tf.truncatemod),
    each("reductions", ROWS, tf.reduce_sum, tf.reduce_mean, tf.reduce_max, lambda x: tf.reduce_prod(x, 0),
         lambda x: tf.reduce_min(x, 1, keepdims=True), lambda x: tf.reduce_sum(x, [0, 1]), maths.reduce_std,
         lambda x: maths.reduce_variance(x, -1), lambda x: tf.norm(x, axis=0), maths.reduce_logsumexp,
         lambda x: maths.reduce_euclidean_norm(x, 0)),
    each("truths reduced", ints(3, 4) > 3, tf.reduce_any, tf.reduce_all, maths.count_nonzero),
    each("in the order of an axis", ROWS, lambda x: tf.cumsum(x, 0), lambda x: tf.cumsum(x, 1, exclusive=True),
         lambda x: maths.cumprod(x, 1, reverse=True), lambda x: maths.cumulative_logsumexp(x, 0)),
    each("sorted", floats(3, 4, 5), lambda x: tf.sort(x, 0), lambda x: nn.top_k(x, 2).values,
         lambda x: tf.sort(x, direction="DESCENDING")),
    each("places", floats(3, 4, 5), lambda x: tf.argmax(x, 0), lambda x: tf.argmin(x, 1), tf.argsort,
         lambda x: nn.top_k(x, 2).indices, lambda x: tf.searchsorted([-0.5, 0.0, 0.5], x[0]),
         lambda x: nn.in_top_k([0, 1, 2, 3], x, 2), slopes=False),
    each("shapes", ROWS, lambda x: tf.reshape(x, [-1]), lambda x: tf.reshape(x, [2, 10]), tf.transpose,
         lambda x: x[tf.newaxis], lambda x: tf.squeeze(x[:1]), lambda x: tf.broadcast_to(x[0], [2, 5]),
         lambda x: tf.tile(x, [2, 1]), lambda x: tf.repeat(x, 2, 1), lambda x: tf.pad(x, [[1, 0], [0, 2]]),
         lambda x: tf.pad(x, [[1, 1], [1, 1]], "REFLECT"), lambda x: tf.reverse(x, [1]), lambda x: tf.roll(x, 1, 0)),
    each("parts", ROWS, lambda x: x[1:], lambda x: x[::-1, 1], lambda x: x[..., ::2],
         lambda x: tf.slice(x, [1, 0], [2, 3]),
         lambda x: tf.split(x, 2)[1], lambda x: tf.split(x, [1, 3])[1], lambda x: tf.unstack(x)[2],
         lambda x: tf.gather(x, [2, 0]), lambda x: tf.gather(x, [1, 1], axis=1),
         lambda x: tf.gather_nd(x, [[0, 1], [2, 3]])),
    each("joined", ROWS, lambda x: tf.concat([x, x[:1]], 0), lambda x: tf.stack([x, x * 2.0], 1),
         lambda x: tf.concat([x, TABLE], 1), lambda x: tf.stack(tf.meshgrid(x[0], x[1, :2])),
         lambda x: tf.einsum("ij,kj->ik", x, x), lambda x: tf.tensordot(x, x, [[0], [0]])),
    each("matrices", SQUARE, lambda m: m @ m, lambda m: tf.matmul(m, m, transpose_b=True), lambda m: m @ TABLE,
         lambda m: linalg.matvec(m, m[0]), linalg.diag_part, linalg.diag, linalg.trace, linalg.inv, linalg.det,
         lambda m: linalg.solve(m, TABLE), lambda m: linalg.band_part(m, 0, 1), lambda m: linalg.set_diag(m, m[0]),
         lambda m: linalg.cross(m[0, :3], m[1, :3])),
    each("positive matrices", POSITIVE, linalg.cholesky, linalg.eigvalsh, lambda m: linalg.triangular_solve(m, TABLE),
         lambda m: linalg.svd(m, compute_uv=False), linalg.logdet, linalg.adjoint),
    each("images through kernels", IMAGES, lambda x: nn.conv2d(x[tf.newaxis, ..., :1], KERNEL, 1, "SAME"),
         lambda x: nn.max_pool2d(x[tf.newaxis], 2, 2, "VALID"), lambda x: nn.avg_pool2d(x[tf.newaxis], 2, 1, "SAME"),
         lambda x: nn.depthwise_conv2d(x[tf.newaxis, ..., :1], KERNEL, [1, 1, 1, 1], "VALID"),
         lambda x: nn.bias_add(x, [1.0, 2.0]), lambda x: tf.nn.space_to_depth(x[tf.newaxis], 2)),
    each("photos", PHOTOS, image.flip_left_right, image.flip_up_down, image.rot90, image.transpose,
         lambda p: image.adjust_contrast(p, 2.0), lambda p: image.adjust_brightness(p, 0.1), image.rgb_to_grayscale,
         lambda p: image.central_crop(p, 0.5), lambda p: image.convert_image_dtype(p, tf.uint8),
         image.per_image_standardization, slopes=False),
    each("colours", PHOTOS, lambda p: image.adjust_hue(p, 0.25), lambda p: image.adjust_saturation(p, 0.1),
         image.rgb_to_hsv, lambda p: image.resize(p, [2, 2]), slopes=False),
    each("losses", floats(3, 4), lambda x: nn.softmax_cross_entropy_with_logits([0.0, 1.0, 0.0, 0.0], x),
         lambda x: nn.sparse_softmax_cross_entropy_with_logits(2, x),
         lambda x: nn.sigmoid_cross_entropy_with_logits(tf.ones(4), x), lambda x: nn.l2_normalize(x)),
    Case("looked up", looked_up, ints(4, 3, most=5), vectorized=True),
    Case("scattered", scattered, ints(4, 3, most=5), vectorized=True),
    Case("texts", lambda x: tf.strings.as_string(x), ints(4), vectorized=True),
    Case("tf.cond", by_cond, floats(5, 3), vectorized=True, everywhere=True),
    Case("tf.cond that all take", lambda x: tf.cond(LEVEL[0] > 0.0, lambda: tf.sin(x), lambda: x), floats(5, 3),
         vectorized=True),
    Case("tf.switch_case", by_case, floats(5, 3), vectorized=True, everywhere=True),
    Case("tf.while_loop", by_while, floats(3, 2), vectorized=True, everywhere=True),
    Case("tf.while_loop of other lengths", by_while_of_its_own, floats(5, 2), vectorized=True, slopes=False,
         everywhere=True),
    Case("tf.while_loop over rows", by_while_over_rows, floats(3, 4, 2), vectorized=True),
    Case("TensorArray", by_array, floats(3, 4), vectorized=True, everywhere=True),
    Case("scan and foldl", by_scan, floats(3, 4), vectorized=True, everywhere=True),
    Case("a state through steps", recurrent, floats(3, 4, 2), vectorized=True),
    Case("a gradient of one's own, which TensorFlow's batch forgets", clipped, floats(3, 2), slopes=False,
         vectorized=True),
    Case("gradient within", slope_within, floats(3, 4), vectorized=True),
    Case("jacobian within", jacobian_within, floats(3, 4), vectorized=True, slopes=False),
    Case("a map within", lambda x: tf.vectorized_map(lambda y: y * x[0], x), floats(3, 4), vectorized=True,
         everywhere=True),
    Case("a tf.function within", lambda x: tf.function(lambda y: tf.sin(y) * y)(x), floats(3, 4), vectorized=True),
    Case("a variable", lambda x: x * LEVEL + LEVEL[0], floats(4, 3), vectorized=True),
    Case("nothing of the element", lambda x: LEVEL * 2.0, floats(4, 3), vectorized=True),
    Case("a number", lambda x: 7, floats(4, 3), vectorized=True),
    Case("stateless random numbers", lambda s: tf.random.stateless_uniform([2], s) * 0, ints(3, 2), vectorized=True),
    Case("nests", lambda d: {"sum": (d["a"] + d["b"][0], [d["b"][1]])},
         {"a": floats(3, 2), "b": [floats(3), floats(3)]}, vectorized=True),
    Case("one for all", lambda t: t[0] * t[1], (floats(1), floats(4)), vectorized=True),
    Case("one element", lambda x: x * 2.0, floats(1), vectorized=True),
    Case("a mean of no number", lambda x: tf.reduce_sum(x), floats(3, 0), vectorized=True),
]  # fmt: skip

# ---- errors


@dataclass(frozen=True)
class Wrong:
    """A map that TensorFlow refuses, and what ours says instead."""

    name: str
    fn: Any
    elems: Any
    error: Any
    text: str
    """Of ours, in eager mode: it names what was given."""
    signature: Any = None
    vectorized: bool = False
    theirs: Any = Exception
    """What TensorFlow's own raises, some of them by accident; None where it takes the first element's word for it."""


UNLIKE = (ValueError, TypeError, tf.errors.InvalidArgumentError)
WRONG = [
    Wrong("a list of scalars", lambda x: x, [1, 2], ValueError, "not scalars"),
    Wrong("a scalar", lambda x: x, 1, ValueError, "not scalars"),
    Wrong("nothing", lambda x: x, [], ValueError, "holds none"),
    Wrong("no function", 3, floats(2), TypeError, "callable"),
    Wrong("a list is told, a tuple given", lambda x: (x, x), NUMBERS, TypeError, "nested structure", [tf.int64] * 2),
    Wrong("other dtype is told", lambda x: x, floats(3), UNLIKE, "says int32", tf.int32),
    Wrong("other shape is told", lambda x: x, floats(3, 2), ValueError, r"says \(5,\)", tf.TensorSpec([5], tf.float32)),
    Wrong("less deep than told", lambda x: tf.reduce_sum(x, axis=0), DEEP, UNLIKE, "says RaggedTensorSpec",
          Spec([None] * 5, tf.int64)),
    Wrong("None", lambda x: None, floats(3), UNLIKE, "None"),
    Wrong("elements of several lengths", lambda t: t[0], (floats(3), floats(2)), UNLIKE, "different numbers"),
    Wrong("other shapes", tf.range, tf.constant([1, 2]), UNLIKE, "element 1 gives shape"),
    Wrong("reshaped in vain", lambda x: tf.reshape(x, [7]), floats(3, 2), UNLIKE, "requested shape has 7"),
    Wrong("lengths that differ", lambda t: t[0], (floats(3), floats(2)), UNLIKE, "different numbers", vectorized=True,
          theirs=None),
    Wrong("a scalar to vectorize", lambda x: x, 1, ValueError, "not scalars", vectorized=True),
]  # fmt: skip
