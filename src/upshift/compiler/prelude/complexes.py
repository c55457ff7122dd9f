"""Complex numbers: powers, and all of `cmath`, as CPython has them; lanes that are not finite are left."""

from __future__ import annotations

import cmath
import math
import sys
from typing import Any

from .intrinsics import c_hypot, c_ldexp, c_pow, give_up, is_nan, whole
from .registry import implements, prelude

LARGE = 1.7976931348623157e308 / 4.0
SQRT_LARGE = 6.703903964971298e153
LOG_LARGE = 708.3964185322641
SQRT_SMALL = 1.4916681462400413e-154
TINY = 2.2250738585072014e-308
LN_2 = 0.6931471805599453
LN_10 = 2.302585092994046
MULTIPLIES = sys.version_info >= (3, 14)
"""Whether a complex exponent's part is multiplied by the exponential of its negative, and not divided by it."""


def finite(z: complex) -> Any:
    """A number that is finite, and far from the ends of the scale; other lanes are left."""
    if not (abs(z.real) < LARGE and abs(z.imag) < LARGE):
        give_up()
    return z


@prelude
def complex_divide(a: complex, b: complex) -> Any:
    """`a / b` by Smith's method: scaled by the larger part of `b`, so that squares do not overflow."""
    ar = a.real
    ai = a.imag
    br = b.real
    bi = b.imag
    size_r = abs(br)
    size_i = abs(bi)
    if size_r >= size_i:
        if size_r == 0.0:
            raise ZeroDivisionError("complex division by zero")
        ratio = bi / br
        below = br + bi * ratio
        real = (ar + ai * ratio) / below
        imag = (ai - ar * ratio) / below
    elif size_i >= size_r:
        ratio = br / bi
        below = br * ratio + bi
        real = (ar * ratio + ai) / below
        imag = (ai * ratio - ar) / below
    else:
        real = math.nan
        imag = math.nan
    if is_nan(real) and is_nan(imag) and (isinf(a) or isinf(b)):
        give_up()  # later versions find an infinity or zero there
    return complex(real, imag)


@prelude
def complex_power(a: complex, b: complex) -> Any:
    """`a ** b`: by multiplication for small whole exponents, by angle and length for all others."""
    a = finite(a)
    b = finite(b)
    n = b.real
    if b.imag == 0.0 and n == whole(n) and abs(n) <= 100.0:
        made = power_by_squares(a, int(abs(n)))
        if n <= 0.0:
            made = 1 / made
    else:
        made = power_by_angle(a, b)
    if not (abs(made.real) < math.inf and abs(made.imag) < math.inf):
        give_up()
    return made


def power_by_squares(a: complex, n: int) -> Any:
    """`a ** n` for a whole `n` by repeated squaring, in CPython's order of operations."""
    made = complex(1.0, 0.0)
    square = a
    mask = 1
    while n >= mask:
        if n & mask:
            made = made * square
        mask = mask * 2
        square = square * square
    return made


def power_by_angle(a: complex, b: complex) -> Any:
    """`a ** b` by the length and angle of `a`, as C's library has it in polar form."""
    if a.real == 0.0 and a.imag == 0.0:
        if b.imag != 0.0 or b.real < 0.0:
            raise ZeroDivisionError("0.0 to a negative or complex power")
        return complex(0.0, 0.0)
    size = c_hypot(a.real, a.imag)
    length = c_pow(size, b.real)
    at = math.atan2(a.imag, a.real)
    angle = at * b.real
    if b.imag != 0.0:
        turn = at * b.imag
        if not (abs(turn) < 700.0 and size > 0.0):
            give_up()
        if MULTIPLIES:
            length = length * math.exp(-at * b.imag)
        else:
            length = length / math.exp(turn)
        angle = angle + b.imag * math.log(size)
    if not (abs(angle) < math.inf and length < math.inf):
        give_up()
    return complex(length * math.cos(angle), length * math.sin(angle))


@prelude
def size_of_complex(z: complex) -> Any:
    """`abs(z)`."""
    size = c_hypot(z.real, z.imag)
    if size == math.inf and abs(z.real) < math.inf and abs(z.imag) < math.inf:
        raise OverflowError("absolute value too large")
    return size


# ---- polar coordinates


@implements(cmath.phase)
def phase(z: complex) -> Any:
    """The angle of a complex number; what may be an underflow in C's library is left to the plain function."""
    made = math.atan2(z.imag, z.real)
    if abs(made) < TINY and z.imag != 0.0:
        give_up()  # which C's library may call an error
    return made


@implements(cmath.polar)
def polar(z: complex) -> Any:
    """The length and the angle of a complex number."""
    size = c_hypot(z.real, z.imag)
    if size == math.inf and abs(z.real) < math.inf and abs(z.imag) < math.inf:
        raise OverflowError("math range error")
    return size, math.atan2(z.imag, z.real)


@implements(cmath.rect)
def rect(r: float, phi: float) -> Any:
    """The complex number of a length and an angle that are finite."""
    if not (abs(r) < math.inf and abs(phi) < math.inf):
        give_up()
    if phi == 0.0:
        return complex(r, r * phi)
    return complex(r * math.cos(phi), r * math.sin(phi))


# ---- tests


@implements(cmath.isfinite)
def isfinite(z: complex) -> Any:
    """Whether both parts are finite."""
    return abs(z.real) < math.inf and abs(z.imag) < math.inf


@implements(cmath.isnan)
def isnan(z: complex) -> Any:
    """Whether one of the parts is NaN."""
    return is_nan(z.real) or is_nan(z.imag)


@implements(cmath.isinf)
def isinf(z: complex) -> Any:
    """Whether one of the parts is infinite."""
    return abs(z.real) == math.inf or abs(z.imag) == math.inf


@implements(cmath.isclose)
def isclose(a: complex, b: complex, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """Whether two complex numbers differ by no more than the tolerances."""
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a.real == b.real and a.imag == b.imag:
        return True
    if isinf(a) or isinf(b):
        return False
    diff = c_hypot(a.real - b.real, a.imag - b.imag)
    return diff <= rel_tol * c_hypot(b.real, b.imag) or diff <= rel_tol * c_hypot(a.real, a.imag) or diff <= abs_tol


# ---- roots, exponentials, logarithms


@implements(cmath.sqrt)
def sqrt(z: complex) -> Any:
    """The square root of a finite complex number, scaled where its parts are subnormal."""
    if not isfinite(z):
        give_up()
    x = z.real
    y = z.imag
    if x == 0.0 and y == 0.0:
        return complex(0.0, y)
    a = abs(x)
    b = abs(y)
    if a < TINY and b < TINY:
        a = c_ldexp(a, 53)
        s = c_ldexp(math.sqrt(a + c_hypot(a, c_ldexp(b, 53))), -27)
    else:
        a = a / 8.0
        s = 2.0 * math.sqrt(a + c_hypot(a, b / 8.0))
    d = b / (2.0 * s)
    if x >= 0.0:
        return complex(s, math.copysign(d, y))
    return complex(d, math.copysign(s, y))


@implements(cmath.exp)
def exp(z: complex) -> Any:
    """The exponential of a complex number whose real part does not overflow."""
    z = finite(z)
    if abs(z.real) > LOG_LARGE:
        give_up()
    length = math.exp(z.real)
    return complex(length * math.cos(z.imag), length * math.sin(z.imag))


@prelude
def log_of_complex(z: complex) -> Any:
    """The natural logarithm, with `log1p` where the length is near to 1 and digits would cancel."""
    z = finite(z)
    x = abs(z.real)
    y = abs(z.imag)
    if x < TINY and y < TINY:
        if x == 0.0 and y == 0.0:
            raise ValueError("math domain error")
        real = math.log(c_hypot(c_ldexp(x, 53), c_ldexp(y, 53))) - 53 * LN_2
    else:
        h = c_hypot(x, y)
        if 0.71 <= h <= 1.73:
            most = x if x > y else y
            least = y if x > y else x
            real = log1p((most - 1) * (most + 1) + least * least) / 2.0
        else:
            real = math.log(h)
    return complex(real, math.atan2(z.imag, z.real))


def log1p(x: float) -> Any:
    """`math.log1p`, which keeps the sign of a zero."""
    if x == 0.0:
        return x
    return math.log1p(x)


@implements(cmath.log)
def log(z: Any, base: Any = None) -> Any:
    """The natural logarithm, or the one to a base."""
    if base is None:
        return log_of_complex(z)
    return log_to_base(z, base)


def log_to_base(z: complex, base: complex) -> Any:
    """The quotient of two logarithms, where neither number is zero and the base is not 1."""
    if (z.real == 0.0 and z.imag == 0.0) or (base.real == 0.0 and base.imag == 0.0):
        give_up()  # an infinity, and no error
    below = log_of_complex(base)
    if below.real == 0.0 and below.imag == 0.0:
        give_up()
    return complex_divide(log_of_complex(z), below)


@implements(cmath.log10)
def log10(z: complex) -> Any:
    """The logarithm to base 10: the natural one over that of 10."""
    made = log_of_complex(z)
    return complex(made.real / LN_10, made.imag / LN_10)


# ---- hyperbolic functions, and those of angles by way of them


@implements(cmath.cosh)
def cosh(z: complex) -> Any:
    """The hyperbolic cosine, where it does not overflow."""
    z = finite(z)
    if abs(z.real) > LOG_LARGE:
        give_up()
    return complex(math.cos(z.imag) * math.cosh(z.real), math.sin(z.imag) * math.sinh(z.real))


@implements(cmath.sinh)
def sinh(z: complex) -> Any:
    """The hyperbolic sine, where it does not overflow."""
    z = finite(z)
    if abs(z.real) > LOG_LARGE:
        give_up()
    return complex(math.cos(z.imag) * math.sinh(z.real), math.sin(z.imag) * math.cosh(z.real))


@implements(cmath.tanh)
def tanh(z: complex) -> Any:
    """The hyperbolic tangent, with the order of operations that CPython uses to avoid cancellation."""
    z = finite(z)
    if abs(z.real) > LOG_LARGE:
        give_up()
    tx = math.tanh(z.real)
    ty = math.tan(z.imag)
    cx = 1.0 / math.cosh(z.real)
    product = tx * ty
    below = 1.0 + product * product
    return complex(tx * (1.0 + ty * ty) / below, ((ty / below) * cx) * cx)


@implements(cmath.cos)
def cos(z: complex) -> Any:
    """The cosine, as the hyperbolic one of the number turned by a right angle."""
    return cosh(complex(-z.imag, z.real))


@implements(cmath.sin)
def sin(z: complex) -> Any:
    """The sine, as the hyperbolic one of the number turned by a right angle."""
    s = sinh(complex(-z.imag, z.real))
    return complex(s.imag, -s.real)


@implements(cmath.tan)
def tan(z: complex) -> Any:
    """The tangent, as the hyperbolic one of the number turned by a right angle."""
    s = tanh(complex(-z.imag, z.real))
    return complex(s.imag, -s.real)


# ---- their inverses


@implements(cmath.acos)
def acos(z: complex) -> Any:
    """The arc cosine, by Kahan's formula."""
    z = finite(z)
    s1 = sqrt(complex(1.0 - z.real, -z.imag))
    s2 = sqrt(complex(1.0 + z.real, z.imag))
    return complex(2.0 * math.atan2(s1.real, s2.real), math.asinh(s2.real * s1.imag - s2.imag * s1.real))


@implements(cmath.acosh)
def acosh(z: complex) -> Any:
    """The inverse hyperbolic cosine, by Kahan's formula."""
    z = finite(z)
    s1 = sqrt(complex(z.real - 1.0, z.imag))
    s2 = sqrt(complex(z.real + 1.0, z.imag))
    return complex(math.asinh(s1.real * s2.real + s1.imag * s2.imag), 2.0 * math.atan2(s1.imag, s2.real))


@implements(cmath.asinh)
def asinh(z: complex) -> Any:
    """The inverse hyperbolic sine, by Kahan's formula."""
    z = finite(z)
    s1 = sqrt(complex(1.0 + z.imag, -z.real))
    s2 = sqrt(complex(1.0 - z.imag, z.real))
    return complex(
        math.asinh(s1.real * s2.imag - s2.real * s1.imag),
        math.atan2(z.imag, s1.real * s2.real - s1.imag * s2.imag),
    )


@implements(cmath.asin)
def asin(z: complex) -> Any:
    """The arc sine, as the hyperbolic one of the number turned by a right angle."""
    s = asinh(complex(-z.imag, z.real))
    return complex(s.imag, -s.real)


@implements(cmath.atanh)
def atanh(z: complex) -> Any:
    """The inverse hyperbolic tangent, which is odd: computed for the right half-plane."""
    z = finite(z)
    if z.real < 0.0:
        made = atanh_of_positive(complex(-z.real, -z.imag))
        return complex(-made.real, -made.imag)
    return atanh_of_positive(z)


def atanh_of_positive(z: complex) -> Any:
    """The inverse hyperbolic tangent where the real part is not negative; what is huge is left."""
    x = z.real
    y = abs(z.imag)
    if x > SQRT_LARGE or y > SQRT_LARGE or (x == 1.0 and y < SQRT_SMALL):
        give_up()
    real = log1p(4.0 * x / ((1 - x) * (1 - x) + y * y)) / 4.0
    return complex(real, -math.atan2(-2.0 * z.imag, (1 - x) * (1 + x) - y * y) / 2.0)


@implements(cmath.atan)
def atan(z: complex) -> Any:
    """The arc tangent, as the hyperbolic one of the number turned by a right angle."""
    s = atanh(complex(-z.imag, z.real))
    return complex(s.imag, -s.real)
