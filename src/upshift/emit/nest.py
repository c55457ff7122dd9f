"""What nests of loops are written with: values of a lane, told by how an element of each is got, and lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.forms import Form
from ..columns.kinds import Kind, kind_of
from ..trace import Tree
from .select_rows import FLOATS, NoSelect

MOST_STORED = 1 << 18
"""Bytes that a lane may need besides its arguments and results."""

FEW_NUMBERS = 16
"""Lanes of up to so many numbers are not cut out of their columns."""

Index = tuple[str, ...]


@dataclass(slots=True, eq=False)
class Value:
    """One array, or number, of a lane: how to get at an element of it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    at: Callable[[Index], str]
    """An expression for one element; may write lines that it needs."""
    flat: Callable[[str], str] | None = None
    """The same by one number, where elements are told apart in C's order."""
    place: str | None = None
    """The name of the memory in which it lies, side by side."""
    in_order: bool = True
    """Whether NumPy would have it lie in C's order, which is the order in which it is added up."""
    exact: bool = True
    weak: bool = False
    """Whether it is a number of Python's, which takes on the type of NumPy's that it meets."""


@dataclass(slots=True)
class Nest:
    """The program: lines on `x0`, `x1`, ... (columns), `y0`, ... (results) and `c1`, ... (what all lanes share)."""

    lines: list[str] = field(default_factory=list)
    stored: list[tuple[str, tuple[int, ...], np.dtype[Any]]] = field(default_factory=list)
    loops: set[tuple[str, str, np.dtype[Any]]] = field(default_factory=set)
    """NumPy's loops that are called: "map" or "reduce", the ufunc's name, the dtype."""
    before: list[str] = field(default_factory=list)
    """Lines before the first lane."""
    types: dict[str, np.dtype[Any]] = field(default_factory=dict)
    """Of memory that these lines need."""
    constants: dict[str, Any] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)
    """Captured inputs, by name: their ids."""
    shared_kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...] | None]] = field(default_factory=dict)
    form: Form | None = None
    kinds: list[Kind] = field(default_factory=list)
    close: bool = False


class Writer:
    """Lines of the program, and what the values of a lane are called in it."""

    def __init__(self, tree: Tree, exact: bool) -> None:
        self.tree, self.exact = tree, exact
        self.made = Nest()
        self.values: dict[int, Value] = {}
        self.parts: dict[Any, list[Value]] = {}
        """What calls made that make several things."""
        self.depth = self.names = 0
        self.uses: dict[int, int] = {}
        self.results: set[int] = set()
        self.totals: dict[str, str] = {}

    # ---- lines

    def line(self, text: str) -> None:
        self.made.lines.append("    " * self.depth + text)

    def name(self, wish: str = "t") -> str:
        self.names += 1
        return f"{wish}{self.names}"

    def named(self, text: str) -> str:
        """A name for an expression, at this place."""
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    def fill(self, target: str, value: Value, lane: int = 0) -> None:
        """Lines that store all elements of a value, side by side. `lane`: see `cell`."""
        before = self.depth
        if value.flat is not None and len(value.shape) > 1:
            j = self.name("j")
            self.line(f"for {j} in range({math.prod(value.shape)}):")
            self.depth += 1
            self.line(f"{cell(target, j, lane)} = {value.flat(j)}")
        else:
            index = tuple(self.name("j") for _ in value.shape)
            for j, n in zip(index, value.shape, strict=True):
                self.line(f"for {j} in range({n}):")
                self.depth += 1
            self.line(f"{cell(target, offset_of(index, value.shape), lane)} = {value.at(index)}")
        self.depth = before

    # ---- values

    def column(self, name: str, kind: Kind) -> Value:
        if kind.dtype not in FLOATS or kind.shape == ():
            raise NoSelect(f"its elements are of {kind}")
        if not kind.lane_shape:
            return number(kind.dtype, f"{name}[i]", weak=kind.python)
        self.line(lane_of(name, kind.lane_shape))
        return in_memory(kind.lane_shape, kind.dtype, name, lane=math.prod(kind.lane_shape))

    def _captured(self, ref: int) -> Value:
        expected = next(c.expected for c in self.tree.captures.values() if c.mode == "input" and c.id == ref)
        dtype, shape = (expected.dtype, None) if isinstance(expected, Kind) else expected
        if dtype not in FLOATS or shape == ():
            raise NoSelect(f"it captured {dtype}")
        name = f"c{-ref}"
        self.made.shared[name] = ref
        self.made.shared_kinds[name] = dtype, shape
        weak = isinstance(expected, Kind) and expected.python
        return number(dtype, name, weak=weak) if shape is None else in_memory(shape, dtype, name)

    def _constant(self, value: Any) -> Value:
        if type(value) is np.ndarray or kind_of(value) is None:
            raise NoSelect("it computes with other things than numbers")
        name = f"k{len(self.made.constants)}"
        self.made.constants[name] = value
        return number(np.dtype(type(value)), name, weak=not isinstance(value, np.generic))

    def value(self, arg: Any) -> Value:
        """What an argument of a call stands for."""
        if isinstance(arg, Id):
            if arg.id < 0 and arg.id not in self.values:
                self.values[arg.id] = self._captured(arg.id)
            if arg.id not in self.values:
                raise NoSelect("it computes things from what it captured")
            return self.values[arg.id]
        return self._constant(arg)

    def stored(self, made: Value) -> Value:
        """A value in memory."""
        if not made.shape:
            return number(made.dtype, self.named(made.at(())), made.exact)
        name = self.name("b")
        self.made.stored.append((name, made.shape, made.dtype))
        if sum(math.prod(shape) * dtype.itemsize for _, shape, dtype in self.made.stored) > MOST_STORED:
            raise NoSelect("it needs much memory for a lane")
        self.fill(name, made)
        return in_memory(made.shape, made.dtype, name, made.exact)


@dataclass(frozen=True, slots=True)
class Id:
    """An argument that is a value of the lane."""

    id: int


def number(
    dtype: np.dtype[Any], name: str, exact: bool = True, shape: tuple[int, ...] = (), weak: bool = False
) -> Value:
    return Value(shape, dtype, lambda idx: name, lambda j: name, exact=exact, weak=weak)


def in_memory(shape: tuple[int, ...], dtype: np.dtype[Any], name: str, exact: bool = True, lane: int = 0) -> Value:
    """`lane`: see `cell`."""

    def at(index: Index) -> str:
        return cell(name, offset_of(index, shape), lane)

    return Value(shape, dtype, at, lambda j: cell(name, j, lane), name, exact=exact)


def cell(name: str, offset: str, lane: int = 0) -> str:
    """One number in memory. `lane`: how many there are in a lane of a column; few are got from the column itself, since
    to cut out every lane takes longer than what is done with it."""
    return f"{name}f[i * {lane} + {offset}]" if 0 < lane <= FEW_NUMBERS else f"{name}_[{offset}]"


def lane_of(name: str, shape: tuple[int, ...]) -> str:
    """A lane's part of a column, as a row of numbers: what starts at zero LLVM runs on many numbers at once."""
    n = math.prod(shape)
    return f"{name}_ = {name}f[i * {n} : (i + 1) * {n}]"


def offset_of(index: Index, shape: tuple[int, ...]) -> str:
    """Where an element lies among all, in C's order."""
    strides = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return " + ".join(f"({j}) * {by}" if by > 1 else j for j, by in zip(index, strides, strict=True))


def element(value: Value, index: Index) -> str:
    """An element of what is broadcast to the shape that is looped over."""
    own = index[len(index) - len(value.shape) :]
    return value.at(tuple("0" if n == 1 else j for n, j in zip(value.shape, own, strict=True)))


def is_view(value: Value) -> bool:
    """Whether it only looks at another value."""
    return value.at.__name__ == "seen"
