"""What tracing may cost, given what the loop would."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """What the loop would cost, which decides what is worth tracing, and how long tracing may take."""

    per_element: float
    allowance: float

    def spend(self, seconds: float) -> None:
        self.allowance -= seconds
