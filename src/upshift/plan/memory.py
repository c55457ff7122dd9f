"""What is remembered of a function between calls: a fingerprint in, its costs, trees and refusals out."""

from __future__ import annotations

import dis
import functools
import threading
import time
import types
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.boxes import numbers_in
from ..columns.inputs import Lanes
from ..errors import Refusal
from ..gears.binder import MISS
from ..gears.direct import MOST_MISSES
from ..gears.express import Express, express_of
from ..gears.program import Care
from ..trace import Tree, bind
from ..trace.apart import Apart
from .choice import GPU_FIXED, Review, gpu_after, review_after
from .costs import ENTRY, MIXED_ENTRY, PER_BRANCH, SETUP, SETUP_OF_ARRAYS, Costs, Line
from .machine import Machines, Swift

MOST_FUNCTIONS = 1024
MOST_STEPS = 500_000
"""Of all trees together, about: each takes about a kilobyte. Functions that came first are forgotten for it."""
SWEPT = 16
"""New functions after which the steps are counted."""
MOST_TREES = 4
MOST_SIGNATURES = 64
"""Kinds of elements (shapes, in a ragged batch) that a function's trees are kept for."""
TIMED = 12
"""Express calls whose time is taken; of brief ones, four for one, since they are slow for longer."""
TRIALS = 4
"""Calls of new machine code before its speed is believed: the first are slower, and one may have been disturbed."""
SECOND_LOOK = 2
"""Calls where it seems to be much slower than another way: its first call may have been disturbed."""
BRIEF = 500e-6
"""Calls shorter than this cost little: all that are timed are waited for."""
WORTH_A_THOUGHT = 0.1
"""Seconds of a lower gear after which a higher one is considered again; and so long no gear of unknown speed runs."""
UNSURE = 20e-3
"""Seconds of express calls after which machine code that seemed slower is timed once more; then four times as many."""
LONG = 20e-3
"""Of calls longer than this, one is enough."""
QUICK_SECONDS = 30e-6
"""Calls that the loop finishes within this are the loop's: no gear could start faster."""
INFINITE = float("inf")
MANY_SECONDS = 0.5
"""Small calls that have cost as much as this together are worth a thought about machine code."""
RENTED_SECONDS = 120e-6
"""So are calls within this, as long as all of them together have not cost what a trace would."""
LONGEST_QUICK = 3 * RENTED_SECONDS
"""Longer calls are thought about, also where the loop was the fastest so far."""


@dataclass
class Known:
    """One function on one kind of columns."""

    anchors: tuple[Any, ...]
    entry: float = 0.0
    of_arrays: bool = False
    """Whether elements are arrays, which are protected from being written to."""
    costs: Costs = field(default_factory=Costs)
    trees: dict[Any, list[Tree]] = field(default_factory=dict)
    refusal: Refusal | None = None
    retry_above: int = 0
    quick: int = 0
    care: Care = Care.CLOSE
    express: Express | None = None
    machines: Machines = field(default_factory=Machines)
    asked: dict[str, Machines] = field(default_factory=dict)
    """Machine code in gears that run only when the user names them."""
    walks: int = 0
    swift: Swift | None = None
    on_gpu: Swift | None = None
    """The same on a GPU."""
    until_gpu: float = INFINITE
    """Elements by machine code after which a GPU would have paid; below zero, it is tried."""
    better: dict[int, Any] = field(default_factory=dict)
    """By size: the shortest way."""
    regret: float = 0.0
    """Seconds that lower gears have cost more than machine code would have."""
    noted: str | None = None
    """The key of its notes on disk; None before they were looked for, empty where it can have none."""
    noted_regret: float = 0.0
    compiled_before: bool = False
    """Whether its machine code lies on disk."""
    small: float = 0.0
    """Seconds that small calls have taken since machine code was last considered."""
    review: Review = field(default_factory=Review)
    """When machine code is considered again."""

    @functools.cached_property
    def setup(self) -> float:
        """What tracing the function is expected to cost, by the branches in its own code."""
        codes = [anchor for anchor in self.anchors if isinstance(anchor, types.CodeType)]
        jumps = sum(sum(map(code.co_code[::2].count, _JUMPS)) for code in codes)
        return (SETUP_OF_ARRAYS if self.of_arrays else SETUP) + PER_BRANCH * min(jumps, 8)

    @functools.cached_property
    def sure(self) -> bool:
        """Whether the function's own code never jumps backwards; loops may have as many paths as elements."""
        codes = [anchor for anchor in self.anchors if isinstance(anchor, types.CodeType)]
        return not any(_BACKWARDS & set(code.co_code[::2]) for code in codes)

    def tree(self, lanes: Lanes, f: Any, shared: dict[str, Any]) -> tuple[Tree, dict[int, Any]]:
        """The tree that fits what the function captures now, and its captured inputs; a new one where none fits."""
        signature = lanes.signature
        if signature not in self.trees and len(self.trees) >= MOST_SIGNATURES:
            self.trees.pop(next(iter(self.trees)), None)
        variants = self.trees.setdefault(signature, [])
        for tree in list(variants):
            with tree.lock:
                captured = bind(tree, f, shared)
            if captured is not None:
                if variants and variants[0] is not tree and tree in variants:
                    variants.remove(tree)
                    variants.insert(0, tree)
                return tree, captured
        tree = Tree(lanes)
        variants.insert(0, tree)
        del variants[MOST_TREES:]
        return tree, {}

    @property
    def steps(self) -> int:
        """Of all its trees; it may be asked while others grow them."""
        return sum(tree.steps for variants in list(self.trees.values()) for tree in list(variants))

    @property
    def draws(self) -> bool:
        """Whether the function draws random numbers."""
        return any(tree.draws for variants in self.trees.values() for tree in variants)

    def walked(self) -> None:
        """A tree that was walked again and has one path is written down as a function, whose times are its own."""
        self.walks += 1
        trees = [variants[0] for variants in self.trees.values() if variants]
        if self.walks in (1, 64) and len(trees) == 1 and self.care is Care.CLOSE:
            self.express = express_of(trees[0])
            if self.express is not None:
                self.costs.batched = Line()

    def take_stock(self) -> None:
        """What small and express calls have cost counts from now on."""
        self.regret += self.small + self.review.spent
        self.small = self.review.spent = 0.0

    def machines_in(self, gear: str) -> Machines:
        """Machine code in a compiled gear."""
        return self.machines if gear == "numba" else self.asked.setdefault(gear, Machines(gear))

    def traced(self) -> Tree | None:
        """The tree that the numpy gear used last, where there is one for all elements."""
        trees = [variants[0] for variants in self.trees.values() if variants]
        return trees[0] if len(trees) == 1 and trees[0].trusted else None

    def tree_of(self, lanes: Lanes) -> Tree | None:
        """What the numpy gear has traced of these lanes."""
        variants = self.trees.get(lanes.signature)
        return variants[0] if variants and variants[0].trusted else None

    def at_express(self, f: Any, columns: tuple[Any, ...], n: int) -> Any:
        """The result for n elements at express speed, or MISS."""
        express: Any = self.better.get(n.bit_length())
        if express is None or express.misses > MOST_MISSES:
            express = self._express_for(n)
            if express is None:
                return MISS
        given, began = columns, time.perf_counter() if express.timed < TIMED else 0.0
        try:
            dtypes = [column.dtype for column in columns]
        except AttributeError:  # a list
            found = [numbers_in(column) if type(column) in (list, tuple) else None for column in columns]
            columns = tuple([column for column in found if column is not None])
            dtypes = [column.dtype for column in columns]
        if dtypes != express.dtypes or (express.shapes is not None and not express.fits(columns)):
            return MISS
        if express is self.express:
            if self.review.spent >= self.review.after:
                return self._try_again(f, given, n) if self.swift is not None else MISS
        elif express is self.swift:
            self.until_gpu -= n
            if self.until_gpu < 0:
                return MISS
        result = express.over(f, columns, given)
        if express.timed >= TIMED:
            if express is self.express:
                self.review.count(n)
            settled = self.until_gpu == INFINITE and (express is not self.express or self.review.after == INFINITE)
            if settled and given is columns and express.short is not None:
                self._shorten(express.short, n)
            return result
        if result is not MISS:
            self._timed(express, n, time.perf_counter() - began)
        return result

    def forget_ways(self) -> None:
        """There is a new one: which is the shortest is asked again."""
        self.better.clear()
        for key in [key for key, (code, _) in SHORTCUTS.copy().items() if code in self.anchors]:
            SHORTCUTS.pop(key, None)

    def _shorten(self, short: Any, n: int) -> None:
        """From now on, arrays of about so many elements need no thought at all."""
        if len(SHORTCUTS) >= MOST_FUNCTIONS:
            SHORTCUTS.clear()
        code = self.anchors[0]
        if type(code) is types.CodeType:
            SHORTCUTS[id(code), n.bit_length()] = code, short

    def _timed(self, express: Any, n: int, seconds: float) -> None:
        express.timed += 1 if seconds > BRIEF else 0.25
        self._line_of(express).add(n, seconds)
        if express is self.express:
            self.regret += seconds
        if express.timed % 1.0:
            return
        self.better.clear()
        self.set_quick()
        if express is self.express:
            self.take_stock()
            self.review = review_after(self)
        elif express.timed == TIMED and self.swift is not None and express is self.swift and self.on_gpu is None:
            self.until_gpu = gpu_after(self, self.swift.width)

    def _line_of(self, express: Any) -> Line:
        if express is self.express:
            return self.costs.batched
        return self.costs.gpu if express is self.on_gpu else self.costs.machine

    def _express_for(self, n: int) -> Any:
        """The shortest way for so many elements: a batch by NumPy, machine code, or a GPU."""
        self.express = self.express if self.express is not None and self.express.misses <= MOST_MISSES else None
        self.swift = self.swift if self.swift is not None and self.swift.misses <= MOST_MISSES else None
        self.on_gpu = self.on_gpu if self.on_gpu is not None and self.on_gpu.misses <= MOST_MISSES else None
        ways = [way for way in (self.on_gpu, self.swift, self.express) if way is not None]
        if not ways:
            return None
        newest, by_loop = ways[0], n * self.costs.loop_rate
        if not self._line_of(newest).seen:
            return newest if by_loop < WORTH_A_THOUGHT else None
        expected = self._expected(newest, n)
        way = min(ways, key=lambda way: self._expected(way, n))
        plainly_slower = expected > 3 * self._expected(way, n)
        trials = TIMED if expected < BRIEF else 0 if expected > LONG else SECOND_LOOK if plainly_slower else TRIALS
        if newest.timed < trials:
            return newest
        by_walk = self.costs.batched_seconds(n) if self.express is None else None
        if by_loop and self._expected(way, n) > min(by_loop, by_walk or by_loop):
            return None
        if way.timed >= TIMED:
            self.better[n.bit_length()] = way
            if way is self.express and self.swift is not None and self.review.after == INFINITE:
                self.review = Review(UNSURE, *self.costs.batched.shape(self.costs.loop_rate))
        return way

    def _try_again(self, f: Any, columns: tuple[Any, ...], n: int) -> Any:
        """Machine code that seemed slower than a batch: brief calls may have been disturbed, or not yet been warm."""
        if self.swift is None or self._expected(self.swift, n) > BRIEF:
            self.review = Review()
        else:
            self.swift.timed = 0
            self.costs.machine = Line()
            self.better.clear()
            after = max(4 * self.review.after, UNSURE)
            self.review = Review(after, self.review.per_call, self.review.per_element)
        return self.at_express(f, columns, n)

    def _expected(self, way: Any, n: int) -> float:
        line = self._line_of(way)
        seconds = line.predict(n, self.costs.loop_rate) or 0.0
        return max(seconds, GPU_FIXED) if way is self.on_gpu and n.bit_length() not in line.seen else seconds

    def set_quick(self) -> None:
        """Up to which size the next calls go straight to the loop."""
        rate, costs = self.costs.loop_rate, self.costs
        if not rate:
            return
        lines = [line for line in (costs.batched, costs.machine) if line.seen]
        if self.swift is not None and not costs.machine.seen:
            lines = []  # nobody knows yet how fast it is
        rented = costs.loop_spent - costs.invested
        renting = not lines and (rented < SETUP or rented < self.setup)
        by_time = int((RENTED_SECONDS if renting else QUICK_SECONDS) / rate)
        faster = min(costs.loop_below(line) for line in lines) if lines else 0
        self.quick = max(by_time, min(faster, int(LONGEST_QUICK / rate)))


class Memory:
    """All functions that were mapped lately. Keys hold ids; what is remembered keeps their objects alive."""

    def __init__(self) -> None:
        self.known: OrderedDict[Any, Known] = OrderedDict()
        self.came = 0
        self.lock = threading.Lock()

    def recall(self, key: Any, anchors: tuple[Any, ...], columns: Sequence[Any] = ()) -> Known:
        with self.lock:
            found = self.known.get(key)
            if found is None or found is ONCE:
                found = self._keep(key, Known(anchors, sum(map(_entry_of, columns))))
            for column in columns:
                if not isinstance(column, range) and len(column) and isinstance(column[0], np.ndarray):
                    found.of_arrays = True
            return found

    def note(self, key: Any) -> None:
        """A function was mapped once, and is not worth more."""
        with self.lock:
            if key not in self.known:  # another thread may know more by now
                self._keep(key, ONCE)

    def unnote(self, key: Any) -> None:
        """What was noted of it was a mistake."""
        with self.lock:
            if self.known.get(key) is ONCE:
                del self.known[key]

    def _keep(self, key: Any, known: Known) -> Known:
        self.known[key] = known
        self.came += 1
        while len(self.known) > MOST_FUNCTIONS:
            self.known.popitem(last=False)
        steps = sum(one.steps for one in self.known.values()) if self.came % SWEPT == 0 else 0
        while steps > MOST_STEPS:
            steps -= self.known.popitem(last=False)[1].steps
        return known


def _entry_of(column: Any) -> float:
    """What it costs for an element to get into a column."""
    if isinstance(column, np.ndarray | range):
        return 0.0
    return ENTRY if type(column) not in (list, tuple) or len(set(map(type, column[:32]))) == 1 else MIXED_ENTRY


ONCE = Known(())
"""Stands for any function that was mapped once, to a few elements, in no time. Nothing is known of it."""
MEMORY = Memory()
SHORTCUTS: dict[tuple[int, int], tuple[types.CodeType, Any]] = {}
"""By the id of a function's code and by size: `call(f, *arrays)`, which is right or a miss. The code is kept alive."""


_JUMPS = tuple(code for name, code in dis.opmap.items() if name.startswith("POP_JUMP"))
_BACKWARDS = frozenset(code for name, code in dis.opmap.items() if "JUMP_BACKWARD" in name)


def key_of(f: Any, columns: Sequence[Any], shared: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """What a function is remembered by: the code it runs, the kind of its columns, the names that are shared."""
    anchors = tuple(_anchors(f))
    kinds = [kind_of_column(column) for column in columns]
    return (*map(id, anchors), *kinds, *shared), anchors


def kind_of_column(column: Any) -> Any:
    """What a column's elements are, as far as a glance tells."""
    if type(column) is np.ndarray:
        return column.dtype.char if column.ndim == 1 else column.ndim
    return type(column)


def _anchors(f: Any) -> list[Any]:
    if isinstance(f, types.FunctionType):
        return [f.__code__]
    if isinstance(f, types.MethodType):
        return ["method", *_anchors(f.__func__)]
    if isinstance(f, Apart):
        return ["apart", *_anchors(f.f)]
    if isinstance(f, functools.partial):
        return ["partial", *_anchors(f.func)]
    for owner in type(f).__mro__:
        call = vars(owner).get("__call__")
        if isinstance(call, types.FunctionType):
            return ["call", call.__code__]
    return [f]
