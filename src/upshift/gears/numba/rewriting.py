"""Numba's intermediate code of one function in; the same code that calls stand-ins out, or a reason why not."""

from __future__ import annotations

import math
import operator
import types as pytypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import ir, ir_utils

from ...columns.kinds import kind_of
from ..ran import NotCompiled
from .build import Build
from .items import ITEM_OF
from .semantics import IN_PLACE
from .semantics import STAND_INS as OF_PYTHON
from .ufuncs import UFUNCS
from .unit import OUR_MODULES, Unit, where_of

STAND_INS = {**UFUNCS, **OF_PYTHON}
ALLOWED = frozenset((divmod, range, len, slice, enumerate, zip, reversed, np.zeros, np.ones, np.empty, np.zeros_like,
                     np.ones_like, np.empty_like, np.full))  # fmt: skip
"""Functions that Numba compiles with Python's meaning as they are."""
CLASSES = {np.float64: STAND_INS[float], np.int64: STAND_INS[int]}
"""NumPy's classes of numbers, which are called, and given as what an array is of."""
ATTRIBUTES = frozenset(("shape", "ndim", "size", "real", "imag", "append", "copy", "dtype", "astype"))
OF_NUMPY = "numpy."
"""What the names of functions begin with that give NumPy's numbers, whatever they are given."""
ARITHMETIC = {**{fn: fn for fn in STAND_INS}, **IN_PLACE}
_TELLS = {operator.eq: operator.eq, operator.ne: operator.ne, operator.is_: operator.eq, operator.is_not: operator.ne}
"""Comparisons, and what they mean for constants."""


class Rewriting:
    """One function's intermediate code, statement by statement."""

    def __init__(self, func_ir: Any, unit: Unit, build: Build, compiled: Callable[[Unit, Build], Any]) -> None:
        self.ir, self.unit, self.build = func_ir, unit, build
        self.compiled = compiled
        """A helper as Numba calls it."""
        self.made = 0
        self.params: dict[str, Any] = {}
        self.callees: dict[str, Any] = {}
        """By variable: the function that it stands for, as far as is known."""
        self.calls: dict[str, Unit] = {}
        self.captured: set[str] = set()
        """Variables that stand for something captured."""

    def run(self) -> None:
        first = self.ir.blocks[min(self.ir.blocks)]
        self.params = {name: ir.Var(first.scope, name, first.loc) for name in self.unit.extra}
        for block in self.ir.blocks.values():
            self._block(block)
        self.ir._definitions = ir_utils.build_definitions(self.ir.blocks)

    def _block(self, block: Any) -> None:
        if isinstance(block.body[-1], ir.Raise):
            block.body = self._raise(block)
            return
        body: list[Any] = []
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                statement = self._assign(block, statement, body)
            elif isinstance(statement, ir.SetItem | ir.StaticSetItem | ir.DelItem | ir.SetAttr | ir.StoreMap):
                self._store(block, statement, body)
            body.append(statement)
        block.body = body

    def _raise(self, block: Any) -> list[Any]:
        """Whatever is raised: the lane is left, and the plain function raises it."""
        loc = block.body[-1].loc
        error = self._variable(block, loc)
        return [ir.Assign(ir.Global("OverflowError", OverflowError, loc), error, loc), ir.Raise(error, loc)]

    def _store(self, block: Any, statement: Any, body: list[Any]) -> None:
        if not isinstance(statement, ir.SetItem | ir.StaticSetItem):
            self._refuse("changes something other than an array's items", statement)
        if statement.target.name in self.captured:
            self._refuse("writes into a captured array", statement)
        statement.value = self._called(block, statement, ITEM_OF, (statement.target, statement.value), body)

    def _assign(self, block: Any, statement: Any, body: list[Any]) -> Any:
        value, target = statement.value, statement.target
        if isinstance(value, ir.Global | ir.FreeVar):
            statement.value = self._name(value, target.name, statement)
        elif isinstance(value, ir.Var) and value.name in self.callees:
            self.callees[target.name] = self.callees[value.name]
            if value.name in self.calls:
                self.calls[target.name] = self.calls[value.name]
        elif isinstance(value, ir.Expr):
            statement.value = self._expression(block, statement, value, body)
        return statement

    def _name(self, value: Any, target: str, statement: Any) -> Any:
        kind = "global" if isinstance(value, ir.Global) else "cell"
        return self._known((kind, value.name), value.value, target, statement)

    def _known(self, key: Any, value: Any, target: str, statement: Any) -> Any:
        """What a name stands for: an argument, a helper, a stand-in, a module, or nothing that can be compiled."""
        loc = statement.loc
        if key in self.unit.inputs:
            self.captured.add(target)
            return self.params[self.unit.inputs[key]]
        if key in self.unit.helpers:
            helper = self.unit.helpers[key]
            self.callees[target], self.calls[target] = helper.f, helper
            return ir.Global(key[-1], self.compiled(helper, self.build), loc)
        if isinstance(value, pytypes.ModuleType):
            self.callees[target] = value
            return ir.Global(key[-1], value, loc)
        if kind_of(value) is not None or isinstance(value, tuple) or value is None:
            return ir.Const(value, loc)
        of_numpy = isinstance(value, np.ufunc)
        if value is np.absolute:
            value = abs
        elif value is pow:
            value = operator.pow
        self.callees[target] = value
        if _is_known(value):
            return ir.Global(f"{OF_NUMPY}{key[-1]}" if of_numpy else key[-1], STAND_INS[value], loc)
        if _hashable(value) and value in CLASSES:
            return ir.Global(key[-1], value, loc)
        if (_hashable(value) and value in ALLOWED) or (isinstance(value, type) and issubclass(value, BaseException)):
            return ir.Global(key[-1], value, loc)
        name = getattr(value, "__name__", type(value).__name__)
        return self._refuse(f"uses {name}, which is not compiled", statement)

    def _expression(self, block: Any, statement: Any, value: Any, body: list[Any]) -> Any:
        op = value.op
        if op == "binop" and value.fn in _TELLS:
            told = self._told(value)
            if told is not None:
                return told
        if op in ("binop", "inplace_binop", "unary"):
            fn = ARITHMETIC.get(value.fn)
            if fn is None:
                self._refuse(f"uses the operator {getattr(value.fn, '__name__', value.fn)}", statement)
            args = (value.value,) if op == "unary" else (value.lhs, value.rhs)
            return self._call(block, statement, STAND_INS[fn], args, body)
        if op == "getattr":
            return self._attribute(statement, value)
        if op == "call":
            return self._checked_call(block, statement, value, body)
        if op in ("build_set", "build_map", "build_string", "make_function", "yield"):
            self._refuse(f"makes a {op.removeprefix('build_').replace('_', ' ')}", statement)
        return value

    def _told(self, value: Any) -> Any:
        """A comparison of constants that are no numbers is one itself; with None, Numba knows it from the type."""
        sides = [self._constant(side) for side in (value.lhs, value.rhs)]
        if all(side is not None and (side.value is None or isinstance(side.value, str)) for side in sides):
            return ir.Const(_TELLS[value.fn](sides[0].value, sides[1].value), value.loc)
        against_none = any(side is not None and side.value is None for side in sides)
        return value if against_none and value.fn in (operator.is_, operator.is_not) else None

    def _constant(self, variable: Any) -> Any:
        """The constant that a variable always is; None where it is not."""
        try:
            found = self.ir.get_definition(variable)
        except KeyError:  # it is several things
            return None
        return found if isinstance(found, ir.Const) else None

    def _attribute(self, statement: Any, value: Any) -> Any:
        base = self.callees.get(value.value.name)
        if isinstance(base, pytypes.ModuleType):
            found = getattr(base, value.attr, None)
            if base in OUR_MODULES:
                return self._known(("attr", base.__name__, value.attr), found, statement.target.name, statement)
            name = next((key[1] for key in [*self.unit.inputs, *self.unit.helpers] if key[0] == "attr"
                         and key[2] == value.attr and self.unit.f.__globals__.get(key[1]) is base), "")  # fmt: skip
            return self._known(("attr", name, value.attr), found, statement.target.name, statement)
        if value.attr not in ATTRIBUTES:
            self._refuse(f"uses the attribute {value.attr}", statement)
        return value

    def _checked_call(self, block: Any, statement: Any, value: Any, body: list[Any]) -> Any:
        callee = self.callees.get(value.func.name)
        if value.vararg is not None:
            self._refuse("unpacks arguments with a star", statement)
        if value.func.name in self.calls:
            helper = self.calls[value.func.name]
            extra = _matched(self.unit, helper)
            kws = [*value.kws, *((name, self.params[ours]) for name, ours in extra)]
            return ir.Expr.call(value.func, value.args, kws, value.loc)
        if callee is divmod and len(value.args) == 2 and not value.kws:
            fns = STAND_INS[operator.floordiv], STAND_INS[operator.mod]
            parts = [self._called(block, statement, fn, tuple(value.args), body) for fn in fns]
            return ir.Expr.build_tuple(parts, value.loc)
        if isinstance(callee, type) and callee in CLASSES and len(value.args) == 1 and not value.kws:
            name = f"{OF_NUMPY}{callee.__name__}"
            return self._call(block, statement, CLASSES[callee], tuple(value.args), body, name)
        if callee is None or not _is_known(callee):
            return value
        if value.kws:
            self._refuse(f"calls {callee.__name__} with keywords", statement)
        args = list(value.args)
        if callee is math.log and len(args) == 2:  # as CPython computes it
            logs = [self._called(block, statement, STAND_INS[math.log], (arg,), body) for arg in args]
            return self._call(block, statement, STAND_INS[operator.truediv], tuple(logs), body)
        if callee in (min, max):
            if len(args) < 2:
                self._refuse(f"calls {callee.__name__} of one iterable", statement)
            fn = STAND_INS[callee]
            while len(args) > 2:
                args[:2] = [self._called(block, statement, fn, tuple(args[:2]), body)]
            return self._call(block, statement, fn, tuple(args), body)
        return ir.Expr.call(value.func, tuple(args), (), value.loc)

    def _call(
        self, block: Any, statement: Any, fn: Any, args: tuple[Any, ...], body: list[Any], name: str = "stand_in"
    ) -> Any:
        variable = self._variable(block, statement.loc)
        body.append(ir.Assign(ir.Global(name, fn, statement.loc), variable, statement.loc))
        return ir.Expr.call(variable, args, (), statement.loc)

    def _called(self, block: Any, statement: Any, fn: Any, args: tuple[Any, ...], body: list[Any]) -> Any:
        """The result of a call, under a name of its own."""
        made = self._variable(block, statement.loc)
        body.append(ir.Assign(self._call(block, statement, fn, args, body), made, statement.loc))
        return made

    def _variable(self, block: Any, loc: Any) -> Any:
        self.made += 1
        return ir.Var(block.scope, f"$upshift{self.made}", loc)

    def _refuse(self, reason: str, statement: Any) -> Any:
        raise NotCompiled("numba", reason, where_of(self.unit.f, statement.loc.line))


def _matched(unit: Unit, helper: Unit) -> list[tuple[str, str]]:
    """A helper's arguments for what it captured, and the names under which its caller has them."""
    by_taken = {id(taken): name for name, taken in unit.extra.items()}
    return [(name, by_taken[id(taken)]) for name, taken in helper.extra.items()]


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_known(value: Any) -> bool:
    return _hashable(value) and value in STAND_INS
