"""Numbers of NumPy's from and to others: classes as functions, `astype`, rounding to digits, clipping, parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kinds import BIG, INT, NONE, NUMPY, Kind, Literal
from . import loops
from .numbers import safe
from .numpy_arithmetic import OPERATIONS, parts
from .numpy_casts import DOUBLE, LONG, DType, cast, double, ll, loaded, operand_of, part
from .numpy_functions import SHORT, never_leaves, ufunc_row

Emit = Callable[..., Any]


def class_row(dtype: DType, *kinds: Kind) -> Any:
    """`np.float32(x)`."""
    if not kinds:
        zero = "zeroinitializer" if dtype.kind == "c" else "false" if dtype.kind == "b" else "0"
        return NUMPY[dtype], safe(lambda w: {"half": "0xH0000", "float": "0.0", "double": "0.0"}.get(ll(dtype), zero))
    operands = [operand_of(kind) for kind in kinds]
    if any(o is None or (o.dtype.kind == "c" and dtype.kind not in "cb") for o in operands):
        return None
    if len(operands) == 2 and dtype == np.dtype("complex128") and all(o.dtype.kind != "c" for o in operands if o):
        given = [o for o in operands if o is not None]

        def pair(w: Any, x: str, y: str) -> Any:
            real, imag = loaded(w, x, given[0], DOUBLE), loaded(w, y, given[1], DOUBLE)
            return w.build(ll(dtype), ("double", real), ("double", imag))

        return NUMPY[dtype], pair
    o = operands[0]
    if len(operands) != 1 or o is None:
        return None
    quiet = never_leaves(o, dtype) or dtype.kind == "b"
    emit: Emit = lambda w, x: loaded(w, x, o, dtype)  # noqa: E731
    return NUMPY[dtype], safe(emit) if quiet else emit


def cast_row(kind: Kind, dtype: DType) -> Any:
    """`x.astype(dtype)` of a number of NumPy's."""
    o = operand_of(kind)
    if o is None or dtype not in NUMPY or dtype.type is not NUMPY[dtype].cls or o.dtype.kind == "c" != dtype.kind:
        return None
    if o.dtype.kind == "c" and dtype.kind not in "cb":
        return None
    return NUMPY[dtype], lambda w, x: cast(w, x, o.dtype, dtype)


# ---- rounding to so many digits


def round_row(kind: Kind, digits: int) -> Any:
    """`np.round(x, digits)`: a product, rounded, and divided again, with NumPy's dtypes."""
    o = operand_of(kind)
    if o is None or o.dtype.kind not in "iuf" or abs(digits) > 22:
        return None
    of = o.dtype
    if of.kind in "iu" and digits >= 0:
        return NUMPY[of], safe(lambda w, x: x)
    inside = DOUBLE if of.kind in "iu" else of
    first, second = ("Mult", "Div") if digits >= 0 else ("Div", "Mult")
    ten = double(float(10 ** abs(digits)))

    def emit(w: Any, x: str) -> str:
        value = cast(w, x, of, inside)
        if digits:
            factor = cast(w, ten, DOUBLE, inside)
            value = OPERATIONS["f"][first](w, value, factor, inside)
        value = SHORT["f", np.rint](w, inside, value)
        if digits:
            value = OPERATIONS["f"][second](w, value, factor, inside)
        return cast(w, value, inside, of)

    return NUMPY[of], emit


def real_row(kind: Kind, which: str) -> Any:
    """`x.real` and `x.imag` of a number of NumPy's."""
    o = operand_of(kind)
    if o is None:
        return None
    of = o.dtype
    if of.kind == "c":
        at = 0 if which == "real" else 1
        return NUMPY[part(of)], safe(lambda w, z: parts(w, z, of)[at])
    if which == "real":
        return NUMPY[of], safe(lambda w, x: x)
    return class_row(of)[0], safe(lambda w, x: class_row(of)[1](w))


def clip_row(kind: Kind, low: Kind, high: Kind) -> Any:
    """`np.clip(x, low, high)`; a bound that is None, or an int beyond all that its dtype holds, is none."""
    o = operand_of(kind)
    if o is None or o.dtype.kind not in "iuf":
        return None
    own = NUMPY[o.dtype]  # a number of Python's counts as an array of it
    bounds = [None if _is_no_bound(one, o.dtype, at) else one for at, one in enumerate((low, high))]
    ufunc = _CLIP if None not in bounds else np.minimum if bounds[1] is not None else np.maximum
    given = [one for one in bounds if one is not None]
    if not given:
        return own, safe(lambda w, x, a, b: x)
    if o.dtype.kind in "iu" and any(_is_variable_int(one) for one in given) and o.dtype != LONG:
        return None  # whether it is a bound at all depends on its value
    row = ufunc_row(ufunc, own, *given)
    if row is None:
        return None
    keep = [one is not None for one in bounds]
    result, emit = row

    def chosen(w: Any, x: str, a: str, b: str) -> Any:
        return emit(w, x, *(value for value, kept in zip((a, b), keep) if kept))

    return result, safe(chosen) if hasattr(emit, "safe") else chosen


_CLIP: np.ufunc = loops.named("clip")


def _is_variable_int(kind: Kind) -> bool:
    return kind is INT


def _is_no_bound(kind: Kind, of: DType, at: int) -> bool:
    if kind is NONE:
        return True
    if of.kind in "iu" and isinstance(kind, Literal) and kind.kind in (INT, BIG) and type(kind.value) is int:
        info = np.iinfo(of)
        return bool(kind.value <= info.min if at == 0 else kind.value >= info.max)
    return False
