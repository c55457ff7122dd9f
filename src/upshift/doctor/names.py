"""The names in a piece of syntax: which it mentions, binds or takes as parameters; and others filled in for them."""

from __future__ import annotations

import ast
import copy


def names_in(*nodes: ast.AST) -> frozenset[str]:
    """Every name that is mentioned: `f(x) + y` mentions f, x and y."""
    return frozenset(n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))


def bound_by(node: ast.AST) -> frozenset[str]:
    """Every name that is bound, such as a loop's variables."""
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def parameters_in(node: ast.AST) -> frozenset[str]:
    """The parameters of every function in it."""
    return frozenset(n.arg for n in ast.walk(node) if isinstance(n, ast.arg))


def filled(node: ast.expr, texts: dict[str, str]) -> str:
    """An expression's source with expressions in place of names: `x + 1` with `{"x": "xs"}` is `xs + 1`."""
    return ast.unparse(replaced(node, {name: ast.parse(text, mode="eval").body for name, text in texts.items()}))


def replaced(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """A copy of an expression with others in place of names."""
    made: ast.expr = _Fill(values).visit(copy.deepcopy(node))
    return made


class _Fill(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)
