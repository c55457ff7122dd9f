"""A function in; out, what it and its helpers capture: as arguments of machine code, or built into it.

A captured number or array is an argument of the compiled function: changing it needs no new compilation. Helper
functions, modules and everything else are built in, and looked at again before every call.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
import operator
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...columns.kinds import fits_int64, kind_of
from ...trace.paths import Capture, Path, frozen, plain_of
from ..ran import NotCompiled

Key = tuple[Any, ...]
"""How a function names what it captured: ("global", name), ("cell", name) or ("attr", module's name, name)."""
WIDE = frozenset(map(np.dtype, (np.bool_, np.int64, np.float64, np.complex128)))
"""Numbers on which compiled code means what Python and NumPy mean."""
OUR_MODULES = (math, operator, np, builtins)
"""Modules whose contents are taken to stay as they are."""
MOST_HELPERS = 64


@dataclass(slots=True)
class Unit:
    """One function to be compiled, with the arguments that its captures add."""

    f: types.FunctionType
    inputs: dict[Key, str] = field(default_factory=dict)
    helpers: dict[Key, Unit] = field(default_factory=dict)
    extra: dict[str, Capture] = field(default_factory=dict)
    """Arguments behind the function's own: its captured numbers and arrays, and its helpers'."""
    built_in: list[Capture] = field(default_factory=list)


def where_of(f: types.FunctionType, line: int | None = None) -> str:
    """A place in the user's code, in few words."""
    file = f.__code__.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{file}:{line or f.__code__.co_firstlineno} in {f.__name__}"


def name_of(variable: Any) -> str:
    """What the user calls a variable of Numba's code."""
    name = str(variable.name)
    return "what it computes" if name.startswith("$") else name.split(".")[0]


def unit_of(f: Any, path: Path = (("f", None),), above: tuple[Any, ...] = ()) -> Unit:
    """What a function is compiled from, or `NotCompiled`."""
    if not isinstance(f, types.FunctionType):
        raise NotCompiled("numba", f"it is a {type(f).__name__}, not a plain function", remedy="pass a def or a lambda")
    if f.__code__ in above:
        raise NotCompiled(
            "numba", "it calls itself, which machine code cannot as deeply", where_of(f), "write it as a loop"
        )
    if len(above) > MOST_HELPERS:
        raise NotCompiled("numba", "its helpers call each other too deeply", where_of(f))
    unit = Unit(f)
    _look_for_what_stays_plain(f)
    unit.built_in.append(Capture(path, "code", f.__code__))
    for key, value, step in _captured(f):
        _take(unit, key, value, (*path, *step), (*above, f.__code__))
    return unit


_PLAIN_OPS = {
    "PUSH_EXC_INFO": "uses try or with",
    "SETUP_WITH": "uses with",
    "STORE_GLOBAL": "writes to a global name",
    "DELETE_GLOBAL": "deletes a global name",
    "IMPORT_NAME": "imports a module",
    "YIELD_VALUE": "yields",
}


def _look_for_what_stays_plain(f: types.FunctionType) -> None:
    if f.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NotCompiled("numba", "it is a generator or a coroutine", where_of(f))
    for code in f.__code__.co_consts:
        if isinstance(code, types.CodeType) and code.co_name == "<genexpr>":
            where = where_of(f, code.co_firstlineno)
            raise NotCompiled("numba", "uses a generator expression", where, "write it as a loop")
    line = f.__code__.co_firstlineno
    for instruction in dis.get_instructions(f.__code__):
        line = instruction.positions.lineno or line if instruction.positions else line
        reason = _PLAIN_OPS.get(instruction.opname)
        if instruction.opname == "STORE_DEREF" and instruction.argval in f.__code__.co_freevars:
            reason = "writes to a variable of the function around it"
        if reason:
            raise NotCompiled("numba", reason, where_of(f, line))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _captured(f: types.FunctionType) -> Iterator[tuple[Key, Any, Path]]:
    """Every name that a function takes from outside: its key, its value now, and the way there."""
    for i, name in enumerate(f.__code__.co_freevars):
        try:
            value = f.__closure__[i].cell_contents  # type: ignore[index]
        except ValueError:
            raise NotCompiled("numba", f"{name} is not set yet", where_of(f)) from None
        yield ("cell", name), value, (("cell", i),)
    seen = set()
    for code in _codes(f.__code__):
        instructions = list(dis.get_instructions(code))
        for now, after in zip(instructions, [*instructions[1:], None], strict=True):
            if now.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
                continue
            name = now.argval
            value, way = _global_of(f, name)
            key: Key = ("global", name)
            step: Path = ((way, name),)
            if isinstance(value, types.ModuleType) and value not in OUR_MODULES:
                is_read = after is not None and after.opname in ("LOAD_ATTR", "LOAD_METHOD")
                if after is None or not is_read or not hasattr(value, after.argval):
                    raise NotCompiled("numba", f"uses the module {name} as a value", where_of(f))
                key, step = ("attr", name, after.argval), (*step, ("attr", after.argval))
                value = getattr(value, after.argval)
            if key not in seen:
                seen.add(key)
                yield key, value, step


def _global_of(f: types.FunctionType, name: str) -> tuple[Any, str]:
    if name in f.__globals__:
        return f.__globals__[name], "global"
    if hasattr(builtins, name):
        return getattr(builtins, name), "global?"
    raise NotCompiled("numba", f"{name} is not defined", where_of(f))


def _take(unit: Unit, key: Key, value: Any, path: Path, above: tuple[Any, ...]) -> None:
    """Sort one captured thing: an argument, a helper, or something to build in."""
    kind = kind_of(value)
    if kind is not None or type(value) is np.ndarray:
        if value.dtype not in WIDE if isinstance(value, np.ndarray | np.generic) else not _fits(value):
            what = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            raise NotCompiled("numba", f"captures {key[-1]}, a {what}", where_of(unit.f), "use 64-bit numbers")
        taken = Capture(path, "input", kind) if kind else Capture(path, "array", (value.dtype, value.ndim))
        name = f"upshift_{len(unit.extra)}_{key[-1]}"
        unit.inputs[key] = name
        unit.extra[name] = taken
    elif isinstance(value, types.FunctionType):
        if plain_of(value) is not value:
            value, path = plain_of(value), (*path, ("attr", "__wrapped__"))
        helper = unit.helpers[key] = unit_of(value, path, above)
        unit.built_in += helper.built_in
        for name, taken in helper.extra.items():
            unit.extra[f"{name}_of_{key[-1]}"] = taken
    elif isinstance(value, tuple):
        unit.built_in.append(Capture(path, "frozen", _frozen(unit, key, value)))
    else:
        unit.built_in.append(Capture(path, "same", None if path[-1][0] == "global?" and value is None else value))


def _fits(value: Any) -> bool:
    return type(value) is not int or fits_int64(value)


def _frozen(unit: Unit, key: Key, value: Any) -> Any:
    try:
        return frozen(value)
    except TypeError:
        raise NotCompiled("numba", f"captures {key[-1]}, a {type(value).__name__}", where_of(unit.f)) from None
