"""In: functions that draw random numbers. Out: a failure where numbers or generators are not as the loop has them."""

from __future__ import annotations

import random

import numpy as np
import pytest

import upshift as up
from stacking import stack

X = np.random.default_rng(1).normal(size=(300, 4, 5))
S = np.random.default_rng(2).normal(size=300)
rng = np.random.default_rng(0)
sigma = 0.5


def noise(x):
    return x + rng.normal(size=(4, 5))


def scaled_noise(x):
    return x + rng.normal(0.0, sigma, size=5)


def two_draws(x):
    return x * rng.random() + rng.random(5)


def mixed_draws(x):
    return x + rng.integers(0, 10) + rng.normal() - rng.exponential(2.0)


def flip(x):
    return x[:, ::-1] if rng.random() < 0.5 else x


def flip_three_ways(x):
    u = rng.random()
    if u < 0.3:
        return x[::-1]
    return x.T.T * 2 if u < 0.6 else x


def legacy(x):
    return x + np.random.rand() + np.random.randn(3).sum()


def python_random(x):
    return x + random.random() * random.gauss(0, 1) + random.randint(0, 9)


def choices(x):
    return x * rng.choice([1.0, 2.0, 5.0]) + rng.permutation(4)[0]


DRAWS = [(noise, X), (scaled_noise, X), (two_draws, X), (flip, X), (flip_three_ways, X), (mixed_draws, S), (legacy, S),
         (python_random, S), (choices, S), (mixed_draws, S.tolist())]  # fmt: skip


def start():
    rng.bit_generator.state = np.random.default_rng(7).bit_generator.state
    np.random.seed(8)
    random.seed(9)


def states():
    legacy_state = np.random.get_state()
    return rng.bit_generator.state, legacy_state[1].tolist(), legacy_state[2:], random.getstate()


@pytest.mark.parametrize("gear", ["numpy", None])
@pytest.mark.parametrize(("f", "xs"), DRAWS, ids=[f.__name__ for f, _ in DRAWS])
def test_the_loops_own_numbers(f, xs, gear):
    for _ in range(3):
        start()
        wants = [stack([f(x) for x in xs]) for _ in range(2)]
        after = states()
        start()
        for want in wants:
            assert np.array_equal(want, up.map(f, xs, gear=gear))
        assert states() == after


def test_draws_after_a_decision_stay_in_the_loop():
    def f(x):
        return x + rng.random() if x > 0 else x

    start()
    want = [f(x) for x in S]
    start()
    assert np.array_equal(want, up.map(f, S))
    with pytest.raises(up.GearRefused, match="after a decision"):
        up.map(f, S, gear="numpy")


def test_a_lane_that_raises_draws_as_the_loop_does():
    def f(x):
        u = rng.random()
        if x > 1.5:
            raise ValueError("large")
        return x + u

    start()
    want = [f(x) if x <= 1.5 else (rng.random(), -1.0)[1] for x in S]
    start()
    assert np.array_equal(want, up.map(f, S, on_error=("fill", -1.0)))


def test_a_trace_and_an_explanation_draw_nothing():
    start()
    before = states()
    up.explain(noise, X)
    assert states() == before


@pytest.mark.parametrize("f", [noise, flip, legacy, python_random], ids=lambda f: f.__name__)
def test_independent_streams(f):
    xs = X if f in (noise, flip) else S
    start()
    before = states()
    found = up.map(f, xs, randomness="independent", seed=3)
    assert states() == before
    assert np.array_equal(found, up.map(f, xs, randomness="independent", seed=3))
    assert not np.array_equal(found, up.map(f, xs, randomness="independent", seed=4))
    part = up.map(f, xs[:100], randomness="independent", seed=3)
    assert np.array_equal(found[:100], part)


def test_independent_streams_without_a_seed_differ():
    assert not np.array_equal(*(up.map(noise, X, randomness="independent") for _ in range(2)))


def test_words():
    with pytest.raises(ValueError, match="independent"):
        up.map(noise, X, randomness="sometimes")
    with pytest.raises(up.UpshiftError, match="generator"):
        up.map(lambda x: x + 1, S, randomness="independent")
    assert up.map(lambda x, seed: x + seed, [1, 2], seed=3).tolist() == [4, 5]
