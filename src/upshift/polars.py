"""Polars' plug-in: `pl.col("x").upshift.map(f)`, `s.upshift.map(f)`, `df.upshift.map(f)`, once this is imported."""

from __future__ import annotations

from typing import Any

from .api import map as mapped


class Namespace:
    """`up.map` over the elements of a Series, the rows of a DataFrame, or what an expression gives."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def map(self, f: Any, return_dtype: Any = None, **words: Any) -> Any:
        """`up.map(f, data, **words)`; of an expression, with the dtype that `map_batches` is told."""
        if hasattr(self._data, "map_batches") and hasattr(self._data, "over"):
            return self._data.map_batches(lambda column: _column(mapped(f, column, **words)), return_dtype=return_dtype)
        return mapped(f, self._data, **words)


def _column(result: Any) -> Any:
    """What an expression gives is one column: a table is one of structs."""
    return result.to_struct() if hasattr(result, "to_struct") else result


def _register() -> None:
    import polars as pl

    if not hasattr(pl.Expr, "upshift"):
        for register in (
            pl.api.register_expr_namespace, pl.api.register_series_namespace, pl.api.register_dataframe_namespace
        ):  # fmt: skip
            register("upshift")(Namespace)


_register()
