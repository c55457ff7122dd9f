"""Which functions of the tables the gear llvm does not compile, for which datasets, and why: read, compared, written.

`refusals.txt` holds one line for each reason of a row; whatever is not named there compiles. After a change of the
compiler that is meant, `python -m functions.refusals` (in tests/) writes the file anew, and `git diff` shows it.

    comparisons-less_than_text | all but bool, bools | `<` between …
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

import upshift as up
from functions.table import Row
from functions.tables import TABLES

FILE = Path(__file__).with_name("refusals.txt")
HEAD = "# Functions of the tables that the gear llvm does not compile | datasets | first words of the reason\n"
FIRST_WORDS = 3
_NUMBERS = re.compile(r"\b(np\.\w+|int|float|bool|complex)\b")

Reasons = dict[str, str]
"""The first words of the reason for each dataset that is refused, by the dataset's name."""


def shortened(refusal: str) -> str:
    """The first words of a reason, in which every kind of number is an ellipsis."""
    reason = refusal.partition("cannot run this function: ")[2]
    reason = re.split(r" \([^()]*:\d+\)|; ", reason)[0]
    return " ".join(_NUMBERS.sub("…", reason).split()[:FIRST_WORDS])


def stated() -> dict[str, dict[str, str]]:
    """For every row that is in the file, the reason by the words with which its datasets are named."""
    found: dict[str, dict[str, str]] = {}
    for line in FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            row, datasets, reason = line.split(" | ", 2)
            found.setdefault(row, {})[datasets] = reason
    return found


def told(row: Row, reasons: Reasons) -> dict[str, str]:
    """What the file says of a row with these refusals: reasons by the words for the datasets they hold for."""
    names = [data.name for data in row.data if len(data.columns[0])]
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        groups.setdefault(reason, []).append(name)
    return {_named(names, group): reason for reason, group in groups.items()}


def _named(names: list[str], group: list[str]) -> str:
    others = [name for name in names if name not in group]
    if not others:
        return "all"
    return f"all but {', '.join(others)}" if len(others) < len(group) else ", ".join(group)


def lines_of(name: str, said: dict[str, str]) -> list[str]:
    return [f"{name} | {datasets} | {reason}" for datasets, reason in said.items()]


def found_for(row: Row) -> Reasons:
    """Each dataset is run once in the gear llvm."""
    reasons = {}
    for data in row.data:
        try:
            up.map(row.f, *data.columns, gear="llvm", on_error="return")
        except up.GearRefused as refused:
            reasons[data.name] = shortened(str(refused))
    return reasons


def write(rows: Iterable[tuple[str, Row]]) -> None:
    lines = [line for name, row in rows for line in lines_of(name, told(row, found_for(row)))]
    FILE.write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write((f"{table.name}-{row.name}", row) for table in TABLES for row in table.rows)
    sys.stdout.write(f"{FILE.name}: {len(stated())} rows\n")
