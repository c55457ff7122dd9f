"""Makers of functions that touch the world: a gear must leave it, and the results, as the loop does.

A maker gives a function, its columns and `state()`, which tells what the function did to the world. It is called anew
for every run, so that runs do not meet.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import upshift as up
from law import Rule, compare, overheard
from stacking import stack

CALLS = 3
Made = tuple[Callable[..., Any], tuple[Any, ...], Callable[[], Any]]
Maker = Callable[[], Made]


@contextlib.contextmanager
def _collected_alone() -> Iterator[None]:
    """What was there before is no business of the collector's: to go over all of it takes a second, every time."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def by_the_loop(make: Maker) -> list[Any]:
    """Results and states of some calls, by a plain Python loop."""
    f, columns, state = make()
    seen = []
    for _ in range(CALLS):
        seen.append((_outcome(lambda: stack([f(*row) for row in zip(*columns)])), _settled(state)))
    return seen


@_collected_alone()
def agrees(make: Maker, capfd: Any) -> None:
    """`up.map` as it comes does what the loop does, and nothing is printed."""
    expected = by_the_loop(make)
    f, columns, state = make()
    capfd.readouterr()
    with overheard() as said:
        for number, (result, after) in enumerate(expected):
            actual = _outcome(lambda: up.map(f, *columns))
            assert _same(result, actual), f"call {number}: {_difference(result, actual)}"
            now = _settled(state)
            assert now == after, f"call {number} left {now!r:.200}, the loop leaves {after!r:.200}"
    assert not said, f"only the sample check saved it: {said[0]}"
    printed = capfd.readouterr()
    assert printed == ("", ""), printed


@_collected_alone()
def is_refused(make: Maker, capfd: Any) -> str:
    """The numpy gear refuses, before anything was done; the reason."""
    f, columns, state = make()
    before = _settled(make()[2])
    capfd.readouterr()
    try:
        up.map(f, *columns, gear="numpy")
    except up.GearRefused as refused:
        now = _settled(state)
        assert now == before, f"a refused gear left {now!r:.200} instead of {before!r:.200}"
        printed = capfd.readouterr()
        assert printed == ("", ""), printed
        return str(refused)
    raise AssertionError("it was batched")


@_collected_alone()
def is_batched(make: Maker) -> None:
    """The numpy gear does what the loop does."""
    expected = by_the_loop(make)
    f, columns, state = make()
    for number, (result, after) in enumerate(expected):
        actual = up.map(f, *columns, gear="numpy")
        assert _same(result, actual), f"call {number}: {_difference(result, actual)}"
        now = _settled(state)
        assert now == after, f"call {number} left {now!r:.200}, the loop leaves {after!r:.200}"


def _settled(state: Callable[[], Any]) -> Any:
    gc.collect()
    return state()


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return error


def _difference(expected: Any, actual: Any) -> Any:
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        same = type(expected).__name__ == type(actual).__name__ and str(expected) == str(actual)
        return None if same else f"expected {expected!r}, got {actual!r}"
    return compare(expected, actual, Rule())


def _same(expected: Any, actual: Any) -> bool:
    return _difference(expected, actual) is None
