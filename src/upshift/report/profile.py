"""`up.profile`: where the time of the maps in a block goes, by call site and as a trace for Perfetto or Chrome."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from ..gears.capture_reader import MISS
from ..plan.call import Begun
from ..profiling import places
from ..profiling.probes import Seen, unwatch, watch
from ..profiling.spans import by_phase
from ..views.report import Report

_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep
GEARS = {
    "Numpy.run": "numpy", "Llvm.run": "llvm", "Simd.run": "simd", "Cuda.run": "cuda", "run_loop": "loop",
    "run_threads": "threads", "run_processes": "processes", "run_on_ray": "ray",
    "_directly": "direct", "call_each": "loop", "_try": "", "_by_way": "",
}  # fmt: skip
"""By place; of ways over tensors, the way's own name."""
SETTLED = "settled"
"""A call that went straight to the gear that an earlier one has chosen."""


@dataclass(slots=True)
class _Call:
    seen: Seen
    site: tuple[str, str]
    elements: int
    inside: list[Seen] = field(default_factory=list)


@dataclass(slots=True)
class _Function:
    """A decorated function that was called: calls and seconds as far as its looks tell, before and now."""

    state: Any
    before: tuple[float, float]

    def now(self) -> tuple[float, float]:
        kinds = list(self.state.specializations.values())
        return sum(k.calls + k.fast_calls for k in kinds), sum(k.plain + k.fast for k in kinds)

    def total(self) -> dict[str, Any]:
        """A row like a call site's; none of its calls but those that are looked at can be timed."""
        calls, seconds = (max(now - before, 0) for now, before in zip(self.now(), self.before))
        code = self.state.plain.__code__
        return {
            "function": _name(self.state.plain),
            "where": f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}",
            "calls": max(round(calls), 1),
            "elements": 0,
            "seconds": seconds,
            "gears": sorted({"plain", *(kind.gear for kind in self.state.fast)}),
            "device": "CPU",
            "traces": 0,
            "compiles": sum(kind.call is not None for kind in self.state.specializations.values()),
            "phases": {places.RUN: seconds},
        }


class Profile(Report):
    """What maps, and decorated functions, did while it was open.

    >>> import upshift as up
    >>> with up.profile() as p:
    ...     ys = up.map(lambda x: x + 1, [1.0, 2.0])
    >>> p.to_dict()["calls"], p.to_dict()["elements"]
    (1, 2)
    """

    __slots__ = ("_began", "_calls", "_functions", "_lock", "_spans", "seconds")

    def __init__(self) -> None:
        self._functions: dict[int, _Function] = {}
        self._calls: list[_Call] = []
        self._spans: list[Seen] = []
        self._lock = threading.Lock()
        self._began = self.seconds = 0.0

    def __enter__(self) -> Profile:
        for place in places.PLACES:  # what is loaded later would not be seen
            importlib.import_module(place.module)
        watch((*places.PLACES, *places.LATER), self._see)
        self._began = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self._began
        unwatch((*places.PLACES, *places.LATER), self._see)

    def _see(self, seen: Seen) -> None:
        is_call = seen.place.phase in (places.MAP, places.SETTLED)
        if is_call and (seen.result is MISS or type(seen.result) in (object, Begun)):
            return  # there was no entry for it: it goes on as a map
        span = replace(seen, args=(), result=_gear(seen))  # the user's data is not held
        if seen.place.phase == places.FUNCTION:
            self._note(seen.args[0])
            span = replace(span, result=_name(seen.args[0].plain))
        if is_call:
            f, n = _asked(seen)
            call = _Call(span, (_name(f), _caller()), n)
            with self._lock:
                self._calls.append(call)
        else:
            with self._lock:
                self._spans.append(span)

    def _note(self, state: Any) -> None:
        """A decorated function was called."""
        with self._lock:
            if id(state) not in self._functions:
                found = _Function(state, (0.0, 0.0))
                if state.pace.looks > 1:  # there were calls before
                    found.before = found.now()
                self._functions[id(state)] = found

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain data, for JSON and for the page."""
        calls = self._filled()
        sites: dict[tuple[str, str], list[_Call]] = {}
        for call in calls:
            sites.setdefault(call.site, []).append(call)
        with self._lock:
            functions = list(self._functions.values())
        totals = [*(_total(site, made) for site, made in sites.items()), *(one.total() for one in functions)]
        return {
            "kind": "profile",
            "calls": len(calls),
            "elements": sum(call.elements for call in calls),
            "seconds": self.seconds,
            "sites": sorted(totals, key=lambda total: -total["seconds"]),
            "notes": _notes(calls, functions),
        }

    def json(self, indent: int | None = None) -> str:
        """The trace with the totals beside it, as Perfetto and chrome://tracing open it."""
        return json.dumps({"traceEvents": self.events(), **self.to_dict()}, indent=indent, allow_nan=False)

    def events(self) -> list[dict[str, Any]]:
        """Complete events of Chrome's trace format, in microseconds since the block was entered."""
        made = []
        for call in self._calls:
            rate = call.elements / max(call.seen.ended - call.seen.began, 1e-9)
            told = {"where": call.site[1], "elements": call.elements, "elements per second": rate}
            made.append(self._event(call.seen, f"{call.seen.place.phase} {call.site[0]}", told))
        for seen in self._spans:
            of = f" {seen.result}" if seen.place.phase == places.FUNCTION else ""
            made.append(self._event(seen, seen.place.phase + of, {"in": seen.place.name}))
        return sorted(made, key=lambda event: event["ts"])

    def _event(self, seen: Seen, name: str, args: dict[str, Any]) -> dict[str, Any]:
        at, took = (seen.began - self._began) * 1e6, (seen.ended - seen.began) * 1e6
        about = {"name": name, "cat": seen.place.phase, "ph": "X", "pid": os.getpid(), "tid": seen.thread}
        return {**about, "ts": at, "dur": took, "args": args}

    def _filled(self) -> list[_Call]:
        """Every outermost call with the spans inside it; those of worker threads are the call's that ran meanwhile."""
        with self._lock:
            made, spans = sorted(self._calls, key=lambda call: (call.seen.began, -call.seen.ended)), list(self._spans)
        threads: dict[int, list[_Call]] = {}
        for call in made:
            call.inside = []
            outermost = threads.setdefault(call.seen.thread, [])
            if not outermost or outermost[-1].seen.ended < call.seen.ended:
                outermost.append(call)
        for span in spans:
            own = _around(span, threads.get(span.thread, []))
            others = (_around(span, calls) for thread, calls in threads.items() if thread != span.thread)
            around = own or next((other for other in others if other is not None), None)
            if around is not None:
                around.inside.append(span)
        return sorted((call for calls in threads.values() for call in calls), key=lambda call: call.seen.began)


def _notes(calls: list[_Call], functions: list[_Function]) -> list[str]:
    if functions:
        return ["calls and times of decorated functions are estimates, from the calls that were looked at"]
    return [] if calls else ["no map was called"]


def _around(span: Seen, calls: list[_Call]) -> _Call | None:
    """The one of these calls, which follow each other, that the span is part of."""
    at = bisect_right(calls, span.began, key=lambda call: call.seen.began) - 1
    return calls[at] if at >= 0 and span.ended <= calls[at].seen.ended else None


def _total(site: tuple[str, str], calls: list[_Call]) -> dict[str, Any]:
    seconds = sum(call.seen.ended - call.seen.began for call in calls)
    phases: dict[str, float] = {}
    for call in calls:
        if call.seen.place.phase == places.SETTLED:
            phases[places.RUN] = phases.get(places.RUN, 0.0) + call.seen.ended - call.seen.began
        for phase, took in by_phase(call.inside).items():
            phases[phase] = phases.get(phase, 0.0) + took
    ran = {span.result for call in calls for span in call.inside if span.result}
    made = Counter(span.place.phase for call in calls for span in call.inside)
    if any(call.seen.place.phase == places.SETTLED for call in calls):
        ran.add(SETTLED)
    rest = seconds - sum(phases.values())
    if rest > 0:
        phases["choosing"] = rest
    return {
        "function": site[0],
        "where": site[1],
        "calls": len(calls),
        "elements": sum(call.elements for call in calls),
        "seconds": seconds,
        "gears": sorted(ran),
        "device": "GPU" if "cuda" in ran else "CPU",
        "traces": made[places.TRACE],
        "compiles": made[places.COMPILE],
        "phases": phases,
    }


def _gear(seen: Seen) -> str:
    """Which gear ran at this place; empty where none did."""
    name = GEARS.get(seen.place.name)
    if name == "":
        return str(seen.args[0].name)
    return name if name and not (name == "direct" and seen.result is None) else ""


def _asked(seen: Seen) -> tuple[Any, int]:
    """The function of a call, and how many elements it is for."""
    if seen.place == places.TENSOR_MAP:
        return seen.args[0].fn, seen.args[0].n or 0
    f, xs = seen.args[:2]
    return f, _length(xs if isinstance(xs, tuple | list) else (xs,))


def _name(f: Any) -> str:
    name = getattr(f, "__qualname__", None) or type(f).__name__
    return str(name).replace("<locals>.", "")


def _length(xs: Any) -> int:
    try:
        return len(xs[0])
    except (TypeError, IndexError):  # an iterator, or a dict of columns
        return 0


def _caller() -> str:
    """file:line of the first frame that is not Upshift's."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def profile() -> Profile:
    """Watch all maps in a block: `with up.profile() as p: ...`, then `print(p)` or `p.save("trace.json")`."""
    return Profile()
