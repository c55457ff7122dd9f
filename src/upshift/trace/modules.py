"""A module, or a library's function, in; what the traced copy sees of it out: recorded, left alone or refused."""

from __future__ import annotations

import contextvars
import functools
import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..errors import Untraceable
from ..rules.arrays.images import FOREIGN
from .arraylike import array_of
from .names import user_line
from .paths import Path
from .record import Trace
from .standins import scalar_class
from .words import NAMES

_MODULES_THAT_ACT = {
    "random": "draws random numbers from shared state",
    "numpy.random": "draws random numbers from shared state",
    "time": "reads the clock",
    "datetime": "may read the clock",
    "secrets": "draws random numbers",
    "uuid": "makes unique ids",
    "os": "calls the operating system",
    "sys": "reads the interpreter's state",
    "io": "reads or writes files",
    "subprocess": "starts processes",
    "socket": "uses the network",
    "threading": "uses threads",
    "logging": "writes a log",
    "warnings": "warns",
    "pathlib": "uses files",
    "shutil": "uses files",
    "gc": "reads the interpreter's state",
    "inspect": "looks at itself",
    "tensorflow": "calls TensorFlow",
    "torch": "calls PyTorch",
    "jax": "calls JAX",
}
STANDINS: contextvars.ContextVar[Callable[[Any], Any] | None] = contextvars.ContextVar("upshift_standins", default=None)
"""What gives a captured object's stand-in, or None, where somebody knows a library that acts better than this table."""
_LEFT_ALONE = frozenset(
    "numpy scipy builtins operator _operator itertools functools _functools bisect _bisect heapq _heapq "
    "math cmath collections _collections decimal _decimal struct _struct string _string re zlib binascii "
    "unicodedata copy typing dataclasses enum abc numbers".split()
)
"""Modules whose functions work on lane values through protocols alone, and have no state."""


class Standin:
    """A function of a library of arrays: recorded where it meets lane values, and where it makes arrays."""

    def __init__(self, trace: Trace, fn: Any) -> None:
        self._up_trace, self._up_fn = trace, fn
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        named = {name: array_of(value) for name, value in keywords.items()}
        return self._up_trace.arrays.call(self._up_fn, tuple(map(array_of, args)), named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._up_fn, name)


class HeldModule(types.ModuleType):
    """A module whose attributes are held as they are read."""

    def __init__(self, holder: Any, module: types.ModuleType, path: Path) -> None:
        super().__init__(module.__name__)
        self.__dict__["_up_read"] = holder, module, path

    def __getattr__(self, name: str) -> Any:
        holder, module, path = self.__dict__["_up_read"]
        value = getattr(module, name)
        if module.__name__.split(".")[0] == "numpy" and not isinstance(value, types.ModuleType):
            if name in ("seterr", "seterrcall"):
                raise Untraceable(f"changes NumPy's error state: np.{name}", where=user_line())
            if name in NAMES:
                return NAMES[name](holder.trace.arrays)
            if isinstance(value, type) and issubclass(value, np.generic) and value.__module__ == "numpy":
                value = self.__dict__[name] = scalar_class(value)  # type: ignore[arg-type]
            elif callable(value) and not isinstance(value, type | np.ufunc):
                value = self.__dict__[name] = Standin(holder.trace, value)
            return value
        made = holder.hold(value, (*path, ("attr", name)))
        self.__dict__[name] = made
        return made

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise Untraceable(f"changes the module {self.__name__}", where=user_line())


def acting(module: str) -> str:
    """What a module does besides computing, in words; empty where it only computes."""
    return _MODULES_THAT_ACT.get(module) or _MODULES_THAT_ACT.get(module.split(".")[0], "")


def is_left_alone(module: str) -> bool:
    return module.split(".")[0] in _LEFT_ALONE and not acting(module)


def is_opaque(module: str) -> bool:
    """Whether functions of a module take arrays and are called as they are, for every lane where they have no rule."""
    return module.split(".")[0] in ("numpy", *FOREIGN) and not acting(module)
