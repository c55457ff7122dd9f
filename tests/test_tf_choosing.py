"""Maps whose ways compete: a failure where a way that loses leaves a trace in results or gradients, where a
way of unknown speed is given more than a few elements, or where a look-up under a tape gives what is out of date."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from tf_law import loop, same  # noqa: E402
from upshift.gears import loop as loops  # noqa: E402
from upshift.plan import assembly  # noqa: E402
from upshift.plan import call as plan_call  # noqa: E402
from upshift.tensorflow import memory, plan, taped  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402
from upshift.tensorflow.eager import run_loop  # noqa: E402

XS = tf.constant(np.linspace(0.5, 2, 300), tf.float32)
PAIR = (XS, XS + 1.0)


def with_gradient(fn: Any, xs: Any) -> Any:
    """Results, the gradient of their sum, and that of the sum of its squares."""
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as tape:
            tape.watch(xs)
            made = fn(xs)
        first = tape.gradient(made, xs)
        total = tf.add_n([tf.reduce_sum(one * one) for one in tf.nest.flatten(first)])
    return made, first, outer.gradient(total, xs)


def turning(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 9, lambda i, y: (i + 1, y * 0.99 + tf.sin(y)), (0, x))[1]


@pytest.mark.parametrize("slower", ["direct", "vectorized"])
@pytest.mark.parametrize(
    ("fn", "xs"), [(lambda x: tf.exp(-x) * x, XS), (turning, XS), (lambda t: (t[0] * t[1], tf.tanh(t[1])), PAIR)]
)
def test_whichever_way_wins_under_a_tape_gradients_are_the_loops(
    fn: Any, xs: Any, slower: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(memory, "MEMORY", memory.Memory())
    monkeypatch.setattr(plan, "MEMORY", memory.MEMORY)
    monkeypatch.setattr(memory, "TAPED", 1e9)
    monkeypatch.setattr(plan, "slower_with_gradient", lambda one, other, call: slower)
    want = with_gradient(lambda xs: run_loop(make_call(fn, xs)), xs)
    for _ in range(4):
        same(want, with_gradient(lambda xs: ut.map_fn(fn, xs), xs))
    known = memory.recall(make_call(fn, xs), with_operations=True)
    assert set(known.ways) == {"direct", "vectorized"} - {slower} and known.settled and slower in known.refusals


def test_a_trial_under_a_tape_is_seen_by_no_tape() -> None:
    variable = tf.Variable(3.0)
    fn = lambda x: x * variable
    call = make_call(fn, XS)
    known = memory.fresh(call, with_operations=True)
    way = known.make("direct", call)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(XS)
        found = taped.slower_with_gradient(way, dataclasses.replace(way, name="other"), call)
    assert found in ("direct", "other") and not tape.watched_variables()


def test_a_look_up_under_a_tape_sees_what_changed() -> None:
    scale = 2.0

    def fn(x: Any) -> Any:
        return x * scale

    for scale in (2.0, 3.0, 3.0, 3.0, 4.0):
        same(loop(fn, XS), ut.map_fn(fn, XS))
        made, gradient, _ = with_gradient(lambda xs: ut.map_fn(fn, xs), XS)
        same(loop(fn, XS), made)
        np.testing.assert_allclose(gradient, np.full(300, scale), rtol=1e-6)


@pytest.mark.parametrize(("seconds", "slow"), [(1e9, False), (1e-12, True)])
def test_a_way_of_unknown_speed_is_tried_on_a_few_elements(seconds: float, slow: bool, monkeypatch: Any) -> None:
    monkeypatch.setitem(plan.COSTS, "python", 0.0)
    call = make_call(lambda x: x * x, XS)
    known = memory.fresh(call, with_operations=False)
    lengths: list[int] = []
    direct = known.make("direct", call)
    assert direct is not None
    known.trust(direct, 300)
    known.predict = lambda n: ("direct", seconds)  # type: ignore[method-assign]

    def over(call: Any) -> Any:
        lengths.append(call.n)
        return direct.over(call)

    assert plan._takes_long(dataclasses.replace(direct, name="python", over=over), call, known) is slow
    assert set(lengths) == {plan.FEW}


def test_elements_with_loops_are_not_taken_for_large_ones() -> None:
    def fn(x: Any) -> Any:
        i = tf.constant(0)
        while i < 5:
            x, i = x * 0.5 + 1.0, i + 1
        return x

    call = make_call(fn, XS)
    for rate in (0.0, 100.0):
        known = memory.fresh(call, with_operations=True)
        known.rate = rate
        known.trace(call)
        assert known.candidates[-1] == "map"


@pytest.mark.parametrize("taped", [False, True])
def test_a_disturbed_call_on_columns_is_not_taken_for_the_slower_one(taped: bool) -> None:
    call = make_call(lambda x: x * x, XS)
    known = memory.fresh(call, with_operations=taped)
    way = known.make("direct", call)
    assert way is not None
    known.trust(way, 300)
    known.rate = 1e-6
    known.time("direct", 300, 100.0)
    assert known.predict(300)[0] == "direct"


# ---- the first calls of a way, counted in calls of the plain function


def stepwise(x: Any) -> Any:
    for _ in range(20):
        x = x * 0.9 + 0.1
    return x


def test_a_way_is_not_tried_by_running_all_elements_one_by_one(monkeypatch: Any) -> None:
    """Machine code that leaves every element leaves them to a batch."""
    run_plain, looped = [], loops.run_loop

    def counted(f: Any, columns: Any, *more: Any, **words: Any) -> Any:
        run_plain.append(len(columns[0]))
        return looped(f, columns, *more, **words)

    for module in (assembly, plan_call):
        monkeypatch.setattr(module, "run_loop", counted)
    xs = tf.constant(np.random.default_rng(0).uniform(0, 2, 100_000))
    call = make_call(stepwise, xs)
    known = memory.fresh(call, with_operations=False)
    known.candidates[:] = ["python"]
    known.rate = 1.0
    way = known.make("python", call)
    for _ in range(3):
        np.testing.assert_allclose(way.over(call)[0], stepwise(xs), rtol=1e-12)
    assert sum(run_plain) < 5_000


def test_a_way_whose_trial_took_long_waits_until_others_have_cost_as_much() -> None:
    call = make_call(stepwise, XS)
    known = memory.fresh(call, with_operations=False)
    for name in ("direct", "python"):
        known.trust(known.make(name, call), 300)
    for _ in range(3):
        known.time("direct", 300, 1e-3)
    known.tried("python", 300, 0.1, 1e-3)
    turns = 0
    while known.predict(300)[0] == "direct":
        known.time("direct", 300, 1e-3)
        turns += 1
    assert 90 <= turns <= 110
    known.tried("python", 300, 1.5e-3, 1e-3)  # no slower than a first call is
    assert known.predict(300)[0] == "python"
