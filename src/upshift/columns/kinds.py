"""The kind of a value: what decides what arithmetic on it means, and the dtype and shape of its column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[Any]
else:  # NumPy's types take a millisecond to load
    Column = np.ndarray

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

RTOL = {2: 1e-2, 4: 1e-5, 8: 1e-9, 16: 1e-9}
"""How far a float may be off, relative, by the bytes of its (real) dtype, where `exact` is not asked for."""


@dataclass(frozen=True, eq=False, slots=True)
class Kind:
    """One kind of number, or of array. Kinds are interned: compare them with `is`.

    A Python float and a np.float64 share a dtype and differ in meaning (`1/0.0` raises or is inf): two kinds.
    """

    name: str
    dtype: np.dtype[Any]
    python: bool
    shape: tuple[int, ...] | None = None
    """Of arrays; None for numbers. A 0-d array is no number: its shape is ()."""
    parts: tuple[Kind, ...] | None = None
    """The kinds of several values that are made together."""

    @property
    def lane_shape(self) -> tuple[int, ...]:
        """What a column of this kind has behind its first axis."""
        return self.shape or ()

    def scalars(self, column: Column) -> list[Any]:
        """The column's lanes as the very objects the loop would see."""
        if self.shape == ():
            return [column[i, ...] for i in range(len(column))]
        return column.tolist() if self.python else list(column)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:  # there is one of each in every process
        return _interned, (self.name, self.dtype, self.shape, self.parts)


def _interned(name: str, dtype: np.dtype[Any], shape: tuple[int, ...] | None, parts: tuple[Kind, ...] | None) -> Any:
    """The kind of this process that one of another process stands for."""
    if parts is not None:
        return bundle_kind(parts)
    if shape is not None:
        return array_kind(dtype, shape)
    return next((kind for kind in _BY_TYPE.values() if kind.python and kind.name == name), None) or kind_of_dtype(dtype)


BOOL = Kind("bool", np.dtype(np.bool_), True)
INT = Kind("int", np.dtype(np.int64), True)
FLOAT = Kind("float", np.dtype(np.float64), True)
COMPLEX = Kind("complex", np.dtype(np.complex128), True)

_BY_TYPE: dict[type, Kind] = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}
_BY_DTYPE: dict[np.dtype[Any], Kind] = {}
NUMERIC = "biufcmM"


def kind_of_dtype(dtype: np.dtype[Any]) -> Kind | None:
    """The kind of an array's elements, None where they are no numbers."""
    kind = _BY_DTYPE.get(dtype)
    if kind is None:
        if dtype.kind not in NUMERIC:
            return None
        dtype = _native(dtype)
        kind = _BY_DTYPE.setdefault(dtype, Kind(f"np.{dtype.name}", dtype, False))
    return kind


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same in this machine's byte order; NumPy's own object where it has one, which is the quickest to compare."""
    return np.dtype(dtype.char) if dtype.kind in "biufc" else dtype.newbyteorder("=")


def kind_of(value: object) -> Kind | None:
    """The kind of a number, None for anything else."""
    kind = _BY_TYPE.get(type(value))
    if kind is None and isinstance(value, np.generic):
        kind = kind_of_dtype(value.dtype)
        if kind is not None and kind.dtype.kind not in "mM":  # times of one class have many units
            _BY_TYPE[type(value)] = kind
    return kind


_ARRAYS: dict[tuple[np.dtype[Any], tuple[int, ...]], Kind] = {}


def array_kind(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Kind | None:
    """The kind of arrays of this dtype and shape; None where they do not hold numbers."""
    found = _ARRAYS.get((dtype, shape))
    if found is None:
        if dtype.kind not in NUMERIC:
            return None
        dtype = _native(dtype)
        name = f"{dtype.name}[{','.join(map(str, shape))}]"
        found = _ARRAYS.setdefault((dtype, shape), Kind(name, dtype, False, shape))
    return found


_BUNDLES: dict[tuple[Kind, ...], Kind] = {}


def bundle_kind(kinds: tuple[Any, ...]) -> Kind:
    """The kind of several values that one call makes."""
    return _BUNDLES.setdefault(kinds, Kind("several", np.dtype(object), False, None, kinds))


def kind_of_value(value: object) -> Kind | None:
    """The kind of a number or of an array of numbers, None for anything else."""
    if type(value) is np.ndarray:
        return array_kind(value.dtype, value.shape)
    return kind_of(value)


def kind_of_type(cls: type) -> Kind | None:
    """The kind of all numbers of this class; None where it does not say (datetime64 has units) or is no number's."""
    kind = _BY_TYPE.get(cls)
    if kind is None and issubclass(cls, np.generic) and not issubclass(cls, (np.datetime64, np.timedelta64)):
        return kind_of_dtype(np.dtype(cls))
    return kind


def promote(kinds: Iterable[Kind]) -> np.dtype[Any] | None:
    """The dtype that holds all these kinds, by NumPy's promotion; None where NumPy knows none."""
    try:
        return np.result_type(*{kind.dtype for kind in kinds})
    except TypeError:
        return None


def fits_int64(value: int) -> bool:
    """Whether a Python int has a place in an int64 column."""
    return INT64_MIN <= value <= INT64_MAX
