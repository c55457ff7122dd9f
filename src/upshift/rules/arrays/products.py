"""Products of arrays: of matrices and vectors, outer ones, and sums over any letters."""

from __future__ import annotations

import operator
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


def _two(called: Called) -> tuple[Slot, Slot]:
    args, keywords = called.arguments
    if keywords or len(args) != 2 or not all(isinstance(a, Slot) for a in args):
        raise NoRule
    return args[0], args[1]


def product(called: Called) -> Run:
    """`a @ b`. Lanes times one matrix for all is one product of matrices."""
    a, b = _two(called)
    if not a.ndim or not b.ndim:
        raise NoRule
    return over_two(a, b, _product(a, b))


def _product(a: Slot, b: Slot) -> Callable[[Column, Column], Any]:
    if a.lane and not b.lane and a.ndim <= 2 and b.ndim <= 2:
        return np.matmul if a.ndim > 1 or b.ndim > 1 else (lambda A, B: (A[:, None, :] @ B[:, None])[:, 0, 0])
    if b.lane and not a.lane and a.ndim == 2 and b.ndim == 1:
        return lambda A, B: B @ A.T
    return exact_product(a, b)


def exact_product(a: Slot, b: Slot) -> Callable[[Column, Column], Any]:
    """One product for every lane, by the very routine that the plain call uses."""

    def run(A: Column, B: Column) -> Any:
        left = (A[:, None, :] if a.lane else A[None, :]) if a.ndim == 1 else A
        right = B[..., None] if b.ndim == 1 else B
        if a.lane and b.lane and a.ndim != b.ndim and min(a.ndim, b.ndim) >= 2:
            raise NoRule
        if (a.lane and b.ndim > 2 and not b.lane) or (b.lane and a.ndim > 2 and not a.lane):
            raise NoRule
        out = np.matmul(left, right)
        if a.ndim == 1 and b.ndim == 1:
            return out[:, 0, 0]
        return out[..., 0, :] if a.ndim == 1 else out[..., 0] if b.ndim == 1 else out

    return run


_PRODUCTS = ("{0}(x, y.T)", "{0}(x, x[0])", "{0}(m, m)", "{0}(v, v)", "{0}(x[:, :3], m)", "{0}(m, w3)",
             "{0}(w3, m[0])", "{0}(w3, m)", "{0}(m[0], w3)", "{0}(v, w6)")  # fmt: skip
row(operator.matmul, product, "x @ y.T", "m @ m[0]", "v @ v", "w3 @ m[0]", "m @ w3", "c @ c.swapaxes(1, 2)", close=True)
row(np.matmul, product, *(s.format("np.matmul") for s in _PRODUCTS), "np.matmul(c, c.swapaxes(1, 2))", close=True)


def dot(called: Called) -> Run:
    """The rule of `np.dot` of vectors, matrices and numbers."""
    a, b = _two(called)
    if not a.ndim or not b.ndim:
        return _numbers(a, b)
    if b.ndim > 2 or a.ndim > 2:
        raise NoRule
    return over_two(a, b, _product(a, b))


def _numbers(a: Slot, b: Slot) -> Run:
    most = max(a.ndim, b.ndim)

    def wide(slot: Slot, value: Any) -> Any:
        value = np.asarray(value)
        return value.reshape(len(value), *(1,) * (most - slot.ndim), *value.shape[1:]) if slot.lane else value

    return over_two(a, b, lambda A, B: np.multiply(wide(a, A), wide(b, B)))


row(np.dot, dot, *(s.format("np.dot") for s in _PRODUCTS), "np.dot(x, s)", "m.dot(m)", close=True)


def vdot(called: Called) -> Run:
    """The rule of `np.vdot`: the product of two flattened arrays, the first one conjugated."""
    a, b = _two(called)
    if not (a.lane and b.lane):
        raise NoRule
    return over_two(a, b, lambda A, B: np.matmul(flat(A).conj()[:, None, :], flat(B)[:, :, None])[:, 0, 0])


row(np.vdot, vdot, "np.vdot(x, y)", "np.vdot(z, z)", close=True)


def inner(called: Called) -> Run:
    """The rule of `np.inner` of vectors and matrices."""
    a, b = _two(called)
    if not a.ndim or not b.ndim or not (a.lane and b.lane) or max(a.ndim, b.ndim) > 2:
        raise NoRule
    if a.ndim == b.ndim == 1:
        return over_two(a, b, exact_product(a, b))
    letters = {1: "k", 2: "ik"}
    other = {1: "k", 2: "jk"}
    out = ("i" if a.ndim == 2 else "") + ("j" if b.ndim == 2 else "")
    return over_two(a, b, lambda A, B: np.einsum(f"n{letters[a.ndim]},n{other[b.ndim]}->n{out}", A, B))


row(np.inner, inner, "np.inner(v, v)", "np.inner(x, y)", close=True)


def outer(called: Called) -> Run:
    """The rule of `np.outer`: all products of a number of one array with one of the other."""
    a, b = _two(called)

    def wide(slot: Slot, value: Any) -> Any:
        return flat(value) if slot.lane and slot.ndim else np.asarray(value).reshape(len(value) if slot.lane else 1, -1)

    return over_two(a, b, lambda A, B: wide(a, A)[:, :, None] * wide(b, B)[:, None, :])


row(np.outer, outer, "np.outer(v, v)", "np.outer(x, v)", "np.outer(v, w6)")


def einsum(called: Called) -> Run | None:
    """One more letter for the lanes, on the operands that are lanes, and on the result."""
    args, keywords = called.arguments
    if not args or not isinstance(args[0], str) or "..." in args[0] or set(keywords) - {"optimize", "dtype"}:
        return None
    operands = args[1:]
    if has_slots(list(keywords.values())) or not all(isinstance(o, Slot | np.ndarray) for o in operands):
        return None
    text = args[0].replace(" ", "")
    left, arrow, right = text.partition("->")
    letter = next(c for c in "nzyxwvutsrqpoNZYXWV" if c not in text)
    if not arrow:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    terms = [
        letter + t if isinstance(o, Slot) and o.lane else t for t, o in zip(left.split(","), operands, strict=True)
    ]
    spec = f"{','.join(terms)}->{letter}{right}"

    def run(*values: Any) -> Any:
        return np.einsum(spec, *(values[o.at] if isinstance(o, Slot) else o for o in operands), **keywords)

    return run


row(np.einsum, einsum, "np.einsum('ij,kj->ik', x, y)", "np.einsum('ii', m)", "np.einsum('ij->j', x)",
    "np.einsum('i,i', v, v)",
    "np.einsum('ij,jk', w3, m)", "np.einsum('ij,ij->', x, y)", close=True)  # fmt: skip


@named
def tensordot(call: Named) -> Run:
    """The rule of `np.tensordot`, by way of `np.einsum`."""
    a, b, axes = call.lane("a"), call.lane("b"), call.constant("axes", 2)
    call.rest()
    if isinstance(axes, int | np.integer):
        axes = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    left, right = ([int(i) for i in (s if isinstance(s, list | tuple) else [s])] for s in axes)
    left, right = [i % a.ndim for i in left], [i % b.ndim for i in right]
    letters = "abcdefghijklm"
    first = list(letters[: a.ndim])
    second = [first[left[right.index(i)]] if i in right else letters[a.ndim + i] for i in range(b.ndim)]
    out = [c for i, c in enumerate(first) if i not in left] + [c for i, c in enumerate(second) if i not in right]
    spec = f"n{''.join(first)},n{''.join(second)}->n{''.join(out)}"
    return over_two(a, b, lambda A, B: np.einsum(spec, A, B))


row(
    np.tensordot,
    tensordot,
    "np.tensordot(x, y)",
    "np.tensordot(x, y, axes=([1], [1]))",
    "np.tensordot(m, m, 1)",
    close=True,
)


def kron(called: Called) -> Run | None:
    """The rule of `np.kron` of arrays with the same number of axes."""
    a, b = _two(called)
    if not (a.lane and b.lane and a.ndim == b.ndim) or called.kind is None:
        return None
    shape = called.kind.lane_shape
    left = tuple(s for _ in range(a.ndim) for s in (slice(None), None))
    right = tuple(s for _ in range(a.ndim) for s in (None, slice(None)))
    return over_two(a, b, lambda A, B: (A[(slice(None), *left)] * B[(slice(None), *right)]).reshape(len(A), *shape))


row(np.kron, kron, "np.kron(m, x)", "np.kron(v, v[:2])")


@named
def cross(call: Named) -> Run:
    """The rule of `np.cross`."""
    a, b = call.any("a"), call.any("b")
    call.rest()
    if not (isinstance(a, Slot) and isinstance(b, Slot)) or a.ndim != b.ndim:
        raise NoRule
    return over_two(a, b, lambda A, B: np.cross(A, B))


row(np.cross, cross, "np.cross(m, m[::-1])", "np.cross(m[0], m[1])")


@named
def trace(call: Named) -> Run:
    """The rule of `np.trace`."""
    x = call.lane("a")
    offset, a, b = call.constant("offset", 0), call.constant("axis1", 0), call.constant("axis2", 1)
    rest = call.rest("dtype")
    return over(x, lambda X: np.trace(X, offset, negative(a, x.ndim), negative(b, x.ndim), **rest))


row(np.trace, trace, "np.trace(m)", "x.trace(1)", "np.trace(c)", ordered=True)
