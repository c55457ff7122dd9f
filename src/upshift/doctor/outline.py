"""What has to be known of a file before it is walked: functions, which are mapped, which its own code reaches."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_LEAVES = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
TAKERS = frozenset({"map_fn", "vectorized_map", "map", "vmap", "pmap"})
"""Names of what maps the function that it is given."""


@dataclass
class Outline:
    """Functions of a file, and how they are used."""

    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    functions: dict[str, ast.FunctionDef | None] = field(default_factory=dict)
    mapped: dict[Any, ast.Call] = field(default_factory=dict)
    """Function names and lambdas that are an argument of something that maps."""
    wrapped: list[tuple[str, ast.Call]] = field(default_factory=list)
    """`g = tf.function(f)`: both names, with the call."""
    uses: dict[str, set[str]] = field(default_factory=dict)
    """Names that each function mentions; "" is the module."""
    reached: set[str] = field(default_factory=set)
    """Functions that the module's own statements lead to."""
    in_graphs: set[str] = field(default_factory=set)
    """Functions that a tf.function calls."""
    counts: dict[str, int | None] = field(default_factory=dict)
    """Names that are given one int and nothing else: None for all others that are given something."""
    has_graphs: bool = False
    written: set[str] = field(default_factory=set)
    """Names that some function declares global or nonlocal."""

    @cached_property
    def writes_by_text(self) -> bool:
        """Whether names may take values by `exec`, or by items of `globals()`."""
        return any({"exec", "globals"} & uses for uses in self.uses.values())

    def follow_graphs(self, roots: set[str]) -> None:
        """Find what these functions call."""
        self.has_graphs = True
        self.in_graphs = self.follow({name for root in roots for name in self.uses.get(root, ())})

    def follow(self, names: set[str]) -> set[str]:
        """Everything that is mentioned, and by what is mentioned."""
        seen: set[str] = set()
        left = [name for name in names if name in self.uses]
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += [n for n in self.uses[name] if n in self.uses and n not in seen]
        return seen


def outline(tree: ast.Module) -> Outline:
    """Read a file's outline, in one pass."""
    made = Outline()
    _read(made, tree, "")
    made.reached = made.follow(made.uses.get("", set()))
    return made


def _read(made: Outline, root: ast.AST, owner: str) -> None:
    uses = made.uses.setdefault(owner, set())
    left: list[ast.AST] = list(ast.iter_child_nodes(root))
    while left:
        node = left.pop()
        cls = node.__class__
        if cls is ast.Name:
            uses.add(node.id)  # type: ignore[attr-defined]
            continue
        if cls in _LEAVES:
            continue
        if cls in _FUNCTIONS:
            _add_function(made, node, uses, left)  # type: ignore[arg-type]
            continue
        if cls is ast.Attribute:
            uses.add(node.attr)  # type: ignore[attr-defined]
        elif cls is ast.Call:
            _add_call(made, node)  # type: ignore[arg-type]
        elif cls is ast.Assign:
            _add_assigned(made, node)  # type: ignore[arg-type]
        elif cls is ast.Global or cls is ast.Nonlocal:
            made.written.update(node.names)  # type: ignore[attr-defined]
            continue
        elif cls is ast.Import or cls is ast.ImportFrom:
            made.imports.append(node)  # type: ignore[arg-type]
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                left += [v for v in value if isinstance(v, ast.AST)]
            elif isinstance(value, ast.AST) and value.__class__ not in (ast.Load, ast.Constant):
                left.append(value)


def _add_function(made: Outline, node: ast.FunctionDef, uses: set[str], left: list[ast.AST]) -> None:
    known = node.name not in made.functions and isinstance(node, ast.FunctionDef)
    made.functions[node.name] = node if known else None
    left += node.decorator_list
    left += node.args.defaults
    if node.name.startswith("__"):
        uses.add(node.name)
    body = ast.Module(node.body, [])
    _read(made, body, node.name)


def _add_call(made: Outline, node: ast.Call) -> None:
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if name not in TAKERS:
        return
    for given in [*node.args[:1], *(k.value for k in node.keywords if k.arg in ("fn", "map_func"))]:
        if isinstance(given, ast.Lambda):
            made.mapped[given] = node
        elif isinstance(given, ast.Name):
            made.mapped[given.id] = node


def _add_assigned(made: Outline, node: ast.Assign) -> None:
    call, target = node.value, node.targets[0]
    if isinstance(target, ast.Name):
        value = call.value if isinstance(call, ast.Constant) else None
        made.counts[target.id] = value if type(value) is int and target.id not in made.counts else None
    if isinstance(call, ast.Call) and isinstance(target, ast.Name) and call.args:
        made.wrapped.append((target.id, call))
        if isinstance(call.args[0], ast.Name) and target.id != call.args[0].id:
            made.uses.setdefault(target.id, set()).add(call.args[0].id)
