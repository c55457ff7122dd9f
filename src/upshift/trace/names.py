"""Names in a traced copy in, what they stand for out; and where in the user's code a trace is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..columns.forms import Form
from ..rules.arrays.call import is_flat
from ..rules.interned import Interned


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


class Call(Interned):
    """A method call or an attribute as a function of its object."""

    def __init__(self, name: str, calls: bool) -> None:
        self.name, self.calls = name, calls
        self.called(f"method({name!r})" if calls else f"attribute({name!r})")

    def __call__(self, value: Any, *args: Any) -> Any:
        found = getattr(value, self.name)
        return found(*args) if self.calls else found


def call_of(name: str, calls: bool) -> Call:
    return Call.of(name, calls)


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
