"""OpenCV's and scikit-image's functions, lane by lane: a failure where they are not the loop."""

from __future__ import annotations

import numpy as np
import pytest

import upshift as up
from law import check

cv2 = pytest.importorskip("cv2")
transform = pytest.importorskip("skimage.transform")
filters = pytest.importorskip("skimage.filters")

RNG = np.random.default_rng(0)
IMAGES = RNG.random((13, 12, 14, 3)).astype(np.float32)
GREY = RNG.random((13, 12, 14))
BYTES = RNG.integers(0, 255, (13, 12, 14, 3), dtype=np.uint8)
ANGLES = RNG.uniform(-40, 40, 13)
TURN = cv2.getRotationMatrix2D((7, 6), 10, 1.0)


def turned(x, angle):
    return cv2.warpAffine(x, cv2.getRotationMatrix2D((7.0, 6.0), float(angle), 1.0), (14, 12))


def brightest(x):
    y = cv2.cvtColor(cv2.GaussianBlur(x, (3, 3), 1.0), cv2.COLOR_RGB2GRAY)
    return y / 255.0 if y.max() > 230 else y * 0.5


CALLS = {
    "resize": (lambda x: cv2.resize(x, (7, 6)), IMAGES),
    "resize by area": (lambda x: cv2.resize(x, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), IMAGES),
    "resize of bytes": (lambda x: cv2.resize(x, (30, 20)), BYTES),
    "warpAffine": (lambda x: cv2.warpAffine(x, TURN, (14, 12)), IMAGES),
    "warpAffine by an angle": (turned, IMAGES, ANGLES),
    "GaussianBlur": (lambda x: cv2.GaussianBlur(x * 2, (5, 5), 1.0) - x, IMAGES),
    "GaussianBlur of a view": (lambda x: cv2.GaussianBlur(np.ascontiguousarray(x[::-1, ::2]), (5, 5), 1.0), IMAGES),
    "brightest": (brightest, BYTES),
    "rotate": (lambda x: transform.rotate(x, 30.0), GREY),
    "rotate by an angle": (lambda x, angle: transform.rotate(x, angle, resize=False), GREY, ANGLES),
    "scikit's resize": (lambda x: transform.resize(x, (6, 7)) + 1, GREY),
    "scikit's rescale": (lambda x: transform.rescale(x, 0.5, channel_axis=-1), IMAGES),
    "sobel": (lambda x: filters.sobel(x).max(), GREY),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_law(name):
    f, *columns = CALLS[name]
    assert check(f, *columns, exact=True) is None
    assert check(f, *(column[::-1] for column in columns)) is None


def drawn_upon(x):
    y = x.copy()
    cv2.circle(y, (5, 5), 3, (1.0, 0.5, 0.0), -1)
    return y


def into_another(x):
    y = np.zeros_like(x)
    cv2.GaussianBlur(x, (5, 5), 1.0, y)
    return y


def flipped_in_place(x):
    return cv2.flip(x, 1, x).sum()


@pytest.mark.parametrize("f", [drawn_upon, into_another, flipped_in_place], ids=lambda f: f.__name__)
def test_what_writes_is_the_loops(f):
    before = IMAGES.copy()
    assert check(f, IMAGES, atol=1e-3) is not None
    assert np.array_equal(IMAGES, before)


def test_random_pixels_stay_in_the_loop():
    cv2.setRNGSeed(1)
    with pytest.raises(up.GearRefused):
        up.map(lambda x: cv2.randu(x.copy(), 0.0, 1.0), IMAGES, gear="numpy")
