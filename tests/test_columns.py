"""Columns of every form are read, and results of every form are stacked."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import upshift as up
from law import GEARS, Rule, check, compare
from stacking import Fresh, stack

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
each_gear = pytest.mark.parametrize("gear", GEARS)
Point = namedtuple("Point", "x y")


class Range(NamedTuple):
    low: float
    high: float


@dataclass
class Shape:
    width: object
    height: object


@dataclass(frozen=True)
class Scene:
    name: object
    shape: object


def double(x):
    return x * 2


def same(expected, actual):
    assert compare(expected, actual) is None, compare(expected, actual)


def run(f, *xs, gear, **shared):
    """The result in a gear; where the numpy gear refuses, the loop's, so that the rest is still looked at."""
    try:
        return up.map(f, *xs, gear=gear, **shared)
    except up.GearRefused:
        assert gear == "numpy"
        return up.map(f, *xs, gear="loop", **shared)


# -- in -----------------------------------------------------------------------------------------------------
GRID = np.arange(24.0).reshape(6, 4)
ARRAYS = {
    "one axis": np.arange(5.0),
    "two axes": GRID,
    "three axes": np.arange(24.0).reshape(4, 3, 2),
    "fortran order": np.asfortranarray(GRID),
    "transposed": GRID.T,
    "negative strides": GRID[::-1, ::-2],
    "one column": GRID[:, 1],
    "broadcast": np.broadcast_to(np.float64(3), (5,)),
    "no elements": np.empty(0),
    "no elements of three": np.empty((0, 3)),
    "elements of nothing": np.empty((3, 0)),
    "ints": np.arange(-3, 4),
    "bools": np.array([True, False, True]),
    "bytes": np.array([250, 3], dtype=np.uint8),
    "complex": np.array([1j, 2.0]),
    "float16": np.array([1.5, 2.5], dtype=np.float16),
    "objects": np.array([1, 2.5, "a"], dtype=object),
    "words": np.array(["a", "bc"]),
    "days": np.array(["2024-01-01", "2024-03-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    check(lambda x: x, ARRAYS[name])


@pytest.mark.parametrize("name", [name for name in ARRAYS if name not in ("days", "words", "objects")])
def test_arrays_that_are_doubled(name):
    check(double, ARRAYS[name])


def test_read_only_array():
    xs = np.arange(5.0)
    xs.flags.writeable = False
    check(double, xs, must_batch=True)


@each_gear
def test_result_is_writeable_and_new(gear):
    xs = np.arange(5.0)
    ys = up.map(lambda x: x, xs, gear=gear)
    ys[0] = 99.0
    assert xs[0] == 0.0


@pytest.mark.parametrize(
    "column",
    [
        [1.0, 2.0],
        [1, 2],
        [True, False],
        [1, 2.5, True],
        (1.0, 2.0),
        range(7),
        range(5, -5, -3),
        range(0),
        [],
        (),
        [2**70, 1],
        [None, 1.0],
        ["a", "b"],
        [[1, 2], [3]],
        [np.float32(1), np.float32(2)],
        [np.arange(3), np.arange(3)],
        [np.arange(3), np.arange(2)],
        [(1, 2), (3, 4)],
        [{"a": 1}, {"a": 2}],
        b"bytes",
        "text",
        bytearray(b"ab"),
        {3},
    ],
    ids=lambda column: f"{type(column).__name__}-{str(column)[:24]}",
)
def test_sequences(column):
    check(lambda x: x, column)


@pytest.mark.parametrize(
    "make",
    [
        lambda: (k * 0.5 for k in range(60)),
        lambda: iter([1, 2, 3]),
        lambda: map(float, range(5)),
        lambda: (k for k in ()),
        lambda: zip([1, 2], [3.0, 4.0]),
        lambda: {"a": 1, "b": 2}.values(),
    ],
)
def test_iterators(make):
    f = (lambda x: x[0] + x[1]) if isinstance(make(), zip) else double
    check(f, Fresh(make))


@each_gear
def test_iterators_are_consumed_once(gear):
    drawn = []

    def draw():
        for k in range(50):
            drawn.append(k)
            yield float(k)

    source = draw()
    ys = up.map(double, source, gear=gear)
    same(np.arange(50.0) * 2, ys)
    assert drawn == list(range(50))
    assert list(source) == []


@each_gear
def test_an_error_of_the_iterator_is_the_users(gear):
    def draw():
        yield 1.0
        raise KeyError("source")

    with pytest.raises(KeyError, match="source"):
        up.map(double, draw(), gear=gear)


def test_structured_arrays():
    xs = np.array([(1, 2.5), (3, -4.5)], dtype=[("a", "i4"), ("b", "f8")])
    check(lambda e: e["a"] * e["b"], xs)
    check(lambda e: e[0], xs)
    check(lambda e: (e["a"], e["b"] > 0), np.resize(xs, 60))
    check(lambda e: e["a"], xs[:0])


RECORDS = {
    "dict": ({"a": np.arange(60.0), "b": list(range(60))}, lambda e: e["a"] * e["b"]),
    "named tuple": (Point(np.arange(60.0), list(range(60))), lambda e: e.x - e.y + len(e)),
    "typed named tuple": (Range([1.0, 2.0], [3.0, 4.0]), lambda e: e.high - e[0]),
    "dataclass": (Shape(np.arange(60), [0.5] * 60), lambda e: e.width * e.height),
    "nested": (
        {"p": Point([1.0, 2.0, 3.0], (4, 5, 6)), "s": Shape(range(3), {"deep": np.arange(3.0)})},
        lambda e: e["p"].x + e["p"].y * e["s"].width + e["s"].height["deep"],
    ),
    "frozen dataclass": (
        Scene(["a", "b"], Shape([1, 2], [3.0, 4.0])),
        lambda e: e.shape.width * e.shape.height,
    ),
    "dict of grids": ({"m": GRID, "k": range(6)}, lambda e: e["m"][0] * e["k"]),
    "tuple of arrays": ((np.arange(60.0), np.arange(60)), lambda e: e[0] * e[1] + len(e)),
    "tuple of one array": ((np.arange(60.0),), lambda e: e[0] * 2),
    "tuple of grids": ((GRID, np.arange(6.0)), lambda e: e[0][0] * e[1]),
    "tuple of arrays in a dict": ({"t": (GRID, np.arange(6.0)), "k": range(6)}, lambda e: e["t"][0].sum() + e["k"]),
    "empty": ({"a": [], "b": np.empty(0)}, lambda e: e["a"]),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records(name):
    column, f = RECORDS[name]
    check(f, column)


@pytest.mark.parametrize("name", [name for name in RECORDS if name != "empty"])
def test_elements_of_records_are_records(name):
    column, _ = RECORDS[name]
    check(lambda e: type(e).__name__, column)


@pytest.mark.parametrize("name", [name for name in RECORDS if name not in ("empty", "dict of grids")])
def test_records_come_back_as_columns(name):
    column, _ = RECORDS[name]
    check(lambda e: e, column)


def test_a_tuple_of_anything_else_is_a_sequence():
    check(lambda x: x * 2, (1.0, 2.0))
    check(lambda x: x + 1, (np.float64(1.0), np.float64(2.0)))
    check(sum, ([1, 2], [3, 4]))
    check(len, ([1, 2], np.arange(3)))
    check(np.ndim, (np.array(1.0), np.array(2.0)))
    check(lambda x: x.sum(), [np.ones(3), np.ones(2)])


@pytest.mark.parametrize("n", [3, 3000])
def test_a_tuple_of_arrays_in_all_that_can_be_done_with_columns(n):
    a, b = np.arange(float(n)), np.arange(float(n)) * 2

    def f(pair, k=1.0):
        return pair[0] * pair[1] * k

    for _ in range(6):
        same(a * b, up.map(f, (a, b)))
        same(a * b * a, up.map(f, (a, b), a))
        same(a * b * 3.0, up.map(f, (a, b), k=3.0))
    same((a, b), up.map(lambda pair: pair, (a, b)))
    same(a * b, up.map(f, (a, b), memory="1MB"))
    same(a * b, up.map(f, (a, b), out=np.empty(n)))
    assert up.explain(f, (a, b)).n == n


def test_arrays_of_unequal_length_in_a_tuple():
    with pytest.raises(up.LengthError, match="3 and 2") as caught:
        up.map(lambda pair: pair, (np.ones(3), np.ones(2)))
    assert "pass a list" in caught.value.__notes__[0]


def test_a_record_and_a_column():
    check(lambda e, k: e["a"] + k, {"a": [1, 2, 3]}, np.array([0.5, 1.5, 2.5]), must_batch=True)


def test_several_columns():
    check(lambda a, b: a + b, [1, 2, 3], np.array([0.5, 1.5, 2.5]), must_batch=True)
    check(lambda a, b, c: (a, b * c), range(50), [0.5] * 50, tuple(range(50)), must_batch=True)
    check(lambda a, b: a * b, Fresh(lambda: (k for k in range(9))), Fresh(lambda: iter(range(9))))


def test_shared_keywords():
    check(lambda x, k: x * k, [1.0, 2.0], must_batch=True, k=3)
    check(lambda x, *, k=1, table=(): x * k + table[1], np.arange(60.0), must_batch=True, k=0.5, table=[1, 2])
    check(lambda x, **more: x + more["a"] + len(more), [1, 2], must_batch=True, a=1, b=2)
    check(lambda x, v: v[1] * x, [1.0, 2.0], v=np.arange(3.0))


@each_gear
def test_shared_keywords_may_change(gear):
    def f(x, k):
        return x + k

    for k in (1, 2, 2.5, True, -0.0, 2**70, 1j, 3):
        same(up.map(f, [1, 2, 3], gear="loop", k=k), run(f, [1, 2, 3], gear=gear, k=k))


@each_gear
@pytest.mark.parametrize("xs", [([1, 2, 3], [1, 2]), (np.arange(3), range(2)), ({"a": [1, 2, 3], "b": [1, 2]},)])
def test_unequal_lengths(gear, xs):
    with pytest.raises(up.LengthError, match=r"3.*2|2.*3") as caught:
        up.map(lambda *e: 1, *xs, gear=gear)
    assert isinstance(caught.value, ValueError)


@each_gear
def test_unequal_lengths_call_nothing(gear):
    called = []
    with pytest.raises(up.LengthError):
        up.map(lambda a, b: called.append(a), [1, 2], [1], gear=gear)
    assert called == []


@each_gear
@pytest.mark.parametrize("column", [3, 2.5, None, np.float64(3), np.array(3.0), double])
def test_what_is_no_column(gear, column):
    with pytest.raises(TypeError):
        up.map(double, column, gear=gear)


# -- out ----------------------------------------------------------------------------------------------------
def answers(*results):
    """A function that gives these results, element by element, and the indices to map it over."""
    return (lambda k: results[k]), list(range(len(results)))


OUT = {
    "ints": ((1, 2), np.array([1, 2])),
    "bools": ((True, False), np.array([True, False])),
    "ints and floats": ((1, 2.5), np.array([1.0, 2.5])),
    "bools and ints": ((True, 2), np.array([1, 2])),
    "complex": ((1, 2j), np.array([1, 2j])),
    "float32": ((np.float32(1), np.float32(2)), np.array([1, 2], dtype=np.float32)),
    "float32 and float": ((np.float32(1), 2.5), np.array([1, 2.5])),
    "float32 and int": ((np.float32(1), 2), np.array([1.0, 2.0])),
    "int8 and uint8": ((np.int8(1), np.uint8(2)), np.array([1, 2], dtype=np.int16)),
    "int64 and uint64": ((np.int64(1), np.uint64(2)), np.array([1.0, 2.0])),
    "wide ints": ((1, 2**70), np.array([1, 2**70], dtype=object)),
    "wide ints and bools": ((True, -(2**70)), np.array([True, -(2**70)], dtype=object)),
    "just wide": ((2**63, 1), np.array([2**63, 1], dtype=object)),
    "just not wide": ((2**63 - 1, -(2**63)), np.array([2**63 - 1, -(2**63)])),
    "wide ints and floats": ((2**70, 0.5), np.array([2**70, 0.5], dtype=object)),
    "datetimes": (
        (np.datetime64("2024-01-01"), np.datetime64("2024-01-02T03")),
        np.array(["2024-01-01T00", "2024-01-02T03"], dtype="datetime64[h]"),
    ),
    "timedeltas": (
        (np.timedelta64(1, "D"), np.timedelta64(2, "D")),
        np.array([1, 2], dtype="timedelta64[D]"),
    ),
    "datetime and int": ((np.datetime64("2024-01-01"), 1), [np.datetime64("2024-01-01"), 1]),
    "tuples": (((1, 2.5), (3, 4)), (np.array([1, 3]), np.array([2.5, 4.0]))),
    "tuples of other lengths": (((1,), (1, 2)), [(1,), (1, 2)]),
    "tuple or number": (((1,), 2), [(1,), 2]),
    "nested tuples": (
        ((1, (2, 3.0)), (4, (5, 6.0))),
        (np.array([1, 4]), (np.array([2, 5]), np.array([3.0, 6.0]))),
    ),
    "tuples with text": (((1, "a"), (2, "b")), (np.array([1, 2]), ["a", "b"])),
    "named tuples": ((Point(1, 2.0), Point(3, 4.0)), Point(np.array([1, 3]), np.array([2.0, 4.0]))),
    "two kinds of tuple": ((Point(1, 2), (3, 4)), [Point(1, 2), (3, 4)]),
    "two named tuples": ((Point(1, 2), Range(3, 4)), [Point(1, 2), Range(3, 4)]),
    "dicts": (
        ({"a": 1, "b": True}, {"a": 2.5, "b": False}),
        {"a": np.array([1, 2.5]), "b": np.array([True, False])},
    ),
    "dicts of other keys": (({"a": 1}, {"b": 1}), [{"a": 1}, {"b": 1}]),
    "dicts with more keys": (({"a": 1}, {"a": 1, "b": 1}), [{"a": 1}, {"a": 1, "b": 1}]),
    "dicts with number keys": (({1: 1}, {1: 2}), {1: np.array([1, 2])}),
    "dataclasses": ((Shape(1, 2.0), Shape(3, 4.0)), Shape(np.array([1, 3]), np.array([2.0, 4.0]))),
    "frozen dataclasses": (
        (Scene("a", Shape(1, 2)), Scene("b", Shape(3, 4))),
        Scene(["a", "b"], Shape(np.array([1, 3]), np.array([2, 4]))),
    ),
    "two dataclasses": ((Shape(1, 2), Scene(1, 2)), [Shape(1, 2), Scene(1, 2)]),
    "lists": (([1, 2], [3, 4]), np.array([[1, 2], [3, 4]])),
    "lists of ints and floats": (([1, 2.5], [3, 4]), np.array([[1, 2.5], [3, 4]])),
    "lists of lists": (([[1, 2], [3, 4]], [[5, 6], [7, 8]]), np.arange(1, 9).reshape(2, 2, 2)),
    "lists of arrays": (([np.zeros(3)], [np.ones(3)]), np.array([[[0.0] * 3], [[1.0] * 3]])),
    "lists of other shapes": (([[1, 2], 3], [[5, 6], 7]), [[[1, 2], 3], [[5, 6], 7]]),
    "lists of other lengths": (([1], [1, 2]), [[1], [1, 2]]),
    "lists of nothing": (([], []), np.empty((2, 0))),
    "lists of text": ((["a"], ["b"]), [["a"], ["b"]]),
    "lists of None": (([None, 1], [2, 3]), [[None, 1], [2, 3]]),
    "lists of tuples": (([(1, 2)], [(3, 4)]), [[(1, 2)], [(3, 4)]]),
    "arrays": ((np.zeros(2), np.ones(2)), np.array([[0.0, 0.0], [1.0, 1.0]])),
    "arrays of two dtypes": ((np.zeros(2, int), np.ones(2)), np.array([[0.0, 0.0], [1.0, 1.0]])),
    "arrays of two axes": (
        (np.zeros((2, 3)), np.ones((2, 3))),
        np.stack([np.zeros((2, 3)), np.ones((2, 3))]),
    ),
    "arrays of no axis": ((np.array(1.0), np.array(2.0)), np.array([1.0, 2.0])),
    "arrays of two shapes": ((np.zeros(2), np.ones(3)), [np.zeros(2), np.ones(3)]),
    "arrays and numbers": ((np.zeros(2), 1.0), [np.zeros(2), 1.0]),
    "arrays and lists": ((np.zeros(2), [1.0, 2.0]), [np.zeros(2), [1.0, 2.0]]),
    "arrays of text": ((np.array(["a"]), np.array(["b"])), [np.array(["a"]), np.array(["b"])]),
    "None": ((None, None), [None, None]),
    "number or None": ((1, None), [1, None]),
    "text": (("a", "bc"), ["a", "bc"]),
    "bytes": ((b"a", b"bc"), [b"a", b"bc"]),
    "sets": (({1}, {2}), [{1}, {2}]),
    "types": ((int, float), [int, float]),
    "one of each": ((1, "a", None, (2,), [3]), [1, "a", None, (2,), [3]]),
    "one number": ((2.5,), np.array([2.5])),
    "one tuple": (((1, 2),), (np.array([1]), np.array([2]))),
    "one list": (([1, 2],), np.array([[1, 2]])),
    "NaN": ((float("nan"), 1.0), np.array([np.nan, 1.0])),
}


@pytest.mark.parametrize("name", OUT)
def test_results(name):
    results, expected = OUT[name]
    f, indices = answers(*results)
    same(expected, up.map(f, indices, gear="loop"))
    same(expected, up.map(f, indices))
    same(expected, run(f, indices, gear="numpy"))
    check(f, indices)


@pytest.mark.parametrize("name", [name for name in OUT if len(OUT[name][0]) > 1])
def test_results_of_many_elements(name):
    """The odd result comes late, when a gear may already believe in the first."""
    results, _ = OUT[name]
    first, last = results[0], results[-1]
    check(lambda k: last if k == 150 else first, range(180))
    check(lambda k: first if k < 90 else last, range(180))


# -- the empty batch ----------------------------------------------------------------------------------------
def gives_float(x) -> float: ...
def gives_int(x) -> int: ...
def gives_bool(x) -> bool: ...
def gives_complex(x) -> complex: ...
def gives_float32(x) -> np.float32: ...
def gives_text(x) -> str: ...
def gives_none(x) -> None: ...
def gives_object(x) -> object: ...
def gives_pair(x) -> tuple[int, float]: ...
def gives_anything(x): ...


EMPTY = {
    gives_float: np.empty(0),
    gives_int: np.empty(0, dtype=np.int64),
    gives_bool: np.empty(0, dtype=bool),
    gives_complex: np.empty(0, dtype=complex),
    gives_float32: np.empty(0, dtype=np.float32),
    gives_text: [],
    gives_none: [],
    gives_object: [],
    gives_pair: (np.empty(0, dtype=np.int64), np.empty(0)),
    gives_anything: np.empty(0),
}


@each_gear
@pytest.mark.parametrize("f", EMPTY, ids=lambda f: f.__name__)
def test_empty_batch(f, gear):
    same(EMPTY[f], up.map(f, [], gear=gear))
    same(EMPTY[f], up.map(f, np.empty((0, 3)), gear=gear))
    same(EMPTY[f], up.map(f, np.empty(0), gear=gear))


@each_gear
def test_empty_batch_calls_nothing(gear):
    called = []
    up.map(called.append, [], gear=gear)
    assert called == []


def test_empty_after_full_and_full_after_empty():
    for xs in ([1.0, 2.0], [], [3.0], [], range(100)):
        check(double, xs)


# -- kinds change between calls -----------------------------------------------------------------------------
def test_the_same_function_on_every_kind():
    """What was learnt for one kind of element is not used for another."""
    kinds = [
        [1.0, 2.0],
        [1, 2],
        np.array([1.0, 2.0]),
        np.array([1, 2]),
        np.array([1.5, 2.5], dtype=np.float32),
        [True, False],
        np.array([True, False]),
        [2**70, 1],
        [1, 2.5],
        ["a", "b"],
        [1j, 2j],
        np.array([200, 100], dtype=np.uint8),
        [[1, 2], [3, 4]],
        GRID,
        [1.0, 2.0],
    ]
    for xs in kinds + kinds[::-1]:
        check(double, xs)


def test_the_same_function_on_every_length():
    for count in (1, 100, 2, 1000, 0, 5000, 3):
        check(double, np.arange(float(count)), must_batch=True)


def test_unknown_gear_and_unknown_on_error():
    with pytest.raises((ValueError, up.UpshiftError), match="steam"):
        up.map(double, [1.0], gear="steam")
    with pytest.raises((ValueError, up.UpshiftError), match="shrug"):
        up.map(double, [1.0], on_error="shrug")


def test_no_column_at_all():
    with pytest.raises(TypeError):
        up.map(lambda: 1)


@pytest.mark.parametrize("f", [lambda x: float(x), lambda x: x, lambda x: +x, lambda x: (x * 2, x * 2)])
def test_results_are_nobody_elses(f):
    xs = np.arange(1000.0)
    for _ in range(6):
        made = up.map(f, xs)
        columns = made if isinstance(made, tuple) else (made,)
        assert not any(np.shares_memory(column, xs) for column in columns)
        assert len(columns) == 1 or not np.shares_memory(*columns)


# ---- elements of several classes


def measured(x):
    if x is None:
        return -1.0
    return len(x) if isinstance(x, (str, bytes)) else x * 2 + 1


def of_two(x, y):
    return measured(x) - measured(y)


CLASSES = {
    "none and floats": [None, 1.5, 2.5, None, -0.5],
    "strings": ["one", "", "three"],
    "strings and none": ["one", None, "three", None],
    "all sorts": [1, 2.5, None, "four", True, b"six", np.float32(7.5), np.int8(8), 1 + 9j],
    "beyond 64 bits": [1, 2**70, None, -(2**64), 3],
    "nearly all none": [None] * 40 + [1.0],
    "arrays among them": [1.0, np.arange(3.0), None, 2],
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("times", [1, 60])
def test_elements_of_several_classes(name: str, times: int) -> None:
    column = CLASSES[name] * times
    check(measured, column)
    check(measured, tuple(column))
    if name != "arrays among them":
        check(of_two, column, column[1:] + column[:1])
        check(of_two, np.arange(float(len(column))), column)


# ---- elements that hold no numbers, results that no column holds


@dataclass
class Hollow:
    pass


HOLLOW = {
    "lists, some of them empty": [[1.0], []],
    "empty lists": [[]],
    "empty tuples": [()],
    "empty dicts": [{}, {"a": 1}],
    "records of nothing": [Hollow(), Hollow()],
    "lists of empty lists": [[], [[]], [1.0, []]],
}


@pytest.mark.parametrize("name", HOLLOW)
def test_elements_that_hold_nothing(name):
    def size(x):
        return len(x) if hasattr(x, "__len__") else -1

    column = HOLLOW[name] * 1000
    for _ in range(6):
        same(np.array([size(x) for x in column]), up.map(size, column))
        same(np.array([size(x) + 1.5 for x in column]), up.map(lambda x, y: size(x) + y, column, [1.5] * len(column)))
    check(size, HOLLOW[name] * 10)
    assert up.explain(size, column).gear in ("loop", "numpy", "llvm")


WIDE = {
    "floats": lambda x: 2**70 if x > 4 else 1.5,
    "floats and a negative one": lambda x: -(2**63) - 1 if x > 4 else 1.5,
    "bools": lambda x: 2**70 if x > 4 else x > 2,
    "complex numbers": lambda x: 2**70 if x > 4 else 1j * x,
    "NumPy's floats": lambda x: 2**70 if x > 4 else np.float32(x),
    "NumPy's ints": lambda x: 2**70 if x > 4 else np.int64(3),
    "more than a float can be": lambda x: 2**1100 if x > 4 else x * 2,
    "within a tuple": lambda x: (2**70 if x > 4 else 1.5, x),
    "within a list": lambda x: [2**70 if x > 4 else 1.5, x],
}


@pytest.mark.parametrize("times", [1, 700])
@pytest.mark.parametrize("name", WIDE)
def test_an_int_beyond_64_bits_among_other_numbers(name, times):
    xs = [1.0, 5.0, 2.0] * times
    check(WIDE[name], xs)
    check(WIDE[name], np.array(xs))
    made = up.map(WIDE[name], xs)
    column = made[0] if isinstance(made, tuple) else made
    assert column.dtype == object


def test_what_numpy_makes_of_the_list_is_what_comes_back():
    results = [1.5, 2**70]
    made = up.map(lambda x: 2**70 if x > 4 else 1.5, [1.0, 5.0])
    assert made.dtype == np.array(results).dtype == object
    assert made.tolist() == results and list(map(type, made)) == [float, int]


# ---- pandas


def in_a_series(kind: str):
    import pandas as pd

    return {
        "floats": lambda: pd.Series(np.arange(400) * 0.5, index=range(7, 407)),
        "narrow floats": lambda: pd.Series(np.arange(400, dtype=np.float32)),
        "ints": lambda: pd.Series(range(400)),
        "nullable ints": lambda: pd.Series([1, 2, None, 4] * 100, dtype="Int64"),
        "strings": lambda: pd.Series(["a", "bb", None, ""] * 100),
        "categories": lambda: pd.Series(["a", "bb"] * 200, dtype="category"),
        "times": lambda: pd.Series(pd.date_range("2026-01-01", periods=400)),
        "an index": lambda: pd.Index(range(400)),
    }[kind]()


def described(x):
    return type(x).__name__


def doubled_if_a_number(x):
    return x * 2 if isinstance(x, (int, float)) else len(x) if isinstance(x, str) else repr(x)


KINDS = ("floats", "narrow floats", "ints", "nullable ints", "strings", "categories", "times", "an index")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", [described, doubled_if_a_number])
def test_a_series_has_the_elements_that_iterating_it_yields(kind: str, f) -> None:
    series = in_a_series(kind)
    for column in (series, series[:3]):
        got = up.map(f, column)
        assert [repr(x) for x in (got.tolist() if isinstance(got, np.ndarray) else got)] == [
            repr(x) for x in np.array([f(x) for x in column]).tolist()
        ]


# ---- ints of Python's beside narrow ones


def divided(x, y):
    try:
        return x / y + np.arctan2(x, y)
    except OverflowError:
        return -1.0


def added(x, y):
    try:
        return x + y
    except OverflowError:
        return -1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint16", "int64", "float32"])
@pytest.mark.parametrize("f", [divided, added])
def test_an_int_need_not_fit_where_ints_make_floats(dtype: str, f) -> None:
    check(f, np.array([5, 3, 7, 1, 2, 100, 9, 6], dtype), [-(2**62), 4, -2, 2**53 + 1, 1000, 3, 0, 2**62])


@pytest.mark.parametrize("gear", ["llvm", None])
def test_lists_of_arrays_and_of_several_kinds_by_machine_code(gear):
    """A list that is written item by item keeps the kinds of its items, and is stacked as the loop's list is."""
    xs = [float(i) for i in range(2000)]
    for f in (lambda x: [np.full(3, x)], lambda x: (x, [np.full(2, x)]), lambda x: [np.full(2, x), [1, x]]):
        for _ in range(3):
            assert compare(stack([f(x) for x in xs]), up.map(f, xs, gear=gear), Rule()) is None
