"""Columns in, the loop's results stacked out: the law written as plainly as it can be, and only for tests.

Nothing here is taken from the package, and nothing here is fast.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

NUMERIC_KINDS = "biufcmM"


@dataclasses.dataclass(frozen=True)
class Fresh:
    """A column that can be read once (a generator): made anew for every call."""

    make: Callable[[], Any]


def fresh(column: Any) -> Any:
    return column.make() if isinstance(column, Fresh) else column


def is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def is_dataclass_instance(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def fields_of(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def elements(column: Any) -> list[Any]:
    """What iterating the column yields; a record of columns yields records."""
    column = fresh(column)
    if type(column) is dict:
        rows = zip(*(elements(part) for part in column.values()))
        return [dict(zip(column, row)) for row in rows]
    if type(column) is tuple and column and all(isinstance(part, np.ndarray) and part.ndim for part in column):
        return list(zip(*(elements(part) for part in column)))
    if is_named_tuple(column):
        return [type(column)(*row) for row in zip(*(elements(part) for part in column))]
    if is_dataclass_instance(column):
        parts = fields_of(column)
        rows = zip(*(elements(part) for part in parts.values()))
        return [type(column)(**dict(zip(parts, row))) for row in rows]
    return list(column)


def twin(array: Any) -> Any:
    """A copy that lies in memory as the array does: strides decide what is a view, and the bits of products."""
    if array.flags.c_contiguous or array.flags.f_contiguous or array.dtype.hasobject or not array.size:
        return array.copy(order="K")
    ends = [stride * (length - 1) for stride, length in zip(array.strides, array.shape)]
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    made = np.ndarray(array.shape, array.dtype, bytearray(high - low + array.itemsize), -low, array.strides)
    made[...] = array
    return made


def outcomes(f: Callable[..., Any], columns: tuple[Any, ...], shared: dict[str, Any]) -> list[Any]:
    """One entry per element: a result, or the exception in a `Raised`."""
    found = []
    for element in zip(*(elements(column) for column in columns)):
        try:  # the caller's arrays are never changed: a function that writes gets a copy
            own = [twin(e) if isinstance(e, np.ndarray) else e for e in element]
            found.append(f(*own, **shared))
        except Exception as error:
            found.append(Raised(error))
    return found


@dataclasses.dataclass(frozen=True)
class Raised:
    error: Exception


def stack(results: list[Any], f: Callable[..., Any] | None = None) -> Any:
    """The law of stacking; `f` is asked for its annotation when there is no result."""
    if not results:
        return empty_for(annotation_of(f))
    first = results[0]
    if all(is_number(r) for r in results):
        return stack_numbers(results)
    if type(first) is tuple and all(type(r) is tuple and len(r) == len(first) for r in results):
        return tuple(stack(list(part)) for part in zip(*results))
    if is_named_tuple(first) and all(type(r) is type(first) for r in results):
        return type(first)(*(stack(list(part)) for part in zip(*results)))
    if type(first) is dict and all(type(r) is dict and r.keys() == first.keys() for r in results):
        return {key: stack([r[key] for r in results]) for key in first}
    if is_dataclass_instance(first) and all(type(r) is type(first) for r in results):
        return type(first)(**{name: stack([getattr(r, name) for r in results]) for name in fields_of(first)})
    if type(first) is list and all(type(r) is list and len(r) == len(first) for r in results):
        return stack_lists(results)
    if all(is_numeric_array(r) and r.shape == np.shape(first) for r in results):
        return stack_arrays(results)
    return results


def is_number(value: Any) -> bool:
    if isinstance(value, np.generic):
        return value.dtype.kind in NUMERIC_KINDS
    return type(value) in (bool, int, float, complex)


def is_numeric_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in NUMERIC_KINDS


def dtype_of(number: Any) -> np.dtype[Any]:
    if isinstance(number, np.generic):
        return number.dtype
    return np.dtype(np.int64 if type(number) is int else type(number))


def stack_numbers(results: list[Any]) -> Any:
    """One array by NumPy's promotion; where int64 cannot hold a Python int, the very results in an object array."""
    try:
        dtype = np.result_type(*{dtype_of(r) for r in results})
    except TypeError:
        return results
    if any(type(r) is int and not -(2**63) <= r < 2**63 for r in results):
        dtype = np.dtype(object)
    out = np.empty(len(results), dtype=dtype)
    for at, result in enumerate(results):
        out[at] = result
    return out


def stack_lists(results: list[Any]) -> Any:
    """Lists of equal length: an axis, or the lists as they are."""
    length = len(results[0])
    if length == 0:
        return np.empty((len(results), 0))
    columns = [stack([result[at] for result in results]) for at in range(length)]
    if not all(isinstance(column, np.ndarray) and column.shape == columns[0].shape for column in columns):
        return results
    try:
        return np.stack(columns, axis=1)
    except TypeError:
        return results


def stack_arrays(results: list[Any]) -> Any:
    try:
        return np.stack(results)
    except TypeError:
        return results


def annotation_of(f: Callable[..., Any] | None) -> Any:
    try:
        return typing.get_type_hints(f).get("return", float)
    except (TypeError, NameError, AttributeError):
        return float


def empty_for(annotation: Any) -> Any:
    if typing.get_origin(annotation) is tuple:
        return tuple(empty_for(part) for part in typing.get_args(annotation))
    if annotation in (str, bytes, object, None, types.NoneType):
        return []
    if annotation in (bool, int, float, complex):
        return np.empty(0, dtype=np.int64 if annotation is int else annotation)
    if isinstance(annotation, type) and issubclass(annotation, np.generic):
        return np.empty(0, dtype=annotation)
    return np.empty(0)
