"""Results as rows of an array: one that is there (memory maps and Zarr's among them), or a new file (.npy, .zarr)."""

from __future__ import annotations

import math
import os
import shutil
from typing import Any

import numpy as np

from ..columns.mapped import Mapped, mapped_in
from ..errors import UpshiftError
from ..loading import Later
from .journal import SUFFIX, Journal
from .opened import is_zarr, need
from .sources import BLOCK_BYTES

zarr: Any = Later("zarr")


def fill(out: Any, low: int, n: int, result: Any) -> None:
    """Rows of an array from `low` on."""
    shape = (n, *out.shape[1:])
    if not isinstance(result, np.ndarray) or result.shape != shape:
        found = result.shape if isinstance(result, np.ndarray) else type(result).__name__
        raise ValueError(f"out has shape {shape}, the result is {found}")
    if isinstance(out, np.ndarray):
        np.copyto(out[low : low + n], result, casting="same_kind")
    elif np.can_cast(result.dtype, out.dtype, "same_kind"):
        out[low : low + n] = result
    else:
        raise TypeError(f"results of dtype {result.dtype} do not fit into {out.dtype}")


class InPlace:
    """An array that the user has made."""

    def __init__(self, out: Any) -> None:
        self.out = out
        self.journal: Journal | None = None
        self.mapped: Mapped | None = mapped_in([out])

    @property
    def place(self) -> str:
        file = getattr(self.out, "filename", None)
        if is_zarr(self.out) and getattr(self.out.store, "root", None) is not None:
            file = os.path.join(str(self.out.store.root), self.out.path).rstrip(os.sep)
        if file is None:
            raise ValueError("resume=True needs an out that is a file: a path, a memory map, or an array of Zarr's")
        return str(os.fspath(file))

    def begin(self, journal: Journal | None) -> int:
        self.journal = journal
        return journal.done if journal is not None else 0

    def write(self, i: int, low: int, n: int, result: Any) -> None:
        fill(self.out, low, n, result)
        if self.journal is not None:
            if isinstance(self.out, np.memmap):
                self.out.flush()
            self.journal.note(i + 1)
        if self.mapped is not None:
            self.mapped.give_back()

    def finish(self) -> Any:
        return self.out

    def abandon(self) -> None:
        pass


class NewArray:
    """A file that is made when the first results tell what it holds; made anew where later ones need another dtype."""

    def __init__(self, path: str, n: int) -> None:
        self.path, self.n = path, n
        self.journal: Journal | None = None
        self.array: Any = None
        self.made = 0

    @property
    def place(self) -> str:
        return self.path

    def begin(self, journal: Journal | None) -> int:
        self.journal = journal
        if journal is None:
            shutil.rmtree(self.path + SUFFIX, ignore_errors=True)
            os.makedirs(self.path + SUFFIX)
            return 0
        name = journal.state.get("name")
        if name is None:
            return 0
        self.made = int(name.partition(".")[0])
        self.array = self._open(name)
        return journal.done

    def _name(self) -> str:
        return f"{self.made}{os.path.splitext(self.path)[1].lower()}"

    def _at(self, name: str) -> str:
        return os.path.join(self.path + SUFFIX, name)

    def _open(self, name: str) -> Any:
        if name.endswith(".zarr"):
            return need(zarr, "zarr", "open_array")(self._at(name), mode="r+")
        return np.lib.format.open_memmap(self._at(name), mode="r+")

    def _make(self, shape: tuple[int, ...], dtype: Any) -> Any:
        self.made += 1
        path = self._at(self._name())
        if path.endswith(".zarr"):
            shutil.rmtree(path, ignore_errors=True)
            row = math.prod(shape[1:]) * dtype.itemsize
            chunk = min(max(BLOCK_BYTES // 4 // max(row, 1), 1), max(self.n, 1))
            create = need(zarr, "zarr", "create_array")
            return create(store=path, shape=shape, dtype=dtype, chunks=(chunk, *shape[1:]), zarr_format=3)
        made = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
        if hasattr(os, "posix_fallocate") and made.nbytes:  # a full disk is an error now, not the end of this process
            with open(path, "r+b") as file:
                os.posix_fallocate(file.fileno(), 0, made.offset + made.nbytes)
        return made

    def write(self, i: int, low: int, n: int, result: Any) -> None:
        if not isinstance(result, np.ndarray) or result.dtype == object:
            found = result.dtype if isinstance(result, np.ndarray) else type(result).__name__
            raise UpshiftError(f"{self.path!r} holds an array of numbers; the results are {found}")
        shape = (self.n, *result.shape[1:])
        if self.array is None:
            self.array = self._make(shape, result.dtype)
        elif self.array.shape != shape:
            raise UpshiftError(f"results of element {low} on have shape {result.shape[1:]}, not {self.array.shape[1:]}")
        dtype = np.result_type(self.array.dtype, result.dtype)
        if dtype != self.array.dtype:
            self._widen(dtype, low)
        fill(self.array, low, n, result)
        if self.journal is not None:
            if isinstance(self.array, np.memmap):
                self.array.flush()
            self.journal.note(i + 1, name=self._name())
        mapped = mapped_in([self.array])
        if mapped is not None:
            mapped.give_back()

    def _widen(self, dtype: Any, done: int) -> None:
        before = self.array
        self.array = self._make(before.shape, dtype)
        step = max(BLOCK_BYTES // max(before.nbytes // max(self.n, 1), 1), 1)
        for low in range(0, done, step):
            high = min(low + step, done)
            self.array[low:high] = before[low:high]

    def finish(self) -> Any:
        if self.array is None:
            self.array = self._make((0,), np.dtype(np.float64))
        if isinstance(self.array, np.memmap):
            self.array.flush()
        self.array = None
        if os.path.isdir(self.path):
            shutil.rmtree(self.path)
        os.replace(self._at(self._name()), self.path)
        shutil.rmtree(self.path + SUFFIX, ignore_errors=True)
        return self.path

    def abandon(self) -> None:
        self.array = None
        if self.journal is None:
            shutil.rmtree(self.path + SUFFIX, ignore_errors=True)
