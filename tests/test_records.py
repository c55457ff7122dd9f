"""Lists of records become columns: one look at a class, not one at every element; what computes is left alone."""

from __future__ import annotations

import collections
import dataclasses
import sys
from typing import NamedTuple

import numpy as np
import pytest

import upshift as up
from law import check
from upshift.columns.inputs import lanes_of
from upshift.gears.job import Job
from upshift.plan.records import Reader

N = 3000


@dataclasses.dataclass
class Point:
    x: float
    y: float


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    x: float
    y: int = 2


@dataclasses.dataclass
class Line:
    start: Point
    end: Point
    weight: float = 1.0


class Pair(NamedTuple):
    x: float
    y: int


Named = collections.namedtuple("Named", "x y")
RECORDS = {
    "dataclasses": ([Point(k * 0.5, 2.0) for k in range(N)], lambda p: p.x * p.y + 1),
    "slotted dataclasses": ([Slotted(k * 0.5, k) for k in range(N)], lambda p: p.x * p.y + 1),
    "nested dataclasses": (
        [Line(Point(k * 1.0, 1.0), Point(0.0, k * 2.0)) for k in range(N)],
        lambda p: (p.end.y - p.start.x) * p.weight,
    ),
    "dicts": ([{"x": k * 0.5, "y": k} for k in range(N)], lambda p: p["x"] * p["y"] + 1),
    "tuples": ([(k * 0.5, k) for k in range(N)], lambda p: p[0] * p[1] + 1),
    "lists": ([[k * 0.5, k * 1.0] for k in range(N)], lambda p: p[0] * p[1] + 1),
    "typed named tuples": ([Pair(k * 0.5, k) for k in range(N)], lambda p: p.x * p.y + 1),
    "named tuples": ([Named(k * 0.5, k) for k in range(N)], lambda p: p.x * p.y + 1),
    "dicts of tuples": ([{"a": (k * 0.5, k), "b": k} for k in range(N)], lambda p: p["a"][0] * p["b"] + p["a"][1]),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_look_at_the_class_not_at_every_element(name):
    column, _ = RECORDS[name]
    calls = 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        groups = lanes_of([column])
    finally:
        sys.setprofile(None)
    assert len(groups) == 1 and groups[0].lanes is not None
    assert calls < N // 4


@pytest.mark.parametrize("name", RECORDS)
def test_many_calls(name):
    column, f = RECORDS[name]
    expected = [f(p) for p in column]
    for _ in range(8):
        assert up.map(f, column).tolist() == expected
    check(f, column[:200], must_batch=True)


# ---- records that are not all alike


def test_fields_that_are_missing():
    @dataclasses.dataclass
    class Late:
        x: float
        y: float = dataclasses.field(init=False)

    column = [Late(float(k)) for k in range(500)]
    for late in column[1::2]:
        late.y = 2.0
    check(lambda p: p.x * getattr(p, "y", 3.0), column)
    check(lambda p: p.x, column)


def test_fields_that_are_computed():
    reads = []

    @dataclasses.dataclass
    class Watched:
        x: float

        @property
        def y(self):
            return self.x * 2

        def __getattribute__(self, name):
            if name == "x":
                reads.append(name)
            return object.__getattribute__(self, name)

    column = [Watched(float(k)) for k in range(500)]
    del reads[:]
    for _ in range(3):
        up.map(lambda p: p.x + 1, column)
    assert len(reads) == 3 * 500


def test_a_property_in_place_of_a_field():
    @dataclasses.dataclass
    class Odd:
        x: float
        y: float

    def read(self):
        self.count = getattr(self, "count", 0) + 1
        return 2.0

    column = [Odd(1.0, float(k)) for k in range(500)]
    Odd.x = property(read)
    for _ in range(3):
        assert up.map(lambda p: p.x + p.y, column).tolist() == [2.0 + k for k in range(500)]
    assert {p.count for p in column} == {3}


@pytest.mark.parametrize(
    "column",
    [
        [{"x": 1.0, "y": 2.0}, {"y": 2.0, "x": 1.0}] * 100,
        [{"x": 1.0}, {"y": 2.0}] * 100,
        [(1.0, 2), (1.0,)] * 100,
        [(1.0, 2), (1, 2.0)] * 100,
        [Point(1.0, 2.0), Point(1, 2.0), Slotted(1.0)] * 100,
        [Named(1.0, "a"), Named(2.0, "b")] * 100,
        list(np.array([(1, 2.5), (3, 4.5)] * 100, dtype=[("x", "i4"), ("y", "f8")])),
    ],
    ids=["order of keys", "keys", "lengths", "kinds", "classes", "texts", "rows of a structured array"],
)
def test_records_of_several_kinds(column):
    def f(p):
        inside = list(p.values()) if isinstance(p, dict) else [p.x, p.y] if hasattr(p, "x") else list(p)
        return inside[0] if isinstance(inside[-1], str) else inside[0] * 2 + len(inside)

    check(f, column)
    check(lambda p: str(type(p).__name__), column)


def _sum_of_numbers(row):
    _, x, y = row
    return x + y


class Row(NamedTuple):
    name: str
    x: float
    y: float


ROWS = [Row(f"row {k}", k * 0.5, k % 7.0) for k in range(N)]
LEFT_OUT = {
    "by name": (ROWS, lambda r: r.x * r.y + 1 if r.x > 9 else r.y, True),
    "by position": ([tuple(row) for row in ROWS], lambda r: r[1] * r[2], True),
    "from the end": ([tuple(row) for row in ROWS], lambda r: r[-1] - r[-2], True),
    "a text that is read": (ROWS, lambda r: len(r.name) + r.x, False),
    "unpacked": ([tuple(row) for row in ROWS], _sum_of_numbers, False),
    "numbers alone": ([(row.x, row.y) for row in ROWS], lambda r: r[0] * 2.0, False),
    "a method": (ROWS, lambda r: r.index(r.x) + r.y, False),
    "beyond the end": ([tuple(row) for row in ROWS], lambda r: r[1] if r[1] < 1e9 else r[7], False),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_texts_in_tuples_that_are_not_read_are_left_alone(name):
    rows, f, is_left_out = LEFT_OUT[name]
    by_fields = Reader().by_fields(Job(f, [rows], {}, len(rows)))
    assert (by_fields.whole is not None) is is_left_out
    assert not is_left_out or len(by_fields.columns) == 2
    check(f, rows)
    check(f, [*rows[:9], *rows[9:20][::-1]])


def test_tuples_of_other_lengths_and_kinds_among_them():
    def f(r):
        return r[1] + 1 if len(r[0]) != 1 else 0

    def g(r):
        return r[-1] * 2

    rows = [("ab", k * 1.0) for k in range(200)]
    for odd in (("c", 1.0, 5.0), ("d", 7), ("e", True), ("f", None)):
        for h in (f, g, lambda r: r[1]):
            check(h, [*rows, odd, *rows])
