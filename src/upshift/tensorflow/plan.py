"""A concrete call in; its results in the way that pays out, and what was measured and refused, remembered."""

from __future__ import annotations

import threading
import time
import types
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context, record

from ..config import settings
from ..errors import GearRefused, Refusal
from ..plan.costs import Line
from . import results
from .call import Call, is_flat
from .captured import Portrait, portray
from .eager import call_each, run_loop
from .glance import Glance, glance_of
from .graph import empty
from .kinds import CONTROL
from .trace import Traced, trace_element
from .ways import Way, build, check

MOST_KINDS, MOST_VARIANTS = 256, 4
COSTS = {
    "trace": 10e-3,
    "line": 3e-3,
    "convert": 20e-3,
    "numpy": 2e-3,
    "numba": 0.25,
    "vectorized": 30e-3,
    "map": 40e-3,
}
"""Seconds that making each is expected to take; what was measured takes their place."""
PER_RUN = 10.0
"""How many times longer an operation takes to trace than to run, once, eagerly."""
OVERHEAD = 10e-6
"""Seconds that the loop takes for an element besides the function: unstacked, stacked."""
SHORTEST = 200e-6
"""Seconds of a call below which no graph can be faster: starting one takes as long."""
WORTHWHILE = 40e-6
"""Seconds of a call below which machine code is hardly faster."""
WARM_RUNS, WARM_SECONDS = 24, 50e-3
PATIENCE = 20.0
"""How many times its price a way must have been missed before another fast one is given up for it."""
CHECK_EVERY = 4096
GUESSED_RATE = 300e-6
"""Seconds for one element of which nothing is known."""


@dataclass
class Known:
    """One function, on one kind of elements, with one portrait of what it captured."""

    portrait: Portrait
    candidates: list[str]
    with_operations: bool = False
    """Whether gradients are recorded, so that only operations of TensorFlow will do."""
    lines: dict[str, Line] = field(default_factory=lambda: {"loop": Line()})
    traced: Traced | str | None = None
    ways: dict[str, Way] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    warm: dict[str, tuple[int, float]] = field(default_factory=dict)
    """For every way, how many of its first calls were not timed, and their seconds."""
    spent: float = 0.0
    """Seconds since something was last made."""
    calls: int = 0
    why: str = "first"
    """Why there is no graph yet that could be used."""
    traces: list[str] = field(default_factory=list)
    """Why each graph was made."""
    made_in: dict[str, float] = field(default_factory=dict)
    rate: float = 0.0
    """Seconds that the loop takes for one element."""

    @property
    def tracing(self) -> float:
        """Seconds that a graph is expected to take: more for a function that has more to do."""
        return COSTS["trace"] + PER_RUN * self.rate + (COSTS["convert"] if self.portrait.decides else 0.0)

    def predict(self, n: int) -> tuple[str, float]:
        """The best way that is there, and its seconds; the loop's are unknown at first."""
        best, least = "loop", n * self.rate if self.rate else float("inf")
        for name in self.ways:
            seconds = self.lines[name].predict(n, self.rate)
            if seconds is None:
                return name, 0.0  # trusted, and not timed yet
            if seconds < least:
                best, least = name, seconds
        return best, least

    def time(self, name: str, n: int, seconds: float) -> None:
        """A call by a way took so long. The first ones, in which plans of its own settle, say little."""
        self.spent += seconds
        runs, spent = self.warm.get(name, (0, 0.0))
        if runs >= WARM_RUNS or spent + seconds >= WARM_SECONDS:
            self.lines[name].add(n, seconds)
        else:
            self.warm[name] = runs + 1, spent + seconds

    def next_for(self, n: int, seconds: float) -> str | None:
        """What is worth making before a call that the best way would run in so many seconds."""
        if not self.candidates:
            return None
        name = self.candidates[0]
        cost = COSTS[name] + (self.tracing if self.traced is None else 0.0)
        if name == "numba" and isinstance(self.traced, Traced):
            cost += COSTS["line"] * sum(node.op != "Const" for node in self.traced.nodes)
        if not self.ways:
            return name if seconds > 1.5 * cost or self.spent > cost else None
        if name == "numba":
            return name if seconds > 1.5 * cost or (seconds > WORTHWHILE and self.spent > cost) else None
        if seconds < SHORTEST or (name == "map" and seconds / n < 20e-6):
            return None
        return name if self.spent > PATIENCE * cost else None

    def make(self, name: str, call: Call) -> Way | None:
        """A way, made; None where it is refused."""
        began = time.perf_counter()
        self.candidates.remove(name)
        made: Way | str
        if self.traced is None:
            self.traced = trace_element(call, self.portrait.lifted, self.portrait.decides)
            self.traces.append(self.why)
            self.refuse_by_trace()
        if isinstance(self.traced, str):
            made = self.traced
        elif name in self.refusals:
            made = self.refusals[name]
        else:
            made = build(name, call, self.traced, settings().verify)
        self.made_in[name] = time.perf_counter() - began
        self.spent = 0.0
        if isinstance(made, str):
            self.refusals[name] = made
            return None
        return made

    def refuse_by_trace(self) -> None:
        """What cannot be had, now that the graph is known."""
        if isinstance(self.traced, Traced) and self.traced.kinds & CONTROL and "numba" in self.candidates:
            self.candidates.sort(key=lambda name: name != "numba")  # where paths part, NumPy is slow
        if isinstance(self.traced, str):
            self.refusals |= dict.fromkeys(self.candidates, self.traced)
            self.candidates.clear()
        elif self.traced is not None and self.traced.acts:
            reason = f"{self.traced.acts} does more than compute: it is run for every element, in order"
            self.refusals |= dict.fromkeys(self.candidates, reason)
            self.candidates.clear()


def run(call: Call, with_operations: bool) -> Any:
    """The results of a concrete call. `with_operations`: by operations of TensorFlow, since gradients are recorded."""
    if settings().disable or not call.n:
        return run_loop(call) if call.n else run_empty(call)
    known = recall(call, with_operations)
    if known.portrait.acts:
        return run_loop(call)
    known.calls += 1
    best, seconds = known.predict(call.n)
    done: list[Any] = []
    if not known.rate:
        done = _first_few(call, known)
        seconds = known.rate * call.n
    while (name := known.next_for(call.n, seconds)) is not None:
        way = known.make(name, call)
        if way is not None:
            made = _try(way, call, known)
            if made is not None:
                MEMORY.glance(call, known)
                return made
    if best == "loop":
        return _finish_loop(call, known, done)
    return _by_way(known.ways[best], call, known)


MISS = object()
"""In place of results, where more than a glance is needed."""


def at_a_glance(fn: Any, elems: Any) -> Any:
    """The results of a function on one column, where nothing of it has changed since it was last mapped; else MISS."""
    shape = elems._shape_tuple()
    try:
        known, glance = MEMORY.glances[id(fn.__code__), elems.dtype, shape[1:]]
    except (KeyError, AttributeError):
        return MISS
    if not glance.holds(fn) or not shape[0] or settings().disable or record.could_possibly_record():
        return MISS
    if not tf.executing_eagerly() or tf.distribute.has_strategy():
        return MISS
    best, seconds = known.predict(shape[0])
    if best == "loop" or known.next_for(shape[0], seconds) is not None:
        return MISS
    known.calls += 1
    return _by_way(known.ways[best], Call(fn, elems, (elems,), None, shape[0]), known)


def run_empty(call: Call) -> Any:
    """No elements: no results, of the dtypes and shapes that the function would give, or else of its elements'."""
    if not results.is_dense(call.signature):
        return tf.map_fn(call.fn, call.elems, fn_output_signature=call.signature)
    traced = trace_element(call)
    if isinstance(traced, str):
        return call.pack(call.leaves)
    return traced.pack([empty(spec) for spec in traced.out_specs])


def run_in(name: str, call: Call) -> Any:
    """The results of a concrete call in a way that is named: "loop", "numpy", "numba", "vectorized" or "map"."""
    if name == "loop":
        return run_loop(call)
    known = fresh(call, with_operations=False)
    way = made_in(name, call, known)
    assert isinstance(known.traced, Traced)
    return known.traced.pack(way.over(call))


def made_in(name: str, call: Call, known: Known) -> Way:
    """A way, made and compared with the loop; GearRefused, with the reason, where it is none."""
    if known.portrait.acts:
        raise GearRefused(Refusal(name, known.portrait.acts))
    way = known.make(name, call) if name in known.candidates else None
    if way is None or _try(way, call, known) is None:
        raise GearRefused(Refusal(name, known.refusals.get(name, "elements or results are ragged or sparse")))
    return way


def _first_few(call: Call, known: Known) -> list[Any]:
    """The first elements by the loop: true results, and the time that one takes."""
    if not results.is_dense(call.signature):
        known.rate = GUESSED_RATE
        return []
    began = time.perf_counter()
    made = call_each(call, 0, 1)
    if (call.n or 0) > 1:  # the first call of a function is not like the next
        began = time.perf_counter()
        made += call_each(call, 1, 1)
    known.rate = time.perf_counter() - began
    return made


def _finish_loop(call: Call, known: Known, done: list[Any]) -> Any:
    began = time.perf_counter()
    if not results.is_dense(call.signature):
        made = run_loop(call)
    else:
        every = done + call_each(call, len(done))
        made = results.stack(every, call.elems, call.leaves, call.signature)
    took = time.perf_counter() - began
    n = max((call.n or 0) - len(done), 1)
    known.rate += (0.8 if took / n < known.rate else 0.1) * (took / n - known.rate)
    known.spent += took
    known.lines["loop"].add(n, took)
    return made


def _try(way: Way, call: Call, known: Known) -> Any:
    """The first results of a way, compared with the loop's; None where they are not trusted."""
    assert isinstance(known.traced, Traced)
    try:
        columns = way.over(call)
    except Exception as error:  # which the loop will meet, too, if it is the function's own
        known.refusals[way.name] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return None
    if settings().verify:
        with record.stop_recording():
            reason, fastest = check(call, known.traced, columns, known.rate)
        if reason:
            known.refusals[way.name] = reason
            return None
        known.rate = fastest + OVERHEAD
    known.ways[way.name] = way
    known.lines[way.name] = Line()
    return known.traced.pack(columns)


def _by_way(way: Way, call: Call, known: Known) -> Any:
    assert isinstance(known.traced, Traced)
    began = time.perf_counter()
    try:
        columns = way.over(call)
    except Exception:  # an element for which it is not right, or an error of the function's own
        return _without(way, call, known)
    took = time.perf_counter() - began
    known.time(way.name, call.n or 1, took)
    if known.calls % CHECK_EVERY == 0 and settings().verify:
        with record.stop_recording():
            reason, _ = check(call, known.traced, columns, CHECK_EVERY)
        if reason:
            known.refusals[way.name] = reason
            del known.ways[way.name]
            return run_loop(call)
    return known.traced.pack(columns)


def _without(way: Way, call: Call, known: Known) -> Any:
    """The results by operations of TensorFlow; where these fail, too, by the loop, which finds the element that raises."""
    assert isinstance(known.traced, Traced)
    seconds = known.rate * (call.n or 1)
    for name in ("vectorized", "map"):
        other = known.ways.get(name)
        if other is None and name in known.candidates and seconds > 1.5 * COSTS[name]:
            made = known.make(name, call)
            results_of = None if made is None else _try(made, call, known)
            if results_of is not None:
                return results_of
        elif other is not None and other is not way:
            try:
                return known.traced.pack(other.over(call))
            except Exception:  # the function's own
                break
    return run_loop(call)


# ---- memory


class Memory:
    """Kinds of calls that were made lately."""

    def __init__(self) -> None:
        self.kinds: OrderedDict[Any, list[Known]] = OrderedDict()
        self.glances: OrderedDict[Any, tuple[Known, Glance]] = OrderedDict()
        self.lock = threading.Lock()

    def recall(self, key: Any, portrait: Portrait, candidates: list[str], with_operations: bool) -> Known:
        with self.lock:
            variants = self.kinds.get(key)
            if variants is None:
                variants = self.kinds[key] = []
                while len(self.kinds) > MOST_KINDS:
                    self.kinds.popitem(last=False)
            for known in variants:
                if known.portrait.agrees(portrait):
                    return known
            known = Known(portrait.kept_for_good(), candidates, with_operations)
            known.why = portrait.differs_from(variants[0].portrait) if variants else known.why
            variants.insert(0, known)
            del variants[MOST_VARIANTS:]
            return known

    def glance(self, call: Call, known: Known) -> None:
        """Remember a way that was made without a tape for one column, so that the next call is a look-up."""
        single = call.is_dense and call.elems is call.leaves[0] and call.signature is None
        glance = glance_of(call.fn, known.portrait) if single and not known.with_operations else None
        if glance is not None and isinstance(known.traced, Traced) and not known.traced.draws:
            with self.lock:
                key = id(call.fn.__code__), call.leaves[0].dtype, tuple(call.leaves[0].shape[1:])
                self.glances[key] = known, glance
                while len(self.glances) > MOST_KINDS:
                    self.glances.popitem(last=False)


MEMORY = Memory()


def recall(call: Call, with_operations: bool) -> Known:
    """What is known of a call like this."""
    key = key_of(call, with_operations)
    return MEMORY.recall(key, _portrait(call), _candidates(call, with_operations), with_operations)


def variants_of(call: Call) -> list[Known]:
    """What is known of calls like this, whatever the function captured."""
    return MEMORY.kinds.get(key_of(call, with_operations=False), [])


def fresh(call: Call, with_operations: bool) -> Known:
    """Nothing is known of it yet."""
    return Known(_portrait(call), _candidates(call, with_operations), with_operations)


def _portrait(call: Call) -> Portrait:
    portrait = portray(call.fn)
    portrait.tokens.append(context.global_seed())
    return portrait


def _candidates(call: Call, with_operations: bool) -> list[str]:
    if not call.is_dense or not results.is_dense(call.signature):
        return ["map"]
    return ["vectorized", "map"] if with_operations else ["numpy", "numba", "vectorized", "map"]


def key_of(call: Call, with_operations: bool) -> Any:
    """What a call is remembered by, besides its portrait."""
    fn = call.fn
    anchor = id(fn.__code__) if isinstance(fn, types.FunctionType) else id(fn)
    if len(call.leaves) == 1 and call.elems is call.leaves[0] and call.is_dense and call.signature is None:
        return anchor, with_operations, call.leaves[0].dtype, tuple(call.leaves[0].shape[1:])
    form = len(call.leaves) if is_flat(call.elems) else repr(tf.nest.map_structure(lambda _: None, call.elems))
    signature = repr(call.signature)
    if call.is_dense:
        return anchor, with_operations, form, tuple((x.dtype, tuple(x.shape[1:])) for x in call.leaves), signature
    return anchor, with_operations, form, call.specs, signature
