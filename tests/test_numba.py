"""Every function of the tables in the numba gear: the loop's very bits, or a reason in one sentence."""

from __future__ import annotations

import pytest

from functions.table import Row
from law import check
from test_law import ROWS, check_all

pytestmark = pytest.mark.filterwarnings("ignore")
NUMBA_ONLY = ("numba",)


@pytest.mark.parametrize("row", ROWS)
def test_not_one_bit_differs(row: Row) -> None:
    check_all(row, lambda data: check(row.f, *data.columns, gears=NUMBA_ONLY, exact=True))
