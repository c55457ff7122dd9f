"""Which way to run a call, and when to pay for a faster one: one rule over prices and costs.

Every way to run is an *arm*: the loop, a batch by NumPy, machine code. An arm has a price (to make it ready), a cost
for every size (predicted, then measured), and may refuse. The rule:

    the arm that costs least runs the call;
    an arm that is not ready is made ready when what it would have saved so far (its regret), together with what it
    saves in the call at hand, is as much as its price;
    an arm that may still be refused or disappoint is made ready only when all such risks together are at most a tenth
    of what has been spent and is about to be.

docs/plan.md proves what follows: never more than twice the best choice in hindsight plus the prices of what came before
it; and never more than 1.1 times the loop, what was tried again included, plus the prices of sure arms that were bought
and have not paid yet.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

RISK = 0.1
"""The share of all time that may be spent on arms that are not sure."""
GAIN = 0.1
"""An arm that saves less than this share of a call is not worth a price."""
TRIES = 3
"""Runs of an arm before it is believed that it is slower than another: the first are slower than all others."""
SECOND_CHANCE = 3.0
"""An arm that was believed to be slower than this many times the best is not tried again."""
HOPELESS = 8.0
"""And not even three times, where its second run took so many times as long as the best."""
PATIENCE = 16.0
"""An arm that seemed slower is tried again when others have cost so many times what it would."""


@dataclass(slots=True)
class Line:
    """Seconds by number of elements: the fastest of what was seen lately, for every size; a line between sizes.

    Times are noisy upwards only, so a faster sample counts more than a slower one.
    """

    seen: dict[int, tuple[float, float]] = field(default_factory=dict)
    most_fixed: float = math.inf
    """The most that does not depend on the size, where that is known: first runs are slow, and may hide the slope."""

    def add(self, n: int, seconds: float) -> None:
        """A run of n elements took so long."""
        bucket = n.bit_length()
        before = self.seen.get(bucket)
        if before is None:
            self.seen[bucket] = float(n), seconds
            return
        expected = before[1] * n / before[0] if n > before[0] else before[1]
        share = 0.8 if seconds < expected else 0.15
        seconds = min(seconds, 3 * expected)  # one that was interrupted says little
        self.seen[bucket] = (1 - share) * before[0] + share * n, (1 - share) * before[1] + share * seconds

    def seconds(self, n: int) -> float | None:
        """What n elements take; None before anything was measured."""
        if not self.seen:
            return None
        found = self.seen.get(n.bit_length())
        if found is not None:
            return found[1] * (n / found[0]) if n > found[0] else found[1]
        fixed, rate = self.shape()
        return fixed + rate * n

    def shape(self) -> tuple[float, float]:
        """The part of the time that does not depend on the size, and the part for each element."""
        low, high = self.seen[min(self.seen)], self.seen[max(self.seen)]
        if high[0] < 2 * low[0]:
            return 0.0, high[1] / high[0]
        rate = max((high[1] - low[1]) / (high[0] - low[0]), (high[1] - self.most_fixed) / high[0], 0.0)
        return max(low[1] - rate * low[0], 0.0), rate


@dataclass(slots=True, eq=False)
class Arm:
    """One way to run: its price, what it costs, and whether it is ready."""

    name: str
    price: float = 0.0
    """Seconds to make it ready, as far as is known."""
    guess: Callable[[int], float] = field(default=lambda n: 0.0)
    """Seconds for n elements, before any were measured."""
    ready: bool = False
    sure: bool = False
    """Whether it is known that it will not be refused, and about how fast it is."""
    busy: bool = False
    """Whether it is being made ready in the background."""
    building: bool = False
    """Whether some call is making it ready."""
    refusal: Any = None
    line: Line = field(default_factory=Line)
    regret: float = 0.0
    """Seconds that other arms have cost more than this one would have."""
    runs: int = 0
    judged: bool = False
    """Whether it is known whether it was worth its price."""
    overran: bool = False
    """Whether it was stopped, since it took longer than the loop."""
    waits: float = 0.0
    """Seconds of other arms after which it is tried again, where it seemed slower."""
    patience: float = PATIENCE
    after: Arm | None = None
    """An arm that comes first: as long as that one may still be made ready, and would save something, nothing is paid
    for this one."""
    builds_on_it: bool = False
    """Whether this one is made out of that one, so that there is no other order."""

    @property
    def open(self) -> bool:
        """Whether it may still be chosen."""
        return self.refusal is None

    def awaits_another(self, n: int, lower: float) -> bool:
        """Whether another arm comes first, where `n` elements take `lower` seconds as it is."""
        if self.after is None or self.after.ready or not self.after.open:
            return False
        return self.builds_on_it or self.after.seconds(n) <= (1 - GAIN) * lower

    def seconds(self, n: int) -> float:
        found = self.line.seconds(n)
        return self.guess(n) if found is None else found


KEPT: dict[str, tuple[int, int]] = {}
"""By name: arms that were said to be sure and were bought in this process, and those of them that were worth it."""
CREDIT = 8
"""Purchases of sure arms that are taken to have been worth it before there were any."""
_LOCK = threading.Lock()


def _judge(arm: Arm, was_worth_it: bool) -> None:
    arm.judged = True
    if arm.price > 0:
        with _LOCK:
            bought, kept = KEPT.get(arm.name, (0, 0))
            KEPT[arm.name] = bought + 1, kept + was_worth_it


def margin(arm: Arm) -> float:
    """What a purchase of a sure arm costs for each one that is worth it, 2 at most: some disappoint."""
    bought, kept = KEPT.get(arm.name, (0, 0)) if arm.sure else (0, 0)
    return min((CREDIT + bought) / (CREDIT + kept), 2.0)


class Ledger:
    """The arms of one function on one kind of elements, and what they have cost so far."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self.arms = list(arms)
        self.spent = 0.0
        """Seconds of all runs."""
        self.risked = 0.0
        """Seconds for arms that were not sure."""
        self.lock = threading.RLock()

    def best(self, n: int) -> Arm:
        """The arm that is ready and costs least; one of unknown speed, or to be tried again, before all others."""
        with self.lock:
            cheapest = self.cheapest(n)
            for arm in reversed(self.arms):
                if arm.ready and arm.open and arm is not cheapest and self._is_worth_a_try(arm, cheapest, n):
                    return arm
            return cheapest

    def cheapest(self, n: int) -> Arm:
        """The arm that is ready and costs least."""
        return min((arm for arm in self.arms if arm.ready and arm.open), key=lambda arm: arm.seconds(n))

    def _is_worth_a_try(self, arm: Arm, best: Arm, n: int) -> bool:
        expected = arm.seconds(n)
        if arm.runs < TRIES and arm is not self.arms[0]:
            return arm.guess(n) < best.seconds(n) and (arm.runs < 2 or expected < HOPELESS * best.seconds(n))
        return arm.waits <= 0 and expected < SECOND_CHANCE * best.seconds(n)

    def to_build(self, n: int) -> Arm | None:
        """The arm to make ready before n more elements; None where none pays."""
        with self.lock:
            lower = self.cheapest(n).seconds(n)
            found = None
            for arm in self.arms:
                if (
                    arm.ready
                    or arm.busy
                    or arm.building
                    or not arm.open
                    or arm.awaits_another(n, lower)
                    or not self._pays(arm, n, lower)
                ):
                    continue
                if found is None or arm.price + arm.seconds(n) < found.price + found.seconds(n):
                    found = arm
            return found

    def begin(self, arm: Arm) -> bool:
        """Whether the caller is the one who makes an arm ready."""
        with self.lock:
            mine = not (arm.ready or arm.busy or arm.building)
            arm.building |= mine
            return mine

    def _pays(self, arm: Arm, n: int, lower: float) -> bool:
        gain = lower - arm.seconds(n)
        if gain < GAIN * lower or arm.regret + gain < arm.price * margin(arm):
            return False
        return arm.sure or self.risked + arm.price <= RISK * (self.spent + lower)

    def allowance(self, n: int) -> float:
        """Seconds that may be risked before n more elements."""
        with self.lock:
            return RISK * (self.spent + self.cheapest(n).seconds(n)) - self.risked

    def ran(self, arm: Arm, n: int, seconds: float, times: int = 1) -> None:
        """An arm ran n elements, so many times, in so many seconds each time."""
        with self.lock:
            if arm.runs or arm is self.arms[0] or arm.overran:  # the first run is slower than all others
                arm.line.add(n, seconds)
            arm.runs += TRIES if arm.overran else times
            arm.overran = False
            if arm.sure and arm.runs >= TRIES and not arm.judged and arm is not self.arms[0]:
                others = [other.seconds(n) for other in self.arms if other.ready and other.open and other is not arm]
                worth = (1 - GAIN) * min(others)  # the loop is always there
                _judge(arm, arm.seconds(n) <= worth or arm.guess(n) > worth)
            total = seconds * times
            self.spent += total
            for other in self.arms:
                if other is arm or not other.open:
                    continue
                if other.ready:
                    other.waits -= total
                else:
                    other.regret += max(total - times * other.seconds(n), 0.0)
            if arm.runs >= TRIES and arm.waits <= 0:
                arm.waits = arm.patience * seconds
                arm.patience *= 2

    def left_most(self, arm: Arm, n: int, seconds: float, rest: float) -> None:
        """An arm ran n elements in so many seconds, and left so many to the plain function that another arm had better
        have them: `rest` seconds of the loop are what it would have cost besides."""
        with self.lock:
            arm.line.add(n, seconds + rest)
            arm.runs += TRIES
            arm.waits = arm.patience * (seconds + rest)
            arm.patience *= 2
            self.spent += seconds

    def built(self, arm: Arm, seconds: float, was_sure: bool) -> None:
        """An arm was made ready, or came nearer to it, or refused, in so many seconds."""
        with self.lock:
            if not was_sure:
                self.risked += seconds
            if arm.ready:
                arm.regret = 0.0
            elif was_sure and not arm.open:
                _judge(arm, False)

    def budget(self, n: int) -> float:
        """Seconds that calls of n elements may take by the best arm before there is anything to think about."""
        with self.lock:
            best = self.cheapest(n)
            lower = best.seconds(n)
            wait = LONGEST
            for arm in self.arms:
                if not arm.open or arm is best:
                    continue
                if arm.busy or arm.building:
                    wait = min(wait, arm.price)
                elif arm.ready and arm.runs < TRIES:
                    wait = 0.0 if self._is_worth_a_try(arm, best, n) else wait
                elif arm.ready:
                    if arm.seconds(n) < SECOND_CHANCE * lower:
                        wait = min(wait, max(arm.waits, 0.0))
                else:
                    wait = min(wait, self._missing(arm, n, lower))
            return wait

    def _missing(self, arm: Arm, n: int, lower: float) -> float:
        """Seconds of other arms before this one pays."""
        share = 1 - arm.seconds(n) / lower if lower > 0 else 0.0
        if share < GAIN or arm.awaits_another(n, lower):
            return LONGEST
        missing = (arm.price * margin(arm) - arm.regret) / share
        if not arm.sure:
            missing = max(missing, (self.risked + arm.price) / RISK - self.spent)
        return max(missing, 0.0)


LONGEST = 60.0
"""Seconds after which a way that is settled is thought about again in any case."""
