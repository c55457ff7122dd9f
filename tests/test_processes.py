"""The gears `processes` and `threads`: the loop's results, errors and order by real workers; faults; no leaks."""

from __future__ import annotations

import gc
import math
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import upshift as up
from law import compare
from upshift.errors import GearRefused, WorkerLost
from upshift.gears.workers import pool

pytest.importorskip("cloudpickle")
GEARS = ("processes", "threads")
Pair = namedtuple("Pair", "low high")
THRESHOLD = 3.0


@dataclass
class Point:
    x: float
    y: float


def above(x):
    return x > THRESHOLD


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


FUNCTIONS = {
    "floats": (lambda x: math.sin(x) + 1, [x / 7 for x in range(200)]),
    "ints beyond 64 bits": (lambda n: n**9, list(range(0, 2000, 17))),
    "texts": (lambda s: s.upper() + "!", ["a", "bc", "", "ünï"] * 20),
    "named tuples": (lambda x: Pair(x, x + 1), list(range(60))),
    "objects": (lambda x: Point(x, -x), [0.5, 1.5] * 20),
    "of objects": (lambda p: p.x * p.y, [Point(float(i), 2.0) for i in range(40)]),
    "None among numbers": (lambda x: None if x % 3 else x, list(range(50))),
    "images": (lambda image: image.mean(axis=0), np.random.default_rng(0).random((20, 32, 24))),
    "strided arrays": (lambda row: row[::-1] * 2, np.arange(600.0).reshape(20, 30).T),
    "several kinds": (lambda x: x * 2, [1, 2.5, "ab", (1,), True] * 9),
    "dicts": (lambda d: {"n": len(d["name"]), "v": d["v"]}, [{"name": "x" * i, "v": i / 2} for i in range(30)]),
    "loops": (collatz, list(range(1, 200))),
    "arrays of several shapes": (lambda a: float(a.sum()), [np.arange(i) for i in range(1, 40)]),
}


@pytest.fixture(autouse=True, scope="module")
def no_workers_afterwards():
    yield
    pool.end_all()


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_the_loops(name, gear):
    f, xs = FUNCTIONS[name]
    assert compare(up.map(f, xs, gear="loop"), up.map(f, xs, gear=gear, workers=2)) is None


@pytest.mark.parametrize("gear", GEARS)
def test_several_columns_keywords_and_closures(gear):
    scale = np.arange(3.0)

    def f(a, b, *, shift):
        return (a * scale).sum() + b - shift

    a, b = np.linspace(0, 1, 70), list(range(70))
    expected = np.array([f(x, y, shift=2.5) for x, y in zip(a, b)])
    assert compare(expected, up.map(f, a, b, shift=2.5, gear=gear, workers=2)) is None


def test_globals_are_those_of_the_call():
    global THRESHOLD
    xs = [1.0, 2.5, 3.5, 5.0]
    before = up.map(above, xs, gear="processes").tolist()
    THRESHOLD = 2.0
    try:
        after = up.map(above, xs, gear="processes").tolist()
    finally:
        THRESHOLD = 3.0
    assert (before, after) == ([False, False, True, True], [False, True, True, True])


def test_classes_of_results_are_the_callers_own():
    class Mine:
        def __init__(self, x):
            self.x = x

    found = up.map(lambda x: Mine(x), [1, 2, 3], gear="processes")
    assert [type(one) is Mine and one.x for one in found] == [1, 2, 3]
    assert all(type(one) is Pair for one in up.map(lambda x: [Pair(x, x)], [1, 2], gear="processes")[0])


def test_workers_are_several_and_used_again():
    def where(x):
        time.sleep(0.02)
        return os.getpid()

    first = set(up.map(where, list(range(20)), gear="processes", workers=2, pure=True).tolist())
    again = set(up.map(where, list(range(20)), gear="processes", workers=2, pure=True).tolist())
    assert len(first) == 2 and os.getpid() not in first
    assert again == first


@pytest.mark.parametrize("gear", GEARS)
def test_the_first_error_is_raised_with_its_element(gear):
    def f(x):
        if x in (37, 90, 4000):
            raise KeyError(f"no {x}")
        return x

    with pytest.raises(KeyError, match="no 37") as caught:
        up.map(f, list(range(5000)), gear=gear, workers=2)
    notes = "\n".join(caught.value.__notes__)
    assert "element 37: 37" in notes and "test_processes.py" in notes
    if gear == "processes":
        assert "In a worker process:" in notes and 'raise KeyError(f"no {x}")' in notes


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("policy", ["return", "skip", ("fill", -1.0)])
def test_errors_by_policy(gear, policy):
    def f(x):
        return 1 / (x % 5)

    xs = list(range(83))
    found, expected = up.map(f, xs, gear=gear, workers=2, on_error=policy), up.map(f, xs, gear="loop", on_error=policy)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert type(a) is type(b) and (str(a) == str(b) if isinstance(b, Exception) else a == b)


@pytest.mark.parametrize("policy", ["return", "skip", ("fill", None)])
def test_all_raise(policy):
    f = lambda x: {}[x]
    found, expected = (up.map(f, [1, 2, 3], gear=gear, on_error=policy) for gear in ("processes", "loop"))
    assert str(found) == str(expected)


def test_warnings_come_from_the_users_line():
    def f(x):
        return np.float64(x) / np.float64(0)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        up.map(f, [1.0, 2.0], gear="processes", pure=True)
    assert {w.category for w in caught} == {RuntimeWarning}
    assert all(w.filename == __file__ for w in caught)


LIST: list[int] = []


def _prints(x):
    print(x)


def _appends(x):
    LIST.append(x)
    return len(LIST)


def _draws(x):
    return x + np.random.default_rng().random() * 0 + np.random.rand()


def _counts(x, seen={}):
    seen[x] = True
    return len(seen)


def _sets(p):
    p.x = 3.0
    return p.y


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("f", [_prints, _appends, _draws, _counts, _sets], ids=lambda f: f.__name__)
def test_impure_functions_are_refused(f, gear, capfd):
    xs = [Point(1.0, 2.0) for _ in range(50)] if f is _sets else list(range(50))
    with pytest.raises(GearRefused, match="pure=True"):
        up.map(f, xs, gear=gear, workers=2)
    assert LIST == [] and _counts.__defaults__ == ({},)
    assert capfd.readouterr().out == ""
    assert f is not _sets or all(p.x == 1.0 for p in xs)


def test_what_cannot_be_pickled_is_refused():
    lock = threading.Lock()
    with pytest.raises(GearRefused, match="pickle"):
        up.map(lambda x: (x, lock.locked()), [1, 2], gear="processes", pure=True)
    with pytest.raises(GearRefused, match="pickle"):
        up.map(lambda x: x, [threading.Lock()], gear="processes", pure=True)
    with pytest.raises(GearRefused, match="pickle"):
        up.map(lambda x: (i for i in range(x)), [1, 2], gear="processes")


def killed_once(tmp_path, how):
    def f(x):
        if x == 30 and not os.path.exists(tmp_path / "killed"):
            open(tmp_path / "killed", "w").close()
            how()
        return x * 2

    return f


DEATHS = {"signal": lambda: os.kill(os.getpid(), signal.SIGKILL), "exit": lambda: os._exit(3)}


@pytest.mark.parametrize("death", DEATHS)
def test_a_killed_workers_chunk_is_run_again(tmp_path, death):
    f = killed_once(tmp_path, DEATHS[death])
    assert up.map(f, list(range(100)), gear="processes", workers=2, pure=True).tolist() == list(range(0, 200, 2))
    assert (tmp_path / "killed").exists()


def test_workers_that_end_between_two_calls_are_replaced(monkeypatch):
    assert up.map(lambda x: x + 1, [1, 2, 3, 4], gear="processes", workers=2).tolist() == [2, 3, 4, 5]
    teach = pool.Worker.teach

    def killed_before(worker, *lesson):  # after the pool has seen that it runs
        if worker.greeted:
            worker.process.kill()
            worker.process.wait()
        teach(worker, *lesson)

    monkeypatch.setattr(pool.Worker, "teach", killed_before)
    assert up.map(lambda x: x + 2, [1, 2, 3, 4], gear="processes", workers=2).tolist() == [3, 4, 5, 6]


def test_a_worker_that_ends_while_it_is_fed_is_replaced(monkeypatch):
    give, killed = pool.Worker.give, []

    def killed_at_the_third(worker, *chunk):
        if len(killed) < 3:
            killed.append(worker)
            if len(killed) == 3:
                worker.process.kill()
                worker.process.wait()
        give(worker, *chunk)

    monkeypatch.setattr(pool.Worker, "give", killed_at_the_third)
    xs = list(range(200))
    assert up.map(lambda x: x + 2, xs, gear="processes", workers=2).tolist() == [x + 2 for x in xs]
    assert len(killed) == 3


@pytest.mark.parametrize("death", DEATHS)
def test_a_chunk_that_ends_two_workers_is_reported_by_range(death):
    how = DEATHS[death]

    def f(x):
        if x == 57:
            how()
        return x

    with pytest.raises(WorkerLost) as caught:
        up.map(f, list(range(100)), gear="processes", workers=2, pure=True)
    words = str(caught.value).split()
    low, high = int(words[words.index("elements") + 1]), int(words[words.index("to") + 1].rstrip(":"))
    assert low <= 57 <= high < 100
    assert ("SIGKILL" in str(caught.value)) is (death == "signal")
    assert up.map(lambda x: x + 1, [1, 2], gear="processes").tolist() == [2, 3]  # others go on


def test_out_of_memory_in_a_worker_is_an_error_of_its_element():
    def f(x):
        used = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, used[1]))
        try:
            return len(bytearray((8 << 30) if x == 5 else 10))
        finally:
            resource.setrlimit(resource.RLIMIT_AS, used)

    with pytest.raises(MemoryError) as caught:
        up.map(f, list(range(10)), gear="processes", workers=2, pure=True)
    assert "element 5" in "\n".join(caught.value.__notes__)


def test_an_element_that_hangs_is_ended_by_the_timeout():
    def f(x):
        while x == 13:
            time.sleep(0.01)
        return x

    with pytest.raises(TimeoutError) as caught:
        up.map(f, list(range(40)), gear="processes", workers=2, timeout=0.5)
    assert "element 13: 13" in "\n".join(caught.value.__notes__)
    filled = up.map(f, list(range(40)), gear="processes", workers=2, timeout=0.5, on_error=("fill", -1))
    assert filled.tolist() == [x if x != 13 else -1 for x in range(40)]


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def children():
    with open(f"/proc/self/task/{threading.get_native_id()}/children") as file:
        return set(file.read().split())


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")
def test_nothing_is_left():
    def f(image):
        return image[::2] + 1

    xs = np.ones((12, 256, 256))
    pool.end_all()
    gc.collect()
    before = descriptors(), set(os.listdir("/dev/shm")), children(), threading.active_count()
    for _ in range(3):
        result = up.map(f, xs, gear="processes", workers=2)
        with pytest.raises(ZeroDivisionError):
            up.map(lambda x: 1 // x, [1, 0], gear="processes")
    del result
    pool.end_all()
    gc.collect()
    assert (descriptors(), set(os.listdir("/dev/shm")), children(), threading.active_count()) == before


SCRIPT = """
    import os, signal, sys, time
    import upshift as up

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore interrupts

    begun = []

    def f(x):
        begun.append(x)
        time.sleep(0.05)
        return x

    up.map(f, list(range(4)), gear="{gear}", workers=2, pure=True)
    print("ready", flush=True)
    try:
        up.map(f, list(range(100_000)), gear="{gear}", workers=2, pure=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        count = len(begun)
        time.sleep(0.2)
        print(count, len(begun), flush=True)
        time.sleep({after})
"""


def group_of(pid):
    """Processes that a process has started."""
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and _parent(p) == pid]


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return -1


@pytest.mark.parametrize("gear", GEARS)
def test_an_interrupt_ends_everything(tmp_path, gear):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT.format(gear=gear, after=3)))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        workers = group_of(process.pid)
        assert len(workers) == (2 if gear == "processes" else 0)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        begun, later = map(int, process.stdout.readline().split())
        assert begun == later < 1000  # a chunk has more
        assert group_of(process.pid) == []
        assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)
        process.kill()


def test_workers_end_with_the_process_that_hired_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT.format(gear="processes", after=0)))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        workers = group_of(process.pid)
        process.kill()
        process.wait()
    until = time.monotonic() + 20
    while time.monotonic() < until and any(os.path.exists(f"/proc/{pid}") for pid in workers):
        time.sleep(0.05)
    assert len(workers) == 2 and not any(os.path.exists(f"/proc/{pid}") for pid in workers)


def test_a_map_in_a_map_starts_no_processes_of_its_own():
    def f(x):
        return up.map(lambda y: y * x, [1.0, 2.0, 3.0]).sum()

    assert up.map(f, [1.0, 2.0], gear="processes", pure=True).tolist() == [6.0, 12.0]


def test_threads_run_side_by_side():
    gate = threading.Barrier(2)

    def f(x):
        gate.wait(20)
        return x

    assert up.map(f, [1, 2], gear="threads", workers=2, pure=True).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("word", "near"), [("exakt", "exact"), ("n_jobs", "workers"), ("gaer", "gear"), ("scal", "scale")]
)
def test_unknown_words_are_refused_with_the_nearest(word, near):
    with pytest.raises(TypeError, match=f"{word!r}.*did you mean {near!r}"):
        up.map(lambda x, scale=1: x * scale, [1, 2], **{word: 3})


def test_words_of_the_function_are_its_own():
    assert up.map(lambda x, timeout: x + timeout, [1, 2], timeout=5).tolist() == [6, 7]
    assert up.map(lambda x, **words: x + words["exakt"], [1, 2], exakt=5).tolist() == [6, 7]
    assert up.map(lambda x, workers=0: x + workers, (1, 2), gear="loop", workers=1, pure=True).tolist() == [2, 3]
    assert up.map(lambda x, timeout: x + timeout, iter([1, 2]), timeout=5, memory="1MB").tolist() == [6, 7]
    assert up.map(lambda x: x + 1, [1, 2], workers=2).tolist() == [2, 3]
    with pytest.raises(TypeError, match="unexpected keyword"):
        up.map(lambda x: x, [], exakt=True)
