"""Functions, axes and structures of arrays: a failure where `up.vmap` is not the loop, stacked."""

from __future__ import annotations

import collections
import dataclasses
import doctest
import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import upshift as up
import upshift.axes
from law import Rule, compare
from stacking import stack

Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass(frozen=True)
class Layer:
    weight: np.ndarray
    bias: float


def by_hand(f, in_axes, out_axes, args, n):
    """The law, for one level: elements by indexing, a loop, and the axis of elements where it was asked for."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    results = [f(*(pick(a, x, i) for a, x in zip(axes, args))) for i in range(n)]
    return put(out_axes, stack(results))


def pick(axes, value, i):
    if axes is None or value is None:
        return value
    if isinstance(value, np.ndarray):
        return value[(slice(None),) * (axes % value.ndim) + (i,)]
    if isinstance(value, dict):
        return {k: pick(axes[k] if isinstance(axes, dict) else axes, v, i) for k, v in value.items()}
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        below = [axes if isinstance(axes, int) else getattr(axes, name) for name in names]
        return type(value)(*(pick(a, getattr(value, name), i) for a, name in zip(below, names)))
    below = [axes] * len(value) if isinstance(axes, int) else axes
    made = [pick(a, v, i) for a, v in zip(below, value)]
    return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)


def put(axes, result):
    if isinstance(result, tuple):
        below = [axes] * len(result) if isinstance(axes, int) else axes
        made = [put(a, part) for a, part in zip(below, result)]
        return type(result)(*made) if hasattr(result, "_fields") else tuple(made)
    if isinstance(result, dict):
        return {k: put(axes if isinstance(axes, int) else axes[k], v) for k, v in result.items()}
    return np.moveaxis(result, 0, axes)


def check(f, in_axes, out_axes, args, n):
    """Twice, since the second call is remembered, and in every gear that takes it."""
    expected = by_hand(f, in_axes, out_axes, args, n)
    for gear in (None, "loop", "numpy"):
        mapped = up.vmap(f, in_axes, out_axes, gear=gear)
        for _ in range(2):
            difference = compare(expected, mapped(*args), Rule(atol=1e-12))
            assert difference is None, f"gear {gear}: {difference}"


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 4))
W = RNG.normal(size=(3, 3))
DEEP = RNG.normal(size=(2, 4, 3))

CASES = [
    (lambda x: x * 2 + 1, 0, 0, (X,), 4),
    (lambda x: x * 2 if x.sum() > 0 else -x, 1, 0, (X,), 3),
    (lambda x: x.sum(), -1, 0, (X,), 3),
    (lambda x, y: x * y, (0, 1), 0, (X, Y), 4),
    (lambda x, y: x + y, (0, -1), 1, (X, Y), 4),
    (lambda x, w: w @ x, (0, None), 0, (X, W), 4),
    (lambda w, x: w @ x, (None, 0), -1, (W, X), 4),
    (lambda x, k: x**k, (0, None), 0, (X[:, 0], 3), 4),
    (lambda x: math.sin(x) if x > 0 else x * x, 0, 0, (X[:, 0],), 4),
    (lambda x: (x, x.sum()), 0, 0, (X,), 4),
    (lambda x: (x, x[::-1]), 0, (0, 1), (X,), 4),
    (lambda x: {"a": x, "b": (x.min(), x * 2)}, 0, {"a": 1, "b": (0, -1)}, (X,), 4),
    (lambda x: Pair(x, -x), 1, Pair(1, 0), (X,), 3),
    (lambda p: p[0] * p[1], ((0, None),), 0, ((X, W[0]),), 4),
    (lambda p: p[0] * p[1], 0, 0, ([X, X + 1],), 4),
    (lambda p: p["x"] @ p["w"], ({"x": 0, "w": None},), 0, ({"x": X, "w": W},), 4),
    (lambda p: p.left + p.right, (Pair(0, 1),), 0, (Pair(X, Y),), 4),
    (lambda p, x: p.weight * x + p.bias, (Layer(0, None), 0), 0, (Layer(X, 2.5), X), 4),
    (lambda p, x: p.weight * x + p.bias, (Layer(None, 0), None), 0, (Layer(X, X[:, 0]), X), 4),
    (lambda p: p["deep"][1]["x"] * p["deep"][0], 0, 0, ({"deep": (X[:, 0], {"x": X})},), 4),
    (lambda p: p[3] + p["k"], ({3: 0, "k": None},), 0, ({3: X, "k": 1.0},), 4),
    (lambda p: p[(0, 1)] * 2, 0, 0, ({(0, 1): X},), 4),
    (lambda x, extra: x if extra is None else extra, (0, 0), 0, (X, None), 4),
    (lambda x: [x.sum(), x.max()], 0, 0, (X,), 4),
    (lambda x: [x.sum(), x.max()], 0, 1, (X,), 4),
    (lambda x: x.T, 1, 2, (DEEP,), 4),
    (lambda x, y: x - y, [0, 1], 0, (X, Y), 4),
]


@pytest.mark.parametrize(("f", "in_axes", "out_axes", "args", "n"), CASES)
def test_the_loop_stacked(f, in_axes, out_axes, args, n):
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    expected = by_hand(f, axes, out_axes, args, n)
    check(f, axes, out_axes, args, n)
    assert compare(expected, up.vmap(f, in_axes, out_axes)(*args), Rule(atol=1e-12)) is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_axes(data):
    ranks = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3), label="ranks")
    axes = [data.draw(st.one_of(st.none(), st.integers(-rank, rank - 1))) for rank in ranks]
    n = data.draw(st.integers(1, 5), label="n")
    if all(axis is None for axis in axes):
        axes[0] = 0
    args = []
    for rank, axis in zip(ranks, axes):
        shape = [2] * rank
        if axis is not None:
            shape[axis] = n
        args.append(np.arange(math.prod(shape), dtype=float).reshape(shape) + len(args))
    out = data.draw(st.integers(-1, 0), label="out")
    check(lambda *parts: sum(p.sum() for p in parts) * np.ones(2), tuple(axes), out, tuple(args), n)


@pytest.mark.parametrize("order", ["C", "F", "negative", "read-only", "empty"])
def test_layouts(order):
    x = np.asfortranarray(X) if order == "F" else X[::-1, ::-1] if order == "negative" else X.copy()
    x.flags.writeable = order != "read-only"
    x = x[:0] if order == "empty" else x
    if order == "empty":
        assert up.vmap(lambda v: v.sum())(x).shape == (0,)
    else:
        check(lambda v: v * 2, 0, 0, (x,), len(x))
        check(lambda v: v * 2, 1, 1, (x,), 3)


def test_elements_are_what_indexing_gives():
    seen = []
    up.vmap(lambda x, v: seen.append((type(x), type(v), v.shape)) or 0.0)(X[:, 0], X)
    assert seen[0] == (np.float64, np.ndarray, (3,))


def test_the_callers_arrays_do_not_change():
    x = X.copy()

    def write(v):
        v[0] = 7
        return v

    assert (up.vmap(write, in_axes=1)(x)[:, 0] == 7).all()
    assert (x == X).all()


def test_partials_run_in_every_gear():
    def line(w, x, b):
        return w[0] * x + w[1] + b if x > 0 else b

    xs = np.linspace(-1, 1, 50)
    expected = stack([line(W[0], x, 2.0) for x in xs])
    for gear in ("loop", "numpy", "llvm"):
        assert compare(expected, up.vmap(line, in_axes=(None, 0, None), gear=gear)(W[0], xs, 2.0)) is None
    point = lambda p, k: p.left * p.right - k
    pairs = Pair(xs, xs[::-1])
    expected = stack([a * b - 3.0 for a, b in zip(xs, xs[::-1])])
    for gear in ("loop", "numpy"):
        assert compare(expected, up.vmap(point, in_axes=(0, None), gear=gear)(pairs, 3.0)) is None


def test_what_is_shared_may_change_between_calls():
    mapped = up.vmap(lambda w, x: x * w, in_axes=(None, 0))
    xs = np.arange(500.0)
    for w in (2.0, 3.0, np.float32(4), np.arange(500.0)):
        assert compare(stack([x * w for x in xs]), mapped(w, xs)) is None


def test_keywords_are_mapped():
    mapped = up.vmap(lambda x, *, k: x * k, in_axes=1)
    assert mapped(X, k=np.arange(3.0)).tolist() == (X.T * np.arange(3.0)[:, None]).tolist()
    assert up.vmap(lambda *, k: k + 1)(k=np.arange(3)).tolist() == [1, 2, 3]
    shared = up.vmap(lambda x, k: x * k["a"], in_axes=(None,))(2.0, k={"a": np.arange(3.0)})
    assert shared.tolist() == [0.0, 2.0, 4.0]


def test_no_elements():
    def count(w, x) -> int:
        return 1

    assert up.vmap(count, in_axes=(None, 0))(2.0, X[:0]).dtype == np.int64
    assert up.vmap(lambda w, x: 1, in_axes=(None, 0))(2.0, X[:0]).dtype == np.float64


def test_axis_size():
    assert up.vmap(lambda: 3, axis_size=2)().tolist() == [3, 3]
    assert up.vmap(lambda x: x * 2, in_axes=None, axis_size=3)(1.5).tolist() == [3.0] * 3
    assert up.vmap(lambda x: x, axis_size=4)(X).tolist() == X.tolist()
    with pytest.raises(up.LengthError, match=r"axis_size is 5, but axis 0 of argument 0 \(shape \(4, 3\)\) has 4"):
        up.vmap(lambda x: x, axis_size=5)(X)


def test_out_axes_of_none_and_of_lists():
    mapped = up.vmap(lambda x, w: (x, w * 2), in_axes=(0, None), out_axes=(0, None))
    assert mapped(X[:, 0], W[0])[1].tolist() == (W[0] * 2).tolist()
    assert math.isnan(up.vmap(lambda x: math.nan, out_axes=None)(X))
    with pytest.raises(ValueError, match="out_axes is None for the result, but elements gave different results"):
        up.vmap(lambda x: x, out_axes=None)(X)
    first, second = up.vmap(lambda x: [x, -x], out_axes=[0, 1])(X)
    assert (first == X).all() and (second == -X.T).all()


class Model:
    def __init__(self, scale):
        self.scale = scale

    def plain(self, x):
        return x * self.scale

    @functools.partial(up.vmap, in_axes=(None, 0))
    def mapped(self, x):
        """Times the scale."""
        return x * self.scale


def test_methods_and_decorators():
    model = Model(3.0)
    assert up.vmap(model.plain)(X).tolist() == (X * 3).tolist()
    assert model.mapped(X).tolist() == (X * 3).tolist()
    model.scale = 4.0
    assert model.mapped(X).tolist() == (X * 4).tolist()
    assert Model.mapped.__name__ == "mapped" and Model.mapped.__doc__ == "Times the scale."
    assert up.vmap(functools.partial(np.dot, W))(X).tolist() == stack([np.dot(W, x) for x in X]).tolist()
    assert up.vmap(np.linalg.norm)(X).tolist() == [np.linalg.norm(x) for x in X]


# -- one inside the other


NESTED = [
    (lambda x: x * 2 if x > 0 else x - 1, [(0, 0), (0, 0)], (X,)),
    (lambda x: x * 2, [(1, 0), (0, 0)], (X,)),
    (lambda x: x.sum(), [(0, 0), (-1, 0)], (DEEP,)),
    (lambda x, y: x @ y, [((0, None), 0), ((None, 0), 0)], (X, W)),
    (lambda x, y: x - y, [((0, None), 0), ((None, 0), 0)], (X[:, 0], Y[:, 0])),
    (lambda x, y: x * y, [((1, None), 1), ((0, None), 0)], (X, 2.0)),
    (lambda x: (x, x * 2), [(0, (1, 0)), (1, (0, 1))], (DEEP,)),
    (lambda x: x * 2, [(2, 1), (1, 1), (0, 0)], (DEEP,)),
]


def nest(f, levels, make):
    for depth, (in_axes, out_axes) in reversed([*enumerate(levels)]):
        f = make(f, in_axes, out_axes, depth)
    return f


def nest_by_hand(f, in_axes, out_axes, depth):
    def mapped(*args):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        n = next(x.shape[axis] for axis, x in zip(axes, args) if axis is not None)
        return by_hand(f, axes, out_axes, args, n)

    return mapped


WAYS = {
    "at once": lambda f, i, o, depth: up.vmap(f, i, o),
    "what is repeated is too large": lambda f, i, o, depth: up.vmap(f, i, o, memory=1),
    "one after the other": lambda f, i, o, depth: up.vmap(f, i, o, memory=10**9 + depth),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("f", "levels", "args"), NESTED)
def test_nested(f, levels, args, way):
    actual = nest(f, levels, WAYS[way])(*args)
    assert compare(nest(f, levels, nest_by_hand)(*args), actual, Rule(atol=1e-12)) is None


def test_nested_results_that_are_objects():
    expected = [[str(x) for x in row] for row in X]
    for way in WAYS.values():
        assert nest(str, [(0, 0), (0, 0)], way)(X) == expected


def test_nested_with_other_options_or_a_function_between():
    inner = up.vmap(lambda x: x * 2, exact=True)
    assert up.vmap(inner)(X).tolist() == (X * 2).tolist()
    assert up.vmap(lambda row: inner(row).sum())(X).tolist() == [(row * 2).sum() for row in X]

    @functools.wraps(inner)
    def other(row):
        return inner(row) + 1

    assert up.vmap(other)(X).tolist() == (X * 2 + 1).tolist()
    assert up.vmap(up.vmap(lambda x, k: x * k))(X, k=X).tolist() == (X * X).tolist()


# -- the same words as JAX


def jax_cases():
    both = lambda p: (p["a"] * p["b"][0], {"s": p["a"].sum() + p["b"][1]})
    params = {"a": X, "b": (X + 1, X[:, 0])}
    return [
        (both, 0, 0, (params,)),
        (both, ({"a": 0, "b": (None, 0)},), (1, {"s": 0}), ({"a": X, "b": (W[0], X[:, 0])},)),
        (both, ({"a": 1, "b": 0},), (0, 0), ({"a": Y, "b": (X, X[:, 0])},)),
        (lambda p, x: p.left * x + p.right, (Pair(None, 1), 0), 1, (Pair(2.0, Y), X)),
        (lambda ws, x: ws[1] @ (ws[0] @ x), (None, 0), 0, ([W, W + 1], X)),
        (lambda ws, x: ws[1] * ws[0] * x, ([0, None], -1), 0, ([X, 2.0], Y)),
        (lambda x, y: (x, (y, x + y)), (0, 1), (0, (1, -1)), (X, Y)),
        (lambda x, empty: x + len(empty), (0, 0), 0, (X, ())),
    ]


@pytest.mark.parametrize("case", range(len(jax_cases())))
def test_structures_as_in_jax(case):
    jax = pytest.importorskip("jax")
    f, in_axes, out_axes, args = jax_cases()[case]
    expected = jax.tree.map(np.asarray, jax.vmap(f, in_axes, out_axes)(*args))
    actual = up.vmap(f, in_axes, out_axes)(*args)
    assert jax.tree.structure(expected) == jax.tree.structure(actual)
    for one, other in zip(jax.tree.leaves(expected), jax.tree.leaves(actual)):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)  # JAX computes in float32 here


# -- errors say what was given

ERRORS = [
    (lambda: up.vmap(f2)(X, Y), up.LengthError,
     r"unequal size: axis 0 of argument 0 \(shape \(4, 3\)\) has 4, axis 0 of argument 1 \(shape \(3, 4\)\) has 3"),
    (lambda: up.vmap(f1)({"a": X, "b": [Y]}), up.LengthError,
     r"argument 0\['a'\].* has 4, .*argument 0\['b'\]\[0\].* has 3"),
    (lambda: up.vmap(f2)(X, k=Y), up.LengthError, r"argument 0 .* has 4, .*argument k .* has 3"),
    (lambda: up.vmap(f1, 2)(X), ValueError, r"axis 2 of argument 0, whose shape is \(4, 3\)"),
    (lambda: up.vmap(f1, -3)(X), ValueError, r"axis -3 of argument 0, whose shape is \(4, 3\)"),
    (lambda: up.vmap(up.vmap(f1, 1))(X), ValueError, r"axis 1 of argument 0, whose shape is \(3,\)"),
    (lambda: up.vmap(f1, None)(X), ValueError, "nothing to map over: in_axes is None"),
    (lambda: up.vmap(f2, (None, None))(X, Y), ValueError, r"nothing to map over: in_axes is \(None, None\)"),
    (lambda: up.vmap(lambda: 1)(), ValueError, "nothing to map over"),
    (lambda: up.vmap(f1)(2.5), ValueError, "argument 0 has no axis to map over: 2.5 is a float"),
    (lambda: up.vmap(f1)([1.0, 2.0]), ValueError, r"argument 0\[0\] has no axis .* make it an array"),
    (lambda: up.vmap(f1)(np.array(1.0)), ValueError, r"axis 0 of argument 0, whose shape is \(\)"),
    (lambda: up.vmap(f2, (0,))(X, Y), ValueError, r"in_axes has 1 entries for 2 arguments: \(0,\)"),
    (lambda: up.vmap(f1, ({"a": 0},))({"b": X}), ValueError, r"in_axes of argument 0: \{'a': 0\} is not built like"),
    (lambda: up.vmap(f1, ((0, 0),))(X), ValueError, r"in_axes of argument 0 is \(0, 0\), but it is an array"),
    (lambda: up.vmap(f1, {"a": 0})(X), TypeError, "in_axes must be an axis, None, or a tuple"),
    (lambda: up.vmap(f1, 1.5), TypeError, "in_axes must be ints, None, or containers of them, not 1.5"),
    (lambda: up.vmap(f1, out_axes=("a",)), TypeError, "out_axes must be ints, None, or containers of them, not 'a'"),
    (lambda: up.vmap(f1, out_axes=2)(X), ValueError, r"axis 2 of the result, whose shape is \(4, 3\)"),
    (lambda: up.vmap(lambda x: (x, x), out_axes=(0,))(X), ValueError,
     r"out_axes of the result: \(0,\) is not built like"),
    (lambda: up.vmap(f1, out_axes=(0, 0))(X), ValueError, r"out_axes of the result is \(0, 0\), but it is no cont"),
    (lambda: up.vmap(lambda x: "a", out_axes=1)(X), ValueError, "out_axes is 1, but the result is a list"),
    (lambda: up.vmap(f1, out_axes=None)(X[:0]), ValueError, "there are no elements"),
    (lambda: up.vmap(3), TypeError, "must be callable, not 3"),
    (lambda: up.vmap(f1, gears="loop"), TypeError, "vmap has no option 'gears'; there are exact, gear, memory"),
    (lambda: up.vmap(f1, gear="sixth")(X), up.UpshiftError, "no gear named 'sixth'"),
]  # fmt: skip


def f1(x):
    return x


def f2(x, k):
    return x


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_options_reach_map():
    xs = np.array([1, 0, 4])
    found = up.vmap(lambda x: 1 // int(x), on_error="return")(xs)
    assert found[0] == 1 and isinstance(found[1], ZeroDivisionError)
    assert up.vmap(lambda x: 1 // int(x), on_error="skip")(xs).tolist() == [1, 0]
    with pytest.raises(up.GearRefused):
        up.vmap(lambda x: print(x), gear="numpy")(X)
    rng = np.random.default_rng(0)
    one, other = (up.vmap(lambda x: x + rng.random(), randomness="independent", seed=1)(X[:, 0]) for _ in range(2))
    assert one.tolist() == other.tolist()
    assert up.vmap(lambda x: x * 2, memory="1MB", exact=True)(X).tolist() == (X * 2).tolist()


def test_an_error_names_the_element():
    with pytest.raises(ZeroDivisionError) as caught:
        up.vmap(lambda w, x: w / int(x), in_axes=(None, 0))(1, np.array([1, 2, 0]))
    assert caught.value.upshift_element == 2


def test_examples():
    failed, tried = doctest.testmod(upshift.axes)
    assert tried and not failed


@pytest.mark.parametrize(
    "name", ["f", "make", "bind", "partial", "name", "annotations", "assemble", "v0", "s0", "<lambda>"]
)
def test_a_function_of_any_name(name):
    def affine(x, k):
        return x * k + 1

    affine.__name__ = name
    made = up.vmap(affine, in_axes=(0, None))(np.arange(3.0), 2.0)
    np.testing.assert_array_equal(made, [1.0, 3.0, 5.0])
    with pytest.raises(TypeError, match="element 0"):
        up.vmap(affine, in_axes=(0, None))(np.arange(3.0), "k")
