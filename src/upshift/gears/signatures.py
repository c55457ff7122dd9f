"""Brings a call's arguments into one order and back, and tells where a function stands in the user's code."""

from __future__ import annotations

import inspect
import types
from collections.abc import Sequence
from typing import Any


def names_of(f: types.FunctionType) -> tuple[str, ...]:
    """Of a function's arguments, as they are given to a compiled call: positional ones, those by keyword only, the
    tuple of more positional ones and the dict of more keywords."""
    return names_of_code(f.__code__)


def names_of_code(code: types.CodeType) -> tuple[str, ...]:
    """The same for a function of this code."""
    more = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + more]


def values_of(f: types.FunctionType, args: Sequence[Any], keywords: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call, in the order of their names; all that have defaults are given."""
    code = f.__code__
    count, flags = code.co_argcount, code.co_flags
    only = code.co_varnames[count : count + code.co_kwonlyargcount]
    values = (*args[:count], *map(keywords.__getitem__, only))
    if flags & inspect.CO_VARARGS:
        values += (tuple(args[count:]),)
    if flags & inspect.CO_VARKEYWORDS:
        values += ({name: value for name, value in keywords.items() if name not in only},)
    return values


def call_with(f: Any, code: types.CodeType, values: Sequence[Any]) -> Any:
    """The inverse: a call of a function that takes its arguments as this code does."""
    count, only = code.co_argcount, code.co_kwonlyargcount
    keywords = dict(zip(code.co_varnames[count : count + only], values[count:], strict=False))
    more = list(values[count + only :])
    args = (*values[:count], *(more.pop(0) if code.co_flags & inspect.CO_VARARGS else ()))
    return f(*args, **keywords, **(more.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else {}))


def place_of(f: types.FunctionType, line: int | None = None) -> str:
    """A place in the user's code, in few words."""
    file = f.__code__.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{file}:{line or f.__code__.co_firstlineno} in {f.__name__}"
