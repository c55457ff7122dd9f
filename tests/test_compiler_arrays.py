"""Functions of whole arrays in the gear llvm: the loop's very bits, and none of them refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from law import Rule, check, compare
from upshift.compiler import kernel
from upshift.gears.calls import argument_of
from upshift.gears.llvm import columns, gear, whole

pytestmark = pytest.mark.filterwarnings("ignore")
EXACT = Rule(exact=True)
R = np.random.default_rng(0)
V = R.normal(size=(12, 8))  # vectors, matrices, and others of their kind: one element for each of the first axis
M = R.normal(size=(12, 4, 5))
N = R.normal(size=(12, 5, 6))
S = R.normal(size=(12, 6, 6))
P = np.array([a @ a.T + np.eye(6) for a in S])
LONG = R.normal(size=(3, 300))
BIG = R.normal(size=(3, 70, 50))
WIDE = R.normal(size=(3, 50, 40))
POINTS = R.normal(size=(12, 4, 3))
INTS = R.integers(-5, 9, (12, 12))
COUNTS = np.abs(INTS)
SMALL = R.integers(-100, 100, (12, 7)).astype(np.int8)
BYTES = R.integers(0, 255, (12, 7)).astype(np.uint8)
SHORT = R.integers(-(10**6), 10**6, (12, 7)).astype(np.int32)
FLAGS = SMALL > 0
SINGLE = R.normal(size=(12, 7)).astype(np.float32)
Z = M + 1j * M[::-1]
ODD = R.choice(np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.5, 1e-320]), size=(12, 37))
FEW = [5, 1, 3]


def sm(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def w_1(x):
    x[0] = 5.0
    x[1:3] += 1
    return x


def loop(x):
    s = 0.0
    for row in x:
        for v in row:
            s += v * v
    return s


def put(x):
    y = np.zeros_like(x)
    y[x > 0] = 1
    y[0] = x[1]
    y[:, 1] = 3
    y[1:, 2:] = x[:-1, :3]
    return y, y.shape, y.max()


def shift(x):
    x[1:] = x[:-1]
    x[0] = x[1] * 2
    return x


def norm(a):
    return (a - a.mean()) / a.std()


def g_4(a):
    out = []
    for row in a:
        out.append(row * 2)
    return np.concatenate(out)


def h_4(a):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    return np.array(rows) @ np.array([1, 2])


def step(u):
    for i in range(300):
        v = u * 0.5
        u = v + np.sin(u) * 0.1
    return u


def two(u):
    a = u * 1.0
    b = u + 1
    s = 0.0
    for i in range(300):
        a, b = b, a * 0.5 + b[::-1] * 0.25
        c = a[10:20, ::2]
        a = a + 1
        s += c[0, 0]
    return a, b, s


def conv(x):
    out = np.zeros((100,))
    for i in range(100):
        for j in range(10):
            w = x[i : i + 100] * x[:100]
            out[i] += w.sum()
    return out


def views(u):
    a = u.copy()
    for i in range(300):
        b = a.T
        a = b * 0.99
        d = a[1:]
        e = a[:-1]
        a = np.concatenate((d - e, a[:1]))
    return a


def real_parts(z):
    z.real[0] = 3.0
    z.T.real[1] += z.real[:, 0]
    return z, z.imag[1:].sum()


ROWS: list[tuple[Callable[..., Any], ...]] = [
    (lambda x: x[0] + x[-1], V),
    (lambda x: x * 2 + 1, V),
    (lambda x: x[1:] - x[:-1], V),
    (lambda x: np.sum(x * x), V),
    (lambda x: np.exp(x).sum(), V),
    (lambda x: np.where(x > 0, x, 0.0), V),
    (sm, V),
    (w_1, V),
    (lambda a, b: (a * b).mean(), V, V),
    (lambda x: x.sum(axis=0), M),
    (lambda x: x.sum(axis=1), M),
    (lambda x: x.T.sum(axis=1), M),
    (lambda x: x.T + 1, M),
    (lambda x: x.mean(axis=1, keepdims=True) - x, M),
    (lambda x: x[x > 0].sum(), M),
    (lambda x: np.array([1.0, 2.0, 3.0]) * x[0, 0], M),
    (lambda x: np.array([[1, 2], [3, 4]]) + 1, M),
    (lambda x: x[[0, 2]], M),
    (lambda x: x[np.array([0, 2, -1])], M),
    (lambda x: x[:, np.array([0, 2, -1])], M),
    (lambda x: x[np.array([0, 2, -1]), np.array([0, 1, 1])], M),
    (lambda x: x[9, 9], M),
    (lambda x: x[::-1, ::2], M),
    (lambda x: x[..., None, 0], M),
    (lambda x: np.maximum(x, 0), M),
    (lambda x: (x / 0).sum(), M),
    (lambda x: x**2 + x**3 - x**0.5, abs(M)),
    (lambda x: x // 1 + x % 2, M),
    (loop, M),
    (put, M),
    (shift, M),
    (lambda x: x[[0, 2]], M),
    (lambda a, b: a @ b, M, N),
    (lambda a, b: a @ b, BIG, WIDE),
    (lambda a, b: np.dot(a, b), BIG, WIDE),
    (lambda a: a @ a.T, BIG),
    (lambda a: a.T @ a, BIG),
    (lambda a: a.T.dot(a), M),
    (lambda a: np.dot(a, a.T), M),
    (lambda a, b: a @ b[0, :5], M, N),
    (lambda a, b: a[0] @ b, M, N),
    (lambda a, b: a[0] @ b[:, 0], M, N),
    (lambda a, b: np.dot(a[0], b[:, 0]), M, N),
    (lambda a: np.dot(a, a), V),
    (lambda a: a @ a, V),
    (lambda a: np.outer(a, a), V),
    (lambda a: np.inner(a, a), V),
    (lambda a: a[:, None] * a[None, :], V),
    (lambda a: a.reshape(5, 4), M),
    (lambda a: a.reshape(-1), M),
    (lambda a: a.T.reshape(2, -1), M),
    (lambda a: a.ravel() * 2, M),
    (lambda a: a.T.ravel(), M),
    (lambda a: a.flatten(), M),
    (lambda a: a.transpose(1, 0), M),
    (lambda a: np.flip(a, 0) + a[::-1], M),
    (lambda a: np.swapaxes(a, 0, 1), M),
    (lambda a: np.expand_dims(a, 0), M),
    (lambda a: (a.astype(np.int64) * 3).sum(), M * 10),
    (lambda a: a.astype(np.float32) * 2, M),
    (lambda a: (a.astype(np.float32) * 2).sum(), M),
    (lambda a: a.astype(np.float32).mean(axis=0), M),
    (lambda a: a.sum(), SMALL),
    (lambda a: a.sum(), BYTES),
    (lambda a: a.sum(), SHORT),
    (lambda a: a.sum(), FLAGS),
    (lambda a: a.mean(), SMALL),
    (lambda a: a.mean(), BYTES),
    (lambda a: a.mean(), SHORT),
    (lambda a: a.mean(), FLAGS),
    (lambda a: a.max(), SMALL),
    (lambda a: a.max(), BYTES),
    (lambda a: a.max(), SHORT),
    (lambda a: a.max(), FLAGS),
    (lambda a: a * 2 if a.dtype != bool else a, SMALL),
    (lambda a: a * 2 if a.dtype != bool else a, BYTES),
    (lambda a: a * 2 if a.dtype != bool else a, SHORT),
    (lambda a: a * 2 if a.dtype != bool else a, FLAGS),
    (lambda a: a + a, SMALL),
    (lambda a: a + a, BYTES),
    (lambda a: a + a, SHORT),
    (lambda a: a + a, FLAGS),
    (lambda a: a / 3, SMALL),
    (lambda a: a / 3, BYTES),
    (lambda a: a / 3, SHORT),
    (lambda a: a / 3, FLAGS),
    (lambda a: a // 3, SMALL),
    (lambda a: a // 3, BYTES),
    (lambda a: a // 3, SHORT),
    (lambda a: a // 3, FLAGS),
    (lambda a: a @ a, SMALL),
    (lambda a: a @ a, BYTES),
    (lambda a: a @ a, SHORT),
    (lambda a: a @ a, FLAGS),
    (lambda a: (a > 2).any(), SMALL),
    (lambda a: (a > 2).any(), BYTES),
    (lambda a: (a > 2).any(), SHORT),
    (lambda a: (a > 2).any(), FLAGS),
    (lambda a: np.all(a), SMALL),
    (lambda a: np.all(a), BYTES),
    (lambda a: np.all(a), SHORT),
    (lambda a: np.all(a), FLAGS),
    (lambda a: np.prod(a[:3]), SMALL),
    (lambda a: np.prod(a[:3]), BYTES),
    (lambda a: np.prod(a[:3]), SHORT),
    (lambda a: np.prod(a[:3]), FLAGS),
    (lambda a: a[1] + a[2], SMALL),
    (lambda a: a[1] + a[2], BYTES),
    (lambda a: a[1] + a[2], SHORT),
    (lambda a: a[1] + a[2], FLAGS),
    (lambda a: a * a + 1j, Z),
    (lambda a: a.sum(axis=0), Z),
    (lambda a: np.abs(a), Z),
    (lambda a: a / a, Z),
    (lambda a: a.conj() * 2 if False else np.conj(a) * 2, Z),
    (lambda a: a.var(), M),
    (lambda a: np.std(a), M),
    (lambda a: np.var(a, axis=0), M),
    (lambda a: a.std(axis=1, ddof=1), M),
    (lambda a: a.std(axis=1, keepdims=True), M),
    (lambda a: np.var(a), INTS),
    (lambda a: np.median(a), V),
    (lambda a: np.median(a), INTS),
    (lambda a: np.average(a, weights=a * a), V),
    (lambda a: np.ptp(a), V),
    (lambda a: np.count_nonzero(a), INTS),
    (lambda a: np.argmax(a), M),
    (lambda a: a.argmin(axis=1), M),
    (lambda a: a.argmax(axis=0), M),
    (lambda a: np.nonzero(a > 0)[0].sum(), INTS),
    (lambda a: np.where(a > 0)[0], V[:1]),
    (lambda a: np.searchsorted(np.sort(a), 0.3), V),
    (lambda a: np.searchsorted(np.sort(a), a), V),
    (lambda a: np.cumsum(a), V),
    (lambda a: np.cumsum(a), INTS.astype(np.int8)),
    (lambda a: np.cumsum(a, axis=0), M),
    (lambda a: a.cumsum(axis=1), M),
    (lambda a: np.cumprod(a), V),
    (lambda a: np.diff(a), V),
    (lambda a: np.diff(a, n=2), V),
    (lambda a: np.diff(a, axis=0), M),
    (lambda n: np.arange(n), FEW),
    (lambda n: np.arange(1, n + 4, 2), FEW),
    (lambda n: np.arange(0.1, n * 1.3, 0.7), FEW),
    (lambda n: np.arange(n, -3, -1), FEW),
    (lambda n: np.linspace(0, n, 7), FEW),
    (lambda n: np.linspace(0.3, n, 7, endpoint=False), FEW),
    (lambda n: np.linspace(0.3, n, 1), FEW),
    (lambda n: np.linspace(-2, n), FEW),
    (lambda n: np.eye(n), FEW),
    (lambda n: np.eye(n, n + 1, k=-1), FEW),
    (lambda n: np.identity(n), FEW),
    (lambda a: np.diag(a), V),
    (lambda a: np.diag(a), M),
    (lambda a: np.trace(a), M),
    (lambda a: np.triu(a) - np.tril(a, -1), M),
    (lambda a: np.roll(a, 3), V),
    (lambda a: np.roll(a, -1, axis=1), M),
    (lambda a: np.roll(a, 1), M),
    (lambda a: np.repeat(a, 3), V),
    (lambda a: np.tile(a, 2), V),
    (lambda a: np.round(a, 2), V),
    (lambda a: np.round(a), V),
    (lambda a: a.round(1), V),
    (lambda a: np.sort(a), V),
    (lambda a: np.sort(a), LONG),
    (lambda a: np.sort(a), M),
    (lambda a: np.sort(a), INTS),
    (lambda a: np.argsort(a), V),
    (lambda a: np.argsort(a), LONG),
    (lambda a: np.unique(a).sum(), INTS),
    (lambda a: np.bincount(a, minlength=20), COUNTS),
    (lambda a: np.bincount(a, weights=a * 0.5, minlength=20), COUNTS),
    (lambda a: np.polyval([1.0, 2.0, 3.0], a), V),
    (lambda a: np.convolve(a, a), LONG[:, :30]),
    (lambda a: np.convolve(a, a[:12], "same"), LONG[:, :30]),
    (lambda a: np.isclose(a, a + 1e-9), V),
    (lambda a: np.allclose(a, a + 1e-9), V),
    (lambda a: np.array_equal(a, a), V),
    (lambda a: sum(a), V),
    (lambda a: max(a), V),
    (lambda a: len(a) + a.size + a.shape[0] + a.ndim, M),
    (lambda a: [float(v) for v in a], V),
    (lambda a: sorted(a), V),
    (lambda a: np.full(3, a[0]) + np.ones(3) * np.zeros(3) + np.full((3,), 2), V),
    (lambda a: np.ones((2, 3), dtype=np.int32) * 2, V),
    (lambda a: np.zeros_like(a) + np.ones_like(a) + np.full_like(a, 3), INTS),
    (lambda a: abs(a) + np.abs(-a), V),
    (lambda a: ~(a > 0) & (a < 1) | (a == 0), V),
    (lambda a: np.maximum(a, 0) - np.minimum(a, 1.5), V),
    (lambda a: np.clip(a, -1, 1), V),
    (lambda a: a.clip(0), V),
    (lambda a: np.sin(a) + np.cos(a) * np.tanh(a) - np.log(np.abs(a) + 1) + np.sqrt(np.abs(a)), V),
    (lambda a: np.power(a, 3) + np.float64(2) ** a, np.abs(V)),
    (lambda a: np.mod(a, 0.3) + np.floor_divide(a, 0.3) + np.arctan2(a, 2.0) + np.hypot(a, 1), V),
    (norm, M),
    (lambda a: np.count_nonzero(a), INTS),
    (lambda a: np.concatenate((a, a[:2], a * 2)), V),
    (lambda a: np.concatenate([a, a], axis=1), M),
    (lambda a: np.concatenate([a, a]), M),
    (lambda a: np.stack([a, a * 2]), V),
    (lambda a: np.stack((a, a * 2), axis=1), M),
    (lambda a: np.vstack((a, a)), V),
    (lambda a: np.hstack((a, a)), V),
    (lambda a: np.hstack((a, a)), M),
    (lambda a: np.column_stack((a, a)), V),
    (lambda a: np.array([a, a * 3]), V),
    (lambda a: np.pad(a, 2), V),
    (lambda a: np.pad(a, 1, mode="constant"), M),
    (lambda a: np.pad(a, ((1, 1), (0, 2))), M),
    (lambda a: np.pad(a, 1, mode="edge"), M),
    (lambda a: np.cross(a[:3], a[3:6]), V),
    (lambda a: np.linalg.inv(a), S),
    (lambda a: np.linalg.det(a), S),
    (lambda a: np.linalg.solve(a, a[0]), S),
    (lambda a: np.linalg.solve(a, a.T), S),
    (lambda a: np.linalg.cholesky(a), P),
    (lambda a: np.linalg.eigvalsh(a), P),
    (lambda a: np.linalg.eigh(a)[1], P),
    (lambda a: np.linalg.norm(a), V),
    (lambda a: np.linalg.norm(a), S),
    (lambda a: np.linalg.norm(a, axis=1), S),
    (lambda a: np.linalg.norm(a, 1), V),
    (lambda a: np.linalg.inv(a * 0), S),
    (lambda a: np.linalg.solve(a @ a.T, a[0]), M),
    (g_4, M),
    (h_4, V),
    (step, BIG),
    (two, BIG),
    (conv, BIG),
    (views, BIG),
    (lambda x: np.clip(x, -1, 1), ODD),
    (lambda x: np.clip(x, 0.0, 1), ODD),
    (lambda x: np.clip(x, -0.0, 1) * 2, ODD),
    (lambda x: np.clip(x, -3, 10) * 2 + 1, INTS),
    (lambda x: np.maximum(x, 0), ODD),
    (lambda x: np.maximum(x, -0.0) + 0, ODD),
    (lambda x: np.minimum(x, x[::-1]), ODD),
    (lambda x: np.maximum(0, x), ODD),
    (lambda x: np.percentile(x, 25), V),
    (lambda x: np.percentile(x, 75) - np.quantile(x, 0.1), V),
    (lambda x: np.cov(x), M),
    (lambda x: np.cov(np.transpose(x)), M),
    (lambda x: np.histogram(x)[0], V),
    (lambda x: np.histogram(x, bins=7)[1], V),
    (lambda x: np.histogram(x, 7, weights=x * x)[0], V),
    (lambda x: np.cross(x, x[::-1]), POINTS),
    (lambda x: np.cross(x[0], x[1]), POINTS),
    (lambda x: np.shape(x), M),
    (lambda x: np.zeros([x.shape[0], 3]), M),
    (lambda x: x.conj() + x.T.conjugate().T, M),
    (lambda a: np.linalg.solve(a, a[:, :2]), S),
    (lambda a: np.linalg.solve(a, a[:, :1].copy()), S),
    (lambda a: np.linalg.solve(a, np.concatenate((a, a), axis=1)), S + 1j * S[::-1]),
    (lambda a: (np.linalg.solve(a, a[:, :2]), np.linalg.inv(a), np.linalg.det(a)), S.astype(np.float32)),
    (lambda a: (np.linalg.cholesky(a), np.linalg.eigvalsh(a), np.linalg.eigh(a)[1]), P.astype(np.float32)),
    (lambda a: np.linalg.eigvalsh(a + 0j), P),
    (lambda a: (np.var(a), a.std(axis=0, ddof=1), a.mean(), a.mean(axis=1)), Z),
    (lambda a: (np.var(a, axis=0), a.mean(axis=1)), Z.astype(np.complex64)),
    (lambda a: (np.var(a), a.std(axis=1)), (M * 1e18).astype(np.int64)),
    (lambda a: a.real * 2 + np.abs(a).real, Z),
    (real_parts, Z),
]


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_not_one_bit_differs(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "GUARDED", False)
    f, *columns = ROWS[row]
    refusal = check(f, *columns, gears=("llvm",), exact=True)
    assert refusal is None, refusal


# ---- whole functions: one call, arrays that are written into, results that are large


def scaled(a: Any, b: Any, k: Any, c: Any) -> Any:
    return np.clip(a, 2, 10) * k + b * c


def means(data: Any, radius: Any, n: int) -> Any:
    made = np.zeros(n)
    for i in range(n):  # more garbage than a call may hold
        mask = np.logical_and(i / n <= radius, radius < (i + 1) / n)
        made[i] = data[mask].mean()
    return made


def shortest(path: Any) -> None:
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def smooth(a: Any, b: Any, n: int) -> None:
    for _ in range(n):
        b[1:-1] = 0.33 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33 * (a[:-2] + b[1:-1] + a[2:])


def kept_in_a_loop(a: Any, n: int) -> Any:
    rows = a[1:]
    last = a * 2
    for _ in range(n):
        last = last + 1.0
        rows = rows * 0.5 + last[1:]
    return rows, last


def weighted(x: Any, weights: Any, bins: int) -> Any:
    return np.histogram(x, bins, weights=weights), np.histogram(x, bins), np.histogram(x, bins=bins, range=(-1, 1))


def outers(a: Any, b: Any) -> Any:
    return np.add.outer(a, b), np.less.outer(b, a[::-1]), np.multiply.outer(a[:0], b)


LARGE = R.normal(size=(300, 400))
WHOLE: list[tuple[Any, Callable[[], tuple[Any, ...]]]] = [
    (scaled, lambda: (np.arange(40), np.arange(40), np.int64(3), np.uint8(4))),
    (scaled, lambda: (np.arange(40, dtype=np.int8), np.arange(40, dtype=np.uint8), np.int16(3), np.float32(4))),
    (means, lambda: (LARGE.ravel(), np.abs(LARGE).ravel(), 3000)),
    (shortest, lambda: (np.abs(LARGE[:40, :40] * 9).astype(np.int32),)),
    (outers, lambda: (LARGE[:3, ::2], np.arange(5, dtype=np.int16))),
    (outers, lambda: (np.arange(4, dtype=np.uint8), LARGE[:2, :3].astype(np.float32))),
    (smooth, lambda: (LARGE.ravel().copy(), LARGE.ravel().copy(), 700)),
    (weighted, lambda: (np.tile(LARGE.ravel(), 2), np.cos(np.tile(LARGE.ravel(), 2)), 30)),
    (weighted, lambda: (LARGE.ravel().astype(np.float32), LARGE.ravel().astype(np.float32) ** 2, 30)),
    (weighted, lambda: (LARGE.ravel(), SHORT[0, 0] + np.arange(LARGE.size), 30)),
    (kept_in_a_loop, lambda: (LARGE[:90, :90].copy(), 700)),
]


@pytest.mark.parametrize("row", range(len(WHOLE)), ids=lambda row: WHOLE[row][0].__name__)
def test_one_call_of_a_whole_function(row: int) -> None:
    f, given = WHOLE[row]
    first, second = given(), given()
    want = f(*first)
    call = whole.compile_call(f, [argument_of(x) for x in second], False)
    for _ in range(2):
        second = given()
        got = call.run(*second, *(call.bind(f) if call.bind is not None else ()))
        difference = compare(want, got, EXACT) or compare(first, second, EXACT, "arguments")
        assert difference is None, difference


def roots(image: Any) -> Any:
    made = np.empty_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            made[i, j] = np.sqrt(image[i, j])
    return made


def products(a: Any) -> Any:
    total, made = a[0, 0], np.zeros(a.shape[0])
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            total = total * 0.7 + a[i, j] * a[i - 1, j]  # one rounding less where it is contracted
            made[i] += a[i, j] * a[i, j] + total
    return made


def stepped(x: Any) -> Any:
    x[1:] += 0.3 * x[:-1]
    for i in range(len(x) - 1):
        x[i] = x[i + 1] * x[i] + x[i]
    return x


def spun(x: Any) -> Any:
    while x[0] < 1e300:
        for i in range(len(x)):
            x[i] = x[i] * 0.5 + 0.1
    return x


LOOPS: list[tuple[Any, Any]] = [
    (roots, np.abs(BIG).astype(np.float32)),
    (roots, np.abs(BIG)[:, ::2, ::-1]),
    (products, BIG),
    (products, BIG.astype(np.float32)),
    (stepped, LONG),
    (stepped, LONG[:, ::3]),
]


@pytest.mark.parametrize("row", range(len(LOOPS)))
def test_all_of_llvms_passes_leave_every_bit_of_a_loop_over_arrays(row: int) -> None:
    f, xs = LOOPS[row]
    argument = columns.read(xs)
    checked = gear.check(f, [argument.key], {})
    quick = gear.prepare(checked, True)
    best = quick.as_optimised()
    assert best.kernel.written.whole
    want = [f(x.copy()) for x in xs]
    for prepared in (quick, best):
        ran = prepared.over(f, {}, [argument], len(xs), 1)
        assert not len(ran.left)
        for one, other in zip(want, prepared.objects(ran, np.arange(len(xs))), strict=True):
            assert compare(one, other, EXACT) is None


def test_all_of_llvms_passes_leave_the_looks_at_the_clock() -> None:
    argument = columns.read(LONG)
    best = gear.prepare(gear.check(spun, [argument.key], {}), True).as_optimised()
    call = kernel.Launch(best.kernel, None, list(argument.arrays), len(LONG))
    assert call.lanes(0, len(LONG), 3) == 0  # which would never end


# ---- steps that are called in Python


def by_einsum(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(3):
        c = np.einsum("ij,jk->ik", a, b[:, :: i + 1]) * 2
        total += c.sum()
    return total, c


def decomposed(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return q @ r, np.linalg.svd(a), np.linalg.svd(a).S.max()


def transformed(x: Any) -> Any:
    f = np.fft.fft(x)
    return np.abs(f) ** 2, np.fft.ifft(f).real + 1, np.interp(x, np.arange(5), np.arange(5.0) ** 2)


def sorted_in_place(x: Any) -> Any:
    x[::2].sort()
    np.fill_diagonal(x.reshape(3, 4), 7.0)
    x.partition(4)
    return x.sum()


def added_at(k: Any, v: Any) -> Any:
    made = np.zeros(6)
    np.add.at(made, k, v)
    made[k[:, None]] += 1
    return made, np.maximum.accumulate(v), np.unique(k, return_counts=True)


def indexed(x: Any, k: Any) -> Any:
    x[k, 1:] = x[k, :-1] * 2
    return x[k, 1:3], x[k[:, None], k]


def halves(x: Any) -> Any:
    return np.cumsum(x, axis=0), x.sum(axis=1), np.maximum(x, 1).max(axis=0), x.mean()


def inverse(a: Any) -> Any:
    return np.linalg.pinv(a), np.linalg.cond(a), np.linalg.matrix_power(np.linalg.inv(a), 2) * 2


POSITIONS = np.array([3, 0, 2, 0])
IN_PYTHON: list[tuple[Any, Callable[[], tuple[Any, ...]]]] = [
    (by_einsum, lambda: (LARGE[:5, :7], LARGE[7:14, :9])),
    (by_einsum, lambda: (LARGE[:5, :7].astype(np.float32), LARGE[7:14, :9].T[:7].astype(np.float32))),
    (decomposed, lambda: (LARGE[:6, :4].copy(),)),
    (transformed, lambda: (LARGE[0, :16].copy(),)),
    (sorted_in_place, lambda: (LARGE[0, :12].copy(),)),
    (added_at, lambda: (POSITIONS, LARGE[0, :4])),
    (indexed, lambda: (LARGE[:5, :6].copy(), POSITIONS)),
    (halves, lambda: (LARGE[:5, :6].astype(np.float16),)),
    (inverse, lambda: (LARGE[:5, :5].copy(),)),
]


@pytest.mark.parametrize("free", (False, True))
@pytest.mark.parametrize("row", range(len(IN_PYTHON)), ids=lambda row: IN_PYTHON[row][0].__name__)
def test_what_has_no_row_is_called_in_python(row: int, free: bool) -> None:
    f, given = IN_PYTHON[row]
    first, second = given(), given()
    want = f(*first)
    call = whole.compile_call(f, [argument_of(x) for x in second], free)
    got = call.run(*second)
    difference = compare(want, got, EXACT) or compare(first, second, EXACT, "arguments")
    assert difference is None, difference


def test_what_raises_in_python_is_the_plain_functions() -> None:
    def f(a: Any) -> Any:
        a[0] += 1.0
        return np.linalg.svd(a), np.linalg.slogdet(a)

    bad, good = np.full((3, 3), np.nan), LARGE[:3, :3].copy()
    call = whole.compile_call(f, [argument_of(good)], False)
    with pytest.raises(whole.Left):
        call.run(bad)
    with pytest.raises(np.linalg.LinAlgError):
        f(bad)


def test_warnings_in_python_are_the_plain_functions() -> None:
    def f(a: Any) -> Any:
        return np.maximum.accumulate(a) + np.nancumsum(a)

    call = whole.compile_call(f, [argument_of(LARGE[0])], False)
    large = np.array([1e308, 1e308])
    with np.errstate(over="warn"):
        call.refresh()
        assert compare(f(LARGE[0]), call.run(LARGE[0]), EXACT) is None
        with pytest.raises(whole.Left):
            call.run(large)
    with np.errstate(over="ignore"):
        call.refresh()
        assert compare(f(large), call.run(large), EXACT) is None


def test_no_object_is_left_behind_by_calls_in_python() -> None:
    def f(a: Any) -> Any:
        return np.einsum("ij,kj->ik", a, a), np.unique(a)

    call = whole.compile_call(f, [argument_of(LARGE)], False)
    call.run(LARGE)
    before = sys.getrefcount(LARGE), sys.getrefcount(np.ndarray), sys.getrefcount(None)
    for _ in range(20):
        call.run(LARGE)
    after = sys.getrefcount(LARGE), sys.getrefcount(np.ndarray), sys.getrefcount(None)
    assert max(abs(x - y) for x, y in zip(before, after)) < 10


def test_warnings_that_c_raises_by_hand_are_seen() -> None:
    """NumPy's loop of `exp` in single precision sets its flags with C's `feraiseexcept`."""

    def f(x: Any) -> Any:
        return np.exp(x * 2)

    call = whole.compile_call(f, [argument_of(SINGLE)], False)
    with np.errstate(over="warn"):
        if call.refresh is not None:
            call.refresh()
        with pytest.raises(whole.Left):
            call.run(np.full((3, 4), 90.0, np.float32))


def test_a_sort_along_no_axis_is_one_of_all_items() -> None:
    assert check(lambda x: np.sort(x, axis=None), M, gears=("llvm",), exact=True) is None


# ---- how results lie in memory


def turned_sums(a: Any, w: Any) -> Any:
    b = a.T
    for _ in range(2):
        b = b * 0.5 + w
    return b, -a.T @ a, np.exp(a.T), np.where(a.T > 0, a.T, 0), a.T.astype(np.float32)


def with_gaps(a: Any) -> Any:
    return (a * 2)[::-1, ::2], (a * 2)[:0, ::2], (a * 2)[:, None, 1:], (a + 1).T, (a + 1)[1]


def taken(a: Any, k: Any) -> Any:
    return a[:, k], a[:, k] * 2, a[k] + 0, a[k], a[:, k].T, a[:, k].sum(axis=0)


def taken_whole(a: Any, k: Any) -> Any:
    return a[:, k], a[:, k, k], a[:, :, k], a[k]


def reshaped(a: Any, x: Any) -> Any:
    x[::2].reshape(-1, 1)[0] = 5.0
    x[::2].ravel()[1] = 99.0
    x[::-1].reshape(2, -1)[1] = 3.0
    a[:, ::3].reshape(-1)[0] = 7.0
    a[:, 1].reshape(2, 2)[0, 1] = 11.0
    return a.T.reshape(-1), a.T.ravel(), a.reshape(-1)[1:4] * 2


LYING: list[tuple[Any, Callable[[], tuple[Any, ...]]]] = [
    (turned_sums, lambda: (LARGE[:4, :3].copy(), LARGE[0, :4])),
    (with_gaps, lambda: (LARGE[:4, :6].copy(),)),
    (taken, lambda: (LARGE[:4, :4].copy(), POSITIONS)),
    (taken_whole, lambda: (LARGE[:4, :20].copy().reshape(4, 4, 5), POSITIONS)),
    (reshaped, lambda: (LARGE[:4, :6].copy(), LARGE[0, :8].copy())),
]


@pytest.mark.parametrize("row", range(len(LYING)), ids=lambda row: LYING[row][0].__name__)
def test_results_lie_in_memory_as_numpys_do(row: int) -> None:
    f, given = LYING[row]
    first, second = given(), given()
    want = f(*first)
    call = whole.compile_call(f, [argument_of(x) for x in second], False)
    got = call.run(*second)
    difference = compare(want, got, EXACT) or compare(first, second, EXACT, "arguments")
    assert difference is None, difference
    for one, other in zip(want, got, strict=True):
        assert one.strides == other.strides or min(one.shape) < 2
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED"):
            assert one.flags[flag] == other.flags[flag], flag


def test_an_order_that_is_asked_for_is_not_forgotten() -> None:
    def f(a: Any) -> Any:
        return a.ravel("F") * 1, np.ravel(a, order="F") * 1

    got = whole.compile_call(lambda a: a.flatten("C"), [argument_of(LARGE)], False).run(LARGE)
    assert compare(LARGE.flatten(), got, EXACT) is None
    assert check(f, M, gears=("llvm",)) is not None  # no row for it, rather than a wrong one


def stretched(a: Any, b: Any) -> Any:
    return a[:, None] - b, np.outer(a, b) + 1, np.where(a[:, None] > b, a[:, None], b), a[::-1] * 2, np.flip(b) + b


def along_axes(m: Any) -> Any:
    return m - m.max(axis=1, keepdims=True), m / m.sum(axis=0), m[:, :1] * m, m[:1] + m, m[:, ::-1] - m, m[::-1] - m


def stretched_in_place(m: Any) -> Any:
    m -= m[:, 0:1]
    m[:, 1:] += m[:, :-1]
    m[:] = m[:, ::-1]
    m *= m[0:1]
    return m


def by_lengths(column: Any, row: Any) -> Any:
    return column * row + column, row - column, column + column * row * row


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", ("f8", "f4", "i4", "u1"))
def test_rows_of_all_lengths_and_of_one_item_again_and_again(dtype: str) -> None:
    """Several items are computed at once, the rest of a row by fewer and fewer."""

    def of(*shape: int) -> Any:
        return (R.normal(size=shape) * 50 + 60).astype(dtype)

    rows: list[tuple[Callable[..., Any], Callable[[int, int], tuple[Any, ...]]]] = [
        (stretched, lambda n, m: (of(n), of(m))), (along_axes, lambda n, m: (of(n + 1, m + 1),)),
        (stretched_in_place, lambda n, m: (of(n + 1, m + 1),)), (by_lengths, lambda n, m: (of(n, 1), of(1, m))),
    ]  # fmt: skip
    for f, made in rows:
        run = whole.compile_call(f, [argument_of(x) for x in made(2, 2)], False).run
        for n, m in ((n, m) for n in (0, 1, 17) for m in (0, 1, 3, 4, 7, 8, 15, 16, 31, 64, 130)):
            given = made(n, m)
            fast, plain = [x.copy() for x in given], [x.copy() for x in given]
            got, want = run(*fast), f(*plain)
            for one, other in zip((*_flat(got), *fast), (*_flat(want), *plain), strict=True):
                assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def _flat(made: Any) -> tuple[Any, ...]:
    return made if isinstance(made, tuple) else (made,)
