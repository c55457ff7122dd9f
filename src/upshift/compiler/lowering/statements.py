"""Statements, and the function that they are the body of."""

from __future__ import annotations

import ast

from ..code import Shape
from .names import FunctionNode, Loop, word_for
from .tries import Tries


class Statements(Tries):
    """Lowers a whole function."""

    def _lower_body(self, node: FunctionNode) -> None:
        if isinstance(node, ast.Lambda):
            self._end("return", (self.value(node.body),))
        elif isinstance(node, ast.GeneratorExp):
            self.code.generator = True
            self._comprehension(node.generators, lambda: self._yield(self.value(node.elt)), first=".0")
            self._end("return", (self._constant(None),))
        else:
            self.code.annotations = {
                arg.arg: arg.annotation for arg in ast.walk(node.args) if isinstance(arg, ast.arg) and arg.annotation
            }
            self.body(node.body)
            if self.block is not None:
                self._end("return", (self._constant(None),))

    def body(self, statements: list[ast.stmt]) -> None:
        """Lower statements one after the other, up to the first that nothing leads to."""
        for statement in statements:
            if self.block is None:
                return  # nothing leads here
            self.line = statement.lineno
            method = getattr(self, f"s_{type(statement).__name__}", None)
            if method is None:
                raise self.refuse(f"uses `{word_for(statement)}`")
            method(statement)

    def s_Pass(self, s: ast.Pass) -> None: ...

    def s_Nonlocal(self, s: ast.Nonlocal) -> None: ...

    def s_Global(self, s: ast.Global) -> None: ...

    def s_Expr(self, s: ast.Expr) -> None:
        if isinstance(s.value, ast.Constant):
            return
        if isinstance(s.value, ast.Yield):
            self._yield(self.value(s.value.value) if s.value.value is not None else self._constant(None))
        elif isinstance(s.value, ast.YieldFrom):
            self._for(self.value(s.value.value), self._yield)
        else:
            self.value(s.value)

    def _yield(self, value: str) -> None:
        after = self._new_block()
        self._end("yield", (value,), (after,))
        self.block = after

    def s_Return(self, s: ast.Return) -> None:
        value = self.value(s.value) if s.value is not None else self._constant(None)
        if self.endings and not value.startswith("%"):
            value = self._emit("move", value)
        self._run_endings(0)
        self._end("return", (value,))

    # ---- assignment

    def s_Assign(self, s: ast.Assign) -> None:
        first = s.targets[0]
        if len(s.targets) == 1 and isinstance(first, ast.Tuple) and isinstance(s.value, ast.Tuple):
            items, targets = s.value.elts, first.elts
            if len(items) == len(targets) and not any(isinstance(e, ast.Starred) for e in (*items, *targets)):
                for target, value in zip(targets, [self._copied(item) for item in items]):
                    self.assign(target, value)
                return
        value = self.value(s.value)
        if len(s.targets) > 1 and not value.startswith("%"):
            value = self._emit("move", value)
        for target in s.targets:
            self.assign(target, value)

    def s_AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.assign(s.target, self.value(s.value))

    def assign(self, target: ast.expr, value: str) -> None:
        """Store a value: in a name, an item, an attribute, or taken apart in several."""
        if isinstance(target, ast.Name):
            self._store(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            stars = [i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
            parts = self._emit("unpack", value, extra=(len(target.elts), stars[0] if stars else None))
            for i, e in enumerate(target.elts):
                self.assign(e.value if isinstance(e, ast.Starred) else e, self._emit("pick", parts, extra=i))
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value)
            self._emit("setitem", owner, self.value(target.slice), value, dst=None)
        elif isinstance(target, ast.Attribute):
            self._emit("setattr", self.value(target.value), value, extra=target.attr, dst=None)
        else:
            raise self.refuse("assigns to something unusual")

    def s_AugAssign(self, s: ast.AugAssign) -> None:
        operator = type(s.op).__name__
        target = s.target
        if isinstance(target, ast.Name):
            old = self._load(target.id)
            self._store(target.id, self._emit("inplace", old, self.value(s.value), extra=operator))
        elif isinstance(target, ast.Subscript):
            owner, index = self._copied(target.value), self._copied(target.slice)
            old = self._emit("item", owner, index)
            new = self._emit("inplace", old, self.value(s.value), extra=operator)
            self._emit("setitem", owner, index, new, dst=None)
        else:
            owner = self._copied(target.value)
            old = self._emit("attr", owner, extra=target.attr)
            new = self._emit("inplace", old, self.value(s.value), extra=operator)
            self._emit("setattr", owner, new, extra=target.attr, dst=None)

    def s_Delete(self, s: ast.Delete) -> None:
        for target in s.targets:
            self._delete(target)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._delete(one)
        elif isinstance(target, ast.Name):
            found = self._find(target.id)
            if found is None or self._is_boxed(found):
                raise self.refuse(f"deletes {target.id}, which is not its own variable")
            self._emit("del", found, dst=None, extra=found)
        elif isinstance(target, ast.Subscript):
            self._emit("delitem", self.value(target.value), self.value(target.slice), dst=None)
        else:
            raise self.refuse("deletes an attribute")

    # ---- jumps

    def s_If(self, s: ast.If) -> None:
        yes, no = self._new_block(), self._new_block()
        self.condition(s.test, yes, no)
        after = None
        for start, statements in ((yes, s.body), (no, s.orelse)):
            self.block = start
            self.body(statements)
            if self.block is not None:
                after = after or self._new_block()
                self._jump(after)
        self.block = after  # type: ignore[assignment]

    def s_While(self, s: ast.While) -> None:
        test, inside, other, after = (self._new_block() for _ in range(4))
        self._jump(test)
        self.block = test
        self.condition(s.test, inside, other)
        self.loops.append(Loop(test, after, len(self.endings)))
        self.block = inside
        self._emit("poll", dst=None)
        self._emit("sweep", dst=None, extra=(test, after))
        self.body(s.body)
        self.loops.pop()
        if self.block is not None:
            self._jump(test)
        self.block = other
        self.body(s.orelse)
        if self.block is not None:
            self._jump(after)
        self.block = after

    def s_For(self, s: ast.For) -> None:
        iterable = self.iterable(s.iter)
        self._for(
            iterable, lambda item: self.assign(s.target, item), lambda: self.body(s.body), lambda: self.body(s.orelse)
        )

    def s_Break(self, s: ast.Break) -> None:
        loop = self.loops[-1]
        self._run_endings(loop.depth)
        if self.block is not None:
            self._jump(loop.after)

    def s_Continue(self, s: ast.Continue) -> None:
        loop = self.loops[-1]
        self._run_endings(loop.depth)
        if self.block is not None:
            self._jump(loop.again)

    # ---- functions and imports

    def s_FunctionDef(self, s: ast.FunctionDef) -> None:
        decorators = [self._copied(decorator) for decorator in s.decorator_list]
        made = self._nested(s, s.name)
        for decorator in reversed(decorators):
            made = self._emit("call", decorator, made, extra=Shape((False,)))
        self._store(s.name, made)

    def s_Import(self, s: ast.Import) -> None:
        for alias in s.names:
            name = alias.name if alias.asname else alias.name.split(".")[0]
            self._store(alias.asname or name, self._emit("import", extra=(name, alias.name, None)))

    def s_ImportFrom(self, s: ast.ImportFrom) -> None:
        if s.level or s.module is None:
            raise self.refuse("imports from its own package")
        for alias in s.names:
            value = self._emit("import", extra=(s.module, s.module, alias.name))
            self._store(alias.asname or alias.name, value)
