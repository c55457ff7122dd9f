"""Writes the block between two marks of a page anew."""

from __future__ import annotations

from pathlib import Path

from .figures import Figure, figures
from .life import Life
from .measure import Row
from .tables import markdown, show_machine

START, END = "<!-- bench:start -->", "<!-- bench:end -->"
VERDICTS = {True: "✅", False: "❌", None: "·"}


def make_block(rows: list[Row], lives: list[Life]) -> str:
    checks = "\n".join(show_figure(figure) for figure in figures(rows, lives))
    return f"""{START}
Speed in steady state as a multiple of the Python loop's, all contenders in one run, NumPy arrays in and out.
{show_machine()}. Made by `make bench`.

`-`: one call takes over 2 s. `x`: the contender refuses the function. Empty: there is no such version of it.
`~`: the loop takes over 2 s, its time is scaled up from a smaller size.

{markdown(rows)}

{checks}
{END}"""


def show_figure(figure: Figure) -> str:
    return f"- {VERDICTS[figure.passed]} {figure.promise} ({figure.measured})"


def rewrite(path: Path, rows: list[Row], lives: list[Life]) -> None:
    text = path.read_text(encoding="utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(f"{path.name} has no block between {START} and {END}")
    path.write_text(before + make_block(rows, lives) + after, encoding="utf-8")
