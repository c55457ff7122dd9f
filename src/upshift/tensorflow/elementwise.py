"""NumPy functions that work number by number, written in TensorFlow's operations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ..rules.arrays.elementwise import OPERATORS
from .surroundings import by_kernels
from .value import EXACT, OFF, ROUNDED, Call, NotNative, Value, cast, constant, decided, operand

Row = Callable[[Call], Value]


def _worst(values: list[Value]) -> int:
    return max(value.off for value in values)


def _operands(call: Call, dtype: np.dtype[Any]) -> list[Value]:
    if call.keywords:
        raise NotNative(f"{call.name} with {next(iter(call.keywords))}=")
    return [operand(arg, dtype) for arg in call.args]


def _met(call: Call) -> np.dtype[Any]:
    """The dtype in which NumPy compares."""
    return np.result_type(*(arg.dtype if isinstance(arg, Value) else arg for arg in call.args))


# ---- arithmetic

Reach = Callable[..., tuple[float, float]]
"""Where results lie, from where operands do."""


def _of_sums(a: Value, b: Value) -> tuple[float, float]:
    return a.low + b.low, a.high + b.high


def _of_differences(a: Value, b: Value) -> tuple[float, float]:
    return a.low - b.high, a.high - b.low


def _of_products(a: Value, b: Value) -> tuple[float, float]:
    ends = [p * q for p in (a.low, a.high) for q in (b.low, b.high)]
    return (-math.inf, math.inf) if any(map(math.isnan, ends)) else (min(ends), max(ends))


def arithmetic(op: Callable[..., Any], reach: Reach | None = None, rounds: bool = True) -> Row:
    """Numbers of one dtype in and out. A float is rounded once where its operands are untouched."""

    def row(call: Call) -> Value:
        dtype = call.kind.dtype
        values = _operands(call, dtype)
        x = op(*(value.x for value in values))
        low, high = reach(*values) if reach is not None else (-math.inf, math.inf)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            fits = limits.min <= low and high <= limits.max
            return Value(x, EXACT, *((low, high) if fits else (float(limits.min), float(limits.max))))
        if math.isnan(low) or math.isnan(high):
            low, high = -math.inf, math.inf
        worst = _worst(values)
        return Value(x, worst if not rounds else ROUNDED if worst == EXACT else OFF, low, high)

    return row


def _divide(call: Call) -> Value:
    """Graphs multiply by one over a constant instead, which may be off in the last bit."""
    made = arithmetic(tf.divide)(call)
    known = not isinstance(call.args[1], Value)
    if not known:
        return made
    divisor = np.asarray(call.args[1])
    first = call.args[0]
    if divisor.size != 1 or not divisor or not isinstance(first, Value):
        return Value(made.x, OFF)
    ends = sorted((first.low / float(divisor.item()), first.high / float(divisor.item())))
    slack = 1e-6 * max(map(abs, ends)) if all(map(math.isfinite, ends)) else 0.0
    return Value(made.x, OFF, ends[0] - slack, ends[1] + slack)


def smooth(op: Callable[..., Any]) -> Row:
    """Functions of floats that are not rounded alike everywhere."""

    def row(call: Call) -> Value:
        values = _operands(call, call.kind.dtype)
        if not values[0].is_float:
            raise NotNative(f"{call.name} of {values[0].dtype}")
        return Value(op(*(value.x for value in values)), OFF)

    return row


def _sqrt(call: Call) -> Value:
    (value,) = _operands(call, call.kind.dtype)
    off = ROUNDED if value.off == EXACT else OFF
    if value.low < 0:
        return Value(tf.sqrt(value.x), off)
    return Value(tf.sqrt(value.x), off, math.sqrt(value.low) * (1 - 1e-6), math.sqrt(value.high) * (1 + 1e-6))


def _power(call: Call) -> Value:
    base, exponent = call.args
    if not isinstance(exponent, Value) and np.ndim(exponent) == 0 and exponent == 2:
        return arithmetic(tf.square)(Call(call.fn, (base,), {}, call.kind))
    if call.kind.dtype.kind == "f":
        return smooth(tf.pow)(call)
    if isinstance(exponent, Value) or np.ndim(exponent) or not 0 <= exponent <= 64:
        raise NotNative("powers of ints with an exponent that is not known beforehand")
    value = operand(base, call.kind.dtype)
    made = tf.ones_like(value.x)
    for _ in range(int(exponent)):
        made = made * value.x
    limits = np.iinfo(call.kind.dtype)
    return Value(made, EXACT, float(limits.min), float(limits.max))


def _absolute(call: Call) -> Value:
    made = arithmetic(tf.abs, rounds=False)(call)
    value = call.args[0]
    if made.is_float and isinstance(value, Value) and math.isfinite(value.low) and math.isfinite(value.high):
        return Value(made.x, made.off, 0.0, max(abs(value.low), abs(value.high)))
    return made


def _remainder(call: Call) -> Value:
    values = [decided(value, "a remainder") for value in _operands(call, call.kind.dtype)]
    if not values[0].is_float:
        _nonzero(call)
    return Value(tf.math.floormod(*(value.x for value in values)), ROUNDED if values[0].is_float else EXACT)


def _floor_divide(call: Call) -> Value:
    if call.kind.dtype.kind == "f":
        raise NotNative("floor division of floats")
    _nonzero(call)
    return arithmetic(tf.math.floordiv)(call)


def _nonzero(call: Call) -> None:
    divisor = call.args[1]
    if isinstance(divisor, Value) or not np.all(np.asarray(divisor)) or np.any(np.asarray(divisor) == -1):
        raise NotNative("an int is divided by what may be zero, or -1")


# ---- the larger, the smaller


def larger(a: Any, b: Any) -> Any:
    """`np.maximum`: NaN where one of both is."""
    return _or_nan(tf.maximum(a, b), a, b)


def smaller(a: Any, b: Any) -> Any:
    """`np.minimum`: NaN where one of both is."""
    return _or_nan(tf.minimum(a, b), a, b)


def _or_nan(made: Any, a: Any, b: Any) -> Any:
    """NumPy's hand on a NaN, whichever of the two it is; so do TensorFlow's own kernels on a processor."""
    if not made.dtype.is_floating or by_kernels():
        return made
    return tf.where(tf.math.is_nan(a) | tf.math.is_nan(b), tf.constant(math.nan, made.dtype), made)


def _of_larger(a: Value, b: Value) -> tuple[float, float]:
    return max(a.low, b.low), max(a.high, b.high)


def _of_smaller(a: Value, b: Value) -> tuple[float, float]:
    return min(a.low, b.low), min(a.high, b.high)


def extreme(op: Callable[..., Any], reach: Reach) -> Row:
    """The row of a maximum or minimum, with the reach of its results where both reaches are known."""

    def row(call: Call) -> Value:
        if call.kind.dtype.kind == "b":
            raise NotNative(f"{call.name} of truths")
        values = _operands(call, call.kind.dtype)
        bounded = all(_is_number(value) for value in values)
        low, high = reach(*values) if bounded else (-math.inf, math.inf)
        return Value(op(*(value.x for value in values)), _worst(values), low, high)

    return row


def _is_number(value: Value) -> bool:
    """Whether it is known to be no NaN."""
    return not value.is_float or (math.isfinite(value.low) and math.isfinite(value.high))


def _clip(call: Call) -> Value:
    given = call.bound("a", "a_min", "a_max", "min", "max")
    made = operand(given["a"], call.kind.dtype)
    for names, row in ((("a_min", "min"), ROWS[np.maximum]), (("a_max", "max"), ROWS[np.minimum])):
        for name in names:
            if name in given:
                made = row(Call(np.maximum, (made, given[name]), {}, call.kind))
    return made


# ---- decisions


def compared(op: Callable[..., Any]) -> Row:
    """The row of a comparison: its operands must be exact, or far from where the last bits tell."""

    def row(call: Call) -> Value:
        values = [decided(value, "a decision") for value in _operands(call, _met(call))]
        return Value(op(*(value.x for value in values)), EXACT, 0.0, 1.0)

    return row


def logical(op: Callable[..., Any]) -> Row:
    """The row of a function of truths."""

    def row(call: Call) -> Value:
        values = _operands(call, np.dtype(bool))
        return Value(op(*(value.x for value in values)), EXACT, 0.0, 1.0)

    return row


def _bits(op: Callable[..., Any], of_truths: Callable[..., Any]) -> Row:
    def row(call: Call) -> Value:
        if call.kind.dtype.kind == "b":
            return logical(of_truths)(call)
        return arithmetic(op)(call)

    return row


def stepped(op: Callable[..., Any]) -> Row:
    """The row of a function that rounds: its operand must be far from a step, or exact."""

    def row(call: Call) -> Value:
        (value,) = _operands(call, call.kind.dtype)
        if not value.is_float:
            return value
        value = decided(value, f"a {call.name}")
        return Value(op(value.x), EXACT, value.low - 1, value.high + 1)

    return row


def _asked(op: Callable[..., Any], otherwise: bool) -> Row:
    """Questions that only floats can answer otherwise."""

    def row(call: Call) -> Value:
        (arg,) = call.args
        if not arg.is_float:
            return Value(tf.fill(tf.shape(arg.x), otherwise), EXACT, 0.0, 1.0)
        return Value(op(arg.x), EXACT, 0.0, 1.0)

    return row


def _trunc(x: Any) -> Any:
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


def _round(call: Call) -> Value:
    given = call.bound("a", "decimals")
    if constant(given.get("decimals", 0), "a number of digits") != 0:
        raise NotNative("rounding to some digits")
    return stepped(tf.round)(Call(np.rint, (given["a"],), {}, call.kind))


def _where(call: Call) -> Value:
    if len(call.args) != 3:
        raise NotNative("np.where without two values")
    truth, *others = call.args
    chosen = operand(truth, np.dtype(bool))
    a, b = (operand(other, call.kind.dtype) for other in others)
    return Value(tf.where(chosen.x, a.x, b.x), _worst([a, b]), min(a.low, b.low), max(a.high, b.high))


def _astype(call: Call) -> Value:
    given = call.bound("x", "dtype", "copy")
    return cast(operand(given["x"], given["x"].dtype), np.dtype(constant(given["dtype"], "a dtype")))


def _same(call: Call) -> Value:
    return operand(call.args[0], call.kind.dtype)


def scaled(factor: float) -> Row:
    """The row of a product with a constant, such as `np.degrees`."""
    return smooth(lambda x: x * tf.constant(factor, x.dtype))


ROWS: dict[Any, Row] = {
    np.add: arithmetic(tf.add, _of_sums), np.subtract: arithmetic(tf.subtract, _of_differences),
    np.multiply: arithmetic(tf.multiply, _of_products), np.true_divide: _divide,
    np.negative: arithmetic(tf.negative, lambda a: (-a.high, -a.low), rounds=False), np.positive: _same,
    np.absolute: _absolute, np.fabs: _absolute, np.square: arithmetic(tf.square),
    np.reciprocal: smooth(tf.math.reciprocal), np.remainder: _remainder, np.floor_divide: _floor_divide,
    np.power: _power, np.sqrt: _sqrt, np.exp: smooth(tf.exp), np.expm1: smooth(tf.math.expm1),
    np.exp2: smooth(lambda x: tf.pow(tf.constant(2, x.dtype), x)), np.log: smooth(tf.math.log),
    np.log1p: smooth(tf.math.log1p), np.log2: smooth(lambda x: tf.math.log(x) / tf.constant(math.log(2), x.dtype)),
    np.log10: smooth(lambda x: tf.math.log(x) / tf.constant(math.log(10), x.dtype)),
    np.sin: smooth(tf.sin), np.cos: smooth(tf.cos), np.tan: smooth(tf.tan),
    np.sinh: smooth(tf.sinh), np.cosh: smooth(tf.cosh), np.tanh: smooth(tf.tanh),
    np.arcsin: smooth(tf.asin), np.arccos: smooth(tf.acos), np.arctan: smooth(tf.atan),
    np.arcsinh: smooth(tf.asinh), np.arccosh: smooth(tf.acosh), np.arctanh: smooth(tf.atanh),
    np.arctan2: smooth(tf.atan2), np.degrees: scaled(180 / math.pi), np.rad2deg: scaled(180 / math.pi),
    np.radians: scaled(math.pi / 180), np.deg2rad: scaled(math.pi / 180),
    np.maximum: extreme(larger, _of_larger), np.minimum: extreme(smaller, _of_smaller), np.clip: _clip,
    np.equal: compared(tf.equal), np.not_equal: compared(tf.not_equal), np.less: compared(tf.less),
    np.less_equal: compared(tf.less_equal), np.greater: compared(tf.greater),
    np.greater_equal: compared(tf.greater_equal), np.logical_and: logical(tf.logical_and),
    np.logical_or: logical(tf.logical_or), np.logical_not: logical(tf.logical_not),
    np.logical_xor: logical(tf.math.logical_xor), np.invert: _bits(tf.bitwise.invert, tf.logical_not),
    np.bitwise_and: _bits(tf.bitwise.bitwise_and, tf.logical_and),
    np.bitwise_or: _bits(tf.bitwise.bitwise_or, tf.logical_or),
    np.bitwise_xor: _bits(tf.bitwise.bitwise_xor, tf.math.logical_xor),
    np.isnan: _asked(tf.math.is_nan, False), np.isinf: _asked(tf.math.is_inf, False),
    np.isfinite: _asked(tf.math.is_finite, True), np.floor: stepped(tf.floor), np.ceil: stepped(tf.math.ceil),
    np.rint: stepped(tf.round), np.trunc: stepped(_trunc), np.round: _round, np.around: _round,
    np.sign: stepped(tf.sign), np.where: _where, np.astype: _astype, np.copy: lambda call: call.args[0],
}  # fmt: skip


def row_of(fn: Any) -> Row | None:
    """The row of a function, of a ufunc, or of the operator that is one."""
    ufunc = np.power if fn is operator.pow else OPERATORS.get(fn)
    return ROWS.get(fn if ufunc is None else ufunc)
