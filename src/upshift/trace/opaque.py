"""Captured things that cannot be seen into: a trace ends where they are used."""

from __future__ import annotations

from typing import Any

from ..errors import Untraceable
from .names import Mute, refuse


class Unseen:
    """Stands for a lock, a file, a module that acts. To hold it, to pass it on, to ask whether it is None is free."""

    __slots__ = ("_up_refusal",)
    _up_refusal: Untraceable

    def __init__(self, refusal: Untraceable) -> None:
        object.__setattr__(self, "_up_refusal", refusal)


class UnseenCallable(Unseen):
    """The same for what can be called, which `callable` tells."""

    __slots__ = ()


def _refuse(self: Any, *args: Any, **keywords: Any) -> Any:
    refusal = object.__getattribute__(self, "_up_refusal")
    refuse(refusal.reason, refusal.remedy)
    return Mute()


def _read(self: Any, name: str) -> Any:
    return object.__getattribute__(self, name) if name == "_up_refusal" else _refuse(self)


_ASKED = (
    "bool len iter next contains getitem setitem delitem enter exit aenter aexit await hash eq ne lt le gt ge str repr "
    "format int float complex index round trunc floor ceil neg pos abs invert bytes fspath array array_ufunc "
    "setattr delattr reversed length_hint dir"
)
_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor"
for _name in (*_ASKED.split(), *(f"{side}{op}" for op in _BINARY.split() for side in ("", "r", "i"))):
    setattr(Unseen, f"__{_name}__", _refuse)
setattr(Unseen, "__getattribute__", _read)  # noqa: B010 - a type checker has its own ideas of these
setattr(UnseenCallable, "__call__", _refuse)  # noqa: B010
