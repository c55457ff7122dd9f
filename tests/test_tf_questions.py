"""Fifteen patterns that people post when TensorFlow's maps are slow: a failure where our words, in place of
TensorFlow's, give something else than the pattern does: at once, again, and in a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
import upshift.tensorflow as ut  # noqa: E402

UNITS = np.linspace(0.0, 1.0, 300)
XS = tf.constant(UNITS, tf.float32)
WIDE = tf.linspace(0.0, 10.0, 600)
IMAGES = (np.arange(4 * 8 * 8 * 3, dtype=np.float32) * 7 % 256).reshape(4, 8, 8, 3)


def mix(x: Any) -> Any:
    return tf.sin(x) + tf.cos(x) * 0.5


def polynomial(x: Any) -> Any:
    return 3.0 * x * x * x - 2.0 * x * x + x - 5.0


def decay(x: Any) -> Any:
    for _ in range(100):
        x = x * 0.99
    return x


def halve(image: Any) -> Any:
    return tf.cast(tf.cast(image, tf.float32) * 0.5, tf.uint8)


def brighten(image: Any) -> Any:
    """Pixel by pixel, into an array of its own: tensors take no items."""
    made = image.numpy().copy()
    for i in range(made.shape[0]):
        for j in range(made.shape[1]):
            for c in range(made.shape[2]):
                made[i, j, c] = made[i, j, c] * 0.5 + 16.0
    return made


def brighten_in_place(image: Any) -> Any:
    for i in range(image.shape[0]):
        image[i, 0, 0] = image[i, 0, 0] * 0.5 + 16.0
    return image


def add(a: Any, b: Any) -> Any:
    return a + b


def add_one(x: Any) -> Any:
    return x + 1


def count(n: int) -> Any:
    total = 0
    for i in range(n):
        if i % 3 == 0:
            total += i
    return total


def rotated(image: Any) -> Any:
    from skimage.transform import rotate

    return rotate(image, 90.0, order=0).astype(np.float32)


def each_of(fn: Callable[[Any], Any], xs: Any) -> Any:
    return tf.stack([fn(x) for x in tf.unstack(tf.convert_to_tensor(xs))])


def by_session(mapper: Any, fn: Any, xs: Any) -> Any:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        made = session.run(mapper(fn, tf.constant(np.asarray(xs))))
    return made


def calls(mapper: Any, fn: Any, xs: Any) -> dict[str, Callable[[], Any]]:
    """A map at once and again, in a graph, and by a session."""
    return {
        "first": lambda: mapper(fn, xs),
        "again": lambda: [mapper(fn, xs) for _ in range(4)][-1],
        "graph": lambda: tf.function(lambda e: mapper(fn, e))(xs),
        "session": lambda: by_session(mapper, fn, xs),
    }


MAPS: dict[str, tuple[Any, Any]] = {
    "1: squares": (lambda x: x * x, XS),
    "2, 3: sines": (mix, WIDE),
    "5: one operation": (lambda row: tf.multiply(row, 2.0), tf.reshape(tf.range(1600.0), (200, 8))),
    "6: casts": (halve, tf.constant(IMAGES, tf.uint8)),
    "10: a hundred steps": (decay, XS[::8]),
    "11: polynomial": (polynomial, tf.linspace(-1.0, 1.0, 300)),
}
CALLS = [(name, how) for name in MAPS for how in calls(None, None, None)]


@pytest.mark.parametrize(("name", "how"), CALLS, ids=map(": ".join, CALLS))
def test_maps(name: str, how: str) -> None:
    fn, xs = MAPS[name]
    want = each_of(fn, xs)
    for mapper in (ut.map_fn, ut.vectorized_map):
        made = calls(mapper, fn, xs)[how]()
        assert made.dtype == want.dtype and made.shape == want.shape
        np.testing.assert_allclose(made, want, rtol=1e-5, atol=1e-6)


def test_1_squares_of_an_array() -> None:
    squares = [x * x for x in UNITS]
    assert up.map(lambda x: x * x, UNITS).tolist() == squares
    assert up.map(lambda x: x * x, UNITS.tolist()).tolist() == squares


def test_2_sines_of_a_loop_that_is_no_map() -> None:
    np.testing.assert_allclose(up.map(mix, WIDE), tf.stack([mix(x) for x in WIDE]), rtol=1e-5, atol=1e-6)


def test_4_pixel_by_pixel() -> None:
    want = IMAGES * 0.5 + 16.0
    for _ in range(3):
        assert np.array_equal(ut.map_fn(brighten, tf.constant(IMAGES)), want)
    by_numpy = tf.function(lambda e: ut.map_fn(lambda x: ut.numpy_function(whiten, [x], tf.float32), e))
    assert np.array_equal(by_numpy(tf.constant(IMAGES)), want)
    with pytest.raises(TypeError, match="item assignment") as caught:
        ut.map_fn(brighten_in_place, tf.constant(IMAGES))
    assert caught.value.upshift_element == 0  # type: ignore[attr-defined]


def whiten(image: Any) -> Any:
    made = np.empty_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            for c in range(image.shape[2]):
                made[i, j, c] = image[i, j, c] * 0.5 + 16.0
    return made


def test_6_images_are_drawn_as_before() -> None:
    """TensorFlow draws no uint8."""
    with pytest.raises(Exception, match="uint8"):
        tf.random.uniform((2, 2), maxval=256, dtype=tf.uint8)


def test_7_two_ints() -> None:
    f = ut.function(add)
    assert [f(i, 1) for i in range(400)] == list(range(1, 401))
    assert type(f(1, 1)) is int


def test_8_a_product_of_matrices() -> None:
    a = tf.random.uniform((60, 60))
    f = ut.function(lambda a, b: tf.matmul(a, b))
    for _ in range(4):
        np.testing.assert_allclose(f(a, a), tf.matmul(a, a), rtol=1e-5)


def test_9_a_loop_with_an_if() -> None:
    f = ut.function(count)
    assert [f(10_000) for _ in range(4)] == [count(10_000)] * 4
    graph = tf.function(lambda: ut.map_fn(counted, tf.constant([10, 50])))
    assert graph().numpy().tolist() == [count(10), count(50)]


def counted(n: Any) -> Any:
    total = 0
    for i in tf.range(n):
        if i % 3 == 0:
            total += i
    return total


def test_12_the_polynomial_as_it_is_written() -> None:
    xs = tf.linspace(-1.0, 1.0, 300)
    np.testing.assert_allclose(ut.map_fn(polynomial, xs), polynomial(xs), rtol=1e-5)
    f = ut.function(polynomial)
    for _ in range(4):
        np.testing.assert_allclose(f(xs), polynomial(xs), rtol=1e-5)


@pytest.mark.parametrize("how", calls(None, None, None))
def test_13_one_is_added(how: str) -> None:
    xs = tf.constant(np.arange(200))
    made = calls(ut.map_fn, lambda x: ut.numpy_function(add_one, [x], tf.int64), xs)[how]()
    assert made.dtype == tf.int64 and np.array_equal(made, np.arange(1, 201))


def test_14_rotation() -> None:
    pytest.importorskip("skimage")
    images = np.zeros((5, 16, 16, 1), np.float32)
    images[:, 4:12, 6:10] = np.arange(5, dtype=np.float32)[:, None, None, None]
    want = np.stack([rotated(image) for image in images])
    mapped = lambda e: ut.map_fn(lambda x: ut.numpy_function(rotated, [x], tf.float32), e)
    for made in (mapped(tf.constant(images)), tf.function(mapped)(tf.constant(images)), up.map(rotated, images)):
        assert np.array_equal(made, want)
    ds = ut.map_dataset(tf.data.Dataset.from_tensor_slices(images), rotated)
    assert np.array_equal(np.stack(list(ds.as_numpy_iterator())), want)


def flips() -> Callable[..., Any]:
    rng = np.random.default_rng(0)

    def flip(image: Any, label: Any) -> Any:
        if rng.random() < 0.5:
            return image[:, ::-1].copy(), label[:, ::-1].copy()
        return image, label

    return flip


def flipped(images: Any, labels: Any) -> Iterator[tuple[Any, Any]]:
    """As it is posted: element by element, through `tf.numpy_function`."""
    flip = flips()
    return ((flip(image, label)) for image, label in zip(images, labels, strict=True))


def test_15_random_flips_of_image_and_label() -> None:
    images = np.arange(60 * 8 * 8, dtype=np.float32).reshape(60, 8, 8)
    labels = images[:, ::2, ::2].copy()
    want = [np.stack(column) for column in zip(*flipped(images, labels), strict=True)]
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    flip = flips()
    by_function = ds.map(lambda i, k: ut.numpy_function(flip, [i, k], [tf.float32, tf.float32]))
    for made in (by_function, ut.map_dataset(ds, flips()), ut.map_dataset(ds, flips(), batch_size=20).unbatch()):
        columns = [np.stack(column) for column in zip(*made.as_numpy_iterator(), strict=True)]
        assert all(map(np.array_equal, columns, want))
    assert 10 < sum(not np.array_equal(a, b) for a, b in zip(images, want[0], strict=True)) < 50
