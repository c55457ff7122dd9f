"""Whether a function may be called again, to compare: it must not print, draw random numbers, or change anything."""

from __future__ import annotations

import ast

from ..names import bound_by, parameters_in
from ..walk import File

LIBRARIES = ("tensorflow.", "numpy.", "math.", "jax.", "cmath.", "skimage.", "scipy.", "pandas.")
EFFECTS = (
    "tensorflow.random.",
    "tensorflow.print",
    "tensorflow.summary",
    "tensorflow.io.write",
    "tensorflow.Variable",
    "tensorflow.image.random_",
    "numpy.random.",
    "numpy.save",
    "numpy.copyto",
    "numpy.put",
)
BUILTINS = frozenset(
    "abs min max sum round int float bool len range enumerate zip divmod pow sorted any all str".split()
)
METHODS = frozenset(
    "numpy sum mean max min std var astype copy reshape dot item any all argmax argmin round clip transpose ravel get "
    "set_shape lower upper strip split startswith endswith replace join format flatten tolist cumsum to_numpy".split()
)


def why_not_again(file: File, function: ast.FunctionDef | ast.Lambda, seen: frozenset[str] = frozenset()) -> str:
    """One reason why calling a function again would not do; nothing where it would."""
    parameters, local = set(parameters_in(function)), bound_by(function)
    for first in function.body if isinstance(function, ast.FunctionDef) else ():
        if not isinstance(first, ast.Assign) or not ast.unparse(first.value).endswith(".copy()"):
            break
        parameters -= {target.id for target in first.targets if isinstance(target, ast.Name)}
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            return f"writes to {node.names[0]!r}"
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            return f"writes to an attribute, {node.attr!r}"
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            if base in parameters or base not in local:
                return f"writes into {base!r}" if base else "writes into something it did not make"
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            return "is a generator or coroutine"
        if isinstance(node, ast.Call):
            reason = _why_not_call(file, node, seen)
            if reason:
                return reason
    return ""


def _why_not_call(file: File, node: ast.Call, seen: frozenset[str]) -> str:
    for given in [*node.args, *(word.value for word in node.keywords)]:  # whoever is given a function may call it
        function = file.functions.get(given.id) if isinstance(given, ast.Name) and given.id not in seen else None
        if function is not None and (reason := why_not_again(file, function, seen | {function.name})):
            return reason
    name = file.dotted(node.func)
    if name:
        if name.startswith(EFFECTS):
            return "draws random numbers" if ".random" in name else f"calls {name}"
        return "" if name.startswith(LIBRARIES) else f"calls {name}, which may do anything"
    if isinstance(node.func, ast.Name):
        called = node.func.id
        if called in BUILTINS or called in seen:
            return ""
        function = file.functions.get(called)
        if function is None:
            return f"calls {called!r}, which may do anything"
        return why_not_again(file, function, seen | {called})
    if isinstance(node.func, ast.Attribute):
        return "" if node.func.attr in METHODS else f"calls .{node.func.attr}(), which may do anything"
    return "calls what a call returns"
