"""Steps on single numbers in JAX, looked up by the name of their rule."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...columns.kinds import Kind
from ...rules.conversions import Ranked, total
from ...rules.op import Proved, Watched
from ...rules.operators import EXACT_FLOAT
from ...rules.slopes import NUMPY_NAMES, ROUND
from ...trace.tree import Step
from . import arithmetic as do
from .functions import FUNCTIONS, call, power, scaled
from .value import FLOAT, Value, Work, refuse

Two = Callable[[Work, Value, Value], Value]
One = Callable[[Work, Value], Value]


def _compare(name: str) -> Two:
    return lambda work, a, b: do.compare(work, name, a, b)


def _rounded(name: str) -> One:
    return partial(lambda name, work, a: do.rounded(work, name, a), name)


def _logical(fn: Callable[..., Any]) -> Two:
    def logical(work: Work, a: Value, b: Value) -> Value:
        return Value(fn(do.truth(work, a).x, do.truth(work, b).x))

    return logical


def _bits(fn: Callable[..., Any]) -> Two:
    def bits(work: Work, a: Value, b: Value) -> Value:
        if a.dtype.kind not in "biu":
            raise refuse("bits of floats")
        return work.made(fn(work.hidden(a.x), work.hidden(b.x)), a, b)

    return bits


def shift(fn: Callable[..., Any]) -> Two:
    """The row of a shift; lanes with a negative count are left, as the loop raises there."""

    def shifted(work: Work, a: Value, b: Value) -> Value:
        if b.dtype.kind == "i":
            work.odd(b.x < 0)
        return work.made(fn(a.x, b.x), a, b)

    return shifted


def _not(work: Work, a: Value) -> Value:
    return Value(~do.truth(work, a).x)


def _invert(work: Work, a: Value) -> Value:
    if a.dtype.kind not in "biu":
        raise refuse("bits of floats")
    return work.made(~a.x, a)


def _never(name: str, edge: float) -> One:
    """A predicate of a domain: whether a comparison with an edge does not hold."""

    def holds(work: Work, a: Value) -> Value:
        return Value(~do.compare(work, name, a, Value(jnp.asarray(edge, a.dtype))).x)

    return holds


def _both_never(above: str, below: str) -> One:
    def holds(work: Work, a: Value) -> Value:
        return Value(_never(above, 1)(work, a).x & _never(below, -1)(work, a).x)

    return holds


def _not_nan(work: Work, a: Value) -> Value:
    return Value(~do.is_nan(work, a).x)


def _not_infinite(work: Work, a: Value) -> Value:
    return Value(~do.is_infinite(work, a).x)


def _real_power(work: Work, base: Value, exponent: Value) -> Value:
    b, e = base.x, exponent.x
    work.decide_on(base, exponent)
    if not (base.sharp and exponent.sharp):
        raise refuse("a power of what may be off in its last bits")
    whole = (e == jnp.floor(e)) | jnp.isinf(e)
    return Value((b >= 0) | whole | jnp.isnan(b) | jnp.isnan(e) | jnp.isinf(b))


def _has_remainder(work: Work, a: Value, b: Value) -> Value:
    """Whether `fmod` has a value."""
    some = do.compare(work, "not_equal", b, do.zero_of(work, b))
    return Value(jnp.isnan(a.x) | jnp.isnan(b.x) | (some.x & ~jnp.isinf(a.x)))


def _not_zero_to_minus(work: Work, base: Value, exponent: Value) -> Value:
    zero = do.zero_of(work, base)
    return Value(
        do.compare(work, "not_equal", base, zero).x | ~do.compare(work, "less", exponent, do.zero_of(work, exponent)).x
    )


UNARY: dict[str, One] = {
    **dict.fromkeys(("neg", "negative"), do.negative),
    **dict.fromkeys(("pos", "positive_of", "copy", "real", "conjugate"), do.positive),
    **dict.fromkeys(("abs", "absolute", "fabs"), do.absolute), "sqrt": do.sqrt, "square": do.square,
    "reciprocal": do.reciprocal, "sign": do.sign, "signbit": do.sign_bit, "true": do.truth,
    **dict.fromkeys(("not", "not_", "logical_not"), _not), "invert": _invert,
    "not_negative": _never("less", 0), "positive": _never("less_equal", 0), "at_least_one": _never("less", 1),
    "above_minus_one": _never("less_equal", -1), "within_one": _both_never("greater", "less"),
    "inside_one": _both_never("greater_equal", "less_equal"), "not_nan": _not_nan, "not_infinite": _not_infinite,
    "isnan": do.is_nan, "isinf": do.is_infinite, **dict.fromkeys(("finite", "isfinite"), do.is_finite),
    **{name: _rounded(name) for name in ("floor", "ceil", "trunc", "rint")}, "floor_of": _rounded("floor"),
    **dict.fromkeys(("degrees", "rad2deg"), lambda work, a: scaled(work, a, float(np.degrees(1.0)))),
    **dict.fromkeys(("radians", "deg2rad"), lambda work, a: scaled(work, a, float(np.radians(1.0)))),
}  # fmt: skip
BINARY: dict[str, Two] = {
    "add": do.add, **dict.fromkeys(("sub", "subtract"), do.subtract), **dict.fromkeys(("mul", "multiply"), do.multiply),
    **dict.fromkeys(("truediv", "divide", "true_divide"), do.divide), "min": do.smaller, "max": do.larger,
    **dict.fromkeys(("floordiv", "floor_divide"), do.floor_divide), **dict.fromkeys(("mod", "remainder"), do.remainder),
    "fmod": do.fmod, "minimum": do.minimum, "maximum": do.maximum, "fmin": do.fmin, "fmax": do.fmax,
    "copysign": do.copysign, "lshift": shift(jnp.left_shift), "left_shift": shift(jnp.left_shift),
    "rshift": shift(jnp.right_shift), "right_shift": shift(jnp.right_shift),
    **dict.fromkeys(("and", "and_", "bitwise_and"), _bits(jnp.bitwise_and)),
    **dict.fromkeys(("or", "or_", "bitwise_or"), _bits(jnp.bitwise_or)),
    **dict.fromkeys(("xor", "bitwise_xor"), _bits(jnp.bitwise_xor)), "logical_and": _logical(jnp.logical_and),
    "logical_or": _logical(jnp.logical_or), "logical_xor": _logical(jnp.logical_xor),
    **{short: _compare(name) for short, name in zip(
        "lt le gt ge eq ne".split(), "less less_equal greater greater_equal equal not_equal".split(), strict=True)},
    **{name: _compare(name) for name in do.COMPARES}, "real_power": _real_power,
    "not_zero_to_minus": _not_zero_to_minus, "has_remainder": _has_remainder,
}  # fmt: skip
"""Operations by the names of their rules, and of NumPy's ufuncs, on operands of one dtype."""
CONVERSIONS = frozenset(("float", "cast", "int", "round", "floor", "ceil", "trunc"))


def made_by(work: Work, step: Step, args: list[Value | Any], kinds: list[Kind]) -> Value:
    """What a step makes of numbers. `args`: values, or constants as they are."""
    op, kind = step.op, step.kind
    assert op is not None and kind is not None
    if isinstance(step.fn, Ranked):
        return _ranked(work, step.fn.rank, [_as(work, a, kind.dtype) for a in args])
    if step.fn is total:
        return _total(work, [_as(work, a, kind.dtype) for a in args], kind)
    if op.each:
        raise refuse(f"{op.name} is called for every element", step.where)
    if op.name in CONVERSIONS and len(args) == 1 and (kind.dtype.kind != "f" or op.name in ("float", "cast")):
        return _converted(work, op.name, _as(work, args[0], kinds[0].dtype), kind)
    dtype = _common(kinds, kind)
    values = [_as(work, a, dtype) for a in args]
    _beforehand(work, op, args, values, kinds, kind)
    made = elementwise(work, op.name, values, args)
    if isinstance(op, Watched) or op.name in ("pow", "power"):
        fine = [jnp.isfinite(value.x) for value in values]
        work.odd(~jnp.isfinite(made.x) & jnp.all(jnp.stack(fine)))
    if made.dtype != kind.dtype:
        raise refuse(f"{op.name} makes {kind.dtype.name}", step.where)
    return made


def elementwise(work: Work, name: str, values: list[Value], args: list[Any]) -> Value:
    """An operation by its name, on operands of one dtype, numbers or arrays."""
    if name in ("pow", "power"):
        exponent = None if isinstance(args[1], Value) or np.ndim(args[1]) else args[1]
        return power(work, values[0], values[1], exponent)
    function = NUMPY_NAMES.get(name, name)
    if function in FUNCTIONS:
        return call(work, function, *values)
    if name == "clip" and len(values) == 3:
        return do.minimum(work, do.maximum(work, values[0], values[1]), values[2])
    if len(values) == 1 and name in UNARY:
        return UNARY[name](work, values[0])
    if len(values) == 2 and name in BINARY:
        return BINARY[name](work, values[0], values[1])
    raise refuse(f"{name} has no row for JAX")


def _as(work: Work, arg: Any, dtype: np.dtype[Any]) -> Value:
    if not isinstance(arg, Value):
        return do.from_constant(work, arg, dtype)
    return do.cast(work, arg, dtype)


def _common(kinds: list[Kind], kind: Kind) -> np.dtype[Any]:
    """The dtype that NumPy computes in: Python's numbers are weak, NumPy's are not."""
    strong = [k.dtype for k in kinds if not k.python]
    weak = [k.dtype.type(0).item() for k in kinds if k.python]
    dtype = np.result_type(*strong, *weak) if strong else np.result_type(*(k.dtype for k in kinds))
    if kind.dtype.kind == "f":
        return kind.dtype
    if kind.dtype.kind == "b" and dtype.kind in "iu":  # Python's ints are compared as they are
        dtype = np.result_type(*(k.dtype for k in kinds))
    if dtype.kind not in "biuf" or dtype == np.float16 or dtype.itemsize > 8:
        raise refuse(f"it computes with {dtype.name}")
    return dtype


def _beforehand(work: Work, op: Any, args: list[Any], values: list[Value], kinds: list[Kind], kind: Kind) -> None:
    """Lanes for which 64 bits are not enough, or Python and NumPy differ."""
    if kind.dtype.kind in "iu" and isinstance(op, Proved):
        _must_fit(work, op.name, args, values, kind)
    whole = [k.dtype.kind in "iu" for k in kinds]
    if kind.dtype.kind == "f" or (any(whole) and not all(whole) and kind.dtype.kind == "b"):
        for arg, k in zip(args, kinds, strict=True):
            if isinstance(arg, Value) and k.dtype.kind in "iu" and k.dtype.itemsize == 8:
                work.odd(arg.x > EXACT_FLOAT)
                work.odd(arg.x < -EXACT_FLOAT if k.dtype.kind == "i" else jnp.zeros((), bool))
            elif not isinstance(arg, Value) and k.dtype.kind in "iu" and abs(int(arg)) > EXACT_FLOAT:
                raise refuse(f"it computes with {arg!r} among floats")


_ABOUT: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "subtract": operator.sub, "mul": operator.mul, "multiply": operator.mul,
    "neg": operator.neg, "negative": operator.neg, "abs": abs, "absolute": abs, "pow": jnp.power, "power": jnp.power,
    "lshift": lambda a, b: a * jnp.exp2(b), "left_shift": lambda a, b: a * jnp.exp2(b),
}  # fmt: skip


def _must_fit(work: Work, name: str, args: list[Any], values: list[Value], kind: Kind) -> None:
    """The same operation on doubles tells where ints may leave their dtype."""
    if not work.careful and kind.python:
        if name not in ("floordiv", "mod"):
            raise refuse("it computes with Python ints, which XLA would wrap at 64 bits")
        return
    info = np.iinfo(kind.dtype)
    if name in ("floordiv", "mod", "floor_divide", "remainder"):
        for value in values:
            work.odd((value.x == info.min) if kind.dtype.kind == "i" else jnp.zeros((), bool))
        return
    if name not in _ABOUT:
        raise refuse(f"{name} of ints")
    slack = max(1, int(info.max) >> 48)
    about = _ABOUT[name](*(value.x.astype(FLOAT) for value in values))
    work.odd(~((about >= float(int(info.min) + slack)) & (about <= float(int(info.max) - slack))))


def _converted(work: Work, name: str, a: Value, kind: Kind) -> Value:
    """`int`, `round`, `math.floor`, casts."""
    if a.dtype.kind == "f" and kind.dtype.kind in "iu":
        rounder = {"int": "trunc", "round": "rint", "cast": "trunc"}.get(name, name)
        return do.cast(work, do.rounded(work, rounder, a), kind.dtype)
    if a.dtype.kind in "iu" and kind.dtype.kind in "iu" and a.dtype != kind.dtype:
        info = np.iinfo(kind.dtype)
        fits = [a.x >= info.min] if np.iinfo(a.dtype).min < info.min else []
        fits += [a.x <= info.max] if np.iinfo(a.dtype).max > info.max else []
        for one in fits:
            work.odd(~one)
    return do.cast(work, a, kind.dtype)


def _ranked(work: Work, rank: int, values: list[Value]) -> Value:
    """One item of the sorted arguments; where one is NaN they have no order."""
    stacked = jnp.stack([value.x for value in values])
    if stacked.dtype.kind == "f":
        work.odd(jnp.isnan(stacked))
        work.odd((stacked == 0) & do.has_sign_bit(stacked))  # which of two zeros comes first is their order
    return work.moved(jnp.sort(stacked)[rank], *values)


def _total(work: Work, values: list[Value], kind: Kind) -> Value:
    """`sum`, one after the other; from Python 3.12 on floats are added with what was rounded off."""
    if kind.dtype.kind != "f":
        about = sum(jnp.abs(value.x.astype(FLOAT)) for value in values)
        work.odd(about > 2.0**62)
        return do.total(work, values)
    made = do.total(work, values)
    if sys.version_info < (3, 12) or not work.careful:
        return made
    sizes = sum(value.most() for value in values)
    bound = len(values) * ROUND[8] * sizes + (0.0 if made.absolute is None else made.absolute)
    return work.made(made.x, made, relative=made.relative + ROUND[8], absolute=bound, nonneg=made.nonneg)
