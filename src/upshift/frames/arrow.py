"""Arrow's objects: an array is its elements, as Python's own; a table its rows, as dicts."""

from __future__ import annotations

import sys
from typing import Any

from ..columns.unboxed import Unboxed, numbers_of
from .dicts import DictRows
from .results import Dress, dressed


def taken(x: Any) -> tuple[Any, Dress] | None:
    """The elements of an array or a table, and how results are given back."""
    pa: Any = sys.modules["pyarrow"]
    if isinstance(x, pa.Table | pa.RecordBatch):
        rows = DictRows(x, x.schema.names, lambda table, name: elements_in(table.column(name)), _rows)
        return rows, _dress(pa, len(x))
    if isinstance(x, pa.Array | pa.ChunkedArray):
        return elements_in(x), _dress(pa, len(x))
    return None


def _rows(table: Any) -> Any:
    return table.to_pylist()


def _dress(pa: Any, n: int) -> Dress:
    def column(results: Any) -> Any:
        return pa.array(list(results) if getattr(results, "ndim", 1) > 1 else results)

    return lambda result: dressed(result, n, column, pa.table, nested=True)


def elements_in(array: Any) -> Any:
    """What `to_pylist` gives; numbers are not boxed before somebody asks for one."""
    types = sys.modules["pyarrow"].types
    plain = types.is_integer(array.type) or types.is_floating(array.type) or types.is_boolean(array.type)
    if not plain or array.null_count:
        return array.to_pylist()
    whole = array.combine_chunks() if hasattr(array, "combine_chunks") else array
    numbers = numbers_of(whole.to_numpy(zero_copy_only=False))
    return array.to_pylist() if numbers is None else Unboxed(numbers)
