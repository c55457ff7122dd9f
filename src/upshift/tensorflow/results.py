"""Stacks what a function gave for each element into one tensor for each leaf."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.composite_tensor import CompositeTensor
from tensorflow.python.framework.type_spec import BatchableTypeSpec

from ..columns.outputs import place
from ..errors import name_element
from .bridge import ADOPTED, adopt, aligned
from .call import Call, is_flat

NUMBERS = (bool, int, float, complex)
"""Python's own: they take on the dtype of what they stand beside, as everywhere in TensorFlow."""


EAGER: Any = tf.__internal__.EagerTensor
"""The class of tensors that have their numbers."""


class WrongSignature(TypeError):
    """The function gives something else than `fn_output_signature` says."""


class WrongShape(ValueError):
    """The function gives tensors of another shape, or of another kind, than `fn_output_signature` says."""


class DifferentShapes(tf.errors.InvalidArgumentError, ValueError):  # type: ignore[misc]
    """Elements give results of different shapes: InvalidArgumentError in a graph, ValueError in `tf.map_fn`."""

    def __init__(self, text: str) -> None:
        super().__init__(None, None, text)


def _specs_of(signature: Any) -> Any:
    """A nest of dtypes and specs, as `fn_output_signature` may be, as a nest of specs."""
    return tf.nest.map_structure(lambda d: d if isinstance(d, tf.TypeSpec) else tf.TensorSpec(None, d), signature)


def is_dense(signature: Any) -> bool:
    """Whether a signature, if there is one, asks for plain tensors."""
    return signature is None or all(isinstance(spec, tf.TensorSpec) for spec in tf.nest.flatten(_specs_of(signature)))


def _columns_for(result: Any, call: Call) -> list[Any]:
    """For every leaf of a result, the column it takes after, as TensorFlow has it: the element's, if built alike.
    In `tf.vectorized_map` numbers of Python's do not."""
    try:
        tf.nest.assert_same_structure(call.elems, result)
    except (TypeError, ValueError):
        return [None] * len(tf.nest.flatten(result))
    return list(call.leaves)


def wanted_of(result: Any, call: Call) -> list[Any]:
    """For every leaf of a result, the spec that the user gave for it, or None; an error where it is built otherwise."""
    if call.signature is None:
        return [None] * len(tf.nest.flatten(result))
    tf.nest.assert_same_structure(call.signature, result)
    return list(tf.nest.flatten(_specs_of(call.signature)))


def _is_ragged_like(column: Any, dtype: Any, rank: Any) -> bool:
    """Whether rows of different lengths make a ragged result: they stand for the rows of a ragged column."""
    return isinstance(column, tf.RaggedTensor) and column.dtype == dtype and rank == column.shape.rank - 1


def of_element(result: Any, call: Call) -> tuple[list[Any], list[Any]]:
    """What a function gives for one element, leaf by leaf, and the spec of each for all elements."""
    leaves = tf.nest.flatten(result)
    if not leaves:
        raise TypeError("it gives nothing")
    values, specs = [], []
    for leaf, column, wanted in zip(leaves, _columns_for(result, call), wanted_of(result, call), strict=True):
        value = _as_result(leaf, None if call.dense_results else column, wanted)
        specs.append(_spec_for(value, column, wanted, call.dense_results))
        values.append(_as_ragged(value, specs[-1]))
    return values, specs


def _spec_for(value: Any, column: Any, wanted: Any, dense: bool) -> Any:
    if isinstance(wanted, tf.TensorSpec):
        return tf.TensorSpec(wanted.shape.merge_with(value.shape), wanted.dtype)
    if wanted is not None:
        return wanted
    alike = isinstance(value, tf.Tensor) and _is_ragged_like(column, value.dtype, value.shape.rank)
    return _spec_like(column) if alike and not dense else tf.type_spec_from_value(value)


def _spec_like(column: Any) -> Any:
    """Of results that stand for the rows of a ragged column, whatever their lengths."""
    sizes = [None] * (column.shape.rank - 1)
    return tf.RaggedTensorSpec(sizes, column.dtype, column.ragged_rank - 1, column.row_splits.dtype)


def _as_ragged(value: Any, spec: Any) -> Any:
    ragged = isinstance(spec, tf.RaggedTensorSpec) and spec.ragged_rank and isinstance(value, tf.Tensor)
    return tf.RaggedTensor.from_tensor(value, ragged_rank=spec.ragged_rank) if ragged else value


def _as_result(value: Any, column: Any, spec: Any = None) -> Any:
    """One leaf of what the function gave for one element, as a tensor; an error where a spec says otherwise."""
    if isinstance(value, tf.Variable):
        value = tf.convert_to_tensor(value)
    of_numpy = isinstance(value, np.ndarray | np.generic)  # asking whether something is a tensor takes long
    if not of_numpy and (tf.is_tensor(value) or isinstance(value, CompositeTensor)):
        return _checked(value, spec)
    if value is None:
        raise ValueError("the function gives None, of which no tensor can be made")
    if spec is not None and not hasattr(spec, "dtype"):
        raise WrongShape(f"the function gives {value!r}, fn_output_signature says {spec}")
    if of_numpy:
        wanted = None if spec is None else spec.dtype.as_numpy_dtype
        if wanted is not None and not np.can_cast(value.dtype, wanted, "same_kind"):
            _check_dtype(tf.as_dtype(value.dtype), spec)
        return _checked(tf.convert_to_tensor(value, None if spec is None else spec.dtype), spec)
    if spec is not None:
        return _checked(tf.convert_to_tensor(value, spec.dtype), spec)
    return tf.convert_to_tensor(value, dtype_hint=getattr(column, "dtype", None))


def _checked(value: Any, spec: Any) -> Any:
    if spec is None:
        return value
    if isinstance(spec, tf.TensorSpec) and isinstance(value, tf.Tensor):
        check_spec(value.dtype, value.shape, spec)
        return value
    if isinstance(spec, tf.RaggedTensorSpec) and hasattr(value, "dtype"):
        _check_dtype(value.dtype, spec)
        if isinstance(value, tf.Tensor) and spec.shape.is_compatible_with(value.shape):
            return value
    if not spec.is_compatible_with(value):
        raise WrongShape(f"the function gives {tf.type_spec_from_value(value)}, fn_output_signature says {spec}")
    return value


def check_spec(dtype: Any, shape: Any, spec: Any) -> None:
    """An error where results of a dtype and shape are not what a spec, if there is one, says."""
    if spec is not None:
        _check_dtype(dtype, spec)
        if not spec.shape.is_compatible_with(shape):
            raise WrongShape(f"the function gives shape {shape}, fn_output_signature says {spec.shape}")


def _check_dtype(dtype: Any, spec: Any) -> None:
    if dtype != spec.dtype:
        raise WrongSignature(
            f"the function gives {dtype.name}, fn_output_signature says {spec.dtype.name}: "
            f"say tf.{dtype.name}, or cast in the function"
        )


# ---- all elements


def stack(results: Sequence[Any], call: Call) -> Any:
    """The results of all elements, leaf by leaf."""
    if not call.lenient:
        return _stack(results, call)
    try:
        return _stack(results, call)
    except (TypeError, ValueError, tf.errors.InvalidArgumentError):
        return list(results)


def _stack(results: Sequence[Any], call: Call) -> Any:
    first = results[0]
    if call.signature is None and type(first) is EAGER and call.is_dense and set(map(type, results)) == {EAGER}:
        with contextlib.suppress(TypeError, ValueError, tf.errors.InvalidArgumentError):
            return _packed(results)
        if call.lenient:
            return list(results)
    if call.signature is None and all(map(is_flat, results)) and len({len(result) for result in results}) == 1:
        alike = is_flat(call.elems) and len(call.elems) == len(first)
        after = call.leaves if alike else [None] * len(first)
        columns = zip(*results, strict=True)
        return tuple(_stacked(values, column, None, call) for values, column in zip(columns, after, strict=True))
    for i, result in enumerate(results):
        try:
            tf.nest.assert_same_structure(first, result)
        except (TypeError, ValueError):
            raise _named(ValueError(f"it gives {result!r}, which is not built like {first!r}"), i, call) from None
    try:
        after, specs = _columns_for(first, call), wanted_of(first, call)
    except (TypeError, ValueError) as error:
        raise _named(error, 0, call) from None
    columns = zip(*map(tf.nest.flatten, results), strict=True)
    made = [_stacked(values, column, spec, call) for values, column, spec in zip(columns, after, specs, strict=True)]
    return tf.nest.pack_sequence_as(first if call.signature is None else call.signature, made)


def _named(error: Exception, i: int, call: Call) -> Exception:
    name_element(error, i, (call.row(i),))
    return error


def _stacked(values: Sequence[Any], column: Any, spec: Any, call: Call) -> Any:
    if set(map(type, values)) == {np.ndarray} and _are_alike(values, column, spec):
        return _of_arrays(values)
    if call.dense_results and all(value is None for value in values):
        return None  # as in tf.vectorized_map
    numbers = [type(value) in NUMBERS for value in values]
    if all(numbers) and spec is None:
        hint = None if call.dense_results else getattr(column, "dtype", None)
        return tf.convert_to_tensor(list(values), dtype_hint=hint)
    made: list[Any] = []
    for i, value in enumerate(values):
        try:
            made.append(None if numbers[i] else _as_result(value, column, spec))
        except Exception as error:
            raise _named(error, i, call) from None
    first = next((value for value in made if value is not None), None)
    if first is not None and not hasattr(first, "dtype"):
        return _of_parts(made, spec, call)
    dtype = spec.dtype if first is None else first.dtype
    for i, value in enumerate(values):
        if numbers[i]:
            try:
                made[i] = _as_result(value, column, spec) if spec is not None else tf.convert_to_tensor(value, dtype)
            except (TypeError, ValueError) as error:
                raise _named(error, i, call) from None
        elif made[i].dtype != dtype:
            text = f"element {i} gives {made[i].dtype.name}, others give {dtype.name}: cast in the function"
            raise _named(TypeError(text), i, call)
    return _joined(made, column, spec, call)


def _are_alike(arrays: Sequence[Any], column: Any, spec: Any) -> bool:
    """Whether arrays of one dtype and shape make a tensor, as a spec, if there is one, says."""
    dtype, shape = arrays[0].dtype, arrays[0].shape
    if dtype.char not in ADOPTED or isinstance(column, tf.RaggedTensor):
        return False
    asked = spec is None or (
        isinstance(spec, tf.TensorSpec) and spec.dtype == dtype and spec.shape.is_compatible_with(shape)
    )
    return asked and all(array.dtype == dtype and array.shape == shape for array in arrays)


def _of_arrays(arrays: Sequence[Any]) -> Any:
    """Arrays as one tensor, each copied once."""
    room = aligned((len(arrays), *arrays[0].shape), arrays[0].dtype)
    for i, array in enumerate(arrays):
        place(array, room[i : i + 1].reshape(array.shape))
    return adopt(room)


def _joined(made: list[Any], column: Any, spec: Any, call: Call) -> Any:
    """Tensors of one dtype as one."""
    first = made[0]
    if spec is not None and not isinstance(spec, tf.TensorSpec):
        return _of_parts(made, spec, call)
    if isinstance(first, tf.SparseTensor):
        return tf.sparse.concat(0, [tf.sparse.expand_dims(value, 0) for value in made])
    if spec is None and _is_ragged_like(column, first.dtype, first.shape.rank):
        dense = call.dense_results and all(
            isinstance(value, tf.Tensor) and value.shape == first.shape for value in made
        )
        if not dense:
            return _of_parts(made, _spec_like(column), call)
    if isinstance(first, tf.RaggedTensor):
        return tf.ragged.stack(made)
    try:
        return _packed(made)
    except (tf.errors.InvalidArgumentError, ValueError):
        odd = next((i for i, value in enumerate(made) if value.shape != first.shape), None)
        if odd is None:
            raise
    text = f"element {odd} gives shape {made[odd].shape}, element 0 gives {first.shape}"
    raise _named(DifferentShapes(text), odd, call)


def _packed(values: Sequence[Any]) -> Any:
    """`tf.stack`, some at a time: TensorFlow needs 40 ms for the first stack of 1,000, and another 40 ms for 1,001."""
    if len(values) <= PACKED:
        return tf.stack(values)
    parts = [tf.stack(values[low : low + PACKED]) for low in range(0, len(values), PACKED)]
    while len(parts) > 1:
        parts = [tf.concat(parts[low : low + PACKED], 0) for low in range(0, len(parts), PACKED)]
    return parts[0]


PACKED = 128


def _of_parts(made: list[Any], spec: Any, call: Call) -> Any:
    """Results that are made of several tensors, by what their spec makes of a batch of these."""
    if spec is None:
        specs = [tf.type_spec_from_value(value) for value in made]
        spec = functools.reduce(lambda a, b: a and a.most_specific_common_supertype([b]), specs)
        odd = next((i for i, one in enumerate(specs) if type(one) is not type(specs[0])), 1)
        if spec is None:
            raise _named(ValueError(f"element {odd} gives {made[odd]!r}, element 0 gives {made[0]!r}"), odd, call)
    if not isinstance(spec, BatchableTypeSpec):
        raise TypeError(f"results of {spec} cannot be stacked")
    parts = zip(*(spec._to_tensor_list(_as_ragged(value, spec)) for value in made), strict=True)
    return spec._batch(len(made))._from_compatible_tensor_list([tf.stack(part) for part in parts])
