"""Names in a traced copy in, what they stand for out; and where in the user's code a trace is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar

from ..columns.forms import Form


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


class Applied:
    """A call with its arguments laid out flat: the nesting is the call's, the leaves are the step's arguments."""

    made: ClassVar[dict[tuple[Any, Form], Applied]] = {}
    __module__ = "builtins"

    def __init__(self, fn: Callable[..., Any], form: Form) -> None:
        self.fn, self.form = fn, form
        self.__name__ = self.__qualname__ = getattr(fn, "__name__", type(fn).__name__)

    @classmethod
    def of(cls, fn: Callable[..., Any], form: Form) -> Any:
        """The call; the function itself where its arguments are flat."""
        positional, named = form.children
        if not named.children and all(child.cls is None for child in positional.children):
            return fn
        try:
            return cls.made.setdefault((fn, form), cls(fn, form))
        except TypeError:
            return cls(fn, form)

    def __call__(self, *leaves: Any) -> Any:
        args, keywords = self.form.build(iter(leaves))
        return self.fn(*args, **keywords)


class UfuncMethod:
    """`np.add.reduce` and its like; one of each exists, so that steps can be compared."""

    made: ClassVar[dict[tuple[Any, str], UfuncMethod]] = {}
    __module__ = "builtins"

    def __init__(self, ufunc: Any, method: str) -> None:
        self.ufunc, self.method = ufunc, method
        self.__name__ = self.__qualname__ = f"{ufunc.__name__}.{method}"

    @classmethod
    def of(cls, ufunc: Any, method: str) -> UfuncMethod:
        return cls.made.setdefault((ufunc, method), cls(ufunc, method))

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if self.method == "at":
            out = args[0].copy()
            self.ufunc.at(out, *args[1:], **keywords)
            return out
        return getattr(self.ufunc, self.method)(*args, **keywords)
