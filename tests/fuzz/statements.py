"""Writes statements and whole functions: assignments of every sort, branches, loops, try, match, nested functions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from fuzz.kinds import ELEMENTS, parsed, unify
from fuzz.writer import Writer

LOCALS = (
    ("int",) * 8 + ("float",) * 6 + ("list[int]",) * 5 + ("list[float]",) * 3 + ("str",) * 2 + ("bool",) * 2
    + ("num", "opt[int]", "complex", "(int,int)", "(int,float)", "tuple[int]", "list[str]", "list[(int,int)]")
    + ("list[bool]", "list[list[int]]", "list[num]")
)  # fmt: skip
OF_FAMILY = {
    "dicts": ("dict[int,int]", "dict[str,int]", "dict[int,float]", "counter[int]", "counter[str]",
              "defaultdict[int,int]", "defaultdict[int,list[int]]", "dict[(int,int),int]", "defaultdict[str,float]"),
    "sets": ("set[int]", "set[str]", "set[float]", "set[(int,int)]"),
    "deques": ("deque[int]", "deque[float]"),
    "objects": ("point", "pair", "money", "box", "color"),
    "numpy": ("npi", "npf", "npf", "npb", "npc"),
}  # fmt: skip
ERRORS = (
    "ZeroDivisionError", "IndexError", "KeyError", "ValueError", "(ZeroDivisionError, OverflowError)", "Exception",
    "ArithmeticError", "LookupError", "TypeError", "lib.TooLarge", "StopIteration", "AttributeError", "",
)  # fmt: skip
RAISED = ("ValueError('no')", "KeyError(1)", "lib.TooLarge", "ZeroDivisionError()", "IndexError", "RuntimeError('odd')")
DEPTH = 3
"""Forms inside each other, in most expressions."""
Lines = list[str]


class Author(Writer):
    """A writer of statements; every method gives lines without indentation of their own."""

    # ---- blocks

    def block(self, depth: int, least: int = 1, most: int = 3) -> Lines:
        """Some statements; what they set is not known to be set behind them."""
        before = dict(self.scope)
        lines = [line for _ in range(self.dice.randint(least, most)) for line in self.statement(depth)]
        self.scope = {name: kind for name, kind in before.items() if name in self.scope}
        return lines

    def statement(self, depth: int) -> Lines:
        simple: list[tuple[int, Callable[[int], Lines]]] = [
            (9, self.new_variable), (6, self.assign), (9, self.change), (3, self.augment), (2, self.unpack),
            (1, self.delete), (1, self.assertion), (1, self.chained),
        ]  # fmt: skip
        compound: list[tuple[int, Callable[[int], Lines]]] = [
            (8, self.branch), (7, self.for_loop), (3, self.while_loop), (5, self.attempt), (2, self.match),
            (3, self.nested_function), (2, self.generator), (1, self.suppressed), (1, self.raised), (1, self.leave),
        ]  # fmt: skip
        options = simple + compound if depth > 0 else simple
        return self.dice.choices([make for _, make in options], [weight for weight, _ in options])[0](depth)

    # ---- simple statements

    def local_kind(self) -> str:
        kinds = list(LOCALS)
        for family, more in OF_FAMILY.items():
            if family in self.families:
                kinds += more * 2
        return self.dice.choice(kinds)

    def value(self, kind: str) -> str:
        """An expression; in a loop, one that stays small however often it is assigned."""
        text = self.expression(kind, self.dice.choice((1, 2, DEPTH)))
        if self.loops and kind == "int" and any(sign in text for sign in ("*", "<<", "prod", "factorial", "pow")):
            return f"({text}) % {self.dice.choice((7, 97, 1009, 2**31 - 1))}"
        if self.loops > 1 and parsed(kind)[0] in ("list", "str", "tuple"):
            return f"({text})[:{self.dice.randint(2, 6)}]"
        return text

    def new_variable(self, depth: int) -> Lines:
        kind = self.local_kind()
        text = self.value(kind)
        name = self.fresh("a")
        lines = [f"{name} = {text}"]
        if self.chance(0.06):
            lines = [f"{name}: object = {text}"]
        if self.chance(0.06):
            other = self.fresh("a")
            lines = [f"{name} = {other} = {text}"]
            self.scope[other] = kind
        self.scope[name] = kind
        return lines

    def own(self, *kinds: str) -> list[str]:
        """Variables that may be set anew."""
        return [n for n, k in self.scope.items() if (not kinds or k in kinds) and n[0] not in "ijxyzh"]

    def assign(self, depth: int) -> Lines:
        names = self.own()
        if not names:
            return self.new_variable(depth)
        name = self.dice.choice(names)
        kind = self.scope[name]
        if kind in ("int", "float") and self.chance(0.08):
            text = self.value("float" if kind == "int" else "int")
            self.scope[name] = "num"
            return [f"{name} = {text}"]
        return [f"{name} = {self.value(kind)}"]

    def change(self, depth: int) -> Lines:
        """A statement of the grammar about one of the variables."""
        names = [n for n in self.own() if parsed(self.scope[n])[0] not in ("int", "float", "bool", "num", "opt", "()")]
        if not names:
            return self.new_variable(depth)
        name = self.dice.choice(names)
        form = self.form(self.scope[name], statement=True)
        if form is None:
            return self.assign(depth)
        bound = unify(form.kind, self.scope[name], {})
        assert bound is not None
        line = self.fill(form.text, bound, 2, name)
        if self.chance(0.25):
            return ["try:", f"    {line}", f"except {self.dice.choice(ERRORS[:-1])}:", *indented(self.block(0, 1, 1))]
        return [line]

    def augment(self, depth: int) -> Lines:
        names = self.own("int", "float", "num")
        if not names:
            return self.new_variable(depth)
        name = self.dice.choice(names)
        kind = self.scope[name]
        signs = ("+=", "-=", "//=", "%=", "^=", "|=", "&=", ">>=") if kind == "int" else ("+=", "-=", "*=", "/=", "%=")
        sign = self.dice.choice(signs + ("+=", "+="))
        if sign == ">>=":
            return [f"{name} >>= {self.expression('small', 1)}"]
        other = self.expression("int" if kind == "int" else self.dice.choice(("float", "int")), 2)
        return [f"{name} {sign} {other}"]

    def unpack(self, depth: int) -> Lines:
        a, b, c = (self.fresh("a") for _ in range(3))
        kinds = [self.dice.choice(ELEMENTS) for _ in range(3)]
        way = self.dice.randrange(5)
        if way == 0:
            lines = [f"{a}, {b} = {self.value(kinds[0])}, {self.value(kinds[1])}"]
            self.scope |= {a: kinds[0], b: kinds[1]}
        elif way == 1:
            kind = kinds[0]
            lines = [f"{a}, *{b} = {self.expression(f'list[{kind}]', 2)} + [{self.leaf(kind)}]"]
            self.scope |= {a: kind, b: f"list[{kind}]"}
        elif way == 2:
            kind = kinds[0]
            lines = [f"*{a}, {b} = ({self.leaf(kind)}, {self.leaf(kind)}, {self.leaf(kind)})"]
            self.scope |= {a: f"list[{kind}]", b: kind}
        elif way == 3:
            lines = [f"({a}, {b}), {c} = {self.expression(f'({kinds[0]},{kinds[1]})', 2)}, {self.value(kinds[2])}"]
            self.scope |= {a: kinds[0], b: kinds[1], c: kinds[2]}
        else:
            names = self.own("int")
            if len(names) < 2:
                return self.new_variable(depth)
            one, two = self.dice.sample(names, 2)
            lines = [f"{one}, {two} = {two}, {self.value('int')}"]
        return lines

    def delete(self, depth: int) -> Lines:
        names = self.own()
        if len(names) < 3 or self.loops:
            return self.new_variable(depth)
        name = self.dice.choice(names)
        del self.scope[name]
        return [f"del {name}"]

    def assertion(self, depth: int) -> Lines:
        if self.chance(0.8):
            return self.new_variable(depth)
        return [f"assert {self.expression('bool', 1)} or {self.expression('bool', 1)}, 'wrong'"]

    def chained(self, depth: int) -> Lines:
        """A walrus in a condition, used behind it."""
        name = self.fresh("a")
        kind = self.dice.choice(("int", "float", "list[int]", "str"))
        line = f"if ({name} := {self.value(kind)}):"
        self.scope[name] = kind
        return [line, *indented(self.block(0, 1, 2))]

    # ---- compound statements

    def condition(self) -> str:
        kind = self.dice.choice(("bool",) * 8 + ("int", "float", "list[int]", "str", "opt[int]"))
        return self.expression(kind, 2)

    def branch(self, depth: int) -> Lines:
        lines = [f"if {self.condition()}:", *indented(self.block(depth - 1))]
        if self.chance(0.3):
            lines += [f"elif {self.condition()}:", *indented(self.block(depth - 1))]
        if self.chance(0.5):
            lines += ["else:", *indented(self.block(depth - 1))]
        if self.chance(0.2):  # the same variable on both ways, of one kind or of two
            name = self.fresh("a")
            kinds = self.dice.choice((("int", "int"), ("int", "float"), ("float", "float"), ("str", "str")))
            lines = [f"if {self.condition()}:", f"    {name} = {self.value(kinds[0])}", "else:",
                     f"    {name} = {self.value(kinds[1])}"]  # fmt: skip
            self.scope[name] = kinds[0] if kinds[0] == kinds[1] else "num"
        return lines

    @contextlib.contextmanager
    def inside_a_loop(self, **more: str) -> Iterator[None]:
        before = dict(self.scope)
        self.loops += 1
        self.scope |= more
        yield
        self.loops -= 1
        self.scope = {name: kind for name, kind in before.items() if name in self.scope}

    def for_loop(self, depth: int) -> Lines:
        head, given = self.iteration()
        with self.inside_a_loop(**given):
            lines = [head, *indented(self.block(depth - 1, 1, 2))]
            if self.chance(0.3):
                end = self.dice.choice(("break", "continue"))
                lines += indented([f"if {self.condition()}:", f"    {end}", *self.block(0, 1, 1)])
        if self.chance(0.15):
            lines += ["else:", *indented(self.block(0, 1, 1))]
        if self.chance(0.1):
            self.scope |= {name: kind for name, kind in given.items() if self.chance(0.5)}  # may not be set
        return lines

    def iteration(self) -> tuple[str, dict[str, str]]:
        """The head of a for loop, and what it sets."""
        i, v, k = self.fresh("i"), self.fresh("v"), self.dice.choice(ELEMENTS)
        way = self.dice.randrange(10)
        small = self.expression("small", 1)
        if way < 3:
            return f"for {i} in range({small}):", {i: "int"}
        if way == 3:
            return f"for {i} in range({self.expression('offset', 1)}, {small}, {self.expression('step', 1)}):", {
                i: "int"
            }
        items = f"{self.expression(f'list[{k}]', 2)}[:6]"
        if way < 6:
            return f"for {v} in {items}:", {v: k}
        if way == 6:
            return f"for {i}, {v} in enumerate({items}):", {i: "int", v: k}
        if way == 7:
            return f"for {v}, {i} in zip({items}, {self.expression('list[int]', 1)}):", {v: k, i: "int"}
        if way == 8 and "dicts" in self.families:
            return f"for {i}, {v} in {self.expression(f'dict[int,{k}]', 1)}.items():", {i: "int", v: k}
        if way == 8 and "texts" in self.families:
            return f"for {v} in {self.expression('str', 1)}[:6]:", {v: "str"}
        return f"for {v} in reversed({items}):", {v: k}

    def while_loop(self, depth: int) -> Lines:
        name = self.fresh("n")
        lines = [f"{name} = {self.dice.choice((0, 1))}"]
        test = f"{name} < {self.dice.randint(2, 5)}"
        if self.chance(0.5):
            test += f" and {self.expression('bool', 1)}"
        with self.inside_a_loop(**{"i" + name: "int"}):
            del self.scope["i" + name]
            body = [f"{name} += 1", *self.block(depth - 1, 1, 2)]
            if self.chance(0.25):
                body += [f"if {self.condition()}:", f"    {self.dice.choice(('break', 'continue'))}"]
        lines += [f"while {test}:", *indented(body)]
        if self.chance(0.15):
            lines += ["else:", *indented(self.block(0, 1, 1))]
        return lines

    def attempt(self, depth: int) -> Lines:
        lines = ["try:", *indented(self.block(depth - 1, 1, 3))]
        if self.chance(0.25):
            lines += indented([f"if {self.condition()}:", f"    raise {self.dice.choice(RAISED)}"])
        handlers = 0
        for error in self.dice.sample(ERRORS[:-1], self.dice.choice((0, 1, 1, 1, 2))):
            caught = f"except {error} as e:" if self.chance(0.2) else f"except {error}:"
            lines += [caught, *indented(self.block(0, 1, 2))]
            if self.chance(0.05):
                lines += indented(["raise"])
            handlers += 1
        if self.chance(0.06):
            lines += ["except:", *indented(self.block(0, 1, 1))]
            handlers += 1
        if handlers and self.chance(0.25):
            lines += ["else:", *indented(self.block(0, 1, 1))]
        if not handlers or self.chance(0.25):
            lines += ["finally:", *indented(self.block(0, 1, 2))]
        return lines

    def suppressed(self, depth: int) -> Lines:
        return [f"with contextlib.suppress({self.dice.choice(ERRORS[:4])}):", *indented(self.block(depth - 1, 1, 2))]

    def raised(self, depth: int) -> Lines:
        line = f"raise {self.dice.choice(RAISED)}"
        if self.chance(0.2):
            line += " from None"
        return [f"if {self.expression('bool', 1)} and {self.expression('bool', 1)}:", f"    {line}"]

    def leave(self, depth: int) -> Lines:
        return [f"if {self.condition()} and {self.expression('bool', 1)}:", f"    return {self.result()}"]

    def match(self, depth: int) -> Lines:
        name = self.fresh("m")
        way = self.dice.randrange(4)
        if way == 0:
            lines = [f"match {self.expression('int', 2)} % 5:"]
            cases = [("case 0:", {}), ("case 1 | 2:", {}), (f"case {name} if {name} > 3:", {name: "int"})]
        elif way == 1:
            lines = [f"match {self.expression('(int,int)', 2)}:"]
            cases = [
                ("case (0, _):", {}),
                (f"case ({name}, 1 | 2):", {name: "int"}),
                (f"case (_, {name}):", {name: "int"}),
            ]
        elif way == 2:
            lines = [f"match {self.expression('list[int]', 2)}:"]
            cases = [("case []:", {}), (f"case [{name}]:", {name: "int"}), (f"case [_, *{name}]:", {name: "list[int]"})]
        else:
            lines = [f"match {self.expression('num', 2)}:"]
            cases = [
                ("case bool():", {}),
                (f"case int({name}):", {name: "int"}),
                (f"case float() as {name}:", {name: "float"}),
            ]
        before = dict(self.scope)
        for head, given in cases:
            self.scope = {**before, **given}
            lines += indented([head, *indented(self.block(0, 1, 2))])
            self.scope = {n: k for n, k in before.items() if n in self.scope}
        if self.chance(0.5):
            lines += indented(["case _:", *indented(self.block(0, 1, 1))])
        return lines

    # ---- functions inside

    def parameters(self) -> tuple[str, dict[str, str], Callable[[], str]]:
        """The parameters of a function, their kinds, and how arguments for them are written."""
        names = [self.fresh("p") for _ in range(self.dice.randint(1, 3))]
        kinds = {name: self.dice.choice(("int", "int", "float", "list[int]", "bool", "num")) for name in names}
        defaults = {n: self.leaf(k) for n, k in kinds.items() if k in ("int", "float") and self.chance(0.3)}
        plain = [n for n in names if n not in defaults]
        order = plain + [n for n in names if n in defaults]
        only = order[-1] if len(order) > 1 and self.chance(0.2) else None
        parts = []
        for name in order:
            if name == only:
                parts.append("*")
            parts.append(f"{name}={defaults[name]}" if name in defaults else name)
        rest = self.fresh("r") if only is None and not defaults and self.chance(0.15) else None
        if rest is not None:
            parts.append(f"*{rest}")

        def arguments() -> str:
            given, named = [], False
            for name in order:
                if name in defaults and self.chance(0.5):
                    named = True
                    continue
                named = named or name == only or self.chance(0.1)
                text = self.expression(kinds[name], 1)
                given.append(f"{name}={text}" if named else text)
            if rest is not None and not named:
                given += [self.expression("int", 1) for _ in range(self.dice.randrange(3))]
            return ", ".join(given)

        return ", ".join(parts), kinds | ({rest: "tuple[int]"} if rest is not None else {}), arguments

    def nested_function(self, depth: int) -> Lines:
        """A function inside, which may read and set variables around it; then calls of it."""
        name = self.fresh("h")
        text, kinds, arguments = self.parameters()
        result = self.dice.choice(("int", "int", "float", "list[int]", "num", "(int,int)", "opt[int]"))
        before, loops = dict(self.scope), self.loops
        outer = [n for n in self.own("int", "float") if n[0] == "a"]
        shared = self.dice.choice(outer) if outer and self.chance(0.25) else None
        self.scope = {n: k for n, k in before.items() if self.chance(0.6) or n == shared} | kinds
        hidden = {n for n in self.scope if n in before and n != shared and n[0] == "a"}
        body = [f"nonlocal {shared}", f"{shared} += {self.leaf('int')}"] if shared is not None else []
        body += self.inner_block(hidden, depth)
        body.append(f"return {self.expression(result, 2)}")
        self.scope, self.loops = before, loops
        lines = [f"def {name}({text}):", *indented(body)]
        for _ in range(self.dice.randint(1, 2)):
            target = self.fresh("a")
            lines.append(f"{target} = {name}({arguments()})")
            self.scope[target] = result
        return lines

    def inner_block(self, hidden: set[str], depth: int) -> Lines:
        """Statements that set no variable of the function around, which would make it a local one."""
        kinds = {n: self.scope[n] for n in hidden}
        renamed = {f"x_{n}": n for n in kinds}
        for own, n in renamed.items():
            del self.scope[n]
            self.scope[own] = kinds[n]
        lines = self.block(min(depth - 1, 1), 0, 2)
        text = "\n".join(lines)
        for own, n in renamed.items():
            text = text.replace(own, n)
            if own in self.scope:
                del self.scope[own]
                self.scope[n] = kinds[n]
        return text.split("\n") if text else []

    def generator(self, depth: int) -> Lines:
        """A generator inside, and something that consumes it."""
        name, kind = self.fresh("h"), self.dice.choice(("int", "int", "float", "(int,int)"))
        before, loops = dict(self.scope), self.loops
        p, i = self.fresh("p"), self.fresh("i")
        self.scope |= {p: "int", i: "int"}
        head = self.dice.choice((f"for {i} in range(abs({p}) % 5):", f"for {i} in ({p}, 2, 0):"))
        body = [head, f"    yield {self.expression(kind, 2)}"]
        if self.chance(0.3):
            body = [
                head,
                f"    if {self.condition()}:",
                f"        {self.dice.choice(('return', 'continue'))}",
                *body[1:],
            ]
        if self.chance(0.25):
            del self.scope[i]
            body.append(f"yield {self.expression(kind, 1)}")
        self.scope, self.loops = before, loops
        target, v = self.fresh("a"), self.fresh("v")
        call = f"{name}({self.expression('int', 1)})"
        lines = [f"def {name}({p}):", *indented(body)]
        way = self.dice.randrange(4)
        if way == 0:
            lines.append(f"{target} = list({call})")
            self.scope[target] = f"list[{kind}]"
        elif way == 1:
            lines.append(f"{target} = next({call}, {self.leaf(kind)})")
            self.scope[target] = kind
        elif way == 2:
            lines.append(f"{target} = [{v} for {v} in {call} if {v}]")
            self.scope[target] = f"list[{kind}]"
        else:
            with self.inside_a_loop(**{v: kind}):
                lines += [f"for {v} in {call}:", *indented(self.block(0, 1, 2))]
        return lines

    # ---- the whole

    def observed(self, name: str) -> str:
        """What a result shows of a variable."""
        head = parsed(self.scope[name])[0]
        if head in ("set", "deque", "tuple"):
            return f"list({name})"
        if head in ("counter", "defaultdict"):
            return f"list({name}.items())"
        shown = {"point": "({0}.x, {0}.y)", "money": "{0}.amount", "box": "{0}.items", "color": "{0}.value"}
        return shown.get(head, "{0}").format(name)

    def result(self) -> str:
        names = [n for n in self.scope if n[0] == "a"]
        shown = [self.observed(n) for n in self.dice.sample(names, min(len(names), self.dice.choice((0, 1, 2, 2, 3))))]
        if not shown or self.chance(0.4):
            shown.append(self.expression(self.local_result(), DEPTH))
        if len(shown) == 1:
            return shown[0]
        return f"[{shown[0]}, {shown[0]}]" if self.chance(0.03) else f"({', '.join(shown)})"

    def local_result(self) -> str:
        kinds = ("int", "float", "bool", "list[int]", "str", "num", "list[float]", "(int,float)", "opt[int]", "complex")
        return self.dice.choice(kinds + (("npf", "npi", "npb") if "numpy" in self.families else ()))


def indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]
