"""The command `upshift tables`: makes the generated tables of a documentation page anew.

A table stands between `<!-- compiles:start -->` and `<!-- compiles:end -->`, or another name of `TABLES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from . import compiles, prices

TABLES: dict[str, Callable[[], str]] = {
    "compiles": compiles.table, "arms": prices.ways, "prices": partial(prices.table, "prices"),
    "rule": partial(prices.table, "rule"),
}  # fmt: skip
_MARKED = re.compile(r"(<!-- (\w+):start -->\n).*?(<!-- \2:end -->)", re.DOTALL)


def filled(text: str) -> str:
    """A page with its tables as they are now; marks of other tables are left alone."""

    def made(found: re.Match[str]) -> str:
        table = TABLES.get(found[2])
        return found[0] if table is None else f"{found[1]}{table()}\n{found[3]}"

    return _MARKED.sub(made, text)


def rewrite(files: list[str]) -> str:
    """Make the tables of pages anew; without any, the tables alone."""
    if not files:
        return "\n\n".join(table() for table in TABLES.values())
    for name in files:
        page = Path(name)
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    return f"{len(files)} pages are current"
