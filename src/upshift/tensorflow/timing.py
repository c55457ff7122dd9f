"""Predicts the time of a way from measured calls: a fixed part, and a part per element."""

from __future__ import annotations

from dataclasses import dataclass, field

FIXED = 15e-6
"""What a call of a batched function is expected to cost before the first element."""
GAIN = 12.0
"""How much faster per element a batched function is expected to be than the loop."""


@dataclass(slots=True)
class Line:
    """Time as fixed + rate * n, from averages at the smallest and the largest size seen.

    Times are noisy upwards only, so a faster sample counts more than a slower one.
    """

    seen: dict[int, tuple[float, float]] = field(default_factory=dict)

    def add(self, n: int, seconds: float) -> None:
        bucket = n.bit_length()
        before = self.seen.get(bucket)
        if before is None:
            self.seen[bucket] = float(n), seconds
            return
        expected = before[1] * n / before[0]
        share = 0.8 if seconds < expected else 0.1
        seconds = min(seconds, 2 * expected)  # one that was interrupted says nothing
        self.seen[bucket] = (1 - share) * before[0] + share * n, (1 - share) * before[1] + share * seconds

    def predict(self, n: int, loop_rate: float) -> float | None:
        """The time for n elements; None before anything was measured."""
        if not self.seen:
            return None
        found = self.seen.get(n.bit_length())
        if found is not None:
            return found[1] * (n / found[0]) if n > found[0] else found[1]
        fixed, rate = self.shape(loop_rate)
        return fixed + rate * n

    def shape(self, loop_rate: float) -> tuple[float, float]:
        """Fixed part and rate; where one size was seen, the rate is what batching is expected to give."""
        low, high = self.seen[min(self.seen)], self.seen[max(self.seen)]
        low = low[0], min(low[1], high[1])  # fewer elements never take longer: that was a disturbance
        if high[0] < 2 * low[0]:  # too close to tell one part from the other
            low = high
            rate = max(min(loop_rate / GAIN, low[1] / low[0]), (low[1] - 10 * FIXED) / low[0])
        else:
            rate = max((high[1] - low[1]) / (high[0] - low[0]), 0.0)
        return max(low[1] - rate * low[0], 0.0), rate
