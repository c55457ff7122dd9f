"""For tests of whole functions: tables of them, compiled at the second call of a kind, and what was compiled."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest

from upshift.adaptive import pace, specialization, state


def compile_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function is compiled at the second call of a kind, whatever it costs, and looked at all the time."""
    monkeypatch.setattr(specialization, "RENTED", -1.0)
    monkeypatch.setattr(specialization, "SMALLEST", -1.0)
    monkeypatch.setattr(specialization, "FASTER", math.inf)
    monkeypatch.setattr(specialization, "CHECKS", 1)
    monkeypatch.setattr(specialization.Specialization, "price", lambda self: 0.0)
    monkeypatch.setattr(pace, "FIRST_PAUSES", (0,))
    monkeypatch.setattr(pace, "LONGEST_PAUSE", 2)
    monkeypatch.setattr(pace, "FAST_PAUSE", 2)


def kinds_compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The kinds that are compiled from here on."""
    made: list[Any] = []
    prepare = state.prepare_call

    def counted(gear: str, f: Any, kind: Any, *more: Any) -> Any:
        made.append(kind)
        return prepare(gear, f, kind, *more)

    monkeypatch.setattr(state, "prepare_call", counted)
    return made


def compile_wrongly(monkeypatch: pytest.MonkeyPatch, off: list[float]) -> None:
    """What is compiled gives results that are off by the number in the list."""
    prepare = state.prepare_call

    def wrong(*given: Any) -> Any:
        made = prepare(*given)
        return dataclasses.replace(made, run=lambda *args: made.run(*args) + off[0])

    monkeypatch.setattr(state, "prepare_call", wrong)


@dataclasses.dataclass(frozen=True)
class Row:
    """A function, the arguments of its i-th call, and whether it is to be compiled."""

    f: Callable[..., Any]
    make: Callable[[int], tuple[Any, ...]]
    shifts: bool = True


def into(rows: list[Row]) -> Callable[..., Callable[[Any], Any]]:
    """A decorator that puts functions into a table."""

    def row(make: Callable[[int], tuple[Any, ...]], shifts: bool = True) -> Callable[[Any], Any]:
        def add(f: Any) -> Any:
            rows.append(Row(f, make, shifts))
            return f

        return add

    return row


def outcome(f: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """What a call gives, and what it raises."""
    try:
        return f(*args), None
    except Exception as error:
        return None, error
