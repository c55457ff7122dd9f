"""`import upshift.tensorflow as ut`: TensorFlow's words for mapping, with the loop's results, in the fastest gear."""

from ..adaptive import function
from ..profiling.probes import catch_up
from . import framework  # noqa: F401 - first: it loads TensorFlow whole
from .datasets import map, map_dataset
from .explain import explain
from .layer import MapLayer
from .mapping import map_fn, vectorized_map
from .native import native_form
from .numpy_function import numpy_function, py_function
from .saved import NotSaved, save
from .value import NotNative

__all__ = [
    "MapLayer",
    "explain",
    "function",
    "map_fn",
    "vectorized_map",
    "map_dataset",
    "map",
    "numpy_function",
    "py_function",
    "native_form",
    "NotNative",
    "save",
    "NotSaved",
]

catch_up()  # a profile that is open sees maps over tensors from now on
