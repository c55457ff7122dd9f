"""Functions whose traces are long: what a trace is worth grows with every call, and one that pays is made."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import upshift as up
from upshift.columns.inputs import elements_of, lanes_of
from upshift.gears import numpy as numpy_gear
from upshift.gears import passes, walk
from upshift.gears.job import Job
from upshift.gears.pace import Pace
from upshift.plan.batch import batch
from upshift.plan.traces import Traces
from upshift.trace.grow import grow
from upshift.trace.tree import Const, Tree


def summed(x):
    s = 0.0
    for i in range(200):
        s += x * i if x > 1 else i
    return s


def plain_calls(f, call):
    """How often a call runs the plain function."""
    count = 0

    def look(frame, event, arg):
        nonlocal count
        count += event == "call" and frame.f_code is f.__code__

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("column", [[float(k % 7) for k in range(5000)], np.arange(5000.0) % 7], ids=["list", "array"])
def test_what_explain_can_find_the_plan_finds(column):
    code = summed.__code__
    f = type(summed)(code.replace(), globals())  # of which nothing is known
    expected = [summed(x) for x in column]
    for _ in range(60):
        assert up.map(f, column).tolist() == expected
        if plain_calls(f, lambda: up.map(f, column)) < len(column) // 10:
            break
    else:
        raise AssertionError("after 60 calls it still runs in the loop")


def test_equal_constants_are_found_without_looking_at_all_others(monkeypatch):
    compared = 0
    plain = Const.__eq__

    def counted(self, other):
        nonlocal compared
        compared += 1
        return plain(self, other)

    monkeypatch.setattr(Const, "__eq__", counted)
    lanes = lanes_of([elements_of(np.array([2.0, 3.0]))])[0].lanes
    tree = Tree(lanes)
    assert grow(tree, summed, (np.float64(2.0),), {}, 100_000).grown
    assert tree.steps > 300
    assert compared < 4 * tree.steps


@pytest.mark.parametrize(
    "value", [1, True, 1.0, 1 + 0j, np.float64(1.0), np.int64(1), np.float32(1.0), -0.0, 0.0, "a", None]
)
def test_constants_that_are_equal_have_one_hash(value):
    others = [1, True, 1.0, 1 + 0j, np.float64(1.0), np.int64(1), np.float32(1.0), -0.0, 0.0, "a", None]
    same = [other for other in others if Const(other) == Const(value)]
    assert len(same) == 1 and type(same[0]) is type(value)
    assert hash(Const(same[0])) == hash(Const(value))


def test_nan_is_one_constant():
    for one, other in [(float("nan"), -float("inf") + float("inf")), (np.float64("nan"), np.float64("nan"))]:
        assert Const(one) == Const(other)
        assert hash(Const(one)) == hash(Const(other))
    array = np.arange(3.0)
    assert hash(Const(array)) == hash(Const(array.copy())) and Const(array) == Const(array.copy())


def test_a_trace_that_was_broken_off_is_made_when_enough_has_waited_for_it(monkeypatch):
    """A call at a time that allows a trace next to nothing: the first ones are in vain, and ever rarer."""
    begun = []
    plain = walk.grow

    def counted(*args):
        outcome = plain(*args)
        begun.append(outcome.grown)
        return outcome

    monkeypatch.setattr(walk, "grow", counted)
    monkeypatch.setattr(walk, "LONGEST_WAIT", 60.0)  # on a machine that is busy with other things, too
    column = np.full(300, 2.0)
    known, left = Traces(), []
    for _ in range(10_000):
        made = batch(Job(summed, [column], {}, len(column)), known, Pace(2e-6, 1e-9))
        left.append(sum(map(len, made.left)))
        if not left[-1]:
            break
    assert left[0] == 300 and left[-1] == 0
    assert begun[-1] and not any(begun[:-1])
    assert 2 <= len(begun) <= 12 < len(left)


def test_a_batch_that_takes_longer_than_the_loop_is_given_up(monkeypatch):
    """Between steps, on every chunk: what is not done in time is left to the plain function, what is done stays."""

    class Clock:
        now, step = 0.0, 0.0

        def perf_counter(self):
            self.now += self.step
            return self.now

    def f(x):
        y = x * 2.0 + 1.0
        return y * y if y > 100.0 else -y

    clock = Clock()
    for module in (numpy_gear, passes, walk):
        monkeypatch.setattr(module, "time", clock)
    column = np.arange(200_000.0)
    known = Traces()
    whole = batch(Job(f, [column], {}, len(column)), known, Pace(1e-6, 1.0, 0.2))
    assert not whole.overran and not sum(map(len, whole.left))
    for step in (5e-4, 1.0):
        clock.step = step
        made = batch(Job(f, [column], {}, len(column)), known, Pace(1e-6, 1.0, 1e-3))
        left = np.sort(np.concatenate(made.left))
        assert made.overran and len(left) > len(column) / 2
        done = np.zeros(len(column), bool)
        for lanes, piece in made.pieces:
            done[lanes] = True
            assert np.array_equal(piece.column, [f(x) for x in column[lanes]])
        assert np.array_equal(np.flatnonzero(~done), left)
        assert len(left) < len(column) or step == 1.0
