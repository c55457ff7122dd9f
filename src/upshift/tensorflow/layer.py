"""`ut.MapLayer`: a Keras layer that maps a function of one element over its batch."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import struct_pb2
from tensorflow.python.saved_model import nested_structure_coder

from .mapping import map_fn


@tf.keras.utils.register_keras_serializable(package="upshift")
class MapLayer(tf.keras.layers.Layer):  # type: ignore[misc]
    """`map_fn(f, batch)` as a layer.

    >>> import tensorflow as tf, upshift.tensorflow as ut
    >>> ut.MapLayer(lambda x: x / tf.reduce_sum(x))(tf.constant([[1.0, 3.0]])).numpy()
    array([[0.25, 0.75]], dtype=float32)

    To be saved, `f` must be a function that Keras can find again, by `keras.saving.register_keras_serializable()`.
    `output_signature`: what `f` gives, as in `tf.map_fn`, where that cannot be found out. Layers, variables and modules
    that `f` is or holds as attributes are trained with the model.
    """

    def __init__(self, f: Callable[..., Any], output_signature: Any = None, **keywords: Any) -> None:
        super().__init__(**keywords)
        if not callable(f):
            raise TypeError(f"f must be callable, not {f!r}")
        self.f = f
        self.output_signature = output_signature

    def call(self, inputs: Any) -> Any:
        """The batch, mapped."""
        return map_fn(self.f, inputs, fn_output_signature=self.output_signature)

    def get_config(self) -> dict[str, Any]:
        """What the layer is made of; the function by its registered name."""
        config: dict[str, Any] = super().get_config()
        told = tf.nest.map_structure(_written, self.output_signature)
        return config | {"f": tf.keras.utils.serialize_keras_object(self.f), "output_signature": told}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> MapLayer:
        """The layer again."""
        f = tf.keras.utils.deserialize_keras_object(config["f"])
        return cls(**{**config, "f": f, "output_signature": _read(config.get("output_signature"))})


def _written(spec: Any) -> Any:
    """A dtype or spec as text, which JSON can hold."""
    if spec is None or isinstance(spec, str):
        return spec
    if not isinstance(spec, tf.TypeSpec):
        return tf.as_dtype(spec).name
    text = nested_structure_coder.encode_structure(spec).SerializeToString()
    return "spec:" + base64.b64encode(text).decode()


def _read(told: Any) -> Any:
    """What `_written` wrote; lists and dicts of it, too."""
    if isinstance(told, dict):
        return {name: _read(part) for name, part in told.items()}
    if isinstance(told, list | tuple):
        return type(told)(map(_read, told))
    if not isinstance(told, str) or not told.startswith("spec:"):
        return told
    proto = struct_pb2.StructuredValue.FromString(base64.b64decode(told.removeprefix("spec:")))
    return nested_structure_coder.decode_proto(proto)
