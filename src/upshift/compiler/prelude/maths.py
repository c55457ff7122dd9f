"""`math`: what CPython computes itself, operation for operation, where C's library is not asked."""

from __future__ import annotations

import math
import sys
from typing import Any

from .intrinsics import (
    bits_of,
    c_ldexp,
    float_of_bits,
    fma,
    is_nan,
    item,
    plus,
    set_item,
    shift_down,
    sized,
    whole,
)
from .iterables import listed
from .registry import implements, inline, prelude

TINY = 2.2250738585072014e-308
SMALLEST = 5.562684646268003e-309
"""2 ** -1024: what is smaller has no inverse."""
SIGN = -(2**63)
SPLITS = sys.version_info < (3, 12)
"""Whether distances are worked out with halves of floats, as they were before products were split exactly."""


# ---- the parts of a float


@implements(math.frexp)
def frexp(x: float) -> Any:
    """A float as a fraction between 0.5 and 1 and a power of two."""
    if x == 0.0 or is_nan(x) or abs(x) == math.inf:
        return x, 0
    scaled = x
    extra = 0
    if abs(x) < TINY:
        scaled = x * 18014398509481984.0  # 2 ** 54
        extra = -54
    bits = bits_of(scaled)
    exponent = (shift_down(bits, 52) & 2047) - 1022
    return float_of_bits((bits & ~(2047 << 52)) | (1022 << 52)), exponent + extra


@implements(math.ldexp)
def ldexp(x: float, i: int) -> Any:
    """`x * 2 ** i`, and an OverflowError where that is infinite."""
    if x == 0.0 or is_nan(x) or abs(x) == math.inf:
        return x
    if i > 5000:
        i = 5000
    if i < -5000:
        i = -5000
    made = c_ldexp(x, i)
    if abs(made) == math.inf:
        raise OverflowError("math range error")
    return made


@implements(math.modf)
def modf(x: float) -> Any:
    """The part behind the point and the whole part, both with the sign of `x`."""
    if is_nan(x):
        return x, x
    if abs(x) == math.inf:
        return math.copysign(0.0, x), x
    down = math.copysign(whole(abs(x)), x)
    return math.copysign(x - down, x), down


@implements(math.ulp)
def ulp(x: float) -> Any:
    """The distance from a float to the next larger one."""
    if is_nan(x):
        return x
    x = abs(x)
    if x == math.inf:
        return x
    above = math.nextafter(x, math.inf)
    if above == math.inf:
        return x - math.nextafter(x, -math.inf)
    return above - x


@prelude
def next_after_steps(x: float, y: float, steps: int) -> Any:
    """`math.nextafter(x, y, steps=steps)`."""
    if steps < 0:
        raise ValueError("steps must be a non-negative integer")
    if steps == 0 or is_nan(x):
        return x
    if is_nan(y):
        return y
    a = bits_of(x)
    b = bits_of(y)
    if a == b:
        return x
    size_a = a & ~SIGN
    size_b = b & ~SIGN
    if (a < 0) != (b < 0):
        if size_a <= steps and size_b <= steps - size_a:
            return y
        if size_a >= steps:
            return float_of_bits(a - steps)
        return float_of_bits((b & SIGN) | (steps - size_a))
    if size_a > size_b:
        return float_of_bits(a - steps) if size_a - size_b >= steps else y
    return float_of_bits(a + steps) if size_b - size_a >= steps else y


@implements(math.remainder)
def remainder(x: float, y: float) -> Any:
    """What is left of `x` after the nearest multiple of `y`, as IEEE 754 defines it."""
    if is_nan(x) or is_nan(y):
        return x if is_nan(x) else y
    if abs(x) == math.inf or y == 0.0:
        raise ValueError("math domain error")
    if abs(y) == math.inf:
        return x
    a = abs(x)
    b = abs(y)
    rest = math.fmod(a, b)
    more = b - rest
    if rest < more:
        made = rest
    elif rest > more:
        made = -more
    else:
        made = rest - 2.0 * math.fmod(0.5 * (a - rest), b)
    return math.copysign(1.0, x) * made


# ---- distances


@implements(math.hypot)
@inline
def hypot(*coordinates: Any) -> Any:
    """The length of a vector, without overflow on the way."""
    if len(coordinates) == 2:
        return hypot_of_two(coordinates[0], coordinates[1])
    sizes = []
    for x in coordinates:
        sizes.append(size_as_float(x))
    return norm(sizes)


def size_as_float(x: float) -> Any:
    """The size of a number that becomes a float here."""
    return abs(x)


@implements(math.dist)
@inline
def dist(p: Any, q: Any) -> Any:
    """The distance of two points, without overflow on the way."""
    a = listed(p)
    b = listed(q)
    n = len(a)
    if n != len(b):
        raise ValueError("both points must have the same number of dimensions")
    sizes = sized(n)
    i = 0
    while i < n:
        set_item(sizes, i, difference(item(a, i), item(b, i)))
        i = plus(i, 1)
    return norm(sizes)


def difference(x: float, y: float) -> Any:
    """The distance of two numbers that become floats here."""
    return abs(x - y)


def hypot_of_two(x: float, y: float) -> Any:
    """The norm of two numbers, without a list."""
    x = abs(x)
    y = abs(y)
    if x == math.inf or y == math.inf:
        return math.inf
    if is_nan(x) or is_nan(y):
        return math.nan
    largest = x if x > y else y
    if largest == 0.0:
        return 0.0
    by = 1.0
    if largest < SMALLEST:
        if SPLITS:
            return plain_norm([x, y], largest)
        by = TINY
        x = x / TINY
        y = y / TINY
        largest = largest / TINY
    scale = power_below(largest)
    total, one, two, three = with_square(1.0, 0.0, 0.0, 0.0, x * scale)
    total, one, two, three = with_square(total, one, two, three, y * scale)
    return by * (corrected_root(total, one, two, three) / scale)


def power_below(largest: float) -> Any:
    """The power of two that brings a float between a half and one."""
    e = (shift_down(bits_of(largest), 52) & 2047) - 1022
    if e == -1022 and largest < SMALLEST * 2.0:
        e = -1023
    if e > 1022:
        return float_of_bits(1 << (1074 - e))  # below the normal ones
    return float_of_bits((1023 - e) << 52)


def upper_half(x: float) -> Any:
    """The upper half of a float's digits."""
    t = x * 134217729.0
    return t - (t - x)


def with_square(total: float, one: float, two: float, three: float, x: float) -> Any:
    """A sum of squares, and what it has lost, with one more."""
    if SPLITS:
        high = upper_half(x)
        low = x - high
        square = high * high
        more = total + square
        one = one + ((total - more) + square)
        square = 2.0 * high * low
        total = more + square
        two = two + ((more - total) + square)
        return total, one, two, three + low * low
    square = x * x
    more = total + square
    return more, one + fma(x, x, -square), two + ((total - more) + square), three


def corrected_root(total: float, one: float, two: float, three: float) -> Any:
    """The root of a sum of squares that began with 1, with one step of Newton's."""
    h = math.sqrt(total - 1.0 + (one + two + three))
    if SPLITS:
        high = upper_half(h)
        low = h - high
        square = -high * high
        less = total + square
        one = one + ((total - less) + square)
        square = -2.0 * high * low
        total = less + square
        two = two + ((less - total) + square)
        square = -low * low
        less = total + square
        three = three + ((total - less) + square)
    else:
        square = -h * h
        less = total + square
        one = one + fma(-h, h, -square)
        two = two + ((total - less) + square)
    x = less - 1.0 + (one + two + three)
    return h + x / (2.0 * h)


def plain_norm(sizes: Any, largest: float) -> Any:
    """Of numbers so small that no power of two brings them up."""
    total = 1.0
    lost = 0.0
    i = 0
    while i < len(sizes):
        x = item(sizes, i) / largest
        x = x * x
        more = total + x
        lost = lost + ((total - more) + x)
        total = more
        i = plus(i, 1)
    return largest * math.sqrt(total - 1.0 + lost)


def norm(sizes: Any) -> Any:
    """The root of the sum of squares of numbers that are not negative."""
    n = len(sizes)
    largest = 0.0
    odd = False
    i = 0
    while i < n:
        x = item(sizes, i)
        if is_nan(x):
            odd = True
        elif x > largest:
            largest = x
        i = plus(i, 1)
    if largest == math.inf:
        return largest
    if odd:
        return math.nan
    if largest == 0.0 or n <= 1:
        return largest
    by = 1.0
    if largest < SMALLEST:
        if SPLITS:
            return plain_norm(sizes, largest)
        by = TINY
        largest = largest / TINY
    scale = power_below(largest)
    total = 1.0
    one = 0.0
    two = 0.0
    three = 0.0
    i = 0
    while i < n:
        total, one, two, three = with_square(total, one, two, three, item(sizes, i) / by * scale)
        i = plus(i, 1)
    return by * (corrected_root(total, one, two, three) / scale)
