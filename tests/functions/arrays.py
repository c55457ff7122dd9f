"""Functions of arrays that write, look through views, loop over pixels and decide: a table for the law."""

from __future__ import annotations

import math

import numpy as np


def fills(x):
    y = np.zeros((4, 5))
    for i in range(4):
        y[i] = x[i] * i
    y[0, 0] = 7
    return y


def pixel_loop(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] ** 2 + 1
    return out


def blur_loop(x):
    out = x.copy()
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            out[i, j] = (x[i - 1, j] + x[i + 1, j] + out[i, j - 1]) / 3
    return out


def writes_into_argument(x):
    x[0] = 0
    x += 1
    return x * 2


def writes_through_a_view(x):
    row = x[1]
    row[2] = 9.0
    return x.sum(axis=1)


def writes_through_a_view_of_a_view(x):
    part = x[1:3].T
    part[2:4] = -1.0
    part[0, 0] = 5.0
    return x


def reads_a_view_after_a_write(x):
    row = x[0]
    before = row.copy()
    x[0, 1] = 100.0
    return row - before


def two_names(x):
    a = x
    b = x.copy()
    a[0, 0] = 3.0
    b[0, 0] = 4.0
    return x[0, 0] + b[0, 0]


def flattened_view(x):
    flat = x.reshape(-1)
    flat[::2] *= 10
    return x


def transposed_write(x):
    x.T[1] = np.arange(4.0)
    return x


def mask_write(x):
    x[x > 0.5] = 0.5
    x[x < -0.5] = -0.5
    return x


def mask_write_of_lane(x):
    x[x > x.mean()] = x.max()
    return x


def mask_in_place(x):
    x[x < 0] *= -2
    return x


def index_write(x):
    x[[0, 2]] = x[[2, 0]]
    return x


def overlapping(x):
    x[1:] = x[:-1]
    return x


def overlapping_in_place(x):
    x[1:] += x[:-1]
    return x


def copyto(x):
    y = np.zeros_like(x)
    np.copyto(y, x, where=x > 0)
    return y


def put_and_place(x):
    y = np.zeros(20)
    np.put(y, [1, 3], x[0, :2])
    np.place(y, y == 0, [7.0])
    return y


def add_at(x):
    counts = np.zeros(4)
    np.add.at(counts, (np.abs(x[0]) * 3).astype(int) % 4, 1.0)
    return counts


def with_out(x):
    y = np.empty_like(x)
    np.multiply(x, 2, out=y)
    np.add(y, 1, out=y)
    return y


def with_out_where(x):
    y = np.zeros_like(x)
    np.sqrt(np.abs(x), out=y, where=x > 0)
    return y


def fill_and_sort(x):
    y = x.copy()
    y.sort(axis=1)
    y[0].fill(2.0)
    return y


def diagonal_write(m):
    np.fill_diagonal(m, m.sum())
    return m


def flat_iterator(x):
    x.flat[3] = 8.0
    return sum(x.flat) + x.flat[7]


def early_exit(x):
    for row in x:
        if row[0] > 0.8:
            return row * 2
    return x[0]


def branch_on_sum(x):
    if x.sum() > 0:
        return np.sqrt(np.abs(x))
    return x - x.mean()


def while_norm(v):
    steps = 0
    while np.linalg.norm(v) > 0.5 and steps < 20:
        v = v / 2
        steps += 1
    return v, steps


def softmax(v):
    e = np.exp(v - v.max())
    return e / e.sum()


def standardise(x):
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-9)


def box_filter(x):
    p = np.pad(x, 1, mode="edge")
    return sum(p[i : i + 4, j : j + 5] for i in range(3) for j in range(3)) / 9


def pairwise(x):
    d = x[:, None] - x[None]
    return np.sqrt((d**2).sum(axis=-1))


def python_numbers(x):
    return [round(v, 2) for v in x[0].tolist()], x[1, 1].item()


def math_on_items(x):
    return math.sin(x[0, 0]) + math.exp(-abs(x[1, 1]))


def dictionary(x):
    return {"mean": x.mean(), "row": x[0], "shape": x.shape}


def nested(x):
    return (x.sum(), (x[0], {"a": x.T}))


def list_of_rows(x):
    return [row.sum() for row in x]


def integers(x):
    k = (x * 10).astype(int)
    return k // 3, k % 3, k & 1, np.bitwise_count(np.abs(k))


def histogram_of_integers(x):
    return np.bincount((np.abs(x) * 3).astype(int).ravel() % 5, minlength=5)


def cumulative(v):
    out = np.zeros(len(v))
    total = 0.0
    for i, value in enumerate(v):
        total = total + value
        out[i] = total
    return out


def matrix_power_loop(m):
    out = np.eye(3)
    for _ in range(4):
        out = out @ m
    return out


def solve_or_zero(m):
    if abs(np.linalg.det(m)) < 1e-3:
        return np.zeros(3)
    return np.linalg.solve(m, np.array([1.0, 2.0, 3.0]))


def argmax_pick(x):
    i = np.argmax(x[:, 0])
    return x[i], i


def window_by_data(v):
    i = int(abs(v[0]) * 2) % 3
    return v[i : i + 3].sum()


def nonzero_pick(v):
    where = np.nonzero(v > 0)[0]
    return v[where].sum() if len(where) else 0.0


def ragged_result(v):
    return v[v > 0]


def unique_counts(v):
    values, counts = np.unique((v * 2).astype(int), return_counts=True)
    return counts.max(), values[0]


def stacks(x):
    return np.stack([x.min(axis=0), x.max(axis=0), np.median(x, axis=0)])


def meshes(v):
    a, b = np.meshgrid(v, v)
    return np.hypot(a, b)


def float32_stays(f):
    return f * 2 + np.float32(1), f.mean(), f / 3


def scalar_types(x):
    first = np.float32(x[0, 0]) if type(x[0, 0]) is np.float64 else np.float64(x[0, 0])
    whole = np.int32(int(abs(x[1, 1]) * 3))
    return first / 3, whole + 1, np.float32(x), {np.float64: 1, np.float32: 2}.get(type(x[0, 1]), 0)


def quiet_division(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = x / np.round(x)
    return np.where(np.isfinite(ratio), ratio, 0.0)


def enumerated(x):
    total = 0.0
    for (i, j), value in np.ndenumerate(x[:2, :2]):
        total += value * (i + 2 * j)
    return total


def joined(x):
    return np.r_[x[0], 1.0, x[1, :2]], np.c_[x[:, 0], x[:, 1] * 2], np.c_[x, x]


def comparison_chain(x):
    return (x > 0) & (x < 1) | (x == x.max())


def any_all(x):
    return bool((x > 2).any()) or bool((x > -9).all())


def contains(v):
    return 0.0 in v


def zero_d(x):
    return np.array(3.0) * x[0, 0], np.asarray(x[1, 1])


def empty_slices(x):
    return x[2:2].sum(), x[:0].shape, x[3:1]


def raises_sometimes(x):
    if x[0, 0] > 1:
        raise ValueError(f"too large: {x[0, 0]:.3f}")
    return x.sum()


def singular(m):
    m[2] = m[1] * (m[0, 0] > 0) + m[2] * (m[0, 0] <= 0)
    return np.linalg.inv(m)


def divides_by_zero(x):
    return x / np.round(x)


TWO_D = [
    fills, pixel_loop, blur_loop, writes_into_argument, writes_through_a_view, writes_through_a_view_of_a_view,
    reads_a_view_after_a_write, two_names, flattened_view, transposed_write, mask_write, mask_write_of_lane,
    mask_in_place, index_write, overlapping, overlapping_in_place, copyto, put_and_place, add_at, with_out,
    with_out_where, fill_and_sort, flat_iterator, early_exit, branch_on_sum, standardise, box_filter, pairwise,
    python_numbers, math_on_items, dictionary, nested, list_of_rows, integers, histogram_of_integers, argmax_pick,
    stacks, scalar_types, quiet_division, enumerated, joined, comparison_chain, any_all, zero_d,
    empty_slices, raises_sometimes,
]  # fmt: skip
VECTORS = [
    while_norm,
    softmax,
    cumulative,
    window_by_data,
    nonzero_pick,
    ragged_result,
    unique_counts,
    meshes,
    contains,
]
MATRICES = [diagonal_write, matrix_power_loop, solve_or_zero, singular]
FLOATS = [float32_stays]
WARNS = [divides_by_zero]
