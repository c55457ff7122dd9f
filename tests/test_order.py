"""Sums of arrays that lie in memory in many ways: a failure where one bit is not the loop's.

NumPy adds up an array as it lies in memory, so that the bits of a sum depend on that. Checked by breaking it: with
`flat` in place of `flat_as_it_lies`, or without `lanes_laid_out`, or with a larger `BUFFER`, tests here fail.
"""

from __future__ import annotations

import numpy as np
import pytest

from law import check

RNG = np.random.default_rng(0)


def rough(*shape):
    """Numbers of very different sizes, so that every order of adding them up has bits of its own."""
    return RNG.normal(size=shape) * np.exp(RNG.normal(size=shape) * 5)


X, LARGE = rough(12, 19, 23), rough(3, 95, 97)
LAYOUTS = {
    "rows": X,
    "columns": X.transpose(0, 2, 1),
    "all in Fortran's order": np.asfortranarray(X),
    "lanes innermost": np.moveaxis(np.ascontiguousarray(np.moveaxis(X, 0, -1)), -1, 0),
    "every second": X[:, ::2, ::3],
    "backwards": X[:, ::-1, ::-1],
    "float32": X.astype(np.float32),
    "large": LARGE,
    "large columns": LARGE.transpose(0, 2, 1),
    "large, with gaps": LARGE[:, :, 1:],
}


def written(x):
    y = x.T * 1.1
    y[0] = 0
    y[:, 1] += 2
    return y


SUMS = {
    "sum": lambda x: x.sum(),
    "of the transposed": lambda x: x.T.sum(),
    "of a part": lambda x: x[:, 1:-1].sum(),
    "of a part of the transposed": lambda x: x.T[1:-1].sum(),
    "of steps": lambda x: x[:, ::2].sum(),
    "of the reversed": lambda x: x[::-1].sum() + x[:, ::-1].sum(),
    "along axes": lambda x: (x.T.sum(axis=0), x.T.sum(axis=1), x[:, ::2].sum(axis=0), x[:, ::2].sum(axis=1)),
    "of a product": lambda x: (x.T * 2.1).sum() + (x[:, ::-1] * 1.1).sum(),
    "mean": lambda x: x.T.mean(),
    "std": lambda x: (x.T.std(), (x.T - x.T.mean(axis=1, keepdims=True)).std()),
    "of the same again": lambda x: np.broadcast_to(x[:, None, :3], (len(x), 4, 3)).sum(),
    "of either": lambda x: (x.T * 1.1 if x[0, 0] > 0 else x * 1.3).sum(),
    "behind a decision": lambda x: ((x * 1.1).T if x[0, 0] > 0 else (x * 1.3).T).sum(),
    "deciding": lambda x: x.T.sum() > x.sum(),
    "in Fortran's order": lambda x: (np.asfortranarray(x).sum(), np.asfortranarray(x).sum(axis=0)),
    "of three axes": lambda x: x.reshape(*x.shape, 1).transpose(2, 1, 0).sum(axis=(0, 2)),
    "prod": lambda x: (1 + 1e-3 * np.tanh(x.T)).prod(),
    "nansum": lambda x: np.nansum(x.T),
    "add.reduce": lambda x: (np.add.reduce(x.T, axis=None), np.add.reduce(x.T, axis=0)),
    "average": lambda x: (np.average(x.T), np.average(x.T, axis=0), np.average(x.T, weights=np.abs(x.T))),
    "where": lambda x: (np.sum(x.T, where=x.T > 0), np.sum(x.T, where=x.T > 0, axis=0)),
    "trace": lambda x: np.trace(x.T),
    "trapezoid": lambda x: np.trapezoid(x.T, axis=0),
    "cumsum": lambda x: (np.cumsum(x.T), np.cumsum(x.T, axis=1)),
    "of the joined": lambda x: np.concatenate([x.T, x.T]).sum() + np.stack([x.T, x.T * 2], -1).sum(),
    "of the chosen": lambda x: x.T[[2, 0, 1]].sum() + x.T[:, [2, 0, 1]].sum() + np.take(x.T, [0, 2], axis=0).sum(),
    "of the sorted": lambda x: np.sort(x.T, axis=0).sum() + np.sort(x.T, axis=1).sum(),
    "of a copy": lambda x: x.T.copy().sum() + np.copy(x.T).sum() + np.where(x.T > 0, x.T, 0).sum(),
    "of the written": lambda x: written(x).sum(),
    "of the rotated": lambda x: (np.rot90(x) * 1.1).sum(),
    "in another dtype": lambda x: x.astype(np.float32).sum(dtype=np.float64) + np.tanh(x).astype(np.float16).T.sum(),
    "of ints": lambda x: ((np.tanh(x) * 1e18).astype(np.int64).T.mean(), (x > 0).mean()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SUMS)
def test_not_one_bit(name, layout):
    check(SUMS[name], LAYOUTS[layout], exact=True, must_batch=True, gears=("numpy",))
