"""The law of `up.function` for JAX's arrays: decorated and plain agree, and the user's settings are as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import upshift as up
from eagerly import Row, compile_at_once, into, outcome
from law import overheard

jax = pytest.importorskip("jax")
jnp = jax.numpy

SCALE = 2.0
TABLE = jnp.array([1.0, 2.0, 3.0])
PARAMS = {"w": TABLE}


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program is made at the second call of a kind, and looked at all the time."""
    compile_at_once(monkeypatch)


def vector(i: int) -> Any:
    return jnp.asarray(np.random.default_rng(i).normal(0, 2, 3).astype("float32"))


ROWS: list[Row] = []
row = into(ROWS)


def halved(x):
    return x * 0.5


@row(lambda i: (vector(i), vector(i)))
def added(a, b):
    return jnp.tanh(a * 2.0 + b) - a / (b * b + 1.0)


@row(lambda i: (vector(i), 0.1 * i))
def scaled(x, k):
    return halved(x) * k + k * SCALE


@row(lambda i: (jnp.arange(3) + i, 3 if i % 4 else 2**40))
def of_ints(x, n):
    return x * 2 + n


@row(lambda i: (vector(i), i % 2 == 0, "fast" if i % 3 else "slow"))
def with_flags(x, flag, mode):
    x = x * 2.0 if flag else x - 1.0
    return -x if mode == "fast" else x


@row(lambda i: ({"w": vector(i), "b": jnp.float32(1.0)}, vector(i)))
def gives_arguments(params, x):
    return {"made": params["w"] * x + params["b"], "given": x}


@row(lambda i: (vector(i),))
def with_captured_array(x):
    return x * TABLE


@row(lambda i: (vector(i),))
def reads_length(x):
    return x / x.shape[0] if x.shape[0] > 2 else x


@row(lambda i: (vector(i),))
def gradient(x):
    return jax.grad(lambda v: jnp.sum(jnp.sin(v) * TABLE))(x)


@row(lambda i: (vector(i), jnp.ones(2 + i % 2)))
def mismatched(a, b):
    return a + b


@row(lambda i: (vector(i),), shifts=False)
def decides(x):
    return x * 2.0 if x[0] > 0 else x


@row(lambda i: (vector(i), i), shifts=False)
def decides_by_number(x, n):
    return x * 2.0 if n > 3 else x


@row(lambda i: (vector(i),), shifts=False)
def gives_number(x):
    return float(x[0]), x


@row(lambda i: (vector(i),), shifts=False)
def by_numpy(x):
    return np.sort(x)


@row(lambda i: (vector(i),), shifts=False)
def with_captured_dict(x):
    return x * PARAMS["w"]


@row(lambda i: (vector(i), np.ones(3, np.float32)), shifts=False)
def beside_numpy(x, a):
    return x + a


def same(want: Any, got: Any) -> None:
    assert type(want) is type(got)
    if isinstance(want, jax.Array):
        assert want.dtype == got.dtype and want.shape == got.shape and want.weak_type == got.weak_type
        np.testing.assert_allclose(np.asarray(want), np.asarray(got), rtol=1e-5, atol=1e-6)
    elif isinstance(want, tuple | dict):
        assert len(want) == len(got)
        for one, other in zip(jax.tree.leaves(want), jax.tree.leaves(got), strict=True):
            same(one, other)
    elif isinstance(want, np.ndarray):
        assert np.array_equal(want, got)
    else:
        assert want == got


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.f.__name__)
def test_every_function_of_the_table(row: Row) -> None:
    f: Any = up.function(row.f)
    with overheard() as said:
        for i in range(24):
            args = row.make(i)
            want, error = outcome(row.f, args)
            got, raised = outcome(f, args)
            assert type(raised) is type(error) and str(raised) == str(error)
            if error is None:
                same(want, got)
                leaves = zip(jax.tree.leaves(want), jax.tree.leaves(got), strict=True)
                assert all((a in map(id, args)) is (b in map(id, args)) for a, b in ((id(a), id(b)) for a, b in leaves))
    assert not said, said
    shifted = any(kind.gear == "jax" for kind in f.explain().kinds)
    assert shifted is row.shifts, f.explain()
    assert row.shifts or f.explain().kinds[0].refusal is not None


def test_what_it_captured_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    f: Any = up.function(scaled)
    g: Any = up.function(with_captured_array)
    for i in range(120):
        if i == 30:
            monkeypatch.setitem(globals(), "SCALE", 7.0)
            monkeypatch.setitem(globals(), "TABLE", jnp.array([0.0, 5.0, 1.0]))
            monkeypatch.setitem(globals(), "halved", lambda x: x * 0.25)
        same(scaled(vector(i), 0.5), f(vector(i), 0.5))
        same(with_captured_array(vector(i)), g(vector(i)))
    assert f.explain().gear == g.explain().gear == "jax"


def test_under_other_transformations_it_is_plain() -> None:
    f: Any = up.function(added)
    for i in range(8):
        f(vector(i), vector(i))
    assert f.explain().gear == "jax"
    a, b = vector(1), vector(2)
    same(jax.jit(added)(a, b), jax.jit(f)(a, b))
    same(jax.grad(lambda x: added(x, b).sum())(a), jax.grad(lambda x: f(x, b).sum())(a))
    same(jax.vmap(added)(a, b), jax.vmap(f)(a, b))


def test_impure_functions_run_once_per_call(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []

    def prints(x: Any) -> Any:
        print("here")
        return x * 2.0

    def appends(x: Any) -> Any:
        seen.append(1)
        return x * 2.0

    for f in (prints, appends):
        g: Any = up.function(f)
        for i in range(9):
            g(vector(i))
        assert g.explain().gear == "plain"
    assert len(seen) == 9 and capsys.readouterr().out.split() == ["here"] * 9


def test_settings_of_the_user_hold() -> None:
    f: Any = up.function(added)
    enable = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    for i in range(8):
        f(vector(i), vector(i))
        with enable(True):
            a = jnp.arange(3.0)
            assert a.dtype == np.float64
            same(added(a, a), f(a, a))
    assert jnp.arange(3.0).dtype == np.float32


# ---- functions of NumPy's arrays, by XLA


WEIGHTS = np.array([1.0, -2.0, 0.5])


def array(i: int) -> Any:
    return np.random.default_rng(i).normal(0, 2, 3)


def chained(x, y):
    z = np.exp(-x * x) * np.sin(y)
    for _ in range(3):
        z = z * 0.5 + np.tanh(z) * y
    return z / (1 + np.abs(z))


def weighed(x, k):
    return np.sum(x * WEIGHTS) * k, x @ WEIGHTS


def chosen(x):
    return np.where(x > 0, np.log(np.abs(x) + 1.0), x)


def warns(x):
    return np.sqrt(x) + np.exp(x)


def of_columns(x):
    return {"scaled": x[:, None] * np.ones((1, 2)), "mean": np.mean(x)}


ARRAY_ROWS = [
    Row(chained, lambda i: (array(i), array(i + 1))),
    Row(weighed, lambda i: (array(i), 0.5 * i)),
    Row(chosen, lambda i: (array(i),)),
    Row(warns, lambda i: (np.abs(array(i)) if i % 4 else array(i) * (1 if i % 8 else 1e3),)),
    Row(of_columns, lambda i: (array(i),)),
    Row(lambda x: x, lambda i: (array(i),), shifts=False),
    Row(lambda x: x[1:], lambda i: (array(i),), shifts=False),
    Row(lambda x: WEIGHTS, lambda i: (array(i),), shifts=False),
    Row(lambda x: x.sum() * x.T, lambda i: (array(i).reshape(1, 3),)),
]


def written(x):
    x += 1.0
    return x * 2.0


def same_array(want: Any, got: Any) -> None:
    assert type(want) is type(got)
    if isinstance(want, tuple | dict):
        for one, other in zip(jax.tree.leaves(want), jax.tree.leaves(got), strict=True):
            same_array(one, other)
        return
    assert np.shape(want) == np.shape(got)
    np.testing.assert_allclose(want, got, rtol=1e-9, atol=1e-12)
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.flags.writeable == want.flags.writeable and got.strides == want.strides


@pytest.mark.parametrize("row", ARRAY_ROWS, ids=lambda row: row.f.__name__)
def test_functions_of_numpy_s_arrays(row: Row) -> None:
    import warnings

    f: Any = up.function(row.f)
    for i in range(24):
        args, copies = row.make(i), row.make(i)
        heard = []
        for one, given in ((row.f, args), (f, copies)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                heard.append((one(*given), sorted({str(w.message) for w in caught})))
        (want, said), (got, echoed) = heard
        same_array(want, got)
        assert said == echoed
        assert (want is args[0]) is (got is copies[0]) and (want is WEIGHTS) is (got is WEIGHTS)
        assert np.array_equal(args[0], copies[0])
    assert all(kind.gear in ("plain", "llvm") for kind in f.explain().kinds), f.explain()


def test_other_shapes_and_written_arrays_are_the_plain_function_s() -> None:
    f: Any = up.function(chained)
    for i in range(30):
        x = array(i) if i < 10 else np.arange(i, dtype=float)
        same_array(chained(x, x), f(x, x))
    g: Any = up.function(written)
    for i in range(12):
        x, y = array(i), array(i)
        same_array(written(x), g(y))
        assert np.array_equal(x, y)


def test_captured_arrays_change(monkeypatch: pytest.MonkeyPatch) -> None:
    f: Any = up.function(weighed)
    for i in range(40):
        if i == 20:
            monkeypatch.setitem(globals(), "WEIGHTS", np.array([5.0, 1.0, -1.0]))
        WEIGHTS[0] = i
        same_array(weighed(array(i), 2.0), f(array(i), 2.0))
    assert f.explain().gear == "llvm"
