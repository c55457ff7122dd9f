"""What one compilation knows, and what it finds out on the way."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass
from numba.core.registry import cpu_target

from ..calls import Held
from ..ran import NotCompiled
from .unit import Unit


def refresh() -> None:
    """Numba's tables of functions and types, as it fills them for its first compilation."""
    with global_compiler_lock:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


class OwnPass(FunctionPass):  # type: ignore[misc]
    """A pass of ours over Numba's code. Numba wants every one to say how it is made."""

    def __init__(self) -> None:
        FunctionPass.__init__(self)


class Again(NotCompiled):
    """Something was learnt about the types of a function, with which it is to be compiled again."""

    def __init__(self) -> None:
        super().__init__("numba", "its types are not settled")


@dataclass(slots=True)
class Build:
    """One function with all that it calls."""

    units: dict[Any, Unit]
    dispatchers: dict[int, Any] = field(default_factory=dict)
    mixed: bool = False
    """Whether a result may be an int for one element and a float for another, which machine code stores alike."""
    unsure: bool = False
    """Whether a result may be Python's number for one element and NumPy's for another."""
    loose: bool = False
    """Whether results are only close to NumPy's where an int among them is NumPy's."""
    watch: Callable[[Any], None] | None = None
    """Looks at every function once its types are known."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Values that are built in for arguments of the first function."""
    held: dict[str, Held] = field(default_factory=dict)
    """Its arguments that are dicts and objects, which come as tuples."""
    narrow: bool = False
    """Whether numbers of less than 64 bits are compiled, and who watches sees to their classes."""
    soft: dict[CodeType, dict[str, Any]] = field(default_factory=dict)
    """By function: variables that begin as literals, and the narrow types that they get."""
    strong: set[tuple[CodeType, str]] = field(default_factory=set)
    """Calls, by function and the variable that is called, of a narrow number beside a wide one of NumPy's."""

    def soften(self, code: CodeType, name: str, t: Any) -> None:
        """A variable is of a narrow type on one path, and of a wide one on another."""
        known = self.soft.setdefault(code, {})
        if name in known or name.startswith("$"):
            return
        known[name] = t
        raise Again

    def strengthen(self, code: CodeType, called: str) -> None:
        """A wide number beside a narrow one is NumPy's."""
        if (code, called) not in self.strong:
            self.strong.add((code, called))
            self.soft.clear()  # what was learnt from types that were not the right ones
            raise Again


BUILD: contextvars.ContextVar[Build] = contextvars.ContextVar("build")
