"""Functions of TensorFlow's operations in `up.map`: a failure where it does not give the loop's tensors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
from upshift.tensorflow import elements  # noqa: E402

RNG = np.random.default_rng(2)
FLOATS = RNG.normal(size=700)
SINGLES = FLOATS.astype(np.float32)
ROWS = RNG.normal(size=(300, 4))
INTS = RNG.integers(0, 9, 700)
WEIGHTS = tf.constant(RNG.normal(size=(4, 3)))
LEVEL = tf.Variable(0.5)


def sine(x: Any) -> Any:
    return tf.sin(x) + 1.0


def helped(x: Any) -> Any:
    return sine(x) * 2.0


def decided(x: Any) -> Any:
    return tf.sin(x) if x > 0.5 else tf.cos(x)


def scaled_first(x: Any) -> Any:
    return tf.sin(x * 2)


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (sine, (SINGLES,)),
    (sine, (FLOATS,)),
    (sine, (tf.constant(SINGLES),)),
    (sine, (FLOATS.tolist(),)),
    (helped, (FLOATS,)),
    (decided, (SINGLES,)),
    (decided, (tf.constant(SINGLES),)),
    (scaled_first, (FLOATS,)),
    (scaled_first, (FLOATS.tolist(),)),
    (lambda n: tf.sqrt(tf.cast(n, tf.float32)), (INTS.tolist(),)),
    (lambda n: tf.one_hot(n, 10), (INTS,)),
    (tf.add, (SINGLES, SINGLES)),
    (lambda a, b: (a + b, tf.maximum(a, b)), (tf.constant(SINGLES), tf.constant(SINGLES))),
    (lambda a, b: tf.multiply(a, b), (tf.constant(FLOATS), FLOATS)),
    (lambda v: tf.linalg.matvec(WEIGHTS, v, transpose_a=True), (ROWS,)),
    (lambda v: {"sum": tf.reduce_sum(v), "twice": tf.multiply(v, 2.0)}, (ROWS,)),
    (lambda v: tf.sort(v), (tf.constant(ROWS),)),
    (lambda t: tf.linalg.matvec(t[0], t[1]), ((tf.constant(RNG.normal(size=(90, 4, 4))), tf.constant(ROWS[:90])),)),
    (lambda t: tf.add(t, 1.0), ((tf.constant(SINGLES), tf.constant(SINGLES)),)),
    (lambda t: (t[1], tf.sin(t[0])), ((tf.constant(FLOATS), tf.constant(INTS)),)),
    (lambda x: tf.maximum(x, tf.constant(0.1, tf.float64)), (FLOATS,)),
    (lambda x: tf.constant(2.0) * x, (SINGLES,)),
    (lambda x: x * tf.cast(LEVEL, x.dtype), (tf.constant(FLOATS),)),
]


def loop(f: Any, columns: tuple[Any, ...]) -> Any:
    """A tuple of columns is a column of tuples."""
    rows = [zip(*column, strict=True) if isinstance(column, tuple) else column for column in columns]
    results = [f(*row) for row in zip(*rows, strict=True)]
    stacked = [tf.stack(column) for column in zip(*map(tf.nest.flatten, results), strict=True)]
    return tf.nest.pack_sequence_as(results[0], stacked)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("n", [3, 300])
def test_results_are_the_loops_tensors(case: Any, n: int) -> None:
    f, columns = case
    columns = tuple(tuple(one[:n] for one in column) if isinstance(column, tuple) else column[:n] for column in columns)
    want = loop(f, columns)
    for _ in range(4):
        got = up.map(f, *columns)
        tf.nest.assert_same_structure(want, got)
        for one, other in zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True):
            assert isinstance(other, tf.Tensor) and one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_allclose(other, one, rtol=1e-5 if one.dtype == tf.float32 else 1e-9, atol=1e-6)


def test_they_run_in_the_ways_of_map_fn() -> None:
    for f, columns in CASES[:4]:
        told = up.explain(f, *columns)
        assert told.gear in ("direct", "numpy", "xla", "vectorized") and "vectorized" in told.seconds
        assert "runs in the way" in str(told)
    assert up.explain(decided, SINGLES).gear != "loop"
    assert up.explain(scaled_first, FLOATS).gear == "loop"  # NumPy multiplies, and would warn


def test_keywords_and_captures_are_seen() -> None:
    gain = 2.0

    def scaled(x: Any, shift: Any) -> Any:
        return tf.sin(x) * gain + shift

    for shift in (1.0, 5.0):
        for _ in range(3):
            np.testing.assert_allclose(up.map(scaled, FLOATS, shift=shift), np.sin(FLOATS) * gain + shift, rtol=1e-9)
    gain = 3.0
    np.testing.assert_allclose(up.map(scaled, FLOATS, shift=0.0), np.sin(FLOATS) * 3, rtol=1e-9)


def test_functions_that_leave_tensorflow_are_not_touched() -> None:
    made = up.map(lambda x: float(tf.sin(x)) * 2, SINGLES)
    assert isinstance(made, np.ndarray) and made.dtype == np.float64
    made = up.map(lambda x: x.numpy() * 2, tf.constant(SINGLES))
    assert isinstance(made, np.ndarray) and made.dtype == np.float32
    assert isinstance(up.map(lambda x: x * 2, FLOATS), np.ndarray)


def test_results_that_cannot_be_stacked_are_a_list() -> None:
    for _ in range(3):
        made = up.map(tf.range, np.array([1, 3, 2]))
        assert isinstance(made, list) and [one.numpy().tolist() for one in made] == [[0], [0, 1, 2], [0, 1]]


def test_effects_happen_once_for_every_element() -> None:
    seen: list[float] = []

    def notes(x: Any) -> Any:
        seen.append(float(x))
        return tf.sin(x)

    up.map(notes, FLOATS[:50])
    assert seen == FLOATS[:50].tolist()


def test_errors_name_their_element() -> None:
    def refuses(v: Any) -> Any:
        return tf.reshape(v, [5])

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        up.map(refuses, ROWS[:6])
    assert caught.value.upshift_element == 0
    sizes = np.array([4, 4, 5, 4])
    with pytest.raises(tf.errors.InvalidArgumentError) as other:
        up.map(lambda n: tf.reshape(tf.zeros([n]), [4]), sizes)
    assert other.value.upshift_element == 2


def test_exact_and_disabled_are_the_loop() -> None:
    want = [sine(x).numpy() for x in FLOATS]
    assert up.map(sine, FLOATS, exact=True).numpy().tolist() == want
    with up.config(disable=True):
        assert up.map(sine, FLOATS).numpy().tolist() == want
    assert all(isinstance(one, tf.Tensor) for one in up.map(sine, FLOATS[:5], gear="loop"))


def test_other_policies_are_up_maps_own() -> None:
    made = up.map(lambda v: tf.reshape(v, [5]), ROWS[:3], on_error="return")
    assert all(isinstance(one, tf.errors.InvalidArgumentError) for one in made)


def test_tuples_that_are_no_columns_of_tensors() -> None:
    pair = tf.constant(0.5), tf.constant(1.5)
    np.testing.assert_allclose(up.map(sine, pair), np.sin([0.5, 1.5]) + 1, rtol=1e-6)
    with pytest.raises(up.LengthError, match="length"):
        up.map(lambda t: tf.add(t[0], t[1]), (tf.constant(FLOATS), tf.constant(FLOATS[:5])))


def test_no_elements_and_other_columns() -> None:
    assert len(up.map(sine, np.empty(0))) == 0
    assert elements.call_for(sine, (["a", "b"],), {}) is None
    assert elements.call_for(sine, ([1.0, 2],), {}) is None


class Holder:
    @tf.function
    def sine(self, x: Any) -> Any:
        return tf.sin(x) * 2

    def cosine(self, x: Any) -> Any:
        return tf.cos(x) * 2


OBJECTS = {
    "tf.function": (tf.function(sine), FLOATS),
    "tf.function of arrays": (tf.function(lambda v: tf.reduce_sum(tf.sin(v) * v)), ROWS),
    "tf.function of tensors": (tf.function(sine), tf.constant(FLOATS)),
    "bound tf.function": (Holder().sine, FLOATS),
    "method": (Holder().cosine, FLOATS),
    "partial": (functools.partial(tf.pow, y=2.0), FLOATS),
    "layer": (tf.keras.layers.Rescaling(2.0, dtype="float64"), tf.constant(ROWS)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_that_are_called(name: str) -> None:
    f, column = OBJECTS[name]
    column = column[:300]
    want = loop(f, (column,))
    for _ in range(3):
        got = up.map(f, column)
        assert isinstance(got, tf.Tensor) and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9)
    assert len(up.explain(f, column).seconds) > 2


def test_a_call_by_a_look_up_is_the_loop_of_this_call() -> None:
    """What changed between two calls, an element for which a whole column is not right, results of many shapes."""
    level = 1.0

    def scaled(x: Any) -> Any:
        return tf.sin(x) * level

    xs = tf.constant(SINGLES)
    for level in (1.0, 1.0, 1.0, 3.0, 3.0, 4.0):
        np.testing.assert_allclose(up.map(scaled, xs), np.sin(SINGLES) * np.float32(level), rtol=1e-5, atol=1e-6)
    with tf.GradientTape() as tape:
        tape.watch(xs)
        made = up.map(scaled, xs)
    np.testing.assert_allclose(tape.gradient(made, xs), 4 * np.cos(SINGLES), rtol=1e-5, atol=1e-6)
    divided = lambda n: 10 // n
    for given in ([1, 2], [2, 5], [1, 2]):
        assert up.map(divided, tf.constant(given)).numpy().tolist() == [10 // n for n in given]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        up.map(divided, tf.constant([3, 0]))
    assert caught.value.upshift_element == 1
    for given in ([2, 2], [3, 3], [1, 3]):
        made = up.map(tf.zeros, tf.constant([[n] for n in given]))
        assert [len(row) for row in made] == given and isinstance(made, list) is (given == [1, 3])
    number = lambda x: x.numpy() * 2
    assert isinstance(up.map(number, xs), np.ndarray) and isinstance(up.map(number, xs), np.ndarray)
