"""A function's code, and the classes that its results are to have, in; out, code that raises where one has another.

Where a class hangs on the path taken (the sum of an empty array is the 0.0 it began with, else an `np.float64`), a
shadow of the number travels with it: the code of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir as llvm_ir
from numba.core import ir, types

from ..calls import NUMBERS, Result
from ..ran import NotCompiled
from .blocks import I64, leave, stand_in
from .builtin import as_floats, is_second
from .classes import MEANT, NUMPY, OPERATORS, SAME, Classes, Sort, base_of, combined


def chosen(result: Any, sort: Sort, wanted: Result | None) -> Any:
    """The classes that results are to have: those that were seen, else those that fit the types best. None: no such."""
    if isinstance(result, types.BaseTuple):
        sorts = sort if isinstance(sort, tuple) else (None,) * len(result)
        parts = wanted if isinstance(wanted, tuple) and len(wanted) == len(result) else (None,) * len(result)
        made = tuple(map(chosen, result, sorts, parts))
        return None if any(part is None for part in made) else made
    base = base_of(result)
    if base is None or not isinstance(sort, frozenset):
        return wanted
    fitting = [NUMBERS[code] for code in sorted(sort, reverse=True) if code % NUMPY == base]
    return wanted if wanted in fitting else next(iter(fitting), None)


class Guards:
    """New statements for a function's code, which watch the classes of what it returns."""

    def __init__(self, state: Any, classes: Classes) -> None:
        self.state, self.classes, self.typed = state, classes, classes.typed
        self.defined: dict[str, Any] = {}
        for statement in self.typed.assignments():
            name = statement.target.name
            self.defined[name] = None if name in self.defined else statement
        self.shadows: dict[str, Any] = {}
        self.behind: dict[int, list[Any]] = {}
        """Statements to be put behind others, by id."""
        self.before: dict[int, list[Any]] = {}
        self.first: list[Any] = []
        self.made = 0

    def insert(self, result: Result) -> None:
        """Put a guard before every return that may give another class."""
        for statement in list(self.typed.returns()):
            self._watch(statement.value, self.classes.sorts.get(statement.value.name), result, statement)
        for block in self.typed.blocks.values():
            body = []
            for statement in block.body:
                body += [*self.before.get(id(statement), ()), statement, *self.behind.get(id(statement), ())]
            block.body = body
        start = self.typed.blocks[min(self.typed.blocks)]
        after = sum(isinstance(s, ir.Assign) and isinstance(s.value, ir.Arg) for s in start.body)
        start.body[after:after] = self.first

    def _watch(self, variable: Any, sort: Sort, wanted: Any, end: Any) -> None:
        if isinstance(wanted, tuple):
            sorts = sort if isinstance(sort, tuple) else (None,) * len(wanted)
            for i, (part, one) in enumerate(zip(sorts, wanted, strict=True)):
                if isinstance(part, frozenset) and part != {NUMBERS.index(one)}:
                    self._guard(self._part(variable, i), NUMBERS.index(one), end)
                elif isinstance(one, tuple):
                    self._watch(self._part(variable, i), part, one, end)
        elif isinstance(sort, frozenset) and sort != {NUMBERS.index(wanted)}:
            self._guard(variable, NUMBERS.index(wanted), end)

    def _part(self, variable: Any, i: int) -> Any:
        """The variable that a tuple's part was made from."""
        statement = self.defined.get(variable.name)
        value = None if statement is None else statement.value
        if isinstance(value, ir.Var):
            return self._part(value, i)
        if isinstance(value, ir.Expr) and value.op in ("cast", "exhaust_iter"):
            return self._part(value.value, i)
        if isinstance(value, ir.Expr) and value.op == "build_tuple":
            return value.items[i]
        return self._refuse(variable)

    def _guard(self, variable: Any, wanted: int, end: Any) -> None:
        shadow = self._shadow(variable)
        into = self.before.setdefault(id(end), [])
        self._call(into, _GUARDS[wanted], [shadow], end)

    def _shadow(self, variable: Any) -> Any:
        """The variable that holds the code of a number's class."""
        found = self.shadows.get(variable.name)
        if found is not None:
            return found
        sort, statement = self.classes.sorts.get(variable.name), self.defined.get(variable.name)
        if isinstance(sort, frozenset) and len(sort) == 1:
            return self._constant(next(iter(sort)))
        value = None if statement is None else statement.value
        if isinstance(value, ir.Var):
            return self._shadow(value)
        if not isinstance(value, ir.Expr):
            return self._refuse(variable)
        if value.op == "cast":
            return self._shadow(value.value)
        if value.op == "phi":
            return self._shadow_of_meeting(statement, value)
        if value.op == "static_getitem":
            return self._shadow(self._part(value.value, value.index))
        if value.op == "call":
            return self._shadow_of_call(statement, value)
        return self._refuse(variable)

    def _shadow_of_meeting(self, statement: Any, value: Any) -> Any:
        shadow = self.shadows[statement.target.name] = self._variable(statement)
        incoming = [self._shadow(one) if isinstance(one, ir.Var) else one for one in value.incoming_values]
        meeting = ir.Expr.phi(statement.loc)
        meeting.incoming_values.extend(incoming)
        meeting.incoming_blocks.extend(value.incoming_blocks)
        self.behind.setdefault(id(statement), []).append(ir.Assign(meeting, shadow, statement.loc))
        return shadow

    def _shadow_of_call(self, statement: Any, value: Any) -> Any:
        fn = MEANT.get(id(self.classes.callees.get(value.func.name, ("", None))[1]))
        if fn in SAME and base_of(self.typed.types[value.args[0].name]) != 3:
            return self._shadow(value.args[0])
        if fn not in OPERATORS and fn not in _CHOOSING:
            return self._refuse(statement.target)
        given = [self._shadow(arg) for arg in value.args]
        given += value.args if fn in _CHOOSING else ()
        into = self.behind.setdefault(id(statement), [])
        table = _CHOOSING if fn in _CHOOSING else _COMBINING
        shadow = self.shadows[statement.target.name] = self._call(into, table[fn], given, statement)
        return shadow

    def _constant(self, code: int) -> Any:
        name = f"$upshift_class{code}"
        if name not in self.shadows:
            start = self.typed.blocks[min(self.typed.blocks)]
            self.shadows[name] = ir.Var(start.scope, name, start.loc)
            self.state.typemap[name] = types.int64
            self.first.append(ir.Assign(ir.Const(code, start.loc), self.shadows[name], start.loc))
        return self.shadows[name]

    def _variable(self, statement: Any, t: Any = types.int64) -> Any:
        self.made += 1
        start = self.typed.blocks[min(self.typed.blocks)]
        made = ir.Var(start.scope, f"$upshift_shadow{self.made}", statement.loc)
        self.state.typemap[made.name] = t
        return made

    def _call(self, into: list[Any], fn: Any, given: Sequence[Any], statement: Any) -> Any:
        """Statements that call an intrinsic, with the types that were to be found."""
        typing = self.state.typingctx
        t = typing.resolve_value_type(fn)
        callee, made = self._variable(statement, t), self._variable(statement)
        call = ir.Expr.call(callee, tuple(given), (), statement.loc)
        kinds = tuple(types.unliteral(self.state.typemap[variable.name]) for variable in given)
        self.state.calltypes[call] = t.get_call_type(typing, kinds, {})
        into += [
            ir.Assign(ir.Global("guard", fn, statement.loc), callee, statement.loc),
            ir.Assign(call, made, statement.loc),
        ]
        return made

    def _refuse(self, variable: Any) -> Any:
        reason = "returns a number of one class on one path and of another on another"
        raise NotCompiled("numba", reason, self.typed.where(variable.loc.line))


def _guarding(wanted: int) -> Any:
    def check(typing: Any, shadow: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            leave(context, builder, builder.icmp_signed("!=", values[0], llvm_ir.Constant(I64, wanted)))
            return values[0]

        return types.int64(types.int64), generate

    return stand_in(check)


def _combining(fn: Any) -> Any:
    """The code of an operator's result, from those of its operands."""

    def check(typing: Any, a: Any, b: Any) -> Any:
        return types.int64(types.int64, types.int64), _table(lambda x, y: combined(fn, x, y))

    return stand_in(check)


def _table(code: Callable[[int, int], int]) -> Any:
    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        both = builder.add(builder.shl(values[0], llvm_ir.Constant(I64, 3)), values[1])
        made = llvm_ir.Constant(I64, 0)
        for a in range(len(NUMBERS)):
            for b in range(len(NUMBERS)):
                here = builder.icmp_signed("==", both, llvm_ir.Constant(I64, 8 * a + b))
                made = builder.select(here, llvm_ir.Constant(I64, code(a, b)), made)
        return made

    return generate


def _choosing(less: str) -> Any:
    """The code of `min` or `max`: that of the number which it is."""

    def check(typing: Any, a: Any, b: Any, first: Any, second: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            t, numbers = first, values[2:]
            if first != second:
                t, numbers = types.float64, as_floats(context, builder, sig.args[2:], numbers)
            return builder.select(is_second(builder, t, less, numbers), values[1], values[0])

        return types.int64(a, b, first, second), generate

    return stand_in(check)


_CHOOSING = {min: _choosing("<"), max: _choosing(">")}
_COMBINING = {fn: _combining(fn) for fn in OPERATORS}  # Numba knows what is there before it begins
_GUARDS = [_guarding(code) for code in range(len(NUMBERS))]
