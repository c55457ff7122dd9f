"""What names stand for in a traced copy, and where in the user's code a trace is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..columns.forms import Form
from ..errors import Untraceable
from ..rules.arrays.call import is_flat
from ..rules.interned import Interned


def refuse(reason: str, remedy: str = "") -> None:
    """End the trace: the function does more than compute.

    It does not raise where Python would print what is raised: while a generator is closed that nobody has finished.
    """
    refusal = Untraceable(reason, remedy, user_line())
    if not is_closing():
        raise refusal


def is_closing() -> bool:
    """Whether a generator is being closed."""
    return sys.exc_info()[0] is GeneratorExit


class Names(dict[str, Any]):
    """The globals of a traced copy: looked up in the real ones on first use, and noted as captured."""

    __slots__ = ("lookup",)

    def __init__(self, lookup: Callable[[str], Any]) -> None:
        super().__init__()
        self.lookup = lookup

    def __missing__(self, name: str) -> Any:
        closing = is_closing()
        try:
            self[name] = value = self.lookup(name)
        except Untraceable:
            if not closing:
                raise
            return Mute()
        return value


class Mute:
    """Stands, in a trace that has ended, for what a generator that is being closed would use: it does nothing."""

    def __call__(self, *args: Any, **keywords: Any) -> Mute:
        return self

    def __getattr__(self, name: str) -> Mute:
        return self


def user_line() -> str:
    """file:line of the user's code that is running, found as the nearest frame of a traced copy."""
    frame = sys._getframe(1)
    while frame is not None and type(frame.f_globals) is not Names:
        frame = frame.f_back  # type: ignore[assignment]
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


class Member(Interned):
    """A method call or an attribute as a function of its object."""

    def __init__(self, name: str, calls: bool) -> None:
        self.name, self.calls = name, calls
        self.called(f"method({name!r})" if calls else f"attribute({name!r})")

    def __call__(self, value: Any, *args: Any) -> Any:
        found = getattr(value, self.name)
        return found(*args) if self.calls else found


def member_of(name: str, calls: bool) -> Member:
    """A method call or an attribute, as a function of its object, one for each name."""
    return Member.of(name, calls)


class Applied(Interned):
    """A call with its arguments laid out flat: the nesting is the call's, the leaves are the step's arguments."""

    def __init__(self, fn: Callable[..., Any], form: Form) -> None:
        self.fn, self.form = fn, form
        self.called(getattr(fn, "__name__", type(fn).__name__))

    def __call__(self, *leaves: Any) -> Any:
        args, keywords = self.form.build(iter(leaves))
        return self.fn(*args, **keywords)


def applied(fn: Callable[..., Any], form: Form) -> Callable[..., Any]:
    """A call as a function of its leaves: the function itself where its arguments are flat already."""
    return fn if is_flat(form) else Applied.of(fn, form)


class UfuncMethod(Interned):
    """`np.add.reduce` and its like."""

    def __init__(self, ufunc: Any, method: str) -> None:
        self.ufunc, self.method = ufunc, method
        self.called(f"{ufunc.__name__}.{method}")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if self.method == "at":
            out = args[0].copy()
            self.ufunc.at(out, *args[1:], **keywords)
            return out
        return getattr(self.ufunc, self.method)(*args, **keywords)
