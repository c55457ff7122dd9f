"""`math`, `cmath` and `statistics` in calls: which row or function of the prelude each of them stands for."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

from . import calls
from .calls import ROWS, SPECIAL, Given, Words, prelude
from .check import Walk
from .code import Op
from .kinds import BOOL, COMPLEX, FLOAT, INT, Kind, Static
from .prelude import averages, complexes, gammas, intrinsics, maths, sums
from .rows import numpy_numbers
from .rows.numbers import base, safe


def _of_doubles(name: str) -> Any:
    """One of C's functions of doubles, without errors."""
    return lambda walk, *kinds: (
        FLOAT, safe(lambda w, *values: w.call_c(name, "double", *(("double", value) for value in values))))  # fmt: skip


def _ldexp(walk: Walk, x: Kind, i: Kind) -> Any:
    def emit(w: Any, value: str, by: str) -> str:
        return str(w.call_c("ldexp", "double", ("double", value), ("i32", w.new(f"trunc i64 {by} to i32"))))

    return FLOAT, safe(emit)


ROWS.update({
    intrinsics.c_hypot: _of_doubles("hypot"), intrinsics.c_pow: _of_doubles("pow"),
    intrinsics.c_ldexp: _ldexp, intrinsics.c_round: lambda walk, x: (
        FLOAT, safe(lambda w, v: w.intrinsic("llvm.round.f64", "double", ("double", v)))),
})  # fmt: skip


def _nextafter(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if "steps" not in words or len(args) != 2:
        return False
    prelude(walk, op, "next_after_steps", [*args, words["steps"]])
    return True


def _abs(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 1 or base(walk.env[args[0]]) is not COMPLEX:
        return False
    prelude(walk, op, "size_of_complex", args)
    return True


SPECIAL[abs] = _abs
if sys.version_info >= (3, 12):
    SPECIAL[math.nextafter] = _nextafter


def _index(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 1 or (base(walk.env[args[0]]) not in (INT, BOOL) and not numpy_numbers.is_int(walk.env[args[0]])):
        return False
    calls.call_static(walk, op, Static(int), args, words)
    return True


SPECIAL[operator.index] = _index
_USED = (averages, complexes, gammas, maths, sums)
