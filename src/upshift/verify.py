"""Compares a gear's results with the loop's: None where they are the same, else one sentence why not."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .columns.forms import flatten, parts
from .columns.inputs import Lanes
from .columns.kinds import RTOL, Kind, kind_of, kind_of_dtype, kind_of_value, promote
from .gears.ran import Ran

_SAMPLER = random.Random(0)  # our own: the user's random state is never touched


def differ(want: Any, got: Any, exact: bool) -> str | None:
    """Why `got` is not what the loop gives; None where it is."""
    if type(want) is not type(got):
        return f"the loop gives a {type(want).__name__}, the gear a {type(got).__name__}"
    kind = kind_of(want)
    if kind is not None:
        return None if _same_number(want, got, exact) else f"the loop gives {want!r}, the gear {got!r}"
    if isinstance(want, np.ndarray):
        same = want.shape == got.shape and want.dtype == got.dtype and _same_arrays(want, got, exact)
        return None if same else f"the loop gives {_shortened(want)}, the gear {_shortened(got)}"
    found, other = parts(want), parts(got)
    if found is None or other is None:
        if want is got or want == got:
            return None
        return _differ_in_fields(want, got, exact)
    if found[1] != other[1]:
        return f"the loop gives {want!r}, the gear {got!r}"
    for a, b in zip(found[2], other[2], strict=True):
        reason = differ(a, b, exact)
        if reason:
            return reason
    return None


def _shortened(array: Any) -> str:
    """An array in words: its first items."""
    return f"an array of {array.dtype}{list(array.shape)} that begins with {array.ravel()[:4].tolist()}"


def _differ_in_fields(want: Any, got: Any, exact: bool) -> str | None:
    """Two objects that are not equal: where their class does not say what equal means, their fields do."""
    says = getattr(type(want), "__eq__", None) is not getattr(object, "__eq__", None)
    if says or not hasattr(want, "__dict__") or vars(want).keys() != vars(got).keys():
        return f"the loop gives {want!r}, the gear {got!r}"
    reasons = (differ(value, vars(got)[name], exact) for name, value in vars(want).items() if value is not want)
    return next((reason for reason in reasons if reason), None)


def _same_arrays(want: Any, got: Any, exact: bool) -> bool:
    """Floats may differ by rounding, relative to the largest in the array: a sum's rounding depends on all it adds."""
    if np.array_equal(want, got, equal_nan=want.dtype.kind in "fc"):
        if not exact or want.dtype.kind != "f":
            return True
        return bool(((np.signbit(want) == np.signbit(got)) | np.isnan(want)).all())  # which NaN it is, nobody says
    if exact or want.dtype.kind not in "fc":
        return want.dtype.kind in "mM" and bool(((want == got) | (np.isnat(want) & np.isnat(got))).all())
    finite = np.isfinite(want)
    if not np.array_equal(want[~finite], got[~finite], equal_nan=True):
        return False
    rtol = RTOL.get(want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1), 1e-9)
    off = np.abs(want[finite] - got[finite])
    return bool(not off.size or off.max() <= rtol * np.abs(want[finite]).max() + 1e-300)


def _same_number(want: Any, got: Any, exact: bool) -> bool:
    if isinstance(want, bool | int | np.bool_ | np.integer | np.datetime64 | np.timedelta64):
        return bool(want == got) or (want != want and got != got)
    if isinstance(want, complex | np.complexfloating):
        return _same_number(want.real, got.real, exact) and _same_number(want.imag, got.imag, exact)
    if want == got:
        return not exact or math.copysign(1, want) == math.copysign(1, got)
    if want != want and got != got:
        return True
    if exact or not math.isfinite(want) or not math.isfinite(got):
        return False
    bytes = want.dtype.itemsize if isinstance(want, np.generic) else 8
    return bool(abs(want - got) <= RTOL.get(bytes, 1e-9) * max(abs(want), abs(got)) + 1e-300)


LOOKED_AT = 1 << 15
"""Elements of a column among which the odd ones are sought."""


def sample(lanes: Lanes, n: int, most: int = 12) -> list[int]:
    """Elements worth a look: first, last, some at random, and of every column the smallest, largest and odd ones."""
    chosen = {0, n - 1, *(_SAMPLER.randrange(n) for _ in range(3))}
    stride = n // LOOKED_AT + 1
    for column in lanes.columns:
        if column.ndim == 1 and column.dtype.kind in "iufb" and len(chosen) < most:
            column = column[::stride]
            odd = [int(column.argmin()), int(column.argmax()), *np.flatnonzero(column == 0)[:1].tolist()]
            if column.dtype.kind == "f":
                odd += np.flatnonzero(~np.isfinite(column))[:1].tolist()
            chosen |= {i * stride for i in odd}
    return sorted(chosen)[:most]


def check(
    call: Callable[..., Any],
    row: Callable[[int], tuple[Any, ...]],
    results: dict[int, Any],
    exact: bool,
    named: Sequence[int],
) -> str | None:
    """Compare results, by element, with the plain function's; the first difference in words."""
    for i in named:
        if i not in results:
            continue
        try:
            want = call(*row(i))
        except Exception as error:
            return f"element {i}: the loop raises {type(error).__name__}, the gear gives {results[i]!r}"
        reason = differ(want, results[i], exact)
        if reason:
            return f"element {i}: {reason}"
    return None


def check_columns(
    ran: Ran, exact: bool, call: Callable[..., Any], row: Callable[[int], tuple[Any, ...]], named: Sequence[int]
) -> tuple[Kind, ...] | str:
    """Compare columns of results with the plain function's; the kinds that it gives, or the first difference in words.

    Machine code stores an int among floats as a float. So numbers are compared, and the classes that were seen must
    together be stored as the column is: then all results are, since one float makes the whole column floats.
    """
    left = set(ran.left.tolist())
    seen: list[dict[Kind, None]] = [{} for _ in ran.outs]
    for i in named:
        if i in left:
            continue
        try:
            want = call(*row(i))
        except Exception as error:
            return f"element {i}: the loop raises {type(error).__name__}, the gear gives {[out[i] for out in ran.outs]}"
        form, leaves = flatten(want)
        if form != ran.form:
            return f"element {i}: the loop gives {want!r}"
        for leaf, column, kinds in zip(leaves, ran.outs, seen, strict=True):
            kind = kind_of_value(leaf)
            if kind is None or not _same_stored(leaf, kind, column[i], exact):
                return f"element {i}: the loop gives {leaf!r}, the gear {column[i]!r}"
            kinds[kind] = None
    return _settled(ran, seen)


def _same_stored(want: Any, kind: Kind, got: Any, exact: bool) -> bool:
    """Whether a stored number or array is the loop's, as far as its column can tell."""
    if kind.shape is not None:
        return want.shape == got.shape and _same_arrays(want.astype(got.dtype, copy=False), got, exact)
    return _same_number(got.dtype.type(want), got, exact)


def _settled(ran: Ran, seen: list[dict[Kind, None]]) -> tuple[Kind, ...] | str:
    kinds = []
    for column, found in zip(ran.outs, seen, strict=True):
        if not found:
            return "no element was seen to have a result"
        if promote(found) != column.dtype:
            return f"the loop's results are {' or '.join(sorted(map(str, found)))}, the gear's {column.dtype}"
        kind = next((kind for kind in found if kind.dtype == column.dtype), None) or kind_of_dtype(column.dtype)
        assert kind is not None
        kinds.append(kind)
    return tuple(kinds)
