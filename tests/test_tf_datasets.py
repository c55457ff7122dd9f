"""Datasets and plain functions in; a failure out where `ut.map_dataset` gives something else than the loop."""

from __future__ import annotations

import collections
import math
import random
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
import upshift.tensorflow as ut  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=300)
IMAGES = RNG.integers(0, 255, (70, 8, 6, 3), dtype=np.uint8)
LARGE = RNG.normal(size=(5, 512, 512)).astype(np.float32)
LABELS = np.arange(70)
Point = collections.namedtuple("Point", "x y")


def slices(value: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(value)


def ragged() -> Any:
    return tf.data.Dataset.range(9).map(lambda n: tf.range(n))


def clip(x):
    if x > 1:
        return 1.0
    return x if x > -1 else -1.0


def brighten(image, label):
    return np.clip(image.astype(np.int32) + label, 0, 255).astype(np.uint8), label


def draw_cross(image, label):
    image[3, :] = 255
    image[:, 2, 1] = label
    return image


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def histogram(image, label):
    return {"label": label, "counts": np.bincount(image.ravel() // 64, minlength=4)}


CASES: dict[str, tuple[Any, Any]] = {
    "numbers": (slices(X), lambda x: x * x + 1),
    "branches": (slices(X), clip),
    "math": (slices(X), lambda x: math.floor(x) + math.exp(-x)),
    "float32": (slices(X.astype(np.float32)), lambda x: np.sqrt(np.abs(x))),
    "python ints": (tf.data.Dataset.range(150), lambda n: int(n) * 3),
    "while": (tf.data.Dataset.range(1, 400), collatz),
    "bools": (slices(X), lambda x: x > 0),
    "tuple in, tuple out": (slices((IMAGES, LABELS)), brighten),
    "writes into its element": (slices((IMAGES, LABELS)), draw_cross),
    "dict out": (slices((IMAGES, LABELS)), histogram),
    "dict in": (slices({"x": X, "w": X[::-1].copy()}), lambda row: row["x"] * row["w"]),
    "dict in a tuple": (slices(({"x": X}, X)), lambda row, y: {"d": row["x"] - y, "s": row["x"] + y}),
    "tuple in a tuple": (slices(((X, X + 1), X)), lambda pair, y: pair[0] * pair[1] - y),
    "tuple in a dict": (
        slices({"pair": (X, IMAGES.reshape(-1, 3)[:300])}),
        lambda row: row["pair"][1] * row["pair"][0],
    ),
    "named tuple": (slices(Point(X, X + 2)), lambda point: Point(point.y, point.x * 2)),
    "lists": (slices(X), lambda x: [x, 2 * x, 3 * x]),
    "texts": (slices(["a", "bc", "d\0"]), lambda text: text + b"!"),
    "texts made": (tf.data.Dataset.range(40), lambda n: f"id-{int(n)}é"),
    "arrays of texts": (tf.data.Dataset.range(5), lambda n: np.array(["a" * int(n), "b"])),
    "itself": (slices(IMAGES), lambda image: image),
    "twice the same": (slices(X), lambda x: (x, x)),
    "a tuple of one": (slices((X,)), lambda x: (x + 1,)),
    "nothing in it": (slices(X[:20]), lambda x: np.zeros((0, 3))),
    "shapes that differ": (ragged(), lambda xs: xs.sum()),
    "results that differ in shape": (tf.data.Dataset.range(7), lambda n: np.arange(n)),
    "ranks that differ": (tf.data.Dataset.range(1, 4), lambda n: np.zeros((2,) * int(n))),
    "large": (slices(LARGE), lambda x: x * 2),
    "int here, float there": (slices(X), lambda x: 1 if x > 0 else x),
    "complex": (slices(X), lambda x: np.exp(1j * x)),
    "none": (slices(X[:0]), lambda x: x + 1),
    "one": (slices(X[:1]), lambda x: x + 1),
}


def converted(result: Any) -> Any:
    """A result as `tf.numpy_function` would hand it over."""
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*map(converted, result))
    if isinstance(result, tuple):
        return tuple(map(converted, result))
    if isinstance(result, dict):
        return {key: converted(value) for key, value in result.items()}
    return result if isinstance(result, bytes) else tf.constant(np.asarray(result)).numpy()


def assert_same(expected: Any, actual: Any) -> None:
    tf.nest.assert_same_structure(expected, actual)
    for want, got in zip(tf.nest.flatten(expected), tf.nest.flatten(actual), strict=True):
        if isinstance(want, bytes) or want.dtype == object:
            assert np.array_equal(want, got), (want, got)
        else:
            want = np.asarray(want)
            assert want.shape == got.shape, (want, got)
            np.testing.assert_allclose(got, want, rtol=1e-9 if want.dtype.itemsize >= 8 else 1e-5)


def copies(element: Any) -> Any:
    return tf.nest.map_structure(lambda x: x.copy() if isinstance(x, np.ndarray) else x, element)


def loop(ds: Any, f: Any) -> list[Any]:
    elements = [copies(e) for e in ds.as_numpy_iterator()]
    return [converted(f(*e) if type(e) is tuple else f(e)) for e in elements]


@pytest.mark.parametrize("name", CASES)
def test_a_dataset_of_results_is_the_loop(name: str) -> None:
    ds, f = CASES[name]
    expected = loop(ds, f)
    made = ut.map_dataset(ds, f)
    for _ in range(2):
        actual = list(made.as_numpy_iterator())
        assert len(actual) == len(expected)
        for want, got in zip(expected, actual, strict=True):
            assert_same(want, got)
    assert made.cardinality().numpy() == ds.cardinality().numpy()


@pytest.mark.parametrize("name", [name for name in CASES if "differ" not in name])
@pytest.mark.parametrize("size", [1, 7, 64])
def test_batches_are_those_of_the_loop(name: str, size: int) -> None:
    ds, f = CASES[name]
    expected = loop(ds, f)
    actual = list(ds.apply(ut.map(f, batch_size=size)).as_numpy_iterator())
    assert len(actual) == -(-len(expected) // size)
    rows = [tf.nest.map_structure(lambda c, i=i: c[i], b) for b in actual for i in range(len(tf.nest.flatten(b)[0]))]
    for want, got in zip(expected, rows, strict=True):
        assert_same(want, got)


@pytest.mark.parametrize("name", ["numbers", "tuple in, tuple out", "texts made", "python ints", "bools"])
def test_dtypes_are_the_loops(name: str) -> None:
    ds, f = CASES[name]
    for want, got in zip(loop(ds, f), ut.map_dataset(ds, f).as_numpy_iterator(), strict=True):
        for a, b in zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True):
            assert type(a) is type(b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)


def test_shapes_are_known() -> None:
    made = ut.map_dataset(*CASES["tuple in, tuple out"])
    assert made.element_spec == (tf.TensorSpec((8, 6, 3), tf.uint8), tf.TensorSpec((), tf.int64))
    made = ut.map_dataset(*CASES["results that differ in shape"])
    assert made.element_spec == tf.TensorSpec([None], tf.int64)
    made = ut.map_dataset(*CASES["dict in"], batch_size=32)
    assert made.element_spec == tf.TensorSpec([None], tf.float64)
    assert ut.map_dataset(*CASES["none"]).element_spec == tf.TensorSpec((), tf.float64)


def test_endless_datasets() -> None:
    ds = tf.data.Dataset.range(5).repeat()
    made = ut.map_dataset(ds, lambda n: n * 2)
    assert [int(x) for x in made.take(12)] == [0, 2, 4, 6, 8, 0, 2, 4, 6, 8, 0, 2]
    assert made.cardinality() == tf.data.INFINITE_CARDINALITY


def test_unknown_lengths() -> None:
    ds = tf.data.Dataset.range(1000).filter(lambda n: n % 7 == 0)
    made = ut.map_dataset(ds, lambda n: n + 1)
    assert [int(x) for x in made] == list(range(1, 1001, 7))
    assert made.cardinality() == tf.data.UNKNOWN_CARDINALITY


def test_the_length_is_kept() -> None:
    ds = tf.data.Dataset.range(100)
    assert len(ut.map_dataset(ds, lambda n: n)) == 100
    assert len(ut.map_dataset(ds, lambda n: n).batch(32)) == 4
    assert len(ut.map_dataset(ds, lambda n: n, batch_size=32)) == 4


# ---- errors


def half_of_even(n):
    if n % 10 == 7:
        raise KeyError(f"odd one: {n}")
    return n / 2


@pytest.mark.parametrize("options", [{}, {"batch_size": 8}, {"output_signature": tf.TensorSpec((), tf.float64)}])
def test_an_error_names_its_element(options: dict[str, Any]) -> None:
    ds = tf.data.Dataset.range(300, 700)
    with pytest.raises(tf.errors.UnknownError, match=r"(?s)KeyError: 'odd one: 307'.*element 7: np.int64\(307\)"):
        list(ut.map_dataset(ds, half_of_even, **options))


def test_an_error_in_a_later_batch_names_the_place_in_the_dataset() -> None:
    def f(n):
        return [1][0 if n < 555 else n]

    with pytest.raises(tf.errors.UnknownError, match=r"(?s)IndexError.*element 555: np.int64\(555\)"):
        list(ut.map_dataset(tf.data.Dataset.range(600), f))


def test_other_elements_come_before_and_after_an_error() -> None:
    made = ut.map_dataset(tf.data.Dataset.range(300), half_of_even)
    seen = []
    for x in iter(made.ignore_errors()):
        seen.append(float(x))
    assert seen == [n / 2 for n in range(300) if n % 10 != 7]
    iterator = iter(made)
    assert [float(next(iterator)) for _ in range(7)] == [n / 2 for n in range(7)]
    with pytest.raises(tf.errors.UnknownError):
        next(iterator)
    assert float(next(iterator)) == 4.0


@pytest.mark.parametrize("size", [None, 16])
def test_errors_are_left_out_and_told(size: int | None) -> None:
    told: list[tuple[int, Exception]] = []
    ds = tf.data.Dataset.range(100, 400)
    made = ut.map_dataset(ds, half_of_even, batch_size=size, ignore_errors=lambda i, error: told.append((i, error)))
    flat = made if size is None else made.unbatch()
    if size is not None:
        assert [len(batch) for batch in made] == [16] * 16 + [14]
        told.clear()
    assert [float(x) for x in flat] == [n / 2 for n in range(100, 400) if n % 10 != 7]
    assert sorted(i for i, _ in told) == [i for i in range(300) if i % 10 == 7]
    assert {type(error) for _, error in told} == {KeyError}
    assert made.cardinality() == tf.data.UNKNOWN_CARDINALITY


def test_errors_of_elements_that_differ_are_left_out_and_told() -> None:
    told: list[int] = []

    def f(xs):
        if len(xs) == 3:
            raise ValueError("three")
        return xs * 2

    made = ut.map_dataset(ragged(), f, ignore_errors=lambda i, error: told.append(i))
    assert [x.tolist() for x in made.as_numpy_iterator()] == [[2 * i for i in range(n)] for n in range(9) if n != 3]
    assert told == [3]


def test_a_stop_iteration_is_not_the_end() -> None:
    def f(n):
        return next(iter([n] if n < 20 else []))

    with pytest.raises(tf.errors.UnknownError, match="StopIteration"):
        list(ut.map_dataset(tf.data.Dataset.range(40), f))


def test_where_all_elements_raise_the_error_comes_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        ut.map_dataset(tf.data.Dataset.range(4), lambda n: 1 // 0)


def test_a_result_of_another_kind_is_an_error() -> None:
    def f(n):
        return int(n) if n < 100 else n / 2

    ds = tf.data.Dataset.range(300)
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_signature"):
        list(ut.map_dataset(ds, f))
    made = ut.map_dataset(ds, f, output_signature=tf.TensorSpec((), tf.float64))
    assert [float(x) for x in made] == [f(n) for n in range(300)]


@pytest.mark.parametrize("f", [lambda n: None, lambda n: object(), lambda n: {n: 1}.keys()])
def test_results_that_no_tensor_holds_are_refused(f: Any) -> None:
    with pytest.raises(TypeError, match="dataset holds"):
        ut.map_dataset(tf.data.Dataset.range(4), f)


def test_what_cannot_be_mapped_is_refused() -> None:
    with pytest.raises(TypeError, match=r"tf.data.Dataset"):
        ut.map_dataset([1, 2], lambda x: x)
    with pytest.raises(TypeError, match="callable"):
        ut.map_dataset(tf.data.Dataset.range(3), 3)
    with pytest.raises(TypeError, match="tensors"):
        ut.map_dataset(slices(tf.ragged.constant([[1], [2, 3]])), lambda x: x)
    with pytest.raises(ValueError, match="batch_size"):
        ut.map_dataset(tf.data.Dataset.range(3), lambda x: x, batch_size=0)


# ---- random numbers and order


def test_random_numbers_are_the_loops() -> None:
    images = slices((IMAGES, LABELS))

    def flip(generator):
        def f(image, label):
            return (image[:, ::-1], label) if generator.random() < 0.5 else (image, label)

        return f

    expected = loop(images, flip(np.random.default_rng(3)))
    actual = list(ut.map_dataset(images, flip(np.random.default_rng(3))).as_numpy_iterator())
    for want, got in zip(expected, actual, strict=True):
        assert_same(want, got)


def test_the_global_stream_is_the_loops() -> None:
    ds = slices(X)

    def f(x):
        return x + np.random.rand() + random.random()

    np.random.seed(5), random.seed(5)
    expected = [f(x) for x in X]
    np.random.seed(5), random.seed(5)
    assert [x for x in ut.map_dataset(ds, f).as_numpy_iterator()] == expected
    assert np.random.rand() != expected[0]


def test_draws_after_a_decision_are_the_loops() -> None:
    generator = np.random.default_rng(1)

    def f(x):
        return x + generator.normal() if x > 1.5 else x

    expected = [f(x) for x in X]
    generator.bit_generator.state = np.random.default_rng(1).bit_generator.state
    assert [float(x) for x in ut.map_dataset(slices(X), f)] == expected


@pytest.mark.parametrize("size", [None, 50])
def test_streams_of_their_own(size: int | None) -> None:
    generator = np.random.default_rng(1)

    def f(x):
        return x + generator.normal()

    expected = up.map(f, X, randomness="independent", seed=4)
    made = ut.map_dataset(slices(X), f, batch_size=size, randomness="independent", seed=4)
    flat = made if size is None else made.unbatch()
    assert [float(x) for x in flat] == expected.tolist()
    assert [float(x) for x in flat] == expected.tolist()
    with pytest.raises(up.UpshiftError, match="generator"):
        ut.map_dataset(slices(X), abs, randomness="independent")


def test_calls_of_functions_that_act_are_in_order() -> None:
    seen: list[int] = []

    def f(n):
        seen.append(int(n))
        return n

    made = ut.map_dataset(tf.data.Dataset.range(1000), f, output_signature=tf.TensorSpec((), tf.int64))
    assert [int(x) for x in made] == list(range(1000)) == seen


def test_effects_at_the_end_of_long_calls_are_in_order() -> None:
    seen: list[int] = []

    def f(x, n):
        total = 0.0
        for i in range(4000):
            total = total + x * i
        seen.append(int(n))
        return total

    made = ut.map_dataset(slices((X[:120], np.arange(120))), f, batch_size=8)
    seen.clear()
    assert np.allclose(np.concatenate(list(made.as_numpy_iterator())), X[:120] * (4000 * 3999 / 2))
    assert [n for n in seen if n < 120] == sorted(seen)


def test_without_an_order_all_elements_come() -> None:
    made = ut.map_dataset(tf.data.Dataset.range(2000), lambda n: n * n, num_parallel_calls=4, deterministic=False)
    assert sorted(int(x) for x in made) == [n * n for n in range(2000)]


def test_one_thread() -> None:
    made = ut.map_dataset(tf.data.Dataset.range(200), lambda n: n * n, num_parallel_calls=None)
    assert [int(x) for x in made] == [n * n for n in range(200)]


# ---- what the dataset remembers


@pytest.mark.parametrize("below", [lambda ds: ds, lambda ds: ds.map(lambda n: n), lambda ds: ds.repeat(2).prefetch(1)])
def test_shuffles_are_left_as_they_were(below: Any) -> None:
    one, other = (below(tf.data.Dataset.range(50).shuffle(50, seed=3)) for _ in range(2))
    made = ut.map_dataset(one, lambda n: n * 2)
    for _ in range(2):
        assert [int(x) for x in made] == [2 * int(x) for x in other]


def test_caches_are_left_as_they_were(tmp_path: Any) -> None:
    ds = tf.data.Dataset.range(20).cache(str(tmp_path / "kept")).map(lambda n: n)
    made = ut.map_dataset(ds, lambda n: n + 1)
    assert not list(tmp_path.iterdir())
    assert [int(x) for x in made] == list(range(1, 21))


def test_the_callers_arrays_do_not_change() -> None:
    tensor = tf.constant(LARGE)
    before = tensor.numpy()

    def f(x):
        x += 1
        return x

    for ds in (slices(tensor), slices(tensor).batch(2)):
        for made in ut.map_dataset(ds, f):
            assert made.shape[-1] == 512
    assert np.array_equal(tensor.numpy(), before)


def test_a_result_that_changes_later_does_not_show() -> None:
    kept = np.zeros((512, 512))

    def f(n):
        kept[:] = n
        return kept

    made = list(ut.map_dataset(tf.data.Dataset.range(6), f).as_numpy_iterator())
    assert [x.max() for x in made] == [x.min() for x in made] == list(range(6))


def test_captured_numbers_are_read_anew() -> None:
    scale = np.array([2.0])
    made = ut.map_dataset(slices(X), lambda x: x * scale[0])
    assert np.array_equal([float(x) for x in made], X * 2)
    scale[0] = 3
    assert np.array_equal([float(x) for x in made], X * 3)


def test_inside_a_graph() -> None:
    @tf.function
    def total():
        ds = ut.map_dataset(tf.data.Dataset.range(10), lambda n: n * 2, output_signature=tf.TensorSpec((), tf.int64))
        return ds.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    assert int(total()) == 90


# ---- training


def losses(prepare: Any) -> list[float]:
    tf.keras.utils.set_random_seed(0)
    ds = prepare(slices((IMAGES, LABELS)).shuffle(70, seed=2))
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found: list[float] = model.fit(ds, epochs=2, verbose=0, shuffle=False).history["loss"]
    return found


def scaled(image, label):
    return np.sqrt(image.astype(np.float32) / 255), np.float32(label / 70)


def test_training_gives_the_same_losses() -> None:
    def native(image, label):
        return tf.sqrt(tf.cast(image, tf.float32) / 255), tf.cast(label / 70, tf.float32)

    expected = losses(lambda ds: ds.map(native).batch(16))
    ours = losses(lambda ds: ut.map_dataset(ds, scaled).batch(16))
    batched = losses(lambda ds: ds.apply(ut.map(scaled, batch_size=16)))
    np.testing.assert_allclose(ours, expected, rtol=1e-5)
    np.testing.assert_allclose(batched, expected, rtol=1e-5)


# ---- large elements


def ops_of(ds: Any) -> set[str]:
    graph = tf.compat.v1.GraphDef.FromString(ds._as_serialized_graph().numpy())
    return {node.op for function in graph.library.function for node in function.node_def}


@pytest.mark.parametrize("size", [None, 2])
def test_large_elements_go_through_tensorflows_own_operations(size: int | None) -> None:
    scale = np.float32(3)
    for f, native in ((lambda x: np.sqrt(np.abs(x)) + 1, True), (lambda x: x * scale, False), (np.sort, False)):
        made = ut.map_dataset(slices(LARGE), f, batch_size=size)
        assert ("PyFunc" in ops_of(made)) == (not native)
        flat = made if size is None else made.unbatch()
        for x, y in zip(LARGE, flat.as_numpy_iterator(), strict=True):
            np.testing.assert_allclose(y, f(x), rtol=1e-5)


def test_python_is_called_where_upshift_is_switched_off() -> None:
    with up.config(disable=True):
        made = ut.map_dataset(slices(LARGE), lambda x: x * 2)
        assert "PyFunc" in ops_of(made)
        assert all(np.array_equal(x * 2, y) for x, y in zip(LARGE, made.as_numpy_iterator(), strict=True))


def test_several_iterators_at_once() -> None:
    made = ut.map_dataset(tf.data.Dataset.range(700), lambda n: n * n)
    pairs = tf.data.Dataset.zip((made, made.skip(1)))
    assert [(int(a), int(b)) for a, b in pairs] == [(n * n, (n + 1) ** 2) for n in range(699)]


def test_large_pairs() -> None:
    def f(x, y):
        return (x + y[0], y.sum(axis=1))

    made = ut.map_dataset(slices((LARGE, LARGE[:, :2])), f)
    assert "PyFunc" not in ops_of(made)
    for x, got in zip(LARGE, made.as_numpy_iterator(), strict=True):
        for a, b in zip(f(x, x[:2]), got, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels", [0, 1, 3, 5])
def test_large_views_are_copied_as_they_are(channels: int) -> None:
    images = RNG.integers(0, 255, (3, 300, 301, channels) if channels else (3, 300, 301), dtype=np.uint8)
    generator = np.random.default_rng(7)

    def flip(image):
        return image[:, ::-1] if generator.random() < 0.5 else image[::-1]

    made = list(ut.map_dataset(slices(images), flip).as_numpy_iterator())
    generator.bit_generator.state = np.random.default_rng(7).bit_generator.state
    assert all(np.array_equal(flip(x), y) for x, y in zip(images, made, strict=True))


# ---- random numbers and TensorFlow's own operations

PICTURES = np.random.default_rng(5).integers(0, 256, (150, 96, 128, 3)).astype(np.uint8)
MASKS = PICTURES[..., 0] > 99


def flipped(image, mask):
    if np.random.rand() < 0.5:
        return image[:, ::-1], mask[:, ::-1]
    return image, mask


def brightened(image, mask):
    gain, shift = np.random.uniform(0.5, 1.0, 2)
    return image * np.float32(gain) + np.float32(shift), mask


def drawn_late(image, mask):
    if image[0, 0, 0] > 100:
        return image + np.uint8(255 * np.random.rand()), mask
    return image, mask


@pytest.mark.parametrize("f", [flipped, brightened, drawn_late])
@pytest.mark.parametrize("options", [{}, {"batch_size": 16}, {"num_parallel_calls": None}])
@pytest.mark.parametrize("known", [True, False])
def test_large_elements_draw_the_loops_numbers(f: Any, options: dict[str, Any], known: bool) -> None:
    """Known or not how many elements there are: two rounds draw as two loops do, and leave the generator there."""
    elements = tf.data.Dataset.from_tensor_slices((PICTURES, MASKS))
    ds = ut.map_dataset(elements if known else elements.filter(lambda image, mask: True), f, **options)
    np.random.seed(3)
    made = [leaf for _ in range(2) for leaf in (ds.unbatch() if "batch_size" in options else ds).as_numpy_iterator()]
    left = np.random.rand()
    np.random.seed(3)
    want = [f(*element) for _ in range(2) for element in zip(PICTURES, MASKS)]
    assert left == np.random.rand() and len(made) == len(want)
    for mine, theirs in zip(made, want):
        for a, b in zip(mine, theirs):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_draws_go_on_for_ever_with_their_elements() -> None:
    ds = ut.map_dataset(tf.data.Dataset.from_tensor_slices((PICTURES, MASKS)).repeat(), flipped)
    np.random.seed(3)
    made = list(ds.take(200).as_numpy_iterator())
    np.random.seed(3)
    want = [flipped(PICTURES[i % 150], MASKS[i % 150]) for i in range(200)]
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(made, want))


def test_large_random_elements_need_python_for_the_numbers_alone() -> None:
    calls = []

    def noted(image, mask):
        calls.append(1)
        return flipped(image, mask)

    ds = tf.data.Dataset.from_tensor_slices((PICTURES, MASKS))
    assert "ZipDataset" in str(ut.map_dataset(ds, flipped)._inputs()[0].__class__.__name__)
    list(ut.map_dataset(ds, noted))
    assert len(calls) >= len(PICTURES)  # a function that acts is called


# ---- functions that nobody sees into


def turned(image):
    from skimage.transform import rotate

    return rotate(image, 30.0)


def test_library_calls_give_the_loops_results_in_order() -> None:
    images = np.random.default_rng(0).random((12, 64, 64, 3), np.float32)
    ds = tf.data.Dataset.from_tensor_slices(images)
    want = [turned(image) for image in images]
    for made in (ut.map_dataset(ds, turned), ut.map_dataset(ds, turned, batch_size=5).unbatch()):
        got = list(made.as_numpy_iterator())
        assert len(got) == 12 and all(np.array_equal(a, b) for a, b in zip(want, got, strict=True))


def test_a_function_that_needs_arrays_to_write_into_is_refused_once() -> None:
    calls: list[int] = []

    def demanding(image):
        calls.append(1)
        if not image.flags.writeable:
            raise ValueError("buffer source array is read-only")
        return image + 1

    images = np.zeros((20, 256, 256, 3), np.float32)
    ds = tf.data.Dataset.from_tensor_slices(images)
    made = list(ut.map_dataset(ds, demanding, output_signature=tf.TensorSpec([256, 256, 3]), num_parallel_calls=None))
    assert len(calls) == 21 and all(float(tf.reduce_min(one)) == 1 for one in made) and not images.any()


@pytest.mark.parametrize("kind", ["shape", "dtype", "none", "structure"])
@pytest.mark.parametrize("size", [1, 250])
def test_results_that_are_not_as_others_are_told_with_their_element(kind: str, size: int) -> None:
    odd = {"shape": np.ones(3), "dtype": np.array([1.5, 2.5]), "none": None, "structure": (1, 2, 3)}[kind]

    def sometimes(x):
        return odd if x.flat[0] == 33 else np.array([1, 2])

    columns = np.arange(50.0)[:, None, None] * np.ones((1, size, size))
    ds = tf.data.Dataset.from_tensor_slices(columns)
    for options in ({}, {"batch_size": 8}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="element 33: "):
            list(ut.map_dataset(ds, sometimes, **options))
    seen: list[int] = []
    kept = ut.map_dataset(ds, sometimes, ignore_errors=lambda i, error: seen.append(i))
    assert len(list(kept)) == 49 and seen == [33]
