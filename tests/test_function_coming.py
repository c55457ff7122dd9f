"""Whole functions whose machine code is made on another thread while they are called."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import upshift as up
from eagerly import compile_at_once
from law import Rule, compare
from upshift.adaptive import call_kinds
from upshift.adaptive.state import Life
from upshift.compiler import module
from upshift.gears import coming
from upshift.gears.llvm import whole


def turns(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * i
        x[i] = total
    return x * 2.0 + total


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Life]:
    """Machine code is made elsewhere; the lives of functions from here on."""
    compile_at_once(monkeypatch)
    monkeypatch.setattr(coming, "AT_ONCE", False)
    monkeypatch.setattr(module, "kept_code", lambda text, whole: None)
    lives: list[Life] = []
    made = Life.__init__

    def noted(self: Life, *given: Any) -> None:
        lives.append(self)
        made(self, *given)

    monkeypatch.setattr(Life, "__init__", noted)
    return lives


def calls(fast: Any, n: int) -> None:
    for _ in range(n):
        x, y = np.arange(6.0), np.arange(6.0)
        difference = compare((turns(x), x), (fast(y), y), Rule(exact=True))
        assert difference is None, difference


def the_lot(lives: list[Life]) -> call_kinds.Lot:
    return next(iter(lives[0].lots.values()))


def until_it_comes(fast: Any, lives: list[Life]) -> call_kinds.Lot:
    for _ in range(100):
        calls(fast, 1)
        if lives[0].lots and the_lot(lives).coming is not None:
            break
    lot = the_lot(lives)
    assert lot.coming is not None
    return lot


def test_calls_go_on_until_machine_code_comes(begun: list[Life]) -> None:
    fast = up.function(turns)
    lot = until_it_comes(fast, begun)
    assert lot.coming is not None
    lot.coming.future.result(60)
    calls(fast, 20)
    assert lot.coming is None and lot.trusted and lot in begun[0].fast


def test_better_code_follows(begun: list[Life], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_kinds, "BETTER", -1.0)
    fast = up.function(turns)
    lot = until_it_comes(fast, begun)
    assert lot.coming is not None
    lot.coming.future.result(60)
    for _ in range(100):
        calls(fast, 1)
        if lot.improved:
            break
    first, better = lot.call, lot.coming
    assert first is not None and first.better is not None and better is not None
    better.future.result(60)
    calls(fast, 20)
    assert lot.call is better.future.result() and lot.call.better is None
    assert lot.trusted and lot in begun[0].fast


def test_what_fails_on_the_other_thread_is_a_refusal(begun: list[Life], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, best: bool = False) -> Any:
        raise RuntimeError("LLVM does not take this")

    monkeypatch.setattr(whole.Begun, "call", fails)
    fast = up.function(turns)
    lot = until_it_comes(fast, begun)
    assert lot.coming is not None
    assert isinstance(lot.coming.future.exception(60), RuntimeError)
    calls(fast, 5)
    assert lot.refusal is not None and "the compiler failed" in lot.refusal.reason


def test_better_code_that_is_wrong_is_never_used(begun: list[Life], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_kinds, "BETTER", -1.0)
    right = whole.Begun.call

    def wrong(self: Any, best: bool = False) -> Any:
        made = right(self, best)
        return dataclasses.replace(made, run=lambda *args: made.run(*args) + 1.0) if best else made

    monkeypatch.setattr(whole.Begun, "call", wrong)
    fast = up.function(turns)
    lot = until_it_comes(fast, begun)
    for _ in range(100):
        if lot.coming is not None:
            lot.coming.future.result(60)
        calls(fast, 1)
        if lot.refusal is not None:
            break
    assert lot.refusal is not None and "not the plain function's" in lot.refusal.reason
