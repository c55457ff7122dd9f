"""A function of one element in; a Keras layer that maps it over its batch out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

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
        return config | {"f": tf.keras.utils.serialize_keras_object(self.f)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> MapLayer:
        """The layer again."""
        return cls(**{**config, "f": tf.keras.utils.deserialize_keras_object(config["f"])})
