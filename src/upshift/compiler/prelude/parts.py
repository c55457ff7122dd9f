"""Texts taken apart: split, strip and partition."""

from __future__ import annotations

from typing import Any

from .intrinsics import byte, find_in, part, plus
from .lists import list_reverse
from .registry import inline, method, prelude
from .text import found_last, is_space


@method("str", "split")
@inline
def text_split(s: str, sep: Any = None, maxsplit: int = -1) -> Any:
    """`s.split(sep, maxsplit)`."""
    if sep is None:
        return split_at_space(s, maxsplit)
    return split_at(s, sep, maxsplit)


@prelude
def split_at_space(s: str, most: int) -> Any:
    """Words between runs of white space, at most `most` cuts."""
    made = []
    n = len(s)
    i = 0
    while True:
        while i < n and is_space(byte(s, i)):
            i = plus(i, 1)
        if i == n:
            return made
        if most == 0:
            made.append(part(s, i, n))
            return made
        start = i
        while i < n and not is_space(byte(s, i)):
            i = plus(i, 1)
        made.append(part(s, start, i))
        most = most - 1 if most > 0 else most


@prelude
def split_at(s: str, sep: str, most: int) -> Any:
    """Parts between separators, at most `most` cuts from the left."""
    m = len(sep)
    if m == 0:
        raise ValueError("empty separator")
    made = []
    n = len(s)
    start = 0
    while most != 0:
        i = find_in(s, sep, start, n)
        if i < 0:
            break
        made.append(part(s, start, i))
        start = plus(i, m)
        most = most - 1 if most > 0 else most
    made.append(part(s, start, n))
    return made


@method("str", "rsplit")
@inline
def text_rsplit(s: str, sep: Any = None, maxsplit: int = -1) -> Any:
    """`s.rsplit(sep, maxsplit)`."""
    if sep is None:
        return split_at_space_from_end(s, maxsplit)
    return split_from_end(s, sep, maxsplit)


@prelude
def split_at_space_from_end(s: str, most: int) -> Any:
    """Words between runs of white space, at most `most` cuts from the right."""
    if most < 0:
        return split_at_space(s, most)
    made = []
    end = len(s)
    while True:
        while end > 0 and is_space(byte(s, plus(end, -1))):
            end = plus(end, -1)
        if end == 0:
            break
        if most == 0:
            made.append(part(s, 0, end))
            break
        start = end
        while start > 0 and not is_space(byte(s, plus(start, -1))):
            start = plus(start, -1)
        made.append(part(s, start, end))
        end = start
        most = plus(most, -1)
    list_reverse(made)
    return made


@prelude
def split_from_end(s: str, sep: str, most: int) -> Any:
    """Parts between separators, at most `most` cuts from the right."""
    m = len(sep)
    if m == 0:
        raise ValueError("empty separator")
    made = []
    end = len(s)
    while most != 0:
        i = found_last(s, sep, 0, end)
        if i < 0:
            break
        made.append(part(s, plus(i, m), end))
        end = i
        most = most - 1 if most > 0 else most
    made.append(part(s, 0, end))
    list_reverse(made)
    return made


@method("str", "splitlines")
def text_splitlines(s: str, keepends: Any = False) -> Any:
    r"""The lines of a text, with or without their ends; `\r\n` is one end."""
    made = []
    n = len(s)
    i = 0
    while i < n:
        start = i
        while i < n and not is_line_end(byte(s, i)):
            i = plus(i, 1)
        end = i
        if i < n:
            i = plus(i, 1)
            if i < n and byte(s, end) == 13 and byte(s, i) == 10:
                i = plus(i, 1)
        made.append(part(s, start, i if keepends else end))
    return made


def is_line_end(code: int) -> Any:
    """Whether `splitlines` cuts at this character."""
    return 10 <= code <= 13 or 28 <= code <= 30


# ---- stripping


@method("str", "strip")
@inline
def text_strip(s: str, chars: Any = None, /) -> Any:
    """`s.strip(chars)`."""
    if chars is None:
        return stripped_of_space(s, True, True)
    return stripped(s, chars, True, True)


@method("str", "lstrip")
@inline
def text_lstrip(s: str, chars: Any = None, /) -> Any:
    """`s.lstrip(chars)`."""
    if chars is None:
        return stripped_of_space(s, True, False)
    return stripped(s, chars, True, False)


@method("str", "rstrip")
@inline
def text_rstrip(s: str, chars: Any = None, /) -> Any:
    """`s.rstrip(chars)`."""
    if chars is None:
        return stripped_of_space(s, False, True)
    return stripped(s, chars, False, True)


@prelude
def stripped_of_space(s: str, left: bool, right: bool) -> Any:
    """A text without white space at one end or both."""
    i = 0
    n = len(s)
    while left and i < n and is_space(byte(s, i)):
        i = plus(i, 1)
    while right and n > i and is_space(byte(s, plus(n, -1))):
        n = plus(n, -1)
    return part(s, i, n)


@prelude
def stripped(s: str, chars: str, left: bool, right: bool) -> Any:
    """A text without the characters of `chars` at one end or both."""
    i = 0
    n = len(s)
    m = len(chars)
    while left and i < n and find_in(chars, part(s, i, plus(i, 1)), 0, m) >= 0:
        i = plus(i, 1)
    while right and n > i and find_in(chars, part(s, plus(n, -1), n), 0, m) >= 0:
        n = plus(n, -1)
    return part(s, i, n)


# ---- in three parts


@method("str", "partition")
def text_partition(s: str, sep: str, /) -> Any:
    """What is before the first separator, the separator, and what follows."""
    if len(sep) == 0:
        raise ValueError("empty separator")
    n = len(s)
    i = find_in(s, sep, 0, n)
    if i < 0:
        return s, "", ""
    return part(s, 0, i), sep, part(s, plus(i, len(sep)), n)


@method("str", "rpartition")
def text_rpartition(s: str, sep: str, /) -> Any:
    """What is before the last separator, the separator, and what follows."""
    if len(sep) == 0:
        raise ValueError("empty separator")
    n = len(s)
    i = found_last(s, sep, 0, n)
    if i < 0:
        return "", "", s
    return part(s, 0, i), sep, part(s, plus(i, len(sep)), n)
