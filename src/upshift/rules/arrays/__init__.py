"""One row per NumPy function of arrays: importing this fills the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...columns.forms import Form
from ...columns.kinds import Kind
from ...columns.layout import is_dense
from ..op import Op
from . import elementwise, indexing, joining, linalg, more, products, reductions, shaping, signals, sorting
from .call import ARRAYS, Called, NoRule, Row, Slot, WithRow, by_rows
from .elementwise import is_ufunc_on_lanes
from .images import IMAGES, name_of
from .indexing import Put, Seen
from .op import ArrayOp, each_lane, flat_results
from .reductions import ufunc_reduce
from .scipy import SCIPY

__all__ = [
    "ARRAYS", "ArrayOp", "NoRule", "Put", "Row", "Seen", "Slot", "each_lane", "elementwise", "flat_results", "indexing",
    "joining", "linalg", "lower_call", "more", "products", "reductions", "row_of", "shaping", "signals", "sorting",
]  # fmt: skip

_REDUCE = Row(np.add.reduce, ufunc_reduce, warns=True, ordered=True)


def row_of(fn: Callable[..., Any]) -> Row | None:
    """The row for a function; None where it has none."""
    if isinstance(fn, Put):
        return ARRAYS[Put]
    if isinstance(fn, WithRow):
        return fn.row
    if getattr(fn, "method", None) in ("reduce", "accumulate"):
        return _REDUCE
    try:
        found = ARRAYS.get(fn)
    except TypeError:  # unhashable
        return None
    if found is None and isinstance(fn, np.ufunc) and fn.signature is None:
        return Row(fn, elementwise.elementwise, warns=True)  # of another library
    if found is None and name_of(fn) in SCIPY:
        return Row(fn, SCIPY[name_of(fn)], close=True)
    if found is None and name_of(fn) in IMAGES:
        return Row(fn, IMAGES[name_of(fn)], frees=name_of(fn).startswith("cv2."))
    return found


_TAKES_NUMBERS = frozenset(
    (np.full, np.full_like, np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.insert, np.append)
)


def _may_not_fit(called: Called, makes: tuple[Kind, ...]) -> bool:
    """Whether a number of a lane goes into an array of ints that may not hold it: for some lanes that raises."""
    numbers = [slot.kind.dtype for slot in called.slots if slot.lane and slot.kind.shape is None]
    whole = [kind.dtype for kind in makes if kind.shape is not None and kind.dtype.kind in "iu"]
    return any(not np.can_cast(number, ints) for number in numbers for ints in whole)


_UNEVEN = frozenset(
    "angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 float_power hypot i0 log "
    "log10 log1p log2 logaddexp logaddexp2 pow power sin sinc sinh tan tanh".split()
)
"""Functions of which NumPy has several versions, with bits of their own: which runs depends on how numbers lie."""


def _is_uneven(called: Called, layouts: tuple[tuple[int, ...] | None, ...]) -> bool:
    """Whether an array lies so that NumPy takes another version for one element than for all of them."""
    if getattr(called.fn, "__name__", "") not in _UNEVEN:
        return False
    for leaf, strides in zip(called.leaves, layouts, strict=False):
        kind = leaf.kind if isinstance(leaf, Slot) else None
        if strides is None or kind is None or kind.dtype.kind not in "fc":
            continue
        if min(strides, default=0) < 0 or (kind.dtype == np.float16 and not is_dense(kind.lane_shape, strides, 2)):
            return True
    return False


def lower_call(
    fn: Callable[..., Any],
    form: Form,
    leaves: tuple[Any, ...],
    plain: Callable[..., Any],
    makes: tuple[Kind, ...],
    several: bool,
    layouts: tuple[tuple[int, ...] | None, ...] = (),
) -> Op | None:
    """The Op for a call on arrays by its row; None where there is none for these arguments."""
    found = row_of(fn)
    if found is None:
        return None
    called = Called(fn, form, leaves, None if several else makes[0], makes)
    name = getattr(fn, "__name__", "call")
    ufunc = is_ufunc_on_lanes(called)
    kind = makes[0]
    uneven = _is_uneven(called, layouts)
    if ufunc is not None and kind.shape is not None and not uneven:
        return Op(ufunc.__name__, ufunc, f"np.{ufunc.__name__}({{*}})", warns=True, close=found.close)
    if fn in _TAKES_NUMBERS and _may_not_fit(called, makes):
        return None
    try:
        run = found.rule(called)
    except (NoRule, TypeError, ValueError, KeyError):
        run = None
    if run is None:
        return None
    lanes = tuple(isinstance(leaf, Slot) and leaf.lane for leaf in leaves)
    kinds = tuple(leaf.kind if isinstance(leaf, Slot) else None for leaf in leaves)
    close, rows = found.close or uneven, found.rule is by_rows
    ordered = found.ordered or rows
    return ArrayOp(
        name, run, "", close=close, warns=found.warns, plain=plain, lanes=lanes, kinds=kinds, makes=makes,
        several=several, updates=isinstance(fn, Put), by_rows=rows, frees=found.frees, ordered=ordered,
        layouts=layouts,
    )  # fmt: skip
