"""Functions with effects: each element called once and in order; a refused gear leaves nothing changed."""

from __future__ import annotations

import heapq
import operator

import numpy as np
import pytest

import upshift as up
from law import compare
from stacking import stack

MANY = 3000
FLOATS = [float(k) for k in range(1500)]


class Recorder:
    def __init__(self, log):
        self.log = log

    def __call__(self, x):
        self.log.append(x)
        return x * 2


def elsewhere(log, x):
    log.append(x)
    return x * 3


# Each case: a function of a log that gives the function to map. Everything it does to the log is an effect.
def appends(log):
    return lambda x: log.append(x) or x * 2


def appends_by_name(log):
    def f(x):
        log.append(x)
        return x + 1

    return f


def appends_by_bound_method(log):
    append = log.append

    def f(x):
        append(x)
        return x * 0.5

    return f


def appends_by_the_class(log):
    def f(x):
        list.append(log, x)
        return x

    return f


def appends_through_map(log):
    def f(x):
        list(map(log.append, [x]))
        return x

    return f


def extends(log):
    def f(x):
        log.extend([x])
        return x

    return f


def inserts_at_the_end(log):
    def f(x):
        log.insert(len(log), x)
        return x

    return f


def adds_in_place(log):
    def f(x):
        nonlocal log
        log += [x]
        return x

    return f


def assigns_a_slice(log):
    def f(x):
        log[len(log) :] = [x]
        return x

    return f


def appends_in_a_helper(log):
    return lambda x: elsewhere(log, x)


def appends_in_a_comprehension(log):
    def f(x):
        return sum([elsewhere(log, x) for _ in range(1)])

    return f


def appends_in_a_nested_function(log):
    def f(x):
        def note():
            log.append(x)

        note()
        return x

    return f


def appends_in_finally(log):
    def f(x):
        try:
            return 1 / x
        except ZeroDivisionError:
            return 0.0
        finally:
            log.append(x)

    return f


def appends_by_default(log):
    def f(x, log=log):
        log.append(x)
        return x

    return f


def appends_to_an_attribute(log):
    return Recorder(log)


def appends_inside_a_dict(log):
    book = {"log": log}

    def f(x):
        book["log"].append(x)
        return x

    return f


def appends_inside_a_tuple(log):
    pair = (1, log)

    def f(x):
        pair[1].append(x)
        return x * pair[0]

    return f


def appends_rarely(log):
    def f(x):
        if x % 7 == 3:
            log.append(x)
        return x * 2

    return f


def appends_very_late(log):
    def f(x):
        if x > 2500:
            log.append(x)
        return x * 2

    return f


def appends_with_operator(log):
    def f(x):
        operator.iadd(log, [x])
        return x

    return f


def appends_by_name_of_method(log):
    def f(x):
        getattr(log, "app" + "end")(x)
        return x

    return f


def appends_by_methodcaller(log):
    def f(x):
        operator.methodcaller("append", x)(log)
        return x

    return f


def pushes_on_a_heap(log):
    def f(x):
        heapq.heappush(log, x)
        return x

    return f


def sends_to_a_generator(log):
    def sink():
        while True:
            log.append((yield))

    running = sink()
    next(running)

    def f(x):
        running.send(x)
        return x

    return f


def runs_code(log):
    def f(x):
        exec("log.append(x)", {"log": log, "x": float(x)})
        return x

    return f


def sorts_by_an_impure_key(log):
    def f(x):
        return sorted([x], key=lambda v: log.append(v) or 0)[0]

    return f


LOGGING = [
    appends,
    appends_by_name,
    appends_by_bound_method,
    appends_by_the_class,
    appends_through_map,
    extends,
    inserts_at_the_end,
    adds_in_place,
    assigns_a_slice,
    appends_in_a_helper,
    appends_in_a_comprehension,
    appends_in_a_nested_function,
    appends_in_finally,
    appends_by_default,
    appends_to_an_attribute,
    appends_inside_a_dict,
    appends_inside_a_tuple,
    appends_rarely,
    appends_very_late,
    appends_with_operator,
    appends_by_name_of_method,
    appends_by_methodcaller,
    pushes_on_a_heap,
    sends_to_a_generator,
    runs_code,
    sorts_by_an_impure_key,
]
each_case = pytest.mark.parametrize("case", LOGGING, ids=lambda case: case.__name__)


def looped(case, xs):
    log = []
    f = case(log)
    return [f(x) for x in xs], log


@each_case
@pytest.mark.parametrize("count", [3, MANY])
@pytest.mark.parametrize("as_array", [False, True])
def test_each_element_once_and_in_order(case, count, as_array):
    xs = np.arange(1.0, count + 1) if as_array else [float(k) for k in range(1, count + 1)]
    results, expected_log = looped(case, xs)
    log = []
    f = case(log)
    for _ in range(2):
        log.clear()
        actual = up.map(f, xs)
        assert compare(stack(results), actual) is None
        assert log == expected_log
        assert [type(x) for x in log] == [type(x) for x in expected_log]


@each_case
def test_the_loop_gear_too(case):
    xs = [float(k) for k in range(200)]
    log = []
    up.map(case(log), xs, gear="loop")
    assert log == looped(case, xs)[1]


@each_case
def test_refused_with_nothing_changed(case):
    xs = [float(k) for k in range(1, MANY)]
    log = ["before"] if case is not pushes_on_a_heap else [-1.0]
    before = list(log)
    with pytest.raises(up.GearRefused) as caught:
        up.map(case(log), xs, gear="numpy")
    assert str(caught.value)
    assert log == before


@each_case
def test_ints_too(case):
    xs = list(range(1, 500))
    results, expected_log = looped(case, xs)
    log = []
    assert compare(stack(results), up.map(case(log), xs)) is None
    assert log == expected_log


# -- effects and errors -------------------------------------------------------------------------------------
def test_nothing_is_called_after_the_failure():
    log = []

    def f(x):
        log.append(x)
        return 1 / (x - 700)

    with pytest.raises(ZeroDivisionError):
        up.map(f, FLOATS)
    assert log == FLOATS[:701]


@pytest.mark.parametrize("on_error", ["return", "skip", ("fill", 0.0)], ids=str)
def test_each_element_once_when_errors_are_kept(on_error):
    log = []

    def f(x):
        log.append(x)
        return 1 / (x - 700)

    up.map(f, FLOATS, on_error=on_error)
    assert log == FLOATS


def test_elements_that_are_changed_are_changed_once():
    lists = [[k] for k in range(2000)]

    def f(items):
        items.append(0)
        return len(items)

    assert up.map(f, lists).tolist() == [2] * 2000
    assert lists == [[k, 0] for k in range(2000)]


def test_elements_of_an_iterator_are_called_in_step_or_after():
    """The order of calls is the order of elements, however the column is read."""
    log = []
    up.map(lambda x: log.append(x) or x, (float(k) for k in range(2000)))
    assert log == [float(k) for k in range(2000)]


def test_a_pure_function_called_through_an_impure_one():
    """What was learnt of the helper does not hide the effect of its caller."""
    log = []

    def pure(x):
        return x * 2

    def impure(x):
        log.append(x)
        return pure(x)

    up.map(pure, FLOATS)
    up.map(impure, FLOATS)
    up.map(pure, FLOATS, gear="numpy")
    assert log == FLOATS


def test_a_function_that_turns_impure():
    log, loud = [], False

    def f(x):
        if loud:
            log.append(x)
        return x * 2

    up.map(f, FLOATS, gear="numpy")
    loud = True
    with pytest.raises(up.GearRefused):
        up.map(f, FLOATS, gear="numpy")
    assert log == []
    up.map(f, FLOATS)
    assert log == FLOATS
    loud = False
    up.map(f, FLOATS)
    assert log == FLOATS


@each_case
def test_each_element_once_where_machine_code_is_asked_for(case):
    """Before it refuses, no element may be run, not even to see what a result looks like."""
    xs = np.arange(1.0, 9.0)
    for as_array in (True, False):
        log = []
        f = case(log)
        try:
            up.map(f, xs if as_array else xs.tolist(), gear="llvm")
        except up.GearRefused:
            assert log == []
