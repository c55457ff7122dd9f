"""A function in, the key out that is its own in every process."""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import numpy as np

MOST_CODES, DEEPEST = 32, 4
"""How many functions, and how far from the first one, are looked at."""
_FOREIGN = sys.stdlib_module_names | {"numpy"}
"""What the stamp speaks for."""
_NAMED = (types.BuiltinFunctionType, np.ufunc, type(np.mean))
_PLAIN = (float, complex, str, bytes, bool, type(None), type(...))


class _Unseen(Exception):
    """There is something that has no text of its own."""


def fingerprint(f: Any, *kinds: str) -> str | None:
    """The key of a function on columns of these kinds, the same in every process; None where no code can be seen.

    Functions share a key where their code is equal, and the code and the kinds of values that they see by their names.
    Module and qualified name are left out: they do not change what a call costs, and a function that is moved, or
    run as a script today and imported tomorrow, keeps its plan. Equal keys mean equal costs, not equal results.
    """
    inner = f
    while type(inner) is functools.partial:
        inner = inner.func
    portrait = _Portrait()
    try:
        parts = portrait.of(f)
    except _Unseen:
        return None
    if not portrait.functions and type(inner) not in _NAMED and not issubclass(type(inner), type):
        return None
    return hashlib.blake2b("\n".join([ascii(kinds), *parts]).encode(), digest_size=16).hexdigest()


class _Portrait:
    """What a function consists of, breadth first: its code, and what it reaches by names, as texts."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.functions: list[tuple[types.FunctionType, type | None, int]] = []
        """With the class that it is a method of, and how far it is from the first."""
        self.seen: dict[int, int] = {}

    def of(self, f: Any) -> list[str]:
        self.add(f, (), 0)
        for function, owner, depth in self.functions:  # which grows meanwhile
            text, names = _text_of_code(function.__code__)
            self.parts.append(text)
            for value in _captured(function):
                self.add(value, names, depth + 1)
            for name in names:
                if name in function.__globals__:
                    self.add(function.__globals__[name], names, depth + 1)
            if owner is not None:
                self.add_methods(owner, names, depth + 1)
        return self.parts

    def add(self, value: Any, names: Iterable[str], depth: int) -> None:
        kind = type(value)
        if kind is types.FunctionType:
            self.add_function(value, None, depth)
        elif kind is types.ModuleType:
            self.parts.append(f"module {value.__name__}")
            if not _is_foreign(value.__name__):
                self.add_functions(vars(value), names, None, depth)
        elif kind is types.MethodType:
            self.add_functions({"": value.__func__}, [""], type(value.__self__), depth)
            self.add(value.__self__, names, depth)
        elif kind is functools.partial:
            for held in (value.func, *value.args, *value.keywords.values()):
                self.add(held, names, depth)
            self.parts.append(f"partial {tuple(value.keywords)!a}")
        elif kind in _NAMED:
            self.parts.append(f"{kind.__name__} {value.__name__}")
        elif kind is np.ndarray:
            self.parts.append(f"array {value.dtype.str} {value.ndim}")
        elif issubclass(kind, type):
            self.parts.append(f"class {value.__name__}")
            self.add_class(value, names, depth)
        else:
            self.parts.append(f"object {kind.__name__}")
            self.add_class(kind, names, depth)
            self.add_functions(_attributes(value), ["__wrapped__"], None, depth)

    def add_function(self, function: types.FunctionType, owner: type | None, depth: int) -> None:
        code = function.__code__
        known = self.seen.get(id(code))
        if known is None and (depth > DEEPEST or len(self.functions) >= MOST_CODES or _is_foreign(function.__module__)):
            self.parts.append(f"function {code.co_name}")
            return
        if known is None:
            known = self.seen[id(code)] = len(self.functions)
            self.functions.append((function, owner, depth))
        self.parts.append(f"function {known}")

    def add_functions(self, held: Mapping[str, Any], names: Iterable[str], owner: type | None, depth: int) -> None:
        for name in names:
            value: Any = held.get(name)
            if type(value) in (staticmethod, classmethod):
                value = value.__func__
            if type(value) is property:
                value = value.fget
            if type(value) is types.FunctionType:
                self.add_function(value, owner, depth)

    def add_class(self, owner: type, names: Iterable[str], depth: int) -> None:
        """With its special methods, which are called without being named."""
        if id(owner) not in self.seen:
            self.seen[id(owner)] = 0
            special = {name: None for base in owner.__mro__ for name in vars(base) if name.startswith("__")}
            self.add_methods(owner, special, depth)
        self.add_methods(owner, names, depth)

    def add_methods(self, owner: type, names: Iterable[str], depth: int) -> None:
        for base in owner.__mro__:
            if not _is_foreign(base.__module__):
                self.add_functions(vars(base), names, owner, depth)


def _is_foreign(module: Any) -> bool:
    return type(module) is str and module.partition(".")[0] in _FOREIGN


def _captured(function: types.FunctionType) -> Iterator[Any]:
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield _Unseen


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes of an object, such as `functools.cache` makes of a function; no code of its class is run."""
    try:
        return cast("dict[str, Any]", object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        return {}


_texts: dict[int, tuple[types.CodeType, str, tuple[str, ...]]] = {}


def _text_of_code(code: types.CodeType) -> tuple[str, tuple[str, ...]]:
    """All of a code object but where it stands, and the names in it; remembered while the code is, more or less."""
    known = _texts.get(id(code))
    if known is not None:
        return known[1], known[2]
    names = dict.fromkeys(code.co_names)
    parts = [_text_of_constant(constant, names) for constant in code.co_consts]
    parts.append(ascii((code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
    parts.append(f"{code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount} {code.co_flags}")
    parts.append(f"{code.co_code.hex()} {code.co_exceptiontable.hex()}")  # as compiled: without specialisation
    if len(_texts) >= 512:
        _texts.clear()
    text, inside = "\n".join(parts), tuple(names)
    _texts[id(code)] = code, text, inside
    return text, inside


def _text_of_constant(constant: Any, names: dict[str, None]) -> str:
    kind = type(constant)
    if kind is types.CodeType:
        text, inside = _text_of_code(constant)
        names.update(dict.fromkeys(inside))
        return f"({text})"
    if kind is tuple or kind is frozenset:
        items = [_text_of_constant(item, names) for item in constant]
        return f"{kind.__name__}({', '.join(sorted(items) if kind is frozenset else items)})"
    if kind is int:
        return f"{constant:x}"  # ints of thousands of digits have no decimal text
    if kind in _PLAIN:
        return ascii(constant)
    raise _Unseen
