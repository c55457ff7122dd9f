"""Takes nested values (tuples, dicts, lists) apart into their leaves, and puts them together again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Form:
    """How a value is nested: `cls` is None for a leaf, else the container's class; `keys` name its children."""

    cls: type | None = None
    keys: tuple[Any, ...] = ()
    children: tuple[Form, ...] = ()

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.cls is None else sum(child.size for child in self.children)

    def build(self, leaves: Iterator[Any]) -> Any:
        """A value of this form with the leaves taken in order."""
        if self.cls is None:
            return next(leaves)
        return assemble(self.cls, self.keys, [child.build(leaves) for child in self.children])

    def __repr__(self) -> str:
        if self.cls is None:
            return "*"
        inside = ", ".join(f"{k}={c!r}" for k, c in zip(self.keys, self.children, strict=True))
        return f"{self.cls.__name__}({inside})"


LEAF = Form()


def is_namedtuple(value: object) -> bool:
    """Whether a value is a named tuple, whose class is kept when it is put together again."""
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


_LEAVES: dict[type, bool] = {}
_KEPT = 1024


def is_leaf(cls: type) -> bool:
    """Whether no value of this class is a container."""
    found = _LEAVES.get(cls)
    if found is None:
        named = issubclass(cls, tuple) and hasattr(cls, "_fields")
        found = not (cls in (tuple, list, dict, np.void) or dataclasses.is_dataclass(cls) or named)
        if not hasattr(cls, "_up_original"):  # a copy that a trace has made must not outlive it
            if len(_LEAVES) >= _KEPT:
                _LEAVES.clear()
            _LEAVES[cls] = found
    return found


def field_names(cls: Any) -> tuple[str, ...]:
    """Of a dataclass."""
    return tuple([field.name for field in dataclasses.fields(cls)])


def parts(value: object) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Class, keys and children of a container; None for a leaf.

    Only what can be put together again from its children is a container: subclasses of list or dict are leaves.
    """
    cls = type(value)
    if is_leaf(cls):
        return None
    if cls is tuple or cls is list:
        return cls, tuple(range(len(value))), list(value)  # type: ignore[arg-type, call-overload]
    if cls is dict:
        return cls, tuple(value), list(value.values())  # type: ignore[attr-defined, arg-type]
    if is_namedtuple(value):
        return cls, value._fields, list(value)  # type: ignore[attr-defined, call-overload]
    if dataclasses.is_dataclass(cls):
        names = field_names(cls)
        try:
            return cls, names, [getattr(value, name) for name in names]
        except AttributeError:  # not all of it is there
            return None
    if cls is np.void and value.dtype.names:  # type: ignore[attr-defined]
        names = value.dtype.names  # type: ignore[attr-defined]
        return cls, names, [value[name] for name in names]  # type: ignore[index]
    return None


def assemble(cls: type, keys: tuple[Any, ...], children: list[Any]) -> Any:
    """The inverse of `parts`. A dataclass is filled without `__init__`, which may not expect columns."""
    if cls is list:
        return children
    if cls is tuple:
        return tuple(children)
    if cls is dict:
        return dict(zip(keys, children, strict=True))
    if hasattr(cls, "_fields"):
        return tuple.__new__(cls, children)
    whole: Any = object.__new__(cls)
    for name, child in zip(keys, children, strict=True):
        object.__setattr__(whole, name, child)
    return whole


def flatten(value: object) -> tuple[Form, list[Any]]:
    """The form of a value, and its leaves in order."""
    found = parts(value)
    if found is None:
        return LEAF, [value]
    cls, keys, children = found
    forms, leaves = [], []
    for child in children:
        form, below = flatten(child)
        forms.append(form)
        leaves += below
    return Form(cls, keys, tuple(forms)), leaves
