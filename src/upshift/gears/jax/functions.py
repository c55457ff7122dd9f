"""Functions that XLA computes within a few roundings of the loop's, each with its error bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...rules.slopes import C_NAMES, ROUND, SLOPES, Slope
from .arithmetic import has_sign_bit, multiply, sqrt
from .value import TINY, Traced, Value, Work, refuse

CLOSE = {8: 4e-15, 4: 1.5e-6}
"""How far XLA's functions and the loop's may be apart, relative: several times what was measured, on CPU and GPU."""
LOOSE = {8: 4e-13, 4: 4e-6}
"""The same for those that XLA makes of others."""


def _spread(slope: Slope, a: Value, x: Traced) -> Traced:
    """How far the result x of a function that is no steeper than this may be off because its argument is."""
    if slope.by_inverse:
        off = a.relative + (0.0 if a.absolute is None else a.absolute / a.least())
        return jnp.where(off < 1e-3, 1.01 * slope.by_inverse * off, jnp.inf)
    off = a.off()
    if not slope.by_result:
        return 1.001 * slope.fixed * off
    return jnp.where(off < 1e-3, 1.01 * off * (slope.fixed + slope.by_result * Value(x).most()), jnp.inf)


@dataclass(frozen=True, slots=True)
class Function:
    """`nothing_below`: where the result becomes zero."""

    run: Callable[..., Traced]
    close: dict[int, float] | None = None
    nonneg: bool = False
    nothing_below: dict[int, float] | None = None


def _exp2(x: Traced) -> Traced:
    """XLA's own is too inexact on single floats."""
    return jnp.exp2(x) if x.dtype == np.float64 else jnp.exp2(x.astype(np.float64)).astype(x.dtype)


FUNCTIONS: dict[str, Function] = {
    "sin": Function(jnp.sin), "cos": Function(jnp.cos), "tan": Function(jnp.tan),
    "sinh": Function(jnp.sinh, LOOSE), "cosh": Function(jnp.cosh, LOOSE, nonneg=True),
    "tanh": Function(jnp.tanh), "arctan": Function(jnp.arctan),
    "arcsinh": Function(jnp.arcsinh), "arcsin": Function(jnp.arcsin), "arccos": Function(jnp.arccos),
    "arccosh": Function(jnp.arccosh, nonneg=True), "arctanh": Function(jnp.arctanh, close=LOOSE),
    "exp": Function(jnp.exp, nonneg=True, nothing_below={8: -746.0, 4: -104.0}),
    "exp2": Function(_exp2, LOOSE, True, {8: -1076.0, 4: -150.0}),
    "expm1": Function(jnp.expm1), "log": Function(jnp.log),
    "log2": Function(jnp.log2), "log10": Function(jnp.log10),
    "log1p": Function(jnp.log1p, close=LOOSE), "cbrt": Function(jnp.cbrt), "arctan2": Function(jnp.arctan2),
    "hypot": Function(jnp.hypot, nonneg=True), "logaddexp": Function(jnp.logaddexp),
    "logaddexp2": Function(jnp.logaddexp2, close=LOOSE), "sinc": Function(jnp.sinc),
}  # fmt: skip


def call(work: Work, name: str, *args: Value) -> Value:
    """A function by its name."""
    found = FUNCTIONS[name]
    if args[0].dtype.kind != "f":
        raise refuse(f"{name} of {args[0].dtype.name}")
    x = work.fixed(found.run(*(a.x for a in args)))
    if not work.careful:
        return Value(x)
    close = (found.close or CLOSE)[args[0].bytes]
    absolute = None
    if not all(a.sharp for a in args):
        slope = SLOPES.get(C_NAMES.get(name, name))
        if slope is None:
            raise refuse(f"{name} of what may be off in its last bits")
        absolute = _spread(slope, args[0], x)
    if name.startswith("logaddexp"):  # a difference, where the result is near zero
        absolute = close * (args[0].most() + args[1].most() + 1)
    lost = _vanished(found, x, args[0])
    return work.made(x, *args, relative=close, absolute=absolute, nonneg=found.nonneg, frail=lost)


def _vanished(found: Function, x: Traced, a: Value) -> Callable[[], Traced] | None:
    if found is FUNCTIONS["arctan2"]:
        return lambda: (jnp.abs(x) < TINY[a.bytes]) & (a.x != 0)
    below = found.nothing_below
    if below is None:
        return None
    return lambda: (jnp.abs(x) < TINY[a.bytes]) & (a.x > below[a.bytes])


def scaled(work: Work, a: Value, factor: float) -> Value:
    """`degrees` and `radians`: the loop may divide where we multiply."""
    made = multiply(work, a, Value(work.number(factor, a.dtype), nonneg=True))
    return work.made(made.x, made, relative=made.relative + 2 * ROUND[a.bytes], absolute=made.absolute)


def power(work: Work, a: Value, b: Value, exponent: Any = None) -> Value:
    """`a ** b`; `exponent` is b where it is known beforehand."""
    if a.dtype.kind in "iu":
        return _power_of_ints(work, a, exponent)
    if a.dtype.kind != "f":
        raise refuse(f"powers of {a.dtype.name}")
    if exponent is not None and exponent in (0.5, 1, 2, 3):
        return _simple_power(work, a, exponent)
    x = work.fixed(jnp.power(a.x, b.x))
    if not work.careful:
        return Value(x)
    relative = CLOSE[a.bytes]
    if not b.sharp or a.absolute is not None or (not a.sharp and exponent is None):
        raise refuse("a power of what may be off in its last bits")
    if not a.sharp:
        relative += 1.01 * abs(float(exponent)) * a.relative

    def lost() -> Traced:
        return (jnp.abs(x) < TINY[a.bytes]) & (a.x != 0) & jnp.isfinite(b.x)

    return work.made(x, a, b, relative=relative, nonneg=a.nonneg, frail=lost)


def _simple_power(work: Work, a: Value, exponent: float) -> Value:
    """By roots and products, which have other last bits than the loop's powers may have."""
    made = a
    if exponent == 0.5:
        made = _root(work, a)
    elif exponent > 1:
        made = multiply(work, a, a, loose=True)
        made = multiply(work, made, a, loose=True) if exponent == 3 else made
    if not work.careful or exponent == 1:
        return made
    relative = made.relative + 2 * ROUND[a.bytes]
    return work.made(made.x, made, relative=relative, absolute=made.absolute, nonneg=made.nonneg)


def _root(work: Work, a: Value) -> Value:
    """Powers of -inf and -0.0 are no roots."""
    work.odd(has_sign_bit(a.x) & ((a.x == -jnp.inf) | (a.x == 0)))
    return sqrt(work, a)


def _power_of_ints(work: Work, a: Value, exponent: Any) -> Value:
    if not isinstance(exponent, int | np.integer) or not 0 <= exponent <= 64:
        raise refuse("powers of ints with an exponent that is not known beforehand")
    made = jnp.ones_like(a.x)
    base, left = a.x, int(exponent)
    while left:
        made = made * base if left & 1 else made
        left >>= 1
        base = base * base if left else base
    return work.made(made, a)
