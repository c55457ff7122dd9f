"""Opens what lies at a path: a memory map, a dataset of Arrow's, an array of Zarr's."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UpshiftError
from ..loading import Later

datasets: Any = Later("pyarrow.dataset")
zarr: Any = Later("zarr")


def is_path(x: Any) -> bool:
    """Whether this is the path of a file where a file is meant: a text, or a path by its class."""
    return isinstance(x, str) or hasattr(type(x), "__fspath__")


def are_files(xs: Sequence[Any], out: Any, columns: Any) -> bool:
    """Whether a call is about files: by its words, or by what is passed. A text alone is its characters."""
    return out is not None or columns is not None or any(hasattr(type(x), "__fspath__") or _is_stored(x) for x in xs)


def is_dataset(x: Any) -> bool:
    """Whether this is a dataset of Arrow's."""
    return type(x).__module__ == "pyarrow._dataset" and hasattr(x, "get_fragments")


def _is_stored(x: Any) -> bool:
    """Whether this is an array of Zarr's, or a dataset of Arrow's."""
    return is_zarr(x) or is_dataset(x)


def is_zarr(x: Any) -> bool:
    """Whether this is an array of Zarr's."""
    found = sys.modules.get("zarr")
    return found is not None and isinstance(x, found.Array)


def opened(x: Any) -> Any:
    """What is at a path; anything else as it is."""
    if not is_path(x):
        return x
    path = os.fspath(x)
    end = os.path.splitext(path)[1].lower()
    if end == ".npy":
        return np.load(path, mmap_mode="r")
    if end == ".zarr":
        return need(zarr, "zarr", "open_array")(path, mode="r")
    dataset = need(datasets, "arrow", "dataset")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path!r}")
    if end in (".arrow", ".feather", ".ipc"):
        return dataset(path, format="ipc")
    if end == ".csv":
        return dataset(path, format="csv")
    return dataset(path, format="parquet", partitioning="hive")


def need(module: Any, extra: str, name: str) -> Any:
    """Something of a library's, or an error that says how it is installed."""
    try:
        return getattr(module, name)
    except ModuleNotFoundError as error:
        raise UpshiftError(f'{error.name} is not installed: pip install "upshift[{extra}]"') from None


def whole(x: Any, columns: Any) -> Any:
    """All of what is at a path, in memory."""
    x = opened(x)
    if is_dataset(x):
        return selected(x.to_table(columns=_names(columns)), columns)
    return selected(x[:] if is_zarr(x) else x, columns)


def _names(columns: Any) -> list[str] | None:
    if columns is None:
        return None
    return [columns] if isinstance(columns, str) else list(columns)


def selected(table: Any, columns: Any) -> Any:
    """Some columns of a table; of one that is named by itself, its values."""
    if columns is None:
        return table
    if not hasattr(table, "columns") and not hasattr(table, "column_names"):
        raise TypeError(f"columns= is for tables, not for {type(table).__name__}")
    if isinstance(columns, str):
        return table[columns]
    return table.select(list(columns)) if hasattr(table, "select") else table[list(columns)]
