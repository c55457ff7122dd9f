"""Expressions: every one becomes the name of the variable or temporary that holds its value."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..code import Block, Shape
from ..percent import brace_parts, percent_parts
from .names import Loop, Names, inside, word_for


def _is_constant_set(e: ast.Set) -> bool:
    return all(_is_constant(one) for one in e.elts)


def _has_one_order(e: ast.Set) -> bool:
    """Whether literals come in one order, whatever the order was in which Python's compiler put them into a set: each
    has a slot of its own."""
    try:
        hashes = {hash(value) for value in {ast.literal_eval(one) for one in e.elts}}
    except (ValueError, TypeError):
        return False
    size = 8
    while len(hashes) * 5 >= (size - 1) * 3:
        size *= 4
    return len({h % size for h in hashes}) == len(hashes)


def _is_constant(e: ast.expr) -> bool:
    """Whether Python's compiler knows the value of an expression."""
    if isinstance(e, ast.UnaryOp):
        return _is_constant(e.operand)
    if isinstance(e, ast.BinOp):
        return _is_constant(e.left) and _is_constant(e.right)
    if isinstance(e, ast.Tuple):
        return all(_is_constant(one) for one in e.elts)
    return isinstance(e, ast.Constant)


class Expressions(Names):
    """Lowers expressions."""

    def assign(self, target: ast.expr, value: str) -> None:
        """Lowers an assignment to a name, an item, an attribute or a tuple; see `statements.py`."""
        raise NotImplementedError

    # ---- conditions

    def condition(self, e: ast.expr, yes: Block, no: Block) -> None:
        """Jump to `yes` or `no`, without making a bool of what is only asked for its truth."""
        if isinstance(e, ast.BoolOp):
            for one in e.values[:-1]:
                following = self._new_block()
                self.condition(one, *((following, no) if isinstance(e.op, ast.And) else (yes, following)))
                self.block = following
            return self.condition(e.values[-1], yes, no)
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            return self.condition(e.operand, no, yes)
        if isinstance(e, ast.Compare) and len(e.ops) > 1:
            left = self._copied(e.left)
            for i, (op, right) in enumerate(zip(e.ops, e.comparators)):
                value = self._copied(right)
                flag = self._emit("compare", left, value, extra=type(op).__name__)
                following = yes if i == len(e.ops) - 1 else self._new_block()
                self._branch(self._truth(flag), following, no)
                self.block, left = following, value
            self.block = None  # type: ignore[assignment]
            return None
        return self._branch(self._truth(self.value(e)), yes, no)

    def _truth(self, value: str) -> str:
        return self._emit("truth", value)

    # ---- expressions

    def value(self, e: ast.expr) -> str:
        """The name of the variable or temporary that holds an expression's value."""
        self.line = getattr(e, "lineno", self.line)
        method = getattr(self, f"e_{type(e).__name__}", None)
        if method is None:
            raise self.refuse(f"uses `{word_for(e)}`")
        return str(method(e))

    def _copied(self, e: ast.expr) -> str:
        """A value that later assignments do not change."""
        value = self.value(e)
        return value if value.startswith("%") else self._emit("move", value)

    def e_Constant(self, e: ast.Constant) -> str:
        return self._constant(e.value)

    def e_Name(self, e: ast.Name) -> str:
        return self._load(e.id)

    def e_NamedExpr(self, e: ast.NamedExpr) -> str:
        value = self.value(e.value)
        kept, self.scopes = self.scopes, []  # the name is one of the function's, not of a comprehension's
        self._store(e.target.id, value)
        self.scopes = kept
        return value

    def e_BoolOp(self, e: ast.BoolOp) -> str:
        result = self._temporary()
        after = self._new_block()
        for i, one in enumerate(e.values):
            value = self.value(one)
            self._emit("move", value, dst=result)
            if i < len(e.values) - 1:
                following = self._new_block()
                targets = (following, after) if isinstance(e.op, ast.And) else (after, following)
                self._branch(self._truth(result), *targets)
                self.block = following
        self._jump(after)
        self.block = after
        return result

    def e_IfExp(self, e: ast.IfExp) -> str:
        result = self._temporary()
        yes, no, after = (self._new_block() for _ in range(3))
        self.condition(e.test, yes, no)
        for start, one in ((yes, e.body), (no, e.orelse)):
            self.block = start
            self._emit("move", self.value(one), dst=result)
            self._jump(after)
        self.block = after
        return result

    def e_BinOp(self, e: ast.BinOp) -> str:
        if isinstance(e.op, ast.Mod) and isinstance(e.left, ast.Constant) and type(e.left.value) is str:
            made = self._percent(e.left.value, e.right)
            if made is not None:
                return made
        if isinstance(e.op, ast.Mod) and isinstance(e.left, ast.BinOp) and isinstance(e.left.op, ast.Mult):
            a, b = self.value(e.left.left), self.value(e.left.right)
            return self._emit("product modulo", a, b, self.value(e.right))
        a = self.value(e.left)
        return self._emit("binary", a, self.value(e.right), extra=type(e.op).__name__)

    def e_UnaryOp(self, e: ast.UnaryOp) -> str:
        number = e.operand.value if isinstance(e.operand, ast.Constant) else None
        if isinstance(e.op, ast.USub) and type(number) in (int, float, complex):
            return self._constant(-number)  # type: ignore[operator]
        value = self.value(e.operand)
        if isinstance(e.op, ast.Not):
            value = self._truth(value)
        return self._emit("unary", value, extra=type(e.op).__name__)

    def e_Compare(self, e: ast.Compare) -> str:
        if len(e.ops) == 1:
            a = self.value(e.left)
            return self._emit("compare", a, self.value(e.comparators[0]), extra=type(e.ops[0]).__name__)
        result = self._temporary()
        after = self._new_block()
        left = self._copied(e.left)
        for i, (op, right) in enumerate(zip(e.ops, e.comparators)):
            value = self._copied(right)
            self._emit("compare", left, value, extra=type(op).__name__, dst=result)
            if i < len(e.ops) - 1:
                following = self._new_block()
                self._branch(self._truth(result), following, after)
                self.block, left = following, value
        self._jump(after)
        self.block = after
        return result

    def e_Call(self, e: ast.Call) -> str:
        if isinstance(e.func, ast.Name) and not e.args and not e.keywords and self._find(e.func.id) is None:
            if e.func.id == "super" and self._is_free("__class__"):
                return self._super()
            if e.func.id == "locals":
                return self._locals()
        if isinstance(e.func, ast.Attribute):
            text = e.func.value.value if isinstance(e.func.value, ast.Constant) else None
            made = self._braces(text, e) if type(text) is str and e.func.attr == "format" else None
            if made is not None:
                return made
            owner = self.value(e.func.value)
            if not all(isinstance(a, ast.Constant | ast.Name) for a in e.args):
                self._emit("owns", owner, extra=e.func.attr, dst=None)
            args, shape = self._arguments(e)
            self.line = e.lineno
            return self._emit("method", owner, *args, extra=(e.func.attr, shape))
        fn = self.value(e.func)
        args, shape = self._arguments(e)
        self.line = e.lineno
        return self._emit("call", fn, *args, extra=shape)

    def _arguments(self, e: ast.Call) -> tuple[list[str], Shape]:
        """The values of all arguments; from the first star on, those without a name are gathered into one."""
        stars = [isinstance(a, ast.Starred) for a in e.args]
        first = stars.index(True) if True in stars else len(stars)
        args = [self.value(a.value if isinstance(a, ast.Starred) else a) for a in e.args]
        starred = [False] * first
        if first < len(args):
            args[first:] = [self._emit("gather", *args[first:], extra=tuple(stars[first:]))]
            starred.append(True)
        for keyword in e.keywords:
            args.append(self.value(keyword.value) if keyword.arg is not None else self._mapping(keyword.value))
        return args, Shape(tuple(starred), tuple(keyword.arg for keyword in e.keywords))

    def _mapping(self, e: ast.expr) -> str:
        """A dict behind two stars: what a captured one holds is captured item by item."""
        if isinstance(e, ast.Name) and self._find(e.id) is None:
            return self._emit("known", extra=("cell" if self._is_free(e.id) else "global", e.id))
        if isinstance(e, ast.Dict) and all(isinstance(k, ast.Constant) and type(k.value) is str for k in e.keys):
            names = [k.value for k in e.keys if isinstance(k, ast.Constant)]
            return self._emit("known dict", *[self.value(v) for v in e.values], extra=tuple(names))
        return self.value(e)

    def _super(self) -> str:
        parameters = self.code.parameters.positional
        if not parameters:
            raise self.refuse("uses super() in a function without arguments")
        return self._emit("super", self._load("__class__"), self._load(parameters[0]))

    def _locals(self) -> str:
        if self.outer is not None or self.free or self.boxed:
            raise self.refuse("calls locals() in a nested function")
        return self._emit("locals", extra=sorted(self.locals))

    def e_Attribute(self, e: ast.Attribute) -> str:
        return self._emit("attr", self.value(e.value), extra=e.attr)

    def e_Subscript(self, e: ast.Subscript) -> str:
        owner = self.value(e.value)
        return self._emit("item", owner, self.value(e.slice))

    def e_Slice(self, e: ast.Slice) -> str:
        parts = [self.value(part) if part is not None else self._constant(None) for part in (e.lower, e.upper, e.step)]
        return self._emit("slice", *parts)

    # ---- displays and comprehensions

    def e_Tuple(self, e: ast.Tuple) -> str:
        if any(isinstance(one, ast.Starred) for one in e.elts):
            stars = tuple(isinstance(one, ast.Starred) for one in e.elts)
            given = [self.value(one.value if isinstance(one, ast.Starred) else one) for one in e.elts]
            gathered = self._emit("gather", *given, extra=stars)
            return self._emit("call", self._constant(tuple), gathered, extra=Shape((False,)))
        return self._emit("tuple", *[self.value(one) for one in e.elts])

    def e_List(self, e: ast.List) -> str:
        return self._display("list", "append", e.elts)

    def e_Set(self, e: ast.Set) -> str:
        made = self._display("set", "add", e.elts)
        if len(e.elts) > 2 and _is_constant_set(e):
            made = self._emit("literal set", made, extra=(_has_one_order(e), True))
        return made

    def iterable(self, e: ast.expr) -> str:
        """What a loop goes over: a set of literals as Python builds it in, and not a copy of that."""
        if not isinstance(e, ast.Set) or not _is_constant_set(e):
            return self.value(e)
        return self._emit("literal set", self._display("set", "add", e.elts), extra=(_has_one_order(e), False))

    def _display(self, what: str, put: str, items: list[ast.expr]) -> str:
        if what == "list" and not any(isinstance(one, ast.Starred) for one in items):
            return self._emit(what, *[self.value(one) for one in items])
        made = self._emit(what)
        for one in items:
            if isinstance(one, ast.Starred) and what == "set":
                self._emit("method", made, self.value(one.value), extra=("update", Shape((False,))))
            elif isinstance(one, ast.Starred):
                self._for(self.value(one.value), lambda item: self._put(put, made, item))
            else:
                self._emit(put, made, self.value(one), dst=None)
        return made

    def _put(self, word: str, made: str, item: str) -> None:
        self._emit(word, made, item, dst=None)

    def e_Dict(self, e: ast.Dict) -> str:
        made = self._emit("dict")
        for key, value in zip(e.keys, e.values):
            if key is None:
                self._emit("method", made, self.value(value), extra=("update", Shape((False,))))
            else:
                k = self.value(key)
                self._emit("put", made, k, self.value(value), dst=None)
        return made

    def e_ListComp(self, e: ast.ListComp) -> str:
        made = self._emit("list")
        self._comprehension(e.generators, lambda: self._put("append", made, self.value(e.elt)))
        return made

    def e_SetComp(self, e: ast.SetComp) -> str:
        made = self._emit("set")
        self._comprehension(e.generators, lambda: self._put("add", made, self.value(e.elt)))
        return made

    def e_DictComp(self, e: ast.DictComp) -> str:
        made = self._emit("dict")

        def put() -> None:
            key = self.value(e.key)
            self._emit("put", made, key, self.value(e.value), dst=None)

        self._comprehension(e.generators, put)
        return made

    def _for(self, iterable: str, take: Callable[[str], None], body: Callable[[], None] | None = None,
             orelse: Callable[[], None] | None = None) -> None:  # fmt: skip
        """A loop over what an iterable yields."""
        iterator = self._emit("iter", iterable)
        head, turn, other, after = (self._new_block() for _ in range(4))
        item = self._temporary()
        self._jump(head)
        self.block = head
        self._end("next", (iterator,), (turn, other), dst=item)
        self.loops.append(Loop(head, after, len(self.endings)))
        self.block = turn
        if body is not None:
            self._emit("sweep", dst=None, extra=(head, after))
        take(item)
        if body is not None:
            body()
        self.loops.pop()
        if self.block is not None:
            self._jump(head)
        self.block = other
        if orelse is not None:
            orelse()
        if self.block is not None:
            self._jump(after)
        self.block = after

    def _comprehension(self, generators: list[ast.comprehension], inner: Callable[[], None],
                       first: str | None = None) -> None:  # fmt: skip
        """Loops within loops around `inner`; names that they bind are their own."""
        generator = generators[0]
        if generator.is_async:
            raise self.refuse("uses an asynchronous comprehension")
        iterable = first if first is not None else self.iterable(generator.iter)
        own = {n.id: f"{n.id}{self._temporary()}" for n in ast.walk(generator.target) if isinstance(n, ast.Name)}

        def turn(item: str) -> None:
            self.assign(generator.target, item)
            after = self._new_block()
            for test in generator.ifs:
                following = self._new_block()
                self.condition(test, following, after)
                self.block = following
            if len(generators) > 1:
                self._comprehension(generators[1:], inner)
            else:
                inner()
            self._jump(after)
            self.block = after

        self.scopes.append(own)
        self._for(iterable, turn)
        self.scopes.pop()

    def e_GeneratorExp(self, e: ast.GeneratorExp) -> str:
        first = self._emit("iter", self.iterable(e.generators[0].iter))
        inner = type(self)(e, "<genexpr>", self.filename, self, self.free)
        return self._emit("genexpr", first, extra=inner.code)

    def e_Lambda(self, e: ast.Lambda) -> str:
        return self._nested(e, "<lambda>")

    def _nested(self, node: ast.FunctionDef | ast.Lambda, name: str) -> str:
        defaults = [self.value(d) for d in node.args.defaults]
        defaults += [self.value(d) for d in node.args.kw_defaults if d is not None]
        inner = type(self)(node, name, self.filename, self, self.free)
        if all(self._is_lasting(name) for name in inner.code.around):
            inner.code.values = tuple(sorted(inner.code.around))
        return self._emit("closure", *defaults, *(inner.code.values or ()), extra=inner.code)

    # ---- texts

    def e_JoinedStr(self, e: ast.JoinedStr) -> str:
        parts = []
        for one in e.values:
            if isinstance(one, ast.Constant):
                parts.append(self._constant(one.value))
            else:
                assert isinstance(one, ast.FormattedValue)
                value = self.value(one.value)
                parts.append(self._emit("format", value, self._spec(one.format_spec), extra=one.conversion))
        return self._emit("join", *parts)

    def _spec(self, e: ast.expr | None) -> str:
        """A format specification: mostly a text that stands in the source."""
        values = e.values if isinstance(e, ast.JoinedStr) else []
        if e is None or all(isinstance(one, ast.Constant) for one in values):
            return self._constant("".join(str(one.value) for one in values if isinstance(one, ast.Constant)))
        return self.value(e)

    def _percent(self, text: str, e: ast.expr) -> str | None:
        """`"%d of %d" % (a, b)`, where it is as simple as that."""
        parts = percent_parts(text)
        if parts is None:
            return None
        given = e.elts if isinstance(e, ast.Tuple) else [e]
        count = sum(not isinstance(part, str) for part in parts)
        if count != len(given) or any(isinstance(one, ast.Starred) for one in given):
            return None
        values = iter([self._copied(one) for one in given])
        alone = not isinstance(e, ast.Tuple)
        made = [
            self._constant(part)
            if isinstance(part, str)
            else self._emit("percent", next(values), extra=(part[0], part[1], alone))
            for part in parts
        ]
        return self._emit("join", *made)

    def _braces(self, text: str, e: ast.Call) -> str | None:
        """`"{} of {}".format(a, b)`, where it is as simple as that."""
        parts = brace_parts(text)
        if parts is None or any(isinstance(one, ast.Starred) for one in e.args):
            return None
        given: dict[int | str | None, ast.expr] = dict(enumerate(e.args))
        given.update({keyword.arg: keyword.value for keyword in e.keywords})
        if None in given or any(not isinstance(part, str) and part[0] not in given for part in parts):
            return None
        values = {key: self._copied(one) for key, one in given.items()}
        made = []
        for part in parts:
            if isinstance(part, str):
                made.append(self._constant(part))
            else:
                made.append(self._emit("format", values[part[0]], self._constant(part[1]), extra=part[2]))
        return self._emit("join", *made)

    def e_Starred(self, e: ast.Starred) -> str:
        raise self.refuse("uses a star in an unusual place")

    def e_Yield(self, e: ast.Yield) -> str:
        raise self.refuse("uses the value of a yield")

    def _is_harmless(self, args: list[ast.expr]) -> bool:
        """Whether the arguments of an exception can be left out: to make them does nothing, and cannot fail."""
        simple = (ast.Constant, ast.Name, ast.JoinedStr, ast.FormattedValue, ast.Load)
        formatted = [n for a in args for n in inside(a) if isinstance(n, ast.FormattedValue)]
        return all(isinstance(n, simple) for a in args for n in ast.walk(a)) and not any(
            n.format_spec is not None for n in formatted
        )
