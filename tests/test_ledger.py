"""The ledger's two bounds, over made-up lives that drive `up.map` itself: a clock and gears of our own behind it.

A life is a sequence of calls of one function. The function's own time, the price of every gear and what it costs are
made up; predictions may be wrong by ten times, gears may refuse, speeds may change, sizes alternate.
"""

from __future__ import annotations

import random
import threading
import types
from dataclasses import dataclass, field

import numpy as np
import pytest

import upshift as up
from upshift.columns.kinds import FLOAT
from upshift.columns.outputs import Numbers
from upshift.compiler import check as compiler_check
from upshift.errors import Refusal
from upshift.gears.job import Job
from upshift.plan import arms, call, entries, functions
from upshift.plan import ledger as ledger_module
from upshift.plan.arms import Loop, Way
from upshift.plan.batched import Batched
from upshift.plan.ledger import GAIN, RISK, TRIES, Arm, Ledger, Line, margin


class Clock:
    """What `time` is to the plan."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def thread_time(self):
        return self.now


@dataclass
class Truth:
    """What a gear really costs."""

    name: str
    price: float
    fixed: float
    rate: float
    refuses: bool = False
    lie: float = 1.0
    """By how much its cost is expected to differ."""
    price_lie: float = 1.0
    sure: bool = False
    paid: float = 0.0
    slowest: float = 0.0
    """The longest that its largest call has ever taken."""

    def seconds(self, n):
        return self.fixed + self.rate * n


class Made(Way):
    """A gear of our own."""

    def __init__(self, truth, clock):
        super().__init__(truth.name, price=truth.price * truth.price_lie)
        self.guess = lambda n: truth.lie * truth.seconds(n)
        self.truth, self.clock, self.sure = truth, clock, truth.sure

    def build(self, job, n):
        self.clock.now += self.truth.price
        self.truth.paid += self.truth.price
        if self.truth.refuses:
            self.refusal = Refusal(self.name, "it was made so")
        else:
            self.ready = True

    def run(self, job):
        self.clock.now += self.truth.seconds(job.n)
        return Batched([(slice(None), Numbers(2.0 * np.array(list(job.columns[0])), FLOAT))])


def forget():
    ledger_module.KEPT.clear()
    functions.FUNCTIONS.clear()
    entries.ENTRIES.clear()
    entries.BRIEF.clear()


@dataclass
class Life:
    """One function, its gears, and the sizes of its calls."""

    loop: float
    truths: list
    sizes: list
    clock: Clock = field(default_factory=Clock)
    total: float = 0.0
    changes: dict = field(default_factory=dict)
    """By call: how many times as long the function, and all gears, take from then on."""
    by_loop: float = 0.0

    def live(self, monkeypatch):
        clock = self.clock
        for module in (call, entries, arms):
            monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr(
            functions,
            "arms_of",
            lambda f, columns, traces, ledger, exact: [Loop(), *(Made(t, clock) for t in self.truths)],
        )
        forget()
        cost = self

        def f(x):
            clock.now += cost.loop
            return 2.0 * x

        f = types.FunctionType(f.__code__.replace(), f.__globals__, "f", None, f.__closure__)
        for i, n in enumerate(self.sizes):
            factor = self.changes.get(i, 1.0)
            self.loop *= factor
            for truth in self.truths:
                truth.rate *= factor
                truth.slowest = max(truth.slowest, truth.seconds(max(self.sizes)))
            self.by_loop += self.loop * n
            xs = [float(i) for i in range(n)]
            began = clock.now
            result = up.map(f, xs)
            self.total += clock.now - began
            assert result.tolist() == [2.0 * x for x in xs]
        forget()

    def hindsight(self):
        """The best single choice, its price included."""
        assert not self.changes
        ways = [self.by_loop]
        ways += [t.price + sum(t.seconds(n) for n in self.sizes) for t in self.truths if not t.refuses]
        return min(ways)


def made_up(rng, honest):
    loop = 10 ** rng.uniform(-6, -3)
    sizes = [rng.choice([1, 2, 5, 10, 30, 60]) for _ in range(rng.randrange(1, 120))]
    if rng.random() < 0.5:
        sizes = [rng.choice([3, 20, 50])] * len(sizes)
    truths = []
    for name in ("numpy", "llvm", "cuda")[: rng.randrange(1, 4)]:
        price = 10 ** rng.uniform(-4, 0)
        gain = 10 ** rng.uniform(-0.5, 2)
        truth = Truth(name, price, 10 ** rng.uniform(-6, -4), loop / gain, refuses=rng.random() < 0.3)
        truth.sure = not truth.refuses and rng.random() < 0.5
        if not honest:
            truth.lie, truth.price_lie = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-1, 1)
        truths.append(truth)
    return Life(loop, truths, sizes)


SLACK = 3e-3
"""What a function may cost before there is a ledger (`entries.RENTED`): it is the loop's all the while."""


@pytest.mark.parametrize("seed", range(20))
def test_never_much_slower_than_the_loop(seed, monkeypatch):
    """At most 1.1 times the loop, plus the prices of what disappointed or is not yet paid back by what it saves."""
    rng = random.Random(seed)
    for _ in range(60):
        life = made_up(rng, honest=True)
        life.live(monkeypatch)
        prices = sum(truth.paid for truth in life.truths if truth.sure)
        slower = sum(TRIES * 2 * truth.seconds(max(life.sizes)) for truth in life.truths if truth.paid)
        bound = (1 + RISK) * life.by_loop + prices + slower + SLACK
        assert life.total <= bound, (life, life.total, life.by_loop)


@pytest.mark.parametrize("seed", range(20))
def test_at_most_twice_the_best_in_hindsight(seed, monkeypatch):
    """Plus the prices of what came before it, and what nobody knew: how fast the loop is, how fast new gears are."""
    rng = random.Random(1000 + seed)
    for _ in range(60):
        life = made_up(rng, honest=True)
        for truth in life.truths:
            truth.sure = not truth.refuses
        life.live(monkeypatch)
        before = sum(truth.paid for truth in life.truths)
        unsure = sum(truth.price / RISK for truth in life.truths if truth.refuses)
        tries = sum(TRIES * 2 * truth.seconds(max(life.sizes)) for truth in life.truths if truth.paid)
        one = life.loop * max(life.sizes)
        bound = 2 * life.hindsight() + before + unsure + tries + one + SLACK
        assert life.total <= bound * 1.05, (life, life.total, life.hindsight())


@pytest.mark.parametrize("seed", range(10))
def test_wrong_predictions_cost_what_was_paid_for_them(seed, monkeypatch):
    """Prices and costs that lie by ten times: what was bought is lost, and the gear that is faster still runs."""
    rng = random.Random(2000 + seed)
    for _ in range(60):
        life = made_up(rng, honest=False)
        life.live(monkeypatch)
        paid = sum(truth.paid for truth in life.truths)
        slower = sum(2 * TRIES * truth.seconds(max(life.sizes)) for truth in life.truths if truth.paid)
        assert life.total <= 1.25 * life.by_loop + paid + slower + SLACK, (life, life.total, life.by_loop)


def test_a_function_that_changes_its_speed_is_followed(monkeypatch):
    """The loop becomes a hundred times slower: a gear that did not pay is made ready then."""
    life = Life(1e-6, [Truth("llvm", 0.02, 2e-5, 1e-7, sure=True)], [50] * 100)
    life.live(monkeypatch)
    assert not life.truths[0].paid
    slower = Life(1e-4, [Truth("llvm", 0.02, 2e-5, 1e-7, sure=True)], [50] * 100)
    slower.live(monkeypatch)
    assert slower.truths[0].paid and slower.total < 0.2 * slower.by_loop


@pytest.mark.parametrize("seed", range(10))
def test_functions_that_change_their_speed_cost_what_an_entry_does_not_see(seed, monkeypatch):
    """What is settled is looked at again after so many calls; whatever is expected by then is expected wrongly."""
    rng = random.Random(3000 + seed)
    for _ in range(40):
        life = made_up(rng, honest=True)
        life.sizes = life.sizes * 4
        life.changes = {rng.randrange(len(life.sizes)): 10 ** rng.uniform(-1.5, 1.5) for _ in range(3)}
        life.live(monkeypatch)
        paid = sum(truth.paid for truth in life.truths)
        slower = sum(2 * TRIES * truth.slowest for truth in life.truths if truth.paid)
        assert life.total <= 1.25 * life.by_loop + paid + slower + SLACK, (life, life.total, life.by_loop)


def test_what_is_refused_costs_a_tenth_at_most(monkeypatch):
    for price in (1e-4, 1e-3, 1e-2, 1e-1):
        life = Life(1e-5, [Truth("llvm", price, 0.0, 0.0, refuses=True)], [60] * 400)
        life.live(monkeypatch)
        assert life.total <= (1 + RISK) * life.by_loop + 1e-9, price


class Leaving(Made):
    """A gear that leaves the first elements of every job to the plain function."""

    share = 1.0

    def run(self, job):
        self.clock.now += self.truth.seconds(job.n)
        left = int(self.share * job.n)
        done = 2.0 * np.array(list(job.columns[0])[left:])
        pieces = [(np.arange(left, job.n), Numbers(done, FLOAT))] if left < job.n else []
        return Batched(pieces, [np.arange(left)])


@pytest.mark.parametrize(("share", "most"), [(1.0, 100), (0.6, 100), (0.25, 900)])
@pytest.mark.parametrize("another", [True, False])
def test_what_an_arm_leaves_most_of_is_given_to_the_next_one(share, most, another, monkeypatch):
    """The plain function runs what is needed to know its speed, and not what another arm can run."""
    clock, called = Clock(), [0]
    for module in (call, entries, arms):
        monkeypatch.setattr(module, "time", clock)
    truths = [Truth("llvm", 1e-3, 0.0, 1e-7, sure=True), Truth("numpy", 2e-3, 0.0, 1e-6, sure=True)]
    made = [Leaving(truths[0], clock), Made(truths[1], clock)]
    made[0].share = share
    monkeypatch.setattr(functions, "arms_of", lambda *given: [Loop(), *made[: 1 + another]])
    forget()

    def f(x):
        clock.now += 1e-4
        called[0] += 1
        return 2.0 * x

    xs = [float(i) for i in range(3000)]
    for _ in range(3):
        before = called[0]
        assert up.map(f, xs).tolist() == [2.0 * x for x in xs]
        assert not another or called[0] - before <= most
    forget()
    assert not another or clock.now < 3 * 3000 * 1e-4 / 3
    assert clock.now < 3 * 3000 * 1e-4 + 0.01  # the loop's time, where there is nothing else


# ---- the ledger by itself


def ledger_of(*arms_):
    return Ledger([Arm("loop", ready=True, sure=True), *arms_])


def test_an_arm_that_pays_within_the_call_is_made_ready_at_once():
    arm = Arm("llvm", price=0.01, guess=lambda n: 1e-8 * n, sure=True)
    ledger = ledger_of(arm)
    ledger.ran(ledger.arms[0], 100, 1e-4)  # 1 us an element
    assert ledger.to_build(5_000) is None
    assert ledger.to_build(1_000_000) is arm


def test_regret_buys_what_no_single_call_pays_for():
    arm = Arm("llvm", price=0.01, guess=lambda n: 1e-8 * n, sure=True)
    ledger = ledger_of(arm)
    for _ in range(12):
        assert ledger.to_build(100) is None or ledger.arms[1].regret > 0.0098
        ledger.ran(ledger.arms[0], 1000, 1e-3)
    assert ledger.to_build(1000) is arm


def test_an_arm_that_may_refuse_waits_ten_times_as_long():
    arm = Arm("numpy", price=0.01, guess=lambda n: 1e-8 * n)
    ledger = ledger_of(arm)
    spent = 0.0
    while ledger.to_build(100) is None:
        ledger.ran(ledger.arms[0], 1000, 1e-3)
        spent += 1e-3
    assert 0.095 < spent < 0.12


def test_one_disturbed_run_does_not_decide():
    arm = Arm("llvm", ready=True, sure=True, guess=lambda n: 1e-8 * n)
    ledger = ledger_of(arm)
    ledger.ran(ledger.arms[0], 1000, 1e-3)
    ledger.ran(arm, 1000, 1.5)  # the first run, slower than all others
    assert ledger.best(1000) is arm
    ledger.ran(arm, 1000, 1.5e-3)  # disturbed
    assert ledger.best(1000) is arm
    for _ in range(2):
        ledger.ran(arm, 1000, 1e-5)
    assert ledger.best(1000) is arm and ledger.cheapest(1000) is arm


def test_an_arm_that_became_faster_is_found_again():
    arm = Arm("llvm", ready=True, sure=True)
    ledger = ledger_of(arm)
    for _ in range(5):
        ledger.ran(arm, 1000, 2e-3)
        ledger.ran(ledger.arms[0], 1000, 1e-3)
    tried = 0
    for _ in range(400):
        best = ledger.best(1000)
        tried += best is arm
        ledger.ran(best, 1000, 1e-5 if best is arm else 1e-3)
    assert tried > 300


def test_lines_know_small_and_large_sizes():
    line = Line()
    assert line.seconds(10) is None
    line.add(10, 1e-5)
    line.add(1000, 1e-4)
    assert line.seconds(10) == pytest.approx(1e-5)
    assert 1e-5 < line.seconds(200) < 1e-4
    assert line.seconds(100_000) == pytest.approx(9.1e-3, rel=0.1)


def test_gain_has_to_be_worth_it():
    arm = Arm("llvm", price=1e-6, guess=lambda n: (1 - GAIN / 2) * 1e-6 * n, sure=True)
    ledger = ledger_of(arm)
    ledger.ran(ledger.arms[0], 1000, 1e-3)
    assert ledger.to_build(10**6) is None


def test_eight_threads_map_the_same_and_different_functions_while_the_ledger_learns():
    def same(x):
        return x * 2.0 + 1.0 if x > 3.0 else -x

    xs = [float(i % 7) for i in range(500)]
    wanted = [same(x) for x in xs]
    failures = []

    def work(k):
        def own(x):
            return x * k + 1.0

        for _ in range(60):
            for f, right in ((same, wanted), (own, [own(x) for x in xs])):
                found = up.map(f, xs).tolist()
                if found != right:
                    failures.append((k, f))

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_settled_loops_over_arrays_leave_the_caller_s_arrays_alone():
    """Entries for elements that are arrays: in lists, as rows of one array, and where the function writes."""
    forget()

    def doubled(a, k):
        a *= 2.0
        return a + k

    rows = np.arange(12.0).reshape(4, 3)
    for columns in ([list(rows.copy()), [1.0, 2.0, 3.0, 4.0]], [rows.copy(), np.arange(4.0)]):
        before = [np.array(row) for row in columns[0]]
        expected = np.array([doubled(row.copy(), k) for row, k in zip(before, columns[1])])
        for _ in range(300):
            assert np.array_equal(up.map(doubled, *columns), expected)
        assert all(map(np.array_equal, columns[0], before))
    kept = up.map(lambda a: a, list(rows))
    kept[0, 0] = 99.0
    assert rows[0, 0] == 0.0
    forget()


def test_sure_arms_that_disappoint_make_the_next_ones_wait(monkeypatch):
    monkeypatch.setattr(ledger_module, "KEPT", {})
    for _ in range(8):  # as fast as was said
        good = Arm("llvm", price=0.01, guess=lambda n: 1e-8 * n, sure=True)
        ledger = ledger_of(good)
        ledger.ran(ledger.arms[0], 1000, 1e-3)
        good.ready = True
        for _ in range(TRIES):
            ledger.ran(good, 1000, 1e-5)
    assert margin(good) == 1.0
    for _ in range(100):
        bad = Arm("llvm", price=0.01, guess=lambda n: 1e-8 * n, sure=True)
        ledger = ledger_of(bad)
        ledger.ran(ledger.arms[0], 1000, 1e-3)
        bad.ready = True
        for _ in range(TRIES):
            ledger.ran(bad, 1000, 2e-3)
    assert margin(bad) == 2.0 and margin(Arm("numpy")) == 1.0
    new = Arm("llvm", price=0.01, guess=lambda n: 1e-8 * n, sure=True)
    ledger, spent = ledger_of(new), 0.0
    while ledger.to_build(100) is None:
        ledger.ran(ledger.arms[0], 1000, 1e-3)
        spent += 1e-3
    assert 0.019 < spent < 0.022


def test_an_arm_that_is_ready_and_no_faster_does_not_hold_up_entries():
    arm = Arm("llvm", ready=True, sure=True, guess=lambda n: 2e-6 * n)
    ledger = ledger_of(arm)
    for _ in range(4):
        ledger.ran(ledger.arms[0], 1000, 1e-3)
    assert not arm.runs and ledger.budget(1000) > 0


def test_an_entry_that_misses_is_used_no_more():
    """What its calls have cost is told to the ledger all the same."""
    forget()

    def f(x):
        return x + 1.0

    xs = [1.0, 2.0, 3.0]
    ledger = ledger_of()
    ledger.ran(ledger.arms[0], 3, 1e-5)
    key = entries.key_of(f, (xs,))
    answers = iter([np.array([2.0, 3.0, 4.0]), entries.MISS])
    entries.ENTRIES[key] = entries.Entry(f.__code__, lambda f, xs: next(answers), 100, ledger.arms[0], ledger)
    for _ in range(3):
        assert up.map(f, xs).tolist() == [2.0, 3.0, 4.0]
    assert ledger.arms[0].runs == 3
    forget()


def test_one_thread_of_eight_makes_a_purchase(monkeypatch):
    """All of them come to it at once; the others go on as they are."""
    built, gate = [], threading.Barrier(8)

    class Slow(Way):
        def __init__(self):
            super().__init__("llvm", price=1e-9, guess=lambda n: 1e-12 * n, sure=True)

        def build(self, job, n):
            built.append(threading.get_ident())
            self.ready = True

        def run(self, job):
            return Batched([(slice(None), Numbers(2.0 * np.array(list(job.columns[0])), FLOAT))])

    monkeypatch.setattr(functions, "arms_of", lambda *args: [Loop(), Slow()])
    forget()

    def f(x):
        return 2.0 * x

    xs = [float(i) for i in range(200_000)]
    found = []

    def work():
        gate.wait()
        found.append(up.map(f, xs).tolist() == [2.0 * x for x in xs])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8 and len(built) == 1
    forget()


def test_machine_code_for_new_kinds_is_bought_when_the_loop_has_cost_its_price(monkeypatch):
    """A ready function that meets other kinds goes on as the loop until those have cost what their code does."""
    forget()

    def f(x):
        y = x * 3 + 1
        return y * y - x

    def mixed(n):
        return [float(i) if i % 2 else i for i in range(n)]

    assert up.map(f, list(range(3000)), gear="llvm").tolist() == [f(x) for x in range(3000)]
    function = next(iter(functions.FUNCTIONS.known.values()))
    quick = next(arm for arm in function.ledger.arms if type(arm) is arms.Llvm)
    made = []
    prepare = arms.llvm.prepare
    monkeypatch.setattr(arms.llvm, "prepare", lambda *args: made.append(args) or prepare(*args))
    monkeypatch.setattr(arms.prices, "code_price", lambda steps, of_arrays: 1.0)
    monkeypatch.setattr(arms.prices, "check_price", lambda f, of_arrays: 0.0)
    function.ledger.arms[0].line.seen[12] = 3000.0, 0.4  # seconds that the loop takes
    quick.ready = True
    job = Job(f, [mixed(3000)], {}, 3000)
    for times in (1, 2, 3):
        batched = quick.run(job)
        left = sum(map(len, batched.left))
        assert len(made) == (times == 3) and left == (0 if times == 3 else 3000), times
    forget()


def test_an_arm_waits_only_for_one_that_would_save_something():
    slow = Arm("llvm", price=0.05, guess=lambda n: 5e-6 * n)
    fast = Arm("simd", price=0.01, guess=lambda n: 1e-7 * n, sure=True, after=slow)
    ledger = ledger_of(fast, slow)
    ledger.arms[0].line.seen[17] = 100_000.0, 0.1  # a microsecond each
    assert ledger.to_build(100_000) is fast
    slow.guess = lambda n: 5e-7 * n
    assert ledger.to_build(100_000) is None  # it comes first, and is not sure
    slow.guess, fast.builds_on_it = (lambda n: 5e-6 * n), True
    assert ledger.to_build(100_000) is None


def test_what_was_traced_for_a_gear_by_name_is_there_for_other_calls():
    forget()

    def f(x):
        return x * 3.0 - 1.0

    xs = np.arange(200.0)
    up.map(f, xs, gear="numpy")
    assert next(iter(functions.FUNCTIONS.known.values())).arm("numpy").ready
    assert up.map(f, xs).tolist() == [f(x) for x in xs]
    forget()


def test_a_slow_first_run_does_not_hide_what_an_element_takes():
    """Ten elements took as long at first as two hundred later on: a hundred thousand take longer than these."""
    loop = Loop()
    loop.line.add(10, 42e-6)
    loop.line.add(200, 41e-6)
    assert 15e-3 < loop.seconds(100_000) < 25e-3
    assert loop.seconds(2) < 45e-6


def test_explain_after_brief_calls():
    def f(x):
        if x < 20:
            return x
        return x * 0.95 if x < 100 else x * 0.9 - 1.5

    code = functions.FUNCTIONS.of(f, [np.zeros(10)], {}, False)
    for n in (10, 200):
        code.ledger.ran(code.ledger.arms[0], n, 50e-6)
    told = up.explain(f, np.linspace(0.0, 200.0, 50_000))
    assert told.gear == "llvm" and told.seconds["loop"] > told.seconds["llvm"]


def test_a_check_on_a_busy_machine_has_the_time_that_it_was_given(monkeypatch):
    """Its thread waits for a processor half of the time: twice as long passes before its own time is over."""
    clock = types.SimpleNamespace(now=0.0)
    clock.perf_counter, clock.thread_time = lambda: clock.now, lambda: clock.now / 2
    monkeypatch.setattr(compiler_check, "time", clock)
    patience = compiler_check.Patience(1.0)
    over = []
    for now in (0.5, 1.5, 1.9, 2.1):
        clock.now = now
        over.append(patience.is_over())
    assert over == [False, False, False, True]
    assert not compiler_check.Patience(float("inf")).is_over()


def test_a_trace_that_is_not_made_in_time_waits_longer_each_time(monkeypatch):
    """However little was lost with it: else it would be begun again and again, until nothing more may be risked."""
    forget()
    begun = []

    def none_in_time(job, traces, pace, trial=False):
        begun.append(job.n)
        return Batched([], [np.arange(job.n)])

    monkeypatch.setattr(arms, "batches", types.SimpleNamespace(batch=none_in_time))
    monkeypatch.setattr(arms.prices, "tracing_is_loaded", lambda: True)

    def f(x):
        return x * 2.0

    ledger = ledger_of()
    numpy = arms.Numpy(f, None, lambda: ledger, False, arms.Items())
    ledger.arms.append(numpy)
    ledger.ran(ledger.arms[0], 1000, 1.0)
    job = Job(f, [[1.0] * 1000], {}, 1000)
    while ledger.to_build(1000) is numpy:
        assert len(begun) < 20
        numpy.build(job, 1000)
        ledger.built(numpy, 1e-6, False)
    assert 1 <= len(begun) < 8
    forget()


def test_prices_of_machine_code_are_by_kinds_of_elements_and_by_what_was_written(monkeypatch):
    def f(x):
        return x

    def prices_of(column):
        monkeypatch.setattr(arms.prices, "_FACTORS", {"check": 1.0})  # nothing was learnt
        llvm = next(arm for arm in arms.arms_of(f, [column], None, ledger_of, False) if arm.name == "llvm")
        check, llvm.waited_for = llvm.price, True
        llvm.build(Job(f, [column], {}, len(column)), len(column))
        return check, llvm.price, llvm.better

    check, code, better = prices_of([1.0] * 100)
    of_lists = prices_of([[1.0, 2.0]] * 100)
    assert of_lists[0] == pytest.approx(check * arms.prices.CHECK_OF_ARRAYS) and of_lists[1] > code
    assert prices_of(np.ones((100, 2)))[0] == of_lists[0]
    written, found = types.SimpleNamespace(text="x" * 1000, whole=False, flat=False), []
    for written.text, written.whole in (("x" * 1000, False), ("x" * 50_000, False), ("x" * 50_000, True)):
        better.expect_code(written)
        found.append(better.price)
    assert found[1] > 2 * found[0] and found[2] > 2 * found[1]
