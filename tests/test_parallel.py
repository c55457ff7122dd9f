"""Threads and processes as arms of the ledger: chosen where they pay, never for what is brief or has effects."""

from __future__ import annotations

import collections
import functools
import hashlib
import math
import random
import threading
import time
import types
import zlib

import numpy as np
import pytest

import upshift as up
from law import compare
from upshift.config import config
from upshift.gears import chunks, processes, threads
from upshift.gears.job import Job
from upshift.gears.workers import pool
from upshift.gears.workers.answers import made_of
from upshift.plan import call, entries, functions, parallel
from upshift.plan import ledger as ledger_module
from upshift.plan.arms import Loop
from upshift.plan.functions import FUNCTIONS
from upshift.plan.ledger import RISK

ROWS = [bytes([i % 256]) * 200_000 for i in range(60)]


def forget():
    ledger_module.KEPT.clear()
    FUNCTIONS.clear()
    entries.ENTRIES.clear()
    entries.BRIEF.clear()


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    forget()
    monkeypatch.setattr(pool, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "pool", pool)  # instead of what remembers its functions
    monkeypatch.setattr(parallel, "processes", processes)
    with config(num_threads=2):
        yield
    forget()
    pool.end_all()


def arms_of(f):
    """The arms of a function, by name."""
    known = [function for function in FUNCTIONS.known.values() if function.anchors[0] is f.__code__]
    return {arm.name: arm for function in known for arm in function.ledger.arms}


# ---- lives by a clock of our own


class Clock:
    """What `time` is to the plan; workers take as much of it as they are said to."""

    def __init__(self, monkeypatch, **faster):
        self.now, self.rate, self.ran, self.prepared = 0.0, 1e-3, collections.Counter(), 0
        self.faster = {"threads": 1.0, "processes": 1.0, **faster}
        self.price = 0.3
        for module in (call, entries, functions, parallel):
            monkeypatch.setattr(module, "time", self)
        monkeypatch.setattr(functions, "arms_of", lambda *given: [Loop()])
        for module in (threads, processes):
            monkeypatch.setattr(module, "why_not", lambda f, shared: None)
        monkeypatch.setattr(parallel, "why_not_unasked", lambda job: None)
        monkeypatch.setattr(parallel.Processes, "why_never", lambda arm, job: None)
        monkeypatch.setattr(parallel.Processes, "elsewhere", lambda arm, work: work())
        monkeypatch.setattr(parallel, "run_threads", lambda job, count: self.run("threads", job))
        monkeypatch.setattr(processes, "run_processes", lambda job: self.run("processes", job))
        monkeypatch.setattr(pool, "prepare", self.prepare)
        monkeypatch.setattr(pool, "waiting", lambda: self.prepared)

    def perf_counter(self):
        return self.now

    thread_time = perf_counter

    def prepare(self, count):
        self.prepared = count
        self.now += self.price

    def run(self, name, job):
        before = self.now
        results = [job.call(*row) for row in zip(*job.columns)]
        self.now = before + 2e-4 + (self.now - before) / self.faster[name]
        self.ran[name] += job.n
        return made_of(results, [])

    def live(self, sizes, **words):
        """Seconds of calls of these sizes, and of the loop."""

        def f(x):
            self.now += self.rate
            return x + 1

        f = types.FunctionType(f.__code__.replace(), f.__globals__, "f", None, f.__closure__)
        began = self.now
        for n in sizes:
            assert up.map(f, list(range(n)), **words).tolist() == list(range(1, n + 1))
        return self.now - began, self.rate * sum(sizes)


def test_threads_run_what_is_slow_and_frees_the_lock(monkeypatch):
    clock = Clock(monkeypatch, threads=2.0)
    took, by_loop = clock.live([2000])
    assert took < 0.55 * by_loop and clock.ran["threads"] > 1900 and not clock.prepared


def test_a_part_tells_that_a_function_holds_the_lock(monkeypatch):
    clock = Clock(monkeypatch)
    took, by_loop = clock.live([2000])
    assert took < 1.01 * by_loop and 0 < clock.ran["threads"] < 200
    took, by_loop = clock.live([2000] * 20)
    assert took < 1.01 * by_loop


def test_processes_only_where_workers_are_allowed(monkeypatch):
    clock = Clock(monkeypatch, processes=1.95)
    took, by_loop = clock.live([2000])
    assert took >= by_loop and not clock.prepared
    took, by_loop = clock.live([2000], workers=2)
    assert took < 0.7 * by_loop and clock.prepared == 2 and clock.ran["processes"] > 1500


def test_the_faster_of_both(monkeypatch):
    clock = Clock(monkeypatch, threads=2.0, processes=1.9)
    clock.live([2000] * 4, workers=2)
    assert clock.ran["threads"] > 7000 and not clock.prepared
    clock = Clock(monkeypatch, threads=1.3, processes=1.95)
    clock.live([2000] * 4, workers=2)
    assert clock.ran["processes"] > 5000


@pytest.mark.parametrize(("rate", "n"), [(1e-6, 20_000), (2e-5, 3000), (1e-3, 1), (5.0, 1)])
def test_never_for_what_is_brief_or_alone(monkeypatch, rate, n):
    clock = Clock(monkeypatch, threads=2.0, processes=2.0)
    clock.rate = rate
    took, by_loop = clock.live([n] * 5, workers=2)
    assert not clock.ran and not clock.prepared
    assert took <= by_loop * (1 + 1e-9)


def test_a_small_call_after_a_large_one_is_the_loops(monkeypatch):
    clock = Clock(monkeypatch, threads=2.0)
    clock.live([1000, 1000, 1000, 1, 1, 1])
    assert clock.ran["threads"] % 1000 != 1 and clock.ran["threads"] > 2900
    before = clock.ran["threads"]
    clock.live([1] * 30)
    assert clock.ran["threads"] == before


@pytest.mark.parametrize("seed", range(12))
def test_never_much_slower_than_the_loop(monkeypatch, seed):
    """The bounds of `test_ledger.py`, with the workers' own arms: their prices are sure ones, and a trial is lost."""
    rng = random.Random(seed)
    for _ in range(25):
        clock = Clock(monkeypatch, threads=10 ** rng.uniform(-0.3, 0.3), processes=10 ** rng.uniform(-0.3, 0.3))
        clock.rate, clock.price = 10 ** rng.uniform(-5, -2), 10 ** rng.uniform(-2, 0)
        sizes = [rng.choice([1, 2, 7, 30, 200, 1000]) for _ in range(rng.randrange(1, 40))]
        forget()
        took, by_loop = clock.live(sizes, **rng.choice([{}, {"workers": 2}]))
        paid = clock.price if clock.prepared else 0.0
        trial = max(parallel.TRIAL, 5 * clock.rate) + 2e-4
        slowest = 1 / min(*clock.faster.values(), 1.0)
        trials = 2 * ledger_module.TRIES * 2 * trial * slowest
        assert took <= (1 + RISK) * by_loop + paid + trials, (clock.faster, clock.rate, clock.price, sizes)


@pytest.mark.parametrize("seed", range(12))
def test_at_most_twice_the_best_in_hindsight(monkeypatch, seed):
    rng = random.Random(100 + seed)
    for _ in range(25):
        clock = Clock(monkeypatch, threads=10 ** rng.uniform(-0.3, 0.3), processes=10 ** rng.uniform(-0.3, 0.3))
        clock.rate, clock.price = 10 ** rng.uniform(-4, -2), 10 ** rng.uniform(-2, 0)
        sizes = [rng.choice([10, 30, 200, 1000]) for _ in range(rng.randrange(1, 40))]
        forget()
        took, by_loop = clock.live(sizes, workers=2)
        fixed = 2e-4 * len(sizes)
        ways = [by_loop, by_loop / clock.faster["threads"] + fixed]
        ways += [by_loop / clock.faster["processes"] + fixed + clock.price]
        paid = clock.price if clock.prepared else 0.0
        one = clock.rate * max(sizes)
        bound = 2 * min(ways) + paid + 2 * one + 10 * parallel.LOOK
        assert took <= bound, (clock.faster, clock.rate, clock.price, sizes)


# ---- real threads


def digest_of(row):
    return zlib.crc32(zlib.compress(row, 6))


def test_chosen_threads_give_the_loops_results():
    expected = [digest_of(row) for row in ROWS]
    for _ in range(4):
        assert up.map(digest_of, ROWS).tolist() == expected
    arm = arms_of(digest_of)["threads"]
    assert arm.refusal is None and arm.runs


def threads_of(monkeypatch, f, xs, **words):
    """The result of a call in which threads are expected to be faster than all else, whatever a check has cost."""
    monkeypatch.setattr(ledger_module, "RISK", 100.0)
    monkeypatch.setattr(parallel.Threads, "least", lambda arm, n: 1e-9 if n > 1 else math.inf)
    monkeypatch.setattr(functions, "SLOW", 0.0)
    return up.map(f, xs, **words)


@pytest.mark.parametrize("policy", ["return", "skip", ("fill", -1)])
def test_errors_by_policy(monkeypatch, policy):
    def f(row):
        time.sleep(2e-4)
        if row[0] % 7 == 3:
            raise ValueError(f"no {row[0]}")
        return len(zlib.compress(row))

    xs = [bytes([i]) * 30 for i in range(200)]
    expected = up.map(f, xs, gear="loop", on_error=policy)
    found = threads_of(monkeypatch, f, xs, on_error=policy)
    assert arms_of(f)["threads"].runs
    assert [repr(one) for one in found] == [repr(one) for one in expected]


def test_the_first_error_is_raised_with_its_element(monkeypatch):
    def f(row):
        time.sleep(2e-4)
        if row[0] in (90, 141):
            raise KeyError(row[0])
        return row[0]

    with pytest.raises(KeyError, match="90") as caught:
        threads_of(monkeypatch, f, [bytes([i]) * 30 for i in range(250)])
    assert caught.value.upshift_element == 90


def test_records_are_given_whole(monkeypatch):
    def f(record):
        time.sleep(2e-4)
        return zlib.crc32(record["text"]) % record["k"]

    xs = [{"text": bytes([i]) * 9, "k": 1 + i, "unused": None} for i in range(200)]
    assert compare(up.map(f, xs, gear="loop"), threads_of(monkeypatch, f, xs)) is None
    assert arms_of(f)["threads"].runs


def test_a_map_within_a_map_on_threads():
    def inner(x):
        return x * 2.0

    rows = np.arange(400_000.0).reshape(8, 50_000)
    expected = [float((row * 2.0).sum()) for row in rows]
    with config(num_threads=2, workers=2):
        found = up.map(lambda row: float(up.map(inner, row).sum()), rows, gear="threads", pure=True)
    assert found.tolist() == expected


def test_a_thread_that_has_not_begun_is_not_waited_for():
    """The only thread of the pool is the one that waits."""
    done = []

    def inner(chunk):
        done.append(chunk)

    def outer(chunk):
        chunks.side_by_side(inner, chunks.chunks_of(0, 4, 1), 2)

    worker = threading.Thread(target=chunks.side_by_side, args=(outer, chunks.chunks_of(0, 4, 1), 2), daemon=True)
    worker.start()
    worker.join(20)
    assert not worker.is_alive() and len(done) == 16


# ---- what is never on threads unasked

LOG: list = []
COMPRESSOR = zlib.compressobj()


def _appends(row):
    LOG.append(row)
    return len(row)


@functools.lru_cache(maxsize=None)
def _remembered(row):
    LOG.append(row)
    return len(row)


def _by_decorated(row):
    return _remembered(row)


def _stateful(row):
    return len(COMPRESSOR.compress(row))


def _of_an_unknown_library(row):
    return pytest.approx(len(row)) == 3


def _of_an_import(row):
    import pytest as unknown

    return unknown is None


def _writes_into_elements(row):
    row.append(1)
    return len(row)


def _asks(one):
    return one.value()


class One:
    def value(self):
        self.seen = True
        return 3


REFUSED = {
    "a list grows": (_appends, ROWS),
    "in what a decorator calls": (_by_decorated, ROWS),
    "an object with a state": (_stateful, ROWS),
    "a library of which nobody knows": (_of_an_unknown_library, ROWS),
    "one that is imported inside": (_of_an_import, ROWS),
    "elements that are changed": (_writes_into_elements, [[1.0, 2.0] for _ in range(60)]),
    "objects of classes": (_asks, [One() for _ in range(60)]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_never_unasked(name):
    f, xs = REFUSED[name]
    refused = parallel.why_not_unasked(Job(f, [xs], {}, len(xs)))
    assert refused is not None and refused.reason


def _hashes(row):
    return hashlib.sha256(row).digest()[0] + len(zlib.compress(row))


def _of_a_dict(record):
    return zlib.crc32(record["a"]) + record["b"]


def _of_arrays(a):
    return float(np.linalg.norm(a) + math.sqrt(a[0]))


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (_hashes, ROWS),
        (_of_a_dict, [{"a": b"x", "b": 1}] * 4),
        (_of_arrays, np.ones((4, 3))),
        (functools.partial(_hashes), ROWS),
    ],
)
def test_what_threads_may_run(f, xs):
    assert parallel.why_not_unasked(Job(f, [xs], {}, len(xs))) is None


def test_effects_in_a_module_of_the_users_are_seen(tmp_path, monkeypatch):
    (tmp_path / "upshift_own_steps.py").write_text("def step(x):\n    print(x)\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import upshift_own_steps

    f = types.FunctionType(
        compile("lambda x: steps.step(x)", "own.py", "eval").co_consts[0], {"steps": upshift_own_steps}
    )
    refused = parallel.why_not_unasked(Job(f, [[1.0]], {}, 1))
    assert refused is not None and "prints" in refused.reason
    with pytest.raises(up.UpshiftError, match="prints"):
        up.map(f, [1.0, 2.0], gear="threads")


@pytest.mark.parametrize("gear", [None, "threads"])
def test_effects_stay_in_order(gear):
    LOG.clear()
    if gear is None:
        up.map(_appends, ROWS * 20)
        assert LOG == ROWS * 20
    else:
        with pytest.raises(up.UpshiftError):
            up.map(_appends, ROWS, gear=gear)
        assert not LOG
    LOG.clear()


# ---- where there are no such arms


def slow(row):
    time.sleep(1e-4)
    return zlib.crc32(row)


@pytest.mark.parametrize("words", [{"num_threads": 1}, {"workers": 1}])
def test_one_thread_means_none(words):
    with config(**words):
        up.map(slow, ROWS)
    assert "threads" not in arms_of(slow)


def test_a_worker_has_no_workers(monkeypatch):
    monkeypatch.setattr("upshift.plan.parallel.in_worker", lambda: True)
    up.map(slow, ROWS)
    assert set(arms_of(slow)).isdisjoint({"threads", "processes"})


@pytest.mark.parametrize("executable", ["/usr/sbin/uwsgi", "", None, "/opt/app/app"])
def test_no_processes_where_there_is_no_python_to_start(monkeypatch, executable):
    monkeypatch.setattr("sys.executable", executable)
    up.map(slow, ROWS, workers=2)
    assert "threads" in arms_of(slow) and "processes" not in arms_of(slow)


def test_a_frozen_program_has_no_worker_processes(monkeypatch):
    monkeypatch.setattr("sys.frozen", True, raising=False)
    with pytest.raises(up.UpshiftError, match="no Python to start"):
        up.map(slow, ROWS, gear="processes")
    assert not parallel.may_start_processes()


def test_real_processes_are_started_and_chosen(monkeypatch):
    """Expected to be faster than they are: they are started meanwhile, and run the rest."""
    pytest.importorskip("cloudpickle")
    monkeypatch.setattr(parallel.Processes, "least", lambda arm, n: 1e-9 if n > 1 else math.inf)
    monkeypatch.setattr(parallel, "PROCESSES", 1e-6)

    def f(x):
        time.sleep(5e-4)
        return x * 2

    xs = list(range(600))
    for _ in range(30):
        assert up.map(f, xs, workers=2).tolist() == [2 * x for x in xs]
        if arms_of(f)["processes"].runs:
            break
    assert arms_of(f)["processes"].runs and pool.waiting() == 2


def test_effects_seen_by_a_worker_end_the_arm(monkeypatch, capfd):
    pytest.importorskip("cloudpickle")
    monkeypatch.setattr(parallel.Processes, "least", lambda arm, n: 1e-9 if n > 1 else math.inf)
    monkeypatch.setattr(parallel.Threads, "least", lambda arm, n: math.inf)
    pool.prepare(2)
    say = getattr(__builtins__, "print", None) or __builtins__["print"]

    def f(x):
        time.sleep(5e-4)
        {"say": say}["say"](x)
        return x

    monkeypatch.setattr(processes, "why_not", lambda f, shared: None)
    assert up.map(f, list(range(400)), workers=2).tolist() == list(range(400))
    assert capfd.readouterr().out.split() == [str(i) for i in range(400)]
    assert "prints" in arms_of(f)["processes"].refusal.reason


# ---- entries, and what is told


def test_entries_are_of_the_same_number_of_workers():
    def f(x):
        return x + 1.0

    xs = [1.0, 2.0, 3.0]
    up.map(f, xs)
    key = entries.key_of(f, (xs,))
    assert key in entries.ENTRIES
    with config(workers=2):
        assert entries.look_up(f, (xs,)) is entries.MISS
    assert entries.look_up(f, (xs,)).tolist() == [2.0, 3.0, 4.0]


def test_explain_measures_threads():
    told = up.explain(slow, ROWS)
    assert {"loop", "threads"} <= set(told.seconds) and told.costs["threads"].measured
    assert told.gear == "threads" or any("workers=" in note for note in told.notes)


def test_explain_says_why_there_are_no_threads():
    def f(row):
        time.sleep(1e-4)
        return pytest.approx(len(row)) == 3

    up.map(f, ROWS)  # explain does not run what may act on the world
    assert "nobody knows whether" in up.explain(f, ROWS).refusals["threads"].reason


def test_the_ledger_has_no_such_arms_for_what_is_brief():
    def f(x):
        return x * 2.0 + 1.0

    for _ in range(20):
        up.map(f, [float(i) for i in range(3000)])
    assert set(arms_of(f)).isdisjoint({"threads", "processes"})
