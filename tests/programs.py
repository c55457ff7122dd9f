"""Draws in, the source text of a random function out: expressions, branches, loops, returns, structures.

Expressions are drawn by kind (int, float or a condition), so that most programs compute something on most
elements; those that divide by zero or leave 64 bits are welcome, because the loop says what happens then.
"""

from __future__ import annotations

import itertools
import linecache
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

_numbers = itertools.count()
INT_CONSTANTS = ("0", "1", "2", "3", "-1", "7", "10", "-5", "255", "2**31", "2**53 + 1", "2**62", "-(2**63)")
FLOAT_CONSTANTS = ("0.0", "0.5", "1.0", "-1.5", "2.5", "-0.0", "1e-3", "1e16", "1e300", "3.0")
INT_FORMS = (
    "({i} + {i})", "({i} - {i})", "({i} * {i})", "({i} // {i})", "({i} % {i})", "(-{i})", "abs({i})",
    "({i} & {i})", "({i} | {i})", "({i} ^ {i})", "(~{i})", "({i} << ({i} & 7))", "({i} >> ({i} & 15))",
    "min({i}, {i})", "max({i}, {i})", "({i} if {c} else {i})", "({i} ** 2)", "divmod({i}, {i})[1]",
    "int({c})", "({c} + {i})", "int({f})", "round({f})", "math.floor({f})", "sum(({i}, {i}))",
    "math.gcd({i}, {i})", "[{i}, {i}, {i}][{i} % 3]", "({i} and {i})", "({i} or {i})",
    "(lambda v: v + {i})({i})", "(({i}) + (t := {i}) - t)",
)  # fmt: skip
FLOAT_FORMS = (
    "({f} + {f})", "({f} - {f})", "({f} * {f})", "({f} / {f})", "({f} // {f})", "({f} % {f})", "(-{f})",
    "abs({f})", "float({i})", "({i} / {i})", "({i} + {f})", "({f} * {i})", "min({f}, {f})", "max({f}, {i})",
    "({f} if {c} else {f})", "({f} ** 2)", "math.sqrt(abs({f}))", "math.copysign({f}, {f})",
    "math.fabs({f})", "round({f}, 2)", "sum([{f}, {i}])", "sorted([{f}, {f}])[0]", "math.fmod({f}, {f})",
    "({f} or {f})", "math.trunc({f}) * 0.5",
)  # fmt: skip
CONDITIONS = (
    "{i} < {i}", "{f} > {f}", "{i} == {i}", "{f} <= {f}", "{f} != {f}", "{i} >= {f}", "{i} < {i} <= {i}",
    "({c} and {c})", "({c} or {c})", "(not {c})", "{i} in (0, 1, 2)", "math.isnan({f})",
    "isinstance({i}, int)", "{i} % 2 == 0", "{f}", "{i}", "any([{c}, {c}])", "all(({c}, {c}))",
    "({i} > 0) == ({f} > 0)",
)  # fmt: skip
# Smooth and bounded, so that a difference in the last bit stays one.
SMOOTH_LEAVES = (
    "math.sin({x})", "math.cos({x})", "math.tanh({x})", "math.atan({x})", "math.exp(-abs({x}))",
    "math.log1p(abs({x}))", "math.erf({x})", "math.atan2({x}, {x})", "math.asinh({x})", "math.cbrt({x})",
    "math.log(abs({x}) + 1)", "math.pow(abs({x}), 0.25)", "abs({x}) ** 0.125",
    "math.sqrt(abs(math.sin({x})))", "math.hypot(math.sin({x}), 1)",
)  # fmt: skip
SMOOTH_FORMS = (
    "({s} + {s})", "({s} - {s})", "({s} * {s})", "(-{s})", "({s} * 0.5)", "min({s}, {s})", "max({s}, 0.25)",
    "abs({s})", "({s} if {x} > 0 else {s})", "({s} if {x} == {x} else 0.5)",
)  # fmt: skip


@dataclass
class Writer:
    """One program being drawn."""

    draw: Callable[[Any], Any]
    ints: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    captured: dict[str, tuple[str, ...]] = field(default_factory=lambda: {"i": (), "f": ()})
    fresh: itertools.count = field(default_factory=itertools.count)

    def choose(self, options):
        return self.draw(st.sampled_from(tuple(options)))

    def expression(self, kind: str, depth: int) -> str:
        if kind == "c":
            return self.fill(self.choose(CONDITIONS), depth)
        names, constants, forms = (
            (self.ints, INT_CONSTANTS, INT_FORMS) if kind == "i" else (self.floats, FLOAT_CONSTANTS, FLOAT_FORMS)
        )
        names = [*names, *self.captured[kind]]
        if depth <= 0 or self.draw(st.integers(0, 4)) == 0:
            return self.choose([*names * (3 * len(constants) // len(names) + 1), *constants])
        return self.fill(self.choose(forms), depth)

    def fill(self, form: str, depth: int) -> str:
        """Every hole of the form filled with an expression of its kind."""
        parts, at = [], 0
        while (open_at := form.find("{", at)) >= 0:
            parts += [form[at:open_at], self.expression(form[open_at + 1], depth - 1)]
            at = open_at + 3
        return "".join(parts) + form[at:]

    def block(self, indent: int, depth: int) -> list[str]:
        lines = []
        for _ in range(self.draw(st.integers(1, 3))):
            lines += self.statement(indent, depth)
        return lines

    def statement(self, indent: int, depth: int) -> list[str]:
        pad = "    " * indent
        kind = self.choose(("assign", "assign", "augment", "if", "if", "for", "while", "return", "try", "list"))
        if depth <= 0 and kind in ("if", "for", "while", "try"):
            kind = "assign"
        if kind == "augment":
            operator = self.choose(("+=", "-=", "*=", "//=", "%="))
            return [f"{pad}{self.choose(self.ints)} {operator} {self.expression('i', 1)}"]
        if kind == "if":
            return self.branches(indent, depth)
        if kind == "for":
            return self.for_loop(indent, depth)
        if kind == "while":
            return self.while_loop(indent, depth)
        if kind == "return" and indent > 1:
            return [f"{pad}return {self.expression(self.choose('if'), 2)}"]
        if kind == "try":
            caught = self.choose(("ZeroDivisionError", "(ZeroDivisionError, OverflowError, ValueError)"))
            body, rescue = self.block(indent + 1, depth - 1), self.block(indent + 1, 0)
            return [f"{pad}try:", *body, f"{pad}except {caught}:", *rescue]
        if kind == "list":
            return self.local_list(indent)
        return [self.assignment(indent)]

    def assignment(self, indent: int) -> str:
        kind = self.choose("if")
        names = self.ints if kind == "i" else self.floats
        value = self.expression(kind, 3)
        if indent > 1:
            return f"{'    ' * indent}{self.choose(names)} = {value}"
        name = f"v{next(self.fresh)}"
        names.append(name)
        return f"{'    ' * indent}{name} = {value}"

    def branches(self, indent: int, depth: int) -> list[str]:
        pad = "    " * indent
        lines = [f"{pad}if {self.expression('c', 2)}:", *self.block(indent + 1, depth - 1)]
        if self.draw(st.booleans()):
            lines += [f"{pad}elif {self.expression('c', 2)}:", *self.block(indent + 1, depth - 1)]
        if self.draw(st.booleans()):
            lines += [f"{pad}else:", *self.block(indent + 1, depth - 1)]
        return lines

    def for_loop(self, indent: int, depth: int) -> list[str]:
        pad, name = "    " * indent, f"k{next(self.fresh)}"
        lines = [f"{pad}for {name} in range({self.choose((1, 2, 3))}):"]
        self.ints.append(name)
        lines += self.block(indent + 1, 0)
        if self.draw(st.booleans()):
            lines += [
                f"{pad}    if {self.expression('c', 1)}:",
                f"{pad}        {self.choose(('break', 'continue'))}",
            ]
            lines += self.block(indent + 1, 0)
        self.ints.remove(name)
        if self.draw(st.booleans()):
            lines += [f"{pad}else:", *self.block(indent + 1, 0)]
        return lines

    def while_loop(self, indent: int, depth: int) -> list[str]:
        pad, name = "    " * indent, f"n{next(self.fresh)}"
        head = [
            f"{pad}{name} = 0",
            f"{pad}while {name} < 3 and {self.expression('c', 1)}:",
            f"{pad}    {name} += 1",
        ]
        return [*head, *self.block(indent + 1, 0)]

    def local_list(self, indent: int) -> list[str]:
        pad, name = "    " * indent, f"l{next(self.fresh)}"
        lines = [
            f"{pad}{name} = [{self.expression('i', 1)}, {self.expression('i', 1)}]",
            f"{pad}{name}.append({self.expression('i', 1)})",
            f"{pad}{self.choose(self.ints)} = sum({name}) + {name}[{self.choose((0, 1, -1))}]",
        ]
        return lines

    def result(self) -> str:
        form = self.choose(("{i}", "{f}", "{c}", "{i}, {f}", "[{i}, {i}]", "dict(a={f}, b={c})", "{i} if {c} else {f}"))
        return self.fill(form, 3)


@st.composite
def sources(draw, kinds: str, captures: bool = False) -> str:
    """A function of two columns x and y, each `i` or `f` in `kinds`; with captures it reads those of `Captures`."""
    writer = Writer(draw)
    if captures:
        writer.captured = {"i": ("KI", "LI[1]", "OBJ.i"), "f": ("KF", "LF[0]", "OBJ.f", "ARR[1]")}
    for name, kind in zip("xy", kinds):
        (writer.ints if kind == "i" else writer.floats).append(name)
    head = ["def program(x, y):"]
    if not writer.ints:
        head.append("    a = 3")
        writer.ints.append("a")
    if not writer.floats:
        head.append("    b = x * 0.5")
        writer.floats.append("b")
    for _ in range(draw(st.integers(0, 3))):
        head += writer.statement(1, 2)
    return "\n".join([*head, f"    return {writer.result()}"]) + "\n"


@st.composite
def smooth_sources(draw) -> str:
    """A function of two columns that goes through the functions of math."""

    def write(depth: int) -> str:
        leaf = depth <= 0 or draw(st.integers(0, 2)) == 0
        form = draw(st.sampled_from(SMOOTH_LEAVES if leaf else SMOOTH_FORMS))
        while "{s}" in form:
            form = form.replace("{s}", write(depth - 1), 1)
        while "{x}" in form:
            form = form.replace("{x}", draw(st.sampled_from(("x", "y"))), 1)
        return form

    lines = ["def program(x, y):", f"    a = {write(2)}", f"    if {draw(st.sampled_from(('x', 'y')))} > 1:"]
    lines += [f"        a = a + {write(1)}", f"    return a * {write(3)}, a"]
    return "\n".join(lines) + "\n"


@dataclass
class Captures:
    """What a program may read besides its columns, to be changed between two calls."""

    i: Any = 0
    f: Any = 0.0

    def change(self, space: dict[str, Any], ints: list[Any], floats: list[Any]) -> None:
        """Six numbers go where the program finds them: globals, items of lists and of an array, attributes."""
        space["KI"], space["KF"], self.i, self.f = ints[0], floats[0], ints[1], floats[1]
        space.setdefault("LI", [0, 0])[1] = ints[2]
        space.setdefault("LF", [0.0])[0] = floats[2]
        space.setdefault("ARR", np.zeros(2))[1] = floats[0]
        space["OBJ"] = self


def compile_program(source: str) -> Callable[..., Any]:
    """The function, with its source where tracebacks look for it."""
    name = f"<program {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {"math": math}
    exec(compile(source, name, "exec"), space)
    return space["program"]


def forget(f: Callable[..., Any]) -> None:
    linecache.cache.pop(f.__code__.co_filename, None)
