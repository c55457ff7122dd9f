"""Whether machine code has anything to gain for one sort of calls, before and after it is tried."""

from __future__ import annotations

import types
from typing import Any

from .code_swap import FastPath, fast_call
from .specialization import Specialization
from .trial import raced

RACED = 3e-6
"""Seconds of a plain call up to which machine code has to win a race against it."""


def why_slow(f: types.FunctionType, spec: Specialization, args: Any, keywords: Any) -> str | None:
    """Why machine code that was tried is not to be used: it is no faster.

    Of two brief calls, one of each does not tell which is faster: both run some more, where that changes nothing.
    """
    assert spec.call is not None
    slow = spec.not_faster()
    brief = spec.per_call < RACED and not spec.has_arrays
    if slow is None and spec.gear == "tensorflow":
        slow = spec.slower(spec.tried / spec.checked, spec.shortest)  # times are long when nothing is warm, of both
    if slow is not None or not brief or spec.gear != "llvm":
        return slow
    return spec.slower(*raced((fast_call(f, FastPath(spec.kind, spec.call, f)), f), args, keywords))
