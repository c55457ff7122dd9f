"""Tables and their columns in (pandas, Polars, Arrow); elements for `map`, and its results in the caller's words, out.

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


def map_frames(run: Callable[..., Any], xs: tuple[Any, ...]) -> Any:
    """`run` over the elements of tables and columns; its result is dressed as the first of them is."""
    columns, dress = [], None
    for x in xs:
        kind = _KINDS.get(type(x).__module__.partition(".")[0])
        found = kind(x) if kind is not None else None
        if found is None:
            columns.append(list(x) if kind is not None else x)
            continue
        columns.append(found[0])
        dress = dress or found[1]
    result = run(*columns)
    return result if dress is None else dress(result)
