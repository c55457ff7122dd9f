"""Products of arrays, linear algebra and Fourier transforms in JAX, with error bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...rules.slopes import ROUND
from . import arithmetic as do
from .call import JaxCall, Row, known, value_of
from .reductions import summed
from .value import FLOAT, Traced, Value, Work, refuse


def contracted(work: Work, x: Traced, a: Value, b: Value, n: int) -> Value:
    """A result whose every number is a sum of `n` products."""
    if a.dtype.kind not in "fc" or not work.careful:
        return work.made(x, a, b)
    round_, n = ROUND[a.bytes], max(n, 1)
    nonneg = a.nonneg and b.nonneg
    if nonneg and a.absolute is None and b.absolute is None:
        own = (n if a.bytes == 8 else min(n, 20)) * round_
        return work.made(x, a, b, relative=own + 1.01 * (a.relative + b.relative), nonneg=True)
    if a.bytes == 8:
        absolute = n * n * round_ * a.most() * b.most()
    else:
        absolute = 1.5 * (4 + n) * round_ * a.rms() * b.rms()
    for one, other in ((a, b), (b, a)):
        if not one.sharp:
            absolute = absolute + 1.01 * (n if a.bytes == 8 else min(n, 4 * math.sqrt(n))) * one.off() * other.most()
    return work.made(x, a, b, relative=2 * round_, absolute=absolute, nonneg=nonneg)


def _two(work: Work, call: JaxCall) -> tuple[Value, Value]:
    if len(call.args) != 2 or any(value is not None for value in call.keywords.values()):
        raise refuse(f"{call.name} with these arguments")
    dtype = call.kind.dtype
    if dtype.kind not in "iufc":
        raise refuse(f"{call.name} of {dtype.name}")
    return value_of(work, call.args[0], dtype), value_of(work, call.args[1], dtype)


def matmul(work: Work, call: JaxCall) -> Value:
    """`a @ b`."""
    a, b = _two(work, call)
    return contracted(work, _product(a, b), a, b, a.shape[-1])


def _product(a: Value, b: Value) -> Traced:
    """A matrix that all lanes share times a vector is better done the other way round: lanes stay in front."""
    return jnp.matmul(b.x, a.x.T) if (a.ndim, b.ndim) == (2, 1) else jnp.matmul(a.x, b.x)


def dot(work: Work, call: JaxCall) -> Value:
    """`np.dot`."""
    a, b = _two(work, call)
    if not a.ndim or not b.ndim:
        made = do.multiply(work, a, b)  # to which NumPy adds zero, so that none is negative
        return do.add(work, made, do.from_constant(work, 0.0, a.dtype)) if a.dtype.kind == "f" else made
    x = jnp.dot(a.x, b.x) if max(a.ndim, b.ndim) > 2 else _product(a, b)
    return contracted(work, x, a, b, a.shape[-1])


def vdot(work: Work, call: JaxCall) -> Value:
    """`np.vdot`: the product of two flattened arrays."""
    a, b = _two(work, call)
    return contracted(work, jnp.vdot(a.x, b.x), a, b, a.x.size)


def inner(work: Work, call: JaxCall) -> Value:
    """`np.inner`."""
    a, b = _two(work, call)
    if not a.ndim or not b.ndim:
        return do.multiply(work, a, b)
    return contracted(work, jnp.inner(a.x, b.x), a, b, a.shape[-1])


def vecdot(work: Work, call: JaxCall) -> Value:
    """`np.vecdot`: the product along the last axis."""
    a, b = _two(work, call)
    return contracted(work, jnp.vecdot(a.x, b.x), a, b, a.shape[-1])


def outer(work: Work, call: JaxCall) -> Value:
    """`np.outer`: all products of a number of one array with one of the other."""
    a, b = _two(work, call)
    left, right = jnp.ravel(a.x)[:, None], jnp.ravel(b.x)[None, :]
    return do.multiply(work, work.moved(left, a), work.moved(right, b))


def einsum(work: Work, call: JaxCall) -> Value:
    """Subscripts as text; the terms of a sum are counted by the letters that vanish."""
    text, *operands = call.args
    if not isinstance(text, str) or "..." in text or set(call.keywords) - {"optimize"} or len(operands) > 2:
        raise refuse("einsum with these arguments")
    dtype = call.kind.dtype
    if dtype.kind not in "iufc":
        raise refuse(f"einsum of {dtype.name}")
    values = [value_of(work, operand, dtype) for operand in operands]
    text = text.replace(" ", "")
    left, arrow, right = text.partition("->")
    if not arrow:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    sizes = {c: n for term, v in zip(left.split(","), values, strict=True) for c, n in zip(term, v.shape, strict=True)}
    n = math.prod(size for letter, size in sizes.items() if letter not in right)
    x = jnp.einsum(text, *(value.x for value in values))
    one = Value(jnp.ones((), dtype), nonneg=True)
    return contracted(work, x, values[0], values[1] if len(values) > 1 else one, n)


def tensordot(work: Work, call: JaxCall) -> Value:
    """`np.tensordot`."""
    given = call.bound("a", "b", "axes")
    dtype = call.kind.dtype
    a, b = value_of(work, given["a"], dtype), value_of(work, given["b"], dtype)
    if dtype.kind not in "iufc":
        raise refuse(f"tensordot of {dtype.name}")
    axes = known(given.get("axes", 2), "axes")
    x = jnp.tensordot(a.x, b.x, axes=axes)
    n = math.isqrt(max(a.x.size * b.x.size // max(x.size, 1), 1))
    return contracted(work, x, a, b, n)


def kron(work: Work, call: JaxCall) -> Value:
    """`np.kron`."""
    a, b = _two(work, call)
    return _product_like(work, work.fixed(jnp.kron(a.x, b.x)), a, b)


def _product_like(work: Work, x: Traced, a: Value, b: Value) -> Value:
    """Every number is one product, in whatever place."""
    if a.dtype.kind == "f" and a.sharp and b.sharp:
        return work.made(x, a, b, nonneg=a.nonneg and b.nonneg)
    return contracted(work, x, a, b, 1)


def cross(work: Work, call: JaxCall) -> Value:
    """`np.cross`."""
    given = call.bound("a", "b")
    dtype = call.kind.dtype
    a, b = value_of(work, given["a"], dtype), value_of(work, given["b"], dtype)
    return contracted(work, jnp.cross(a.x, b.x), a, b, 2)


def trace(work: Work, call: JaxCall) -> Value:
    """`np.trace`: the sum of a diagonal."""
    given = call.bound("a", "offset", "axis1", "axis2")
    a = value_of(work, given["a"], call.kind.dtype)
    options = {name: known(given[name], name) for name in ("offset", "axis1", "axis2") if name in given}
    diagonal = work.moved(jnp.diagonal(a.x, **options), a)
    return summed(work, diagonal, (diagonal.ndim - 1,))


def convolve(fn: Callable[..., Traced]) -> Row:
    """The row of `np.convolve` and `np.correlate`."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound("a", "v", "mode")
        dtype = call.kind.dtype
        if dtype.kind not in "f":
            raise refuse(f"{call.name} of {dtype.name}")
        a, b = value_of(work, given["a"], dtype), value_of(work, given["v"], dtype)
        default = "full" if fn is jnp.convolve else "valid"
        x = fn(a.x, b.x, mode=known(given.get("mode", default), "a mode"))
        return contracted(work, x, a, b, min(a.x.size, b.x.size))

    return row


def norm(work: Work, call: JaxCall) -> Value:
    """The root of a sum of squares, of vectors or of all numbers of a matrix."""
    given = call.bound("x", "ord", "axis", "keepdims")
    a = value_of(work, given["x"], call.kind.dtype)
    order, axis = known(given.get("ord"), "an order"), known(given.get("axis"), "an axis")
    both = axis is None or isinstance(axis, list | tuple)
    whole = order is None or (order == "fro" and both) or (order == 2 and (a.ndim == 1 or not both))
    if not whole or a.dtype.kind != "f":
        raise refuse(f"a norm of order {order!r}")
    axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(int(one) % a.ndim for one in axes)
    return do.sqrt(work, summed(work, do.multiply(work, a, a), axes, bool(given.get("keepdims", False))))


# ---- linear algebra


def _matrix(work: Work, arg: Any, dtype: np.dtype[Any]) -> Value:
    a = value_of(work, arg, dtype)
    if a.ndim != 2 or a.dtype.kind != "f" or not a.sharp:
        raise refuse("linear algebra of what is no exact matrix")
    return a


def _condition(work: Work, a: Value, inverse: Traced) -> Traced:
    """How much errors grow; lanes with a matrix that has no inverse are odd, since NumPy may raise."""
    work.odd(~jnp.isfinite(inverse))
    n = a.shape[-1]
    return n * n * a.most() * jnp.max(jnp.abs(inverse)).astype(FLOAT)


def inv(work: Work, call: JaxCall) -> Value:
    """The inverse of a matrix, with a bound from its condition number."""
    (arg,) = call.args
    a = _matrix(work, arg, call.kind.dtype)
    x = jnp.linalg.inv(a.x)
    off = 4 * ROUND[a.bytes] * _condition(work, a, x) * Value(x).most() if work.careful else None
    return work.made(x, a, relative=ROUND[a.bytes], absolute=off)


def solve(work: Work, call: JaxCall) -> Value:
    """The solution of a linear system, with a bound from the condition number."""
    given = call.bound("a", "b")
    a, b = _matrix(work, given["a"], call.kind.dtype), value_of(work, given["b"], call.kind.dtype)
    if not b.sharp or b.ndim not in (1, 2):
        raise refuse("linear algebra of what may be off in its last bits")
    x = jnp.linalg.solve(a.x, b.x)
    off = None
    if work.careful:
        off = 4 * ROUND[a.bytes] * _condition(work, a, jnp.linalg.inv(a.x)) * Value(x).most()
    return work.made(x, a, b, relative=ROUND[a.bytes], absolute=off)


def det(work: Work, call: JaxCall) -> Value:
    """The determinant, with a bound from the lengths of the rows."""
    (arg,) = call.args
    a = _matrix(work, arg, call.kind.dtype)
    n = a.shape[-1]
    x = jnp.linalg.det(a.x)
    rows = jnp.prod(jnp.sqrt(jnp.sum(jnp.square(a.x.astype(FLOAT)), axis=-1)))
    return work.made(x, a, relative=ROUND[a.bytes], absolute=8 * n**3 * ROUND[a.bytes] * rows)


def eigvalsh(work: Work, call: JaxCall) -> Value:
    """The eigenvalues of a symmetric matrix, of which NumPy reads the lower half."""
    (arg,) = call.args
    a = _matrix(work, arg, call.kind.dtype)
    x = jnp.linalg.eigh(jnp.tril(a.x) + jnp.tril(a.x, -1).T, symmetrize_input=False)[0]  # NumPy looks at one half
    off = 16 * a.shape[-1] ** 1.5 * ROUND[a.bytes] * a.most()
    return work.made(x, a, relative=ROUND[a.bytes], absolute=off)


def cholesky(work: Work, call: JaxCall) -> Value:
    """The Cholesky factor; lanes whose matrix is not positive definite are left."""
    given = call.bound("a")
    a = _matrix(work, given["a"], call.kind.dtype)
    x = jnp.linalg.cholesky(jnp.tril(a.x) + jnp.tril(a.x, -1).T, symmetrize_input=False)
    work.odd(~jnp.isfinite(x))
    eye = jnp.eye(a.shape[-1], dtype=a.dtype)
    inverse = jax.scipy.linalg.solve_triangular(x, eye, lower=True)
    growth = _condition(work, a, inverse) * jnp.max(jnp.abs(inverse)).astype(FLOAT)
    return work.made(x, a, relative=ROUND[a.bytes], absolute=4 * ROUND[a.bytes] * growth * Value(x).most())


# ---- Fourier transforms


def transform(fn: Callable[..., Traced]) -> Row:
    """The row of a Fourier transform."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound("a", "n", "axis")
        single = call.kind.dtype.itemsize // (1 + (call.kind.dtype.kind == "c")) == 4
        a = value_of(work, given["a"])
        back = call.kind.dtype.kind == "f"
        wide = np.dtype(np.complex64 if single else np.complex128)
        a = do.cast(work, a, wide if back or a.dtype.kind == "c" else np.dtype(np.float32 if single else np.float64))
        options = {name: known(value, name) for name, value in given.items() if name != "a"}
        several = call.name.rstrip("n").endswith("fft2") or call.name.endswith("n")
        if several and options:
            raise refuse(f"{call.name} along some axes")
        x = fn(a.x, **options)
        if not work.careful:
            return Value(x)
        n = max(x.size, a.x.size) if several else max(x.shape[options.get("axis", -1)], 1)
        size = jnp.sqrt(jnp.sum(jnp.square(jnp.abs(a.x).astype(FLOAT))))
        off = 4 * ROUND[a.bytes] * (2 + math.log2(n)) * size + (n * a.off() if not a.sharp else 0.0)
        return work.made(x, a, relative=ROUND[a.bytes], absolute=off / n if call.name[0] == "i" else off)

    return row
