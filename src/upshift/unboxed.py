"""Arrays in, the results of a function that takes their elements as Python's own numbers out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .api import _quick
from .columns.forms import LEAF, Form
from .columns.inputs import Group, Lanes
from .columns.kinds import BOOL, COMPLEX, FLOAT, INT, INT64_MAX, Column, Kind
from .config import settings
from .gears.binder import MISS
from .gears.job import Job
from .gears.loop import OnError
from .plan.memory import MEMORY, Known, key_of
from .plan.shift import run_best, run_in

_KINDS: dict[str, Kind] = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}


class Unboxed(Sequence[Any]):
    """A column of Python's numbers, held as an array: element i is what `tolist` has at i."""

    __slots__ = ("array",)

    def __init__(self, array: Column) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, i: Any) -> Any:
        return Unboxed(self.array[i]) if isinstance(i, slice) else self.array.item(i)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Column:
        return np.array(self.array, dtype, copy=copy)


def numbers_of(array: Column) -> Column | None:
    """The array with the dtype of Python's numbers; None where its elements are none, or ints beyond 64 bits."""
    kind = _KINDS.get(array.dtype.kind)
    if kind is None or array.dtype.itemsize > kind.dtype.itemsize:
        return None
    if array.dtype.char in "QL" and array.size and array.max() > INT64_MAX:
        return None
    return array if array.dtype == kind.dtype else array.astype(kind.dtype)


def _glance(f: Any, kinds: tuple[Kind, ...]) -> Known | None:
    """What is known of a plain function, at the price of a look-up."""
    try:
        return MEMORY.known.get((id(f.__code__), *[Unboxed] * len(kinds), *kinds))
    except AttributeError:
        return None


def map_unboxed(
    f: Callable[..., Any], arrays: Sequence[Column], gear: str | None, exact: bool, on_error: OnError
) -> Any:
    """`up.map` over one-dimensional arrays of Python's numbers, which `numbers_of` gave."""
    n = len(arrays[0])
    kinds = tuple([_KINDS[array.dtype.kind] for array in arrays])
    if gear is None and on_error == "raise" and not exact:
        known = _glance(f, kinds)
        if known is not None and n <= known.quick:
            return _quick(f, tuple([array.tolist() for array in arrays]), known)
        if known is not None and not settings().disable:
            result = known.at_express(f, tuple(arrays), n)
            if result is not MISS:
                return result
    columns = [Unboxed(array) for array in arrays]
    key, anchors = key_of(f, columns, {})
    known = MEMORY.recall((*key, *kinds), anchors)
    if settings().disable and gear is None:
        gear = "loop"
    form = Form(tuple, tuple(range(len(arrays))), (LEAF,) * len(arrays))
    lanes = Lanes(form, tuple(arrays), kinds, (None,) * len(arrays), (False,) * len(arrays))
    job = Job(f, columns, {}, n, exact, _groups=[Group(None, lanes)])
    return run_in(gear, job, known, on_error) if gear else run_best(job, known, on_error)
