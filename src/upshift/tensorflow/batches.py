"""Runs a Python function over the batches that TensorFlow hands over, and keeps each element's error."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from ..api import map as map_elements
from ..columns.forms import is_namedtuple, parts
from ..columns.inputs import copied, elements_of
from ..columns.outputs import place
from ..columns.stacking import stack
from ..config import Settings, in_force, settings
from ..errors import name_element
from ..gears.loop import call_one
from ..gears.streams import Streams
from .bridge import Array, aligned, handed_over
from .calling import Caller
from .sampled import arguments_of, as_strings, columns_in, leaves_of

MOST_ERRORS = 10_000
"""That wait until the elements they came from are asked for; the oldest are forgotten."""
FINE = -1
"""Stands for no error."""
_ALONE = threading.Lock()
"""Held while random generators are set to an element's own stream."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What one of the results is for every element."""

    dtype: np.dtype[Any]
    shape: Any
    """A `tf.TensorShape`."""
    sizes: tuple[int, ...] | None
    """The same where all sizes are known."""

    @classmethod
    def of(cls, spec: Any) -> Promise:
        """What a tensor's spec says of every element's result."""
        known = spec.shape.is_fully_defined()
        return cls(np.dtype(spec.dtype.as_numpy_dtype), spec.shape, tuple(spec.shape) if known else None)

    def empty(self) -> Array:
        """A column without elements."""
        return np.empty((0, *(size or 0 for size in self.shape)), self.dtype)

    def kept_by(self, made: Any) -> Array:
        """A column as it was promised, or what is wrong with it."""
        stacked = isinstance(made, np.ndarray) and made.dtype.kind not in "OUS"
        column: Array = made if stacked else _joined(made, self.dtype)
        if column.shape[1:] != self.sizes and not self.shape.is_compatible_with(column.shape[1:]):
            raise ValueError(f"a result has shape {column.shape[1:]}, others have {self.shape}; {REMEDY}")
        if column.dtype == self.dtype:
            return column
        if not np.can_cast(column.dtype, self.dtype, "safe"):
            raise TypeError(f"a result is {column.dtype}, others are {self.dtype}; {REMEDY}")
        cast: Array = column.astype(self.dtype)
        return cast

    def kept_as_it_is(self, result: Any) -> Any:
        """One result as it was promised, not copied."""
        if type(result) is np.ndarray and result.dtype == self.dtype and result.shape == self.sizes:
            return result
        return self.kept_by(as_strings(result)[None])[0]

    def placed(self, result: Any) -> Any:
        """One result where TensorFlow takes it over as it is, and where nobody else writes."""
        array = self.kept_by(as_strings(result)[None])[0]
        if array.dtype == object:
            return array
        room = aligned(array.shape, array.dtype)
        place(array, room)
        return room


@dataclass(slots=True, eq=False)
class Batches:
    """A function over a dataset's elements, many at a time: columns in TensorFlow's order, results in the spec's."""

    f: Callable[..., Any]
    element: Any
    """What an element is: a nest of tensor specs."""
    spec: Any
    """What a result is."""
    again: bool
    """Whether a call may be made again, where one of a batch has failed."""
    size: int = 1
    randomness: str = "loop"
    seed: Any = None
    dear: bool = True
    """Whether one call takes so long that it may be worth a plan."""
    callback: Callable[[int, Exception], object] | None = None
    """Told about elements that are left out because they raised."""
    settings: Settings = field(default_factory=settings)
    """Those in force where the dataset was made: TensorFlow calls from threads of its own."""
    errors: OrderedDict[int, Exception] = field(default_factory=OrderedDict)
    tickets: Any = field(default_factory=itertools.count)
    promises: list[Promise] = field(init=False)
    call: Caller = field(init=False)
    flat: bool = field(init=False)
    """Whether elements are tensors, or tuples of them: then their leaves are the arguments."""

    def __post_init__(self) -> None:
        self.call = Caller(self.f)
        self.promises = [Promise.of(spec) for spec in leaves_of(self.spec)]
        self.flat = all(isinstance(spec, tf.TensorSpec) for spec in arguments_of(self.element))

    # ---- what a graph calls

    def rows(self, k: int, *columns: Any) -> list[Any]:
        """Batch k in two parts: results before the first error, and behind it; and a ticket for the error."""
        made, errors = self._made(int(k) * self.size, columns)
        if not errors:
            return [*made, *(column[:0].copy() for column in made), np.int64(FINE)]
        first, *others = errors
        if others:
            places = ", ".join(str(int(k) * self.size + i) for i in others[:8])
            errors[first].add_note(f"{len(others)} more elements raised, and are left out: {places}")
        before, behind = [column[:first] for column in made], [column[first:].copy() for column in made]
        return [*before, *behind, np.int64(self._keep(errors[first]))]

    def whole(self, k: int, *columns: Any) -> list[Array]:
        """Batch k, or the first error in it."""
        columns_out, errors = self._made(int(k) * self.size, columns)
        for error in errors.values():
            raise _raisable(error)
        return columns_out

    def kept(self, k: int, *columns: Any) -> list[Array]:
        """Batch k without the elements that raised."""
        start = int(k) * self.size
        columns_out, errors = self._made(start, columns)
        assert self.callback is not None
        for i, error in errors.items():
            self.callback(start + i, error)
        return columns_out

    def one(self, k: int, *leaves: Any) -> list[Any]:
        """Element k alone: by the plan where calls are dear, else at once."""
        if self.randomness != "loop" or self.dear:
            return [column[0] for column in self.whole(k, *map(_alone, leaves))]
        arguments = [_element(argument) for argument in self._arguments(leaves)]
        try:
            results, given = self.call(arguments)
            found = [p.kept_as_it_is(leaf) for p, leaf in zip(self.promises, self._leaves(results), strict=True)]
        except Exception as error:
            name_element(error, int(k), tuple(arguments))
            raise _raisable(error) from None
        return handed_over(found, given)

    def _leaves(self, results: list[Any]) -> list[Any]:
        """Of the one result in a list, which is taken out, so that nobody else holds it."""
        return columns_in(self.spec, results.pop(), self.f)

    def one_kept(self, k: int, *leaves: Any) -> list[Array]:
        """Element k as a batch, which is empty if it raised."""
        return self.kept(k, *map(_alone, leaves))

    def throw(self, ticket: int) -> None:
        """The error that a ticket was given for."""
        raise _raisable(self.errors.pop(int(ticket), RuntimeError("this element raised, and its error was forgotten")))

    # ---- a batch

    def _made(self, start: int, leaves: Sequence[Any]) -> tuple[list[Array], dict[int, Exception]]:
        """Columns of the results that there are, and the errors of other elements, by their place."""
        columns = [_column(argument) for argument in self._arguments(leaves)]
        results = self._results(columns, start)
        errors = {}
        if type(results) is list:
            errors = {i: result for i, result in enumerate(results) if isinstance(result, Exception)}
        for i, error in errors.items():
            _name_anew(error, i, start, columns)
        try:
            return self._settled(results, errors, leaves), errors
        except (TypeError, ValueError) as error:
            results, errors = self._blamed(error, results, columns, start)
        return self._settled(results, errors, leaves), dict(sorted(errors.items()))

    def _settled(self, results: Any, errors: dict[int, Exception], leaves: Sequence[Any]) -> list[Array]:
        """Columns as they were promised, of the elements that did not raise."""
        if len(errors) == len(leaves[0]):
            return [promise.empty() for promise in self.promises]
        if errors:
            results = stack([result for i, result in enumerate(results) if i not in errors])
        found = columns_in(self.spec, results, self.f)
        made = [np.ascontiguousarray(p.kept_by(column)) for p, column in zip(self.promises, found, strict=True)]
        return _apart(made, leaves)

    def _blamed(
        self, error: Exception, results: Any, columns: list[Any], start: int
    ) -> tuple[Any, dict[int, Exception]]:
        """The elements whose results are not what was promised: each has an error of its own."""
        rows = list(zip(*map(elements_of, columns), strict=True))
        if type(results) is not list and self.again:
            results = [call_one(self.f, copied(row), start + i, "return") for i, row in enumerate(rows)]
        if type(results) is not list:
            error.add_note(f"one of the elements {start} to {start + len(rows) - 1}")
            raise error
        errors = {}
        for i, result in enumerate(results):
            try:
                if isinstance(result, Exception):
                    raise result
                self._placed(result)
            except Exception as wrong:
                name_element(wrong, start + i, rows[i])
                errors[i] = wrong
        if not errors:
            raise error
        return results, errors

    def _placed(self, result: Any) -> list[Any]:
        """One element's results, each where TensorFlow takes it over."""
        found = columns_in(self.spec, result, self.f)
        return [promise.placed(leaf) for promise, leaf in zip(self.promises, found, strict=True)]

    def _results(self, columns: list[Any], start: int) -> Any:
        if self.randomness == "independent":
            return self._drawn_apart(columns, start)
        with in_force(self.settings):
            if self.again:
                try:
                    return map_elements(self.f, *columns)
                except Exception:
                    pass  # the others are asked for one by one, which tells which of them raise
            return map_elements(self.f, *columns, on_error="return")

    def _drawn_apart(self, columns: list[Any], start: int) -> list[Any]:
        """Every element with a random stream of its own, from the seed and its place in the dataset."""
        results = []
        rows = zip(*map(elements_of, columns), strict=True)
        streams = Streams(self.f, {}, self.seed)
        with _ALONE, streams:
            for i, row in enumerate(rows, start):
                streams.start(i)
                results.append(call_one(self.f, copied(row), i, "return"))
        return results if any(isinstance(result, Exception) for result in results) else stack(results)

    def _arguments(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        if self.flat:
            return tuple(leaves)
        return arguments_of(tf.nest.pack_sequence_as(self.element, list(leaves)))

    def _keep(self, error: Exception) -> int:
        ticket: int = next(self.tickets)
        self.errors[ticket] = error
        while len(self.errors) > MOST_ERRORS:
            self.errors.popitem(last=False)
        return ticket


REMEDY = "tell what all of them are by output_signature="


# ---- columns


def _alone(leaf: Any) -> Array:
    """One element as a column."""
    array = np.asarray(leaf, object if isinstance(leaf, bytes) else None)
    return array[None]


def _element(argument: Any) -> Any:
    """One argument: arrays without axes are numbers."""
    return argument[()] if isinstance(argument, np.ndarray) and not argument.ndim else argument


def _column(argument: Any) -> Any:
    """What `map` takes as a column of such arguments."""
    if isinstance(argument, np.ndarray) or _is_record(argument):
        return argument
    n = len(tf.nest.flatten(argument)[0])
    return [tf.nest.map_structure(lambda column, i=i: copied((column[i],))[0], argument) for i in range(n)]


def _is_record(argument: Any) -> bool:
    """Whether `map` takes a nest of columns for a column of nests, of the same classes."""
    if isinstance(argument, np.ndarray):
        return True
    found = parts(argument) if type(argument) is dict or is_namedtuple(argument) else None
    return found is not None and bool(found[1]) and all(map(_is_record, found[2]))


def _joined(results: Any, dtype: np.dtype[Any]) -> Array:
    """Results that are not stacked yet: texts, or arrays that differ in shape."""
    arrays = [as_strings(result) for result in results]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ValueError(f"results have shapes {' and '.join(map(str, sorted(shapes)))}; {REMEDY}")
    if dtype.kind == "O":
        whole = np.empty((len(arrays), *shapes.pop()), object)
        for i, array in enumerate(arrays):
            whole[i] = array[()]
        return whole
    return np.stack(arrays)


def _apart(made: list[Array], given: Sequence[Any]) -> list[Array]:
    """Columns that share no memory with each other or with what was given, since TensorFlow may write into them."""
    seen = list(given)
    for i, column in enumerate(made):
        if any(np.may_share_memory(column, other) for other in seen):
            made[i] = column.copy()
        seen.append(made[i])
    return made


# ---- errors


def _name_anew(error: Exception, i: int, start: int, columns: list[Any]) -> None:
    """Name an element by its place in the dataset, not in the batch."""
    notes = getattr(error, "__notes__", [])
    ours = f"element {i}: "
    if start and getattr(error, "upshift_element", None) == i and any(note.startswith(ours) for note in notes):
        error.__notes__ = [note for note in notes if not note.startswith(ours)]
        error.upshift_element = None  # type: ignore[attr-defined]
        name_element(error, start + i, tuple(elements_of(column)[i] for column in columns))


def _raisable(error: Exception) -> Exception:
    """TensorFlow takes a StopIteration for the end of the data."""
    if not isinstance(error, StopIteration):
        return error
    told = RuntimeError("the mapped function raised StopIteration")
    for note in getattr(error, "__notes__", ()):
        told.add_note(note)
    told.__cause__ = error
    return told
