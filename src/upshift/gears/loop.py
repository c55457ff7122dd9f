"""The gear `loop`: plain Python, the reference. An error is named by its element."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..columns.inputs import Elements, Records, Rows, copied
from ..columns.kinds import Column
from ..errors import is_refused_write, name_element
from ..trace.positions import Apart

OnError = Literal["raise", "return", "skip"] | tuple[Literal["fill"], Any]


class _Skipped:
    def __reduce__(self) -> str:  # there is one of it in every process
        return "SKIPPED"


SKIPPED = _Skipped()
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
    if any(_holds_arrays(column) for column in columns):
        return run_over_arrays(call, columns, on_error, offset, positions)
    return run_plain(call, columns, on_error, offset, positions)


def run_plain(
    call: Callable[..., Any],
    columns: Sequence[Elements],
    on_error: OnError = "raise",
    offset: int = 0,
    positions: Sequence[int] | Column | None = None,
) -> list[Any]:
    """The loop over elements that are no arrays."""
    if on_error != "raise":
        at = itertools.count(offset) if positions is None else positions
        return [call_one(call, row, int(i), on_error) for i, row in zip(at, zip(*columns, strict=True), strict=False)]
    if len(columns) == 1 and positions is None and not _is(columns[0], Rows):
        return run_column(call, columns[0], offset)
    first = place = iter(columns[0])
    if _is(columns[0], Rows):  # whose iterators do not tell where they are
        place = iter(range(len(columns[0])))
        first = (row for row, _ in zip(columns[0], place))
    try:
        if len(columns) == 1:
            return [call(element) for element in first]
        if len(columns) == 2:
            return [call(a, b) for a, b in zip(first, columns[1])]
        return [call(*row) for row in zip(first, *columns[1:])]
    except Exception as error:
        i = _reached(columns[0], place)
        name_element(
            error, offset + i if positions is None else int(positions[i]), tuple(column[i] for column in columns)
        )
        raise


def run_column(call: Callable[..., Any], column: Elements, offset: int = 0) -> list[Any]:
    """The loop over one column of elements that are no arrays."""
    place = iter(column)
    try:
        return [call(element) for element in place]
    except Exception as error:
        name_reached(error, column, place, offset)
        raise


def name_reached(error: Exception, column: Elements, place: Any, offset: int = 0) -> None:
    """An error says which element raised it: the one that an iterator over the column has just yielded."""
    i = _reached(column, place)
    name_element(error, offset + i, (column[i],))


def _is(column: Elements, cls: type[Rows] | type[Records]) -> bool:
    """Whether a column is of a class that has subclasses to ask, which takes a quarter of a microsecond."""
    return type(column) is not list and type(column) is not np.ndarray and isinstance(column, cls)


def _holds_arrays(column: Elements) -> bool:
    if _is(column, Records):
        return any(map(_holds_arrays, column.columns))  # type: ignore[union-attr]
    return isinstance(column[0] if len(column) else None, np.ndarray)


def run_over_arrays(
    call: Callable[..., Any],
    columns: Sequence[Elements],
    on_error: OnError = "raise",
    offset: int = 0,
    positions: Any = None,
) -> list[Any]:
    """The loop over elements that are the caller's own arrays, read-only; copies for a function that writes into them.

    Arrays are copied from the first element on that was refused a write, so that the caller's data never changes.
    """
    results: list[Any] = []
    sly = writes_unseen(call)
    try:
        if on_error == "raise" and not sly:
            one = len(columns) == 1
            results.extend(map(call, columns[0]) if one else itertools.starmap(call, zip(*columns, strict=True)))
            return results
    except Exception as error:
        i = len(results)
        if not is_refused_write(error):
            name_element(error, _position(i, offset, positions), tuple(column[i] for column in columns))
            raise
    copying = sly or len(results) > 0 or on_error == "raise"
    for i in range(len(results), len(columns[0])):
        row = tuple(column[i] for column in columns)
        at = _position(i, offset, positions)
        if not copying:
            try:
                results.append(call(*row))
                continue
            except Exception as error:
                if not is_refused_write(error):
                    results.append(_answer(error, row, at, on_error))
                    continue
                copying = True
        results.append(call_one(call, copied(row), at, on_error))
    return results


_SLY = frozenset(("at", "setflags", "ctypes", "__array_interface__"))
"""Names by which an array can be written to although it is read-only."""
_known_sly: dict[tuple[types.CodeType, ...], bool] = {}
_MOST_SLY = 1024


def writes_unseen(call: Any) -> bool:
    """Whether a function, or one that it calls, uses a name that writes through the read-only flag."""
    if type(call) is not types.FunctionType:
        return _uses_sly_names(call)
    inside = [cell.cell_contents for cell in call.__closure__ or () if cell_is_filled(cell)]
    key = (call.__code__, *[f.__code__ for f in inside if type(f) is types.FunctionType])
    found = _known_sly.get(key)
    if found is None:
        if len(_known_sly) >= _MOST_SLY:
            _known_sly.clear()
        found = _known_sly[key] = _uses_sly_names(call)
    return found


def _uses_sly_names(call: Any) -> bool:
    pending: list[Any] = [call]
    seen: set[int] = set()
    while pending:
        f = pending.pop()
        while isinstance(f, functools.partial | types.MethodType | Apart):
            f = f.f if isinstance(f, Apart) else f.func if isinstance(f, functools.partial) else f.__func__
        if not isinstance(f, types.FunctionType) or id(f) in seen:
            continue
        seen.add(id(f))
        codes = [f.__code__]
        while codes:
            code = codes.pop()
            if _SLY & set(code.co_names):
                return True
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
            pending += [f.__globals__[name] for name in code.co_names if name in f.__globals__]
        pending += [cell.cell_contents for cell in f.__closure__ or () if cell_is_filled(cell)]
    return False


def cell_is_filled(cell: types.CellType) -> bool:
    """Whether a variable of a function around has a value by now."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _position(i: int, offset: int, positions: Any) -> int:
    return offset + i if positions is None else int(positions[i])


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
        return _answer(error, row, i, on_error)


def _answer(error: Exception, row: tuple[Any, ...], i: int, on_error: OnError) -> Any:
    """What stands for the result of an element that raised."""
    name_element(error, i, row)
    if on_error == "raise":
        raise error
    if on_error == "return":
        return error
    return SKIPPED if on_error == "skip" else on_error[1]
