"""pandas' objects: a Series is its elements, as iterating it gives them; a DataFrame its rows, as `apply` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..columns.fields import NotFields
from ..columns.inputs import Rows
from ..columns.unboxed import Unboxed, numbers_of
from .results import Dress, dressed


def taken(x: Any) -> tuple[Any, Dress] | None:
    """The elements of a Series or DataFrame, and how results are given back."""
    pd: Any = sys.modules["pandas"]
    if isinstance(x, pd.DataFrame):
        return FrameRows(x), _dress(pd, x.index, None)
    if isinstance(x, pd.Series):
        if isinstance(x.dtype, np.dtype | pd.CategoricalDtype):  # whose own loop has one call for a category
            return elements_in(x), _dress(pd, x.index, x.name)
        return elements_in(x), _dress_like(pd, x)
    return None


def _dress_like(pd: Any, series: Any) -> Dress:
    """Of a dtype that decides itself what becomes of results: its own loop is given them one by one."""

    def column(results: Any) -> Any:
        following = iter(list(results))
        return series.map(lambda _: next(following))

    return lambda result: dressed(result, len(series), column, pd.DataFrame)


def _dress(pd: Any, index: Any, name: Any) -> Dress:
    def dress(result: Any) -> Any:
        return dressed(result, len(index), lambda c: pd.Series(c, index=index, name=name), pd.DataFrame)

    return dress


def elements_in(series: Any) -> Any:
    """What iterating a Series gives; numbers are not boxed before somebody asks for one."""
    numbers = numbers_of(series.to_numpy()) if isinstance(series.dtype, np.dtype) else None
    return list(series) if numbers is None else Unboxed(numbers)


class FrameRows(Rows):
    """A DataFrame as its rows, each a Series whose dtype is common to all columns."""

    def __init__(self, frame: Any, dtype: Any = None) -> None:
        self.frame = frame
        self.dtype = dtype or (frame.iloc[0].dtype if len(frame) else None)
        self.kind = (str(self.dtype), tuple(map(str, frame.dtypes)), tuple(frame.columns))

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return FrameRows(self.frame.iloc[i], self.dtype)
        i = range(len(self.frame))[i]
        return next(
            iter(self[i : i + 1])
        )  # `iloc[i]` would have NumPy's scalars where iterating gives Python's numbers

    def __iter__(self) -> Iterator[Any]:
        frame, dtype = self.frame, self.dtype
        if not isinstance(dtype, np.dtype):
            return (frame.iloc[i] for i in range(len(frame)))
        row = sys.modules["pandas"].Series
        return (row(values, frame.columns, dtype, name) for name, values in zip(frame.index, frame.to_numpy()))

    def field(self, how: str, name: Any) -> Any:
        """A column, in the dtype that rows have; where that is `object`, numbers are Python's own."""
        frame = self.frame
        if not frame.columns.is_unique or name not in frame.columns:
            raise NotFields(f"there is no one column {name!r}")
        if how == "attr" and hasattr(sys.modules["pandas"].Series, name):
            raise NotFields(f"{name!r} is an attribute of every row")
        column = frame[name]
        if not isinstance(self.dtype, np.dtype) or (self.dtype.kind not in "biufcO"):
            raise NotFields(f"rows are of dtype {self.dtype}")
        return elements_in(column) if self.dtype == object else column.to_numpy(self.dtype)
