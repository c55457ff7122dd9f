"""Results of every class, alone and mixed, stacked by the package as the law of stacking says."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import stacking
from law import Rule, compare
from upshift.columns.stacking import stack


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


class Colour(enum.IntEnum):
    RED = 1


def agree(results: list[Any]) -> None:
    difference = compare(stacking.stack(list(results)), stack(results), Rule(exact=True))
    assert difference is None, f"{results}: {difference}"


NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.sampled_from([2**63, -(2**63), 2**53 + 1, True, False, 1.5, -0.0, float("nan"), 2j]),
    st.sampled_from([np.float64(1.5), np.float32(2.5), np.int8(3), np.uint64(2**64 - 1), np.bool_(True), np.int64(7)]),
)
LEAVES = st.one_of(NUMBERS, st.sampled_from([None, "a", b"b", Colour.RED, np.datetime64("2020-01-01"), np.str_("s")]))
ARRAYS = st.sampled_from(
    [np.arange(3), np.arange(3.0), np.zeros((2, 2)), np.array(4), np.array(["a", "b"]), np.zeros(0)]
)


def containers(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(items, max_size=3),
        st.tuples(items, items),
        st.lists(items, max_size=3).map(tuple),
        st.fixed_dictionaries({"k": items, "l": items}),
        st.dictionaries(st.sampled_from("kl"), items),
        st.builds(Pair, items, items),
        st.builds(Point, items, items),
    )


VALUES = st.recursive(st.one_of(LEAVES, ARRAYS), containers, max_leaves=5)
ALIKE = st.one_of(
    st.lists(VALUES, min_size=1, max_size=6),
    st.lists(NUMBERS, min_size=1, max_size=6),
    st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=5),
    st.lists(st.lists(LEAVES, min_size=1, max_size=2), min_size=1, max_size=5),
    st.lists(st.lists(st.lists(NUMBERS, min_size=1, max_size=2), min_size=2, max_size=2), min_size=1, max_size=4),
    st.lists(st.tuples(NUMBERS, st.lists(NUMBERS, max_size=2)), min_size=1, max_size=5),
    st.lists(ARRAYS, min_size=1, max_size=4),
    st.lists(st.lists(ARRAYS, min_size=1, max_size=2), min_size=1, max_size=4),
)


@settings(max_examples=600, deadline=None)
@given(ALIKE)
@example([[[0, 0], [2**63, True]]])
def test_any_results(results: list[Any]) -> None:
    agree(results)


@pytest.mark.parametrize("n", [1, 64, 65, 300])
@pytest.mark.parametrize(
    "make",
    [
        lambda i: [i, i + 1],
        lambda i: [i, 0.5],
        lambda i: [[i, 1], [2, 3]],
        lambda i: [1] * (i % 3),
        lambda i: [],
        lambda i: ["a", "b"],
        lambda i: [None],
        lambda i: (i, "a"),
        lambda i: (i,) * (i % 2 + 1),
        lambda i: (),
        lambda i: {"a": i, "b": None},
        lambda i: {"a": i} if i % 2 else {"b": i},
        lambda i: {"b": 1, "a": i} if i % 2 else {"a": i, "b": 2.0},
        lambda i: Pair(i, [i]),
        lambda i: Point(i, "y"),
        lambda i: None if i % 2 else i,
        lambda i: "text",
        lambda i: [i, None] if i % 2 else [1, 2],
        lambda i: np.full(3, i),
        lambda i: np.zeros(i % 2),
        lambda i: np.zeros(2) if i % 2 else "none",
        lambda i: [np.zeros(2), np.ones(2)],
        lambda i: Colour.RED,
        lambda i: [2**63, i],
        lambda i: [2**63, 0.5],
        lambda i: [True, i],
    ],
)
def test_results_of_one_form(make: Any, n: int) -> None:
    agree([make(i) for i in range(n)])


def test_a_list_of_results_is_not_the_one_that_was_given() -> None:
    results = ["a", None]
    assert stack(results) == results and stack(results) is not results


IMAGE = np.arange(16 * 16 * 3).reshape(16, 16, 3).astype(np.uint8)
MIRRORED = [
    IMAGE, IMAGE[:, ::-1], IMAGE[::-1], IMAGE[..., ::-1], np.broadcast_to(IMAGE[..., :1], IMAGE.shape),
    IMAGE.astype(np.float32)[:, ::-1], np.swapaxes(IMAGE, 0, 1), np.zeros((16, 16, 0)),
]  # fmt: skip


@pytest.mark.parametrize("first", range(len(MIRRORED)))
def test_images_whose_colours_are_scattered(first: int) -> None:
    for other in MIRRORED:
        agree([MIRRORED[first], other, IMAGE])
        agree([MIRRORED[first]] * 3)
