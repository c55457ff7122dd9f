"""Functions to be mapped: while and for loops."""

from __future__ import annotations

import math

from functions.data import (
    FEW_FLOATS,
    FEW_INTS,
    FEW_REALS,
    POSITIVE,
    SMALL_INTS,
    SMALL_PAIRS,
    UNIT,
    one,
)
from functions.table import Table

table = Table("loops")
row = table.row
COEFFICIENTS = (0.5, -1.25, 3.0, 0.125, 2)
COUNTS = (one("counts", [3, 5, 27, 97, 6, 1, 2, 871, 16, 9] * 8), one("one count", [27]))


@row(FEW_REALS)
def fixed_length(x):
    total = 0
    for k in range(5):
        total += x * k
    return total


@row(FEW_FLOATS)
def polynomial_by_loop(x):
    total = 0.0
    for c in COEFFICIENTS:
        total = total * x + c
    return total


@row(SMALL_INTS)
def range_of_element(x):
    total = 0
    for k in range(x):
        total += k * k
    return total


@row(SMALL_INTS)
def range_with_steps(x):
    return [k * x for k in range(10, -11, -5)]


@row(FEW_FLOATS)
def while_halving(x):
    steps = 0
    while x > 1 and steps < 12:
        x = x / 2
        steps += 1
    return steps


@row(FEW_REALS)
def while_with_else(x):
    k = 0
    while k < 3:
        if x > k + 1:
            break
        k += 1
    else:
        k = 100
    return k


@row(FEW_REALS)
def for_with_else(x):
    for limit in (1, 2, 3, 4):
        if x < limit:
            found = limit
            break
    else:
        found = -1
    return found


@row(FEW_REALS)
def for_with_continue(x):
    total = 0
    for k in range(6):
        if k % 2:
            continue
        if x < k:
            continue
        total += k
    return total


@row(POSITIVE)
def newton_square_root(x):
    guess = x / 2 + 0.5
    for _ in range(30):
        better = 0.5 * (guess + x / guess)
        if abs(better - guess) < 1e-12 * guess:
            break
        guess = better
    return guess


@row(COUNTS, must_batch=False)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@row(SMALL_PAIRS[:3])
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@row(SMALL_INTS)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@row(SMALL_INTS)
def factorial_by_loop(n):
    product = 1
    while n > 1:
        product *= n
        n -= 1
    return product


@row(SMALL_INTS)
def nested_loops(n):
    total = 0
    for i in range(4):
        for j in range(i):
            if i * j > n:
                break
            total += i - j + n
    return total


@row(FEW_INTS, must_batch=False)
def sum_of_digits(n):
    n = abs(int(n))
    total = 0
    while n:
        n, digit = divmod(n, 10)
        total += digit
    return total


@row(SMALL_INTS)
def is_prime(n):
    if n < 2:
        return False
    k = 2
    while k * k <= n:
        if n % k == 0:
            return False
        k += 1
    return True


@row(UNIT[:2])
def escape(x):
    z, n = 0j, 0
    while abs(z) < 2 and n < 20:
        z = z * z + complex(x, 0.3)
        n += 1
    return n


@row(UNIT)
def bisection(x):
    low, high = -2.0, 2.0
    for _ in range(8):
        middle = (low + high) / 2
        if middle * middle * middle < x:
            low = middle
        else:
            high = middle
    return low


@row(UNIT[:2])
def series(x):
    term, total, k = 1.0, 0.0, 0
    while True:
        total += term
        k += 1
        term *= x / k
        if k >= 15:
            return total


@row(FEW_REALS)
def loop_over_enumerate(x):
    total = 0
    for k, c in enumerate((3, 1, 2), start=1):
        total += c * x**k
    return total


@row(FEW_REALS)
def loop_over_zip(x):
    total = 0
    for a, b in zip((1, 2, 3), [x, x + 1, x + 2]):
        total += a * b
    return total


@row(FEW_REALS)
def loop_over_own_list(x):
    values = [x, -x, x * 2]
    best = values[0]
    for value in values[1:]:
        if value > best:
            best = value
    return best


@row(FEW_REALS)
def loop_variable_after(x):
    for k in range(7):
        if k > x:
            break
    return k


@row(FEW_REALS)
def reversed_loop(x):
    total = 0
    for k in reversed(range(4)):
        total = total * x + k
    return total


@row(POSITIVE[:2])
def continued_fraction(x):
    y = x
    for _ in range(10):
        y = 1 + 1 / (y + x)
    return y


@row(POSITIVE[:2])
def logistic_map(x):
    y = x / 12
    for _ in range(20):
        y = 3.2 * y * (1 - y)
    return y


@row(SMALL_INTS)
def overflow_in_a_loop(n):
    y = n + 1
    for _ in range(7):
        y = y * y + 1
    return y % 1000003


@row(UNIT[:2])
def loop_with_maths(x):
    total = 0.0
    for k in range(1, 6):
        total += math.sin(k * x) / k
    return total


# ---- variables that a loop may not set


@row(SMALL_INTS)
def used_after_a_loop(n):
    for i in range(n):
        double = i * 2
    return double + i


@row(POSITIVE)
def set_before_a_break(x):
    for k in range(1, 40):
        part = x / k
        if part < 0.75:
            break
    return part - x


@row(FEW_REALS)
def set_on_one_path(x):
    if x > 1:
        large = x * 2
    if x < 3:
        return x
    return large


@row(SMALL_PAIRS)
def set_in_some_turns(n, x):
    turns = 0
    for i in range(n % 7):
        if i % 2:
            odd = x * i
        else:
            turns += 1
    return odd + i if turns > 1 else turns
