"""What the doctor says about one place in a file, and the edits that would mend it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Span = tuple[int, int, int, int]
"""First line, first column, last line, last column; lines from 1, columns from 0 in characters."""

Tier = Literal["safe", "checked", "whole"]
"""safe: provably the same, applied by `--fix`; checked: applied only after `--run` has compared results; whole: only
where the whole script, run with it, prints the same and takes less time."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of the source: an expression or a statement at a span gives way to a text, or has it before it."""

    action: Literal["expression", "statement", "unwrap", "decorator", "block", "before"]
    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to mend a finding; `name` is what the measurements call it."""

    name: str
    tier: Tier
    edits: tuple[Edit, ...]
    imports: tuple[str, ...] = ()
    repairs: bool = False
    """Whether the code does not run at all without it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One slow or broken place."""

    path: str
    span: Span
    code: str
    message: str
    fixes: tuple[Fix, ...] = ()
    cell: int | None = None
    """The number of the notebook's cell, from 1; the span then counts within the cell."""
    place: Span = field(default=(0, 0, 0, 0))
    """The span in the text that was analysed: all cells of a notebook, one after the other."""
    function: str = ""
    """The function that the place is in, if any."""

    @property
    def line(self) -> int:
        """The line on which it begins, from 1."""
        return self.span[0]

    @property
    def column(self) -> int:
        """The column at which it begins, from 0."""
        return self.span[1]

    @property
    def safe_fix(self) -> Fix | None:
        """The first of its fixes that cannot change what the program does."""
        return next((fix for fix in self.fixes if fix.tier == "safe"), None)

    @property
    def where(self) -> str:
        """`path:line:column`, with the cell of a notebook, as editors read it."""
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{self.path}:{cell}{self.line}:{self.column + 1}"
