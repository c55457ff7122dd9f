"""The table of functions of tensors: a failure where one way to run them gives something else than a loop."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
from tf_functions import ROWS, Row  # noqa: E402
from tf_law import loop, same  # noqa: E402
from upshift.tensorflow import memory, plain, plan  # noqa: E402
from upshift.tensorflow.bridge import as_array  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402


@pytest.fixture(autouse=True)
def unseeded() -> None:
    """Whatever an earlier test has seeded: with a seed, numbers are drawn one after the other."""
    tf.compat.v1.set_random_seed(None)


PURE = [row for row in ROWS if row.graph]


@pytest.mark.parametrize("way", ["numpy", "xla", "vectorized", "map"])
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


# ---- random numbers

IMAGES = tf.constant(np.random.default_rng(0).integers(0, 256, (40, 120, 128, 3)), tf.uint8)


def flipped(pair):
    image, label = pair
    if tf.random.uniform(()) > 0.5:
        return tf.reverse(image, [1]), 1 - label
    return image, label


def rolled(x):
    return x + tf.cast(tf.random.uniform((), 1, 7, tf.int32), tf.float32)


@pytest.mark.parametrize("way", ["numpy", "xla", "map"])
def test_an_image_and_its_label_are_flipped_together(way: str) -> None:
    images, labels = plan.run_in(way, make_call(flipped, (IMAGES, tf.zeros(40, tf.int32))))
    want = tf.where(labels[:, None, None, None] == 1, tf.reverse(IMAGES, [2]), IMAGES)
    assert np.array_equal(images, want) and 5 < labels.numpy().sum() < 35


@pytest.mark.parametrize("way", ["numpy", "xla", "map"])
def test_every_element_draws_its_own_number(way: str) -> None:
    xs = tf.zeros(6000)
    counts = np.bincount(plan.run_in(way, make_call(rolled, xs)).numpy().astype(int), minlength=7)
    assert counts[0] == 0 and counts[1:].min() > 800 and len(counts) == 7
    drawn = plan.run_in(way, make_call(lambda x: x - tf.random.uniform(()), xs)).numpy()
    assert len(set(drawn.tolist())) > 5900 and abs(drawn.mean() + 0.5) < 0.05 and -1 < drawn.min() < drawn.max() <= 0
    again = plan.run_in(way, make_call(lambda x: x - tf.random.uniform(()), xs)).numpy()
    assert not np.array_equal(drawn, again)
    if way != "xla":  # a normal number is a product and a sum
        normal = plan.run_in(way, make_call(lambda x: x + tf.random.normal((), 3.0, 2.0), xs)).numpy()
        assert abs(normal.mean() - 3) < 0.2 and abs(normal.std() - 2) < 0.2


def test_draws_in_a_branch_are_the_loops() -> None:
    def late(x):
        return x + tf.random.uniform(()) if x > 0 else x

    for way in ("numpy", "xla"):
        with pytest.raises(up.GearRefused):
            plan.run_in(way, make_call(late, tf.constant([-1.0, 1.0, 2.0])))


def test_xla_compiles_for_a_few_lengths_alone() -> None:
    call = make_call(tf.square, tf.range(5.0))
    known = memory.fresh(call, with_operations=False)
    known.trace(call)
    for n in range(1, 12):
        if "xla" in known.candidates:
            way = known.make("xla", call)
            assert way is not None
            known.trust(way, n)
    assert known.ways["xla"].lengths == {1, 2, 3, 4} and known.ways["xla"].fits(4) and not known.ways["xla"].fits(5)


def test_a_subnormal_number_among_many_is_found() -> None:
    for shape in ((2500, 100), (40, 100_000)):
        rows = np.ones(shape, np.float32)
        rows[30, 7] = 1e-40
        call = make_call(tf.sqrt, tf.constant(rows))
        want = tf.sqrt(call.row(30)).numpy()
        assert np.array_equal(plan.run_in("numpy", call).numpy()[30], want)


CASTS = {
    "roots of bytes": (lambda x: tf.cast(tf.sqrt(tf.cast(x, tf.float32)), tf.uint8), True),
    "brighter": (lambda x: tf.cast(tf.clip_by_value(tf.cast(x, tf.float32) * 1.7, 0.0, 255.0), tf.uint8), True),
    "shares": (lambda x: tf.cast(tf.cast(x, tf.float32) / 255.0 * 100.0, tf.int32), False),  # XLA: a product
    "halves": (lambda x: tf.floor(tf.cast(x, tf.float32) / 3.0), False),
    "quotients": (lambda x: tf.cast(x, tf.float32) / tf.cast(x + 1, tf.float32), True),
    "too bright": (lambda x: tf.cast(tf.cast(x, tf.float32) * 1.7, tf.uint8), False),
    "signs": (lambda x: tf.cast(tf.cast(x, tf.float32) - 3.0, tf.uint8), False),
    "large": (lambda x: tf.cast(tf.cast(tf.cast(x, tf.int32) + 2147483392, tf.float32), tf.int32), False),
    "of floats": (lambda x: tf.cast(tf.clip_by_value(x, 0.0, 255.0), tf.uint8), False),
}


@pytest.mark.parametrize("name", CASTS)
def test_floats_become_ints_under_xla_where_they_are_known_to_fit(name: str) -> None:
    fn, fits = CASTS[name]
    elems = tf.constant(np.arange(256, dtype=np.uint8).reshape(4, 64))
    if name == "of floats":
        elems = tf.constant(np.array([[0.5, np.nan, 300.0]], np.float32))
    call = make_call(fn, elems)
    known = memory.fresh(call, with_operations=False)
    known.trace(call)
    way = known.make("xla", call)
    assert (way is not None) == fits, known.refusals
    if way is not None:
        np.testing.assert_allclose(way.pack(way.over(call)), tf.stack([fn(one) for one in elems]), rtol=1e-6)
