"""Functions to be mapped: every function of `cmath`."""

from __future__ import annotations

import cmath

from functions.data import CALM_COMPLEXES, COMPLEXES, FEW_FLOATS, FEW_INTS, PAIRS_FLOAT
from functions.table import Table, written

table = Table("cmaths")
row = table.row
DATA = (*COMPLEXES, *FEW_FLOATS[:2], *FEW_INTS[:2])


def _wrap(name):
    """`cmath.name` of one number, as a user would write it."""
    return written(f"cmath_{name}", f"def cmath_{name}(x):\n    return cmath.{name}(x)\n", {"cmath": cmath})


@row(DATA)
def cmath_sqrt(x):
    return cmath.sqrt(x)


@row(DATA)
def cmath_exp(x):
    return cmath.exp(x)


@row(DATA)
def cmath_log(x):
    return cmath.log(x)


@row(CALM_COMPLEXES)
def log_with_base(x):
    return cmath.log(x, 2)


for _name in "acos acosh asin asinh atan atanh cos cosh log10 sin sinh tan tanh phase".split():
    table.add(f"cmath_{_name}", _wrap(_name), DATA)

for _name in "isfinite isinf isnan".split():
    table.add(f"cmath_{_name}", _wrap(_name), DATA)


@row(COMPLEXES)
def cmath_polar(x):
    return cmath.polar(x)


@row(PAIRS_FLOAT[:2], PAIRS_FLOAT[5:7])
def cmath_rect(r, phi):
    return cmath.rect(r, phi)


@row(COMPLEXES)
def cmath_isclose(x):
    return cmath.isclose(x, 1 + 1j, rel_tol=0.5)


@row(CALM_COMPLEXES)
def complex_mix(x):
    return cmath.exp(1j * cmath.pi * x.real) + cmath.sqrt(x) * 0.5


@row(FEW_FLOATS[:2])
def roots_of_a_real(x):
    root = cmath.sqrt(x)
    return root, -root
