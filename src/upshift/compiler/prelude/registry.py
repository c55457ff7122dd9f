"""Which functions of the prelude stand for which of Python's."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
FUNCTIONS: dict[str, types.FunctionType] = {}
"""By name, for the compiler itself."""
IMPLEMENTS: dict[Any, types.FunctionType] = {}
"""By the function of Python's that is meant."""
NAMED: dict[tuple[str, str], types.FunctionType] = {}
"""By module and name, of modules that are not loaded for this."""
METHODS: dict[tuple[str, str], types.FunctionType] = {}
"""By the class and name of a method."""
LOADED: dict[str, int] = {}
"""For every file of the prelude, when it had last been changed as it was loaded."""


def changed_at(filename: str) -> int:
    """When a file was last changed; 0 where there is none."""
    try:
        return os.stat(filename).st_mtime_ns
    except OSError:
        return 0


def is_as_loaded(filename: str) -> bool:
    """Whether a file of the prelude is still what was loaded: an update may have replaced it while we run."""
    return LOADED.get(filename) == changed_at(filename) != 0


def _note_file(f: Any) -> None:
    filename = f.__code__.co_filename
    if filename not in LOADED:
        LOADED[filename] = changed_at(filename)


def prelude(f: F) -> F:
    """A function that the compiler calls by its name."""
    FUNCTIONS[f.__name__] = f  # type: ignore[assignment]
    _note_file(f)
    return f


def inline(f: F) -> F:
    """Followed where it is called: its arguments may be generators or functions, its results of several kinds."""
    f.inline = True  # type: ignore[attr-defined]
    return f


def apart(f: F) -> F:
    """Called, and never copied into its callers: it is large, or seldom needed."""
    f.apart = True  # type: ignore[attr-defined]
    return f


def registered(table: dict[Any, Any], keys: Iterable[Any]) -> Callable[[F], F]:
    """A decorator that puts a function into a table under each of these keys."""

    def register(f: F) -> F:
        table.update(dict.fromkeys(keys, f))
        if isinstance(f, types.FunctionType):
            _note_file(f)
        return f

    return register


def implements(*originals: Any) -> Callable[[F], F]:
    """Stands for these functions of Python's."""
    return registered(IMPLEMENTS, originals)


def implements_named(module: str, *names: str) -> Callable[[F], F]:
    """Stands for functions of a module that takes long to load."""
    return registered(NAMED, [(module, name) for name in names])


def method(cls: str, *names: str) -> Callable[[F], F]:
    """Stands for these methods of a class."""
    return registered(METHODS, [(cls, name) for name in names])
