"""Writes the results of blocks into what was given as `out`: an array that is there, or a new file."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np

from .arrays import InPlace, NewArray, fill
from .journal import Journal
from .opened import is_path, is_zarr
from .tables import NewTable

TABLES = (".parquet", ".arrow", ".feather")
ARRAYS = (".npy", ".zarr")


class Sink(Protocol):
    """What is written block by block."""

    @property
    def place(self) -> str:
        """The path that a run to it is known by."""
        ...

    def begin(self, journal: Journal | None) -> int:
        """How many blocks are there from an earlier run."""
        ...

    def write(self, i: int, low: int, n: int, result: Any) -> None:
        """The i-th block's results, of n elements from `low` on."""
        ...

    def finish(self) -> Any:
        """What the user is given back."""
        ...

    def abandon(self) -> None:
        """Nothing is left behind but what a later run will go on with."""
        ...


def sink_of(out: Any, n: int, on_error: Any) -> Sink:
    """Where the results of n elements go."""
    if is_path(out):
        path = os.fspath(out)
        end = os.path.splitext(path)[1].lower()
        if end in TABLES:
            return NewTable(path)
        if end in ARRAYS:
            _refuse_skips(on_error, path)
            return NewArray(path, n)
        raise ValueError(f"out is a file {', '.join(TABLES + ARRAYS)}, not {path!r}")
    if not isinstance(out, np.ndarray) and not is_zarr(out):
        raise TypeError(f"out must be an array or the path of a file, not {out!r}")
    _refuse_skips(on_error, "an array")
    if out.shape[:1] != (n,):
        raise ValueError(f"out has {out.shape[:1]} rows for {n} elements")
    return InPlace(out)


def _refuse_skips(on_error: Any, what: str) -> None:
    if on_error == "skip":
        raise ValueError(f'{what} has a row for every element, of which on_error="skip" leaves some out')


def store(result: Any, out: Any) -> None:
    """A whole result into an array."""
    sink_of(out, len(out), "raise")
    fill(out, 0, len(out), result)
