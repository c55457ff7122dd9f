"""A text and its places: what checks ask of it, what they say about it, and the edits they propose."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cached_property

from .finding import Edit, Finding, Fix, Span
from .outline import Outline, outline
from .scope import Loop, Names
from .sources import lines_of


class Text(Names):
    """One text with its syntax tree, and the findings so far."""

    def __init__(self, path: str, source: str, tree: ast.Module) -> None:
        super().__init__()
        self.path, self.source, self.tree = path, source, tree
        self.findings: list[Finding] = []
        self.outline: Outline = outline(tree)
        self.functions = self.outline.functions
        self.counts = self.outline.counts

    def report(self, code: str, node: ast.AST, message: str, *fixes: Fix) -> None:
        """Say something about a place. In a file that writes names by their text, nothing is certain before it runs."""
        span = self.span(node)
        if self.outline.writes_by_text:
            fixes = tuple(f if f.repairs or f.tier != "safe" else replace(f, tier="checked") for f in fixes)
        self.findings.append(Finding(self.path, span, code, message, fixes, None, span, self.scope.name))

    def has_reported(self, code: str, node: ast.AST) -> bool:
        """Whether a code was already said about a place."""
        span = self.span(node)
        return any(f.code == code and f.place == span for f in self.findings)

    def span(self, node: ast.AST) -> Span:
        """Where a node is, in characters."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        return first, self.characters(first, start), last, self.characters(last, end)

    def characters(self, line: int, column: int) -> int:
        """A column in characters, from the parser's in bytes of UTF-8."""
        text = self.lines[line - 1]
        return column if text.isascii() else len(text.encode()[:column].decode())

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return [line.rstrip("\r\n") for line in [*lines_of(self.source), ""]]

    def text(self, node: ast.AST) -> str:
        """The source of a node, as written."""
        first, start, last, end = self.span(node)
        if first == last:
            return self.lines[first - 1][start:end]
        middle = self.lines[first : last - 1]
        return "\n".join([self.lines[first - 1][start:], *middle, self.lines[last - 1][:end]])

    def swap(self, node: ast.AST, text: str) -> Edit:
        """An expression gives way to a text, in parentheses where it stands in a larger one."""
        tight = isinstance(
            self.parents.get(node),
            ast.Attribute | ast.Subscript | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Starred | ast.Await,
        ) or (isinstance(call := self.parents.get(node), ast.Call) and call.func is node)
        atom = isinstance(ast.parse(text, mode="eval").body, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        return Edit("expression", self.span(node), f"({text})" if tight and not atom else text)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """From every node of the syntax tree to the one it stands in."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def function_of(self, node: ast.expr | None) -> ast.FunctionDef | ast.Lambda | None:
        """The function that an expression names or is, where the file defines it."""
        if isinstance(node, ast.Lambda):
            return node
        if isinstance(node, ast.Name):
            return self.functions.get(node.id)
        return None

    def alias(self, dotted: str) -> str:
        """The name under which the file imports a module, or nothing."""
        return next((name for name, target in self.imports.items() if target == dotted), "")

    @cached_property
    def has_tensorflow(self) -> bool:
        """Whether TensorFlow is imported."""
        return any(target.startswith("tensorflow") for target in self.imports.values())

    @property
    def in_loop(self) -> Loop | None:
        """The innermost loop around what is looked at."""
        return self.scope.loops[-1] if self.scope.loops else None
