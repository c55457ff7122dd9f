"""Machine code of whole functions over arrays that lie in memory in every way: bits, writes, or a call that is left."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

from upshift.gears.calls import argument_of
from upshift.gears.llvm import whole

ROWS: dict[str, tuple[Callable[..., Any], bool]] = {}
"""Functions of an array of two axes, and whether none of their calls on arrays row by row may be left."""


def row(f: Any) -> Any:
    ROWS[f.__name__] = f, True
    return f


def may_leave(f: Any) -> Any:
    ROWS[f.__name__] = f, False
    return f


@row
def scaled_sum(x):
    return (x * 2.0).sum(axis=1)


@row
def scaled_sum_of_columns(x):
    return (x * 2.0).sum(axis=0)


@row
def scaled_total(x):
    return (x * 2.0).sum()


@row
def turned_sum(x):
    return x.T.sum(axis=1), x.T.sum(axis=0), x.T.sum()


@may_leave
def turned_and_scaled(x):
    y = x.T * 2.0
    return y.sum(axis=1), y.mean(axis=0), y.sum()


@may_leave
def turned_copies(x):
    return np.copy(x.T).sum(axis=1), np.array(x.T).sum(axis=1), x.T.astype(np.float32).sum(axis=1)


@row
def turned_copies_row_by_row(x):
    return x.T.copy().sum(axis=1), np.ascontiguousarray(x.T).sum(axis=1)


@may_leave
def turned_likes(x):
    y = np.zeros_like(x.T)
    y[...] = x.T
    z = np.full_like(x.T, 0.1)
    return y.sum(axis=1), z.sum(axis=1), np.where(x.T > 0, x.T, 0.1).sum(axis=1)


@may_leave
def turned_in_place(x):
    y = x.T + 0.1
    y *= 3.0
    return y.sum(axis=1)


@may_leave
def turned_functions(x):
    return np.exp(x.T).sum(axis=1), np.sqrt(np.abs(x.T)).sum(axis=1), np.clip(x.T, -0.5, 0.5).sum(axis=1)


@may_leave
def products_of_turned(x):
    y = x.T * 2.0
    return y @ y.T, x.T @ x, np.dot(x.T, x)


@may_leave
def spread_of_turned(x):
    return np.std(x.T, axis=1), np.var(x.T * 0.5), x.T.cumsum(axis=1).sum(axis=1)


@may_leave
def joined_turned(x):
    return np.concatenate((x.T, x.T)).sum(axis=1), np.stack((x.T, x.T)).sum(axis=2)


@row
def covariance(x):
    return np.cov(x), np.cov(x.T), np.cov(np.transpose(x))


@may_leave
def functions_of_parts(x):
    return np.exp(x[1:, 1:]), np.log(np.abs(x[::2]) + 1.0), np.sin(x[:, :1]), np.exp(x[2:]), np.exp(x[:, 1:]).sum()


@may_leave
def functions_backwards(x):
    return np.exp(x[:, ::-1]), np.exp(x[::-1]), np.tan(x[0, ::-1]), (x[::-1] * 0.1).sum(axis=0)


@row
def arithmetic_backwards(x):
    return x[::-1] * 0.1 + x[:, ::-1], (x[::-1, ::-1] * 0.1).sum(axis=1)


@row
def masks(x):
    m = x[:, ::2] > 0.1
    return x[:, ::2][m], x[x > 0], x[x < -100.0], (x > 0).sum(), np.count_nonzero(m)


@row
def written_by_masks(x):
    x[x > 0] = 1.5
    x[x < -0.5] = x[x < -0.5] * 2.0
    return x[x < 0].sum()


@row
def written_by_masks_from_itself(x):
    y = x[0]
    y[y > 0] = x[1][: int((y > 0).sum())]
    z = x[:, 1:]
    z[z > 0.3] = x[:, :-1][z > 0.3]
    return x


@row
def masks_of_themselves(x):
    m = x > 0
    m[m] = False
    return m.any(), m


@may_leave
def masks_of_their_neighbours(x):
    n = x[0] > 0
    n[1:][n[:-1]] = True
    return n


@row
def shifted_onto_itself(x):
    x[1:] = x[:-1]
    x[:, :-1] += x[:, 1:]
    x[::-1] = x * 2.0
    return x


@row
def columns_and_rows(x):
    return x[:, :1] * x[:1, :], (x[:, :1].T + x[:1].T).sum(axis=1)


@may_leave
def reductions(x):
    return x.sum(), x.sum(axis=0), x.mean(axis=-1), x.std(axis=0), x.max(axis=0), x.prod(axis=1), x.argmax()


@may_leave
def reductions_of_parts(x):
    y = x[1:, 1:]
    return y.sum(), y.sum(axis=1), y[:, ::2].sum(axis=0), y.min(axis=1), (y > 0).sum(axis=1)


def made() -> list[Any]:
    r = np.random.default_rng(5)
    shapes = ((40, 37), (37, 40), (7, 3), (300, 200), (16, 16))
    return [r.normal(size=shape) for shape in shapes] + [np.abs(r.normal(size=(5, 4))), np.ones((4, 9))]


def layouts(x: Any) -> dict[str, Any]:
    wide = np.empty((2 * x.shape[0], 3 * x.shape[1]))
    wide[::2, ::3] = x
    return {
        "row by row": x.copy(),
        "with gaps": wide[::2, ::3],
        "column by column": np.asfortranarray(x),
        "backwards": x[::-1, ::-1].copy()[::-1, ::-1],
    }


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", ROWS)
def test_bits_and_writes(name: str) -> None:
    f, stays = ROWS[name]
    for x in made():
        for how, own in layouts(x).items():
            call = whole.compile_call(f, (argument_of(own),), False)
            captured = call.bind(f) if call.bind is not None else ()
            other = layouts(x)[how]
            want = f(other)
            try:
                got = call.run(own, *captured)
            except whole.Left:
                assert not (stays and how == "row by row"), (how, x.shape)
                assert same(own, x), "an array was not put back"
                continue
            assert same(want, got), (how, x.shape)
            assert same(other, own), (how, x.shape)


def scaled(x):
    return x * 2.0 + 1.0


def two_of_them(x):
    return x * 2.0, np.exp(x), x.sum()


def a_part_of_it(x):
    y = x * 2.0
    return y[1:]


def one_of_two(x):
    y = x * 2.0
    if y[0] > 1.0:
        return y
    return y + 1.0


def in_a_loop(x):
    y = x
    for _ in range(10):
        y = y * 1.5
    return y


def the_same_twice(x):
    y = x * 2.0
    return y, y


def raised_in_the_end(x):
    y = x * 2.0
    if y.sum() > 0.5:
        raise ValueError(x[0])
    return y


LARGE = (scaled, two_of_them, a_part_of_it, one_of_two, in_a_loop, the_same_twice, raised_in_the_end)


@pytest.mark.parametrize("f", LARGE)
@pytest.mark.parametrize("n", (10, 40_000, 700_000))
def test_large_results_are_the_callers_own(f: Any, n: int) -> None:
    x = np.random.default_rng(0).random(n)
    call = whole.compile_call(f, (argument_of(x),), False)
    for _ in range(6):  # more than may be under way
        try:
            want = f(x)
        except ValueError:
            with pytest.raises(whole.Left):
                call.run(x)
            continue
        got = call.run(x)
        assert same(want, got)
        for array in got if isinstance(got, tuple) else (got,):
            if isinstance(array, np.ndarray):
                assert array.flags.owndata and array.flags.writeable and array.flags.aligned and array.base is None
                assert get_handler_name(array) == get_handler_name(x)
    if f is scaled:
        got.resize(3, refcheck=False)
        assert same(got, want[:3])


def test_the_table_is_about_layouts() -> None:
    assert all(len(inspect.signature(f).parameters) == 1 for f, _ in ROWS.values())
