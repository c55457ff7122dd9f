"""Numbers and texts in the form that a format specification asks for: `f"{x:>10.2f}"`, `"%05d" % n`.

A specification is a tuple of eight ints: the codes of fill, alignment, sign (or 0) and `#` (or 0), the width, the code
of the grouping sign (or 0), the precision (or -1), and the code of the type (or 0).
"""

from __future__ import annotations

from typing import Any

from .digits import digit_value, digits_by_bits, positional, repr_of, scientific, shortest_text, text_of, text_of_int
from .intrinsics import (
    bits_of,
    byte,
    c_text,
    copy_text,
    fill_text,
    finished,
    fma,
    give_up,
    is_nan,
    new_text,
    part,
    plus,
    set_byte,
    whole,
    wrapping_mul,
)
from .registry import inline, prelude
from .text import padded


def is_alignment(code: int) -> Any:
    """Whether a character is one of `<=>^`."""
    return code == 60 or code == 61 or code == 62 or code == 94


def number_at(spec: str, i: int) -> Any:
    """The number that stands at a place, -1 where there is none, and the place behind it."""
    n = len(spec)
    total = -1
    while i < n and 48 <= byte(spec, i) <= 57:
        total = (0 if total < 0 else total * 10) + byte(spec, i) - 48
        i = plus(i, 1)
    return total, i


@prelude
def parse_spec(spec: str, default: int) -> Any:
    """A specification's parts; `default`: how values of this class are aligned. What is unusual is given up."""
    n = len(spec)
    i = 0
    fill = 0
    align = 0
    sign = 0
    alternate = 0
    group = 0
    precision = -1
    kind = 0
    if n >= 2 and is_alignment(byte(spec, 1)):
        fill = byte(spec, 0)
        align = byte(spec, 1)
        i = 2
    elif n >= 1 and is_alignment(byte(spec, 0)):
        align = byte(spec, 0)
        i = 1
    if i < n and (byte(spec, i) == 43 or byte(spec, i) == 45 or byte(spec, i) == 32):
        sign = byte(spec, i)
        i = plus(i, 1)
    if i < n and byte(spec, i) == 35:
        alternate = 1
        i = plus(i, 1)
    if fill == 0 and i < n and byte(spec, i) == 48:
        fill = 48
        if align == 0 and default == 62:
            align = 61
    width, i = number_at(spec, i)
    if i < n and (byte(spec, i) == 44 or byte(spec, i) == 95):
        group = byte(spec, i)
        i = plus(i, 1)
    if i < n and byte(spec, i) == 46:
        precision, i = number_at(spec, plus(i, 1))
        if precision < 0:
            give_up()
    if i < n:
        kind = byte(spec, i)
        i = plus(i, 1)
    if i < n or width > 1000000000:
        give_up()
    if fill == 0:
        fill = 32
    if align == 0:
        align = default
    return fill, align, sign, alternate, width, group, precision, kind


@prelude
def filled(s: str, fill: int, align: int, width: int, precision: int) -> Any:
    """A text, or the first characters of it, filled up to a width."""
    if 0 <= precision < len(s):
        s = part(s, 0, precision)
    more = width - len(s)
    if more <= 0:
        return s
    left = more if align == 62 else more // 2 if align == 94 else 0
    return padded(s, left, more - left, fill)


# ---- ints and floats with their signs: functions of the number and of two ints that say how


@prelude
def decimal(n: int, _: int, __: int) -> Any:
    """An int in decimal digits; the other arguments are those of all functions that format a number."""
    return text_of_int(n)


@prelude
def signed_digits(n: int, shift: int, ten: int) -> Any:
    """In base `2 ** shift`."""
    if n < 0:
        made = digits_by_bits(wrapping_mul(n, -1), shift, ten, 1)
        set_byte(made, 0, 45)
        return finished(made)
    return finished(digits_by_bits(n, shift, ten, 0))


@prelude
def shortest(x: float, _: int, __: int) -> Any:
    """The shortest text that gives the same float back, as `str` shows it."""
    return shortest_text(x, 2)


@prelude
def fixed(x: float, precision: int, _: int) -> Any:
    """A float with `precision` digits after the point: `%f`."""
    if x - x != 0.0:
        return name_of(x)
    return with_sign(x, fixed_text(abs(x), precision))


@prelude
def exponential(x: float, precision: int, _: int) -> Any:
    """A float with an exponent and `precision` digits after the point: `%e`."""
    if x - x != 0.0:
        return name_of(x)
    return with_sign(x, exponent_text(abs(x), precision))


@prelude
def general(x: float, precision: int, point: int) -> Any:
    """A float with `precision` digits in the shorter one of both forms: `%g`."""
    if x - x != 0.0:
        return name_of(x)
    return with_sign(x, general_text(abs(x), 1 if precision == 0 else precision, point))


@prelude
def percentage(x: float, precision: int, _: int) -> Any:
    """A float times 100, with a percent sign."""
    return fixed(x * 100.0, precision, 0) + "%"


@prelude
def fixed_upper(x: float, precision: int, _: int) -> Any:
    """As `fixed`, with `NAN` and `INF` in capitals: `%F`."""
    return fixed(x, precision, 0).upper()


@prelude
def exponential_upper(x: float, precision: int, _: int) -> Any:
    """As `exponential`, in capitals: `%E`."""
    return exponential(x, precision, 0).upper()


@prelude
def general_upper(x: float, precision: int, _: int) -> Any:
    """As `general`, in capitals: `%G`."""
    return general(x, precision, 0).upper()


def name_of(x: float) -> Any:
    """What a float is called that is not finite."""
    if is_nan(x):
        return "nan"
    return "inf" if x > 0 else "-inf"


def with_sign(x: float, shown: str) -> Any:
    """The text of a size with a minus in front if the number is negative, -0.0 included."""
    if bits_of(x) < 0:
        return "-" + shown
    return shown


# ---- signs, prefixes, grouping and filling


@prelude
@inline
def laid_out_by(f: Any, x: Any, a: int, b: int, prefix: str, fill: int, align: int, sign: int, width: int) -> Any:
    """A number that `f` turns into text, padded to a width."""
    return laid_out(f(x, a, b), prefix, fill, align, sign, width)


@prelude
@inline
def grouped_out_by(
    f: Any, x: Any, a: int, b: int, prefix: str, fill: int, align: int, sign: int, width: int, group: int, by: int
) -> Any:
    """A number that `f` turns into text, with its digits in groups, padded to a width."""
    return grouped_out(f(x, a, b), prefix, fill, align, sign, width, group, by)


@prelude
def laid_out(shown: str, prefix: str, fill: int, align: int, sign: int, width: int) -> Any:
    """Sign, prefix, digits, and what fills them up to a width."""
    start = 1 if byte(shown, 0) == 45 else 0
    mark = 45 if start > 0 else sign if sign == 43 or sign == 32 else 0
    first = 1 if mark > 0 else 0
    digits = len(shown) - start
    n = first + len(prefix) + digits
    pad = width - n if width > n else 0
    left = 0
    inside = 0
    if align == 62:
        left = pad
    elif align == 94:
        left = pad // 2
    elif align == 61:
        inside = pad
    made = new_text(n + pad)
    fill_text(made, 0, left, fill)
    at = left
    if mark > 0:
        set_byte(made, at, mark)
        at = plus(at, 1)
    copy_text(made, at, prefix)
    at = plus(at, len(prefix))
    fill_text(made, at, inside, fill)
    at = plus(at, inside)
    copy_text(made, at, part(shown, start, len(shown)))
    at = plus(at, digits)
    fill_text(made, at, pad - left - inside, fill)
    return finished(made)


@prelude
def grouped_out(shown: str, prefix: str, fill: int, align: int, sign: int, width: int, group: int, by: int) -> Any:
    """The same, with a sign between every few digits before the point, zeros that fill up among them."""
    n = len(shown)
    start = 1 if byte(shown, 0) == 45 else 0
    stop = start
    while stop < n and digit_value(byte(shown, stop)) < 16:
        stop = plus(stop, 1)
    if by == 3:
        stop = start
        while stop < n and 48 <= byte(shown, stop) <= 57:
            stop = plus(stop, 1)
    if stop > start:
        least = 0
        if fill == 48 and align == 61:
            first = 1 if start > 0 or sign == 43 or sign == 32 else 0
            least = width - first - len(prefix) - (n - stop)
        between = grouped(part(shown, start, stop), group, by, least)
        shown = part(shown, 0, start) + between + part(shown, stop, n)
    return laid_out(shown, prefix, fill, align, sign, width)


def grouped(shown: str, group: int, by: int, least: int) -> Any:
    """Digits with a separator between groups: `"1,234,567"`, with zeros in front up to `least`."""
    n = len(shown)
    count = n
    while count + (count - 1) // by < least:
        count = plus(count, 1)
    size = count + (count - 1) // by
    made = new_text(size)
    at = size
    i = 0
    while i < count:
        if i > 0 and i % by == 0:
            at = plus(at, -1)
            set_byte(made, at, group)
        at = plus(at, -1)
        set_byte(made, at, byte(shown, n - 1 - i) if i < n else 48)
        i = plus(i, 1)
    return finished(made)


# ---- digits of floats that are finite and not negative


@prelude
def fixed_text(size: float, precision: int) -> Any:
    """A finite float that is not negative, with so many digits behind the point."""
    if precision <= 22:
        ten = 1.0
        i = 0
        while i < precision:
            ten = ten * 10.0
            i = plus(i, 1)
        big = size * ten
        if big < 4503599627370496.0:
            lost = fma(size, ten, -big)  # big + lost is the exact product
            near = whole(big)
            over = big - near
            if over > 0.5 or (over == 0.5 and (lost > 0.0 or (lost == 0.0 and near != 2.0 * whole(near * 0.5)))):
                near = near + 1.0
            return with_point(text_of_int(int(near)), precision)
    shown = c_text(size, 102, precision)
    if precision > 0 and byte(shown, len(shown) - precision - 1) != 46:
        give_up()  # another country's point
    return shown


def with_point(shown: str, precision: int) -> Any:
    """Digits, so many of them behind a point."""
    if precision == 0:
        return shown
    n = len(shown)
    before = n - precision
    if before > 0:
        made = new_text(plus(n, 1))
        copy_text(made, 0, part(shown, 0, before))
        set_byte(made, before, 46)
        copy_text(made, plus(before, 1), part(shown, before, n))
    else:
        made = new_text(plus(precision, 2))
        fill_text(made, 0, 2 - before, 48)
        set_byte(made, 1, 46)
        copy_text(made, 2 - before, shown)
    return finished(made)


@prelude
def exponent_text(size: float, precision: int) -> Any:
    """A size as C's `printf` writes it with `%e`."""
    shown = c_text(size, 101, precision)
    if precision > 0 and byte(shown, 1) != 46:
        give_up()
    return shown


@prelude
def general_text(size: float, precision: int, point: int) -> Any:
    """So many digits, with a power of ten where the number is small or large. `point`: as in `positional`."""
    raw = exponent_text(size, precision - 1)
    n = precision
    digits = raw
    if precision > 1:
        made = new_text(n)
        copy_text(made, 0, part(raw, 0, 1))
        copy_text(made, 1, part(raw, 2, n + 1))
        digits = finished(made)
        while n > 1 and byte(digits, n - 1) == 48:
            n = plus(n, -1)
    digits = part(digits, 0, n)
    at = len(raw) - 1
    exponent = byte(raw, at) - 48 + 10 * (byte(raw, at - 1) - 48)
    at = at - 2
    if 48 <= byte(raw, at) <= 57:
        exponent = exponent + 100 * (byte(raw, at) - 48)
        at = at - 1
    if byte(raw, at) == 45:
        exponent = -exponent
    if exponent < -4 or exponent >= (precision - 1 if point > 0 else precision):
        return scientific(digits, exponent, 0, 101)
    return positional(digits, exponent + 1, 0, point)


# ---- whatever is formatted


@prelude
@inline
def filled_text_of(x: Any, fill: int, align: int, width: int, precision: int) -> Any:
    """`f"{x!s:spec}"`."""
    return filled(text_of(x), fill, align, width, precision)


@prelude
@inline
def filled_repr_of(x: Any, fill: int, align: int, width: int, precision: int) -> Any:
    """The `repr` of anything, padded or cut: `f"{x!r:>10}"`."""
    return filled(repr_of(x), fill, align, width, precision)


@prelude
@inline
def format_by(x: Any, spec: str) -> Any:
    """`format(x, spec)`, where the specification is not known beforehand."""
    if len(spec) == 0:
        return text_of(x)
    if isinstance(x, str):
        return format_text_by(x, parse_spec(spec, 60))
    if isinstance(x, int):
        return format_int_by(x, parse_spec(spec, 62))
    if isinstance(x, float):
        return format_float_by(x, parse_spec(spec, 62))
    return give_up()


def format_text_by(s: str, spec: Any) -> Any:
    """A text by a format specification that is known only at run time."""
    fill, align, sign, alternate, width, group, precision, kind = spec
    if align == 61 or sign > 0 or alternate > 0 or group > 0 or (kind != 0 and kind != 115):
        give_up()
    return filled(s, fill, align, width, precision)


def format_int_by(n: int, spec: Any) -> Any:
    """An int by a format specification that is known only at run time."""
    fill, align, sign, alternate, width, group, precision, kind = spec
    if kind == 37 or 69 <= kind <= 71 or 101 <= kind <= 103:
        return format_float_by(n, spec)
    by = 4
    prefix = ""
    if kind == 0 or kind == 100:
        shown = text_of_int(n)
        by = 3
    elif kind == 98:
        shown = signed_digits(n, 1, 97)
        prefix = "0b"
    elif kind == 111:
        shown = signed_digits(n, 3, 97)
        prefix = "0o"
    elif kind == 120:
        shown = signed_digits(n, 4, 97)
        prefix = "0x"
    elif kind == 88:
        shown = signed_digits(n, 4, 65)
        prefix = "0X"
    else:
        give_up()
    if precision >= 0 or (group == 44 and by == 4):
        give_up()
    if alternate == 0:
        prefix = ""
    if group > 0:
        return grouped_out(shown, prefix, fill, align, sign, width, group, by)
    return laid_out(shown, prefix, fill, align, sign, width)


def format_float_by(x: float, spec: Any) -> Any:
    """A float by a format specification that is known only at run time."""
    fill, align, sign, alternate, width, group, precision, kind = spec
    digits = 6 if precision < 0 else precision
    if kind == 0:
        shown = shortest_text(x, 2) if precision < 0 else general(x, precision, 2)
    elif kind == 37:
        shown = percentage(x, digits, 0)
    elif kind == 102 or kind == 70:
        shown = fixed(x, digits, 0)
    elif kind == 101 or kind == 69:
        shown = exponential(x, digits, 0)
    elif kind == 103 or kind == 71:
        shown = general(x, digits, 0)
    else:
        give_up()
    if alternate > 0:
        give_up()
    if 69 <= kind <= 71:
        shown = shown.upper()
    if group > 0:
        return grouped_out(shown, "", fill, align, sign, width, group, 3)
    return laid_out(shown, "", fill, align, sign, width)
