"""Array functions in JAX: one row for every NumPy function that `jax.numpy` has, too."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...rules.arrays import Put
from ...rules.arrays.dynamic import Item
from ...rules.arrays.elementwise import OPERATORS
from ...trace.names import Applied, UfuncMethod
from ...trace.tree import Step
from . import arithmetic as do
from . import indexing, more, products, reductions, shaping
from .call import JaxCall, Row, is_known, value_of
from .functions import call as call_function
from .numbers import elementwise
from .value import Value, Work, refuse

_FFT = ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "fftn", "ifftn", "rfft2", "irfft2")
_move = shaping.moving

ROWS: dict[Any, Row] = {
    np.sum: reductions.sum_, np.mean: reductions.mean, np.var: reductions.var, np.std: reductions.std,
    np.prod: reductions.prod, np.max: reductions.extreme(jnp.max), np.min: reductions.extreme(jnp.min),
    np.amax: reductions.extreme(jnp.max), np.amin: reductions.extreme(jnp.min), np.ptp: reductions.ptp,
    np.any: reductions.truths(jnp.any), np.all: reductions.truths(jnp.all), np.count_nonzero: reductions.count_nonzero,
    np.argmax: reductions.arg_extreme(jnp.argmax, jnp.max), np.argmin: reductions.arg_extreme(jnp.argmin, jnp.min),
    np.cumsum: reductions.cumsum, np.cumprod: reductions.cumprod, np.median: reductions.median,
    np.quantile: reductions.quantile(1.0), np.percentile: reductions.quantile(100.0),
    np.matmul: products.matmul, operator.matmul: products.matmul, np.dot: products.dot, np.vdot: products.vdot,
    np.inner: products.inner, np.outer: products.outer, np.einsum: products.einsum, np.tensordot: products.tensordot,
    np.kron: products.kron, np.cross: products.cross, np.trace: products.trace,
    np.convolve: products.convolve(jnp.convolve), np.correlate: products.convolve(jnp.correlate),
    np.linalg.norm: products.norm, np.linalg.inv: products.inv, np.linalg.solve: products.solve,
    np.linalg.det: products.det, np.linalg.eigvalsh: products.eigvalsh, np.linalg.cholesky: products.cholesky,
    **{getattr(np.fft, name): products.transform(getattr(jnp.fft, name)) for name in _FFT},
    np.fft.fftshift: _move(jnp.fft.fftshift, "x", "axes"), np.fft.ifftshift: _move(jnp.fft.ifftshift, "x", "axes"),
    np.transpose: _move(jnp.transpose, "a", "axes"), np.swapaxes: _move(jnp.swapaxes, "a", "axis1", "axis2"),
    np.moveaxis: _move(jnp.moveaxis, "a", "source", "destination"), np.squeeze: _move(jnp.squeeze, "a", "axis"),
    np.expand_dims: _move(jnp.expand_dims, "a", "axis"), np.broadcast_to: _move(jnp.broadcast_to, "array", "shape"),
    np.flip: _move(jnp.flip, "m", "axis"), np.fliplr: _move(jnp.fliplr, "m"), np.flipud: _move(jnp.flipud, "m"),
    np.rot90: _move(jnp.rot90, "m", "k", "axes"), np.roll: _move(jnp.roll, "a", "shift", "axis"),
    np.tile: _move(jnp.tile, "A", "reps"), np.repeat: _move(jnp.repeat, "a", "repeats", "axis"),
    np.diagonal: _move(jnp.diagonal, "a", "offset", "axis1", "axis2"), np.diag: _move(jnp.diag, "v", "k"),
    np.tril: _move(jnp.tril, "m", "k"), np.triu: _move(jnp.triu, "m", "k"),
    np.split: shaping.splitting(jnp.split), np.array_split: shaping.splitting(jnp.array_split),
    np.hsplit: shaping.splitting(jnp.hsplit), np.vsplit: shaping.splitting(jnp.vsplit),
    np.concatenate: shaping.joining(jnp.concatenate, "arrays"), np.stack: shaping.joining(jnp.stack, "arrays"),
    np.vstack: shaping.joining(jnp.vstack, "tup"), np.hstack: shaping.joining(jnp.hstack, "tup"),
    np.dstack: shaping.joining(jnp.dstack, "tup"), np.column_stack: shaping.joining(jnp.column_stack, "tup"),
    np.append: shaping.append, np.array: shaping.array, np.asarray: shaping.array, np.asanyarray: shaping.array,
    np.ascontiguousarray: shaping.array, np.zeros_like: shaping.like(0.0), np.ones_like: shaping.like(1.0),
    np.empty_like: shaping.like(0.0), np.full_like: shaping.like(None), np.full: shaping.full,
    np.astype: shaping.astype, np.copy: shaping.same, np.where: shaping.where, np.clip: shaping.clip,
    np.select: shaping.select, np.round: shaping.rounding, np.around: shaping.rounding,
    np.nan_to_num: shaping.nan_to_num, np.isclose: shaping.isclose, np.allclose: shaping.allclose,
    np.sort: shaping.sort, np.argsort: shaping.argsort, np.searchsorted: shaping.searchsorted, np.diff: shaping.diff,
    np.meshgrid: shaping.meshgrid, np.pad: shaping.pad, np.polyval: shaping.polyval, np.real: shaping.real_part,
    np.imag: shaping.imaginary_part, np.conjugate: shaping.conjugate, operator.getitem: indexing.getitem,
    np.take: indexing.take, np.take_along_axis: indexing.take_along_axis,
    np.reshape: more.reshape, np.ravel: more.reshape, np.atleast_1d: more.at_least(jnp.atleast_1d),
    np.atleast_2d: more.at_least(jnp.atleast_2d), np.atleast_3d: more.at_least(jnp.atleast_3d),
    np.rollaxis: more.placed("a", "axis", "start"), np.resize: more.placed("a", "new_shape"),
    np.delete: more.placed("arr", "obj", "axis"), np.compress: more.compress, np.average: more.average,
    np.lib.stride_tricks.sliding_window_view: more.placed("x", "window_shape", "axis"), np.ediff1d: more.differences,
    np.nansum: more.without_nan(0.0), np.nanmean: more.without_nan(None),
    np.nanmax: more.without_nan(-np.inf, jnp.max), np.nanmin: more.without_nan(np.inf, jnp.min),
    np.interp: more.interp, np.digitize: more.digitize, np.linspace: more.linspace,
    np.linalg.svd: more.singular_values, np.linalg.matrix_norm: products.norm, np.linalg.vector_norm: products.norm,
    np.dsplit: shaping.splitting(jnp.dsplit),
}  # fmt: skip
for _name, _row in (("matrix_transpose", _move(jnp.matrix_transpose, "x")), ("vecdot", products.vecdot),
                    ("permute_dims", ROWS[np.transpose]), ("concat", ROWS[np.concatenate]),
                    ("unstack", more.unstack), ("trapezoid", more.trapezoid)):  # fmt: skip
    if hasattr(np, _name):
        ROWS.setdefault(getattr(np, _name), _row)
REDUCES: dict[tuple[str, str], Any] = {
    ("add", "reduce"): np.sum, ("multiply", "reduce"): np.prod, ("maximum", "reduce"): np.max,
    ("minimum", "reduce"): np.min, ("logical_and", "reduce"): np.all, ("logical_or", "reduce"): np.any,
    ("add", "accumulate"): np.cumsum, ("multiply", "accumulate"): np.cumprod,
}  # fmt: skip
"""Methods of ufuncs, by the functions that do the same; their axis is 0 where none is given."""
RUNNING = {"maximum": reductions.running_extreme(lax.cummax), "minimum": reductions.running_extreme(lax.cummin)}


def made_by(work: Work, step: Step, args: list[Any]) -> Value:
    """What a step makes of arrays. `args`: values, or constants as they are."""
    kind = step.kind
    assert kind is not None
    if isinstance(step.fn, Item):
        return args[0].parts[step.fn.j]  # type: ignore[no-any-return]
    fn, given, keywords = step.fn, tuple(args), {}
    if isinstance(fn, Applied):
        listed, keywords = fn.form.build(iter(args))
        fn, given = fn.fn, tuple(listed)
    call = JaxCall(fn, given, dict(keywords), kind.parts or (kind,), kind.parts is not None)
    made = _made(work, call)
    for value, wanted in zip(made.parts or (made,), call.makes, strict=True):
        if value.dtype != wanted.dtype or value.shape != wanted.lane_shape:
            raise refuse(f"JAX's {call.name} makes {value.dtype.name}{list(value.shape)}, NumPy's {wanted}", step.where)
    return made


def _made(work: Work, call: JaxCall) -> Value:
    fn = call.fn
    if isinstance(fn, Put):
        return indexing.put(work, call)
    if isinstance(fn, UfuncMethod):
        return _method(work, call, fn)
    ufunc = fn if isinstance(fn, np.ufunc) else np.power if fn is operator.pow else OPERATORS.get(fn)
    row = ROWS.get(fn) if ufunc is None or fn in ROWS else None
    if row is not None:
        return row(work, call)
    if ufunc is not None:
        return by_ufunc(work, ufunc, call)
    if fn is np.fix:
        return do.rounded(work, "trunc", value_of(work, call.args[0]))
    if fn is np.sinc:
        return call_function(work, "sinc", value_of(work, call.args[0], call.kind.dtype))
    raise refuse(f"{call.name} has no row for JAX")


def _method(work: Work, call: JaxCall, method: UfuncMethod) -> Value:
    name = method.ufunc.__name__
    if method.method == "accumulate" and name in RUNNING:
        given = dict(zip(("array", "axis"), call.args, strict=False), **call.keywords)
        return RUNNING[name](work, JaxCall(_accumulate, (), given, call.makes))
    fn = REDUCES.get((name, method.method))
    if fn is None:
        raise refuse(f"{name}.{method.method} has no row for JAX")
    given = dict(zip(("a", "axis", "dtype", "out"), call.args, strict=False), **call.keywords)
    given = {name: value for name, value in given.items() if name not in ("out",)}
    return ROWS[fn](work, JaxCall(fn, (), {"axis": 0, **given}, call.makes))


def _accumulate(array: Any, axis: int = 0) -> None:
    """The arguments of `np.maximum.accumulate`."""


_SAME_NAME = {"positive": "pos", "float_power": "power"}
_OWN: dict[str, Callable[[Work, Value, Value], Value]] = {"heaviside": more.heaviside}


def by_ufunc(work: Work, ufunc: np.ufunc, call: JaxCall) -> Value:
    """A ufunc in the dtypes that NumPy computes in."""
    if any(value is not None and value is not True for value in call.keywords.values()) or ufunc.nout != 1:
        raise refuse(f"{call.name} with {', '.join(call.keywords) or 'several results'}")
    args = [np.asarray(arg) if isinstance(arg, list | tuple) and is_known(arg) else arg for arg in call.args]
    dtypes = _loop(ufunc, args)
    if len(set(dtypes[:-1])) != 1 and not ufunc.__name__.endswith("shift"):
        raise refuse(f"{ufunc.__name__} of several dtypes")
    values = [value_of(work, arg, dtype) for arg, dtype in zip(args, dtypes, strict=False)]
    name = _SAME_NAME.get(ufunc.__name__, ufunc.__name__)
    if name in _OWN:
        return _OWN[name](work, *values)
    made = elementwise(work, name, values, args)
    return made if made.dtype == dtypes[-1] else do.cast(work, made, dtypes[-1])


def _loop(ufunc: np.ufunc, args: list[Any]) -> list[np.dtype[Any]]:
    """The dtypes of NumPy's loop for these operands: Python's numbers take on those of arrays."""
    strong = [arg for arg in args if not _is_weak(arg)]
    asked = [_weak_type(arg) if strong and _is_weak(arg) else _dtype(arg) for arg in args]
    try:
        found = ufunc.resolve_dtypes((*asked, None))
    except TypeError:
        raise refuse(f"{ufunc.__name__} of these dtypes") from None
    for dtype in found:
        if dtype.kind not in "biufc" or dtype == np.float16 or dtype.itemsize > 16:
            raise refuse(f"it computes with {dtype.name}")
    return list(found)


def _is_weak(arg: Any) -> bool:
    return arg.python if isinstance(arg, Value) else type(arg) in (int, float, complex)


def _dtype(arg: Any) -> np.dtype[Any]:
    return arg.dtype if isinstance(arg, Value) else np.asarray(arg).dtype


def _weak_type(arg: Any) -> Any:
    dtype = _dtype(arg)
    return {"i": int, "f": float, "c": complex}.get(dtype.kind, dtype)
