"""Many programs in, what became of them out: counts, shares, and the failing ones, shrunk."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz import coverage, finding
from fuzz.isolation import Died, alone, each
from fuzz.program import Program, written
from fuzz.runner import Outcome, run
from fuzz.shrinker import shrunk

BATCH = 200
"""Programs of one child process."""
GRACE = 15.0
"""Seconds that the last program may be shrunk after the time is over."""
WATCHED = 16
"""Every so many programs, one is watched for what it uses of the compiler."""


@dataclass
class Tally:
    """What became of all programs so far."""

    verdicts: Counter[str] = field(default_factory=Counter)
    lanes: int = 0
    computed: int = 0
    raising: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    used: set[coverage.Place] = field(default_factory=set)
    failures: list[tuple[int, int, str]] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    """The text of failing programs, shrunk, by seed and number."""
    met: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def programs(self) -> int:
        return sum(self.verdicts.values())

    def add(self, seed: int, number: int, outcome: Outcome | Died) -> None:
        if isinstance(outcome, Died):
            self.verdicts["crashed"] += 1
            self.failures.append((seed, number, str(outcome)))
            return
        self.verdicts[outcome.verdict] += 1
        self.used |= outcome.used
        if outcome.verdict == "refused":
            self.refusals[refusal_words(outcome.told)] += 1
        elif outcome.verdict == "same":
            self.lanes += outcome.lanes
            self.computed += outcome.computed
            self.raising += outcome.raising
            self.left.update(outcome.reasons)
        if outcome.is_wrong:
            self.failures.append((seed, number, f"{outcome.verdict}: {outcome.told}"))

    def is_new(self, told: str) -> bool:
        """Whether failures of this sort were not yet met so often that one more tells nothing."""
        words = re.sub(r"[\d'\"%.:<>]+", "", told)[:40] if told.startswith("failed") else told.partition(":")[0]
        self.met[words] += 1
        return self.met[words] <= (2 if told.startswith("failed") else 12)

    def merge(self, other: dict[str, Any]) -> None:
        """Add what another process has found, as it is saved."""
        for name in ("verdicts", "refusals", "left"):
            getattr(self, name).update(other[name])
        self.lanes, self.computed = self.lanes + other["lanes"], self.computed + other["computed"]
        self.raising, self.seconds = self.raising + other["raising"], max(self.seconds, other["seconds"])
        self.used |= {(file, name, line) for file, name, line in other["used"]}
        self.failures += [(seed, number, told) for seed, number, told in other["failures"]]
        self.kept |= other["kept"]

    def told(self) -> str:
        """The figures, for people."""
        n, tried = self.programs, max(self.programs - self.verdicts["slow"], 1)
        lines = [
            f"{n} programs in {self.seconds:.0f} s: {dict(self.verdicts)}",
            f"compiled: {100 * (tried - self.verdicts['refused']) / tried:.1f}% of the programs",
            f"computed: {_share(self.computed, self.lanes)} of the lanes, "
            f"{_share(self.computed, self.lanes - self.raising)} of those that do not raise",
        ]
        prelude, rows = coverage.of_prelude(), coverage.of_rows()
        for name, known in (("functions of the prelude", prelude), ("functions of rows and library", rows)):
            lines.append(f"{name} used: {len(known & self.used)} of {len(known)}")
        lines += [f"refused {count}: {words}" for words, count in self.refusals.most_common(12)]
        lines += [f"left {count} lanes: {words}" for words, count in self.left.most_common(12)]
        return "\n".join(lines)

    def unused(self) -> list[coverage.Place]:
        return sorted((coverage.of_prelude() | coverage.of_rows()) - self.used)

    def plain(self) -> dict[str, Any]:
        """The figures, for machines."""
        return {
            "programs": self.programs, "seconds": round(self.seconds), "verdicts": dict(self.verdicts),
            "lanes": self.lanes, "computed": self.computed, "raising": self.raising,
            "refusals": dict(self.refusals.most_common(40)), "left": dict(self.left.most_common(40)),
            "failures": self.failures, "kept": self.kept, "used": sorted(self.used),
        }  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.1f}%"


def refusal_words(told: str) -> str:
    """A reason without the place and the remedy."""
    reason = told.partition("cannot run this function: ")[2]
    return re.split(r" \([^()]*:\d+\)|; ", reason)[0][:70]


def outcomes(seed: int, numbers: range) -> Iterator[tuple[int, Outcome | Died]]:
    yield from each(lambda number: run(written(seed, number), watch=number % WATCHED == 0), numbers)


def batches(start: int, count: int | None, stride: int = 1) -> Iterator[range]:
    """Numbers of programs in parts; without an end where there is no count."""
    at = start
    while count is None or at < start + count * stride:
        stop = at + BATCH * stride
        yield range(at, stop if count is None else min(stop, start + count * stride), stride)
        at = stop


def fuzz(seed: int, start: int, count: int | None, seconds: float | None, stride: int = 1,
         keep: Path | None = None, say: Any = None) -> Tally:  # fmt: skip
    """Programs one after the other, until there were so many or the time is over."""
    tally, began = Tally(), time.monotonic()
    for numbers in batches(start, count, stride):
        for number, outcome in outcomes(seed, numbers):
            tally.add(seed, number, outcome)
            tally.seconds = time.monotonic() - began
            wrong = isinstance(outcome, Died) or outcome.is_wrong
            if wrong and keep is not None and tally.is_new(tally.failures[-1][2]):
                rest = math.inf if seconds is None else seconds + GRACE - tally.seconds
                kept = keep_shrunk(seed, number, keep, min(rest, 60.0))
                tally.kept[f"{seed}:{number}"] = kept.read_text()
                if say is not None:
                    say(f"program {seed}:{number} {tally.failures[-1][2][:200]} -> {kept}")
            if seconds is not None and tally.seconds > seconds:
                return tally
        if say is not None:
            say(f"{tally.programs} programs, {len(tally.failures)} failures, {tally.seconds:.0f} s")
    return tally


def keep_shrunk(seed: int, number: int, folder: Path, seconds: float = 120.0) -> Path:
    """The smallest program that fails as this one does, as a file."""
    program = written(seed, number)
    verdict, told = judged(program)
    small = shrunk(program, lambda p: judged(p)[0] == verdict, seconds)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"program_{seed}_{number}.py"
    path.write_text(finding.written(small, f"{verdict}: {judged(small)[1] or told}"))
    return path


def judged(program: Program) -> tuple[str, str]:
    """In which way a program fails, in a word or two, and what is told of it."""
    outcome = alone(run, program, silence=20.0)
    if isinstance(outcome, Died):
        return str(outcome).partition(":")[0], str(outcome)
    if outcome.verdict == "failed":
        return f"failed {outcome.told.partition(':')[0]}", outcome.told
    return outcome.verdict, outcome.told


def save(tally: Tally, path: Path) -> None:
    path.write_text(json.dumps(tally.plain(), indent=1))
