"""Lane values: an element's true number or array, which remembers how it was made. Every way out is a guard."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_CONSTANT_ATTRIBUTES = frozenset(("dtype", "shape", "ndim", "size", "itemsize", "nbytes", "strides"))
"""Attributes of numbers that depend on the kind alone."""


class Lane:
    """A number of one element. Python itself does the control flow, because the value is real.

    `_up_id` names the step that made it; `_up_uniform` tells that it is the same for all lanes (it was captured).
    """

    __slots__ = ("_up_id", "_up_trace", "_up_uniform", "_up_value")

    def __init__(self, value: Any, id: int, trace: Any, uniform: bool = False) -> None:
        self._up_value, self._up_id, self._up_trace, self._up_uniform = value, id, trace, uniform

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._up_value)

    def __bool__(self) -> bool:
        return bool(self._up_trace.decide_truth(self))

    def __int__(self) -> int:
        return int(self._up_trace.pin(self))

    def __float__(self) -> float:
        return float(self._up_trace.pin(self))

    def __complex__(self) -> complex:
        return complex(self._up_trace.pin(self))

    def __index__(self) -> int:
        operator.index(self._up_value)  # raises for a float, as it should
        return operator.index(self._up_trace.pin(self))

    def __hash__(self) -> int:
        return hash(self._up_trace.pin(self))

    def __str__(self) -> str:
        return str(self._up_trace.pin(self))

    def __repr__(self) -> str:
        return repr(self._up_trace.pin(self))

    def __format__(self, spec: str) -> str:
        if spec.endswith("n"):
            self._up_trace.refuse("depends on the locale: a format that ends in 'n'")
        return format(self._up_trace.pin(self), spec)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array(self._up_trace.pin(self), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **keywords: Any) -> Any:
        return self._up_trace.record_ufunc(ufunc, method, args, keywords)

    def __array_function__(self, fn: Callable[..., Any], types: Any, args: Any, keywords: Any) -> Any:
        return self._up_trace.arrays.call(fn, args, keywords)

    def __copy__(self) -> Lane:
        return self

    def __deepcopy__(self, memo: Any) -> Lane:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._up_trace.pin(self).__reduce_ex__(protocol)

    def __round__(self, digits: Any = None) -> Any:
        return self._up_trace.record(round, (self,) if digits is None else (self, digits))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_up_"):
            raise AttributeError(name)
        found = getattr(self._up_value, name)  # an AttributeError here is the element's own
        if name in _CONSTANT_ATTRIBUTES and not self._up_uniform:
            return found
        return self._up_trace.record_attribute(self, name, found)


def _forward(fn: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return self._up_trace.record_operator(fn, self, other)

    return method


def _reflected(fn: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return self._up_trace.record_operator(fn, other, self)

    return method


def _unary(fn: Callable[..., Any]) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return self._up_trace.record(fn, (self,))

    return method


def _power(self: Any, other: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        return self._up_trace.record(pow, (self, other, modulus))
    return self._up_trace.record_operator(operator.pow, self, other)


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
    "matmul",
):
    _fn = getattr(operator, _name)
    setattr(Lane, f"__{_name.rstrip('_')}__", _forward(_fn))
    setattr(Lane, f"__r{_name.rstrip('_')}__", _reflected(_fn))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Lane, f"__{_name}__", _forward(getattr(operator, _name)))
for _name in ("neg", "pos", "invert", "abs"):
    setattr(Lane, f"__{_name}__", _unary(getattr(operator, _name)))
setattr(Lane, "__pow__", _power)  # noqa: B010 - a type checker takes `Lane.__pow__ =` for arithmetic


class Storage:
    """The memory behind lane arrays: which value it holds now, and how often it was written to."""

    __slots__ = ("captured", "id", "uniform", "value", "version")

    def __init__(self, value: Any, id: int, uniform: bool, captured: bool = False) -> None:
        self.value, self.id, self.uniform, self.captured = value, id, uniform, captured
        self.version = 0


class LaneArray(Lane):
    """An array of one element, or a view of one: it knows its storage, and by which calls it is seen from there.

    The value is a real array, so that a write through any view is seen through all; after a write a view is read anew.
    """

    __slots__ = ("_up_at", "_up_key", "_up_path", "_up_storage")
    _up_at: int
    _up_key: int
    _up_path: Any
    _up_storage: Storage

    def __init__(self, value: Any, trace: Any, storage: Storage, path: Any = (), id: int = 0) -> None:
        put = object.__setattr__  # past our own, which is for the user's attributes
        put(self, "_up_value", value)
        put(self, "_up_trace", trace)
        put(self, "_up_storage", storage)
        put(self, "_up_path", path)
        put(self, "_up_key", id)
        put(self, "_up_at", storage.version)

    @property
    def _up_id(self) -> int:  # type: ignore[override]
        storage = self._up_storage
        if self._up_path == ():
            return storage.id
        if self._up_at != storage.version:
            self._up_key, self._up_at = self._up_trace.arrays.read_again(self), storage.version
        return self._up_key

    @property
    def _up_uniform(self) -> bool:  # type: ignore[override]
        return self._up_storage.uniform

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_up_"):
            raise AttributeError(name)
        return self._up_trace.arrays.attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_up_"):
            object.__setattr__(self, name, value)
        else:
            self._up_trace.arrays.set_attribute(self, name, value)

    def __hash__(self) -> int:
        return hash(self._up_value)  # raises, as arrays do

    def __getitem__(self, key: Any) -> Any:
        return self._up_trace.arrays.get_item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._up_trace.arrays.set_item(self, key, value)

    def __len__(self) -> int:
        return len(self._up_value)

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self._up_value)):
            yield self[i]

    def __contains__(self, item: object) -> bool:
        found: Any = self == item
        return bool(found.any())

    def __bool__(self) -> bool:
        return bool(self._up_trace.arrays.truth(self))

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        operator.index(self._up_value)
        return operator.index(self.item())

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()


def _in_place(fn: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return self._up_trace.arrays.in_place(fn, self, other)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor",
              "matmul"):  # fmt: skip
    setattr(LaneArray, f"__i{_name.rstrip('_')}__", _in_place(getattr(operator, _name)))


LANES = (Lane, LaneArray)


def is_lane(value: object) -> bool:
    """Whether this is a lane value (its `__class__` says otherwise on purpose)."""
    return type(value) in LANES
