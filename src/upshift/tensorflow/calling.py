"""Calls a NumPy function on TensorFlow's memory, with copies only where they are needed.

The function may read the arrays but not write into them, since they are tensors of the user's. One that is refused a
write gets copies from there on.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..columns.inputs import copied, protected
from ..errors import is_refused_write
from ..gears.loop import writes_unseen
from .bridge import as_own
from .captured import snapshot_of
from .code import facts_of


class Caller:
    """A function, and whether it writes into what it is given."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        code = getattr(func, "__code__", None)
        writes = isinstance(code, types.CodeType) and facts_of(code).writes_items
        self.copies = writes_unseen(func) or (writes and bool(snapshot_of(func).acts))
        """Once it has acted it cannot be called again, so that it must not be refused a write."""

    def __call__(self, args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Its result, alone in a list, so that nobody else holds it; and what it was given."""
        given = self._given(args)
        try:
            return [self.func(*given)], given
        except Exception as error:
            if self.copies or not is_refused_write(error):
                raise
        self.copies = True
        given = self._given(args)
        return [self.func(*given)], given

    def _given(self, args: Sequence[Any]) -> list[Any]:
        return [_own(arg) if self.copies else protected(arg) for arg in args]


def _own(arg: Any) -> Any:
    """TensorFlow hands over its tensor's memory, which a function that writes would change for everybody."""
    if not isinstance(arg, np.ndarray):
        return copied((arg,))[0]
    return as_own(arg) if arg.dtype.kind in "biufc" else np.array(arg)
