"""Words for what went wrong: errors that reach the user, refusals that stay in the plan, signals that end a trace."""

from __future__ import annotations

import contextvars
import functools
import os
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .remedies import remedy_for

_OURS = os.path.dirname(__file__) + os.sep


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Folders of installed code: an error from in there has its cause in the line of the user's that led there."""
    import sysconfig  # which reads how Python was built

    return tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_of_library(file: str) -> bool:
    """Whether a file of source is part of an installed library, or of Upshift."""
    return file.startswith((*_libraries(), _OURS, "<frozen"))


def is_of_upshift(file: str) -> bool:
    """Whether a file of source is Upshift's own."""
    return file.startswith(_OURS)


class UpshiftError(Exception):
    """Anything that Upshift itself has to say; errors of the mapped function keep their own type."""


class LengthError(UpshiftError, ValueError):
    """Columns of one call have different lengths."""


class WorkerLost(UpshiftError, RuntimeError):
    """A worker process ended while it ran some elements, and so did the one that ran them again."""


class GearRefused(UpshiftError, RuntimeError):
    """A gear that was asked for by name cannot run this function on these elements."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a gear does not run a function: data for the plan, an error only where the gear was forced."""

    gear: str
    reason: str
    where: str = ""
    remedy: str = ""
    """One thing to do about it; that of the table (`remedies.py`) where none is told."""

    def __post_init__(self) -> None:
        if not self.remedy:
            object.__setattr__(self, "remedy", remedy_for(self.reason))

    def __str__(self) -> str:
        at = f" ({self.where})" if self.where else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"gear {self.gear!r} cannot run this function: {self.reason}{at}{remedy}"


class Signal(BaseException):
    """Ends a trace from within the user's code. Not an Exception, so that `except Exception` does not swallow it."""


class Untraceable(Signal):
    """The function, not only this element, cannot be traced."""

    def __init__(self, reason: str, remedy: str = "", where: str = "") -> None:
        super().__init__(reason)
        self.reason, self.remedy, self.where = reason, remedy, where
        trace = TRACE.get()
        if trace is not None and not isinstance(trace.ended, Untraceable):
            trace.ended = self  # a bare `except:` in the user's code must not swallow it


TRACE: contextvars.ContextVar[Any] = contextvars.ContextVar("upshift_trace", default=None)
"""The trace that runs, which is over as soon as the function is found to be untraceable."""


class Leave(Signal):
    """This element is the plain function's (an int beyond 64 bits, an overflow); others may well be traced."""


class OverBudget(Signal):
    """The trace became longer than it is worth."""


def is_refused_write(error: Exception) -> bool:
    """Whether a library says that it cannot write into an array: NumPy, Cython and OpenCV each in their own words."""
    return "read-only" in str(error) or "readonly" in str(error)


def name_element(error: Exception, i: int, row: tuple[Any, ...]) -> None:
    """Add to an error which element it came from, and where."""
    if getattr(error, "upshift_element", None) is not None:
        return  # named already, by a map inside the function
    value = _shortened(row[0]) if len(row) == 1 else "(" + ", ".join(map(_shortened, row)) + ")"
    inner = [(code, line) for code, line in _lines_of(error) if not code.co_filename.startswith(_OURS)]
    own = [at for at in inner if not at[0].co_filename.startswith(_libraries())] or inner
    at = f"    {own[-1][0].co_filename}:{own[-1][1]} in {own[-1][0].co_name}" if own else ""
    try:
        error.add_note(f"element {i}: {value}{at}")
        error.upshift_element = i  # type: ignore[attr-defined]
    except AttributeError:
        pass  # an exception that takes no attributes


def _lines_of(error: BaseException) -> Iterator[tuple[types.CodeType, int]]:
    """The code and the line of every call that an error has come through, the outermost first."""
    tb = error.__traceback__
    while tb is not None:
        yield tb.tb_frame.f_code, tb.tb_lineno
        tb = tb.tb_next


def trim(error: BaseException) -> None:
    """Take our own frames out of a traceback that begins in our first one, which stays: it is the user's call.

    An error of the mapped function then shows that call and the function's own lines; what we have to say ourselves
    the call alone. Any other error is a fault of ours, and is left as it is.
    """
    first = error.__traceback__
    if first is None or os.environ.get("UPSHIFT_FULL_TRACEBACK", "0") not in ("", "0", "false", "no"):
        return
    if isinstance(error, UpshiftError):
        first.tb_next = None
    elif getattr(error, "upshift_element", None) is not None:
        first.tb_next = _without_ours(first.tb_next)


def _without_ours(tb: types.TracebackType | None) -> types.TracebackType | None:
    """Without frames of ours, and of libraries that stand between two of them."""
    found = []
    while tb is not None:
        found.append(tb)
        tb = tb.tb_next
    kept: types.TracebackType | None = None
    before_ours = False
    for one in reversed(found):
        file = one.tb_frame.f_code.co_filename
        before_ours = file.startswith(_OURS) or (before_ours and file.startswith(_libraries()))
        if not before_ours:
            one.tb_next = kept
            kept = one
    return kept


def _shortened(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:  # a broken __repr__ must not hide the real error
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= 80 else f"{text[:60]}...{text[-17:]}"
