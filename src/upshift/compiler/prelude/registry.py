"""Which functions of the prelude stand for which of Python's."""

from __future__ import annotations

import types
from collections.abc import Callable
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


def prelude(f: F) -> F:
    """A function that the compiler calls by its name."""
    FUNCTIONS[f.__name__] = f  # type: ignore[assignment]
    return f


def inline(f: F) -> F:
    """Followed where it is called: its arguments may be generators or functions, its results of several kinds."""
    f.inline = True  # type: ignore[attr-defined]
    return f


def apart(f: F) -> F:
    """Called, and never copied into its callers: it is large, or seldom needed."""
    f.apart = True  # type: ignore[attr-defined]
    return f


def implements(*originals: Any) -> Callable[[F], F]:
    """Stands for these functions of Python's."""

    def register(f: F) -> F:
        for original in originals:
            IMPLEMENTS[original] = f  # type: ignore[assignment]
        return f

    return register


def implements_named(module: str, *names: str) -> Callable[[F], F]:
    """Stands for functions of a module that takes long to load."""

    def register(f: F) -> F:
        for name in names:
            NAMED[module, name] = f  # type: ignore[assignment]
        return f

    return register


def method(cls: str, *names: str) -> Callable[[F], F]:
    """Stands for these methods of a class."""

    def register(f: F) -> F:
        for name in names:
            METHODS[cls, name] = f  # type: ignore[assignment]
        return f

    return register
