"""NumPy's words that need more than a step (writes, sizes that data choose), and what arrays answer to by name."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import Untraceable
from ..rules.arrays.more import distinct
from ..rules.interned import Interned
from .lane import Lane, LaneArray, is_lane
from .names import user_line

Function = Callable[..., Any]
STATIC = frozenset((np.shape, np.ndim, np.size, np.result_type, np.iscomplexobj, np.isrealobj, np.can_cast,
    np.min_scalar_type, np.issubdtype, np.isdtype, np.promote_types,
                    np.common_type, np.isscalar, np.iterable, np.broadcast_shapes, np.shares_memory))  # fmt: skip
"""Functions that look at kinds alone: what they give is the same for all lanes."""


def true(value: Any) -> Any:
    """The true value of a lane value; anything else as it is."""
    return value._up_value if is_lane(value) else value


class Flat:
    """`x.flat`."""

    def __init__(self, x: LaneArray) -> None:
        self.x = x

    def _at(self, key: Any) -> Any:
        shape = self.x._up_value.shape
        if isinstance(key, slice):
            key = np.arange(self.x._up_value.size)[key]
        if is_lane(key):
            raise Untraceable("uses .flat with an index that data chose", where=user_line())
        return np.unravel_index(np.where(np.asarray(key) < 0, np.asarray(key) + self.x._up_value.size, key), shape)

    def __getitem__(self, key: Any) -> Any:
        return self.x[tuple(int(i) if not np.ndim(i) else i for i in self._at(key))]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.x[self._at(key)] = value

    def __iter__(self) -> Any:
        return iter(self.x.ravel())

    def __len__(self) -> int:
        return int(self.x._up_value.size)


def _writes(make: Function) -> Function:
    """A function that changes its first argument: what it makes of a copy is written back."""
    changed = Changed.of(make)

    def special(arrays: Any, x: Any, *args: Any, **keywords: Any) -> None:
        if type(x) is not LaneArray:
            raise Untraceable(f"{make.__name__} writes into an array", where=user_line())
        arrays.set_item(x, Ellipsis, arrays.call(changed, (x, *args), keywords))

    return special


class Changed(Interned):
    """A function that changes its first argument, as one that gives back a changed copy."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.called(getattr(fn, "__name__", str(fn)))

    def __call__(self, x: Any, *args: Any, **keywords: Any) -> Any:
        out = x.copy(order="K")
        self.fn(out, *args, **keywords)
        return out


def _copyto(arrays: Any, dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if type(dst) is not LaneArray:
        raise Untraceable("writes into an array", where=user_line())
    if where is True:
        arrays._assigned(dst, src)
    else:
        arrays._assigned(dst, arrays.call(np.where, (where, src, dst), {}))


def _putmask(arrays: Any, x: Any, mask: Any, values: Any) -> None:
    if np.ndim(true(values)) == 0 and type(x) is LaneArray:
        x[mask] = values
    else:
        _writes(np.putmask)(arrays, x, mask, values)


def _fill_diagonal(arrays: Any, x: Any, value: Any, wrap: bool = False) -> None:
    if type(x) is not LaneArray or x._up_value.ndim != 2 or wrap or np.ndim(true(value)):
        _writes(np.fill_diagonal)(arrays, x, value, wrap)
    else:
        index = np.arange(min(x._up_value.shape))
        x[index, index] = value


def _put_along_axis(arrays: Any, x: Any, indices: Any, values: Any, axis: Any) -> None:
    _writes(np.put_along_axis)(arrays, x, indices, values, axis)


def _convert(cls: type) -> Function:
    return lambda arrays, x: arrays.trace.record(cls, (arrays.item(x),))


def _counted(fn: Function, count: Function) -> Function:
    """A function whose result is as long as the data say: lanes with the same count go on together."""

    def special(arrays: Any, *args: Any, **keywords: Any) -> Any:
        at = 0 if type(args[0]) is LaneArray else None
        if at is not None and not keywords and not args[0]._up_uniform:
            counted = arrays.call(count, (args[0],), {})
            if is_lane(counted):
                arrays.trace.pin(counted)
        return arrays._recorded(fn, args, keywords)

    return special


def _of_size(fn: Function) -> Function:
    """A function that makes an array of a size: a size that data chose is guarded."""

    def special(arrays: Any, *args: Any, **keywords: Any) -> Any:
        def pinned(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return tuple(map(pinned, value))
            return arrays.trace.pin(value) if type(value) is Lane else value

        return arrays._recorded(fn, tuple(map(pinned, args)), {k: pinned(v) for k, v in keywords.items()})

    return special


def _apply_along_axis(arrays: Any, fn: Function, axis: int, x: Any, *args: Any, **keywords: Any) -> Any:
    moved = arrays.call(np.moveaxis, (x, axis, -1), {})
    shape = true(moved).shape[:-1]
    made = [fn(moved[at], *args, **keywords) for at in np.ndindex(*shape)]
    whole = arrays.call(np.stack, (made,), {}) if np.ndim(true(made[0])) else arrays.call(np.array, (made,), {})
    inner = np.shape(true(made[0]))
    whole = arrays.call(np.reshape, (whole, (*shape, *inner)), {})
    at = axis % true(x).ndim
    ahead = tuple(range(len(shape), len(shape) + len(inner)))
    return arrays.call(np.moveaxis, (whole, ahead, tuple(range(at, at + len(inner)))), {})


SPECIAL: dict[Any, Function] = {
    np.nonzero: _counted(np.nonzero, np.count_nonzero), np.flatnonzero: _counted(np.flatnonzero, np.count_nonzero),
    np.argwhere: _counted(np.argwhere, np.count_nonzero), np.extract: _counted(np.extract, np.count_nonzero),
    np.unique: _counted(np.unique, distinct), np.apply_along_axis: _apply_along_axis,
    **{fn: _of_size(fn) for fn in (np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.indices)},
    np.copyto: _copyto, np.putmask: _putmask, np.put: _writes(np.put), np.place: _writes(np.place),
    np.fill_diagonal: _fill_diagonal, np.put_along_axis: _put_along_axis,
    round: lambda arrays, x, digits=0: arrays.call(np.round, (x, digits), {}),
    **{cls: _convert(cls) for cls in (int, float, bool, complex)},
}  # fmt: skip

FACTS = frozenset(("shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides"))
PROPERTIES: dict[str, Function] = {"T": np.transpose, "real": np.real, "imag": np.imag}
if hasattr(np, "matrix_transpose"):
    PROPERTIES["mT"] = np.matrix_transpose
METHODS: dict[str, Function] = {
    name: getattr(np, name)
    for name in ("all any argmax argmin argpartition argsort choose clip cumprod cumsum diagonal dot max mean min "
                 "nonzero prod ravel repeat round searchsorted squeeze std sum swapaxes take trace var").split()
}  # fmt: skip


def _reshape(arrays: Any, x: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
    sizes = tuple(operator.index(size) for size in sizes)
    return arrays.call(np.reshape, (x, sizes), {} if order == "C" else {"order": order})


def _transpose(arrays: Any, x: Any, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return arrays.call(np.transpose, (x,), {})
    return arrays.call(np.transpose, (x, tuple(axes[0]) if isinstance(axes[0], list | tuple) else axes), {})


def _astype(arrays: Any, x: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
            copy: bool = True) -> Any:  # fmt: skip
    x._up_value.astype(dtype, casting=casting)  # raises as NumPy does
    if not copy and x._up_value.dtype == dtype:
        return x
    made = arrays.call(np.astype, (x, np.dtype(dtype)), {})
    return made if order == "K" else arrays.call(np.copy, (made,), {"order": order})


def _conjugate(arrays: Any, x: Any) -> Any:
    """A real array is its own conjugate, not a copy."""
    return arrays.call(np.conjugate, (x,), {}) if x._up_value.dtype.kind == "c" else x


def _sort(arrays: Any, x: Any, axis: int = -1, kind: Any = None, order: Any = None, **keywords: Any) -> None:
    arrays.set_item(x, Ellipsis, arrays.call(np.sort, (x,), {"axis": axis, "kind": kind, **keywords}))


def _compress(arrays: Any, x: Any, condition: Any, axis: Any = None) -> Any:
    return arrays.call(np.compress, (condition, x), {"axis": axis})


def _flatten(arrays: Any, x: Any, order: str = "C") -> Any:
    return arrays.call(np.ravel, (arrays.call(np.copy, (x,), {}),), {} if order == "C" else {"order": order})


OWN_METHODS: dict[str, Function] = {
    "reshape": _reshape, "transpose": _transpose, "astype": _astype, "sort": _sort, "flatten": _flatten,
    "compress": _compress, "item": lambda arrays, x, *at: arrays.item(x, *at),
    "tolist": lambda arrays, x: arrays.tolist(x),
    "copy": lambda arrays, x, order="C": arrays.call(np.copy, (x,), {"order": order}),
    "conj": lambda arrays, x: _conjugate(arrays, x), "conjugate": lambda arrays, x: _conjugate(arrays, x),
    "fill": lambda arrays, x, value: arrays.set_item(x, Ellipsis, value),
    "partition": lambda arrays, x, kth, axis=-1: arrays.set_item(x, Ellipsis, arrays.call(np.partition, (x,
    kth), {"axis": axis})),
    "put": lambda arrays, x, *args, **keywords: _writes(np.put)(arrays, x, *args, **keywords),
}  # fmt: skip

WRITES: dict[Any, bool] = {np.copyto: True, np.fill_diagonal: True, np.putmask: True, np.put: False, np.place: False,
                           np.put_along_axis: False}  # fmt: skip
"""NumPy's functions that write into an array, and whether for all lanes at once."""


# ---- names of NumPy that are no functions


def _error_state(arrays: Any) -> Function:
    """`np.errstate`: what it keeps quiet is quiet, since elements that would warn are run by the plain function."""

    def errstate(**states: Any) -> Any:
        if set(states.values()) - {"ignore", "warn"}:
            raise Untraceable("raises NumPy's warnings as errors: np.errstate", where=user_line())
        return contextlib.nullcontext()

    return errstate


def _numbered(arrays: Any) -> Function:
    """`np.ndenumerate`."""
    return lambda x: ((at, x[at]) for at in np.ndindex(*np.shape(true(x))))


class _Joined:
    """`np.r_` and `np.c_`."""

    def __init__(self, arrays: Any, columns: bool) -> None:
        self.arrays, self.columns = arrays, columns

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if not any(is_lane(item) for item in items):
            return (np.c_ if self.columns else np.r_)[key]
        if any(isinstance(item, slice | str) for item in items):
            raise Untraceable("joins ranges and arrays by np.r_", "use np.concatenate", user_line())
        call = self.arrays.call
        dtype = np.result_type(*map(true, items))  # in which Python's numbers are weak
        pieces = [call(np.astype, (call(np.atleast_1d, (item,), {}), dtype), {}) for item in items]
        if self.columns:
            pieces = [call(np.reshape, (p, (-1, 1)), {}) if true(p).ndim == 1 else p for p in pieces]
        return call(np.concatenate, (pieces,), {"axis": -1})


NAMES: dict[str, Function] = {
    "errstate": _error_state,
    "ndenumerate": _numbered,
    "r_": lambda arrays: _Joined(arrays, columns=False),
    "c_": lambda arrays: _Joined(arrays, columns=True),
}
"""What the traced copy finds under these names of `np`: made for one trace."""
