"""A function's code with its types in; out, which of its arrays it may write to, and which it returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba.core import ir, types

from .classes import Helpers, Typed

Origin = tuple[str, int]
"""("argument", its position), ("view", the position of what it looks into), or ("fresh", 0)."""
FRESH: Origin = ("fresh", 0)


class Origins:
    """Where the arrays of a function come from."""

    def __init__(self, typed: Typed, helpers: Helpers) -> None:
        self.typed, self.helpers = typed, helpers
        self.found: dict[str, frozenset[Origin]] = {}
        self.callees: dict[str, Any] = {}
        self._settle()

    def written(self) -> set[int]:
        """Positions of arguments that are written to, as far as cannot be ruled out."""
        if any(isinstance(t, types.List) and _may_hold_arrays(t.dtype) for t in self.typed.types.values()):
            return set(range(len(self.typed.names)))
        found: set[int] = set()
        for block in self.typed.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.SetItem | ir.StaticSetItem):
                    found |= _positions(self.found.get(statement.target.name, frozenset()))
                elif isinstance(statement, ir.Assign) and _is_call(statement.value):
                    found |= self._written_by(statement.value)
        return found

    def allocates(self) -> bool:
        """Whether the function makes arrays or lists."""
        made = any(FRESH in origins for origins in self.found.values())
        return made or any(isinstance(t, types.List) for t in self.typed.types.values())

    def returned(self) -> set[Origin]:
        """What the arrays are that the function returns."""
        return {origin for statement in self.typed.returns() for origin in self.found.get(statement.value.name, ())}

    def _settle(self) -> None:
        before = None
        while before != self.found:
            before = dict(self.found)
            for statement in self.typed.assignments():
                name = statement.target.name
                self.found[name] = self.found.get(name, frozenset()) | self._origins(statement)

    def _origins(self, statement: Any) -> frozenset[Origin]:
        value, t = statement.value, self.typed.types[statement.target.name]
        if isinstance(value, ir.Global | ir.FreeVar):
            self.callees[statement.target.name] = value.value
        if not _may_hold_arrays(t):
            return frozenset()
        if isinstance(value, ir.Arg):
            return frozenset((("argument" if isinstance(t, types.Array) else "view", value.index),))
        used = frozenset(origin for variable in _used(value) for origin in self.found.get(variable.name, ()))
        if isinstance(value, ir.Var) or (isinstance(value, ir.Expr) and value.op in ("phi", "cast", "build_tuple")):
            return used
        if _is_call(value) and not isinstance(self.typed.types[value.func.name], types.Dispatcher):
            return frozenset((FRESH,)) if isinstance(t, types.Array) else _views(used)
        return _views(used) | frozenset((FRESH,) if _is_call(value) else ())

    def _written_by(self, call: Any) -> set[int]:
        """What a helper writes to."""
        if not isinstance(self.typed.types[call.func.name], types.Dispatcher):
            return set()
        signature, fn = self.typed.calls.get(call), self.callees.get(call.func.name)
        helper = None if signature is None or fn is None else self.helpers.get((fn.py_func, tuple(signature.args)))
        given = dict(enumerate(call.args))
        if helper is None:
            return _positions(frozenset(o for v in _used(call) for o in self.found.get(v.name, ())))
        given |= {helper.names.index(name): variable for name, variable in call.kws}
        written = Origins(helper, self.helpers).written()
        return _positions(frozenset(o for i in written if i in given for o in self.found.get(given[i].name, ())))


def _is_call(value: Any) -> bool:
    return isinstance(value, ir.Expr) and value.op == "call"


def _used(value: Any) -> Iterator[Any]:
    """The variables that an expression uses."""
    if isinstance(value, ir.Var):
        yield value
    elif isinstance(value, ir.Expr):
        yield from value.list_vars()


def _views(origins: frozenset[Origin]) -> frozenset[Origin]:
    return frozenset(("view" if sort == "argument" else sort, i) for sort, i in origins)


def _positions(origins: frozenset[Origin]) -> set[int]:
    return {i for sort, i in origins if sort != "fresh"}


def _may_hold_arrays(t: Any) -> bool:
    if isinstance(t, types.BaseTuple):
        return any(map(_may_hold_arrays, t))
    return not isinstance(t, types.Number | types.Boolean | types.RangeType | types.NoneType | types.SliceType)
