"""What tracing and a whole run may cost, given what the loop would."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """What the loop would cost, which decides what is worth tracing; how long tracing, and all of a run, may take."""

    per_element: float
    allowance: float
    limit: float = math.inf
    """Seconds for all lanes, tracing apart. What is not done by then is left to the plain function."""

    def spend(self, seconds: float) -> None:
        """Takes seconds from what tracing may cost."""
        self.allowance -= seconds
