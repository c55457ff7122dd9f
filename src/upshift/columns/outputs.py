"""Puts results together that came in pieces from several gears, as the loop's results would stack.

The law of stacking, for a list of results:
- numbers become an array, by NumPy's promotion over all of them; where one is a Python int that int64 cannot hold, an
  object array of the very results;
- tuples, dicts, named tuples and dataclasses of one shape become one of columns; arrays of one shape are stacked;
- lists of one length become an axis, where their items stack to arrays of one shape;
- everything else (None, strings, objects, ragged or mixed results) stays the list that the loop gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .forms import Form, assemble, parts
from .kinds import INT, NUMERIC, Column, Kind, fits_int64, kind_of, kind_of_type, promote


class Piece:
    """Results of some lanes. Lanes are given as positions: a slice or an index array."""

    def whole(self) -> tuple[type, tuple[Any, ...], list[Piece]] | None:
        """Class, keys and pieces of the children, where every result is the same kind of container."""
        return None

    def kinds(self) -> set[Kind] | None:
        """The kinds of the numbers, where every result is a number."""
        return None

    def block(self) -> tuple[tuple[int, ...], set[Any]] | None:
        """Shape and dtypes of the arrays, where every result is an array of one shape."""
        return None

    def is_wide(self) -> bool:
        """Whether one of the numbers is a Python int that int64 cannot hold."""
        return False

    def write(self, out: Column, lanes: Any) -> None:
        """The numbers, into an array that can hold them."""
        raise NotImplementedError

    def objects(self) -> list[Any]:
        """The results as the very objects that the loop gives."""
        raise NotImplementedError


class Numbers(Piece):
    """A column of numbers, or of arrays, of one kind."""

    def __init__(self, column: Column, kind: Kind) -> None:
        self.column, self.kind = column, kind

    def kinds(self) -> set[Kind] | None:
        return {self.kind} if self.kind.shape is None else None

    def block(self) -> tuple[tuple[int, ...], set[Any]] | None:
        return None if self.kind.shape is None else (self.kind.shape, {self.kind.dtype})

    def write(self, out: Column, lanes: Any) -> None:
        out[lanes] = self.column

    def objects(self) -> list[Any]:
        return self.kind.scalars(self.column)


class Lists(Piece):
    """Lists of numbers, all of one length: a block with a row for every lane."""

    def __init__(self, block: Column, kind: Kind) -> None:
        self.rows, self.kind = block, kind

    def whole(self) -> tuple[type, tuple[Any, ...], list[Piece]]:
        width = self.rows.shape[1]
        return list, tuple(range(width)), [Numbers(self.rows[:, i], self.kind) for i in range(width)]

    def objects(self) -> list[Any]:
        return self.rows.tolist() if self.kind.python else [list(row) for row in self.rows]


class ClassesLost(Exception):
    """Results are asked for one by one, and nobody knows any more which were ints and which floats."""


class Unsure(Numbers):
    """Numbers that are Python's for one element and NumPy's for another, which a column does not tell apart."""

    def objects(self) -> list[Any]:
        raise ClassesLost


class Stored(Unsure):
    """Numbers of several classes, stored as the class that holds them all."""


class Same(Piece):
    """One value, the result of `n` lanes."""

    def __init__(self, value: object, n: int) -> None:
        self.value, self.n = value, n

    def kinds(self) -> set[Kind] | None:
        kind = kind_of(self.value)
        return None if kind is None else {kind}

    def is_wide(self) -> bool:
        return type(self.value) is int and not fits_int64(self.value)

    def write(self, out: Column, lanes: Any) -> None:
        out[lanes] = self.value

    def objects(self) -> list[Any]:
        return [self.value] * self.n


class Record(Piece):
    """A container of pieces."""

    def __init__(self, form: Form, children: list[Piece], n: int) -> None:
        self.form, self.children, self.n = form, children, n

    def whole(self) -> tuple[type, tuple[Any, ...], list[Piece]]:
        assert self.form.cls is not None
        return self.form.cls, self.form.keys, self.children

    def objects(self) -> list[Any]:
        cls, keys, children = self.whole()
        if not children:
            return [assemble(cls, keys, []) for _ in range(self.n)]
        columns = [child.objects() for child in children]
        return [assemble(cls, keys, list(row)) for row in zip(*columns, strict=True)]


class Objects(Piece):
    """Results as the loop gave them."""

    def __init__(self, results: list[Any]) -> None:
        self.results = results

    def whole(self) -> tuple[type, tuple[Any, ...], list[Piece]] | None:
        if not self.results:
            return None
        first = parts(self.results[0])
        if first is None or first[0] is np.void:
            return None
        cls, keys, _ = first
        rows = []
        for result in self.results:
            found = parts(result)
            if found is None or found[0] is not cls or not _same_keys(cls, found[1], keys):
                return None
            rows.append([result[key] for key in keys] if cls is dict else found[2])
        return cls, keys, [Objects(list(column)) for column in zip(*rows, strict=True)]

    def kinds(self) -> set[Kind] | None:
        found = set()
        for cls in set(map(type, self.results)):
            kind = kind_of_type(cls)
            if kind is not None:
                found.add(kind)
            elif issubclass(cls, np.datetime64 | np.timedelta64):
                found |= {k for r in self.results if type(r) is cls and (k := kind_of(r))}
            else:
                return None
        return found

    def block(self) -> tuple[tuple[int, ...], set[Any]] | None:
        if set(map(type, self.results)) != {np.ndarray}:
            return None
        shapes, dtypes = {r.shape for r in self.results}, {r.dtype for r in self.results}
        numeric = all(dtype.kind in NUMERIC for dtype in dtypes)
        return (shapes.pop(), dtypes) if numeric and len(shapes) == 1 else None

    def is_wide(self) -> bool:
        ints = [result for result in self.results if type(result) is int]
        return bool(ints) and not (fits_int64(max(ints)) and fits_int64(min(ints)))

    def write(self, out: Column, lanes: Any) -> None:
        if isinstance(lanes, slice) and out.ndim > 1:  # end to end, which is faster than np.stack
            block = out[lanes]
            if are_scattered(self.results):
                for array, one in zip(self.results, block, strict=True):
                    place(array, one)
                return
            rows = block.reshape(block.shape[0] * block.shape[1], *block.shape[2:])
            np.concatenate(self.results, out=rows, casting="unsafe")
        else:
            out[lanes] = np.array(self.results, dtype=out.dtype)

    def objects(self) -> list[Any]:
        return self.results


def piece_of(form: Form, leaves: Iterator[Piece], n: int) -> Piece:
    """Pieces of leaves, put together."""
    if form.cls is None:
        return next(leaves)
    return Record(form, [piece_of(child, leaves, n) for child in form.children], n)


def _same_keys(cls: type, keys: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return set(keys) == set(others) if cls is dict else keys == others


Placed = tuple[Any, Piece]
"""A piece and the positions of its lanes."""


def gather(n: int, pieces: Sequence[Placed]) -> Any:
    """Pieces that together cover `n` lanes -> what the user gets back."""
    if len(pieces) == 1 and isinstance(pieces[0][1], Lists) and isinstance(pieces[0][0], slice):
        return pieces[0][1].rows
    numbers = _numbers(n, pieces)
    if numbers is not None:
        return numbers
    columns = _columns(n, pieces)
    if columns is not None:
        return columns
    blocks = _blocks(n, pieces)
    if blocks is not None:
        return blocks
    results: list[Any] = [None] * n
    for lanes, piece in pieces:
        if isinstance(lanes, slice):
            results[lanes] = piece.objects()
            continue
        for i, result in zip(lanes.tolist(), piece.objects(), strict=True):
            results[i] = result
    return _arrays(results)


def _numbers(n: int, pieces: Sequence[Placed]) -> Column | None:
    """One array of all numbers, where all results are numbers."""
    kinds: set[Kind] = set()
    for _, piece in pieces:
        found = piece.kinds()
        if found is None:
            return None
        kinds |= found
    dtype = promote(kinds) if kinds else np.dtype(np.float64)
    if dtype is None:
        return None
    if len(pieces) == 1 and isinstance(pieces[0][1], Numbers) and isinstance(pieces[0][0], slice):
        return pieces[0][1].column
    if INT in kinds and any(piece.is_wide() for _, piece in pieces):
        return _very_results(n, pieces)
    out = np.empty(n, dtype)
    for lanes, piece in pieces:
        piece.write(out, lanes)
    return out


def _blocks(n: int, pieces: Sequence[Placed]) -> Column | None:
    """One array of all arrays, where all results are arrays of one shape."""
    shapes, dtypes = set(), set()
    for _, piece in pieces:
        found = piece.block()
        if found is None:
            return None
        shapes.add(found[0])
        dtypes |= found[1]
    if len(shapes) != 1:
        return None
    try:
        dtype = np.result_type(*dtypes)
    except TypeError:
        return None
    if len(pieces) == 1 and isinstance(pieces[0][1], Numbers) and isinstance(pieces[0][0], slice):
        return pieces[0][1].column
    out = np.empty((n, *shapes.pop()), dtype)
    for lanes, piece in pieces:
        piece.write(out, lanes)
    return out


def _very_results(n: int, pieces: Sequence[Placed]) -> Column:
    """Numbers as the loop gives them, in an object array."""
    out = np.empty(n, object)
    for lanes, piece in pieces:
        out[lanes] = of_objects(piece.objects())
    return out


def of_objects(results: Sequence[Any]) -> Column:
    """Results as a column of Python objects, whatever they are: NumPy must not take lists apart."""
    out = np.empty(len(results), object)
    out[:] = results
    return out


def _columns(n: int, pieces: Sequence[Placed]) -> Any:
    """A container of columns, where all results are the same container."""
    pieces = sorted(pieces, key=lambda placed: _first_lane(placed[0]))
    wholes = [piece.whole() for _, piece in pieces]
    if not wholes or wholes[0] is None:
        return None
    cls, keys, _ = wholes[0]
    for whole in wholes[1:]:
        if whole is None or whole[0] is not cls or not _same_keys(cls, whole[1], keys):
            return None
    children = []
    for j, key in enumerate(keys):
        placed = []
        for (lanes, _), whole in zip(pieces, wholes, strict=True):
            assert whole is not None
            at = whole[1].index(key) if cls is dict else j
            placed.append((lanes, whole[2][at]))
        children.append(gather(n, placed))
    return axis_of(n, children) if cls is list else assemble(cls, keys, children)


def _first_lane(lanes: Any) -> int:
    return (lanes.start or 0) if isinstance(lanes, slice) else int(lanes.min())


def axis_of(n: int, children: list[Any]) -> Column | None:
    """Items of lists as an axis; None where they do not stack."""
    if not children:
        return np.empty((n, 0))
    if not all(isinstance(child, np.ndarray) for child in children):
        return None
    if len({child.shape for child in children}) != 1:
        return None
    try:
        return np.stack(children, axis=1)
    except TypeError:
        return None


def _arrays(results: list[Any]) -> Any:
    """Arrays of one shape are stacked; anything else stays the list it is."""
    if not results or not all(isinstance(r, np.ndarray | np.void) for r in results):
        return [own(r) for r in results]
    shapes = {(type(r) is np.void, r.shape) for r in results}
    if len(shapes) != 1 or not all(r.dtype.kind in NUMERIC or r.dtype.names for r in results):
        return [own(r) for r in results]
    if any(r.dtype.names for r in results) and len({r.dtype for r in results}) != 1:
        return [own(r) for r in results]
    try:
        return np.stack(results)
    except TypeError:
        return [own(r) for r in results]


MOST_COLOURS, LEAST_SCATTERED = 4, 256


def is_scattered(array: Column) -> bool:
    """Whether the colours of an image are all that lies together: it is mirrored, or a channel of many."""
    if array.ndim < 2 or array.shape[-1] > MOST_COLOURS:
        return False
    return array.strides[-2:] != (array.shape[-1] * array.itemsize, array.itemsize)


def are_scattered(arrays: Sequence[Column]) -> bool:
    """Whether some of these arrays, all of one shape, are, and large enough to make a difference."""
    first = arrays[0]
    large = first.size >= LEAST_SCATTERED and first.ndim > 1 and first.shape[-1] <= MOST_COLOURS
    return large and any(map(is_scattered, arrays))


def place(array: Column, room: Column) -> None:
    """Copy; scattered colours one by one: NumPy is slow on a short last axis."""
    if is_scattered(array):
        for i in range(array.shape[-1]):
            np.copyto(room[..., i], array[..., i], casting="unsafe")
    else:
        np.copyto(room, array, casting="unsafe")


def own(result: Any) -> Any:
    """A result that shares no memory with what the function was given (which it saw as read-only)."""
    return result.copy() if type(result) is np.ndarray and not result.flags.writeable else result


_EMPTY: dict[Any, Any] = {str: [], bytes: [], None: [], type(None): [], object: [], list: [], "None": [], "str": []}


def empty(annotation: object) -> Any:
    """What an empty batch gives: the dtype that the return annotation names, float64 where it names none."""
    names = {"int": int, "float": float, "bool": bool, "complex": complex, "tuple": tuple}
    annotation = names.get(annotation, annotation) if isinstance(annotation, str) else annotation
    origin, arguments = getattr(annotation, "__origin__", None), getattr(annotation, "__args__", ())
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return tuple(empty(argument) for argument in arguments)
    if isinstance(annotation, type):
        kind = kind_of_type(annotation)
        if kind is not None:
            return np.empty(0, kind.dtype)
        fields = getattr(annotation, "__annotations__", {})
        if fields and (hasattr(annotation, "_fields") or hasattr(annotation, "__dataclass_fields__")):
            return assemble(annotation, tuple(fields), [empty(field) for field in fields.values()])
    try:
        return list(_EMPTY[annotation])
    except (KeyError, TypeError):
        return np.empty(0, INT.dtype if annotation is int else np.float64)
