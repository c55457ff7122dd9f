"""Kinds of values, as the grammar names them: `int`, `list[T]`, `dict[str,int]`, `(int,float)`; T and U stand for any.

unify("list[T]", "list[int]", {})  ->  {"T": "int"}
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

VARIABLES = ("T", "U", "K")
ELEMENTS = ("int",) * 6 + ("float",) * 4 + ("bool", "str", "str", "(int,int)", "complex", "num", "opt[int]")
"""What lists, sets and dicts hold, each as often as it stands here."""
KEYS = ("int",) * 5 + ("str", "str", "(int,int)", "bool", "float")
"""What can be hashed."""

Bound = dict[str, str]


@functools.cache
def parsed(kind: str) -> tuple[str, tuple[str, ...]]:
    """The head and the parts: `dict[str,int]` is dict with str and int, `(int,float)` has the head `()`."""
    if kind.startswith("("):
        return "()", tuple(_split(kind[1:-1]))
    head, _, rest = kind.partition("[")
    return head, tuple(_split(rest[:-1])) if rest else ()


def _split(text: str) -> Iterator[str]:
    depth = start = 0
    for at, letter in enumerate(text):
        if letter in "[(":
            depth += 1
        elif letter in "])":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if text:
        yield text[start:]


def joined(head: str, parts: tuple[str, ...]) -> str:
    if head == "()":
        return f"({','.join(parts)})"
    return f"{head}[{','.join(parts)}]" if parts else head


def unify(pattern: str, kind: str, bound: Bound) -> Bound | None:
    """What the variables of a pattern stand for where it is this kind; None where it is not."""
    if pattern in VARIABLES:
        if pattern == "K" and kind not in KEYS:
            return None
        known = bound.get(pattern)
        return {**bound, pattern: kind} if known is None else bound if known == kind else None
    head, parts = parsed(pattern)
    own, own_parts = parsed(kind)
    if head != own or len(parts) != len(own_parts):
        return None
    found: Bound | None = bound
    for part, other in zip(parts, own_parts):
        found = unify(part, other, found)
        if found is None:
            return None
    return found


def filled(pattern: str, bound: Bound, dice: random.Random) -> str:
    """The pattern with its variables replaced; those that are free are drawn, and bound from there on."""
    if pattern in VARIABLES:
        if pattern not in bound:
            bound[pattern] = dice.choice(KEYS if pattern == "K" else ELEMENTS)
        return bound[pattern]
    head, parts = parsed(pattern)
    return joined(head, tuple(filled(part, bound, dice) for part in parts))
