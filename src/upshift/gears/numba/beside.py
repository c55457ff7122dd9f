"""Narrow numbers beside wide ones: a typed function in; out, where the wide one is NumPy's, whose size counts.

`np.float32(1) * 2.0` is a float32, and `np.float32(1) * np.float64(2)` a float64. To machine code both are products of
a float32 and a float64, so classes are followed through the code, and what was taken for Python's is compiled again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba.core import ir, types

from ..ran import NotCompiled
from .build import Build
from .classes import NUMPY, Classes, Helpers, Items, Sort, Typed, sort_of_type
from .narrow import is_narrow, meeting
from .semantics import SOFT, STAND_INS, STRONG
from .ufuncs import STRONG_UFUNCS, UFUNCS
from .unit import Unit, name_of, where_of

_WEAK = {*(id(known[fn]) for known in (STAND_INS, SOFT) for fn in STRONG), *(id(UFUNCS[fn]) for fn in STRONG_UFUNCS)}


class Watch:
    """Looks at every function in which narrow numbers are."""

    def __init__(self, unit: Unit, given: Sequence[Sort], either: Sequence[Sequence[Sort]], build: Build) -> None:
        self.unit, self.given, self.build = unit, given, build
        self.either = either
        """All that its arguments may be when this very code is run: of Python's classes, or of NumPy's."""
        self.helpers: Helpers = {}

    def look(self, state: Any) -> None:
        f, blocks = state.func_id.func, state.func_ir.blocks
        own = f is self.unit.f
        kept = blocks if own else {label: block.copy() for label, block in blocks.items()}
        typed = Typed(kept, dict(state.typemap), dict(state.calltypes), list(state.func_ir.arg_names),
                      lambda line: where_of(f, line))  # fmt: skip
        if not own:
            self.helpers[f, tuple(state.args)] = typed
        if any(map(is_narrow, state.typemap.values())) or any(map(_is_of_any, state.calltypes.values())):
            given = self.given if own else list(map(sort_of_type, state.args))
            classes = Classes(typed, given, self.helpers)
            self._look_beside(typed, classes, f)
            self.build.mixed |= own and _is_mixed(classes.result())
        if own:
            self.build.unsure = self._is_unsure(typed)

    def _is_unsure(self, typed: Typed) -> bool:
        """Whether a result may be of Python's class for one element and of NumPy's for another."""
        try:
            return any(_may_be_either(Classes(typed, given, self.helpers).result()) for given in self.either)
        except NotCompiled:
            return True

    def _look_beside(self, typed: Typed, classes: Classes, f: Any) -> None:
        for statement in typed.assignments():
            value = statement.value
            if not isinstance(value, ir.Expr) or value.op != "call" or len(value.args) < 2:
                continue
            _, fn = classes.callees.get(value.func.name, ("", None))
            if id(fn) not in _WEAK:
                continue
            a, b = value.args[:2]
            kinds = typed.types[a.name], typed.types[b.name]
            if is_narrow(kinds[0]) == is_narrow(kinds[1]) or meeting(*kinds) == meeting(*kinds, strong=True):
                continue
            wide = b if is_narrow(kinds[0]) else a
            self._look_at(classes.sorts.get(wide.name), value, f, wide)

    def _look_at(self, sort: Sort, value: Any, f: Any, wide: Any) -> None:
        if isinstance(sort, frozenset) and sort and all(code < NUMPY for code in sort):
            return
        if not isinstance(sort, frozenset) or not all(code >= NUMPY for code in sort):
            name = name_of(wide)
            reason = f"{name}, beside a narrow number, may be Python's or NumPy's"
            raise NotCompiled("numba", reason, where_of(f, value.loc.line))
        self.build.strengthen(f.__code__, value.func.name)


def _is_of_any(signature: Any) -> bool:
    """Whether a call may be of an int and a float, and the result either."""
    return signature is not None and set(signature.args) == {types.int64, types.float64}


def _may_be_either(sort: Sort) -> bool:
    """Whether a result may be Python's number here and NumPy's there."""
    if isinstance(sort, tuple):
        return any(map(_may_be_either, sort))
    return not isinstance(sort, Items) and (sort is None or len({code >= NUMPY for code in sort}) > 1)


def _is_mixed(sort: Sort) -> bool:
    """Whether a result may be an int here and a float there."""
    if isinstance(sort, tuple):
        return any(map(_is_mixed, sort))
    return isinstance(sort, frozenset) and len({code % NUMPY for code in sort}) > 1
