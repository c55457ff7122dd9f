"""`up.vectorize`: a function of scalars, or of arrays with named dimensions, that broadcasts like a ufunc."""

from __future__ import annotations

import functools
import math
import re
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .api import GEARS
from .api import map as map_elements
from .axes import check_options
from .columns.forms import assemble, parts
from .columns.kinds import Column
from .errors import GearRefused, Refusal, UpshiftError, trim
from .gears.loop import run_loop
from .partials import Arguments, Partials
from .trace.paths import plain_of
from .unboxed import map_unboxed, numbers_of

__tracebackhide__ = True  # pytest and IPython show the user's call, not ours
Dtype = np.dtype[Any] | str
Core = tuple[str, ...]


def vectorize(
    pyfunc: Callable[..., Any] | None = None,
    otypes: Any = None,
    doc: str | None = None,
    excluded: Any = None,
    cache: bool = False,
    signature: str | None = None,
    **options: Any,
) -> Any:
    """`np.vectorize` with `up.map`'s gears: `pyfunc` over all elements of its arguments, broadcast.

    >>> import numpy as np, upshift as up
    >>> @up.vectorize
    ... def clipped(x, low):
    ...     return 0 if x < low else x
    >>> clipped([[-0.5], [2.5]], [0, 1])
    array([[0. , 0. ],
           [2.5, 2.5]])
    >>> up.vectorize(np.dot, signature="(n),(n)->()")(np.eye(2), [3.0, 4.0])
    array([3., 4.])

    Arguments mean what they mean to `np.vectorize`, in the same order; a decorator takes keywords. Results, too: 0-d
    arrays for scalars, a tuple of arrays where `pyfunc` returns a tuple, object arrays of what is no number or text.

    Elements are what `np.vectorize` passes: Python's own numbers, also for arrays (`1 / x` raises where x is 0.0, ints
    have no 64-bit limit); items of a list as they are; with a `signature`, arrays and NumPy scalars.

    Two things differ. Results are never cut to the first one's dtype: without `otypes` the dtype is NumPy's promotion
    over all results (Python floats, computed from a float32 array, stay float64: say `otypes="f"`). And `pyfunc` is
    called once for each element, with `cache=True` or without.

    Without `otypes`, no elements are a ValueError, as in NumPy. Arrays of a subclass (masked, matrix) are left to
    `np.vectorize` itself. Options are `up.map`'s: `gear`, `exact`, `on_error` ("skip" has no place in an array),
    `memory`, `randomness`, `seed`.
    """
    if options.get("on_error") == "skip":
        raise ValueError('on_error="skip" would leave holes in an array; use ("fill", value)')
    if pyfunc is not None:
        return Vectorized(pyfunc, otypes, doc, excluded, cache, signature, options)
    Vectorized(_nothing, otypes, doc, excluded, cache, signature, options)  # what is wrong is said at once
    return functools.partial(
        Vectorized, otypes=otypes, doc=doc, excluded=excluded, cache=cache, signature=signature, options=options
    )


def _nothing() -> None:
    """Stands for a function that is still to come."""


class Vectorized:
    """What `vectorize` makes of a function."""

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any,
        doc: str | None,
        excluded: Any,
        cache: bool,
        signature: str | None,
        options: dict[str, Any],
    ) -> None:
        pyfunc = plain_of(pyfunc)
        self.options = check_options("vectorize", pyfunc, options)
        functools.update_wrapper(self, pyfunc)
        self.pyfunc, self.cache, self.signature = pyfunc, cache, signature
        self.__doc__ = pyfunc.__doc__ if doc is None else doc
        self.otypes = None if otypes is None else [*map(_dtype, _listed(otypes))]
        self.excluded = frozenset(excluded or ())
        self.core = None if signature is None else _parse_signature(signature)
        self.partials = Partials(pyfunc)
        self.plain = not self.excluded and not options and self.otypes is None and self.core is None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        method = types.MethodType(self.pyfunc, instance)
        return Vectorized(method, self.otypes, self.__doc__, self.excluded, self.cache, self.signature, self.options)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        try:
            if self.plain and not keywords:
                numbers = _plain_numbers(args)
                if numbers is not None:
                    return self._finished(map_unboxed(self.pyfunc, numbers, None, False, "raise"), None)
            arguments, passed = Arguments(), []
            for i, value in enumerate(args):
                passed.append(arguments.share(value) if i in self.excluded else arguments.map(value))
            for name, value in keywords.items():
                passed.append(f"{name}={arguments.share(value) if name in self.excluded else arguments.map(value)}")
            if not arguments.columns and self.core is None:
                return self.pyfunc(*args, **keywords)
            f = self.partials.of(arguments, passed)
            if any(isinstance(x, np.ndarray) and type(x) not in (np.ndarray, np.memmap) for x in arguments.columns):
                return np.vectorize(f, otypes=self.otypes, cache=self.cache, signature=self.signature)(
                    *arguments.columns
                )
            return self._over_cores(f, arguments.columns) if self.core else self._over_scalars(f, arguments.columns)
        except BaseException as error:
            trim(error)
            raise

    # ---- elements that are scalars

    def _over_scalars(self, f: Callable[..., Any], values: list[Any]) -> Any:
        arrays = [_as_array(value) for value in values]
        shape = np.broadcast_shapes(*[array.shape for array in arrays])
        if not math.prod(shape):
            return self._of_nothing([shape] * len(self.otypes or ()))
        if self.otypes is not None and any(_is_object(dtype) for dtype in self.otypes):
            return self._of_objects(f, [_objects_of(_flat(array, shape)) for array in arrays], shape)
        columns = [_flat(array, shape) for array in arrays]
        numbers = [numbers_of(column) for column in columns]
        if self.options.keys() <= _UNBOXED_OPTIONS and all(column is not None for column in numbers):
            result = self._map_numbers(f, numbers)
        else:
            result = map_elements(f, *map(_objects_of, columns), **self.options)
        return self._finished(result, shape)

    def _map_numbers(self, f: Callable[..., Any], numbers: Sequence[Any]) -> Any:
        gear, on_error = self.options.get("gear"), self.options.get("on_error", "raise")
        if gear is not None and gear not in GEARS:
            raise UpshiftError(f"no gear named {gear!r}; there are {', '.join(GEARS)}")
        return map_unboxed(f, numbers, gear, self.options.get("exact", False), on_error)

    def _of_objects(self, f: Callable[..., Any], columns: list[Any], shape: tuple[int, ...]) -> Any:
        """Results that are to stay the very objects that the function gave."""
        gear, dtypes = self.options.get("gear"), self.otypes or []
        if gear not in (None, "loop"):
            raise GearRefused(Refusal(gear, "results that are to stay objects (otypes) are the plain function's"))
        results = run_loop(f, columns, self.options.get("on_error", "raise"))
        if len(dtypes) == 1:
            return _cast(results, dtypes[0]).reshape(shape)
        _check_count({len(r) if isinstance(r, tuple) else 1 for r in results}, len(dtypes))
        made = zip(*results, strict=True)
        return tuple(_cast(list(column), dtype).reshape(shape) for column, dtype in zip(made, dtypes, strict=True))

    def _finished(self, result: Any, shape: tuple[int, ...] | None) -> Any:
        """What `map` gave, as arrays of this shape (None: as they are) and of the dtypes that were asked for."""
        if shape is None and type(result) is np.ndarray and result.ndim == 1:
            return result
        shape = (-1,) if shape is None else shape
        if self.otypes is None:
            if isinstance(result, tuple):
                return tuple([_column(part).reshape(shape) for part in result])
            return _column(result).reshape(shape)
        if len(self.otypes) == 1 and not isinstance(result, tuple):
            return _cast(_column(result), self.otypes[0]).reshape(shape)
        _check_count({len(result) if isinstance(result, tuple) else 1}, len(self.otypes))
        return tuple(_cast(_column(x), dtype).reshape(shape) for x, dtype in zip(result, self.otypes, strict=True))

    def _of_nothing(self, shapes: list[tuple[int, ...]]) -> Any:
        if self.otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        empty = tuple(np.empty(shape, dtype) for shape, dtype in zip(shapes, self.otypes, strict=True))
        return empty[0] if len(empty) == 1 else empty

    # ---- elements that are arrays with named dimensions

    def _over_cores(self, f: Callable[..., Any], values: list[Any]) -> Any:
        assert self.core is not None
        inputs, outputs = self.core
        if len(values) != len(inputs):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {len(values)}")
        arrays = [np.asarray(value) for value in values]
        sizes: dict[str, int] = {}
        outer = []
        for i, (array, core) in enumerate(zip(arrays, inputs, strict=True)):
            _learn_sizes(sizes, core, array.shape, f"argument {i}")
            outer.append(array.shape[: array.ndim - len(core)])
        shape = np.broadcast_shapes(*outer)
        if not math.prod(shape):
            return self._of_nothing_with_cores(shape, sizes)
        columns = []
        for array, core in zip(arrays, inputs, strict=True):
            inner = tuple(sizes[name] for name in core)
            columns.append(np.broadcast_to(array, shape + inner).reshape(math.prod(shape), *inner))
        result = map_elements(f, *columns, **self.options)
        results = result if isinstance(result, tuple) else (result,)
        if len(results) != len(outputs) or isinstance(result, tuple) != (len(outputs) > 1):
            raise ValueError(f"wrong number of outputs from pyfunc: expected {len(outputs)}, got {len(results)}")
        dtypes: Sequence[Dtype | None] = self.otypes or [None] * len(outputs)
        made = [_with_core(*one, shape, sizes) for one in zip(results, outputs, dtypes, strict=True)]
        return made[0] if len(made) == 1 else tuple(made)

    def _of_nothing_with_cores(self, shape: tuple[int, ...], sizes: dict[str, int]) -> Any:
        assert self.core is not None
        for core in self.core[1]:
            if self.otypes is not None and any(name not in sizes for name in core):
                raise ValueError(
                    "cannot call `vectorize` with a signature including new output dimensions on size 0 inputs"
                )
        return self._of_nothing([shape + tuple(sizes.get(name, 0) for name in core) for core in self.core[1]])


def _plain_numbers(args: tuple[Any, ...]) -> list[Column] | None:
    """The arguments, where all are one-dimensional arrays of numbers of one length."""
    numbers = []
    for x in args:
        found = numbers_of(x) if type(x) is np.ndarray and x.ndim == 1 and len(x) == len(args[0]) > 0 else None
        if found is None:
            return None
        numbers.append(found)
    return numbers or None


_UNBOXED_OPTIONS = frozenset(("gear", "exact", "on_error"))


def _listed(otypes: Any) -> list[Any]:
    if not isinstance(otypes, str):
        try:
            return list(otypes)
        except TypeError:
            raise ValueError(f"Invalid otype specification: {otypes!r}") from None
    for char in otypes:
        if char not in np.typecodes["All"]:
            raise ValueError(f"Invalid otype specified: {char}")
    return list(otypes)


def _dtype(name: Any) -> Dtype:
    """The dtype; texts are as long as they have to be."""
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype.char if dtype.char in "SU" else dtype


def _is_object(dtype: Dtype) -> bool:
    return isinstance(dtype, np.dtype) and dtype.hasobject


def _check_count(found: set[int], expected: int) -> None:
    if found != {expected}:
        raise ValueError(f"otypes has {expected} entries, pyfunc returned {', '.join(map(str, sorted(found)))} results")


def _as_array(value: Any) -> Column:
    """An array of the elements that `np.vectorize` passes: those of an array, or objects."""
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.memmap):
        return value.view(np.ndarray)
    if type(value) in (float, int, bool):
        return np.asarray(value)
    if type(value) is list and len(classes := set(map(type, value))) == 1 and classes <= _PYTHON_NUMBERS:
        return np.asarray(value)
    return np.asarray(value, dtype=object)


_PYTHON_NUMBERS = frozenset((bool, int, float, complex))


def _flat(array: Column, shape: tuple[int, ...]) -> Column:
    return array.reshape(-1) if array.shape == shape else np.broadcast_to(array, shape).reshape(-1)


def _objects_of(column: Column) -> Any:
    """The elements as `np.vectorize` passes them."""
    return column.astype(object).tolist() if column.dtype.kind != "O" else column.tolist()


def _column(result: Any) -> Column:
    """One result for each element, as an array."""
    if type(result) is np.ndarray and result.ndim == 1:
        return result
    if type(result) is np.ndarray:
        raise _sequences(result[0])
    rows = _rows(result)
    for row in rows:
        if isinstance(row, list | tuple | np.ndarray):
            raise _sequences(row)
    objects = np.fromiter(rows, object, len(rows))
    classes = set(map(type, rows))
    return np.asarray(objects, dtype="U" if classes == {str} else "S" if classes == {bytes} else object)


def _sequences(row: Any) -> ValueError:
    return ValueError(
        f"setting an array element with a sequence: pyfunc returned {row!r} for one element; "
        'a signature such as "()->(n)" gives results an axis, otypes="O" keeps them as objects'
    )


def _rows(result: Any) -> list[Any]:
    """Columns of a container -> the containers that the function returned."""
    if type(result) is list:
        return result
    if type(result) is np.ndarray:
        return result.tolist() if result.ndim == 1 else list(result)
    found = parts(result)
    assert found is not None
    cls, keys, columns = found
    return [assemble(cls, keys, list(row)) for row in zip(*map(_rows, columns), strict=True)]


def _cast(column: Any, dtype: Dtype) -> Column:
    """The results as they were asked for, with the errors of Python's `int` and `float`, as in NumPy."""
    if isinstance(column, np.ndarray) and isinstance(dtype, np.dtype) and _casts_alike(column, dtype):
        return column.astype(dtype, copy=False)
    rows = column if isinstance(column, list) else column.tolist()
    return np.asarray(np.fromiter(rows, object, len(rows)), dtype=dtype)


def _casts_alike(column: Column, dtype: np.dtype[Any]) -> bool:
    """Whether an array's cast is that of its elements as Python's numbers, none of which raises."""
    if np.can_cast(column.dtype, dtype) or (column.dtype.kind == "f" and dtype.kind in "fb"):
        return True
    if column.dtype.kind not in "iuf" or dtype.kind not in "iu" or not len(column):
        return False
    limits = np.iinfo(dtype)
    low, high = column.min(), column.max()
    return bool(np.isfinite(low) and np.isfinite(high)) and limits.min <= int(low) and int(high) <= limits.max


_NAME = r"\w+"
_CORE = rf"\((?:{_NAME}(?:,{_NAME})*)?\)"
_SIGNATURE = rf"^{_CORE}(?:,{_CORE})*->{_CORE}(?:,{_CORE})*$"


def _parse_signature(signature: str) -> tuple[list[Core], list[Core]]:
    """The named dimensions of every input and output.

    >>> _parse_signature("(m,n),(n)->(m)")
    ([('m', 'n'), ('n',)], [('m',)])
    """
    compact = re.sub(r"\s+", "", signature)
    if not re.match(_SIGNATURE, compact):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    sides = [[tuple(re.findall(_NAME, core)) for core in re.findall(_CORE, side)] for side in compact.split("->")]
    return sides[0], sides[1]


def _learn_sizes(sizes: dict[str, int], core: Core, shape: tuple[int, ...], name: str) -> None:
    """Note how long the named dimensions are, which must not change."""
    if len(shape) < len(core):
        raise ValueError(f"{name} of shape {shape} does not have enough dimensions for all core dimensions {core}")
    for dimension, size in zip(core, shape[len(shape) - len(core) :], strict=True):
        if sizes.setdefault(dimension, size) != size:
            raise ValueError(
                f"inconsistent size for core dimension {dimension!r}: {size} in {name}, {sizes[dimension]} before"
            )


def _with_core(result: Any, core: Core, dtype: Dtype | None, shape: tuple[int, ...], sizes: dict[str, int]) -> Column:
    """One output of all elements."""
    if not core:
        result = _column(result)
    elif type(result) is not np.ndarray or result.ndim != 1 + len(core):
        got = f"of shape {result.shape[1:]}" if type(result) is np.ndarray else "of different shapes"
        raise ValueError(f"pyfunc returned results {got} for the core dimensions {core}")
    _learn_sizes(sizes, core, result.shape[1:], "the result")
    made: Column = result.reshape(shape + result.shape[1:])
    return made if dtype is None else made.astype(dtype)
