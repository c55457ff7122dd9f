"""JAX arrays through `map`: JAX arrays come back, the user's settings stay, and `jit` and `grad` see through."""

from __future__ import annotations

import math

import numpy as np
import pytest

import upshift as up

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402


def branch(x):
    return x * x + 1 if x > 0 else -x


@pytest.mark.parametrize("n", [1, 5, 100, 1000])
def test_jax_arrays_in_and_out(n):
    xs = jnp.linspace(-1, 1, n)
    before = jax.config.jax_enable_x64
    ys = up.map(branch, xs)
    want = up.map(branch, np.asarray(xs), gear="loop")
    assert isinstance(ys, jax.Array) and ys.dtype == want.dtype
    assert np.allclose(ys, want, rtol=1e-5)
    assert jax.config.jax_enable_x64 == before


def test_tuples_and_arrays_of_arrays():
    rows = jnp.arange(12.0).reshape(4, 3)
    mean, centred = up.map(lambda row: (row.mean(), row - row.mean()), rows)
    assert isinstance(mean, jax.Array) and isinstance(centred, jax.Array)
    assert np.allclose(centred, np.asarray(rows) - np.asarray(rows).mean(axis=1, keepdims=True))


def test_what_the_gear_refuses_is_done_all_the_same():
    ys = up.map(lambda x: float(str(x)) * 2, jnp.arange(3.0))
    assert isinstance(ys, jax.Array)
    assert np.asarray(ys).tolist() == [0.0, 2.0, 4.0]


def test_a_named_gear_gives_numpy_arrays():
    ys = up.map(branch, jnp.linspace(-1, 1, 20), gear="numpy")
    assert type(ys) is np.ndarray


def test_inside_jit_and_grad():
    f = lambda x: x * x * 3 + x
    xs = jnp.linspace(-1, 1, 7)
    inside = jax.jit(lambda xs: up.map(f, xs).sum())
    assert np.allclose(inside(xs), jnp.sum(jax.vmap(f)(xs)), rtol=1e-5)
    assert np.allclose(jax.grad(lambda xs: up.map(f, xs).sum())(xs), 6 * xs + 1, rtol=1e-5)


def test_inside_jit_both_sides_of_a_branch():
    xs = jnp.linspace(-1, 1, 9)
    assert np.allclose(jax.jit(lambda xs: up.map(branch, xs))(xs), [branch(x) for x in np.asarray(xs)], rtol=1e-5)


def test_the_gear_by_name_is_the_loop():
    xs = np.linspace(-2, 2, 300)
    f = lambda x: math.sin(x) * math.exp(x) if x > 0 else x * x
    ys = up.map(f, xs, gear="jax")
    assert type(ys) is np.ndarray and ys.dtype == np.float64
    assert np.allclose(ys, [f(x) for x in xs], rtol=1e-9, atol=0)
    with pytest.raises(up.GearRefused):
        up.map(f, xs, gear="jax", exact=True)
