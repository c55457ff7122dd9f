"""Numbers as text, and texts as numbers, with Python's rules."""

from __future__ import annotations

import math
from typing import Any

from .intrinsics import (
    bits_of,
    byte,
    c_float,
    character,
    copy_text,
    fill_text,
    finished,
    give_up,
    high_product,
    is_nan,
    new_text,
    part,
    plus,
    scaled_power,
    set_byte,
    shift_down,
    shift_up,
    unsigned_div,
    unsigned_less,
    unsigned_rem,
    wrapping_add,
    wrapping_mul,
)
from .registry import implements, inline, prelude

# ---- ints as text


@prelude
def text_of_int(n: int) -> Any:
    """An int in decimal digits: `str(n)`."""
    if 0 <= n < 10:
        return character(48 + n)
    size = n if n > 0 else wrapping_mul(n, -1)  # without a sign: 2 ** 63 is one of them
    count = 1
    rest = unsigned_div(size, 10)
    while rest > 0:
        rest = unsigned_div(rest, 10)
        count = plus(count, 1)
    if n < 0:
        count = plus(count, 1)
    made = new_text(count)
    while count > 0:
        count = plus(count, -1)
        set_byte(made, count, plus(48, unsigned_rem(size, 10)))
        size = unsigned_div(size, 10)
    if n < 0:
        set_byte(made, 0, 45)
    return finished(made)


@prelude
def digits_by_bits(size: int, shift: int, ten: int, before: int) -> Any:
    """The digits of an int without a sign in base `2 ** shift`, behind room for `before` characters. `ten`: the code
    of the digit for 10."""
    count = 1
    rest = shift_down(size, shift)
    while rest != 0:
        rest = shift_down(rest, shift)
        count = plus(count, 1)
    made = new_text(plus(before, count))
    mask = (1 << shift) - 1
    at = plus(before, count)
    while at > before:
        at = plus(at, -1)
        digit = size & mask
        set_byte(made, at, plus(48, digit) if digit < 10 else plus(ten - 10, digit))
        size = shift_down(size, shift)
    return made


@prelude
def prefixed(n: int, shift: int, letter: int) -> Any:
    """What `bin`, `oct` and `hex` give."""
    sign = 1 if n < 0 else 0
    made = digits_by_bits(wrapping_mul(n, -1) if n < 0 else n, shift, 97, plus(sign, 2))
    set_byte(made, 0, 45)
    set_byte(made, sign, 48)
    set_byte(made, plus(sign, 1), letter)
    return finished(made)


@implements(bin)
def bin_(n: int, /) -> Any:
    """An int in binary digits: `"0b101"`."""
    return prefixed(n, 1, 98)


@implements(oct)
def oct_(n: int, /) -> Any:
    """An int in octal digits: `"0o17"`."""
    return prefixed(n, 3, 111)


@implements(hex)
def hex_(n: int, /) -> Any:
    """An int in hexadecimal digits: `"0xff"`."""
    return prefixed(n, 4, 120)


# ---- floats as text: the shortest digits that give the float back (Schubfach, by Raffaele Giulietti)


@prelude
def shortest_digits(x: float) -> Any:
    """For a finite float above zero: digits, as an int, and the power of ten that they are to be multiplied by."""
    bits = bits_of(x)
    exponent = shift_down(bits, 52)
    mantissa = bits & 4503599627370495
    q = -1074
    c = mantissa
    if exponent != 0:
        c = mantissa | 4503599627370496
        q = exponent - 1075
        if 0 <= -q < 53 and c & ((1 << -q) - 1) == 0:
            return c >> -q, 0
    closer = 1 if mantissa == 0 and exponent > 1 else 0  # the float below is only half as far as the one above
    odd = c & 1
    k = (q * 1262611 - 524031 * closer) >> 22
    h = q + (-k * 1741647 >> 19) + 1
    high = scaled_power(292 - k, 0)
    low = scaled_power(292 - k, 1)
    lower = rounded_to_odd(high, low, shift_up(4 * c - 2 + closer, h)) + odd
    near = rounded_to_odd(high, low, shift_up(4 * c, h))
    upper = rounded_to_odd(high, low, shift_up(4 * c + 2, h)) - odd
    s = near >> 2
    if s >= 10:
        ten = s // 10
        below = lower <= 40 * ten
        above = 40 * ten + 40 <= upper
        if below != above:
            return ten + (1 if above else 0), k + 1
    below = lower <= 4 * s
    above = 4 * s + 4 <= upper
    if below != above:
        return s + (1 if above else 0), k
    middle = 4 * s + 2
    up = near > middle or (near == middle and s & 1 != 0)
    return s + (1 if up else 0), k


def rounded_to_odd(high: int, low: int, c: int) -> Any:
    """The upper bits of a product; the lowest of them is set where bits were lost."""
    carried = high_product(low, c)
    middle = wrapping_add(wrapping_mul(high, c), carried)
    top = high_product(high, c)
    if unsigned_less(middle, carried):
        top = wrapping_add(top, 1)
    return top | (1 if unsigned_less(1, middle) else 0)


@prelude
def text_of_float(x: float) -> Any:
    """`repr(x)`."""
    return shortest_text(x, 2)


@prelude
def shortest_text(x: float, point: int) -> Any:
    """The shortest text that gives a float back. `point`: 2 where a whole number ends in `.0`, 0 where it does not."""
    if is_nan(x):
        return "nan"
    if abs(x) == math.inf:
        return "inf" if x > 0 else "-inf"
    sign = 1 if bits_of(x) < 0 else 0
    digits = 0
    exponent = 0
    if x != 0.0:
        digits, exponent = shortest_digits(abs(x))
        while digits % 10 == 0:
            digits = digits // 10
            exponent = plus(exponent, 1)
    shown = text_of_int(digits)
    count = len(shown)
    before = plus(count, exponent)  # digits before the point
    if -4 < before <= 16:
        return positional(shown, before, sign, point)
    return scientific(shown, plus(before, -1), sign, 101)


def positional(shown: str, before: int, sign: int, point: int) -> Any:
    """Digits without a power of ten; so many of them stand before the point."""
    count = len(shown)
    if before >= count:
        made = new_text(sign + before + point)
        copy_text(made, sign, shown)
        fill_text(made, plus(sign, count), before - count, 48)
        if point > 0:
            set_byte(made, plus(sign, before), 46)
            set_byte(made, plus(plus(sign, before), 1), 48)
    elif before > 0:
        made = new_text(sign + count + 1)
        copy_text(made, sign, part(shown, 0, before))
        set_byte(made, plus(sign, before), 46)
        copy_text(made, plus(plus(sign, before), 1), part(shown, before, count))
    else:
        made = new_text(sign + 2 - before + count)
        fill_text(made, sign, 2 - before, 48)
        set_byte(made, plus(sign, 1), 46)
        copy_text(made, sign + 2 - before, shown)
    if sign > 0:
        set_byte(made, 0, 45)
    return finished(made)


@prelude
def scientific(shown: str, exponent: int, sign: int, letter: int) -> Any:
    """Digits with a power of ten: `1.5e+20`."""
    count = len(shown)
    size = -exponent if exponent < 0 else exponent
    width = 3 if size >= 100 else 2
    point = 1 if count > 1 else 0
    made = new_text(sign + count + point + 2 + width)
    if sign > 0:
        set_byte(made, 0, 45)
    copy_text(made, sign, part(shown, 0, 1))
    if point > 0:
        set_byte(made, plus(sign, 1), 46)
    copy_text(made, sign + 1 + point, part(shown, 1, count))
    at = sign + count + point
    set_byte(made, at, letter)
    set_byte(made, plus(at, 1), 45 if exponent < 0 else 43)
    if width > 2:
        set_byte(made, plus(at, 2), plus(48, size // 100))
    set_byte(made, plus(at, width), plus(48, size // 10 % 10))
    set_byte(made, plus(at, plus(width, 1)), plus(48, size % 10))
    return finished(made)


@prelude
def text_of_complex(z: complex) -> Any:
    """`repr(z)`."""
    imag = shortest_text(z.imag, 0)
    if bits_of(z.real) == 0:
        return imag + "j"
    sign = "" if bits_of(z.imag) < 0 and not is_nan(z.imag) else "+"
    return "(" + shortest_text(z.real, 0) + sign + imag + "j)"


# ---- anything as text


@prelude
@inline
def text_of(x: Any) -> Any:
    """`str(x)`."""
    if isinstance(x, str):
        return x
    return repr_of(x)


@prelude
@inline
def repr_of(x: Any) -> Any:
    """`repr(x)`."""
    cls = type(x)
    if cls is bool:
        return "True" if x else "False"
    if cls is int:
        return text_of_int(x)
    if cls is float:
        return text_of_float(x)
    if cls is str:
        return repr_of_text(x)
    if x is None:
        return "None"
    if cls is complex:
        return text_of_complex(x)
    if cls is list:
        return repr_of_items(x, "[", "]")
    if cls is tuple:
        if len(x) == 1:
            return repr_of_items(x, "(", ",)")
        return repr_of_items(x, "(", ")")
    if cls is dict:
        return repr_of_dict(x)
    if cls is set:
        if len(x) == 0:
            return "set()"
        return repr_of_items(x, "{", "}")
    return give_up()


def repr_of_items(xs: Any, start: str, end: str) -> Any:
    """The items of a list, tuple or set as `repr` shows them, between two brackets."""
    shown = start
    first = True
    for x in xs:
        if not first:
            shown += ", "
        first = False
        shown += repr_of(x)
    return shown + end


def repr_of_dict(table: Any) -> Any:
    """A dict as `repr` shows it."""
    shown = "{"
    for key, value in table.items():
        if len(shown) > 1:
            shown += ", "
        shown += repr_of(key) + ": " + repr_of(value)
    return shown + "}"


@prelude
def repr_of_text(s: str) -> Any:
    """A text in quotes as `repr` shows it, with double quotes where only single ones are inside."""
    n = len(s)
    size = 2
    single = False
    double = False
    i = 0
    while i < n:
        code = byte(s, i)
        size = plus(size, escaped_size(code))
        if code == 39:
            single = True
        elif code == 34:
            double = True
        i = plus(i, 1)
    quote = 34 if single and not double else 39
    if quote == 39 and single:
        size = size + s.count("'")
    made = new_text(size)
    set_byte(made, 0, quote)
    at = 1
    i = 0
    while i < n:
        code = byte(s, i)
        width = escaped_size(code)
        if width == 1 and code != quote:
            set_byte(made, at, code)
        else:
            set_byte(made, at, 92)
            at = plus(at, 1)
            if width == 4:
                set_byte(made, at, 120)
                set_byte(made, plus(at, 1), plus(48, code >> 4))
                set_byte(made, plus(at, 2), hex_digit(code & 15))
                at = plus(at, 2)
            else:
                set_byte(made, at, 110 if code == 10 else 114 if code == 13 else 116 if code == 9 else code)
        at = plus(at, 1)
        i = plus(i, 1)
    set_byte(made, at, quote)
    return finished(made)


def escaped_size(code: int) -> Any:
    """How many characters one takes in `repr`, quotes aside."""
    if code == 92 or code == 10 or code == 13 or code == 9:
        return 2
    return 4 if code < 32 or code == 127 else 1


def hex_digit(digit: int) -> Any:
    """The code of a hexadecimal digit: 48 for 0, 97 for 10."""
    return plus(48, digit) if digit < 10 else plus(87, digit)


# ---- texts as numbers


def first_visible(s: str) -> Any:
    """Where a number's text begins, behind what C counts as white space."""
    i = 0
    n = len(s)
    while i < n and (byte(s, i) == 32 or 9 <= byte(s, i) <= 13):
        i = plus(i, 1)
    return i


def last_visible(s: str, start: int) -> Any:
    """Where a text ends once white space at its end is left out."""
    n = len(s)
    while n > start and (byte(s, plus(n, -1)) == 32 or 9 <= byte(s, plus(n, -1)) <= 13):
        n = plus(n, -1)
    return n


def digit_value(code: int) -> Any:
    """The value of a digit in bases up to 36; 99 for anything else."""
    if 48 <= code <= 57:
        return code - 48
    if 97 <= code <= 122:
        return code - 87
    if 65 <= code <= 90:
        return code - 55
    return 99


@prelude
def int_of_decimal(s: str) -> Any:
    """`int(s)` of a decimal text, quick where it is one digit."""
    if len(s) == 1:
        digit = byte(s, 0) - 48
        if 0 <= digit <= 9:
            return digit
    return decimal_of(s)


def decimal_of(s: str) -> Any:
    """`int(s)`."""
    i = first_visible(s)
    n = last_visible(s, i)
    minus = False
    if i < n and (byte(s, i) == 45 or byte(s, i) == 43):
        minus = byte(s, i) == 45
        i = plus(i, 1)
    total = 0
    before = 95  # as if an underscore came first
    while i < n:
        code = byte(s, i)
        if 48 <= code <= 57:
            total = total * 10 - (code - 48)  # below zero there is one int more
        elif code != 95 or before == 95:
            raise ValueError("invalid literal for int()")
        before = code
        i = plus(i, 1)
    if before == 95:
        raise ValueError("invalid literal for int()")
    return total if minus else -total


@prelude
def int_of_text(s: str, base: int) -> Any:
    """`int(s, base)`."""
    if base != 0 and (base < 2 or base > 36):
        raise ValueError("int() base must be >= 2 and <= 36, or 0")
    i = first_visible(s)
    n = last_visible(s, i)
    minus = False
    if i < n and (byte(s, i) == 45 or byte(s, i) == 43):
        minus = byte(s, i) == 45
        i = plus(i, 1)
    zeros_only = False
    if plus(i, 1) < n and byte(s, i) == 48:
        letter = byte(s, plus(i, 1)) | 32
        found = 16 if letter == 120 else 8 if letter == 111 else 2 if letter == 98 else 0
        if found != 0 and (base == 0 or base == found):
            base = found
            i = plus(i, 2)
            if i < n and byte(s, i) == 95:
                i = plus(i, 1)
    if base == 0:
        base = 10
        zeros_only = i < n and byte(s, i) == 48
    total = 0
    before = 95  # as if an underscore came first
    while i < n:
        code = byte(s, i)
        if code == 95:
            if before == 95:
                raise ValueError("invalid literal for int()")
        else:
            digit = digit_value(code)
            if digit >= base:
                raise ValueError("invalid literal for int()")
            total = total * base - digit
        before = code
        i = plus(i, 1)
    if before == 95 or (zeros_only and total != 0):
        raise ValueError("invalid literal for int()")
    return total if minus else -total


@prelude
def float_of_text(s: str) -> Any:
    """`float(s)`."""
    i = first_visible(s)
    n = last_visible(s, i)
    minus = False
    if i < n and (byte(s, i) == 45 or byte(s, i) == 43):
        minus = byte(s, i) == 45
        i = plus(i, 1)
    if i < n and byte(s, i) != 46 and digit_value(byte(s, i)) > 9:
        size = named_float(part(s, i, n).lower())
        return -size if minus else size
    made = new_text(n - i + 24)
    count = 0  # digits, from the first that is not zero
    exponent = 0
    mantissa = 0
    some = False
    behind = False  # the point
    before = 95
    while i < n:
        code = byte(s, i)
        if 48 <= code <= 57:
            some = True
            if behind:
                exponent = plus(exponent, -1)
            if count > 0 or code != 48:
                set_byte(made, count, code)
                count = plus(count, 1)
                if count <= 18:
                    mantissa = plus(mantissa * 10, code - 48)
        elif code == 46:
            if behind:
                raise ValueError("could not convert string to float")
            behind = True
        elif code == 95:
            if not 48 <= before <= 57 or plus(i, 1) >= n or not 48 <= byte(s, plus(i, 1)) <= 57:
                raise ValueError("could not convert string to float")
        else:
            break
        before = code
        i = plus(i, 1)
    if not some:
        raise ValueError("could not convert string to float")
    if i < n:
        exponent = exponent + exponent_of(s, i, n)
    size = 0.0
    if count > 0:
        size = scaled(mantissa, count, exponent, made)
    return -size if minus else size


def named_float(name: str) -> Any:
    """The float that a name stands for: infinity or NaN."""
    if name == "inf" or name == "infinity":
        return math.inf
    if name == "nan":
        return math.nan
    raise ValueError("could not convert string to float")


def exponent_of(s: str, i: int, n: int) -> Any:
    """The value of `e-12`, at most a few thousand millions."""
    if byte(s, i) | 32 != 101:
        raise ValueError("could not convert string to float")
    i = plus(i, 1)
    minus = False
    if i < n and (byte(s, i) == 45 or byte(s, i) == 43):
        minus = byte(s, i) == 45
        i = plus(i, 1)
    total = 0
    before = 95
    while i < n:
        code = byte(s, i)
        if code == 95:
            if before == 95:
                raise ValueError("could not convert string to float")
        elif 48 <= code <= 57:
            if total < 1000000000:
                total = total * 10 + code - 48
        else:
            raise ValueError("could not convert string to float")
        before = code
        i = plus(i, 1)
    if before == 95:
        raise ValueError("could not convert string to float")
    return -total if minus else total


def scaled(mantissa: int, count: int, exponent: int, digits: Any) -> Any:
    """So many digits, times a power of ten; the first 18 of them as an int."""
    if count <= 15 and -22 <= exponent <= 22:  # both are floats, so that one rounding is all there is
        ten = 1.0
        i = -exponent if exponent < 0 else exponent
        while i > 0:
            ten = ten * 10.0
            i = plus(i, -1)
        return mantissa / ten if exponent < 0 else mantissa * ten
    if count + exponent > 400:
        return math.inf
    if count + exponent < -400:
        return 0.0
    set_byte(digits, count, 101)
    power = text_of_int(exponent)
    copy_text(digits, plus(count, 1), power)
    end = count + 1 + len(power)
    set_byte(digits, end, 0)
    return c_float(part(finished(digits), 0, end))
