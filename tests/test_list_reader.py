"""Numbers gathered from lists: what NumPy would make of them one by one, or nothing."""

from __future__ import annotations

import collections
import math
import random
import sys
import threading
from typing import Any

import numpy as np
import pytest

import upshift as up
from law import check
from upshift.columns import list_reader
from upshift.columns.list_reader import AT_ONCE, FEW, are_all, numbers_in

ODD_FLOATS = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.7976931348623157e308, 1 / 3]
EDGES = [0, 1, -1, *(s * (2**k + d) for k in (29, 30, 31, 32, 58, 59) for s in (1, -1) for d in (-1, 0, 1)), 2**60 - 1]


def test_it_works_here() -> None:
    assert list_reader._is_known() or sys.version_info[:2] not in list_reader._KNOWN


@pytest.mark.parametrize("n", [FEW, FEW + 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE + 17])
@pytest.mark.parametrize("make", [list, tuple])
def test_floats_have_their_bits(n: int, make: Any) -> None:
    rng = random.Random(n)
    numbers = [rng.choice(ODD_FLOATS) if rng.random() < 0.2 else rng.gauss(0, 1e10) for _ in range(n)]
    found = numbers_in(make(numbers))
    assert found is not None
    assert found.dtype == np.float64
    assert found.tobytes() == np.array(numbers).tobytes()


@pytest.mark.parametrize("n", [FEW, AT_ONCE + 1, 2 * AT_ONCE])
def test_ints_are_themselves(n: int) -> None:
    rng = random.Random(n)
    numbers = [rng.choice(EDGES) if rng.random() < 0.5 else rng.randrange(-(2**60) + 1, 2**60) for _ in range(n)]
    found = numbers_in(numbers)
    assert found is not None
    assert found.dtype == np.int64
    assert found.tolist() == numbers


@pytest.mark.parametrize(
    "odd", [1, True, None, "1", np.float64(1.0), 2**60, -(2**63), 2**100, [1.0], type("Own", (float,), {})(1.0)]
)
def test_others_are_for_the_ordinary_way(odd: Any) -> None:
    for place in (0, 3, AT_ONCE, AT_ONCE + FEW - 1):
        numbers: list[Any] = [float(i) for i in range(AT_ONCE + FEW)]
        numbers[place] = odd
        assert numbers_in(numbers) is None
    if type(odd) is not int or abs(odd) >= 2**60:
        ints: list[Any] = list(range(FEW))
        ints[7] = odd
        assert numbers_in(ints) is None


def test_few_are_not_worth_it() -> None:
    assert numbers_in([]) is None
    assert numbers_in([1.0] * (FEW - 1)) is None


@pytest.mark.parametrize(
    "numbers",
    [range(100), range(5, -200, -3), range(2**63 - 200, 2**63), range(-(2**63), 2**63, 2**57),
     range(2**63 - 50, 2**63 + 50), range(0)],
)  # fmt: skip
def test_ranges(numbers: range) -> None:
    check(lambda n: n // 3, numbers)


def test_lists_of_all_sorts_are_mapped_as_in_the_loop() -> None:
    floats = [math.sin(i) for i in range(500)]
    check(lambda x: x * 2 if x > 0 else -x, floats)
    check(lambda n: n * n - 1, [(-1) ** i * 3**i % 2**61 for i in range(300)])
    check(lambda n: n * 2, [2**62 + i for i in range(100)])
    check(lambda x: x + 1, [*floats, 1])
    check(lambda x: not x, [i % 3 == 0 for i in range(100)])


def test_a_list_that_changes_meanwhile() -> None:
    """Objects that another thread takes out of the list live on until they were read."""
    numbers = [float(i) for i in range(20_000)]
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            numbers[:] = [float(i) for i in range(20_000)]

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        want = np.arange(20_000.0)
        for _ in range(100):
            found = numbers_in(numbers)
            assert found is not None
            assert np.array_equal(found, want)
    finally:
        stop.set()
        thread.join()


def test_nothing_is_lost_or_kept() -> None:
    numbers = [float(i) + 0.5 for i in range(200)]
    before = [sys.getrefcount(x) for x in numbers]
    for _ in range(50):
        up.map(lambda x: x * 3.0, numbers, gear="numpy")
    assert [sys.getrefcount(x) for x in numbers] == before


@pytest.mark.parametrize("n", [3, FEW, AT_ONCE + 9])
def test_classes_of_all(n: int) -> None:
    rows: list[Any] = [{"a": i} for i in range(n)]
    assert are_all(rows, dict) and not are_all(rows, list)
    rows[-1] = collections.OrderedDict(a=1)
    assert not are_all(rows, dict)
