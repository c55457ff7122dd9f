"""Numbers read out of records by machine code: what reading each field gives, or nothing."""

from __future__ import annotations

import collections
import dataclasses
import json
import operator
import random
import sys
from typing import Any

import numpy as np
import pytest

import upshift as up
from law import check
from upshift.columns.unboxed import Unboxed
from upshift.compiler.llvm import llvm
from upshift.gears.llvm.records import FEW, is_ready, numbers_in

llvm()
N = 500
EDGES = [0, 1, -1, *(s * (2**k + d) for k in (29, 30, 31, 32, 58, 59) for s in (1, -1) for d in (-1, 0, 1)), 2**60 - 1]
Named = collections.namedtuple("Named", "a b c")


@dataclasses.dataclass
class Data:
    a: Any
    b: Any
    c: Any = 2.5


@dataclasses.dataclass(slots=True)
class Slotted:
    a: Any
    b: Any
    c: Any


class Base:
    __slots__ = ("a",)


class Mixed(Base):
    """A slot from one class, values from another."""

    def __init__(self, a: Any, b: Any, c: Any) -> None:
        self.c, self.b, self.a = c, b, a


class Many:
    """More names than objects of a class share."""

    def __init__(self, a: Any, b: Any, c: Any) -> None:
        for i in range(40):
            setattr(self, f"other{i}", i)
        self.a, self.b, self.c = a, b, c


class Grown:
    """Objects that have got their names in several orders, and some a dict of their own."""

    def __init__(self, a: Any, b: Any, c: Any) -> None:
        if type(b) is int and b % 2:
            self.c, self.b = c, b
        self.a, self.b, self.c = a, b, c
        if type(b) is int and b % 3 == 0:
            assert self.__dict__


def _removed(a: Any, b: Any, c: Any) -> dict[str, Any]:
    row = {"gone": 1, "a": a, "b": b, "c": c}
    del row["gone"]
    return row


def _in_any_order(a: Any, b: Any, c: Any) -> dict[str, Any]:
    items = [("a", a), ("b", b), ("c", c), *((f"x{i}", i) for i in range(hash(str(b)) % 12))]
    random.Random(str(b)).shuffle(items)
    return dict(items)


BY_KEY = {
    "dicts": lambda a, b, c: {"a": a, "b": b, "c": c},
    "many keys": lambda a, b, c: {**{f"x{i}": i for i in range(300)}, "a": a, "b": b, "c": c},
    "keys of many kinds": lambda a, b, c: {1: "a", "a": a, "b": b, (2, 3): 4, "c": c},
    "dicts of an object": lambda a, b, c: Data(a, b, c).__dict__,
    "something removed": _removed,
    "any order": _in_any_order,
}
BY_PLACE: dict[str, Any] = {"tuples": lambda a, b, c: (a, b, c), "lists": lambda a, b, c: [a, b, c]}
BY_NAME = {"named tuples": Named, "data": Data, "slots": Slotted, "mixed": Mixed, "many names": Many, "grown": Grown}
KINDS = {
    **{kind: (make, [("item", "a"), ("item", "b"), ("item", "c")]) for kind, make in BY_KEY.items()},
    **{kind: (make, [("item", 0), ("item", -2), ("item of 3", 2)]) for kind, make in BY_PLACE.items()},
    **{kind: (make, [("attr", "a"), ("attr", "b"), ("attr", "c")]) for kind, make in BY_NAME.items()},
}  # fmt: skip


def read(records: Any, fields: Any) -> list[Any]:
    return [
        [(operator.itemgetter if how.startswith("item") else operator.attrgetter)(name)(one) for one in records]
        for how, name in fields
    ]


def same(column: Any, expected: list[Any]) -> bool:
    made = list(column)
    return all(type(x) is type(y) and (x == y or x != x) for x, y in zip(made, expected, strict=True))


def test_it_works_here() -> None:
    assert is_ready() or sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [FEW, N])
def test_fields_are_what_reading_each_gives(kind: str, n: int) -> None:
    make, fields = KINDS[kind]
    rng = random.Random(n)
    values = [
        (rng.choice([rng.gauss(0, 1), -0.0, float("nan"), float("inf")]), rng.choice(EDGES), k % 3 == 0)
        for k in range(n)
    ]
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        records = [make(*(row[i] for i in order)) for row in values]
        for some in (records, tuple(records)):
            found = numbers_in(some, fields)
            if found is None:
                assert kind in ("keys of many kinds", "many names") or type(records[0]) is dict
                continue
            read_well = [(a, b) for a, b in zip(found, read(records, fields)) if a is not None]
            assert all(isinstance(column, Unboxed) and same(column, expected) for column, expected in read_well)
            assert len(read_well) == 3 or (kind == "mixed" and sys.version_info >= (3, 13))


def test_most_kinds_are_read() -> None:
    for kind, (make, fields) in KINDS.items():
        found = numbers_in([make(k * 0.5, k, True) for k in range(N)], fields)
        assert (found is not None) == (kind not in ("keys of many kinds", "many names")), kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "odd", [None, "1", 2**60, -(2**70), np.float64(1.0), 1.0 + 0j, [1.0], type("F", (float,), {})(1)]
)
def test_a_field_of_another_class_has_no_column(kind: str, odd: Any) -> None:
    make, fields = KINDS[kind]
    for at in (1, N - 1):
        records = [make(k * 0.5, k, True) for k in range(N)]
        records[at] = make(1.0, odd, False)
        found = numbers_in(records, fields)
        if found is not None:
            assert found[1] is None
            expected = read(records, fields)
            assert all(column is None or same(column, expected[j]) for j, column in enumerate(found))


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_numpy(kind: str) -> None:
    make, fields = KINDS[kind]
    records = [make(np.float64(k / 3), np.int64(k), np.float32(k)) for k in range(N)]
    found = numbers_in(records, fields)
    if found is not None:
        assert found[2] is None and {column.dtype.name for column in found[:2] if column is not None} <= {
            "float64",
            "int64",
        }
        assert all(column is None or same(column, one) for column, one in zip(found, read(records, fields)))


@pytest.mark.parametrize("odd", [(1.0,), (1.0, 2, 3, 4), [1.0, 2, 3], {"a": 1.0}, None, 7, (), Named(1.0, 2, 3)])
def test_records_that_are_not_alike_have_no_columns(odd: Any) -> None:
    for records in ([(1.0, 2, 3)] * N, [Data(1.0, 2)] * N, [{"b": 1.0, "a": 2}] * N):
        if type(odd) is not type(records[0]):
            some = [*records[:-1], odd]
            assert numbers_in(some, [("item", 0)]) is numbers_in(some, [("attr", "a")]) is None
    assert numbers_in([*[(1.0, 2, 3)] * N, (1.0,)], [("item", 0)]) is None
    assert numbers_in([*[[1.0, 2, 3]] * N, []], [("item", 0)]) is None


def test_what_is_missing_has_no_column() -> None:
    late = [Data(k * 1.0, k) for k in range(N)]
    del late[7].b
    found = numbers_in(late, [("attr", "a"), ("attr", "b")])
    assert found is not None and found[1] is None and same(found[0], [k * 1.0 for k in range(N)])
    dicts = [{"a": 1.0, "b": 2} for _ in range(N)]
    del dicts[9]["b"]
    found = numbers_in(dicts, [("item", "a"), ("item", "b")])
    assert found is not None and found[1] is None
    assert numbers_in(dicts, [("item", "c")]) is None
    slots = [Slotted(k * 1.0, k, k) for k in range(N)]
    del slots[-1].a
    found = numbers_in(slots, [("attr", "a"), ("attr", "b")])
    assert found is not None and found[0] is None


def test_nothing_of_the_users_is_run() -> None:
    class Watched(dict):  # type: ignore[type-arg]
        def __getitem__(self, key: Any) -> Any:
            raise AssertionError

        def __getattr__(self, key: Any) -> Any:
            raise AssertionError

    class Key(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            raise AssertionError

    assert numbers_in([Watched(a=1.0)] * N, [("item", "a")]) is None
    assert numbers_in([{"b": 1.0}, *[{Key("b"): 1.0} for _ in range(N)]], [("item", "b")]) is None

    class Property:
        def __init__(self) -> None:
            self.__dict__["a"] = 1.0

        @property
        def a(self) -> float:
            raise AssertionError

    assert numbers_in([Property()] * N, [("attr", "a")]) is None
    assert numbers_in([1j] * N, [("attr", "real")]) is None  # a member of C that is no object


def test_nothing_is_lost_or_kept() -> None:
    records = [{"a": k + 0.25, "b": k} for k in range(N)]
    before = [(sys.getrefcount(one), sys.getrefcount(one["a"])) for one in records]
    for _ in range(20):
        assert numbers_in(records, [("item", "a"), ("item", "b")]) is not None
    assert [(sys.getrefcount(one), sys.getrefcount(one["a"])) for one in records] == before


def test_keys_that_are_equal_and_not_the_same() -> None:
    text = json.dumps([{"first": k * 0.5, "second": k} for k in range(N)])
    records = json.loads(text) + [json.loads(json.dumps({"first": k / 7, "second": k})) for k in range(N)]
    fields = [("item", "second"), ("item", "first")]
    found = numbers_in(records, fields)
    assert found is not None and all(map(same, found, read(records, fields)))
    check(lambda row: row["first"] * row["second"] if row["second"] > 9 else -row["first"], records)


@pytest.mark.parametrize("kind", KINDS)
def test_maps_over_them(kind: str) -> None:
    make, fields = KINDS[kind]
    records = [make(k * 0.5, k, k / 3) for k in range(N)]
    if fields[0][0] == "attr":
        f: Any = lambda r: r.a * r.b if r.a > 9 else r.c - r.b
    elif fields[0][1] == "a":
        f = lambda r: r["a"] * r["b"] if r["a"] > 9 else r["c"] - r["b"]
    else:
        f = lambda r: r[0] * r[1] if r[0] > 9 else r[2] - r[1]
    check(f, records)
    odd = [*records, make(1.0, None, 2.0), *records]
    check(lambda r: 0.0 if r is None else 1.0, odd)
    expected = [f(r) for r in records]
    for _ in range(8):
        assert up.map(f, records).tolist() == expected
