"""Names in a traced copy in, what they stand for out; and where in the user's code a trace is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar


class Names(dict[str, Any]):
    """The globals of a traced copy: looked up in the real ones on first use, and noted as captured."""

    __slots__ = ("lookup",)

    def __init__(self, lookup: Callable[[str], Any]) -> None:
        super().__init__()
        self.lookup = lookup

    def __missing__(self, name: str) -> Any:
        self[name] = value = self.lookup(name)
        return value


def user_line() -> str:
    """file:line of the user's code that is running, found as the nearest frame of a traced copy."""
    frame = sys._getframe(1)
    while frame is not None and type(frame.f_globals) is not Names:
        frame = frame.f_back  # type: ignore[assignment]
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


class Call:
    """A method call or an attribute as a function of its object; one of each exists, so that steps can be compared."""

    made: ClassVar[dict[tuple[str, bool], Call]] = {}

    def __init__(self, name: str, calls: bool) -> None:
        self.name, self.calls = name, calls
        self.__name__ = self.__qualname__ = f"method({name!r})" if calls else f"attribute({name!r})"
        self.__module__ = "builtins"

    def __call__(self, value: Any, *args: Any) -> Any:
        found = getattr(value, self.name)
        return found(*args) if self.calls else found


def call_of(name: str, calls: bool) -> Call:
    return Call.made.setdefault((name, calls), Call(name, calls))
