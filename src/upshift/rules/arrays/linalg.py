"""Linear algebra: NumPy's own functions take stacks of matrices, with the lanes in front."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...columns.kinds import Column
from .call import (
    Called,
    Named,
    NoRule,
    Run,
    Slot,
    flat,
    has_slots,
    named,
    negative,
    over,
    over_two,
    row,
)


def stacked(called: Called) -> Run | None:
    """Functions of one matrix that NumPy makes for a stack by itself."""
    args, keywords = called.arguments
    if (
        not isinstance(args[0], Slot)
        or not args[0].lane
        or has_slots([*args[1:], *keywords.values()])
        or args[0].ndim < 2
    ):
        return None
    x, fn = args[0], called.fn

    def run(X: Any) -> Any:
        out = fn(X, *args[1:], **keywords)
        return tuple(out) if isinstance(out, tuple) else out

    return over(x, run)


_LINALG = {
    "inv": ("(m + 5 * np.eye(3))",), "det": ("(m)",), "slogdet": ("(m)",), "eigvalsh": ("(m + m.T)",),
    "eigh": ("(m + m.T)[0]", "(m + m.T).eigenvalues"),
    "svd": ("(x)[1]", "(x, compute_uv=False)", "(x, full_matrices=False).S"),
    "svdvals": ("(x)",), "cholesky": ("(m @ m.T + np.eye(3))",), "qr": ("(x)[1]", "(x, mode='r')"), "pinv": ("(x)",),
    "matrix_rank": ("(x)",), "cond": ("(m)",), "matrix_transpose": ("(x)",),
}  # fmt: skip
for _name, _calls in _LINALG.items():
    if hasattr(np.linalg, _name):
        row(getattr(np.linalg, _name), stacked, *(f"np.linalg.{_name}{call}" for call in _calls), close=True)
row(np.linalg.matrix_power, stacked, "np.linalg.matrix_power(m, 3)", "np.linalg.matrix_power(m, 0)", close=True)
row(np.linalg.trace, stacked, "np.linalg.trace(m)")
row(np.linalg.diagonal, stacked, "np.linalg.diagonal(m)")


@named
def solve(call: Named) -> Run:
    """The rule of `np.linalg.solve`: vectors go as matrices of one column, which is what a stack needs."""
    a, b = call.any("a"), call.any("b")
    call.rest()
    if not (isinstance(a, Slot) and isinstance(b, Slot)) or a.ndim != 2 or b.ndim not in (1, 2):
        raise NoRule
    if b.ndim == 1:
        return over_two(a, b, lambda A, B: np.linalg.solve(A, (B if b.lane else B[None])[..., None])[..., 0])
    return over_two(a, b, np.linalg.solve)


row(np.linalg.solve, solve, "np.linalg.solve(m + 5 * np.eye(3), m[0])", "np.linalg.solve(m + 5 * np.eye(3), m)",
    "np.linalg.solve(m + 5 * np.eye(3), w3)", "np.linalg.solve(w3 + 9 * np.eye(3), m[0])", close=True)  # fmt: skip


@named
def norm(call: Named) -> Run:
    """Of vectors along an axis; of whole arrays where the order is the default."""
    x, order, axis, keep = call.lane("x"), call.constant("ord"), call.constant("axis"), call.constant("keepdims", False)
    call.rest()
    if axis is None:
        if order is None and not keep:
            rows: Callable[[Any], Any] = flat
            return over(x, lambda X: _root_of_squares(rows(X)))
        if x.ndim > 2 or keep:
            raise NoRule
        axis = -1 if x.ndim == 1 else (-2, -1)
    return over(x, lambda X: np.linalg.norm(X, order, axis=negative(axis, x.ndim), keepdims=keep))


def _root_of_squares(rows: Column) -> Any:
    if rows.dtype.kind == "c":
        return np.sqrt(np.matmul(rows.real[:, None], rows.real[:, :, None])[:, 0, 0]
                       + np.matmul(rows.imag[:, None], rows.imag[:, :, None])[:, 0, 0])  # fmt: skip
    rows = rows if rows.dtype.kind == "f" else rows.astype(float)
    return np.sqrt(np.matmul(rows[:, None, :], rows[:, :, None])[:, 0, 0])


row(np.linalg.norm, norm, "np.linalg.norm(v)", "np.linalg.norm(x, axis=1)", "np.linalg.norm(x)",
    "np.linalg.norm(x, 'fro')",
    "np.linalg.norm(v, 1)", "np.linalg.norm(x, np.inf, axis=0)", "np.linalg.norm(x, axis=-1, keepdims=True)",
    "np.linalg.norm(z)",
    close=True)  # fmt: skip
