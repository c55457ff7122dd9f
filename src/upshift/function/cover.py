"""A function in; a function out that looks the same everywhere, and whose code can be exchanged.

Its code is one of three: the plain function's own, which costs nothing; the plain function with a look at every so many
calls; or machine code, where the arguments are of a kind that there is machine code for. Nothing stands in a closure or
in the user's globals: what the code needs are its constants.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..gears.calls import Argument, ArrayOf, Call, Result

INNER = "_upshift"
"""What the names begin with that the code uses besides the function's arguments, or that with more underscores."""


@dataclass(frozen=True, slots=True)
class Fast:
    """Machine code for one kind of arguments, and what is called where it raises."""

    kind: Sequence[Argument]
    call: Call
    left: Callable[..., Any]
    looks_at_gaps: bool = False
    """Whether arrays with and without gaps are told apart before the call."""


def cover_of(f: types.FunctionType) -> types.FunctionType:
    """A function with the same code, names and defaults."""
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = None if f.__kwdefaults__ is None else dict(f.__kwdefaults__)
    functools.update_wrapper(made, f)
    return made


def is_variadic(f: types.FunctionType) -> bool:
    """Whether a function takes any number of arguments."""
    return bool(f.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))


def names_of(f: types.FunctionType) -> tuple[str, ...]:
    """Of a function's arguments, as they are given to machine code: positional ones, then those by keyword only."""
    code = f.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def watching(f: types.FunctionType, look: Callable[..., Any], pause: int) -> types.CodeType:
    """Code that calls the function, and `look` instead after every `pause` calls."""
    writer = _Writer(f)
    body = [f"return {writer.named(f)}({writer.passed})"]
    return writer.code(body, look, _ticks(pause))


def straight(f: types.FunctionType, fast: Fast) -> types.FunctionType:
    """The function by machine code where its arguments are of that kind, else plainly, and no looks."""
    writer = _Writer(f)
    code = writer.code(writer.branch(fast), f, itertools.repeat(True))
    made = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def shifting(f: types.FunctionType, look: Callable[..., Any], pause: int, fast: Sequence[Fast]) -> types.CodeType:
    """Code that calls machine code for arguments of some kinds; all others, and one call after every pause, are looked
    at."""
    writer = _Writer(f)
    body: list[str] = []
    for one in fast:
        body += writer.branch(one)
    return writer.code(body, look, _ticks(pause))


@functools.lru_cache(maxsize=64)
def _pattern(pause: int) -> tuple[bool, ...]:
    return (True,) * pause + (False,)


def _ticks(pause: int) -> Iterator[bool]:
    """False after every so many calls; a C iterator, which costs next to nothing and knows no threads."""
    return itertools.cycle(_pattern(pause))


class _Writer:
    """Source with names for objects, which become constants of its code."""

    def __init__(self, f: types.FunctionType) -> None:
        self.f = f
        self.inner = INNER
        while any(name.startswith(self.inner) for name in names_of(f)):
            self.inner += "_"
        self.objects: dict[str, Any] = {}
        code = f.__code__
        names = list(code.co_varnames)
        own, only = names[: code.co_argcount], names_of(f)[code.co_argcount :]
        rest = iter(names[len(own) + len(only) :])
        star = f"*{next(rest)}" if code.co_flags & inspect.CO_VARARGS else ""
        double = f"**{next(rest)}" if code.co_flags & inspect.CO_VARKEYWORDS else ""
        first = own[: code.co_posonlyargcount]
        slash = [*first, "/"] if first else []
        bare = ["*"] if only and not star else []
        self.given = ", ".join(filter(None, [*slash, *own[len(first) :], star, *bare, *only, double]))
        self.passed = ", ".join(filter(None, [*own, star, *(f"{name}={name}" for name in only), double]))
        self.lines: list[str] = []

    def named(self, value: Any) -> str:
        """A name for an object, from here on."""
        name = f"{self.inner}{len(self.objects)}"
        self.objects[name] = value
        self.lines.append(f"{name} = {name!r}")
        return name

    def branch(self, fast: Fast) -> list[str]:
        """One kind: a look at the arguments, the call, and the way back to the plain function."""
        names, call = names_of(self.f), fast.call
        checks = " and ".join(
            check for name, kind in zip(names, fast.kind, strict=True) for check in self._checks(name, kind, fast)
        )
        checks = " and ".join(filter(None, [checks, *(f"{names[i]}.flags.writeable" for i in call.written)]))
        lines, self.lines = self.lines, []
        saved = {f"{self.inner}_was{i}": names[i] for i in call.written}
        given, taken = list(names), []
        if call.bind is not None:
            taken = [f"{self.inner}_taken = {self.named(call.bind)}({self.named(self.f)})"]
            given.append(f"*{self.inner}_taken")
        taken += [f"{was} = {name}.copy()" for was, name in saved.items()]
        finish = self._finished(f"{self.named(call.run)}({', '.join(given)})", call.result)
        inside, self.lines = [*self.lines, *taken, *finish], []
        left = self.named(fast.left)
        after, self.lines = self.lines, []
        restore = [f"if {was} is not None: {self.named(np.copyto)}({name}, {was})" for was, name in saved.items()]
        undo, self.lines = [*self.lines, *restore], []
        block = [
            *(f"{was} = None" for was in saved),
            "try:",
            *(f"    {line}" for line in inside),
            "except Exception:",
            *(f"    {line}" for line in undo or ["pass"]),
            *after,
            f"return {left}({self.passed})",
        ]
        return [*lines, f"if {checks or True}:", *(f"    {line}" for line in block)]

    def _checks(self, name: str, kind: Argument, fast: Fast) -> list[str]:
        type_of = self.named(type)
        if isinstance(kind, ArrayOf):
            array, dtype = self.named(np.ndarray), self.named(kind.dtype)
            checks = [f"{type_of}({name}) is {array}", f"{name}.ndim == {kind.ndim}", f"{name}.dtype is {dtype}"]
            return [*checks, f"{name}.flags.c_contiguous is {kind.contiguous}"] if fast.looks_at_gaps else checks
        if isinstance(kind, tuple):
            checks = [f"{type_of}({name}) is {self.named(tuple)}", f"{self.named(len)}({name}) == {len(kind)}"]
            return checks + [c for i, part in enumerate(kind) for c in self._checks(f"{name}[{i}]", part, fast)]
        return [f"{type_of}({name}) is {self.named(kind)}"]

    def _finished(self, run: str, result: Result) -> list[str]:
        """The result, with NumPy's classes where they belong."""
        before, self.lines = self.lines, []
        made = self._classed(f"{self.inner}_made", result)
        lines, self.lines = self.lines, before
        if made == f"{self.inner}_made":
            return [f"return {run}"]
        return [f"{self.inner}_made = {run}", *lines, f"return {made}"]

    def _classed(self, text: str, result: Result) -> str:
        if isinstance(result, tuple):
            parts = [self._classed(f"{text}[{i}]", part) for i, part in enumerate(result)]
            if all(part == f"{text}[{i}]" for i, part in enumerate(parts)):
                return text
            return f"({', '.join(parts)},)"
        return f"{self.named(result)}({text})" if issubclass(result, np.generic) else text

    def code(self, body: list[str], look: Callable[..., Any], go: Iterator[bool]) -> types.CodeType:
        """The body for all calls but one in so many, which is looked at."""
        lines, self.lines = [*self.lines, *body], []
        ticks, looked = self.named(go), self.named(look)
        source = [
            f"def {self.inner}({self.given}):",
            f"    {self.lines[0]}",
            f"    for {self.inner}_go in {ticks}:",
            f"        if {self.inner}_go:",
            *(f"            {line}" for line in lines),
            "        break",
            f"    {self.lines[1]}",
            f"    return {looked}({self.passed})",
        ]
        return self._compiled("\n".join(source))

    def _compiled(self, source: str) -> types.CodeType:
        """Code in the place of the function's own, so that tracebacks point to its first line."""
        own = self.f.__code__
        code = _template(source)
        constants = tuple(self.objects.get(c, c) if isinstance(c, str) else c for c in code.co_consts)
        return code.replace(co_consts=constants, co_name=own.co_name, co_qualname=own.co_qualname,
                            co_filename=own.co_filename, co_firstlineno=own.co_firstlineno,
                            co_freevars=own.co_freevars)  # fmt: skip


@functools.lru_cache(maxsize=256)
def _template(source: str) -> types.CodeType:
    """Code whose every line is the first."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    module = compile(tree, "", "exec", dont_inherit=True)
    return next(c for c in module.co_consts if isinstance(c, types.CodeType))
