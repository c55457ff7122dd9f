"""One element's tensor as a NumPy number or array that behaves like a tensor, dtypes too.

`value` may be a trace's lane value, which answers `isinstance` and `__class__` as its number would. What TensorFlow
computes by kernels of its own, or refuses, raises here: then the function is left to the loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import EllipsisType, NoneType
from typing import Any

import numpy as np
import tensorflow as tf

from ..trace.arraylike import as_ufunc
from ..trace.lane import is_lane

SMALL = ("int8", "uint8", "int16", "uint16")
"""Integers that TensorFlow divides as float32; others are divided as float64."""

OPERATORS = frozenset(
    (np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder, np.power, np.equal, np.not_equal,
     np.less, np.less_equal, np.greater, np.greater_equal, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.matmul)
)  # fmt: skip


class NotNumbers(TypeError):
    """Something is done with a tensor that only TensorFlow can answer."""


class Shape(tuple[int, ...]):
    """What `tf.TensorShape` is for an eager tensor: a tuple that lists are equal to."""

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(self)

    ndims = rank

    def as_list(self) -> list[int]:
        """The lengths, as `tf.TensorShape` gives them."""
        return list(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | tuple) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


class Element:
    """A tensor's numbers; `value` is a NumPy scalar or array."""

    __slots__ = ("value",)
    __array_priority__ = 100
    _up_aware = True
    """To a trace: this class is written for lane values."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @staticmethod
    def of(value: Any) -> Element:
        """An element of a number or an array; in a trace, one that records."""
        return LaneElement(value) if is_lane(value) else Element(value)

    def _made(self, value: Any) -> Element:
        return Element.of(value)

    # ---- out of TensorFlow

    def numpy(self) -> Any:
        """The number, or a copy of the array, as `tf.Tensor.numpy` gives it."""
        return self.value.copy() if self.value.ndim else self.value

    def _up_numbers(self) -> Any:
        """What `float(x)`, `math.sin(x)`, `np.sum(x)` see in a trace."""
        return self.value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value, dtype)

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        return operator.index(self._number())

    def __bool__(self) -> bool:
        return bool(self._number())

    def __format__(self, spec: str) -> str:
        return format(self._number(), spec)

    def __repr__(self) -> str:
        raise NotNumbers("a tensor is written down")

    def _number(self) -> Any:
        if self.value.ndim:
            raise NotNumbers("an array is taken for a number")
        return self.value

    # ---- parts

    @property
    def shape(self) -> Shape:
        return Shape(self.value.shape)

    def get_shape(self) -> Shape:
        """Its shape, as older code asks for it."""
        return Shape(self.value.shape)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return int(self.value.ndim)

    @property
    def dtype(self) -> tf.DType:
        """TensorFlow's dtype."""
        return tf.as_dtype(self.value.dtype)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Element]:
        for i in range(len(self.value)):
            yield self._made(self.value[i])

    def __getitem__(self, key: Any) -> Element:
        keys = key if type(key) is tuple else (key,)
        for one in keys:
            if isinstance(one, bool) or not isinstance(one, int | slice | EllipsisType | NoneType):
                raise NotNumbers("a part is taken by something else than integers and slices")
        return self._made(self.value[key])

    # ---- arithmetic

    def _with(self, compute: Callable[[Any, Any], Any], other: Any, kinds: str) -> Element:
        return self._computed(compute, self.value, _beside(self.value.dtype, other, kinds))

    def _behind(self, compute: Callable[[Any, Any], Any], other: Any, kinds: str) -> Element:
        return self._computed(compute, _beside(self.value.dtype, other, kinds), self.value)

    def _computed(self, compute: Callable[..., Any], *operands: Any) -> Element:
        with np.errstate(all="ignore"):  # TensorFlow never warns
            return self._made(compute(*operands))

    def __add__(self, other: Any) -> Element:
        return self._with(operator.add, other, "iufc")

    def __radd__(self, other: Any) -> Element:
        return self._behind(operator.add, other, "iufc")

    def __sub__(self, other: Any) -> Element:
        return self._with(operator.sub, other, "iufc")

    def __rsub__(self, other: Any) -> Element:
        return self._behind(operator.sub, other, "iufc")

    def __mul__(self, other: Any) -> Element:
        return self._with(operator.mul, other, "iufc")

    def __rmul__(self, other: Any) -> Element:
        return self._behind(operator.mul, other, "iufc")

    def __truediv__(self, other: Any) -> Element:
        return self._with(_divided, other, "iufc")

    def __rtruediv__(self, other: Any) -> Element:
        return self._behind(_divided, other, "iufc")

    def __floordiv__(self, other: Any) -> Element:
        return self._with(_floored, other, "iu")

    def __mod__(self, other: Any) -> Element:
        return self._with(_remainder, other, "iu")

    def __pow__(self, other: Any) -> Element:
        if self.value.dtype.kind != "f" or type(other) not in (int, float) or other not in (2, 3):
            raise NotNumbers("a power that TensorFlow computes in a way of its own")
        return self * self if other == 2 else self * self * self

    def __and__(self, other: Any) -> Element:
        return self._with(operator.and_, other, "biu")

    def __or__(self, other: Any) -> Element:
        return self._with(operator.or_, other, "biu")

    def __xor__(self, other: Any) -> Element:
        return self._with(operator.xor, other, "biu")

    def __invert__(self) -> Element:
        if self.value.dtype.kind != "b":
            raise NotNumbers("TensorFlow inverts truths only")
        return self._made(~self.value)

    def __neg__(self) -> Element:
        return self._signed(operator.neg)

    def __abs__(self) -> Element:
        return self._signed(operator.abs)

    def _signed(self, compute: Callable[[Any], Any]) -> Element:
        if self.value.dtype.kind not in "if":
            raise NotNumbers("TensorFlow does not compute this with such numbers")
        return self._computed(compute, self.value)

    # ---- comparisons

    def __lt__(self, other: Any) -> Element:
        return self._with(operator.lt, other, "iuf")

    def __le__(self, other: Any) -> Element:
        return self._with(operator.le, other, "iuf")

    def __gt__(self, other: Any) -> Element:
        return self._with(operator.gt, other, "iuf")

    def __ge__(self, other: Any) -> Element:
        return self._with(operator.ge, other, "iuf")

    def __eq__(self, other: Any) -> Element:  # type: ignore[override]
        return self._with(operator.eq, other, "biufc")

    def __ne__(self, other: Any) -> Element:  # type: ignore[override]
        return self._with(operator.ne, other, "biufc")

    __hash__ = None  # type: ignore[assignment]


class LaneElement(Element):
    """An element in a trace."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **keywords: Any) -> Any:
        """Without this NumPy would ask for a true array; with it, `np.add(a, x)` and `a + x` look the same."""
        if ufunc in OPERATORS and isinstance(args[0], np.ndarray | np.generic):
            raise NotNumbers("an array of NumPy stands on the left of a tensor")
        return as_ufunc(self, ufunc, method, *args, **keywords)


def _beside(dtype: np.dtype[Any], other: Any, kinds: str) -> Any:
    """The other operand, as TensorFlow converts it: to the dtype of the tensor."""
    if dtype.kind not in kinds:
        raise NotNumbers("TensorFlow does not compute this with such numbers")
    if isinstance(other, Element):
        if other.value.dtype != dtype:
            raise NotNumbers("two tensors have different dtypes")
        return other.value
    if isinstance(other, tf.Tensor):
        return _beside(dtype, Element(other.numpy()), kinds)
    if isinstance(other, np.ndarray | np.generic):
        if dtype.kind not in "fc" and other.dtype.kind != dtype.kind:
            raise NotNumbers("a tensor meets an array of NumPy that it does not hold without loss")
        return other.astype(dtype)
    if not _fits(other, dtype):
        raise NotNumbers("a tensor meets something that is no number of its dtype")
    return other  # Python's numbers take on the dtype of what they meet, as in TensorFlow


def _fits(number: Any, dtype: np.dtype[Any]) -> bool:
    if isinstance(number, bool):
        return dtype.kind == "b"
    if isinstance(number, int) and dtype.kind in "iu":
        return bool(np.iinfo(dtype).min <= number <= np.iinfo(dtype).max)
    return isinstance(number, int | float) and dtype.kind in "fc"


def _divided(a: Any, b: Any) -> Any:
    return _as_floats(a) / _as_floats(b)


def _as_floats(number: Any) -> Any:
    if not isinstance(number, np.ndarray | np.generic) or number.dtype.kind not in "iu":
        return number
    return number.astype(np.float32 if number.dtype.name in SMALL else np.float64)


def _floored(a: Any, b: Any) -> Any:
    return a // _no_zero(b)


def _remainder(a: Any, b: Any) -> Any:
    return a % _no_zero(b)


def _no_zero(divisor: Any) -> Any:
    if np.any(divisor == 0):
        raise NotNumbers("a division by zero")
    return divisor
