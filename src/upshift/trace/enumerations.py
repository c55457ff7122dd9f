"""Why the methods of an enumeration, which cannot be traced, may do more than compute.

Members of an enumeration are known by identity, so that no copy can stand for them: their methods run as they are, on
lane values. What they are made of is looked at beforehand.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import types
from typing import Any

from ..libraries import acting, is_left_alone
from .paths import frozen
from .standins import STANDINS

_STORES = ("STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL", "DELETE_GLOBAL",
           "STORE_DEREF", "DELETE_DEREF", "IMPORT_NAME")  # fmt: skip
_CHANGES = frozenset(
    "append appendleft extend insert pop popleft popitem remove clear sort reverse add discard update setdefault write "
    "writelines send throw close put get_nowait acquire release set_result fill itemset resize setflags".split()
)


def why_not_vetted(cls: type[enum.Enum]) -> str:
    """What the methods of an enumeration do that a trace would not see; empty where that is plainly nothing."""
    own = [c for c in cls.__mro__ if issubclass(c, enum.Enum) and not is_left_alone(c.__module__)]
    functions = [f for c in own for f in map(_function_in, vars(c).values()) if f is not None]
    if not functions:
        return ""
    for member in cls:
        try:
            frozen({name: value for name, value in vars(member).items() if name not in _OF_ENUMS})
        except TypeError:
            return f"its member {member.name} holds more than plain values"
    return next(filter(None, map(_why_impure, functions)), "")


_OF_ENUMS = ("__objclass__", "_sort_order_")


def _function_in(member: Any) -> types.FunctionType | None:
    if isinstance(member, property):
        member = member.fget
    elif isinstance(member, functools.cached_property):
        member = member.func
    inner = getattr(member, "__func__", member)
    plain = isinstance(inner, types.FunctionType) and not is_left_alone(inner.__module__ or "")
    return inner if plain else None


def _why_impure(f: types.FunctionType) -> str:
    closure = dict(zip(f.__code__.co_freevars, f.__closure__ or ()))
    pending, where = [f.__code__], f"{f.__qualname__}"
    while pending:
        code = pending.pop()
        pending += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname in _STORES and not (instruction.opname.endswith("DEREF") and name not in closure):
                return f"{where} stores"
            if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and name in _CHANGES:
                return f"{where} calls .{name}"
            if instruction.opname == "LOAD_GLOBAL" and not _is_harmless(
                f.__globals__.get(name, vars(builtins).get(name))
            ):
                return f"{where} uses {name}"
            if instruction.opname == "LOAD_DEREF" and name in closure and not _is_harmless(closure[name].cell_contents):
                return f"{where} uses {name}"
    return ""


def _is_harmless(value: Any) -> bool:
    """Whether nothing can be done to, or by, what a method captured."""
    if isinstance(value, types.ModuleType):
        return is_left_alone(value.__name__)
    if isinstance(value, type):
        return is_left_alone(value.__module__) or issubclass(value, enum.Enum)
    if isinstance(value, types.BuiltinFunctionType | types.FunctionType) or callable(value):
        module = getattr(value, "__module__", None) or ""
        refused = getattr(STANDINS.get(value) if _hashable(value) else None, "__name__", "") == "refused"
        return is_left_alone(module) and not acting(module, getattr(value, "__name__", "")) and not refused
    try:
        frozen(value)
    except TypeError:
        return False
    return not isinstance(value, list | dict | set)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
