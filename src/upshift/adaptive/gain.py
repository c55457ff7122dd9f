"""Whether machine code has anything to gain for one sort of calls, before and after it is tried."""

from __future__ import annotations

import types
from typing import Any

from .call_kinds import Lot
from .code_swap import Fast, straight
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
