"""Lowers a function's syntax tree to blocks of simple operations (`code.py`), whatever its kinds are."""

from __future__ import annotations

import ast

from ..code import Code
from .statements import Statements


def lower(node: ast.FunctionDef | ast.Lambda, name: str, filename: str, free: frozenset[str] = frozenset()) -> Code:
    """The blocks of a function. `free`: names that it has from functions around it, which have run already."""
    return Statements(node, name, filename, None, free).code
