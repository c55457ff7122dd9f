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
from upshift.tensorflow import direct, memory, plan  # noqa: E402
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
    (lambda im: tf.reduce_sum(im, axis=-3), IMAGES),
    (lambda im: tf.reduce_sum(im, axis=2), IMAGES),
    (lambda im: tf.reduce_sum(im, axis=[0, -2]), IMAGES),
    (lambda im: tf.sort(im, axis=None), IMAGES[:, 0]),
    (lambda im: im[7], IMAGES),
    (lambda im: im[0, 1, 2], IMAGES),
    (lambda im: im[tf.argmax(im[:, 0])], IMAGES),
    (lambda im: im[im > 0.5], IMAGES),
    (lambda im: im[True], IMAGES),
    (lambda im: tf.where(im > tf.reduce_mean(im), im, 0.0), IMAGES),
    (lambda im: tf.math.top_k(im[0], 2), IMAGES),
    (lambda im: tf.cast(1.5, im.dtype) * im[0], IMAGES),
    (lambda im: tf.cast(tf.exp(im), im.dtype), IMAGES),
    (lambda im: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + 1.0), (0, im[0]))[1], IMAGES),
    (lambda t: tf.linalg.solve(t[0], t[1]), (SQUARES, SQUARES[:, 0])),
    (lambda x: tf.exp(-((x[:, None] - x[None, :]) ** 2)), tf.zeros((2, 4000))),
    (lambda im: tf.transpose(im), IMAGES),
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
    (lambda x: tf.math.top_k(tf.exp(x), 2).indices, IMAGES),
    (lambda x: tf.math.top_k(x, 2, sorted=False), IMAGES),
    (lambda x: tf.linalg.det(x), IMAGES[0]),
    (lambda t: tf.add(t, 1.0), (XS, XS + 1)),
    (lambda x: float(x) * 2, XS),
    (lambda x: np.sin(x), XS),
    (lambda x: x + tf.shape(x)[0], INTS),
    (lambda x: GAIN.assign_add(x), XS),
]


@pytest.mark.parametrize("case", REFUSED, ids=range(len(REFUSED)))
def test_others_are_not(case: Any) -> None:
    with pytest.raises(Unknown):
        direct.look_at(make_call(*case))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_function_of_the_table_is_taken_for_one_that_it_is_not(row: Any) -> None:
    try:
        columnwise = direct.look_at(make_call(row.fn, row.elems))
    except Unknown:
        return
    same(loop(row.fn, row.elems), columnwise(row.fn, row.elems))


# ---- functions that are told otherwise of a batch than of an element


def standardised(x: Any) -> Any:
    return (x - tf.reduce_mean(x)) / (tf.math.reduce_std(x) + 1e-6)


def differences(im: Any) -> Any:
    def step(i: int) -> Any:
        return tf.abs(im[i + 1] - im[i]) * GAIN

    total = step(0)
    for i in range(1, 4):
        total += step(i)
    return total, (total[..., 0], -im)


PROGRAMS = [
    (lambda im: tf.reduce_sum(im), IMAGES),
    (lambda im: tf.reduce_sum(im, axis=0), IMAGES),
    (lambda im: tf.reduce_max(im, (0, 1), True), IMAGES),
    (lambda im: tf.reduce_mean(im, axis=[0, -1]) + tf.reduce_sum(im), IMAGES),
    (lambda im: im / tf.reduce_sum(im, axis=0, keepdims=True), IMAGES),
    (lambda x: tf.reduce_mean(x) + tf.math.reduce_std(x) + tf.reduce_logsumexp(x), XS),
    (lambda im: tf.reduce_any(im > 0.9) | tf.reduce_all(im[0] > 0.1), IMAGES),
    (lambda n: tf.reduce_prod(n), tf.reshape(INTS, (3, 3))),
    (standardised, IMAGES),
    (standardised, IMAGES[:, :, 0]),
    (standardised, XS),
    (lambda im: im[0], IMAGES),
    (lambda im: im[-1, 1:], IMAGES),
    (lambda im: im[..., None, 2] * 2.0, IMAGES),
    (lambda im: im[::-2, tf.newaxis], IMAGES),
    (lambda im: im[:0], IMAGES),
    (lambda im: im[1:3] * BIAS[1:2], IMAGES),
    (lambda x: x[None], XS),
    (lambda im: tf.cumsum(im), IMAGES),
    (lambda im: tf.cumsum(im, 1), IMAGES),
    (lambda im: tf.nn.softmax(im, axis=0) + tf.nn.log_softmax(logits=im, axis=1), IMAGES),
    (lambda im: (tf.argmax(im), tf.argmin(im, axis=1, output_type=tf.int32)), IMAGES),
    (lambda im: tf.sort(im, axis=0, direction="DESCENDING") - tf.sort(im, 1), IMAGES),
    (lambda im: tf.math.top_k(im[0], 2).values + im[1, :2], IMAGES),
    (lambda x: x * BIAS, XS),
    (lambda x: COLUMN - x, XS),
    (lambda im: tf.where(im > im[0, 0], im, 0.0), IMAGES),
    (lambda im: tf.maximum(im, tf.reduce_min(im) + 0.2) * tf.reduce_sum(BIAS), IMAGES),
    (lambda v: v[:, None] - v[None, :], IMAGES[:, 0]),
    (lambda t: t[0] * t[1], (XS[:4], IMAGES)),
    (lambda t: tf.linalg.solve(t[0], t[1][:, None])[:, 0], (SQUARES, SQUARES[:, 1])),
    (lambda t: t[0][0] + t[1], (IMAGES, IMAGES[:, 0])),
    (differences, IMAGES),
    (tf.function(standardised), IMAGES),
]


def with_gradient(mapped: Any, elems: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(elems)
        made = mapped(elems)
        floats = [leaf for leaf in tf.nest.flatten(made) if leaf.dtype.is_floating]
        total = tf.add_n([tf.reduce_sum(leaf * leaf + leaf**3) for leaf in floats]) if floats else 0.0
    return tape.gradient(total, elems, unconnected_gradients="zero") if floats else made


@pytest.mark.parametrize("case", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_batch_is_told_otherwise_and_gives_the_same(case: Any) -> None:
    fn, elems = case
    want = loop(fn, elems)
    columnwise = direct.look_at(make_call(fn, elems))
    assert isinstance(columnwise, direct.Program)
    same(want, columnwise(fn, elems))
    mapped = lambda elems: ut.map_fn(fn, elems)
    for _ in range(3):
        same(want, mapped(elems))
    same(want, tf.function(mapped)(elems))
    specs = tf.nest.map_structure(lambda leaf: tf.TensorSpec([None, *leaf.shape[1:]], leaf.dtype), elems)
    same(want, tf.function(mapped, input_signature=[specs])(elems))
    (piped,) = tf.data.Dataset.from_tensors((elems,)).map(mapped)
    same(want, piped)
    gradient = with_gradient(lambda elems: loop(fn, elems), elems)
    same(gradient, with_gradient(mapped, elems), loose=10)
    same(gradient, tf.function(lambda elems: with_gradient(mapped, elems))(elems), loose=10)


def test_a_program_reads_what_is_captured_now() -> None:
    def made(weights: Any) -> Any:
        def inner(x: Any) -> Any:
            return x * weights

        return lambda v: tf.reduce_sum(v * weights) + inner(v[0])

    rows = IMAGES[:, 0]
    for k in (1.0, 1.0, 2.0, 3.0):
        fn = made(tf.constant(k))
        for _ in range(2):
            same(loop(fn, rows), ut.map_fn(fn, rows))
    variable = tf.Variable(1.0)
    fn = lambda v: tf.reduce_sum(v) * variable
    for k in (1.0, 5.0, 7.0):
        variable.assign(k)
        same(loop(fn, rows), ut.map_fn(fn, rows))
        same(loop(fn, rows), tf.function(lambda rows: ut.map_fn(fn, rows))(rows))


def test_a_helper_that_captures_another_tensor_is_seen(monkeypatch: Any) -> None:
    def helper_of(weight: Any) -> Any:
        def helper(x: Any) -> Any:
            return tf.exp(x) * weight

        def to(value: float) -> None:
            nonlocal weight
            weight = tf.constant(value)

        return helper, to

    helper, to = helper_of(tf.constant(1.0))
    monkeypatch.setattr(memory, "TAPED", 1e9)
    monkeypatch.setattr(plan, "slower_with_gradient", lambda one, other, call: "direct")
    fn = lambda x: helper(x) * 2.0
    for k in (1.0, 3.0, 4.0):
        to(k)
        for _ in range(4):
            np.testing.assert_allclose(ut.map_fn(fn, XS), np.exp(XS) * 2 * k, rtol=1e-5)
            np.testing.assert_allclose(taped(fn), np.exp(XS) * 2 * k, rtol=1e-5)


def taped(fn: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(XS)
        made = ut.map_fn(fn, XS)
    return tape.gradient(made, XS)


def test_a_program_is_not_run_on_more_elements_than_fit(monkeypatch: Any) -> None:
    fn = lambda v: tf.reduce_sum(tf.exp(-((v[:, None] - v[None, :]) ** 2)))
    few, many = tf.random.uniform((3, 60)), tf.random.uniform((40, 60))
    monkeypatch.setattr(direct, "HEAVY", 600_000)
    assert isinstance(direct.look_at(make_call(fn, few)), direct.Program)
    with pytest.raises(Unknown, match="too much room"):
        direct.look_at(make_call(fn, many))
    for elems in (few, many, few, many, many):
        same(loop(fn, elems), ut.map_fn(fn, elems))


def test_no_elements_are_no_results() -> None:
    none = tf.zeros((0, 3))
    for fn in (lambda v: v[1] * 2.0, lambda v: tf.reduce_mean(v), lambda v: v[:, None] - v):
        want = tf.function(lambda a: tf.map_fn(fn, a))(none)
        assert ut.map_fn(fn, none).shape == want.shape == tf.function(lambda a: ut.map_fn(fn, a))(none).shape


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
