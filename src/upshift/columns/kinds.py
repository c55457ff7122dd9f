"""A number in, its kind out: the scalar type that decides what arithmetic means, and the dtype of its column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True, eq=False, slots=True)
class Kind:
    """One kind of scalar. Kinds are interned: compare them with `is`.

    A Python float and a np.float64 share a dtype and differ in meaning (`1/0.0` raises or is inf): two kinds.
    """

    name: str
    dtype: np.dtype[Any]
    python: bool

    def scalars(self, column: Column) -> list[Any]:
        """The column's lanes as the very objects the loop would see."""
        return column.tolist() if self.python else list(column)

    def __repr__(self) -> str:
        return self.name


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
        dtype = dtype.newbyteorder("=")
        kind = _BY_DTYPE.setdefault(dtype, Kind(f"np.{dtype.name}", dtype, False))
    return kind


def kind_of(value: object) -> Kind | None:
    """The kind of a number, None for anything else."""
    kind = _BY_TYPE.get(type(value))
    if kind is None and isinstance(value, np.generic):
        kind = kind_of_dtype(value.dtype)
        if kind is not None and kind.dtype.kind not in "mM":  # times of one class have many units
            _BY_TYPE[type(value)] = kind
    return kind


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
