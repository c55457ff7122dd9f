"""The gamma function and its logarithm, by Lanczos' sum, as CPython works them out."""

from __future__ import annotations

import math
from typing import Any

from .intrinsics import c_round, is_nan, whole
from .registry import implements

PI = 3.141592653589793
LOG_PI = 1.1447298858494002
G = 6.02468004077673
G_MINUS_HALF = 5.52468004077673


def sine_of_pi(x: float) -> Any:
    """sin(pi * x) of a number that is not negative."""
    y = math.fmod(x, 2.0)
    n = c_round(2.0 * y)
    if n == 0.0:
        return math.sin(PI * y)
    if n == 1.0:
        return math.cos(PI * (y - 0.5))
    if n == 2.0:
        return math.sin(PI * (1.0 - y))
    if n == 3.0:
        return -math.cos(PI * (y - 1.5))
    return math.sin(PI * (y - 2.0))


def lanczos(x: float) -> Any:
    """Lanczos' sum, for a positive number: a fraction of two polynomials, in x or in 1 / x."""
    if x < 5.0:
        num = 2.5066282746310002
        num = num * x + 210.82427775157935
        num = num * x + 8071.672002365816
        num = num * x + 186056.26539522348
        num = num * x + 2876370.6289353725
        num = num * x + 31426415.585400194
        num = num * x + 248874557.86205417
        num = num * x + 1439720407.3117216
        num = num * x + 6039542586.352028
        num = num * x + 17921034426.03721
        num = num * x + 35711959237.35567
        num = num * x + 42919803642.6491
        num = num * x + 23531376880.41076
        den = 1.0
        den = den * x + 66.0
        den = den * x + 1925.0
        den = den * x + 32670.0
        den = den * x + 357423.0
        den = den * x + 2637558.0
        den = den * x + 13339535.0
        den = den * x + 45995730.0
        den = den * x + 105258076.0
        den = den * x + 150917976.0
        den = den * x + 120543840.0
        den = den * x + 39916800.0
        den = den * x + 0.0
        return num / den
    num = 23531376880.41076
    num = num / x + 42919803642.6491
    num = num / x + 35711959237.35567
    num = num / x + 17921034426.03721
    num = num / x + 6039542586.352028
    num = num / x + 1439720407.3117216
    num = num / x + 248874557.86205417
    num = num / x + 31426415.585400194
    num = num / x + 2876370.6289353725
    num = num / x + 186056.26539522348
    num = num / x + 8071.672002365816
    num = num / x + 210.82427775157935
    num = num / x + 2.5066282746310002
    den = 39916800.0
    den = den / x + 120543840.0
    den = den / x + 150917976.0
    den = den / x + 105258076.0
    den = den / x + 45995730.0
    den = den / x + 13339535.0
    den = den / x + 2637558.0
    den = den / x + 357423.0
    den = den / x + 32670.0
    den = den / x + 1925.0
    den = den / x + 66.0
    den = den / x + 1.0
    return num / den


@implements(math.gamma)
def gamma(x: float) -> Any:
    """The gamma function: a table for small whole numbers, Lanczos' sum for others."""
    if is_nan(x) or x == math.inf:
        return x
    if x == -math.inf or x == 0.0:
        raise ValueError("math domain error")
    if x == whole(x):
        if x < 0.0:
            raise ValueError("math domain error")
        if x <= 23.0:
            return factorial_below(x)
    size = abs(x)
    if size < 1e-20:
        if size < 5.6e-309:
            raise OverflowError("math range error")
        return 1.0 / x
    if size > 200.0:
        if x > 0.0:
            raise OverflowError("math range error")
        return 0.0 / (-sine_of_pi(size))
    y = size + G_MINUS_HALF
    if size > G_MINUS_HALF:
        q = y - size
        z = q - G_MINUS_HALF
    else:
        q = y - G_MINUS_HALF
        z = q - size
    z = z * G / y
    if x < 0.0:
        r = -PI / sine_of_pi(size) / size * math.exp(y) / lanczos(size)
        r = r - z * r
        if size < 140.0:
            r = r / math.pow(y, size - 0.5)
        else:
            root = math.pow(y, size / 2.0 - 0.25)
            r = r / root
            r = r / root
    else:
        r = lanczos(size) / math.exp(y)
        r = r + z * r
        if size < 140.0:
            r = r * math.pow(y, size - 0.5)
        else:
            root = math.pow(y, size / 2.0 - 0.25)
            r = r * root
            r = r * root
    if abs(r) == math.inf:
        raise OverflowError("math range error")
    return r


def factorial_below(x: float) -> Any:
    """Of a whole number up to 23, which is exact up to the last few, whose products are rounded to the nearest."""
    if x >= 20.0:
        made = 121645100408832000.0
        if x >= 21.0:
            made = 2432902008176640000.0
        if x >= 22.0:
            made = 51090942171709440000.0
        if x >= 23.0:
            made = 1124000727777607680000.0
        return made
    made = 1.0
    i = 2.0
    while i < x:
        made = made * i
        i = i + 1.0
    return made


@implements(math.lgamma)
def lgamma(x: float) -> Any:
    """The logarithm of the size of the gamma function, also where that would overflow."""
    if is_nan(x):
        return x
    if abs(x) == math.inf:
        return math.inf
    if x == whole(x) and x <= 2.0:
        if x <= 0.0:
            raise ValueError("math domain error")
        return 0.0
    size = abs(x)
    if size < 1e-20:
        return -math.log(size)
    r = math.log(lanczos(size)) - G
    r = r + (size - 0.5) * (math.log(size + G - 0.5) - 1)
    if x < 0.0:
        r = LOG_PI - math.log(abs(sine_of_pi(size))) - math.log(size) - r
    if abs(r) == math.inf:
        raise OverflowError("math range error")
    return r
