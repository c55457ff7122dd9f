"""Predicts the time of a way from measured calls: a fixed part, and a part per element."""

from __future__ import annotations

from dataclasses import dataclass

from ..plan import ledger

FIXED = 15e-6
"""What a call of a batched function is expected to cost before the first element."""
GAIN = 12.0
"""How much faster per element a batched function is expected to be than the loop."""


@dataclass(slots=True)
class Line(ledger.Line):
    """Seconds by number of elements of one way; where one size was seen, what batching is expected to give."""

    loop_rate: float = 0.0

    def predict(self, n: int, loop_rate: float) -> float | None:
        """The time for n elements; None before anything was measured. The loop takes `loop_rate` for each."""
        self.loop_rate = loop_rate
        return self.seconds(n)

    def shape(self) -> tuple[float, float]:
        """The fixed part, and that for each element."""
        low, high = self.seen[min(self.seen)], self.seen[max(self.seen)]
        low = low[0], min(low[1], high[1])  # fewer elements never take longer: that was a disturbance
        if high[0] < 2 * low[0]:  # too close to tell one part from the other
            low = high
            rate = max(min(self.loop_rate / GAIN, low[1] / low[0]), (low[1] - 10 * FIXED) / low[0])
        else:
            rate = max((high[1] - low[1]) / (high[0] - low[0]), 0.0)
        return max(low[1] - rate * low[0], 0.0), rate
