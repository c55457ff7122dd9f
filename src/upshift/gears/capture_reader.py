"""Generates a function that reads all captured values anew, and raises where one is not what was compiled for."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.kinds import Kind, fits_int64, kind_of
from ..trace.paths import Capture, Roots, frozen, holds, is_fixed

MISS = object()
"""What a written function gives where something is not as it was when it was written."""


@dataclass(slots=True)
class Writer:
    """Lines of a function, and the objects that its names stand for."""

    lines: list[str] = field(default_factory=list)
    space: dict[str, Any] = field(default_factory=dict)

    def name(self, value: Any, wish: str = "k") -> str:
        """A name for an object in the generated function."""
        name = f"{wish}{len(self.space)}"
        self.space[name] = value
        return name


CaptureReader = Callable[..., Any]


def capture_reader_of(captures: Iterable[Capture]) -> CaptureReader:
    """`bind(f, shared)`: the captured inputs in order, or MISS where one of these is no longer what it was."""
    writer = Writer()
    inputs = _bound_in(writer, captures)
    body = writer.lines or ["pass"]
    source = "\n        ".join(
        ["def bind(f, shared={}):\n    try:", *body, f"return ({', '.join(inputs)}{',' if inputs else ''})"]
    )
    source += "\n    except (LookupError, AttributeError, TypeError, ValueError):\n        return MISS"
    space = {**writer.space, "MISS": MISS}
    exec(compile(source, "<upshift captures>", "exec"), space)
    bind: CaptureReader = space["bind"]
    return bind


def _bound_in(writer: Writer, captures: Iterable[Capture]) -> list[str]:
    """Lines that read what `f` and `shared` hold now, and return MISS where it will not do; the names of the inputs."""
    writer.space["BUILTINS"] = vars(builtins)
    inputs = []
    for capture in captures:
        if len(capture.path) == 1 and capture.mode == "code":
            continue  # the function itself: it was found by its code
        value = _read(writer, capture.path)
        if capture.mode == "input" and not isinstance(capture.expected, tuple):
            inputs.append(f"c{-capture.id}")
            writer.lines.append(f"c{-capture.id} = {value}")
            known = writer.name(_Number(capture.expected))
            writer.lines.append(
                f"if c{-capture.id} is not {known}.last and not {known}.is_met(c{-capture.id}): return MISS"
            )
        elif capture.mode in ("input", "array"):
            inputs.append(f"c{-capture.id}")
            dtype, size = capture.expected
            measure = "shape" if capture.mode == "input" else "ndim"
            writer.lines += [
                f"c{-capture.id} = array = {value}",
                f"if type(array) is not {writer.name(np.ndarray)} or array.{measure} != {size!r}: return MISS",
                f"if array.dtype != {writer.name(dtype)}: return MISS",
            ]
        elif capture.mode == "same":
            writer.lines.append(f"if {value} is not {writer.name(capture.expected)}: return MISS")
        elif capture.mode == "code":
            writer.lines.append(f"if {value}.__code__ is not {writer.name(capture.expected)}: return MISS")
        elif capture.mode == "type":
            writer.lines.append(f"if type({value}) is not {writer.name(capture.expected)}: return MISS")
        elif capture.mode == "equal":
            known = writer.name(_Equal(capture.expected))
            writer.lines += [
                f"same = {value}",
                f"if same is not {known}.last and not {known}.is_met(same): return MISS",
            ]
        else:
            known = writer.name(capture)
            writer.lines.append(
                f"same, c{-capture.id} = {writer.name(holds)}({known}, {writer.name(Roots)}(f, shared))"
            )
            writer.lines.append("if not same: return MISS")
    return inputs


@dataclass(slots=True)
class _Number:
    """A kind that a captured number must be of, and the last one that was: it can never change."""

    kind: Kind
    last: Any = MISS

    def is_met(self, value: Any) -> bool:
        same = kind_of(value) is self.kind and (type(value) is not int or fits_int64(value))
        if same:
            self.last = value
        return same


@dataclass(slots=True)
class _Equal:
    """A plain value that a captured one must be equal to, and the last object that was and can never change."""

    expected: Any
    last: Any = MISS

    def is_met(self, value: Any) -> bool:
        same: bool = frozen(value) == self.expected
        if same and is_fixed(value):
            self.last = value
        return same


def _read(writer: Writer, path: Any) -> str:
    """An expression that follows a path from the function, or from a shared keyword."""
    if path[0][0] in ("given", "state"):
        return f"{writer.name(Roots)}(f, shared).read({writer.name(path)})"
    text = "f" if path[0][0] == "f" else f"shared[{path[0][1]!r}]"
    for way, key in path[1:]:
        if way in _WAYS:
            text = _WAYS[way].format(text, key if isinstance(key, str | int) else writer.name(key))
        else:
            rest = writer.name(path)
            return f"{writer.name(Roots)}(f, shared).read({rest})"
    return text


_WAYS = {
    "global": "{0}.__globals__[{1!r}]",
    "global?": "(None if {1!r} in {0}.__globals__ else BUILTINS.get({1!r}))",
    "cell": "{0}.__closure__[{1}].cell_contents",
    "default": "{0}.__defaults__[{1}]",
    "attr": "{0}.{1}",
}
