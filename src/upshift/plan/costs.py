"""Measured times in, predicted times out: what a call costs in each gear, as a fixed part and a part per element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

SETUP, PER_BRANCH = 250e-6, 200e-6
"""What the first trace and check of a function are expected to cost, and every branch in its code."""
SETUP_OF_ARRAYS = 1.5e-3
"""The same where elements are arrays, whose calls are looked up and whose sample is larger."""
FIXED = 15e-6
"""What a call of the numpy gear is expected to cost before the first element."""
GAIN = 12.0
"""How much faster per element a batched function is expected to be."""
OVERHEAD = 8e-6
"""What a batched call saves at most for an element that is an array: the rest is NumPy's own work."""
ENTRY = 40e-9
"""What it costs to turn one Python number of a list into a number of a column."""
MIXED_ENTRY = 200e-9
"""The same where elements are of several classes."""


MOST_TRACING = 7
"""Calls that trace, one after the other, after which that is what a call costs."""


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


class Function(Protocol):
    """What the costs ask of a function: whether it is sure to have few paths, what tracing them will cost, and what
    it costs for every element to get into columns."""

    @property
    def sure(self) -> bool: ...

    @property
    def setup(self) -> float: ...

    @property
    def entry(self) -> float: ...

    @property
    def of_arrays(self) -> bool: ...


@dataclass(slots=True)
class Costs:
    """What is known of one function on one kind of elements."""

    call_rate: float = 0.0
    most_looped: int = 0
    stack_rate: float = 0.0
    loop_spent: float = 0.0
    invested: float = 0.0
    batched: Line = field(default_factory=Line)
    machine: Line = field(default_factory=Line)
    gpu: Line = field(default_factory=Line)
    tracing: int = 0
    """Calls, one after the other, that paid for traces."""
    dear: int = 0
    """Those of them that were slower than the loop."""
    patience: float = 0.0
    retry_at: float = 0.0

    def add_batched(self, n: int, seconds: float, invested: bool) -> None:
        """A call that paid for traces says little of the next one, unless it goes on so."""
        self.tracing = self.tracing + 1 if invested else 0
        self.dear = self.dear + 1 if invested and seconds > self.loop_rate * n else 0
        if not invested or self.tracing > MOST_TRACING:
            self.batched.add(n, seconds)
        if self.dear > 3:
            self.patience = max(2 * self.patience, 8 * seconds)
            self.retry_at = self.loop_spent + self.patience

    def think_again(self) -> None:
        """Where traces made a batch dear, it is tried again after the loop has cost several times as much."""
        if self.retry_at and self.loop_spent > self.retry_at:
            self.batched, self.dear, self.retry_at = Line(), 0, 0.0

    @property
    def loop_rate(self) -> float:
        """Seconds that the loop takes for one element, and to put its result with the others."""
        return self.call_rate + self.stack_rate

    def add_loop(self, n: int, seconds: float) -> None:
        """The loop ran n elements. More than ever before tell more, since the first ones are slower than all others."""
        self.loop_spent += seconds
        rate = seconds / n
        self.call_rate = rate if n > self.most_looped and rate < self.call_rate else _nearer(self.call_rate, rate)
        self.most_looped = max(self.most_looped, n)

    def add_stack(self, n: int, seconds: float) -> None:
        """Results of the loop were put together. It matters where they are arrays."""
        self.stack_rate = _nearer(self.stack_rate, seconds / n)

    def worth_tracing(self, remaining: int, function: Function) -> bool:
        """Ski rental: either what is left of this call pays for a trace, or the loop has already cost as much as one.

        A function with loops may have too many paths to batch: little of the call may be put at risk for it.
        """
        left = remaining * self.loop_rate
        rented, setup = self.loop_spent - self.invested, function.setup
        gain = left - remaining * self.expected_rate(function) - remaining * function.entry
        if left < 2 * FIXED or gain < 0 or (gain < 2.5 * (setup + FIXED) and rented < setup):
            return False
        return function.sure or gain > 25 * (setup + FIXED) or rented > 4 * setup

    def expected_rate(self, function: Function) -> float:
        """Seconds for one element when batched, before anything was measured."""
        return max(self.loop_rate / GAIN, self.loop_rate - OVERHEAD if function.of_arrays else 0.0)

    def loop_below(self, line: Line) -> int:
        """The size up to which the loop is a better choice than a gear, as far as was measured."""
        if not line.seen or not self.loop_rate:
            return 0
        fixed, rate = line.shape(self.loop_rate)
        most = max(round(n) for n, _ in line.seen.values())
        return most if rate >= 0.9 * self.loop_rate else min(most, int(fixed / (self.loop_rate - rate)))

    def batched_seconds(self, n: int) -> float | None:
        """What the numpy gear is expected to take."""
        return self.batched.predict(n, self.loop_rate)


def _nearer(rate: float, seen: float) -> float:
    """Times are noisy upwards only, so a faster sample counts more than a slower one."""
    return rate + (0.8 if seen < rate else 0.1) * (seen - rate) if rate else seen
