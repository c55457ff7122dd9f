"""Sums up seconds by phase out of nested spans, each second counted once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .places import PHASES
from .probes import Seen


def _own_seconds(seen: Iterable[Seen]) -> list[tuple[Seen, float]]:
    """Every span with its own seconds: those that no span inside it, on the same thread, has."""
    made: list[tuple[Seen, float]] = []
    stacks: dict[int, list[tuple[Seen, list[float]]]] = {}
    for span in sorted(seen, key=lambda one: (one.began, -one.ended)):
        stack = stacks.setdefault(span.thread, [])
        while stack and stack[-1][0].ended < span.ended:
            _close(stack, made)
        if stack:
            stack[-1][1][0] -= span.ended - span.began
        stack.append((span, [span.ended - span.began]))
    for stack in stacks.values():
        while stack:
            _close(stack, made)
    return made


def _close(stack: list[tuple[Seen, list[float]]], made: list[tuple[Seen, float]]) -> None:
    span, (own,) = stack.pop()
    made.append((span, max(own, 0.0)))


def by_phase(seen: Iterable[Seen], phases: Sequence[str] = PHASES) -> dict[str, float]:
    """Seconds of every phase that took any, in the order of the phases."""
    totals = dict.fromkeys(phases, 0.0)
    for span, own in _own_seconds(seen):
        if span.place.phase in totals:
            totals[span.place.phase] += own
    return {phase: seconds for phase, seconds in totals.items() if seconds > 0}
