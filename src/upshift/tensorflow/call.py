"""A checked call of a map: its columns, how many elements they hold, and these one at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record
from tensorflow.python.framework.composite_tensor import CompositeTensor
from tensorflow.python.framework.type_spec import BatchableTypeSpec

from .bridge import as_array, as_tensor

AT_ONCE = 1024
"""Elements that are unstacked together."""


@dataclass(frozen=True)
class Call:
    """One call of `map_fn`: the function, what its elements are built like, and their columns."""

    fn: Callable[..., Any]
    elems: Any
    leaves: tuple[Any, ...]
    signature: Any
    n: int | None
    """How many elements there are; None where only a graph will know."""
    dense_results: bool = False
    """Whether rows of a ragged column that are all as long make a tensor, as in `tf.vectorized_map`; in others `None`
    may be a result."""
    lenient: bool = False
    """Whether results that cannot be stacked are given as a list, as in `up.map`."""
    loop: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
    """A function of several arguments, and the elements of each, which the loop goes through instead."""
    begun: tuple[Any, ...] = ()
    """What the function gave for the first element, where it has been called already."""
    around: Callable[[Any], Any] | None = None
    """Makes `fn` of such a function: of one that AutoGraph has converted, where a graph is made."""

    @property
    def is_concrete(self) -> bool:
        """Whether all elements have their numbers."""
        parts = tf.nest.flatten(self.leaves, expand_composites=True)
        return bool(tf.executing_eagerly()) and all(hasattr(part, "_numpy") for part in parts)

    @property
    def is_dense(self) -> bool:
        """Whether all columns are tensors: none is ragged, and none is sparse."""
        return all(isinstance(leaf, tf.Tensor) for leaf in self.leaves)

    @cached_property
    def specs(self) -> tuple[Any, ...]:
        """Of one element, leaf by leaf."""
        return tuple(tf.type_spec_from_value(leaf)._unbatch() for leaf in self.leaves)

    def pack(self, leaves: Any) -> Any:
        """Leaves of one element, as the function takes them."""
        if self.elems is self.leaves[0]:
            return leaves[0]
        if is_flat(self.elems):
            return tuple(leaves)
        return tf.nest.pack_sequence_as(self.elems, list(leaves))

    def rows(self, start: int = 0, most: int | None = None) -> Iterator[Any]:
        """The elements, one at a time."""
        n = self.n or 0
        stop = n if most is None else min(start + most, n)
        for low in range(start, stop, AT_ONCE):
            high = min(low + AT_ONCE, stop)
            if not self.is_dense and record.could_possibly_record():
                parts = [column[low:high] for column in self._recorded]
            else:
                parts = [_unstacked(leaf, low, high) for leaf in self.leaves]
            yield from map(self.pack, zip(*parts, strict=True))

    def first(self, n: int) -> Call:
        """The same call of the first elements."""
        leaves = tuple(leaf[:n] for leaf in self.leaves)
        return dataclasses.replace(self, elems=self.pack(leaves), leaves=leaves, n=n)

    @cached_property
    def _recorded(self) -> list[list[Any]]:
        """All elements of every column, by one operation for each: gradients of parts of variants cannot be added."""
        return [_unstacked(leaf, 0, self.n or 0) for leaf in self.leaves]

    def row(self, i: int) -> Any:
        """A concrete element, on which no tape looks."""
        return self.pack([element_of(leaf, i) for leaf in self.leaves])


def _unstacked(column: Any, low: int, high: int) -> list[Any]:
    if isinstance(column, tf.Tensor):
        whole = low == 0 and high == column.shape[0]
        return list(tf.unstack(column if whole else column[low:high]))
    spec = tf.type_spec_from_value(column)
    element = spec._unbatch()
    boxed = spec._to_batched_tensor_list(column)
    whole = low == 0 and high == boxed[0].shape[0]
    rows = [tf.unstack(part if whole else part[low:high], high - low) for part in boxed]
    return [element._from_compatible_tensor_list(list(parts)) for parts in zip(*rows, strict=True)]


def element_of(column: Any, i: int) -> Any:
    """A concrete element of a column, on which no tape looks."""
    if isinstance(column, tf.Tensor):
        return as_tensor(as_array(column)[i : i + 1].reshape(column.shape[1:]))
    return _unstacked(column, i, i + 1)[0]


def is_flat(nest: Any) -> bool:
    """Whether this is a tuple of tensors, for which TensorFlow's own functions of nests are slow."""
    return type(nest) is tuple and len(nest) > 0 and all(isinstance(leaf, tf.Tensor) for leaf in nest)


def make_call(fn: Any, elems: Any, signature: Any = None, broadcast: bool = False) -> Call:
    """The call, its leaves tensors of one length. `broadcast`: leaves of length one are the same for all elements."""
    if not callable(fn):
        raise TypeError(f"fn must be callable, not {fn!r}")
    if isinstance(elems, tf.Tensor):
        leaves = (elems,)
    elif is_flat(elems):
        leaves = elems
    else:
        elems = tf.nest.map_structure(_as_column, elems)
        leaves = tuple(tf.nest.flatten(elems))
    if not leaves:
        raise ValueError(f"elems must be a tensor or a nest of tensors, not {elems!r}, which holds none")
    for leaf in leaves:
        if _shape(leaf).rank == 0:
            raise ValueError(f"elements in elems must be tensors of at least one dimension, not scalars: {leaf!r}")
    if len(leaves) > 1:
        even = _of_one_length(leaves, broadcast)
        if even is not leaves:
            leaves, elems = even, tf.nest.pack_sequence_as(elems, list(even))
    return Call(fn, elems, leaves, signature, _length(leaves[0]), broadcast)


def _length(column: Any) -> int | None:
    length = _shape(column)[0]
    if length is None and isinstance(column, tf.RaggedTensor) and hasattr(column.row_splits, "_numpy"):
        length = int(column.nrows())
    return None if length is None else int(length)


def _shape(column: Any) -> Any:
    if isinstance(column, tf.Tensor | tf.RaggedTensor | tf.SparseTensor):
        return column.shape
    return tf.type_spec_from_value(column)._to_batched_tensor_list(column)[0].shape


def _as_column(value: Any) -> Any:
    if isinstance(value, CompositeTensor) and not isinstance(value, tf.Variable | tf.IndexedSlices):
        spec = tf.type_spec_from_value(value)
        if not isinstance(spec, BatchableTypeSpec):
            raise TypeError(f"elems cannot be {spec}: a batch of them has no elements")
        return value
    return tf.convert_to_tensor(value)


def _of_one_length(leaves: tuple[Any, ...], broadcast: bool) -> tuple[Any, ...]:
    lengths = [_length(leaf) for leaf in leaves]
    known = {length for length in lengths if length is not None}
    if broadcast and 1 in known and len(known) == 2:
        most = max(known)
        return tuple(_repeated(leaf, most) if _length(leaf) == 1 else leaf for leaf in leaves)
    if len(known) > 1:
        raise ValueError(f"elems have different numbers of elements: {lengths}")
    return leaves


def _repeated(column: Any, n: int) -> Any:
    if isinstance(column, tf.Tensor | tf.RaggedTensor):
        return tf.repeat(column, n, 0)
    spec = tf.type_spec_from_value(column)
    parts = [tf.repeat(part, n, 0) for part in spec._to_batched_tensor_list(column)]
    return spec._unbatch()._batch(n)._from_compatible_tensor_list(parts)
