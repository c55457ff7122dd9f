"""A function and one kind of its calls in; out, whether machine code has anything to gain, and whether it has."""

from __future__ import annotations

import sys
import types
from typing import Any

from ..errors import Refusal
from ..gears.formula import formula_of
from .cover import Fast, straight
from .lots import Lot
from .outlook import count_steps, is_brief
from .trial import raced

XLA_FROM = 2e-3
"""Seconds of a plain call with arrays from which on XLA may be faster than NumPy."""
FUSED = 4
"""Operators and calls from which on XLA has something to put together: one product is NumPy's own."""
RACED = 3e-6
"""Seconds of a plain call up to which machine code has to win a race against it."""
RACED_FORMULA = 100e-6
"""The same for formulas of whole arrays."""
WHOLE_ARRAYS = Refusal("numba", "it computes with whole arrays, which is NumPy's already")


def why_not(f: types.FunctionType, lot: Lot) -> Refusal | None:
    """Why machine code of Numba's is not worth a try."""
    if lot.has_arrays and is_brief(f) and formula_of(f, lot.kind) is None:
        return WHOLE_ARRAYS
    if lot.result is None:
        return Refusal("numba", "it returns something that machine code does not give")
    return None


def is_for_xla(f: types.FunctionType, lot: Lot, gears: frozenset[str]) -> bool:
    """Whether XLA may be faster than NumPy; it is not loaded for that where nobody has."""
    allowed = "jax" in gears and "jax" in sys.modules
    return allowed and lot.has_arrays and lot.shortest > XLA_FROM and count_steps(f) >= FUSED


def is_numpys(f: types.FunctionType, lot: Lot, gears: frozenset[str]) -> bool:
    """Whether its few instructions on whole arrays are best left to NumPy."""
    return lot.has_arrays and not is_for_xla(f, lot, gears) and formula_of(f, lot.kind) is None


def why_slow(f: types.FunctionType, lot: Lot, args: Any, keywords: Any) -> str | None:
    """Why machine code that was tried is not to be used: it is no faster.

    Of two brief calls, one of each does not tell which is faster: both run some more, where that changes nothing.
    """
    assert lot.call is not None
    formula = lot.call.is_formula
    slow = None if formula and lot.per_call < RACED_FORMULA else lot.not_faster()
    brief = lot.per_call < RACED_FORMULA if formula else lot.per_call < RACED and not lot.has_arrays
    if slow is not None or not brief or lot.gear != "numba":
        return slow
    return lot.slower(*raced((straight(f, Fast(lot.kind, lot.call, f)), f), args, keywords))
