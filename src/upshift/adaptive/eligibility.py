"""Which functions stay plain from the start, found by a glance at their bytecode.

The compiler finds out by itself what a function does to the world; JAX, which runs it to see that, does not.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import types
from collections.abc import Iterator
from typing import Any

from ..errors import Refusal
from ..gears.signatures import place_of
from ..libraries import BUILTINS_THAT_ACT
from ..trace.paths import plain_of

WORLDLY = {
    "random": "draws random numbers", "secrets": "draws random numbers", "time": "reads the clock",
    "datetime": "reads the clock", "os": "talks to the system", "sys": "talks to the interpreter",
    "subprocess": "starts processes", "socket": "talks to the network", "logging": "writes a log",
    "threading": "uses threads", "asyncio": "uses tasks", "warnings": "warns", "inspect": "looks at the stack",
}  # fmt: skip
"""Modules whose use gives impurity away, and what it is that they do."""
_STAYS = {
    "PUSH_EXC_INFO": "uses try or with", "STORE_GLOBAL": "writes to a global name",
    "DELETE_GLOBAL": "deletes a global name", "IMPORT_NAME": "imports a module", "STORE_ATTR": "changes an object",
    "DELETE_ATTR": "changes an object",
}  # fmt: skip
_REMEDY = {"prints": "print outside of it", "writes to a global name": "return the value instead"}
_LAZY = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
_BACKWARDS = frozenset(code for name, code in dis.opmap.items() if "JUMP_BACKWARD" in name)
MOST_FUNCTIONS = 32


def is_lazy(f: types.FunctionType) -> bool:
    """Whether calling it runs none of its code yet: a generator or a coroutine."""
    return bool(f.__code__.co_flags & _LAZY)


_NAMED = (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def _has_loop(f: types.FunctionType) -> bool:
    """Whether its own code can go backwards."""
    return not _BACKWARDS.isdisjoint(f.__code__.co_code[::2])


def is_brief(f: types.FunctionType) -> bool:
    """Whether every call runs its few instructions once and calls nothing written in Python."""
    within = any(isinstance(constant, types.CodeType) for constant in f.__code__.co_consts)
    if _has_loop(f) or within or len(f.__code__.co_code) > 512:
        return False
    return all(_is_foreign(value) for value in _values_of(f))


def _is_foreign(value: Any) -> bool:
    if type(value) in (types.FunctionType, types.MethodType):
        return False
    return not callable(value) or type(value).__module__ in ("builtins", "numpy")


def why_plain(f: types.FunctionType) -> Refusal | None:
    """The first thing in a function, or in what it calls, that machine code cannot do; None where nothing is seen."""
    pending, seen = [f], {f.__code__}
    while pending and len(seen) < MOST_FUNCTIONS:
        one = pending.pop()
        reason = _why(one)
        if reason is not None:
            return reason
        for value in _values_of(one):
            inner = plain_of(value)
            if type(inner) is types.FunctionType and inner.__code__ not in seen:
                seen.add(inner.__code__)
                pending.append(inner)
    return None


def _why(f: types.FunctionType) -> Refusal | None:
    if is_lazy(f):
        return Refusal("jax", "it is a generator or a coroutine", place_of(f))
    line = f.__code__.co_firstlineno
    for instruction in dis.get_instructions(f.__code__):
        line = (instruction.positions and instruction.positions.lineno) or line
        reason = _STAYS.get(instruction.opname)
        if instruction.opname == "STORE_DEREF" and instruction.argval in f.__code__.co_freevars:
            reason = "writes to a variable of the function around it"
        elif instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            reason = _worldly(f, instruction.argval)
        if reason:
            return Refusal("jax", reason, place_of(f, line), _REMEDY.get(reason, ""))
    return None


def _worldly(f: types.FunctionType, name: str) -> str | None:
    value = _value(f, name)
    if type(value) is types.ModuleType:
        return WORLDLY.get(value.__name__)
    if value is getattr(builtins, name, None) and name in BUILTINS_THAT_ACT and name not in f.__code__.co_freevars:
        return BUILTINS_THAT_ACT[name]
    if type(value) is types.BuiltinMethodType and type(value.__self__) is not types.ModuleType:
        value = type(value.__self__)  # random.random is a method of a generator
    return WORLDLY.get(value.__module__) if type(value) in _NAMED else None


def _values_of(f: types.FunctionType) -> Iterator[Any]:
    """What a function captures, as far as it is there yet."""
    for cell in f.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue
    for name in f.__code__.co_names:
        if name in f.__globals__ or hasattr(builtins, name):
            yield _global(f, name)


def _value(f: types.FunctionType, name: str) -> Any:
    """What a name stands for now, in the function around it or globally."""
    if name not in f.__code__.co_freevars:
        return _global(f, name)
    try:
        return (f.__closure__ or ())[f.__code__.co_freevars.index(name)].cell_contents
    except (ValueError, IndexError):
        return None


def _global(f: types.FunctionType, name: str) -> Any:
    return f.__globals__.get(name, getattr(builtins, name, None))
