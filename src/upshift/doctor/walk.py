"""One pass over a file's syntax tree: follows names and kinds, and shows every place to the checks that ask for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from .finding import Finding
from .kinds import NUMBER, TENSOR, UNKNOWN, Kind
from .names import bound_by, names_in
from .place import Text
from .scope import FunctionNode, Loop, Scope
from .table import ATTRIBUTES, BUILTINS, CALLS, FUNCTIONS, IMPORTS, LOCAL_CALLS, LOOPS, METHODS, STORES

_DONE = (ast.Name, ast.Constant)
_LEAVES = frozenset(
    {ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal}
    | {ast.alias, ast.And, ast.Or}
    | {cls for cls in vars(ast).values() if isinstance(cls, type) and issubclass(cls, ast.operator)}
    | {cls for cls in vars(ast).values() if isinstance(cls, type) and issubclass(cls, ast.unaryop | ast.cmpop)}
)
ANNOTATED = {
    "tensorflow.Tensor": TENSOR,
    "numpy.ndarray": Kind("array"),
    "pandas.DataFrame": Kind("frame"),
    "pandas.Series": Kind("series"),
    "tensorflow.data.Dataset": Kind("dataset", history=("?",)),
}


class File(Text):
    """One text that is looked at: a .py file, or all the code of a notebook."""

    def __init__(self, path: str, source: str, tree: ast.Module) -> None:
        super().__init__(path, source, tree)
        self.later: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Scope]] = []
        self.traced: set[str] = set()
        """Functions that `tf.function(f)` takes: what their names call is the plain one."""
        self.visitors: dict[type[ast.AST], Callable[[Any], None]] = {
            ast.FunctionDef: self.visit_function,
            ast.AsyncFunctionDef: self.visit_function,
            ast.Lambda: self.visit_lambda,
            ast.ClassDef: self.visit_class,
            ast.Import: self.visit_import,
            ast.ImportFrom: self.visit_import,
            ast.Assign: self.visit_assign,
            ast.AnnAssign: self.visit_annotated,
            ast.AugAssign: self.visit_augmented,
            ast.For: self.visit_for,
            ast.AsyncFor: self.visit_for,
            ast.While: self.visit_while,
            ast.If: self.visit_if,
            ast.Try: self.visit_try,
            ast.TryStar: self.visit_try,
            ast.Match: self.visit_match,
            ast.With: self.visit_with,
            ast.AsyncWith: self.visit_with,
            ast.NamedExpr: self.visit_named,
            ast.Call: self.visit_call,
            ast.Attribute: self.visit_attribute,
            ast.ListComp: self.visit_comprehension,
            ast.SetComp: self.visit_comprehension,
            ast.GeneratorExp: self.visit_comprehension,
            ast.DictComp: self.visit_comprehension,
        }

    def examine(self) -> list[Finding]:
        """Everything that is to be said about the file, in its order."""
        for node in self.outline.imports:  # functions may use what is imported below them
            self.add_import(node)
        self.find_compiled()
        self.visit_all(self.tree.body)
        for function, scope in self.later:  # grows meanwhile: functions run when the names around them are all there
            self.scope = scope
            self.enter(function, function.body)
        return sorted(set(self.findings), key=lambda f: (f.place, f.code))

    def find_compiled(self) -> None:
        """Which functions are made by tf.function, njit and their like."""
        for name, function in self.functions.items():
            for decorator in function.decorator_list if function else ():
                made = self.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
                if made in COMPILERS:
                    self.compiled[name] = COMPILERS[made]
        for target, call in self.outline.wrapped:
            made = self.dotted(call.func)
            if made in COMPILERS:
                self.compiled[target] = COMPILERS[made]
                if isinstance(call.args[0], ast.Name):
                    self.traced.add(call.args[0].id)

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit(self, node: ast.AST) -> None:
        """Look at a node: by the method for its class, or at what is in it."""
        visitor = self.visitors.get(type(node))
        if visitor is not None:
            visitor(node)
            return
        self.visit_children(node)

    def visit_children(self, node: ast.AST) -> None:
        visitors = self.visitors
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                for child in value:
                    cls = child.__class__
                    if cls not in _LEAVES and cls is not str:
                        visitor = visitors.get(cls)
                        if visitor is not None:
                            visitor(child)
                        elif isinstance(child, ast.AST):
                            self.visit_children(child)
            elif isinstance(value, ast.AST) and value.__class__ not in _LEAVES:
                visitor = visitors.get(value.__class__)
                if visitor is not None:
                    visitor(value)
                else:
                    self.visit_children(value)

    def visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
            if not isinstance(decorator, ast.Call):
                self.visit_decorator(decorator)
        self.visit_children(node.args)
        if isinstance(node, ast.FunctionDef):
            for handler in FUNCTIONS:
                handler(self, node)
        self.rebind([node.name])
        self.later.append((node, self.scope))

    def visit_decorator(self, node: ast.expr) -> None:
        """A bare decorator is a call of it with the function."""
        name = self.dotted(node)
        for handler in CALLS.get(name, ()):
            call = ast.copy_location(ast.Call(node, [], []), node)
            handler(self, call, name)

    def visit_lambda(self, node: ast.Lambda) -> None:
        self.enter(node, [node.body])

    def enter(self, node: FunctionNode, body: Iterable[ast.AST]) -> None:
        """Look at a function's body, with names of its own."""
        outer = self.scope
        name = getattr(node, "name", "")
        mapper = self.outline.mapped.get(node if isinstance(node, ast.Lambda) else name)
        mapped = self.mapper(mapper) if mapper is not None else ""
        graph = outer.graph or self.is_graph(node, mapped)
        self.scope = Scope(node, outer, self.parameters(node, mapped), [], graph, mapped or outer.mapped)
        self.scope.eager = not graph and outer.eager and (isinstance(node, ast.Lambda) or name in self.outline.reached)
        self.visit_all(body)
        self.scope = outer

    def mapper(self, call: ast.Call) -> str:
        """What maps a function that was passed to a call: a dotted name, or Dataset.map."""
        name = self.dotted(call.func)
        if name in MAPPERS:
            return name
        if not name and isinstance(call.func, ast.Attribute) and call.func.attr == "map":
            what = self.kind(call.func.value).what
            return "Dataset.map" if what == "dataset" else "?.map" if not what and self.has_tensorflow else ""
        return ""

    def is_graph(self, node: FunctionNode, mapped: str) -> bool:
        """Whether a function runs in a graph of TensorFlow's: it is compiled or mapped there, or called from there."""
        name = getattr(node, "name", "")
        if mapped.endswith(".map") or name in self.traced or self.compiled.get(name) == "tensorflow.function":
            return True
        if not self.outline.has_graphs:
            roots = {n for n, made in self.compiled.items() if made == "tensorflow.function"}
            self.outline.follow_graphs(roots | self.traced)
        return name in self.outline.in_graphs or name in ("call", "train_step", "test_step")

    def parameters(self, node: FunctionNode, mapped: str) -> dict[str, Kind]:
        """What is known of a function's parameters inside it."""
        names = {}
        for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            kind = UNKNOWN
            if arg.annotation is not None:
                kind = ANNOTATED.get(self.dotted(arg.annotation), UNKNOWN)
            names[arg.arg] = TENSOR if mapped in TENSOR_MAPPERS else kind
        for extra in (node.args.vararg, node.args.kwarg):
            if extra is not None:
                names[extra.arg] = UNKNOWN
        return names

    def visit_class(self, node: ast.ClassDef) -> None:
        self.visit_all(node.decorator_list)
        self.visit_all(node.bases)
        outer, self.scope = self.scope, Scope(None, self.scope, eager=self.scope.eager)
        self.visit_all(node.body)
        self.scope = outer
        self.rebind([node.name])

    def visit_import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.add_import(node)
        if node.names[0].name == "*":
            self.rebind(list(self.scope.names))
        self.rebind((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        for handler in IMPORTS.get(_root(node), ()):
            handler(self, node)

    def rebind(self, names: Iterable[str | None]) -> None:
        """Names that stand for something else from here on: of those that were known, nothing is."""
        for name in names:
            if name is not None and name in self.scope.names:
                self.scope.bind(name, UNKNOWN)

    def visit_named(self, node: ast.NamedExpr) -> None:
        """`(n := len(xs))` binds in the function around a comprehension."""
        self.visit(node.value)
        scope = self.scope
        while scope.inline and scope.parent is not None:
            scope = scope.parent
        scope.bind(node.target.id, UNKNOWN if node.target.id in self.outline.written else self.kind(node.value))

    def visit_assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        kind = self.kind(node.value)
        for target in node.targets:
            self.bind(target, kind, node.value)
            if isinstance(target, ast.Subscript):
                self.visit_store(target, node)

    def visit_annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.bind(node.target, self.kind(node.value), node.value)

    def visit_augmented(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Subscript):
            self.visit_store(node.target, node)
        elif isinstance(node.target, ast.Name):
            made = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            self.scope.bind(node.target.id, self.kind(made))

    def visit_store(self, target: ast.Subscript, statement: ast.stmt) -> None:
        self.visit_children(target)
        for handler in STORES:
            handler(self, target, statement)

    def bind(self, target: ast.expr, kind: Kind, value: ast.expr | None = None) -> None:
        """A name takes a value; names of a pattern take what is unknown, or the parts."""
        if isinstance(target, ast.Name):
            missing = isinstance(value, ast.Constant) and value.value is None and target.id in self.imports
            if not missing:  # `except ImportError: tf = None`: where it is used, it is there
                self.scope.bind(target.id, UNKNOWN if target.id in self.outline.written else kind)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for i, element in enumerate(target.elts):
                known = self.kind(parts[i]) if len(parts) == len(target.elts) else UNKNOWN
                self.bind(element, known)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, UNKNOWN)
        elif isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
            self.bind_attribute(target.attr, kind)

    def bind_attribute(self, name: str, kind: Kind) -> None:
        """`self.ds = ...`: a name of the class, which its methods share."""
        scope = self.scope
        while scope.parent is not None and scope.function is not None:
            scope = scope.parent
        scope.bind(f"self.{name}", kind if kind.what in ("dataset", "frame") else UNKNOWN)

    def visit_for(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        over = self.kind(node.iter)
        self.bind_loop(node.target, node.iter, over)
        if isinstance(node, ast.For):
            for handler in LOOPS:
                handler(self, node)
        self.in_body(Loop(node, bound_by(node), over), node.body)
        self.visit_all(node.orelse)

    def bind_loop(self, target: ast.expr, iterable: ast.expr, over: Kind) -> None:
        """The kinds of a loop's variables."""
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.args:
            called = iterable.func.id
            if called == "range":
                return self.bind(target, NUMBER)
            if called == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                self.bind(target.elts[0], NUMBER)
                return self.bind_loop(target.elts[1], iterable.args[0], self.kind(iterable.args[0]))
            if called == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(iterable.args):
                for element, column in zip(target.elts, iterable.args):
                    self.bind_loop(element, column, self.kind(column))
                return None
        kind = TENSOR if over.what == "tensor" or over.element == "tensor" else UNKNOWN
        if isinstance(iterable, ast.List | ast.Tuple) and iterable.elts:
            kind = NUMBER if all(self.kind(e) == NUMBER for e in iterable.elts) else UNKNOWN
        if over.what == "array" and over.rank is not None and over.rank > 1:
            kind = Kind("array", over.dtype, over.rank - 1)
        if over.what == "dataset" and isinstance(target, ast.Name):
            kind = TENSOR
        self.bind(target, kind)
        return None

    def visit_while(self, node: ast.While) -> None:
        self.in_body(Loop(node, bound_by(node), UNKNOWN), [node.test, *node.body])
        self.visit_all(node.orelse)

    def in_body(self, loop: Loop, body: Iterable[ast.AST]) -> None:
        """A loop's body. What is of another kind after one iteration may be so in the next: no fix is certain then."""
        scope = self.scope
        before, first, mixed = dict(scope.names), len(self.findings), scope.mixed
        scope.mixed = set()  # what is of another kind in the middle may be so after a `continue` or `break`
        scope.loops.append(loop)
        self.visit_all(body)
        scope.loops.pop()
        unsure, scope.mixed = scope.mixed & loop.bound, mixed | scope.mixed
        changed = [name for name in unsure if name in before and before[name].what]
        if changed:
            word = re.compile(rf"\b(?:{'|'.join(changed)})\b")
            for i, finding in enumerate(self.findings[first:], first):
                if any(word.search(edit.text) for fix in finding.fixes for edit in fix.edits):
                    self.findings[i] = replace(finding, fixes=())
        scope.merge(before)
        self.rebind(unsure)

    def visit_if(self, node: ast.If) -> None:
        self.visit(node.test)
        loop = self.in_loop
        before = loop.guarded if loop is not None else False
        if loop is not None:
            loop.guarded = True
        self.visit_ways(node.body, node.orelse)
        if loop is not None:
            loop.guarded = before

    def visit_ways(self, *ways: list[ast.stmt]) -> None:
        """Blocks of which one is run."""
        start = dict(self.scope.names)
        ends = []
        for block in ways:
            self.scope.names = dict(start)
            self.visit_all(block)
            ends.append(self.scope.names)
        for other in ends[:-1]:
            self.scope.merge(other)

    def visit_try(self, node: ast.Try | ast.TryStar) -> None:
        """What its body binds is not known in a handler: nobody knows how far it came."""
        before, bound = dict(self.scope.names), bound_by(ast.Module(node.body, []))
        self.visit_all([*node.body, *node.orelse])
        for handler in node.handlers:
            after, self.scope.names = self.scope.names, dict(before)
            self.rebind([*bound, handler.name])
            self.visit_all(handler.body)
            self.scope.merge(after)
        after = dict(self.scope.names)
        self.rebind(bound)
        self.visit_all(node.finalbody)
        again = bound_by(ast.Module(node.finalbody, []))
        self.scope.names.update((name, kind) for name, kind in after.items() if name not in again)

    def visit_match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        before = dict(self.scope.names)
        ends = [before]
        for case in node.cases:
            self.scope.names = dict(before)
            parts = [part for part in ast.walk(case.pattern) if not isinstance(part, ast.expr)]
            self.rebind(getattr(part, "rest" if isinstance(part, ast.MatchMapping) else "name", None) for part in parts)
            self.visit_all([*([case.guard] if case.guard is not None else []), *case.body])
            ends.append(self.scope.names)
        self.scope.names = dict(ends[0])
        for other in ends[1:]:
            self.scope.merge(other)

    def visit_with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, self.kind(item.context_expr))
        self.visit_all(node.body)

    def visit_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        outer = self.scope
        self.visit(node.generators[0].iter)
        self.scope = Scope(outer.function, outer, {}, list(outer.loops), outer.graph, outer.mapped, outer.eager, True)
        for generator in node.generators:
            over = self.kind(generator.iter)
            self.bind_loop(generator.target, generator.iter, over)
            self.scope.loops.append(Loop(generator, names_in(generator.target), over))
            self.visit_all(generator.ifs)
        if not isinstance(node, ast.DictComp):
            for handler in LOOPS:
                handler(self, node)
            self.visit(node.elt)
        else:
            self.visit_all([node.key, node.value])
        self.scope = outer

    def visit_call(self, node: ast.Call) -> None:
        func = node.func
        name = self.dotted(func)
        if name:
            for handler in CALLS.get(name, ()):
                handler(self, node, name)
            self.visit(func)
        elif isinstance(func, ast.Attribute):
            for handler in METHODS.get(func.attr, ()):
                handler(self, node, func.attr)
            self.visit(func.value)
        elif isinstance(func, ast.Name):
            if func.id in self.compiled:
                for handler in LOCAL_CALLS:
                    handler(self, node, func.id)
            elif func.id in BUILTINS and func.id not in self.functions and self.scope.kind(func.id) is None:
                for handler in BUILTINS[func.id]:
                    handler(self, node, func.id)
        else:
            self.visit(func)
        for child in node.args:
            if not isinstance(child, _DONE):
                self.visit(child)
        for given in node.keywords:
            if not isinstance(given.value, _DONE):
                self.visit(given.value)

    def visit_attribute(self, node: ast.Attribute) -> None:
        name = self.dotted(node)
        if name.startswith("tensorflow."):
            for handler in ATTRIBUTES.get(name.split(".")[1], ()):
                handler(self, node, name)
        elif not name:
            self.visit(node.value)


def _root(node: ast.Import | ast.ImportFrom) -> str:
    """The library that a statement imports from; nothing for the file's own package."""
    name = (node.module or "") if isinstance(node, ast.ImportFrom) and not node.level else ""
    return (name if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]


COMPILERS = {
    "tensorflow.function": "tensorflow.function",
    "tensorflow.autograph.to_graph": "tensorflow.function",
    "numba.njit": "numba.njit",
    "numba.jit": "numba.njit",
    "jax.jit": "jax.jit",
}
TENSOR_MAPPERS = frozenset({"tensorflow.map_fn", "tensorflow.vectorized_map", "Dataset.map"})
MAPPERS = frozenset({"tensorflow.map_fn", "tensorflow.vectorized_map", "jax.vmap", "jax.pmap", "jax.lax.map"})
