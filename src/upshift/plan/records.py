"""Turns a job over records into one over the fields that its function reads.

One reader belongs to one function on one kind of elements: which fields are read is found once, and only their columns
are made, in every call. Rows of a table, whose columns are there already, are never made.
"""

from __future__ import annotations

import time
import types
from typing import Any

from ..columns.fields import NotFields, are_records, classes_in, field_of
from ..columns.inputs import Elements, Rows
from ..compiler.fields import Fields, fields_of
from ..gears.job import Job
from ..gears.llvm import columns as llvm_columns
from ..gears.llvm import records as records_reader
from ..gears.llvm.columns import NotColumns
from . import prices

FEW = 16
ENOUGH = 1 << 14
"""Records whose fields tell how long it takes to pick numbers out of them: to begin takes as long as thousands."""


class Reader:
    """What is known of the fields that a function reads."""

    def __init__(self) -> None:
        self.looked = False
        self.fields: Fields | None = None
        self.at: tuple[int, ...] = ()

    def by_fields(self, job: Job) -> Job:
        """The job over fields, or as it is where it has no records, or more of them is used than some fields."""
        if not self.looked:
            self._look(job)
        if self.fields is None or type(job.f) is not types.FunctionType or job.whole is not None:
            return job
        columns: list[Elements] = []
        try:
            for i, column in enumerate(job.columns):
                if i not in self.at:
                    columns.append(column)
                    continue
                columns += _fields_in(column, [(how, name) for at, how, name in self.fields.reads if at == i])
        except NotFields:
            return job
        f = self.fields.of(job.f)
        return Job(f, columns, job.shared, job.n, job.exact, job.offset, blocks=job.blocks, whole=job)

    def _look(self, job: Job) -> None:
        self.looked = True
        self.at = tuple(i for i, column in enumerate(job.columns) if _pays(column) or _leaves_texts(job.f, i, column))
        if self.at and type(job.f) is types.FunctionType:
            found = fields_of(job.f, self.at)
            self.fields = found if isinstance(found, Fields) and len(found.reads) else None


def _fields_in(records: Elements, reads: list[tuple[str, Any]]) -> list[Elements]:
    """What reading each of these fields of every record gives."""
    read, began = None, 0.0
    if isinstance(records, list | tuple) and records_reader.is_ready():
        began = time.perf_counter()
        read = records_reader.numbers_in(records, reads)
    numbers: Any = read or [None] * len(reads)
    if all(one is not None for one in numbers):
        if len(records) >= ENOUGH:
            expected = prices.RECORD + len(reads) * prices.PICKED
            prices.learn("fields", len(records) * expected, time.perf_counter() - began)
        return numbers  # type: ignore[no-any-return]
    classes = classes_in(records)
    return [
        field_of(records, how, name, classes) if column is None else column
        for column, (how, name) in zip(numbers, reads)
    ]


def _leaves_texts(f: Any, at: int, column: Elements) -> bool:
    """Whether these are tuples with items other than numbers that a function does not read: a text costs most."""
    first = column[0] if isinstance(column, list | tuple) and len(column) else None
    if not isinstance(first, tuple) or all(type(item) in (int, float) for item in first):
        return False
    found = fields_of(f, (at,))
    if not isinstance(found, Fields) or not found.reads:
        return False
    names = getattr(type(first), "_fields", ())
    read = {names.index(name) if name in names else name for _, _, name in found.reads}
    if not all(type(i) is int and -len(first) <= i < len(first) for i in read):
        return False
    unread = set(range(len(first))) - {i % len(first) for i in read}
    return any(type(first[i]) not in (int, float) for i in unread)


def _pays(column: Elements) -> bool:
    """Whether these are records, and others than machine code reads itself."""
    if not are_records(column):
        return False
    if isinstance(column, Rows):
        return True
    try:
        llvm_columns.read(column[:FEW])
    except NotColumns:
        return True
    return False
