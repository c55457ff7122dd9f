"""Polars' objects: a Series is its elements, as Python's own; a DataFrame its rows, as dicts."""

from __future__ import annotations

import sys
from typing import Any

from ..columns.unboxed import Unboxed, numbers_of
from .dicts import DictRows
from .results import Dress, dressed


def taken(x: Any) -> tuple[Any, Dress] | None:
    """The elements of a Series or DataFrame, and how results are given back."""
    pl: Any = sys.modules["polars"]
    if isinstance(x, pl.DataFrame):
        rows = DictRows(x, x.columns, lambda table, name: elements_in(table[name]), _rows)
        return rows, _dress(pl, "", len(x))
    if isinstance(x, pl.Series):
        of_lists = x.dtype in (pl.List, pl.Array)  # which iterating gives as Series, and rows have as lists
        return list(x) if of_lists else elements_in(x), _dress(pl, x.name, len(x))
    return None


def _rows(frame: Any) -> Any:
    return frame.iter_rows(named=True)


def _dress(pl: Any, name: str, n: int) -> Dress:
    def column(results: Any) -> Any:
        return pl.Series(name, list(results) if getattr(results, "ndim", 1) > 1 else results, strict=False)

    return lambda result: dressed(result, n, column, pl.DataFrame, nested=True)


def elements_in(series: Any) -> Any:
    """What iterating a Series gives; numbers are not boxed before somebody asks for one."""
    plain = (series.dtype.is_numeric() and not series.dtype.is_decimal()) or str(series.dtype) == "Boolean"
    numbers = numbers_of(series.to_numpy()) if plain and not series.null_count() else None
    return series.to_list() if numbers is None else Unboxed(numbers)
