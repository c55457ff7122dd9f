"""Sessions on eager code: tf.Session and its company, and the edits that take a session away."""

from __future__ import annotations

import ast

from ..finding import Edit, Fix
from ..kinds import keyword
from ..table import on_call
from ..walk import File

SESSIONS = ("Session", "InteractiveSession")
_GRAPHS = ("disable_eager_execution", "disable_v2_behavior", ".Graph(", "ops.Graph")
_STATE = ("tensorflow.Variable", "tensorflow.random.", "tensorflow.random_", "tensorflow.get_variable")
_INITIALISERS = ("global_variables_initializer", "initialize_all_variables", "local_variables_initializer")


@on_call(
    *(f"tensorflow.{name}" for name in SESSIONS),
    *(f"tensorflow.compat.v1.{name}" for name in SESSIONS),
)
def _look_at_session(file: File, node: ast.Call, name: str) -> None:
    if any(word in file.source for word in _GRAPHS):
        return
    short = name.replace("tensorflow", "tf", 1)
    edits = _without_session(file, node)
    fixes = [Fix("eager", "safe", tuple(edits), repairs=True)] if edits else []
    remedy = "what it runs is there already" if edits else "call functions in place of feeding placeholders"
    file.report("UPS117", node, f"{short} finds no graph on eager code: {remedy}", *fixes)


@on_call("tensorflow.placeholder")
def _look_at_placeholder(file: File, node: ast.Call, name: str) -> None:
    if not any(word in file.source for word in _GRAPHS):
        short = name.replace("tensorflow", "tf", 1)
        file.report("UPS117", node, f"{short} has no value on eager code: make it a function's parameter")


def _without_session(file: File, made: ast.Call) -> list[Edit]:
    """The edits that take a session away; none where values would change from run to run, or are fed."""
    holder = file.parents.get(made)
    if isinstance(holder, ast.withitem):
        name = getattr(holder.optional_vars, "id", "")
        statement = file.parents.get(holder)
        if not isinstance(statement, ast.With) or len(statement.items) != 1:
            return []
        edits = [Edit("unwrap", file.span(statement))]
    elif isinstance(holder, ast.Assign) and len(holder.targets) == 1:
        name = getattr(holder.targets[0], "id", "")
        edits = [Edit("statement", file.span(holder))]
    else:
        return []
    found = _uses(file, name)
    return edits + found if name and found is not None else []


def _uses(file: File, session: str) -> list[Edit] | None:
    """An edit for each use of the session; None where one cannot be told."""
    edits: list[Edit] = []
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            name = file.dotted(node.func)
            if name.startswith(_STATE) or name.endswith(".placeholder"):
                return None
        if isinstance(node, ast.Name) and node.id == session and isinstance(node.ctx, ast.Load):
            edit = _use(file, node)
            if edit is None:
                return None
            edits.append(edit)
    return edits


def _use(file: File, node: ast.Name) -> Edit | None:
    attribute = file.parents.get(node)
    call = file.parents.get(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(call, ast.Call) or not isinstance(attribute, ast.Attribute) or call.func is not attribute:
        return None
    statement = file.parents.get(call)
    if attribute.attr == "close":
        return Edit("statement", file.span(statement)) if isinstance(statement, ast.Expr) else None
    if attribute.attr != "run" or len(call.args) != 1 or keyword(call, "feed_dict") is not None or call.keywords:
        return None
    fetched = call.args[0]
    if isinstance(fetched, ast.Call) and file.dotted(fetched.func).endswith(_INITIALISERS):
        return Edit("statement", file.span(statement)) if isinstance(statement, ast.Expr) else None
    if isinstance(fetched, ast.List | ast.Tuple):
        values = ", ".join(_value(file, element) for element in fetched.elts)
        return Edit("expression", file.span(call), f"[{values}]")
    return Edit("expression", file.span(call), _value(file, fetched))


def _value(file: File, node: ast.expr) -> str:
    text = file.text(node)
    return f"{text}.numpy()" if isinstance(node, ast.Name | ast.Call | ast.Attribute) else f"({text}).numpy()"
