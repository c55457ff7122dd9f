"""Finds in a function's code what makes its calls depend on each other, so that workers must not share them.

Only the user's own code is read, and what it calls of libraries looked up: a function that prints, writes or draws
random numbers stays in the loop. What cannot be seen in code (a captured list that grows, a file that a library opens)
is noticed in the worker, see `guard.py`.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import is_of_library
from ...libraries import BUILTINS_THAT_ACT, acting, is_reentrant
from ..loop import cell_is_filled
from ..signatures import place_of

MOST_FUNCTIONS = 64
REMEDY = "where that does not matter, say pure=True"
_WRITES = {
    "STORE_GLOBAL": "writes to a global name", "DELETE_GLOBAL": "deletes a global name",
    "STORE_ATTR": "sets an attribute", "DELETE_ATTR": "deletes an attribute",
}  # fmt: skip
_MAKERS = frozenset(("__init__", "__post_init__", "__new__", "__setstate__", "__set_name__"))
"""Methods that set attributes of what is new."""
_MUTATORS = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear add discard update setdefault sort "
    "reverse write writelines put fill resize send next seed shuffle".split()
)
_CLOCKS = frozenset(("now", "today", "utcnow"))
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(...), range, np.generic, np.dtype, slice)
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")


def why_impure(f: Any, shared: dict[str, Any], allowed: str = "") -> tuple[str, str]:
    """The first sign of an effect: what, and where; empty where none is to be seen. `allowed`: one to overlook."""
    for one in functions_of(f, shared):
        found = _effect(one, allowed) if isinstance(one, types.FunctionType) else (_worldly(one), "")
        if found[0] and found[0] != allowed:
            return found
    return "", ""


def functions_of(f: Any, shared: dict[str, Any]) -> Iterator[Any]:
    """The user's own functions that a call may reach, and library's functions and objects that are captured."""
    pending, seen = [f, *shared.values()], set[int]()
    while pending and len(seen) < MOST_FUNCTIONS:
        one = pending.pop()
        if id(one) in seen or isinstance(one, (*_PLAIN, types.ModuleType, np.ndarray)):
            continue
        seen.add(id(one))
        if "__wrapped__" in getattr(
            one, "__dict__", ()
        ):  # a library's decorator, such as functools.lru_cache, calls what it decorates
            pending.append(one.__wrapped__)
        if isinstance(one, functools.partial):
            pending += [one.func, *one.args, *one.keywords.values()]
        elif isinstance(one, types.MethodType):
            pending += [one.__func__, one.__self__]
        elif isinstance(one, types.FunctionType):
            if is_of_library(one.__code__.co_filename):
                yield one if acting(one.__module__ or "") else None
                continue
            yield one
            pending += [value for _, value in captured_by(one)]
        elif isinstance(one, tuple | frozenset | list | dict | set):
            pending += [v for v in (one.values() if isinstance(one, dict) else one) if callable(v)]
        else:
            yield one
            cls = one if isinstance(one, type) else type(one)
            pending += [v for base in cls.__mro__ for v in vars(base).values() if isinstance(v, types.FunctionType)]


def captured_by(f: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and values that a function reads besides its arguments: of closures, of globals, of defaults."""
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        if cell_is_filled(cell):
            yield name, cell.cell_contents
    codes = [f.__code__]
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        for name in code.co_names:
            if name in f.__globals__:
                value = f.__globals__[name]
                yield name, value
                if isinstance(value, types.ModuleType) and is_of_user(value):
                    yield from _named_of(value, code)
    for value in f.__defaults__ or ():
        yield "", value
    yield from (f.__kwdefaults__ or {}).items()


def is_of_user(module: types.ModuleType) -> bool:
    """Whether a module is the user's own, with source to look into."""
    file = getattr(module, "__file__", None)
    return file is not None and not is_of_library(file)


def _named_of(module: types.ModuleType, code: types.CodeType) -> Iterator[tuple[str, Any]]:
    """What a code may read of a module of the user's: all in there that bears a name that the code has."""
    there = vars(module)
    return ((name, there[name]) for name in code.co_names if name in there)


def _effect(f: types.FunctionType, allowed: str) -> tuple[str, str]:
    if is_of_library(f.__code__.co_filename):
        return acting(f.__module__ or "", f.__name__), ""
    codes, outer = [f.__code__], set(f.__code__.co_freevars)
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        line, instructions = code.co_firstlineno, list(dis.get_instructions(code))
        for i, instruction in enumerate(instructions):
            line = (instruction.positions and instruction.positions.lineno) or line
            reason = _WRITES.get(instruction.opname, "")
            if instruction.opname.endswith("_ATTR") and reason and f.__name__ in _MAKERS:
                continue
            if instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in outer:
                reason = "writes to a variable of the function around it"
            elif instruction.opname == "IMPORT_NAME":
                reason = acting(instruction.argval)
            elif instruction.opname in _LOADS:
                names = [
                    one.argval for one in instructions[i + 1 : i + 3] if one.opname in ("LOAD_ATTR", "LOAD_METHOD")
                ]
                reason = _of_name(f, instruction.argval, names)
            if reason and reason != allowed:
                return reason, place_of(f, line)
    return "", ""


def _of_name(f: types.FunctionType, name: str, attributes: list[str]) -> str:
    """What a name stands for does besides computing; `attributes`: those that are asked of it."""
    if name in f.__code__.co_freevars:
        cell = (f.__closure__ or ())[f.__code__.co_freevars.index(name)]
        value = cell.cell_contents if cell_is_filled(cell) else None
    elif name in f.__globals__:
        value = f.__globals__[name]
    else:
        return BUILTINS_THAT_ACT.get(name, "") if hasattr(builtins, name) else ""
    if isinstance(value, types.ModuleType):
        first = attributes[0] if attributes else ""
        if value.__name__ == "datetime":
            return acting("datetime") if _CLOCKS.intersection(attributes) else ""
        if (value.__name__, first) in (("time", "sleep"), ("os", "path")):
            return ""
        return acting(value.__name__, first) or acting(f"{value.__name__}.{first}")
    if isinstance(value, type) and value.__module__ == "datetime":
        return acting("datetime") if _CLOCKS.intersection(attributes) else ""
    return _worldly(value)


def _worldly(value: Any) -> str:
    """What an object of a library does besides computing, by the module that it or its class is from."""
    if (
        value is None
        or isinstance(value, _PLAIN)
        or (isinstance(value, types.FunctionType) and not is_of_library(value.__code__.co_filename))
    ):
        return ""
    if isinstance(value, types.BuiltinFunctionType) and not isinstance(value.__self__, types.ModuleType | None):
        value = type(value.__self__)  # random.random is a method of a generator
    if value is builtins.print or getattr(builtins, getattr(value, "__name__", ""), None) is value:
        return BUILTINS_THAT_ACT.get(getattr(value, "__name__", ""), "")
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        name = getattr(value, "__name__", "")
        if value.__module__ in ("time", "datetime"):
            return "" if name in ("sleep", "date", "datetime", "timedelta", "timezone") else acting(value.__module__)
        return acting(value.__module__ or "", name)
    module = type(value).__module__
    return "" if module == "datetime" else acting(module)


def held_by(f: Any, shared: dict[str, Any]) -> list[Any]:
    """Captured objects that calls could change: containers, and instances of any class."""
    found: dict[int, Any] = {}
    for one in functions_of(f, shared):
        if not isinstance(one, types.FunctionType):
            values = [one]
        elif is_of_library(one.__code__.co_filename):
            continue
        else:
            values = [value for _, value in captured_by(one)]
        for value in [*values, *shared.values()]:
            if not is_fixed(value):
                found[id(value)] = value
    return list(found.values())


def is_fixed(value: Any) -> bool:
    """Whether an object cannot be changed by calls, or only as an array that is not to be written to."""
    if isinstance(value, tuple | frozenset):
        return all(map(is_fixed, value))
    if isinstance(value, np.ndarray):
        return bool(value.dtype != object)
    if isinstance(value, functools.partial | types.MethodType):
        return True  # looked into on its own
    callables = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
    return isinstance(value, (*_PLAIN, *callables)) or type(value).__module__ in ("re", "datetime", "functools")


def may_change(f: Any, shared: dict[str, Any]) -> str:
    """Whether the user's code has a way to change what it holds, as far as words tell: for threads, which share it."""
    return may_write(f, shared) if held_by(f, shared) or _holds_arrays(f) else ""


def may_write(f: Any, shared: dict[str, Any]) -> str:
    """Whether the user's code has a word that changes an object, and where."""
    for one in functions_of(f, shared):
        if isinstance(one, types.FunctionType) and not is_of_library(one.__code__.co_filename):
            names = {i.opname for i in dis.get_instructions(one)}
            if names & {"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"} or _MUTATORS & set(one.__code__.co_names):
                return f"may change what it captures ({place_of(one)})"
    return ""


def unknown_library(f: Any, shared: dict[str, Any]) -> str:
    """The first library that calls reach of which nobody knows that it may be called from several threads at once."""
    for one in functions_of(f, shared):
        if not isinstance(one, types.FunctionType):
            names = [one.__module__ if isinstance(one, type) else type(one).__module__]
        elif is_of_library(one.__code__.co_filename):
            names = [one.__module__]
        else:
            names = [name for _, value in captured_by(one) if (name := _library_of(value))]
            names += [i.argval for i in dis.get_instructions(one) if i.opname == "IMPORT_NAME"]
        for name in names:
            if name and not is_reentrant(name) and not _is_users(name):
                return name
    return ""


def _library_of(value: Any) -> str:
    """The module that a module, a class or a function is, or is from."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return value.__module__ or ""
    return ""


def _is_users(name: str) -> bool:
    module = sys.modules.get(name)
    return name == "__main__" or (module is not None and is_of_user(module))


def is_plain(value: Any) -> bool:
    """Whether an element is of numbers, texts, arrays and containers of them, and nothing else."""
    if isinstance(value, dict):
        return type(value) is dict and all(map(is_plain, value.values()))
    if type(value) in (list, tuple, set):
        return all(map(is_plain, value))
    return is_fixed(value) and not callable(value)


def _holds_arrays(f: Any) -> bool:
    return any(
        isinstance(value, np.ndarray)
        for one in functions_of(f, {})
        if isinstance(one, types.FunctionType)
        for _, value in captured_by(one)
    )
