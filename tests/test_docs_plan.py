"""docs/plan.md: a failure for whatever it says that is not so: its tables, its figures, and both theorems."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from upshift.plan import arms, entries, ledger
from upshift.plan.ledger import RISK, Arm, Ledger
from upshift.report import pages, prices

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
ADVICE = "run: upshift tables docs/plan.md"


# ---- tables and figures


def test_the_tables_are_current():
    assert all(f"<!-- {name}:start -->" in PAGE for name in ("arms", "prices", "rule"))
    assert pages.filled(PAGE) == PAGE, ADVICE


def test_a_stale_price_is_seen():
    stale = re.sub(r"\| `LLVM` \| \d+ ms", "| `LLVM` | 1 ms", PAGE)
    assert stale != PAGE and pages.filled(stale) == PAGE


@pytest.mark.parametrize("module", prices.MODULES["prices"] + prices.MODULES["rule"], ids=lambda m: m.__name__)
def test_every_constant_has_its_words(module):
    found = prices.constants(module)
    names = {name for together in found for name in together}
    numbers = {n for n, v in vars(module).items() if n.isupper() and n[0] != "_" and type(v) in (int, float)}
    own = {name for name in numbers if re.search(rf"^(.*, )?{name}(, .*)? = ", Path(module.__file__).read_text(), re.M)}
    assert names == own - prices.FORCED
    assert all(len(words) > 20 for words in found.values())


def test_a_constant_without_words_is_an_error(monkeypatch):
    monkeypatch.setattr(prices, "UNSAID", {})
    with pytest.raises(ValueError, match="say what"):
        prices.table("prices")


def test_the_rule_is_the_one_in_the_source():
    (quoted,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert quoted in (ROOT / "src" / "upshift" / "plan" / "ledger.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (ledger.TRIES, "up to {} times before"),
        (f"{ledger.HOPELESS:g}", "takes {} times as long"),
        (f"{ledger.SECOND_CHANCE:g}", "by less than {} times"),
        (f"{ledger.PATIENCE:g}", "others have cost {} times"),
        (f"{1 + RISK:g}", "Never more than {} times the loop"),
        (f"{1e3 * arms.STALL:g}", "costs more than {} ms"),
        (entries.MOST_CALLS, "takes up to {} calls"),
        (f"{1e3 * entries.RENTED:g}", "have cost {} ms"),
        (arms.MOST_PREPARED, "{} versions kept"),
    ],
)
def test_figures_are_those_of_the_code(value, words):
    assert words.format(value) in WORDS


def test_files_that_are_named_are_there():
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    for name in set(re.findall(r"`((?:\w+/)*\w+\.py)`", PAGE)):
        assert any(file.endswith(f"/{name}") for file in files), name


# ---- the theorems, over lives of the rule


@dataclass
class Truth:
    """What an arm costs; predictions say the same."""

    price: float
    fixed: float
    rate: float
    sure: bool = True
    refuses: bool = False
    bought: bool = False

    def seconds(self, n):
        return self.fixed + self.rate * n


class FunctionState:
    """Runs of one function by the rule: the first arm is the loop."""

    def __init__(self, truths, sizes):
        self.truths, self.sizes = truths, sizes
        made = [Arm(str(i), t.price, t.seconds, ready=i == 0, sure=t.sure) for i, t in enumerate(truths)]
        self.ledger = Ledger(made)
        self.truth = dict(zip(made, truths))
        self.runs = self.sure_prices = self.extra = self.low = 0.0
        for n in sizes:
            self.buy(n)
            self.run(n)

    def buy(self, n):
        """As `Call.run` does: until nothing pays any more."""
        while (arm := self.ledger.to_build(n)) is not None:
            truth, was_sure = self.truth[arm], arm.sure
            truth.bought = True
            least = self.truth[self.ledger.cheapest(n)].seconds(n)
            assert truth.price <= (self.runs + least) * (1 + 1e-9), "it was bought before it had paid"
            arm.ready, arm.refusal = not truth.refuses, "it was made so" if truth.refuses else None
            self.sure_prices += truth.price if was_sure else 0.0
            self.ledger.built(arm, truth.price, was_sure)

    def run(self, n):
        arm = self.ledger.best(n)
        took = self.truth[arm].seconds(n)
        least = min(self.truth[one].seconds(n) for one in self.ledger.arms if one.ready and one.open)
        self.runs, self.extra, self.low = self.runs + took, self.extra + took - least, max(self.low, least)
        self.ledger.ran(arm, n, took)

    @property
    def total(self):
        return self.runs + self.ledger.risked + self.sure_prices

    def by(self, truth):
        return sum(truth.seconds(n) for n in self.sizes)


def made_up(rng):
    loop = Truth(0.0, 0.0, 10 ** rng.uniform(-6, -3))
    truths = [loop]
    for _ in range(rng.randrange(1, 5)):
        rate = loop.rate / 10 ** rng.uniform(-0.6, 2)
        truth = Truth(10 ** rng.uniform(-4, 0), 10 ** rng.uniform(-6, -3), rate, sure=rng.random() < 0.6)
        truth.refuses = not truth.sure and rng.random() < 0.4
        truths.append(truth)
    count = rng.randrange(1, 200)
    sizes = (
        [rng.choice([2, 16, 64, 512])] * count if rng.random() < 0.5 else [2 ** rng.randrange(11) for _ in range(count)]
    )
    return FunctionState(truths, sizes)


LIVES = 150


@pytest.mark.parametrize("seed", range(6))
def test_the_theorems(seed):
    """As they stand on the page, for the rule alone; sums are of floats, hence the last factor."""
    rng = random.Random(seed)
    bought = 0
    for _ in range(LIVES):
        life = made_up(rng)
        total, extra, a = life.total / (1 + 1e-9), life.extra, len(life.truths) - 1
        assert extra <= (a + 1) * (life.runs / 16 + 2 * life.low) + 4 * life.low
        assert total <= (1 + RISK) * (life.by(life.truths[0]) + extra) + life.sure_prices
        for truth in life.truths:
            if truth.refuses:
                continue
            others = sum(one.price for one in life.truths if one.bought and one is not truth)
            bound = 2 * (truth.price + life.by(truth)) + others + extra
            if not truth.sure:
                risked = life.ledger.risked - (truth.price if truth.bought else 0.0)
                bound += (truth.price + risked) / RISK
            assert total <= bound, (truth, total, bound)
            bought += truth.bought
    assert bought > LIVES / 4


def test_the_first_theorem_is_tight():
    """A life that ends when the arm has just been bought costs nearly twice the best."""
    loop, arm = Truth(0.0, 0.0, 1e-3), Truth(1.0, 0.0, 1e-9)
    life = FunctionState([loop, arm], [1] * 1001)
    assert arm.bought and 1.9 < life.total / (arm.price + life.by(arm)) <= 2.0


def test_a_sure_arm_may_cost_twice_the_loop():
    """What the second theorem adds to 1.1 times the loop: the price of a sure arm that is not paid back."""
    loop, arm = Truth(0.0, 0.0, 1e-3), Truth(1.0, 0.0, 1e-9)
    life = FunctionState([loop, arm], [1] * 1001)
    assert 1.9 < life.total / life.by(loop) <= 2.0
    longer = FunctionState([loop, Truth(1.0, 0.0, 1e-9)], [1] * 4000)
    assert longer.total < 0.6 * longer.by(loop)
