"""Runs a program in the gear llvm and by the plain loop, and says in which way they differ.

Every lane is compared: its value and class, or its exception. What machine code left is the plain function's anyway;
a lane that it left with an exception's class must raise that very class, since a handler in the program would have
caught it.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import upshift as up
from fuzz import coverage
from fuzz.comparison import same, shortened
from fuzz.program import Program
from stacking import Raised, stack
from upshift.compiler import kernel, module
from upshift.gears.llvm import gear
from upshift.gears.llvm.columns import NotColumns, read
from upshift.plan import entries
from upshift.plan.arms import Optimised
from upshift.plan.functions import FUNCTIONS

PATIENCE = 4.0
"""Seconds of the processor's after which a program is too slow to be looked at."""


class TooSlow(BaseException):
    """A program takes longer than anybody waits."""


@dataclass
class Outcome:
    """What became of a program."""

    verdict: str
    """`same`, `refused`, `slow`, or what is wrong: `differs`, `raises`, `left`, `failed`."""
    told: str = ""
    lanes: int = 0
    computed: int = 0
    """Lanes that machine code computed."""
    raising: int = 0
    """Lanes that raise in the plain function."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Why lanes were left that do not raise."""
    used: set[coverage.Place] = field(default_factory=set)
    """Functions of the compiler that ran, and of its library that were compiled, where the program was watched."""

    @property
    def is_wrong(self) -> bool:
        return self.verdict not in ("same", "refused", "slow")


def by_the_loop(f: Callable[..., Any], columns: tuple[Any, ...]) -> list[Any]:
    """The result of every lane, or its exception; lists among the elements are changed where the function does that."""
    found: list[Any] = []
    for row in zip(*columns):
        try:
            found.append(copy.deepcopy(f(*row)))
        except Exception as error:
            found.append(Raised(error))
    return found


@contextlib.contextmanager
def hurried() -> Iterator[None]:
    """Whatever takes too long ends with TooSlow."""

    def end(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(program: Program, watch: bool = False) -> Outcome:
    """Compare one program with the loop, in every way in which its results are given back."""
    used: set[coverage.Place] = set()
    try:
        with hurried(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if not watch:
                return _run(program)
            with watching(used):
                outcome = _run(program)
            outcome.used = used
            return outcome
    except TooSlow:
        return Outcome("slow")
    finally:
        forget(program)


def forget(program: Program) -> None:
    """Nothing of a program stays in memory."""
    program.forget()
    FUNCTIONS.clear()
    entries.ENTRIES.clear()


def _run(program: Program) -> Outcome:
    f = program.load()
    rows, own = list(zip(*program.columns)), copy.deepcopy(program.columns)
    expected = by_the_loop(f, own)
    outcome = Outcome("same", lanes=len(rows), raising=sum(isinstance(one, Raised) for one in expected))
    wrong = _whole_call(f, program, expected, own, outcome)
    if outcome.verdict == "same" and wrong is None:
        wrong = _lane_by_lane(f, program, rows, expected, outcome)
    if wrong is not None:
        outcome.verdict, outcome.told = wrong
    return outcome


Wrong = tuple[str, str] | None


def _whole_call(
    f: Callable[..., Any], program: Program, expected: list[Any], after: tuple[Any, ...], outcome: Outcome
) -> Wrong:
    """`up.map` twice: the call that compiles, and one by the C-level callable."""
    in_place = [one.error if isinstance(one, Raised) else one for one in expected]
    wanted = in_place if outcome.raising else stack(expected, f)
    for call in ("first", "second"):
        columns = copy.deepcopy(program.columns)
        try:
            with up.config(verify=False), unguarded():
                actual = up.map(f, *columns, gear="llvm", on_error="return")
        except up.GearRefused as refused:
            outcome.verdict, outcome.told = "refused", str(refused)
            return None
        except Exception as error:
            return "failed", f"{type(error).__name__}: {error}"
        if not same(after, columns):
            return "differs", f"{call} call: the caller's columns are not what the loop makes of them"
        if not same(wanted, actual):
            return "differs", f"{call} call: {_where(wanted, actual)}"
    return None


def _where(wanted: Any, actual: Any) -> str:
    if type(wanted) is type(actual) and isinstance(wanted, list | np.ndarray) and len(wanted) == len(actual):
        for at, (one, other) in enumerate(zip(wanted, actual)):
            if not same(one, other):
                return f"lane {at}: expected {shortened(one)}, got {shortened(other)}"
    return f"expected {shortened(wanted)}, got {shortened(actual)}"


@contextlib.contextmanager
def watching(used: set[coverage.Place]) -> Iterator[None]:
    """What of the compiler is used meanwhile."""
    check = kernel.check

    def noting(*args: Any, **words: Any) -> Any:
        checked = check(*args, **words)
        used.update(coverage.compiled_in(checked.unit))
        return checked

    kernel.check = noting
    try:
        with coverage.watched(used):
            yield
    finally:
        kernel.check = check


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """An error of the compiler's own is told, not turned into a refusal."""
    before, kernel.GUARDED = kernel.GUARDED, False
    try:
        yield
    finally:
        kernel.GUARDED = before


def _lane_by_lane(
    f: Callable[..., Any], program: Program, rows: list[tuple[Any, ...]], expected: list[Any], outcome: Outcome
) -> Wrong:
    """The objects that machine code made for each lane, optimised and quickly made, and why it left others."""
    function = next(reversed(FUNCTIONS.known.values()))
    arm: Any = next(arm for arm in function.ledger.arms if isinstance(arm, Optimised))
    prepared: gear.Prepared | None = arm.last
    try:
        arguments = [read(column) for column in program.columns]
    except NotColumns:  # ints beyond 64 bits: only the whole call tells
        return None
    if prepared is None:
        return None
    wrong = _compared(f, prepared, arguments, rows, expected, outcome)
    return wrong or _compared(f, _quickly_made(prepared), arguments, rows, expected, outcome)


def _quickly_made(prepared: gear.Prepared) -> gear.Prepared:
    """The same IR with little optimisation."""
    made = copy.copy(prepared.kernel)
    made.optimised = False
    made._load(module.object_code(made.written.text, made.written.whole, 1))
    return dataclasses.replace(prepared, kernel=made, blocks=deque(maxlen=64))


def _compared(
    f: Callable[..., Any],
    prepared: gear.Prepared,
    arguments: list[Any],
    rows: list[tuple[Any, ...]],
    expected: list[Any],
    outcome: Outcome,
) -> Wrong:
    ran = prepared.over(f, {}, arguments, len(rows), 1)
    done = np.flatnonzero(ran.status == 0)
    outcome.computed = len(done)
    for lane, made in zip(done.tolist(), prepared.objects(ran, done)):
        wanted = expected[lane]
        if isinstance(wanted, Raised):
            return "raises", f"lane {lane} {rows[lane]!r}: expected {wanted.error!r}, got {shortened(made)}"
        if not same(wanted, made):
            return "differs", f"lane {lane} {rows[lane]!r}: expected {shortened(wanted)}, got {shortened(made)}"
    for lane in np.flatnonzero(ran.status).tolist():
        reason = prepared.kernel.reasons[ran.status[lane] // 256 - 1]
        wanted = expected[lane]
        if isinstance(wanted, Raised):
            if reason.cls not in (None, type(wanted.error)):
                return "left", f"lane {lane} {rows[lane]!r}: expected {wanted.error!r}, left with {reason}"
        elif reason.cls is not None:
            return "left", f"lane {lane} {rows[lane]!r}: expected {shortened(wanted)}, left with {reason}"
        else:
            outcome.reasons[reason.text] = outcome.reasons.get(reason.text, 0) + 1
    return None
