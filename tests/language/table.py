"""A function and rows of arguments; a table of them is what `test_compiler_language.py` goes over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A function that compiles for these rows, and how many lanes may be left that do not raise."""

    f: Callable[..., Any]
    rows: tuple[Any, ...]
    left: int = 0
    shared: dict[str, Any] = field(default_factory=dict)


@dataclass
class Table:
    entries: dict[str, Entry] = field(default_factory=dict)

    def compiles(self, *rows: Any, left: int = 0, **shared: Any) -> Callable[[Any], Any]:
        """A decorator that leaves the function as it is."""

        def add(f: Any) -> Any:
            self.add(f.__name__, f, *rows, left=left, **shared)
            return f

        return add

    def add(self, name: str, f: Any, *rows: Any, left: int = 0, **shared: Any) -> None:
        assert name not in self.entries, f"two entries named {name}"
        self.entries[name] = Entry(f, rows, left, shared)
