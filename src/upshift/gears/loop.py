"""Plain Python, the reference: elements in, the function's own results out, an error named by its element."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..columns.inputs import Elements, Records
from ..columns.kinds import Column
from ..errors import name_element

OnError = str | tuple[str, Any]
SKIPPED = object()
"""Stands for a result that `on_error="skip"` leaves out."""


def check_policy(on_error: Any) -> None:
    """The words that `on_error` may be."""
    fill = isinstance(on_error, tuple) and len(on_error) == 2 and on_error[0] == "fill"
    if not fill and on_error not in ("raise", "return", "skip"):
        raise ValueError(f'on_error must be "raise", "return", "skip" or ("fill", value), not {on_error!r}')


def run_loop(
    call: Callable[..., Any],
    columns: Sequence[Elements],
    on_error: OnError,
    offset: int = 0,
    positions: Sequence[int] | Column | None = None,
) -> list[Any]:
    """`[call(*row) for row in zip(*columns)]`, at that very speed. Errors name positions, or count from `offset`."""
    if on_error != "raise":
        at = itertools.count(offset) if positions is None else positions
        return [call_one(call, row, int(i), on_error) for i, row in zip(at, zip(*columns, strict=True), strict=False)]
    first = iter(columns[0])
    try:
        if len(columns) == 1:
            return [call(element) for element in first]
        if len(columns) == 2:
            return [call(a, b) for a, b in zip(first, columns[1])]
        return [call(*row) for row in zip(first, *columns[1:])]
    except Exception as error:
        i = _reached(columns[0], first)
        name_element(
            error, offset + i if positions is None else int(positions[i]), tuple(column[i] for column in columns)
        )
        raise


def _reached(column: Elements, iterator: Any) -> int:
    """The position of the element that an iterator has just yielded."""
    if isinstance(column, Records):
        column, iterator = column.columns[0], iterator.gi_frame.f_locals["first"]
        return _reached(column, iterator)
    return len(column) - int(iterator.__length_hint__()) - 1


def call_one(call: Callable[..., Any], row: tuple[Any, ...], i: int, on_error: OnError) -> Any:
    """One element by the plain function, under the policy for errors."""
    try:
        return call(*row)
    except Exception as error:
        name_element(error, i, row)
        if on_error == "raise":
            raise
        if on_error == "return":
            return error
        return SKIPPED if on_error == "skip" else on_error[1]
