"""The Python class of a kind: what `type` and `isinstance` say of its values."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from .kinds import (
    Array,
    Closure,
    Fused,
    Generator,
    Items,
    Kind,
    Known,
    List,
    Literal,
    Method,
    Object,
    Partial,
    Range,
    Scalar,
    Slice,
    Static,
    Tuple,
)


def class_of(kind: Kind) -> type:
    """The class that `type(x)` gives."""
    if isinstance(kind, Literal):
        return kind.kind.cls
    if isinstance(kind, Scalar):
        return kind.cls
    if isinstance(kind, Tuple):
        return kind.cls or tuple
    if isinstance(kind, List):
        return kind.cls
    if isinstance(kind, Object):
        return getattr(kind.cls, "stands_for", kind.cls)
    if isinstance(kind, Array | Fused):
        return np.ndarray
    if isinstance(kind, Range):
        return range
    if isinstance(kind, Slice):
        return slice
    if isinstance(kind, Static):
        return type(kind.value)
    if isinstance(kind, Known):
        return dict
    if isinstance(kind, Partial):
        return functools.partial
    if isinstance(kind, Closure):
        return types.FunctionType
    if isinstance(kind, Method):
        return types.MethodType
    if isinstance(kind, Generator | Items):
        return types.GeneratorType
    return object


def is_instance(kind: Kind, classes: Any) -> bool:
    """What `isinstance(x, classes)` says; TypeError where Python raises one."""
    if isinstance(kind, Static):
        return isinstance(kind.value, classes)
    return issubclass(class_of(kind), classes)


_NOT_OPERATORS = ("new", "init", "init_subclass", "class", "doc", "repr", "str", "format", "reduce", "reduce_ex", "dir",
                  "sizeof", "getnewargs", "getstate", "subclasshook", "delattr", "setattr", "getattribute")  # fmt: skip
_OPERATORS = frozenset({"__bool__", *dir(int), *dir(str)}.difference(f"__{name}__" for name in _NOT_OPERATORS))


def has_operators(cls: type) -> bool:
    """Whether an enum has operators of its own, so that its members are not what their values are."""
    own = [one for one in cls.__mro__ if one.__module__ != "enum" and one not in (int, str, object)]
    return any(word in vars(one) for one in own for word in _OPERATORS)
