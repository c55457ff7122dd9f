"""Keras layers that map: a failure where they learn, save or load other than with TensorFlow's map."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

import upshift.tensorflow as ut  # noqa: E402
from tf_law import same  # noqa: E402

RNG = np.random.default_rng(5)
X = RNG.normal(size=(64, 6)).astype(np.float32)
Y = (X.sum(axis=1, keepdims=True) + 0.5 * X[:, :1] ** 2).astype(np.float32)


@keras.saving.register_keras_serializable(package="tests")
def normalise(x: Any) -> Any:
    return (x - tf.reduce_mean(x)) / (tf.math.reduce_std(x) + 1.0)


class Mapped(keras.layers.Layer):
    """A layer with weights whose call is a map."""

    def __init__(self, mapper: Any, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.mapper = mapper

    def build(self, shape: Any) -> None:
        self.w = self.add_weight(shape=(shape[-1], 4), initializer="glorot_uniform")

    def call(self, x: Any) -> Any:
        w = tf.convert_to_tensor(self.w)
        signature = {} if self.mapper is ut.map_fn else {"fn_output_signature": tf.float32}
        return self.mapper(lambda e: tf.tanh(tf.linalg.matvec(w, e, transpose_a=True)), x, **signature)

    def compute_output_shape(self, shape: Any) -> Any:
        return (shape[0], 4)


def train(layer: Any, **options: Any) -> list[float]:
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((6,)), layer, keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse", **options)
    return model.fit(X, Y, batch_size=20, epochs=3, shuffle=False, verbose=0).history["loss"]


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}, {"jit_compile": True}], ids=str)
def test_training_has_the_losses_of_map_fn(options: dict[str, Any]) -> None:
    np.testing.assert_allclose(train(Mapped(ut.map_fn), **options), train(Mapped(tf.map_fn)), rtol=1e-4)


def test_training_with_a_vectorized_map() -> None:
    np.testing.assert_allclose(train(Mapped(ut_vectorized)), train(Mapped(tf.map_fn)), rtol=1e-4)


def ut_vectorized(fn: Any, elems: Any, fn_output_signature: Any = None) -> Any:
    return ut.vectorized_map(fn, elems)


def test_a_map_layer_learns_as_a_lambda_layer_does() -> None:
    by_hand = keras.layers.Lambda(lambda x: tf.map_fn(normalise, x), output_shape=(6,))
    np.testing.assert_allclose(train(ut.MapLayer(normalise)), train(by_hand), rtol=1e-4)


def test_a_map_layer_gives_what_the_loop_gives() -> None:
    want = np.stack([normalise(x) for x in X])
    np.testing.assert_allclose(ut.MapLayer(normalise)(X).numpy(), want, rtol=1e-5, atol=1e-6)


def test_a_map_layer_knows_its_output() -> None:
    inputs = keras.Input((6,))
    made = ut.MapLayer(lambda x: {"sum": tf.reduce_sum(x), "twice": 2 * x})(inputs)
    assert made["sum"].shape == (None,) and made["twice"].shape == (None, 6)


def test_a_map_layer_is_saved_and_loaded(tmp_path: Any) -> None:
    model = keras.Sequential([keras.Input((6,)), ut.MapLayer(normalise, name="each"), keras.layers.Dense(2)])
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-6)
    assert again.get_layer("each").f is normalise


@keras.saving.register_keras_serializable(package="tests")
def halves(x: Any) -> Any:
    return [x / 2, {"half": tf.cast(x > 0, tf.int32)}]


@keras.saving.register_keras_serializable(package="tests")
def shortened(x: Any) -> Any:
    return x[: tf.cast(tf.abs(x[0]), tf.int32)]


SIGNATURES = [
    (normalise, None),
    (normalise, tf.float32),
    (normalise, tf.TensorSpec([6], tf.float32)),
    (halves, [tf.float32, {"half": tf.TensorSpec([None], tf.int32)}]),
    (shortened, tf.RaggedTensorSpec([None], tf.float32)),
]


@pytest.mark.parametrize(("f", "signature"), SIGNATURES, ids=lambda x: getattr(x, "__name__", str(x)))
def test_a_map_layer_keeps_its_output_signature(f: Any, signature: Any) -> None:
    layer = ut.MapLayer(f, signature)
    text = keras.saving.serialize_keras_object(layer)
    again = keras.saving.deserialize_keras_object(json.loads(json.dumps(text)))
    assert again.f is f
    same(layer(tf.constant(X)), again(tf.constant(X)))
    said = tf.nest.map_structure(str, layer.output_signature)
    names = tf.nest.map_structure(lambda x: x.name if isinstance(x, tf.DType) else str(x), layer.output_signature)
    assert tf.nest.map_structure(str, again.output_signature) in (said, names)


def test_a_map_layer_is_exported(tmp_path: Any) -> None:
    model = keras.Sequential([keras.Input((6,)), ut.MapLayer(normalise)])
    model.export(tmp_path / "served", verbose=False)
    served = tf.saved_model.load(tmp_path / "served").serve
    np.testing.assert_allclose(served(X[:5]).numpy(), model(X[:5]).numpy(), rtol=1e-6, atol=1e-6)


def test_a_layer_that_is_mapped_is_trained() -> None:
    inner = keras.layers.Dense(3)
    inner.build((None, 6))
    layer = ut.MapLayer(inner_of(inner))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(X) ** 2)
    want = 2 * X.T @ (X @ inner.kernel.numpy())
    np.testing.assert_allclose(tape.gradient(loss, inner.kernel).numpy(), want, rtol=1e-4, atol=1e-3)


def inner_of(layer: Any) -> Any:
    return lambda e: layer(e[tf.newaxis])[0]


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="callable"):
        ut.MapLayer(3)


def test_in_a_strategy() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        v = tf.Variable(2.0)
    xs = tf.range(5.0)
    eager = strategy.run(lambda: ut.map_fn(lambda x: x * v + 1, xs))
    graph = tf.function(lambda: strategy.run(lambda: ut.map_fn(lambda x: x * v + 1, xs)))()
    np.testing.assert_allclose(eager.numpy(), 2 * np.arange(5) + 1)
    np.testing.assert_allclose(graph.numpy(), 2 * np.arange(5) + 1)


# ---- what layers are set to


class Scaled(keras.layers.Layer):
    """A layer of the user's, whose settings are lists and functions."""

    def __init__(self) -> None:
        super().__init__()
        self.scales, self.after = [1.0, 2.0], tf.sin

    def call(self, x: Any) -> Any:
        return self.after(x * self.scales[1])


def times(x: Any, by: float = 1.0) -> Any:
    return x * by


def sequential(*layers: Any) -> Any:
    model = keras.Sequential([keras.Input((6,)), *layers])
    model(X[:1])
    return model


def new_policy(layer: Any) -> None:
    layer.dtype_policy = keras.DTypePolicy("mixed_float16")


def setting(name: str, value: Any) -> Any:
    return lambda layer: setattr(layer, name, value)


def item(name: str, key: Any, value: Any) -> Any:
    return lambda layer: getattr(layer, name).__setitem__(key, value)


CHANGED = {
    "activation": (lambda: keras.layers.Dense(2, "relu"), setting("activation", tf.sigmoid)),
    "activation of one's own": (lambda: keras.layers.Dense(2), setting("activation", lambda x: x * 3 + 1)),
    "policy": (lambda: keras.layers.Dense(2), new_policy),
    "tuple": (lambda: keras.layers.Reshape((2, 3)), setting("target_shape", (3, 2))),
    "function": (lambda: keras.layers.Lambda(times), setting("function", lambda x: x + 1)),
    "item": (lambda: keras.layers.Lambda(times, arguments={"by": 2.0}), item("arguments", "by", 5.0)),
    "tensor": (lambda: keras.layers.Normalization(mean=1.0, variance=2.0), setting("mean", tf.constant([[5.0]]))),
    "list": (Scaled, item("scales", 1, 7.0)),
    "function of the user's": (Scaled, setting("after", tf.cos)),
}


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a model"])
@pytest.mark.parametrize("name", CHANGED)
def test_a_layer_that_is_changed_between_calls_is_mapped_as_it_is(name: str, inside: bool) -> None:
    make, change = CHANGED[name]
    layer = make()
    called = sequential(layer) if inside else layer
    called(X[:1])

    def fn(v: Any) -> Any:
        return called(v[tf.newaxis])[0]

    def loop() -> Any:
        return tf.stack([fn(v) for v in tf.unstack(tf.constant(X[:20]))])

    def checked() -> Any:
        for _ in range(4):
            made = ut.map_fn(fn, tf.constant(X[:20]))
            assert made.dtype == loop().dtype
            np.testing.assert_allclose(made, loop(), rtol=1e-2 if made.dtype == tf.float16 else 1e-5, atol=1e-5)
        return made

    before = checked()
    change(layer)
    after = checked()
    assert before.dtype != after.dtype or not np.array_equal(before, after)
