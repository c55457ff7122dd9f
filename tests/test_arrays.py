"""Functions of arrays that write, look through views and decide: a failure where a gear is not the loop."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import upshift as up
from array_samples import columns
from functions import arrays
from law import check

GIVEN = columns(3, 41)
TABLES = {"x": arrays.TWO_D, "v": arrays.VECTORS, "m": arrays.MATRICES, "f": arrays.FLOATS}
CASES = [(f, name) for name, table in TABLES.items() for f in table]


@pytest.mark.parametrize(("f", "name"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_batched(f, name):
    check(f, GIVEN[name], atol=1e-12, must_batch=True)


@pytest.mark.parametrize(("f", "name"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_exactly(f, name):
    check(f, GIVEN[name], exact=True, must_batch=True)


@pytest.mark.parametrize(("f", "name"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_lists_of_arrays(f, name):
    check(f, list(GIVEN[name]), atol=1e-12, must_batch=True)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int32", "uint8", "bool", "complex128"])
@pytest.mark.parametrize("f", arrays.TWO_D, ids=[f.__name__ for f in arrays.TWO_D])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning", "ignore:.*Complex.*")
def test_dtypes(f, dtype):
    rng = np.random.default_rng(4)
    check(f, (rng.normal(size=(9, 4, 5)) * 3).astype(dtype), atol=1e-5)


@pytest.mark.parametrize("f", arrays.WARNS)
def test_warnings(f):
    with pytest.warns(RuntimeWarning):
        up.map(f, GIVEN["x"], gear="numpy")


def test_ragged_batches():
    rng = np.random.default_rng(5)
    batch = [rng.normal(size=(int(k), 3)) for k in rng.integers(1, 5, size=60)]
    check(lambda x: x.mean(axis=0), batch, must_batch=True)
    check(lambda x: (x * 2)[::-1], batch, must_batch=True)
    check(lambda x, s: x.sum() * s, batch, list(range(60)), must_batch=True)


def test_dtypes_in_one_batch():
    check(lambda x: x * 2, [np.arange(3), np.arange(3.0), np.arange(3, dtype=np.float32)] * 5, must_batch=True)


def test_arrays_in_records():
    given = {"image": GIVEN["x"], "label": GIVEN["i"], "nested": {"v": GIVEN["v"], "s": GIVEN["s"]}}
    check(lambda r: (r["image"].sum() + r["label"], r["nested"]["v"] * r["nested"]["s"]), given, must_batch=True)


def test_captured_arrays_may_change():
    weights = np.arange(5.0)

    def f(x):
        return x @ weights

    check(f, GIVEN["x"], must_batch=True)
    weights[:] = 7.0
    check(f, GIVEN["x"], must_batch=True)


def test_captured_arrays_may_change_their_shape():
    for size in (5, 1):
        weights = np.arange(float(size)) + 1
        check(lambda x: x * weights, GIVEN["x"], must_batch=True)


def test_writes_into_captured_arrays_are_the_loops():
    total = np.zeros(5)

    def f(x):
        total[:] += x[0]
        return total.copy()

    found = up.map(f, GIVEN["x"])
    assert np.allclose(found, np.cumsum(GIVEN["x"][:, 0], axis=0))
    with pytest.raises(up.GearRefused, match="captured array"):
        up.map(f, GIVEN["x"], gear="numpy")


def test_the_callers_arrays_are_never_changed():
    for gear in ("loop", "numpy", None):
        x = GIVEN["x"].copy()
        batch = list(GIVEN["x"].copy())
        want = np.stack([arrays.writes_into_argument(one.copy()) for one in x])
        assert np.array_equal(up.map(arrays.writes_into_argument, x, gear=gear), want)
        assert np.array_equal(up.map(arrays.writes_into_argument, batch, gear=gear), want)
        assert np.array_equal(x, GIVEN["x"])
        assert np.array_equal(batch, GIVEN["x"])


@pytest.mark.parametrize("gear", ["loop", "numpy", None])
def test_results_are_the_callers_own(gear):
    x = GIVEN["x"].copy()
    for f in (lambda x: x, lambda x: x[0], lambda x: x[: 1 + int(x[0, 0] > 0)]):
        found = up.map(f, x, gear=gear)
        for one in found:
            one[...] = 5.0
        assert np.array_equal(x, GIVEN["x"])


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (5, 0, 3), (1, 1), (7, 1, 1)])
def test_small_and_empty(shape):
    x = np.ones(shape)
    check(lambda x: x + 1, x)
    check(lambda x: x.sum(), x)
    check(lambda x: x.reshape(-1), x)


def test_elements_of_a_row_are_numbers():
    def f(row):
        total = 0.0
        for value in row:
            total += value if value > 0 else -value / 2
        return total

    check(f, GIVEN["v"][:, :3], must_batch=True)


def test_results_of_nothing():
    for _ in range(3):
        assert up.map(lambda x: (), np.ones((3000, 2))) == ()
        assert up.map(lambda x: x.sum().shape, np.ones((3000, 2)), gear="numpy") == ()
        assert up.map(lambda x: x.sum().shape, np.ones((3000, 2))) == ()


def test_where_of_a_reduction_is_about_its_input():
    def f(x):
        y = np.empty(5)
        np.sum(x, axis=0, where=x > 0, out=y)
        return y

    check(f, GIVEN["x"], must_batch=True)


def test_out_by_position():
    def f(x):
        y, z = np.empty(5), np.empty((4, 5))
        np.sum(x, 0, None, y)
        np.clip(x, -1, 1, z)
        np.add(x, z, z)
        return y, z

    check(f, GIVEN["x"], must_batch=True)


def test_copies_stay_copies():
    """What is a copy for an element in Fortran order is a view for a column in C order."""

    def f(x):
        y = x * 2
        z = y.reshape(-1)
        y[0, 0] = 5.0
        return y, z

    check(f, [np.asfortranarray(x) for x in GIVEN["x"]], must_batch=True)


def test_integer_division_by_a_lane():
    x, k = np.arange(12).reshape(6, 2), np.array([1, 0, 2, 0, 3, 4])
    with pytest.warns(RuntimeWarning):
        assert np.array_equal(up.map(lambda x, k: x // k, x, k, gear="numpy"), [a // b for a, b in zip(x, k)])


def test_casts_that_warn_are_errors_where_warnings_are():
    x = GIVEN["x"].copy()
    x[3, 1, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = up.map(lambda x: x.astype(int), x, gear="numpy", on_error="return")
    assert [i for i, one in enumerate(found) if isinstance(one, RuntimeWarning)] == [3]


def test_not_a_time():
    check(np.unique, np.array([["NaT", "NaT", 1], [2, "NaT", 2]] * 5, "timedelta64[h]"))
    check(lambda q: np.nanmedian(q), np.array([[-1e308, -1e308, np.nan]] * 5), must_batch=True)


def test_which_zero_is_exact():
    zeros = np.where(np.random.default_rng(0).random((200, 7)) < 0.5, 0.0, -0.0)
    check(lambda x: np.fmax(x, 0.0), zeros, exact=True, must_batch=True)
    check(lambda x, s: np.fmin(x, s), zeros, zeros[:, 0], exact=True, must_batch=True)
