"""Compile a function and compare every lane with the plain function: values, classes, bits, and who is left.

check(lambda x: x * 2, [(1.0,), (2.0,)])                  # compiles, no lane is left but those that raise
check(f, rows, left=3)                                    # at most three lanes are left that do not raise
refusal(f, row)                                           # why it does not compile
"""

from __future__ import annotations

import collections
import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from upshift.compiler import kernel, results, tables
from upshift.compiler.classes import class_of
from upshift.compiler.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    STR,
    Cell,
    Either,
    Kind,
    List,
    Refused,
    Tuple,
    accepts,
)
from upshift.trace.paths import Roots

kernel.GUARDED = False  # an error of the compiler's own is a failure here
DTYPES: dict[Any, Any] = {INT: np.int64, FLOAT: np.float64, BOOL: np.bool_, COMPLEX: np.complex128}


def kind_of(value: Any) -> Kind:
    """The kind of an element."""
    plain = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, str: STR, type(None): NONE}
    if type(value) in plain:
        return plain[type(value)]
    if isinstance(value, np.generic):
        return NUMPY[value.dtype]
    if type(value) is tuple:
        return Tuple(tuple(map(kind_of, value)))
    if type(value) is list:
        cell = Cell()
        for item in value:
            cell.add(kind_of(item))
        return List(cell)
    raise TypeError(f"no kind for {value!r}")


def kinds_of(rows: Sequence[tuple[Any, ...]]) -> list[Kind]:
    """The kinds of the arguments, the same for all rows; empty lists take theirs from others."""
    found = []
    for column in zip(*rows):
        cell = Cell(kind_of(max(column, key=lambda v: len(v) if type(v) is list else 0)))
        for value in column:
            cell.add(kind_of(value))
        found.append(cell.kind)
    return found


def columns_of(kind: Kind, values: Sequence[Any]) -> list[Any]:
    if isinstance(kind, List):
        flat = [item for value in values for item in value]
        return [*columns_of(kind.cell.kind or INT, flat), np.cumsum([0, *map(len, values)])]
    if isinstance(kind, Either):
        own = [next(i for i, one in enumerate(kind.kinds) if accepts(one, kind_of(value))) for value in values]
        columns = [np.array(own, np.int8)]
        for i, one in enumerate(kind.kinds):
            columns += columns_of(one, [value if tag == i else nothing(one) for value, tag in zip(values, own)])
        return columns
    if kind is STR:
        text = "".join(values).encode("ascii") + b"\0"
        return [np.frombuffer(text, np.uint8).copy(), np.cumsum([0, *map(len, values)])]
    if isinstance(kind, Tuple):
        return [c for i, item in enumerate(kind.items) for c in columns_of(item, [v[i] for v in values])]
    if kind is NONE:
        return []
    return [np.array(values, DTYPES.get(kind) or kind.dtype)]  # type: ignore[attr-defined]


def nothing(kind: Kind) -> Any:
    """What stands in a column where an element is of another kind."""
    if isinstance(kind, Tuple):
        return tuple(map(nothing, kind.items))
    if isinstance(kind, Either):
        return nothing(kind.kinds[0])
    return None if kind is NONE else class_of(kind)()


class Compiled:
    """Machine code of a function for rows of certain kinds."""

    def __init__(self, f: Callable[..., Any], rows: Sequence[tuple[Any, ...]], **shared: Any) -> None:
        self.f, self.shared = f, shared
        self.kinds = kinds_of(rows)
        self.checked = kernel.check(f, self.kinds, shared)
        self.kernel = kernel.Kernel(self.checked)
        self.raises: dict[int, type | None] = {}
        """The class of the exception that a lane was left with, by the positions of rows; None where none is known."""

    def run(self, rows: Sequence[tuple[Any, ...]]) -> tuple[dict[int, Any], dict[int, str]]:
        """Results and reasons, by the positions of their rows."""
        columns = [c for kind, values in zip(self.kinds, zip(*rows)) for c in columns_of(kind, values)]
        roots, captures = Roots(self.f, self.shared), self.kernel.captures
        values = {path: roots.read(path) for path in captures.inputs}
        kept = {path: tables.build(kind, value) for path, (kind, value) in captures.tables.items()}
        block = kernel.captured_block(captures, values, {path: table.address for path, table in kept.items()})
        made = self.kernel.run(block, columns, len(rows))
        done = np.flatnonzero(made.status == 0)
        found = dict(zip(done.tolist(), results.objects_of(self.kernel.result, made, done)))
        reasons = {i: self.kernel.reasons[made.status[i] // 256 - 1] for i in np.flatnonzero(made.status).tolist()}
        self.raises = {i: reason.cls for i, reason in reasons.items()}
        return found, {i: str(reason) for i, reason in reasons.items()}


def check(f: Callable[..., Any], rows: Sequence[Any], left: int = 0, **shared: Any) -> None:
    """The function compiles, and gives the loop's very results; at most `left` lanes that do not raise are left.

    A lane that is left with an exception's class raises that very class, so that a handler around it is the right one.
    """
    rows = [row if type(row) is tuple else (row,) for row in rows]
    compiled = Compiled(f, rows, **shared)
    made, reasons = compiled.run(rows)
    unneeded = []
    for i, row in enumerate(rows):
        try:
            expected = f(*copy.deepcopy(row), **shared)
        except Exception as error:
            assert i not in made, f"{row!r}: expected {error!r}, got {made[i]!r}"
            assert compiled.raises[i] in (None, type(error)), f"{row!r}: expected {error!r}, left with {reasons[i]}"
            continue
        if i in made:
            assert same(expected, made[i]), f"{row!r}: expected {expected!r}, got {made[i]!r}"
        else:
            assert compiled.raises[i] is None, f"{row!r}: expected {expected!r}, left with {reasons[i]}"
            unneeded.append((row, reasons[i]))
    assert len(unneeded) <= left, f"{len(unneeded)} of {len(rows)} lanes are left, such as {unneeded[0]}"


def refusal(f: Callable[..., Any], *rows: Any, **shared: Any) -> Refused | None:
    """Why a function does not compile for such rows; None where it does."""
    rows = tuple(row if type(row) is tuple else (row,) for row in rows)
    try:
        kernel.check(f, kinds_of(rows), shared)
    except Refused as refused:
        return refused
    return None


def same(a: Any, b: Any) -> bool:
    """Equal, of the same classes, with the same bits; any NaN is as good as another."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple | set | frozenset | collections.deque):  # sets in the same order, too
        return len(a) == len(b) and all(map(same, a, b)) and getattr(a, "maxlen", 0) == getattr(b, "maxlen", 0)
    if isinstance(a, dict):
        makers = getattr(a, "default_factory", None), getattr(b, "default_factory", None)
        return makers[0] is makers[1] and same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    if isinstance(a, complex | np.complexfloating):
        return same(float(a.real), float(b.real)) and same(float(a.imag), float(b.imag))
    if isinstance(a, float | np.floating):
        x, y = float(a), float(b)
        return (x == y and math.copysign(1, x) == math.copysign(1, y)) or (x != x and y != y)
    return bool(a == b)
