"""A script's syntax tree with its sites wrapped, so that a recorder sees their calls; everything else as written."""

from __future__ import annotations

import ast
from typing import Any

from ..finding import Span
from ..walk import File
from .sites import Site

RECORDER = "__upshift_doctor__"


def instrument(file: File, sites: dict[Span, Site]) -> ast.Module:
    """The tree to run in place of the script's own. Line numbers are the script's."""
    tree = _Wrapper(file, sites).visit(ast.parse(file.source, file.path))
    tree.body = [_timed_import(statement) for statement in tree.body]
    return ast.fix_missing_locations(tree)  # type: ignore[no-any-return]


class _Wrapper(ast.NodeTransformer):
    def __init__(self, file: File, sites: dict[Span, Site]) -> None:
        self.file, self.sites = file, sites

    def site(self, node: ast.AST, *sorts: str) -> Site | None:
        found = self.sites.get(self.file.span(node))
        return found if found is not None and found.sort in sorts else None

    def visit_Call(self, node: ast.Call) -> Any:
        site = self.site(node, "call", "function", "vectorized")
        self.generic_visit(node)
        whole = self.site(node, "expression")
        if whole is not None:
            return ast.copy_location(_ask("took", _ask("take", ast.Constant(whole.number)), node), node)
        if site is not None:
            node.func = ast.copy_location(_ask("call", ast.Constant(site.number), node.func), node.func)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        site = self.site(node, "comprehension")
        self.generic_visit(node)
        if site is None:
            return node
        generator = node.generators[0]
        simple = len(node.generators) == 1 and isinstance(generator.target, ast.Name) and not generator.ifs
        over = generator.iter if isinstance(generator.iter, ast.Name) and simple else ast.Constant(None)
        element: ast.expr = ast.Constant(None)
        if simple and isinstance(generator.target, ast.Name):
            element = ast.Lambda(_one_argument(generator.target.id), node.elt)
        start = _ask("start", ast.Constant(site.number), over, element)
        return ast.copy_location(_ask("stop", start, node), node)

    def visit_For(self, node: ast.For) -> Any:
        site = self.site(node, "loop")
        self.generic_visit(node)
        if site is None:
            return node
        item = ast.withitem(_ask("loop", ast.Constant(site.number)), None)
        return ast.copy_location(ast.With([item], [node]), node)


def _timed_import(statement: ast.stmt) -> ast.stmt:
    """The module's own imports are timed apart: loading TensorFlow takes longer than most of what is measured."""
    if not isinstance(statement, ast.Import | ast.ImportFrom) or getattr(statement, "module", "") == "__future__":
        return statement
    item = ast.withitem(ast.Attribute(ast.Name(RECORDER, ast.Load()), "imports", ast.Load()), None)
    return ast.copy_location(ast.With([item], [statement]), statement)


def _ask(method: str, *args: ast.expr) -> ast.Call:
    recorder = ast.Name(RECORDER, ast.Load())
    return ast.Call(ast.Attribute(recorder, method, ast.Load()), list(args), [])


def _one_argument(name: str) -> ast.arguments:
    return ast.arguments([], [ast.arg(name)], None, [], [], None, [])
