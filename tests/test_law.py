"""Every function of the tables, with each of its datasets, in every gear: the same as the loop."""

from __future__ import annotations

import cmath
import itertools
import math
import traceback
from collections.abc import Callable

import numpy as np
import pytest

from functions.table import Data, Row
from functions.tables import TABLES
from law import check

pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = [pytest.param(row, id=f"{table.name}-{row.name}") for table in TABLES for row in table.rows]
BATCHING = [param for param in ROWS if param.values[0].must_batch]
NUMPY_ONLY = ("numpy",)
ADAPTIVE = (None,)


@pytest.mark.parametrize("row", ROWS)
def test_same_as_the_loop(row: Row, record_property):
    refusals = check_all(row, lambda data: check(row.f, *data.columns, must_batch=row.must_batch and data.easy))
    if any(refusals):
        record_property("loop only", refusals)


@pytest.mark.parametrize("row", ROWS)
def test_not_one_bit_differs_when_exact(row: Row):
    check_all(row, lambda data: check(row.f, *data.columns, gears=NUMPY_ONLY, exact=True))


@pytest.mark.parametrize("row", BATCHING)
def test_shifting_in_mid_call(row: Row):
    """Long enough that an adaptive call leaves the loop before its end."""
    arrays = [data for data in row.data if data.easy and isinstance(data.columns[0], np.ndarray)]
    lists = [data for data in row.data if data.easy and isinstance(data.columns[0], list)]
    chosen = {data.name: data for data in (*arrays[:1], *lists[:1])}
    columns = {name: [lengthen(column, 3000) for column in data.columns] for name, data in chosen.items()}
    check_all(row, lambda data: check(row.f, *columns[data.name], gears=ADAPTIVE), tuple(chosen.values()))


def check_all(row: Row, check_one: Callable[[Data], str | None], datasets: tuple[Data, ...] = ()) -> list[str | None]:
    """All datasets are tried; the failure names each that fails, and tells the first in full."""
    failures, refusals = {}, []
    for data in datasets or row.data:
        try:
            refusals.append(check_one(data))
        except AssertionError as difference:
            failures[data.name] = str(difference)
        except Exception as error:
            failures[data.name] = f"{type(error).__name__}: {error}\n" + "".join(
                traceback.format_tb(error.__traceback__)
            )
    if failures:
        names = ", ".join(failures)
        raise AssertionError(f"{len(failures)} of {len(row.data)} datasets ({names})\n{next(iter(failures.values()))}")
    return refusals


def lengthen(column, count):
    if isinstance(column, np.ndarray):
        return np.resize(column, count) if column.size else column
    column = list(column)
    return list(itertools.islice(itertools.cycle(column), count)) if column else column


def test_every_function_of_math_is_in_the_table():
    assert missing("maths", "math_", math) == set()


def test_every_function_of_cmath_is_in_the_table():
    assert missing("cmaths", "cmath_", cmath) == set()


def missing(table_name, prefix, module):
    table = next(table for table in TABLES if table.name == table_name)
    tested = {row.name.removeprefix(prefix) for row in table.rows}
    public = {name for name in dir(module) if not name.startswith("_") and callable(getattr(module, name))}
    return public - tested


def test_the_tables_are_large_enough():
    assert sum(len(table.rows) for table in TABLES) >= 170
