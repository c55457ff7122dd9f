"""Makes a function of one element one of batches, for libraries that cut batches themselves, such as Ray's datasets.

ds.map_batches(up.batched(f))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .api import map
from .frames.results import RESULT, fields_of
from .gears.frameworks import owner_of
from .gears.workers.functions import function_parcel, unpacked


class Batched:
    """Runs `map` over a batch: a dict of columns, a DataFrame or a table, whose rows are the elements."""

    def __init__(self, f: Callable[..., Any], words: dict[str, Any]) -> None:
        self.f, self.words = f, words
        self.__name__ = f"batched({getattr(f, '__name__', type(f).__name__)})"

    def __repr__(self) -> str:
        return self.__name__

    def __reduce__(self) -> Any:
        """By value, with the globals that `f` reads: a worker need not have its module."""
        parcel, _ = function_parcel(self.f, self.words, None)
        return _received, ([bytes(part) for part in parcel.parts],)

    def __call__(self, batch: Any) -> Any:
        result = map(self.f, batch, **self.words)
        if owner_of((batch,)) == "frames":
            return _table(result, batch)
        return fields_of(result) or {RESULT: result}


def _received(parts: list[bytes]) -> Batched:
    f, words, _ = unpacked(parts)
    return Batched(f, words)


def _table(result: Any, batch: Any) -> Any:
    """A column of results as a table of the batch's class, with the one column `result`."""
    if type(result) is type(batch):
        return result
    if hasattr(result, "to_frame"):
        return result.to_frame(RESULT)
    return type(batch).from_arrays([result], [RESULT]) if hasattr(type(batch), "from_arrays") else result


def batched(f: Callable[..., Any], **words: Any) -> Batched:
    """`f` of one element as a function of a batch, for `ray.data.Dataset.map_batches`. `words`: as for `map`.

    >>> import numpy as np
    >>> import upshift as up
    >>> g = up.batched(lambda row: {"total": row["net"] * (1 + row["rate"])})
    >>> g({"net": np.array([1.0, 2.0]), "rate": np.array([0.5, 0.0])})
    {'total': array([1.5, 2. ])}
    """
    return Batched(f, words)
