"""Keeps one object for equal calls, so that steps can be compared by identity."""

from __future__ import annotations

from typing import Any, ClassVar, Self


class Interned:
    """A callable of which one exists for all that it is made of. It counts as a builtin where names are spelled."""

    made: ClassVar[dict[Any, Any]]
    __name__: str

    def __init_subclass__(cls) -> None:
        cls.made = {}

    @classmethod
    def of(cls, *parts: Any) -> Self:
        """The one made of these parts."""
        try:
            found = cls.made.get(parts)
        except TypeError:  # parts that cannot be looked up: one of its own
            return cls(*parts)
        if found is None:
            found = cls.made.setdefault(parts, cls(*parts))
        return found  # type: ignore[no-any-return]

    def called(self, name: str) -> None:
        """Take a name, as functions have one."""
        self.__name__ = self.__qualname__ = name
        self.__module__ = "builtins"
