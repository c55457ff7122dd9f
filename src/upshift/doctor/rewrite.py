"""Make edits in source text by libcst: formatting and comments stay, missing imports are added."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import json
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from .finding import Edit, Fix, Span
from .sources import MARK, Source, lines_of, with_magics, without_magics


class CannotRewrite(Exception):
    """The edits do not fit the source, or libcst is missing."""


def check_libcst() -> None:
    """CannotRewrite where libcst is missing."""
    if importlib.util.find_spec("libcst") is None:
        raise CannotRewrite('rewriting needs libcst: pip install "upshift[doctor]"')


def apply(text: str, fixes: Sequence[Fix]) -> str:
    """The source with the fixes made. It still is Python, or CannotRewrite is raised."""
    if not fixes:
        return text
    check_libcst()
    import libcst as cst
    from libcst.metadata import MetadataWrapper

    edits = {edit.span: edit for fix in fixes for edit in fix.edits}
    try:
        module = MetadataWrapper(cst.parse_module(text))
    except cst.ParserSyntaxError as error:
        raise CannotRewrite(f"libcst cannot read it: {error.message}") from None
    editor = _editor(edits)
    made = str(module.visit(editor).code)
    if editor.left:
        raise CannotRewrite(f"no place at line {min(editor.left)[0]} for an edit")
    for line in dict.fromkeys(line for fix in fixes for line in fix.imports):
        made = add_import(made, line)
    try:
        ast.parse(made)
    except SyntaxError as error:
        raise CannotRewrite(f"the rewritten source would not be Python: {error.msg}, line {error.lineno}") from None
    return made


def _editor(edits: dict[Span, Edit]) -> Any:
    """A libcst transformer that makes each edit at its place."""
    import libcst as cst
    from libcst.metadata import PositionProvider

    class Editor(cst.CSTTransformer):  # type: ignore[misc]
        METADATA_DEPENDENCIES = (PositionProvider,)

        def __init__(self) -> None:
            super().__init__()
            self.left = set(edits)

        def edit_at(self, node: Any, *actions: str) -> Edit | None:
            place = self.get_metadata(PositionProvider, node)
            span = (place.start.line, place.start.column, place.end.line, place.end.column)
            edit = edits.get(span)
            if edit is None or edit.action not in actions:
                return None
            self.left.discard(span)
            return edit

        def on_leave(self, original: Any, updated: Any) -> Any:
            updated = super().on_leave(original, updated)
            if isinstance(original, cst.BaseExpression):
                edit = self.edit_at(original, "expression")
                return updated if edit is None else _with_parentheses(original, edit.text)
            return updated

        def leave_Decorator(self, original: Any, updated: Any) -> Any:
            edit = self.edit_at(original.decorator, "decorator")
            return cst.RemoveFromParent() if edit is not None else updated

        def leave_With(self, original: Any, updated: Any) -> Any:
            edit = self.edit_at(original, "unwrap")
            if edit is None or not isinstance(updated.body, cst.IndentedBlock):
                return updated
            return _in_place_of(updated, list(updated.body.body))

        def leave_While(self, original: Any, updated: Any) -> Any:
            return self.with_before(original, updated)

        def with_before(self, original: Any, updated: Any) -> Any:
            edit = self.edit_at(original, "before")
            if edit is None:
                return updated
            first = cst.parse_statement(edit.text).with_changes(leading_lines=updated.leading_lines)
            return cst.FlattenSentinel([first, updated.with_changes(leading_lines=[])])

        def leave_For(self, original: Any, updated: Any) -> Any:
            edit = self.edit_at(original, "block")
            if edit is None:
                return self.with_before(original, updated)
            module = cst.parse_module(edit.text)
            return _in_place_of(updated, list(module.body), module.header)

        def leave_SimpleStatementLine(self, original: Any, updated: Any) -> Any:
            kept = []
            for before, after in zip(original.body, updated.body):
                edit = self.edit_at(before, "statement")
                if edit is None:
                    kept.append(after)
                elif edit.text:
                    kept.append(cst.parse_statement(edit.text).body[0])
            if kept:
                return updated.with_changes(body=kept)
            if any(line.comment for line in updated.leading_lines):  # comments stay
                return cst.SimpleStatementLine([cst.Pass()], leading_lines=updated.leading_lines)
            return cst.RemoveFromParent()

        def leave_IndentedBlock(self, original: Any, updated: Any) -> Any:
            return updated if updated.body else updated.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])

    return Editor()


def _in_place_of(statement: Any, body: list[Any], header: Sequence[Any] = ()) -> Any:
    """Other statements in place of one, with the comments and blank lines before it."""
    import libcst as cst

    if body and hasattr(body[0], "leading_lines"):
        leading = [*statement.leading_lines, *header, *body[0].leading_lines]
        body[0] = body[0].with_changes(leading_lines=leading)
    return cst.FlattenSentinel(body)


def _with_parentheses(original: Any, text: str) -> Any:
    """The new expression in the parentheses of the old one."""
    import libcst as cst

    made = cst.parse_expression(text)
    if original.lpar and not made.lpar:
        return made.with_changes(lpar=original.lpar, rpar=original.rpar)
    return made


def add_import(text: str, line: str) -> str:
    """An import after the last one at the top of the file, unless it is there."""
    tree = ast.parse(text)
    wanted = ast.dump(ast.parse(line).body[0])
    if any(ast.dump(node) == wanted for node in tree.body):
        return text
    after = 0
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            after = node.end_lineno or 0
        elif after or not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            break
        else:
            after = node.end_lineno or 0
    lines = lines_of(text)
    ending = "\r\n" if "\r\n" in text else "\n"
    if after == 0:
        while after < len(lines) and lines[after].startswith("#"):
            after += 1
    if after and not lines[after - 1].endswith(("\n", "\r")):
        lines[after - 1] += ending
    lines.insert(after, line + ending)
    return "".join(lines)


def difference(source: Source, made: str) -> str:
    """A unified diff."""
    return "".join(difflib.unified_diff(source.lines, lines_of(made), source.path, source.path))


def write(source: Source, made: str) -> None:
    """Replace the file at once: whoever reads it sees the old text or the new one."""
    data = _rebuild_notebook(source, made) if source.notebook is not None else made.encode(source.encoding)
    path = os.path.realpath(source.path)
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".upshift-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, os.stat(path).st_mode & 0o7777)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _rebuild_notebook(source: Source, made: str) -> bytes:
    """The notebook with its code cells' new text; outputs and everything else as they were."""
    assert source.notebook is not None
    parts = _split_cells(made)
    for cell in source.cells:
        entry = source.notebook["cells"][cell.at]
        before = "".join(entry["source"]) if isinstance(entry["source"], list) else entry["source"]
        after = with_magics(parts[cell.number], before)
        if parts[cell.number] != "\n".join(without_magics(before)):
            entry["source"] = after.splitlines(keepends=True) if isinstance(entry["source"], list) else after
    return (json.dumps(source.notebook, **source.style) + "\n").encode()


def _split_cells(text: str) -> dict[int, str]:
    """The text of each cell, by number, from the joined text."""
    parts: dict[int, list[str]] = {}
    lines: list[str] = []
    before: list[str] = []
    for line in text.split("\n"):
        if line.startswith(MARK):
            lines = parts.setdefault(int(line[len(MARK) :]), before)
            before = []
        else:
            (lines if parts else before).append(line)
    return {number: "\n".join(found) for number, found in parts.items()}
