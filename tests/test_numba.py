"""Every function of the tables in the numba gear: the loop's very bits, or a reason in one sentence."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from functions.table import Data, Row
from law import check
from test_law import BATCHING, ROWS, check_all

pytestmark = pytest.mark.filterwarnings("ignore")
NUMBA_ONLY = ("numba",)
NARROW = frozenset(map(np.dtype, ("int8", "int16", "int32", "uint8", "uint16", "uint32", "float32")))


@pytest.mark.parametrize("row", ROWS)
def test_not_one_bit_differs(row: Row) -> None:
    """The function itself: nothing was traced before.

    All datasets in some rows, a quarter of them in the others; narrow numbers, which have test_narrow.py, in the first.
    """
    chosen = tuple(data for data in row.data if _is_chosen(row, data))
    check_all(row, lambda data: check(row.f, *data.columns, gears=NUMBA_ONLY, exact=True), chosen)


def _is_chosen(row: Row, data: Data) -> bool:
    if zlib.crc32(row.name.encode()) % 8 == 0:
        return True
    return zlib.crc32(f"{row.name} {data.name}".encode()) % 4 == 0 and not any(map(_is_narrow, data.columns))


def _is_narrow(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype in NARROW


@pytest.mark.parametrize("row", BATCHING)
def test_trees_without_branches(row: Row) -> None:
    """What the numpy gear has traced, as one loop without branches."""
    floats = [data for data in row.data if all(map(_is_floats, data.columns))]
    floats = [data for data in floats if _is_chosen(row, data)] or floats[:1]
    if floats:
        check_all(row, lambda data: check(row.f, *data.columns, gears=("numpy", "numba")), tuple(floats))


def _is_floats(column: Any) -> bool:
    if isinstance(column, np.ndarray):
        return column.dtype.kind == "f" and column.ndim == 1
    return isinstance(column, list) and all(type(x) is float for x in column)
