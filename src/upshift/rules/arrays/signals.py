"""Fourier transforms, filters, and functions of curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...columns.kinds import Column
from .call import (
    Named,
    NoRule,
    Run,
    Slot,
    by_rows,
    has_slots,
    named,
    negative,
    over,
    over_two,
    row,
)


@named
def transform(call: Named) -> Run:
    """The rule of Fourier transforms along one axis."""
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
    """The rule of Fourier transforms along several axes."""
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
    """The rule of `np.fft.fftshift` and `ifftshift`."""
    fn, x, axes = call.called.fn, call.lane("x"), call.constant("axes")
    call.rest()
    axes = tuple(range(-x.ndim, 0)) if axes is None else negative(axes, x.ndim)
    return over(x, lambda X: fn(X, axes=axes))


row(np.fft.fftshift, shifting, "np.fft.fftshift(x)", "np.fft.fftshift(v)", "np.fft.fftshift(x, axes=1)")
row(np.fft.ifftshift, shifting, "np.fft.ifftshift(x)", "np.fft.ifftshift(v)")


row(np.convolve, by_rows, "np.convolve(v, [0.25, 0.5, 0.25])", "np.convolve(v, np.ones(3) / 3, mode='valid')",
    "np.convolve(v, [1.0, 2.0], 'same')", "np.convolve(v, [1.0, 2.0, 3.0], 'same')", "np.convolve(v, v)",
    close=True)  # fmt: skip
row(np.correlate, by_rows, "np.correlate(v, [1.0, 2.0, 3.0])", "np.correlate(v, [1.0, 2.0], 'full')",
    "np.correlate(v, [1.0, 2.0, 4.0], 'same')")  # fmt: skip


@named
def interp(call: Named) -> Run:
    """The rule of `np.interp` in a table that is the same for all lanes."""
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
    """The rule of `np.gradient` with constant spacing."""
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
    """The rule of `np.trapezoid`."""
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


row(np.trapezoid, trapezoid, "np.trapezoid(v)", "np.trapezoid(x, dx=0.5, axis=0)", "np.trapezoid(v, np.sort(v))",
    ordered=True)  # fmt: skip


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
    """The rule of `np.cov` of a matrix of variables, with NumPy's order of operations."""
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
    """The rule of `np.corrcoef` of a matrix of variables, with NumPy's order of operations."""
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
