"""For tests of whole functions: compiled at the second call of a kind, and what was compiled."""

from __future__ import annotations

import math
from typing import Any

import pytest

from upshift.function import life, lots, pace


def compile_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function is compiled at the second call of a kind, whatever it costs, and looked at all the time."""
    monkeypatch.setattr(lots, "AT_STAKE", -1.0)
    monkeypatch.setattr(lots, "SMALLEST", -1.0)
    monkeypatch.setattr(lots, "FASTER", math.inf)
    monkeypatch.setattr(lots, "CHECKS", 1)
    monkeypatch.setattr(lots.Lot, "price", lambda self: 0.0)
    monkeypatch.setattr(pace, "FIRST_PAUSES", (0,))
    monkeypatch.setattr(pace, "LONGEST_PAUSE", 2)
    monkeypatch.setattr(pace, "FAST_PAUSE", 2)


def kinds_compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The kinds that are compiled from here on."""
    made: list[Any] = []
    prepare = life.prepare_call

    def counted(gear: str, f: Any, kind: Any, *more: Any) -> Any:
        made.append(kind)
        return prepare(gear, f, kind, *more)

    monkeypatch.setattr(life, "prepare_call", counted)
    return made
