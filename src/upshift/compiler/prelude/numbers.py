"""Arithmetic that is more than an instruction, as CPython does it."""

from __future__ import annotations

import math
from typing import Any

from .intrinsics import (
    bits_of,
    fma,
    give_up,
    high_product,
    is_nan,
    leading_zeros,
    nearest_even,
    plus,
    product_fits,
    range_start,
    range_step,
    range_stop,
    shift_down,
    shift_up,
    unsigned_div,
    unsigned_less,
    unsigned_rem,
    whole,
    wrapping_add,
    wrapping_mul,
)
from .registry import implements, inline, method, prelude


@prelude
def float_modulo(a: float, b: float) -> Any:
    """`a % b` of floats: C's remainder, moved to the sign of `b`."""
    if b == 0.0:
        raise ZeroDivisionError("float modulo")
    rest = math.fmod(a, b) if not is_nan(a) and not is_nan(b) and abs(a) != math.inf else math.nan
    if rest:
        if (b < 0) != (rest < 0):
            rest = rest + b
    else:
        rest = math.copysign(0.0, b)
    return rest


@prelude
def float_floor_divide(a: float, b: float) -> Any:
    """`a // b` of floats: the quotient of what is left once the remainder is taken off."""
    if b == 0.0:
        raise ZeroDivisionError("float floor division by zero")
    rest = math.fmod(a, b) if not is_nan(a) and not is_nan(b) and abs(a) != math.inf else math.nan
    quotient = (a - rest) / b
    if rest:
        if (b < 0) != (rest < 0):
            quotient = quotient - 1.0
    if quotient:
        down = whole(quotient)
        if quotient - down > 0.5:
            down = down + 1.0
        return down
    return math.copysign(0.0, a / b)


@prelude
def float_divmod(a: float, b: float) -> Any:
    """`divmod(a, b)` of floats."""
    return float_floor_divide(a, b), float_modulo(a, b)


@prelude
def round_to(x: float, digits: int) -> Any:
    """`round(x, digits)`: the nearest decimal number of so many digits, halves to even, as the nearest float."""
    size = abs(x)
    if not size < math.inf or size == 0.0:
        return x
    if digits > 0:
        made = rounded_fraction(size, digits)
    elif digits < 0:
        made = rounded_tens(size, -digits)
    else:
        made = nearest_even(size) if size < 4503599627370496.0 else size
    return math.copysign(made, x)


def rounded_fraction(x: float, digits: int) -> Any:
    """A positive number to so many digits behind the point."""
    if digits > 22:
        if x < 0.0001:
            give_up()
        return x  # which has not as many
    ten = power_of_ten(digits)
    big = x * ten
    if big >= 9007199254740992.0:
        if big < 36028797018963968.0 and bits_of(x) & 4503599627370495 == 0:
            give_up()  # a power of two: the next float below it is nearer than the one above
        return x
    lost = fma(x, ten, -big)  # big + lost is the exact product
    near = whole(big)
    over = big - near
    if big >= 4503599627370496.0:  # whole already
        if lost > 0.5 or (lost == 0.5 and is_odd(near)):
            near = near + 1.0
        elif lost < -0.5 or (lost == -0.5 and is_odd(near)):
            near = near - 1.0
    elif over > 0.5 or (over == 0.5 and (lost > 0.0 or (lost == 0.0 and is_odd(near)))):
        near = near + 1.0
    return near / ten


def rounded_tens(x: float, digits: int) -> Any:
    """A positive number to tens, hundreds, ..."""
    if digits > 22:
        if x < 1e22:
            return 0.0
        give_up()
    ten = power_of_ten(digits)
    near = nearest_even(x / ten)
    if near >= 4503599627370496.0:
        give_up()
    rest = fma(-near, ten, x)
    half = 0.5 * ten
    if rest > half or (rest == half and is_odd(near)):
        near = near + 1.0
    elif rest < -half or (rest == -half and is_odd(near)):
        near = near - 1.0
    return near * ten


def is_odd(x: float) -> Any:
    """Whether a whole number is odd."""
    return x != 2.0 * whole(x * 0.5)


def power_of_ten(n: int) -> Any:
    """10 ** n, up to 22, where it is exact."""
    made = 1.0
    square = 10.0
    while n > 0:
        if n & 1:
            made = made * square
        square = square * square
        n >>= 1
    return made


@prelude
def round_int_to(x: int, digits: int) -> Any:
    """`round(x, digits)` of an int: half to even where `digits` is negative."""
    if digits >= 0:
        return x
    if digits < -18:
        if digits == -19 and not -5000000000000000000 <= x <= 5000000000000000000:
            give_up()
        return 0
    ten = 10 ** (-digits)
    quotient = x // ten
    rest = x - quotient * ten
    half = ten // 2
    if rest > half or (rest == half and quotient % 2 == 1):
        quotient += 1
    return quotient * ten


@implements(math.gcd)
@inline
def gcd(*numbers: Any) -> Any:
    """The greatest common divisor of any number of ints."""
    if len(numbers) == 2:
        return gcd_of_two(numbers[0], numbers[1])
    total = 0
    for number in numbers:
        total = gcd_of_two(total, number)
    return total


def gcd_of_two(a: int, b: int) -> Any:
    """The greatest common divisor of two ints, by Euclid."""
    if a < 0:
        a = -a
    if b < 0:
        b = -b
    while b != 0:
        a, b = b, a % b
    return a


@implements(math.lcm)
@inline
def lcm(*numbers: Any) -> Any:
    """The least common multiple of any number of ints."""
    total = 1
    for number in numbers:
        total = lcm_of_two(total, number)
    return total


def lcm_of_two(a: int, b: int) -> Any:
    """The least common multiple of two ints, 0 if one of them is."""
    if a == 0 or b == 0:
        return 0
    return abs(a // gcd_of_two(a, b) * b)


@implements(math.isqrt)
def isqrt(n: int) -> Any:
    """The whole part of a square root: the float one, corrected."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(math.sqrt(n))
    while root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@implements(math.factorial)
def factorial(n: int) -> Any:
    """The product of 1 to `n`; from 21 on it leaves 64 bits, and the lane with it."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    i = 2
    while i <= n:
        result *= i
        i += 1
    return result


@implements(math.comb)
def comb(n: int, k: int) -> Any:
    """How many choices of `k` out of `n` there are."""
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative")
    if k > n:
        return 0
    if n - k < k:
        k = n - k
    result = 1
    i = 0
    while i < k:
        by = plus(i, 1)
        if product_fits(result, n - i):
            result = wrapping_mul(result, n - i) // by
        else:
            common = gcd_of_two(result, by)
            result = result // common * ((n - i) // (by // common))
        i = by
    return result


@implements(math.perm)
def perm(n: int, k: Any = None) -> Any:
    """How many orders of `k` out of `n` there are."""
    if k is None:
        return factorial(n)
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative")
    if k > n:
        return 0
    result = 1
    i = 0
    while i < k:
        result *= n - i
        i += 1
    return result


@implements(math.prod)
@inline
def prod(it: Any, *, start: Any = 1) -> Any:
    """The product of all items."""
    total = start
    for x in it:
        total = total * x
    return total


@implements(math.isclose)
def isclose(a: float, b: float, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """Whether two floats differ by no more than the tolerances."""
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if abs(a) == math.inf or abs(b) == math.inf:
        return False
    diff = abs(b - a)
    return diff <= abs(rel_tol * b) or diff <= abs(rel_tol * a) or diff <= abs_tol


@prelude
def product_modulo(a: int, b: int, m: int) -> Any:
    """`a * b % m`, where the product may be larger than 64 bits."""
    if product_fits(a, b):
        return wrapping_mul(a, b) % m
    if m == 0:
        raise ZeroDivisionError("integer modulo by zero")
    size = -m if m < 0 else m
    x = -a if a < 0 else a
    y = -b if b < 0 else b
    rest = wide_modulo(high_product(x, y), wrapping_mul(x, y), size)
    if rest != 0 and ((a < 0) != (b < 0)):  # of the product with its sign
        rest = size - rest
    if m < 0 and rest != 0:
        rest = rest - size
    return rest


def wide_modulo(high: int, low: int, m: int) -> Any:
    """The 128 bits of two words modulo m, by long division with digits of 32 bits."""
    high = unsigned_rem(high, m)
    if high == 0:
        return unsigned_rem(low, m)
    zeros = leading_zeros(m)
    m = shift_up(m, zeros)
    m_high = shift_down(m, 32)
    m_low = m & 4294967295
    if zeros > 0:
        high = shift_up(high, zeros) | shift_down(low, 64 - zeros)
        low = shift_up(low, zeros)
    rest = wide_step(high, shift_down(low, 32), m, m_high, m_low)
    rest = wide_step(rest, low & 4294967295, m, m_high, m_low)
    return shift_down(rest, zeros)


def wide_step(high: int, digit: int, m: int, m_high: int, m_low: int) -> Any:
    """The rest of `high * 2 ** 32 + digit`, by a normalised m."""
    q = unsigned_div(high, m_high)
    rest = wrapping_add(high, -wrapping_mul(q, m_high))
    while not unsigned_less(q, 4294967296) or unsigned_less(
        wrapping_add(shift_up(rest, 32), digit), wrapping_mul(q, m_low)
    ):
        q = wrapping_add(q, -1)
        rest = wrapping_add(rest, m_high)
        if not unsigned_less(rest, 4294967296):
            break
    return wrapping_add(wrapping_add(shift_up(high, 32), digit), -wrapping_mul(q, m))


@prelude
def power_modulo(a: int, b: int, m: int) -> Any:
    """`pow(a, b, m)`."""
    if m == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if b < 0:
        give_up()
    result = 1 % m
    base = a % m
    while b > 0:
        if b & 1:
            result = product_modulo(result, base, m)
        base = product_modulo(base, base, m)
        b >>= 1
    return result


@prelude
def range_item(r: Any, i: int) -> Any:
    """`r[i]` of a range."""
    n = len(r)
    if i < 0:
        i = i + n
    if i < 0 or i >= n:
        raise IndexError("range object index out of range")
    return range_start(r) + i * range_step(r)


@prelude
def range_contains(r: Any, x: int) -> Any:
    """Whether an int is in a range, computed and not searched for."""
    start = range_start(r)
    stop = range_stop(r)
    step = range_step(r)
    if step > 0:
        return start <= x < stop and (x - start) % step == 0
    return stop < x <= start and (x - start) % step == 0


@prelude
def range_reversed(r: Any) -> Any:
    """The numbers of a range from the last to the first."""
    n = len(r)
    start = range_start(r)
    step = range_step(r)
    i = n - 1
    while i >= 0:
        yield start + i * step
        i = plus(i, -1)


@prelude
def int_bit_length(n: int) -> Any:
    """How many binary digits the size of an int has."""
    if n < 0:
        n = -n
    count = 0
    while n > 0:
        n >>= 1
        count = plus(count, 1)
    return count


@method("int", "bit_count")
def int_bit_count(n: int) -> Any:
    """How many binary digits of the size of an int are 1."""
    if n < 0:
        n = -n
    count = 0
    while n > 0:
        n &= n - 1
        count = plus(count, 1)
    return count


@method("int", "bit_length")
def bit_length(n: int) -> Any:
    """The method `n.bit_length()`."""
    return int_bit_length(n)


@method("float", "is_integer")
def is_integer(x: float) -> Any:
    """Whether a float is finite and has nothing behind the point."""
    return abs(x) != math.inf and not is_nan(x) and whole(x) == x


@method("float", "as_integer_ratio")
def float_ratio(x: float) -> Any:
    """Two ints without a common factor whose quotient is a float; they have to fit into 64 bits."""
    if is_nan(x):
        raise ValueError("cannot convert NaN to integer ratio")
    if abs(x) == math.inf:
        raise OverflowError("cannot convert Infinity to integer ratio")
    below = 1
    while whole(x) != x:
        x = x * 2.0
        below = below * 2
    return int(x), below


@method("int", "as_integer_ratio")
def int_ratio(n: int) -> Any:
    """An int as a quotient."""
    return n, 1


@method("int", "conjugate")
def int_conjugate(n: int) -> Any:
    """An int itself."""
    return n


@prelude
def range_not_contains(r: Any, x: int) -> Any:
    """`x not in r` of a range."""
    return not range_contains(r, x)
