"""What must be known of a function before its instructions are followed."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from .batchwise import Known, Unknown, Value

DEFAULTS, ANNOTATIONS, CLOSURE = 0x01, 0x04, 0x08
"""What a function is made of besides its code, as its instruction says."""
NULL = object()


@dataclass(frozen=True, slots=True)
class Function:
    """A function whose instructions can be followed: the user's, or one that it makes."""

    code: types.CodeType
    globals: dict[str, Any]
    defaults: tuple[Any, ...]
    cells: tuple[Callable[[], Any], ...]
    """What its free variables are, when it is called."""

    @classmethod
    def of(cls, fn: types.FunctionType, first: bool = False) -> Function:
        """A function as it is followed: its code, globals, defaults and what its cells hold. `first`: it is the one
        that is mapped, and others with the same code may stand in its place later, with cells of their own."""
        closure = fn.__closure__ or ()
        reads = [functools.partial(_in_closure, i) if first else _in_cell(cell) for i, cell in enumerate(closure)]
        cells = tuple(functools.partial(_content, fn, read) for read in reads)
        return cls(fn.__code__, fn.__globals__, tuple(map(held, fn.__defaults__ or ())), cells)


def _in_closure(i: int, fn: Any) -> Any:
    return fn.__closure__[i].cell_contents


def _in_cell(cell: Any) -> Callable[[Any], Any]:
    return lambda fn: cell.cell_contents


def _content(fn: Any, read: Callable[[Any], Any]) -> Any:
    try:
        return held(read(fn), read)
    except ValueError:
        raise Unknown("a variable that has no value yet") from None


def plain_function(fn: Any) -> types.FunctionType:
    """The function itself, or that of a `tf.function` without options, which needs no tracing; others are `Unknown`."""
    if type(fn) is types.FunctionType:
        return fn
    inner = getattr(fn, "python_function", None)
    plain = type(inner) is types.FunctionType and not getattr(fn, "_jit_compile", True)
    if not plain or getattr(fn, "input_signature", True) is not None:
        raise Unknown("no plain function")
    assert isinstance(inner, types.FunctionType)
    return inner


def held(value: Any, read: Callable[[Any], Any] | None = None) -> Any:
    """Something captured: tensors are known by their rank. `read`: where it stands when the function runs."""
    if isinstance(value, tf.Tensor | tf.Variable):
        if value.shape.rank is None:
            raise Unknown("a captured tensor of any rank")
        sizes = tuple(value.shape) if value.shape.is_fully_defined() else None
        return Value(False, value.shape.rank, sizes=sizes, read=read or (lambda fn: value))
    if value is NULL or isinstance(value, np.ndarray | np.generic):
        raise Unknown("it captures an array of NumPy, or nothing")
    return Known(value)


def items(defaults: Any) -> tuple[Any, ...]:
    """Of a tuple, computed or not."""
    return tuple(map(Known, defaults.value)) if isinstance(defaults, Known) else tuple(defaults)
