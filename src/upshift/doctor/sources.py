"""Read what is to be looked at: Python files in any encoding, notebooks with their magics, folders of both."""

from __future__ import annotations

import io
import json
import linecache
import os
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .finding import Finding, Span

SKIPPED = frozenset(
    ".git .hg .venv venv env node_modules __pycache__ build dist .tox .nox .mypy_cache .ruff_cache .eggs "
    ".ipynb_checkpoints site-packages".split()
)
_NOQA = re.compile(r"#\s*noqa(?P<codes>:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)
_MAGIC = re.compile(r"^(\s*)(%|!|\?)|^\s*[\w.\[\]]+\?{1,2}\s*$|^(\s*)([\w, ]+=\s*)(%|!)\s*\S")
_INDENT = re.compile(r"\{\r?\n( *)")
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
    cells: tuple[Cell, ...] = ()
    notebook: dict[str, Any] | None = field(default=None, repr=False)
    style: dict[str, Any] = field(default_factory=dict, repr=False)
    """The words for `json.dumps` that write the notebook as it was written."""
    codes: frozenset[str] | None = None
    """Those that are looked for; all of them where None."""

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return lines_of(self.text)

    def wants(self, finding: Finding) -> bool:
        """Whether its code is looked for, and no `# noqa` or `# noqa: UPS101` ends its first or last line."""
        if self.codes is not None and finding.code not in self.codes:
            return False
        first, _, last, _ = finding.place
        for number in {first, last}:
            match = _NOQA.search(self.lines[number - 1]) if number <= len(self.lines) else None
            if match and (match["codes"] is None or finding.code in match["codes"].upper()):
                return False
        return True

    def cell_of(self, line: int) -> Cell | None:
        """The cell of the notebook that a line of the joined text comes from."""
        return next((c for c in self.cells if c.first <= line < c.first + c.count), None)

    def shown(self, line: int) -> str:
        """`path:line` of a line of the text, with the cell of a notebook."""
        cell = self.cell_of(line)
        return f"{self.path}:{line}" if cell is None else f"{self.path}:cell {cell.number}:{line - cell.first + 1}"

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
        for found in _below(path, exclude):
            if found not in seen and not _is_excluded(found, exclude):
                seen.add(found)
                yield found


def _is_excluded(path: str, exclude: Sequence[str]) -> bool:
    return any(Path(path).match(pattern) for pattern in exclude)


def _below(path: str, exclude: Sequence[str]) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        kept = sorted(f for f in folders if f not in SKIPPED and not f.endswith(".egg-info"))
        folders[:] = [f for f in kept if not _is_excluded(os.path.join(folder, f), exclude)]
        for name in sorted(names):
            if name.endswith((".py", ".ipynb")):
                yield os.path.join(folder, name)


def read(path: str, codes: frozenset[str] | None = None) -> Source:
    """A file's code, in which these codes are looked for."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from None
    if path.endswith(".ipynb"):
        return replace(_read_notebook(path, data), codes=codes)
    return replace(_read_python(path, data), codes=codes)


def _read_python(path: str, data: bytes) -> Source:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(f"{path}: {error}; declare the encoding in the first line, or save as UTF-8") from None
    if "\0" in text:
        raise Unreadable(f"{path}: contains null bytes; is it a Python file?")
    return Source(path, text, encoding)


def _read_notebook(path: str, data: bytes) -> Source:
    try:
        written = data.decode("utf-8")
        notebook = json.loads(written)
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
    indent = _INDENT.match(written)
    style = {"indent": indent and len(indent[1]), "ensure_ascii": "\\u" in written and written.isascii()}
    return Source(path, "\n".join(lines), cells=tuple(found), notebook=notebook, style=style)


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


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, as Python's parser counts them: a form feed does not end one."""
    return list(io.StringIO(text, newline=""))


def remember(place: str, text: str) -> None:
    """Let tracebacks, `inspect` and AutoGraph read a text that is in no file."""
    linecache.cache[place] = (len(text), None, lines_of(text), place)
