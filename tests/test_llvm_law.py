"""Every function of the tables in the gear llvm: the loop's very bits, and refused only where that is stated."""

from __future__ import annotations

import pytest

from functions import refusals
from functions.table import Data, Row
from functions.tables import TABLES
from law import check
from test_law import check_all
from upshift.compiler import kernel

pytestmark = pytest.mark.filterwarnings("ignore")
LLVM_ONLY = ("llvm",)
ROWS = {f"{table.name}-{row.name}": row for table in TABLES for row in table.rows}
STATED = refusals.stated()


@pytest.mark.parametrize("name", ROWS)
def test_not_one_bit_differs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All datasets; what is refused is what `functions/refusals.txt` says."""
    monkeypatch.setattr(kernel, "GUARDED", False)
    row, reasons = ROWS[name], {}

    def check_one(data: Data) -> str | None:
        refusal = check(row.f, *data.columns, gears=LLVM_ONLY, exact=True)
        if refusal is not None:
            reasons[data.name] = refusals.shortened(refusal)
        return refusal

    check_all(row, check_one)
    found, stated = refusals.told(row, reasons), STATED.get(name, {})
    told = "".join(f"\n  {line}" for line in refusals.lines_of(name, found))
    assert found == stated, f"refused:{told}\nwhere that is meant, run `python -m functions.refusals` in tests/"


def test_what_is_stated_is_in_the_tables() -> None:
    assert set(STATED) <= set(ROWS)


def test_nearly_all_compile() -> None:
    assert len(STATED) < 0.16 * len(ROWS)


def test_a_new_refusal_is_told() -> None:
    row = Row("f", len, tuple(Data(name, ([1],)) for name in "abc"), True)
    assert refusals.told(row, {"a": "r", "b": "r", "c": "r"}) == {"all": "r"}
    assert refusals.told(row, {"a": "r", "b": "r"}) == {"all but c": "r"}
    assert refusals.told(row, {"a": "r", "b": "s"}) == {"a": "r", "b": "s"}
    assert refusals.shortened("gear 'llvm' cannot run this function: `<` between np.int8 and x (a.py:3); do") == (
        "`<` between …"
    )
