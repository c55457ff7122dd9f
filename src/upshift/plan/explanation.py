"""`up.explain` for a call of `map`: makes ready and measures every gear, and says why others refuse."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns.kinds import Kind
from ..columns.outputs import ClassesLost
from ..config import cores, settings
from ..errors import Refusal
from ..gears.job import Job
from ..gears.loop import OnError, run_loop
from ..gears.pace import Pace
from ..loading import Later
from ..profiling import places
from ..profiling.probes import Seen, watched
from ..profiling.spans import by_phase
from . import parallel
from .arms import Llvm, Optimised, Way, at_any_price
from .assembly import conclude, plain_rows, stacked
from .batched import Batched
from .branches import counted, short, source_data, tree_data
from .explained import Cost, Explanation
from .functions import Function

if TYPE_CHECKING:
    from ..gears import draws, streams
    from ..trace import tree as trees_
    from ..trace.tree import Tree
    from . import batch as batches
else:
    draws, streams, batches = (Later(f"upshift.{name}") for name in ("gears.draws", "gears.streams", "plan.batch"))
    trees_ = Later("upshift.trace.tree")


SWITCHED_OFF = "Upshift is switched off (UPSHIFT_DISABLE=1, or up.config(disable=True)): the loop runs everything"


def explain(job: Job, function: Function) -> Explanation:
    """Trace the function as far as patience goes, measure, and tell. Random generators are put back where they were."""
    job.on_error = "return"  # errors are elements' results, wherever these are computed
    generators = streams.generators_in(job.f, job.shared)
    before = [draws.state_of(generator) for generator in generators]
    try:
        return _explain(job, function)
    finally:
        for generator, state in zip(generators, before, strict=True):
            draws.set_state(generator, state)


def _explain(job: Job, function: Function) -> Explanation:
    name = getattr(job.f, "__qualname__", None) or type(job.f).__name__
    made = Explanation(name.replace("<locals>.", ""), job.n, _elements(job), "loop")
    if job.n == 0:
        made.notes.append("an empty batch: the function is not called")
        return made
    if settings().disable:
        made.notes.append(SWITCHED_OFF)
        return made
    begin = batches.batch  # loaded before it is watched
    assert callable(begin)
    with watched(places.INSIDE, (log := Log()).add):
        _Measured(job, function, made, log).explain()
    return made


class Log:
    """What was seen at Upshift's own places since it was last asked."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def add(self, seen: Seen) -> None:
        self.seen.append(seen)

    @contextmanager
    def phases(self, into: dict[str, float]) -> Iterator[None]:
        """Add the seconds of every phase within the block."""
        self.seen.clear()
        yield
        for phase, seconds in by_phase(self.seen).items():
            into[phase] = into.get(phase, 0.0) + seconds


class _Measured:
    """An explanation on its way: every gear that can be is made ready, run on all elements, and on fewer."""

    def __init__(self, job: Job, function: Function, made: Explanation, log: Log) -> None:
        self.job, self.function, self.made, self.log = job, function, made, log
        self.ledger = function.ledger
        self.once: dict[str, dict[str, float]] = {}
        """By gear: seconds of every phase that were paid to make it ready."""
        self.calls: dict[str, dict[str, float]] = {}
        self.points: dict[str, dict[int, float]] = {}
        self.lanes: Counter[int] = Counter()

    def explain(self) -> None:
        made, ledger, n = self.made, self.ledger, self.job.n
        for arm in ledger.arms[1:]:
            with self.log.phases(self.once.setdefault(arm.name, {})):
                _begin(arm, self.job, self.function)
        few = self.job.part(0, parallel.FEW)
        only_computes = any(arm.open for arm in ledger.arms[1:]) or parallel.why_not_unasked(few) is None
        if only_computes:  # it may be run to be timed
            self._measure_loop()
        self.function.look_for_workers(self.job, n)
        for arm in ledger.arms[1:]:
            if isinstance(arm, Optimised) and not arm.base.open:
                continue
            found = self._measure(arm)
            if isinstance(found, Refusal):
                made.refusals[arm.name] = found
            elif found is not None and arm.name == "numpy":
                _describe(self.function, found, made, self.lanes)
        for arm in ledger.arms:
            if arm.ready and arm.open and arm.line.seen and arm.name not in made.refusals:
                made.seconds[arm.name] = min(arm.seconds(n), made.seconds.get(arm.name, math.inf))
        made.gear = ledger.cheapest(n).name
        if made.gear not in made.seconds:  # nothing was run, or what was stopped is taken to be cheap still
            made.gear = min(made.seconds, key=lambda name: made.seconds[name], default="loop")
        if made.gear == "loop" and self.function.is_slow and only_computes and not settings().workers and cores() > 1:
            made.notes.append(f"workers={cores()} lets elements run in processes, where that pays")
        self._tell_costs()
        made.spent = {phase: self.once.get(made.gear, {}).get(phase, 0.0) for phase in ONCE}
        made.spent |= {phase: s for phase, s in self.calls.get(made.gear, {}).items() if phase not in ONCE}
        made.spent = {phase: made.spent[phase] for phase in places.PHASES if made.spent.get(phase)}
        made.source = source_data(self.job.f, self.function.traces.traced(), tuple(self.job.shared), self.job.exact)

    def _tell_costs(self) -> None:
        """What every gear costs at several sizes; what one is expected to that is neither ready nor refused."""
        for arm in self.ledger.arms:
            if arm.name in self.made.seconds:
                points = sorted(self.points.get(arm.name, {}).items())
                once = sum(self.once.get(arm.name, {}).values())
                cost = Cost(self.made.seconds[arm.name], points, once or arm.price, made=once > 0)
                self.made.costs[arm.name] = cost
            elif arm.open and not arm.ready and arm.name not in self.made.costs and self.made.seconds:
                seconds = arm.seconds(self.job.n)
                if math.isfinite(seconds):
                    self.made.costs[arm.name] = Cost(seconds, [], arm.price, measured=False)

    def _measure_loop(self) -> None:
        """The loop on a few elements, often: the first run of anything is slow."""
        few = self.job.part(0, self._few())
        took = 0.0
        for policy in ("raise", "again", "again", "return"):
            if policy == "again" and took > BRIEF:
                continue
            keeps: OnError = "return" if policy == "return" else "raise"
            self.calls["loop"] = {}
            with self.log.phases(self.calls["loop"]):
                began = time.perf_counter()
                try:
                    stacked(run_loop(few.call, few.columns, keeps), keeps)
                except Exception:
                    continue  # the other runs keep errors in place
                took = time.perf_counter() - began
            self.ledger.ran(self.ledger.arms[0], few.n, took)
        for n in _sizes(few.n)[:-1]:
            part = few.part(0, n)
            for _ in range(3):
                began = time.perf_counter()
                stacked(run_loop(part.call, part.columns, "return"), "return")
                self._point("loop", n, time.perf_counter() - began)
        self._point("loop", self.job.n, self.ledger.arms[0].seconds(self.job.n))

    def _few(self) -> int:
        """Elements that the loop is measured with: as many as are brief, as far as the first one tells."""
        began = time.perf_counter()
        first = self.job.part(0, 1)
        run_loop(first.call, first.columns, "return")
        took = time.perf_counter() - began
        return max(min(self.job.n, 200, int(SAMPLE / max(took, 1e-9))), 1)

    def _point(self, gear: str, n: int, seconds: float) -> None:
        points = self.points.setdefault(gear, {})
        points[n] = min(seconds, points.get(n, math.inf))

    def _measure(self, arm: Any) -> Batched | Refusal | None:
        """A gear on all of these elements, where it is ready or can be made so in reasonable time; then on fewer."""
        job = self.job
        if arm.refusal is not None:
            return arm.refusal  # type: ignore[no-any-return]
        if not math.isfinite(arm.seconds(job.n)):  # it is not for elements such as these
            return None
        if not arm.ready and arm.price > PATIENCE and self.ledger.arms[0].seconds(job.n) < WORTH_COMPILING:
            return None
        once = self.once.setdefault(arm.name, {})
        first: dict[str, float] = {}
        with self.log.phases(first):
            if isinstance(arm, Llvm):
                arm.waited_for = True
                while arm.open and not arm.ready and not arm.busy:
                    arm.build(self.function.by_fields(job), job.n)
                arm.waited_for = False
            arm.longest, arm.overran = LONGEST, False
            began = time.perf_counter()
            with counted() as lanes, at_any_price(arm):
                found: Batched | Refusal | None = arm.run(self.function.by_fields(job))
            first_took = time.perf_counter() - began
            arm.longest = math.inf
        for phase in ONCE:
            if phase in first:
                once[phase] = once.get(phase, 0.0) + first[phase]
        if arm.overran and not isinstance(found, Refusal):
            self.ledger.ran(arm, job.n, max(first_took, self.ledger.arms[0].seconds(job.n)))
            found = Refusal(arm.name, "it is slower than the loop, and was stopped")
        if isinstance(found, Refusal):
            return found
        if arm.name == "numpy":
            self.lanes = lanes
        by_loop = sum(map(len, found.left)) * self.ledger.arms[0].seconds(job.n) / job.n if found is not None else 0.0
        own = first_took - sum(first.get(phase, 0.0) for phase in ONCE)
        if by_loop > PATIENCE:  # it is known what the plain function takes for what is left
            took = first_took + by_loop
        elif (
            own > LONG and found is not None
        ):  # what was paid once is known, and nothing else is different in a second run
            took = own + self._join(arm.name, found, first)
        else:
            found, took = self._run(arm, job)
        if isinstance(found, Refusal):
            return found
        arm.ready = True
        for _ in range(2):  # the first run that it is told of says little to a ledger
            self.ledger.ran(arm, job.n, took)
        self._point(arm.name, job.n, self.made.seconds.get(arm.name, took))
        if isinstance(arm, Llvm) and arm.last is not None and arm.status is not None:
            _describe_left(arm, self.made)
        self._measure_fewer(arm, took)
        return found

    def _join(self, gear: str, found: Batched, first: dict[str, float]) -> float:
        """Seconds of what a call does after a run, which has had these phases; they are what a call has, too."""
        self.calls[gear] = {phase: seconds for phase, seconds in first.items() if phase not in ONCE}
        with self.log.phases(self.calls[gear]):
            began = time.perf_counter()
            _join(self.job, found)
            return time.perf_counter() - began

    def _run(self, arm: Way, job: Job) -> tuple[Batched | Refusal, float]:
        """All that a call in this gear does, and its seconds."""
        self.calls[arm.name] = {}
        with self.log.phases(self.calls[arm.name]), at_any_price(arm):
            began = time.perf_counter()
            found = arm.run(self.function.by_fields(job))
            if not isinstance(found, Refusal):
                _join(job, found)
            took = time.perf_counter() - began
        return found, took

    def _measure_fewer(self, arm: Way, took: float) -> None:
        """The same for so few elements that they take no time: the part of a call that depends on no element."""
        until = time.perf_counter() + max(took if took > LONG else 2 * took, SAMPLE)
        for n in _sizes(self.job.n)[:-1]:
            part = self.job.part(0, n)
            for _ in range(2):
                began = time.perf_counter()
                if arm.name == "numpy":  # which a ledger would not run on so few
                    made = batches.batch(
                        self.function.by_fields(part),
                        self.function.traces,
                        Pace(batches.FORCED, PATIENCE, min(max(took, SAMPLE), PATIENCE)),
                    )
                else:
                    made = arm.run(self.function.by_fields(part))
                if isinstance(made, Refusal):
                    arm.refusal = None
                    return
                left = sum(map(len, made.left)) / n
                if time.perf_counter() + left * self.ledger.arms[0].seconds(n) > until:
                    return
                _join(part, made)
                self._point(arm.name, n, time.perf_counter() - began)


def _sizes(n: int) -> list[int]:
    """Numbers of elements up to these, each eight times the one before.

    >>> _sizes(1000)
    [2, 16, 125, 1000]
    """
    sizes = [n]
    while sizes[-1] >= 16 and len(sizes) < MOST_SIZES:
        sizes.append(round(sizes[-1] / 8))
    return sizes[::-1]


MOST_SIZES = 6
ONCE = (places.CHECK, places.TRACE, places.COMPILE, places.VERIFY)
"""What is paid when a gear is made ready, and not again."""


def _begin(arm: Any, job: Job, function: Function) -> None:
    """The first step of a gear: a trace or a check, which tells whether it can run the function."""
    if not arm.open or arm.ready:
        return
    if arm.name == "numpy":
        made = batches.batch(function.by_fields(job), function.traces, Pace(batches.FORCED, PATIENCE, PATIENCE))
        arm.ready, arm.refusal = not isinstance(made, Refusal), made if isinstance(made, Refusal) else None
    elif isinstance(arm, Llvm) and not arm.sure:
        arm.waited_for = True
        arm.build(function.by_fields(job), job.n)
        arm.waited_for = False


def _join(job: Job, made: Batched) -> None:
    """What a call does besides: elements that are left go to the plain function, and all results together."""
    try:
        conclude(job.n, [plain_rows(job, made, "return")], made.pieces)
    except ClassesLost:
        pass


PATIENCE = 0.5
"""Seconds that an explanation may spend on making a gear ready that the elements at hand do not pay for."""
LONGEST = 5.0
"""Seconds that one run of a gear may take while it is measured; one that takes longer than the loop is stopped, too."""
LONG = 20e-3
"""Seconds of a run from which on there is no second one to measure it."""
BRIEF = 5e-3
"""Seconds of the loop on a sample up to which it is run four times in place of twice."""
SAMPLE = 50e-3
"""Seconds of the elements that the loop is measured with, some ten times."""
WORTH_COMPILING = 10e-3
"""Seconds of the loop from which on an explanation does that all the same."""


def _describe_left(arm: Llvm, made: Explanation) -> None:
    """Why machine code has left lanes to the plain function, with the lines."""
    assert arm.last is not None
    made.left = int((arm.status != 0).sum())
    made.left_because.clear()  # what a batch leaves is another matter: machine code is the one that is used
    for reason, count in arm.last.reasons(arm.status)[:5]:
        made.left_because.append((count, short(reason)))


def _describe(function: Function, batched: Batched, made: Explanation, lanes: Counter[int]) -> None:
    trees = [variants[0] for variants in function.traces.trees.values() if variants]
    made.paths = sum(tree.paths for tree in trees)
    made.steps = sum(len(node.steps) for tree in trees for node in tree.nodes())
    made.longest = max((_longest(tree) for tree in trees), default=0)
    made.left = len(np.concatenate(batched.left)) if batched.left else 0
    if made.left:
        made.left_because.append((made.left, _why_left(trees)))
    if trees:
        made.tree = tree_data(max(trees, key=lambda tree: lanes[id(tree.root)]), lanes)
    if len(trees) > 1:
        made.notes.append(f"elements are of {len(trees)} kinds, each with its paths; those of the most are shown")


def _why_left(trees: list[Tree]) -> str:
    errors = sorted({f"{end.error} at {short(end.where)}" for tree in trees for end in _ends(tree, trees_.Raises)})
    return "; ".join(errors[:3]) if errors else "beyond 64 bits, or on a path not worth a trace"


def _ends(tree: Tree, cls: type) -> list[Any]:
    return [node.end for node in tree.nodes() if isinstance(node.end, cls)]


def _longest(tree: Tree) -> int:
    if tree.root is None:
        return 0
    most, pending = 0, [(tree.root, 0)]
    while pending:
        node, above = pending.pop()
        most = max(most, above + len(node.steps))
        pending += [(child, above + len(node.steps)) for child in node.children()]
    return most


def _elements(job: Job) -> str:
    group = job.groups()[0] if job.n else None
    if group is None or group.lanes is None:
        return ", ".join(type(job.row(0)[i]).__name__ for i in range(len(job.columns))) if job.n else "none"
    kinds: list[Kind] = list(group.lanes.kinds)
    more = f", in {len(job.groups())} groups" if len(job.groups()) > 1 else ""
    return ", ".join(kind.name for kind in kinds[:6]) + ("..." if len(kinds) > 6 else "") + more


__all__ = ["Explanation", "explain"]
