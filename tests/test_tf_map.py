"""The table of functions of tensors: a failure where a map gives something else than the loop."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from tf_functions import ROWS, Row  # noqa: E402
from tf_law import loop, same  # noqa: E402

PURE = [row for row in ROWS if row.graph]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_first_call_gives_what_the_loop_gives(row: Row) -> None:
    same(loop(row.fn, row.elems), ut.map_fn(row.fn, row.elems))


@pytest.mark.parametrize("row", PURE, ids=lambda row: row.name)
def test_a_graph_gives_what_the_loop_gives(row: Row) -> None:
    columns = tf.nest.map_structure(lambda x: tf.type_spec_from_value(x)._unbatch()._batch(None), row.elems)
    mapped = tf.function(lambda elems: ut.map_fn(row.fn, elems)).get_concrete_function(columns)
    same(loop(row.fn, row.elems), mapped(*tf.nest.flatten(row.elems)))


@pytest.mark.parametrize("row", [row for row in PURE if row.xla][::3], ids=lambda row: row.name)
def test_xla_gives_what_the_loop_gives(row: Row) -> None:
    same(loop(row.fn, row.elems), tf.function(lambda elems: ut.map_fn(row.fn, elems), jit_compile=True)(row.elems), 10)
