"""Signatures, ragged and composite elements: a failure where a map is not what TensorFlow's own is, or names
no element in its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from tf_law import same  # noqa: E402

MODES: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "known": lambda f: lambda *xs: [f(*xs) for _ in range(4)][-1],
    "graph": lambda f: tf.function(f),
    "any length": lambda f: lambda *xs: tf.function(f, input_signature=[columns(x) for x in xs])(*xs),
}


def columns(x: Any) -> Any:
    return tf.nest.map_structure(lambda leaf: tf.type_spec_from_value(leaf)._unbatch()._batch(None), x)


Ragged, Spec = tf.ragged.constant, tf.RaggedTensorSpec
UNEVEN, EVEN = Ragged([[1, 2], [3]]), Ragged([[1, 2], [3, 4]])
DEEP = Ragged([[[1, 2], [3]], [[4]]])
UNIFORM = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2)
INNER = tf.RaggedTensor.from_row_splits([[1, 2], [3, 4], [5, 6]], [0, 2, 3])


def sum_and_max(x: Any) -> Any:
    return tf.stack([tf.reduce_sum(x), tf.reduce_max(x)])


def two_rows(n: Any) -> Any:
    return tf.RaggedTensor.from_row_lengths([n, n], [1, 1])


RAGGED = [
    (lambda x: x + 1, UNEVEN, Spec([None], tf.int32)),
    (lambda x: x + 1, EVEN, Spec([None], tf.int32)),
    (lambda x: x + 1, UNEVEN, None),
    (lambda x: x + 1, EVEN, None),
    (lambda x: x[:1], EVEN, None),
    (lambda x: x[:1], EVEN, tf.int32),
    (lambda x: x[:1], UNIFORM, None),
    (lambda x: x * 2, INNER, None),
    (lambda x: x + 1, DEEP, None),
    (lambda x: tf.reduce_sum(x, axis=1), DEEP, Spec([None], tf.int32)),
    (sum_and_max, UNEVEN, None),
    (sum_and_max, UNEVEN, tf.int32),
    (sum_and_max, UNEVEN, tf.TensorSpec([2], tf.int32)),
    (sum_and_max, UNEVEN, Spec([2], tf.int32, ragged_rank=0)),
    (tf.reduce_sum, UNEVEN, tf.int32),
    (tf.range, tf.range(4), Spec([None], tf.int32)),
    (lambda n: tf.range(3), tf.range(4), Spec([3], tf.int32, ragged_rank=0)),
    (two_rows, tf.range(3), Spec([None, None], tf.int32)),
    (two_rows, tf.range(3), Spec([2, None], tf.int32, ragged_rank=1)),
    (lambda t: t[0], (UNEVEN, tf.range(2)), Spec([None], tf.int32)),
    (lambda d: d["a"] * d["b"], {"a": UNEVEN, "b": tf.range(2)}, Spec([None], tf.int32)),
    (lambda x: (x, tf.size(x)), UNEVEN, (Spec([None], tf.int32), tf.int32)),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", RAGGED, ids=range(len(RAGGED)))
def test_ragged_results_are_those_of_map_fn(case: Any, mode: str) -> None:
    fn, elems, signature = case
    want = tf.map_fn(fn, elems, fn_output_signature=signature)
    got = MODES[mode](lambda e: ut.map_fn(fn, e, fn_output_signature=signature))(elems)
    same(want, got)
    for one, other in zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True):
        if isinstance(one, tf.RaggedTensor):
            assert one.ragged_rank == other.ragged_rank


@pytest.mark.parametrize("mode", MODES)
def test_rows_of_one_length_are_a_tensor_in_vectorized_map(mode: str) -> None:
    for elems in (EVEN, UNIFORM):
        want = tf.vectorized_map(lambda x: x + 1, elems)
        same(want, MODES[mode](lambda e: ut.vectorized_map(lambda x: x + 1, e))(elems))


def test_rows_of_other_lengths_are_ragged_in_vectorized_map() -> None:
    """TensorFlow's own raises."""
    assert ut.vectorized_map(lambda x: x + 1, UNEVEN).to_list() == [[2, 3], [4]]


# ---- extension types


class Masked(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


class Tokens(tf.experimental.BatchableExtensionType):
    words: tf.RaggedTensor
    weight: tf.Tensor


class Alone(tf.experimental.ExtensionType):
    values: tf.Tensor


MASKED = Masked(tf.constant(np.arange(6.0).reshape(3, 2), tf.float32), tf.constant([[True, False]] * 3))
TOKENS = Tokens(Ragged([[1, 2], [3], []]), tf.constant([1, 2, 3]))
MASKED_SPEC = Masked.Spec(tf.TensorSpec([2], tf.float32), tf.TensorSpec([2], tf.bool))


def doubled(e: Any) -> Any:
    return Masked(e.values * 2, tf.logical_not(e.mask))


COMPOSITE = [
    (lambda e: e.values * 2, MASKED, tf.float32),
    (doubled, MASKED, None),
    (doubled, MASKED, MASKED_SPEC),
    (lambda v: Masked(v, v > 2), MASKED.values, MASKED_SPEC),
    (lambda t: t[0].values + t[1], (MASKED, tf.range(3.0)), tf.float32),
    (lambda e: tf.reduce_sum(e.words) * e.weight, TOKENS, tf.int32),
    (lambda e: e.words + e.weight, TOKENS, Spec([None], tf.int32)),
]


def parts(nest: Any) -> Any:
    return tf.nest.flatten(nest, expand_composites=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", COMPOSITE, ids=range(len(COMPOSITE)))
def test_elements_and_results_may_be_of_the_users_own_types(case: Any, mode: str) -> None:
    fn, elems, signature = case
    want = tf.map_fn(fn, elems, fn_output_signature=signature)
    got = MODES[mode](lambda e: ut.map_fn(fn, e, fn_output_signature=signature))(elems)
    assert type(got) is type(want) or isinstance(want, tf.Tensor)
    same(parts(want), parts(got))


@pytest.mark.parametrize("mode", MODES)
def test_users_types_in_vectorized_map(mode: str) -> None:
    for fn in (lambda e: e.values * 2, doubled):
        want = tf.vectorized_map(fn, MASKED)
        same(parts(want), parts(MODES[mode](lambda e, fn=fn: ut.vectorized_map(fn, e))(MASKED)))


def test_users_types_are_mapped_as_batches() -> None:
    """Not one after the other: they are made of plain tensors."""
    concrete = tf.function(lambda e: ut.map_fn(doubled, e)).get_concrete_function(tf.type_spec_from_value(MASKED))
    assert not any(op.type in ("While", "StatelessWhile") for op in concrete.graph.get_operations())


def test_types_that_have_no_batches_are_refused() -> None:
    with pytest.raises(TypeError, match="Alone"):
        ut.map_fn(lambda e: e.values, Alone(tf.range(3)), fn_output_signature=tf.int32)


def test_no_elements_of_users_types() -> None:
    none = Masked(MASKED.values[:0], MASKED.mask[:0])
    assert ut.map_fn(doubled, none).values.shape == (0, 2)


# ---- signatures are kept


def several(x: Any) -> Any:
    return x, x


WRONG = [
    (lambda x: x, tf.TensorSpec([5], tf.float32), ValueError),
    (lambda x: x, tf.TensorSpec([], tf.float32), ValueError),
    (lambda x: x, tf.TensorSpec([2, 2], tf.float32), ValueError),
    (lambda x: x, tf.int32, TypeError),
    (lambda x: x, Spec([3], tf.float32, ragged_rank=0), ValueError),
    (lambda x: 1.0, tf.TensorSpec([2], tf.float32), ValueError),
    (several, [tf.float32, tf.float32], TypeError),
    (several, (tf.float32,), (ValueError, TypeError)),
    (several, tf.float32, (ValueError, TypeError)),
    (lambda x: x, (tf.float32, tf.float32), (ValueError, TypeError)),
    (lambda x: x, MASKED_SPEC, (ValueError, TypeError)),
]


@pytest.mark.parametrize("n", [3, 700])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", WRONG, ids=range(len(WRONG)))
def test_a_signature_that_is_not_kept_is_an_error(case: Any, mode: str, n: int) -> None:
    fn, signature, error = case
    with pytest.raises(error):
        MODES[mode](lambda e: ut.map_fn(fn, e, fn_output_signature=signature))(tf.ones((n, 2)))
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        tf.map_fn(fn, tf.ones((3, 2)), fn_output_signature=signature)


@pytest.mark.parametrize("mode", MODES)
def test_a_signature_that_is_kept_is_none(mode: str) -> None:
    def mapped(signature: Any) -> Any:
        return MODES[mode](lambda e: ut.map_fn(lambda x: x * 2, e, fn_output_signature=signature))

    for signature in (tf.float32, tf.TensorSpec([2], tf.float32), tf.TensorSpec([None]), tf.TensorSpec(None)):
        assert mapped(signature)(tf.ones((3, 2))).shape == (3, 2)


# ---- errors name elements


def element_of(error: Any) -> int:
    assert any(note.startswith(f"element {error.upshift_element}: ") for note in error.__notes__)
    return int(error.upshift_element)


def test_none_is_told_with_its_element() -> None:
    def sometimes(x: Any) -> Any:
        return None if x == 3.0 else x

    for mapper in (ut.map_fn, ut.vectorized_map):
        with pytest.raises(ValueError, match="None") as caught:
            mapper(sometimes, tf.range(6.0))
        assert element_of(caught.value) == 3


def test_none_for_every_element_is_none_in_vectorized_map_alone() -> None:
    made = ut.vectorized_map(lambda x: (x, None), tf.range(3.0))
    assert made[1] is None and made[0].shape == (3,)
    with pytest.raises(ValueError, match="None"):
        ut.map_fn(lambda x: (x, None), tf.range(3.0))


def test_shapes_that_differ_are_told_with_their_element() -> None:
    for error in (ValueError, tf.errors.InvalidArgumentError):
        with pytest.raises(error, match="element 2 gives shape \\(3,\\)") as caught:
            ut.map_fn(lambda n: tf.range(tf.maximum(n, 2)), tf.range(1, 5))
        assert element_of(caught.value) == 2


def test_results_that_are_built_otherwise_are_told_with_their_element() -> None:
    with pytest.raises(ValueError) as caught:
        ut.map_fn(lambda x: (x, x) if x == 1.0 else x, tf.range(4.0))
    assert element_of(caught.value) == 1


def test_a_signature_that_is_not_kept_is_told_with_its_element() -> None:
    for fn, signature in (
        (lambda x: 1.0, tf.TensorSpec([2], tf.float32)),
        (lambda x: tf.ones(3), tf.TensorSpec([2], tf.float32)),
        (several, [tf.float32, tf.float32]),
        (several, tf.float32),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            ut.map_fn(fn, tf.ones((3, 2)), fn_output_signature=signature)
        assert element_of(caught.value) == 0
    with pytest.raises(ValueError) as caught:
        ut.map_fn(lambda x: 1.0 if x > 1 else tf.ones(2), tf.range(4.0), fn_output_signature=tf.TensorSpec([2]))
    assert element_of(caught.value) == 2


def test_an_error_of_tensorflows_names_the_users_line() -> None:
    def reshaped(x: Any) -> Any:
        return tf.reshape(x, [7])  # this line

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        ut.map_fn(reshaped, tf.ones((3, 2)))
    line = reshaped.__code__.co_firstlineno + 1
    assert element_of(caught.value) == 0
    assert f"test_tf_signatures.py:{line} in reshaped" in caught.value.__notes__[0]
