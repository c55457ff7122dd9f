"""The grammar, by family: one line a form, `kind = text`, with holes for expressions of other kinds.

    list[T] = [{T|v:U} for {v!} in {list[U]}]

`{int}` is an expression of that kind, `{T|v:U}` one that may use the new variable `v`, `{v!}` the name of that
variable. A number before the kind says how often a form is drawn. Lines with ` : ` are statements about a variable of
a kind, which is `{self}` in them.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

from fuzz.grammar import containers, iteration, library, numbers, numpy_numbers, objects, texts
from fuzz.kinds import parsed

_LINE = re.compile(r"(?:(\d+) )?(\S+) ([=:]) (.*)")


@dataclass(frozen=True)
class Form:
    """One way to write an expression of a kind, or a statement about a variable of it."""

    family: str
    kind: str
    text: str
    weight: int
    statement: bool


FAMILIES = {
    "numbers": numbers.FORMS,
    "complexes": numbers.COMPLEXES,
    "texts": texts.FORMS,
    "formats": texts.FORMATS,
    "lists": containers.LISTS,
    "tuples": containers.TUPLES,
    "dicts": containers.DICTS,
    "sets": containers.SETS,
    "deques": containers.DEQUES,
    "comprehensions": iteration.COMPREHENSIONS,
    "iterators": iteration.ITERATORS,
    "lambdas": iteration.LAMBDAS,
    "math": library.MATH,
    "cmath": library.CMATH,
    "operator": library.OPERATOR,
    "itertools": library.ITERTOOLS,
    "statistics": library.STATISTICS,
    "helpers": objects.HELPERS,
    "objects": objects.OBJECTS,
    "captures": objects.CAPTURES,
    "numpy": numpy_numbers.FORMS,
}
ALWAYS = ("numbers", "lists", "tuples")
CONSTANTS = {**numbers.CONSTANTS, **texts.CONSTANTS, **numpy_numbers.CONSTANTS, **objects.CONSTANTS}


def _read(family: str, text: str) -> list[Form]:
    found = []
    for line in text.strip().splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"not a form: {line!r}")
        weight, kind, sign, form = match.groups()
        text = form if sign == ":" else _closed(form)
        found.append(Form(family, kind, text, int(weight or 4), sign == ":"))
    return found


def _closed(form: str) -> str:
    """The form in parentheses where other signs could tear it apart: `[{T}] * {small}`, but not `len({str})`."""
    text = re.sub(r"\{\{|\}\}|\{[^{}]*\}", lambda hole: {"{{": "{", "}}": "}"}.get(hole.group(), "x"), form)
    loose = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.UnaryOp, ast.NamedExpr)
    tree = ast.parse(text, mode="eval").body
    return f"({form})" if isinstance(tree, loose) and tree.col_offset == 0 else form


FORMS = [form for family, text in FAMILIES.items() for form in _read(family, text)]


@functools.cache
def forms_of(head: str, families: frozenset[str], statements: bool) -> tuple[Form, ...]:
    """The forms of some families whose kind has this head."""
    return tuple(
        form
        for form in FORMS
        if form.statement is statements and form.family in families and parsed(form.kind)[0] in (head, "T", "K")
    )
