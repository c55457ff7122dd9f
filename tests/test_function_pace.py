"""When whole functions of arrays are compiled, and when machine code that is no faster is given up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import upshift as up
from eagerly import compile_at_once
from law import Rule, compare
from upshift.adaptive.pace import FAST_PAUSE, Pace
from upshift.adaptive.specialization import CHECKS, Specialization, specialization_of
from upshift.adaptive.trial import copies_of, size_of
from upshift.gears.calls import argument_of
from upshift.gears.llvm import whole
from upshift.plan.ledger import RISK
from upshift.plan.prices import loops_in


def formula(a: Any, x: Any) -> Any:
    return 2.0 * a @ x


def looping(a: Any, x: Any) -> Any:
    for i in range(len(x)):
        x = x + a[i]
    return x


def calls_a_loop(a: Any, x: Any) -> Any:
    return looping(a, x) + 1.0


def comprehends(a: Any, x: Any) -> Any:
    return sum(a[i] for i in range(3)) + x


def spec(f: Any) -> Specialization:
    return specialization_of(f, tuple(map(argument_of, (np.ones((3, 3)), np.ones(3)))), ("a", "x"))


def test_loops_are_found_in_helpers_and_comprehensions():
    assert not loops_in(formula)
    assert loops_in(looping) and loops_in(calls_a_loop) and loops_in(comprehends)


def spent_until(one: Specialization, call: float) -> float:
    """Seconds of plain calls until the next step towards machine code pays."""
    while not one.wants_machine_code():
        one.add(call, 1)
    return one.plain


def test_formulas_of_large_arrays_wait_longer_than_loops():
    """Once both are known to compile: what is left is what that costs, and what it is expected to gain."""
    waited = []
    for f in (formula, looping):
        one = spec(f)
        one.returned = True
        spent_until(one, 50e-3)
        one.is_checked(one.check_price)
        one.code_price = 20.0  # so that calls are brief beside it
        waited.append(spent_until(one, 50e-3))
    assert waited[0] > 4 * waited[1]
    brief = spec(formula)  # small arrays: the time is Python's own
    brief.returned = True
    brief.is_checked(brief.check_price)
    brief.code_price = 20.0
    assert spent_until(brief, 10e-6) < waited[0] / 4


def test_a_check_waits_until_plain_calls_have_cost_ten_times_its_price():
    one = spec(looping)
    one.returned = True
    assert abs(spent_until(one, 1e-3) - one.check_price / RISK) <= 1e-3 + 1e-9  # the call at hand counts


def test_one_slow_plain_call_does_not_decide():
    one = spec(formula)
    one.add(20e-3, 1)
    one.add_comparison(14e-3, 22e-3)
    assert one.checks_needed() == CHECKS
    for _ in range(2):
        one.add_comparison(14e-3, 10e-3)
    assert "is not faster" in (one.not_faster() or "")


def test_a_long_call_that_is_no_faster_is_compared_once():
    one = spec(formula)
    one.add(20e-3, 1)
    one.add_comparison(20e-3, 20e-3)
    assert one.checks_needed() == 1 and "is not faster" in (one.not_faster() or "")


def test_a_comparison_of_large_arrays_is_with_other_calls_of_their_size():
    one = spec(formula)
    for took in (1e-3, 3e-3):
        one.add_large(2 << 20, took)
    assert one.among_others(2 << 20, 2e-3) == 1e-3
    assert one.among_others(1 << 20, 2e-3) == 2e-3
    one.trusted = True  # from now on both may take longer
    assert one.among_others(2 << 20, 2e-3) == 2e-3


def test_a_comparison_copies_what_machine_code_writes_to_and_what_is_small():
    large, other, small = np.zeros(1 << 17), np.zeros(1 << 17), np.zeros(4)
    copies = copies_of((large, other, small, 3), [1])
    assert copies is not None and copies[0] is large and copies[1] is not other and copies[2] is not small
    copies = copies_of((large, other), None)
    assert copies is not None and copies[0] is not large and copies[1] is not other
    assert copies_of((large, large[1:]), [0]) is None
    assert copies_of((large, large[1:]), []) is not None


def test_no_object_but_arrays_is_asked_for_its_bytes():
    class Odd:
        @property
        def nbytes(self) -> int:
            raise AssertionError("asked")

    assert size_of((Odd(), np.zeros(4), 3)) == 32


def items_alone(a: Any, x: Any) -> Any:
    for i in range(len(x)):
        for j in range(len(x)):
            x[i] += a[i, j]
    return x


def rows_and_an_item(a: Any, x: Any) -> Any:
    for i in range(len(x)):
        x += a[i]
        x[i] = 1.0
    return x


def test_better_machine_code_is_for_loops_over_items():
    given = [argument_of(np.zeros((4, 4))), argument_of(np.zeros(4))]
    found = [whole.begin_call(f, given, False) for f in (looping, items_alone, rows_and_an_item)]
    assert [(one.gains, one.gains_little) for one in found] == [(False, True), (True, False), (True, True)]


def test_what_is_clearly_faster_is_compared_once():
    one = spec(looping)
    one.add(20e-3, 1)
    one.add_comparison(1e-3, 20e-3)
    assert one.checks_needed() == 1 and one.not_faster() is None


def test_machine_code_that_has_become_slow_is_given_up():
    one = spec(looping)
    for _ in range(CHECKS):
        one.add_comparison(1e-3, 4e-3)
    assert one.has_become_slow() is None
    one.add_comparison(9e-3, 4e-3)
    assert one.has_become_slow() is None  # once is chance
    one.add_comparison(9e-3, 4e-3)
    assert one.has_become_slow() is not None


def test_long_calls_of_machine_code_are_all_looked_at():
    pace = Pace()
    assert pace.stands_for_fast == FAST_PAUSE + 1
    assert pace.changes_fast(10e-3) and pace.stands_for_fast == 1
    assert not pace.changes_fast(5e-3)
    assert pace.changes_fast(1e-7) and pace.stands_for_fast == FAST_PAUSE + 1


def test_a_life_gives_what_the_plain_function_gives():
    fast = up.function(looping)
    rng = np.random.default_rng(0)
    for n in (0, 1, 300, 900, 5, 900, 900, 900):
        a, x = rng.normal(size=(n, n)), rng.normal(size=n)
        for _ in range(30 if n == 900 else 3):
            difference = compare(looping(a, x), fast(a, x), Rule(exact=True))
            assert difference is None, difference


def added_up(xs: Any) -> Any:
    total = 0.0
    for x in xs:
        total += x
    return total


def test_short_calls_of_kinds_that_nothing_takes_are_looked_at_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_at_once(monkeypatch)
    fast, other = up.function(added_up), up.function(added_up)
    for _ in range(200):
        assert fast([1.0, 2.0]) == 3.0
    assert fast.__code__ is added_up.__code__
    assert "list" in str(fast.explain())
    for i in range(200):  # a kind that is compiled is among them
        assert other([1.0, 2.0] if i % 2 else np.array([1.0, 2.0])) == 3.0
    assert other.__code__ is not added_up.__code__
