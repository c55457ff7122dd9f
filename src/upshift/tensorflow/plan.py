"""Which way runs a call over tensors: measured by size, bought when it has paid."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

from ..config import settings
from ..errors import GearRefused, Refusal
from ..gears.capture_reader import MISS
from . import results
from .call import Call, make_call
from .direct import look_at
from .eager import call_each, run_loop
from .graph import empty
from .memory import COSTS, MEMORY, UNGRAPHED, UNTRACED, Known, fresh, recall
from .results import EAGER
from .simple import is_simple
from .surroundings import like_numpy, scoped, settings_now, watched
from .taped import slower_with_gradient
from .trace import trace_element
from .ways import Way, check

CHECK_EVERY = 4096
FEW = 64
"""Elements that a way of unknown speed is tried on, before it is given more."""
SLOW = 5e-3
"""Seconds that an element is taken for, before one was timed."""
PATIENT = 0.25
"""Seconds of a first element above which no second one is timed. Below, it may have been the tracing of a graph."""
OVERHEAD = 10e-6
"""Seconds that the loop takes for an element besides the function: unstacked, stacked."""


def run(call: Call, with_operations: bool) -> Any:
    """The results of a concrete call. `with_operations`: by operations of TensorFlow, since gradients are recorded."""
    if settings().disable or not call.n:
        return run_loop(call) if call.n else _run_empty(call)
    known = recall(call, with_operations)
    if known.snapshot.acts:
        return run_loop(call)
    known.calls += 1
    best, seconds = known.predict(call.n)
    done: list[Any] = []
    if not known.rate:
        made = _directly(call, known)
        if made is not None:
            return made
        done = _first_few(call, known)
        seconds = known.rate * call.n
    while (name := known.next_for(call.n, seconds)) is not None:
        if known.traced is None and name not in UNTRACED:
            known.trace(call)
            continue
        way = known.make(name, call)
        if way is not None:
            made = _try(way, call, known, done)
            if made is not None:
                MEMORY.glance(call, known)
                return made
    if best == "loop":
        return _finish_loop(call, known, done)
    return _by_way(known.ways[best], call, known)


def at_a_glance(fn: Any, elems: Any, dense: bool = False, lenient: bool = False) -> Any:
    """The results of a function on one column, where nothing of it has changed since it was last mapped; else MISS.
    `dense`: as `tf.vectorized_map` gives them; `lenient`: as `up.map` does (see `Call`)."""
    shape = elems._shape_tuple()
    try:
        key = id(fn.__code__), elems.dtype, shape[1:], record.could_possibly_record(), dense
        known, glance, settings_then = MEMORY.glances[key]
    except KeyError:
        if key in MEMORY.seen:
            return MISS
    except AttributeError:
        return MISS
    else:
        return _as_before(Call(fn, elems, (elems,), None, shape[0], dense, lenient), known, glance, settings_then)
    return _at_first_sight(fn, elems, key)


def _as_before(call: Call, known: Known, glance: Any, settings_then: Any) -> Any:
    if not glance.holds(call.fn) or not call.n or settings().disable or not tf.executing_eagerly() or watched():
        return MISS
    if known.settled(call.n) and known.calls % CHECK_EVERY and "direct" in known.ways and not like_numpy():
        known.calls += 1  # the function itself, as TensorFlow is told to run it
        try:
            return known.ways["direct"].pack(known.ways["direct"].over(call))
        except Exception:  # an element for which it is not right, or an error of the function's own
            return _without(known.ways["direct"], call, known)
    if tf.distribute.has_strategy() or scoped() or settings_then != settings_now():
        return MISS
    best, seconds = known.predict(call.n)
    if known.next_for(call.n, seconds) is not None:
        return MISS
    known.calls += 1
    return _finish_loop(call, known, []) if best == "loop" else _by_way(known.ways[best], call, known)


def _at_first_sight(fn: Any, elems: Any, key: Any) -> Any:
    """The results of a function that nobody has seen before, if it takes no more than to call it; else MISS."""
    MEMORY.seen[key] = fn.__code__
    if type(fn) is not FunctionType or not elems.ndim or settings().disable or watched() or like_numpy():
        return MISS
    simple = is_simple(fn)
    try:
        made = fn(elems) if simple else look_at(make_call(fn, elems))(fn, elems)
    except Exception:  # it is not known to give the same; or it raises, and the loop will name the element
        return MISS
    if simple:
        return made if type(made) is EAGER and made._shape_tuple() == elems._shape_tuple() else MISS
    return made if all(type(leaf) is EAGER for leaf in tf.nest.flatten(made)) else MISS


def _directly(call: Call, known: Known) -> Any:
    """The results of a function that can be called on whole columns; None where it cannot."""
    way = known.make("direct", call)
    if way is None:
        return None
    try:
        columns = way.over(call)
    except Exception as error:  # which the loop will meet, too, if it is the function's own
        known.refuse(way.name, error)
        return None
    known.trust(way, call.n or 1)
    known.rate, known.unchecked = SLOW, way.name
    return way.pack(columns)


def _run_empty(call: Call) -> Any:
    """No elements: no results, of the dtypes and shapes that the function would give, or else of its elements'."""
    traced = trace_element(call)
    if isinstance(traced, str):
        return call.pack(call.leaves)
    return traced.pack([empty(spec) for spec in traced.out_specs])


def run_in(name: str, call: Call) -> Any:
    """The results of a concrete call in a way that is named: "loop", or one of `explain.WAYS`."""
    if name == "loop":
        return run_loop(call)
    known = fresh(call, with_operations=False)
    way = made_in(name, call, known)
    return way.pack(way.over(call))


def made_in(name: str, call: Call, known: Known) -> Way:
    """A way, made and compared with the loop; GearRefused, with the reason, where it is none."""
    if known.snapshot.acts:
        raise GearRefused(Refusal(name, known.snapshot.acts))
    if known.traced is None and (name not in UNTRACED or (name == "python" and known.snapshot.uses_tensorflow)):
        known.trace(call)
    way = known.make(name, call) if name in known.candidates else None
    if way is None or _try(way, call, known) is None:
        dense = call.is_dense and results.is_dense(call.signature)
        other = "it has a graph, which the other ways run" if dense else "elements or results are ragged or sparse"
        raise GearRefused(Refusal(name, known.refusals.get(name, other)))
    return way


def _first_few(call: Call, known: Known) -> list[Any]:
    """The first elements by the loop: true results, and the time that one takes."""
    began = time.perf_counter()
    made = call_each(call, 0, 1)
    if (call.n or 0) > 1:  # the first call of a function is not like the next
        known.rate = time.perf_counter() - began
        if known.rate < PATIENT:
            began = time.perf_counter()
            made += call_each(call, 1, 1)
    known.rate = time.perf_counter() - began
    return made


def _finish_loop(call: Call, known: Known, done: list[Any]) -> Any:
    began = time.perf_counter()
    every = call_each(call, len(done))
    made = results.stack(done + every if done else every, call)
    took = time.perf_counter() - began
    n = max((call.n or 0) - len(done), 1)
    rate = min(took / n, 2 * known.rate)
    known.rate += (0.8 if rate < known.rate else 0.1) * (rate - known.rate)
    known.pay(took)
    return made


def _try(way: Way, call: Call, known: Known, done: Sequence[Any] = ()) -> Any:
    """The first results of a way, compared with the loop's; None where they are not trusted. `done`: see `check`."""
    if way.name in UNGRAPHED and _takes_long(way, call, known):
        known.refusals[way.name] = "a few elements take longer than all do in another way"
        return None
    n = call.n or 1
    _, seconds = known.predict(n)
    began = time.perf_counter()
    try:
        columns = way.over(call)
    except Exception as error:  # which the loop will meet, too, if it is the function's own
        known.refuse(way.name, error)
        return None
    took = time.perf_counter() - began
    if settings().verify:
        reason, fastest = check(call, columns, known.rate, way.draws, done)
        if reason:
            known.refusals[way.name] = reason
            return None
        known.rate = fastest + OVERHEAD
    if known.with_operations and "direct" in known.ways:
        slower = slower_with_gradient(known.ways["direct"], way, call)
        known.refusals[slower] = "another way is faster with its gradient"
        if slower == way.name:
            return None
        del known.ways[slower]
    known.trust(way, n)
    known.tried(way.name, n, took, seconds)
    return way.pack(columns)


def _takes_long(way: Way, call: Call, known: Known) -> bool:
    """Whether a way takes longer for a few elements than another does for all."""
    best, seconds = known.predict(call.n or 1)
    if best == "loop" or not seconds or not call.is_dense or (call.n or 1) <= FEW:
        return False
    few, least = call.first(FEW), max(2 * seconds, COSTS[way.name])
    for _ in range(2):  # the first run prepares what it needs
        began = time.perf_counter()
        try:
            way.over(few)
        except Exception:
            return False  # it will say so
        if time.perf_counter() - began <= least:
            return False
    return True


def _by_way(way: Way, call: Call, known: Known) -> Any:
    began = time.perf_counter()
    try:
        columns = way.over(call)
    except Exception:  # an element for which it is not right, or an error of the function's own
        return _without(way, call, known)
    took = time.perf_counter() - began
    known.time(way.name, call.n or 1, took)
    first = known.unchecked == way.name
    if (first or known.calls % CHECK_EVERY == 0) and settings().verify:
        known.unchecked = ""
        reason, fastest = check(call, columns, known.rate if first else CHECK_EVERY, way.draws)
        if reason:
            known.refusals[way.name] = reason
            del known.ways[way.name]
            return run_loop(call)
        known.rate = fastest + OVERHEAD if first else known.rate
        MEMORY.glance(call, known)
    return way.pack(columns)


def _without(way: Way, call: Call, known: Known) -> Any:
    """The results by operations of TensorFlow; where these fail, too, by the loop, which finds the element."""
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
                return other.pack(other.over(call))
            except Exception:  # the function's own
                break
    return run_loop(call)
