"""`statistics`: its fractions are exact, so sums and squares are kept exactly, as lists of floats that do not overlap.

A result is a quotient, or the root of one, that is rounded once. Where it lies so near to the middle of two floats that
it is not known which one is nearer, the lane is left; so are lanes without data, whose error the plain function raises.
"""

from __future__ import annotations

import math
from typing import Any

from .intrinsics import fma, give_up, item, plus
from .iterables import listed
from .registry import implements_named, inline
from .sums import add_to_parts, fsum
from .tables import Counter

FAR = 1e100


@implements_named("statistics", "fmean")
@inline
def fmean(data: Any, weights: Any = None) -> Any:
    """The mean as a float: the exact sum, rounded once, over the count. Weights are left to the plain function."""
    if weights is not None:
        give_up()
    xs = listed(data)
    n = len(xs)
    if n == 0:
        give_up()
    return fsum(xs) / n


@implements_named("statistics", "mean")
@inline
def mean(data: Any) -> Any:
    """The mean of numbers: of ints an int where it divides evenly, of floats the exact quotient, rounded once."""
    xs = listed(data)
    n = len(xs)
    if n == 0:
        give_up()
    if isinstance(item(xs, 0), int):
        total = sum_of_ints(xs)
        return total // n if total % n == 0 else total / n
    return quotient(parts_of(xs), float(n))


def sum_of_ints(xs: Any) -> Any:
    """The sum of a list in which everything has to be an int."""
    total = 0
    for x in xs:
        if not isinstance(x, int):
            give_up()
        total += x
    return total


def exactly(x: Any) -> Any:
    """A number as a float that is neither far from 1 nor rounded."""
    if type(x) is float:
        y = x
    elif isinstance(x, int):
        if not -9007199254740992 <= x <= 9007199254740992:
            give_up()
        y = float(x)
    else:
        return give_up()
    if not (y == 0.0 or 1e-100 < abs(y) < FAR):
        give_up()
    return y


exactly.inline = True  # type: ignore[attr-defined]


def parts_of(xs: Any) -> Any:
    """The sum of all items, exactly."""
    parts: Any = []
    for x in xs:
        add_to_parts(parts, exactly(x))
    return parts


def quotient(parts: Any, by: float) -> Any:
    """The sum of parts divided by a whole number, rounded once."""
    n = len(parts)
    if n == 0:
        return 0.0
    total, rest = two_of(parts, n)
    made = total / by
    more = (fma(-made, by, total) + rest) / by
    return surely(made, more)


def root_of_quotient(total: float, rest: float, by: float) -> Any:
    """The root of `(total + rest) / by`, rounded once."""
    if total == 0.0:
        return 0.0
    part = total / by
    more = (fma(-part, by, total) + rest) / by
    root = math.sqrt(part)
    return surely(root, (fma(-root, root, part) + more) / (2.0 * root))


def two_of(parts: Any, n: int) -> Any:
    """The sum of parts as two floats."""
    rest = 0.0
    i = 0
    while i < n - 1:
        rest = rest + item(parts, i)
        i = plus(i, 1)
    most = item(parts, n - 1)
    total = most + rest
    return total, rest - (total - most)


def surely(near: float, more: float) -> Any:
    """The float next to `near + more`."""
    made = near + more
    off = more - (made - near)
    if made + off * 1.000000001 != made:
        give_up()
    return made


# ---- squares


@implements_named("statistics", "variance")
@inline
def variance(data: Any, xbar: Any = None) -> Any:
    """The variance of a sample: squares of distances from the mean over `n - 1`, exact until it is rounded."""
    if xbar is not None:
        give_up()
    xs = listed(data)
    n = len(xs)
    if n < 2:
        give_up()
    return spread(xs, n, n * (n - 1))


@implements_named("statistics", "pvariance")
@inline
def pvariance(data: Any, mu: Any = None) -> Any:
    """The variance of a whole population: squares of distances from the mean over `n`, exact until it is rounded."""
    if mu is not None:
        give_up()
    xs = listed(data)
    n = len(xs)
    if n < 1:
        give_up()
    return spread(xs, n, n * n)


@implements_named("statistics", "stdev")
@inline
def stdev(data: Any, xbar: Any = None) -> Any:
    """The standard deviation of a sample: the correctly rounded root of its variance."""
    if xbar is not None:
        give_up()
    xs = listed(data)
    n = len(xs)
    if n < 2:
        give_up()
    return deviation(xs, n, n * (n - 1))


@implements_named("statistics", "pstdev")
@inline
def pstdev(data: Any, mu: Any = None) -> Any:
    """The standard deviation of a whole population: the correctly rounded root of its variance."""
    if mu is not None:
        give_up()
    xs = listed(data)
    n = len(xs)
    if n < 1:
        give_up()
    return deviation(xs, n, n * n)


@inline
def spread(xs: Any, n: Any, by: Any) -> Any:
    """The sum of squares of the distances from the mean, times n, divided by a whole number."""
    if isinstance(item(xs, 0), int):
        total = squares_of_ints(xs, n)
        return total // by if total % by == 0 else total / by
    return quotient(squares(xs, n), float(by))


@inline
def deviation(xs: Any, n: Any, by: Any) -> Any:
    """The root of the sum of squared distances over `by / n`, rounded once."""
    if isinstance(item(xs, 0), int):
        total = squares_of_ints(xs, n)
        if total > 4611686018427387904:
            give_up()
        near = float(total)
        return root_of_quotient(near, float(total - int(near)), float(by))
    parts = squares(xs, n)
    if len(parts) == 0:
        return 0.0
    most, rest = two_of(parts, len(parts))
    return root_of_quotient(most, rest, float(by))


def squares_of_ints(xs: Any, n: int) -> Any:
    """`n` times the sum of squares less the square of the sum: `n ** 2` times the variance of these ints."""
    total = 0
    square = 0
    for x in xs:
        if not isinstance(x, int):
            give_up()
        total += x
        square += x * x
    return n * square - total * total


def squares(xs: Any, n: int) -> Any:
    """`n * sum(x * x) - sum(x) ** 2`, exactly."""
    sums: Any = []
    of_squares: Any = []
    for x in xs:
        y = exactly(x)
        add_to_parts(sums, y)
        add_product(of_squares, y, y)
    made: Any = []
    times = float(n)
    for part in of_squares:
        add_product(made, part, times)
    for a in sums:
        for b in sums:
            add_product(made, -a, b)
    return made


def add_product(parts: Any, a: float, b: float) -> None:
    """Adds `a * b` to an exact sum, as its rounded value and what rounding lost."""
    product = a * b
    add_to_parts(parts, product)
    add_to_parts(parts, fma(a, b, -product))


# ---- order


@implements_named("statistics", "median")
@inline
def median(data: Any) -> Any:
    """The middle item of the sorted data, or the mean of the middle two."""
    xs = sorted(data)
    n = len(xs)
    if n == 0:
        give_up()
    if n % 2 == 1:
        return xs[n // 2]
    return (xs[n // 2 - 1] + xs[n // 2]) / 2


@implements_named("statistics", "median_low")
@inline
def median_low(data: Any) -> Any:
    """The middle item of the sorted data, or the smaller of the middle two."""
    xs = sorted(data)
    if len(xs) == 0:
        give_up()
    return xs[(len(xs) - 1) // 2]


@implements_named("statistics", "median_high")
@inline
def median_high(data: Any) -> Any:
    """The middle item of the sorted data, or the larger of the middle two."""
    xs = sorted(data)
    if len(xs) == 0:
        give_up()
    return xs[len(xs) // 2]


@implements_named("statistics", "mode")
@inline
def mode(data: Any) -> Any:
    """The value that comes most often, the first of them where several do."""
    counts = Counter()
    counts.count_all(data)
    if len(counts) == 0:
        give_up()
    most = 0
    for count in counts.values():
        if count > most:
            most = count
    for value, count in counts.items():
        if count == most:
            return value
    return give_up()


@implements_named("statistics", "multimode")
@inline
def multimode(data: Any) -> Any:
    """All values that come most often, in the order in which they are met first."""
    counts = Counter()
    counts.count_all(data)
    most = 0
    for count in counts.values():
        if count > most:
            most = count
    return [value for value, count in counts.items() if count == most]
