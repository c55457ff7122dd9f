"""The state of one decorated function: which code it runs now (plain, watched or machine code), and what changes
that.
"""

from __future__ import annotations

import functools
import logging
import math
import sys
import threading
import time
import types
import weakref
from typing import Any

from ..errors import Refusal
from ..gears.background import Background
from ..gears.calls import (
    NUMBERS,
    CompiledFunction,
    Held,
    apart,
    argument_of,
    fixed_of,
    for_framework,
    gear_of,
    gives_tensors,
    leaves_of,
    result_of,
)
from ..gears.capture_reader import MISS
from ..gears.frameworks import prepare_call
from ..gears.signatures import names_of, values_of
from .code_swap import FastPath, direct, dispatching, fast_call, has_prelude, watching
from .eligibility import is_brief, is_lazy, why_plain
from .gain import why_slow
from .pace import Pace
from .specialization import FASTER, HEAVY, Specialization, specialization_of
from .trial import Trial, copies_of, size_of

log = logging.getLogger("upshift")
GLIMPSED = 10e-6
"""Seconds of a call from which on it is worth a closer look at once."""
MOST_FAST = 6
"""Kinds of arguments that have machine code at the same time."""
MOST_SPECIALIZATIONS = 64
LEAVING = 16
"""Looks after which a function whose calls are not for machine code is left alone for good, however long it is."""
TOO_BRIEF = 0.12e-6
"""Seconds of a call of a brief function that machine code could not make much shorter."""
OFTEN = 16
"""Calls that machine code may leave to the plain function within some looks."""
RELEASES_LOCK = 1e-3
"""Seconds of a plain call from which on machine code lets other threads run."""
CHECK = 20e-6
"""Seconds that a comparison costs besides the plain call."""
CHECKED_SHARE = 0.01
"""Of the time in machine code, what later comparisons with the plain function may cost."""


class FunctionState:
    """One decorated function: what is known of its calls, and which code it has now."""

    def __init__(
        self, plain: types.FunctionType, wrapper: types.FunctionType, gears: frozenset[str], static: frozenset[int]
    ) -> None:
        self.plain = plain
        self.wrapper = weakref.ref(wrapper)
        self.names = names_of(plain)
        self.is_flat = len(self.names) == plain.__code__.co_argcount
        """Whether a call's positional arguments are all it has."""
        self.gears = gears
        """Those that may be used."""
        self.static = static
        """Positions of arguments whose values are built into machine code."""
        self.specializations: dict[Any, Specialization] = {}
        self.settled: Refusal | None = None
        """Why the function's code is its own for good."""
        self.pace = Pace()
        self.installed = 0
        """Looks before the code was exchanged last."""
        self.fast: list[Specialization] = []
        self.is_alone = True
        """Whether, as far as is known, all calls have been of one kind."""
        self.inside: dict[int, int] = {}
        """How many calls of each thread are being looked at."""
        self.lock = threading.Lock()
        if not gears:
            self.settle(Refusal("llvm", "no gear that compiles is allowed"))
        elif is_lazy(plain):
            self.settle(Refusal("llvm", "it is a generator or a coroutine"))
        else:
            self.install()

    def settle(self, why: Refusal) -> None:
        """The function's code is its own from now on, and costs what it costs."""
        self.settled = why
        wrapper = self.wrapper()
        if wrapper is not None:
            wrapper.__code__ = self.plain.__code__

    def install(self) -> None:
        """Give the function the code that fits what is known."""
        wrapper = self.wrapper()
        if wrapper is None or self.settled is not None:
            return
        if not self.fast:
            wrapper.__code__ = watching(self.plain, self.look, self.pace.ticks())
            return
        if len(self.fast) == 1 and self.is_alone and self._install_direct(wrapper, self.fast[0]):
            return
        gaps = len({spec.without_gaps for spec in self.fast}) < len(self.fast)
        fast = [
            FastPath(spec.kind, spec.call, functools.partial(self.left, spec), gaps)
            for spec in self.fast
            if spec.call is not None
        ]
        self.installed = self.pace.looks
        wrapper.__code__ = dispatching(self.plain, self.look, self.pace.fast_ticks(), self.pace.ticks(), fast)

    def _install_direct(self, wrapper: types.FunctionType, spec: Specialization) -> bool:
        """Machine code that counts calls, for the only kind of arguments there is; False where it does not count."""
        assert spec.call is not None
        fast = FastPath(spec.kind, spec.call, functools.partial(self.missed, spec, spec.call))
        if fast.counts:
            spec.call.ticks[0] = self.pace.stands_for_fast
            self.installed = self.pace.looks
            wrapper.__code__ = direct(self.plain, fast)
        return fast.counts

    # ---- a call that is looked at

    def look(self, *args: Any, **keywords: Any) -> Any:
        """One call of those that go by, with an eye on its arguments and the clock."""
        try:
            return self._look(args, keywords)
        except BaseException as error:
            _hide_us(error)
            raise

    def _look(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if self.pace.glimpses:
            return self._glimpse(args, keywords)
        values = args if self.is_flat else values_of(self.plain, args, keywords)
        spec = self._specialization(values)
        self.pace.looks += 1
        if sys.gettrace() is not None:  # a debugger sees the plain function
            return self.plain(*args, **keywords)
        if spec.call is not None and not spec.is_free():
            return self.plain(*args, **keywords)
        if spec.is_ready:
            return self._look_at_fast(spec, values, args, keywords)
        if spec.call is not None and spec.refusal is None:
            spec.rest = max(spec.rest - 1, 0)
            if spec.trusted and not spec.rest:
                self._use(spec)
            elif not spec.trusted:
                return self._tried(spec, values, args, keywords)
        elif spec.compiling is not None:
            if spec.compiling.is_done():
                return self._finish_compiling(spec, spec.compiling, values, args, keywords)
        elif spec.wants_machine_code() and self._may_be_compiled(spec):
            return self._compiled(spec, values, args, keywords)
        return self._timed(spec, args, keywords)

    def _glimpse(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """One of the first calls, with an eye on the clock alone: most functions are short, and not called often."""
        self.pace.looks += 1
        thread = threading.get_ident()
        if thread in self.inside:  # a function that calls itself: the outermost call is timed
            self._keep_depth()
            return self.plain(*args, **keywords)
        self.inside[thread] = 1
        began = time.perf_counter()
        try:
            result = self.plain(*args, **keywords)
        finally:
            took = time.perf_counter() - began
            self.inside.pop(thread, None)
        if took > GLIMPSED:
            spec = self._specialization(args if self.is_flat else values_of(self.plain, args, keywords))
            self._note_call(spec, took)
            self._note_result(spec, result)
            self._keep_seen(spec, args, keywords, result)
        elif took < TOO_BRIEF and self.pace.last_glimpse and is_brief(self.plain):
            self.settle(Refusal("llvm", "its few instructions take less time than a call of machine code"))
        return result

    def _specialization(self, values: tuple[Any, ...]) -> Specialization:
        kind = tuple(map(argument_of, values))
        if self.static:
            kind = tuple([fixed_of(v) if i in self.static else k for i, (k, v) in enumerate(zip(kind, values))])
        spec = self.specializations.get(kind)
        if spec is None and gear_of(kind) != "llvm":
            kind = tuple(map(for_framework, kind, values))
            spec = self.specializations.get(kind)
        if spec is None:
            if len(self.specializations) >= MOST_SPECIALIZATIONS:
                self.specializations.pop(
                    next(key for key, old in list(self.specializations.items()) if old not in self.fast), None
                )
            spec = self.specializations[kind] = specialization_of(self.plain, kind, self.names)
            if spec.gear not in self.gears:
                spec.refusal = Refusal(spec.gear, "this gear is not allowed, or not exact")
        return spec

    def _timed(self, spec: Specialization, args: Any, keywords: Any) -> Any:
        thread = threading.get_ident()
        depth = self.inside[thread] = self.inside.get(thread, 0) + 1
        if depth > 1:  # a function that calls itself: the outermost call is timed
            self._keep_depth()
            try:
                return self.plain(*args, **keywords)
            finally:
                self.inside[thread] = depth - 1
        began = time.perf_counter()
        try:
            result = self.plain(*args, **keywords)
        finally:
            took = time.perf_counter() - began
            self.inside.pop(thread, None)
            self._note_call(spec, took)
        spec.add_large(size_of((*args, *keywords.values())), took)
        self._note_result(spec, result)
        self._keep_seen(spec, args, keywords, result)
        if self.pace.looks & (self.pace.looks - 1) == 0 and self.pace.looks > 1:
            self._consider_leaving()
        return result

    def _keep_depth(self) -> None:
        """A function that calls itself keeps its own code where a look would take a frame of every call."""
        if not has_prelude(self.plain):
            self.settle(Refusal("llvm", "it calls itself, and takes variables of a function around it"))

    def _note_result(self, spec: Specialization, result: Any) -> None:
        """What a call gave: tensors, of numbers alone, are computed by TensorFlow."""
        spec.result, spec.returned = result_of(result), True
        numbers_alone = spec.gear == "llvm" and spec.result is None and spec.call is None and spec.refusal is None
        if numbers_alone and "tensorflow" in self.gears and gives_tensors(result):
            spec.is_for("tensorflow")

    def _keep_seen(self, spec: Specialization, args: Any, keywords: Any, result: Any) -> None:
        """What one comparison takes, where that must do and nothing can change it."""
        if spec.call is not None or spec.per_call <= HEAVY or any(isinstance(kind, Held) for kind in spec.kind):
            return
        if all(leaf in NUMBERS for leaf in leaves_of((*spec.kind, *([spec.result] if spec.result else ())))):
            spec.seen = values_of(self.plain, args, keywords), result

    def _note_call(self, spec: Specialization, took: float) -> None:
        spec.add(took, self.pace.stands_for())
        if self.pace.changes(took):
            self.install()

    def _consider_leaving(self) -> None:
        """A function of few instructions, without loops, is not looked at any more; nor one whose calls are short and
        are never of a kind that machine code takes."""
        specializations = list(self.specializations.values())
        if self.settled is None and all(spec.shortest < TOO_BRIEF for spec in specializations) and is_brief(self.plain):
            self.settle(Refusal("llvm", "its few instructions take less time than a call of machine code"))
        elif self.settled is None and specializations and all(spec.refusal is not None for spec in specializations):
            last = self.pace.looks >= LEAVING and all(spec.shortest < RELEASES_LOCK for spec in specializations)
            if last or is_brief(self.plain):
                self.settle(next(spec.refusal for spec in specializations if spec.refusal is not None))

    # ---- machine code

    def _may_be_compiled(self, spec: Specialization) -> bool:
        """JAX does not see what a function does besides computing."""
        if spec.gear == "jax" and spec.call is None:
            spec.refusal = spec.refusal or why_plain(self.plain)
        return self.settled is None and spec.refusal is None

    def _compiled(self, spec: Specialization, values: Any, args: Any, keywords: Any) -> Any:
        """One step towards machine code, unless another thread makes it; and a comparison, where there is some."""
        if not self.lock.acquire(blocking=False):
            return self._timed(spec, args, keywords)
        try:
            began = time.perf_counter()
            if spec.written is not None:
                made: Any = Background(spec.written)
            else:
                wanted, free = spec.result, spec.per_call > RELEASES_LOCK
                made = prepare_call(spec.gear, self.plain, spec.kind, values, wanted, free)
            spec.written, spec.begun = None, began
        finally:
            self.lock.release()
        if callable(made):
            spec.written = made
            spec.is_checked(time.perf_counter() - began)
            return self._timed(spec, args, keywords)
        if isinstance(made, Background):
            spec.compiling = made
            return self._timed(spec, args, keywords)
        return self._finish_compiling(spec, made, values, args, keywords)

    def _finish_compiling(self, spec: Specialization, made: Any, values: Any, args: Any, keywords: Any) -> Any:
        """There is machine code, or a reason why not: it is compared."""
        spec.compiling = None
        if isinstance(made, Background):
            made = made.result_or(lambda error: Refusal(spec.gear, f"the compiler failed: {type(error).__name__}"))
        spec.compiled_in = time.perf_counter() - spec.begun
        if isinstance(made, Refusal):
            self._refuse(spec, made, spec.compiled_in)
        else:
            spec.call = made
        if spec.call is not None and spec.seen is not None and self._agrees_with_seen(spec, *spec.seen):
            return self._look_at_fast(spec, values, args, keywords)
        if spec.call is None and self._tells_apart(spec):
            spec = self._specialization(values)
        if spec.call is not None:
            self.pace.hurry()
            self.install()
        return self._tried(spec, values, args, keywords)

    def _tells_apart(self, spec: Specialization) -> bool:
        """A graph that cannot be had for any number may be had for this one: from now on each value is a kind."""
        ints = frozenset(i for i, kind in enumerate(spec.kind) if kind in (int, bool))
        if spec.gear != "tensorflow" or not ints - self.static:
            return False
        self.static |= ints
        return True

    def _agrees_with_seen(self, spec: Specialization, values: Any, result: Any) -> bool:
        """Whether machine code gives what a long call gave; if not, what it reads besides may have changed since."""
        assert spec.call is not None
        spec.seen = None
        trial = Trial(self.plain, spec.call, values, list(values))
        if trial.left or trial.difference(result) is not None:
            return False
        spec.checked, spec.tried, spec.tried_plain = 1, trial.took, spec.per_call
        spec.trusted = spec.not_faster() is None
        if spec.trusted:
            self._use(spec)
        return spec.trusted

    def _tried(self, spec: Specialization, values: Any, args: Any, keywords: Any) -> Any:
        """Machine code on copies, the plain function on the arguments; what it gives is what the caller gets."""
        values = tuple(map(apart, spec.kind, values))
        copies = copies_of(values, spec.call.written) if spec.call is not None else None
        if spec.call is None or copies is None or not spec.is_free():
            return self._timed(spec, args, keywords)
        trial = Trial(self.plain, spec.call, values, copies, FASTER * spec.per_call)
        began = time.perf_counter()
        try:
            result = self.plain(*args, **keywords)
        except Exception as error:
            if trial.left:
                self._count_left(spec)
            else:
                self._differs(spec, f"the plain function raises {type(error).__name__}")
            raise
        took = time.perf_counter() - began
        spec.add(took, 1 if spec.trusted else self.pace.stands_for())
        if trial.left:
            self._count_left(spec)
            return result
        difference = trial.difference(result)
        if difference is not None:
            self._differs(spec, difference)
            return result
        spec.add_comparison(trial.took, spec.among_others(size_of((*args, *keywords.values())), took))
        if spec.trusted:
            slow = spec.has_become_slow()
            if slow is not None:
                self._refuse(spec, Refusal(spec.gear, slow))
            else:
                self._use(spec)
            return result
        if spec.checked >= spec.checks_needed():
            slow = why_slow(self.plain, spec, args, keywords)
            if slow is not None:
                self._refuse(spec, Refusal(spec.gear, slow))
                return result
            spec.trusted = True
            self._use(spec)
        return result

    def _differs(self, spec: Specialization, how: str) -> None:
        log.warning("upshift: machine code of %s is not used: %s", self.plain.__qualname__, how)
        self._refuse(spec, Refusal(spec.gear, f"its result is not the plain function's: {how}"))

    def _use(self, spec: Specialization) -> None:
        """Machine code for a kind of arguments, the one used last in front."""
        assert spec.call is not None
        spec.fast_call = fast_call(self.plain, FastPath(spec.kind, spec.call, self.plain))
        spec.code_arm.ready = True
        self.fast = [spec, *(other for other in self.fast if other is not spec)][:MOST_FAST]
        self.pace.young = False
        self.install()

    def _look_at_fast(self, spec: Specialization, values: Any, args: Any, keywords: Any) -> Any:
        """A call that goes to machine code, on the clock; now and then compared with the plain function."""
        if spec not in self.fast and (len(self.fast) < MOST_FAST or self.pace.looks - self.installed > MOST_FAST):
            self._use(spec)
        spec.left = max(spec.left - self.pace.stands_for_fast // 4, 0)
        self._improve(spec)
        if spec.since_check * CHECKED_SHARE > spec.per_call + CHECK:
            spec.since_check = 0.0
            return self._tried(spec, values, args, keywords)
        assert spec.fast_call is not None
        began = time.perf_counter()
        result = spec.fast_call(*args, **keywords)
        took = time.perf_counter() - began
        spec.add_fast(took, self.pace.stands_for_fast)
        if self.pace.changes_fast(took):
            self.install()
        return result

    def _improve(self, spec: Specialization) -> None:
        """Better machine code, when what there is has run as long as that will take; the next call is compared."""
        if spec.compiling is not None and spec.compiling.is_done():
            made, spec.compiling = spec.compiling.result_or(lambda error: None), None
            if made is not None:
                spec.call, spec.since_check = made, math.inf
        elif spec.compiling is None and spec.call is not None and spec.call.better is not None and spec.wants_better():
            spec.compiling, spec.better_arm.ready = Background(spec.call.better), True

    def missed(self, spec: Specialization, call: CompiledFunction, /, *args: Any, **keywords: Any) -> Any:
        """A call that machine code, which counts calls, has not taken: one to be looked at, or one that it left."""
        if call.ticks[0] > 0:
            return self.left(spec, *args, **keywords)
        call.ticks[0] = self.pace.stands_for_fast
        return self.look(*args, **keywords)

    def left(self, spec: Specialization, /, *args: Any, **keywords: Any) -> Any:
        """A call that machine code left: the plain function's, with its errors and warnings."""
        try:
            return self._left(spec, args, keywords)
        except BaseException as error:
            _hide_us(error)
            raise

    def _left(self, spec: Specialization, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        values = args if self.is_flat else values_of(self.plain, args, keywords)
        if self._specialization(values) is spec:
            if spec.call is not None and spec.call.refresh is not None:
                spec.call.refresh()
            self._count_left(spec)
            return self.plain(*args, **keywords)
        if self.is_alone:  # from now on it is looked at which calls are of its kind
            self.is_alone = False
            self.install()
        return self._look(args, keywords)

    def _count_left(self, spec: Specialization) -> None:
        spec.left += 1
        if spec.left < (OFTEN if spec.call is None or not spec.call.allocates else 2):
            return
        spec.left, spec.rest, spec.patience = 0, spec.patience, min(2 * spec.patience, 1 << 20)
        if not spec.trusted:
            self._refuse(spec, Refusal(spec.gear, "most calls raise, warn or go beyond 64 bits, which is not for it"))
        elif spec.call is not None and spec.call.bind is not None and spec.call.bind(self.plain) is MISS:
            spec.rent_again()
        self._drop(spec)

    def _drop(self, spec: Specialization) -> None:
        spec.code_arm.ready = False
        if spec in self.fast:
            self.fast = [other for other in self.fast if other is not spec]
            self.install()

    def _refuse(self, spec: Specialization, why: Refusal, seconds: float = 0.0) -> None:
        spec.refuse(why, seconds)
        self._drop(spec)


def _hide_us(error: BaseException) -> None:
    """A traceback is the user's: it begins where the plain function does."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
