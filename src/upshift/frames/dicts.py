"""A table whose rows are dicts: Polars' and Arrow's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..columns.fields import NotFields
from ..columns.inputs import Rows


class DictRows(Rows):
    """`names` of the columns, `column(table, name)` for the elements of one, `rows(table)` for all dicts."""

    def __init__(
        self, table: Any, names: list[str], column: Callable[[Any, str], Any], rows: Callable[[Any], Any]
    ) -> None:
        self.table, self.names, self.column, self.rows = table, names, column, rows
        self.kind = (type(table), str(table.schema))

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            start, stop, step = i.indices(len(self))
            if step != 1:
                return [self[k] for k in range(start, stop, step)]
            part = self.table.slice(start, max(stop - start, 0))
            return DictRows(part, self.names, self.column, self.rows)
        return next(iter(self.rows(self.table.slice(range(len(self))[i], 1))))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows(self.table))

    def field(self, how: str, name: Any) -> Any:
        """The elements of a column."""
        if how != "item" or self.names.count(name) != 1:
            raise NotFields(f"rows have no {name!r}")
        return self.column(self.table, name)
