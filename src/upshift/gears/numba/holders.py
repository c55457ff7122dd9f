"""Intermediate code that reads dicts and objects in; the same code on tuples of what they hold out, or why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from numba.core import ir, ir_utils

from ..calls import Held
from ..ran import NotCompiled


def take_apart(func_ir: Any, held: dict[str, Held], where: Callable[[int], str]) -> None:
    """Reads by name, `d["a"]` and `p.x`, become reads by position. Whatever else is done with a holder is refused."""
    found: dict[str, Held] = {}
    """By variable: what it holds."""
    known = 0
    while True:
        for block in func_ir.blocks.values():
            for statement in block.body:
                _read(func_ir, statement, held, found)
        if len(found) == known:
            break
        known = len(found)
    _refuse_other_uses(func_ir, found, where)


def _read(func_ir: Any, statement: Any, held: dict[str, Held], found: dict[str, Held]) -> None:
    """Replace one read, and note what it gives if that is a holder as well."""
    if not isinstance(statement, ir.Assign):
        return
    value, target, part = statement.value, statement.target.name, None
    if isinstance(value, ir.Arg):
        part = held.get(value.name)
    elif isinstance(value, ir.Var):
        part = found.get(value.name)
    elif isinstance(value, ir.Expr) and value.op in ("getattr", "getitem", "static_getitem"):
        holder = found.get(value.value.name)
        key = None if holder is None else _key(func_ir, value, holder)
        if holder is not None and key in holder.keys:
            at = holder.keys.index(key)
            statement.value = ir.Expr.static_getitem(value.value, at, None, value.loc)
            func_ir._definitions[target] = [statement.value]
            part = holder.parts[at] if isinstance(holder.parts[at], Held) else None
    if part is not None:
        found[target] = part


def _key(func_ir: Any, value: Any, holder: Held) -> Any:
    if holder.cls is not dict:
        return value.attr if value.op == "getattr" else None
    if value.op == "getitem":
        constant = ir_utils.guard(ir_utils.find_const, func_ir, value.index)
        return constant if isinstance(constant, str) else None
    return value.index if value.op == "static_getitem" and isinstance(value.index, str) else None


def _refuse_other_uses(func_ir: Any, found: dict[str, Held], where: Callable[[int], str]) -> None:
    """A holder is only read from, or goes by another name for good."""
    statements = [statement for block in func_ir.blocks.values() for statement in block.body]
    assigned = Counter(statement.target.name for statement in statements if isinstance(statement, ir.Assign))
    for statement in statements:
        used = set() if isinstance(statement, ir.Del) else {variable.name for variable in statement.list_vars()}
        if isinstance(statement, ir.Assign):
            used = set() if _is_read(statement.value) else used - {statement.target.name}
            used |= {name for name in (statement.target.name,) if assigned[name] > 1}
        for name in used & found.keys():
            reason = f"uses a {found[name].cls.__name__} for more than what it holds"
            raise NotCompiled("numba", reason, where(statement.loc.line), "read what is needed from it by name")


def _is_read(value: Any) -> bool:
    reads = isinstance(value, ir.Expr) and value.op == "static_getitem" and value.index_var is None
    return reads or isinstance(value, ir.Var)
