"""Results as rows of a table in a file: Parquet, or Arrow's own. It is there when it is whole, and not before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import UpshiftError
from ..frames.results import RESULT, fields_of
from ..loading import Later
from .journal import SUFFIX, Journal

pa: Any = Later("pyarrow")
parquet: Any = Later("pyarrow.parquet")


class NewTable:
    """Every block is a group of rows; in a run that may be resumed, a file of its own until all of them are there."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.journal: Journal | None = None
        self.writer: Any = None
        self.schema: Any = None
        self.written = 0

    @property
    def place(self) -> str:
        return self.path

    @property
    def folder(self) -> str:
        """Where its parts lie until all of them are there."""
        return self.path + SUFFIX

    def begin(self, journal: Journal | None) -> int:
        self.journal = journal
        if journal is not None:
            return journal.done
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        return 0

    def write(self, i: int, low: int, n: int, result: Any) -> None:
        table = _table_of(result)
        if self.journal is None:
            self._append(table, low)
            return
        path = self._part(i)
        with pa.OSFile(path + ".new", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        os.replace(path + ".new", path)
        self.journal.note(i + 1)

    def _part(self, i: int) -> str:
        return os.path.join(self.folder, f"{i:08}.arrow")

    def _append(self, table: Any, low: int) -> None:
        if self.writer is None:
            self.schema = self.schema or table.schema
            self.writer = self._open()
        if table.schema != self.schema:
            if table.schema.names != self.schema.names:
                raise UpshiftError(
                    f"results of element {low} on have columns {', '.join(table.schema.names)}; "
                    f"those before have {', '.join(self.schema.names)}"
                )
            self._widen(_common_schema(self.schema, table.schema))
            table = table.cast(self.schema, safe=False)
        if table.num_rows:
            _write(self.writer, table)

    def _at(self) -> str:
        return os.path.join(self.folder, f"{self.written}{os.path.splitext(self.path)[1].lower()}")

    def _open(self) -> Any:
        path = self._at()
        return (
            parquet.ParquetWriter(path, self.schema)
            if path.endswith(".parquet")
            else pa.ipc.new_file(path, self.schema)
        )

    def _widen(self, schema: Any) -> None:
        """What is written already, once more with columns that hold what comes, too."""
        if schema == self.schema:
            return
        self.writer.close()
        before = self._at()
        self.written += 1
        self.schema = schema
        self.writer = self._open()
        for table in _groups(before):
            _write(self.writer, table.cast(schema, safe=False))
        os.remove(before)

    def finish(self) -> Any:
        if self.journal is not None:
            parts = [self._part(i) for i in range(self.journal.done)]
            for part in parts:
                found = _schema_of(part)
                self.schema = _common_schema(self.schema, found) if self.schema is not None else found
            for i, part in enumerate(parts):
                self._append(next(_groups(part, whole=True)), i)
        if self.writer is None:
            self.schema = pa.schema([(RESULT, pa.float64())])
            self.writer = self._open()
        self.writer.close()
        self.writer = None
        os.replace(self._at(), self.path)
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.path

    def abandon(self) -> None:
        if self.writer is not None:
            try:
                self.writer.close()
            except OSError:  # the disk that was full still is
                pass
            self.writer = None
        if self.journal is None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _write(writer: Any, table: Any) -> None:
    """One group of rows."""
    if isinstance(writer, parquet.ParquetWriter):
        writer.write_table(table, row_group_size=table.num_rows)
    else:
        writer.write_table(table.combine_chunks())


def _groups(path: str, whole: bool = False) -> Iterator[Any]:
    """The groups of rows in a file, one by one."""
    if path.endswith(".parquet"):
        with parquet.ParquetFile(path) as file:
            for i in range(file.num_row_groups):
                yield file.read_row_group(i)
        return
    with pa.memory_map(path) as file:
        reader = pa.ipc.open_file(file)
        if whole:
            yield reader.read_all()
            return
        for i in range(reader.num_record_batches):
            yield pa.Table.from_batches([reader.get_batch(i)])


def _schema_of(path: str) -> Any:
    with pa.memory_map(path) as file:
        return pa.ipc.open_file(file).schema


def _common_schema(a: Any, b: Any) -> Any:
    """Columns that hold the values of both, by NumPy's promotion where they are numbers."""
    if a.names != b.names:
        return a
    return pa.schema([pa.field(x.name, _common(x.type, y.type)) for x, y in zip(a, b)])


def _common(a: Any, b: Any) -> Any:
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    try:
        return pa.from_numpy_dtype(np.result_type(a.to_pandas_dtype(), b.to_pandas_dtype()))
    except (TypeError, NotImplementedError, pa.ArrowNotImplementedError):
        pass
    try:
        one, other = pa.schema([("x", a)]), pa.schema([("x", b)])
        return pa.unify_schemas([one, other], promote_options="permissive").field("x").type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise UpshiftError(f"results are {a} in some blocks and {b} in others") from None


def _table_of(result: Any) -> Any:
    """The results of a block as a table: fields of records are its columns."""
    columns = fields_of(result)
    return pa.table({name: array_of(column) for name, column in (columns or {RESULT: result}).items()})


def array_of(column: Any) -> Any:
    """A column of results as Arrow's."""
    fields = fields_of(column)
    if fields is not None:
        return pa.StructArray.from_arrays([array_of(one) for one in fields.values()], list(fields))
    if isinstance(column, np.ndarray) and column.ndim > 1:
        rows = array_of(np.ascontiguousarray(column).reshape(-1, *column.shape[2:]))
        return pa.FixedSizeListArray.from_arrays(rows, column.shape[1])
    return pa.array(column.tolist() if isinstance(column, np.ndarray) and column.dtype == object else column)
