"""Tries machine code on copies of a call's arguments, beside the plain function."""

from __future__ import annotations

import itertools
import math
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..columns.forms import assemble, flatten, parts
from ..config import settings
from ..gears.calls import CompiledFunction, Result, argument_of, is_foreign
from ..gears.capture_reader import MISS
from ..verify import differ

AGAIN = 2
"""How often machine code is run again, for the clock: what runs for the first time is slow."""
SMALL = 1 << 16
"""Bytes of arguments up to which that is done."""
LAPS, LAP = 5, 16
"""How often each of two brief functions runs in a race, so many calls at a time."""
SHORT = 0.5e-6
"""Seconds of a run that needs no other."""


def raced(runners: Sequence[Callable[..., Any]], args: Any, keywords: Any) -> list[float]:
    """Seconds of one call of each, among many: of functions that change nothing."""
    best = [math.inf] * len(runners)
    for _ in range(LAPS):
        for i, runner in enumerate(runners):
            began = time.perf_counter()
            for _ in range(LAP):
                runner(*args, **keywords)
            best[i] = min(best[i], (time.perf_counter() - began) / LAP)
    return best


def copies_of(values: Sequence[Any]) -> list[Any] | None:
    """The arguments with copies of all arrays; None where they are too large, or share memory as copies would not."""
    if _size_of(values) > settings().memory:
        return None
    arrays: dict[int, Any] = {}
    copies = [_copied(value, arrays) for value in values]
    for a, b in itertools.combinations([original for original, _ in arrays.values()], 2):
        if np.may_share_memory(a, b):
            return None
    return copies


def _copied(value: Any, arrays: dict[int, Any]) -> Any:
    if type(value) is tuple:
        return tuple(_copied(part, arrays) for part in value)
    if type(value) is not np.ndarray:
        return value
    if id(value) not in arrays:
        arrays[id(value)] = value, _like(value)
    return arrays[id(value)][1]


def _size_of(values: Sequence[Any]) -> int:
    """Bytes of arrays."""
    return sum(_size_of(value) if type(value) is tuple else getattr(value, "nbytes", 0) for value in values)


def _like(array: Any) -> Any:
    """A copy that has gaps where the array has."""
    if array.flags.c_contiguous or not array.size:
        return array.copy()
    wide = np.empty((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


class Trial:
    """Machine code run on copies, before the plain function runs on the arguments themselves."""

    def __init__(self, f: types.FunctionType, call: CompiledFunction, values: Sequence[Any], copies: list[Any]) -> None:
        self.values, self.copies, self.exact = values, copies, call.exact
        self.anew = call.gear == "jax"
        """Whether the arrays that it gives are always new ones."""
        began = time.perf_counter()
        captured = call.bind(f) if call.bind is not None else ()
        bound = 0.0 if call.dependencies else time.perf_counter() - began  # else its code reads what it captured
        self.left = captured is MISS or not all(values[i].flags.writeable for i in call.written)
        self.took, self.made = float("inf"), None
        self.state, self.after = call.state, None
        again = [copies_of(values) or [] for _ in range(AGAIN if _size_of(values) <= SMALL else 0)]
        for given in (copies, *again):
            if not self.left and self.took > SHORT:
                before = self.state.save() if self.state is not None else None
                made = self._run(call, given, captured)
                self.made = made if given is copies else self.made
                if self.state is not None:
                    self.after = self.state.save() if given is copies else self.after
                    self.state.restore(before)
        self.took += bound

    def _run(self, call: CompiledFunction, given: Sequence[Any], captured: Any) -> Any:
        began = time.perf_counter()
        try:
            saved = [given[i].copy() for i in call.written]
            made = _classed(call.run(*given, *captured), call.result)
            del saved
        except Exception:  # of machine code, for whatever reason: the call is the plain function's
            self.left, made = True, None
        self.took = min(self.took, time.perf_counter() - began)
        return made

    def difference(self, result: Any) -> str | None:
        """Why it is not what the plain function did; None where it is."""
        reason = differ(_readable(result), _readable(self.made), self.exact)
        if reason is None and self.anew:
            reason = _why_not_new(result, self.made)
        if reason is None and self.state is not None:
            reason = differ(self.state.arrays(self.state.save()), self.state.arrays(self.after), self.exact)
        if reason is not None:
            return reason
        for value, copy in zip(self.values, self.copies, strict=True):
            if type(value) is np.ndarray:
                reason = differ(value, copy, True)
                if reason is not None:
                    return f"an array that it was given: {reason}"
            arrays = type(value) is np.ndarray or is_foreign(value)
            if arrays and (result is value) is not (self.made is copy):
                return "the array that it returns is not the one it was given"
        return None


def _readable(value: Any) -> Any:
    """A result with a framework's arrays as NumPy's, beside what else there is to know of them."""
    if is_foreign(value):
        return type(value), argument_of(value), np.asarray(value)
    found = parts(value)
    return value if found is None else assemble(*found[:2], [_readable(part) for part in found[2]])


def _why_not_new(result: Any, made: Any) -> str | None:
    """Why an array of the plain function is not one of its own, or lies in memory otherwise."""
    for want, got in zip(flatten(result)[1], flatten(made)[1], strict=True):
        if type(want) is np.ndarray and not (want.flags.owndata and want.flags.writeable):
            return "it returns a part of another array"
        if type(want) is np.ndarray and want.strides != got.strides:
            return "its arrays lie in memory otherwise"
    return None


def _classed(made: Any, result: Result) -> Any:
    """A result of machine code, with NumPy's classes where they belong."""
    if isinstance(result, tuple):
        return tuple(map(_classed, made, result))
    return result(made) if issubclass(result, np.generic) else made
