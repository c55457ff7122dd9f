"""A program that fails in, a smaller one that fails in the same way out: fewer lanes, statements and expressions."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

from fuzz.program import HEAD, Program

Fails = Callable[[Program], bool]
LEAVES = ("0", "1", "True", "0.5", "''", "[]", "None", "x", "y")


def shrunk(program: Program, fails: Fails, seconds: float = 120.0) -> Program:
    """Greedy: whatever makes it smaller and lets it fail is kept, until nothing does or the time is over."""
    end = time.monotonic() + seconds
    program = _fewer_lanes(program, fails, end)
    found: Program | None = program
    while found is not None:
        program = found
        found = next((p for p in _smaller(program) if time.monotonic() < end and fails(p)), None)
    program = _fewer_lanes(program, fails, end + 20)
    return _fewer_columns(program, fails)


def _with(program: Program, tree: ast.Module) -> Program | None:
    """The program with another tree; None where that is no Python, no smaller, or no function of these columns."""
    function = next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "program"), None)
    if function is None or any(not isinstance(s, ast.FunctionDef) for s in tree.body):
        return None
    try:
        text = HEAD + ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        compile(text, "<candidate>", "exec")
    except (SyntaxError, ValueError, AttributeError, TypeError, RecursionError):
        return None
    return Program(program.name, text, program.columns) if len(text) < len(program.text) else None


def _tree(program: Program) -> ast.Module:
    return ast.parse(program.text.removeprefix(HEAD))


def _smaller(program: Program) -> Iterator[Program]:
    """Programs that are one step smaller, those with the largest steps first."""
    tree = _tree(program)
    seen = set()
    steps = sorted(_steps(tree), key=lambda step: -step[0])
    for _, number, do in steps:
        changed = copy.deepcopy(tree)
        nodes = list(ast.walk(changed))
        if not do(nodes[number]):
            continue
        made = _with(program, changed)
        if made is not None and made.text not in seen:
            seen.add(made.text)
            yield made


Step = tuple[int, int, Callable[[Any], bool]]
"""How much it removes, the number of its node, and what it does to that node."""


def _steps(tree: ast.Module) -> Iterator[Step]:
    for number, node in enumerate(ast.walk(tree)):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                yield from _steps_of_list(number, node, field, value)
            elif isinstance(value, ast.expr):
                yield from _steps_of_expression(number, field, value)


def _size(node: Any) -> int:
    return sum(1 for _ in ast.walk(node))


def _steps_of_list(number: int, node: ast.AST, field: str, items: list[Any]) -> Iterator[Step]:
    if len(items) > 3:
        for low, high in ((0, len(items) // 2), (len(items) // 2, len(items))):
            yield sum(map(_size, items[low:high])), number, _removing(field, low, high)
    for at, item in enumerate(items):
        if not isinstance(item, ast.AST):
            continue
        yield _size(item), number, _removing(field, at, at + 1)
        if isinstance(item, ast.stmt):
            for inner in _bodies(item):
                yield _size(item) - sum(map(_size, inner)), number, _replacing(field, at, inner)
        elif isinstance(item, ast.expr):
            for other in _instead_of(item):
                yield _size(item) - _size(other), number, _replacing(field, at, [other])


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for _, value in ast.iter_fields(statement):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
    for one in getattr(statement, "handlers", []) + getattr(statement, "cases", []):
        yield one.body


def _removing(field: str, low: int, high: int) -> Callable[[Any], bool]:
    def do(node: Any) -> bool:
        items = getattr(node, field)
        del items[low:high]
        if not items and field == "body":
            items.append(ast.Pass())
        return True

    return do


def _replacing(field: str, at: int, new: list[Any]) -> Callable[[Any], bool]:
    def do(node: Any) -> bool:
        getattr(node, field)[at : at + 1] = copy.deepcopy(new)
        return True

    return do


def _steps_of_expression(number: int, field: str, value: ast.expr) -> Iterator[Step]:
    for other in _instead_of(value):

        def do(node: Any, other: ast.expr = other) -> bool:
            setattr(node, field, copy.deepcopy(other))
            return True

        yield _size(value) - _size(other), number, do


def _instead_of(value: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression, and the shortest ones there are."""
    parts = [part for part in ast.walk(value) if isinstance(part, ast.expr) and part is not value]
    yield from parts[:12]
    if _size(value) > 2:
        for leaf in LEAVES:
            yield ast.parse(leaf, mode="eval").body
    elif isinstance(value, ast.Constant) and isinstance(value.value, int | float | str) and len(repr(value.value)) > 2:
        yield ast.Constant(type(value.value)(1))


def _fewer_lanes(program: Program, fails: Fails, end: float) -> Program:
    count = min(map(len, program.columns))
    for keep in (1, 2, 4, 8):
        for start in range(0, count, keep):
            if keep >= count or time.monotonic() > end:
                return program
            part = Program(
                program.name, program.text, tuple(column[start : start + keep] for column in program.columns)
            )
            if fails(part):
                return part
    return program


def _fewer_columns(program: Program, fails: Fails) -> Program:
    """Without the parameters that nothing reads."""
    for at in reversed(range(len(program.columns))):
        if len(program.columns) == 1:
            break
        tree = _tree(program)
        function = next(s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "program")
        if len(function.args.args) != len(program.columns):  # some were dropped with the lines that read them
            break
        del function.args.args[at]
        made = _with(program, tree)
        if made is not None:
            columns = program.columns[:at] + program.columns[at + 1 :]
            made = Program(made.name, made.text, columns)
            if fails(made):
                program = made
    return program
