"""A failing program as a file of its own: a function `program`, and `COLUMNS` to run it over."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.program import HEAD, Program
from fuzz.vocabulary import Pair

FOLDER = Path(__file__).with_name("findings")


def written(program: Program, told: str) -> str:
    """The text of a finding."""
    about = "\n".join(f"# {line}" for line in told.splitlines()[:6])
    columns = "".join(f"    {shown(column)},\n" for column in program.columns)
    return f"{about}\n{program.text}\n\nCOLUMNS = (\n{columns})\n"


def shown(column: Any) -> str:
    """The column as source."""
    if isinstance(column, np.ndarray):
        return f"np.array({_shown_items(column.tolist())}, np.{column.dtype.name})".replace("np.bool)", "np.bool_)")
    return _shown_items(column)


def _shown_items(value: Any) -> str:
    if isinstance(value, Pair):
        return f"lib.Pair({value.a!r}, {value.b!r})"
    if type(value) is list:
        return f"[{', '.join(map(_shown_items, value))}]"
    if type(value) is tuple:
        return f"({''.join(_shown_items(item) + ', ' for item in value)})"
    if type(value) is complex:
        return f"complex({_shown_items(value.real)}, {_shown_items(value.imag)})"
    if type(value) is float and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def read(path: Path) -> Program:
    """The program of a file."""
    text = path.read_text()
    space: dict[str, Any] = {"__name__": f"fuzz.findings.{path.stem}"}
    exec(compile(text, str(path), "exec"), space)
    return Program(path.stem, text, space["COLUMNS"])


def all_of(folder: Path = FOLDER) -> list[Program]:
    return [read(path) for path in sorted(folder.glob("*.py"))]


__all__ = ["FOLDER", "HEAD", "all_of", "read", "shown", "written"]
