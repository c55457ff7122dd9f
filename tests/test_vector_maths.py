"""Compiled loops over MATHS in; a failure out where a value is too far off, or is not computed by a vector function."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from upshift.gears.numba import vector  # noqa: E402

needs_vectors = pytest.mark.skipif(not vector.available(), reason="no libmvec or no AVX2 here")
every_function = pytest.mark.parametrize("name", sorted(vector.MATHS))
both_sizes = pytest.mark.parametrize("dtype", ["float64", "float32"])

BINARY = frozenset({"pow", "atan2", "hypot"})
NUMPY = {
    **{"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"},
    **{"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"},
}
# NumPy has neither; C's own functions are their measure, whose errors glibc states as these.
OWN_ERROR = {"erf": 1, "erfc": 5}


def compile_loop(source: str, *types: str, **names: Any) -> Any:
    """`source` is what the loop does with lane i of x, y and o."""
    body = "".join(f"\n        {line}" for line in source.splitlines())
    space = {**vector.MATHS, "np": np, **names}
    exec(f"def kernel(x, y, o):\n    for i in range(o.size):{body}", space)
    kernel = numba.njit(space["kernel"], error_model="numpy")
    kernel.compile(tuple(numba.typeof(np.empty(0, t)) for t in types))
    return kernel


def call_of(name: str) -> str:
    return f"o[i] = {name}(x[i], y[i])" if name in BINARY else f"o[i] = {name}(x[i])"


@cache
def vector_loop(name: str, dtype: str) -> Any:
    return compile_loop(call_of(name), dtype, dtype, dtype)


@cache
def plain_loop(name: str, dtype: str) -> Any:
    """C's own function, one lane after the other."""
    fn = {"exp2": np.exp2, "cbrt": np.cbrt}.get(name) or getattr(math, name)
    return compile_loop(call_of(name), dtype, dtype, dtype, **{name: fn})


def run(kernel: Any, x: np.ndarray, y: np.ndarray, dtype: str | None = None) -> np.ndarray:
    out = np.empty(len(x), dtype or x.dtype)
    kernel(x, y, out)
    return out


def vector_names(kernel: Any) -> set[str]:
    """The vector functions that the machine code of a loop calls, by C's names."""
    return set(re.findall(r"_ZGV\w+?v_(\w+)", kernel.inspect_asm(kernel.signatures[0])))


def sample(dtype: str, seed: int, n: int = 8_000) -> np.ndarray:
    """Floats of every size, most of them where functions do something."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 2**64, n, dtype=np.uint64)
    patterns = whole.view("float64") if dtype == "float64" else whole.view("uint32").view("float32")
    ranges = [(-1, 1), (0.5, 1.5), (-10, 10), (-110, 110), (-750, 750), (-1e6, 1e6)]
    parts = [patterns, *(rng.uniform(low, high, n) for low, high in ranges)]
    parts.append(10.0 ** rng.uniform(-40, 38, n) * rng.choice([-1, 1], n))
    with np.errstate(over="ignore", under="ignore"):
        mixed = np.concatenate([part.astype(dtype) for part in parts])
    return rng.permutation(mixed)


def special(dtype: str) -> np.ndarray:
    info = np.finfo(dtype)
    sizes = [info.tiny, info.smallest_subnormal, info.tiny / 3, info.max, info.eps, 1 + info.eps, 1 - info.epsneg]
    sizes += [0, 0.5, 1, 1.5, 2, 3, 26.6, 88.8, 104, 709.8, 710, 745.2, 1024, 1e10, 1e22, math.pi, math.inf, math.nan]
    return np.array([sign * size for size in sizes for sign in (1, -1)], dtype)


def special_pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(special(dtype), special(dtype))
    return x.ravel(), y.ravel()


@np.errstate(all="ignore")
def true_values(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide = np.dtype(np.longdouble if x.dtype == "float64" else np.float64)
    x, y = x.astype(wide), y.astype(wide)
    if name in OWN_ERROR:
        return run(plain_loop(name, "float64"), x.astype("float64"), y.astype("float64")).astype(wide)
    fn = getattr(np, NUMPY.get(name, name))
    return fn(x, y) if name in BINARY else fn(x)


@np.errstate(all="ignore")
def largest_error(got: np.ndarray, true: np.ndarray) -> float:
    """In units in the last place; of results that are finite."""
    rounded = true.astype(got.dtype)
    finite = np.isfinite(got) & np.isfinite(rounded)
    unit = np.spacing(np.abs(rounded[finite])).astype(true.dtype)
    return float(np.max(np.abs(got[finite] - true[finite]) / unit))


def bound(name: str, dtype: str) -> float:
    return vector.ULP + (OWN_ERROR.get(name, 0) if dtype == "float64" else 0)


@needs_vectors
@both_sizes
@every_function
def test_values_are_within_the_bound(name: str, dtype: str) -> None:
    x, y = sample(dtype, seed=1), sample(dtype, seed=2)
    x = np.abs(x) if name == "pow" else x
    got, plain = run(vector_loop(name, dtype), x, y), run(plain_loop(name, dtype), x, y)
    assert largest_error(got, true_values(name, x, y)) <= bound(name, dtype)
    assert np.array_equal(np.isfinite(got), np.isfinite(plain))
    assert np.array_equal(got[~np.isfinite(got)], plain[~np.isfinite(got)], equal_nan=True)


@needs_vectors
@both_sizes
@every_function
def test_special_values_are_those_of_c(name: str, dtype: str) -> None:
    x, y = special_pairs(dtype)
    got, plain = run(vector_loop(name, dtype), x, y), run(plain_loop(name, dtype), x, y)
    exact = ~np.isfinite(plain) | (plain == 0)
    assert np.array_equal(got[exact], plain[exact], equal_nan=True)
    signed = ~np.isnan(plain)
    assert np.array_equal(np.signbit(got[signed]), np.signbit(plain[signed]))
    assert largest_error(got, true_values(name, x, y)) <= bound(name, dtype)


@needs_vectors
@both_sizes
@every_function
def test_vector_functions_are_called(name: str, dtype: str) -> None:
    assert name in vector.functions(64 if dtype == "float64" else 32)
    assert vector_names(vector_loop(name, dtype)) == {name if dtype == "float64" else f"{name}f"}
    assert not vector_names(plain_loop(name, dtype))


@both_sizes
def test_every_length(dtype: str) -> None:
    """Full registers, lanes that are left over, and not one lane too many."""
    x = sample(dtype, seed=3)[:150]
    x[~np.isfinite(x)] = 1
    for n in range(len(x) - 20):
        out = np.full(len(x), -7, dtype)
        vector_loop("atan", dtype)(x, x, out[:n])
        assert np.all(out[n:] == -7)
        np.testing.assert_allclose(out[:n], np.arctan(x[:n]), rtol=4 * np.finfo(dtype).eps, atol=0)


def test_in_place() -> None:
    x = sample("float64", seed=4)
    want = run(vector_loop("tanh", "float64"), x, x)
    vector_loop("tanh", "float64")(x, x, x)
    np.testing.assert_allclose(x, want, rtol=1e-14)


def test_lanes_that_overlap_are_computed_in_order() -> None:
    """Each result is the next argument, so that no two can be computed at once."""
    x = np.full(40, 0.5)
    vector_loop("cos", "float64")(x[:-1], x[:-1], x[1:])
    want = [0.5]
    while len(want) < len(x):
        want.append(math.cos(want[-1]))
    np.testing.assert_allclose(x, want, rtol=1e-14)


def test_sine_and_cosine_of_one_argument_are_two_vector_calls() -> None:
    kernel = compile_loop("o[i] = sin(x[i]) + cos(x[i]) * exp(x[i])", "float64", "float64", "float64")
    x = np.random.default_rng(5).uniform(-5, 5, 1_001)
    np.testing.assert_allclose(run(kernel, x, x), np.sin(x) + np.cos(x) * np.exp(x), rtol=1e-12, atol=1e-14)
    if vector.available():
        assert vector_names(kernel) == {"sin", "cos", "exp"}
        assert "sincos" not in kernel.inspect_asm(kernel.signatures[0])


@needs_vectors
def test_a_compiled_function_within_the_loop() -> None:
    """Both have a `sin` of their own, which must stay one when they are put together."""
    sin = vector.MATHS["sin"]
    inner = numba.njit(lambda v: sin(v) + 1)
    kernel = compile_loop("o[i] = sin(x[i]) * inner(y[i])", "float64", "float64", "float64", inner=inner)
    assert vector_names(kernel) == {"sin"}
    x = np.random.default_rng(12).uniform(-5, 5, 1_001)
    np.testing.assert_allclose(run(kernel, x, x), np.sin(x) * (np.sin(x) + 1), rtol=1e-13, atol=1e-15)


def test_branches() -> None:
    source = "if x[i] > 1:\n    v = log(x[i])\nelif x[i] > 0:\n    v = pow(x[i], y[i])\nelse:\n    v = y[i]\no[i] = v"
    kernel = compile_loop(source, "float64", "float64", "float64")
    x, y = sample("float64", seed=6), sample("float64", seed=7)
    with np.errstate(all="ignore"):
        want = np.where(x > 1, np.log(x), np.where(x > 0, np.power(x, y), y))
    np.testing.assert_allclose(run(kernel, x, y), want, rtol=1e-14, atol=1e-320)
    if vector.available():
        assert vector_names(kernel) == {"log", "pow"}


def test_sizes_of_floats_may_be_mixed() -> None:
    kernel = compile_loop("o[i] = exp(np.float64(sin(x[i]))) + pow(x[i], y[i])", "float32", "int64", "float64")
    x = np.random.default_rng(8).uniform(0, 5, 1_001).astype("float32")
    y = np.arange(1_001) % 7
    want = np.exp(np.sin(x).astype(float)) + np.power(x, y)
    np.testing.assert_allclose(run(kernel, x, y, "float64"), want, rtol=1e-6)
    if vector.available():
        assert vector_names(kernel) == {"sinf", "exp", "pow"}


@pytest.mark.parametrize("types", [("int64", "float64"), ("bool", "float64"), ("float32", "float32")])
def test_results_are_float32_for_float32_alone(types: tuple[str, str]) -> None:
    argument, result = types
    sin = vector.MATHS["sin"]
    fn = numba.njit(lambda x: sin(x))
    fn.compile((numba.from_dtype(np.dtype(argument)),))
    assert fn.nopython_signatures[0].return_type == numba.from_dtype(np.dtype(result))
    assert abs(fn(np.dtype(argument).type(1)) - math.sin(1)) < 1e-7


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(numba.TypingError, match="sin"):
        compile_loop(call_of("sin"), "complex128", "complex128", "complex128")


@both_sizes
@every_function
def test_without_vectors_it_is_the_function_itself(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "available", lambda: False)
    kernel = compile_loop(call_of(name), dtype, dtype, dtype)
    assert not vector_names(kernel)
    x, y = sample(dtype, seed=9, n=500), sample(dtype, seed=10, n=500)
    assert np.array_equal(run(kernel, x, y), run(plain_loop(name, dtype), x, y), equal_nan=True)
    assert vector.functions() == vector.functions(32) == frozenset()
    assert vector.cache_key() == ""


@needs_vectors
def test_a_library_that_lacks_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = vector.cache_key()
    monkeypatch.setattr(vector, "_found", lambda bits: frozenset({"sin"}))
    kernel = compile_loop("o[i] = sin(x[i]) + cos(x[i])", "float64", "float64", "float64")
    assert vector_names(kernel) == {"sin"}
    assert vector.cache_key() not in ("", whole)


@needs_vectors
def test_registers_of_half_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a CPU without AVX-512 runs."""
    half = vector._registers()[:2]
    monkeypatch.setattr(vector, "_registers", lambda: half)
    kernel = compile_loop(call_of("exp"), "float64", "float64", "float64")
    assert set(re.findall(r"_ZGV\w+", kernel.inspect_asm(kernel.signatures[0]))) <= {"_ZGVdN4v_exp", "_ZGVbN2v_exp"}
    assert vector_names(kernel) == {"exp"}
    x = sample("float64", seed=11)
    assert largest_error(run(kernel, x, x), true_values("exp", x, x)) <= vector.ULP


@numba.njit(error_model="numpy")
def users(x: float) -> float:
    return math.expm1(x) + math.sin(x)


@needs_vectors
def test_the_users_functions_are_not_affected() -> None:
    kernel = compile_loop("o[i] = sin(x[i]) * users(x[i])", "float64", "float64", "float64", users=users)
    alone = compile_loop("o[i] = users(x[i])", "float64", "float64", "float64", users=users)
    assert "expm1" in vector.functions()
    assert "expm1" not in vector_names(kernel)
    assert not vector_names(alone)


CACHED = """
import sys
import numba, numpy as np
from upshift.gears.numba import vector
sin, erf = vector.MATHS["sin"], vector.MATHS["erf"]

@numba.njit(cache=True, error_model="numpy")
def kernel(x, o):
    for i in range(x.size):
        o[i] = sin(x[i]) + erf(x[i])

x = np.arange(103.0)
o = np.empty_like(x)
kernel(x, o)
print(sum(kernel.stats.cache_hits.values()), vector.available(), o.tobytes().hex())
"""


def run_cached(folder: Path, **settings: str) -> list[str]:
    script = folder / "cached.py"
    if not script.exists():  # Numba looks at the time it was written
        script.write_text(CACHED)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **settings}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_compiled_code_is_cached(tmp_path: Path) -> None:
    hits, _, first = run_cached(tmp_path)
    assert hits == "0"
    hits, _, second = run_cached(tmp_path)
    assert hits == "1"
    assert first == second
    x = np.arange(103.0)
    got = np.frombuffer(bytes.fromhex(second))
    np.testing.assert_allclose(got, np.sin(x) + [math.erf(v) for v in x], rtol=1e-13, atol=1e-15)


def test_a_user_who_switches_avx_off(tmp_path: Path) -> None:
    _, available, data = run_cached(tmp_path, NUMBA_ENABLE_AVX="0")
    assert available == "False"
    x = np.arange(103.0)
    np.testing.assert_allclose(np.frombuffer(bytes.fromhex(data)), np.sin(x) + [math.erf(v) for v in x], rtol=1e-13)
