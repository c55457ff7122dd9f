"""The table of checks: a code, a title and samples for each, and the functions that look at calls, loops and stores."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class Figure:
    """Two ways to compute the same, to be timed side by side: `upshift doctor --figure CODE`."""

    setup: str
    slow: str
    fast: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the doctor looks for. Samples are whole programs: hits have it, misses do not."""

    code: str
    title: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    figure: Figure
    broken: bool = False
    """Whether what is found does not run at all, rather than slowly."""


CHECKS: dict[str, Check] = {}

CallHandler = Callable[[Any, ast.Call, str], None]
LoopHandler = Callable[[Any, "ast.For | ast.ListComp | ast.GeneratorExp | ast.SetComp"], None]
StoreHandler = Callable[[Any, ast.Subscript, ast.stmt], None]
FunctionHandler = Callable[[Any, ast.FunctionDef], None]
H = TypeVar("H", bound=Callable[..., Any])

CALLS: dict[str, list[CallHandler]] = {}
"""By dotted name: tensorflow.map_fn."""
METHODS: dict[str, list[CallHandler]] = {}
"""By the name of the method, for what is no import's."""
LOOPS: list[LoopHandler] = []
STORES: list[StoreHandler] = []
FUNCTIONS: list[FunctionHandler] = []
ATTRIBUTES: dict[str, list[Callable[[Any, ast.Attribute, str], None]]] = {}
"""By the second part of the dotted name of a TensorFlow attribute: contrib."""
IMPORTS: dict[str, list[Callable[[Any, ast.Import | ast.ImportFrom], None]]] = {}
"""By the library that is imported from."""
BUILTINS: dict[str, list[CallHandler]] = {}
"""By the name of one of Python's own functions: map."""
LOCAL_CALLS: list[CallHandler] = []
"""Calls of functions that the file itself defines."""


def check(
    code: str, title: str, *, hits: tuple[str, ...], misses: tuple[str, ...], figure: Figure, broken: bool = False
) -> None:
    """Add a row."""
    assert code not in CHECKS, code
    CHECKS[code] = Check(code, title, hits, misses, figure, broken)


def on_call(*names: str) -> Callable[[H], H]:
    """Have calls of these dotted names looked at."""
    return _into(CALLS, names)


def on_method(*names: str) -> Callable[[H], H]:
    """Have calls of methods of these names looked at."""
    return _into(METHODS, names)


def on_builtin(*names: str) -> Callable[[H], H]:
    """Have calls of these functions of Python's own looked at."""
    return _into(BUILTINS, names)


def on_attribute(*names: str) -> Callable[[H], H]:
    """Have `tf.<name>` looked at."""
    return _into(ATTRIBUTES, names)


def on_import(*names: str) -> Callable[[H], H]:
    """Have imports from these libraries looked at."""
    return _into(IMPORTS, names)


def _into(table: dict[str, list[Any]], names: tuple[str, ...]) -> Callable[[H], H]:
    def keep(handler: H) -> H:
        for name in names:
            table.setdefault(name, []).append(handler)
        return handler

    return keep


def on_loop(handler: H) -> H:
    """Have loops and comprehensions looked at."""
    LOOPS.append(handler)
    return handler


def on_store(handler: H) -> H:
    """Have assignments to items looked at."""
    STORES.append(handler)
    return handler


def on_function(handler: H) -> H:
    """Have function definitions looked at."""
    FUNCTIONS.append(handler)
    return handler


def on_local_call(handler: H) -> H:
    """Have calls of the file's own functions looked at."""
    LOCAL_CALLS.append(handler)
    return handler
