"""What every gear is given: the function, its elements and what is shared by all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..columns.inputs import Elements, Group, copied, lanes_of
from .blocks import Blocks


@dataclass(slots=True)
class Job:
    """One call of `map`: `f` over the rows of `columns`."""

    f: Callable[..., Any]
    columns: Sequence[Elements]
    shared: dict[str, Any]
    n: int
    exact: bool = False
    offset: int = 0
    on_error: Any = "raise"
    """What becomes of elements that raise, where a gear runs the plain function itself."""
    _groups: list[Group] | None = field(default=None)
    blocks: Blocks | None = None
    """Where it is to be run block by block, and somebody hears of each."""
    whole: Job | None = None
    """Where the columns are fields of records: the job of the function that is given the records themselves."""

    @property
    def call(self) -> Callable[..., Any]:
        """`f` with the shared keywords bound."""
        return partial(self.f, **self.shared) if self.shared else self.f

    def row(self, i: int) -> tuple[Any, ...]:
        """The arguments of element i, as the loop sees them; arrays are copies, which may be written into."""
        return copied(tuple(column[i] for column in self.columns))

    def part(self, start: int, stop: int | None = None) -> Job:
        """The rows from `start` on, as a job of their own that knows where it stood."""
        columns = [column[start:stop] for column in self.columns]
        return Job(self.f, columns, self.shared, len(columns[0]), self.exact, self.offset + start, self.on_error)

    def groups(self) -> list[Group]:
        """The elements as homogeneous columns of numbers."""
        if self._groups is None:
            self._groups = lanes_of(self.columns)
        return self._groups
