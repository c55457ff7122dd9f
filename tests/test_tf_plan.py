"""Functions that act, change or fail, and many calls: a failure where a map shows that it is not the loop."""

from __future__ import annotations

import random
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
import upshift.tensorflow as ut  # noqa: E402
from upshift.tensorflow import memory  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402

MANY = 600
"""Elements for which a graph is made in the first call."""
XS = tf.constant(np.linspace(-2, 2, MANY), tf.float32)
THRESHOLD = 0.5
SEEN: list[float] = []


def many(fn: Any, xs: Any = XS) -> Any:
    """The third call: by then another way has taken over where one can."""
    ut.map_fn(fn, xs)
    ut.map_fn(fn, xs)
    return ut.map_fn(fn, xs)


def known_of(fn: Any, xs: Any = XS) -> Any:
    return memory.recall(make_call(fn, xs), with_operations=False)


# ---- wrong results of others


def test_numbers_of_numpy_are_not_truncated() -> None:
    made = ut.map_fn(lambda n: n.numpy() * 1.5 - 0.5, tf.constant([1, 2, 3, 4], tf.int64))
    assert made.dtype == tf.float64 and made.numpy().tolist() == [1.0, 2.5, 4.0, 5.5]


def test_another_dtype_under_xla_is_no_garbage() -> None:
    xs = tf.constant([1, 2, 3, 4], tf.int64)
    made = tf.function(lambda a: ut.map_fn(lambda n: tf.cast(n, tf.int32) * 2, a), jit_compile=True)(xs)
    assert made.dtype == tf.int32 and made.numpy().tolist() == [2, 4, 6, 8]


def test_a_wrong_signature_is_an_error_under_xla_too() -> None:
    def mapped(a: Any) -> Any:
        return ut.map_fn(lambda n: tf.cast(n, tf.int32), a, fn_output_signature=tf.int64)

    xs = tf.constant([1, 2], tf.int64)
    for way in (mapped, tf.function(mapped), tf.function(mapped, jit_compile=True)):
        with pytest.raises((TypeError, ValueError, tf.errors.OpError)):
            way(xs)


def test_every_element_has_a_random_number_of_its_own() -> None:
    assert len(set(many(lambda x: x * 0 + np.random.rand()).numpy().tolist())) == MANY
    assert len(set(many(lambda x: tf.random.uniform(())).numpy().tolist())) > MANY - 10
    assert len(set(ut.vectorized_map(lambda x: tf.random.normal(()), XS).numpy().tolist())) > MANY - 10
    graph = tf.function(lambda xs: ut.map_fn(lambda x: tf.random.uniform(()), xs))
    assert len(set(graph(XS).numpy().tolist())) > MANY - 10


def test_seeds_draw_the_numbers_of_the_loop() -> None:
    def draw() -> Any:
        tf.random.set_seed(7)
        return many(lambda x: tf.random.uniform(()), XS[:20])

    def by_hand() -> Any:
        tf.random.set_seed(7)
        for _ in range(3):
            made = tf.stack([tf.random.uniform(()) for _ in range(20)])
        return made

    try:
        assert draw().numpy().tolist() == by_hand().numpy().tolist()
    finally:
        tf.random.set_seed(random.randrange(2**31))
        tf.compat.v1.set_random_seed(None)


def test_the_text_of_a_number_is_its_own() -> None:
    assert ut.map_fn(lambda n: "id-" + str(int(n)), tf.constant([12, 3])).numpy().tolist() == [b"id-12", b"id-3"]


def test_a_mask_under_xla_gives_the_right_sums() -> None:
    xs = tf.constant(np.random.default_rng(0).normal(size=(8, 6)), tf.float32)
    want = [x[x > 0].sum() for x in xs.numpy()]

    def positive(x: Any) -> Any:
        return tf.reduce_sum(tf.where(x > 0, x, 0.0))

    made = tf.function(lambda a: ut.vectorized_map(positive, a), jit_compile=True)(xs)
    np.testing.assert_allclose(made.numpy(), want, rtol=1e-5)
    made = tf.function(lambda a: ut.vectorized_map(lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0)), a))(xs)
    np.testing.assert_allclose(made.numpy(), want, rtol=1e-5)


def test_no_elements() -> None:
    none = tf.zeros((0, 3))
    assert ut.map_fn(lambda v: tf.cast(tf.reduce_sum(v), tf.int32), none).dtype == tf.int32
    assert ut.map_fn(lambda v: {"a": v * 2}, none)["a"].shape == (0, 3)
    assert ut.vectorized_map(lambda v: v[:2], none).shape == (0, 2)
    assert ut.map_fn(lambda v: v.numpy(), none).shape == (0, 3)
    assert ut.map_fn(lambda v: v, none, fn_output_signature=tf.float32).shape[0] == 0
    assert tf.function(lambda a: ut.map_fn(lambda v: tf.sin(v[0]), a))(none).shape == (0,)
    assert tf.function(lambda a: ut.map_fn(lambda v: tf.sin(v[0]), a), jit_compile=True)(none).shape == (0,)


def test_numpy_warns_as_in_the_loop_and_tensors_never() -> None:
    for _ in range(4):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
            made = ut.map_fn(lambda x: np.log(x), XS)
    assert np.isnan(made.numpy()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            made = ut.map_fn(lambda x: (1.0 / (x - x)).numpy() if x > 0 else x.numpy(), XS)
    assert np.isinf(made.numpy()[-1])


def test_the_text_of_a_tensor_is_its_own() -> None:
    made = many(lambda x: len(str(x)))
    assert made.numpy().tolist() == [len(str(x)) for x in XS]


# ---- functions that act


def test_an_assignment_is_made_for_every_element_in_order() -> None:
    total = tf.Variable(0.0)
    for _ in range(3):
        total.assign(0.0)
        made = ut.map_fn(lambda x: total.assign_add(x), XS)
        np.testing.assert_allclose(made.numpy(), np.cumsum(XS.numpy(), dtype=np.float32), rtol=1e-3, atol=1e-3)
    total.assign(0.0)
    tf.function(lambda a: ut.map_fn(lambda x: total.assign_add(x), a))(XS[:10])
    np.testing.assert_allclose(total.numpy(), XS.numpy()[:10].sum(), rtol=1e-5)


def test_python_effects_happen_once_for_every_element(capsys: Any) -> None:
    SEEN.clear()
    counts = {"calls": 0}

    def notes(x: Any) -> Any:
        SEEN.append(float(x))
        return x

    def counts_calls(x: Any) -> Any:
        counts["calls"] += 1
        return x + 1

    def prints(x: Any) -> Any:
        print("element")
        return x

    for _ in range(3):
        ut.map_fn(notes, XS)
        ut.map_fn(counts_calls, XS)
    assert len(SEEN) == 3 * MANY == counts["calls"]
    many(prints, XS[:40])
    assert capsys.readouterr().out.count("element") == 120


def test_objects_that_take_notes_see_every_element() -> None:
    class Notes:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def __call__(self, x: Any) -> Any:
            self.seen.append(x)
            return x * 2

        def note(self, x: Any) -> Any:
            self.seen.append(x)
            return x

    called, asked = Notes(), Notes()
    for _ in range(3):
        ut.map_fn(called, XS)
        ut.map_fn(asked.note, XS)
        ut.map_fn(lambda x: asked.note(x) + 1, XS)
    assert len(called.seen) == 3 * MANY and len(asked.seen) == 6 * MANY


def test_checks_are_made_for_every_element() -> None:
    def checked(x: Any) -> Any:
        tf.debugging.assert_less(x, 1.9)
        return x * 2

    assert many(checked, XS[:500]).shape == (500,)
    for fn in (ut.map_fn, ut.vectorized_map):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            fn(checked, XS)
        assert caught.value.upshift_element == int(np.argmax(XS.numpy() >= 1.9))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda a: ut.vectorized_map(checked, a))(XS)


def test_errors_name_their_element() -> None:
    divisors = tf.constant([1] * 400 + [0] + [2] * 199)
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            ut.map_fn(lambda n: 10 // n, divisors)
        assert caught.value.upshift_element == 400
        assert any("element 400" in note for note in caught.value.__notes__)

    def refuses(x: Any) -> Any:
        if x > 1.5:
            raise KeyError("too large")
        return x

    with pytest.raises(KeyError, match="too large") as other:
        ut.map_fn(refuses, XS)
    assert other.value.upshift_element == int(np.argmax(XS.numpy() > 1.5))


# ---- what is captured may change


def test_changed_globals_closures_arrays_and_variables_are_seen(monkeypatch: Any) -> None:
    array, variable, scale = np.array([1.0, 2.0], np.float32), tf.Variable(3.0), 2.0

    def fn(x: Any) -> Any:
        return x * scale + array[1] + variable + THRESHOLD

    def want() -> Any:
        return XS.numpy() * np.float32(scale) + array[1] + variable.numpy() + np.float32(THRESHOLD)

    np.testing.assert_allclose(many(fn).numpy(), want(), rtol=1e-5)
    array[1] = 7.0
    np.testing.assert_allclose(many(fn).numpy(), want(), rtol=1e-5)
    variable.assign(-1.0)
    np.testing.assert_allclose(many(fn).numpy(), want(), rtol=1e-5)
    scale = 3.0
    np.testing.assert_allclose(many(fn).numpy(), want(), rtol=1e-5)
    monkeypatch.setitem(globals(), "THRESHOLD", 100.0)
    np.testing.assert_allclose(many(fn).numpy(), want(), rtol=1e-5)


def halved(x: Any) -> Any:
    return x * HALF


HALF = 0.5


def test_what_helpers_capture_is_seen(monkeypatch: Any) -> None:
    np.testing.assert_allclose(many(lambda x: halved(x) + 1).numpy(), XS.numpy() * 0.5 + 1, rtol=1e-6)

    def fn(x: Any) -> Any:
        return halved(x) + 1

    np.testing.assert_allclose(many(fn).numpy(), XS.numpy() * 0.5 + 1, rtol=1e-6)
    monkeypatch.setitem(globals(), "HALF", 0.25)
    np.testing.assert_allclose(many(fn).numpy(), XS.numpy() * 0.25 + 1, rtol=1e-6)
    monkeypatch.setattr(halved, "__code__", (lambda x: x - HALF).__code__)
    np.testing.assert_allclose(many(fn).numpy(), XS.numpy() - 0.25 + 1, rtol=1e-6)


def test_attributes_of_objects_are_seen() -> None:
    class Model:
        def __init__(self) -> None:
            self.gain = 2.0

        def __call__(self, x: Any) -> Any:
            return x * self.gain

        def method(self, x: Any) -> Any:
            return x + self.gain

    model = Model()
    np.testing.assert_allclose(many(model).numpy(), XS.numpy() * 2)
    np.testing.assert_allclose(many(model.method).numpy(), XS.numpy() + 2)
    model.gain = 5.0
    np.testing.assert_allclose(many(model).numpy(), XS.numpy() * 5)
    np.testing.assert_allclose(many(model.method).numpy(), XS.numpy() + 5)


def test_tensors_in_a_closure_are_inputs() -> None:
    def scaled(w: Any) -> Any:
        return ut.map_fn(lambda x: x * w, XS)

    memory.MEMORY.kinds.clear()
    for k in range(20):
        np.testing.assert_allclose(scaled(tf.constant(float(k))).numpy(), XS.numpy() * k, rtol=1e-6)
    assert memory.MEMORY.kinds and all(len(variants) == 1 for variants in memory.MEMORY.kinds.values())


# ---- the words, and what they refuse


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="callable"):
        ut.map_fn(3, XS)
    with pytest.raises(ValueError, match="scalars"):
        ut.map_fn(lambda x: x, tf.constant(1.0))
    with pytest.raises(ValueError, match="different numbers"):
        ut.map_fn(lambda t: t[0], (XS, XS[:3]))
    with pytest.raises(ValueError, match="holds none"):
        ut.map_fn(lambda t: t, ())


def test_signatures() -> None:
    assert ut.map_fn(lambda x: 1, XS, fn_output_signature=tf.int64).dtype == tf.int64
    assert ut.map_fn(lambda x: 1, XS, tf.int64).dtype == tf.int64
    rows = ut.map_fn(tf.range, tf.constant([2, 0, 3]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
    assert rows.to_list() == [[0, 1], [], [0, 1, 2]]
    for _ in range(3):
        rows = ut.map_fn(tf.range, tf.range(60), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
    assert rows.to_list() == [list(range(i)) for i in range(60)]
    with pytest.raises(TypeError, match="fn_output_signature says int32"):
        ut.map_fn(lambda x: x, XS, fn_output_signature=tf.int32)
    with pytest.raises(TypeError, match="element 1 gives"):
        ut.map_fn(lambda x: x if x > 0 else tf.cast(x, tf.int32), tf.constant([1.0, -1.0]))


def test_vectorized_map_broadcasts_single_elements() -> None:
    made = ut.vectorized_map(lambda t: t[0] + t[1], (tf.range(4.0), tf.constant([10.0])))
    np.testing.assert_allclose(made.numpy(), [10, 11, 12, 13])


def test_variables_lists_and_arrays_are_elements() -> None:
    np.testing.assert_allclose(ut.map_fn(lambda x: x * 2, tf.Variable([1.0, 2.0])).numpy(), [2, 4])
    np.testing.assert_allclose(ut.map_fn(lambda x: x * 2, np.array([1.0, 2.0])).numpy(), [2, 4])
    np.testing.assert_allclose(ut.map_fn(lambda t: t[0] + t[1], [XS, XS]).numpy(), 2 * XS.numpy())


def test_disabled_it_is_the_loop() -> None:
    calls = []
    with up.config(disable=True):
        ut.map_fn(lambda x: calls.append(1) or x, XS[:50])
    assert len(calls) == 50


def test_an_odd_element_sends_the_batch_to_another_way() -> None:
    plain = np.random.default_rng(0).normal(size=(900, 4)).astype(np.float32)
    odd = plain.copy()
    odd[500, 2] = np.nan
    many(tf.argmax, tf.constant(plain))
    for _ in range(3):
        made = ut.map_fn(tf.argmax, tf.constant(odd))
        assert made.numpy().tolist() == tf.argmax(odd, axis=1).numpy().tolist()


def test_threads_map_at_the_same_time() -> None:
    def work(k: int) -> bool:
        xs = tf.constant(np.full(700, k), tf.float32)
        w = tf.constant(float(k))
        return all(bool((ut.map_fn(lambda x: x * w + 1.0, xs).numpy() == k * k + 1).all()) for _ in range(30))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))
