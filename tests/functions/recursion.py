"""Functions to be mapped: recursive functions."""

from __future__ import annotations

from functools import lru_cache

from functions.data import POSITIVE, SMALL_INTS, SMALL_PAIRS, one
from functions.table import Table

table = Table("recursion")
row = table.row
TINY = (one("tiny ints", [0, 1, 2, 3, 2, 1] * 12),)
TINY_PAIRS = (one("tiny pair", [0, 1, 2, 2, 1] * 12, [3, 2, 1, 3, 0] * 12),)


@row(SMALL_INTS)
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@row(SMALL_INTS)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@row(SMALL_PAIRS[:3])
def euclid(a, b):
    return a if b == 0 else euclid(b, a % b)


@row(TINY_PAIRS)
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@row(SMALL_PAIRS[:2])
def power_by_squaring(x, n):
    if n == 0:
        return 1
    half = power_by_squaring(x, n // 2)
    return half * half * (x if n % 2 else 1)


@row(SMALL_INTS)
def is_even(n):
    return True if n == 0 else _is_odd(n - 1)


def _is_odd(n):
    return False if n == 0 else is_even(n - 1)


@row(POSITIVE[:2])
def halve_until_small(x):
    return x if x < 0.1 else halve_until_small(x / 2) + 1


@row(SMALL_INTS[:2])
def inner_recursion(n):
    def depth(k):
        return 0 if k <= 0 else 1 + depth(k - 2)

    return depth(n)


@row(SMALL_INTS)
def with_memory_of_its_own(n):
    memory = {}

    def fib(k):
        if k < 2:
            return k
        if k not in memory:
            memory[k] = fib(k - 1) + fib(k - 2)
        return memory[k]

    return fib(n)


@row(SMALL_INTS[:1])
@lru_cache(maxsize=None)
def cached_fibonacci(n):
    return n if n < 2 else cached_fibonacci(n - 1) + cached_fibonacci(n - 2)


@row(TINY, must_batch=False)
def nested_list(n):
    return [] if n == 0 else [nested_list(n - 1)]


@row(TINY)
def hanoi(n):
    return 0 if n == 0 else 2 * hanoi(n - 1) + 1


@row(SMALL_INTS[:1])
def always_recursive_error(n):
    if n == 5:
        raise RecursionError("five")
    return n
