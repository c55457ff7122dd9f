"""Many calls: memory does not grow, and nothing of the user's is kept alive."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import upshift as up
from upshift import api
from upshift.plan import memory

CALLS = 10_000
SLACK = 256 * 1024  # bytes that interpreters and caches of fixed size may take


def growth(call, warm: int, times: int) -> int:
    """Bytes that are held more after `times` calls than after `warm` calls."""
    for k in range(warm):
        call(k)
    tracemalloc.start()
    try:
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for k in range(times):
            call(warm + k)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def branches(x):
    return x * 2 if x > 3 else x + 0.5


@pytest.mark.parametrize("gear", ["loop", None])
def test_the_same_function(gear):
    xs = [float(k) for k in range(10)]
    assert growth(lambda k: up.map(branches, xs, gear=gear), 200, CALLS) < SLACK


def test_the_same_function_in_the_numpy_gear():
    xs = np.arange(60.0)
    assert growth(lambda k: up.map(branches, xs, gear="numpy"), 200, CALLS) < SLACK


def test_a_fresh_lambda_for_each_call():
    xs = [float(k) for k in range(10)]
    assert growth(lambda k: up.map(lambda x: x * 2 + k, xs), 200, CALLS) < SLACK


def test_a_fresh_lambda_for_each_call_in_the_numpy_gear():
    xs = np.arange(40.0)
    assert growth(lambda k: up.map(lambda x: x * 2 + k, xs, gear="numpy"), 200, CALLS // 10) < SLACK


def test_fresh_code_for_each_call():
    """What is remembered of functions that are gone is bounded."""
    xs = [float(k) for k in range(5)]

    def call(k):
        space = {}
        exec(f"def f(x):\n    return x + {k}\n", space)
        up.map(space["f"], xs)

    assert growth(call, 2500, 2500) < 4 * SLACK


def test_another_length_for_each_call():
    xs = np.arange(600.0)
    assert growth(lambda k: up.map(branches, xs[: 1 + k % 600], gear="numpy"), 700, 2000) < SLACK


def test_other_values_for_each_call():
    """Lanes scatter over ever new paths (`round(1.5, x)`, `range(x)`): the tree does not grow for ever."""

    def f(x):
        return len(range(x))

    assert growth(lambda k: up.map(f, list(range(5 * k, 5 * k + 5)), gear=None), 300, 2000) < 2 * SLACK


def test_other_captures_for_each_call():
    k = 0

    def f(x):
        return x * k

    def call(value):
        nonlocal k
        k = value * 0.5
        up.map(f, np.arange(50.0), gear="numpy")

    assert growth(call, 300, 1500) < SLACK


def test_failing_calls():
    xs = [3.0, 2.0, 1.0, 0.0]

    def call(_):
        with pytest.raises(ZeroDivisionError):
            up.map(lambda x: 1 / x, xs)

    assert growth(call, 200, 2000) < SLACK


@pytest.mark.parametrize("gear", ["loop", "numpy", None])
def test_columns_and_results_are_let_go(gear):
    def f(x):
        return x * 2 if x > 100 else -x

    xs = np.arange(2000.0)
    watched = weakref.ref(xs)
    ys = up.map(f, xs, gear=gear)
    result = weakref.ref(ys)
    del xs, ys
    gc.collect()
    assert watched() is None and result() is None


@pytest.mark.parametrize("gear", ["loop", "numpy", None])
def test_functions_and_captures_are_let_go(gear):
    class Big:
        gain = 2.0

    big = Big()

    def make(big):
        return lambda x: x * big.gain

    f = make(big)
    watched, function = weakref.ref(big), weakref.ref(f)
    for _ in range(3):
        up.map(f, [float(k) for k in range(500)], gear=gear)
    del big, f
    gc.collect()
    assert watched() is None and function() is None


@pytest.mark.parametrize("gear", ["loop", "numpy", None])
def test_errors_are_let_go(gear):
    class Failure(Exception):
        pass

    def f(x):
        if x == 0.0:
            raise Failure
        return x

    with pytest.raises(Failure) as info:
        up.map(f, [1.0, 0.0], gear=gear)
    watched = weakref.ref(info.value)
    del info
    gc.collect()
    assert watched() is None


def test_functions_with_long_trees_are_forgotten_first(monkeypatch):
    """All trees together are bounded, whatever the number of functions."""
    monkeypatch.setattr(memory, "MOST_STEPS", 300)
    monkeypatch.setattr(memory, "MEMORY", forgetful := memory.Memory())
    monkeypatch.setattr(api, "MEMORY", forgetful)
    space: dict = {}
    for i in range(100):
        exec(f"def f(x):\n    for k in range(10):\n        x = x * 0.5 + {i}\n    return x", space)
        up.map(space["f"], np.linspace(0, 1, 50), gear="numpy")
    kept = list(forgetful.known.values())
    assert kept[-1].steps >= 20
    assert sum(one.steps for one in kept) <= 300 + memory.SWEPT * kept[-1].steps
