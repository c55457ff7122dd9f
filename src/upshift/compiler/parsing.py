"""Python's parser for texts that are parsed on any thread.

Up to Python 3.12 the interpreter counts how deep a tree is in one place for all threads. Where another thread parses in
the middle of it, the count is off and `ast.parse` raises SystemError for a text that has nothing wrong: it is parsed
again.
"""

from __future__ import annotations

import ast
from typing import Literal, overload

MOST_TRIES = 8


@overload
def parsed(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parsed(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parsed(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """The syntax tree of a text."""
    for _ in range(MOST_TRIES - 1):
        try:
            return ast.parse(text, mode=mode)
        except SystemError:
            continue
    return ast.parse(text, mode=mode)
