"""The plan with a clock and gears that are made up: what it spends against the best gear in hindsight.

Nothing is run. A scenario says what the loop, a batch and machine code cost; a call moves the clock by what the gear
that the plan chose would take. So thousands of lives of functions are lived in seconds, the unlucky ones included.
"""

from __future__ import annotations

import dataclasses
import random
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from upshift import api
from upshift.errors import Refusal
from upshift.gears.binder import MISS
from upshift.gears.numpy import Pace
from upshift.plan import choice, memory, shift
from upshift.plan.batched import Batched
from upshift.plan.memory import Known

CONSTANT = 0.06
"""Seconds that a life may cost beyond twice the best gear's: traces, and what is spent before anything is known."""


@dataclasses.dataclass(frozen=True)
class Costs:
    """What the gears of one scenario cost, in seconds."""

    loop: float  # for an element
    trace: float
    batch: float  # for an element
    batch_fixed: float
    compile: float
    machine: float  # for an element
    machine_fixed: float
    batch_refused: bool = False
    machine_refused: bool = False
    estimate: float = 1.0  # how far off the expected time of a compilation is


class Clock:
    def __init__(self) -> None:
        self.now = 1.0

    def perf_counter(self) -> float:
        return self.now


class Rows:
    """Elements of which only the number matters."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n


class Job:
    """A call of so many elements."""

    def __init__(self, n: int) -> None:
        self.n, self.f, self.shared, self.exact, self.offset = n, None, {}, False, 0
        self.call, self.columns, self.grouped_in = None, [Rows(n)], 0.0

    def part(self, start: int, stop: int | None = None) -> Job:
        return Job(max((self.n if stop is None else min(stop, self.n)) - start, 0))

    def groups(self) -> list[Any]:
        return []


class Machines:
    """Machine code that takes the scenario's time."""

    def __init__(self, world: World) -> None:
        self.world, self.ready, self.seconds, self.noted = world, False, 0.0, None

    def is_ready(self, job: Job) -> bool:
        return self.ready

    def why_not(self, job: Job) -> Refusal | None:
        return Refusal("numba", "made up") if self.world.refused else None


class Way:
    """An express way, or machine code, with nothing left to decide."""

    dtypes, shapes, width, short = [], None, 16, None  # type: ignore[var-annotated]

    def __init__(self, world: World, fixed: float, rate: float) -> None:
        self.world, self.fixed, self.rate = world, fixed, rate
        self.misses = self.timed = 0

    def over(self, f: Any, columns: tuple[Any, ...], given: Any) -> Any:
        self.world.spend(self.fixed + self.rate * len(columns[0]))
        return None


class World:
    """One life of a function."""

    def __init__(self, costs: Costs, monkeypatch: pytest.MonkeyPatch, noise: random.Random) -> None:
        self.costs, self.clock, self.noise = costs, Clock(), noise
        self.refused = self.traced = False
        self.known = Known(())
        self.known.machines = Machines(self)  # type: ignore[assignment]
        self.known.__dict__["setup"], self.known.__dict__["sure"] = 450e-6, True
        for module in (shift, memory, api):
            monkeypatch.setattr(module, "time", self.clock)
        monkeypatch.setattr(shift, "run_loop", self.run_loop)
        monkeypatch.setattr(api, "run_plain", lambda f, xs: self.run_loop(f, xs, "raise"))
        monkeypatch.setattr(api, "stack", lambda results: results)
        monkeypatch.setattr(shift, "batch", self.run_batch)
        monkeypatch.setattr(shift, "run_machine", self.run_machine)
        monkeypatch.setattr(shift, "swift_of", lambda *_: Way(self, costs.machine_fixed, costs.machine))
        monkeypatch.setattr(shift, "stacked", lambda *_: None)
        monkeypatch.setattr(shift, "conclude", lambda *_: None)
        monkeypatch.setattr(shift, "plain_rows", lambda *_: (slice(0, 0), []))
        monkeypatch.setattr(shift, "recall", lambda *_: None)
        monkeypatch.setattr(shift, "remember", lambda *_, **__: None)
        monkeypatch.setattr(self.known.__class__, "walked", lambda known: self.walked())
        monkeypatch.setattr(choice, "why_no_gpu", lambda: "there is none in this world")
        monkeypatch.setattr(choice, "compile_seconds", lambda *_: costs.compile * costs.estimate)

    def spend(self, seconds: float) -> None:
        self.clock.now += seconds * self.noise.lognormvariate(0, 0.1)

    def run_loop(self, call: Any, columns: Any, on_error: Any, offset: int = 0, positions: Any = None) -> list[Any]:
        self.spend(self.costs.loop * len(columns[0]))
        return [None] * len(columns[0])

    def run_batch(self, job: Job, known: Known, pace: Any, again: bool = False) -> Batched | Refusal:
        if self.costs.batch_refused:
            self.spend(self.costs.trace)
            return Refusal("numpy", "made up")
        first, self.traced = not self.traced, True
        known.trees = {0: []}
        self.spend(self.costs.trace * first + self.costs.batch_fixed + self.costs.batch * job.n)
        return Batched(invested=first)

    def run_machine(self, job: Job, machines: Machines, trees: Any) -> Batched | Refusal:
        first = not machines.ready
        if first:
            began = self.clock.now
            self.spend(self.costs.compile)
            machines.seconds += self.clock.now - began
        if self.costs.machine_refused:
            self.refused = True
            return Refusal("numba", "made up")
        machines.ready = True
        self.spend(self.costs.machine_fixed + self.costs.machine * job.n)
        return Batched(invested=first)

    def walked(self) -> None:
        if self.known.express is None:
            self.known.express = Way(self, self.costs.batch_fixed, self.costs.batch)  # type: ignore[assignment]

    def call(self, n: int) -> None:
        """As `map` goes about it."""
        rows = (Rows(n),)
        if n <= self.known.quick:
            api._quick(None, rows, self.known)
        elif self.known.at_express(None, _columns(n), n) is MISS:
            shift.run_best(Job(n), self.known, "raise")  # type: ignore[arg-type]

    def live(self, sizes: list[int]) -> Iterator[tuple[float, float]]:
        """After every call: what all so far have cost, and what they cost in the gear that is best for all of them."""
        began = self.clock.now
        for count, n in enumerate(sizes, start=1):
            self.call(n)
            yield self.clock.now - began, self.best(sizes[:count])

    def best(self, sizes: list[int]) -> float:
        costs, total, calls = self.costs, sum(sizes), len(sizes)
        ways = [costs.loop * total]
        if not costs.batch_refused:
            ways.append(costs.trace + costs.batch_fixed * calls + costs.batch * total)
        if not costs.machine_refused:
            ways.append(costs.compile + costs.machine_fixed * calls + costs.machine * total)
        return min(ways)


class _Column:
    """A column that has a length."""

    dtype = None

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n


def _columns(n: int) -> Any:
    class Columns(tuple):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            return iter(())

    return Columns((_Column(n),))


WEIGHTS = np.full(8, 0.125)


def a_scenario(rng: random.Random) -> Costs:
    loop = 10 ** rng.uniform(-7, -4)
    return Costs(
        loop=loop,
        trace=10 ** rng.uniform(-3.7, -2.7),
        batch=loop / 10 ** rng.uniform(-0.2, 2),
        batch_fixed=10 ** rng.uniform(-5, -4),
        compile=10 ** rng.uniform(-0.9, 0.2),
        machine=loop / 10 ** rng.uniform(0, 2.5),
        machine_fixed=10 ** rng.uniform(-5.3, -4.7),
        batch_refused=rng.random() < 0.3,
        machine_refused=rng.random() < 0.3,
        estimate=10 ** rng.uniform(-0.3, 0.3),
    )


def a_life(rng: random.Random) -> list[int]:
    """Sizes of calls: all alike, or all over the place."""
    calls = int(10 ** rng.uniform(0, 3.6))
    most = 10 ** rng.uniform(1, 6)
    if rng.random() < 0.6:
        return [max(int(most), 1)] * calls
    return [max(int(10 ** rng.uniform(0, 1) * most / 10), 1) for _ in range(calls)]


@pytest.mark.parametrize("seed", range(25))
def test_at_most_twice_the_best_gear_in_hindsight(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over random scenarios, and wherever a life may end: the adversary ends it just after an investment.

    A wrong estimate of a compilation is paid for, by as much as it was wrong.
    """
    rng = random.Random(seed)
    ratios = []
    for _ in range(60):
        costs, sizes = a_scenario(rng), a_life(rng)
        if sum(sizes) * costs.loop > 60:
            continue
        with monkeypatch.context() as patched:
            for count, (spent, best) in enumerate(World(costs, patched, rng).live(sizes), start=1):
                allowed = 2 * best + CONSTANT + costs.compile * abs(costs.estimate - 1)
                assert spent <= 1.15 * allowed, (costs, count, sizes[0], spent, best)
        ratios.append(spent / best)
    assert sorted(ratios)[len(ratios) // 2] < 1.2


def test_a_brief_first_call_leaves_a_trace_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "BRIEF_SECONDS", 1.0)

    def f(x: Any) -> Any:
        return x * 2.0 + 1.0

    xs = np.arange(100.0)
    key = memory.key_of(f, [xs], {})[0]
    for seen in (memory.ONCE, None, None):
        assert api.map(f, xs).tolist() == [f(x) for x in xs.tolist()]
        assert memory.MEMORY.known[key] is seen or (seen is None and memory.MEMORY.known[key].costs.loop_rate > 0)
    assert memory.ONCE == Known(())


def test_what_was_seen_once_may_come_back_larger_or_smaller() -> None:
    for n in (0, 3, 100, 5_000):

        def f(x: Any) -> Any:
            return x - 1 if x > 2 else -x

        assert api.map(f, list(range(64))).tolist() == [f(x) for x in range(64)]
        assert api.map(f, list(range(n))).tolist() == [f(x) for x in range(n)]


def test_a_method_is_not_the_function_that_it_is_made_of() -> None:
    def f(x: Any, y: Any = 10.0) -> Any:
        return x * 100.0 + y

    xs = np.arange(50.0)
    for _ in range(4):
        assert api.map(f, xs).tolist() == [f(x) for x in xs]
    method = types.MethodType(f, 7.0)
    assert api.map(method, xs).tolist() == [700.0 + x for x in xs]


def test_machine_code_is_made_of_a_tree_whose_batch_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numpy gear refuses what is no faster than the loop; the tree is good for machine code all the same."""

    def f(x: Any) -> Any:
        return np.convolve(x, WEIGHTS, mode="valid")

    xs = np.random.default_rng(0).normal(size=(64, 50))
    known = memory.MEMORY.recall(*memory.key_of(f, [xs], {}), [xs])
    slow = lambda job, known, pace, again=False: (
        batch(job, known, pace, again) if pace.per_element >= 1e9 else Refusal("numpy", "made up")
    )
    batch = shift.batch
    batch(api.make_job(f, (xs[:16],), {}, False), known, Pace(1e9, 1.0))
    for variants in known.trees.values():
        variants[0].trusted = False
    monkeypatch.setattr(shift, "batch", slow)
    known.refusal, known.retry_above = Refusal("numpy", "made up"), 1 << 30
    made = shift._machine_code(api.make_job(f, (xs,), {}, False), known)
    assert isinstance(made, Batched)


def test_the_loop_is_timed_again_when_things_are_warm() -> None:
    def f(x: Any) -> Any:
        return x + 1.0 if x > 0 else x - 1.0

    xs = np.random.default_rng(0).normal(size=5_000)
    known = memory.MEMORY.recall(*memory.key_of(f, [xs], {}), [xs])
    for _ in range(3):
        api.map(f, xs)
    known.costs.call_rate, known.costs.loop_spent, known.walks = 1e-3, 1.0, shift.LOOKS_AT_LOOP[0]
    known.express = known.swift = None
    known.better.clear()
    known.machines.noted = Refusal("numba", "made up")
    assert api.map(f, xs).tolist() == [f(x) for x in xs]
    assert known.costs.loop_rate < 0.5e-3
    assert known.walks not in shift.LOOKS_AT_LOOP


def test_small_calls_beside_machine_code_are_thought_about_once() -> None:
    """Their seconds are put away also where there is nothing left to compile."""
    known = Known(())
    known.costs.add_loop(10, 1e-5)
    known.small = 1.0
    known.machines = types.SimpleNamespace(is_ready=lambda job: True)  # type: ignore[assignment]
    shift.machine_pays(Job(10), known)  # type: ignore[arg-type]
    assert known.small == 0.0 and known.regret == 1.0
