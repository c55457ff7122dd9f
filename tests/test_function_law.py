"""The law of `up.function`: decorated and plain agree in results, errors, warnings and changes to arguments."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import upshift as up
from eagerly import compile_at_once
from functions_table import ROWS, Call, Row
from law import Rule, compare, overheard
from upshift.adaptive import state

CALLS = 45
"""Random calls of every function."""
EXACT = Rule(exact=True)


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Machine code is compiled at the second call of a kind, and looked at all the time."""
    compile_at_once(monkeypatch)
    monkeypatch.setattr(state, "TOO_BRIEF", -1.0)
    yield


def outcome(f: Any, call: Call) -> tuple[Any, Any, list[str]]:
    """What a call gives, the exception it raises, and the warnings that it makes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = f(*call.args, **call.keywords), None
        except Exception as raised:
            result, error = None, raised
    return result, error, sorted({f"{w.category.__name__}: {w.message}" for w in caught})


def call_of(row: Row, seed: int) -> Call:
    made = row.make(np.random.default_rng(seed))
    return made if isinstance(made, Call) else Call(made)


def check(row: Row, decorated: Any, seed: int) -> None:
    """One call of the plain function and one of the decorated, on arguments of their own."""
    first, second = call_of(row, seed), call_of(row, seed)
    want, error, said = outcome(row.f, first)
    got, raised, heard = outcome(decorated, second)
    story = f"{row.f.__name__}, seed {seed}: {call_of(row, seed)}"
    assert type(raised) is type(error) and str(raised) == str(error), f"{story}: expected {error!r}, got {raised!r}"
    assert raised is None or raised.__context__ is None, f"{story}: {raised!r} came from {raised.__context__!r}"
    difference = compare(want, got, EXACT) or compare(first.args, second.args, EXACT, "arguments")
    assert difference is None, f"{story}: {difference}"
    assert heard == said, f"{story}: expected the warnings {said}, got {heard}"
    assert places(want, first.args) == places(got, second.args), f"{story}: not the argument that was returned"


def places(result: Any, args: tuple[Any, ...]) -> Any:
    """Which argument a result is."""
    if type(result) is tuple:
        return tuple(places(part, args) for part in result)
    return [i for i, arg in enumerate(args) if arg is result and isinstance(arg, (np.ndarray, list, dict))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.f.__name__)
def test_every_function_of_the_table(row: Row) -> None:
    decorated: Any = up.function(row.f)
    with overheard() as said:
        for seed in range(CALLS):
            check(row, decorated, seed)
    assert not said, f"only the comparison saved it: {said[0]}"
    if row.compiles:
        kinds = decorated.explain().kinds
        assert any(kind.gear == "llvm" or "machine code rests" in kind.why for kind in kinds), decorated.explain()


def test_the_table_is_large() -> None:
    assert len(ROWS) >= 80
    assert len(ROWS) * CALLS >= 3000


def test_threads_call_one_function() -> None:
    """Many threads, while the function becomes machine code."""

    @up.function
    def work(x: Any, n: int) -> Any:
        for i in range(n):
            x[i] = x[i] * 2.0 + i
        return x

    barrier = threading.Barrier(4)

    def run(seed: int) -> bool:
        barrier.wait()
        rng = np.random.default_rng(seed)
        for _ in range(300):
            x = rng.normal(0, 1, 8)
            want = x.copy()
            work.plain(want, 8)
            if work(x, 8) is not x or x.tobytes() != want.tobytes():
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))
    assert work.explain().gear == "llvm"
