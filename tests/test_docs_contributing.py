"""CONTRIBUTING.md: its examples are followed to the letter, and do what it says that they do."""

from __future__ import annotations

import array
import inspect
import math
import textwrap
from pathlib import Path

import numpy as np
import pytest

import test_rules
import upshift as up
from law import check, compare
from upshift import api
from upshift.columns import inputs
from upshift.columns.forms import LEAF
from upshift.columns.unboxed import Unboxed
from upshift.gears import frameworks
from upshift.gears.ran import NotCompiled, Ran
from upshift.rules import RULES, maths, table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def example(start):
    """The block of code that begins like this."""
    blocks = [text.removeprefix("python\n") for text in PAGE.split("```")[1::2] if text.startswith("python\n")]
    (found,) = [block for block in blocks if block.startswith(start)]
    return found


def same(found, expected):
    return compare(expected, found) is None


def root(x):
    return math.cbrt(x) + 1.0


@pytest.fixture
def without_rule():
    """The rules as they are without that of the example, which come back as they were."""
    known = dict(RULES)
    for key in [key for key in RULES if key[0] is math.cbrt]:
        del RULES[key]
    table.lower.cache_clear()
    yield
    RULES.clear()
    RULES.update(known)
    table.lower.cache_clear()


def test_a_rule(without_rule):
    """One line, and a function that was called lane by lane is one call for all of them."""
    assert "per_lane(math.cbrt" in up.source(root, [0.5, 2.0])
    code = example("maths(")
    assert code in inspect.getsource(maths)
    exec(code, vars(maths).copy())
    table.lower.cache_clear()

    def fresh(x):
        return math.cbrt(x) + 1.0

    assert "np.cbrt(" in up.source(fresh, [0.5, 2.0])
    added = [row for (fn, _), row in RULES.items() if fn is math.cbrt]
    assert len(added) == len(table.CLASSES)
    for row in added:
        test_rules.test_samples(row, exact=False)


def test_a_rule_that_is_wrong_fails_its_samples(without_rule):
    exec(example("maths(").replace("np.cbrt", "np.sqrt"), vars(maths).copy())
    table.lower.cache_clear()
    (row, *_) = [row for (fn, _), row in RULES.items() if fn is math.cbrt]
    with pytest.raises(AssertionError, match="only the sample check saved it"):
        for column in test_rules.columns_of(row.samples):
            check(lambda x: math.cbrt(x), *map(list, column))


@pytest.fixture
def whole(monkeypatch):
    """The gear of the example, registered as the page says."""
    code = example("class Whole")
    monkeypatch.setattr(frameworks, "PREPARES", dict(frameworks.PREPARES))
    monkeypatch.setattr(api, "GEARS", (*api.GEARS, "whole"))
    names = {"np": np, "LEAF": LEAF, "Ran": Ran, "NotCompiled": NotCompiled, "PREPARES": frameworks.PREPARES}
    exec(code + example("PREPARES["), names)
    return names["Whole"]


def formula(x, y):
    return (x - y) / (x * x + 1.0)


def test_a_gear(whole):
    xs, ys = np.linspace(-3, 3, 101), np.linspace(5, 6, 101)
    found = up.map(formula, xs, ys, gear="whole")
    assert found.dtype == np.float64 and np.allclose(found, [formula(x, y) for x, y in zip(xs, ys)], rtol=1e-12)
    lists = up.map(formula, xs.tolist(), ys.tolist(), gear="whole")
    assert same(lists, up.map(formula, xs.tolist(), ys.tolist(), gear="loop"))


def test_lanes_that_it_leaves_are_the_plain_functions(whole):
    def inverse(x):
        return 1.0 / x

    with pytest.raises(ZeroDivisionError):
        up.map(inverse, [2.0, 0.0, 4.0], gear="whole")
    assert up.map(inverse, [2.0, 0.0, 4.0], gear="whole", on_error=("fill", -1.0)).tolist() == [0.5, -1.0, 0.25]


@pytest.mark.parametrize("xs", [[1.0, 5.0, 2.0], [1, 2, 3]], ids=["decides", "ints"])
def test_what_it_refuses(whole, xs):
    def kinked(x):
        return x if x > 2.0 else -x

    with pytest.raises(up.GearRefused, match=r"column|floats"):
        up.map(kinked, xs, gear="whole")


def test_a_gear_that_is_wrong_is_seen(whole, monkeypatch):
    monkeypatch.setattr(
        whole, "over", lambda self, f, shared, columns, n, threads: Ran(LEAF, [np.ones(n)], np.arange(0), n)
    )
    with pytest.raises(up.GearRefused, match="not the loop's"):
        up.map(lambda x: x + 1.0, [1.0, 2.0] * 20, gear="whole")


def test_an_adapter():
    code = example("if module ==")
    assert textwrap.indent(code, "    ") in inspect.getsource(inputs.listed)
    column = array.array("f", [1.25, -0.0, 3.0])
    assert type(inputs.listed(column)) is Unboxed and same(list(inputs.elements_of(column)), column.tolist())


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_arrays_of_the_standard_library(code):
    """Elements are Python's numbers, as iterating gives them."""
    kinds = set()

    def f(x):
        kinds.add(type(x))
        return x * 2 + 1 if x > 3 else -x

    most = {"Q": 2**64 - 1, "L": 2**32, "q": 2**62}.get(code, 100)
    for n in (0, 1, 5, 300):
        column = array.array(code, [most, 2] * (n // 2) + [3] * (n % 2))
        assert same(up.map(f, column), up.map(f, column.tolist(), gear="loop"))
    assert kinds == {float if code in "fd" else int}


@pytest.mark.parametrize("column", [b"", b"ab\xff" * 50, bytearray(b"\x00\x07")], ids=["none", "bytes", "bytearray"])
def test_bytes(column):
    assert same(up.map(lambda x: x * 3, column), up.map(lambda x: x * 3, list(column), gear="loop"))


def test_an_array_of_the_standard_library_may_grow_while_it_is_mapped():
    column = array.array("d", [1.0, 2.0, 3.0])

    def f(x):
        if len(column) < 4:
            column.append(9.0)
        return x + len(column)

    assert up.map(f, column).tolist() == [5.0, 6.0, 7.0]
