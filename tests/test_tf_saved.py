"""Keras models with NumPy functions inside, saved and loaded where neither Upshift nor JAX is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402

X = np.random.default_rng(2).normal(size=(5, 4)).astype(np.float32)
MEANS = np.array([0.5, -0.5, 0.0, 1.0], np.float32)
ELSEWHERE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("upshift", "jax", "jaxlib"):
            raise ImportError(name)

sys.meta_path.insert(0, Missing())
import numpy as np, tensorflow as tf
loaded = tf.saved_model.load(sys.argv[1])
x = np.load(sys.argv[2])
call = loaded.serve if hasattr(loaded, "serve") else loaded
np.save(sys.argv[3], call(tf.constant(x)).numpy())
assert not {"upshift", "jax"} & set(sys.modules)
"""


def standardised(x):
    return np.tanh((x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1e-3))


def sorts(x):
    return np.sort(x, axis=1)


def apart(x):
    return (x - MEANS) ** 2


class Applied(tf.keras.layers.Layer):
    """A NumPy function as a layer."""

    def __init__(self, func: Any, **options: Any) -> None:
        super().__init__()
        self.func, self.options = func, options

    def call(self, x: Any) -> Any:
        return ut.numpy_function(self.func, [x], tf.float32, **self.options)


def model_with(layer: Any) -> Any:
    tf.keras.utils.set_random_seed(3)
    dense = tf.keras.layers.Dense
    return tf.keras.Sequential([tf.keras.Input((4,)), dense(4), layer, dense(2)])


def run_elsewhere(folder: Path, tmp_path: Path, x: Any) -> Any:
    np.save(tmp_path / "x.npy", x)
    command = [sys.executable, "-c", ELSEWHERE, str(folder), str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    return np.load(tmp_path / "y.npy")


def test_a_model_runs_where_upshift_is_not(tmp_path: Path) -> None:
    model = model_with(Applied(standardised))
    model.compile("sgd", "mse")
    model.fit(X, np.zeros((5, 2)), verbose=0)
    expected = model(X).numpy()
    ut.save(model, tmp_path / "model")
    for x, want in ((X, expected), (np.tile(X, (3, 1)), np.tile(expected, (3, 1)))):
        np.testing.assert_allclose(run_elsewhere(tmp_path / "model", tmp_path, x), want, rtol=1e-5, atol=1e-6)


def test_a_module_runs_where_upshift_is_not(tmp_path: Path) -> None:
    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def __call__(self, x: Any) -> Any:
            return ut.numpy_function(apart, [x], tf.float32, stateful=False)

    ut.save(Module(), tmp_path / "module")
    made = run_elsewhere(tmp_path / "module", tmp_path, X)
    np.testing.assert_allclose(made, (X - MEANS) ** 2, rtol=1e-5)


def test_the_layer_learns() -> None:
    """Weights below a function in TensorFlow's own operations have gradients."""
    model = model_with(Applied(standardised))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.function(model)(X) ** 2)
    assert all(gradient is not None for gradient in tape.gradient(loss, model.trainable_variables))


@pytest.mark.parametrize(
    "layer, reason",
    [
        (Applied(sorts), r"sorts \(.*test_tf_saved.py:\d+\): sort"),
        (Applied(lambda x: x * MEANS), r"captures 'MEANS'.*stateful=False"),
    ],
)
def test_what_calls_python_is_not_saved(layer: Any, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ut.NotSaved, match=reason):
        ut.save(model_with(layer), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_calls_of_others_are_not_saved(tmp_path: Path) -> None:
    layer = tf.keras.layers.Lambda(lambda x: tf.ensure_shape(tf.numpy_function(sorts, [x], tf.float32), (None, 4)))
    with pytest.raises(ut.NotSaved, match=r"not of ut\.numpy_function"):
        ut.save(model_with(layer), tmp_path / "model")


def test_what_was_saved_before_is_replaced(tmp_path: Path) -> None:
    model = model_with(Applied(standardised))
    ut.save(model, tmp_path / "model")
    ut.save(model, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded.serve(X), model(X), rtol=1e-5)


def test_what_autograph_rewrites_is_told(tmp_path: Path) -> None:
    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def __call__(self, x: Any) -> Any:
            return ut.numpy_function(lambda x: x * 2, [x], tf.float32)

    module = Module()
    assert np.array_equal(module(X), X * 2)
    with pytest.raises(ut.NotSaved, match=r"outside of the tf\.function"):
        ut.save(module, tmp_path / "module")
