"""Functions to be mapped: every function of `math`, each on its domain and beyond it."""

from __future__ import annotations

import math

import numpy as np

from functions.data import (
    BOOLS,
    FEW_INTS,
    FEW_PAIRS,
    FEW_REALS,
    FLOATS,
    HALF_LIST,
    HALVES,
    MIXED,
    PAIRS_FLOAT,
    PAIRS_INT,
    POSITIVE,
    POWERS,
    SMALL_INTS,
    SMALL_PAIRS,
    TRIPLES,
    UNIT,
    one,
    spread,
)
from functions.table import Table

table = Table("maths")
row = table.row
ROUNDED = (*FEW_REALS, HALVES, HALF_LIST)
GAMMA = (one("gamma domain", spread([0.5, 1.0, 2.5, -0.5, -1.5, 10.0, 100.0, 170.0, 1e-5])),)


# -- one number in, one float out ---------------------------------------------------------------------------
@row(UNIT, FEW_REALS)
def math_acos(x):
    return math.acos(x)


@row(UNIT, FEW_REALS)
def math_asin(x):
    return math.asin(x)


@row(FEW_REALS)
def math_atan(x):
    return math.atan(x)


@row(POSITIVE, FEW_REALS)
def math_acosh(x):
    return math.acosh(x)


@row(FEW_REALS)
def math_asinh(x):
    return math.asinh(x)


@row(UNIT, FEW_REALS)
def math_atanh(x):
    return math.atanh(x)


@row(FLOATS, FEW_REALS)
def math_sin(x):
    return math.sin(x)


@row(FEW_REALS)
def math_cos(x):
    return math.cos(x)


@row(FEW_REALS)
def math_tan(x):
    return math.tan(x)


@row(UNIT, FEW_REALS)
def math_sinh(x):
    return math.sinh(x)


@row(UNIT, FEW_REALS)
def math_cosh(x):
    return math.cosh(x)


@row(FEW_REALS)
def math_tanh(x):
    return math.tanh(x)


@row(UNIT, FEW_REALS)
def math_exp(x):
    return math.exp(x)


@row(UNIT, FEW_REALS)
def math_exp2(x):
    return math.exp2(x)


@row(UNIT, FEW_REALS)
def math_expm1(x):
    return math.expm1(x)


@row(POSITIVE, FEW_REALS)
def math_log(x):
    return math.log(x)


@row(POSITIVE, FEW_REALS)
def math_log_with_base(x):
    return math.log(x, 3)


@row(POSITIVE, FEW_REALS)
def math_log10(x):
    return math.log10(x)


@row(POSITIVE, FEW_REALS)
def math_log2(x):
    return math.log2(x)


@row(POSITIVE, FEW_REALS)
def math_log1p(x):
    return math.log1p(x)


@row(POSITIVE, FEW_REALS)
def math_sqrt(x):
    return math.sqrt(x)


@row(FEW_REALS)
def math_cbrt(x):
    return math.cbrt(x)


@row(FEW_REALS)
def math_erf(x):
    return math.erf(x)


@row(FEW_REALS)
def math_erfc(x):
    return math.erfc(x)


@row(GAMMA, POSITIVE[:2], FEW_REALS)
def math_gamma(x):
    return math.gamma(x)


@row(GAMMA, POSITIVE[:2], FEW_REALS)
def math_lgamma(x):
    return math.lgamma(x)


@row(FEW_REALS)
def math_degrees(x):
    return math.degrees(x)


@row(FEW_REALS)
def math_radians(x):
    return math.radians(x)


@row(FEW_REALS)
def math_fabs(x):
    return math.fabs(x)


@row(FEW_REALS)
def math_ulp(x):
    return math.ulp(x)


# -- rounding and taking apart ------------------------------------------------------------------------------
@row(ROUNDED)
def math_floor(x):
    return math.floor(x)


@row(ROUNDED)
def math_ceil(x):
    return math.ceil(x)


@row(ROUNDED)
def math_trunc(x):
    return math.trunc(x)


@row(FEW_REALS)
def math_frexp(x):
    return math.frexp(x)


@row(FEW_REALS)
def math_modf(x):
    return math.modf(x)


@row(SMALL_PAIRS)
def math_ldexp(x, y):
    return math.ldexp(x, int(y))


@row(FEW_REALS)
def ldexp_by_constant(x):
    return math.ldexp(x, 3)


# -- questions ----------------------------------------------------------------------------------------------
@row(FEW_REALS)
def math_isfinite(x):
    return math.isfinite(x)


@row(FEW_REALS)
def math_isinf(x):
    return math.isinf(x)


@row(FEW_REALS)
def math_isnan(x):
    return math.isnan(x)


@row(FEW_PAIRS)
def math_isclose(x, y):
    return math.isclose(x, y, rel_tol=0.5)


@row(FEW_PAIRS)
def isclose_absolute(x, y):
    return math.isclose(x, y, abs_tol=1.0)


# -- two numbers --------------------------------------------------------------------------------------------
@row(PAIRS_FLOAT, FEW_PAIRS)
def math_atan2(x, y):
    return math.atan2(x, y)


@row(PAIRS_FLOAT, FEW_PAIRS)
def math_copysign(x, y):
    return math.copysign(x, y)


@row(PAIRS_FLOAT, FEW_PAIRS)
def math_fmod(x, y):
    return math.fmod(x, y)


@row(PAIRS_FLOAT, FEW_PAIRS)
def math_remainder(x, y):
    return math.remainder(x, y)


@row(SMALL_PAIRS, PAIRS_FLOAT)
def math_pow(x, y):
    return math.pow(x, y)


@row(PAIRS_FLOAT, FEW_PAIRS)
def math_nextafter(x, y):
    return math.nextafter(x, y)


@row(PAIRS_FLOAT, FEW_PAIRS)
def math_hypot(x, y):
    return math.hypot(x, y)


@row(TRIPLES)
def hypot_of_three(x, y, z):
    return math.hypot(x, y, z)


@row(PAIRS_FLOAT[:2], PAIRS_INT[:2])
def math_dist(x, y):
    return math.dist((x, 1.0), (2, y))


# -- ints ---------------------------------------------------------------------------------------------------
@row(PAIRS_INT)
def math_gcd(x, y):
    return math.gcd(x, y)


@row(PAIRS_INT)
def math_lcm(x, y):
    return math.lcm(x, y)


@row(SMALL_INTS, FEW_INTS)
def math_isqrt(x):
    return math.isqrt(x)


@row(SMALL_INTS, (one("factorials beyond 64 bits", spread(range(18, 30))), one("negative", [3, -1, 2] * 20)))
def math_factorial(x):
    return math.factorial(x)


@row(SMALL_PAIRS[:3])
def math_comb(x, y):
    return math.comb(x, y)


@row(SMALL_PAIRS[:3])
def math_perm(x, y):
    return math.perm(x, y)


# -- sequences ----------------------------------------------------------------------------------------------
@row(FEW_PAIRS)
def math_fsum(x, y):
    return math.fsum([x, y, 1e100, -1e100])


@row(FEW_PAIRS)
def math_prod(x, y):
    return math.prod([x, y, 2])


@row(FEW_REALS)
def prod_with_start(x):
    return math.prod((x, x), start=3)


if hasattr(math, "sumprod"):

    @row(FEW_PAIRS)
    def math_sumprod(x, y):
        return math.sumprod([x, y], [2, 3.0])


if hasattr(math, "fma"):

    @row(TRIPLES)
    def math_fma(x, y, z):
        return math.fma(x, y, z)


# -- together -----------------------------------------------------------------------------------------------
@row(UNIT, FEW_REALS)
def sine_mix(x):
    return math.sin(x) + math.cos(x) * math.exp(x)


@row(FEW_REALS)
def constants(x):
    return x * math.pi + math.e - math.tau, math.inf, -math.inf, math.nan


@row(POSITIVE, POWERS)
def number_of_digits(x):
    return int(math.log10(x)) + 1


@row(POSITIVE, POWERS)
def floor_of_log2(x):
    return math.floor(math.log2(x))


@row(POWERS)
def whole_cube_root(x):
    return int(x ** (1 / 3)), math.floor(math.cbrt(x)), int(math.pow(x, 1 / 3))


@row(POWERS)
def sign_of_a_small_difference(x):
    root = math.cbrt(x)
    return math.copysign(1.0, root - round(root)), root == round(root)


@row(POWERS)
def whole_square_root(x):
    return int(x**0.5), int(math.sqrt(x))


@row((one("multiples of a sixth", [k * math.pi / 6 for k in range(-36, 37)]),))
def branch_on_a_sine(x):
    return 1 if math.sin(x) > 0.5 else 2 if math.sin(x) == 0.5 else 3


@row((one("tenths", [k / 10 for k in range(-60, 61)]), one("float64 tenths", np.arange(-60, 61) / 10)))
def whole_exponentials(x):
    return int(math.exp(x) * 1e6), round(math.exp(x), 3), math.floor(math.cosh(x) * 1e5)


@row(UNIT[:2])
def sine_equals_itself(x):
    return math.sin(x) == math.sin(x) and math.exp(-x) == math.exp(-x)


@row(UNIT, BOOLS, MIXED)
def by_another_name(x):
    sine = math.sin
    return sine(x) + math.cos(x)


@row(FEW_REALS)
def haversine_like(x):
    a = math.sin(math.radians(x) / 2) ** 2
    return 2 * 6371.0 * math.asin(min(1.0, math.sqrt(a)))
