"""A seed and a number in, a program out: the text of a function `program`, and the columns that it is run over."""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fuzz import data
from fuzz.statements import Author, indented

HEAD = """\
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
"""
LANES = 20
LONGEST = 60
"""Lines; programs that come out longer are written anew."""


@dataclass(frozen=True)
class Program:
    """One function and its columns."""

    name: str
    text: str
    columns: tuple[Any, ...]

    def load(self) -> Callable[..., Any]:
        """The function, with its source where tracebacks and the compiler look for it."""
        place = f"<fuzz {self.name}>"
        linecache.cache[place] = (len(self.text), None, self.text.splitlines(keepends=True), place)
        space: dict[str, Any] = {"__name__": "fuzz.programs"}
        exec(compile(self.text, place, "exec"), space)
        made: Callable[..., Any] = space["program"]
        return made

    def forget(self) -> None:
        linecache.cache.pop(f"<fuzz {self.name}>", None)


def written(seed: int, number: int) -> Program:
    """The program of a seed with this number: always the same."""
    dice = random.Random(f"{seed}:{number}")
    while True:
        made = _write(dice, f"{seed}:{number}")
        if made.text.count("\n") <= LONGEST and _is_python(made.text):
            return made


def _is_python(text: str) -> bool:
    """Whether a text is a program: not where a form met another that it does not go with, such as quotes in quotes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<program>", "exec")
    except SyntaxError:
        return False
    return True


def _write(dice: random.Random, name: str) -> Program:
    author = Author(dice)
    columns, parameters = [], []
    for letter in "xyz"[: dice.choice((1, 1, 2, 2, 3))]:
        kind, column = data.column(dice.choice(data.KINDS), LANES, dice)
        author.scope[letter] = kind
        columns.append(column)
        parameters.append(letter)
        if kind.startswith("np"):
            author.families |= {"numpy"}
        if kind == "complex":
            author.families |= {"complexes"}
        if kind == "pair":
            author.families |= {"objects"}
        if kind == "str":
            author.families |= {"texts"}
    helpers, first = _helper(author) if author.chance(0.25) else ([], [])
    body = first + [line for _ in range(dice.choice((0, 1, 2, 2, 3, 4))) for line in author.statement(2)]
    lines = [*helpers, f"def program({', '.join(parameters)}):", *indented([*body, f"return {author.result()}"])]
    return Program(name, HEAD + "\n".join(lines) + "\n", tuple(columns))


def _helper(author: Author) -> tuple[list[str], list[str]]:
    """A function beside the program, and the line of the program that calls it."""
    name, result = author.fresh("helper"), author.dice.choice(("int", "int", "float", "list[int]", "num"))
    scope, author.scope = author.scope, {}
    text, kinds, arguments = author.parameters()
    author.scope = dict(kinds)
    body = author.statement(1)
    if author.chance(0.3):  # it calls itself
        text, end = f"n, {text}", author.expression(result, 1)
        again = f"{name}(n - 1, {arguments()})"
        body = [
            *body,
            "if n <= 0:",
            f"    return {end}",
            f"return {again}" if author.chance(0.5) else f"again = {again}",
        ]
        author.scope["again"] = result
    body.append(f"return {author.expression(result, 2)}")
    author.scope = scope
    target = author.fresh("a")
    first = f"{author.expression('small', 1)}, " if text.startswith("n, ") else ""
    call = f"{target} = {name}({first}{arguments()})"
    author.scope[target] = result
    return [f"def {name}({text}):", *indented(body)], [call]
