"""Everything public says what it is for: modules, classes, functions, and methods where they are first met.

Read as syntax trees; nothing is imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "upshift"
FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*.py")})
BY_NODE = re.compile(r"[es]_[A-Z]|visit_")
"""Methods that a walk over a syntax tree calls by the names of its nodes."""


def parsed(folder: Path) -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.py"))]


def methods(tree: ast.Module) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef]]:
    for cls in tree.body:
        if isinstance(cls, ast.ClassDef) and not cls.name.startswith("_"):
            for method in cls.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    yield cls, method


def without(path: Path, tree: ast.Module, told: set[str]) -> Iterator[str]:
    """What has no docstring; a method need have none where another of its name has one, in the same folder."""
    if tree.body and not ast.get_docstring(tree):
        yield str(path)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node) and "overload" not in map(ast.unparse, node.decorator_list):
                yield f"{path}:{node.lineno} {node.name}"
    for cls, method in methods(tree):
        if method.name not in told and not BY_NODE.match(method.name):
            yield f"{path}:{method.lineno} {cls.name}.{method.name}"


@pytest.mark.parametrize("folder", FOLDERS, ids=[str(folder.relative_to(PACKAGE.parent)) for folder in FOLDERS])
def test_everything_public_has_a_docstring(folder: Path) -> None:
    trees = parsed(folder)
    told = {method.name for _, tree in trees for _, method in methods(tree) if ast.get_docstring(method)}
    assert [missing for path, tree in trees for missing in without(path, tree, told)] == []
