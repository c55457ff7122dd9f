"""Whether two results are the same: structure, class, dtype, shape and every bit, or all but the last bits."""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np

Verdict = Literal["equal", "close", "differs"]


def compare(a: Any, b: Any) -> Verdict:
    """The worst that is found in any part."""
    if isinstance(a, dict) and isinstance(b, dict):
        return "differs" if list(a) != list(b) else _worst([compare(a[k], b[k]) for k in a])
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        if type(a) is not type(b) or len(a) != len(b):
            return "differs"
        if a and all(isinstance(x, np.generic) for x in a):
            same = all(type(x) is type(a[0]) for x in [*a, *b])
            return compare(np.array(a), np.array(b)) if same else "differs"
        if len(a) > 1 and _is_uniform([*a, *b]):
            return _compare_arrays(np.stack([np.asarray(x) for x in a]), np.stack([np.asarray(y) for y in b]))
        return _worst([compare(x, y) for x, y in zip(a, b)])
    if type(a) is not type(b):
        return "differs"
    pd = sys.modules.get("pandas")
    if pd is not None and isinstance(a, pd.Series | pd.DataFrame):
        return _compare_frames(a, b)
    return _compare_arrays(a, b)


def _is_uniform(parts: list[Any]) -> bool:
    """Whether all are arrays or tensors of one class, dtype and shape: then they are compared as one."""
    first = parts[0]
    if not hasattr(first, "shape") or not hasattr(first, "dtype"):
        return False
    return all(type(p) is type(first) and p.dtype == first.dtype and p.shape == first.shape for p in parts)


def _worst(verdicts: list[Verdict]) -> Verdict:
    return "differs" if "differs" in verdicts else "close" if "close" in verdicts else "equal"


def _compare_frames(a: Any, b: Any) -> Verdict:
    if not a.index.equals(b.index) or getattr(a, "name", None) != getattr(b, "name", None):
        return "differs"
    if isinstance(a, sys.modules["pandas"].DataFrame):
        return "equal" if a.equals(b) else "differs"
    return _compare_arrays(a.to_numpy(), b.to_numpy())


def _compare_arrays(a: Any, b: Any) -> Verdict:
    try:
        x, y = np.asarray(a), np.asarray(b)
    except (TypeError, ValueError):
        return "differs"
    if x.dtype != y.dtype or x.shape != y.shape:
        return "differs"
    if x.dtype == object:
        return "equal" if all(type(p) is type(q) and p == q for p, q in zip(x.ravel(), y.ravel())) else "differs"
    if x.dtype.kind not in "fc":
        return "equal" if np.array_equal(x, y) else "differs"
    if np.array_equal(x, y, equal_nan=True):
        return "equal"
    rtol = 1e-9 if x.dtype.itemsize >= 8 else 1e-5
    finite = np.abs(x[np.isfinite(x)])
    # Terms that cancel leave a small result with the rounding of large ones.
    atol = 8 * float(np.finfo(x.dtype).eps) * float(finite.max()) if finite.size else 0.0
    return "close" if np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True) else "differs"
