"""Functions that once gave another result than the loop, and elements that show it: a failure for each."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import upshift as up
from law import check

R = np.random.default_rng(3)
N = 600


def adds_at(x):
    np.add.at(x, 0, 1)
    return x


def sets_flags(x):
    x.setflags(write=True)
    x[0] = 9
    return x


@pytest.mark.parametrize("f", [adds_at, sets_flags, lambda x: adds_at(x) * 2], ids=["at", "setflags", "helper"])
@pytest.mark.parametrize("gear", ["loop", None])
def test_writes_that_no_flag_stops(f, gear):
    for given in (np.zeros((N, 3)), list(np.zeros((N, 3)))):
        want = np.stack([f(x.copy()) for x in given])
        for _ in range(2):
            assert np.array_equal(up.map(f, given, gear=gear), want)
        assert not np.any(given)


def equals_the_sum(u, b):
    return (u @ b)[0] == u[0, 0] * b[0] + u[0, 1] * b[1] + u[0, 2] * b[2] + u[0, 3] * b[3]


def layouts():
    u, b = R.normal(size=(N, 4, 4)), R.normal(size=(N, 4))
    return [
        (u, b),
        (np.asfortranarray(u), b),
        (u, b[:, ::-1]),
        (np.repeat(u, 2, 2)[:, :, ::2], b),
        (u.transpose(0, 2, 1), b),
    ]


@pytest.mark.parametrize("at", range(5))
def test_products_of_every_layout(at):
    u, b = layouts()[at]
    check(equals_the_sum, u, b, must_batch=True)
    check(lambda u, b: u @ b, u, b, exact=True, must_batch=True)


def test_a_layout_is_not_remembered_for_another():
    given = layouts()

    def f(u, b):
        return equals_the_sum(u, b)

    for u, b in (*given, *given[::-1]):
        assert np.array_equal(up.map(f, u, b, gear="numpy"), [f(*row) for row in zip(u, b)])


def test_elements_that_are_left_lie_as_they_did():
    """Lanes that the plain function runs, and groups of a ragged batch, see the loop's own memory."""
    u, b = layouts()[1]

    def f(u, b, k):
        if k[0] > 8:
            raise ValueError("large")
        return equals_the_sum(u, b)

    check(f, u, b, [np.full(1 + i % 3, i % 10) for i in range(N)])
    check(f, u, b, np.arange(N)[:, None] % 10)


def writes_into_the_flat(m):
    y = m.reshape(-1)
    y[0] = 99
    return m


def test_what_is_a_copy_in_the_loop():
    check(writes_into_the_flat, np.zeros((N, 2, 2))[:, ::-1])
    mixed = [np.zeros((2, 2)) for _ in range(50)]
    mixed[11] = np.asfortranarray(mixed[11])
    check(writes_into_the_flat, mixed)
    some = [np.arange(4.0).reshape(2, 2)] * 50
    some[7] = np.asfortranarray(some[7])
    check(lambda m: m.ravel(order="K"), some)
    check(lambda m: m.strides[0], some)

    def copied(m):
        flat = m.T.copy().ravel()
        flat[0] = 5.0
        return m, flat, m.copy(order="F").ravel(order="K"), m.T.astype(np.float32, order="C").ravel(order="K")

    check(copied, R.normal(size=(20, 2, 3)))

    def conjugate(m):
        m.conj()[0] = 7.0
        return m

    check(conjugate, R.normal(size=(20, 3)))


def test_draws_with_arrays_for_parameters():
    rng = np.random.default_rng(0)
    x = R.normal(size=(N, 4))
    for f in (
        lambda v: v + rng.normal(np.zeros(4), 1),
        lambda v: v + rng.choice(3, p=np.array([0.2, 0.3, 0.5])),
        lambda v: v + rng.random(out=np.empty(4)),
    ):
        rng.bit_generator.state = np.random.default_rng(5).bit_generator.state
        want = np.stack([f(v) for v in x])
        rng.bit_generator.state = np.random.default_rng(5).bit_generator.state
        assert np.array_equal(up.map(f, x), want)


def test_numbers_that_do_not_fit():
    numbers = [int(v) for v in R.integers(0, 100, 50)]
    numbers[30] = -1
    small = np.ones((50, 3), np.uint8)

    def put(x, y):
        x[:2] = [y, 1]
        return x

    for f in (
        lambda x, y: np.full_like(x, y) if abs(y) < 999 else None,
        lambda x, y: np.full(2, y, np.uint8),
        lambda x, y: np.array([y], np.uint8),
        lambda x, y: np.asarray(y, dtype=np.uint8),
        lambda x, y: np.insert(x, 0, y),
        put,
    ):
        check(f, small, numbers)
    check(lambda x, y: np.full_like(x, y), np.ones((3, 2), int), [1.5, float("nan"), 2.5])


def test_underflow_that_raises():
    x = R.normal(size=(N, 2))
    x[111] = -1000
    with np.errstate(all="raise"):
        found = up.map(lambda x: np.exp(x), x, on_error="return", gear="numpy")
    assert [i for i, one in enumerate(found) if isinstance(one, FloatingPointError)] == [111]


def test_structured_elements_with_arrays():
    rows = np.zeros(N, dtype=[("a", float), ("b", int, (2,))])
    rows["b"] = R.integers(0, 9, (N, 2))
    check(lambda r: r["a"] + r["b"].sum(), rows)


def test_signs_of_zero():
    x, y = np.ones((N, 4)), np.zeros((N, 4), np.uint8)
    x[111] = -0.0
    with np.errstate(all="ignore"):
        check(lambda x, y: 1 / np.fmax(x, y), x, y, must_batch=True)


def test_other_byte_orders():
    check(lambda x: x[::-1], R.normal(size=(20, 4)).astype(">f8"))
    check(lambda x: x[::-1], list(R.normal(size=(20, 4)).astype(">f8")))


def test_both_warnings_of_a_step():
    x = np.abs(R.normal(size=(N, 4))) + 0.1
    x[5:9, 0] = -1
    x[112, 0] = 0
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        up.map(lambda v: np.log(v), x, gear="numpy")
    assert len({str(one.message) for one in seen}) == 2


BACKWARDS = {
    "exp": lambda x: np.exp(x),
    "tan": lambda x: np.tan(x) * 2,
    "arctan2": lambda x: np.arctan2(x, 0.7),
    "power": lambda x: 2**x,
    "deciding": lambda x: np.exp(x).sum() > 4.5,
    "turned round": lambda x: np.log1p(np.abs(x[::-1])),
    "a number of it": lambda x: np.exp(x[1]),
}


@pytest.mark.parametrize("name", BACKWARDS)
def test_columns_and_elements_that_lie_backwards(name):
    f, x = BACKWARDS[name], R.normal(size=(N, 5))
    for xs in (x[::-1], x[:, ::-1], x.reshape(-1, 5, 1)[:, ::-1], x.astype(np.float32)[:, ::-1]):
        check(f, xs, exact=True, must_batch=True)
    if name in ("exp", "tan", "arctan2", "power"):
        check(f, x.ravel()[::-1], exact=True, must_batch=True)


def test_half_floats_with_gaps():
    with np.errstate(all="ignore"):
        check(lambda x: np.cbrt(x), R.normal(size=(N, 10)).astype(np.float16)[:, ::2], exact=True, must_batch=True)


def test_imaginary_parts_of_real_arrays():
    def f(x):
        y = x * 2
        if x[0] > 0:
            y.imag = 0
        return y

    check(f, R.normal(size=(20, 3)))
    check(f, -np.abs(R.normal(size=(20, 3))))


def test_warnings_of_casts():
    x = R.integers(0, 9, (20, 3)).astype(np.uint64)
    x[4, 1] = 2**63
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(lambda x: x.astype(np.float16), x, must_batch=True)


def test_arrays_and_objects_of_other_classes():
    check(lambda x: (x == {"a": 1}) - 1, R.normal(size=(20, 2, 2)))
    check(lambda x: x == slice(3), R.normal(size=(20, 3)))


def test_calls_without_a_rule_see_arrays_as_they_lie():
    z = np.asfortranarray(R.normal(size=(12, 17, 19)) + 1j * R.normal(size=(12, 17, 19)))
    check(lambda x: np.cov(np.delete(x, 0, axis=0)), z, exact=True, must_batch=True)
    check(lambda x: np.ravel(x.T, "K") + np.ravel(np.sort(x.T, axis=0), "A"), z.real, exact=True)


def test_writes_through_views_of_arrays_that_lie_otherwise():
    def twice(x):
        if x.sum() > 0:
            x[1:] = x[:-1]
        x.T.reshape(-1)[1] = 4
        return x

    def doubled(x):
        y = (x**2).T
        if x[0, 0] > 0:
            y.ravel()[0] = 7
        y.ravel()[1] = 8
        return y

    x = R.normal(size=(40, 2, 2))
    for f in (twice, doubled):
        check(f, x)
        check(f, x.transpose(0, 2, 1))
        check(f, np.asfortranarray(x))


def test_a_view_that_the_data_chose():
    def f(x):
        part = np.trim_zeros(x)[1:]
        part[1:] += part[:-1]
        return part

    check(f, np.round(R.normal(size=(20, 24))))


def test_results_that_cannot_be_written_to():
    def f(x):
        y = np.imag(x)
        y.sort()
        return y

    check(f, R.normal(size=(20, 3)))


def test_one_number_that_lies_backwards():
    check(lambda x: np.log1p(np.abs(x)), R.normal(size=(N, 1))[:, ::-1], exact=True, must_batch=True)
