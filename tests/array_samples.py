"""Columns of arrays by the names that rules use in their samples: a sample in, a function and its columns out.

x, y: 4 by 5 floats; m: 3 by 3; c: 2 by 3 by 4; v: 6 floats; f: 5 float32; k, j: ints from 0 to 3 (6 of them, and 2);
b: 6 bools; z: 5 complex; q: 4 by 5 with NaN; d: 3 dates; s: a float; i: an int from 0 to 2. w, w3, w6: captured.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

N = 37


def columns(seed: int = 0, n: int = N) -> dict[str, Any]:
    """One column for every name."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(n, 4, 5))
    q[rng.random(q.shape) < 0.2] = np.nan
    q[..., 0] = 1.0  # no row or column of nothing but NaN
    q[:, 0] = 2.0
    return {
        "x": rng.normal(size=(n, 4, 5)),
        "y": rng.normal(size=(n, 4, 5)),
        "m": rng.normal(size=(n, 3, 3)),
        "c": rng.normal(size=(n, 2, 3, 4)),
        "v": rng.normal(size=(n, 6)),
        "f": rng.random(size=(n, 5)).astype(np.float32),
        "k": rng.integers(0, 4, size=(n, 6)),
        "j": rng.integers(0, 2, size=(n, 6)),
        "b": rng.random(size=(n, 6)) < 0.5,
        "z": rng.normal(size=(n, 5)) + 1j * rng.normal(size=(n, 5)),
        "q": q,
        "d": np.datetime64("2026-01-01") + rng.integers(0, 99, size=(n, 3)),
        "s": rng.normal(size=n),
        "i": rng.integers(0, 2, size=n),
    }


CAPTURED = {
    "w": np.arange(20.0).reshape(4, 5) / 7,
    "w3": np.arange(9.0).reshape(3, 3) / 5,
    "w6": np.arange(6.0) / 3,
}


def function_of(sample: str, given: dict[str, Any]) -> tuple[Callable[..., Any], list[Any]]:
    """The sample as a function of one element, and its columns."""
    names = [name for name in given if re.search(rf"(?<![\w.'\"]){name}(?![\w'\"(])", sample)]
    text = f"lambda {', '.join(names)}: {sample}"
    return eval(text, {"np": np, **CAPTURED}), [given[name] for name in names]
