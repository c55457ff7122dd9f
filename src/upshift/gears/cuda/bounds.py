"""How far the result of an operation on floats may be off, given how far its operands are; or LLVM IR that computes it.

An error is None for a float that is the loop's very bits, a number k for one that is off by at most k units of its own
size (one in the last place), or the name of a float that bounds it. Products, quotients and roots of relative errors
have relative errors, so that bounds cost nothing until a sum needs one. Relative errors hold for normal floats: what
else comes of a product or of a function such as exp is remembered, and its lane left. A rule that holds only while an
error is small leaves the lanes for which it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...columns.kinds import RTOL
from ...rules.slopes import SLOPES, Slope
from .ufuncs import c_name, is_single

Error = float | str | None
UNIT = 2.0**-52
"""One in the last place, at most, relative to a float's size."""
OF_SINGLE = 2.0**29
"""How many of these one in the last place of a float32 is."""
CLOSE, CLOSE_SINGLE = RTOL[8], RTOL[4]
"""What the law allows, relative to a result: float64's and float32's."""
UNDEFINED_AT_INFINITY = frozenset(("sin", "cos", "tan"))
"""Functions that are finite wherever their argument is."""
SMALL = "4.000000e-03"
"""A relative error, below which a function is taken to be as steep as at the point itself; SLACK pays for that."""
SLACK = "1.020000e+00"
TINY, TINY_SINGLE = "0x0000000000000FD0", "1.000000e-42"
"""About 2e-320: what products that are less than normal floats may be off when they are added up."""
MOST_UNITS = 1e5
"""Relative errors beyond this no longer just add up; of float32, those that come near to what the law allows."""
_APART = {
    **dict.fromkeys(("exp", "exp2", "log", "log2"), 2.0), "sin": 3.0, "cos": 3.0,
    "erfc": 8.0, "asinh": 5.0, "acosh": 5.0, "cbrt": 6.0,
}  # fmt: skip
APART = 4.0
"""How many units a GPU's function and C's may be apart: what NVIDIA states (one or two, mostly), and as C is off."""
OF_NUMPY = 4.0
"""How much more NumPy's own functions, which compute many floats at once, may be off than C's."""
UNDERFLOWS = frozenset(("exp", "exp2", "pow", "atan2", "hypot", "erf", "erfc"))
"""Functions whose results may be smaller than normal floats where they are not their arguments."""

BOUNDED = frozenset(("sin", "cos", "tanh", "atan", "asin", "acos", "atan2", "erf", "erfc"))
"""Functions whose results are never large."""


class Words(Protocol):
    """Writes lines."""

    def add(self, *terms: str | None) -> str:
        """The line for a sum of bounds."""

    def mul(self, *factors: str) -> str:
        """The line for a product of bounds."""

    def div(self, a: str, b: str) -> str:
        """The line for a quotient of bounds."""

    def size(self, a: str) -> str:
        """The line for the size of a float, without its sign."""

    def wide(self, a: str) -> str:
        """The line for a float as a float64."""

    def is_single(self, a: str) -> bool:
        """Whether a value is a float32."""

    def leave_unless(self, compare: str, a: str, b: str) -> None:
        """The lines that leave the lane where a comparison does not hold."""


Rule = Callable[[Words, str, Sequence[str], Sequence[Error]], Error]


class Steep(Exception):
    """No bound is known."""


def number(value: float) -> str:
    """A float in LLVM IR."""
    return f"{value:.6e}"


def own(name: str) -> float:
    """How far a GPU's function is off, by the name that a lane's function has for it."""
    units = _APART.get(c_name(name), APART) + (OF_NUMPY if name.startswith("numpy_") else 0.0)
    return units * OF_SINGLE if is_single(name) else units


def step(w: Words, value: str) -> float:
    """One in the last place of a float."""
    return OF_SINGLE if w.is_single(value) else 1.0


def bound(w: Words, value: str, error: Error) -> str | None:
    """An error as a float."""
    if error is None or isinstance(error, str):
        return error
    return w.mul(number(error * UNIT), w.size(value))


def _share(w: Words, value: str, error: Error) -> str:
    """An error relative to the float."""
    return number(error * UNIT) if isinstance(error, float) else w.div(error or "", w.size(value))


def of_sum(w: Words, out: str, args: Sequence[str], errors: Sequence[Error]) -> Error:
    """What is added up is rounded, by a unit of its own size or, what is no less, of both sizes of a sum."""
    unit = step(w, out)
    terms = [e if isinstance(e, str) else bound(w, a, (e or 0.0) + unit) for a, e in zip(args, errors, strict=True)]
    tiny = TINY_SINGLE if w.is_single(out) else TINY
    return w.add(tiny, *terms, *([bound(w, out, unit)] if any(isinstance(e, str) for e in errors) else []))


def of_product(w: Words, out: str, args: Sequence[str], errors: Sequence[Error]) -> Error:
    """How far a product may be off."""
    (a, b), (ea, eb) = args, errors
    if not isinstance(ea, str) and not isinstance(eb, str):
        return _relative(w, out, (ea or 0.0) + (eb or 0.0) + step(w, out))
    ea, eb = bound(w, a, ea), bound(w, b, eb)
    terms = [w.mul(w.size(b), ea) if ea else None, w.mul(w.size(a), eb) if eb else None]
    return w.add(bound(w, out, step(w, out)), *terms, w.mul(ea, eb) if ea and eb else None)


def of_quotient(w: Words, out: str, args: Sequence[str], errors: Sequence[Error]) -> Error:
    """How far a quotient may be off; lanes whose divisor is not known well enough are left."""
    (a, b), (ea, eb) = args, errors
    if not isinstance(ea, str) and not isinstance(eb, str):
        return _relative(w, out, (ea or 0.0) + (eb or 0.0) + step(w, out))
    ea, eb = bound(w, a, ea), bound(w, b, eb)
    if eb:
        w.leave_unless("olt", eb, w.mul(SMALL, w.size(b)))
    terms = w.add(ea, w.mul(w.size(out), eb) if eb else None)
    return w.add(bound(w, out, step(w, out)), w.mul(SLACK, w.div(terms, w.size(b))))


def of_root(w: Words, out: str, args: Sequence[str], errors: Sequence[Error]) -> Error:
    """How far a square root may be off; lanes whose argument is not known well enough are left."""
    (a,), (ea,) = args, errors
    if isinstance(ea, float):
        return _relative(w, out, 0.5 * ea + step(w, out))
    w.leave_unless("olt", ea or "", w.mul(SMALL, w.wide(a)))
    root = w.wide(out)
    return w.add(bound(w, out, step(w, out)), w.mul(SLACK, w.div(ea or "", w.add(root, root))))


def _relative(w: Words, out: str, units: float) -> Error:
    units *= 1.001
    most = 0.9 * CLOSE_SINGLE / UNIT if w.is_single(out) else MOST_UNITS
    return units if units < most else bound(w, out, units * 1.1)


# ---- functions: how far a result is off because the argument is


def _by_slope(slope: Slope) -> Rule:
    """A function that is no steeper than this; lanes are left where the argument is off by too much for that."""

    def rule(w: Words, out: str, args: Sequence[str], errors: Sequence[Error]) -> Error:
        if slope.by_inverse:
            share = _share(w, args[0], errors[0])
            w.leave_unless("olt", share, SMALL)
            return w.mul(number(1.02 * slope.by_inverse), share)
        error = bound(w, args[0], errors[0]) or ""
        if not slope.by_result:
            return w.mul(number(slope.fixed), error)
        w.leave_unless("olt", error, SMALL)
        steep = w.mul(number(slope.by_result), w.size(out))
        return w.mul(SLACK, w.add(steep, number(slope.fixed)) if slope.fixed else steep, error)

    return rule


def _of_tan(w: Words, out: str, args: Sequence[str], errors: Sequence[Error]) -> Error:
    error = bound(w, args[0], errors[0]) or ""
    steepness = w.add("1.000000e+00", w.mul(w.size(out), w.size(out)))
    w.leave_unless("olt", w.mul(error, steepness), SMALL)
    return w.mul(SLACK, steepness, error)


def _of_power(w: Words, out: str, args: Sequence[str], errors: Sequence[Error]) -> Error:
    """Of a base that may be off; an exponent that may be is too steep to tell."""
    if errors[1] is not None:
        raise Steep
    share = w.mul(w.size(args[1]), _share(w, args[0], errors[0]))
    w.leave_unless("olt", share, SMALL)
    return w.mul(SLACK, w.size(out), share)


FUNCTIONS: dict[str, Rule] = {
    **{name: _by_slope(slope) for name, slope in SLOPES.items()}, "tan": _of_tan, "pow": _of_power,
}  # fmt: skip
"""By C's name. Others are refused where an argument may be off."""
