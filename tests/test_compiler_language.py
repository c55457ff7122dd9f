"""The compiler's language: functions as people write them, each compared lane by lane with what Python gives."""

from __future__ import annotations

import pytest

from compiled import Compiled, check
from language import calls, classes, closures, iteration, kinds, statements
from language.table import Entry
from upshift.trace.paths import Roots, holds

TABLES = {
    "calls": calls.table,
    "closures": closures.table,
    "classes": classes.table,
    "statements": statements.table,
    "kinds": kinds.table,
    "iteration": iteration.table,
}
ENTRIES = [pytest.param(e, id=f"{t}-{n}") for t, table in TABLES.items() for n, e in table.entries.items()]


@pytest.mark.parametrize("entry", ENTRIES)
def test_compiles_and_is_right(entry: Entry):
    check(entry.f, entry.rows, entry.left, **entry.shared)


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_was_captured_is_known_again(entry: Entry):
    """Machine code is used only where all that it was built on is as it was: so that has to hold at once."""
    rows = [row if type(row) is tuple else (row,) for row in entry.rows]
    made = Compiled(entry.f, rows, **entry.shared)
    roots = Roots(entry.f, entry.shared)
    for capture in made.kernel.captures.looked_at.values():
        assert holds(capture, roots)[0], capture
