"""Long columns: chunks, threads, and the rare element that comes late."""

from __future__ import annotations

import math

import numpy as np
import pytest

import upshift as up
from law import check, compare

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
COUNT = 100_000
PLACES = [0, 1, 1023, 1024, 32_767, 32_768, 65_536, COUNT - 1]
GEARS = ("numpy", None)
each_place = pytest.mark.parametrize("place", PLACES)
each_thread_count = pytest.mark.parametrize("threads", [1, 3])


def with_odd_one(place, odd, count=COUNT):
    xs = [float(k % 1000) for k in range(count)]
    xs[place] = odd
    return xs


def same(f, xs, threads=1):
    """Both gears against the loop, without the naive checker's cost per element."""
    expected = np.array([f(x) for x in xs])
    with up.config(num_threads=threads):
        for gear in GEARS:
            difference = compare(expected, up.map(f, xs, gear=gear))
            assert difference is None, f"gear {gear}: {difference}"


@each_place
@each_thread_count
def test_a_rare_path(place, threads):
    def f(x):
        if x == -5.0:
            return 77.0
        return x * 2

    same(f, np.array(with_odd_one(place, -5.0)), threads)


@each_place
def test_a_rare_failure(place):
    def f(x):
        return 1 / (x + 5.0)

    xs = with_odd_one(place, -5.0)
    for gear in GEARS:
        with pytest.raises(ZeroDivisionError) as info:
            up.map(f, xs, gear=gear)
        assert info.value.upshift_element == place


@each_place
@each_thread_count
def test_a_rare_int_that_leaves_64_bits(place, threads):
    def f(x):
        return (x * x + 1) % 1000

    xs = [k % 1000 for k in range(COUNT)]
    xs[place] = 2**40 + 1
    expected = np.array([f(x) for x in xs])
    with up.config(num_threads=threads):
        for gear in GEARS:
            for _ in range(2):
                difference = compare(expected, up.map(f, xs, gear=gear))
                assert difference is None, f"gear {gear}: {difference}"


@each_place
def test_a_rare_wide_result(place):
    xs = [k % 1000 for k in range(COUNT)]
    xs[place] = 2**40
    for gear in GEARS:
        ys = up.map(lambda x: x * x, xs, gear=gear)
        assert ys.dtype == object and ys[place] == 2**80 and ys[place - 1] == xs[place - 1] ** 2


@each_place
def test_a_rare_result_of_another_kind(place):
    xs = with_odd_one(place, -1.0)
    for gear in GEARS:
        ys = up.map(lambda x: None if x < 0 else x, xs, gear=gear)
        assert type(ys) is list and ys[place] is None and ys.count(None) == 1


@each_place
def test_a_rare_element_of_another_kind(place):
    xs = with_odd_one(place, 7)

    def f(x):
        return x // 2

    expected = [f(x) for x in xs]
    ys = up.map(f, xs)
    assert ys.dtype == float and ys.tolist() == expected
    assert up.map(lambda x: isinstance(x, int), xs).nonzero()[0].tolist() == [place]


def test_kinds_in_every_order():
    xs = [k if k % 3 else k * 0.5 if k % 2 else bool(k % 4) for k in range(5000)]
    check(lambda x: x + 1, xs, gears=(None,))
    check(lambda x: type(x) is int, xs, gears=(None,))


@each_thread_count
def test_branches_on_many_chunks(threads):
    def f(x):
        total = 0.0
        while x > 1:
            x = x / 2
            total += math.sqrt(x) if total < 3 else 1.0
        return total

    same(f, np.random.default_rng(0).uniform(-10, 1000, COUNT), threads)


@each_thread_count
def test_structures_on_many_chunks(threads):
    xs = np.random.default_rng(0).normal(0, 3, COUNT)

    def f(x):
        return {"a": x * 2, "b": (x > 0, [x, 1.0])} if x > -9 else {"a": -x, "b": (True, [x, 1.0])}

    with up.config(num_threads=threads):
        for gear in GEARS:
            ys = up.map(f, xs, gear=gear)
            assert compare(np.where(xs > -9, xs * 2, -xs), ys["a"]) is None
            assert compare((xs > 0) | (xs <= -9), ys["b"][0]) is None
            assert compare(np.stack([xs, np.ones(COUNT)], axis=1), ys["b"][1]) is None


def test_every_element_its_own_path():
    """Lanes scatter: the gear gives up in good time and what it gives is right."""

    def f(x):
        n, steps = int(x), 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    for gear, count in (("numpy", 100), (None, 5000)):
        xs = list(range(1, count))
        assert compare(np.array([f(x) for x in xs]), up.map(f, xs, gear=gear)) is None


def test_text_of_every_element():
    xs = [k * 0.25 for k in range(5000)]
    assert up.map(lambda x: f"{x:.2f}", xs) == [f"{x:.2f}" for x in xs]


def test_strided_and_reversed():
    xs = np.random.default_rng(0).normal(0, 3, 2 * COUNT)
    for column in (xs[::-2], xs[1::2], np.asfortranarray(xs.reshape(COUNT, 2))[:, 1]):
        same(lambda x: x * 2 if x > 0 else 1 - x, column)


def test_no_two_calls_share_a_buffer():
    """A result that the user keeps is not overwritten by the next call."""
    xs = np.arange(float(COUNT))
    first = up.map(lambda x: x * 2 + 1, xs, gear="numpy")
    kept = first.copy()
    up.map(lambda x: x * 2 + 1, -xs, gear="numpy")
    assert (first == kept).all()
    a, b = up.map(lambda x: (x, x), xs, gear="numpy")
    a[0] = -1.0
    assert b[0] == 0.0 and xs[0] == 0.0
