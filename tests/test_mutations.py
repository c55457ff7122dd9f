"""Rows of the compiler are broken, one at a time: the checks over a small table of functions see each of them."""

from __future__ import annotations

import faulthandler
import math
from collections.abc import Callable
from typing import Any

import pytest

from compiled import check
from fuzz.isolation import Died, alone
from upshift.compiler.calls import ROWS, SPECIAL
from upshift.compiler.prelude.registry import FUNCTIONS, METHODS
from upshift.compiler.rows import memory, numbers
from upshift.compiler.rows.numbers import safe

INTS = [(7, 2), (-7, 2), (7, -2), (2**63 - 1, 1), (-(2**63), -1), (0, 5), (3, 0), (-1, 40)]
FLOATS = [(0.5, 2.0), (-0.0, 0.0), (math.nan, 1.0), (1.0, math.nan), (math.inf, -1.5), (-2.5, -2.5), (3.0, 0.0)]


def of_ints(a: int, b: int) -> Any:
    total = a + b
    if b:
        total = a // b + a % b
    return total, a >> (b % 64), a == b, min(a, b)


def added(a: int, b: int) -> Any:
    return a + b


def of_floats(a: float, b: float) -> Any:
    return a < b, a - b, a * b, max(a, b), -a


def divided(a: float, b: float) -> Any:
    return a / b


def rounded(a: float, b: float) -> Any:
    return math.floor(a), round(b)


def of_complex(a: float, b: float) -> Any:
    return complex(a, b) * complex(b, 1.5)


def of_lists(a: int, b: int) -> Any:
    xs = [a, b, 3]
    xs.reverse()
    return xs, xs[-1], xs[1:], sorted(xs), b in xs


def of_texts(a: int, b: int) -> Any:
    text = str(a) + "-" + str(b)
    return text, text.count("-"), text[::-1]


def caught(a: int, b: int) -> Any:
    try:
        return a // b
    except ZeroDivisionError:
        return None


TABLE: tuple[tuple[Callable[..., Any], list[Any]], ...] = (
    (of_ints, INTS), (added, INTS), (of_floats, FLOATS), (divided, FLOATS), (rounded, [(2.5, -2.5), (-0.5, 1.5)]),
    (of_complex, FLOATS), (of_lists, INTS), (of_texts, INTS), (caught, INTS),
)  # fmt: skip
ALL = 10**9


def wrong() -> list[str]:
    """The functions of the table on which the compiler fails or is not Python; broken machine code may do anything,
    so that it runs in a process of its own."""
    found = alone(lambda _: _wrong(), None)
    return [str(found)] if isinstance(found, Died) else found


def _wrong() -> list[str]:
    faulthandler.disable()
    found = []
    for f, rows in TABLE:
        try:
            check(f, rows, left=ALL)
        except Exception:
            found.append(f.__name__)
    return found


def reversed_but_one(xs: Any) -> None:
    """What stands for `list.reverse`, one item short."""
    i, j = 0, len(xs) - 2
    while i < j:
        xs[i], xs[j] = xs[j], xs[i]
        i += 1
        j -= 1


def counted_one_more(text: Any, part: Any) -> int:
    return len(text) + len(part)


def never_contains(xs: Any, x: Any) -> bool:
    return False


def _ints(op: str) -> Any:
    return lambda w, a, b: w.new(f"{op} i64 {a}, {b}")


def _divided(op: str) -> Any:
    """Division as processors do it; by zero as ever."""

    def emit(w: Any, a: str, b: str) -> Any:
        w.leave_if(w.new(f"icmp eq i64 {b}, 0"), ZeroDivisionError, "division by zero")
        return w.new(f"{op} i64 {a}, {b}")

    return emit


def _floats(op: str) -> Any:
    return safe(lambda w, a, b: w.new(f"{op} double {a}, {b}"))


MUTATIONS: dict[str, tuple[Any, Any, Any]] = {
    "ints wrap around": (numbers._INTS, "Add", (numbers.INT, _ints("add"))),
    "quotients are cut": (numbers._INTS, "FloorDiv", (numbers.INT, _divided("sdiv"))),
    "remainders take the sign of the left": (numbers._INTS, "Mod", (numbers.INT, _divided("srem"))),
    "shifts lose the sign": (numbers._INTS, "RShift", (numbers.INT, _ints("lshr"))),
    "division by 0.0 is infinite": (numbers._FLOATS, "Div", _floats("fdiv")),
    "differences are sums": (numbers._FLOATS, "Sub", _floats("fadd")),
    "NaN is less than all": (numbers.ORDERED, "Lt", "ult"),
    "products of complex numbers are sums": (numbers._COMPLEXES, "Mult", numbers._COMPLEXES["Add"]),
    "floor is ceil": (ROWS, math.floor, ROWS[math.ceil]),
    "max is min": (SPECIAL, max, SPECIAL[min]),
    "equal is unequal": (numbers.SIGNED, "Eq", "ne"),
    "reverse is one item short": (METHODS, ("list", "reverse"), reversed_but_one),
    "count counts all": (METHODS, ("str", "count"), counted_one_more),
    "no list contains anything": (FUNCTIONS, "list_contains", never_contains),
}


def test_the_table_is_right_as_it_stands() -> None:
    assert wrong() == []


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_row_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, key, broken = MUTATIONS[name]
    if key is math.floor:  # which is asked before rows are
        monkeypatch.delitem(SPECIAL, math.floor, raising=False)
    monkeypatch.setitem(table, key, broken)
    assert wrong(), name


def test_a_broken_item_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every list gives the item beside the one that is asked for."""
    right = memory.get

    def beside(w: Any, kind: Any, xs: str, i: str) -> Any:
        return right(w, kind, xs, w.new(f"xor i64 {i}, 1"))

    monkeypatch.setattr(memory, "get", beside)
    assert "of_lists" in wrong()


def test_a_lane_that_is_left_with_the_wrong_exception_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def divide(w: Any, a: str, b: str) -> Any:
        w.leave_if(w.new(f"icmp eq i64 {b}, 0"), ValueError, "division by zero")
        return numbers._divided(w, a, b)[0]

    monkeypatch.setitem(numbers._INTS, "FloorDiv", (numbers.INT, divide))
    assert "caught" in wrong()
