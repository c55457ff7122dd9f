"""Machine code behind `up.map`: captured things change, lists change class, lanes are left, Ctrl-C, threads, memory."""

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
import typing

import numpy as np
import pytest

import upshift as up
from upshift.compiler import kernel, llvm, module
from upshift.gears.llvm import columns, entry, gear
from upshift.plan import arms, entries
from upshift.plan.functions import FUNCTIONS

LIMIT = 10.0
TABLE = [1, 2, 3]
FACTORS = {"a": 2.0, "b": 3.0}


def prepared(f, *xs):
    """Machine code for these columns, and its C-level callable."""
    arguments = [columns.read(x) for x in xs]
    keys = tuple(argument.key for argument in arguments)
    made = gear.prepare(gear.check(f, keys, {}))
    signature = entry.signature_of(made.kernel, keys)
    return made, None if signature is None else entry.entry_of(made.kernel, signature)


def clipped(x):
    return x if x < LIMIT else LIMIT


def test_captured_numbers_are_read_for_every_call(monkeypatch):
    xs = [float(i) for i in range(30)]
    assert up.map(clipped, xs, gear="llvm").max() == 10.0
    monkeypatch.setitem(globals(), "LIMIT", 20.0)
    assert up.map(clipped, xs, gear="llvm").max() == 20.0
    monkeypatch.setitem(globals(), "LIMIT", 20)  # of another class: made anew
    assert up.map(clipped, xs, gear="llvm").tolist() == [clipped(x) for x in xs]


def looked_up(i):
    return TABLE[i] + len(TABLE)


def test_captured_lists_are_looked_at(monkeypatch):
    assert up.map(looked_up, [0, 1, 2] * 10, gear="llvm").tolist() == [4, 5, 6] * 10
    TABLE[1] = 50
    try:
        assert up.map(looked_up, [0, 1, 2] * 10, gear="llvm").tolist() == [4, 53, 6] * 10
    finally:
        TABLE[1] = 2


def test_a_helper_may_be_replaced(monkeypatch):
    def f(x):
        return helper(x) + 1

    assert up.map(f, [1.0, 2.0], gear="llvm").tolist() == [3.0, 5.0]
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1)
    assert up.map(f, [1.0, 2.0], gear="llvm").tolist() == [1.0, 2.0]


def helper(x):
    return 2 * x


def test_closures_share_machine_code_and_keep_their_own_values():
    def times(k):
        return lambda x: x * k

    for k in (2.0, 3.0, 4.0):
        assert up.map(times(k), [1.0, 2.0], gear="llvm").tolist() == [k, 2 * k]


def test_lanes_that_are_left_are_the_plain_functions():
    def f(n):
        return n**5

    xs = [3, 10**4, 7, 10**5, 2]
    assert up.map(f, xs, gear="llvm").tolist() == [x**5 for x in xs]

    def g(x):
        return 1 / x

    with pytest.raises(ZeroDivisionError) as caught:
        up.map(g, [1.0, 2.0, 0.0, 4.0], gear="llvm")
    assert caught.value.upshift_element == 2
    assert up.map(g, [1.0, 0.0, 4.0], gear="llvm", on_error=("fill", None)) == [1.0, None, 0.25]


def test_explain_says_why_lanes_are_left():
    def f(n):
        return n * n * n

    told = str(up.explain(f, [2, 2**30] * 50))
    assert "left to the plain function" in told and "64 bits" in told and "test_llvm.py" in told


def test_elements_of_several_kinds():
    def f(x):
        return x * 2 if x is not None else -1

    xs = [1, 2.5, True, None, 7] * 20
    assert repr(up.map(f, xs, gear="llvm")) == repr(up.map(f, xs, gear="loop"))


RESULTS = {
    "a list": lambda x: [x, x + 1],
    "lists of several lengths": lambda x: [x] * (x % 3),
    "a tuple with a list": lambda x: (x, [x, -x], x > 3),
    "a list of lists": lambda x: [[x, 1], [2, x]],
    "a list of tuples": lambda x: [(x, x / 2)],
    "a text": lambda x: "odd" if x % 2 else "even",
    "None or a number": lambda x: x if x > 3 else None,
    "an int or a float": lambda x: x if x > 3 else x / 2,
    "an int, a float or None": lambda x: x if x > 3 else x / 2 if x > 1 else None,
    "nothing": lambda x: None,
    "bools": lambda x: x > 3,
    "complex": lambda x: complex(x, 1),
    "an empty list": lambda x: [],
    "an empty tuple": lambda x: (),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_every_sort(name):
    f, xs = RESULTS[name], list(range(40))
    wanted = up.map(f, xs, gear="loop")
    for _ in range(3):  # the first, checked run, and those by the C-level callable
        assert repr(up.map(f, xs, gear="llvm")) == repr(wanted)


CHANGES = {
    "sorts": lambda xs: xs.sort() or xs[0],
    "appends": lambda xs: xs.append(1) or len(xs),
    "sets": lambda xs: xs.__setitem__(0, 9) or xs[0],
    "pops": lambda xs: xs.pop(),
    "reverses": lambda xs: xs.reverse() or xs[0],
}


@pytest.mark.parametrize("name", CHANGES)
def test_lists_that_a_function_changes_are_changed_as_the_loop_changes_them(name):
    f = CHANGES[name]
    own, other = [[3, 1, 2], [7, 1], [5, 4]], [[3, 1, 2], [7, 1], [5, 4]]
    with pytest.raises(up.GearRefused, match=r"changes a list|the method"):
        up.map(f, own, gear="llvm")
    assert own == other
    wanted = [f(xs) for xs in other]
    assert up.map(f, own).tolist() == wanted and own == other


def test_a_copy_of_a_list_may_be_changed():
    def f(xs):
        ys = xs[:]
        ys.sort()
        ys.append(xs[0])
        return ys

    xs = [[3, 1, 2], [7], [5, 4]]
    for _ in range(3):
        assert up.map(f, xs, gear="llvm") == [[1, 2, 3, 3], [7, 7], [4, 5, 5]]
    assert xs == [[3, 1, 2], [7], [5, 4]]


# ---- the C-level callable


def test_an_entry_looks_at_its_arguments():
    _, call = prepared(lambda x: x * 2.0, [1.0, 2.0])
    assert call(0, [1.0, 2.5]).tolist() == [2.0, 5.0]
    for odd in ([1.0, 2], [1.0, None], (1.0, 2.0), [], np.array([1.0]), [np.float64(1.0)], [True], "ab"):
        assert call(0, odd) is NotImplemented, odd
    assert call() is NotImplemented and call(0) is NotImplemented and call(0, [1.0], [2.0]) is NotImplemented


def test_an_entry_reads_ints_of_every_size():
    _, call = prepared(lambda n: n, [1, 2])
    values = [0, 1, -1, 255, -256, 2**29, 2**30 - 1, 2**30, -(2**30), 2**31, 2**59, 2**60 - 1, -(2**60) + 1]
    assert call(0, values).tolist() == values
    assert call(0, [2**60]) is NotImplemented and call(0, [-(2**63)]) is NotImplemented
    assert call(0, [True]) is NotImplemented


def test_an_entry_reads_arrays_without_gaps_only():
    _, call = prepared(lambda x: x + x, np.arange(4.0))
    x = np.arange(10.0)
    assert call(0, x).tolist() == (2 * x).tolist()
    assert call(0, x[::2]) is NotImplemented and call(0, x.astype("f4")) is NotImplemented
    assert call(0, x.reshape(2, 5)) is NotImplemented and call(0, x.astype(">f8")) is NotImplemented


def test_an_entry_counts_references():
    _, call = prepared(lambda x: (x, x + 1.0), [1.0, 2.0])
    xs = [1.0, 2.0, 3.0]
    before = sys.getrefcount(xs), sys.getrefcount(xs[0]), sys.getrefcount(NotImplemented)
    for _ in range(1000):
        call(0, xs)
        call(0, [1])
    after = sys.getrefcount(xs), sys.getrefcount(xs[0]), sys.getrefcount(NotImplemented)
    assert before == after
    result = call(0, xs)
    assert sys.getrefcount(result) == 2 and all(sys.getrefcount(column) == 3 for column in result)


def test_entries_leave_no_memory_behind():
    _, call = prepared(lambda x: x * 2.0, [1.0, 2.0])
    _, left = prepared(lambda n: n * n, [1, 2])
    xs, large = [float(i) for i in range(1000)], [2**40] * 1000
    for _ in range(200):
        call(0, xs)
        assert left(0, large) is NotImplemented
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20_000):
        call(0, xs)
        left(0, large)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000  # KB


def test_threads_share_an_entry():
    _, call = prepared(lambda n: sum(i * i for i in range(n)), [1, 2])
    xs = list(range(3000))
    wanted = up.map(lambda n: sum(i * i for i in range(n)), xs).tolist()
    wrong = []

    def work():
        for _ in range(5):
            result = call(0, xs)
            if result is not NotImplemented and result.tolist() != wanted:
                wrong.append(result)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_settled_calls_give_what_the_loop_gives():
    """Long enough that every way in is used: the loop, entries, the ledger, machine code."""
    FUNCTIONS.clear()
    entries.ENTRIES.clear()

    def f(x):
        total = 0.0
        for i in range(40):
            total += math.sqrt(x + i)
        return total

    xs = [float(i) for i in range(400)]
    wanted = [f(x) for x in xs]
    for turn in range(150):
        assert up.map(f, xs).tolist() == wanted, turn
    assert up.map(f, xs[:7]).tolist() == wanted[:7]
    assert up.map(f, [*xs, 3]).tolist() == [*wanted, f(3)]
    assert up.map(f, np.array(xs)).tolist() == [f(x) for x in np.array(xs)]


# ---- interrupts, memory, many functions


def in_a_process(code, **more):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, **more
    )


ENDLESS = """
    import os, signal, threading, time, linecache
    import upshift as up
    text = '''
    def endless(n):
        total = 0
        while True:
            total = (total + n) % 1000003
    def brief(n):
        total = 0
        for i in range(n):
            total += i
        return total
    '''
    import textwrap
    text = textwrap.dedent(text)
    linecache.cache["<here>"] = (len(text), None, text.splitlines(True), "<here>")
    exec(compile(text, "<here>", "exec"))
    up.map(brief, [10] * 20, gear="llvm")
    def later():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=later).start()
    began = time.perf_counter()
    try:
        {call}
    except KeyboardInterrupt:
        took = time.perf_counter() - began
        print("interrupted", 0.4 < took < 3.0)
    print(up.map(brief, [10, 100], gear="llvm").tolist())
"""


@pytest.mark.parametrize("count", ["[10**12] * 3", "[10**10] * 64"])
def test_ctrl_c_ends_machine_code_and_the_next_call_works(count):
    done = in_a_process(ENDLESS.format(call=f'up.map(brief, {count}, gear="llvm")'))
    assert done.stdout.splitlines() == ["interrupted True", "[45, 4950]"], done.stderr


def slow_where_large(n):
    total = 0
    for i in range(n):
        total = (total + i * i) % 1000003
    return total


@pytest.mark.parametrize("threads", [1, 2])
def test_lanes_that_there_is_no_time_for_are_left(threads):
    """Machine code of unknown speed is stopped by the clock; what it has done by then is right."""
    xs = [5, 7, 10**13, 10**13, 10**13, 11]
    made, _ = prepared(slow_where_large, xs)
    made.flat_rate = 1.0 if threads > 1 else 0.0
    ran = made.over(slow_where_large, {}, [columns.read(xs)], len(xs), threads, 0.05)
    assert ran.overran and {2, 3} <= set(ran.left.tolist()) and not {0, 1} & set(ran.left.tolist())
    assert "interrupted" in made.reasons(ran.status)[0][0]
    done = [lane for lane in range(len(xs)) if lane not in set(ran.left.tolist())]
    assert made.objects(ran, np.array(done)) == [slow_where_large(xs[lane]) for lane in done]


def test_a_gear_that_is_named_has_all_the_time_that_it_needs(monkeypatch):
    monkeypatch.setattr(arms, "SHORTEST", 0.0)
    monkeypatch.setattr(gear, "BRIEFLY", 10)
    with up.config(verify=False):
        up.map(slow_where_large, [5, 5 * 10**6, 7], gear="llvm")
    ledger = next(reversed(FUNCTIONS.known.values())).ledger
    assert not any(arm.overran for arm in ledger.arms if isinstance(arm, arms.Llvm))


def test_a_lane_that_needs_too_much_memory_is_left():
    def f(n):
        xs = [0] * n
        return len(xs)

    assert gear.check(f, (int,), {}) is not None
    made, _ = prepared(f, [1, 2])
    ran = made.over(f, {}, [columns.read([10, 10**9, 20])], 3, 1)
    assert ran.left.tolist() == [1] and "memory" in made.reasons(ran.status)[0][0]


def test_memory_does_not_grow_over_many_calls():
    def f(n):
        xs = [i for i in range(n)]
        return sum(xs[::2]) + len(str(n))

    _, call = prepared(f, [1, 2])
    xs = list(range(20))
    wanted = [f(x) for x in xs]
    for _ in range(100):
        call(0, xs)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100_000):
        result = call(0, xs)
    assert result.tolist() == wanted
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8000


def test_recursion_deeper_than_pythons_is_the_plain_functions():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    assert up.map(down, [5, 100, 800], gear="llvm").tolist() == [5, 100, 800]
    with pytest.raises(RecursionError):
        up.map(down, [5, 10**5], gear="llvm")


def functions_of_a_file(path, numbers):
    """A different function for each number, in a file of their own."""
    import importlib.util

    path.write_text("\n".join(f"def f{i}(x):\n    return x * {i} + {i % 7}\n" for i in numbers))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {i: getattr(module, f"f{i}") for i in numbers}


@pytest.mark.skipif(os.environ.get("UPSHIFT_LONG") is None, reason="takes minutes: UPSHIFT_LONG=1")
def test_ten_thousand_functions_in_one_process(tmp_path):
    """Each is forgotten when nobody has it any more: memory does not grow with them without an end."""
    reached = []
    for part in range(20):
        functions = functions_of_a_file(tmp_path / f"part_{part}.py", range(500 * part, 500 * part + 500))
        for i, f in functions.items():
            assert up.map(f, [1, 2], gear="llvm").tolist() == [i + i % 7, 2 * i + i % 7]
        reached.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert reached[19] - reached[9] < 1.5 * (reached[9] - reached[0]) + 20_000


def test_many_functions_in_one_process(tmp_path):
    for i, f in functions_of_a_file(tmp_path / "many_functions.py", range(150)).items():
        assert up.map(f, [1, 2], gear="llvm").tolist() == [i + i % 7, 2 * i + i % 7]
        assert up.map(f, [1.5], gear="llvm").tolist() == [1.5 * i + i % 7]


def test_signals_are_restored():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        up.map(clipped, np.linspace(-2.0, 2.0, 100_000), gear="llvm")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


class Spot(typing.NamedTuple):
    a: int
    b: float


SPOT = Spot(1, 2.5)


@pytest.mark.parametrize("f", [lambda x: tuple(SPOT), lambda x: tuple(Spot(x, 0.5))])
def test_a_tuple_of_a_named_tuple_is_a_plain_one(f):
    made, expected = up.map(f, [1, 2, 3], gear="llvm"), up.map(f, [1, 2, 3], gear="loop")
    assert type(made) is type(expected) is tuple
    assert [column.tolist() for column in made] == [column.tolist() for column in expected]


def test_ir_that_llvm_does_not_take_is_a_refusal(monkeypatch):
    checked = gear.check(clipped, (float,), {})
    monkeypatch.setattr(kernel, "GUARDED", True)
    monkeypatch.setattr(module, "object_code", lambda *_: llvm.llvm().object_code("no IR", (), 0))
    refused = gear.prepare(checked)
    assert isinstance(refused, up.errors.Refusal) and "the compiler failed" in refused.reason


def doubled_rows(x):
    return x * 2.0


def test_no_time_for_any_lane_leaves_all_of_them():
    """Also where results are words of a stream, of which there are none then."""
    made, _ = prepared(doubled_rows, np.ones((5, 3)))
    call = kernel.Launch(made.kernel, None, [np.ones((5, 3))], 5)
    call.leave(slice(0, 5))
    found = call.made()
    assert found.left == 5 and found.used == 0 and all(found.status)
