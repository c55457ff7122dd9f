"""Single operations on special values of all dtypes: a failure where one that was read is not TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
from tf_law import loop, same  # noqa: E402
from upshift.tensorflow import numbers, plan  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402

RNG = np.random.default_rng(1)
SPECIAL = [0, -0.0, 1.5, 2.5, -2.5, -1.5, np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 0.5, -0.5, 1e-3, 1e-40]
VECTORS = tf.constant(RNG.normal(size=(7, 6)), tf.float32)
MATRICES = tf.constant(RNG.normal(size=(5, 4, 5)), tf.float64)
WEIGHTS = tf.Variable(RNG.normal(size=(6, 3)).astype(np.float32))
INTEGERS = {"int8": 7, "uint8": 8, "int16": 15, "int32": 31, "uint32": 32, "int64": 63}


def column(dtype: str) -> Any:
    bits = INTEGERS[dtype]
    low = 0 if dtype.startswith("u") else -(2**bits)
    return tf.constant(RNG.integers(low, 2**bits, 40), dtype)


def of_three(fn: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return lambda e: fn(e, tf.constant(3, e.dtype))


ON_INTEGERS: list[Callable[[Any], Any]] = [
    of_three(lambda e, three: e + three),
    of_three(lambda e, three: e * three),
    of_three(lambda e, three: e - three * three),
    of_three(lambda e, three: e // three),
    of_three(lambda e, three: e % three),
    of_three(lambda e, three: tf.maximum(e, three) + tf.minimum(e, three)),
    of_three(lambda e, three: tf.where(e > three, e, three)),
    lambda e: tf.cast(e, tf.float32) / 7.0,
    lambda e: tf.cast(e, tf.int64) * 3,
    lambda e: tf.cast(e, tf.uint8),
    lambda e: e == e,
]
ON_FLOATS: list[Callable[[Any], Any]] = [
    tf.round, tf.sign, tf.floor, tf.math.ceil, tf.nn.relu, tf.nn.relu6, tf.exp, tf.sigmoid, tf.nn.softplus, tf.tanh,
    tf.math.log, tf.math.log1p, tf.math.expm1, tf.math.rsqrt, tf.math.reciprocal, tf.abs, tf.negative, tf.sqrt,
    tf.math.is_nan, tf.sinh, tf.cosh, tf.sin, tf.cos, tf.tan, tf.asin, tf.acosh, tf.atan, tf.asinh, tf.math.softsign,
    tf.nn.leaky_relu, tf.nn.selu, tf.nn.gelu, tf.nn.swish, tf.square,
    lambda e: e // 2, lambda e: e % 2, lambda e: e % -2, lambda e: e // -3, lambda e: e**2, lambda e: e**0.5,
    lambda e: e**-1, lambda e: tf.math.xlogy(e, e), lambda e: e == e, lambda e: e != e, lambda e: e > 0,
    lambda e: tf.cast(e > 0, tf.float32), lambda e: tf.cast(e, tf.bool), lambda e: tf.math.divide_no_nan(e, e),
    lambda e: tf.maximum(e, -0.0), lambda e: tf.minimum(e, 0.0), lambda e: tf.atan2(e, -e), lambda e: 1 / e,
]  # fmt: skip
ON_VECTORS: list[Callable[[Any], Any]] = [
    lambda v: v[::-1], lambda v: v[-3:], lambda v: v[1:-1], lambda v: v[2:100], lambda v: v[-1],
    lambda v: v[None, :, None], lambda v: v[..., 1:], lambda v: v[4:1:-1], lambda v: v[:0],
    lambda v: tf.reduce_sum(v[:0]), lambda v: tf.linalg.matvec(tf.transpose(WEIGHTS), v), tf.reduce_prod, tf.argmin,
    lambda v: tf.reduce_sum(v, keepdims=True), lambda v: tf.argmax(v, output_type=tf.int32),
    lambda v: tf.cumsum(v, reverse=True), lambda v: tf.cumsum(v, exclusive=True), tf.math.reduce_std,
    tf.math.reduce_euclidean_norm, lambda v: tf.pad(v, [[1, 1]], constant_values=2.0), tf.nn.log_softmax,
    lambda v: tf.pad(v, [[1, 1]], "REFLECT"), lambda v: tf.tile(v[None], [2, 3]), lambda v: tf.repeat(v, 2),
    lambda v: tf.slice(v, [1], [3]), lambda v: tf.unstack(v)[2] * 2, lambda v: tf.meshgrid(v, v)[0],
    lambda v: tf.reshape(v, [-1, 2]), lambda v: tf.reshape(v[:1], []), lambda v: tf.squeeze(v[:1]),
    lambda v: (v, v[0]), lambda v: tf.boolean_mask(v, [True, False] * 3), lambda v: tf.ones_like(v, tf.int32),
    lambda v: tf.eye(2) * v[0], lambda v: tf.linspace(0.0, 1.0, 3) * v[1],
]  # fmt: skip
ON_MATRICES: list[Callable[[Any], Any]] = [
    lambda m: m[:, ::2], lambda m: m[..., 0], lambda m: m[1, None], lambda m: m[::-1, ::-1], tf.transpose,
    lambda m: m @ tf.transpose(m), lambda m: tf.matmul(m, m, transpose_a=True), lambda m: tf.reduce_max(m, [0, 1]),
    lambda m: tf.reduce_mean(m, -1), lambda m: tf.concat([m, m], -1), lambda m: tf.stack([m[0], m[1]], -1),
    lambda m: tf.unstack(m, axis=1)[0], lambda m: tf.gather(m, [1, 0], axis=1), lambda m: tf.einsum("ij->ji", m),
    lambda m: tf.expand_dims(m, 1), lambda m: tf.reduce_all(m > 0, 0), lambda m: tf.argmax(m, 1),
    lambda m: tf.broadcast_to(m[0], [3, 5]), lambda m: tf.linalg.norm(m, axis=0),
]  # fmt: skip
TABLE = [
    *((fn, column(dtype)) for dtype in INTEGERS for fn in ON_INTEGERS),
    *((fn, tf.constant(SPECIAL, dtype)) for dtype in ("float32", "float64") for fn in ON_FLOATS),
    *((fn, VECTORS) for fn in ON_VECTORS),
    *((fn, MATRICES) for fn in ON_MATRICES),
]


@pytest.mark.parametrize("gear", ["numpy", "llvm"])
@pytest.mark.parametrize("at", range(len(TABLE)))
def test_an_operation_that_was_read_is_tensorflows(at: int, gear: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the gear that runs the graph first: as machine code it leaves no lane for a warning of NumPy's."""
    fn, elems = TABLE[at]
    monkeypatch.setattr(numbers, "first_gear", lambda traced: gear)
    try:
        got = plan.run_in("numpy", make_call(fn, elems))
    except up.GearRefused as refused:
        assert "the gear" not in refused.refusal.reason, f"only the sample saved it: {refused}"
        return
    same(loop(fn, elems), got)
