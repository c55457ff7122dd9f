"""Smooth functions of the table: a failure where a gradient is not that of TensorFlow's own map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from tf_functions import FLOATS, POSITIVE, ROWS, VECTORS, Row  # noqa: E402
from upshift.tensorflow import memory  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402

SMOOTH = [row for row in ROWS if row.grads]


def total(results: Any) -> Any:
    """One number that depends on all results, each with a weight of its own."""
    leaves = [tf.cast(leaf, tf.float64) for leaf in tf.nest.flatten(results)]
    return tf.add_n([tf.reduce_sum(tf.cos(0.1 * leaf) * leaf) for leaf in leaves])


def gradients(mapper: Any, row: Row) -> Any:
    leaves = tf.nest.flatten(row.elems)
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        loss = total(mapper(row.fn, tf.nest.pack_sequence_as(row.elems, leaves)))
    return tape.gradient(loss, leaves)


def reference(fn: Any, elems: Any) -> Any:
    """`tf.map_fn`, told what to expect."""
    one = fn(tf.nest.map_structure(lambda x: x[0], elems))
    return tf.map_fn(fn, elems, fn_output_signature=tf.nest.map_structure(lambda x: x.dtype, one))


def close(want: Any, got: Any) -> None:
    for one, other in zip(want, got, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            rtol = 1e-8 if one.dtype == tf.float64 else 3e-4
            np.testing.assert_allclose(other.numpy(), one.numpy(), rtol=rtol, atol=rtol * np.max(np.abs(one.numpy())))


@pytest.mark.parametrize("row", SMOOTH, ids=lambda row: row.name)
def test_gradients_are_those_of_map_fn(row: Row) -> None:
    close(gradients(reference, row), gradients(ut.map_fn, row))


@pytest.mark.parametrize("row", SMOOTH[::3], ids=lambda row: row.name)
def test_gradients_in_a_graph_are_those_of_map_fn(row: Row) -> None:
    close(gradients(reference, row), tf.function(lambda: gradients(ut.map_fn, row))())


@pytest.mark.parametrize("row", SMOOTH[::4], ids=lambda row: row.name)
@pytest.mark.parametrize("way", ["vectorized", "map"])
def test_gradients_through_a_way_are_those_of_map_fn(row: Row, way: str) -> None:
    call = make_call(row.fn, row.elems)
    known = memory.fresh(call, with_operations=True)
    known.trace(call)
    made = known.make(way, call)
    assert made is not None, known.refusals[way]
    close(gradients(reference, row), gradients(lambda fn, elems: made.over(make_call(fn, elems)), row))


def test_second_order() -> None:
    def twice(mapper: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(POSITIVE)
            with tf.GradientTape() as inner:
                inner.watch(POSITIVE)
                made = tf.reduce_sum(mapper(lambda x: tf.sin(x) * x**3, POSITIVE))
            first = inner.gradient(made, POSITIVE)
        return [first, outer.gradient(first, POSITIVE)]

    for _ in range(3):
        close(twice(tf.map_fn), twice(ut.map_fn))
    close(twice(tf.map_fn), tf.function(lambda: twice(ut.map_fn))())
    x = POSITIVE.numpy().astype(float)
    exact = -np.sin(x) * x**3 + 6 * np.cos(x) * x**2 + 6 * np.sin(x) * x
    np.testing.assert_allclose(twice(ut.map_fn)[1].numpy(), exact, rtol=1e-4, atol=1e-4)


def test_gradients_are_the_slopes() -> None:
    x = tf.cast(FLOATS, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = ut.map_fn(lambda v: tf.tanh(v) * v, x)
    slope = (np.tanh(x + 1e-6) * (x + 1e-6) - np.tanh(x - 1e-6) * (x - 1e-6)) / 2e-6
    np.testing.assert_allclose(tape.gradient(made, x).numpy(), slope, rtol=1e-6, atol=1e-8)


def test_variables_and_closures_have_gradients() -> None:
    weights = tf.Variable(np.ones((6, 2), np.float32))
    bias = tf.constant([1.0, 2.0])
    for n in (1, 3, 11):
        with tf.GradientTape() as tape:
            tape.watch(bias)
            loss = tf.reduce_sum(ut.map_fn(lambda v: tf.tensordot(v, weights, 1) + bias, VECTORS[:n]) ** 2)
        by_weights, by_bias = tape.gradient(loss, [weights, bias])
        made = VECTORS[:n] @ weights + bias
        np.testing.assert_allclose(by_weights.numpy(), (2 * tf.transpose(VECTORS[:n]) @ made).numpy(), rtol=1e-5)
        np.testing.assert_allclose(by_bias.numpy(), tf.reduce_sum(2 * made, 0).numpy(), rtol=1e-5)


def test_many_steps_under_a_tape_stay_right_in_every_way() -> None:
    want = gradients(reference, SMOOTH[2])
    for _ in range(200):
        got = gradients(ut.map_fn, SMOOTH[2])
    close(want, got)


def test_forward_accumulators() -> None:
    with tf.autodiff.ForwardAccumulator(FLOATS, tf.ones_like(FLOATS)) as accumulator:
        made = ut.map_fn(lambda x: tf.sin(x) * x, FLOATS)
    slope = tf.cos(FLOATS) * FLOATS + tf.sin(FLOATS)
    np.testing.assert_allclose(accumulator.jvp(made).numpy(), slope.numpy(), rtol=1e-5, atol=1e-6)


def test_no_tape_no_gradient_and_the_same_values() -> None:
    with tf.GradientTape() as tape:
        tape.watch(FLOATS)
        under = ut.map_fn(tf.sin, FLOATS)
    np.testing.assert_allclose(ut.map_fn(tf.sin, FLOATS).numpy(), under.numpy(), rtol=1e-6)
    assert tape.gradient(under, FLOATS) is not None


RAGGED = {
    "rows": (lambda x: x * x, [2, 1, 0, 3]),
    "sums": (lambda x: tf.reduce_sum(x * x) * tf.ones(2), [2, 1, 0, 3]),
    "more than are unstacked together": (lambda x: x * x, [1, 2] * 700),
}


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("name", RAGGED)
def test_gradients_of_ragged_elements(name: str, mode: str) -> None:
    fn, lengths = RAGGED[name]
    values = tf.range(float(sum(lengths))) + 1

    def slopes(mapper: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(values)
            made = mapper(fn, tf.RaggedTensor.from_row_lengths(values, lengths))
            made = made.flat_values if isinstance(made, tf.RaggedTensor) else made
            loss = tf.reduce_sum(tf.sin(made) * made)
        return tape.gradient(loss, values)

    run = tf.function(slopes) if mode == "graph" else slopes
    signature = tf.RaggedTensorSpec([None], tf.float32) if name != "sums" else tf.float32
    want = slopes(lambda f, e: tf.map_fn(f, e, fn_output_signature=signature))
    for _ in range(3):
        np.testing.assert_allclose(run(ut.map_fn), want, rtol=1e-5)
