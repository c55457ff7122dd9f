"""Functions of arrays as nests of loops: the loop's very bits, and nothing stored that need not be."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import upshift as up
from law import check
from upshift.api import make_job
from upshift.columns.inputs import Lanes
from upshift.emit.nests import nest_of
from upshift.emit.select_rows import NoSelect
from upshift.gears.numba import nests
from upshift.gears.numpy import Pace
from upshift.plan.batch import batch
from upshift.plan.memory import Known
from upshift.trace import Tree

pytestmark = pytest.mark.filterwarnings("ignore")
TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
WINDOW = np.full(5, 0.2)
SCALE = 1.7
SHIFT = np.linspace(-1.0, 1.0, 5)


def distances(p: Any) -> Any:
    d = p[:, None] - p[None]
    return np.sqrt((d**2).sum(axis=-1))


def box(x: Any) -> Any:
    total = x[:-2, :-2] + x[1:-1, 1:-1] + x[2:, 2:]
    return total / 3


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max())
    return e / e.sum()


def standardise(x: Any) -> Any:
    return (x - x.mean()) / x.std()


def by_rows(x: Any) -> Any:
    return (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + 1.0)


def by_columns(x: Any) -> Any:
    return x - x.sum(axis=0) / 3.0


def clipped(x: Any) -> Any:
    return np.where(x > 0.5, x, np.maximum(x, -0.5) * SCALE)


def flipped(x: Any) -> Any:
    return x[::-1] + x


def several(x: Any, y: Any) -> Any:
    return x * 2 - y, x.sum()


def variance(x: Any) -> Any:
    return np.var(x, axis=-1, ddof=1)


FUNCTIONS: list[tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = [
    (distances, ((7, 3),)),
    (distances, ((4, 12),)),
    (box, ((6, 5),)),
    (softmax, ((5,),)),
    (softmax, ((300,),)),
    (standardise, ((6, 5, 3),)),
    (by_rows, ((4, 5),)),
    (by_rows, ((3, 4, 40),)),
    (by_columns, ((9, 5),)),
    (clipped, ((5,),)),
    (flipped, ((8,),)),
    (lambda x: x[::-1][::-1] + x[1::2][::-1][1], ((9,),)),
    (lambda x: x[::-1, 1:][:, ::-2] * x[0, 0], ((4, 7),)),
    (several, ((4, 5), (4, 5))),
    (variance, ((3, 17),)),
    (lambda x: x * SHIFT + SCALE, ((4, 5),)),
    (lambda x: np.sqrt(np.abs(x)), ((3, 3),)),
    (lambda x: -x + abs(x), ((6,),)),
    (lambda x: x.max(axis=-1) - x.min(axis=-1), ((5, 9),)),
    (lambda x: x[0] + x[-1] * x[1], ((3, 4),)),
    (lambda x: x[..., 1:] - x[..., :-1], ((3, 8),)),
    (lambda x: (x[:, 0] < x[:, 1]) & (x[:, 1] >= 0.0), ((9, 2),)),
    (lambda x: np.log1p(np.exp(x)) * 0.5, ((40,),)),
    (lambda x, y: x * y[:, None], ((3, 4), (3,))),
    (lambda x, s: x * s, ((5,), ())),
    (lambda x: x.sum(), ((200,),)),
    (lambda x: x.mean() + x[0], ((3,),)),
    (lambda x: np.histogram(x, 16, (-2.0, 2.0))[0], ((9, 11),)),
    (lambda x: np.histogram(x * 2.0, bins=7, range=(-3, 1))[0], ((40,),)),
    (lambda x: np.histogram(x.T, bins=5, range=(-1.0, 1.0))[0], ((4, 6),)),
]


def traced(f: Callable[..., Any], columns: tuple[Any, ...]) -> tuple[Tree, Lanes]:
    job = make_job(f, columns, {}, False)
    known = Known(("test",), of_arrays=True)
    made = batch(job, known, Pace(1e9, 10.0))
    lanes = job.groups()[0].lanes
    assert lanes is not None, made
    tree = known.tree_of(lanes)
    assert tree is not None, made
    return tree, lanes


def data(shapes: tuple[tuple[int, ...], ...], dtype: Any, n: int = 23, seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=(n, *shape)).astype(dtype) for shape in shapes)


def run(f: Callable[..., Any], columns: tuple[Any, ...], exact: bool = False) -> tuple[Any, ...]:
    """The nest's results; what it left is an assertion."""
    tree, _ = traced(f, columns)
    prepared = nests.prepare(tree, exact)
    with np.errstate(all="ignore"):
        ran = prepared.over(f, {}, columns, len(columns[0]), 2)
    assert ran is not None
    assert not len(ran.left)
    return tuple(ran.outs)


def loop(f: Callable[..., Any], columns: tuple[Any, ...]) -> tuple[Any, ...]:
    results = [f(*row) for row in zip(*columns, strict=True)]
    parts = zip(*results, strict=True) if isinstance(results[0], tuple) else [results]
    return tuple(np.stack([np.asarray(one) for one in part]) for part in parts)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("f", "shapes"), FUNCTIONS)
def test_every_bit_is_the_loops(f: Any, shapes: Any, dtype: Any) -> None:
    columns = data(shapes, dtype)
    for got, want in zip(run(f, columns, exact=True), loop(f, columns), strict=True):
        assert got.dtype == want.dtype
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize(("f", "shapes"), FUNCTIONS[::3])
def test_odd_numbers_warn_as_in_the_loop(f: Any, shapes: Any) -> None:
    """Elements that make NumPy warn are the plain function's."""
    columns = data(shapes, np.float64)
    for i, odd in enumerate((np.nan, np.inf, -np.inf, 1e308, -0.0, 5e-324)):
        columns[0][i].flat[0] = odd
    with warnings.catch_warnings(record=True) as of_loop:
        warnings.simplefilter("always")
        want = loop(f, columns)
    with warnings.catch_warnings(record=True) as of_map:
        warnings.simplefilter("always")
        got = up.map(f, *columns, gear="numba")
    assert {str(w.message) for w in of_map} == {str(w.message) for w in of_loop}
    for a, b in zip(got if isinstance(got, tuple) else (got,), want, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("f", "shapes"),
    [(lambda v: TURN @ v, ((3,),)), (lambda a, b: a @ b, ((4, 5), (5, 3))),
     (lambda x: np.convolve(x, WINDOW, mode="valid"), ((50,),))],
)  # fmt: skip
def test_products_are_close_and_never_exact(f: Any, shapes: Any) -> None:
    columns = data(shapes, np.float64)
    (got,), (want,) = run(f, columns), loop(f, columns)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    with pytest.raises(NoSelect):
        nest_of(traced(f, columns)[0], exact=True)


@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (lambda x: x.T.sum(), ((3, 4),)),
        (lambda x: (x @ x) - 1.0, ((3, 3),)),
        (lambda x: x**3, ((4,),)),
        (lambda x: np.sort(x), ((4,),)),
        (lambda x: x.sum(axis=(0, 1)), ((4, 3),)),
        (lambda x: x[np.array([0, 2])], ((4,),)),
        (lambda x: np.histogram(x, 4)[0], ((9,),)),
        (lambda x: np.histogram(x, 4, (0.0, 1.0)), ((9,),)),
        (lambda x: np.histogram(x, 4, (0.0, 1.0), density=True)[0], ((9,),)),
        (lambda x: np.histogram(x, 4, (1.0, 1.0 + 2**-50))[0], ((9,),)),
    ],
)
def test_what_it_refuses(f: Any, shapes: Any) -> None:
    with pytest.raises(NoSelect):
        nest_of(traced(f, data(shapes, np.float64))[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("bins", "span"), [(256, (0.0, 1.0)), (4, (0, 1024)), (10, (-0.1, 0.7)), (3, (0, 1)), (1000, (-5.0, 1e3))]
)
def test_numbers_on_the_edges_of_bins(bins: int, span: tuple[float, float], dtype: Any) -> None:
    edges = np.linspace(*span, bins + 1).astype(dtype)
    near = [edges, np.nextafter(edges, dtype(-1e9)), np.nextafter(edges, dtype(1e9)), np.flip(edges)]
    near[3][0] = np.inf
    columns = (np.stack(near),)
    f = eval(f"lambda x: np.histogram(x, {bins}, {span})[0]", {"np": np})
    (got,), (want,) = run(f, columns, exact=True), loop(f, columns)
    np.testing.assert_array_equal(got, want)


def test_captured_values_may_change() -> None:
    factor, table = 2.0, np.arange(4.0)

    def f(x: Any) -> Any:
        return x * factor + table

    (xs,) = data(((4,),), np.float64)
    for factor, table in ((2.0, np.arange(4.0)), (3.0, np.ones(4)), (-1.0, np.arange(8.0)[::2])):
        check(f, xs, gears=("numpy", "numba"))


def test_lanes_that_lie_otherwise_are_added_up_in_numpys_order() -> None:
    def f(x: Any) -> Any:
        return x.sum()

    xs = np.random.default_rng(1).normal(size=(10, 40, 30))
    check(f, xs, gears=("numba",), exact=True)
    check(f, xs.transpose(0, 2, 1), gears=("numba",), exact=True)
    check(f, xs[:, ::2], gears=("numba",), exact=True)


def test_only_what_must_be_is_stored() -> None:
    assert not nest_of(traced(distances, data(((7, 3),), np.float64))[0]).stored
    assert not nest_of(traced(box, data(((6, 5),), np.float64))[0]).stored
    assert len(nest_of(traced(softmax, data(((300,),), np.float64))[0]).stored) == 1


# ---- made-up programs

UNARY = (lambda a: -a, lambda a: a * a, lambda a: np.sqrt(np.abs(a)), lambda a: a**2, lambda a: np.exp(-np.abs(a)))
BINARY = (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, np.maximum, lambda a, b: np.where(a > b, a, b))
SHAPED = (
    lambda a: a[::-1] if a.ndim else a,
    lambda a: a - a.mean(axis=-1, keepdims=True) if a.ndim else a,
    lambda a: a + a.sum() / max(a.size, 1),
    lambda a: a - a.max(axis=0) if a.ndim else a,
    lambda a: a / (1.0 + a.std()) if a.ndim else a,
)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[tuple[int, int, int]], tuple[int, ...], str]:
    steps = draw(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7))
    shape = draw(st.sampled_from([(3,), (9,), (20,), (2, 3), (5, 9), (2, 3, 4)]))
    return steps, shape, draw(st.sampled_from(["float64", "float32"]))


@settings(max_examples=40, deadline=None)
@given(programs())
def test_made_up_programs(program: tuple[list[tuple[int, int, int]], tuple[int, ...], str]) -> None:
    steps, shape, dtype = program

    def f(x: Any) -> Any:
        values = [x]
        for which, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            kind, at = divmod(which, 5)
            values.append(UNARY[at](a) if kind == 0 else BINARY[at](a, b) if kind == 1 else SHAPED[at](a))
        return values[-1]

    columns = data((shape,), dtype, 7, seed=math.prod(shape))
    try:
        got = run(f, columns, exact=True)
    except nests.NotCompiled:
        return
    for a, b in zip(got, loop(f, columns), strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
