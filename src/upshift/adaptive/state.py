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
from ..gears.calls import (
    NUMBERS,
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
from ..gears.coming import Coming
from ..gears.frameworks import prepare_call
from ..gears.signatures import names_of, values_of
from .call_kinds import HEAVY, Lot, lot_of
from .code_swap import Fast, has_prelude, shifting, straight, watching
from .eligibility import is_brief, is_lazy, why_plain
from .gain import why_slow
from .pace import Pace
from .trial import Trial, copies_of

log = logging.getLogger("upshift")
GLIMPSED = 10e-6
"""Seconds of a call from which on it is worth a closer look at once."""
MOST_FAST = 6
"""Kinds of arguments that have machine code at the same time."""
MOST_LOTS = 64
LEAVING = (2, 3, 4, 8, 16)
"""Looks at which a brief function may be left alone for good."""
BRIEF = 0.12e-6
"""Seconds of a call of a brief function that machine code could not make much shorter."""
OFTEN = 16
"""Calls that machine code may leave to the plain function within some looks."""
LONG = 1e-3
"""Seconds of a plain call from which on machine code lets other threads run."""
CHECK = 20e-6
"""Seconds that a comparison costs besides the plain call."""
CHECKED_SHARE = 0.01
"""Of the time in machine code, what later comparisons with the plain function may cost."""


class Life:
    """What is known of one decorated function, and what its code is."""

    def __init__(
        self, plain: types.FunctionType, cover: types.FunctionType, gears: frozenset[str], static: frozenset[int]
    ) -> None:
        self.plain = plain
        self.cover = weakref.ref(cover)
        self.names = names_of(plain)
        self.is_flat = len(self.names) == plain.__code__.co_argcount
        """Whether a call's positional arguments are all it has."""
        self.gears = gears
        """Those that may be used."""
        self.static = static
        """Positions of arguments whose values are built into machine code."""
        self.lots: dict[Any, Lot] = {}
        self.settled: Refusal | None = None
        """Why the function's code is its own for good."""
        self.pace = Pace()
        self.installed = 0
        """Looks before the code was exchanged last."""
        self.fast: list[Lot] = []
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
        cover = self.cover()
        if cover is not None:
            cover.__code__ = self.plain.__code__

    def install(self) -> None:
        """Give the function the code that fits what is known."""
        cover = self.cover()
        if cover is None or self.settled is not None:
            return
        if not self.fast:
            cover.__code__ = watching(self.plain, self.look, self.pace.ticks())
            return
        gaps = len({lot.without_gaps for lot in self.fast}) < len(self.fast)
        fast = [
            Fast(lot.kind, lot.call, functools.partial(self.left, lot), gaps)
            for lot in self.fast
            if lot.call is not None
        ]
        self.installed = self.pace.looks
        cover.__code__ = shifting(self.plain, self.look, self.pace.fast_ticks(), self.pace.ticks(), fast)

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
        lot = self._lot(values)
        self.pace.looks += 1
        if sys.gettrace() is not None:  # a debugger sees the plain function
            return self.plain(*args, **keywords)
        if lot.call is not None and not lot.is_free():
            return self.plain(*args, **keywords)
        if lot.is_ready:
            return self._look_at_fast(lot, values, args, keywords)
        if lot.call is not None and lot.refusal is None:
            lot.rest = max(lot.rest - 1, 0)
            if lot.trusted and not lot.rest:
                self._use(lot)
            elif not lot.trusted:
                return self._tried(lot, values, args, keywords)
        elif lot.coming is not None:
            if lot.coming.is_there():
                return self._has_come(lot, lot.coming, values, args, keywords)
        elif lot.wants_thought() and self._is_worth_it(lot):
            return self._compiled(lot, values, args, keywords)
        return self._timed(lot, args, keywords)

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
            lot = self._lot(args if self.is_flat else values_of(self.plain, args, keywords))
            self._note_call(lot, took)
            self._note_result(lot, result)
            self._keep_seen(lot, args, keywords, result)
        elif took < BRIEF and self.pace.last_glimpse and is_brief(self.plain):
            self.settle(Refusal("llvm", "its few instructions take less time than a call of machine code"))
        return result

    def _lot(self, values: tuple[Any, ...]) -> Lot:
        kind = tuple(map(argument_of, values))
        if self.static:
            kind = tuple([fixed_of(v) if i in self.static else k for i, (k, v) in enumerate(zip(kind, values))])
        lot = self.lots.get(kind)
        if lot is None and gear_of(kind) != "llvm":
            kind = tuple(map(for_framework, kind, values))
            lot = self.lots.get(kind)
        if lot is None:
            if len(self.lots) >= MOST_LOTS:
                self.lots.pop(next(key for key, old in list(self.lots.items()) if old not in self.fast), None)
            lot = self.lots[kind] = lot_of(self.plain, kind, self.names)
            if lot.gear not in self.gears:
                lot.refusal = Refusal(lot.gear, "this gear is not allowed, or not exact")
        return lot

    def _timed(self, lot: Lot, args: Any, keywords: Any) -> Any:
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
            self._note_call(lot, took)
        self._note_result(lot, result)
        self._keep_seen(lot, args, keywords, result)
        if self.pace.looks in LEAVING:
            self._consider_leaving()
        return result

    def _keep_depth(self) -> None:
        """A function that calls itself keeps its own code where a look would take a frame of every call."""
        if not has_prelude(self.plain):
            self.settle(Refusal("llvm", "it calls itself, and takes variables of a function around it"))

    def _note_result(self, lot: Lot, result: Any) -> None:
        """What a call gave: tensors, of numbers alone, are computed by TensorFlow."""
        lot.result, lot.returned = result_of(result), True
        numbers_alone = lot.gear == "llvm" and lot.result is None and lot.call is None and lot.refusal is None
        if numbers_alone and "tensorflow" in self.gears and gives_tensors(result):
            lot.gear = "tensorflow"

    def _keep_seen(self, lot: Lot, args: Any, keywords: Any, result: Any) -> None:
        """What one comparison takes, where that must do and nothing can change it."""
        if lot.call is not None or lot.per_call <= HEAVY or any(isinstance(kind, Held) for kind in lot.kind):
            return
        if all(leaf in NUMBERS for leaf in leaves_of((*lot.kind, *([lot.result] if lot.result else ())))):
            lot.seen = values_of(self.plain, args, keywords), result

    def _note_call(self, lot: Lot, took: float) -> None:
        lot.add(took, self.pace.stands_for())
        if self.pace.changes(took):
            self.install()

    def _consider_leaving(self) -> None:
        """A function of few instructions, without loops, is not looked at any more; nor one whose calls are short and
        are never of a kind that machine code takes."""
        lots = list(self.lots.values())
        if self.settled is None and all(lot.shortest < BRIEF for lot in lots) and is_brief(self.plain):
            self.settle(Refusal("llvm", "its few instructions take less time than a call of machine code"))
        elif self.settled is None and lots and all(lot.refusal is not None for lot in lots):
            last = self.pace.looks >= LEAVING[-1] and all(lot.shortest < LONG for lot in lots)
            if last or is_brief(self.plain):
                self.settle(next(lot.refusal for lot in lots if lot.refusal is not None))

    # ---- machine code

    def _is_worth_it(self, lot: Lot) -> bool:
        """The ski-rental rule; JAX does not see what a function does besides computing."""
        if lot.gear == "jax" and lot.call is None:
            lot.refusal = lot.refusal or why_plain(self.plain)
        return self.settled is None and lot.refusal is None and lot.wants_machine_code()

    def _compiled(self, lot: Lot, values: Any, args: Any, keywords: Any) -> Any:
        """Compile, unless another thread does; and compare, where that is over at once."""
        if not self.lock.acquire(blocking=False):
            return self._timed(lot, args, keywords)
        try:
            lot.begun = time.perf_counter()
            made = prepare_call(lot.gear, self.plain, lot.kind, values, lot.result, lot.per_call > LONG)
        finally:
            self.lock.release()
        if isinstance(made, Coming):
            lot.coming = made
            return self._timed(lot, args, keywords)
        return self._has_come(lot, made, values, args, keywords)

    def _has_come(self, lot: Lot, made: Any, values: Any, args: Any, keywords: Any) -> Any:
        """There is machine code, or a reason why not: it is compared."""
        lot.coming = None
        if isinstance(made, Coming):
            made = made.result_or(lambda error: Refusal(lot.gear, f"the compiler failed: {type(error).__name__}"))
        lot.compiled_in = time.perf_counter() - lot.begun
        if isinstance(made, Refusal):
            self._refuse(lot, made)
        else:
            lot.call = made
        if lot.call is not None and lot.seen is not None and self._agrees_with_seen(lot, *lot.seen):
            return self._look_at_fast(lot, values, args, keywords)
        if lot.call is None and self._tells_apart(lot):
            lot = self._lot(values)
        if lot.call is not None:
            self.pace.hurry()
            self.install()
        return self._tried(lot, values, args, keywords)

    def _tells_apart(self, lot: Lot) -> bool:
        """A graph that cannot be had for any number may be had for this one: from now on each value is a kind."""
        ints = frozenset(i for i, kind in enumerate(lot.kind) if kind in (int, bool))
        if lot.gear != "tensorflow" or not ints - self.static:
            return False
        self.static |= ints
        return True

    def _agrees_with_seen(self, lot: Lot, values: Any, result: Any) -> bool:
        """Whether machine code gives what a long call gave; if not, what it reads besides may have changed since."""
        assert lot.call is not None
        lot.seen = None
        trial = Trial(self.plain, lot.call, values, list(values))
        if trial.left or trial.difference(result) is not None:
            return False
        lot.checked, lot.tried, lot.tried_plain = 1, trial.took, lot.per_call
        lot.trusted = lot.not_faster() is None
        if lot.trusted:
            self._use(lot)
        return lot.trusted

    def _tried(self, lot: Lot, values: Any, args: Any, keywords: Any) -> Any:
        """Machine code on copies, the plain function on the arguments; what it gives is what the caller gets."""
        values = tuple(map(apart, lot.kind, values))
        copies = copies_of(values) if lot.call is not None else None
        if lot.call is None or copies is None or not lot.is_free():
            return self._timed(lot, args, keywords)
        trial = Trial(self.plain, lot.call, values, copies)
        began = time.perf_counter()
        try:
            result = self.plain(*args, **keywords)
        except Exception as error:
            if trial.left:
                self._count_left(lot)
            else:
                self._differs(lot, f"the plain function raises {type(error).__name__}")
            raise
        took = time.perf_counter() - began
        lot.add(took, 1 if lot.trusted else self.pace.stands_for())
        if trial.left:
            self._count_left(lot)
            return result
        difference = trial.difference(result)
        if difference is not None:
            self._differs(lot, difference)
            return result
        lot.add_comparison(trial.took, took)
        if lot.trusted:
            slow = lot.has_become_slow()
            if slow is not None:
                self._refuse(lot, Refusal(lot.gear, slow))
            else:
                self._use(lot)
            return result
        if lot.checked >= lot.checks_needed():
            slow = why_slow(self.plain, lot, args, keywords)
            if slow is not None:
                self._refuse(lot, Refusal(lot.gear, slow))
                return result
            lot.trusted = True
            self._use(lot)
        return result

    def _differs(self, lot: Lot, how: str) -> None:
        log.warning("upshift: machine code of %s is not used: %s", self.plain.__qualname__, how)
        self._refuse(lot, Refusal(lot.gear, f"its result is not the plain function's: {how}"))

    def _use(self, lot: Lot) -> None:
        """Machine code for a kind of arguments, the one used last in front."""
        assert lot.call is not None
        lot.straight = straight(self.plain, Fast(lot.kind, lot.call, self.plain))
        self.fast = [lot, *(other for other in self.fast if other is not lot)][:MOST_FAST]
        self.pace.young = False
        self.install()

    def _look_at_fast(self, lot: Lot, values: Any, args: Any, keywords: Any) -> Any:
        """A call that goes to machine code, on the clock; now and then compared with the plain function."""
        if lot not in self.fast and (len(self.fast) < MOST_FAST or self.pace.looks - self.installed > MOST_FAST):
            self._use(lot)
        lot.left = max(lot.left - self.pace.stands_for_fast // 4, 0)
        self._improve(lot)
        if lot.since_check * CHECKED_SHARE > lot.per_call + CHECK:
            lot.since_check = 0.0
            return self._tried(lot, values, args, keywords)
        assert lot.straight is not None
        began = time.perf_counter()
        result = lot.straight(*args, **keywords)
        took = time.perf_counter() - began
        lot.add_fast(took, self.pace.stands_for_fast)
        if self.pace.changes_fast(took):
            self.install()
        return result

    def _improve(self, lot: Lot) -> None:
        """Better machine code, when what there is has run as long as that will take; the next call is compared."""
        if lot.coming is not None and lot.coming.is_there():
            made, lot.coming = lot.coming.result_or(lambda error: None), None
            if made is not None:
                lot.call, lot.since_check = made, math.inf
        elif lot.coming is None and lot.call is not None and lot.call.better is not None and lot.wants_better():
            lot.coming, lot.improved = Coming(lot.call.better), True

    def left(self, lot: Lot, *args: Any, **keywords: Any) -> Any:
        """A call that machine code left: the plain function's, with its errors and warnings."""
        try:
            return self._left(lot, args, keywords)
        except BaseException as error:
            _hide_us(error)
            raise

    def _left(self, lot: Lot, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        values = args if self.is_flat else values_of(self.plain, args, keywords)
        if self._lot(values) is lot:
            if lot.call is not None and lot.call.refresh is not None:
                lot.call.refresh()
            self._count_left(lot)
            return self.plain(*args, **keywords)
        return self._look(args, keywords)

    def _count_left(self, lot: Lot) -> None:
        lot.left += 1
        if lot.left < (OFTEN if lot.call is None or not lot.call.allocates else 2):
            return
        lot.left, lot.rest, lot.patience = 0, lot.patience, min(2 * lot.patience, 1 << 20)
        if not lot.trusted:
            self._refuse(lot, Refusal(lot.gear, "most calls raise, warn or go beyond 64 bits, which is not for it"))
        elif lot.call is not None and lot.call.bind is not None and lot.call.bind(self.plain) is MISS:
            lot.rent_again()
        self._drop(lot)

    def _drop(self, lot: Lot) -> None:
        if lot in self.fast:
            self.fast = [other for other in self.fast if other is not lot]
            self.install()

    def _refuse(self, lot: Lot, why: Refusal) -> None:
        lot.refusal, lot.call, lot.trusted = why, None, False
        self._drop(lot)


def _hide_us(error: BaseException) -> None:
    """A traceback is the user's: it begins where the plain function does."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
