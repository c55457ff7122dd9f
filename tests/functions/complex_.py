"""Functions of complex numbers."""

from __future__ import annotations

from functions.data import CALM_COMPLEXES, COMPLEXES, FEW_REALS, PAIRS_FLOAT, SMALL_PAIRS, UNIT, one, spread
from functions.table import Table

table = Table("complex")
row = table.row
_some = spread([1 + 2j, -0.5j, 3.0 + 0j, -1 - 1j, 0.25 + 4j])
PAIRS_COMPLEX = (
    one("complex pair", CALM_COMPLEXES[1].columns[0], _some),
    one("complex128 pair", CALM_COMPLEXES[0].columns[0], CALM_COMPLEXES[0].columns[0][::-1]),
    one("complex and floats", CALM_COMPLEXES[1].columns[0], UNIT[1].columns[0]),
)
WITH_ZERO = (one("complexes with zero", spread([1 + 2j, 0j, -1.5j])),)


@row(PAIRS_COMPLEX)
def add(x, y):
    return x + y


@row(PAIRS_COMPLEX)
def subtract(x, y):
    return x - y


@row(PAIRS_COMPLEX)
def multiply(x, y):
    return x * y


@row(PAIRS_COMPLEX, (one("by zero", _some, spread([0j, 1j, 2 + 0j])),))
def divide(x, y):
    return x / y


@row(WITH_ZERO, COMPLEXES)
def reciprocal(x):
    return 1 / x


@row(COMPLEXES)
def square(x):
    return x * x


@row(CALM_COMPLEXES)
def powers(x):
    return x**2, x**3, x**-1


@row(CALM_COMPLEXES)
def fractional_power(x):
    return x**0.5


@row(CALM_COMPLEXES)
def complex_power(x):
    return x ** (0.5 + 0.25j)


@row(COMPLEXES)
def size(x):
    return abs(x)


@row(COMPLEXES)
def negate(x):
    return -x, +x


@row(COMPLEXES)
def parts(x):
    return x.real, x.imag


@row(COMPLEXES)
def conjugate(x):
    return x.conjugate()


@row(CALM_COMPLEXES)
def norm_squared(x):
    return (x * x.conjugate()).real


@row(PAIRS_FLOAT)
def build(x, y):
    return complex(x, y)


@row(FEW_REALS)
def build_from_real(x):
    return complex(x)


@row(FEW_REALS)
def parts_of_a_real(x):
    return x.real, x.imag


@row(FEW_REALS)
def conjugate_of_a_real(x):
    return x.conjugate()


@row(CALM_COMPLEXES)
def rotate(x):
    return x * 1j + (2 - 1j)


@row(CALM_COMPLEXES)
def branch_on_parts(x):
    if x.real > 0 and x.imag > 0:
        return 1
    return 2 if x.real > 0 else 3


@row(COMPLEXES)
def truth(x):
    return 1 if x else 0


@row(CALM_COMPLEXES, must_batch=False)
def floor_division(x):
    return x // 2


@row(CALM_COMPLEXES, must_batch=False)
def to_float(x):
    return float(x)


@row(CALM_COMPLEXES[:2])
def julia(z):
    n = 0
    while abs(z) <= 2 and n < 15:
        z = z * z + (-0.4 + 0.6j)
        n += 1
    return n


@row(CALM_COMPLEXES)
def real_or_complex(x):
    return x if x.real > 0 else x.imag


@row(CALM_COMPLEXES)
def sum_of_complexes(x):
    return sum([x, x.conjugate(), 1])


@row(PAIRS_FLOAT, SMALL_PAIRS)
def turns_until_far(x, y):
    z = complex(x, y)
    for turn in range(20):
        if abs(z) > 2:
            return turn
        z = z * z + (-0.4 + 0.6j)
    return 20
