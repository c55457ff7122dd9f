"""Calls by the kinds of their arguments: what each sort of call costs, and when its machine code pays."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import Refusal
from ..gears.background import Background
from ..gears.calls import Argument, ArrayOf, CompiledFunction, Result, gear_of, is_strange, leaves_of, name_of
from ..plan.entries import RENTED
from ..plan.ledger import Arm, Ledger
from ..plan.prices import KERNEL_GAIN, OPTIMISED_GAIN, check_price, code_price, learn, loops_in, size_of

SMALLEST = 0.1e-6
"""Seconds that a call of machine code takes at least, as the clock tells, which takes most of them."""
COLD = 5e-6
"""Calls shorter than this are slower when one of them is timed than they are among others."""
HEAVY = 10e-3
"""Seconds of a plain call from which on one comparison must do."""
CHECKS = 3
"""Comparisons with the plain function before machine code is trusted."""
LOADING = 0.3
"""Seconds to load all that is needed for graphs, once in a process."""
PRICES = {"tensorflow": 0.05, "jax": 0.1}
"""Seconds that a framework, which is loaded already, takes to make a program for its own arrays."""
PER_RUN = 3.0
"""How many times longer than a call it takes to make a program for it, besides."""
ODD = 10.0
"""A call that takes so many times as long as others do says nothing of those around it."""
TRIAL = 0.4e-6
"""Seconds that machine code takes longer in a comparison than in a call."""
LONG = 1e-3
"""Seconds of a plain call from which on each comparison tells which of the two is faster."""
CLEARLY = 0.5
"""Share of the plain function's time at which one comparison of long calls must do."""
HARDLY = 0.97
"""The same, of the other side: so little is no gain."""
TELLING = 50e-3
"""Seconds of a plain call from which on one comparison tells whether machine code is faster at all."""
BETTER = 4.0
"""How many times as long as a few passes of LLVM's all of them take."""
ASIDE = 0.25
"""Share of its price that a compilation costs calls, which go on meanwhile: LLVM works on another thread."""
FRAMEWORK_GAIN = 3.0
"""How much faster a program of a framework's is expected to be than calls of its functions one by one."""
RUNS = 2.0
"""Plain calls that a comparison takes, besides: copies of the arguments, machine code that runs for the first time."""
BUSY_STEP = 20e-6
"""Seconds for an instruction, none of them in a loop, from which on a call is the work of NumPy's own functions."""
BUSY_GAIN = 1.15
"""How much faster machine code for such calls is expected to be: it may well gain nothing."""
LITTLE_GAIN = 1.15
"""How much faster better machine code is expected to be where its loops go over whole arrays."""
FASTER = 0.9
"""Machine code is used where it takes at most this share of the plain function's time."""
LARGE = 1 << 20
"""Bytes of arguments from which on the plain function is slower in a comparison than otherwise: machine code, which
runs before it on copies, has filled the processor's caches."""


class WayToCall(Arm):
    """An arm for calls of one kind, which differ by values and lengths: what counts is what they cost on average."""

    def seconds(self, n: int) -> float:
        """What n calls take."""
        return n * self.guess(1)


@dataclass(slots=True)
class Specialization:
    """What is known of calls with arguments of one kind, and the machine code for them."""

    kind: tuple[Argument, ...]
    gear: str = "llvm"
    refusal: Refusal | None = None
    calls: float = 0.0
    """How many there were, as far as the looks tell; so are all figures here."""
    plain: float = 0.0
    """Seconds in the plain function."""
    shortest: float = float("inf")
    returned: bool = False
    seen: tuple[Any, Any] | None = None
    """Arguments and result of a long call with numbers, which nothing can change: another need not be made."""
    large: tuple[int, float] = (0, 0.0)
    """Bytes of the arguments of the last large call, and seconds of the fastest one of so many."""
    result: Result | None = None
    """Of the last call that returned; None where machine code gives nothing like it."""
    call: CompiledFunction | None = None
    fast_call: Callable[..., Any] | None = None
    """The function by machine code, without looks."""
    written: Callable[[], CompiledFunction] | None = None
    """Makes machine code of what is checked and written."""
    compiling: Background[Any] | None = None
    """Machine code that is being made on another thread."""
    begun: float = 0.0
    """When that was begun."""
    trusted: bool = False
    checked: int = 0
    fast_calls: float = 0.0
    fast: float = 0.0
    """Seconds in machine code."""
    shortest_fast: float = math.inf
    tried: float = 0.0
    """Seconds of machine code, and of the plain function, in comparisons."""
    tried_plain: float = 0.0
    compiled_in: float = 0.0
    left: int = 0
    """Calls that machine code has lately left to the plain function."""
    rest: int = 0
    """Looks until machine code that left too many calls is tried again."""
    patience: int = 64
    ratios: list[float] = field(default_factory=list)
    """Time of machine code in each of the last comparisons of long calls, as a share of the plain function's."""
    straight_steps: int = 0
    """Instructions of a function of arrays that has no loops; else 0."""
    check_price: float = 0.0
    """Seconds that it is expected to take to check the function and to write its code."""
    code_price: float = 0.0
    """Seconds that it is expected to take to compile it."""
    since_check: float = 0.0
    """Seconds in machine code since the last comparison."""
    ledger: Ledger | None = None
    """None before plain calls have cost RENTED."""
    plain_arm: Arm = field(init=False)
    code_arm: Arm = field(init=False)
    better_arm: Arm = field(init=False)

    def __post_init__(self) -> None:
        self.rent()

    def rent(self) -> None:
        """Nothing is paid, and nothing is known of what calls cost."""
        self.plain = self.calls = self.tried = self.tried_plain = 0.0
        self.ledger, in_framework = None, self.gear in PRICES
        self.plain_arm = WayToCall("plain", guess=lambda n: self.per_call, ready=True, sure=True)
        self.code_arm = WayToCall(self.gear, guess=lambda n: self.expected(), sure=in_framework)
        self.better_arm = WayToCall("llvm", guess=lambda n: self.expected() / self._better_gain(), sure=True)
        self.better_arm.after, self.better_arm.builds_on_it = self.code_arm, True

    @property
    def name(self) -> str:
        """The kinds of its arguments, for people."""
        return ", ".join(map(name_of, self.kind)) or "no arguments"

    @property
    def has_arrays(self) -> bool:
        """Whether an argument is an array, or holds one."""
        return any(isinstance(leaf, ArrayOf) for leaf in leaves_of(self.kind))

    @property
    def without_gaps(self) -> Any:
        """The kind, whether arrays have gaps or not."""
        return tuple((part.dtype, part.ndim) if isinstance(part, ArrayOf) else part for part in self.kind)

    @property
    def per_call(self) -> float:
        """Seconds of a plain call, on average."""
        return self.plain / self.calls if self.calls else 0.0

    def expected(self) -> float:
        """Seconds that a call by machine code is expected to take; as measured, where there is some."""
        if self.fast_calls and self.call is not None:
            return self.fast / self.fast_calls
        if self.gear in PRICES:
            return self.per_call / FRAMEWORK_GAIN
        busy = self.straight_steps and self.per_call > BUSY_STEP * self.straight_steps
        return max(SMALLEST, self.per_call / (BUSY_GAIN if busy else KERNEL_GAIN))

    def _better_gain(self) -> float:
        """How much faster better machine code is expected to be."""
        return LITTLE_GAIN if self.call is not None and self.call.gains_little else OPTIMISED_GAIN

    @property
    def is_ready(self) -> bool:
        """Whether calls go to machine code."""
        return self.call is not None and self.trusted and not self.rest

    def add(self, took: float, calls: int) -> None:
        """A plain call was timed, which stands for so many."""
        if self.calls and took > ODD * self.per_call:
            calls = 1  # perhaps the machine was busy; if it goes on so, it will be looked at more often
        self.shortest = min(self.shortest, took)
        took = _among_others(took, self.shortest)
        self.calls += calls
        self.plain += took * calls
        if self.ledger is not None:
            self.ledger.ran(self.plain_arm, 1, took, calls)
        elif self.plain > RENTED:
            self.ledger = self._new_ledger()

    def add_large(self, size: int, took: float) -> None:
        """A plain call with so many bytes of arrays was timed."""
        if size > LARGE:
            self.large = size, min(took, self.large[1] if self.large[0] == size else took)

    def among_others(self, size: int, took: float) -> float:
        """What a plain call in a comparison takes: as others with so many bytes of arrays, before there is machine
        code."""
        return min(took, self.large[1]) if size == self.large[0] and not self.trusted else took

    def _new_ledger(self) -> Ledger:
        """One that knows what plain calls have cost before."""
        ledger = Ledger([self.plain_arm, self.code_arm, self.better_arm])
        if self.calls:
            ledger.ran(self.plain_arm, 1, self.per_call, round(self.calls))
        return ledger

    def add_fast(self, took: float, calls: int) -> None:
        """A call of machine code was timed, which stands for so many."""
        self.shortest_fast = min(self.shortest_fast, took)
        took = _among_others(took, self.shortest_fast)
        self.fast_calls += calls
        self.fast += took * calls
        self.since_check += took * calls
        if self.ledger is not None:
            self.ledger.ran(self.code_arm, 1, took, calls)

    def is_free(self) -> bool:
        """Whether machine code may be called now."""
        return self.call is not None and (self.call.free is None or self.call.free())

    def rent_again(self) -> None:
        """What the function captured has changed for good: machine code is made anew when that has paid again."""
        self.call, self.trusted, self.checked, self.rest = None, False, 0, 0
        self.rent()

    def price(self) -> float:
        """Seconds that the next step towards machine code is expected to cost calls."""
        if self.gear in PRICES:
            loaded = self.gear != "tensorflow" or "upshift.tensorflow" in sys.modules
            return PRICES[self.gear] + PER_RUN * self.per_call + (0.0 if loaded else LOADING)
        if not self.code_arm.sure:
            return self.check_price
        return ASIDE * self.code_price + (RUNS * self.per_call if self.has_arrays else 0.0)

    def wants_machine_code(self) -> bool:
        """Whether the next step towards machine code pays, as the ledger tells."""
        if self.ledger is None or self.refusal is not None or self.call is not None or self.compiling is not None:
            return False
        self.code_arm.price = self.price()
        return self.returned and self.ledger.to_build(1) is self.code_arm

    def missing(self) -> float:
        """Seconds of plain calls until the next step pays."""
        self.code_arm.price = self.price()
        self.ledger = self.ledger or self._new_ledger()
        return self.ledger.budget(1)

    def is_checked(self, seconds: float) -> None:
        """The function can be compiled, which took so many seconds to find."""
        learn("check", self.check_price, seconds)
        self._has_paid(seconds)
        self.code_arm.sure = True

    def refuse(self, why: Refusal, seconds: float = 0.0) -> None:
        """There is to be no machine code, which took so many seconds to find."""
        self.refusal = self.code_arm.refusal = why
        self.call, self.trusted, self.code_arm.ready = None, False, False
        self._has_paid(seconds)

    def _has_paid(self, seconds: float) -> None:
        if self.ledger is not None:
            self.ledger.built(self.code_arm, seconds, self.code_arm.sure)

    def is_for(self, gear: str) -> None:
        """A framework computes what such calls give."""
        self.gear = self.code_arm.name = gear
        self.code_arm.sure = gear in PRICES

    def wants_better(self) -> bool:
        """The same for better machine code, which takes BETTER times as long to make as what there is did."""
        if self.ledger is None or self.call is None or self.call.better is None or self.better_arm.ready:
            return False
        self.better_arm.price = BETTER * self.compiled_in
        return self.ledger.to_build(1) is self.better_arm

    def checks_needed(self) -> int:
        """Comparisons that must agree before machine code is trusted: fewer where one takes long and says enough."""
        if self.per_call < HEAVY or (self.ratios and CLEARLY <= self.ratios[-1] <= HARDLY and self.per_call < TELLING):
            return CHECKS
        return 1

    def add_comparison(self, fast: float, plain: float) -> None:
        """Seconds of both in one comparison."""
        self.checked += 1
        self.since_check = 0.0
        self.tried, self.tried_plain = self.tried + fast, self.tried_plain + plain
        if plain > LONG:
            self.ratios = [*self.ratios[1 - CHECKS :], fast / plain]

    def has_become_slow(self) -> str | None:
        """Why machine code that was faster is not used any more: in most of the last comparisons it was slower."""
        if len(self.ratios) < CHECKS or statistics.median(self.ratios) < 1.0:
            return None
        return f"takes {statistics.median(self.ratios):.2f} times as long"

    def not_faster(self) -> str | None:
        """Why machine code is not to be used, where it takes as long as the plain function."""
        if self.ratios:
            plain = self.tried_plain / self.checked
            return self.slower(statistics.median(self.ratios) * plain, plain)
        return self.slower(self.tried / self.checked - TRIAL, max(self.tried_plain / self.checked, self.per_call))

    def slower(self, fast: float, plain: float) -> str | None:
        """Why machine code that takes `fast` seconds is not to be used, where that is not plainly less than `plain`."""
        if fast <= FASTER * plain:
            return None
        return f"is not faster: {1e6 * fast:.3g} us against {1e6 * plain:.3g} us"


def _among_others(took: float, shortest: float) -> float:
    """What a call costs that was timed: of brief ones, which are slow when nothing is warm, the quickest tells more."""
    return min(took, 1.5 * shortest) if took < COLD else took


def specialization_of(f: Any, kind: tuple[Argument, ...], names: tuple[str, ...]) -> Specialization:
    """A new kind of arguments, refused where one of them is nothing that machine code takes."""
    steps = size_of(f)[0]
    spec = Specialization(kind, gear_of(kind))
    spec.check_price, spec.code_price = check_price(f, spec.has_arrays), code_price(steps, spec.has_arrays)
    if spec.has_arrays and spec.gear == "llvm":
        spec.straight_steps = 0 if loops_in(f) else steps
    for argument, name in zip(kind, names, strict=False):
        if is_strange(argument):
            spec.refusal = Refusal(spec.gear, f"its argument {name} is a {name_of(argument)}")
    return spec
