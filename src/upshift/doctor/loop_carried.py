"""Loop-carried dependencies: whether a name carries something into the next iteration of a loop, or out of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .names import bound_by, parameters_in
from .walk import File


class NotOutlined(Exception):
    """A loop that is no function of one element."""


def check_carried(block: Sequence[ast.stmt], temporaries: frozenset[str], known: set[str] | None = None) -> set[str]:
    """Every temporary is set before it is read, in the same iteration; the names that surely are set after a block."""
    known = set() if known is None else known
    for statement in block:
        if isinstance(statement, ast.If):
            _check_reads(statement.test, temporaries, known)
            ways = [check_carried(way, temporaries, set(known)) for way in (statement.body, statement.orelse)]
            known |= ways[0] & ways[1]
        elif isinstance(statement, ast.For | ast.While):
            _check_reads(statement.iter if isinstance(statement, ast.For) else statement.test, temporaries, known)
            inner = known | (bound_by(statement.target) if isinstance(statement, ast.For) else set())
            check_carried(statement.body, temporaries, set(inner))
            check_carried(statement.orelse, temporaries, set(known))
        else:
            _check_reads(statement, temporaries, known)
            if isinstance(statement, ast.AugAssign) and getattr(statement.target, "id", "") in temporaries - known:
                raise NotOutlined
            known |= bound_by(statement)
    return known


def _check_reads(node: ast.AST, temporaries: frozenset[str], known: set[str]) -> None:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in temporaries - known:
            raise NotOutlined


def is_live(file: File, node: ast.For, names: frozenset[str]) -> bool:
    """Whether something outside of the loop may read a name that the loop leaves behind."""
    inside = set(ast.walk(node))
    for n in ast.walk(file.tree):
        read = isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names and n not in inside
        if isinstance(n, ast.Name) and read and not _is_bound_around(file, n):
            return True
    return False


def _is_bound_around(file: File, name: ast.Name) -> bool:
    """Whether a loop, comprehension or function around a name makes it anew."""
    at: ast.AST | None = name
    while at is not None:
        if isinstance(at, ast.For | ast.comprehension) and name.id in bound_by(at.target):
            return True
        over = at.generators if isinstance(at, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) else []
        if any(name.id in bound_by(generator.target) for generator in over):
            return True
        if isinstance(at, ast.FunctionDef | ast.Lambda):
            own = parameters_in(at.args)
            shared = {n for s in ast.walk(at) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
            if name.id in (own | bound_by(at)) - shared:
                return True
        at = file.parents.get(at)
    return False
