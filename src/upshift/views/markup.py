"""Builds HTML in which every text of the user's is text, whatever is in it."""

from __future__ import annotations

import html
from typing import Any


class Markup(str):
    """HTML that is complete: it is not escaped again."""

    __slots__ = ()


EMPTY = frozenset("br circle hr line meta path rect".split())


def tag(element: str, /, *children: Any, **attributes: Any) -> Markup:
    """
    >>> tag("p", "a < b", tag("b", "!"), class_="note")
    '<p class="note">a &lt; b<b>!</b></p>'
    """
    words = "".join(
        f' {key.strip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if element in EMPTY and not children:
        return Markup(f"<{element}{words}/>")
    return Markup(f"<{element}{words}>{joined(*children)}</{element}>")


def joined(*children: Any) -> Markup:
    """Texts and markup, one after the other."""
    return Markup("".join(one if isinstance(one, Markup) else html.escape(str(one)) for one in children))
