"""The types that Numba inferred in; whether their arithmetic is Python's and NumPy's out, or a reason why not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types
from numba.np.numpy_support import as_dtype

from ..ran import NotCompiled
from .blocks import is_bool, is_complex, is_float, is_int
from .build import Build
from .unit import name_of, where_of

_FINE = (types.Module, types.Dispatcher, types.BaseFunction, types.RangeType, types.SimpleIterableType,
         types.SimpleIteratorType, types.NoneType, types.SliceType, types.ExceptionClass, types.ExceptionInstance,
         types.Omitted, types.Phantom, types.Pair, types.BoundFunction, types.NumberClass,
         types.DType, types.StringLiteral)  # fmt: skip


def is_wide(t: Any) -> bool:
    """A number whose arithmetic Numba, Python and NumPy agree on."""
    t = types.unliteral(t)
    return is_bool(t) or t in (types.int64, types.float64, types.complex128)


def is_fine(t: Any) -> bool:
    if isinstance(t, types.Array | types.List):
        return is_fine(t.dtype)
    if isinstance(t, types.BaseTuple):
        return all(map(is_fine, t))
    return is_wide(t) or isinstance(t, _FINE)


def look_at(state: Any, statement: Any, build: Build) -> None:
    target = state.typemap[statement.target.name]
    unit = build.units[state.func_id.func]
    where = where_of(unit.f, statement.loc.line)
    if isinstance(target, types.Optional):
        raise NotCompiled("numba", "is None on one path and something else on another", where)
    fine = is_fine(target)
    if isinstance(target, types.Integer | types.Float | types.Complex) and not fine:
        raise NotCompiled("numba", f"computes with {target}, which Numba promotes by rules of its own", where)
    if not fine:
        raise NotCompiled("numba", f"works with a {target}", where)
    value = statement.value
    if isinstance(value, ir.Expr) and value.op == "call":
        _look_at_cast(state.typemap[value.func.name], target, where)
    is_return = isinstance(value, ir.Expr) and value.op == "cast"
    if is_return:
        _meet(state, value.value, target, is_return, build, where)
    elif isinstance(value, ir.Var):
        _meet(state, value, target, is_return, build, where)
    elif isinstance(value, ir.Expr) and value.op == "phi":
        for one in value.incoming_values:
            if isinstance(one, ir.Var):  # else it is not set on this way: its flag is looked at where it is used
                _meet(state, one, target, is_return, build, where)
    elif isinstance(value, ir.Expr) and value.op == "build_list":
        for one in value.items:
            _meet(state, one, target.dtype, is_return, build, where)


def _look_at_cast(called: Any, made: Any, where: str) -> None:
    """`x.astype(dtype)`, where every number fits, or the processor tells of one that does not."""
    if isinstance(called, types.BoundFunction) and called.typing_key == "array.astype":
        have, want = called.this.dtype, made.dtype
        fits = is_float(want) and not is_complex(have)
        if not fits and not np.can_cast(as_dtype(have), as_dtype(want)):
            raise NotCompiled("numba", f"casts an array of {have} to {want}", where)


def _meet(state: Any, value: Any, target: Any, is_return: bool, build: Build, where: str) -> None:
    """A value becomes another class where paths meet: an int a float. A literal does so unseen, up to the result."""
    have = state.typemap[value.name]
    plain = types.unliteral(have)
    if plain == types.unliteral(target) or not (_has_numbers(plain) and _has_numbers(target)):
        return
    build.mixed = True
    if not is_return and not isinstance(have, types.Literal):
        reason = f"{name_of(value)} is {_word(plain)} on one path and {_word(target)} on another"
        raise NotCompiled("numba", reason, where)


def _has_numbers(t: Any) -> bool:
    return isinstance(t, types.Number | types.Boolean | types.BaseTuple)


def _word(t: Any) -> str:
    if is_int(t):
        return "an int"
    return "a float" if is_float(t) else "a complex" if is_complex(t) else f"a {t}"
