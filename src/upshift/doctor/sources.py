"""Read what is to be looked at: Python files in any encoding, notebooks with their magics, folders of both."""

from __future__ import annotations

import io
import json
import os
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .finding import Finding, Span

SKIPPED = frozenset(
    ".git .hg .venv venv env node_modules __pycache__ build dist .tox .nox .mypy_cache .ruff_cache .eggs "
    ".ipynb_checkpoints site-packages".split()
)
_NOQA = re.compile(r"#\s*noqa(?P<codes>:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)
_MAGIC = re.compile(r"^(\s*)(%|!|\?)|^\s*[\w.\[\]]+\?{1,2}\s*$|^(\s*)([\w, ]+=\s*)(%|!)\s*\S")
_OTHER_LANGUAGES = re.compile(
    r"^%%(bash|sh|script|html|javascript|js|latex|markdown|perl|ruby|svg|writefile|file|cython|sql|R)\b"
)


MARK = "# %%upshift "
"""Starts the line before each cell in the joined text."""


class Unreadable(Exception):
    """A file that cannot be looked at, and why."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell of a notebook: where its lines are in the joined text."""

    number: int
    at: int
    """Its index among all cells of the notebook."""
    first: int
    count: int


@dataclass(frozen=True)
class Source:
    """One file's code as one text."""

    path: str
    text: str
    encoding: str = "utf-8"
    newline: str = "\n"
    cells: tuple[Cell, ...] = ()
    notebook: dict[str, Any] | None = field(default=None, repr=False)

    def cell_of(self, line: int) -> Cell | None:
        """The cell of the notebook that a line of the joined text comes from."""
        return next((c for c in self.cells if c.first <= line < c.first + c.count), None)

    def locate(self, finding: Finding) -> Finding:
        """A finding with its cell, counted within it."""
        cell = self.cell_of(finding.place[0])
        if cell is None:
            return finding
        shift = cell.first - 1
        first, start, last, end = finding.place
        moved: Span = (first - shift, start, last - shift, end)
        return replace(finding, span=moved, cell=cell.number)


def find_files(paths: Sequence[str], exclude: Sequence[str] = ()) -> Iterator[str]:
    """Files named, and all Python files and notebooks in folders named; those named twice, once."""
    seen: set[str] = set()
    for path in paths:
        for found in _below(path):
            if found not in seen and not any(Path(found).match(pattern) for pattern in exclude):
                seen.add(found)
                yield found


def _below(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.endswith(".egg-info"))
        for name in sorted(names):
            if name.endswith((".py", ".ipynb")):
                yield os.path.join(folder, name)


def read(path: str) -> Source:
    """A file's code."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from None
    if path.endswith(".ipynb"):
        return _read_notebook(path, data)
    return _read_python(path, data)


def _read_python(path: str, data: bytes) -> Source:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(f"{path}: {error}; declare the encoding in the first line, or save as UTF-8") from None
    if "\0" in text:
        raise Unreadable(f"{path}: contains null bytes; is it a Python file?")
    newline = "\r\n" if "\r\n" in text else "\n"
    return Source(path, text, encoding, newline)


def _read_notebook(path: str, data: bytes) -> Source:
    try:
        notebook = json.loads(data.decode("utf-8"))
        cells = notebook["cells"]
        language = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{path}: not a notebook of format 4 ({error}); save it with Jupyter") from None
    lines: list[str] = []
    found: list[Cell] = []
    for at, cell in enumerate(cells if language == "python" else ()):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        text = "".join(source) if isinstance(source, list) else str(source)
        plain = without_magics(text)
        number = len(found) + 1
        found.append(Cell(number, at, len(lines) + 2, len(plain)))
        lines += [f"{MARK}{number}", *plain]
    return Source(path, "\n".join(lines), cells=tuple(found), notebook=notebook)


def without_magics(text: str) -> list[str]:
    """The lines of a cell; what is no Python is a comment or `pass`, line for line."""
    lines = text.split("\n")
    if _OTHER_LANGUAGES.match(lines[0]):
        return ["# " + line for line in lines]
    made = []
    for line in lines:
        if _MAGIC.match(line):
            indent = line[: len(line) - len(line.lstrip())]
            made.append(f"{indent}pass  # {line.strip()}")
        else:
            made.append(line)
    return made


def with_magics(text: str, before: str) -> str:
    """Put the magics of a cell back, after it was rewritten."""
    made = text
    for line in before.split("\n"):
        if _MAGIC.match(line):
            indent = line[: len(line) - len(line.lstrip())]
            made = made.replace(f"{indent}pass  # {line.strip()}", line, 1)
    return made


def is_silenced(finding: Finding, lines: Sequence[str]) -> bool:
    """Whether `# noqa` or `# noqa: UPS101` stands at the end of the finding's first or last line."""
    first, _, last, _ = finding.place
    for number in {first, last}:
        match = _NOQA.search(lines[number - 1]) if number <= len(lines) else None
        if match and (match["codes"] is None or finding.code in match["codes"].upper()):
            return True
    return False
