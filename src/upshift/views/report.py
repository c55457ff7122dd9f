"""The base of everything that explains itself: text, JSON, a notebook's HTML and a page to keep.

Everything that is shown is made from `to_dict()`, which is plain data: what the page says, JSON says, too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from ..loading import Later
from . import terminal, text

page: Any = Later("upshift.views.page")
SUFFIXES = (".html", ".json", ".txt")


class Report:
    """What all explanations, profiles and benchmarks can do."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as numbers, texts, lists and dicts."""
        raise NotImplementedError

    def json(self, indent: int | None = None) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Write one file that stands by itself, by its suffix: a page (.html), data (.json) or text (.txt)."""
        to = Path(path)
        if to.suffix not in SUFFIXES:
            raise ValueError(f"a report is saved as {', '.join(SUFFIXES)}, not as {to.name!r}")
        if to.suffix == ".html":
            written = page.page(self.to_dict())
        else:
            written = self.json(indent=1) + "\n" if to.suffix == ".json" else f"{self}\n"
        to.write_text(written, encoding="utf-8")
        return to

    def show(self, file: TextIO | None = None) -> None:
        """Print it: in colour and as wide as the terminal, where there is one; else plain."""
        terminal.show(self.to_dict(), file)

    def __str__(self) -> str:
        return text.plain(self.to_dict())

    def __repr__(self) -> str:
        return terminal.at_prompt(self.to_dict()) or str(self)

    def _repr_html_(self) -> str:
        return str(page.fragment(self.to_dict()))
