"""Texts that checks propose: a function's expression with its parameters filled in, calls with other functions."""

from __future__ import annotations

import ast

from .finding import Edit, Fix
from .kinds import Kind
from .names import names_in
from .vector import Body, Verdict
from .walk import File

UT = ("import upshift.tensorflow as ut",)
UP = ("import upshift as up",)
POLARS = ("import upshift.polars",)


def fill_in(file: File, expression: ast.expr, values: dict[str, str]) -> str:
    """The text of an expression, with names replaced by texts; everything else as written."""
    first, start, _, _ = file.span(expression)
    text = file.text(expression)
    starts = [0]
    for written in text.split("\n")[:-1]:
        starts.append(starts[-1] + len(written) + 1)
    places = []
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node.id in values:
            line, column, _, end = file.span(node)
            shift = start if line == first else 0
            places.append((starts[line - first] + column - shift, starts[line - first] + end - shift, values[node.id]))
    for low, high, value in sorted(places, reverse=True):
        text = text[:low] + value + text[high:]
    return f"({text})" if "\n" in text else text


def whole(file: File, function: ast.expr, body: Body, elems: ast.expr, as_tensor: bool) -> str | None:
    """The function of one element applied to all of them at once: `lambda x: x * 2` and `xs` make `xs * 2`."""
    value = file.text(elems)
    if as_tensor:
        value = f"{file.alias('tensorflow') or 'tf'}.convert_to_tensor({value})"
    if isinstance(function, ast.Name):
        return f"{function.id}({value})"
    if len(body.parameters) != 1:
        return None
    parameter = body.parameters[0]
    uses = sum(isinstance(n, ast.Name) and n.id == parameter for n in ast.walk(body.expression))
    simple = isinstance(elems, ast.Name) and not as_tensor
    if simple or (uses == 1 and isinstance(elems, ast.Call | ast.Name | ast.Attribute)):
        return fill_in(file, body.expression, {parameter: value})
    return f"({file.text(function)})({value})"


def vectorised_fix(
    file: File, call: ast.expr, function: ast.expr, body: Body, elems: ast.expr, kind: Kind, verdict: Verdict
) -> Fix | None:
    """One operation on all elements in place of a map over them."""
    text = whole(file, function, body, elems, as_tensor=kind.what != "tensor")
    if text is None:
        return None
    certain = verdict == "exact" and kind.what in ("tensor", "array") and not file.scope.graph
    return Fix("vectorised", "safe" if certain else "checked", (file.swap(call, text),))


def renamed(file: File, name: str, node: ast.expr, to: str, imports: tuple[str, ...]) -> Fix:
    """The same call of another function."""
    return Fix(name, "checked", (Edit("expression", file.span(node), to),), imports)


def made_once(file: File, node: ast.Call, loop: ast.stmt, text: str) -> list[Fix]:
    """What a call in a loop makes of a function, made before the loop: `f_once = tf.function(f)`."""
    given = node.args[0]
    name = f"{given.id}_once" if isinstance(given, ast.Name) else "once"
    if name in names_in(file.tree):
        return []
    before = Edit("before", file.span(loop), f"{name} = {text}\n")
    return [Fix("made once", "whole", (before, Edit("expression", file.span(node), name)))]


def with_keyword(file: File, call: ast.Call, text: str) -> Edit:
    """The call with one more argument, after its last."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    last = max(given, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    written = file.text(call)
    at = offset(file, call, *file.span(last)[2:])
    return Edit("expression", file.span(call), f"{written[:at]}, {text}{written[at:]}")


def offset(file: File, outer: ast.expr, line: int, column: int) -> int:
    """Where a place is in the text of an expression around it."""
    first, start, _, _ = file.span(outer)
    lines = file.text(outer).split("\n")[: line - first]
    return sum(len(part) + 1 for part in lines) + column - (start if line == first else 0)
