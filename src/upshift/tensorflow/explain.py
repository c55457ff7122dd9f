"""`ut.explain`: which way runs a map over tensors, what each costs, why one refuses, what to do about it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels
from tensorflow.python.ops.parallel_for import pfor

from ..errors import GearRefused, Refusal, is_of_library
from ..plan.explained import Cost, Explanation
from ..profiling.places import COMPILE, INSIDE, PHASES, RUN, TRACE
from ..profiling.probes import Seen, watched
from ..profiling.spans import by_phase
from ..remedies import ELSE
from . import memory, plan
from .call import Call, make_call
from .captured import snapshot_of
from .eager import call_each
from .kinds import CONTROL
from .mapping import as_written
from .trace import Traced, trace_element
from .vectorized import why_not

WAYS = ("direct", "python", "numpy", "xla", "vectorized", "map")
REMEDIES = (
    ("Random", "draw the numbers of all elements outside, and map over them as another part of elems"),
    ("Resize", "tf.image.resize takes a whole batch: call it outside the map"),
    ("String", "operations on strings take whole tensors: call them outside the map"),
    ("Regex", "operations on strings take whole tensors: call them outside the map"),
    ("TensorList", "replace the TensorArray by tf.stack of a list, or by indexing"),
    ("Crop", "tf.image.crop_and_resize takes the boxes of a whole batch: call it outside the map"),
    ("Decode", "it works on one element at a time: use map_dataset, which runs it on threads"),
    ("PyFunc", "use NumPy in the function itself: map_fn runs that, too"),
    ("Assert", "check the whole batch outside the map"),
    ("Assign", "return the value, and assign the reduced result outside the map"),
    ("Print", "print the whole result outside the map"),
)
FEW = 20
"""Elements that the loop is measured with."""
MOST_SIZES = 6
BRIEF = 20e-3
"""Seconds that the runs of one way may take at any rate."""
_PASSED = frozenset("Const Placeholder NoOp Identity IdentityN".split())


@as_written
def explain(fn: Callable[..., Any], elems: Any, fn_output_signature: Any = None) -> Explanation:
    """Which way `map_fn` runs `fn` over `elems`, and why: as text, and in fields.

    >>> import tensorflow as tf, upshift.tensorflow as ut
    >>> explanation = ut.explain(lambda s: tf.strings.upper(s), tf.constant(["a", "b"]))
    >>> explanation.refusals["vectorized"].remedy
    'operations on strings take whole tensors: call them outside the map'

    Nothing is run that does more than compute: of such functions only the reasons are told, and no times.
    """
    name = getattr(fn, "__qualname__", None) or type(fn).__name__
    return explain_call(make_call(fn, elems, fn_output_signature), name)


def explain_call(call: Call, name: str) -> Explanation:
    """The same of a call that is made already."""
    fn = call.fn
    told = Explanation(name.replace("<locals>.", ""), call.n or 0, _elements(call), "loop", of="tensors")
    if not call.is_concrete:
        told.notes.append("elements are known only when the graph runs: operations of TensorFlow are emitted")
    known = memory.recall(call, with_operations=False) if call.is_concrete else None
    snapshot = snapshot_of(fn) if known is None else known.snapshot
    traced = snapshot.acts or trace_element(call, snapshot.lifted, snapshot.decides)
    if snapshot.acts or (isinstance(traced, Traced) and traced.acts):
        _refuse_all(told, snapshot.acts, traced)
    elif known is not None and call.n:
        _measure(told, call)
    elif isinstance(traced, str):
        _refuse_all(told, "", traced)
    if isinstance(traced, Traced):
        _note_fallbacks(told, traced)
        _note_devices(told, traced)
        if known is None:
            told.gear = "map" if why_not(traced) else "vectorized"
    if known is not None:
        _note_graphs(told, known, memory.variants_of(call))
    return told


def _elements(call: Call) -> str:
    return ", ".join(f"{spec.dtype.name}{list(spec.shape)}" for spec in call.specs)


def _refuse_all(told: Explanation, acts: str, traced: Traced | str) -> None:
    reason = acts or (traced if isinstance(traced, str) else f"{traced.acts} does more than compute")
    where = place_of(traced, traced.acts) if isinstance(traced, Traced) and traced.acts else ""
    remedy = remedy_for(traced.acts) if isinstance(traced, Traced) and traced.acts else ""
    for way in WAYS:
        told.refusals[way] = Refusal(way, reason, where, remedy)
    told.notes.append("every element is run by the function itself, in order")


def _measure(told: Explanation, call: Call) -> None:
    """Every way is made, checked and timed: on all elements, and on fewer of them."""
    known = memory.fresh(call, with_operations=False)
    _measure_loop(told, call)
    calls: dict[str, dict[str, float]] = {}
    for name in WAYS:
        try:
            way = plan.made_in(name, call, known)
        except GearRefused as refused:
            told.refusals[name] = _with_remedy(_with_place(refused.refusal, known.traced))
            continue
        told.seconds[name], calls[name] = _clock(way, call)
        traced = 0.0 if name in memory.UNTRACED else known.made_in.get("trace", 0.0)
        ready_in = traced + known.made_in.get(name, 0.0)
        told.costs[name] = Cost(told.seconds[name], _points(way, call, told.seconds[name]), ready_in, made=True)
    told.gear = min(told.seconds, key=lambda name: told.seconds[name])
    if told.gear != "loop":
        once = {TRACE: 0.0 if told.gear in memory.UNTRACED else known.made_in.get("trace", 0.0)}
        spent = once | {COMPILE: known.made_in.get(told.gear, 0.0)} | calls[told.gear]
        told.spent = {phase: spent[phase] for phase in PHASES if spent.get(phase)}


def _measure_loop(told: Explanation, call: Call) -> None:
    """The loop on a few elements; the first call of a function is not like the next."""
    n = call.n or 1
    call_each(call, 0, 1)
    points = []
    for few in sorted({min(2, n), min(FEW, n)}):
        began = time.perf_counter()
        call_each(call, 0, few)
        points.append((few, time.perf_counter() - began))
    few, took = points[-1]
    told.seconds["loop"] = took / few * n
    if few < n:
        points.append((n, told.seconds["loop"]))
    told.costs["loop"] = Cost(told.seconds["loop"], points)


def _clock(way: Any, call: Call) -> tuple[float, dict[str, float]]:
    """Seconds of the fastest of a few runs, which together take at most twice as long as one more; and its phases."""
    best, phases, spent = math.inf, dict[str, float](), 0.0
    seen: list[Seen] = []
    with watched(INSIDE, seen.append):
        for _ in range(5):
            seen.clear()
            took = _run(way, call)
            spent += took
            if took < best:
                best, phases = took, by_phase(seen)
            if spent > max(best, BRIEF):
                break
    rest = best - sum(phases.values())
    return best, phases | {RUN: phases.get(RUN, 0.0) + max(rest, 0.0)}


def _points(way: Any, call: Call, took: float) -> list[tuple[int, float]]:
    """Seconds by number of elements. What is compiled for each length is only run on one more."""
    n = call.n or 1
    points, spent = [(n, took)], 0.0
    sizes = [n >> shift for shift in range(3, 3 * MOST_SIZES, 3) if n >> shift >= 2] if call.is_dense else []
    for few in sizes if way.lengths is None else sizes[-1:]:
        if spent > max(took, BRIEF):
            break
        part = call.first(few)
        try:
            _run(way, part)  # which prepares what it needs
            least = min(_run(way, part) for _ in range(2))
        except Exception:  # not right for these alone: the loop would run them
            break
        spent += 3 * least
        points.append((few, least))
    return points[::-1]


def _run(way: Any, call: Call) -> float:
    began = time.perf_counter()
    way.over(call)
    return time.perf_counter() - began


def _with_remedy(refusal: Refusal) -> Refusal:
    """What is not known to take a whole column is run by other ways, which trace it."""
    if refusal.gear != "direct" or refusal.remedy != ELSE:
        return refusal
    remedy = "none is needed, since the other ways trace it; if it takes a whole column, call it with that"
    return Refusal(refusal.gear, refusal.reason, refusal.where, remedy)


def _with_place(refusal: Refusal, traced: Any) -> Refusal:
    if not isinstance(traced, Traced):
        return refusal
    named = next((kind for kind in sorted(traced.kinds, key=len, reverse=True) if kind in refusal.reason), "")
    if not named:
        return refusal
    return Refusal(refusal.gear, refusal.reason, place_of(traced, named), remedy_for(named))


# ---- operations


def remedy_for(kind: str) -> str:
    """What a user can do about an operation."""
    known = next((remedy for part, remedy in REMEDIES if part in kind), "")
    return known or "call it on the whole batch outside the map, if it takes one"


def place_of(traced: Traced, kind: str) -> str:
    """file:line of the user's code that made an operation."""
    for op in traced.graph.get_operations():
        if op.type == kind:
            frames = [frame for frame in op.traceback if not is_of_library(frame.filename)]
            return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return ""


def operations(traced: Traced) -> Iterator[Any]:
    """Operations whose results depend on the element; all others are made once for all elements."""
    hang = {tensor.name for tensor in traced.graph.inputs}
    for op in traced.graph.get_operations():
        if any(tensor.name in hang for tensor in op.inputs):
            hang.update(tensor.name for tensor in op.outputs)
            yield op


def _fallbacks(traced: Traced) -> list[str]:
    """Operations that `tf.vectorized_map` runs in a while loop, one element at a time."""
    known = {*pfor._pfor_converter_registry, *_PASSED, *CONTROL}
    return sorted({op.type for op in operations(traced)} - known)


def _note_fallbacks(told: Explanation, traced: Traced) -> None:
    for kind in _fallbacks(traced):
        at = place_of(traced, kind)
        told.notes.append(
            f"tf.vectorized_map would run {kind} in a while loop{f' ({at})' if at else ''}: {remedy_for(kind)}"
        )


# ---- graphs and devices


def _note_graphs(told: Explanation, known: memory.Known, variants: list[memory.Known]) -> None:
    made = [reason for variant in variants for reason in variant.traces]
    told.notes.append(f"{len(made)} graphs traced for elements like these" + (f": {'; '.join(made)}" if made else ""))
    used = ", ".join(known.ways) or "the loop"
    told.notes.append(f"{known.calls} calls so far; ways in use: {used}")


def _note_devices(told: Explanation, traced: Traced) -> None:
    devices = [device.name for device in tf.config.list_logical_devices()]
    stay = sorted(kind for kind in traced.kinds if kind not in _PASSED | CONTROL and not _runs_on_gpu(kind))
    told.notes.append(f"devices: {', '.join(devices)}; NumPy and the loop's results are in main memory")
    if stay and tf.test.is_built_with_gpu_support():  # else nothing has kernels for a GPU, and nobody has one
        told.notes.append(f"would leave a GPU: {', '.join(stay)}")


def _runs_on_gpu(kind: str) -> bool:
    """By the kernels of this TensorFlow: its own for a GPU, or XLA's."""
    found = {kernel.device_type for kernel in kernels.get_registered_kernels_for_op(kind).kernel}
    return bool(found & {"GPU", "XLA_GPU_JIT", "DEFAULT"})
