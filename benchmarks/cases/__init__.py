"""The cases to be measured, one file each in this folder, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

NAMES = (
    "square",
    "sine_mix",
    "branch3",
    "quadratic",
    "polynomial",
    "newton",
    "gcd",
    "collatz",
    "escape",
    "pendulum",
    "bilinear",
    "validated",
    "sqrt_image",
    "standardise",
    "box_filter",
    "histogram",
    "softmax",
    "rotation",
    "solve",
    "distances",
    "moving_average",
    "spectrum",
    "random_flip",
    "gaussian_blur",
    "scikit_rotate",
    "digits",
    "nearest",
)

QUICK = ("square", "sine_mix", "branch3", "newton", "collatz", "bilinear", "softmax", "rotation")
"""A few of each sort, for a look that takes under a minute."""

Columns = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """A function of one element, its data, and the same function as the peers want it written.

    `paths` is how many ways through `f` the data takes: 1 is a straight line, None is too many to count.
    `peers` has "numpy" and "numba_columns" (columns in, columns out), and "numba", "jax", "tensorflow" (one element in,
    one out).
    """

    name: str
    about: str
    sizes: tuple[int, ...]
    paths: int | None
    data: Callable[[int, np.random.Generator], Columns]
    f: Callable[..., Any]
    peers: dict[str, Callable[..., Any]]
    arrays: bool = False
    """Whether elements are arrays: then there is no second run on lists of numbers."""
    reset: Callable[[], None] = lambda: None
    """What puts random generators back, so that results can be compared."""


def load(name: str) -> Case:
    module = import_module(f"{__name__}.{name}")
    arrays = getattr(module, "ARRAYS", False)
    return Case(name, module.__doc__.strip(), module.SIZES, module.PATHS, module.data, module.f, module.PEERS, arrays,
                getattr(module, "reset", lambda: None))  # fmt: skip
