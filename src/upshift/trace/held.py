"""Copies of what a function captured, which refuse to be changed: how impure functions are found out."""

from __future__ import annotations

import abc
from typing import Any, NoReturn

from ..errors import Untraceable
from .names import user_line
from .record import Trace


class Copied(type):
    """The class of copied classes: what is an instance of the user's class is one of the copy."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._up_original)  # type: ignore[attr-defined]

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._up_original)  # type: ignore[attr-defined]

    def __setattr__(cls, name: str, value: Any) -> None:
        if not name.startswith(("__abstract", "_abc_")):
            raise Untraceable(f"changes the class {cls.__name__}", "return the value instead", user_line())
        type.__setattr__(cls, name, value)


class CopiedABC(abc.ABCMeta):
    """The same, of abstract classes."""

    __instancecheck__ = Copied.__instancecheck__
    __subclasscheck__ = Copied.__subclasscheck__
    __setattr__ = Copied.__setattr__


def _refusing(base: type, methods: str) -> Any:
    def refuse(self: Any, *args: Any, **keywords: Any) -> NoReturn:
        raise Untraceable(f"changes a captured {base.__name__}", "return the value instead", user_line())

    return type(f"Held{base.__name__.capitalize()}", (base,), dict.fromkeys(methods.split(), refuse))


HeldList = _refusing(
    list, "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__"
)
HeldDict = _refusing(dict, "__setitem__ __delitem__ pop popitem clear update setdefault __ior__")
HeldSet = _refusing(set, "add remove discard pop clear update intersection_update difference_update "
                         "symmetric_difference_update __ior__ __iand__ __isub__ __ixor__")  # fmt: skip


def contents_of(copy: Any) -> list[Any]:
    """What a container holds, by identity."""
    items = [*copy, *copy.values()] if isinstance(copy, dict) else list(copy)
    return [id(item) for item in items] if not isinstance(copy, set) else sorted(map(id, items))


def refuse_changes(trace: Trace) -> None:
    """The last look at what a trace was given: a copied container that changed betrays an impure function."""
    for copy, before in trace.watched:
        if contents_of(copy) != before:
            name = "function" if type(copy) is dict else type(copy).__mro__[1].__name__
            raise Untraceable(f"changes a captured {name}", "return the value instead")
