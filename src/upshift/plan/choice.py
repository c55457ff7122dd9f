"""What is known of a function in; whether machine code pays out: now, for the rest of a call, or not yet.

The ski-rental rule. Compiling costs a few tenths of a second. It is done where what lower gears have already cost more
than machine code, and what is left of this call plainly saves, pay for it together.
"""

from __future__ import annotations

import contextlib
import math
import sys
import weakref
from dataclasses import dataclass
from typing import Protocol

from ..columns.kinds import Kind
from ..config import settings
from ..emit.nests import nest_of
from ..emit.select import select_of
from ..emit.select_rows import MATHS, NoSelect
from ..gears.chunks import THREADS_PAY_SECONDS, WAKING
from ..gears.frameworks import why_no_gpu
from ..trace import Leaf, Step, Tree
from .calibration import calibration, is_warm
from .costs import FIXED, Costs
from .costs import GAIN as BATCH_GAIN
from .machine import Machines

IMPORT = 0.3
"""Seconds to load Numba, once in a process."""
FIRST = 0.3
"""Seconds that the first compilation in a process takes longer than others."""
LOAD = 0.02
"""Seconds to load machine code from the disk."""
AT_STAKE = 0.1
"""Seconds below which machine code is not worth a thought."""
GAIN = 60.0
"""How much faster than the loop the function itself is expected to be as machine code."""
PLAINLY = 1.5
"""What a call is expected to save counts for so much less than what was lost already: it is only expected."""
SWIFT = 3e-6
"""Seconds that a call of machine code takes before the first element."""
LEAST = 0.25
"""Machine code is not considered where it saves less than this share of a call."""


STREAM = 0.35e-9
"""Seconds for one element of a simple NumPy operation on the machine that the rates of steps were seen on."""
SMALL = 16
"""Numbers of an array that are all in registers: sums of them cost no more than sums of numbers."""
DIVISIONS = frozenset(("truediv", "divide", "true_divide", "floordiv", "floor_divide", "mod", "remainder", "sqrt"))
"""Steps that take a processor much longer than a sum."""


class Function(Protocol):
    """What a choice is made from."""

    costs: Costs
    machines: Machines
    regret: float
    compiled_before: bool

    def traced(self) -> Tree | None: ...


def loading_seconds() -> float:
    """What this process has yet to pay before the first compilation."""
    return (0.0 if "numba" in sys.modules else IMPORT) + (0.0 if is_warm() else FIRST)


def compile_seconds(function: Function) -> float:
    """What the next compilation is expected to cost, or loading what an earlier one has left."""
    return loading_seconds() + (LOAD if function.compiled_before else calibration().compile)


def machine_seconds(function: Function, n: float) -> float:
    """Seconds for n elements by machine code, before it was measured. That more than two threads help is not sure."""
    alone = n * machine_rate(function)
    shares = settings().num_threads > 1 and alone > THREADS_PAY_SECONDS
    return SWIFT + (alone / 2 + WAKING if shares else alone)


def machine_rate(function: Function) -> float:
    """Seconds for one element by machine code on one thread, before it was measured."""
    tree = function.traced()
    loop = function.costs.loop_rate
    rate = None if tree is None else _emitted_rate(tree)
    return loop / GAIN if rate is None else rate


def _emitted_rate(tree: Tree) -> float | None:
    """Seconds for one element of machine code that is made of the tree; None where none can be. Told once a path."""
    known = _RATES.get(tree)
    if known is not None and known[0] == tree.paths:
        return known[1]
    rate = None
    for estimate in (_branchless_rate, _nest_rate):
        if rate is None:
            with contextlib.suppress(NoSelect):
                rate = _pace() * estimate(tree)
    _RATES[tree] = tree.paths, rate
    return rate


def _pace() -> float:
    """How long this machine takes for simple arithmetic, in the time of the one that all rates here were seen on."""
    return min(max(calibration().stream / STREAM, 0.5), 2.0)


def _branchless_rate(tree: Tree) -> float:
    """In a loop without branches."""
    select_of(tree)
    steps = [step.op.name for node in tree.nodes() for step in node.steps if step.op is not None]
    maths = sum(name in MATHS or name in ("pow", "power") for name in steps)
    divided = sum(name in DIVISIONS for name in steps)
    return 0.6e-9 + 0.04e-9 * len(steps) + 0.7e-9 * divided + 1.2e-9 * maths


def _nest_rate(tree: Tree) -> float:
    """In a nest of loops over the numbers of an array: what a step makes of them costs little, a sum of them more."""
    nest_of(tree)
    steps = [step for node in tree.nodes() for step in node.steps if step.op is not None and step.kind is not None]
    kinds = [kind for node in tree.nodes() if isinstance(node.end, Leaf) for kind in node.end.kinds]
    return 1e-9 + 0.3e-9 * sum(map(_numbers, kinds)) + sum(map(_step_rate, steps))


def _step_rate(step: Step) -> float:
    """Seconds for one step of a nest. A part of an array, which is only looked at elsewhere, costs nothing."""
    assert step.op is not None
    name, made = step.op.name, _numbers(step.kind)
    read = max(map(_numbers, step.kinds), default=1)
    if name == "getitem":
        return 0.0
    if name == "histogram":
        return 2e-9 * read
    if made < read > SMALL:
        return 0.5e-9 * read
    return (1.2e-9 if name in MATHS else 0.5e-9 if name in DIVISIONS else 0.1e-9) * max(made, min(read, SMALL))


def _numbers(kind: Kind | None) -> int:
    return 1 if kind is None else math.prod(kind.lane_shape)


_RATES: weakref.WeakKeyDictionary[Tree, tuple[int, float | None]] = weakref.WeakKeyDictionary()


def machine_is_best(n: int, function: Function, setup: float | None = None) -> bool:
    """Whether machine code that is there already is expected to be faster than the other gears.

    `setup`: what a trace would cost, where a batch was not tried yet.
    """
    costs = function.costs
    expected = costs.machine.predict(n, costs.loop_rate)
    if expected is None or not costs.loop_rate:
        return True
    others = [costs.loop_rate * n]
    batched = costs.batched_seconds(n)
    if batched is not None:
        others.append(batched)
    elif setup is not None:
        others.append(2 * (setup + FIXED + n * costs.loop_rate / BATCH_GAIN))
    return all(expected <= other for other in others)


def compiling_pays(n: int, lower: float, function: Function) -> bool:
    """Whether to compile before running n elements, for which the best gear so far would need `lower` seconds."""
    if lower + function.regret < AT_STAKE:
        return False
    gain = lower - machine_seconds(function, n)
    if gain < LEAST * lower:
        return False
    setup = compile_seconds(function)
    return gain > 0 and function.regret + gain / PLAINLY >= setup


@dataclass(slots=True)
class Review:
    """When machine code is to be considered again: after express calls have cost so many seconds."""

    after: float = math.inf
    per_call: float = 0.0
    per_element: float = 0.0
    spent: float = 0.0

    def count(self, n: int) -> None:
        """One more call of n elements."""
        self.spent += self.per_call + self.per_element * n


def review_after(function: Function, least: float = 0.0) -> Review:
    """What express calls cost, and how much more of that is worth another thought: most of it would be saved."""
    costs = function.costs
    if not costs.batched.seen:
        return Review()
    fixed, rate = costs.batched.shape(costs.loop_rate)
    n, seconds = costs.batched.seen[max(costs.batched.seen)]
    if machine_seconds(function, n) > (1 - LEAST) * seconds:
        return Review()
    setup = max(compile_seconds(function), AT_STAKE)
    missing = setup - function.regret - seconds / PLAINLY  # as `compiling_pays` will see it
    return Review(max(missing, least), fixed, rate)


def gpu_after(function: Function, width: int) -> float:
    """How many elements by machine code cost as much more than on a GPU as compiling for it does; inf without a GPU.

    `width`: bytes of an element and its result, which travel.
    """
    rate = function.costs.machine.shape(function.costs.loop_rate)[1]
    there = width / GPU_TRAVELS + rate / GPU_GAIN
    return GPU_COMPILE / (rate - there) if there < 0.5 * rate and not why_no_gpu() else float("inf")


GPU_COMPILE = 0.4
"""Seconds to compile a function for a GPU."""
GPU_FIXED = 200e-6
"""Seconds that a call on a GPU takes at least."""
GPU_TRAVELS = 10e9
"""Bytes a second to a GPU and back, before anything was measured."""
GPU_GAIN = 30.0
"""How much faster than this machine's threads a GPU is expected to compute."""
