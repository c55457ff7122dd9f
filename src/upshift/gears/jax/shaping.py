"""JAX functions that move, join, sort and select numbers without changing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from . import arithmetic as do
from .call import JaxCall, Row, is_known, known, value_of
from .value import FLOAT, Traced, Value, Work, refuse


def moving(fn: Callable[..., Traced], *names: str) -> Row:
    """A function of one array; its other arguments must be known now. `names`: the array's, then those it may have."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound(*names)
        a = value_of(work, given.pop(names[0]))
        rest = {name: known(value, name) for name, value in given.items() if name in names}
        return work.moved(fn(a.x, **rest), a)

    return row


def splitting(fn: Callable[..., Traced]) -> Row:
    """The row of `np.split` and its relatives."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound("ary", "indices_or_sections", "axis")
        a = value_of(work, given["ary"])
        rest = [known(value, "a split") for name, value in given.items() if name != "ary"]
        return Value(None, parts=tuple(work.moved(part, a) for part in fn(a.x, *rest)))

    return row


def joining(fn: Callable[..., Traced], name: str) -> Row:
    """A function of a list of arrays."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound(name, "axis")
        pieces = given[name]
        if isinstance(pieces, Value):
            pieces = [work.moved(pieces.x[i], pieces) for i in range(pieces.shape[0])]
        values = [value_of(work, piece, call.kind.dtype) for piece in pieces]
        rest = {"axis": known(given["axis"], "an axis")} if "axis" in given else {}
        return work.moved(fn([value.x for value in values], **rest), *values)

    return row


def append(work: Work, call: JaxCall) -> Value:
    """`np.append`."""
    given = call.bound("arr", "values", "axis")
    a, b = (value_of(work, given[name], call.kind.dtype) for name in ("arr", "values"))
    return work.moved(jnp.append(a.x, b.x, axis=known(given.get("axis"), "an axis")), a, b)


def array(work: Work, call: JaxCall) -> Value:
    """`np.array([...])` of numbers and arrays."""
    given = call.bound("object", "a", "obj", "dtype", "ndmin", "order")
    given.pop("dtype", None)
    order = given.pop("order", "C")
    (first,) = given.values() if len(given) == 1 else (None,)
    if first is None or order not in ("C", "K", "A"):
        raise refuse(f"{call.name} with these arguments")
    made = value_of(work, first, None if isinstance(first, Value) else call.kind.dtype)
    return do.cast(work, made, call.kind.dtype)


def like(number: float | None) -> Row:
    """`zeros_like`, `ones_like` and `full_like`."""

    def row(work: Work, call: JaxCall) -> Value:
        given = call.bound("a", "x", "prototype", "fill_value", "dtype", "order", "shape")
        if "shape" in given:
            raise refuse(f"{call.name} of another shape")
        fill = given.get("fill_value") if number is None else number
        return _filled(work, fill, call)

    return row


def full(work: Work, call: JaxCall) -> Value:
    """`np.full`."""
    given = call.bound("shape", "fill_value", "dtype")
    return _filled(work, given["fill_value"], call)


def _filled(work: Work, fill: Any, call: JaxCall) -> Value:
    value = value_of(work, fill, call.kind.dtype)
    return work.moved(jnp.broadcast_to(value.x, call.kind.lane_shape), value)


def astype(work: Work, call: JaxCall) -> Value:
    """`np.astype`."""
    given = call.bound("x", "dtype", "order")
    return do.cast(work, value_of(work, given["x"]), call.kind.dtype)


# ---- selecting


def where(work: Work, call: JaxCall) -> Value:
    """`np.where` with three arguments."""
    if len(call.args) != 3 or call.keywords:
        raise refuse("where with these arguments")
    condition = do.truth(work, value_of(work, call.args[0]))
    a, b = (value_of(work, arg, call.kind.dtype) for arg in call.args[1:])
    return work.moved(jnp.where(condition.x, a.x, b.x), a, b)


def clip(work: Work, call: JaxCall) -> Value:
    """`np.clip`."""
    given = call.bound("a", "a_min", "a_max", "min", "max")
    made = value_of(work, given["a"], call.kind.dtype)
    low, high = given.get("a_min", given.get("min")), given.get("a_max", given.get("max"))
    if low is not None:
        made = do.maximum(work, made, value_of(work, low, call.kind.dtype))
    if high is not None:
        made = do.minimum(work, made, value_of(work, high, call.kind.dtype))
    return made


def select(work: Work, call: JaxCall) -> Value:
    """`np.select`: the first choice whose condition holds."""
    given = call.bound("condlist", "choicelist", "default")
    made = value_of(work, given.get("default", 0), call.kind.dtype)
    pairs = list(zip(given["condlist"], given["choicelist"], strict=True))
    for condition, choice in reversed(pairs):
        chosen = value_of(work, choice, call.kind.dtype)
        made = do.pick(work, do.truth(work, value_of(work, condition)).x, chosen, made)
    return made


def rounding(work: Work, call: JaxCall) -> Value:
    """To so many decimals: scaled, rounded and scaled back, as NumPy does it."""
    given = call.bound("a", "decimals")
    a, decimals = value_of(work, given["a"]), int(known(given.get("decimals", 0), "decimals"))
    if a.dtype.kind != "f" or abs(decimals) > 22:
        raise refuse(f"rounding {a.dtype.name} to {decimals} decimals")
    if not decimals:
        return do.rounded(work, "rint", a)
    scale = do.from_constant(work, 10.0 ** abs(decimals), a.dtype)
    there, back = (do.multiply, do.divide) if decimals > 0 else (do.divide, do.multiply)
    made = there(work, a, scale)
    work.odd(~jnp.isfinite(made.x))
    return back(work, do.rounded(work, "rint", made), scale)


def nan_to_num(work: Work, call: JaxCall) -> Value:
    """`np.nan_to_num` of floats."""
    given = call.bound("x", "nan", "posinf", "neginf")
    a = value_of(work, given["x"])
    if a.dtype.kind != "f":
        raise refuse(f"nan_to_num of {a.dtype.name}")
    most = float(np.finfo(a.dtype).max)
    made = a
    for condition, name, number in (
        (jnp.isnan(a.x), "nan", 0.0), (a.x == jnp.inf, "posinf", most), (a.x == -jnp.inf, "neginf", -most),
    ):  # fmt: skip
        filled = value_of(work, known(given.get(name, number), name), a.dtype)
        made = do.pick(work, condition, filled, made)
    return made


def isclose(work: Work, call: JaxCall) -> Value:
    """`np.isclose`."""
    given = call.bound("a", "b", "rtol", "atol", "equal_nan")
    a, b = (value_of(work, given[name], FLOAT) for name in "ab")
    rtol, atol = (known(given.get(n, d), n) for n, d in (("rtol", 1e-5), ("atol", 1e-8)))
    room = do.multiply(work, do.from_constant(work, rtol, FLOAT), do.absolute(work, b))
    room = do.add(work, do.from_constant(work, atol, FLOAT), room)
    near = do.compare(work, "less_equal", do.absolute(work, do.subtract(work, a, b)), room)
    same = do.compare(work, "equal", a, b)
    made = (near.x & jnp.isfinite(b.x)) | same.x
    return Value(made | (jnp.isnan(a.x) & jnp.isnan(b.x)) if given.get("equal_nan") else made)


def allclose(work: Work, call: JaxCall) -> Value:
    """`np.allclose`."""
    return Value(jnp.all(isclose(work, call).x))


# ---- order


def sort(work: Work, call: JaxCall) -> Value:
    """`np.sort`."""
    given = call.bound("a", "axis", "kind", "stable")
    a = value_of(work, given["a"])
    if a.dtype.kind == "c":
        raise refuse("the order of complex numbers")
    x = jnp.sort(a.x, axis=known(given["axis"], "an axis") if "axis" in given else -1)
    return work.moved(x, a)


def argsort(work: Work, call: JaxCall) -> Value:
    """Where two are equal, or as near as their bounds, NumPy may name either first."""
    given = call.bound("a", "axis", "kind", "stable")
    a, axis = value_of(work, given["a"]), known(given.get("axis", -1), "an axis")
    if a.dtype.kind == "c" or ("axis" in call.keywords and call.keywords["axis"] is None):
        raise refuse("argsort with these arguments")
    work.decide_on(a)
    if work.careful and a.shape[axis] > 1:
        ordered = jnp.sort(a.x, axis=axis)
        gaps = jnp.diff(ordered, axis=axis) if a.dtype.kind in "fiu" else None
        if gaps is None:
            raise refuse("argsort of booleans")
        work.odd(jnp.isnan(gaps) if a.dtype.kind == "f" else jnp.zeros((), bool))
        if not a.sharp:
            work.odd(gaps.astype(FLOAT) <= 2 * a.off())
        elif given.get("kind") not in ("stable", "mergesort") and not given.get("stable"):
            work.odd(gaps == 0)
    return Value(jnp.argsort(a.x, axis=axis, stable=True).astype(call.kind.dtype))


def searchsorted(work: Work, call: JaxCall) -> Value:
    """`np.searchsorted` of exact numbers; lanes whose table does not ascend are left."""
    given = call.bound("a", "v", "side")
    a, v = value_of(work, given["a"]), value_of(work, given["v"])
    dtype = np.result_type(a.dtype, v.dtype)
    a, v = do.cast(work, a, dtype), do.cast(work, v, dtype)
    if not (a.sharp and v.sharp) or dtype.kind not in "fiu":
        raise refuse("searchsorted of what may be off in its last bits")
    work.decide_on(a, v)
    work.odd(~(a.x[1:] >= a.x[:-1]))
    work.odd(jnp.isnan(v.x) if dtype.kind == "f" else jnp.zeros((), bool))
    made = jnp.searchsorted(a.x, v.x, side=known(given.get("side", "left"), "a side"))
    return Value(made.astype(call.kind.dtype))


def diff(work: Work, call: JaxCall) -> Value:
    """`np.diff`."""
    given = call.bound("a", "n", "axis")
    a, axis = value_of(work, given["a"]), known(given.get("axis", -1), "an axis")
    made = a
    for _ in range(int(known(given.get("n", 1), "n"))):
        size = made.shape[axis]
        after = work.moved(lax.slice_in_dim(made.x, 1, size, axis=axis % made.ndim), made)
        before = work.moved(lax.slice_in_dim(made.x, 0, size - 1, axis=axis % made.ndim), made)
        made = Value(after.x != before.x) if a.dtype == bool else do.subtract(work, after, before)
    return made


def meshgrid(work: Work, call: JaxCall) -> Value:
    """`np.meshgrid`."""
    if set(call.keywords) - {"indexing"}:
        raise refuse("meshgrid with these arguments")
    values = [value_of(work, arg) for arg in call.args]
    made = jnp.meshgrid(*(value.x for value in values), **call.keywords)
    return Value(None, parts=tuple(work.moved(x, value) for x, value in zip(made, values, strict=True)))


def pad(work: Work, call: JaxCall) -> Value:
    """`np.pad`, in the modes that copy numbers and compute none."""
    given = call.bound("array", "pad_width", "mode", "constant_values")
    a, mode = value_of(work, given["array"]), known(given.get("mode", "constant"), "a mode")
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise refuse(f"padding by {mode!r}")
    width = known(given["pad_width"], "a width")
    rest = given.get("constant_values", 0)
    if not is_known(rest) or np.ndim(rest):
        raise refuse("padding with several numbers")
    extra = {"constant_values": rest} if mode == "constant" else {}
    return work.moved(jnp.pad(a.x, width, mode=mode, **extra), a)


def polyval(work: Work, call: JaxCall) -> Value:
    """One coefficient after the other, as NumPy does it."""
    given = call.bound("p", "x")
    dtype = call.kind.dtype
    p, x = value_of(work, given["p"], dtype), value_of(work, given["x"], dtype)
    if dtype.kind != "f" or p.ndim != 1:
        raise refuse("polyval with these arguments")
    made = Value(jnp.zeros_like(x.x))
    for i in range(p.shape[0]):
        made = do.add(work, do.multiply(work, made, x), work.moved(p.x[i], p))
    return made


def real_part(work: Work, call: JaxCall) -> Value:
    """The real part of a complex number."""
    return _part(work, call, jnp.real)


def imaginary_part(work: Work, call: JaxCall) -> Value:
    """The imaginary part of a complex number."""
    return _part(work, call, jnp.imag)


def _part(work: Work, call: JaxCall, fn: Callable[..., Traced]) -> Value:
    (arg,) = call.args
    a = value_of(work, arg)
    return work.made(fn(a.x), a, absolute=None if a.sharp or not work.careful else a.off())


def conjugate(work: Work, call: JaxCall) -> Value:
    """The complex conjugate; a real number as it is."""
    (arg,) = call.args
    a = value_of(work, arg)
    return work.moved(jnp.conjugate(a.x), a) if a.dtype.kind == "c" else a


def same(work: Work, call: JaxCall) -> Value:
    """A copy, or a view of all of it."""
    given = call.bound("a", "x", "m", "arys", "order", "subok")
    if given.get("order", "C") not in ("C", "K"):
        raise refuse(f"{call.name} in another order")
    return value_of(work, next(iter(given.values())))
