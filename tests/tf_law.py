"""A function and elements: what the loop of eager calls gives, and an AssertionError where a map differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

RTOL = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "complex64": 1e-5}


def loop(fn: Any, elems: Any) -> Any:
    leaves = tf.nest.flatten(elems)
    n = int(leaves[0].nrows()) if isinstance(leaves[0], tf.RaggedTensor) else int(leaves[0].shape[0])
    results = [fn(tf.nest.map_structure(lambda x: element(x, i), elems)) for i in range(n)]
    columns = zip(*map(tf.nest.flatten, results))
    made = [stacked(column, leaves[0]) for column in columns]
    return tf.nest.pack_sequence_as(results[0], made)


def element(x: Any, i: int) -> Any:
    if not isinstance(x, tf.SparseTensor):
        return x[i]
    size = x.dense_shape.numpy()[1:].tolist()
    return tf.sparse.reshape(tf.sparse.slice(x, [i, 0], [1, *size]), size)


def stacked(values: Any, column: Any) -> Any:
    if all(isinstance(value, int | float) for value in values):
        return tf.convert_to_tensor(list(values), dtype_hint=column.dtype)
    values = [tf.convert_to_tensor(value) for value in values]
    alike = isinstance(column, tf.RaggedTensor) and values[0].shape.rank == column.shape.rank - 1
    return tf.ragged.stack(values) if alike else tf.stack(values)


def same(want: Any, got: Any, loose: float = 1.0) -> None:
    tf.nest.assert_same_structure(want, got)
    for one, other in zip(tf.nest.flatten(want), tf.nest.flatten(got)):
        assert type(one).__name__ == type(other).__name__
        assert one.dtype == other.dtype, f"{other.dtype} instead of {one.dtype}"
        if isinstance(one, tf.RaggedTensor):
            assert one.to_list() == other.to_list()
            continue
        assert one.shape == other.shape, f"{other.shape} instead of {one.shape}"
        if one.dtype == tf.string or not (one.dtype.is_floating or one.dtype.is_complex):
            assert one.numpy().tolist() == other.numpy().tolist()
        else:
            rtol = RTOL.get(one.dtype.name, 1e-9) * loose
            a, b = (np.asarray(x.numpy()).astype(complex) for x in (one, other))
            size = np.max(np.abs(a[np.isfinite(a)]), initial=0.0)
            np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol * size)
