"""In: the table of functions of tensors. Out: a failure where one way to run them gives something else than a loop."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
from tf_functions import ROWS, Row  # noqa: E402
from tf_law import loop, same  # noqa: E402
from upshift.tensorflow import memory, plain, plan  # noqa: E402
from upshift.tensorflow.bridge import as_array  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402

PURE = [row for row in ROWS if row.graph]


@pytest.mark.parametrize("way", ["numpy", "numba", "xla", "vectorized", "map"])
@pytest.mark.parametrize("row", PURE, ids=lambda row: row.name)
def test_every_way_gives_what_the_loop_gives_or_refuses(row: Row, way: str) -> None:
    try:
        got = plan.run_in(way, make_call(row.fn, row.elems))
    except up.GearRefused as refused:
        assert refused.refusal.reason
        assert "the gear" not in refused.refusal.reason, f"only the sample saved it: {refused}"
        return
    same(loop(row.fn, row.elems), got)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_function_itself_on_numbers_gives_what_the_loop_gives_or_refuses(row: Row) -> None:
    test_every_way_gives_what_the_loop_gives_or_refuses(row, "python")


@pytest.mark.parametrize("row", [row for row in ROWS if row.numbers], ids=lambda row: row.name)
def test_numpy_and_python_need_no_graph(row: Row) -> None:
    """And are traced: not run one by one."""
    call = make_call(row.fn, row.elems)
    way = plan.made_in("python", call, memory.fresh(call, with_operations=False))
    same(loop(row.fn, row.elems), way.pack(way.over(call)))
    up.map(plain.of_numbers(call, row.fn(call.row(0))), *map(as_array, call.leaves), gear="numpy")


def test_most_functions_have_a_way_without_graphs() -> None:
    """What is read as NumPy or machine code is fast from the smallest batch on: it must not get less."""
    read = 0
    for row in PURE:
        try:
            plan.made_in("numpy", call := make_call(row.fn, row.elems), memory.fresh(call, with_operations=False))
            read += 1
        except up.GearRefused:
            pass
    assert read >= 112
