"""Batches larger than the memory that was allowed: a failure where more is used, or the result is another."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import upshift as up
from upshift.config import bytes_of


def spread(x):
    y = x[:, None] - x[None]
    return np.sqrt((y**2).sum(axis=-1)).max()


def peak(call):
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("limit", ["4MB", "32MB"])
def test_temporary_memory_is_bounded(limit):
    """One element needs 0.6 MB at a time; 400 of them would need 250."""
    points = np.random.default_rng(0).normal(size=(400, 128, 2))
    up.map(spread, points[:20], gear="numpy")
    used, found = peak(lambda: up.map(spread, points, gear="numpy", memory=limit))
    assert used < 1.5 * bytes_of(limit)
    assert np.allclose(found, [spread(p) for p in points])


def test_the_peak_does_not_grow_with_the_batch():
    points = np.random.default_rng(0).normal(size=(2000, 64, 2))
    up.map(spread, points[:20], gear="numpy")
    small, large = (peak(lambda n=n: up.map(spread, points[:n], gear="numpy"))[0] for n in (500, 2000))
    assert large < 1.5 * small + 1e5


def test_out():
    x = np.random.default_rng(0).normal(size=(50, 4))
    out = np.empty((50, 4))
    assert up.map(lambda x: x * 2, x, out=out) is out
    assert np.array_equal(out, x * 2)
    with pytest.raises(ValueError, match="out has"):
        up.map(lambda x: x.sum(), x, out=out)
    with pytest.raises(ValueError, match="rows"):
        up.map(lambda x: x * 2, x, out=out[:3])
    with pytest.raises(TypeError, match="array"):
        up.map(lambda x: x * 2, x, out=[])


@pytest.mark.parametrize("gear", ["loop", "numpy", None])
def test_memmaps_in_and_out(tmp_path, gear, monkeypatch):
    monkeypatch.setattr("upshift.files.sources.BLOCK_BYTES", 1 << 16)
    x = np.memmap(tmp_path / "x", dtype=np.float32, mode="w+", shape=(3000, 16, 2))
    x[:] = np.random.default_rng(0).random(x.shape)
    out = np.memmap(tmp_path / "out", dtype=np.float32, mode="w+", shape=x.shape)
    up.map(lambda x: np.sqrt(x) + x.sum(), x, out=out, gear=gear)
    want = np.stack([np.sqrt(one) + one.sum() for one in np.asarray(x)])
    assert np.array_equal(out, want)
    assert np.array_equal(up.map(lambda x: np.sqrt(x) + x.sum(), x, gear=gear), want)


def test_a_size_of_memory_in_words():
    with pytest.raises(ValueError, match="512MB"):
        up.map(lambda x: x, [1.0], memory="much")
