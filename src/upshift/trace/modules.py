"""What a traced copy sees of modules and library functions: recorded, left alone or refused."""

from __future__ import annotations

import contextvars
import functools
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..errors import Untraceable
from ..libraries import acting, is_left_alone, is_opaque
from .arraylike import array_of
from .code import is_called
from .names import user_line
from .paths import Path
from .record import Trace
from .standins import scalar_call
from .words import NAMES

STANDINS: contextvars.ContextVar[Callable[[Any], Any] | None] = contextvars.ContextVar("upshift_standins", default=None)
"""What gives a captured object's stand-in, or None, where somebody knows a library that acts better than this table."""


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

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return types.ModuleType

    def __getattr__(self, name: str) -> Any:
        holder, module, path = self.__dict__["_up_read"]
        if name not in vars(module) and "__getattr__" in vars(module) and _is_users(module.__name__):
            raise Untraceable(f"asks the __getattr__ of the module {module.__name__}", where=user_line())
        value = getattr(module, name)
        if module.__name__.split(".")[0] == "numpy" and not isinstance(value, types.ModuleType):
            if acting("numpy", name):
                raise Untraceable(f"{acting('numpy', name)}: np.{name}", where=user_line())
            if name in NAMES:
                return NAMES[name](holder.trace.arrays)
            if isinstance(value, type) and issubclass(value, np.generic) and value is not np.bool_:
                return scalar_call(value) if is_called(sys._getframe(1)) else value  # type: ignore[arg-type]
            if callable(value) and not isinstance(value, type | np.ufunc):
                value = self.__dict__[name] = Standin(holder.trace, value)
            return value
        made = holder.hold(value, (*path, ("attr", name)))
        self.__dict__[name] = made
        return made

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise Untraceable(f"changes the module {self.__name__}", where=user_line())


def _is_users(module: str) -> bool:
    return not is_opaque(module) and not is_left_alone(module) and not acting(module)
