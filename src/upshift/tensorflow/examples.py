"""Made-up arguments for given specs, with which a NumPy function is traced and compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .bridge import Array

EXAMPLES = (0.0, 1.0, -1.0, *(0.3, 1.0, 3.0, 30.0) * 2, math.nan)
"""What made-up arrays are made of: first all of one number, then random ones of these sizes, then such with a NaN."""
MANY_NUMBERS = 1 << 17
"""Of an argument, above which only a few examples are tried."""


def tries(specs: Sequence[Any]) -> range:
    """Which examples to try: only some where they are large."""
    numbers = sum(np.prod([size or 1 for size in spec.shape]) for spec in specs)
    return range(len(EXAMPLES)) if numbers < MANY_NUMBERS else range(2, 5)


def examples(specs: Sequence[Any], length: int, i: int) -> tuple[Any, ...]:
    """The i-th arguments of these specs; numbers, where a graph would hand over numbers."""
    made = []
    for at, spec in enumerate(specs):
        shape = [length if size is None else size for size in spec.shape]
        dtype = np.dtype(spec.dtype.as_numpy_dtype)
        array = _example(shape, dtype, i, at)
        made.append(array if shape else array[()])
    return tuple(made)


def _example(shape: list[int], dtype: np.dtype[Any], i: int, at: int) -> Array:
    rng = np.random.default_rng([i, at])
    scale = EXAMPLES[i]
    if dtype.kind == "b":
        return rng.random(shape) < (0.5 if i > 2 else scale)
    if dtype.kind in "iu" and i > 6:
        return rng.integers(max(np.iinfo(dtype).min, -300), min(np.iinfo(dtype).max, 300), shape, dtype, endpoint=True)
    size = 3.0 if math.isnan(scale) else scale
    made = np.asarray(np.full(shape, scale) if i < 3 else rng.normal(size=shape) * size)
    if math.isnan(scale) and dtype.kind == "f" and made.size:
        made.flat[0] = scale
    return (np.abs(made) if dtype.kind == "u" else made).astype(dtype)
