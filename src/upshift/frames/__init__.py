"""Tables of pandas, Polars and Arrow: their elements for `map`, and its results in the caller's words.

No framework is imported here: where a table is passed, its library is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import arrow, pandas, polars
from .results import Dress

_KINDS: dict[str, Callable[[Any], tuple[Any, Dress] | None]] = {
    "pandas": pandas.taken, "polars": polars.taken, "pyarrow": arrow.taken,
}  # fmt: skip


def taken(xs: tuple[Any, ...]) -> tuple[list[Any], Dress]:
    """The elements of all columns, and how a result is dressed: as the first table or column of a table is."""
    columns, dresses = [], []
    for x in xs:
        kind = _KINDS.get(type(x).__module__.partition(".")[0])
        found = kind(x) if kind is not None else None
        if found is not None:
            columns.append(found[0])
            dresses.append(found[1])
        else:
            columns.append(x if kind is None else list(x))
    return columns, dresses[0] if dresses else lambda result: result
