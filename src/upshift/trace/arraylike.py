"""Objects of the user's classes that Python and NumPy ask for numbers and arrays.

Python and NumPy insist on true floats and arrays from `__float__` and `__array__`. In a traced copy these methods give
lane values, so that they are called here, by what stands in for `float`, `math.sin`, `np.sum` and the like.
"""

from __future__ import annotations

import types
from typing import Any

from .lane import is_lane


def number_of(value: Any, name: str = "__float__") -> Any:
    """What a method such as `__float__` of the user's gives; the value itself where there is none."""
    if is_aware(value):
        return value._up_numbers() if hasattr(value, "_up_numbers") else value
    return getattr(value, name)() if _is_own(value, name) else value


def array_of(value: Any) -> Any:
    """What a user's `__array__` gives, also within lists and tuples; all else as it is."""
    if type(value) in (list, tuple):
        return type(value)(map(array_of, value))
    return number_of(value, "__array__")


def is_aware(value: Any) -> bool:
    """Whether this is, or is of, a class of ours that is written for lane values, so that it needs no copy.

    Its `_up_numbers`, where it has one, gives the number or array that it stands for.
    """
    return getattr(value if isinstance(value, type) else type(value), "_up_aware", False) is True


def as_ufunc(self: Any, ufunc: Any, method: str, *args: Any, **keywords: Any) -> Any:
    """The `__array_ufunc__` of a copied class that has only `__array__`."""
    return getattr(ufunc, method)(*map(array_of, args), **keywords)


def _is_own(value: Any, name: str) -> bool:
    return not is_lane(value) and isinstance(getattr(type(value), name, None), types.FunctionType)
