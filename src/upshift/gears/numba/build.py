"""What one compilation knows, and what it finds out on the way."""

from __future__ import annotations

import contextvars
from dataclasses import dataclass, field
from typing import Any

from numba.core.compiler_machinery import FunctionPass

from .unit import Unit


class OwnPass(FunctionPass):  # type: ignore[misc]
    """A pass of ours over Numba's code. Numba wants every one to say how it is made."""

    def __init__(self) -> None:
        FunctionPass.__init__(self)


@dataclass(slots=True)
class Build:
    """One function with all that it calls."""

    units: dict[Any, Unit]
    dispatchers: dict[int, Any] = field(default_factory=dict)
    mixed: bool = False
    """Whether a result may be an int for one element and a float for another, which machine code stores alike."""


BUILD: contextvars.ContextVar[Build] = contextvars.ContextVar("build")
