"""Operations that are a few instructions of machine code; here is what they mean in Python."""

from __future__ import annotations

import math
from typing import Any

from .powers_of_ten import powers


def item(xs: Any, i: Any) -> Any:
    """`xs[i]`, where `0 <= i < len(xs)` is known."""
    return xs[i]


def set_item(xs: Any, i: Any, value: Any) -> None:
    """`xs[i] = value`, where `0 <= i < len(xs)` is known."""
    xs[i] = value


def sized(n: Any) -> Any:
    """A list of n items that are all set before they are read."""
    return [None] * n


def shortened(xs: Any, n: Any) -> None:
    """Drop all items behind the first n."""
    del xs[n:]


def plus(a: Any, b: Any) -> Any:
    """`a + b` of ints that are known not to leave 64 bits."""
    return a + b


def minus(a: Any, b: Any) -> Any:
    """Subtraction of which it is known that it stays within 64 bits."""
    return a - b


def wrapping_add(a: Any, b: Any) -> Any:
    """`a + b`, modulo 2 ** 64, as a signed int."""
    return (a + b + 2**63) % 2**64 - 2**63


def wrapping_mul(a: Any, b: Any) -> Any:
    """The lowest 64 bits of a product, as a signed number."""
    return (a * b + 2**63) % 2**64 - 2**63


def shift_down(a: Any, n: Any) -> Any:
    """`a >> n` of the 64 bits of an int, without its sign."""
    return (a % 2**64) >> n


def zip_strict(*its: Any) -> Any:
    """Tuples of items, one from each iterable, and an error if one is shorter than another."""
    return zip(*its, strict=True)


def hash_of_member(x: Any) -> Any:
    """A hash of a member of an enum that is the same in every process, and that of the int or text that it is."""
    return hash(x)


def byte(s: Any, i: Any) -> Any:
    """The code of a character, whose place is known to be inside."""
    return ord(s[i])


def part(s: Any, start: Any, stop: Any) -> Any:
    """`s[start:stop]`, where `0 <= start <= stop <= len(s)` is known."""
    return s[start:stop]


def whole(x: Any) -> Any:
    """The float without its fraction, rounded down, as a float."""
    return float(math.floor(x))


def bits_of(x: Any) -> Any:
    """The 64 bits of a float, as an int."""
    import struct

    return struct.unpack("<q", struct.pack("<d", x))[0]


def float_of_bits(i: Any) -> Any:
    """The float64 that has these 64 bits."""
    import struct

    return struct.unpack("<d", struct.pack("<q", i))[0]


def fma(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c`, rounded once."""
    from fractions import Fraction

    return float(Fraction(a) * Fraction(b) + Fraction(c))


def nearest_even(x: Any) -> Any:
    """The float rounded to a whole one, halves to even, as a float."""
    return float(round(x))


def poll() -> None:
    """Look whether the caller wants an end."""


def give_up() -> None:
    """Leave the lane to the plain function."""
    raise NotImplementedError


def range_start(r: Any) -> Any:
    """The first number of a range."""
    return r.start


def range_stop(r: Any) -> Any:
    """The number before which a range ends."""
    return r.stop


def range_step(r: Any) -> Any:
    """The step of a range."""
    return r.step


def slice_start(s: Any) -> Any:
    """The first bound of a slice, which may be None."""
    return s.start


def slice_stop(s: Any) -> Any:
    """The second bound of a slice, which may be None."""
    return s.stop


def slice_step(s: Any) -> Any:
    """The step of a slice, which may be None."""
    return s.step


def new_text(n: Any) -> Any:
    """A text of n characters that are all set before it is read."""
    return bytearray(n)


def set_byte(s: Any, i: Any, code: Any) -> None:
    """Writes one character into a text that is being made."""
    s[i] = code


def as_tuple(xs: Any) -> Any:
    """A list that nobody else holds, as a tuple."""
    return tuple(xs)


def is_nan(x: Any) -> Any:
    """Whether a float is NaN."""
    return x != x


def unsigned_div(a: Any, b: Any) -> Any:
    """`a // b` of the 64 bits of two ints, without their signs."""
    return _signed((a % 2**64) // (b % 2**64))


def unsigned_rem(a: Any, b: Any) -> Any:
    """The remainder of two numbers without sign."""
    return _signed((a % 2**64) % (b % 2**64))


def unsigned_less(a: Any, b: Any) -> Any:
    """Whether one number is less than another, both taken without sign."""
    return a % 2**64 < b % 2**64


def _signed(a: int) -> int:
    return (a + 2**63) % 2**64 - 2**63


def product_fits(a: Any, b: Any) -> Any:
    """Whether `a * b` is an int of 64 bits."""
    return -(2**63) <= a * b < 2**63


def high_product(a: Any, b: Any) -> Any:
    """The upper 64 bits of the product of two ints without signs."""
    return _signed(((a % 2**64) * (b % 2**64)) >> 64)


def leading_zeros(a: Any) -> Any:
    """How many of an int's 64 bits, from above, are zero."""
    return 64 - (a % 2**64).bit_length()


def shift_up(a: Any, n: Any) -> Any:
    """The 64 bits of an int, moved up."""
    return _signed(((a % 2**64) << n) % 2**64)


def same_object(a: Any, b: Any) -> Any:
    """Whether two values are one list or object; numbers and texts never are, as far as anybody can tell."""
    return a is b


def c_ldexp(x: Any, i: Any) -> Any:
    """C's `ldexp`, of an exponent that is not large."""
    try:
        return math.ldexp(x, i)
    except OverflowError:
        return math.copysign(math.inf, x)


def c_hypot(x: Any, y: Any) -> Any:
    """C's `hypot`, which is not that of `math`."""
    import ctypes

    fn = ctypes.CDLL(None).hypot
    fn.restype, fn.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double]
    return fn(x, y)


def c_pow(x: Any, y: Any) -> Any:
    """C's `pow`, whatever it gives."""
    import ctypes

    fn = ctypes.CDLL(None).pow
    fn.restype, fn.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double]
    return fn(x, y)


def c_round(x: Any) -> Any:
    """The float rounded to a whole one, halves away from zero, as a float."""
    return math.copysign(math.floor(abs(x) + 0.5), x) if abs(x) % 1.0 == 0.5 else float(round(x))


def finished(s: Any) -> Any:
    """A new text whose characters are all set."""
    return s.decode("ascii")


def character(code: Any) -> Any:
    """The text of one ASCII character, whose code is known to be below 128."""
    return chr(code)


def copy_text(to: Any, at: Any, s: Any) -> None:
    """Set the characters of a new text from a place on."""
    to[at : at + len(s)] = s.encode("ascii")


def fill_text(to: Any, at: Any, count: Any, code: Any) -> None:
    """Set so many characters of a new text to the same one."""
    to[at : at + count] = bytes([code]) * count


def find_in(s: Any, sub: Any, start: Any, stop: Any) -> Any:
    """`s.find(sub, start, stop)`, where `0 <= start <= stop <= len(s)` is known."""
    return s.find(sub, start, stop)


def scaled_power(i: Any, half: Any) -> Any:
    """The upper (0) or lower (1) 64 bits of `10 ** (i - 292)`, scaled to 128 bits and rounded up."""
    return _signed(powers()[2 * i + half])


def c_text(x: Any, style: Any, precision: Any) -> Any:
    """What C's printf makes of a finite float that is not negative: style 101 is `%.*e`, 102 is `%.*f`."""
    return f"%.{precision}{chr(style)}" % x


def c_float(s: Any) -> Any:
    """C's strtod of a text such as `123e-4`, behind which there is a character that is no part of it."""
    return float(s)


def at(x: Any, *where: Any) -> Any:
    """The item of an array, whose indices are known to be inside."""
    return x[where]


def set_at(x: Any, *where: Any) -> None:
    """`x[i, j] = value`, the last argument, where all indices are known to be inside."""
    x[where[:-1]] = where[-1]


def new_array(like: Any, shape: Any) -> Any:
    """An array with the dtype of another, whose items are all set before they are read."""
    import numpy as np

    return np.empty(shape, like.dtype)


def wrapped(i: Any, n: Any) -> Any:
    """An index from the end where it is negative; IndexError where it is outside."""
    if not -n <= i < n:
        raise IndexError("index out of bounds")
    return i % n


def raise_broadcast() -> None:
    """Arrays whose lengths differ: NumPy stretches some of them, and raises for others."""
    raise NotImplementedError


def take_true(made: Any, mask: Any, x: Any) -> None:
    """Put the items of an array where a mask is set into an array that has as many."""
    made[...] = x[mask]


def put_true(x: Any, mask: Any, v: Any) -> None:
    """Put a number, or as many items as there are, where a mask of the same shape is set."""
    x[mask] = v


def lies_in_rows(x: Any) -> bool:
    """Whether the axes of an array lie in memory in their order."""
    return list(x.strides) == sorted(x.strides, reverse=True)


def count_true(mask: Any) -> Any:
    """How many items of an array of bools are set."""
    return int(mask.sum())
