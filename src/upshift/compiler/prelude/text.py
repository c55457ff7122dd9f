"""Texts of ASCII characters: their operators and most of their methods; how they are taken apart is in `parts.py`."""

from __future__ import annotations

from typing import Any

from .intrinsics import (
    byte,
    character,
    copy_text,
    fill_text,
    find_in,
    finished,
    give_up,
    item,
    new_text,
    part,
    plus,
    poll,
    set_byte,
    slice_start,
    slice_step,
    slice_stop,
)
from .iterables import listed
from .lists import bound, strided
from .registry import inline, method, prelude
from .tables import Dict

# ---- operators


@prelude
def text_slice(s: str, bounds: Any) -> Any:
    """`s[start:stop:step]`."""
    n = len(s)
    start = slice_start(bounds)
    stop = slice_stop(bounds)
    step = slice_step(bounds)
    if step is None:
        low = bound(start, n, 0)
        high = bound(stop, n, n)
        return part(s, low, high if high > low else low)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, count = strided(start, stop, step, n)
    if count == 0:
        return ""
    if step == 1:
        return part(s, low, plus(low, count))
    made = new_text(count)
    i = 0
    while i < count:
        set_byte(made, i, byte(s, low))
        low = plus(low, step)
        i = plus(i, 1)
    return finished(made)


@prelude
def text_times(s: str, times: int) -> Any:
    """`s * times`."""
    n = len(s)
    if times <= 0 or n == 0:
        return ""
    if n == 1:
        made = new_text(times)
        fill_text(made, 0, times, byte(s, 0))
        return finished(made)
    total = n * times
    made = new_text(total)
    at = 0
    while at < total:
        copy_text(made, at, s)
        at = plus(at, n)
    return finished(made)


@prelude
def text_contains(s: str, sub: str) -> Any:
    """`sub in s`."""
    return find_in(s, sub, 0, len(s)) >= 0


@prelude
def text_not_contains(s: str, sub: str) -> Any:
    """`sub not in s`."""
    return find_in(s, sub, 0, len(s)) < 0


@method("str", "join")
@inline
def text_joined(s: str, it: Any, /) -> Any:
    """`s.join(it)`."""
    if isinstance(it, list):
        return join_items(s, it)
    return join_items(s, listed(it))


def join_items(s: str, items: Any) -> Any:
    """The texts of a list with a separator between them, in memory that is reserved once."""
    n = len(items)
    total = 0
    i = 0
    while i < n:
        x = item(items, i)
        if not isinstance(x, str):
            raise TypeError("sequence item: expected str instance")
        total = plus(total, len(x))
        i = plus(i, 1)
    between = len(s)
    if n > 1:
        total = total + between * (n - 1)
    made = new_text(total)
    at = 0
    i = 0
    while i < n:
        if between > 0 and i > 0:
            copy_text(made, at, s)
            at = plus(at, between)
        x = item(items, i)
        if isinstance(x, str):  # as all of them are by now
            copy_text(made, at, x)
            at = plus(at, len(x))
        i = plus(i, 1)
    return finished(made)


# ---- looking for a text in another


@prelude
@inline
def first_place(i: Any, n: int) -> Any:
    """The start that a method is given, as a place that may be behind the end."""
    if i is None:
        return 0
    if not isinstance(i, int):
        give_up()
    if i < 0:
        i = i + n
        if i < 0:
            return 0
    return i


@prelude
@inline
def last_place(i: Any, n: int) -> Any:
    """The second bound of a search: None is the end, negative ones count from there."""
    if i is None:
        return n
    if not isinstance(i, int):
        give_up()
    if i < 0:
        i = i + n
        if i < 0:
            return 0
    return n if i > n else i


@method("str", "find")
@inline
def text_find(s: str, sub: str, start: Any = None, end: Any = None, /) -> Any:
    """Where `sub` begins first between two bounds, or -1."""
    return found_first(s, sub, first_place(start, len(s)), last_place(end, len(s)))


@method("str", "rfind")
@inline
def text_rfind(s: str, sub: str, start: Any = None, end: Any = None, /) -> Any:
    """Where `sub` begins last between two bounds, or -1."""
    return found_last(s, sub, first_place(start, len(s)), last_place(end, len(s)))


@method("str", "index")
@inline
def text_index(s: str, sub: str, start: Any = None, end: Any = None, /) -> Any:
    """Where `sub` begins first between two bounds, or a ValueError."""
    i = found_first(s, sub, first_place(start, len(s)), last_place(end, len(s)))
    if i < 0:
        raise ValueError("substring not found")
    return i


@method("str", "rindex")
@inline
def text_rindex(s: str, sub: str, start: Any = None, end: Any = None, /) -> Any:
    """Where `sub` begins last between two bounds, or a ValueError."""
    i = found_last(s, sub, first_place(start, len(s)), last_place(end, len(s)))
    if i < 0:
        raise ValueError("substring not found")
    return i


def found_first(s: str, sub: str, low: int, high: int) -> Any:
    """Where `sub` begins first between two positions, or -1."""
    if high - low < len(sub):
        return -1
    return find_in(s, sub, low, high)


@prelude
def found_last(s: str, sub: str, low: int, high: int) -> Any:
    """Where `sub` begins last between two positions, or -1."""
    m = len(sub)
    i = high - m
    while i >= low:
        if part(s, i, plus(i, m)) == sub:
            return i
        i = plus(i, -1)
        if i & 65535 == 0:
            poll()
    return -1


@method("str", "count")
@inline
def text_count(s: str, sub: str, start: Any = None, end: Any = None, /) -> Any:
    """How often `sub` is there between two bounds, without overlaps."""
    return count_between(s, sub, first_place(start, len(s)), last_place(end, len(s)))


@prelude
def count_between(s: str, sub: str, low: int, high: int) -> Any:
    """How often `sub` is there between two positions, without overlaps."""
    m = len(sub)
    if high - low < m:
        return 0
    if m == 0:
        return high - low + 1
    count = 0
    if m == 1:
        code = byte(sub, 0)
        while low < high:
            if byte(s, low) == code:
                count = plus(count, 1)
            low = plus(low, 1)
        return count
    while True:
        i = find_in(s, sub, low, high)
        if i < 0:
            return count
        count = plus(count, 1)
        low = plus(i, m)


@method("str", "startswith")
@inline
def text_startswith(s: str, prefix: Any, start: Any = None, end: Any = None, /) -> Any:
    """Whether the text begins with a prefix, or with one of a tuple of them."""
    low = first_place(start, len(s))
    high = last_place(end, len(s))
    if isinstance(prefix, str):
        return stands_at(s, prefix, low, high)
    if not isinstance(prefix, tuple):
        raise TypeError("startswith first arg must be str or a tuple of str")
    for one in prefix:
        if not isinstance(one, str):
            raise TypeError("tuple for startswith must only contain str")
        if stands_at(s, one, low, high):
            return True
    return False


@method("str", "endswith")
@inline
def text_endswith(s: str, suffix: Any, start: Any = None, end: Any = None, /) -> Any:
    """Whether the text ends with a suffix, or with one of a tuple of them."""
    low = first_place(start, len(s))
    high = last_place(end, len(s))
    if isinstance(suffix, str):
        return ends_at(s, suffix, low, high)
    if not isinstance(suffix, tuple):
        raise TypeError("endswith first arg must be str or a tuple of str")
    for one in suffix:
        if not isinstance(one, str):
            raise TypeError("tuple for endswith must only contain str")
        if ends_at(s, one, low, high):
            return True
    return False


def stands_at(s: str, sub: str, low: int, high: int) -> Any:
    """Whether `sub` is at position `low` and ends before `high`."""
    m = len(sub)
    return high - m >= low and part(s, low, plus(low, m)) == sub


def ends_at(s: str, sub: str, low: int, high: int) -> Any:
    """Whether `sub` ends at position `high` and begins after `low`."""
    m = len(sub)
    return high - m >= low and part(s, high - m, high) == sub


@method("str", "removeprefix")
def text_removeprefix(s: str, prefix: str, /) -> Any:
    """The text without a prefix, if it has it."""
    return part(s, len(prefix), len(s)) if stands_at(s, prefix, 0, len(s)) else s


@method("str", "removesuffix")
def text_removesuffix(s: str, suffix: str, /) -> Any:
    """The text without a suffix, if it has it."""
    return part(s, 0, len(s) - len(suffix)) if ends_at(s, suffix, 0, len(s)) else s


@method("str", "replace")
def text_replace(s: str, old: str, new: str, count: int = -1, /) -> Any:
    """The text with the first `count` places of `old` replaced by `new`, or all of them."""
    n = len(s)
    m = len(old)
    found = n + 1 if m == 0 else count_between(s, old, 0, n)
    if 0 <= count < found:
        found = count
    if found == 0:
        return s
    made = new_text(n + found * (len(new) - m))
    at = 0
    low = 0
    while found > 0:
        i = low if m == 0 else find_in(s, old, low, n)
        copy_text(made, at, part(s, low, i))
        at = plus(at, i - low)
        copy_text(made, at, new)
        at = plus(at, len(new))
        low = plus(i, m)
        found = plus(found, -1)
        if m == 0 and low < n:
            set_byte(made, at, byte(s, low))
            at = plus(at, 1)
            low = plus(low, 1)
    copy_text(made, at, part(s, low, n))
    return finished(made)


# ---- upper and lower case


def upper_code(code: int) -> Any:
    """The capital of an ASCII letter; other characters as they are."""
    return code - 32 if 97 <= code <= 122 else code


def lower_code(code: int) -> Any:
    """The small letter of an ASCII capital; other characters as they are."""
    return code + 32 if 65 <= code <= 90 else code


def is_letter(code: int) -> Any:
    """Whether a character is an ASCII letter."""
    return 97 <= code | 32 <= 122


@method("str", "upper")
def text_upper(s: str, /) -> Any:
    """The text in capitals."""
    n = len(s)
    made = new_text(n)
    i = 0
    while i < n:
        set_byte(made, i, upper_code(byte(s, i)))
        i = plus(i, 1)
    return finished(made)


@method("str", "lower", "casefold")
def text_lower(s: str, /) -> Any:
    """The text in small letters."""
    n = len(s)
    made = new_text(n)
    i = 0
    while i < n:
        set_byte(made, i, lower_code(byte(s, i)))
        i = plus(i, 1)
    return finished(made)


@method("str", "swapcase")
def text_swapcase(s: str, /) -> Any:
    """The text with small letters and capitals exchanged."""
    n = len(s)
    made = new_text(n)
    i = 0
    while i < n:
        code = byte(s, i)
        set_byte(made, i, code ^ 32 if is_letter(code) else code)
        i = plus(i, 1)
    return finished(made)


@method("str", "capitalize")
def text_capitalize(s: str, /) -> Any:
    """The text in small letters with a capital first."""
    n = len(s)
    made = new_text(n)
    i = 0
    while i < n:
        set_byte(made, i, lower_code(byte(s, i)) if i > 0 else upper_code(byte(s, i)))
        i = plus(i, 1)
    return finished(made)


@method("str", "title")
def text_title(s: str, /) -> Any:
    """The text with a capital at the start of every word."""
    n = len(s)
    made = new_text(n)
    inside = False
    i = 0
    while i < n:
        code = byte(s, i)
        set_byte(made, i, lower_code(code) if inside else upper_code(code))
        inside = is_letter(code)
        i = plus(i, 1)
    return finished(made)


# ---- what a text consists of


@method("str", "isdigit", "isdecimal", "isnumeric")
def text_isdigit(s: str, /) -> Any:
    """Whether there is a character and all are digits."""
    n = len(s)
    i = 0
    while i < n:
        if not 48 <= byte(s, i) <= 57:
            return False
        i = plus(i, 1)
    return n > 0


@method("str", "isalpha")
def text_isalpha(s: str, /) -> Any:
    """Whether there is a character and all are letters."""
    n = len(s)
    i = 0
    while i < n:
        if not is_letter(byte(s, i)):
            return False
        i = plus(i, 1)
    return n > 0


@method("str", "isalnum")
def text_isalnum(s: str, /) -> Any:
    """Whether there is a character and all are letters or digits."""
    n = len(s)
    i = 0
    while i < n:
        code = byte(s, i)
        if not is_letter(code) and not 48 <= code <= 57:
            return False
        i = plus(i, 1)
    return n > 0


@method("str", "isspace")
def text_isspace(s: str, /) -> Any:
    """Whether there is a character and all are white space."""
    n = len(s)
    i = 0
    while i < n:
        if not is_space(byte(s, i)):
            return False
        i = plus(i, 1)
    return n > 0


def is_space(code: int) -> Any:
    """Whether a character is white space to `str.isspace` and `str.split`."""
    return code == 32 or 9 <= code <= 13 or 28 <= code <= 31


@method("str", "isprintable")
def text_isprintable(s: str, /) -> Any:
    """Whether all characters can be shown."""
    n = len(s)
    i = 0
    while i < n:
        if not 32 <= byte(s, i) <= 126:
            return False
        i = plus(i, 1)
    return True


@method("str", "isascii")
def text_isascii(s: str, /) -> Any:
    """True: only texts of ASCII characters are compiled."""
    return True


@method("str", "isidentifier")
def text_isidentifier(s: str, /) -> Any:
    """Whether the text could be a name in Python."""
    n = len(s)
    i = 0
    while i < n:
        code = byte(s, i)
        if not is_letter(code) and code != 95 and (i == 0 or not 48 <= code <= 57):
            return False
        i = plus(i, 1)
    return n > 0


@method("str", "isupper")
def text_isupper(s: str, /) -> Any:
    """Whether there is a letter and all are capitals."""
    n = len(s)
    some = False
    i = 0
    while i < n:
        code = byte(s, i)
        if 97 <= code <= 122:
            return False
        if 65 <= code <= 90:
            some = True
        i = plus(i, 1)
    return some


@method("str", "islower")
def text_islower(s: str, /) -> Any:
    """Whether there is a letter and all are small."""
    n = len(s)
    some = False
    i = 0
    while i < n:
        code = byte(s, i)
        if 65 <= code <= 90:
            return False
        if 97 <= code <= 122:
            some = True
        i = plus(i, 1)
    return some


@method("str", "istitle")
def text_istitle(s: str, /) -> Any:
    """Whether there is a word, and every one begins with its only capital."""
    n = len(s)
    some = False
    inside = False
    i = 0
    while i < n:
        code = byte(s, i)
        if is_letter(code):
            if (code >= 97) != inside:
                return False
            some = True
            inside = True
        else:
            inside = False
        i = plus(i, 1)
    return some


# ---- filling up


@prelude
def padded(s: str, left: int, right: int, code: int) -> Any:
    """A text with a character repeated in front of it and behind it."""
    if left <= 0 and right <= 0:
        return s
    n = len(s)
    made = new_text(left + n + right)
    fill_text(made, 0, left, code)
    copy_text(made, left, s)
    fill_text(made, plus(left, n), right, code)
    return finished(made)


def fill_of(fill: str) -> Any:
    """The code of the one character that a text is filled with."""
    if len(fill) != 1:
        raise TypeError("The fill character must be exactly one character long")
    return byte(fill, 0)


@method("str", "ljust")
def text_ljust(s: str, width: int, fill: str = " ", /) -> Any:
    """The text, filled up at its right to a width."""
    n = len(s)
    return padded(s, 0, width - n if width > n else 0, fill_of(fill))


@method("str", "rjust")
def text_rjust(s: str, width: int, fill: str = " ", /) -> Any:
    """The text, filled up at its left to a width."""
    n = len(s)
    return padded(s, width - n if width > n else 0, 0, fill_of(fill))


@method("str", "center")
def text_center(s: str, width: int, fill: str = " ", /) -> Any:
    """The text, filled up on both sides to a width, as CPython divides an odd rest."""
    n = len(s)
    more = width - n if width > n else 0
    left = more // 2 + (more & width & 1)
    return padded(s, left, more - left, fill_of(fill))


@method("str", "zfill")
def text_zfill(s: str, width: int, /) -> Any:
    """The text, filled up to a width with zeros behind its sign."""
    n = len(s)
    if width <= n:
        return s
    signed = n > 0 and (byte(s, 0) == 43 or byte(s, 0) == 45)
    made = new_text(width)
    fill_text(made, 0, width - n, 48)
    copy_text(made, width - n, s)
    if signed:
        set_byte(made, width - n, 48)
        set_byte(made, 0, byte(s, 0))
    return finished(made)


@method("str", "expandtabs")
def text_expandtabs(s: str, tabsize: int = 8) -> Any:
    """The text with spaces in place of tabs, up to the next multiple of `tabsize`."""
    n = len(s)
    size = 0
    column = 0
    i = 0
    while i < n:
        code = byte(s, i)
        by = 1
        if code == 9:
            by = tabsize - column % tabsize if tabsize > 0 else 0
        size = size + by
        column = 0 if code == 10 or code == 13 else column + by
        i = plus(i, 1)
    made = new_text(size)
    at = 0
    column = 0
    i = 0
    while i < n:
        code = byte(s, i)
        by = 1
        if code == 9:
            by = tabsize - column % tabsize if tabsize > 0 else 0
            fill_text(made, at, by, 32)
        else:
            set_byte(made, at, code)
        at = plus(at, by)
        column = 0 if code == 10 or code == 13 else column + by
        i = plus(i, 1)
    return finished(made)


# ---- tables of characters


@prelude
@inline
def maketrans(x: Any, y: Any = ..., z: Any = ..., /) -> Any:
    """`str.maketrans`: a dict from codes to codes, texts or None."""
    made = Dict()
    if y is ...:
        if not isinstance(x, dict):
            raise TypeError("if you give only one argument to maketrans it must be a dict")
        for key, value in x.items():
            if isinstance(key, str):
                if len(key) != 1:
                    raise ValueError("string keys in translate table must be of length 1")
                made[byte(key, 0)] = value
            elif isinstance(key, int):
                made[key] = value
            else:
                raise TypeError("keys in translate table must be strings or integers")
    else:
        if not isinstance(x, str) or not isinstance(y, str):
            raise TypeError("maketrans() arguments must be str")
        if len(x) != len(y):
            raise ValueError("the first two maketrans arguments must have equal length")
        i = 0
        while i < len(x):
            made[byte(x, i)] = byte(y, i)
            i = plus(i, 1)
        if z is not ...:
            if not isinstance(z, str):
                raise TypeError("maketrans() argument 3 must be str")
            i = 0
            while i < len(z):
                made[byte(z, i)] = None
                i = plus(i, 1)
    return made


@method("str", "translate")
def text_translate(s: str, table: Any, /) -> Any:
    """The text with every character replaced by what a dict has for its code."""
    if not isinstance(table, dict):
        give_up()
    made = []
    n = len(s)
    i = 0
    while i < n:
        code = byte(s, i)
        place = table.find(code)
        if place < 0:
            made.append(part(s, i, plus(i, 1)))
        else:
            value = item(table.values_, place)
            if isinstance(value, str):
                made.append(value)
            elif isinstance(value, int):
                if value < 0 or value > 127:
                    give_up()
                made.append(character(value))
            elif value is not None:
                raise TypeError("character mapping must return integer, None or str")
        i = plus(i, 1)
    return join_items("", made)
