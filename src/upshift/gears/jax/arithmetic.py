"""Arithmetic of one dtype in XLA with the loop's very bits, and how error bounds spread through it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...rules.slopes import ROUND
from .value import FLOAT, TINY, Traced, Value, Work, refuse


def _is_real(value: Value) -> bool:
    return value.dtype.kind == "f"


def _sum_of(a: Traced | None, b: Traced | None) -> Traced | None:
    return b if a is None else a if b is None else a + b


# ---- + - * /


def add(work: Work, a: Value, b: Value) -> Value:
    """`a + b`; of booleans, `a or b`."""
    x = lax.bitwise_or(*jnp.broadcast_arrays(a.x, b.x)) if a.dtype == bool else a.x + b.x
    return _added(work, x, a, b, a.nonneg and b.nonneg)


def subtract(work: Work, a: Value, b: Value) -> Value:
    """`a - b`; NumPy has none of booleans."""
    if a.dtype == bool:
        raise refuse("it subtracts booleans")
    return _added(work, a.x - b.x, a, b, False)


def _added(work: Work, x: Traced, a: Value, b: Value, nonneg: bool) -> Value:
    if not work.careful or (a.sharp and b.sharp):
        return work.made(x, a, b, nonneg=nonneg)
    round_ = ROUND[a.bytes]
    if nonneg:
        absolute = _sum_of(a.absolute, b.absolute)
        return work.made(x, a, b, relative=max(a.relative, b.relative) + round_, absolute=absolute, nonneg=True)
    return work.made(x, a, b, relative=round_, absolute=a.off() + b.off())


def multiply(work: Work, a: Value, b: Value, loose: bool = False) -> Value:
    """`loose`: where one rounding more or less does not matter, XLA may do it together with what follows."""
    if a.dtype.kind in "biu":
        x = lax.bitwise_and(*jnp.broadcast_arrays(a.x, b.x)) if a.dtype == bool else a.x * b.x
        return work.made(x, a, b)
    sharp = a.sharp and b.sharp and _is_real(a) and not loose
    x = work.fixed(a.x * b.x) if sharp else a.x * b.x
    nonneg = _is_real(a) and (a is b or (a.nonneg and b.nonneg))
    lost = _lost(x, a, b)
    if not work.careful or sharp:
        return work.made(x, a, b, nonneg=nonneg, frail=lost)
    relative = 1.01 * (a.relative + b.relative) + ROUND[a.bytes] * (1 if _is_real(a) else 4)
    absolute = None
    if a.absolute is not None:
        absolute = 1.01 * a.absolute * b.most()
    if b.absolute is not None:
        absolute = _sum_of(absolute, 1.01 * b.absolute * a.most())
    if a.absolute is not None and b.absolute is not None:
        absolute = absolute + a.absolute * b.absolute
    made = work.made(x, a, b, relative=relative, absolute=absolute, nonneg=nonneg, frail=lost)
    return made.as_large_as(a, b, lambda size, one: size * one)


def divide(work: Work, a: Value, b: Value) -> Value:
    """`a / b`, in the loop's very bits where both are; otherwise with a bound on how far it may be off."""
    nonneg = a.nonneg and b.nonneg
    sharp = a.sharp and b.sharp and _is_real(a)
    x = work.rounded_right(operator.truediv, a.x, work.beside(b.x, a.x)) if sharp else work.fixed(a.x / b.x)
    lost = _lost(x, a, None)
    if not work.careful or sharp:
        return work.made(x, a, b, nonneg=nonneg, frail=lost)
    relative = 1.01 * (a.relative + b.relative) + ROUND[a.bytes] * (2 if _is_real(a) else 8)
    absolute = None
    if a.absolute is not None or b.absolute is not None:
        least, off = b.least(), 0.0 if b.absolute is None else b.absolute
        size = Value(x).as_large_as(a, b, lambda size, one: size / one).most()
        made = size * off + (0.0 if a.absolute is None else a.absolute)
        absolute = jnp.where(off <= 0.01 * least, 1.03 * made / least, jnp.inf)
    made = work.made(x, a, b, relative=relative, absolute=absolute, nonneg=nonneg, frail=lost)
    return made.as_large_as(a, b, lambda size, one: size / one)


def _lost(x: Traced, a: Value, b: Value | None) -> Callable[[], Traced] | None:
    """Where a result is so small that it may have been taken for zero."""
    if a.dtype.kind != "f":
        return None

    def tiny() -> Traced:
        found = (jnp.abs(x) < TINY[a.bytes]) & (a.x != 0)
        return found if b is None else found & (b.x != 0)

    return tiny


def negative(work: Work, a: Value) -> Value:
    """`-a`."""
    return work.made(-a.x, a, relative=a.relative, absolute=a.absolute)


def positive(work: Work, a: Value) -> Value:
    """`+a`."""
    return a


def absolute(work: Work, a: Value) -> Value:
    """`abs(a)`, of complex numbers too."""
    x = jnp.abs(a.x)
    if a.dtype.kind == "c":
        return work.made(x, a, relative=a.relative + 4 * ROUND[a.bytes], absolute=a.absolute, nonneg=True)
    return work.made(x, a, relative=a.relative, absolute=a.absolute, nonneg=True)


def square(work: Work, a: Value) -> Value:
    """`a * a`."""
    return multiply(work, a, a)


def reciprocal(work: Work, a: Value) -> Value:
    """`1 / a` of a float."""
    if a.dtype.kind != "f":
        raise refuse("it takes the reciprocal of ints")
    return divide(work, Value(work.number(1.0, a.dtype), nonneg=True), a)


def sqrt(work: Work, a: Value) -> Value:
    """The square root, in the loop's very bits where `a` is; otherwise with a bound on how far it may be off."""
    sharp = a.sharp and _is_real(a)
    x = work.rounded_right(jnp.sqrt, a.x) if sharp else work.fixed(jnp.sqrt(a.x))
    if not work.careful or sharp:
        return work.made(x, a, nonneg=_is_real(a))
    relative = 0.51 * a.relative + ROUND[a.bytes] * (2 if _is_real(a) else 8)
    bound = None
    if a.absolute is not None:
        root = jnp.sqrt(a.least())
        most = 1.01 * jnp.sqrt(a.absolute) if a.nonneg else jnp.inf  # what may be negative may have no root
        bound = jnp.where(a.absolute <= 0.01 * a.least(), 0.51 * a.absolute / root, most)
    return work.made(x, a, relative=relative, absolute=bound, nonneg=_is_real(a))


# ---- what picks one of its arguments


def pick(work: Work, condition: Traced, a: Value, b: Value) -> Value:
    """`a` where the condition holds, `b` elsewhere."""
    return work.moved(jnp.where(condition, a.x, b.x), a, b)


def minimum(work: Work, a: Value, b: Value) -> Value:
    """The smaller one, or NaN if one is NaN."""
    return pick(work, (a.x < b.x) | _is_nan(a), a, b)


def maximum(work: Work, a: Value, b: Value) -> Value:
    """The larger one, or NaN if one is NaN."""
    return pick(work, (a.x > b.x) | _is_nan(a), a, b)


def fmin(work: Work, a: Value, b: Value) -> Value:
    """The smaller one, or the other one if one is NaN."""
    return pick(work, (a.x <= b.x) | _is_nan(b), a, b)


def fmax(work: Work, a: Value, b: Value) -> Value:
    """The larger one, or the other one if one is NaN."""
    return pick(work, (a.x >= b.x) | _is_nan(b), a, b)


def smaller(work: Work, a: Value, b: Value) -> Value:
    """`min`, as Python decides it: the first unless the second is less."""
    return pick(work, b.x < a.x, b, a)


def larger(work: Work, a: Value, b: Value) -> Value:
    """`max`, as Python decides it."""
    return pick(work, b.x > a.x, b, a)


def _is_nan(a: Value) -> Traced:
    return a.x != a.x


def copysign(work: Work, a: Value, b: Value) -> Value:
    """`a` with the sign of `b`; lanes whose `b` may be on either side of zero are left."""
    if not b.sharp:
        _near(work, b, jnp.abs(b.x))
    work.decide_on(b)
    x = jnp.where(has_sign_bit(b.x), -jnp.abs(a.x), jnp.abs(a.x))
    return work.made(x, a, b, relative=a.relative, absolute=a.absolute)


def has_sign_bit(x: Traced) -> Traced:
    """Which floats have the sign bit, -0.0 among them."""
    return lax.bitcast_convert_type(x, np.int64 if x.dtype.itemsize == 8 else np.int32) < 0


def sign_bit(work: Work, a: Value) -> Value:
    """`np.signbit` of an exact float."""
    if not a.sharp or a.dtype.kind != "f":
        raise refuse("it looks at the sign bit of what is no exact float")
    return Value(has_sign_bit(a.x))


# ---- decisions


def _near(work: Work, value: Value, distance: Traced) -> None:
    """Lanes that are nearer to an edge than the value may be off are odd."""
    work.odd(distance.astype(FLOAT) <= value.off_each())


COMPARES: dict[str, Callable[..., Traced]] = {
    "less": jnp.less, "less_equal": jnp.less_equal, "greater": jnp.greater, "greater_equal": jnp.greater_equal,
    "equal": jnp.equal, "not_equal": jnp.not_equal,
}  # fmt: skip


def compare(work: Work, name: str, a: Value, b: Value) -> Value:
    """A comparison by NumPy's name; lanes whose sides are nearer than their errors are left."""
    if work.careful and not (a.sharp and b.sharp):
        if a.dtype.kind == "c":
            raise refuse("it compares complex numbers that may be off in their last bits")
        gap = jnp.abs(a.x - b.x).astype(FLOAT)
        work.odd(gap <= a.off_each() + b.off_each())
    work.decide_on(a, b)
    return Value(COMPARES[name](a.x, b.x))


def truth(work: Work, a: Value) -> Value:
    """`x != 0`."""
    if a.dtype == bool:
        return a
    return compare(work, "not_equal", a, zero_of(work, a))


def zero_of(work: Work, a: Value) -> Value:
    """Zero in the dtype of `a`."""
    return Value(jnp.zeros((), a.dtype))


def is_nan(work: Work, a: Value) -> Value:
    """Which numbers are NaN."""
    return Value(jnp.isnan(a.x) if a.dtype.kind in "fc" else jnp.zeros(a.shape, bool))


def is_infinite(work: Work, a: Value) -> Value:
    """Which numbers are infinite."""
    return Value(jnp.isinf(a.x) if a.dtype.kind in "fc" else jnp.zeros(a.shape, bool))


def is_finite(work: Work, a: Value) -> Value:
    """Which numbers are finite."""
    return Value(jnp.isfinite(a.x) if a.dtype.kind in "fc" else jnp.ones(a.shape, bool))


def sign(work: Work, a: Value) -> Value:
    """-1, 0 or 1; lanes whose number may be on either side of zero are left."""
    if a.dtype.kind not in "fiu":
        raise refuse(f"it takes the sign of {a.dtype.name}")
    if not a.sharp:
        _near(work, a, jnp.abs(a.x))
    work.decide_on(a)
    return Value(jnp.sign(a.x))


ROUNDERS: dict[str, Callable[[Traced], Traced]] = {
    "floor": jnp.floor, "ceil": jnp.ceil, "trunc": jnp.trunc, "rint": jnp.round,
}  # fmt: skip


def rounded(work: Work, name: str, a: Value) -> Value:
    """To whole numbers; where a value may be off, its distance from where the result jumps decides."""
    if a.dtype.kind in "biu":
        return a
    if work.careful and not a.sharp:
        edge = a.x - jnp.round(a.x) if name != "rint" else a.x - jnp.floor(a.x) - 0.5
        _near(work, a, jnp.abs(edge))
    if name in ("floor", "ceil"):
        work.decide_on(a)
    return work.made(ROUNDERS[name](a.x), a, nonneg=a.nonneg)


# ---- remainders


def fmod(work: Work, a: Value, b: Value) -> Value:
    """C's remainder, with the sign of `a`."""
    _must_be_sharp(a, b, "a remainder")
    x, y = jnp.broadcast_arrays(a.x, b.x)
    if a.dtype.kind in "iu":
        y = _divisor(work, x, y)
    elif a.dtype.kind != "f":
        raise refuse(f"it takes remainders of {a.dtype.name}")
    work.decide_on(a, b)
    return work.made(lax.rem(x, y), a, b)


def remainder(work: Work, a: Value, b: Value) -> Value:
    """Python's remainder, with the sign of `b`."""
    return _divmod(work, a, b)[1]


def floor_divide(work: Work, a: Value, b: Value) -> Value:
    """The quotient, rounded down."""
    return _divmod(work, a, b)[0]


def _divmod(work: Work, a: Value, b: Value) -> tuple[Value, Value]:
    _must_be_sharp(a, b, "a remainder")
    work.decide_on(a, b)
    x, y = jnp.broadcast_arrays(a.x, b.x)
    if a.dtype.kind in "iu":
        return _divmod_of_ints(work, a, b, x, y)
    if a.dtype.kind != "f":
        raise refuse(f"it takes remainders of {a.dtype.name}")
    rest = lax.rem(x, y)
    quotient = work.rounded_right(operator.truediv, x - rest, work.beside(y, x))
    wrong_side = (rest != 0) & ((y < 0) != (rest < 0))
    zero = jnp.where(has_sign_bit(y), -jnp.zeros_like(y), jnp.zeros_like(y))
    mod = jnp.where(rest == 0, zero, jnp.where(wrong_side, rest + y, rest))
    quotient = jnp.where(wrong_side, quotient - 1, quotient)
    down = jnp.floor(quotient)
    down = jnp.where(quotient - down > 0.5, down + 1, down)
    plain = work.rounded_right(operator.truediv, x, work.beside(y, x))
    signed_zero = jnp.where(has_sign_bit(plain), -jnp.zeros_like(y), jnp.zeros_like(y))
    down = jnp.where(quotient != 0, down, signed_zero)
    work.odd((~jnp.isfinite(x)) | jnp.isinf(y) | (y == 0))  # NumPy's own answers there have changed over its versions
    return work.made(down, a, b), work.made(mod, a, b)


def _divmod_of_ints(work: Work, a: Value, b: Value, x: Traced, y: Traced) -> tuple[Value, Value]:
    safe = _divisor(work, x, y)
    quotient, rest = lax.div(x, safe), lax.rem(x, safe)
    if a.dtype.kind == "i":
        wrong_side = (rest != 0) & ((safe < 0) != (rest < 0))
        quotient, rest = jnp.where(wrong_side, quotient - 1, quotient), jnp.where(wrong_side, rest + safe, rest)
    return work.made(quotient, a, b), work.made(rest, a, b)


def _divisor(work: Work, x: Traced, y: Traced) -> Traced:
    """A divisor of ints that XLA can divide by; lanes with another are odd, since NumPy warns."""
    work.odd(y == 0)
    if x.dtype.kind == "i":
        work.odd((y == -1) & (x == np.iinfo(x.dtype).min))
    return jnp.where(y == 0, jnp.ones_like(y), y)


def _must_be_sharp(a: Value, b: Value, what: str) -> None:
    if not (a.sharp and b.sharp):
        raise refuse(f"{what} of what may be off in its last bits")


# ---- other dtypes


def cast(work: Work, a: Value, dtype: np.dtype[Any]) -> Value:
    """As `astype` does; lanes with a number that the dtype cannot hold are odd."""
    if a.dtype == dtype:
        return a
    if dtype.kind == "b":
        return truth(work, a)
    if a.dtype.kind == "c" and dtype.kind != "c":
        raise refuse("it drops imaginary parts")
    if a.dtype.kind == "f" and dtype.kind in "iu":
        return _to_ints(work, a, dtype)
    x = a.x.astype(dtype)
    if a.dtype.kind not in "fc" or dtype.itemsize >= a.dtype.itemsize:
        return work.made(x, a, relative=a.relative, absolute=a.absolute, nonneg=a.nonneg)
    relative = a.relative + ROUND[4] if not a.sharp else 0.0
    x = work.fixed(x)
    return work.made(x, a, relative=relative, absolute=a.absolute, nonneg=a.nonneg, frail=_shrunk(x, a))


def _shrunk(x: Traced, a: Value) -> Callable[[], Traced] | None:
    return (lambda: (jnp.abs(x) < TINY[4]) & (a.x != 0)) if a.dtype.kind == "f" else None


def _to_ints(work: Work, a: Value, dtype: np.dtype[Any]) -> Value:
    whole = rounded(work, "trunc", a)
    info = np.iinfo(dtype)
    doubles = whole.x.astype(FLOAT)
    low, high = float(info.min), float(info.max)
    inside = (doubles >= low) & (doubles <= high if dtype.itemsize < 8 else doubles < high)
    work.odd(~inside)
    return work.made(jnp.where(inside, whole.x, jnp.zeros_like(whole.x)).astype(dtype), a)


def from_constant(work: Work, value: Any, dtype: np.dtype[Any]) -> Value:
    """A number or an array that the function wrote itself."""
    if isinstance(value, np.ndarray) and value.ndim:
        return work.input(jnp.asarray(value.astype(dtype)))
    nonneg = dtype.kind in "fiu" and bool(value >= 0)
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= int(value) <= np.iinfo(dtype).max:
        raise refuse(f"it computes with {value!r} among {dtype.name}")
    return Value(work.number(value, dtype), nonneg=nonneg)


def total(work: Work, values: list[Value]) -> Value:
    """One after the other."""
    made = values[0]
    for value in values[1:]:
        made = add(work, made, value)
    return made
