"""Rewrites a function of one record as a function of the fields that it reads.

def price(row):                                def price(row_net, row_rate):
    return row.net * (1 + row["rate"])   ->        return row_net * (1 + row_rate)

with the reads `(0, "attr", "net")` and `(0, "item", "rate")`. So nobody has to make the record, which may take a
hundred times as long as the function, and only columns that are read are ever touched. Where the record is used in any
other way (passed on, changed, iterated over), there is no such function.
"""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass
from typing import Any

from .kinds import Refused
from .source import adopt_source, compiled, tree_of

Read = tuple[int, str, Any]
"""Of which argument a field is read, and how: `(0, "attr", name)`, `(0, "item", key)`, or `(0, "item of 3", key)` where
the record is unpacked into three names."""
MOST_KNOWN = 4096
_KNOWN: dict[tuple[types.CodeType, tuple[int, ...]], Fields | str] = {}
_SEES_ALL = frozenset(("locals", "eval", "exec", "vars", "dir", "super", "__class__"))
"""Names that may see a variable without naming it."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The code of a function of fields, and how each is read from the record."""

    code: types.CodeType
    reads: tuple[Read, ...]

    def of(self, f: types.FunctionType) -> types.FunctionType:
        """The function of fields that stands for `f`, with all that `f` captured."""
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or ()))
        closure = tuple([cells[name] for name in self.code.co_freevars])
        made = types.FunctionType(self.code, f.__globals__, f.__name__, f.__defaults__, closure)
        made.__kwdefaults__ = f.__kwdefaults__
        made.__qualname__, made.__module__ = f.__qualname__, f.__module__
        return made


def fields_of(f: Any, at: tuple[int, ...] = (0,)) -> Fields | str:
    """The function of the fields of these arguments, or why there is none."""
    if type(f) is not types.FunctionType:
        return f"{f!r} is not a plain function"
    found = _KNOWN.get((f.__code__, at))
    if found is None:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[f.__code__, at] = _written(f.__code__, at)
    return found


def _written(code: types.CodeType, at: tuple[int, ...]) -> Fields | str:
    if max(at) >= code.co_argcount:
        return "the record is not an argument of its own"
    if _SEES_ALL & {*code.co_names, *code.co_freevars}:
        return "names what sees all variables"
    try:
        node = tree_of(code)
    except Refused as refused:
        return refused.reason
    reads: list[Read] = []
    taken = _names_in(code)
    for place in sorted(at, reverse=True):
        writer = _Writer(code.co_varnames[place], taken)
        writer.rewrite(node, place)
        if writer.refusal:
            return writer.refusal
        reads = [(place, how, name) for how, name in writer.reads] + reads
    ast.fix_missing_locations(node)
    for made in compiled(node, code):
        if made.co_firstlineno == code.co_firstlineno or isinstance(node, ast.Lambda):
            made = made.replace(co_qualname=code.co_qualname)
            if set(made.co_freevars) <= set(code.co_freevars):
                adopt_source(made, node)
                return Fields(made, tuple(reads))
    return "cannot be written with fields"


def _names_in(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}.union(*map(_names_in, inner))


class _Writer(ast.NodeTransformer):
    """Puts a variable in the place of every read of a field."""

    def __init__(self, record: str, taken: set[str]) -> None:
        self.record, self.taken = record, taken
        self.reads: dict[tuple[str, Any], str] = {}
        self.refusal = ""

    def rewrite(self, node: ast.FunctionDef | ast.Lambda, at: int) -> None:
        """In place: the body first, then the arguments."""
        given = node.args
        positional = [*given.posonlyargs, *given.args]
        if len(given.defaults) > len(positional) - 1 - at:
            self.refusal = "the record has a default"
            return
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [self.visit(statement) for statement in node.body]
        own = given.posonlyargs if at < len(given.posonlyargs) else given.args
        place = at if own is given.posonlyargs else at - len(given.posonlyargs)
        own[place : place + 1] = [ast.copy_location(ast.arg(name), positional[at]) for name in self.reads.values()]

    def _read(self, node: ast.expr, read: tuple[str, Any]) -> ast.Name:
        if read not in self.reads:
            name = f"{self.record}_{read[1]}".replace("-", "_")
            while not name.isidentifier() or name in self.taken:
                name = f"{self.record}_{len(self.taken)}"
                self.taken.add(f"_{name}")
            self.taken.add(name)
            self.reads[read] = name
        return ast.copy_location(ast.Name(self.reads[read], ast.Load()), node)

    def _is_record(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.record

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if self._is_record(node.value) and isinstance(node.ctx, ast.Load) and not node.attr.startswith("__"):
            return self._read(node, ("attr", node.attr))
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if self._is_record(node.value) and isinstance(node.ctx, ast.Load):
            try:
                key = ast.literal_eval(node.slice)
            except ValueError:
                return self.generic_visit(node)
            if type(key) in (str, int):
                return self._read(node, ("item", key))
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        plain = names and all(isinstance(name, ast.Name) and not self._is_record(name) for name in names)
        if plain and self._is_record(node.value) and len(node.targets) == 1:
            reads = [self._read(node.value, (f"item of {len(names)}", i)) for i in range(len(names))]
            node.value = ast.copy_location(ast.Tuple(list(reads), ast.Load()), node.value)
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.record:
            self.refusal = self.refusal or "uses the record as a whole"
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        if node.arg == self.record:
            self.refusal = self.refusal or "has another variable of the record's name"
        return node

    def _named(self, node: Any) -> ast.AST:
        """Statements that bind names which are no nodes."""
        names = [*getattr(node, "names", ()), getattr(node, "name", None)]
        found = {getattr(name, "asname", None) or getattr(name, "name", name) for name in names}
        if self.record in found:
            self.refusal = self.refusal or "has another variable of the record's name"
        return self.generic_visit(node)

    visit_Global = visit_Nonlocal = visit_Import = visit_ImportFrom = visit_ExceptHandler = _named
    visit_FunctionDef = visit_ClassDef = visit_AsyncFunctionDef = visit_MatchAs = visit_MatchStar = _named
