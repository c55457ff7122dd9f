"""`"%05d and %s" % ...` and `"{:>5} {}".format(...)`, taken apart: texts, and what stands between them."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

_CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(?:\.(\d*))?[hlL]?(.)", re.DOTALL)
Spec = tuple[int, int, int, int, int, int, int, int]
"""A format specification, as `prelude/formats.py` has it."""


def percent_parts(text: str) -> list[str | tuple[str, Spec]] | None:
    """Texts, and conversions with their specifications; None where there is something unusual."""
    parts: list[str | tuple[str, Spec]] = []
    at = 0
    for found in _conversions(text):
        if found is None:
            return None
        parts.append(text[at : found.start()])
        at = found.end()
        flags, width, precision, letter = found.groups()
        if letter == "%":
            if found.group() != "%%":
                return None
            parts.append("%")
            continue
        spec = _spec(flags, width, precision, letter)
        if spec is None:
            return None
        parts.append((letter, spec))
    parts.append(text[at:])
    return [part for part in parts if part != ""]


def _conversions(text: str) -> Iterator[re.Match[str] | None]:
    at = text.find("%")
    while at >= 0:
        found = _CONVERSION.match(text, at)
        yield found
        if found is None:
            return
        at = text.find("%", found.end())


def _spec(flags: str, width: str, precision: str | None, letter: str) -> Spec | None:
    number = letter in "diuxXoeEfFgG"
    if letter not in "diuxXoeEfFgGsrac" or len(width) > 6 or len(precision or "") > 4:
        return None
    exact = -1 if precision is None else int(precision or "0")
    if "#" in flags and letter not in "xX":
        return None
    if exact >= 0 and letter in "diuxXoc":
        return None
    fill, align = " ", ">"
    if "-" in flags:
        align = "<"
    elif "0" in flags and number:
        fill, align = "0", "="
    sign = ("+" if "+" in flags else " " if " " in flags else "") if number else ""
    kind = {"i": "d", "u": "d", "r": "s", "a": "s"}.get(letter, letter)
    return (ord(fill), ord(align), ord(sign or "\0"), int("#" in flags), int(width or "-1"), 0, exact, ord(kind))


def brace_parts(text: str) -> list[str | tuple[int | str, str, int]] | None:
    """Texts, and fields: the number or name of an argument, its specification and its conversion; None where there is
    something unusual."""
    parts: list[str | tuple[int | str, str, int]] = []
    count = 0
    try:
        for before, name, spec, conversion in string.Formatter().parse(text):
            if before:
                parts.append(before)
            if name is None:
                continue
            if spec is None or "{" in spec or (conversion or "s") not in "rsa":
                return None
            if name == "":
                if count < 0:
                    return None
                which: int | str = count
                count += 1
            elif name.isdigit():
                if count > 0:
                    return None
                which, count = int(name), -1
            elif name.isidentifier():
                which = name
            else:
                return None
            parts.append((which, spec, ord(conversion) if conversion else -1))
    except ValueError:
        return None
    return parts
