"""The ways to run a map, as arms of its ledger: how each is made ready, what it is expected to cost, how it runs."""

from __future__ import annotations

import functools
import itertools
import logging
import math
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import verify
from ..columns.inputs import Elements, take
from ..columns.outputs import Placed
from ..compiler.rows.nests import underflow_is_told
from ..config import settings
from ..errors import Refusal
from ..gears.capture_reader import MISS
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
from .ledger import TRIES, Arm, Ledger, Line
from .machine import Machines, prepare_machine, run_machine
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
"""Elements that tell how an arm is made ready, and with which vector code is begun: it computes all their paths."""
FEW_ITEMS = 4
"""Numbers in an element from which on loops over them are not worth a trace."""
STALL = 6e-3
"""A compilation that takes longer than this is made on another thread, while the call goes on as it is; so is one that
only makes better code of what runs already, however long it is said to take: LLVM frees the interpreter. So are LLVM
itself and the modules that trace functions, when they are loaded."""
OVERRUN = 1.5
"""How many times as long as expected a check or a trace may take; it is begun again when thrice that pays."""
BRIEF_CHECK = 3e-3
"""A check that is expected to take longer than this is made on another thread, and not broken off so soon."""
LONGEST_CHECK = 1.0
"""Seconds that it may take there in any case, beside whatever else runs."""
PLAINLY = 0.7
"""The share of what is left of a call that a compilation and its code may take to be made at once, however long."""
MOST_PREPARED = 16
SHORTEST = 20e-3
"""Seconds that machine code of unknown speed may take in any case, and a batch by NumPy that somebody wants to see."""
SURPRISE = 4.0
"""How many times as long as it always did a batch by NumPy may take, if that is more than twice the loop's time."""
LONG = 1e-3
"""Seconds of a job from which on threads and columns are better than one callable for all."""
SLOW = 50e-6
"""Seconds of an element from which on workers are thought of: most functions never have arms of theirs."""
SAMPLE = 10
"""Lanes of new machine code that are compared with the plain function."""
_SPOTS = random.Random(1)  # our own: the user's random state is never touched


@dataclass(slots=True)
class Items:
    """About how many numbers are read out of an element: of its lists, and of its tuples, dicts and objects."""

    listed: float = 0.0
    fields: float = 0.0
    named: list[Any] = field(default_factory=list)
    expected: float = 0.0
    nested: bool = False
    """Whether elements are arrays or lists."""

    @property
    def picked(self) -> float:
        """Seconds that it takes to pick the fields that are read out of a record whose fields have names."""
        return self.expected * prices.factor("fields")

    def count(self, element: Any) -> None:
        """Counts an element's numbers, those of the first items of lists included."""
        self.nested |= isinstance(element, list | np.ndarray)
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
            of_numbers = [isinstance(names[word], int | float) for word in words.intersection(names)]
            self.expected += prices.RECORD + sum(prices.PICKED if one else prices.PICKED_OBJECT for one in of_numbers)


MOST_COUNTED = 64


@dataclass(slots=True, eq=False)
class Way(Arm):
    """An arm of a map."""

    longest: float = math.inf
    """Seconds that a run of unknown speed may take, however long the loop's is."""
    at_any_price: bool = False
    """Whether what a run lacks is made at once: somebody has named this gear, or wants to see it."""

    def build(self, job: Job, n: int) -> None:
        """One step towards being ready, for n elements; sets `ready`, or `refusal`, or the price of the next step.

        `job`: the first of them, `MANY` at most, from which it can be seen what they are.
        """

    def run(self, job: Job) -> Batched | Refusal:
        """Results of a job, and positions of elements that are the plain function's."""
        raise NotImplementedError

    def expect(self, per_element: float) -> None:
        """What the loop takes for an element is known now."""

    def most(self, n: int) -> int:
        """How many of n elements it is given at once."""
        return n

    def here_or_elsewhere(self, ledger: Ledger, n: int, price: float, work: Callable[[], None], here: bool) -> None:
        """What takes long, and is not paid for by what is left of the call, is done on another thread meanwhile."""
        pays = price + self.seconds(n) < PLAINLY * ledger.cheapest(n).seconds(n)
        return work() if here or pays or settings().num_threads == 1 else self.elsewhere(work)

    def elsewhere(self, work: Callable[[], None]) -> None:
        """Some work on another thread, while calls go on as they are."""
        self.busy = True

        def run() -> None:
            try:
                work()
            finally:
                self.busy = False

        threading.Thread(target=run, name="upshift prepares", daemon=True).start()


@contextmanager
def at_any_price(arm: Way) -> Iterator[None]:
    """Within the block, what a run lacks is made, whatever it costs."""
    arm.at_any_price = True
    try:
        yield
    finally:
        arm.at_any_price = False


class Loop(Way):
    """Plain Python: always ready."""

    def __init__(self) -> None:
        super().__init__("loop", ready=True, sure=True, line=Line(most_fixed=prices.LOOP_CALL))


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

    def build(self, job: Job, n: int) -> None:
        """First what traces functions is loaded, once in a process; then a few elements are traced."""
        groups = job.part(0, FEW).groups()
        if all(group.lanes is None for group in groups):
            self.refusal = Refusal("numpy", groups[0].reason)
            return None
        if not prices.tracing_is_loaded():
            return self.here_or_elsewhere(self.ledger(), n, prices.TRACING, self._load, False)
        return self._trace(job, n)

    def _load(self) -> None:
        batches.batch  # noqa: B018
        self.price = max(self.price - prices.TRACING, prices.trace_price(self.f, self.of_arrays, 0.0))

    def _trace(self, job: Job, n: int) -> None:
        rate = self.ledger().arms[0].seconds(n) / n
        began, price = time.perf_counter(), prices.trace_price(self.f, self.of_arrays, rate)
        allowed = max(self.ledger().allowance(n), OVERRUN * price)
        made = batches.batch(job.part(0, FEW), self.traces, Pace(rate, allowed, allowed), trial=True)
        took = time.perf_counter() - began
        if isinstance(made, Refusal) and not self.traces.draws:  # numbers are drawn once, when all elements are run
            self.refusal = made
        elif isinstance(made, Batched) and sum(map(len, made.left)) >= min(job.n, FEW):  # not one was traced in time
            self.price = 2 * OVERRUN * max(took, price, self.price)
        else:
            prices.learn("trace", price, took)
            self.ready = True

    def run(self, job: Job) -> Batched | Refusal:
        loop = self.ledger().arms[0].seconds(job.n)
        limit = loop if self.runs < TRIES else max(2 * loop, SURPRISE * self.seconds(job.n))
        least = SHORTEST if self.at_any_price else 0.0
        pace = Pace(loop / job.n, max(0.1 * loop, least), max(min(limit, self.longest), least))
        made = batches.batch(job, self.traces, pace)
        if isinstance(made, Refusal):
            self.refusal = made
        else:
            self.overran |= made.overran
        return made


class Llvm(Way):
    """The function itself as machine code, by our own compiler: quickly made, see `Optimised`."""

    quick = True

    def __init__(self, f: Any, ledger: Callable[[], Ledger], items: Items) -> None:
        super().__init__("llvm", guess=self._guess)
        self.f, self.ledger, self.items = f, ledger, items
        self.price = prices.check_price(f, items.nested)
        self.checked: dict[Any, Any] = {}
        self.prepared: dict[Any, list[llvm.Prepared]] = {}
        self.steps = 0
        """About how much code there is in what was made last."""
        self.owed: dict[Any, float] = {}
        """Seconds of the loop for want of machine code, by the kinds of elements."""
        self.lock = threading.RLock()
        self.trusted: set[int] = set()
        self.status: Any = None
        """Of the last run: why lanes were left."""
        self.last: llvm.Prepared | None = None
        self.direct: Callable[..., Any] | None = None
        """A C-level callable for columns as they were in the last run, where that left no lane."""
        self.entries: dict[int, Callable[..., Any] | None] = {}
        self.left = 0.0
        """The share of the lanes that the last run left."""
        self.is_optimised = False
        """Whether its machine code cannot be made any better."""
        self.better: Optimised | None = None

    def _guess(self, n: int) -> float:
        loop = self.ledger().arms[0].seconds(n)
        lanes = max(loop / prices.KERNEL_GAIN, n * prices.KERNEL_LANE)
        reading = self.items.listed * prices.LIST_ITEM + self.items.fields * prices.FIELD_OF_TUPLE + self.items.picked
        return prices.KERNEL_CALL + n * reading + lanes

    def build(self, job: Job, n: int) -> None:
        """First the check, which needs no LLVM and says what the rest costs; then LLVM, loaded once in a process; then
        the compilation."""
        try:
            arguments = [llvm_columns.read(column[:FEW]) for column in job.columns]
        except NotColumns as reason:
            self.refusal = Refusal(llvm.GEAR, str(reason))
            return
        keys = tuple(argument.key for argument in arguments)
        if keys not in self.checked:
            if self.waited_for:
                return self._check(job, keys, math.inf)
            if self.price <= BRIEF_CHECK or settings().num_threads == 1:
                return self._check(job, keys, min(OVERRUN * self.price, self.ledger().allowance(n)))
            return self.elsewhere(lambda: self._check_elsewhere(job, keys))
        if not llvm.is_loaded():
            llvm.find()
            work = functools.partial(self._load, self.checked[keys].size)
            return self.here_or_elsewhere(self.ledger(), n, self.price, work, self.waited_for)
        here = (self.price <= STALL and self.quick) or self.waited_for
        self.here_or_elsewhere(self.ledger(), n, self.price, lambda: self._compile(keys), here)

    def _load(self, steps: int) -> None:
        try:
            llvm.load()
        except (ImportError, OSError, RuntimeError) as error:
            self.refusal = Refusal(llvm.GEAR, f"LLVM cannot be loaded: {error}")
        self.price = prices.code_price(steps, self.items.nested)

    def _check(self, job: Job, keys: Any, limit: float) -> None:
        began = time.thread_time()  # beside a call it waits for the interpreter as often as not
        checked = llvm.check(job.f, keys, job.shared, limit)
        if checked is None:
            self.price *= 2 * OVERRUN
        elif isinstance(checked, Refusal):
            self.refusal = checked
        else:
            prices.learn("check", self.price, time.thread_time() - began)
            self.checked[keys] = checked
            self.price = prices.code_price(checked.size, self.items.nested)
            self.sure = not checked.unit.doubts

    def _check_elsewhere(self, job: Job, keys: Any) -> None:
        """What is broken off is lost, and nobody waits for this one: it has all the time that it may need."""
        began = time.thread_time()
        self._check(job, keys, max(prices.FARTHEST * self.price, LONGEST_CHECK))
        self.ledger().built(self, time.thread_time() - began, False)

    waited_for = False
    """Whether somebody wants to see it ready, however long that takes."""

    def _compile(self, keys: Any) -> None:
        checked = self.checked.pop(keys)
        began = time.perf_counter()
        expected = prices.code_price(checked.size, self.items.nested)
        made = llvm.prepare(checked, self.quick)
        if isinstance(made, Refusal):
            self.refusal = made
            return
        if not made.kernel.optimised:  # else it came from the disk
            prices.learn("code", expected, time.perf_counter() - began)
        self.steps = checked.size
        self.is_optimised = made.kernel.optimised
        if self.better is not None:
            self.better.expect_code(made.kernel.written)
        self.prepared.setdefault(keys, []).insert(0, made)
        self.ready = True

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
        self.left = sum(map(len, made.left)) / job.n
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
        if found is None:
            made.left.append(np.arange(job.n) if index is None else index)
            return None
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

    def _over(self, keys: Any, job: Job, arguments: Any) -> tuple[llvm.Prepared, llvm.Ran] | Refusal | None:
        """The machine code for what the function captures now, and what it made; None where there is none yet."""
        threads, limit = settings().num_threads, self._limit(job)
        variants = self.prepared.setdefault(keys, [])
        for prepared in list(variants):
            try:
                return prepared, prepared.over(job.f, job.shared, arguments, job.n, threads, limit)
            except llvm.NotReady:
                continue
        new = self._new(keys, job)
        if not isinstance(new, llvm.Prepared):
            return new
        try:
            return new, new.over(job.f, job.shared, arguments, job.n, threads, limit)
        except llvm.NotReady:
            return Refusal(llvm.GEAR, "what it captured changes while it runs")

    def _new(self, keys: Any, job: Job) -> llvm.Prepared | Refusal | None:
        """Machine code for kinds, or for captured values, that are new: made when the loop has cost as much as that."""
        with self.lock:
            steps, nested = self.steps or prices.EXPECTED_STEPS, self.items.nested
            price = prices.check_price(self.f, nested) + prices.code_price(steps, nested)
            self.owed[keys] = self.owed.get(keys, 0.0) + self.ledger().arms[0].seconds(job.n)
            if self.owed[keys] < price and not (self.at_any_price or self.waited_for):
                return None
            del self.owed[keys]
            checked = llvm.check(job.f, keys, job.shared)
            assert checked is not None
            made = checked if isinstance(checked, Refusal) else llvm.prepare(checked, self.quick)
            if isinstance(made, llvm.Prepared) and not isinstance(checked, Refusal):
                self.steps = checked.size
                variants = self.prepared.setdefault(keys, [])
                variants.insert(0, made)
                del variants[MOST_PREPARED:]
            return made

    def _limit(self, job: Job) -> float:
        """Seconds that machine code of unknown speed may take: the loop's, which runs what is left then."""
        if self.runs >= TRIES or self.waited_for or self.at_any_price:
            return math.inf
        return SHORTEST + min(self.ledger().arms[0].seconds(job.n), self.longest)

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
        self.base, self.after, self.builds_on_it, self.sure = base, base, True, True
        self.made: dict[int, llvm.Prepared] = {}
        """Quick code that was made again, by its id."""
        self.price, self.gain = prices.optimised_price(prices.EXPECTED_CHARACTERS), prices.OPTIMISED_GAIN
        base.better = self

    def expect_code(self, written: Any) -> None:
        """What is to be optimised is known: what that costs, and how much faster it is expected to be."""
        self.price = prices.optimised_price(len(written.text), written.whole)
        self.gain = prices.OPTIMISED_GAIN_OF_ARRAYS if written.whole and not written.flat else prices.OPTIMISED_GAIN

    @property
    def open(self) -> bool:
        """Whether it may still be chosen: as long as the code that it improves on may be."""
        return self.refusal is None and self.base.open

    def _guess(self, n: int) -> float:
        before = self.base.seconds(n)
        if self.base.is_optimised:
            return before
        reading = self.items.listed * prices.LIST_ITEM + self.items.fields * prices.FIELD_OF_TUPLE + self.items.picked
        plain = self.base.left * self.ledger().arms[0].seconds(n)
        fixed = min(prices.KERNEL_CALL + n * reading + plain, before)
        return fixed + (before - fixed) / self.gain

    def build(self, job: Job, n: int) -> None:
        """All machine code that the quick way has so far, again."""
        if not self.base.open:
            self.refusal = self.base.refusal
            return
        self.here_or_elsewhere(self.ledger(), n, self.price, self._optimise, self.waited_for)

    def _optimise(self) -> None:
        for keys, variants in list(self.base.prepared.items()):
            for prepared in [one for one in variants if id(one) not in self.made]:
                self._optimise_one(keys, prepared)
        self.ready = True

    def _optimise_one(self, keys: Any, prepared: llvm.Prepared) -> None:
        began, again = time.perf_counter(), prepared.kernel.optimised
        written = prepared.kernel.written
        expected = prices.optimised_price(len(written.text), written.whole)
        self.made[id(prepared)] = prepared
        self.prepared.setdefault(keys, []).insert(0, prepared.as_optimised())
        if not again:
            prices.learn("optimised", expected, time.perf_counter() - began)

    def _new(self, keys: Any, job: Job) -> llvm.Prepared | Refusal | None:
        """Quick code does for now; the best is another purchase."""
        if self.at_any_price:
            return super()._new(keys, job)
        with self.base.lock:
            stands = [one for one in self.base.prepared.get(keys, ()) if one.stands(job.f, job.shared)]
            found = stands[0] if stands else self.base._new(keys, job)
        if isinstance(found, llvm.Prepared):
            self.ready = False
            self.expect_code(found.kernel.written)
        return found


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
        arms = self.ledger().arms
        batched = [arm.seconds(n) for arm in arms if arm.name == "numpy" and arm.runs >= TRIES]
        lanes = min([arms[0].seconds(n) / prices.SIMD_GAIN, *(one / prices.SIMD_GAIN_OF_BATCH for one in batched)])
        return prices.BATCH_CALL + n * self.items.listed * prices.COLUMN_ITEM + lanes

    def build(self, job: Job, n: int) -> None:
        """First the trace, which tells whether there is such a program and how long it is; then the compilation."""
        if not prices.tracing_is_loaded():
            return self.here_or_elsewhere(self.ledger(), n, prices.TRACING, self._load, False)
        part = job.part(0, min(job.n, MANY))
        if not self.sure:
            rate = self.ledger().arms[0].seconds(n) / n
            batches.batch(part, self.traces, Pace(rate, self.ledger().allowance(n)), trial=True)
            tree = self.traces.traced()
            try:
                if tree is None or tree.root is None:
                    raise select_rows.NoSelect("it could not be traced")
                self.price, self.sure = (
                    prices.optimised_price(prices.CHARACTERS * len(select.select_of(tree).lines)),
                    True,
                )
            except select_rows.NoSelect as reason:
                self.refusal = Refusal("simd", str(reason))
            return None
        here = self.price <= STALL
        return self.here_or_elsewhere(self.ledger(), n, self.price, lambda: self._compile(part), here)

    def _load(self) -> None:
        batches.batch  # noqa: B018
        self.price = max(self.price - prices.TRACING, prices.trace_price(self.f, False, 0.0))

    def _compile(self, part: Job) -> None:
        self.refusal = prepare_machine(part, self.machines, self.traces.tree_of)
        self.ready = self.refusal is None

    def run(self, job: Job) -> Batched | Refusal:
        made = run_machine(job, self.machines, self.traces.tree_of)
        if isinstance(made, Refusal):
            self.refusal = made
        return made


class Cuda(Way):
    """A kernel of one thread for every element, on a GPU."""

    def __init__(self, ledger: Callable[[], Ledger], base: Llvm) -> None:
        super().__init__("cuda", guess=self._guess)
        self.ledger, self.base, self.machines = ledger, base, Machines("cuda")
        self.price = prices.GPU

    def _guess(self, n: int) -> float:
        lanes = self.ledger().arms[0].seconds(n) / prices.GPU_GAIN
        if self.base.ready and self.base.runs:
            lanes = min(lanes, self.base.seconds(n) / prices.GPU_GAIN_OF_CODE)
        return prices.GPU_CALL + lanes + n * 32 / prices.GPU_TRAVELS

    def build(self, job: Job, n: int) -> None:
        """On another thread: to wake the driver and to compile takes most of a second, and calls go on meanwhile."""
        part = job.part(0, FEW)
        if self.waited_for:
            return self._prepare(part)
        self.busy = True

        def work() -> None:
            try:
                self._prepare(part)
            finally:
                self.busy = False

        threading.Thread(target=work, name="upshift wakes a GPU", daemon=True).start()
        return None

    waited_for = False
    """Whether somebody wants to see it ready, however long that takes."""

    def _prepare(self, part: Job) -> None:
        missing = why_no_gpu()
        made = Refusal(self.name, missing) if missing else run_machine(part, self.machines, _no_tree)
        self.refusal = made if isinstance(made, Refusal) else None
        self.ready = self.refusal is None

    def run(self, job: Job) -> Batched | Refusal:
        made = run_machine(job, self.machines, _no_tree)
        if isinstance(made, Refusal):
            self.refusal = made
        return made


def _no_tree(lanes: Any) -> None:
    """What the numpy gear has traced, of which this gear has no use."""


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
        if isinstance(column, np.ndarray):
            items.nested |= column.ndim > 1
        else:
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
        ways.append(Cuda(ledger, base))
    return ways


__all__ = ["Items", "Placed", "Way", "arms_of", "at_any_price"]
