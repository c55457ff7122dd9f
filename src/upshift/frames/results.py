"""What `map` gives, in the caller's words: a column for numbers, texts and objects, a table for a dict of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

Dress = Callable[[Any], Any]
RESULT = "result"
"""The column of results that are no records, where there has to be one."""


def dressed(result: Any, n: int, column: Dress, table: Dress, nested: bool = False) -> Any:
    """`column` makes a column of n values, `table` a table of a dict of them; what is neither stays as it is.

    `nested`: whether values of a column may be arrays.
    """
    if isinstance(result, np.ndarray):
        return column(result) if (nested or result.ndim == 1) and len(result) == n else result
    if isinstance(result, list):
        return column(result) if len(result) == n else result
    if type(result) is dict:
        made = {key: dressed(value, n, column, table, nested) for key, value in result.items()}
        columns = all(isinstance(key, str) for key in made) and all(made[k] is not result[k] for k in made)
        return table(made) if columns else made
    if type(result) is tuple:
        return tuple([dressed(value, n, column, table, nested) for value in result])
    return result


def fields_of(result: Any) -> dict[str, Any] | None:
    """The columns of a record of them."""
    if type(result) is dict:
        return {str(name): column for name, column in result.items()}
    if isinstance(result, tuple):
        names = getattr(type(result), "_fields", None) or [str(i) for i in range(len(result))]
        return dict(zip(names, result))
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return None
