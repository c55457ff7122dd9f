"""Effects that do not go into a list: the screen, files, globals, attributes, random states, clocks."""

from __future__ import annotations

import collections
import io
import itertools
import logging
import operator
import os
import random
import sys
import time

import numpy as np
import pytest

import upshift as up
from law import compare
from stacking import stack

total = 0
records = []
counts = {}
FLOATS = [float(k) for k in range(1500)]


class Recorder:
    seen = 0

    def __init__(self):
        self.last = None

    def remember(self, x):
        self.last = x
        return x + 1

    def count(self, x):
        type(self).seen += 1
        return x


def refused(f, xs):
    with pytest.raises(up.GearRefused) as caught:
        up.map(f, xs, gear="numpy")
    return str(caught.value)


def test_print(capsys):
    def f(x):
        print(x)
        return x

    reason = refused(f, FLOATS)
    assert capsys.readouterr().out == ""
    assert "print" in reason
    up.map(f, FLOATS)
    assert capsys.readouterr().out == "".join(f"{x}\n" for x in FLOATS)


def test_print_to_stderr_and_write(capsys):
    def f(x):
        print("e", file=sys.stderr)
        sys.stdout.write("o")
        return x

    refused(f, FLOATS)
    assert capsys.readouterr() == ("", "")
    up.map(f, FLOATS)
    assert capsys.readouterr() == ("o" * len(FLOATS), "e\n" * len(FLOATS))


def test_print_on_a_rare_path(capsys):
    def f(x):
        if x == 777.0:
            print("rare")
        return x * 2

    refused(f, FLOATS)
    assert capsys.readouterr().out == ""
    for _ in range(3):
        up.map(f, FLOATS)
        assert capsys.readouterr().out == "rare\n"


def test_print_renamed(capsys):
    say = print

    def f(x):
        say("a")
        return x

    refused(f, FLOATS)
    assert capsys.readouterr().out == ""
    up.map(f, FLOATS)
    assert capsys.readouterr().out == "a\n" * len(FLOATS)


def test_open(tmp_path):
    path = tmp_path / "log.txt"

    def f(x):
        with open(path, "a") as file:
            file.write(f"{x}\n")
        return x

    refused(f, FLOATS[:100])
    assert not path.exists()
    up.map(f, FLOATS[:100])
    assert path.read_text().splitlines() == [str(x) for x in FLOATS[:100]]


def test_path_methods(tmp_path):
    path = tmp_path / "made"

    def f(x):
        path.mkdir(exist_ok=True)
        (path / f"{x}").touch()
        return x

    refused(f, FLOATS[:50])
    assert not path.exists()
    up.map(f, FLOATS[:50])
    assert len(list(path.iterdir())) == 50


def test_captured_file():
    file = io.StringIO()

    def f(x):
        file.write("x")
        return x

    refused(f, FLOATS)
    assert file.getvalue() == ""
    up.map(f, FLOATS)
    assert file.getvalue() == "x" * len(FLOATS)


def test_input(monkeypatch):
    source = io.StringIO("".join(f"{k}\n" for k in range(5000)))
    monkeypatch.setattr("sys.stdin", source)

    def f(x):
        return float(input())

    refused(f, FLOATS)
    assert source.tell() == 0
    assert up.map(f, FLOATS).tolist() == FLOATS


def test_store_to_a_global():
    global total

    def f(x):
        global total
        total += x
        return total

    total = 0
    refused(f, FLOATS)
    assert total == 0
    expected = list(itertools.accumulate(FLOATS))
    assert up.map(f, FLOATS).tolist() == expected
    assert total == expected[-1]


def test_store_to_a_nonlocal():
    last = None

    def f(x):
        nonlocal last
        previous, last = last, x
        return 0.0 if previous is None else x - previous

    refused(f, FLOATS)
    assert last is None
    assert up.map(f, FLOATS).tolist() == [0.0] + [1.0] * (len(FLOATS) - 1)
    assert last == FLOATS[-1] and type(last) is float


def test_store_to_a_nonlocal_in_a_helper():
    calls = 0

    def tick():
        nonlocal calls
        calls += 1
        return calls

    def f(x):
        return x + tick()

    refused(f, FLOATS)
    assert calls == 0
    up.map(f, FLOATS)
    assert calls == len(FLOATS)


def test_global_list_and_dict():
    def f(x):
        records.append(x)
        counts[x] = counts.get(x, 0) + 1
        return x

    records.clear()
    counts.clear()
    refused(f, FLOATS)
    assert records == [] and counts == {}
    up.map(f, FLOATS)
    assert records == FLOATS and counts == dict.fromkeys(FLOATS, 1)


DICT_EFFECTS = {
    "item": lambda d, x: d.__setitem__(x, 1),
    "setdefault": lambda d, x: d.setdefault(x, 1),
    "update": lambda d, x: d.update({x: 1}),
    "operator": lambda d, x: operator.setitem(d, x, 1),
}


@pytest.mark.parametrize("name", DICT_EFFECTS)
def test_captured_dict(name):
    book, effect = {}, DICT_EFFECTS[name]

    def f(x):
        effect(book, x)
        return x * 2

    refused(f, FLOATS)
    assert book == {}
    up.map(f, FLOATS)
    assert list(book) == FLOATS and {type(key) for key in book} == {float}


def test_captured_memory():
    memory = {}

    def f(x):
        k = x % 5
        if k not in memory:
            memory[k] = k * k
        return memory[k]

    assert up.map(f, FLOATS).tolist() == [(x % 5) ** 2 for x in FLOATS]
    assert list(memory) == [0.0, 1.0, 2.0, 3.0, 4.0] and {type(v) for v in memory.values()} == {float}


CONTAINERS = {
    "set": (set, lambda c, x: c.add(x)),
    "deque": (collections.deque, lambda c, x: c.append(x)),
    "counter": (collections.Counter, lambda c, x: c.update([x])),
    "default dict": (lambda: collections.defaultdict(list), lambda c, x: c["all"].append(x)),
    "bytearray": (bytearray, lambda c, x: c.append(int(x) % 256)),
    "remaining": (lambda: list(range(5000)), lambda c, x: c.pop()),
    "shrinking": (lambda: list(range(5000)), lambda c, x: c.__delitem__(0)),
    "reversing": (lambda: [1, 2, 3], lambda c, x: c.reverse()),
    "array item": (lambda: np.zeros(3), lambda c, x: c.__setitem__(1, x)),
    "array in place": (lambda: np.zeros(3), lambda c, x: c.__iadd__(x)),
    "array method": (lambda: np.zeros(3), lambda c, x: c.fill(x)),
    "ufunc out": (lambda: np.zeros(3), lambda c, x: np.add(c, x, out=c)),
    "list item": (lambda: [0.0], lambda c, x: c.__setitem__(0, c[0] + x)),
}


def frozen(value):
    return value.tolist() if isinstance(value, np.ndarray) else repr(value)


@pytest.mark.parametrize("name", CONTAINERS)
def test_captured_container(name):
    make, effect = CONTAINERS[name]
    box, expected = make(), make()

    def f(x):
        effect(box, x)
        return x

    before = frozen(box)
    refused(f, FLOATS)
    assert frozen(box) == before
    up.map(f, FLOATS)
    for x in FLOATS:
        effect(expected, x)
    assert frozen(box) == frozen(expected)


def test_attributes_of_captured_objects():
    recorder = Recorder()
    refused(recorder.remember, FLOATS)
    assert recorder.last is None
    up.map(recorder.remember, FLOATS)
    assert recorder.last == FLOATS[-1] and type(recorder.last) is float

    def f(x):
        recorder.last = -x
        return x

    refused(f, FLOATS)
    assert recorder.last == FLOATS[-1]
    up.map(f, FLOATS)
    assert recorder.last == -FLOATS[-1]


def test_attributes_of_classes(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", 0)
    recorder = Recorder()
    refused(recorder.count, FLOATS)
    assert Recorder.seen == 0
    up.map(recorder.count, FLOATS)
    assert Recorder.seen == len(FLOATS)


def test_attributes_of_the_function():
    def f(x):
        f.calls += 1
        return x

    f.calls = 0
    refused(f, FLOATS)
    assert f.calls == 0
    up.map(f, FLOATS)
    assert f.calls == len(FLOATS)


def test_mutable_default():
    def f(x, seen=[]):
        seen.append(x)
        return len(seen)

    refused(f, FLOATS)
    assert f.__defaults__ == ([],)
    assert up.map(f, FLOATS).tolist() == list(range(1, len(FLOATS) + 1))


ITERATORS = {
    "count": lambda: itertools.count(),
    "iterator": lambda: iter(range(10**6)),
    "generator": lambda: (k for k in range(10**6)),
    "cycle": lambda: itertools.cycle([1, 2, 3]),
}


@pytest.mark.parametrize("name", ITERATORS)
def test_captured_iterators(name):
    source, expected = ITERATORS[name](), ITERATORS[name]()

    def f(x):
        return x + next(source)

    refused(f, FLOATS)
    assert up.map(f, FLOATS).tolist() == [x + next(expected) for x in FLOATS]
    assert next(source) == next(expected)


RANDOM = {
    "random": lambda x: random.random() + x,
    "uniform": lambda x: random.uniform(0, x),
    "gauss": lambda x: random.gauss(0, 1),
    "randint": lambda x: random.randint(0, 10),
    "choice": lambda x: random.choice([1, 2, x]),
    "shuffle": lambda x: random.shuffle([1, 2, 3]) or x,
    "by branch": lambda x: random.random() if x % 2 else x,
    "renamed": lambda x, draw=random.random: draw() * x,
    "seed": lambda x: random.seed(int(x)) or random.random(),
}


@pytest.mark.parametrize("name", RANDOM)
def test_global_random_state(name):
    f = RANDOM[name]
    random.seed(3)
    expected = [f(x) for x in FLOATS]
    after = random.getstate()
    random.seed(3)
    before = random.getstate()
    try:
        assert compare(stack(expected), up.map(f, FLOATS, gear="numpy")) is None
        assert random.getstate() == after
    except up.GearRefused:
        assert random.getstate() == before
    random.seed(3)
    assert compare(stack(expected), up.map(f, FLOATS)) is None
    assert random.getstate() == after


NUMPY_RANDOM = {
    "random": lambda x: np.random.random() * x,
    "normal": lambda x: np.random.normal(),
    "rand": lambda x: np.random.rand() + x,
}


@pytest.mark.parametrize("name", NUMPY_RANDOM)
def test_global_numpy_random_state(name):
    f = NUMPY_RANDOM[name]
    np.random.seed(3)
    expected = [f(x) for x in FLOATS]
    after = np.random.get_state()[1].tolist()
    for gear in ("numpy", None):
        np.random.seed(3)
        assert compare(stack(expected), up.map(f, FLOATS, gear=gear)) is None
        assert np.random.get_state()[1].tolist() == after


@pytest.mark.parametrize("make", [lambda: random.Random(5), lambda: np.random.default_rng(5)], ids=["random", "numpy"])
def test_captured_generators_of_random_numbers(make):
    dice, twin = make(), make()

    def f(x):
        return x + dice.random()

    assert up.map(f, FLOATS).tolist() == [x + twin.random() for x in FLOATS]
    assert dice.random() == twin.random()


def test_pure_functions_leave_the_random_states_alone():
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    for gear in ("loop", "numpy", None):
        up.map(lambda x: x * 2 if x > 3 else 1.5, FLOATS, gear=gear)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@pytest.mark.parametrize(
    "clock", [time.time, time.perf_counter, time.monotonic, time.time_ns], ids=lambda c: c.__name__
)
def test_clocks(clock):
    def f(x):
        return x * 0 + clock()

    refused(f, FLOATS)
    ticks = up.map(f, FLOATS)
    assert (np.diff(ticks) >= 0).all()


def test_time_by_attribute():
    refused(lambda x: x + time.time(), FLOATS)
    ticks = up.map(lambda x: time.perf_counter_ns(), FLOATS)
    assert (np.diff(ticks) >= 0).all() and len(set(ticks.tolist())) > len(FLOATS) // 2


def test_environment(monkeypatch):
    monkeypatch.setenv("COUNTED", "0")

    def f(x):
        os.environ["COUNTED"] = str(int(os.environ["COUNTED"]) + 1)
        return x

    refused(f, FLOATS[:100])
    assert os.environ["COUNTED"] == "0"
    up.map(f, FLOATS[:100])
    assert os.environ["COUNTED"] == "100"


def test_logging(caplog):
    logger = logging.getLogger("of.the.user")

    def f(x):
        logger.warning("element %s", x)
        return x

    refused(f, FLOATS[:100])
    assert caplog.messages == []
    up.map(f, FLOATS[:100])
    assert caplog.messages == [f"element {x}" for x in FLOATS[:100]]
