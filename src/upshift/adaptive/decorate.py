"""The decorator `up.function`: which functions it takes, and how they are decorated."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from ..config import settings
from ..errors import UpshiftError
from ..gears.signatures import names_of
from ..trace.paths import plain_of
from .code_swap import wrapper_of
from .explained import explanation_of
from .state import FunctionState

GEARS = ("plain", "llvm", "tensorflow", "jax")
EXACT = frozenset(("llvm",))
"""Those that give the plain function's very bits."""
F = TypeVar("F", bound=Callable[..., Any])


@overload
def function(f: F) -> F: ...
@overload
def function(
    f: None = None, *, gears: str | Iterable[str] | None = None, exact: bool = False, static: Any = ()
) -> Callable[[F], F]: ...
@overload
def function(f: F, *, gears: str | Iterable[str] | None = None, exact: bool = False, static: Any = ()) -> F: ...
def function(f: Any = None, *, gears: Any = None, exact: bool = False, static: Any = ()) -> Any:
    """The same function, adaptively compiled: plain Python first, machine code once the calls so far pay for it.

    >>> import upshift as up
    >>> @up.function
    ... def steps(n):
    ...     count = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         count += 1
    ...     return count
    >>> steps(27)
    111
    >>> steps.explain().gear
    'plain'

    Results, errors, warnings and changes to arguments are those of the plain function, which is `steps.plain`. Kinds of
    arguments decide (classes of numbers, dtypes and axes of arrays), never their values or lengths. `static`: names or
    positions of arguments (texts, ints, booleans) whose values are built in: each is a kind. `gears`: which may
    be used, of "plain", "llvm" and, for arrays of theirs, "tensorflow" and "jax". `exact`: not one bit may differ,
    which is so in "plain" and "llvm".
    """
    if f is None:
        return functools.partial(function, gears=gears, exact=exact, static=static)
    allowed = _allowed(gears)
    if settings().disable:
        return f
    if isinstance(f, staticmethod | classmethod):
        return type(f)(function(f.__func__, gears=gears, exact=exact, static=static))
    if isinstance(f, types.MethodType):
        return types.MethodType(function(f.__func__, gears=gears, exact=exact, static=static), f.__self__)
    if not isinstance(f, types.FunctionType):
        if not callable(f):
            raise TypeError(f"up.function takes a function, not {f!r}")
        return f
    gears = frozenset(allowed) - {"plain"}
    return _decorated(f, gears & EXACT if exact else gears, _positions(f, static))


def _allowed(gears: Any) -> tuple[str, ...]:
    if gears is None:
        return GEARS
    named = (gears,) if isinstance(gears, str) else tuple(gears)
    for gear in named:
        if gear not in GEARS:
            raise UpshiftError(f"no gear named {gear!r} for functions; there are {', '.join(GEARS)}")
    return named


def _positions(f: types.FunctionType, static: Any) -> frozenset[int]:
    """Where the arguments stand that are static, by name or position."""
    names = names_of(f)
    found = set()
    for one in (static,) if isinstance(static, str | int) else static:
        if one not in names and (isinstance(one, str) or not 0 <= one < len(names)):
            raise UpshiftError(f"{f.__name__} has no argument {one!r}; there are {', '.join(names)}")
        found.add(names.index(one) if isinstance(one, str) else one)
    return frozenset(found)


def _decorated(f: types.FunctionType, gears: frozenset[str], static: frozenset[int]) -> types.FunctionType:
    if plain_of(f) is not f:
        return f
    wrapper = wrapper_of(f)
    state = FunctionState(f, wrapper, gears, static)
    wrapper.__upshift__ = state  # type: ignore[attr-defined]
    wrapper.plain = f  # type: ignore[attr-defined]
    wrapper.explain = functools.partial(explanation_of, state)  # type: ignore[attr-defined]
    return wrapper
