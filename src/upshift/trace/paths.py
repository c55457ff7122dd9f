"""Paths from a function to what it captured, by which later calls read it anew."""

from __future__ import annotations

import builtins
import collections
import enum
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns.kinds import fits_int64, kind_of
from ..loading import Later

if TYPE_CHECKING:
    import decimal
else:
    decimal = Later("decimal")

Path = tuple[tuple[str, Any], ...]
"""Steps from a root to something captured. Roots: the function, a shared keyword, a class that elements are of (given),
and what the process is set to (state)."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Something a function reads besides its element: where it is found, what it must be, and its id if it is an input.

    `input`: a number of a kind, or an array of a dtype and shape. `array`: one of a dtype and so many axes, an input
    as well. All others are built on: `same` (the very object), `code`, `type`, `shape`, `equal`.
    """

    path: Path
    mode: str
    expected: Any
    id: int = 0

    @property
    def is_input(self) -> bool:
        """Whether its value may change from call to call, so that it is read anew for each."""
        return self.mode in ("input", "array")


def plain_of(f: Any) -> Any:
    """What a function decorated by `up.function` stands for; any other function as it is."""
    if type(f) is types.MethodType:
        inner = plain_of(f.__func__)
        return f if inner is f.__func__ else types.MethodType(inner, f.__self__)
    if type(f) is types.FunctionType and "__upshift__" in f.__dict__:
        return f.__wrapped__  # type: ignore[attr-defined]
    return f


class Roots:
    """The function and the shared keywords of one call; what paths lead to is read once per call."""

    def __init__(self, f: Any, shared: dict[str, Any]) -> None:
        self.found: dict[Path, Any] = {(("f", None),): f}
        for name, value in shared.items():
            self.found[(("shared", name),)] = value

    def read(self, path: Path) -> Any:
        """What is there now; LookupError or AttributeError where nothing is."""
        try:
            return self.found[path]
        except KeyError:
            if len(path) == 1:
                return _root(*path[0])
            value = self.found[path] = _follow(self.read(path[:-1]), *path[-1])
            return value


def _root(way: str, key: Any) -> Any:
    """What needs no function to be found."""
    if way == "given":
        return key
    if way == "state":
        return STATES[key]()
    raise LookupError(key)


def _decimal_context() -> Any:
    context = decimal.getcontext()
    traps = tuple(sorted(signal.__name__ for signal, caught in context.traps.items() if caught))
    return context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps


STATES: dict[str, Callable[[], Any]] = {"decimal": _decimal_context}
"""What a process may be set to, and functions depend on though they do not name it: the arithmetic of decimals."""


def _follow(value: Any, way: str, key: Any) -> Any:
    if way == "global":
        return value.__globals__[key]
    if way == "global?":
        if key in value.__globals__:
            raise LookupError(key)
        return getattr(builtins, key, None)
    if way == "cell":
        return _contents(value.__closure__[key])
    if way == "default":
        return value.__defaults__[key]
    if way == "kwdefault":
        return value.__kwdefaults__[key]
    if way == "attr":
        return getattr(value, key)
    if way == "item":
        return value[key]
    if way == "import":
        return sys.modules[key]
    if way == "class":
        return type(value)
    if way == "property":
        return (value.fget, value.fset, value.fdel)[key]
    if way == "mro":
        return value.__mro__[key]
    if way == "about":
        return about_class(value)
    member = vars(value)[key]  # of a class
    return member.__func__ if isinstance(member, staticmethod | classmethod) else member


VOLATILE = frozenset(
    "__slotnames__ __abstractmethods__ _abc_impl __annotations__ __annotate__ __annotate_func__ __annotations_cache__ "
    "__doc__ __dict__ __weakref__ __static_attributes__ __firstlineno__".split()
)
"""Names in a class that Python itself puts there, some of them late."""


def names_of(cls: type) -> tuple[str, ...]:
    """What a class itself defines."""
    return tuple(name for name in vars(cls) if name not in VOLATILE)


def about_class(cls: type) -> Any:
    """What is to be found in a class, and where else is looked."""
    return names_of(cls), cls.__mro__[1:]


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise LookupError("empty cell") from None


_ATOMS = (str, bytes, type(None), bool, int, float, complex, type(Ellipsis), enum.Enum, re.Pattern, np.dtype,
          np.generic, slice, range, type)  # fmt: skip
_OF_LIBRARIES = {"decimal": "Decimal", "fractions": "Fraction"}
"""Classes of numbers whose modules are not loaded for the sake of a look."""


def is_atom(value: Any) -> bool:
    """Whether a plain value is one piece."""
    cls = type(value)
    return isinstance(value, _ATOMS) or _OF_LIBRARIES.get(cls.__module__) == cls.__name__


def frozen(value: Any) -> Any:
    """A picture of a plain value, equal to another exactly when no code could tell them apart; else a TypeError."""
    cls = type(value)
    if cls in (float, complex) or isinstance(value, np.inexact):
        return cls, repr(value)
    if is_atom(value):
        return cls, value
    if cls in (list, tuple, collections.deque):
        return cls, tuple(map(frozen, value))
    if cls is dict:
        return cls, tuple((frozen(k), frozen(v)) for k, v in value.items())
    if cls in (set, frozenset):
        return cls, frozenset(map(frozen, value))
    raise TypeError(f"not plain: {cls.__name__}")


def is_fixed(value: Any) -> bool:
    """Whether a plain value can never change, so that it is enough to know the object again."""
    if type(value) in (tuple, frozenset):
        return all(map(is_fixed, value))
    return is_atom(value)


def holds(capture: Capture, roots: Roots) -> tuple[bool, Any]:
    """Whether a capture is still what the tree was traced for, and its value now."""
    try:
        value = roots.read(capture.path)
    except (LookupError, AttributeError, TypeError, StopIteration):
        return False, None
    mode, expected = capture.mode, capture.expected
    if mode == "input":
        return _is_kind(value, expected), value
    if mode == "array":
        return type(value) is np.ndarray and (value.dtype, value.ndim) == expected, value
    if mode == "same":
        return value is expected, value
    if mode == "code":
        return getattr(value, "__code__", None) is expected, value
    if mode == "type":
        return type(value) is expected, value
    if mode == "shape":
        inside = tuple(value) if isinstance(value, dict) else len(value)
        return (type(value), inside) == expected, value
    try:
        return frozen(value) == expected, value
    except TypeError:
        return False, value


def _is_kind(value: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return isinstance(value, np.ndarray) and (value.dtype, value.shape) == expected
    return kind_of(value) is expected and (type(value) is not int or fits_int64(value))
