"""Products of arrays, linear algebra, Fourier transforms, and what is made of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...columns.kinds import Column
from .call import Called, Named, NoRule, Run, Slot, by_rows, flat, has_slots, named, negative, over, over_two, row


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
    a, b = _two(called)
    if not (a.lane and b.lane):
        raise NoRule
    return over_two(a, b, lambda A, B: np.matmul(flat(A).conj()[:, None, :], flat(B)[:, :, None])[:, 0, 0])


row(np.vdot, vdot, "np.vdot(x, y)", "np.vdot(z, z)", close=True)


def inner(called: Called) -> Run:
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
    a, b = call.any("a"), call.any("b")
    call.rest()
    if not (isinstance(a, Slot) and isinstance(b, Slot)) or a.ndim != b.ndim:
        raise NoRule
    return over_two(a, b, lambda A, B: np.cross(A, B))


row(np.cross, cross, "np.cross(m, m[::-1])", "np.cross(m[0], m[1])")


@named
def trace(call: Named) -> Run:
    x = call.lane("a")
    offset, a, b = call.constant("offset", 0), call.constant("axis1", 0), call.constant("axis2", 1)
    rest = call.rest("dtype")
    return over(x, lambda X: np.trace(X, offset, negative(a, x.ndim), negative(b, x.ndim), **rest))


row(np.trace, trace, "np.trace(m)", "x.trace(1)", "np.trace(c)")


# ---- linear algebra: NumPy's own functions take stacks of matrices


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


# ---- Fourier transforms


@named
def transform(call: Named) -> Run:
    fn, x = call.called.fn, call.lane("a")
    axis, rest = call.constant("axis", -1), call.rest("n", "norm")
    return over(x, lambda X: fn(X, axis=negative(axis, x.ndim), **rest))


for _name in "fft ifft rfft irfft hfft ihfft".split():
    row(
        getattr(np.fft, _name),
        transform,
        f"np.fft.{_name}(v)",
        f"np.fft.{_name}(x, axis=0)",
        f"np.fft.{_name}(v, n=8, norm='ortho')",
    )


@named
def transforms(call: Named) -> Run:
    fn, x = call.called.fn, call.lane("a")
    axes = call.constant("axes", (-2, -1) if fn.__name__.endswith("2") else None)
    sizes, rest = call.constant("s"), call.rest("norm")
    axes = tuple(range(-x.ndim, 0)) if axes is None else negative(axes, x.ndim)
    if sizes is not None:
        rest["s"] = sizes
        axes = axes[-len(sizes) :]
    return over(x, lambda X: fn(X, axes=axes, **rest))


for _name in "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split():
    row(getattr(np.fft, _name), transforms, f"np.fft.{_name}(x)", f"np.fft.{_name}(c, axes=(0, 1))", close=True)


@named
def shifting(call: Named) -> Run:
    fn, x, axes = call.called.fn, call.lane("x"), call.constant("axes")
    call.rest()
    axes = tuple(range(-x.ndim, 0)) if axes is None else negative(axes, x.ndim)
    return over(x, lambda X: fn(X, axes=axes))


row(np.fft.fftshift, shifting, "np.fft.fftshift(x)", "np.fft.fftshift(v)", "np.fft.fftshift(x, axes=1)")
row(np.fft.ifftshift, shifting, "np.fft.ifftshift(x)", "np.fft.ifftshift(v)")


# ---- signals and curves


row(np.convolve, by_rows, "np.convolve(v, [0.25, 0.5, 0.25])", "np.convolve(v, np.ones(3) / 3, mode='valid')",
    "np.convolve(v, [1.0, 2.0], 'same')", "np.convolve(v, [1.0, 2.0, 3.0], 'same')", "np.convolve(v, v)",
    close=True)  # fmt: skip
row(np.correlate, by_rows, "np.correlate(v, [1.0, 2.0, 3.0])", "np.correlate(v, [1.0, 2.0], 'full')",
    "np.correlate(v, [1.0, 2.0, 4.0], 'same')")  # fmt: skip


@named
def interp(call: Named) -> Run:
    x, xp, fp = call.lane("x"), call.any("xp"), call.any("fp")
    rest = call.rest("left", "right", "period")
    if any((isinstance(t, Slot) and t.lane) or (has_slots(t) and not isinstance(t, Slot)) for t in (xp, fp)):
        raise NoRule

    def run(*values: Any) -> Any:
        table = [values[t.at] if isinstance(t, Slot) else t for t in (xp, fp)]
        return np.interp(values[x.at], *table, **rest)

    return run


row(np.interp, interp, "np.interp(x, [-1.0, 0.0, 1.0], [0.0, 5.0, 2.0])",
    "np.interp(s, [0.0, 1.0], [1.0, 2.0], left=-7)",
    "np.interp(v, np.arange(6.0), np.sort(v))")  # fmt: skip


@named
def gradient(call: Named) -> Run:
    x, axis = call.lane("f"), call.constant("axis")
    spacing = call.constant("varargs", ())
    rest = call.rest("edge_order")
    axes = tuple(range(-x.ndim, 0)) if axis is None else negative(axis, x.ndim)
    if any(np.ndim(step) for step in spacing):
        raise NoRule

    def run(X: Any) -> Any:
        out = np.gradient(X, *spacing, axis=axes, **rest)
        return tuple(out) if isinstance(out, list | tuple) else out

    return over(x, run)


row(np.gradient, gradient, "np.gradient(v)", "np.gradient(v, 0.5)", "np.gradient(x)", "np.gradient(x, axis=0)",
    "np.gradient(v, edge_order=2)")  # fmt: skip


@named
def trapezoid(call: Named) -> Run:
    y, x, dx, axis = call.lane("y"), call.any("x"), call.constant("dx", 1.0), call.constant("axis", -1)
    call.rest()
    last = negative(axis, y.ndim)
    if x is None:
        return over(y, lambda Y: np.trapezoid(Y, dx=dx, axis=last))
    if isinstance(x, Slot):
        if x.lane and x.ndim != y.ndim:
            raise NoRule
        return over_two(y, x, lambda Y, X: np.trapezoid(Y, X, axis=last))
    return over(y, lambda Y: np.trapezoid(Y, x, axis=last))


row(np.trapezoid, trapezoid, "np.trapezoid(v)", "np.trapezoid(x, dx=0.5, axis=0)", "np.trapezoid(v, np.sort(v))")


@named
def polyval(call: Named) -> Run:
    """Horner's way, as the plain call goes."""
    p, x = call.any("p"), call.any("x")
    call.rest()
    if has_slots(p) or not isinstance(x, Slot) or not x.lane:
        if not (isinstance(p, Slot) and p.lane and p.ndim == 1 and isinstance(x, Slot)):
            raise NoRule
        return over_two(p, x, lambda P, X: _horner_of_lanes(P, X, x))
    return over(x, lambda X: np.polyval(p, X))


def _horner_of_lanes(P: Column, X: Any, x: Slot) -> Any:
    out = np.zeros_like(X) if x.lane else np.zeros((len(P), *np.shape(X)))
    for i in range(P.shape[1]):
        out = out * X + P[:, i].reshape(len(P), *(1,) * x.ndim)
    return out


row(np.polyval, polyval, "np.polyval([1.0, 2.0, 3.0], x)", "np.polyval([1.0, 0.5], s)", "np.polyval(v, x)")


@named
def cov(call: Named) -> Run:
    x, rest = call.lane("m"), call.rest("ddof", "bias")
    if x.ndim != 2 or x.kind.dtype.kind not in "fi":
        raise NoRule
    ddof = rest.get("ddof")
    ddof = (0 if rest.get("bias") else 1) if ddof is None else ddof
    if x.shape[1] <= ddof:
        raise NoRule

    def run(X: Any) -> Any:
        X = X.astype(np.result_type(X.dtype, np.float64))
        X = X - np.average(X, axis=-1)[..., None]
        return np.matmul(X, np.swapaxes(X, -1, -2)) * np.true_divide(1, x.shape[1] - ddof)

    return over(x, run)


row(np.cov, cov, "np.cov(x)", "np.cov(x, ddof=0)", "np.cov(v)", close=True)


@named
def corrcoef(call: Named) -> Run:
    x = call.lane("x")
    call.rest()
    if x.ndim != 2 or x.kind.dtype.kind != "f":
        raise NoRule

    def run(X: Any) -> Any:
        X = X.astype(np.result_type(X.dtype, np.float64))
        X = X - np.average(X, axis=-1)[..., None]
        c = np.matmul(X, np.swapaxes(X, -1, -2)) * np.true_divide(1, x.shape[1] - 1)
        deviation = np.sqrt(np.diagonal(c, axis1=-2, axis2=-1).real)
        c = c / deviation[:, :, None] / deviation[:, None, :]
        return np.clip(c, -1, 1)

    return over(x, run)


row(np.corrcoef, corrcoef, "np.corrcoef(x)", close=True)
