"""Sums of floats that are rounded once: `math.fsum` and `math.sumprod`, as CPython works them out."""

from __future__ import annotations

import math
import sys
from typing import Any

from .intrinsics import fma, give_up, is_nan, item, plus, set_item
from .iterables import listed
from .registry import implements, inline, prelude


@implements(math.fsum)
@inline
def fsum(it: Any) -> Any:
    """The sum of floats as if it had been computed exactly and rounded once."""
    parts: Any = []
    special = 0.0
    infinite = 0.0
    for value in it:
        x = as_float(value)
        if not abs(x) < math.inf:
            if not is_nan(x):
                infinite = infinite + x
            special = special + x
            parts = []
        else:
            add_to_parts(parts, x)
    if not (special == 0.0):
        if is_nan(infinite):
            raise ValueError("-inf + inf in fsum")
        return special
    return sum_of_parts(parts)


def as_float(x: float) -> Any:
    """A number that becomes a float here."""
    return x


def add_to_parts(parts: Any, x: float) -> None:
    """Add a finite number to a list of numbers that do not overlap, from the smallest to the largest."""
    kept = 0
    i = 0
    n = len(parts)
    while i < n:
        y = item(parts, i)
        if abs(x) < abs(y):
            x, y = y, x
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            set_item(parts, kept, low)
            kept = plus(kept, 1)
        x = high
        i = plus(i, 1)
    if abs(x) == math.inf or is_nan(x):
        raise OverflowError("intermediate overflow in fsum")
    del parts[kept:]
    if x != 0.0:
        parts.append(x)


def sum_of_parts(parts: Any) -> Any:
    """All parts together, rounded once."""
    n = len(parts)
    if n == 0:
        return 0.0
    n = n - 1
    high = item(parts, n)
    low = 0.0
    while n > 0:
        x = high
        n = n - 1
        y = item(parts, n)
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            break
    if n > 0:
        below = item(parts, n - 1)
        if (low < 0.0 and below < 0.0) or (low > 0.0 and below > 0.0):
            twice = low * 2.0
            x = high + twice
            if twice == x - high:
                high = x
    return high


@prelude
@inline
def sumprod(p: Any, q: Any) -> Any:
    """The sum of products of two lists: of floats with three floats for what rounding loses."""
    a = listed(p)
    b = listed(q)
    n = len(a)
    if n != len(b):
        raise ValueError("Inputs are not the same length")
    total: Any = 0
    i = 0
    if n > 0:
        if isinstance(a[0], int) and isinstance(b[0], int):
            while i < n:
                total = total + a[i] * b[i]
                i = plus(i, 1)
            return total
        return 0 + product_of_floats(a, b, n)
    return total


def product_of_floats(a: Any, b: Any, n: int) -> Any:
    """With three floats for the total, each making up for what the one before has lost."""
    high = 0.0
    low = 0.0
    tiny = 0.0
    i = 0
    while i < n:
        x = as_float(item(a, i))
        y = as_float(item(b, i))
        product = x * y
        rest = fma(x, y, -product)
        new = high + product
        z = new - high
        error = (high - (new - z)) + (product - z)
        first = low + rest
        z = first - low
        first_low = (low - (first - z)) + (rest - z)
        second = first + error
        z = second - first
        second_low = (first - (second - z)) + (error - z)
        high = new
        low = second
        tiny = tiny + first_low + second_low
        if not (1e-250 < abs(product) < 1e300 and abs(x) < 1e290 and abs(y) < 1e290):
            if product != 0.0 or (x != 0.0 and y != 0.0):
                give_up()  # where what a product loses is not known, or a total is infinite
        i = plus(i, 1)
    last = low + high
    z = last - low
    return tiny + ((low - (last - z)) + (high - z)) + last


if sys.version_info >= (3, 12):
    implements(math.sumprod)(sumprod)
