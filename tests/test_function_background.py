"""Whole functions whose machine code is made on another thread while they are called."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import upshift as up
from eagerly import compile_at_once
from law import Rule, compare
from upshift.adaptive import specialization
from upshift.adaptive.state import FunctionState
from upshift.compiler import module
from upshift.gears import background
from upshift.gears.llvm import whole


def turns(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * i
        x[i] = total
    return x * 2.0 + total


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[FunctionState]:
    """Machine code is made elsewhere; the states of functions from here on."""
    compile_at_once(monkeypatch)
    monkeypatch.setattr(background, "AT_ONCE", False)
    monkeypatch.setattr(module, "kept_code", lambda text, whole: None)
    states: list[FunctionState] = []
    made = FunctionState.__init__

    def noted(self: FunctionState, *given: Any) -> None:
        states.append(self)
        made(self, *given)

    monkeypatch.setattr(FunctionState, "__init__", noted)
    return states


def calls(fast: Any, n: int) -> None:
    for _ in range(n):
        x, y = np.arange(6.0), np.arange(6.0)
        difference = compare((turns(x), x), (fast(y), y), Rule(exact=True))
        assert difference is None, difference


def the_spec(states: list[FunctionState]) -> specialization.Specialization:
    return next(iter(states[0].specializations.values()))


def until_it_compiles(fast: Any, states: list[FunctionState]) -> specialization.Specialization:
    for _ in range(100):
        calls(fast, 1)
        if states[0].specializations and the_spec(states).compiling is not None:
            break
    spec = the_spec(states)
    assert spec.compiling is not None
    return spec


def test_calls_go_on_until_machine_code_comes(begun: list[FunctionState]) -> None:
    fast = up.function(turns)
    spec = until_it_compiles(fast, begun)
    assert spec.compiling is not None
    spec.compiling.future.result(60)
    calls(fast, 20)
    assert spec.compiling is None and spec.trusted and spec in begun[0].fast


def test_better_code_follows(begun: list[FunctionState], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specialization, "BETTER", -1.0)
    fast = up.function(turns)
    spec = until_it_compiles(fast, begun)
    assert spec.compiling is not None
    spec.compiling.future.result(60)
    for _ in range(100):
        calls(fast, 1)
        if spec.better_arm.ready:
            break
    first, better = spec.call, spec.compiling
    assert first is not None and first.better is not None and better is not None
    better.future.result(60)
    calls(fast, 20)
    assert spec.call is better.future.result() and spec.call.better is None
    assert spec.trusted and spec in begun[0].fast


def test_what_fails_on_the_other_thread_is_a_refusal(
    begun: list[FunctionState], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Any, best: bool = False) -> Any:
        raise RuntimeError("LLVM does not take this")

    monkeypatch.setattr(whole.Begun, "call", fails)
    fast = up.function(turns)
    spec = until_it_compiles(fast, begun)
    assert spec.compiling is not None
    assert isinstance(spec.compiling.future.exception(60), RuntimeError)
    calls(fast, 5)
    assert spec.refusal is not None and "the compiler failed" in spec.refusal.reason


def test_better_code_that_is_wrong_is_never_used(begun: list[FunctionState], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specialization, "BETTER", -1.0)
    right = whole.Begun.call

    def wrong(self: Any, best: bool = False) -> Any:
        made = right(self, best)
        return dataclasses.replace(made, run=lambda *args: made.run(*args) + 1.0) if best else made

    monkeypatch.setattr(whole.Begun, "call", wrong)
    fast = up.function(turns)
    spec = until_it_compiles(fast, begun)
    for _ in range(100):
        if spec.compiling is not None:
            spec.compiling.future.result(60)
        calls(fast, 1)
        if spec.refusal is not None:
            break
    assert spec.refusal is not None and "not the plain function's" in spec.refusal.reason
