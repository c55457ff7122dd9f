"""Functions that draw random numbers: a failure where numbers or generators are not as the loop has them."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import upshift as up
from stacking import stack
from upshift.plan import call

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


def around_the_element(x):
    return rng.normal(x, abs(x)) + rng.uniform(x, x + 1.0) + rng.exponential(abs(x) + 0.1)


def around_arrays(x):
    return rng.normal(x, np.abs(x)) + rng.uniform(x.min(), x.max(), size=5)


def in_a_chain(x):
    a = rng.normal(x, 2.0)
    b = rng.uniform(a, a + sigma)
    return a * b + rng.standard_normal()


def after_a_decision(x):
    y = -x if x < 0 else x * 2
    return y + rng.random()


def on_every_path(x):
    if x > 0.5:
        return x + rng.normal()
    return rng.normal() * 2 if x < -0.5 else 3.0 - rng.normal(1.0, sigma)


def behind_a_root(x):
    return math.sqrt(x * x + 1) / (abs(x) + 1) + random.uniform(x, x + 1) + random.gauss(x, sigma)


def computed_by_itself(x):
    return x + rng.integers(0, int(sigma * 20)) + rng.gamma(sigma + 1.0)


def below_the_element(x):
    return x + rng.integers(1 + math.floor(abs(x) * 10)) + rng.poisson(math.exp(x)) * rng.normal(x, 1.0)


def below_python(x):
    most = int(x * x * 10)
    y = x if x > 0 else -x
    return y + random.randint(0, most) + random.random()


def of_the_array(x):
    return x[0] + rng.permutation(x[1]) + rng.choice(x[2], size=5)


def legacy_around(x):
    return np.random.normal(x, 2) + np.random.uniform(x, x - 1) + np.random.exponential(3)


def python_around(x):
    return random.normalvariate(x, 2) * random.expovariate(abs(x) + 1)


DRAWS = [(noise, X), (scaled_noise, X), (two_draws, X), (flip, X), (flip_three_ways, X), (mixed_draws, S), (legacy, S),
         (python_random, S), (choices, S), (mixed_draws, S.tolist()), (around_the_element, S),
         (around_the_element, S.tolist()), (around_the_element, S.astype(np.float32)), (around_arrays, X),
         (around_arrays, X.astype(np.float32)), (in_a_chain, S), (after_a_decision, S), (on_every_path, S),
         (behind_a_root, S), (behind_a_root, S.tolist()), (computed_by_itself, S), (legacy_around, S),
         (python_around, S), (python_around, S.tolist()), (below_the_element, S), (below_the_element, S.tolist()),
         (below_python, S.tolist()), (of_the_array, X)]  # fmt: skip


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
    with pytest.raises(up.GearRefused, match="depends on a decision"):
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


def test_a_parameter_that_the_generator_refuses():
    def f(x):
        return rng.normal(0.0, x)

    assert_same_error(f, S)
    assert_same_error(lambda x: rng.uniform(x, 0.0), S)
    assert_same_error(lambda x: rng.exponential(x), S.tolist())
    start()
    want = [f(abs(x)) for x in S]
    start()
    assert np.array_equal(want, up.map(lambda x: f(abs(x)), S, gear="numpy"))


def assert_same_error(f, xs):
    start()
    with pytest.raises(ValueError) as want:
        [f(x) for x in xs]
    after = states()
    start()
    with pytest.raises(ValueError) as got:
        up.map(f, xs)
    assert str(want.value) == str(got.value)
    assert states() == after


# ---- a stream for every element


def as_many_as(x):
    total = 0.0
    for _ in range(int(abs(x) * 3)):
        total += rng.normal(x, 1.0)
    return total + rng.random()


def until_it_is_large(x):
    steps = 0
    while x < 1.0:
        x, steps = x + rng.random(), steps + 1
    return steps


def on_one_path(x):
    return rng.normal(x, 0.1) if x > 0 else -x


def of_any_kind(x):
    return x + rng.integers(10) + rng.integers(-3, 4) + rng.integers(0, 2**40) + rng.poisson(abs(x)) + rng.gamma(2.0)


def within_the_element(x):
    n = int(abs(x) * 10)
    return rng.integers(n + 1) + rng.integers(-n, n + 2) * 10 + rng.integers(n, 2 * n + 1)


def halves_of_words(x):
    return rng.integers(5) + rng.random() + rng.integers(7) * 10 + rng.normal() + rng.integers(2**33)


def sized_by_the_element(x):
    return rng.normal(size=int(abs(x) * 2) + 1).sum()


def by_two_generators(x):
    return rng.random() + other.random() * 10 + random.random() * 100


def two_at_once(x):
    return x + rng.normal(size=(4, 5)), rng.random(size=2)


other = np.random.default_rng(5)
APART = [*DRAWS, (as_many_as, S), (as_many_as, S.tolist()), (until_it_is_large, S), (on_one_path, S), (of_any_kind, S),
         (within_the_element, S), (halves_of_words, S), (sized_by_the_element, S), (by_two_generators, S),
         (two_at_once, X)]  # fmt: skip


@pytest.mark.parametrize(("f", "xs"), APART, ids=[f.__name__ for f, _ in APART])
def test_independent_streams(f, xs):
    start()
    before = states()
    want = up.map(f, xs, randomness="independent", seed=3, gear="loop")
    for gear in ("numpy", None, None):
        if gear == "numpy" and f in (legacy, legacy_around):
            with pytest.raises(up.GearRefused, match="default_rng"):
                up.map(f, xs, randomness="independent", seed=3, gear=gear)
            continue
        assert_equal(want, up.map(f, xs, randomness="independent", seed=3, gear=gear))
        other_seed = up.map(f, xs, randomness="independent", seed=4, gear=gear)
        assert_equal(up.map(f, xs, randomness="independent", seed=4, gear="loop"), other_seed)
        assert differ(want, other_seed)
    assert_equal(part(want, 100), up.map(f, xs[:100], randomness="independent", seed=3))
    assert states() == before


BATCHED = [noise, flip, mixed_draws, halves_of_words, within_the_element, on_one_path, in_a_chain, behind_a_root,
           by_two_generators, until_it_is_large]  # fmt: skip


@pytest.mark.parametrize("f", BATCHED, ids=lambda f: f.__name__)
def test_independent_streams_are_batched(f, monkeypatch):
    def insist(job, made, *rest):
        assert sum(map(len, made.left)) < job.n / 20
        return plain_rows(job, made, *rest)

    plain_rows = call.plain_rows
    monkeypatch.setattr(call, "plain_rows", insist)
    up.map(f, X if f in (noise, flip) else S, randomness="independent", seed=3, gear="numpy")


def assert_equal(want, got):
    for a, b in zip(want, got, strict=True) if isinstance(want, tuple) else [(want, got)]:
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)


def part(results, n):
    return tuple(r[:n] for r in results) if isinstance(results, tuple) else results[:n]


def differ(a, b):
    return not np.array_equal(a[0], b[0]) if isinstance(a, tuple) else not np.array_equal(a, b)


@pytest.mark.parametrize("f", [flip, until_it_is_large, on_one_path], ids=lambda f: f.__name__)
def test_independent_streams_are_the_same_for_any_chunking(f, monkeypatch):
    xs = X if f is flip else S
    want = up.map(f, xs, randomness="independent", seed=3, gear="loop")
    monkeypatch.setattr("upshift.gears.numpy.CHUNK", 7)
    monkeypatch.setattr("upshift.gears.chunks.THREADS_PAY_SECONDS", 0.0)
    for threads in (1, 3):
        with up.config(num_threads=threads):
            got = up.map(f, xs, randomness="independent", seed=3, gear="numpy")
        assert np.array_equal(want, got)


def test_a_stream_is_the_one_that_numpy_spawns():
    got = up.map(lambda x: x + rng.normal(), S, randomness="independent", seed=11)
    for i in (0, 1, 299):
        own = np.random.default_rng(np.random.SeedSequence(11, spawn_key=(i, 0)))
        assert got[i] == S[i] + own.normal()


@pytest.mark.parametrize("seed", [0, 2**40, 2**200 + 1, [1, 2**40, 3]])
def test_seeds_of_any_size(seed):
    want = up.map(two_draws, X, randomness="independent", seed=seed, gear="loop")
    assert np.array_equal(want, up.map(two_draws, X, randomness="independent", seed=seed, gear="numpy"))


def test_a_generator_of_the_call():
    def mapped(gear):
        own = np.random.default_rng()
        return up.map(lambda x: x * own.random(), S, randomness="independent", seed=2, gear=gear)

    assert np.array_equal(mapped("loop"), mapped("numpy"))
    assert np.array_equal(mapped("loop"), mapped("numpy"))


def test_two_generators_that_become_one():
    a = b = np.random.default_rng(1)

    def f(x):
        return x + a.random() + 10 * b.random()

    for _ in range(2):
        for gear in ("numpy", None):
            want = up.map(f, S, randomness="independent", seed=2, gear="loop")
            assert np.array_equal(want, up.map(f, S, randomness="independent", seed=2, gear=gear))
        b = np.random.default_rng(1)


def test_errors_of_independent_elements():
    def f(x):
        if rng.random() < 0.1:
            raise ValueError("unlucky")
        return x

    fill = ("fill", -1.0)
    want = up.map(f, S, randomness="independent", seed=2, gear="loop", on_error=fill)
    assert (want == -1.0).any()
    for gear in ("numpy", None):
        assert np.array_equal(want, up.map(f, S, randomness="independent", seed=2, gear=gear, on_error=fill))
        with pytest.raises(ValueError, match="unlucky") as error:
            up.map(f, S, randomness="independent", seed=2, gear=gear)
        first = int(np.flatnonzero(want == -1.0)[0])
        assert error.value.__notes__[0].startswith(f"element {first}: np.float64(")


def test_a_refused_write_does_not_move_the_streams():
    def f(x):
        x[0] += rng.random()
        return x.sum()

    want = up.map(lambda x: (x[0] + rng.random()).sum() + x[1:].sum(), X[:, 0], randomness="independent", seed=2)
    for gear in ("loop", "numpy", None):
        got = up.map(f, X[:, 0], randomness="independent", seed=2, gear=gear)
        assert np.allclose(want, got, rtol=1e-12)


def test_an_empty_batch_of_independent_elements():
    assert len(up.map(noise, X[:0], randomness="independent", seed=1)) == 0


def test_independent_streams_without_a_seed_differ():
    assert not np.array_equal(*(up.map(noise, X, randomness="independent") for _ in range(2)))


def test_words():
    with pytest.raises(ValueError, match="independent"):
        up.map(noise, X, randomness="sometimes")
    with pytest.raises(up.UpshiftError, match="generator"):
        up.map(lambda x: x + 1, S, randomness="independent")
    assert up.map(lambda x, seed: x + seed, [1, 2], seed=3).tolist() == [4, 5]
