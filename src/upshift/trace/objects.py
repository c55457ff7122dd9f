"""What a traced function sees of the user's captured objects: read as they are used, never changed."""

from __future__ import annotations

import types
from typing import Any

from ..errors import Untraceable
from .classes import Copied, class_seen, copy_of, make_class, order_of
from .names import refuse, user_line
from .paths import Path


def proxy_of(holder: Any, value: Any, path: Path) -> Any:
    """An object that holds the attributes of another as they are read, and refuses stores."""
    cls: Any = type(value)
    holder.note(path, "type", cls)

    def read(self: Any, name: str) -> Any:
        return _attribute(holder, self, value, path, name)

    def refuse_store(self: Any, *args: Any) -> None:
        refuse(f"changes a captured {cls.__qualname__}", "return the value instead")

    of_class = (*path, ("class", None))
    seen = copy_of(holder, cls, of_class)
    body = {"__getattribute__": read, "__setattr__": refuse_store, "__delattr__": refuse_store}
    order = (seen, *order_of(holder, cls, of_class)[1:])
    bases = (seen,) if type(seen) is Copied else ()
    proxy: Any = make_class(cls, bases, order, {**body, "_up_seen": seen, "__slots__": ()})
    if not isinstance(value, tuple):
        return holder.watched(object.__new__(proxy))
    items = [holder.hold(item, (*path, ("item", i))) for i, item in enumerate(value)]
    return holder.watched(tuple.__new__(proxy, items))


def _attribute(holder: Any, copy: Any, value: Any, path: Path, name: str) -> Any:
    """An attribute of a captured object: its own, its class's, or what a method or a property of its class makes."""
    static = next((vars(owner)[name] for owner in type(value).__mro__ if name in vars(owner)), None)
    own = getattr(value, "__dict__", {})
    if name == "__class__":
        return class_seen(copy)
    if name == "__dict__":
        raise Untraceable("reads the __dict__ of a captured object", where=user_line())
    asked_first = hasattr(type(static), "__set__") and not isinstance(static, types.MemberDescriptorType)
    if isinstance(static, types.MemberDescriptorType) or (name in own and not asked_first):
        return holder.hold(getattr(value, name), (*path, ("attr", name)))
    if static is None or hasattr(type(static), "__get__"):
        return object.__getattribute__(copy, name)
    return holder.hold(static, (*path, ("attr", name)))
