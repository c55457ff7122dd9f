"""An operand of TensorFlow's operations: a tensor with what is known of its numbers, or a constant."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from ..columns.kinds import Kind

EXACT, ROUNDED, OFF = 0, 1, 2
"""Whether numbers are NumPy's very own: untouched, rounded once, or perhaps different in their last bits."""
DTYPES = frozenset("?bhilqBHILQfd")
"""Letters of the dtypes that are spelled in TensorFlow."""


class NotNative(Exception):
    """Why a function is not spelled in TensorFlow's operations."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor, how far its numbers may be from NumPy's, and where they lie: no NaN where both ends are finite."""

    x: Any
    off: int = EXACT
    low: float = -math.inf
    high: float = math.inf

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of its numbers."""
        dtype: np.dtype[Any] = np.dtype(self.x.dtype.as_numpy_dtype)
        return dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return int(self.x.shape.rank)

    @property
    def is_float(self) -> bool:
        """Whether its numbers are floats."""
        return self.dtype.kind == "f"

    def on(self, x: Any) -> Value:
        """Other places of the same numbers."""
        return replace(self, x=x)


def of_input(x: Any, dtype: np.dtype[Any]) -> Value:
    """What a graph is given."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return Value(x, EXACT, float(limits.min), float(limits.max))
    return Value(x, EXACT, 0.0, 1.0) if dtype.kind == "b" else Value(x)


def operand(arg: Any, dtype: np.dtype[Any]) -> Value:
    """An argument as a tensor of a dtype."""
    if isinstance(arg, Value):
        return cast(arg, dtype)
    array = np.asarray(arg)
    if array.dtype.char not in DTYPES or dtype.char not in DTYPES:
        raise NotNative(f"it computes with {array.dtype}")
    made = array.astype(dtype)
    if array.dtype.kind in "iu" and dtype.kind in "iu" and not np.array_equal(made, array):
        raise NotNative(f"{arg!r} is no {dtype}")
    low, high = (float(made.min()), float(made.max())) if made.size else (0.0, 0.0)
    nothing = math.isnan(low)
    return Value(tf.constant(made), EXACT, -math.inf if nothing else low, math.inf if nothing else high)


def cast(value: Value, dtype: np.dtype[Any]) -> Value:
    """The numbers as another dtype, where TensorFlow and NumPy mean the same by it."""
    if value.dtype == dtype:
        return value
    if dtype.char not in DTYPES:
        raise NotNative(f"it computes with {dtype}")
    if dtype.kind == "b":
        return Value(tf.not_equal(value.x, tf.zeros((), value.x.dtype)), decided(value, "a truth").off, 0.0, 1.0)
    if dtype.kind in "iu" and value.is_float:
        limits = np.iinfo(dtype)
        if value.low <= limits.min - 1 or value.high >= limits.max + 1:
            raise NotNative(f"floats that may be too large for {dtype} are made such")
        value = decided(value, f"an {dtype}")
    x = tf.cast(value.x, dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        fits = limits.min <= value.low and value.high <= limits.max
        return Value(x, EXACT, *((value.low, value.high) if fits else (float(limits.min), float(limits.max))))
    rounds = np.finfo(dtype).nmant < (np.finfo(value.dtype).nmant if value.is_float else 8 * value.dtype.itemsize)
    return Value(x, max(value.off, ROUNDED) if rounds else value.off, value.low, value.high)


def decided(value: Value, what: str) -> Value:
    """A value that something is decided by: its last bits must be NumPy's."""
    if value.off > ROUNDED:
        raise NotNative(f"it makes {what} of numbers that may be off in their last bits")
    return replace(value, off=EXACT)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of NumPy: arguments are values, or constants as they are; `kind` is what it makes."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    kind: Kind

    @property
    def name(self) -> str:
        """The function's name, for refusals."""
        return str(getattr(self.fn, "__name__", self.fn))

    def bound(self, *names: str) -> dict[str, Any]:
        """Arguments by name; one that is not among `names` is refused, never ignored."""
        try:
            found = dict(inspect.signature(self.fn).bind(*self.args, **self.keywords).arguments)
        except TypeError:
            raise NotNative(f"the arguments of {self.name}") from None
        except ValueError:  # of C, which does not tell its arguments
            found = dict(zip(names, self.args, strict=False), **self.keywords)
        given = {name: arg for name, arg in found.items() if arg is not None and arg is not np._NoValue}
        for name, arg in given.items():
            if name not in names and not (name in _HARMLESS and isinstance(arg, bool | str)):
                raise NotNative(f"{self.name} with {name}=")
        return given


_HARMLESS = frozenset(("out", "like", "subok", "copy", "casting", "order"))


def constant(arg: Any, what: str) -> Any:
    """An argument that must be written in the function."""
    if isinstance(arg, Value) or (isinstance(arg, list | tuple) and any(isinstance(one, Value) for one in arg)):
        raise NotNative(f"{what} that is computed")
    return arg
