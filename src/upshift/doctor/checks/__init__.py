"""The checks, by what they look at; loading the package fills the table."""

from ..table import CHECKS, Check, Figure
from . import arrays, datasets, frames, jits, leftovers, sessions, tensorflow_functions, tensorflow_maps, tensors

__all__ = [
    "CHECKS",
    "Check",
    "Figure",
    "arrays",
    "datasets",
    "frames",
    "jits",
    "leftovers",
    "sessions",
    "tensorflow_functions",
    "tensorflow_maps",
    "tensors",
]
