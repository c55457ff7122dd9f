"""Functions that do more than compute their result are refused, with a reason and the line; never compiled."""

from __future__ import annotations

import logging
import os
import random
import sys
import time

import numpy as np
import pytest

from compiled import Compiled, refusal

LOG = []
SEEN = {}
COUNT = 0
MEMBERS = {1}
ARRAY = np.zeros(3)
NESTED = [[1], [2]]
logger = logging.getLogger(__name__)


class State:
    def __init__(self):
        self.value = 0
        self.items = [1]

    def bump(self, x):
        self.value += x  # line: bump
        return self.value


state = State()


def prints(x):
    print(x)
    return x


def prints_in_a_branch(x):
    if x > 10**9:
        print("never")
    return x


def prints_stars(x):
    print(*[x, x])
    return x


def opens(x):
    with open("/nowhere") as f:
        return len(f.read()) + x


def reads_input(x):
    return x + int(input())


def random_number(x):
    return x + random.random()


def random_choice(x):
    return random.choice([x, 1])


def numpy_random(x):
    return x + np.random.rand()


def reads_clock(x):
    return x + time.time()


def sleeps(x):
    time.sleep(0)
    return x


def environment(x):
    return x + len(os.environ["PATH"])


def writes_stdout(x):
    sys.stdout.write("x")
    return x


def logs(x):
    logger.warning("x")
    return x


def sets_global(x):
    global COUNT
    COUNT = x
    return x


def adds_to_global(x):
    global COUNT
    COUNT += 1
    return x


def appends_to_captured(x):
    LOG.append(x)
    return x


def appends_to_captured_of_numbers(x):
    NESTED[0].append(x)
    return x


def item_of_captured(x):
    NESTED[0][0] = x
    return x


def item_of_captured_dict(x):
    SEEN[x] = 1
    return x


def adds_to_captured_set(x):
    MEMBERS.add(x)
    return len(MEMBERS)


def pops_captured(x):
    return NESTED.pop()[0] + x


def sorts_captured(x):
    NESTED.sort()
    return x


def alias_of_captured(x):
    mine = NESTED
    mine.append([x])
    return x


def captured_through_a_helper(x):
    return append_to(NESTED[0], x)


def append_to(xs, x):
    xs.append(x)
    return len(xs)


def captured_or_own(x):
    xs = NESTED[0] if x > 0 else [1]
    xs.append(x)
    return len(xs)


def augments_captured(x):
    mine = NESTED[0]
    mine += [x]
    return x


def writes_captured_array(x):
    ARRAY[0] = x
    return x


def sets_attribute(x):
    state.value = x
    return x


def sets_attribute_in_a_method(x):
    return state.bump(x)


def appends_to_attribute(x):
    state.items.append(x)
    return x


def sets_class_attribute(x):
    State.kind = x
    return x


def mutable_default(x, seen=[]):
    seen.append(x)
    return len(seen)


def mutable_default_of_a_helper(x):
    return remembers(x)


def remembers(x, memo={}):
    memo[x] = 1
    return len(memo)


def deletes_global(x):
    global COUNT
    del COUNT
    return x


def sets_by_name(x):
    state.value = x
    return x


def evaluates(x):
    return eval("x")


def executes(x):
    exec("x = 1")
    return x


def looks_at_globals(x):
    return globals()["COUNT"] + x


def identity(x):
    return id(x) + x


def counter():
    count = 0

    def step(x):
        nonlocal count
        count += 1
        return x

    return step


sets_around = counter()

FUNCTIONS = [
    prints, prints_in_a_branch, prints_stars, opens, reads_input, random_number, random_choice, numpy_random,
    reads_clock, sleeps, environment, writes_stdout, logs, sets_global, adds_to_global, appends_to_captured,
    appends_to_captured_of_numbers, item_of_captured, item_of_captured_dict, adds_to_captured_set, pops_captured,
    sorts_captured, alias_of_captured, captured_through_a_helper, captured_or_own, augments_captured,
    writes_captured_array, sets_attribute, sets_attribute_in_a_method, appends_to_attribute, sets_class_attribute,
    mutable_default, mutable_default_of_a_helper, deletes_global, sets_by_name, evaluates, executes, looks_at_globals,
    identity, sets_around,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_is_refused(f):
    refused = refusal(f, 1)
    assert refused is not None
    assert refused.reason and refused.filename.endswith("test_compiler_purity.py")
    first = f.__code__.co_firstlineno
    helpers = (append_to, remembers, State.bump)
    assert first < refused.line < first + 12 or any(
        h.__code__.co_firstlineno < refused.line < h.__code__.co_firstlineno + 4 for h in helpers
    )


def test_lanes_that_change_what_they_are_given_are_left():
    def changes(xs):
        if len(xs) > 1:
            xs.append(1)
            xs[0] = 9
        return sum(xs)

    rows = [([1, 2, 3],), ([4],)]
    made, left = Compiled(changes, rows).run(rows)
    assert made == {1: 4} and "changes a list that it was given" in left[0] and rows == [([1, 2, 3],), ([4],)]
