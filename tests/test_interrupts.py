"""Ctrl-C at any point: the call ends, and the next one gives the right result."""

from __future__ import annotations

import importlib.util
import linecache
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import upshift as up
from law import Rule, compare
from stacking import stack
from upshift.loading import loaded

OURS = os.path.dirname(up.__file__) + os.sep
SAMPLES = 40

# ---- between any two lines of ours


class Interrupt:
    """A trace function that raises KeyboardInterrupt at the k-th line of Upshift's that runs.

    Not at a `with`: Python tells that line again when the block has ended, before the lock is given back, where it
    never looks for signals.
    """

    def __init__(self, k):
        self.k, self.lines, self.where = k, 0, "nowhere"

    def __call__(self, frame, event, arg):
        return self.at_line if frame.f_code.co_filename.startswith(OURS) else None

    def at_line(self, frame, event, arg):
        if event == "line":
            self.lines += 1
            if self.lines >= self.k > 0 and not linecache.getline(
                frame.f_code.co_filename, frame.f_lineno
            ).lstrip().startswith("with "):
                self.where = f"{frame.f_code.co_filename[len(OURS) :]}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self.at_line

    def during(self, call):
        before = sys.gettrace()
        sys.settrace(self)
        try:
            call()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)


def branches():
    def f(x):
        if x > 50:
            return x * 2
        return -x if x > 20 else x + 1

    return f, ([float(i % 100) for i in range(1500)],)


def objects():
    class Point:
        def __init__(self, x):
            self.x = x

        def value(self):
            return self.x * 2 if self.x > 7 else 3.0

    def f(x):
        return Point(x).value()

    return f, ([float(i % 10) for i in range(1500)],)


def straight():
    def f(x, y):
        return x * y + 1

    return f, (np.arange(3000.0), np.arange(3000.0))


def images():
    weights = np.arange(4.0)

    def f(x):
        return (x * weights).sum() if x[0] > 2 else x.max()

    return f, (np.arange(400.0).reshape(100, 4) % 7,)


def failing():
    def f(x):
        if x == 1499:
            raise ValueError("no")
        return x * 2

    return f, ([float(i) for i in range(1500)],)


def drawing():
    generator = random.Random(3)

    def f(x):
        return x + generator.random()

    f.generator = generator
    return f, ([float(i) for i in range(600)],)


def fresh(make):
    """The function with code of its own, of which nothing is known."""
    f, columns = make()
    f.__code__ = f.__code__.replace()
    return f, columns


def outcome(call):
    try:
        return call()
    except ValueError as error:
        return repr(error)


def by_the_loop(f, columns):
    generator = getattr(f, "generator", None)
    before = generator.getstate() if generator else None
    results = outcome(lambda: stack([f(*row) for row in zip(*columns)]))
    if generator:
        generator.setstate(before)
    return results


@pytest.mark.parametrize("gear", ["numpy", None])
@pytest.mark.parametrize("make", [branches, objects, straight, images, failing, drawing])
def test_between_any_two_lines(make, gear):
    def twice(f, columns):
        for _ in range(2):
            outcome(lambda: up.map(f, *columns, gear=gear))

    counting = Interrupt(-1)
    f, columns = fresh(make)
    counting.during(lambda: twice(f, columns))
    for k in random.Random(f"{make.__name__} {gear}").choices(range(1, counting.lines + 1), k=SAMPLES):
        f, columns = fresh(make)
        interrupt = Interrupt(k)
        interrupt.during(lambda f=f, columns=columns: twice(f, columns))
        for _ in range(2):
            expected = by_the_loop(f, columns)
            actual = outcome(lambda f=f, columns=columns: up.map(f, *columns, gear=gear))
            same = expected == actual if isinstance(expected, str) else compare(expected, actual, Rule()) is None
            assert same, f"interrupted at {interrupt.where}"


# ---- while a framework is loaded, and while it compiles


def run(script, **variables):
    paths = [str(Path(OURS).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}
    found = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr[-3000:]
    return found.stdout.split()


SCRIPT = """
import signal, sys
import numpy as np
import upshift as up

def f(x):
    return x * 2 + 1 if x > 3 else -x

xs = np.arange(5000.0)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, {delay})
try:
    up.map(f, xs, gear={gear!r})
except KeyboardInterrupt:
    print("interrupted")
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
for _ in range(2):
    assert np.allclose(up.map(f, xs, gear={gear!r}), [f(x) for x in xs], rtol=1e-9, atol=0)
print("right")
"""
TENSORFLOW = """
import signal, sys
import numpy as np

signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, {delay})
try:
    import upshift.tensorflow as ut
except KeyboardInterrupt:
    print("interrupted")
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
import tensorflow as tf
import upshift.tensorflow as ut

assert ut.map_fn(lambda x: x * 2, tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
print("right")
"""
DELAYS = {"llvm": (0.005, 0.02, 0.05, 0.1, 0.2), "jax": (0.05, 0.3, 0.8)}
NEEDS = {"llvm": "llvmlite", "jax": "jax"}


@pytest.mark.skipif(os.name == "nt", reason="there is no such timer")
@pytest.mark.parametrize("gear, delay", [(gear, delay) for gear, delays in DELAYS.items() for delay in delays])
def test_while_a_framework_is_loaded(gear, delay, tmp_path):
    if importlib.util.find_spec(NEEDS[gear]) is None:
        pytest.skip(f"{gear} is not installed")
    assert run(SCRIPT.format(gear=gear, delay=delay), UPSHIFT_CACHE_DIR=str(tmp_path))[-1] == "right"


@pytest.mark.skipif(os.name == "nt", reason="there is no such timer")
@pytest.mark.parametrize("delay", [0.3, 1.5])
def test_while_tensorflow_is_loaded(delay, tmp_path):
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("tensorflow is not installed")
    assert run(TENSORFLOW.format(delay=delay), UPSHIFT_CACHE_DIR=str(tmp_path))[-1] == "right"


# ---- how it is done


GOES_ON = """
import _thread, threading, time
from upshift.loading import loaded

begun, go_on, done = threading.Event(), threading.Event(), []

def load():
    begun.set()
    assert go_on.wait(60)
    done.append(threading.current_thread())

def interrupt():
    assert begun.wait(60)
    time.sleep(0.05)
    _thread.interrupt_main()

threading.Thread(target=interrupt).start()
try:
    loaded(load)
except KeyboardInterrupt:
    print("interrupted", len(done))
go_on.set()
loaded(load)
loaded(load)
print(len(done), done[0] is threading.main_thread())
"""


def test_what_is_loading_goes_on_when_the_call_that_waits_is_interrupted():
    assert run(GOES_ON) == ["interrupted", "0", "1", "False"]


def test_a_load_that_fails_is_tried_again():
    calls = []

    def load():
        calls.append(1)
        if len(calls) == 1:
            raise ImportError("not yet")

    with pytest.raises(ImportError, match="not yet"):
        loaded(load)
    loaded(load)
    loaded(load)
    assert len(calls) == 2


def test_within_an_import_nobody_waits_for_another_thread(tmp_path, monkeypatch):
    """Else a module that maps while it is imported might wait for itself."""
    (tmp_path / "maps_when_imported.py").write_text(
        "import threading\n"
        "from upshift.loading import loaded\n"
        "threads = []\n"
        "loaded(lambda: threads.append(threading.current_thread()))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import maps_when_imported

    assert maps_when_imported.threads == [threading.main_thread()]
