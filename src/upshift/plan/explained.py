"""What is known of a function on some elements, in fields; shown as every report is (`views/report.py`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import Refusal
from ..views.report import Report

Points = list[tuple[int, float]]
"""Numbers of elements, and the seconds that they take."""
LARGEST = 10**8
"""Elements up to which it is told which gear is the fastest."""


@dataclass(slots=True)
class Cost:
    """What a gear costs: seconds by number of elements, and what it takes to make it ready."""

    seconds: float
    """For the elements at hand."""
    points: Points = field(default_factory=list)
    """As measured, the smallest number of elements first."""
    ready_in: float = 0.0
    measured: bool = True
    """Whether it ran, or is only expected to take as long."""
    made: bool = False
    """Whether what it takes to make it ready was measured."""

    def line(self, n: int) -> tuple[float, float]:
        """The part of the time that every call takes, and the part for each element."""
        if not self.points or self.points[-1][0] < 2 * self.points[0][0]:
            return 0.0, self.seconds / max(n, 1)
        (low, least), (high, most) = self.points[0], self.points[-1]
        rate = max((most - least) / (high - low), 0.0)
        return max(least - rate * low, 0.0), rate


@dataclass(slots=True, repr=False)
class Explanation(Report):
    """What Upshift knows of a function on these elements."""

    function: str
    n: int
    elements: str
    gear: str
    paths: int = 0
    steps: int = 0
    longest: int = 0
    left: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    costs: dict[str, Cost] = field(default_factory=dict)
    """Of gears that were measured at several sizes, or of which it is known what to expect."""
    spent: dict[str, float] = field(default_factory=dict)
    """Where the seconds of a call in the gear that runs it go, and those that were paid once to make it ready."""
    left_because: list[tuple[int, str]] = field(default_factory=list)
    """How many elements are the plain function's, and why, with the line."""
    tree: dict[str, Any] | None = None
    """The paths through the function, with the number of elements on each branch."""
    source: dict[str, Any] = field(default_factory=dict)
    """The user's lines, and the batched program that was made of them."""
    of: str = "elements"

    @property
    def wins(self) -> list[tuple[int, str]]:
        """From how many elements on each gear is the fastest, once it is ready."""
        return fastest({name: cost.line(self.n) for name, cost in self.costs.items()})

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, for JSON and for the page."""
        return {
            "kind": "map",
            "of": self.of,
            "function": self.function,
            "n": self.n,
            "elements": self.elements,
            "gear": self.gear,
            "gears": list(self._gears()),
            "wins": [{"from": n, "gear": gear} for n, gear in self.wins],
            "spent": self.spent,
            "paths": self.paths,
            "steps": self.steps,
            "longest": self.longest,
            "left": self.left,
            "left_because": [{"count": count, "reason": reason} for count, reason in self.left_because],
            "tree": self.tree,
            "source": self.source,
            "refusals": [{"gear": gear, **refusal_data(refusal)} for gear, refusal in self.refusals.items()],
            "notes": list(self.notes),
        }

    def _gears(self) -> Iterable[dict[str, Any]]:
        for name in {**self.seconds, **self.costs}:
            cost = self.costs.get(name) or Cost(self.seconds[name])
            fixed, rate = cost.line(self.n)
            yield {
                "name": name,
                "seconds": cost.seconds,
                "per_element": rate if cost.points else cost.seconds / max(self.n, 1),
                "fixed": fixed if len(cost.points) > 1 else None,
                "ready_in": cost.ready_in,
                "measured": cost.measured,
                "made": cost.made,
                "points": [list(point) for point in cost.points],
            }


def refusal_data(refusal: Refusal) -> dict[str, str]:
    """A refusal as plain data."""
    return {"reason": refusal.reason, "where": refusal.where, "remedy": refusal.remedy}


def fastest(lines: dict[str, tuple[float, float]]) -> list[tuple[int, str]]:
    """Lines (seconds of a call, seconds of an element) in; the sizes from which on each is the lowest, out.

    >>> fastest({"loop": (0.0, 2e-7), "numpy": (2e-5, 1e-8), "llvm": (4e-6, 5e-9)})
    [(1, 'loop'), (21, 'llvm')]
    """
    made: list[tuple[int, str]] = []
    n = 1
    while lines and n < LARGEST:
        best = min(lines, key=lambda name: (lines[name][0] + n * lines[name][1], lines[name][1]))
        made.append((n, best))
        fixed, rate = lines[best]
        crossings = [(f - fixed) / (rate - r) for f, r in lines.values() if r < rate]
        n = max(int(min(crossings, default=LARGEST)), n) + 1
    return made
