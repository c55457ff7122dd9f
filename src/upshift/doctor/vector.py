"""Whether a function of one element is also right for all at once, as written: elementwise operations only."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from .kinds import constant
from .names import names_in, replaced
from .scope import Names

Verdict = Literal["exact", "close", ""]
"""exact: the same bits; close: the same up to the last bits; nothing: not known to be the same."""

EXACT = frozenset(
    "square abs negative add subtract multiply maximum minimum floor ceil round rint sign identity sqrt divide "
    "true_divide math.square math.abs math.add math.subtract math.multiply math.maximum math.minimum math.floor "
    "math.ceil math.sqrt math.negative math.divide nn.relu positive absolute".split()
)
CLOSE = frozenset(
    "sin cos tan exp log log1p expm1 tanh sigmoid sinh cosh asin acos atan erf pow power math.sin math.cos math.tan "
    "math.exp math.log math.log1p math.tanh math.sigmoid math.pow math.erf nn.sigmoid nn.tanh nn.softplus nn.elu "
    "nn.selu nn.gelu nn.silu nn.swish arctan arcsin arccos hypot cbrt log2 log10 exp2".split()
)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult)
LARGEST = 200
"""Nodes of an expression with others filled in that is still looked at."""


@dataclass(frozen=True, slots=True)
class Body:
    """A function whose body is one expression."""

    parameters: tuple[str, ...]
    expression: ast.expr


def body_of(function: ast.FunctionDef | ast.Lambda | None) -> Body | None:
    """A lambda's expression, or that of a function that returns one, local names replaced by what they stand for."""
    if function is None or (isinstance(function, ast.FunctionDef) and function.decorator_list):
        return None
    args = function.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.defaults:
        return None
    names = tuple(arg.arg for arg in [*args.posonlyargs, *args.args])
    if isinstance(function, ast.Lambda):
        return Body(names, function.body)
    statements = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    last = statements.pop() if statements else None
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    local: dict[str, ast.expr] = {}
    unused: set[str] = set()
    for statement in statements:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            return None
        unused -= names_in(statement.value)
        if target.id in unused:
            return None
        unused.add(target.id)
        local[target.id] = replaced(statement.value, local)
        if sum(1 for _ in ast.walk(local[target.id])) > LARGEST:
            return None
    if unused - names_in(last.value):  # what is computed and not returned may be there for what else it does
        return None
    return Body(names, replaced(last.value, local) if local else last.value)


def judge(names: Names, body: Body, library: str, division: bool = False, casts: bool = False) -> Verdict:
    """Whether the body is elementwise in `library`; with its dtype kept unless `casts` or `division` may change it."""
    if not body.parameters or not (names_in(body.expression) & set(body.parameters)):
        return ""
    judged = _Judge(names, frozenset(body.parameters), library, division, casts)
    return judged.expression(body.expression)


@dataclass(frozen=True)
class _Judge:
    names: Names
    parameters: frozenset[str]
    library: str
    division: bool
    casts: bool

    def expression(self, node: ast.expr) -> Verdict:
        if isinstance(node, ast.Name):
            known = node.id in self.parameters or self.names.kind(node).what == "number"
            return "exact" if known else ""
        number = constant(node)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return "exact"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return self.expression(node.operand)
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        return ""

    def binary(self, node: ast.BinOp) -> Verdict:
        if not (names_in(node) & self.parameters):
            return self.worst([node.left, node.right]) if isinstance(node.op, _OPERATORS) else ""
        if isinstance(node.op, _OPERATORS) or (isinstance(node.op, ast.Div) and self.division):
            return self.worst([node.left, node.right])
        if isinstance(node.op, ast.Pow) and isinstance(constant(node.right), int | float):
            return "close" if self.expression(node.left) else ""
        return ""

    def call(self, node: ast.Call) -> Verdict:
        name = self.names.dotted(node.func)
        library, _, short = name.partition(".")
        if library != self.library or any(isinstance(a, ast.Starred) for a in node.args):
            return ""
        if short == "cast" and self.casts and len(node.args) == 2 and not node.keywords:
            return self.expression(node.args[0])
        if node.keywords or (short.endswith(("divide", "sqrt")) and not self.division):
            return ""
        if short in EXACT:
            return self.worst(node.args)
        return "close" if short in CLOSE and self.worst(node.args) else ""

    def worst(self, nodes: list[ast.expr]) -> Verdict:
        verdicts = [self.expression(node) for node in nodes]
        if not all(verdicts):
            return ""
        return "close" if "close" in verdicts else "exact"
