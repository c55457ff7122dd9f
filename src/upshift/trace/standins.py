"""Stand-ins for builtins and C functions that cannot see lane values."""

from __future__ import annotations

import builtins
import cmath
import functools
import math
import operator
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..columns.kinds import kind_of
from ..rules.conversions import larger, ranked, smaller, total
from ..rules.maths import frexp_exponent, frexp_mantissa, modf_fraction, modf_whole
from .arraylike import array_of, number_of
from .classes import class_seen, is_instance, is_subclass, original_of
from .lane import Lane, is_lane
from .names import refuse

Function = Callable[..., Any]


def _trace_of(args: Iterable[Any]) -> Any:
    """The trace that these arguments belong to; None where no lane value is among them."""
    for arg in args:
        if is_lane(arg):
            return arg._up_trace
    return None


def _seen(fn: Function) -> Function:
    """`fn`, recorded where an argument is a lane value."""

    @functools.wraps(fn)
    def standin(*args: Any, **keywords: Any) -> Any:
        args = tuple(map(number_of, args))
        trace = _trace_of((*args, *keywords.values()))
        if trace is None:
            return fn(*args, **keywords)
        if keywords:
            return trace.call_plain(fn, args, keywords)
        return trace.record(fn, args)

    return standin


def _refused(reason: str, remedy: str = "") -> Function:
    def refused(*args: Any, **keywords: Any) -> None:
        refuse(reason, remedy)

    return refused


# ---- math and cmath


def _log(x: Any, *base: Any) -> Any:
    one = _seen(math.log)
    return one(x) / one(base[0]) if base else one(x)


def _frexp(x: Any) -> Any:
    trace = _trace_of((x,))
    return math.frexp(x) if trace is None else (trace.record(frexp_mantissa, (x,)), trace.record(frexp_exponent, (x,)))


def _modf(x: Any) -> Any:
    trace = _trace_of((x,))
    return math.modf(x) if trace is None else (trace.record(modf_fraction, (x,)), trace.record(modf_whole, (x,)))


def fsum_of(*numbers: Any) -> float:
    """`math.fsum` of the arguments."""
    return math.fsum(numbers)


def sumprod_of(*numbers: Any) -> Any:
    """`math.sumprod` of the first half of the arguments with the second."""
    half = len(numbers) // 2
    return math.sumprod(numbers[:half], numbers[half:])  # type: ignore[attr-defined]


def _fsum(numbers: Iterable[Any]) -> Any:
    items = tuple(numbers)
    trace = _trace_of(items)
    return math.fsum(items) if trace is None else trace.record(fsum_of, items)


def _sumprod(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    ps, qs = tuple(p), tuple(q)
    trace = _trace_of((*ps, *qs))
    if trace is None or len(ps) != len(qs):
        return math.sumprod(ps, qs)  # type: ignore[attr-defined]
    return trace.record(sumprod_of, (*ps, *qs))


def _prod(numbers: Iterable[Any], /, *, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, numbers, start)


def _dist(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    ps, qs = tuple(p), tuple(q)
    if _trace_of((*ps, *qs)) is None or len(ps) != len(qs):
        return math.dist(ps, qs)
    return _seen(math.hypot)(*(a - b for a, b in zip(ps, qs, strict=True)))


def math_isclose(a: Any, b: Any, rel_tol: Any, abs_tol: Any) -> bool:
    """`math.isclose` with its keywords as positions."""
    return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)


def cmath_isclose(a: Any, b: Any, rel_tol: Any, abs_tol: Any) -> bool:
    """`cmath.isclose` with its keywords as positions."""
    return cmath.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)


def _isclose(fn: Function) -> Function:
    def standin(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
        return _seen(fn)(a, b, rel_tol, abs_tol)

    return standin


def polar_r(z: Any) -> float:
    """The first half of `cmath.polar`."""
    return cmath.polar(z)[0]


def _polar(z: Any) -> Any:
    trace = _trace_of((z,))
    return cmath.polar(z) if trace is None else (trace.record(polar_r, (z,)), trace.record(cmath.phase, (z,)))


def _clog(z: Any, *base: Any) -> Any:
    one = _seen(cmath.log)
    return one(z) / one(base[0]) if base else one(z)


# ---- builtins


def _extreme(plain: Function, pick: Function) -> Function:
    """`min` or `max`: of lane values of one kind no decision is needed, one step picks."""

    @functools.wraps(plain)
    def standin(*args: Any, **keywords: Any) -> Any:
        items = list(args[0]) if len(args) == 1 else list(args)
        trace = _trace_of(items)
        kinds = {kind_of(i._up_value if is_lane(i) else i) for i in items}
        if trace is None or keywords or len(kinds) != 1 or None in kinds or len(items) < 2:
            return plain(items, **keywords) if len(args) == 1 else plain(*items, **keywords)
        return functools.reduce(lambda a, b: trace.record(pick, (a, b)), items)

    return standin


def _sum(numbers: Iterable[Any], /, start: Any = 0) -> Any:
    items = list(numbers)
    trace = _trace_of(items)
    if trace is None:
        return sum(items, start)
    floats = any(type(_true(i)) is float for i in items)
    if sys.version_info >= (3, 12) and floats and all(kind_of(_true(i)) is not None for i in (start, *items)):
        return trace.record(total, (start, *items))
    return functools.reduce(operator.add, items, start)


def _sorted(items: Iterable[Any], /, *, key: Any = None, reverse: bool = False) -> list[Any]:
    found = list(items)
    trace = _trace_of(found)
    kinds = {kind_of(_true(i)) for i in found}
    if trace is None or key is not None or reverse or len(kinds) != 1 or None in kinds or not 2 <= len(found) <= 16:
        return sorted(found, key=key, reverse=reverse)
    return [trace.record(ranked(i), tuple(found)) for i in range(len(found))]


def _true(value: Any) -> Any:
    return value._up_value if is_lane(value) else value


def class_of_value(*args: Any) -> Any:
    """`type(x)`: the class of the true value; for a captured object, the class that the traced copy knows it by."""
    if len(args) != 1:
        return type(*args)
    if is_lane(args[0]):
        return type(args[0]._up_value)
    if type(args[0]) is types.FunctionType and args[0] in _STANDS_FOR:
        return type(_STANDS_FOR[args[0]])
    return class_seen(args[0])


def _convert(cls: type) -> Function:
    @functools.wraps(cls, updated=())
    def standin(*args: Any, **keywords: Any) -> Any:
        args = tuple(number_of(arg, f"__{cls.__name__}__") for arg in args)
        trace = _trace_of(args)
        if trace is None or keywords or len(args) > 1 + (cls is complex):
            return cls(*args, **keywords)
        if isinstance(_true(args[0]), str | bytes):
            return cls(*args)
        return trace.record(cls, args)

    return standin


@functools.cache
def scalar_call(cls: Any) -> Function:
    """What stands for `np.float32` and its like where they are called."""

    @functools.wraps(cls, updated=())
    def standin(*args: Any, **keywords: Any) -> Any:
        args = tuple(map(array_of, args))
        trace = _trace_of(args)
        if trace is None or keywords or len(args) != 1:
            return cls(*args, **keywords)
        if isinstance(_true(args[0]), np.ndarray):
            return trace.arrays.scalar(cls, args[0])
        return trace.record(cls, args)

    return standin


def _is(a: Any, b: Any) -> bool:
    a, b = original_of(a), original_of(b)
    trace = _trace_of((a, b))
    return a is b if trace is None else bool(trace.same(a, b))


def _is_not(a: Any, b: Any) -> bool:
    return not _is(a, b)


IDENTITY: dict[str, Function] = {"is()": _is, "is not()": _is_not}
"""What `a is b` becomes in a traced copy."""

_REMEDY = "keep side effects out of the mapped function"
CALLED: dict[type, Function] = {cls: _convert(cls) for cls in (int, float, bool, complex)} | {type: class_of_value}
"""What a class is replaced by where it is called."""

STANDINS: dict[Any, Any] = {
    builtins.min: _extreme(min, smaller),
    builtins.max: _extreme(max, larger),
    builtins.sum: _sum,
    builtins.sorted: _sorted,
    builtins.isinstance: is_instance,
    builtins.issubclass: is_subclass,
    operator.is_: _is,
    operator.is_not: _is_not,
    builtins.print: _refused("prints", _REMEDY),
    builtins.open: _refused("opens a file", _REMEDY),
    builtins.input: _refused("asks for input", _REMEDY),
    builtins.exec: _refused("runs exec()"),
    builtins.eval: _refused("runs eval()"),
    builtins.compile: _refused("runs compile()"),
    builtins.globals: _refused("calls globals()"),
    builtins.id: _refused("calls id()"),
    builtins.breakpoint: _refused("calls breakpoint()"),
}
"""What a function is replaced by, wherever it is read."""

_SPECIAL: dict[str, Function] = {
    "log": _log,
    "frexp": _frexp,
    "modf": _modf,
    "fsum": _fsum,
    "sumprod": _sumprod,
    "prod": _prod,
    "dist": _dist,
    "isclose": _isclose(math_isclose),
}
for _name, _fn in vars(math).items():
    if callable(_fn):
        STANDINS[_fn] = _SPECIAL.get(_name) or _seen(_fn)
for _name, _fn in vars(cmath).items():
    if callable(_fn):
        STANDINS[_fn] = {"log": _clog, "polar": _polar, "isclose": _isclose(cmath_isclose)}.get(_name) or _seen(_fn)


_STANDS_FOR = {standin: fn for fn, standin in STANDINS.items()}


_ACTING = {name: STANDINS[getattr(builtins, name)] for name in "print open input exec eval breakpoint".split()}
"""Builtins that other libraries put functions of their own in the place of, by name: Ray does so with `print`."""


def standin_for(value: Any) -> Any:
    """The stand-in of a builtin or C function; None where it needs none."""
    try:
        found = STANDINS.get(value)
    except TypeError:
        return None
    if found is None and isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        now = next((name for name in _ACTING if getattr(builtins, name, None) is value), "")
        is_builtin = getattr(value, "__module__", "") == "builtins"
        found = _ACTING.get(now or (value.__name__ if is_builtin else ""))
    return found


__all__ = ["CALLED", "STANDINS", "Lane", "class_of_value", "standin_for"]
