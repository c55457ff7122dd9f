"""Hashes: CPython's own of numbers and of tuples of them, ours of what has another one in every process."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .intrinsics import (
    bits_of,
    byte,
    give_up,
    hash_of_member,
    is_nan,
    item,
    plus,
    set_item,
    shift_down,
    sized,
    whole,
    wrapping_add,
    wrapping_mul,
)  # fmt: skip
from .registry import apart, inline, prelude

MODULUS = 2305843009213693951


@apart
def empty_table(size: int, mark: int) -> Any:
    """What a hash table begins with. A list of its own making: `[mark] * size` would be of one kind with the user's."""
    made = sized(size)
    i = 0
    while i < size:
        set_item(made, i, mark)
        i = plus(i, 1)
    return made


@prelude
def hash_of(x: Any) -> Any:
    """Python's hash of a number; of texts, whose hash differs from process to process, one of our own."""
    if isinstance(x, bool):
        return 1 if x else 0
    if isinstance(x, enum.Enum):
        return hash_of_member(x)
    if isinstance(x, int):
        return hash_of_int(x)
    if isinstance(x, float):
        return hash_of_float(x)
    if isinstance(x, str):
        return hash_of_text(x)
    if isinstance(x, complex):
        return hash_of_complex(x)
    if isinstance(x, np.integer):
        return hash_of_int(int(x))
    if isinstance(x, np.floating):
        return hash_of_float(float(x))
    if isinstance(x, np.bool_):
        return 1 if x else 0
    if isinstance(x, tuple):
        return hash_of_tuple(x)
    if x is None:
        return 1
    if isinstance(x, frozenset):
        return hash_of_set(x)
    return give_up()


def hash_of_int(n: int) -> Any:
    """The number itself modulo 2 ** 61 - 1, with its sign; -1 is no hash."""
    if -MODULUS < n < MODULUS:
        return -2 if n == -1 else n
    rest = n % MODULUS if n >= 0 else -((-(n + 1)) % MODULUS) - 1
    if rest == -MODULUS:
        rest = 0
    return -2 if rest == -1 else rest


def hash_of_float(x: float) -> Any:
    """The hash of the fraction that a float is, equal to an int's where the two are equal."""
    if is_nan(x):
        give_up()
    if abs(x) < 1e18 and whole(x) == x:
        return hash_of_int(int(x))
    if abs(x) == float("inf"):
        return 314159 if x > 0 else -314159
    bits = bits_of(x)
    exponent = (shift_down(bits, 52) & 2047) - 1075
    mantissa = bits & 4503599627370495
    if exponent == -1075:
        exponent = -1074
    else:
        mantissa = mantissa | 4503599627370496
    turn = exponent % 61  # mantissa * 2 ** exponent, modulo 2 ** 61 - 1
    high = shift_down(mantissa, 61 - turn)
    low = wrapping_mul(mantissa, 1 << turn) & MODULUS
    rest = low + high
    if rest >= MODULUS:
        rest -= MODULUS
    if x < 0:
        rest = -rest
    return -2 if rest == -1 else rest


def hash_of_complex(z: complex) -> Any:
    """The hashes of both parts, combined as CPython does."""
    made = wrapping_add(hash_of_float(z.real), wrapping_mul(1000003, hash_of_float(z.imag)))
    return -2 if made == -1 else made


def hash_of_text(s: str) -> Any:
    """A hash of our own: CPython's differs from process to process."""
    h = 5381
    i = 0
    n = len(s)
    while i < n:
        h = wrapping_add(wrapping_mul(h, 1099511628211), byte(s, i))
        i = plus(i, 1)
    return h ^ shift_down(h, 32)


@prelude
@inline
def hash_of_tuple(items: Any) -> Any:
    """The hashes of the items, mixed by xxHash's steps as CPython does."""
    total = 2870177450012600261
    count = 0
    for x in items:
        h = hash_of(x)
        total = wrapping_add(total, wrapping_mul(h, -4417276706812531889))
        total = wrapping_mul(total, 2147483648) | shift_down(total, 33)
        total = wrapping_mul(total, -7046029288634856825)
        count = plus(count, 1)
    total = wrapping_add(total, count ^ (2870177450012600261 ^ 3527539))
    return 1546275796 if total == -1 else total


def hash_of_set(items: Any) -> Any:
    """Of our own: the same for sets that are equal, whatever the order of their items."""
    total = 1927868237
    i = 0
    while i <= items.mask:
        if item(items.state, i) == 1:
            h = item(items.hashes, i)
            total = wrapping_add(total, wrapping_mul(h ^ shift_down(h, 16) ^ 89869747, 3644798167))
        i = plus(i, 1)
    return total ^ shift_down(total, 25)


@inline
def is_ours(x: Any) -> Any:
    """Whether the hash of a value is not CPython's, so that nothing may depend on it."""
    if isinstance(x, tuple):
        for y in x:
            if is_ours_inside(y):
                return True
        return False
    return isinstance(x, (str, frozenset, enum.Enum)) or x is None


@inline
def is_ours_inside(x: Any) -> Any:
    """Whether the hash of this item is one of our own, and not CPython's."""
    return isinstance(x, (str, tuple, frozenset, enum.Enum)) or x is None
