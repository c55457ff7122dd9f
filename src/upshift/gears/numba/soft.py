"""Variables that begin as a literal and go on as a narrow number in; the same code, with one type for both, out.

`total = 0.0` is Python's float until the first `total += x` makes it a `np.float32`. Machine code holds it as a float32
all along, and beside it a flag: whether it still is the literal. Where that would make a difference, the lane is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numba.core import ir
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import replace_vars_inner, replace_vars_stmt

from .build import BUILD, OwnPass
from .narrow import CAST_TO, SETTLED
from .semantics import SOFT, STAND_INS

_OPERATORS = {id(STAND_INS[fn]): fn for fn in SOFT}


@register_pass(mutates_CFG=False, analysis_only=False)
class Soften(OwnPass):
    """Literals that meet narrow numbers become such, and are told apart."""

    _name = "upshift_soften"

    def run_pass(self, state: Any) -> bool:
        soft = BUILD.get().soft.get(state.func_id.func.__code__)
        if not soft:
            return False
        for block in state.func_ir.blocks.values():
            _Block(block, soft).rewrite()
        return True


class _Block:
    """One block's statements, with what they need before and after them."""

    def __init__(self, block: Any, soft: dict[str, Any]) -> None:
        self.block, self.soft = block, soft
        self.body: list[Any] = []
        self.callees: dict[str, Any] = {}
        self.written: dict[str, Any] = {}
        """The literals that variables stand for."""
        self.made = 0

    def rewrite(self) -> None:
        for statement in self.block.body:
            if isinstance(statement, ir.Assign):
                self._assign(statement)
                continue
            if not isinstance(statement, ir.Del):
                replace_vars_stmt(statement, self._settled(statement.list_vars()))
            self.body.append(statement)
        self.block.body = self.body

    def _assign(self, statement: Any) -> None:
        value, target = statement.value, statement.target.name
        if isinstance(value, ir.Global):
            self.callees[target] = statement
        literals = self._literal(value)
        if target not in self.soft:
            if literals:
                self.written[target] = literals[0]
            statement.value = self._with_settled(value)
            self.body.append(statement)
            return
        literal: Any = ir.Const(False, statement.loc)
        if literals and isinstance(literals[0], int | float):
            written = self._set(ir.Const(literals[0], statement.loc), statement.loc)
            statement.value = self._called(CAST_TO[self.soft[target]], (written,), statement.loc)
            literal = ir.Const(True, statement.loc)
        elif isinstance(value, ir.Var) and self.soft.get(value.name) == self.soft[target]:
            literal = self._flag(value)
        else:
            statement.value = self._with_settled(value)
        self.body += [statement, ir.Assign(literal, self._flag(statement.target), statement.loc)]

    def _literal(self, value: Any) -> list[Any]:
        """The literal that something stands for, as far as is known."""
        if isinstance(value, ir.Const):
            return [value.value]
        if isinstance(value, ir.Expr) and value.op == "build_tuple":
            parts = [self._literal(item) for item in value.items]
            return [tuple(part[0] for part in parts)] if all(parts) else []
        if isinstance(value, ir.Expr) and value.op in ("exhaust_iter", "static_getitem"):
            whole = self.written.get(value.value.name)
            if not isinstance(whole, tuple):
                return []
            return [whole] if value.op == "exhaust_iter" else [whole[value.index]]
        return [self.written[value.name]] if isinstance(value, ir.Var) and value.name in self.written else []

    def _with_settled(self, value: Any) -> Any:
        """What is computed, from variables that are no literals any more where that makes a difference."""
        if not isinstance(value, ir.Var | ir.Expr):
            return value
        used = [value] if isinstance(value, ir.Var) else value.list_vars()
        passed = self._passed(value)
        return replace_vars_inner(value, self._settled(v for v in used if v.name != passed))

    def _settled(self, used: Iterable[Any]) -> dict[str, Any]:
        """Of soft variables: a lane is left in which one is still the literal."""
        made = {}
        for was in used:
            if was.name in self.soft and was.name not in made:
                made[was.name] = self._set(self._called(SETTLED, (was, self._flag(was)), was.loc), was.loc)
        return made

    def _passed(self, value: Any) -> str | None:
        """The variable that may stay a literal, beside an operator that is told so."""
        if not isinstance(value, ir.Expr) or value.op != "call" or value.func.name not in self.callees:
            return None
        callee = self.callees[value.func.name]
        names = [arg.name for arg in value.args if arg.name in self.soft]
        if not names or len(set(names)) < len(names):
            return None
        fn = _OPERATORS.get(id(callee.value.value))
        if fn is None:
            return None
        callee.value = ir.Global("soft", SOFT[fn], value.loc)
        value.args = (*value.args, self._flag(ir.Var(self.block.scope, names[-1], value.loc)))
        return str(names[-1])

    def _flag(self, variable: Any) -> Any:
        return ir.Var(self.block.scope, f"{variable.name}$literal", variable.loc)

    def _set(self, value: Any, loc: Any) -> Any:
        """A value under a name of its own."""
        self.made += 1
        made = ir.Var(self.block.scope, f"$soft{id(self.block)}.{self.made}", loc)
        self.body.append(ir.Assign(value, made, loc))
        return made

    def _called(self, fn: Any, args: tuple[Any, ...], loc: Any) -> Any:
        return ir.Expr.call(self._set(ir.Global("stand_in", fn, loc), loc), args, (), loc)
