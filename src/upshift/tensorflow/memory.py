"""What is remembered of functions of tensors between calls: costs, graphs, ways, refusals."""

from __future__ import annotations

import threading
import time
import types
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from . import results, surroundings, xla
from .call import Call, is_flat
from .captured import Snapshot, snapshot_of
from .glance import Glance, glance_of
from .numbers import first_gear
from .operations import Unreadable
from .timing import Line
from .trace import Traced, trace_element
from .ways import Way, build, build_direct, build_plain

MOST_KINDS, MOST_VARIANTS, MOST_SEEN = 256, 4, 1024
COSTS = {
    "direct": 0.0,
    "trace": 10e-3,
    "convert": 20e-3,
    "python": 2e-3,
    "numpy": 2e-3,
    "xla": 0.12,
    "vectorized": 30e-3,
    "map": 40e-3,
}
"""Seconds that making each is expected to take; what was measured takes their place."""
COMPILED, COMPILED_LINE = 10e-3, 0.2e-3
"""Seconds more where a graph is compiled by us, and for every operation in it then."""
LINES = {"xla": 1.5e-3, "vectorized": 1.5e-3, "map": 1e-3}
"""Seconds more for every operation in the graph."""
PER_RUN = 10.0
"""How many times longer an operation takes to trace than to run, once, eagerly."""
START = 100e-6
"""Seconds that the loop takes besides its elements."""
WORTHWHILE = 40e-6
"""Seconds of a call below which neither machine code nor a graph is faster: starting one takes as long."""
WARM_RUNS, WARM_SECONDS = 24, 50e-3
PATIENCE = {"python": 3.0, "xla": 3.0, "numpy": 3.0, "vectorized": 6.0, "map": 20.0}
"""How many times its price a way must have been missed before another fast one is given up for it."""
LONG = 1e-3
"""Seconds of a call from which on a graph is tried as soon as calls have cost its price."""
TAPED = 4.0
"""How many times longer the loop takes with its gradient, which nobody times: for each operation, some of another."""
HEAVY = 300e-6
"""Seconds for each operation of an element above which its numbers, and not its operations, take the time."""
UNGRAPHED = ("python", "numpy")
"""Ways that are started faster than a graph is."""
SLOWER = 2.0
"""How many times as long as another a way may take at first, and be used again at once."""
UNTRACED = ("direct", "python")
"""Ways that need no graph."""
MOST_LENGTHS = 4
"""For which XLA compiles a function: each takes as long as the first."""


@dataclass
class Known:
    """One function, on one kind of elements, with one snapshot of what it captured."""

    snapshot: Snapshot
    candidates: list[str]
    with_operations: bool = False
    """Whether gradients are recorded, so that only operations of TensorFlow will do."""
    lines: dict[str, Line] = field(default_factory=dict)
    traced: Traced | str | None = None
    ways: dict[str, Way] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    warm: dict[str, tuple[int, float]] = field(default_factory=dict)
    """For every way, how many of its first calls were not timed, and their seconds."""
    waits: dict[str, float] = field(default_factory=dict)
    """Seconds that others have to take before a way is used again that took long when it was tried."""
    spent: float = 0.0
    """Seconds of all calls, less those for which something was made."""
    calls: int = 0
    why: str = "first"
    """Why there is no graph yet that could be used."""
    traces: list[str] = field(default_factory=list)
    """Why each graph was made."""
    made_in: dict[str, float] = field(default_factory=dict)
    rate: float = 0.0
    """Seconds that the loop takes for one element."""
    unchecked: str = ""
    """A way that is known to be right, and whose results are compared with the loop's when it is used again."""

    @property
    def tracing(self) -> float:
        """Seconds that a graph is expected to take: more for a function that has more to do."""
        return COSTS["trace"] + PER_RUN * self.rate + (COSTS["convert"] if self.snapshot.decides else 0.0)

    def settled(self, n: int) -> bool:
        """Whether there is one way for n elements, and none that could take its place: nothing is to be timed."""
        if not self.with_operations or len(self.ways) != 1 or self.unchecked:
            return False
        return not self.candidates or 0.0 < self.predict(n)[1] < WORTHWHILE

    def predict(self, n: int) -> tuple[str, float]:
        """The best way that is there, and its seconds; the loop's are unknown at first."""
        known = self.rate and "direct" not in self.ways  # which is never slower, whatever the clock says
        best, least = "loop", START + n * self.rate if known else float("inf")
        for name, way in self.ways.items():
            if not way.fits(n) or self.waits.get(name, 0.0) > 0:
                continue
            seconds = self.lines[name].predict(n, self.rate)
            if seconds is None:
                return name, 0.0  # trusted, and not timed yet
            if seconds < least:
                best, least = name, seconds
        return best, least

    def time(self, name: str, n: int, seconds: float) -> None:
        """A call by a way took so long. The first ones, in which plans of its own settle, say little."""
        self.pay(seconds)
        runs, spent = self.warm.get(name, (0, 0.0))
        if (
            name == "direct"
            or runs >= WARM_RUNS
            or seconds >= WARM_SECONDS
            or (runs > 1 and spent + seconds >= WARM_SECONDS)
        ):
            self.lines[name].add(n, seconds)
        else:
            self.warm[name] = runs + 1, spent + seconds

    def tried(self, name: str, n: int, seconds: float, best: float) -> None:
        """A way's first call took so long, where the best one was expected to take `best`: what it cost more comes off
        what was spent, and others have to cost as much before it is used again."""
        more = seconds - best
        self.spent = max(0.0, self.spent - max(more, 0.0))
        if seconds > SLOWER * best and self.ways.keys() - {name}:
            self.waits[name] = more

    def pay(self, seconds: float) -> None:
        """A call took so long."""
        self.spent += seconds
        for name in self.waits:
            self.waits[name] -= seconds

    def next_for(self, n: int, seconds: float) -> str | None:
        """What is worth making before a call that the best way would run in so many seconds."""
        if seconds < WORTHWHILE and self.ways and any(way.fits(n) for way in self.ways.values()):
            return None
        return next((name for name in self.candidates if self._pays(name, n, seconds)), None)

    def _pays(self, name: str, n: int, seconds: float) -> bool:
        cost = self._price(name)
        if name in self.ways and self.ways[name].fits(n):
            return False
        weight = TAPED if self.with_operations else 1.0
        if not any(way.fits(n) for way in self.ways.values()):
            return weight * seconds > 1.5 * cost or weight * self.spent > cost
        if self.with_operations:
            return weight * self.spent > cost
        if name in UNGRAPHED:
            return self.spent > PATIENCE[name] * cost
        if name == "map" and seconds / n < 20e-6:
            return False
        if seconds > LONG:  # no graph of one element after the other is that slow: it may well be another
            return self.spent > cost
        untried = {"numpy", "xla"}.intersection(self.candidates) - self.ways.keys()
        if untried and name in ("vectorized", "map"):
            return False  # which are hardly ever faster
        return self.spent > PATIENCE[name] * cost

    def _loops(self) -> bool:
        return isinstance(self.traced, Traced) and self.traced.loops

    def _price(self, name: str) -> float:
        """Seconds that making a way is expected to take."""
        cost = COSTS[name]
        if name not in UNTRACED and self.traced is None:
            cost += self.tracing
        if name == "numpy" and isinstance(self.traced, Traced) and first_gear(self.traced) == "llvm":
            cost += COMPILED + COMPILED_LINE * self.traced.size
        if name in LINES and isinstance(self.traced, Traced):
            cost += LINES[name] * self.traced.size
        return cost

    def trace(self, call: Call) -> None:
        """The graph of one element, which tells what can be had."""
        began = time.perf_counter()
        self.traced = trace_element(call, self.snapshot.lifted, self.snapshot.decides)
        self.traces.append(self.why)
        self.made_in["trace"] = time.perf_counter() - began
        self.refuse_by_trace(call)

    def make(self, name: str, call: Call) -> Way | None:
        """A way, made; None where it is refused."""
        began = time.perf_counter()
        if name not in self.candidates:
            return None  # another thread was faster
        self.candidates.remove(name)
        if name in self.ways:
            return self.ways[name]  # for another number of elements
        if name == "direct":
            return self._made(name, build_direct(call), began)
        if name == "python":
            return self._made(name, build_plain(call, self.snapshot.uses_tensorflow), began)
        assert isinstance(self.traced, Traced)
        return self._made(name, build(name, call, self.traced, self.with_operations), began)

    def trust(self, way: Way, n: int) -> None:
        """A way whose results were compared with the loop's."""
        self.ways[way.name] = way
        if self.with_operations and "map" in self.candidates:
            self.candidates.remove("map")  # which no gradient is fast with
        self.lines.setdefault(way.name, Line())
        if way.lengths is not None:
            way.lengths.add(n)
            if len(way.lengths) < MOST_LENGTHS:
                self.candidates.append(way.name)

    def refuse(self, name: str, error: Exception) -> None:
        """A way raised an error."""
        self.refusals[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"

    def _made(self, name: str, made: Way | str, began: float) -> Way | None:
        self.made_in[name] = time.perf_counter() - began
        self.spent = max(0.0, self.spent - self.made_in[name])
        if isinstance(made, str):
            self.refusals[name] = made
            return None
        return made

    def refuse_by_trace(self, call: Call) -> None:
        """What cannot be had, now that the graph is known, and what had better be tried first."""
        heavy = isinstance(self.traced, Traced) and self.rate > HEAVY * self.traced.size and not self._loops()
        if heavy and "map" in self.candidates:
            self.candidates.sort(key=lambda name: name != "map")  # elements are large: several at a time, one by one
            if "numpy" in self.candidates:
                self.candidates.remove("numpy")
                self.refusals["numpy"] = "its numbers take the time, not its operations: NumPy is no faster"
        if isinstance(self.traced, str):
            self.refusals |= dict.fromkeys(self.candidates, self.traced)
            dense = "numpy" in self.candidates
            mixed = dense and self.snapshot.uses_tensorflow and not surroundings.like_numpy() and call.loop is None
            self.candidates[:] = ["python"] if mixed else []
        elif self.traced is not None and (self.traced.acts or (self.traced.draws and surroundings.draws_as_told())):
            acts = self.traced.acts or "a random number without a seed"
            reason = f"{acts} does more than compute: it is run for every element, in order"
            self.refusals |= dict.fromkeys(self.candidates, reason)
            self.candidates.clear()
        elif "xla" in self.candidates and self.traced is not None:
            try:
                xla.check(self.traced)
            except Unreadable as unreadable:  # others need not wait until its price has been missed
                self.candidates.remove("xla")
                self.refusals["xla"] = str(unreadable)


class Seen(dict[Any, Any]):
    """Functions, by what they were called with, of which nothing is known but that they were called; and their codes,
    so that these do not give their ids to others."""

    def __setitem__(self, key: Any, code: Any) -> None:
        if len(self) > MOST_SEEN:
            self.clear()
        super().__setitem__(key, code)


class Memory:
    """Kinds of calls that were made lately."""

    def __init__(self) -> None:
        self.kinds: OrderedDict[Any, list[Known]] = OrderedDict()
        self.seen: Seen = Seen()
        self.glances: OrderedDict[Any, tuple[Known, Glance, Any]] = OrderedDict()
        """What is known of a function, a look at what it captured, and TensorFlow's settings then."""
        self.lock = threading.Lock()

    def recall(self, key: Any, snapshot: Snapshot, candidates: list[str], with_operations: bool) -> Known:
        """What is known of a function on such elements, with the same snapshot; new where nothing is."""
        with self.lock:
            variants = self.kinds.get(key)
            if variants is None:
                variants = self.kinds[key] = []
                while len(self.kinds) > MOST_KINDS:
                    self.kinds.popitem(last=False)
            for known in variants:
                if known.snapshot.agrees(snapshot):
                    return known
            known = Known(snapshot.kept_for_good(), candidates, with_operations)
            known.why = snapshot.differs_from(variants[0].snapshot) if variants else known.why
            variants.insert(0, known)
            del variants[MOST_VARIANTS:]
            return known

    def glance(self, call: Call, known: Known) -> None:
        """Remember a way that was made for one column, so that the next call is a look-up."""
        single = call.is_dense and call.elems is call.leaves[0] and call.signature is None
        glance = glance_of(call.fn, known.snapshot) if single else None
        if glance is not None and not any(way.draws for way in known.ways.values()):
            with self.lock:
                row = call.leaves[0].dtype, tuple(call.leaves[0].shape[1:])
                key = id(call.fn.__code__), *row, known.with_operations, call.dense_results
                self.glances[key] = known, glance, surroundings.settings_now()
                while len(self.glances) > MOST_KINDS:
                    self.glances.popitem(last=False)


MEMORY = Memory()


def recall(call: Call, with_operations: bool) -> Known:
    """What is known of a call like this."""
    key = key_of(call, with_operations)
    snapshot = _snapshot(call)
    return MEMORY.recall(key, snapshot, _candidates(call, snapshot, with_operations), with_operations)


def variants_of(call: Call) -> list[Known]:
    """What is known of calls like this, whatever the function captured."""
    return MEMORY.kinds.get(key_of(call, with_operations=False), [])


def fresh(call: Call, with_operations: bool) -> Known:
    """Nothing is known of it yet."""
    snapshot = _snapshot(call)
    return Known(snapshot, _candidates(call, snapshot, with_operations), with_operations)


def _snapshot(call: Call) -> Snapshot:
    snapshot = snapshot_of(call.fn)
    watched = surroundings.watched()
    snapshot.tokens += [surroundings.settings_now(), watched]
    snapshot.acts = snapshot.acts or watched
    return snapshot


def _candidates(call: Call, snapshot: Snapshot, with_operations: bool) -> list[str]:
    if not call.is_dense or not results.is_dense(call.signature):
        return ["map"]
    if with_operations:
        return ["direct", "vectorized", "map"]
    alone = snapshot.uses_tensorflow or surroundings.like_numpy() or call.loop is not None
    return ["direct", *(() if alone else ("python",)), "numpy", "xla", "vectorized", "map"]


def key_of(call: Call, with_operations: bool) -> Any:
    """What a call is remembered by, besides its snapshot."""
    fn = call.fn
    anchor = id(fn.__code__) if isinstance(fn, types.FunctionType) else id(fn), call.dense_results
    if len(call.leaves) == 1 and call.elems is call.leaves[0] and call.is_dense and call.signature is None:
        return anchor, with_operations, call.leaves[0].dtype, tuple(call.leaves[0].shape[1:])
    form = len(call.leaves) if is_flat(call.elems) else repr(tf.nest.map_structure(lambda _: None, call.elems))
    signature = repr(call.signature)
    if call.is_dense:
        return anchor, with_operations, form, tuple((x.dtype, tuple(x.shape[1:])) for x in call.leaves), signature
    return anchor, with_operations, form, call.specs, signature
