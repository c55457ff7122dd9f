"""Functions that dataclasses write for a class: their source is written again, and proved to be theirs.

@dataclass
class P:                    def __init__(self, x, y):
    x: float        ->          self.x=x
    y: float = 0.0              self.y=y
"""

from __future__ import annotations

import ast
import dataclasses
import reprlib
import types
from collections.abc import Iterator
from typing import Any

from .parsing import parsed
from .source import adopt_source

_ORDERS = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def adopt(cls: type, name: str, fn: types.FunctionType) -> None:
    """Find the source of a function that stands in a class, where dataclasses wrote it."""
    if fn.__code__.co_filename != "<string>" or "__dataclass_fields__" not in vars(cls):
        return
    for text in _texts(cls, name, fn):
        node = parsed(text).body[0]
        assert isinstance(node, ast.FunctionDef)
        if adopt_source(fn.__code__, node):
            return


def dataclass_repr(cls: type, name: str, fn: types.FunctionType) -> types.FunctionType | None:
    """The `__repr__` that dataclasses wrote for a class, inside of what ends it for objects that hold themselves:
    machine code is left where a call is too deep."""
    inside = getattr(fn, "__wrapped__", None)
    if name != "__repr__" or "__dataclass_fields__" not in vars(cls) or not isinstance(inside, types.FunctionType):
        return None
    is_theirs = fn.__code__.co_filename in (dataclasses.__file__, reprlib.__file__)
    return inside if is_theirs and inside.__code__.co_filename == "<string>" else None


def _texts(cls: type, name: str, fn: types.FunctionType) -> Iterator[str]:
    """What such a function may look like, in the words of one version of Python or another."""
    fields = [f for f in vars(cls)["__dataclass_fields__"].values() if f._field_type is not dataclasses._FIELD_CLASSVAR]  # type: ignore[attr-defined]
    real = [f for f in fields if f._field_type is dataclasses._FIELD]  # type: ignore[attr-defined]
    if name == "__init__":
        yield _init(cls, fields, fn)
    elif name == "__eq__":
        compared = [f.name for f in real if f.compare]
        head = "def __eq__(self, other):\n if other.__class__ is self.__class__:\n  return "
        yield f"{head}{_tuple('self', compared)}=={_tuple('other', compared)}\n return NotImplemented"
        terms = " and ".join(f"self.{n}==other.{n}" for n in compared) or "True"
        yield (
            f"def __eq__(self, other):\n if self is other:\n  return True\n"
            f" if other.__class__ is self.__class__:\n  return {terms}\n return NotImplemented"
        )
    elif name in _ORDERS:
        compared = [f.name for f in real if f.compare]
        test = f"{_tuple('self', compared)}{_ORDERS[name]}{_tuple('other', compared)}"
        yield (
            f"def {name}(self, other):\n if other.__class__ is self.__class__:\n  return {test}\n return NotImplemented"
        )
    elif name == "__repr__":
        shown = ", ".join(f"{f.name}={{self.{f.name}!r}}" for f in real if f.repr)
        yield f'def __repr__(self):\n return self.__class__.__qualname__ + f"({shown})"'
        yield f'def __repr__(self):\n return f"{{self.__class__.__qualname__}}({shown})"'
    elif name == "__hash__":
        hashed = [f.name for f in real if (f.compare if f.hash is None else f.hash)]
        yield f"def __hash__(self):\n return hash({_tuple('self', hashed)})"


def _tuple(of: str, names: list[str]) -> str:
    return f"({','.join(f'{of}.{n}' for n in names)},)" if names else "()"


def _init(cls: type, fields: list[Any], fn: types.FunctionType) -> str:
    free = fn.__code__.co_freevars
    marker = next((n for n in free if "HAS_DEFAULT_FACTORY" in n), "_HAS_DEFAULT_FACTORY")
    maker = next((n for n in free if "builtins_object" in n), "__dataclass_builtins_object__")
    frozen = vars(cls)["__dataclass_params__"].frozen
    own = "__dataclass_self__" if any(f.name == "self" for f in fields) else "self"
    lines = []
    for f in fields:
        default = next((n for n in free if n in (f"_dflt_{f.name}", f"__dataclass_dflt_{f.name}__")), None)
        if f.default_factory is not dataclasses.MISSING:
            value = f"{default}() if {f.name} is {marker} else {f.name}" if f.init else f"{default}()"
        elif f.init:
            value = f.name
        elif default is not None:
            value = default
        else:
            continue
        if f._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
            continue
        lines.append(f"{maker}.__setattr__({own},{f.name!r},{value})" if frozen else f"{own}.{f.name}={value}")
    if hasattr(cls, "__post_init__"):
        given = ",".join(f.name for f in fields if f._field_type is dataclasses._FIELD_INITVAR)  # type: ignore[attr-defined]
        lines.append(f"{own}.__post_init__({given})")
    named = [f.name for f in fields if f.init and not f.kw_only]
    only = [f.name for f in fields if f.init and f.kw_only]
    head = ", ".join([own, *named, *(["*", *only] if only else [])])
    return f"def __init__({head}):\n" + "\n".join(f" {line}" for line in lines or ["pass"])
