"""What a function gave for each element in; one stacked tensor for each leaf out, of the dtype that was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from .call import is_flat

NUMBERS = (bool, int, float, complex)
"""Python's own: they take on the dtype of what they stand beside, as everywhere in TensorFlow."""


class WrongSignature(TypeError):
    """The function gives something else than `fn_output_signature` says."""


def specs_of(signature: Any) -> Any:
    """A nest of dtypes and specs, as `fn_output_signature` may be, as a nest of specs."""
    return tf.nest.map_structure(lambda d: d if isinstance(d, tf.TypeSpec) else tf.TensorSpec(None, d), signature)


def is_dense(signature: Any) -> bool:
    """Whether a signature, if there is one, asks for plain tensors."""
    return signature is None or all(isinstance(spec, tf.TensorSpec) for spec in tf.nest.flatten(specs_of(signature)))


def columns_for(result: Any, elems: Any, leaves: Sequence[Any]) -> list[Any]:
    """For every leaf of a result, the column it takes after, as TensorFlow has it: the element's, if built alike."""
    try:
        tf.nest.assert_same_structure(elems, result)
    except (TypeError, ValueError):
        return [None] * len(tf.nest.flatten(result))
    return list(leaves)


def is_ragged_like(column: Any, dtype: Any, rank: Any) -> bool:
    """Whether rows of different lengths make a ragged result: they stand for the rows of a ragged column."""
    return isinstance(column, tf.RaggedTensor) and column.dtype == dtype and rank == column.shape.rank - 1


def as_result(value: Any, column: Any, spec: Any = None) -> Any:
    """One leaf of what the function gave for one element, as a tensor."""
    if isinstance(value, tf.Variable):
        value = tf.convert_to_tensor(value)
    if tf.is_tensor(value):
        _check(value.dtype, spec)
        return value
    if isinstance(value, np.ndarray | np.generic):
        wanted = None if spec is None else spec.dtype.as_numpy_dtype
        if wanted is not None and not np.can_cast(value.dtype, wanted, "same_kind"):
            _check(tf.as_dtype(value.dtype), spec)
        return tf.convert_to_tensor(value, None if spec is None else spec.dtype)
    if spec is not None:
        return tf.convert_to_tensor(value, spec.dtype)
    return tf.convert_to_tensor(value, dtype_hint=getattr(column, "dtype", None))


def _check(dtype: Any, spec: Any) -> None:
    if spec is not None and dtype != spec.dtype:
        raise WrongSignature(
            f"the function gives {dtype.name}, fn_output_signature says {spec.dtype.name}: "
            f"say tf.{dtype.name}, or cast in the function"
        )


def stack(results: Sequence[Any], elems: Any, leaves: Sequence[Any], signature: Any) -> Any:
    """The results of all elements, leaf by leaf."""
    first = results[0]
    if signature is None and all(map(is_flat, results)) and len({len(result) for result in results}) == 1:
        after = leaves if is_flat(elems) and len(elems) == len(first) else [None] * len(first)
        columns = zip(*results, strict=True)
        return tuple(_stacked(values, column, None) for values, column in zip(columns, after, strict=True))
    for i, result in enumerate(results):
        try:
            tf.nest.assert_same_structure(first, result)
        except (TypeError, ValueError):
            raise ValueError(f"element {i} gives {result!r}, which is not built like {first!r}") from None
    after = columns_for(first, elems, leaves)
    specs = [None] * len(after)
    if signature is not None:
        tf.nest.assert_same_structure(signature, first)
        specs = tf.nest.flatten(specs_of(signature))
    columns = zip(*map(tf.nest.flatten, results), strict=True)
    made = [_stacked(values, column, spec) for values, column, spec in zip(columns, after, specs, strict=True)]
    return tf.nest.pack_sequence_as(first if signature is None else signature, made)


def _stacked(values: Sequence[Any], column: Any, spec: Any) -> Any:
    numbers = [type(value) in NUMBERS for value in values]
    if all(numbers) and spec is None:
        return tf.convert_to_tensor(list(values), dtype_hint=getattr(column, "dtype", None))
    made: list[Any] = [None if plain else as_result(v, column, spec) for v, plain in zip(values, numbers, strict=True)]
    first = next((value for value in made if value is not None), None)
    dtype = spec.dtype if first is None else first.dtype
    for i, value in enumerate(values):
        if numbers[i]:
            made[i] = tf.convert_to_tensor(value, dtype)
        elif made[i].dtype != dtype:
            raise TypeError(f"element {i} gives {made[i].dtype.name}, others give {dtype.name}: cast in the function")
    if isinstance(first, tf.SparseTensor):
        return tf.sparse.concat(0, [tf.sparse.expand_dims(value, 0) for value in made])
    if isinstance(first, tf.RaggedTensor) or (spec is None and is_ragged_like(column, dtype, made[0].shape.rank)):
        return tf.ragged.stack(made)
    return tf.stack(made)
