"""Writes a SavedModel that runs without Upshift."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from ..errors import UpshiftError
from .numpy_function import REASONS

CALLS = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
"""Operations that call Python."""


class NotSaved(UpshiftError):
    """A model calls Python, which cannot be saved."""


def save(model: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """`model.export(path)` of a Keras model, or `tf.saved_model.save`, but only what will run anywhere.

    A model with `ut.numpy_function` inside can be saved where that became TensorFlow's own operations. Else nothing is
    written, and `NotSaved` says which function calls Python, and why.
    """
    place = os.path.abspath(os.fspath(path))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    made = tempfile.mkdtemp(prefix=".saving-", dir=os.path.dirname(place))
    try:
        if isinstance(model, tf.keras.Model):
            model.export(made, verbose=False, **options)
        else:
            tf.saved_model.save(model, made, **options)
        calls = sorted({_told(token) for token in _python_calls(made)})
        if calls:
            raise NotSaved("a saved model cannot call Python:\n" + "\n".join(f"  {call}" for call in calls))
        if os.path.isdir(place):
            shutil.rmtree(place)
        os.replace(made, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _python_calls(folder: str) -> Iterator[str]:
    """The tokens of the functions that a SavedModel calls."""
    with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
        saved = saved_model_pb2.SavedModel.FromString(file.read())
    for graph in saved.meta_graphs:
        library = (node for function in graph.graph_def.library.function for node in function.node_def)
        for node in (*graph.graph_def.node, *library):
            if node.op in CALLS:
                yield node.attr["token"].s.decode()


def _told(token: str) -> str:
    return REASONS.get(token, f"{token}: it is not of ut.numpy_function")
