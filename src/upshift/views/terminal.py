"""The report as text for this terminal: coloured by rich where that is there, plain everywhere else."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from typing import Any, TextIO

from . import text

STYLES = {"name": "bold", "good": "bold green", "bad": "red", "where": "cyan", "faint": "dim", "head": "dim"}


def show(told: dict[str, Any], file: TextIO | None = None) -> None:
    """Print a report."""
    file = sys.stdout if file is None else file
    width = shutil.get_terminal_size().columns if _is_terminal(file) else None
    coloured = _coloured(told, width) if _is_terminal(file) else None
    file.write((coloured or text.plain(told, width)) + "\n")


def at_prompt(told: dict[str, Any]) -> str | None:
    """The coloured text for Python's prompt, where a person looks at a terminal; None everywhere else."""
    if not hasattr(sys, "ps1") or not _is_terminal(sys.stdout):
        return None
    return _coloured(told, shutil.get_terminal_size().columns)


def _is_terminal(file: Any) -> bool:
    try:
        return bool(file.isatty())
    except (AttributeError, ValueError):  # no file, or closed
        return False


def _coloured(told: dict[str, Any], width: int | None) -> str | None:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or importlib.util.find_spec("rich") is None:
        return None
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, width=100_000, highlight=False)  # lines are broken already
    with console.capture() as kept:
        for line in text.lines(told, width):
            console.print(Text.assemble(*((part, STYLES.get(style, "")) for part, style in line)), soft_wrap=True)
    return str(kept.get()).rstrip("\n")
