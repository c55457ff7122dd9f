"""Tries machine code on copies of a call's arguments, beside the plain function."""

from __future__ import annotations

import itertools
import math
import time
import types
from collections.abc import Callable, Collection, Iterable, Sequence
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
"""Bytes of arguments up to which that is done; and of an array up to which it is copied though nothing is written."""
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


def copies_of(values: Sequence[Any], written: Collection[int] | None = None) -> list[Any] | None:
    """The arguments with copies of their arrays; None where they are too large, or share memory as copies would not.
    `written`: positions of those that machine code writes to, where that is known; it is given other large ones as they
    are."""
    arrays: dict[int, Any] = {}
    for i, value in enumerate(values):
        _collect(value, written is None or i in written, arrays)
    copied = [array for array, is_written in arrays.values() if is_written or array.nbytes <= SMALL]
    if sum(array.nbytes for array in copied) > settings().memory:
        return None
    for (a, one), (b, other) in itertools.combinations(arrays.values(), 2):
        if (one or other) and np.may_share_memory(a, b):
            return None
    made = {id(array): _like(array) for array in copied}
    return [_replaced(value, made) for value in values]


def _collect(value: Any, is_written: bool, arrays: dict[int, Any]) -> None:
    """All arrays among the arguments, and whether they may be written to."""
    if type(value) is tuple:
        for part in value:
            _collect(part, is_written, arrays)
    elif type(value) is np.ndarray:
        arrays[id(value)] = value, is_written or arrays.get(id(value), (value, False))[1]


def _replaced(value: Any, made: dict[int, Any]) -> Any:
    if type(value) is tuple:
        return tuple(_replaced(part, made) for part in value)
    return made.get(id(value), value)


def _restore(value: Any, copy: Any) -> None:
    """Makes copies equal to the arguments again."""
    if type(value) is tuple:
        for one, other in zip(value, copy, strict=True):
            _restore(one, other)
    elif type(value) is np.ndarray and copy is not value:
        np.copyto(copy, value)


def size_of(values: Iterable[Any]) -> int:
    """Bytes of the arrays among these; nothing else is asked."""
    return sum(value.nbytes for value in values if type(value) is np.ndarray)


def _size_of(values: Sequence[Any]) -> int:
    """Bytes of all arrays in arguments that machine code takes."""
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

    def __init__(
        self,
        f: types.FunctionType,
        call: CompiledFunction,
        values: Sequence[Any],
        copies: list[Any],
        limit: float = 0.0,
    ) -> None:
        """`limit`: seconds of a run from which on it is worth another, to be sure."""
        self.values, self.copies, self.exact = values, copies, call.exact
        self.anew = call.gear == "jax"
        """Whether the arrays that it gives are always new ones."""
        began = time.perf_counter()
        captured = call.bind(f) if call.bind is not None else ()
        bound = 0.0 if call.dependencies else time.perf_counter() - began  # else its code reads what it captured
        self.left = captured is MISS
        self.took, self.made = float("inf"), None
        self.state, self.after = call.state, None
        times, enough = (1 + AGAIN, SHORT) if _size_of(values) <= SMALL else (2, limit)
        for i in range(times):
            if self.left or self.took <= enough:
                break
            if i:
                for value, copy in zip(values, copies, strict=True):
                    _restore(value, copy)
            before = self.state.save() if self.state is not None else None
            self._run(call, captured)
            if self.state is not None:
                self.after = self.state.save()
                self.state.restore(before)
        self.took += bound

    def _run(self, call: CompiledFunction, captured: Any) -> None:
        began = time.perf_counter()
        try:
            self.made = _classed(call.run(*self.copies, *captured), call.result)
        except Exception:  # of machine code, for whatever reason: the call is the plain function's
            self.left = True
        self.took = min(self.took, time.perf_counter() - began)

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
            if type(value) is np.ndarray and copy is not value:
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
