"""Threads that map the same function and different ones: each gets its own results."""

from __future__ import annotations

import math
import sys
import threading

import numpy as np
import pytest

import upshift as up
from law import GEARS, compare
from stacking import outcomes, stack

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
each_gear = pytest.mark.parametrize("gear", GEARS)
ROUNDS = 12
COUNT = 1500


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def fresh_function(k):
    """A function nobody has seen, with branches and a loop."""

    def f(x):
        if x > k:
            return math.sin(x) + k
        total = 0.0
        for j in range(3):
            total += x * j if x > -k else -j
        return total

    return f


def together(*tasks):
    """Each task in a thread of its own, all starting at once; what they raised is raised."""
    barrier = threading.Barrier(len(tasks))
    failures = []

    def run(task):
        barrier.wait()
        try:
            task()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def mapping(f, xs, gear, times=3):
    """A task: map a few times and compare with the loop."""

    expected = stack(outcomes(f, (xs,), {}))

    def task():
        for _ in range(times):
            difference = compare(expected, up.map(f, xs, gear=gear))
            assert difference is None, difference

    return task


def columns(seed):
    xs = np.random.default_rng(seed).normal(0, 3, COUNT)
    return xs, xs.tolist()


@each_gear
def test_the_same_function(gear):
    for k in range(ROUNDS):
        f = fresh_function(k)
        array, values = columns(k)
        together(mapping(f, array, gear), mapping(f, array[::-1], gear))
        together(mapping(f, values, gear), mapping(f, array, gear))


@each_gear
def test_different_functions(gear):
    for k in range(ROUNDS):
        array, values = columns(k)
        together(mapping(fresh_function(k), array, gear), mapping(fresh_function(k + 0.5), values, gear))


@each_gear
def test_four_threads(gear):
    array, values = columns(0)
    f = fresh_function(2)
    together(*(mapping(f, xs, gear) for xs in (array, values, array[:10], values[:700])))


@each_gear
def test_failures_stay_in_their_thread(gear):
    def f(x):
        return 1 / (x - 700)

    good = [float(k) for k in range(600)]
    bad = [float(k) for k in range(900)]

    def failing():
        for _ in range(5):
            with pytest.raises(ZeroDivisionError) as info:
                up.map(f, bad, gear=gear)
            assert info.value.upshift_element == 700

    together(failing, mapping(f, good, gear, times=5), failing)


def test_effects_of_two_threads():
    """An impure function is called once per element by each of two threads."""
    log = []

    def f(x):
        log.append(x)
        return x

    xs = [float(k) for k in range(2000)]
    together(lambda: up.map(f, xs), lambda: up.map(f, xs))
    assert sorted(log) == sorted(xs * 2)


def test_a_map_within_a_map():
    def inner(x):
        return x * 2

    def outer(x):
        return float(up.map(inner, [x, x + 1]).sum())

    for xs in ([float(k) for k in range(50)], np.arange(50.0)):
        expected = stack(outcomes(outer, (xs,), {}))
        for gear in ("loop", None):
            assert compare(expected, up.map(outer, xs, gear=gear)) is None


def test_captures_of_each_thread():
    """Each thread changes its own capture and sees its own result."""

    def task(seed):
        def run():
            k = seed

            def f(x):
                return x * k

            for step in range(30):
                k = seed + step
                assert compare(np.arange(400.0) * k, up.map(f, np.arange(400.0), gear="numpy")) is None

        return run

    together(task(1), task(1000))
