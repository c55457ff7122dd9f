"""The ledger's bounds, over made-up lives of functions that `up.function` decorates: a clock and a compiler of our own.

A life is a sequence of calls with arguments of one kind, whose seconds are drawn from a range. What the check and the
compilation cost, and how fast machine code is, are made up; it may be refused, and predictions may be wrong.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

import upshift as up
from upshift.adaptive import specialization, state, trial
from upshift.adaptive.pace import LOOK, SHARE
from upshift.errors import Refusal
from upshift.gears.calls import CompiledFunction
from upshift.plan import ledger
from upshift.plan.ledger import RISK


class Clock:
    """What `time` is to a decorated function."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@dataclass
class Life:
    """One function, what its machine code costs, and the seconds of its calls."""

    seconds: list[float]
    check: float
    code: float
    gain: float
    refuses: bool = False
    price_lie: float = 1.0
    clock: Clock = field(default_factory=Clock)
    paid: float = 0.0
    sure_paid: float = 0.0

    def live(self, monkeypatch: pytest.MonkeyPatch) -> float:
        """Seconds of all calls together."""
        for module in (state, trial):
            monkeypatch.setattr(module, "time", self.clock)
        monkeypatch.setattr(state, "prepare_call", self.prepare)
        monkeypatch.setattr(specialization, "check_price", lambda f, of_arrays: self.check * self.price_lie)
        monkeypatch.setattr(
            specialization, "code_price", lambda steps, of_arrays: self.code / specialization.ASIDE * self.price_lie
        )
        monkeypatch.setattr(ledger, "KEPT", {})
        clock = self.clock

        def plain(s: float) -> float:
            for _ in range(3):
                clock.now += s / 3
            return 2.0 * s

        fast = up.function(plain)
        for s in self.seconds:
            assert fast(s) == 2.0 * s
        return self.clock.now

    def prepare(self, *given: Any) -> Any:
        """The check, and what makes machine code."""
        self.clock.now += self.check
        self.paid += self.check
        return Refusal("llvm", "it was made so") if self.refuses else self.compiled

    def compiled(self) -> CompiledFunction:
        self.clock.now += self.code
        self.paid += self.code
        self.sure_paid += self.code
        return CompiledFunction(self.run, None, float, [], [], False)

    def run(self, s: float) -> float:
        self.clock.now += s / self.gain
        return 2.0 * s

    def by_plain(self) -> float:
        return sum(self.seconds)

    def tries(self) -> float:
        """What comparisons and races may cost: runs of machine code, and of brief calls of both."""
        longest = max(self.seconds)
        runs = specialization.CHECKS * (2 + trial.AGAIN) + trial.LAPS * trial.LAP
        races = trial.LAPS * trial.LAP if longest < 20e-6 else 0
        return races * longest + runs * longest / self.gain

    def unseen(self) -> float:
        """What calls may cost between two looks, and before there is a ledger."""
        return 2 * (LOOK / SHARE + 512 * min(max(self.seconds), 1e-6)) + specialization.RENTED + 2 * max(self.seconds)


def made_up(rng: random.Random, honest: bool = True) -> Life:
    typical = 10 ** rng.uniform(-6, -2)
    n = int(min(10 ** rng.uniform(0, 4), 3.0 / typical)) + 1
    seconds = [typical * rng.uniform(0.7, 1.4) for _ in range(n)]
    life = Life(seconds, 10 ** rng.uniform(-3.5, -1), 10 ** rng.uniform(-3.5, -1), 10 ** rng.uniform(-0.5, 2))
    life.refuses = rng.random() < 0.3
    if not honest:
        life.price_lie = 10 ** rng.uniform(-1, 1)
    return life


@pytest.mark.parametrize("seed", range(8))
def test_never_much_slower_than_the_plain_function(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 1.1 times its time, and what making machine code costs once it is known that it can be made."""
    rng = random.Random(seed)
    bought = 0
    for _ in range(25):
        life = made_up(rng)
        total, plain = life.live(monkeypatch), life.by_plain()
        bound = (1 + RISK) * plain + life.sure_paid + (life.tries() if life.sure_paid else 0.0)
        assert total <= bound * (1 + 1e-9), (life.check, life.code, life.gain, life.refuses, len(life.seconds))
        bought += life.sure_paid > 0
    assert bought


@pytest.mark.parametrize("seed", range(8))
def test_at_most_twice_the_best_in_hindsight(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plus ten times the check, which may refuse, and what nobody sees between two looks."""
    rng = random.Random(100 + seed)
    for _ in range(25):
        life = made_up(rng)
        life.gain = max(life.gain, specialization.KERNEL_GAIN)  # predictions of what it saves hold
        total, plain = life.live(monkeypatch), life.by_plain()
        best = plain if life.refuses else min(plain, life.check + life.code + plain / life.gain)
        bound = 2 * best + life.check / RISK + life.paid + life.tries() + life.unseen()
        assert total <= bound, (life.check, life.code, life.gain, life.refuses, len(life.seconds), total, best)


@pytest.mark.parametrize("seed", range(4))
def test_wrong_prices_cost_what_was_paid(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(200 + seed)
    for _ in range(25):
        life = made_up(rng, honest=False)
        total = life.live(monkeypatch)
        assert total <= (1 + RISK) * life.by_plain() + life.paid + life.tries() + life.unseen()


def test_what_is_refused_costs_a_tenth_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    for check in (1e-3, 1e-2, 1e-1):
        life = Life([1e-4] * 3000, check, 1e-2, 10.0, refuses=True)
        total = life.live(monkeypatch)
        assert total <= (1 + RISK) * life.by_plain() + 1e-9 and (life.paid > 0) == (check < 0.03)
