"""A function and one kind of its calls in; out, whether machine code has anything to gain, and whether it has."""

from __future__ import annotations

import types
from typing import Any

from .cover import Fast, straight
from .lots import Lot
from .trial import raced

RACED = 3e-6
"""Seconds of a plain call up to which machine code has to win a race against it."""
RACED_FORMULA = 100e-6
"""The same for formulas of whole arrays."""


def why_slow(f: types.FunctionType, lot: Lot, args: Any, keywords: Any) -> str | None:
    """Why machine code that was tried is not to be used: it is no faster.

    Of two brief calls, one of each does not tell which is faster: both run some more, where that changes nothing.
    """
    assert lot.call is not None
    formula = lot.call.is_formula
    slow = None if formula and lot.per_call < RACED_FORMULA else lot.not_faster()
    brief = lot.per_call < RACED_FORMULA if formula else lot.per_call < RACED and not lot.has_arrays
    if slow is None and lot.gear == "tensorflow":
        slow = lot.slower(lot.tried / lot.checked, lot.shortest)  # times are long when nothing is warm, of both
    if slow is not None or not brief or lot.gear != "llvm":
        return slow
    return lot.slower(*raced((straight(f, Fast(lot.kind, lot.call, f)), f), args, keywords))
