"""All functions that were mapped lately: for each, on each kind of elements, its ledger and what was traced of it."""

from __future__ import annotations

import functools
import sys
import threading
import time
import types
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns.inputs import Elements, Rows
from ..columns.unboxed import Unboxed
from ..config import settings
from ..errors import Refusal
from ..gears.job import Job
from ..gears.pace import Pace
from ..loading import Later
from ..trace.positions import Apart
from .arms import FEW, SLOW, Cuda, Optimised, Simd, Way, arms_of, at_any_price
from .batched import Batched
from .ledger import Ledger
from .machine import Machines, run_machine
from .records import Reader
from .traces import Traces

if TYPE_CHECKING:
    from . import batch as batches
    from . import parallel
else:
    batches, parallel = Later("upshift.plan.batch"), Later("upshift.plan.parallel")

MOST_FUNCTIONS = 1024
MOST_STEPS = 500_000
"""Of all trees together, about: each takes about a kilobyte. Functions that came first are forgotten for it."""
SWEPT = 16
"""New functions after which the steps are counted."""
PARALLEL = 10e-3
"""Seconds that it takes to load what runs functions on workers, once in a process."""
FORCED_SECONDS = 2.0
"""How long a gear that was asked for by name may trace; what is not traced then is left to the plain function."""


def parallel_price() -> float:
    """Seconds that it takes to load what runs functions on workers, once in a process."""
    return 0.0 if hasattr(sys.modules.get("upshift.plan.parallel"), "workers_of") else PARALLEL


class Function:
    """One function on one kind of elements."""

    def __init__(self, anchors: tuple[Any, ...], f: Any, columns: Sequence[Elements], exact: bool) -> None:
        self.anchors = anchors
        self.traces = Traces()
        self.ledger = Ledger(arms_of(f, columns, self.traces, lambda: self.ledger, exact))
        self.forced: dict[str, Machines] = {}
        self.reader = Reader()
        self.is_slow = False

    def look_for_workers(self, job: Job, n: int) -> None:
        """Adds the arms of workers, once it is known that an element takes long."""
        ledger = self.ledger
        if self.is_slow or ledger.arms[0].seconds(n) < SLOW * n or ledger.allowance(n) < parallel_price():
            return
        with ledger.lock:
            if self.is_slow:
                return
            began = time.perf_counter()
            ledger.arms += parallel.workers_of(lambda: ledger, list(job.columns))
            ledger.risked += time.perf_counter() - began
            self.is_slow = True

    def by_fields(self, job: Job) -> Job:
        """A job over records as one over the fields that the function reads; any other, as it is."""
        return self.reader.by_fields(job)

    def arm(self, name: str) -> Way | None:
        """The arm of a gear, if this function has it."""
        found = [arm for arm in self.ledger.arms if arm.name == name]
        return found[0] if found else None  # type: ignore[return-value]

    def force(self, gear: str, job: Job) -> Batched | Refusal:
        """A job in a gear that the user named, whatever it costs."""
        if gear == "numpy":
            batched = batches.batch(job, self.traces, Pace(batches.FORCED, FORCED_SECONDS))
            arm_of_it = self.arm(gear)
            if arm_of_it is not None and isinstance(batched, Batched) and sum(map(len, batched.left)) < job.n:
                arm_of_it.ready = True  # what was paid for by name is there for other calls
            return batched
        if gear == "llvm":
            arm = next(arm for arm in self.ledger.arms if isinstance(arm, Optimised))
            with at_any_price(arm):
                made = arm.run(job)
            arm.ready = not isinstance(made, Refusal)
            return made
        machines = self.forced.setdefault(gear, Machines(gear))
        own = self.arm(gear)
        if isinstance(own, Cuda | Simd):
            machines = own.machines
        if gear in ("jax", "simd") and not machines.is_ready(job):  # it runs what was traced
            traced = batches.batch(job, self.traces, Pace(batches.FORCED, FORCED_SECONDS), trial=True)
            if isinstance(traced, Refusal):
                return Refusal(gear, traced.reason, traced.where, traced.remedy)
        if self.traces.traced() is None and any(isinstance(column[0], np.ndarray) for column in job.columns):
            batches.batch(job.part(0, FEW), self.traces, Pace(batches.FORCED, 0.1), trial=True)
        return run_machine(job, machines, self.traces.tree_of)


class Functions:
    """By keys that hold ids; what is remembered keeps their objects alive."""

    def __init__(self) -> None:
        self.known: OrderedDict[Any, Function] = OrderedDict()
        self.came = 0
        self.lock = threading.Lock()

    def of(self, f: Any, columns: Sequence[Elements], shared: dict[str, Any], exact: bool) -> Function:
        """What is known of a function on such elements; a new entry where that is nothing."""
        key, anchors = key_of(f, columns, shared, exact)
        with self.lock:
            found = self.known.get(key)
            if found is None:
                self._make_room()
                found = self.known[key] = Function(anchors, f, columns, exact)
            return found

    def _make_room(self) -> None:
        self.came += 1
        while len(self.known) >= MOST_FUNCTIONS:
            self.known.popitem(last=False)
        if self.came % SWEPT == 0:
            total = sum(function.traces.steps for function in self.known.values())
            while total > MOST_STEPS and len(self.known) > 1:
                total -= self.known.popitem(last=False)[1].traces.steps

    def clear(self) -> None:
        """Forgets everything."""
        with self.lock:
            self.known.clear()


FUNCTIONS = Functions()


def key_of(f: Any, columns: Sequence[Elements], shared: dict[str, Any], exact: bool) -> tuple[Any, tuple[Any, ...]]:
    """What decides the costs of a map: the function's code, and the kinds, shapes and lengths of its elements."""
    anchor, rest = _anchor(f)
    kinds = tuple(map(kind_of_column, columns))
    words = tuple((name, type(value)) for name, value in shared.items())
    return (id(anchor), rest, kinds, words, exact, settings().workers), (anchor, f)


def _anchor(f: Any) -> tuple[Any, Any]:
    """The object that a function is known by: its code, which many closures share."""
    if type(f) is types.FunctionType:
        return f.__code__, None
    if type(f) is types.MethodType:
        return getattr(f.__func__, "__code__", f.__func__), id(type(f.__self__))
    if type(f) is functools.partial:
        inner, rest = _anchor(f.func)
        return inner, ("partial", rest, len(f.args), tuple(f.keywords))
    if isinstance(f, Apart):
        inner, rest = _anchor(f.f)
        return inner, ("apart", rest)
    return f, type(f)


def kind_of_column(column: Any) -> Any:
    """What is known of a column's elements at a glance: dtype and shape, or the class of the first one."""
    if isinstance(column, np.ndarray):
        return column.dtype if column.ndim == 1 else (column.dtype, column.shape[1:])
    if isinstance(column, Unboxed):
        return Unboxed, column.array.dtype
    if isinstance(column, Rows):
        return type(column), column.kind
    return type(column), kind_of_element(column[0]) if len(column) else None


def kind_of_element(first: Any) -> Any:
    """What tells elements apart for the ledger, as far as the first one shows: class, shape, about how long."""
    cls = type(first)
    if cls is np.ndarray:
        return first.dtype, first.shape
    if cls is list or cls is tuple:
        return cls, len(first).bit_length(), type(first[0]) if first else None
    return cls
