"""The ways to run a map, as arms of its ledger: how each is made ready, what it is expected to cost, how it runs."""

from __future__ import annotations

import itertools
import logging
import math
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import verify
from ..columns.inputs import Elements, take
from ..columns.outputs import Placed
from ..compiler.rows.nests import underflow_is_told
from ..config import settings
from ..errors import Refusal
from ..gears.binder import MISS
from ..gears.frameworks import why_no_gpu
from ..gears.job import Job
from ..gears.llvm import columns as llvm_columns
from ..gears.llvm import entry
from ..gears.llvm import gear as llvm
from ..gears.llvm.columns import NotColumns
from ..gears.pace import Pace
from ..loading import Later
from . import prices
from .batched import Batched
from .ledger import TRIES, Arm, Ledger
from .machine import Machines, run_machine
from .traces import Traces

if TYPE_CHECKING:
    from ..emit import select, select_rows
    from . import batch as batches
else:
    batches = Later("upshift.plan.batch")
    select, select_rows = Later("upshift.emit.select"), Later("upshift.emit.select_rows")

log = logging.getLogger("upshift")
FEW = 16
"""Elements that a trace begins with."""
MANY = 1024
"""Elements with which vector code is begun: it computes all paths that they take."""
FEW_ITEMS = 4
"""Numbers in an element from which on loops over them are not worth a trace."""
STALL = 20e-3
"""A compilation that takes longer than this is made on another thread, while the call goes on as it is; so is one that
only makes better code of what runs already, however long it is said to take: LLVM frees the interpreter."""
OVERRUN = 1.5
"""How many times as long as expected a check or a trace may take; it is begun again when thrice that pays."""
PLAINLY = 0.7
"""The share of what is left of a call that a compilation and its code may take to be made at once, however long."""
MOST_PREPARED = 16
SHORTEST = 20e-3
"""Seconds that machine code of unknown speed may take in any case."""
LONG = 1e-3
"""Seconds of a job from which on threads and columns are better than one callable for all."""
SAMPLE = 10
"""Lanes of new machine code that are compared with the plain function."""
_SPOTS = random.Random(1)  # our own: the user's random state is never touched


@dataclass(slots=True)
class Items:
    """About how many numbers are read out of an element: of its lists, and of its tuples, dicts and objects."""

    listed: float = 0.0
    fields: float = 0.0
    named: list[Any] = field(default_factory=list)
    picked: float = 0.0
    """Seconds that it takes to pick the fields that are read out of a record whose fields have names."""

    def count(self, element: Any) -> None:
        if isinstance(element, list):
            for item in itertools.islice(element, MOST_COUNTED):
                self.count(item)
        elif isinstance(element, tuple):
            self.fields += len(element)
        elif isinstance(element, dict) or hasattr(element, "__dict__"):
            self.named.append(element)
        else:
            self.listed += 1

    def read_by(self, f: Any) -> None:
        """Of a record whose fields have names, those are read that the function's code names."""
        code = getattr(f, "__code__", None)
        for element in self.named:
            names: Any = element if isinstance(element, dict) else vars(element)
            if code is None:
                self.fields += len(names)
                continue
            words = {*code.co_names, *[const for const in code.co_consts if type(const) is str]}
            self.picked += prices.RECORD + prices.PICKED * len(words.intersection(names))


MOST_COUNTED = 64


@dataclass(slots=True, eq=False)
class Way(Arm):
    """An arm of a map."""

    def build(self, job: Job) -> None:
        """One step towards being ready; sets `ready`, or `refusal`, or the price of the next step."""

    def run(self, job: Job) -> Batched | Refusal:
        """Results of a job, and positions of elements that are the plain function's."""
        raise NotImplementedError

    def expect(self, per_element: float) -> None:
        """What the loop takes for an element is known now."""


class Loop(Way):
    """Plain Python: always ready."""

    def __init__(self) -> None:
        super().__init__("loop", ready=True, sure=True)


class Numpy(Way):
    """The traced function, batched by NumPy."""

    def __init__(self, f: Any, traces: Traces, ledger: Callable[[], Ledger], of_arrays: bool, items: Items) -> None:
        super().__init__("numpy", guess=self._guess)
        self.f, self.traces, self.ledger, self.of_arrays, self.items = f, traces, ledger, of_arrays, items
        _, _, loops = prices.size_of(f)
        if loops and items.listed > FEW_ITEMS and not of_arrays:
            self.refusal = Refusal("numpy", "its elements are lists, and it has loops: a path for nearly every one")
        self.price = prices.trace_price(f, of_arrays, 0.0)

    def expect(self, per_element: float) -> None:
        """The loop's speed is known: a trace of long calls takes longer."""
        if not self.ready:
            self.price = prices.trace_price(self.f, self.of_arrays, per_element)

    def _guess(self, n: int) -> float:
        loop = self.ledger().arms[0].seconds(n)
        least = max(loop - n * prices.BATCH_OF_ARRAYS, 0.0) if self.of_arrays else 0.0
        reading = self.items.listed * prices.COLUMN_ITEM + self.items.fields * prices.FIELD + self.items.picked
        return prices.BATCH_CALL + n * reading + max(loop / prices.BATCH_GAIN, least)

    def build(self, job: Job) -> None:
        batches.batch  # noqa: B018  (loaded before the clock is looked at: loading has a price of its own)
        began, price = time.perf_counter(), prices.trace_price(self.f, self.of_arrays, self._rate(job))
        allowed = max(self.ledger().allowance(job.n), OVERRUN * price)
        made = batches.batch(job.part(0, FEW), self.traces, Pace(self._rate(job), allowed), trial=True)
        took = time.perf_counter() - began
        if isinstance(made, Refusal) and not self.traces.draws:  # numbers are drawn once, when all elements are run
            self.refusal = made
        elif isinstance(made, Batched) and sum(map(len, made.left)) >= min(job.n, FEW):  # not one was traced in time
            self.price = 2 * OVERRUN * max(took, price)
        else:
            prices.learn("trace", price, took)
            self.ready = True

    def _loop(self, job: Job) -> float:
        return self.ledger().arms[0].seconds(job.n)

    def _rate(self, job: Job) -> float:
        return self._loop(job) / job.n

    def run(self, job: Job) -> Batched | Refusal:
        made = batches.batch(job, self.traces, Pace(self._rate(job), 0.1 * self._loop(job)))
        if isinstance(made, Refusal):
            self.refusal = made
        return made


class Llvm(Way):
    """The function itself as machine code, by our own compiler: quickly made, see `Optimised`."""

    quick = True

    def __init__(self, f: Any, ledger: Callable[[], Ledger], items: Items) -> None:
        super().__init__("llvm", guess=self._guess)
        self.f, self.ledger, self.items = f, ledger, items
        self.price = prices.check_price(f)
        self.checked: dict[Any, Any] = {}
        self.prepared: dict[Any, list[llvm.Prepared]] = {}
        self.trusted: set[int] = set()
        self.status: Any = None
        """Of the last run: why lanes were left."""
        self.last: llvm.Prepared | None = None
        self.direct: Callable[..., Any] | None = None
        """A C-level callable for columns as they were in the last run, where that left no lane."""
        self.entries: dict[int, Callable[..., Any] | None] = {}
        self.is_optimised = False
        """Whether its machine code cannot be made any better."""
        self.better: Optimised | None = None

    def _guess(self, n: int) -> float:
        loop = self.ledger().arms[0].seconds(n)
        lanes = max(loop / prices.KERNEL_GAIN, n * prices.KERNEL_LANE)
        reading = self.items.listed * prices.LIST_ITEM + self.items.fields * prices.FIELD_OF_TUPLE + self.items.picked
        return prices.KERNEL_CALL + n * reading + lanes

    def build(self, job: Job) -> None:
        """First the check, which needs no LLVM and says what the rest costs; then the compilation."""
        try:
            arguments = [llvm_columns.read(column[:FEW]) for column in job.columns]
        except NotColumns as reason:
            self.refusal = Refusal(llvm.GEAR, str(reason))
            return
        keys = tuple(argument.key for argument in arguments)
        if keys not in self.checked:
            began = time.perf_counter()
            limit = math.inf if self.waited_for else min(OVERRUN * self.price, self.ledger().allowance(job.n))
            checked = llvm.check(job.f, keys, job.shared, limit)
            if checked is None:
                self.price *= 2 * OVERRUN
                return
            if isinstance(checked, Refusal):
                self.refusal = checked
                return
            prices.learn("check", self.price, time.perf_counter() - began)
            self.checked[keys] = checked
            self.price = prices.code_price(checked.size)
            self.sure = not checked.unit.doubts
            return
        if not llvm.is_loaded():  # on another thread it would take many times as long, beside a loop in Python
            llvm.load()
            self.price = prices.code_price(self.checked[keys].size)
        self._here_or_elsewhere(job, lambda: self._compile(keys))

    waited_for = False
    """Whether somebody wants to see it ready, however long that takes."""

    def _compile(self, keys: Any) -> None:
        checked = self.checked.pop(keys)
        began = time.perf_counter()
        expected = prices.code_price(checked.size)
        made = llvm.prepare(checked, self.quick)
        if isinstance(made, Refusal):
            self.refusal = made
            return
        if not made.kernel.optimised:  # else it came from the disk
            prices.learn("code", expected, time.perf_counter() - began)
        made.steps, self.is_optimised = checked.size, made.kernel.optimised
        if self.better is not None:
            self.better.price = prices.optimised_price(checked.size)
        self.prepared.setdefault(keys, []).insert(0, made)
        self.ready = True

    def _here_or_elsewhere(self, job: Job, compile_: Callable[[], None]) -> None:
        """What takes long, and is not paid for by what is left of the call, is made on another thread meanwhile."""
        rest = self.ledger().cheapest(job.n).seconds(job.n)
        pays = self.price + self.seconds(job.n) < PLAINLY * rest
        if (self.price <= STALL and self.quick) or pays or settings().num_threads == 1 or self.waited_for:
            return compile_()
        self.busy = True

        def work() -> None:
            try:
                compile_()
            finally:
                self.busy = False

        threading.Thread(target=work, name="upshift compiles", daemon=True).start()
        return None

    def run(self, job: Job) -> Batched | Refusal:
        result = self._directly(job)
        if result is not MISS:
            return Batched(result)
        made = Batched()
        if underflow_is_told():  # which machine code does not see
            made.left.append(np.arange(job.n))
            return made
        try:
            refused = self._group(job, None, made)
        except NotColumns as reason:
            refused = self._groups(job, made, str(reason))
        if refused is not None:
            self.refusal = refused
            return refused
        return made

    def _groups(self, job: Job, made: Batched, reason: str) -> Refusal | None:
        """Elements of several kinds: machine code for each of them. `reason`: why they are not of one kind."""
        for group in job.groups():
            if group.index is None:
                return Refusal(llvm.GEAR, group.reason or reason)
            rows = [take(column, group.index) for column in job.columns]
            part = Job(job.f, rows, job.shared, len(group.index), job.exact)
            try:
                refused = self._group(part, group.index, made)
            except NotColumns:
                made.left.append(group.index)
                continue
            if refused is not None:
                return refused
        return None

    def _group(self, job: Job, index: Any, made: Batched) -> Refusal | None:
        arguments = [llvm_columns.read(column) for column in job.columns]
        keys = tuple(argument.key for argument in arguments)
        found = self._over(keys, job, arguments)
        if isinstance(found, Refusal):
            return found
        prepared, ran = found
        changed = prepared.changes(ran.status)
        if changed is not None:  # the caller's lists, which the loop changes one after the other
            return changed
        if id(prepared) not in self.trusted:
            reason = self._distrust(job, prepared, ran)
            if reason is not None:
                log.warning("upshift: results of the llvm gear are not used: %s", reason)
                return Refusal(llvm.GEAR, f"its result is not the loop's: {reason}")
            self.trusted.add(id(prepared))
        self.status, self.last = ran.status, prepared
        self.overran |= ran.overran
        self.direct = None if len(ran.left) else self._entry(prepared, keys)
        made.add(ran.pieces, [ran.left] if len(ran.left) else [], index)
        return None

    def _over(self, keys: Any, job: Job, arguments: Any) -> tuple[llvm.Prepared, llvm.Ran] | Refusal:
        """The machine code for what the function captures now, and what it made; compiled where there is none."""
        threads, limit = settings().num_threads, self._limit(job)
        variants = self.prepared.setdefault(keys, [])
        for prepared in list(variants):
            try:
                return prepared, prepared.over(job.f, job.shared, arguments, job.n, threads, limit)
            except llvm.NotReady:
                continue
        checked = llvm.check(job.f, keys, job.shared)
        assert checked is not None
        prepared_ = checked if isinstance(checked, Refusal) else llvm.prepare(checked, self.quick)
        if isinstance(prepared_, Refusal):
            return prepared_
        variants.insert(0, prepared_)
        del variants[MOST_PREPARED:]
        try:
            return prepared_, prepared_.over(job.f, job.shared, arguments, job.n, threads, limit)
        except llvm.NotReady:
            return Refusal(llvm.GEAR, "what it captured changes while it runs")

    def _limit(self, job: Job) -> float:
        """Seconds that machine code of unknown speed may take: the loop's, which runs what is left then."""
        if self.runs >= TRIES or self.waited_for:
            return math.inf
        return SHORTEST + self.ledger().arms[0].seconds(job.n)

    def _entry(self, prepared: llvm.Prepared, keys: Any) -> Callable[..., Any] | None:
        if id(prepared) not in self.entries:
            signature = entry.signature_of(prepared.kernel, keys)
            self.entries[id(prepared)] = None if signature is None else entry.entry_of(prepared.kernel, signature)
            prepared.whole = signature is not None and signature.whole
        return self.entries[id(prepared)]

    def _directly(self, job: Job) -> Any:
        """Pieces of a brief job, by the C-level callable that looks at its columns itself; or MISS."""
        prepared, call = self.last, self.direct
        if call is None or prepared is None or job.shared or job.n * prepared.flat_rate > LONG or underflow_is_told():
            return MISS
        captured = prepared.address(job.f)
        if captured is MISS:
            return MISS
        result = call(captured, *job.columns)
        return MISS if result is NotImplemented else prepared.pieces_of_entry(result, job.n)

    def _distrust(self, job: Job, prepared: llvm.Prepared, ran: llvm.Ran) -> str | None:
        """New machine code is compared with the plain function on some lanes; why it is not the same."""
        if not settings().verify:
            return None
        done = np.flatnonzero(ran.status == 0)
        if not len(done):
            return None
        chosen = {0, 1, len(done) - 1, *(_SPOTS.randrange(len(done)) for _ in range(SAMPLE - 3))}
        lanes = done[sorted(i for i in chosen if i < len(done))]
        results = dict(zip(lanes.tolist(), prepared.objects(ran, lanes)))
        plain = job.whole or job
        return verify.check(plain.call, plain.row, results, True, list(results))


class Optimised(Llvm):
    """The same machine code by all of LLVM's optimisations: two to three times as fast, at several times the price."""

    quick = False

    def __init__(self, f: Any, ledger: Callable[[], Ledger], items: Items, base: Llvm) -> None:
        super().__init__(f, ledger, items)
        self.base, self.after, self.sure = base, base, True
        self.price = prices.optimised_price(prices.EXPECTED_STEPS)
        base.better = self

    @property
    def open(self) -> bool:
        return self.refusal is None and self.base.open

    def _guess(self, n: int) -> float:
        before = self.base.seconds(n)
        if self.base.is_optimised:
            return before
        reading = self.items.listed * prices.LIST_ITEM + self.items.fields * prices.FIELD_OF_TUPLE + self.items.picked
        fixed = min(prices.KERNEL_CALL + n * reading, before)
        return fixed + (before - fixed) / prices.OPTIMISED_GAIN

    def build(self, job: Job) -> None:
        """All machine code that the quick way has so far, again."""
        if not self.base.open:
            self.refusal = self.base.refusal
            return
        self._here_or_elsewhere(job, self._optimise)

    def _optimise(self) -> None:
        for keys, variants in list(self.base.prepared.items()):
            for prepared in variants:
                began, steps = time.perf_counter(), prepared.steps
                again = prepared.kernel.optimised
                self.prepared.setdefault(keys, []).append(prepared.as_optimised())
                if not again:
                    prices.learn("optimised", prices.optimised_price(steps), time.perf_counter() - began)
        self.ready = True


class Simd(Way):
    """The traced function without branches, as vector code with vector maths."""

    def __init__(self, f: Any, ledger: Callable[[], Ledger], traces: Traces, items: Items) -> None:
        super().__init__("simd", guess=self._guess)
        self.f, self.ledger, self.traces, self.items = f, ledger, traces, items
        self.machines = Machines("simd")
        self.price = prices.trace_price(f, False, 0.0)

    def expect(self, per_element: float) -> None:
        """The loop's speed is known: a trace of long calls takes longer."""
        if not self.ready and not self.sure:
            self.price = prices.trace_price(self.f, False, per_element)

    def _guess(self, n: int) -> float:
        loop = self.ledger().arms[0].seconds(n)
        return prices.BATCH_CALL + n * self.items.listed * prices.COLUMN_ITEM + loop / prices.SIMD_GAIN

    def build(self, job: Job) -> None:
        """First the trace, which tells whether there is such a program and how long it is; then the compilation."""
        part = job.part(0, min(job.n, MANY))
        if not self.sure:
            rate = self.ledger().arms[0].seconds(job.n) / job.n
            batches.batch(part, self.traces, Pace(rate, self.ledger().allowance(job.n)), trial=True)
            tree = self.traces.traced()
            try:
                if tree is None or tree.root is None:
                    raise select_rows.NoSelect("it could not be traced")
                self.price, self.sure = prices.optimised_price(2 * len(select.select_of(tree).lines)), True
            except select_rows.NoSelect as reason:
                self.refusal = Refusal("simd", str(reason))
            return
        made = run_machine(part, self.machines, self.traces.tree_of)
        self.ready = not isinstance(made, Refusal)
        self.refusal = made if isinstance(made, Refusal) else None

    def run(self, job: Job) -> Batched | Refusal:
        made = run_machine(job, self.machines, self.traces.tree_of)
        if isinstance(made, Refusal):
            self.refusal = made
        return made


class Cuda(Way):
    """A kernel of one thread for every element, on a GPU."""

    def __init__(self, ledger: Callable[[], Ledger], traces: Traces) -> None:
        super().__init__("cuda", guess=self._guess)
        self.ledger, self.traces, self.machines = ledger, traces, Machines("cuda")
        self.price = prices.GPU

    def _guess(self, n: int) -> float:
        loop = self.ledger().arms[0].seconds(n)
        return prices.GPU_CALL + loop / prices.GPU_GAIN + n * 32 / prices.GPU_TRAVELS

    def build(self, job: Job) -> None:
        missing = why_no_gpu()
        if missing:
            self.refusal = Refusal(self.name, missing)
            return
        part = job.part(0, FEW)
        if self.traces.traced() is None:
            batches.batch(part, self.traces, Pace(1e9, 0.1), trial=True)
        made = run_machine(part, self.machines, self.traces.tree_of)
        self.ready = not isinstance(made, Refusal)
        self.refusal = made if isinstance(made, Refusal) else None

    def run(self, job: Job) -> Batched | Refusal:
        made = run_machine(job, self.machines, self.traces.tree_of)
        if isinstance(made, Refusal):
            self.refusal = made
        return made


HAS_GPU = os.path.exists("/dev/nvidiactl") or sys.platform == "win32"
"""Whether it is worth asking for a GPU, which takes longer than most calls."""


def arms_of(
    f: Any, columns: Sequence[Elements], traces: Traces, ledger: Callable[[], Ledger], exact: bool
) -> list[Way]:
    """The ways that there are to map a function over such elements; the loop is the first."""
    firsts = [column[0] if len(column) else None for column in columns]
    of_arrays = any(isinstance(first, np.ndarray) for first in firsts)
    items = Items()
    for first, column in zip(firsts, columns):
        if not isinstance(column, np.ndarray):
            items.count(first)
    items.read_by(f)
    items.named.clear()
    ways: list[Way] = [Loop(), Numpy(f, traces, ledger, of_arrays, items)]
    base = Llvm(f, ledger, items)
    ways += [base, Optimised(f, ledger, items, base)]
    ways[1].after = base
    of_floats = any(isinstance(first, float | np.floating) for first in firsts)
    if not exact and of_floats and not of_arrays and not items.fields and not items.picked and prices.uses_maths(f):
        ways.append(Simd(f, ledger, traces, items))
        ways[-1].after = base
    if HAS_GPU:
        ways.append(Cuda(ledger, traces))
    return ways


__all__ = ["Items", "Placed", "Way", "arms_of"]
