"""Functions that use the operators on numbers."""

from __future__ import annotations

from functions.data import (
    COMPLEXES,
    FEW_INTS,
    FEW_NUMBERS,
    FEW_PAIRS,
    FEW_REALS,
    FLOATS,
    INTS,
    NUMBERS,
    PAIRS,
    PAIRS_INT,
    REALS,
    SIGNED_SMALL_INTS,
    SMALL_INTS,
    SMALL_PAIRS,
    TRIPLES,
)
from functions.table import Table

table = Table("arithmetic")
row = table.row


@row(NUMBERS)
def identity(x):
    return x


@row(FEW_NUMBERS)
def constant(x):
    return 3


@row(FEW_NUMBERS)
def negative_zero(x):
    return -0.0


@row(FEW_NUMBERS)
def constant_beyond_64_bits(x):
    return 2**70


@row(NUMBERS)
def add_one(x):
    return x + 1


@row(FEW_NUMBERS)
def one_plus(x):
    return 1 + x


@row(FEW_NUMBERS)
def minus_half(x):
    return x - 0.5


@row(FEW_NUMBERS)
def half_minus(x):
    return 0.5 - x


@row(FEW_NUMBERS)
def times_three(x):
    return x * 3


@row(FEW_REALS)
def over_three(x):
    return x / 3


@row(REALS)
def reciprocal(x):
    return 1 / x


@row(REALS)
def floor_by_three(x):
    return x // 3


@row(FEW_REALS)
def seven_floor_by(x):
    return 7 // x


@row(FEW_REALS)
def modulo_seven(x):
    return x % 7


@row(FEW_REALS)
def modulo_minus_three(x):
    return x % -3


@row(FEW_REALS)
def seven_modulo(x):
    return 7 % x


@row(FEW_REALS)
def modulo_float(x):
    return x % 2.5


@row(NUMBERS)
def square(x):
    return x * x


@row(FEW_NUMBERS)
def to_the_second(x):
    return x**2


@row(FEW_NUMBERS)
def to_the_third(x):
    return x**3


@row(FEW_REALS)
def to_the_minus_one(x):
    return x**-1


@row(FEW_REALS)
def to_the_half(x):
    return x**0.5


@row(SMALL_INTS, SIGNED_SMALL_INTS)
def two_to_the(x):
    return 2**x


@row(SMALL_PAIRS)
def power(x, y):
    return x**y


@row(NUMBERS)
def negate(x):
    return -x


@row(FEW_NUMBERS)
def positive(x):
    return +x


@row(NUMBERS)
def absolute(x):
    return abs(x)


@row(INTS, FLOATS[:2])
def invert(x):
    return ~x


@row(PAIRS)
def add(x, y):
    return x + y


@row(PAIRS)
def subtract(x, y):
    return x - y


@row(PAIRS)
def multiply(x, y):
    return x * y


@row(PAIRS)
def divide(x, y):
    return x / y


@row(PAIRS)
def floor_divide(x, y):
    return x // y


@row(PAIRS)
def modulo(x, y):
    return x % y


@row(PAIRS)
def quotient_and_remainder(x, y):
    return divmod(x, y)


@row(PAIRS_INT)
def bit_and(x, y):
    return x & y


@row(PAIRS_INT)
def bit_or(x, y):
    return x | y


@row(PAIRS_INT)
def bit_xor(x, y):
    return x ^ y


@row(SMALL_PAIRS[:3], PAIRS_INT[:2])
def shift_left(x, y):
    return x << y


@row(SMALL_PAIRS[:3], PAIRS_INT[:3])
def shift_right(x, y):
    return x >> y


@row(FEW_INTS)
def shift_by_constants(x):
    return (x << 3) - (x >> 2)


@row(FEW_INTS)
def shift_far(x):
    return x << 62


@row(FEW_INTS)
def masks(x):
    return (x & 0xFF) | (~x & 0xF00) ^ 5


@row(SMALL_INTS)
def shifted_one(x):
    return 1 << x


@row(FEW_PAIRS, must_batch=False)
def matmul_of_numbers(x, y):
    return x @ y


@row(FEW_PAIRS)
def augmented(x, y):
    a = x
    a += y
    a -= 2
    a *= 3
    return a


@row(FEW_PAIRS)
def augmented_division(x, y):
    a = x
    a /= 4
    a //= 0.5
    a %= 3
    a **= 2
    return a


@row(PAIRS_INT[:6])
def augmented_bits(x, y):
    a = x
    a &= 63
    a |= y
    a ^= 5
    a <<= 2
    a >>= 1
    return a


@row(SMALL_INTS)
def power_modulo(x):
    return pow(x, 3, 7)


@row(SMALL_PAIRS)
def power_by_builtin(x, y):
    return pow(x, y)


@row(FEW_REALS)
def divmod_constant(x):
    q, r = divmod(x, 3)
    return q * 10 + r


@row(FEW_NUMBERS)
def polynomial(x):
    return 3 * x * x * x - 2 * x * x + x - 5


@row(FEW_REALS)
def horner(x):
    return ((0.25 * x - 1.5) * x + 2) * x + 1


@row(FEW_INTS)
def leaves_64_bits_and_returns(x):
    return (x * 2**40) // 2**40


@row(FEW_INTS)
def plus_two_to_the_62(x):
    return x + 2**62


@row(FEW_INTS)
def plus_two_to_the_70(x):
    return x + 2**70 - 2**70


@row(FEW_REALS)
def minus_itself(x):
    return x - x


@row(FEW_REALS)
def times_zero(x):
    return x * 0


@row(FEW_REALS)
def int_and_float_of_it(x):
    return x * 2 + x * 0.5


@row(TRIPLES)
def fused(x, y, z):
    return x * y + z


@row(TRIPLES)
def parentheses(x, y, z):
    return (x + y) * (x - z) - -y * +z


@row(FEW_REALS, COMPLEXES[:2])
def times_imaginary_unit(x):
    return x * 1j


@row(FEW_REALS)
def bool_arithmetic(x):
    return (x > 0) + (x > 1) * 2 - True


@row(FEW_PAIRS)
def mean_and_difference(x, y):
    return (x + y) / 2, x - y
