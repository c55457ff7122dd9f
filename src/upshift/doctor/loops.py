"""A loop as a map: `for i in range(n): out[i] = f(xs[i])` becomes `out[:n] = up.map(f, xs[:n])`."""

from __future__ import annotations

import ast
import copy
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field

from .finding import Edit, Fix
from .loop_carried import NotOutlined, check_carried, is_live
from .names import bound_by, filled, names_in
from .proposals import UP
from .vector import Body, judge
from .walk import File

_STATEMENTS = (ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Pass, ast.Continue, ast.Break, ast.Expr)
_EXPRESSIONS = (
    *(ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Name, ast.Constant, ast.Subscript, ast.IfExp, ast.Slice),
    *(ast.Attribute, ast.Call, ast.Tuple, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop),
)


@dataclass
class Head:
    """What a loop goes over: its index, how many iterations it has, and the elements of which columns it takes."""

    index: str
    count: str
    columns: dict[str, str] = field(default_factory=dict)
    """By the name of an element, the text of what holds all of them."""

    def all_of(self, array: str) -> str:
        """The elements of an array that the loop meets."""
        whole = self.count in (f"len({array})", f"{array}.shape[0]", f"{array}.size")
        return array if whole else f"{array}[:{self.count}]"


@dataclass(frozen=True)
class Outlined:
    """The function of one element, its columns, and where its results go."""

    body: list[ast.stmt]
    columns: dict[str, str]
    sink: str
    """extend, add or set."""
    targets: tuple[str, ...]
    count: str

    @property
    def expression(self) -> ast.expr | None:
        """What the function returns, where it does nothing else."""
        only = self.body[0] if len(self.body) == 1 else None
        return only.value if isinstance(only, ast.Return) else None


def loop_fixes(file: File, node: ast.For, library: str) -> list[Fix]:
    """A loop's alternatives: one operation on all elements, or a map of the outlined function."""
    try:
        made = _outline_loop(file, node)
    except NotOutlined:
        return []
    tf = "" if library == "numpy" else file.alias("tensorflow") or "tf"
    if tf and made.sink == "set":
        return []
    found: dict[str, str] = {}
    whole = _whole(file, made, library)
    if whole:
        found["vectorised"] = _stored(made, whole, tf)
    if library == "numpy":
        before, mapped = _mapped(file, node, made)
        found["up.map"] = before + _stored(made, mapped)
        if made.sink == "extend":
            found["up.map, tolist"] = before + _stored(made, f"{mapped}.tolist()")
    comments = "".join(f"{line}\n" for line in _comments(file, node))
    return [
        Fix(name, "checked", (Edit("block", file.span(node), comments + text),), UP if "up.map" in name else ())
        for name, text in found.items()
    ]


def _outline_loop(file: File, node: ast.For) -> Outlined:
    """A loop as a function of one element; NotOutlined where iterations depend on each other, or do something else."""
    head = _head(file, node)
    if node.orelse:
        raise NotOutlined
    _check_nodes(node.body, inner=False)
    rewriter = _Rewriter(file, head, node)
    body = [rewriter.visit(copy.deepcopy(statement)) for statement in node.body]
    sinks = _Sinks.of(body, rewriter.state)
    temporaries = bound_by(ast.Module(body, [])) - sinks.names - set(rewriter.state.values())
    used = names_in(*body)
    if temporaries & {head.index, *head.columns} or is_live(file, node, temporaries | bound_by(node.target)):
        raise NotOutlined
    check_carried(body, temporaries)
    columns = {name: text for name, text in {**head.columns, **rewriter.columns}.items() if name in used}
    if head.index and head.index in used:
        columns[head.index] = f"range({head.count})"
    if not columns:
        raise NotOutlined
    return sinks.outlined(body, columns, rewriter, head)


def _head(file: File, node: ast.For) -> Head:
    """`for x in xs`, `for i, x in enumerate(xs)`, `for x, y in zip(xs, ys)`, `for i in range(n)`."""
    target, over = node.target, node.iter
    if isinstance(target, ast.Name) and isinstance(over, ast.Name):
        return Head("", f"len({over.id})", {target.id: over.id})
    if not isinstance(over, ast.Call) or over.keywords or not over.args:
        raise NotOutlined
    called, first = getattr(over.func, "id", ""), over.args[0]
    if called == "range" and isinstance(target, ast.Name) and len(over.args) == 1 and _is_count(first):
        return Head(target.id, file.text(first))
    names = [getattr(e, "id", "") for e in target.elts] if isinstance(target, ast.Tuple) else []
    given = [getattr(a, "id", "") for a in over.args]
    if not all(names) or not all(given):
        raise NotOutlined
    if called == "enumerate" and len(names) == 2 and len(given) == 1:
        return Head(names[0], f"len({given[0]})", {names[1]: given[0]})
    if called == "zip" and len(names) == len(given):
        return Head("", "", dict(zip(names, given)))
    raise NotOutlined


def _is_count(node: ast.expr) -> bool:
    """Whether an expression may be evaluated again: a number, a name, len(xs), xs.shape[0], xs.size."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "len" and len(node.args) == 1 and isinstance(node.args[0], ast.Name)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and _is_count(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr in ("shape", "size") and isinstance(node.value, ast.Name)
    return isinstance(node, ast.Name | ast.Constant)


def _check_nodes(block: Iterable[ast.stmt], inner: bool) -> None:
    """Only computing: no return, no break out of the loop, no import, no definition."""
    for statement in block:
        if not isinstance(statement, _STATEMENTS) or (isinstance(statement, ast.Break) and not inner):
            raise NotOutlined
        if isinstance(statement, ast.Continue) and not inner:
            raise NotOutlined
        within = inner or isinstance(statement, ast.For | ast.While)
        for part in ast.iter_child_nodes(statement):
            if isinstance(part, ast.stmt):
                _check_nodes([part], within)
            elif not all(isinstance(n, _EXPRESSIONS) for n in ast.walk(part) if not isinstance(n, ast.keyword)):
                raise NotOutlined


class _Rewriter(ast.NodeTransformer):
    """`xs[i]` as the element `xs_i`, `xs[i, j]` as `xs_i[j]`; what is written at `i` is the state of one element."""

    def __init__(self, file: File, head: Head, node: ast.For) -> None:
        self.file, self.head = file, head
        self.columns: dict[str, str] = {}
        self.bound = bound_by(node)
        self.state = {
            array: self.name(array)
            for n in ast.walk(node)
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and (array := self.at_index(n))
        }
        self.deep: set[str] = set()
        """Arrays of which parts of an element are written."""

    def at_index(self, node: ast.Subscript) -> str:
        """The array of `xs[i]`, `xs[i, j]` or `xs[i][j]`."""
        base = node.value
        if isinstance(base, ast.Subscript):
            return self.at_index(base)
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        here = isinstance(first, ast.Name) and first.id == self.head.index != ""
        return base.id if here and isinstance(base, ast.Name) else ""

    def name(self, array: str) -> str:
        made = f"{array}_{self.head.index}"
        while re.search(rf"\b{made}\b", self.file.source):
            made += "_"
        return made

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        array = self.at_index(node)
        if not array or isinstance(node.value, ast.Subscript):
            base = node
            while isinstance(base.value, ast.Subscript):
                base = base.value
            if isinstance(node.ctx, ast.Store):
                if not array:
                    raise NotOutlined  # written somewhere else than at the index
                self.deep.add(array)
            self.generic_visit(node)
            return node
        name = self.state.get(array) or self.name(array)
        if array in self.bound:
            raise NotOutlined
        if array not in self.state or isinstance(node.ctx, ast.Load):
            self.columns[name] = self.head.all_of(array)
        rest = node.slice.elts[1:] if isinstance(node.slice, ast.Tuple) else []
        rest = [self.visit(part) for part in rest]
        if not rest:
            return ast.Name(name, node.ctx)
        if isinstance(node.ctx, ast.Store):
            self.deep.add(array)
        at = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())
        return ast.Subscript(ast.Name(name, ast.Load()), at, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr not in ("shape", "size", "ndim", "dtype"):  # iterations do not change these
            self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.state:
            raise NotOutlined  # read as a whole, or at another place: what other iterations have written
        return node


@dataclass(frozen=True)
class _Sinks:
    """Where the results of a loop's iterations go."""

    lists: frozenset[str]
    sums: frozenset[str]
    state: dict[str, str]

    @classmethod
    def of(cls, body: list[ast.stmt], state: dict[str, str]) -> _Sinks:
        nodes = [n for s in body for n in ast.walk(s)]
        lists = frozenset(_appended(n) for n in nodes if _appended(n))
        assigned = {t.id for n in nodes if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
        assigned |= {n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
        sums = frozenset(
            n.target.id for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
        ) - (assigned | set(state.values()))
        made = cls(lists, sums, state)
        if (len(lists) + len(sums) != 1) if not state else (lists or sums):
            raise NotOutlined
        reads = sum(isinstance(n, ast.Name) and n.id in made.names for n in nodes)
        if not state and reads != 1:
            raise NotOutlined
        return made

    @property
    def names(self) -> frozenset[str]:
        return self.lists | self.sums

    def outlined(self, body: list[ast.stmt], columns: dict[str, str], rewriter: _Rewriter, head: Head) -> Outlined:
        """The body with its results returned."""
        if not self.state:
            last = body[-1]
            sink = "add" if self.sums else "extend"
            return Outlined([*body[:-1], *_returned(last)], columns, sink, tuple(self.names), head.count)
        arrays, names = tuple(self.state), list(self.state.values())
        last = body[-1]
        value = last.value if isinstance(last, ast.Assign) and _is_name(last.targets[0], names[0]) else None
        if (
            value is not None
            and len(names) == 1
            and not any(_is_name(n, names[0]) for s in body[:-1] for n in ast.walk(s))
        ):
            return Outlined([*body[:-1], ast.Return(value)], columns, "set", arrays, head.count)
        columns = {**columns, **{name: head.all_of(array) for array, name in self.state.items()}}
        first = [
            ast.parse(f"{name} = {name}.copy()").body[0] for array, name in self.state.items() if array in rewriter.deep
        ]
        made = ast.parse(f"return {', '.join(names)}").body
        return Outlined([*first, *body, *made], columns, "set", arrays, head.count)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _appended(node: ast.AST) -> str:
    """The list of a statement `ys.append(y)`."""
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        single = len(call.args) == 1 and not call.keywords
        return call.func.value.id if single and isinstance(call.func.value, ast.Name) else ""
    return ""


def _returned(last: ast.stmt) -> list[ast.stmt]:
    """The last statement of an iteration, with its result returned: `ys.append(y)`, `s += y`, `if c: s += y`."""
    if isinstance(last, ast.If) and not last.orelse and isinstance(last.body[-1], ast.AugAssign):
        given = last.body[-1].value  # zero of another kind than the rest shows in the check
        zero = ast.Return(ast.Constant(0 if isinstance(given, ast.Constant) and type(given.value) is int else 0.0))
        return [ast.If(last.test, [*last.body[:-1], *_returned(last.body[-1])], []), zero]
    if isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add):
        return [ast.Return(last.value)]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and _appended(last):
        return [ast.Return(last.value.args[0])]
    raise NotOutlined


def _whole(file: File, made: Outlined, library: str) -> str:
    """The function's expression with columns in place of elements, where every operation is elementwise."""
    value = made.expression
    if value is None or any(text.startswith("range(") for text in made.columns.values()):
        return ""
    if not judge(file, Body(tuple(made.columns), value), library, division=True, casts=True):
        return ""
    return filled(value, made.columns)


def _mapped(file: File, node: ast.For, made: Outlined) -> tuple[str, str]:
    """The function's definition, where it is more than an expression, and the map of it."""
    columns = ", ".join(made.columns.values())
    names = ", ".join(made.columns)
    value = made.expression
    if value is not None:
        plain = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.keywords
        if plain and [getattr(a, "id", "") for a in value.args] == list(made.columns):  # type: ignore[attr-defined]
            return "", f"up.map({value.func.id}, {columns})"  # type: ignore[attr-defined]
        return "", f"up.map(lambda {names}: {ast.unparse(value)}, {columns})"
    first = next(iter(bound_by(node.target)))
    name = f"of_{first}"
    while re.search(rf"\b{name}\b", file.source):
        name += "_"
    body = "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in made.body)
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"def {name}({names}):\n{lines}", f"up.map({name}, {columns})"


def _stored(made: Outlined, value: str, tf: str = "") -> str:
    """The statement that puts all results where the loop put each."""
    if made.sink == "extend":
        return f"{made.targets[0]}.extend({f'{tf}.unstack({value})' if tf else value})"
    if made.sink == "add":
        return f"{made.targets[0]} += {f'{tf}.reduce_sum({value})' if tf else f'({value}).sum()'}"
    return f"{', '.join(f'{array}[:{made.count}]' for array in made.targets)} = {value}"


def _comments(file: File, node: ast.For) -> list[str]:
    """The comments of a loop, which stay."""
    text = "\n".join(file.lines[node.lineno - 1 : node.end_lineno]) + "\n"
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):
        return []
    return [token.string for token in tokens if token.type == tokenize.COMMENT]
