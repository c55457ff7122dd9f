"""Functions that a whole column may be given to, and such that it may not: a failure where one is taken for an
other, or where a function that is seen for the first time gives something else than the loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from tf_functions import ROWS  # noqa: E402
from tf_law import loop, same  # noqa: E402
from upshift.tensorflow import direct  # noqa: E402
from upshift.tensorflow.batchwise import Unknown  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402
from upshift.tensorflow.simple import is_simple  # noqa: E402

RNG = np.random.default_rng(4)
XS = tf.constant(RNG.normal(size=9), tf.float32)
INTS = tf.constant(RNG.integers(-9, 9, 9), tf.int32)
IMAGES = tf.constant(RNG.uniform(size=(4, 5, 3)), tf.float32)
BYTES = tf.constant(RNG.integers(0, 256, (4, 5, 3)), tf.uint8)
SQUARES = tf.constant(np.eye(3) * 4 + np.ones((6, 3, 3)) * RNG.uniform(size=(6, 1, 1)), tf.float32)
BIAS = tf.constant([1.0, 2.0, 3.0])
COLUMN = tf.constant([[1.0], [2.0], [3.0], [4.0], [5.0]])
GAIN = tf.Variable(2.0)
SCALE = 2.5


def hundred_steps(x: Any) -> Any:
    for _ in range(100):
        x = x * 0.99 + 0.01
    return x


def helped(x: Any, times: float = 3.0) -> Any:
    return x * times


def counted(x: Any) -> Any:
    total = x * 0
    for i in range(2, 9, 3):
        if i != 5:
            total += x**i / (i + 1)
    return total


def turning(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 20, lambda i, y: (i + 1, y * 0.99 + tf.sin(y)), (0, x))[1]


def sharing(x: Any) -> Any:
    scale = tf.abs(x) + 1.0
    times = tf.constant(4)
    half = 0.5

    def shrink(y: Any, by: float = 2.0) -> Any:
        return y * half / (by * scale)

    _, made = tf.while_loop(lambda i, y: i < times, lambda i, y: [i + 1, shrink(y)], [tf.constant(0), x])
    return made - shrink(x)


DIRECT = [
    (turning, XS),
    (turning, IMAGES),
    (sharing, XS),
    (lambda x: x**2, XS),
    (lambda x: x**2, INTS),
    (lambda x: x / 2, INTS),
    (lambda x: x // 3 + x % 3, INTS),
    (lambda x: x & 6 | 1, INTS),
    (lambda x: tf.sin(x) + tf.cos(x) * tf.exp(-x), XS),
    (lambda x: x**3 - 2.0 * x**2 + 3.0 * x - 1.0, XS),
    (lambda x: abs(x) * SCALE + GAIN, XS),
    (lambda x: helped(x) + helped(x, 2.0) * math.sqrt(2.0), XS),
    (hundred_steps, XS),
    (counted, XS),
    (lambda x: tf.where(x > 0, x, -x), XS),
    (lambda x: tf.floor(x * 3.0), XS),
    (lambda x: tf.cast(x, tf.int32), XS),
    (lambda x: (x > 0) & (x < 1), XS),
    (lambda x: (x, -x, x + 1), XS),
    (lambda im: tf.cast(tf.sqrt(tf.cast(im, tf.float32)), tf.uint8), BYTES),
    (lambda im: im * BIAS + COLUMN, IMAGES),
    (lambda im: tf.clip_by_value(im, 0.2, 0.8), IMAGES),
    (lambda im: tf.reduce_sum(im, axis=-1), IMAGES),
    (lambda im: im / tf.reduce_max(im, axis=[-2, -1], keepdims=True), IMAGES),
    (lambda im: tf.nn.softmax(im) + tf.nn.log_softmax(im, axis=-2), IMAGES),
    (lambda im: tf.argmax(im, axis=-1), IMAGES),
    (lambda im: tf.cumsum(im, axis=-1), IMAGES),
    (lambda im: tf.zeros_like(im) + tf.ones_like(im) * 2, IMAGES),
    (lambda t: t[0] * t[1], (XS, XS + 1)),
    (lambda t: [t[1], t[0]], (XS, XS + 1)),
    (tf.function(lambda x: x * 2.0), XS),
    (lambda x: tf.sort(x), IMAGES),
    (lambda x: tf.sort(x, axis=-2, direction="DESCENDING"), IMAGES),
    (lambda x: tf.math.top_k(x, 2).values, IMAGES),
    (lambda x: tf.math.top_k(x, k=2, sorted=True), IMAGES),
    (lambda x: tf.math.top_k(x)[1], BYTES),
    (lambda m: tf.linalg.eigvalsh(m), SQUARES),
    (lambda m: tf.linalg.inv(m) * tf.linalg.cholesky(m), SQUARES),
    (lambda m: tf.linalg.det(m) + tf.linalg.trace(m), SQUARES),
    (lambda t: (t[0] * 2.0, tf.reduce_sum(t[1], axis=-1)), (XS[:4], IMAGES)),
]


@pytest.mark.parametrize("case", DIRECT, ids=range(len(DIRECT)))
def test_functions_of_whole_columns_are_found(case: Any) -> None:
    fn, elems = case
    call = make_call(fn, elems)
    direct.look_at(call)
    same(loop(fn, elems), fn(elems))
    for _ in range(3):
        same(loop(fn, elems), ut.map_fn(fn, elems))
    same(loop(fn, elems), tf.function(lambda e: ut.map_fn(fn, e))(elems))


def decided(x: Any) -> Any:
    return x if x > 0 else -x


def counting(x: Any) -> Any:
    count = 0

    def step(y: Any) -> Any:
        nonlocal count
        count += 1
        return y * count

    return step(x) + step(x)


REFUSED = [
    (counting, XS),
    (lambda x: tf.while_loop(lambda y: y < 9.0, lambda y: (y * 2.0 + 1.0,), (x,))[0], XS),
    (lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + x), (0, 0.0))[1], XS),
    (lambda x: tf.while_loop(lambda i, y: i < x, lambda i, y: (i + 1, y * 2.0), (0, x))[1], INTS),
    (lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.exp(y) // 2), (0, x))[1], XS),
    (lambda x: tf.while_loop(lambda i, y, z: i < 3, lambda i, y, z: (i + 1, tf.exp(y), z // 2 + y), (0, x, x))[2], XS),
    (lambda x: tf.while_loop(lambda i, y: True, lambda i, y: (i + 1, y), (0, x), maximum_iterations=2)[1], XS),
    (tf.reduce_sum, IMAGES),
    (lambda im: tf.reduce_sum(im), IMAGES),
    (lambda im: tf.reduce_sum(im, axis=0), IMAGES),
    (lambda im: tf.reduce_sum(im, axis=-3), IMAGES),
    (lambda im: tf.reduce_sum(im, axis=-1) * im, IMAGES),
    (lambda im: im[0], IMAGES),
    (lambda im: tf.transpose(im), IMAGES),
    (lambda im: tf.cumsum(im), IMAGES),
    (lambda im: tf.nn.softmax(im, axis=0), IMAGES),
    (lambda x: x * BIAS, XS),
    (lambda x: tf.cast(tf.sin(x) * 3, tf.int32), XS),
    (lambda x: tf.exp(x) > 1, XS),
    (lambda x: tf.floor(tf.exp(x)), XS),
    (lambda x: tf.exp(x) // 2, XS),
    (decided, XS),
    (lambda x: x.numpy(), XS),
    (lambda x: x.shape, XS),
    (lambda x: 1.0, XS),
    (lambda x: BIAS, XS),
    (lambda x: print(x) or x, XS),
    (lambda x: tf.random.uniform(()) + x, XS),
    (lambda x: tf.sort(x, axis=0), IMAGES),
    (lambda x: tf.math.top_k(tf.exp(x), 2).indices, IMAGES),
    (lambda x: tf.math.top_k(x, 2, sorted=False), IMAGES),
    (lambda x: tf.linalg.det(x), IMAGES[0]),
    (lambda t: tf.add(t, 1.0), (XS, XS + 1)),
    (lambda x: float(x) * 2, XS),
    (lambda x: np.sin(x), XS),
    (lambda x: x + tf.shape(x)[0], INTS),
    (lambda x: GAIN.assign_add(x), XS),
    (lambda t: t[0] * t[1], (XS[:4], IMAGES)),
]


@pytest.mark.parametrize("case", REFUSED, ids=range(len(REFUSED)))
def test_others_are_not(case: Any) -> None:
    with pytest.raises(Unknown):
        direct.look_at(make_call(*case))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_function_of_the_table_is_taken_for_one_that_it_is_not(row: Any) -> None:
    try:
        direct.look_at(make_call(row.fn, row.elems))
    except Unknown:
        return
    same(loop(row.fn, row.elems), row.fn(row.elems))


def test_simple_functions_are_told_by_their_bytes() -> None:
    assert is_simple(lambda x: tf.sin(x) + 2.0 * x)
    for fn in (lambda x: x[0], lambda x: x // 2, lambda x: tf.reduce_sum(x), lambda x: x @ x, lambda x: x > 0,
               lambda x: helped(x), lambda x, y=2: x * y, lambda x: tf.add(x, y=x), decided):  # fmt: skip
        assert not is_simple(fn)


def test_what_was_captured_may_change(monkeypatch: Any) -> None:
    def scaled(x: Any) -> Any:
        return x * SCALE + GAIN

    for value in (2.5, 3.0, 4):
        monkeypatch.setitem(globals(), "SCALE", value)
        GAIN.assign(float(value))
        for _ in range(3):
            np.testing.assert_allclose(ut.map_fn(scaled, XS), XS * value + value, rtol=1e-6)
    GAIN.assign(2.0)
    monkeypatch.setitem(globals(), "SCALE", BIAS)
    assert ut.map_fn(scaled, XS).shape == (9, 3)


def test_first_calls_have_gradients() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = ut.map_fn(lambda e: e**3, x)
    np.testing.assert_allclose(tape.gradient(made, x).numpy(), [3.0, 12.0, 27.0], rtol=1e-6)


def test_an_error_on_a_whole_column_is_the_elements() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        ut.map_fn(lambda n: 10 // n, tf.constant([1, 2, 0, 4]))
    assert caught.value.upshift_element == 2
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)) as wrong:
        ut.map_fn(lambda n: n * 0.5, tf.constant([1, 2]))
    assert wrong.value.upshift_element == 0


def twice_sine(x: Any) -> Any:
    return tf.sin(x) * 2.0


def test_a_graph_of_such_a_function_has_its_operations_alone() -> None:
    concrete = tf.function(lambda a: ut.map_fn(twice_sine, a)).get_concrete_function(XS)
    kinds = [op.type for op in concrete.graph.get_operations()]
    assert sorted(kinds) == ["Const", "Identity", "Mul", "Placeholder", "Sin"]


def test_many_large_columns_do_not_lie_about_all_at_once() -> None:
    import upshift as up

    with up.config(memory=1000):
        same(loop(lambda x: x * 2.0 + 1.0, IMAGES), ut.map_fn(lambda x: x * 2.0 + 1.0, IMAGES))
