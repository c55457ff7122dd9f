"""Reads columns block by block. All blocks but the last have one number of rows."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..columns.inputs import common_length, elements_of
from ..columns.mapped import mapped_in
from ..loading import Later
from .opened import is_dataset, is_path, is_zarr, opened, selected

pa: Any = Later("pyarrow")

BLOCK_BYTES = 1 << 24
"""About what a block has: large enough that nothing is felt of its being one, and a few of them take little room."""


@dataclass(frozen=True, slots=True)
class Block:
    """The rows from `low` on."""

    low: int
    n: int
    columns: tuple[Any, ...]


class Source(Protocol):
    """What is read block by block."""

    n: int
    rows: int

    def blocks(self, first: int) -> Iterator[Block]:
        """Those from a row on, which is the first of a block."""
        ...

    def give_back(self) -> None:
        """Memory of what has been read."""
        ...

    def identity(self) -> Any:
        """What tells it apart from any other, and from itself when it has changed."""
        ...


def source_of(xs: Sequence[Any], columns: Any, out: Any) -> Source:
    """How these are read."""
    found = [opened(x) if columns is not None or not isinstance(x, str) or is_path(out) else x for x in xs]
    if len(found) == 1 and is_dataset(found[0]):
        return Tables(found[0], columns)
    if any(is_dataset(x) for x in found):
        raise TypeError("a dataset is mapped by itself: its rows have all columns of an element")
    return Arrays([selected(x, columns) for x in found], getattr(out, "nbytes", 0))


class Arrays:
    """Columns whose rows can be asked for by position: arrays, memory maps, Zarr's arrays, tables, lists."""

    def __init__(self, xs: Sequence[Any], more: int = 0) -> None:
        self.xs: list[Any] = [x if _is_sliced(x) else elements_of(x) for x in xs]
        self.n = common_length([x if hasattr(x, "__len__") else range(x.shape[0]) for x in self.xs])
        row = max(sum(map(_nbytes, self.xs)), more) // max(self.n, 1)
        self.rows = max(BLOCK_BYTES // max(row, 1), 1)
        chunk = max([x.chunks[0] for x in self.xs if is_zarr(x)], default=1)
        self.rows = -(-self.rows // chunk) * chunk
        self.mapped = mapped_in(self.xs)

    def blocks(self, first: int) -> Iterator[Block]:
        for low in range(first, self.n, self.rows):
            n = min(self.rows, self.n - low)
            yield Block(low, n, tuple([_cut(x, low, n) for x in self.xs]))

    def give_back(self) -> None:
        if self.mapped is not None:
            self.mapped.give_back()

    def identity(self) -> Any:
        return "arrays", self.rows, [_identity(x) for x in self.xs]


def _is_sliced(x: Any) -> bool:
    return isinstance(x, np.ndarray) or is_zarr(x) or hasattr(x, "slice")


def _nbytes(x: Any) -> int:
    return int(x.nbytes) if hasattr(x, "nbytes") else 16 * len(x)


def _cut(x: Any, low: int, n: int) -> Any:
    if hasattr(x, "slice"):
        return x.slice(low, n)
    part = x[low : low + n]
    if isinstance(part, np.memmap) and hasattr(mmap, "MADV_WILLNEED"):
        _read_ahead(part)
    return part


def _read_ahead(part: Any) -> None:
    """The system begins to read these pages."""
    whole = part._mmap
    first = np.frombuffer(whole, np.uint8).__array_interface__["data"][0]
    low, high = np.lib.array_utils.byte_bounds(part)
    start = (low - first) // mmap.PAGESIZE * mmap.PAGESIZE
    whole.madvise(mmap.MADV_WILLNEED, start, min(high - first, len(whole)) - start)


def _identity(x: Any) -> Any:
    kind = str(getattr(x, "dtype", type(x).__name__)), tuple(getattr(x, "shape", (0,)))
    file = getattr(x, "filename", None)
    if isinstance(x, np.memmap) and file:
        return kind, _file_identity(file), x.offset
    if is_zarr(x):
        return kind, str(x.store), x.path, _folder_identity(getattr(x.store, "root", None))
    return kind, x


def _file_identity(path: Any) -> Any:
    """A file as it is now."""
    found = os.stat(path)
    return os.path.abspath(path), found.st_size, found.st_mtime_ns


def _folder_identity(path: Any) -> Any:
    if path is None:
        return None
    return [_file_identity(os.path.join(at, name)) for at, _, names in sorted(os.walk(path)) for name in sorted(names)]


class Tables:
    """A dataset: its rows are dicts of the columns that are read; where one is named by itself, its values."""

    def __init__(self, dataset: Any, columns: Any) -> None:
        self.dataset, self.columns = dataset, columns
        self.names = [columns] if isinstance(columns, str) else list(columns or dataset.schema.names)
        for name in self.names:
            if name not in dataset.schema.names:
                raise ValueError(f"there is no column {name!r}; there are {', '.join(dataset.schema.names)}")
        pieces = [piece for fragment in dataset.get_fragments() for piece in _split(fragment)]
        self.pieces = [(piece, _rows(piece)) for piece in pieces]
        self.n = sum(n for _, n in self.pieces)
        row = sum(_width(dataset.schema.field(name).type) for name in self.names)
        self.rows = max(BLOCK_BYTES // max(row, 1), 1)

    def blocks(self, first: int) -> Iterator[Block]:
        low, held, kept = first, 0, list[Any]()
        for batch in self._batches(first):
            while held + batch.num_rows >= self.rows:
                room = self.rows - held
                yield self._block(pa.Table.from_batches([*kept, batch.slice(0, room)]), low)
                low, held, kept, batch = low + self.rows, 0, [], batch.slice(room)
            if batch.num_rows:
                kept.append(batch)
                held += batch.num_rows
        if held:
            yield self._block(pa.Table.from_batches(kept), low)

    def _batches(self, first: int) -> Iterator[Any]:
        for piece, n in self.pieces:
            if first >= n:
                first -= n
                continue
            for batch in piece.to_batches(
                schema=self.dataset.schema, columns=self.names, batch_size=self.rows, batch_readahead=1
            ):
                skipped = min(first, batch.num_rows)
                first -= skipped
                if skipped < batch.num_rows:
                    yield batch.slice(skipped)

    def _block(self, table: Any, low: int) -> Block:
        table = table.combine_chunks()
        return Block(low, table.num_rows, (table[self.columns] if isinstance(self.columns, str) else table,))

    def give_back(self) -> None:
        pass

    def identity(self) -> Any:
        files = list(getattr(self.dataset, "files", []))
        return "tables", self.rows, self.n, self.names, str(self.dataset.schema), [_file_identity(f) for f in files]


def _split(fragment: Any) -> list[Any]:
    """A file of Parquet by its groups of rows, which are read one by one."""
    return fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]


def _rows(piece: Any) -> int:
    groups = getattr(piece, "row_groups", None)
    return sum(group.num_rows for group in groups) if groups is not None else int(piece.count_rows())


TEXT_BYTES = 48
"""What a value takes whose type does not say, about."""


def _width(kind: Any) -> int:
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:
        return TEXT_BYTES
