"""Copies of what a function captured, which refuse to be changed: how impure functions are found out."""

from __future__ import annotations

import types
from typing import Any

from ..errors import Untraceable
from .classes import OWN_DICT, Copied
from .names import refuse
from .record import Trace


def _refusing(base: type, methods: str) -> Any:
    def refuse_change(self: Any, *args: Any, **keywords: Any) -> None:
        refuse(f"changes a captured {base.__name__}", "return the value instead")

    body = {**dict.fromkeys(methods.split(), refuse_change), "__class__": property(lambda self: base)}
    return type(f"Held{base.__name__.capitalize()}", (base,), {**body, "__module__": __name__})


HeldList = _refusing(
    list, "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__"
)
HeldDict = _refusing(dict, "__setitem__ __delitem__ pop popitem clear update setdefault __ior__")
HeldSet = _refusing(set, "add remove discard pop clear update intersection_update difference_update "
                         "symmetric_difference_update __ior__ __iand__ __isub__ __ixor__")  # fmt: skip


def contents_of(copy: Any) -> list[Any]:
    """What a container holds, by identity; what was stored in a captured object past its own `__setattr__`."""
    if type(type(copy)) is Copied:
        return stored_in(copy)
    items = [*copy, *copy.values()] if isinstance(copy, dict) else list(copy)
    return [id(item) for item in items] if not isinstance(copy, set) else sorted(map(id, items))


def stored_in(copy: Any) -> list[Any]:
    """What `object.__setattr__` has put into the copy of a captured object, which holds nothing of its own."""
    found: list[Any] = []
    for owner in type(copy).__mro__[:-1]:
        for name, member in OWN_DICT.__get__(owner).items():
            if type(member) is types.MemberDescriptorType:
                found += _in_slot(member, copy)
            elif type(member) is types.GetSetDescriptorType and name == "__dict__":
                found += map(id, member.__get__(copy).values())
    return found


def _in_slot(member: Any, copy: Any) -> list[int]:
    try:
        return [id(member.__get__(copy))]
    except AttributeError:  # it is empty
        return []


def refuse_changes(trace: Trace) -> None:
    """The last look at what a trace was given: a copied container that changed betrays an impure function."""
    for copy, before in trace.watched:
        if contents_of(copy) != before:
            name = "function" if type(copy) is dict else type(copy).__mro__[1].__qualname__
            raise Untraceable(f"changes a captured {name}", "return the value instead")
