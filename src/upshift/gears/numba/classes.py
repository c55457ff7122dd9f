"""A function's code with its types in; out, of which Python class each of its values is.

To machine code a float is a float. To the caller, `float` and `np.float64` are two classes, and the int 0 with which a
sum begins is not the float 0.0. So classes are followed through the code, as far as they are the same on every path.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numba.core import ir, types

from ..calls import NUMBERS
from ..ran import NotCompiled
from .narrow import ITEM_OF, is_narrow
from .rewriting import OF_NUMPY, STAND_INS
from .semantics import OF_ANY, SOFT, STRONG
from .unit import name_of

Codes = frozenset[int]
"""Classes that a number may be of: positions in NUMBERS."""


@dataclass(frozen=True, slots=True)
class Items:
    """An array, a list or an iterator over things of one sort."""

    of: Any


Sort = Any
"""What is known of a value: a number's Codes, a tuple of its parts' sorts, Items; None where there are no numbers."""
BOOL, INT, FLOAT, COMPLEX = range(4)
NUMPY = 4
"""What a NumPy class's code is above that of Python's."""
MEANT = {id(stand_in): fn for table in (STAND_INS, STRONG, SOFT, OF_ANY) for fn, stand_in in table.items()}
_COMPARISONS = frozenset((operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt))
SAME = frozenset((operator.neg, operator.pos, operator.invert, abs))
OPERATORS = frozenset((operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
                  operator.pow, operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor,
                  *_COMPARISONS))  # fmt: skip
_TO_PYTHON = frozenset((int, float, bool, complex, round, operator.not_, *filter(callable, vars(math).values())))


def base_of(t: Any) -> int | None:
    """The code of Python's class of numbers of a type."""
    t = types.unliteral(t)
    order = (types.Boolean, types.Integer, types.Float, types.Complex)
    return next((code for code, cls in enumerate(order) if isinstance(t, cls)), None)


def sort_of_type(t: Any) -> Sort:
    """All that a value of a type may be."""
    if isinstance(t, types.Array):
        base = base_of(t.dtype)
        return Items(frozenset() if base is None else frozenset((base + NUMPY,)))
    if isinstance(t, types.RangeType | types.RangeIteratorType):
        return Items(frozenset((INT,)))
    if isinstance(t, types.BaseTuple):
        return tuple(map(sort_of_type, t))
    if isinstance(t, types.List):
        return Items(sort_of_type(t.dtype))
    if isinstance(t, types.Omitted):
        return frozenset((NUMBERS.index(type(t.value)),)) if type(t.value) in NUMBERS else None
    base = base_of(t)
    if base is None:
        return None
    return frozenset((base + NUMPY,)) if is_narrow(t) else frozenset((base, base + NUMPY))


def sort_of_argument(t: Any, python: bool) -> Sort:
    """What an argument is whose class is known to be Python's, or NumPy's."""
    sort = sort_of_type(t)
    return frozenset(code for code in sort if (code < NUMPY) is python) if isinstance(sort, frozenset) else sort


def join(a: Sort, b: Sort) -> Sort:
    """What a value is that is one thing on one path and another on another."""
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return a | b
    if isinstance(a, Items) and isinstance(b, Items):
        return Items(join(a.of, b.of))
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(join, a, b))
    return b if a is None else a


def combined(fn: Any, a: int, b: int) -> int:
    """The class of an operator's result."""
    base = max(a % NUMPY, b % NUMPY)
    if fn in _COMPARISONS:
        base = BOOL
    elif fn is operator.truediv:
        base = max(base, FLOAT)
    elif fn not in (operator.and_, operator.or_, operator.xor):
        base = max(base, INT)
    return base + (NUMPY if max(a, b) >= NUMPY else 0)


@dataclass(frozen=True, slots=True)
class Typed:
    """A function's code, one assignment for every variable, and the types of all of them."""

    blocks: dict[int, Any]
    types: dict[str, Any]
    calls: dict[Any, Any]
    names: list[str]
    """Of arguments."""
    where: Callable[[int], str]

    def assignments(self) -> Iterator[Any]:
        for block in self.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    yield statement

    def returns(self) -> Iterator[Any]:
        for block in self.blocks.values():
            if isinstance(block.body[-1], ir.Return):
                yield block.body[-1]


Helpers = dict[Any, Typed]
"""The functions that were compiled on the way, by function and types of arguments."""


class Classes:
    """The sorts of all variables of a function, from those of its arguments."""

    def __init__(self, typed: Typed, given: Sequence[Sort], helpers: Helpers) -> None:
        self.typed, self.given, self.helpers = typed, given, helpers
        self.sorts: dict[str, Sort] = {}
        self.callees: dict[str, tuple[str, Any]] = {}
        self.listed: Sort = None
        """What was put into lists, all of them together."""
        self._settle()

    def result(self) -> Sort:
        """What the function returns."""
        found: Sort = None
        for statement in self.typed.returns():
            found = join(found, self.sorts.get(statement.value.name))
        return found

    def _settle(self) -> None:
        """Over and over, until nothing is learnt any more."""
        before: Any = None
        while before != (self.sorts, self.listed):
            before = dict(self.sorts), self.listed
            for statement in self.typed.assignments():
                name = statement.target.name
                self.sorts[name] = join(self.sorts.get(name), self._sort(statement))
            self._look_at_stores()

    def _look_at_stores(self) -> None:
        for block in self.typed.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.SetItem | ir.StaticSetItem):
                    self.listed = join(self.listed, self.sorts.get(statement.value.name))

    def _sort(self, statement: Any) -> Sort:
        value, t = statement.value, self.typed.types[statement.target.name]
        if isinstance(t, types.Array):
            return sort_of_type(t)
        if isinstance(value, ir.Arg):
            return self.given[value.index]
        if isinstance(value, ir.Var):
            if value.name in self.callees:
                self.callees[statement.target.name] = self.callees[value.name]
            return self.sorts.get(value.name)
        if isinstance(value, ir.Global | ir.FreeVar | ir.Const):
            return self._sort_of_constant(statement, value)
        if isinstance(value, ir.Expr):
            return self._sort_of_expression(value, t)
        return sort_of_type(t)

    def _sort_of_constant(self, statement: Any, value: Any) -> Sort:
        self.callees[statement.target.name] = (getattr(value, "name", ""), value.value)
        return _sort_of_value(value.value)

    def _sort_of_expression(self, value: Any, t: Any) -> Sort:
        op = value.op
        if op == "call":
            return self._sort_of_call(value, t)
        if op == "phi":
            found: Sort = None
            for one in value.incoming_values:
                found = join(found, self.sorts.get(getattr(one, "name", "")))
            return found
        if op == "build_tuple":
            return tuple(self.sorts.get(item.name) for item in value.items)
        if op == "build_list":
            for item in value.items:
                self.listed = join(self.listed, self.sorts.get(item.name))
            return Items(self.listed)
        if op == "binop":  # with None
            return frozenset((BOOL,))
        if op == "getattr":
            return self._sort_of_attribute(value, t)
        inner = (
            self.sorts.get(value.value.name) if hasattr(value, "value") and isinstance(value.value, ir.Var) else None
        )
        if op == "cast":
            return inner
        if op in ("getiter", "iternext"):
            return Items(_any(inner)) if isinstance(inner, tuple) else self._listed(inner, value.value)
        if op == "pair_first":
            return inner.of if isinstance(inner, Items) else inner
        if op == "exhaust_iter":
            return (inner.of,) * value.count if isinstance(inner, Items) else inner
        if op in ("getitem", "static_getitem", "typed_getitem"):
            return self._sort_of_item(value, inner, t)
        return sort_of_type(t)

    def _listed(self, sort: Sort, variable: Any) -> Sort:
        return Items(self.listed) if isinstance(self.typed.types[variable.name], types.List) else sort

    def _sort_of_item(self, value: Any, inner: Sort, t: Any) -> Sort:
        if isinstance(self.typed.types[value.value.name], types.List):
            return self.listed
        if isinstance(inner, Items):
            return inner.of
        if isinstance(inner, tuple):
            index = getattr(value, "index", None)
            return inner[index] if isinstance(index, int) else inner[index] if isinstance(index, slice) else _any(inner)
        return sort_of_type(t)

    def _sort_of_attribute(self, value: Any, t: Any) -> Sort:
        inner = self.sorts.get(value.value.name)
        if isinstance(inner, frozenset) and value.attr in ("real", "imag"):
            if base_of(self.typed.types[value.value.name]) == BOOL:
                return sort_of_type(t)
            return frozenset(code - 1 if code % NUMPY == COMPLEX else code for code in inner)
        if isinstance(t, types.BaseTuple):
            return tuple(frozenset((INT,)) for _ in t)
        return frozenset((INT,)) if base_of(t) == INT else sort_of_type(t)

    def _sort_of_call(self, value: Any, t: Any) -> Sort:
        name, fn = self.callees.get(value.func.name, ("", None))
        base = base_of(t)
        args = [self.sorts.get(arg.name) for arg in value.args]
        if isinstance(self.typed.types[value.func.name], types.BoundFunction):
            for arg in args:
                self.listed = join(self.listed, arg)
            return sort_of_type(t)
        if isinstance(self.typed.types[value.func.name], types.Dispatcher):
            return self._sort_of_helper(value, fn, args, t)
        if name.startswith(OF_NUMPY) and base is not None:
            return frozenset((base + NUMPY,))
        meant = MEANT.get(id(fn), fn)
        if fn is ITEM_OF:
            return args[1]
        if meant in OPERATORS:
            return self._sort_of_operator(meant, value, args)
        if meant in SAME and isinstance(args[0], frozenset):
            self._refuse_held(value.args[0], value)
            return frozenset(code - 1 if base == FLOAT and code % NUMPY == COMPLEX else code for code in args[0])
        if meant in (min, max):
            return join(args[0], args[1])
        if meant is enumerate:
            return Items((frozenset((INT,)), _item(args[0])))
        if meant is zip:
            return Items(tuple(map(_item, args)))
        if meant is reversed:
            return Items(_item(args[0]))
        if (meant in _TO_PYTHON or meant is len) and base is not None:
            return frozenset((base,))
        return sort_of_type(t)

    def _sort_of_operator(self, fn: Any, value: Any, args: list[Any]) -> Sort:
        a, b = args[:2]
        if not isinstance(a, frozenset) or not isinstance(b, frozenset):
            return None
        if fn not in _COMPARISONS and fn is not operator.truediv:
            for one, other in ((0, b), (1, a)):
                self._refuse_held(value.args[one], value, other)
        return frozenset(combined(fn, x, y) for x in a for y in b)

    def _refuse_held(self, variable: Any, value: Any, beside: Codes = frozenset((BOOL,))) -> None:
        """An int that machine code holds as a float, since it is one on another path, is not to be computed with."""
        held = base_of(self.typed.types[variable.name])
        codes = self.sorts.get(variable.name)
        if held is None or not isinstance(codes, frozenset) or all(code % NUMPY >= held for code in codes):
            return
        if any(code % NUMPY < held for code in beside):
            name = name_of(variable)
            reason = f"{name} is of one class on one path and of another on another"
            raise NotCompiled("numba", reason, self.typed.where(value.loc.line))

    def _sort_of_helper(self, value: Any, fn: Any, args: list[Any], t: Any) -> Sort:
        signature = self.typed.calls.get(value)
        if signature is None:
            return sort_of_type(t)
        helper = self.helpers.get((fn.py_func, tuple(signature.args)))
        if helper is None or any(isinstance(self.typed.types[arg.name], types.List) for arg in value.args):
            return sort_of_type(t)
        given: list[Sort] = list(map(sort_of_type, signature.args))
        for i, arg in enumerate(args):
            given[i] = arg
        for name, variable in value.kws:
            given[helper.names.index(name)] = self.sorts.get(variable.name)
        return Classes(helper, given, self.helpers).result()


def _sort_of_value(value: Any) -> Sort:
    if type(value) in NUMBERS:
        return frozenset((NUMBERS.index(type(value)),))
    return tuple(map(_sort_of_value, value)) if isinstance(value, tuple) else None


def _any(parts: tuple[Any, ...]) -> Sort:
    found: Sort = None
    for part in parts:
        found = join(found, part)
    return found


def _item(sort: Sort) -> Sort:
    if isinstance(sort, Items):
        return sort.of
    return _any(sort) if isinstance(sort, tuple) else None
