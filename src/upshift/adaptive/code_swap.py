"""Wraps a function without its being seen: the same function object, whose code can be exchanged.

Its code is one of three: the plain function's own, which costs nothing; the plain function with a look at every so many
calls; or machine code, where the arguments are of a kind that there is machine code for. Nothing stands in a closure or
in the user's globals: what the code needs are its constants.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiler.parsing import parsed
from ..gears.calls import Argument, ArrayOf, CompiledFunction, Fixed, Foreign, Held, Result, class_of
from ..gears.signatures import names_of
from ..trace.paths import Path
from .prelude import with_prelude

INNER = "_upshift"
"""What the names begin with that the code uses besides the function's arguments, or that with more underscores."""


@dataclass(frozen=True, slots=True)
class FastPath:
    """Machine code for one kind of arguments, and what is called where it raises."""

    kind: Sequence[Argument]
    call: CompiledFunction
    left: Callable[..., Any]
    looks_at_gaps: bool = False
    """Whether arrays with and without gaps are told apart before the call."""

    @property
    def counts(self) -> bool:
        """Whether machine code looks at its arguments itself, and counts calls."""
        return self.call.ticks is not None and self.call.free is None


def wrapper_of(f: types.FunctionType) -> types.FunctionType:
    """A function with the same code, names and defaults."""
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = None if f.__kwdefaults__ is None else dict(f.__kwdefaults__)
    functools.update_wrapper(made, f)
    return made


def watching(f: types.FunctionType, look: Callable[..., Any], ticks: Iterator[bool]) -> types.CodeType:
    """Code that does what the function does, or calls `look` at a tick that is False."""
    writer = _Writer(f)
    made = with_prelude(f.__code__, writer.passing, look, ticks)
    if made is not None:
        return made
    body = [f"return {writer.named(f)}({writer.passed})"]
    return writer.code(body, look, ticks)


def has_prelude(f: types.FunctionType) -> bool:
    """Whether looks need no second function."""
    return with_prelude(f.__code__, _Writer(f).passing, f, iter(())) is not None


def fast_call(f: types.FunctionType, fast: FastPath) -> types.FunctionType:
    """The function by machine code where its arguments are of that kind, else plainly, and no looks."""
    writer = _Writer(f)
    code = direct(f, fast) if fast.counts else writer.code(writer.branch(fast), f, itertools.repeat(True))
    made = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def dispatching(
    f: types.FunctionType,
    look: Callable[..., Any],
    ticks: Iterator[bool],
    others: Iterator[bool],
    fast: Sequence[FastPath],
) -> types.CodeType:
    """Code that calls machine code for arguments of some kinds, the plain function for all others, or `look` at a tick
    that is False; plain calls have ticks of their own."""
    writer = _Writer(f)
    body: list[str] = []
    for one in fast:
        body += writer.branch(one)
    go, plain = writer.named(others), writer.named(f)
    body += [*writer.lines, f"for {go}_go in {go}:", f"    if {go}_go:", f"        return {plain}({writer.passed})"]
    writer.lines = []
    return writer.code([*body, "    break"], look, ticks)


def direct(f: types.FunctionType, fast: FastPath) -> types.CodeType:
    """Code that calls machine code which looks at its arguments itself, and counts the calls until one is looked at."""
    writer = _Writer(f)
    body = writer.branch(fast, False)
    left = writer.named(fast.left)
    return writer.code_of([*body, *writer.lines, f"return {left}({writer.passed})"])


@functools.lru_cache(maxsize=64)
def _pattern(pause: int) -> tuple[bool, ...]:
    return (True,) * pause + (False,)


def ticks_of(*pauses: int) -> Iterator[bool]:
    """False after each of these pauses, and then after the last one for ever.

    An iterator of C's costs next to nothing, and threads cannot hurt it.
    """
    first = itertools.chain.from_iterable(map(_pattern, pauses[:-1]))
    return itertools.chain(first, itertools.cycle(_pattern(pauses[-1])))


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
        own, only = names[: code.co_argcount], names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        rest = iter(names[len(own) + len(only) :])
        star = f"*{next(rest)}" if code.co_flags & inspect.CO_VARARGS else ""
        double = f"**{next(rest)}" if code.co_flags & inspect.CO_VARKEYWORDS else ""
        first = own[: code.co_posonlyargcount]
        slash = [*first, "/"] if first else []
        bare = ["*"] if only and not star else []
        self.given = ", ".join(filter(None, [*slash, *own[len(first) :], star, *bare, *only, double]))
        self.passed = self.passing(names)
        self.lines: list[str] = []
        self.common: dict[int, str] = {}

    def passing(self, names: list[str]) -> str:
        """How the function's arguments are handed on, where they have these names."""
        code = self.f.__code__
        count, only, flags = code.co_argcount, code.co_kwonlyargcount, code.co_flags
        rest = iter(names[count + only :])
        passed = names[:count] + ([f"*{next(rest)}"] if flags & inspect.CO_VARARGS else [])
        passed += [f"{code.co_varnames[i]}={names[i]}" for i in range(count, count + only)]
        return ", ".join(passed + ([f"**{next(rest)}"] if flags & inspect.CO_VARKEYWORDS else []))

    def named(self, value: Any) -> str:
        """A name for an object, from here on."""
        name = f"{self.inner}{len(self.objects)}"
        self.objects[name] = value
        self.lines.append(f"{name} = {name!r}")
        return name

    def shared(self, value: Any) -> str:
        """A name for an object, everywhere."""
        name = self.common.get(id(value))
        if name is None:
            name = self.common[id(value)] = f"{self.inner}{len(self.objects)}"
            self.objects[name] = value
        return name

    def branch(self, fast: FastPath, looks: bool = True) -> list[str]:
        """One kind: a look at the arguments, the call, and the way back to the plain function. `looks`: at all of them,
        and for a debugger, which sees the plain function; else at those that machine code does not look at itself."""
        names, call = names_of(self.f), fast.call
        checks = [f"{self.shared(sys.gettrace)}() is None"] if looks else []
        seen = [(name, kind) for name, kind in zip(names, fast.kind, strict=True) if looks or _is_unseen(kind)]
        checks += [c for name, kind in seen for c in self._checks(name, kind, fast)]
        checks += [f"{self.shared(call.free)}()"] if call.free is not None else []
        self.lines = []
        reads, stands, taken = self._captured(call)
        given = [_apart(name, kind) for name, kind in zip(names, fast.kind, strict=True)]
        run = f"{self.named(call.run)}({', '.join([*given, *taken])})"
        inside, self.lines = [*self.lines, *reads, *_under(stands, self._finished(run, call.result))], []
        left = self.named(fast.left)
        after, self.lines = self.lines, []
        block = [
            *_indented("try:", inside),
            *_indented("except Exception:", ["pass"]),
            *after,
            f"return {left}({self.passed})",
        ]
        return _under(checks, block)

    def _checks(self, name: str, kind: Argument, fast: FastPath) -> list[str]:
        if isinstance(kind, ArrayOf):
            checks = self._checks_of_array(name, kind.dtype, kind.ndim)
            return [*checks, f"{name}.flags.c_contiguous is {kind.contiguous}"] if fast.looks_at_gaps else checks
        if isinstance(kind, Foreign):
            return self._checks_of_foreign(name, kind)
        if isinstance(kind, Fixed):
            return [f"{self.shared(type)}({name}) is {self.shared(kind.cls)}", f"{name} == {kind.value!r}"]
        if isinstance(kind, Held):
            return self._checks_of_held(name, kind, fast)
        is_of = f"{self.shared(type)}({name}) is {self.shared(tuple if isinstance(kind, tuple) else kind)}"
        if isinstance(kind, tuple):
            parts = [c for i, part in enumerate(kind) for c in self._checks(f"{name}[{i}]", part, fast)]
            return [is_of, f"{self.shared(len)}({name}) == {len(kind)}", *parts]
        return [is_of]

    def _checks_of_foreign(self, name: str, kind: Foreign) -> list[str]:
        is_of = f"{self.shared(type)}({name}) is {self.shared(kind.cls)}"
        if kind.shape is None:
            return [is_of, f"{name}.ndim == {kind.ndim}", f"{name}.dtype is {self.shared(kind.dtype)}"]
        dtype = f"{name}.dtype == {self.shared(kind.dtype)}"
        return [is_of, f"{name}.shape == {kind.shape!r}", dtype, f"{name}.weak_type is {kind.weak}"]

    def _checks_of_held(self, name: str, kind: Held, fast: FastPath) -> list[str]:
        checks = [f"{self.shared(type)}({name}) is {self.shared(kind.cls)}"]
        if kind.cls is dict:
            checks.append(f"{self.shared(tuple)}({name}) == {kind.keys!r}")
        elif not hasattr(kind.cls, "_fields"):  # an attribute may have been deleted
            checks += [f"{self.shared(hasattr)}({name}, {key!r})" for key in kind.keys]
        held = zip(kind.keys, kind.parts, strict=True)
        return checks + [c for key, part in held for c in self._checks(_part(name, kind, key), part, fast)]

    def _checks_of_array(self, name: str, dtype: Any, ndim: int) -> list[str]:
        is_array = f"{self.shared(type)}({name}) is {self.shared(np.ndarray)}"
        return [is_array, f"{name}.ndim == {ndim}", f"{name}.dtype is {self.shared(dtype)}"]

    def _captured(self, call: CompiledFunction) -> tuple[list[str], list[str], list[str]]:
        """What the function captured: how it is read, what must hold, and what the call is given of it.

        Global names are read by their names, as the function itself does, which costs next to nothing.
        """
        reads, stands, taken = [], [], []
        if call.bind is not None and not call.dependencies:
            return self._bound(call)
        for i, capture in enumerate(call.dependencies):
            text, name = self._path(capture.path), f"{self.inner}_taken{i}"
            if text is None or capture.mode not in ("same", "code", "input", "array"):
                return self._bound(call)
            if capture.mode in ("same", "code"):
                found = f"{text}.__code__" if capture.mode == "code" else text
                stands.append(f"{found} is {self.named(capture.expected)}")
                continue
            reads.append(f"{name} = {text}")
            taken.append(name)
            if capture.mode == "array":
                stands += self._checks_of_array(name, *capture.expected)
            else:
                stands.append(f"{self.shared(type)}({name}) is {self.shared(class_of(capture.expected))}")
        return reads, stands, taken

    def _bound(self, call: CompiledFunction) -> tuple[list[str], list[str], list[str]]:
        """The same by a call; what it gives where the code does not stand any more cannot be unpacked."""
        bound = f"{self.named(call.bind)}({self.named(self.f)})"
        return [f"{self.inner}_taken = {bound}"], [], [f"*{self.inner}_taken"]

    def _path(self, path: Path) -> str | None:
        """An expression for what a path from the function leads to."""
        text = ""
        for way, key in path[1:]:
            if not text and way in ("global", "global?"):
                text = key
                continue
            text = text or self.named(self.f)
            if way == "global?":
                text = f"{text}.__globals__.get({key!r}, {self.named(vars(builtins))}.get({key!r}))"
            elif way in _WAYS:
                text = _WAYS[way].format(text, key)
            else:
                return None
        return text

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
        first, last = self.lines
        goes = [f"if {self.inner}_go:", *(f"    {line}" for line in (*self._common(), *lines)), "break"]
        return self._compiled([first, *_indented(f"for {self.inner}_go in {ticks}:", goes),
                               last, f"return {looked}({self.passed})"])  # fmt: skip

    def code_of(self, body: list[str]) -> types.CodeType:
        """The body, for all calls."""
        return self._compiled([*self._common(), *body])

    def _common(self) -> list[str]:
        return [f"{name} = {name!r}" for name in self.common.values()]

    def _compiled(self, lines: list[str]) -> types.CodeType:
        """Code in the place of the function's own, so that tracebacks point to its first line."""
        own, source = self.f.__code__, "\n".join(_indented(f"def {self.inner}({self.given}):", lines))
        code = _template(source, own.co_freevars)
        constants = tuple(self.objects.get(c, c) if isinstance(c, str) else c for c in code.co_consts)
        return code.replace(co_consts=constants, co_name=own.co_name, co_qualname=own.co_qualname,
                            co_filename=own.co_filename, co_firstlineno=own.co_firstlineno)  # fmt: skip


_WAYS = {"global": "{0}.__globals__[{1!r}]", "cell": "{0}.__closure__[{1}].cell_contents", "attr": "{0}.{1}"}


def _part(name: str, kind: Held, key: str) -> str:
    """An expression for what a dict or an object holds."""
    return f"{name}[{key!r}]" if kind.cls is dict else f"{name}.{key}"


def _apart(name: str, kind: Argument) -> str:
    """An expression for an argument as a compiled call takes it: see `calls.apart`."""
    if isinstance(kind, tuple) and _holds_held(kind):
        parts = [_apart(f"{name}[{i}]", part) for i, part in enumerate(kind)]
    elif isinstance(kind, Held):
        parts = [_apart(_part(name, kind, key), part) for key, part in zip(kind.keys, kind.parts, strict=True)]
    else:
        return "None" if isinstance(kind, Fixed) else name
    return f"({''.join(part + ', ' for part in parts)})"


def _is_unseen(kind: Argument) -> bool:
    """Whether machine code does not look at such an argument itself: it is built in, or taken apart before."""
    return isinstance(kind, Fixed) or _holds_held(kind)


def _holds_held(kind: Argument) -> bool:
    return isinstance(kind, Held) or (isinstance(kind, tuple) and any(map(_holds_held, kind)))


def _indented(head: str, lines: Sequence[str]) -> list[str]:
    return [head, *(f"    {line}" for line in lines)]


def _under(checks: Sequence[str], lines: list[str]) -> list[str]:
    """Lines that are run where all checks hold."""
    return _indented(f"if {' and '.join(checks)}:", lines) if checks else lines


@functools.lru_cache(maxsize=256)
def _template(source: str, free: tuple[str, ...]) -> types.CodeType:
    """Code whose every line is the first, of a function that has these variables of one around it."""
    if free:
        head, *body = source.splitlines()
        unused = [f"    if 0: {', '.join(free)}"]  # a variable that is named is there
        source = "\n".join(_indented(f"def around({', '.join(free)}):", [head, *unused, *body]))
    tree = parsed(source)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    code = compile(tree, "", "exec", dont_inherit=True)
    for _ in range(2 if free else 1):
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    assert code.co_freevars == free
    return code
