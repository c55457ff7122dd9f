"""A function, its data and whether it must batch in; one row of a table out."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


def written(name: str, text: str, space: dict[str, Any]) -> Callable[..., Any]:
    """A function of this name from its source text, which is where tracebacks and the compiler look for it."""
    place = f"<table {name}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    exec(compile(text, place, "exec"), space)
    made: Callable[..., Any] = space[name]
    return made


@dataclass(frozen=True)
class Data:
    """Columns with a name; `easy` where every element is of one kind that fits a NumPy column."""

    name: str
    columns: tuple[Any, ...]
    easy: bool = True


@dataclass(frozen=True)
class Row:
    name: str
    f: Callable[..., Any]
    data: tuple[Data, ...]
    must_batch: bool


@dataclass
class Table:
    """Rows in the order they were written."""

    name: str
    rows: list[Row] = field(default_factory=list)

    def row(self, *groups: Iterable[Data], must_batch: bool = True) -> Callable[[Any], Any]:
        """A decorator that leaves the function as it is."""

        def add(f: Callable[..., Any]) -> Callable[..., Any]:
            self.add(getattr(f, "__name__", type(f).__name__), f, *groups, must_batch=must_batch)
            return f

        return add

    def add(self, name: str, f: Callable[..., Any], *groups: Iterable[Data], must_batch: bool = True) -> None:
        data = tuple({one.name: one for group in groups for one in group}.values())
        assert data, f"{name} has no data"
        assert all(row.name != name for row in self.rows), f"two rows named {name}"
        self.rows.append(Row(name, f, data, must_batch))
