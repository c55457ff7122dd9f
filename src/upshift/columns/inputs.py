"""Reads the caller's arguments: elements for the loop, columns of numbers for the other gears."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LengthError
from .forms import LEAF, Form, assemble, field_names, flatten, is_leaf, is_namedtuple, parts
from .kinds import FLOAT, INT, Column, Kind, array_kind, fits_int64, kind_of_dtype, kind_of_type, kind_of_value
from .layout import copy_as_it_lies
from .list_reader import numbers_in
from .unboxed import KINDS, Unboxed, numbers_of

Elements = Sequence[Any] | Column


class Rows(Sequence[Any]):
    """A table, seen as a sequence of its rows; whoever knows which fields are read is given their columns."""

    kind: Any = None
    """What decides how fast its rows are mapped: the dtypes of its columns."""

    def field(self, how: str, name: Any) -> Elements:
        """The column that reading a field of every row gives; `NotFields` where rows are not read so."""
        raise NotImplementedError


class Records(Sequence[Any]):
    """A record of columns, seen as a sequence of records: element i holds element i of every column."""

    def __init__(self, cls: type, keys: tuple[Any, ...], columns: list[Elements]) -> None:
        self.cls, self.keys, self.columns = cls, keys, columns
        try:
            self.length = common_length(columns)
        except LengthError as error:
            if cls is tuple:
                error.add_note("a tuple of arrays is a record of columns: to map over the arrays, pass a list of them")
            raise

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return Records(self.cls, self.keys, [column[i] for column in self.columns])
        return assemble(self.cls, self.keys, [column[i] for column in self.columns])

    def __iter__(self) -> Iterator[Any]:
        first = iter(self.columns[0])
        for row in zip(first, *self.columns[1:], strict=False):
            yield assemble(self.cls, self.keys, list(row))


def elements_of(xs: object) -> Elements:
    """The elements that iterating `xs` yields, with a length and random access; iterators are consumed, once.

    A record of columns is seen as a sequence of records.
    """
    if isinstance(xs, np.memmap):
        xs = xs.view(np.ndarray)
    if isinstance(xs, np.ndarray):
        if xs.ndim == 0:
            raise TypeError(f"cannot map over a zero-dimensional array: {xs!r}")
        if xs.ndim > 1:
            return protected(xs)  # type: ignore[no-any-return]
        return xs.tolist() if xs.dtype.kind == "O" else xs
    if is_record(xs):
        found = parts(dict(xs) if isinstance(xs, dict) else xs)
        if found is not None and found[1]:
            cls, keys, columns = found
            return Records(cls, keys, [elements_of(column) for column in columns])
        raise TypeError(f"cannot map over an empty record: {xs!r}")
    if isinstance(xs, list | tuple | range):
        return _all_protected(xs) if len(xs) and isinstance(xs[0], np.ndarray) else xs
    if isinstance(xs, Unboxed | Rows):
        return xs
    if hasattr(type(xs), "__iter__"):  # what isinstance(xs, Iterable) asks, without its taking note of the class
        made = listed(xs)
        return elements_of(made if isinstance(made, Unboxed) else list(made))
    raise TypeError(f"cannot map over {xs!r}: it has no elements")


def is_record(xs: Any) -> bool:
    """Whether this is a record of columns: a dict, named tuple or dataclass, or a plain tuple of nothing but arrays."""
    if type(xs) is tuple:
        return len(xs) > 0 and getattr(xs[0], "ndim", 0) > 0 and all(getattr(x, "ndim", 0) > 0 for x in xs)
    return isinstance(xs, dict) or is_namedtuple(xs) or (dataclasses.is_dataclass(xs) and not isinstance(xs, type))


def listed(xs: Any) -> Any:
    """What iterating some columns yields, in a fraction of the time that it takes: a series of pandas as a list, an
    `array.array` or bytes as their numbers; any other column as it is."""
    module = type(xs).__module__.partition(".")[0]
    if module == "array" or type(xs) in (bytes, bytearray):
        numbers = numbers_of(np.array(memoryview(xs)))
        return xs if numbers is None else Unboxed(numbers)
    of_pandas = module == "pandas" and isinstance(getattr(xs, "dtype", None), np.dtype)
    return xs.tolist() if of_pandas else xs


def protected(array: Any) -> Any:
    """The caller's array, not to be written to: a function that writes into its element is given a copy."""
    if not isinstance(array, np.ndarray) or not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _all_protected(xs: Sequence[Any]) -> list[Any]:
    """The same for many arrays, in an eighth of the time."""
    if set(map(type, xs)) != {np.ndarray}:
        return [*map(protected, xs)]
    views = [x.view() for x in xs]
    for view in views:
        view.setflags(False)  # write; by keyword it takes twice as long
    return views


def copied(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of arguments with arrays of its own, which a function may write into."""
    return tuple([_copied(value) for value in row])


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return copy_as_it_lies(value)
    if isinstance(value, np.void):
        return value.copy()
    found = parts(value)
    if found is None or not any(isinstance(leaf, np.ndarray) for leaf in flatten(value)[1]):
        return value
    cls, keys, children = found
    return assemble(cls, keys, [_copied(child) for child in children])


def common_length(columns: Sequence[Elements]) -> int:
    """The length of all columns; an error that names both where two differ."""
    lengths = [len(column) for column in columns]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise LengthError(
                f"columns of unequal length: {lengths[0]} and {length} "
                f"(column 0 has {lengths[0]} elements, column {i} has {length})"
            )
    return lengths[0]


@dataclass(frozen=True, slots=True)
class Lanes:
    """Elements as columns: the form of one element's arguments, and for every leaf its column and kind."""

    form: Form
    columns: tuple[Column, ...]
    kinds: tuple[Kind, ...]
    layouts: tuple[Any, ...] = ()
    """How the array of each leaf lies in memory: what is a view, and the bits of products, depend on it."""
    fresh: tuple[bool, ...] = ()
    """For every argument, whether the loop makes each element anew, so that a function may change it."""

    @property
    def signature(self) -> tuple[Any, ...]:
        """What a tree is traced for: the same signature, the same steps."""
        return self.form, self.kinds, self.layouts, self.fresh


@dataclass(frozen=True, slots=True)
class Group:
    """Elements of one signature: their positions (None: all) and lanes (None: they are the plain function's)."""

    index: Column | None
    lanes: Lanes | None
    reason: str = ""


def lanes_of(columns: Sequence[Elements]) -> list[Group]:
    """Rows of arguments, grouped so that every group is homogeneous columns of numbers."""
    fresh = tuple(isinstance(column, Records | np.ndarray | range) for column in columns)
    try:
        return [Group(None, _lanes(columns, fresh))]
    except _NoNumbers as reason:
        return [Group(None, None, str(reason))]
    except _Mixed:
        pass
    by_class = _by_class(columns)
    if by_class is not None:
        return [_group(columns, index, fresh) for index in by_class]
    signatures: dict[Any, list[int]] = {}
    computed: dict[type, bool] = {}
    for i, row in enumerate(zip(*columns, strict=True)):
        signatures.setdefault(tuple(_signature(element, computed) for element in row), []).append(i)
    return [_group(columns, np.array(index), fresh) for index in signatures.values()]


def _by_class(columns: Sequence[Elements]) -> list[Column] | None:
    """Positions of rows whose elements are of the same classes, in order; None where classes do not tell enough."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if isinstance(column, range) or (
            isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype != object
        ):
            continue
        if type(column) not in (list, tuple):
            return None
        classes = list(map(type, column))
        numbers = {cls: i for i, cls in enumerate(dict.fromkeys(classes))}
        if not all(cls in _PLAIN or kind_of_type(cls) is not None for cls in numbers):
            return None
        if int in numbers and not all(map(fits_int64, [x for x in column if type(x) is int])):
            return None
        codes = codes * len(numbers) + np.fromiter(map(numbers.__getitem__, classes), np.int64, len(classes))
    _, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return [np.flatnonzero(inverse == i) for i in np.argsort(firsts).tolist()]


_PLAIN = (type(None), str, bytes)
"""Classes of which all elements are the plain function's."""


def _group(columns: Sequence[Elements], index: Column, fresh: tuple[bool, ...]) -> Group:
    try:
        return Group(index, _lanes([take(column, index) for column in columns], fresh))
    except _Mixed as mixed:
        return Group(index, None, str(mixed))


def take(column: Elements, index: Column) -> Elements:
    """Some elements of a column, by position; arrays among them lie in memory as they did."""
    if isinstance(column, np.ndarray) and (column.ndim == 1 or (len(column) and column[0].flags.c_contiguous)):
        return column[index]
    return [column[i] for i in index.tolist()]


def _lanes(columns: Sequence[Elements], fresh: tuple[bool, ...]) -> Lanes:
    """Columns of one kind each as lanes, or `_Mixed`."""
    found = _join([_homogeneous(column) for column in columns], fresh)
    if not found.columns:
        raise _NoNumbers("elements hold no numbers")
    return found


def _join(arguments: list[Lanes], fresh: tuple[bool, ...] = ()) -> Lanes:
    form = Form(tuple, tuple(range(len(arguments))), tuple(lanes.form for lanes in arguments))
    leaves = [leaf for lanes in arguments for leaf in lanes.columns]
    kinds = [kind for lanes in arguments for kind in lanes.kinds]
    layouts = [layout for lanes in arguments for layout in lanes.layouts]
    return Lanes(form, tuple(leaves), tuple(kinds), tuple(layouts), fresh)


class _Mixed(Exception):
    """These elements are not homogeneous numbers; the text says what they are."""


class _NoNumbers(_Mixed):
    """Not one of them is, as far as a few tell."""


def _homogeneous(elements: Elements) -> Lanes:
    """One column's elements as lanes, or `_Mixed`."""
    if isinstance(elements, np.ndarray):
        return _from_array(elements)
    if isinstance(elements, Records):
        return _from_parts(elements.cls, elements.keys, elements.columns)
    if isinstance(elements, range):
        return _from_range(elements)
    if isinstance(elements, Unboxed):
        return Lanes(LEAF, (elements.array,), (KINDS[elements.array.dtype.kind],), (None,))
    if isinstance(elements, Rows):
        raise _NoNumbers("elements are rows of a table, not numbers")
    if type(elements) in (list, tuple):
        column = numbers_in(elements)
        if column is not None:
            return Lanes(LEAF, (column,), (FLOAT if column.dtype.kind == "f" else INT,), (None,))
    few = elements[:: max(len(elements) // 8, 1)]
    if len(elements) and all(kind_of_value(element) is None and is_leaf(type(element)) for element in few):
        raise _NoNumbers(f"elements are of class {type(elements[0]).__name__}, not numbers")
    classes = set(map(type, elements))
    if len(classes) != 1:
        names = sorted(cls.__name__ for cls in classes)
        raise _Mixed(f"elements are of different classes: {', '.join(names[:4])}")
    cls = classes.pop()
    if kind_of_type(cls) is not None or issubclass(cls, np.datetime64 | np.timedelta64):
        return _from_numbers(elements, cls)
    if cls is np.ndarray:
        return _from_arrays(elements)
    if is_leaf(cls):
        raise _NoNumbers(f"elements are of class {cls.__name__}, not numbers")
    return _from_parts(cls, *_columns_of(elements, cls))


def _columns_of(elements: Elements, cls: type) -> tuple[tuple[Any, ...], list[Elements]]:
    """The keys of records of one class, and a column for each of them, or `_Mixed`."""
    if cls is dict:
        keys = tuple(elements[0])
        if set(map(tuple, elements)) != {keys}:
            raise _Mixed("elements of class dict have different lengths or keys")
        return keys, [list(map(operator.itemgetter(key), elements)) for key in keys]
    if issubclass(cls, tuple | list):
        width = len(elements[0])
        if set(map(len, elements)) != {width}:
            raise _Mixed(f"elements of class {cls.__name__} have different lengths or keys")
        keys = getattr(cls, "_fields", tuple(range(width)))
        return keys, [list(map(operator.itemgetter(i), elements)) for i in range(width)]
    if cls is np.void:
        if not elements[0].dtype.names or len({element.dtype for element in elements}) != 1:
            raise _Mixed("elements are of several structured dtypes")
        return elements[0].dtype.names, [[element[name] for element in elements] for name in elements[0].dtype.names]
    names = field_names(cls)
    if _are_computed(cls, names):
        raise _Mixed(f"elements of class {cls.__name__} compute their attributes")
    try:
        return names, [list(map(operator.attrgetter(name), elements)) for name in names]
    except AttributeError:
        raise _Mixed(f"some elements of class {cls.__name__} lack an attribute") from None


def _are_computed(cls: type, names: tuple[str, ...]) -> bool:
    """Whether reading a dataclass's fields runs code of the user's, which may do more than that."""
    own = [isinstance(getattr(cls, name, None), types.FunctionType) for name in ("__getattr__", "__getattribute__")]
    fields = [hasattr(type(inspect.getattr_static(cls, name, None)), "__get__") for name in names]
    slots = [isinstance(inspect.getattr_static(cls, name, None), types.MemberDescriptorType) for name in names]
    return any(own) or any(field and not slot for field, slot in zip(fields, slots))


def _from_array(array: Column) -> Lanes:
    if array.ndim > 1 and type(array) is np.ndarray:
        of_arrays = array_kind(array.dtype, array.shape[1:])
        if of_arrays is None:
            raise _Mixed(f"elements are arrays of dtype {array.dtype}, not numbers")
        if not array.dtype.isnative:
            raise _Mixed("elements are arrays in another byte order than this machine's")
        return Lanes(LEAF, (array,), (of_arrays,), (array.strides[1:],))
    if type(array) is not np.ndarray:
        raise _Mixed(f"elements are of a {type(array).__name__}")
    if array.dtype.names:
        names = array.dtype.names
        return _from_parts(np.void, names, [array[name] for name in names])
    kind = kind_of_dtype(array.dtype)
    if kind is None:
        raise _Mixed(f"elements are of dtype {array.dtype}, not numbers")
    return Lanes(LEAF, (array if array.dtype.isnative else array.astype(kind.dtype),), (kind,), (None,))


class Stacked:
    """A list of arrays of one kind, seen as a column: stacked piece by piece, as pieces are asked for."""

    def __init__(self, arrays: Sequence[Column], kind: Kind) -> None:
        self.arrays, self.dtype, self.shape = arrays, kind.dtype, (len(arrays), *kind.lane_shape)
        self.ndim = len(self.shape)

    def __len__(self) -> int:
        return len(self.arrays)

    def __getitem__(self, where: Any) -> Column:
        if isinstance(where, slice):
            return np.stack(self.arrays[where]).astype(self.dtype, copy=False)
        return np.stack([self.arrays[i] for i in where.tolist()]).astype(self.dtype, copy=False)


def _from_arrays(arrays: Sequence[Column]) -> Lanes:
    kinds = {(kind_of_value(array), array.strides, array.dtype.isnative) for array in arrays}
    if len(kinds) != 1:
        raise _Mixed("elements are arrays of different shapes, dtypes or layouts")
    kind, strides, native = kinds.pop()
    if not native:
        raise _Mixed("elements are arrays in another byte order than this machine's")
    if kind is None:
        raise _Mixed(f"elements are arrays of dtype {arrays[0].dtype}, not numbers")
    column: Any = Stacked(arrays, kind)
    return Lanes(LEAF, (column,), (kind,), (strides,))


def _from_range(numbers: range) -> Lanes:
    if not len(numbers) or not all(map(fits_int64, (numbers[0], numbers[-1], numbers.step))):
        return _from_numbers(list(numbers), int)
    column = np.arange(len(numbers), dtype=np.int64) * numbers.step + numbers.start  # what wraps around wraps back
    return Lanes(LEAF, (column,), (INT,), (None,))


def _from_numbers(numbers: Sequence[Any], cls: type) -> Lanes:
    kind = kind_of_type(cls)
    try:
        column = np.array(numbers, dtype=None if kind is None else kind.dtype)
    except OverflowError:
        raise _Mixed("some ints are beyond 64 bits") from None
    kind = kind or kind_of_dtype(column.dtype)
    if kind is None:
        raise _Mixed(f"elements are of class {cls.__name__}, not numbers")
    if cls is np.datetime64 or cls is np.timedelta64:
        units = {number.dtype for number in numbers}
        if len(units) != 1:
            raise _Mixed("elements have different units of time")
    return Lanes(LEAF, (column,), (kind,), (None,))


def _from_parts(cls: type, keys: tuple[Any, ...], columns: Sequence[Elements]) -> Lanes:
    children = [_homogeneous(column) for column in columns]
    joined = _join(children)
    return Lanes(Form(cls, keys, joined.form.children), joined.columns, joined.kinds, joined.layouts)


def _signature(element: object, computed: dict[type, bool]) -> Any:
    """What two elements must share to be lanes of one group."""
    if type(element) is int and not fits_int64(element):
        return "int beyond 64 bits"
    kind = kind_of_value(element)
    if kind is not None:
        return (kind, element.strides) if isinstance(element, np.ndarray) else kind
    own: type = type(element)
    if own not in computed:
        computed[own] = dataclasses.is_dataclass(own) and _are_computed(own, field_names(own))
    found = None if computed[own] else parts(element)
    if found is None:
        return own
    cls, keys, children = found
    return cls, keys, tuple(_signature(child, computed) for child in children)
