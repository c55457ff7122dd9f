"""The kinds of a call's arguments and result, and the base class of compiled whole functions.

A kind says what machine code depends on: classes of numbers, dtypes and axes of arrays, never values or lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.forms import assemble, parts
from ..columns.kinds import Kind
from ..trace.paths import Capture
from .capture_reader import CaptureReader

_NAMED = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
_DTYPES = tuple(map(np.dtype, _NAMED.split()))
NUMBERS: tuple[type, ...] = (bool, int, float, complex, *(dtype.type for dtype in _DTYPES))
"""Classes on which machine code means what Python and NumPy mean."""
_NUMBERS = frozenset(map(id, NUMBERS))
_NAMES = ("bool", "int", "float", "complex")
_KNOWN = frozenset(_DTYPES)
MOST_PARTS, DEEPEST = 16, 3
"""Items of a tuple, and tuples within tuples; more of them make code that takes long to compile."""


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """The kind of an array."""

    dtype: np.dtype[Any]
    ndim: int
    contiguous: bool

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(':' * self.ndim)}]" + ("" if self.contiguous else " with gaps")


@dataclass(frozen=True, slots=True)
class Fixed:
    """The kind of an argument whose value is built in: each value is a kind of its own."""

    value: Any
    cls: type

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class Foreign:
    """The kind of an array that is a framework's own, which is the gear for it."""

    gear: str
    cls: type
    dtype: Any
    ndim: int
    shape: tuple[int, ...] | None = None
    """Where each is a kind of its own: XLA's programs are made for lengths."""
    weak: bool = False
    """Whether it takes the dtype of what it meets, as Python's numbers do."""

    def __str__(self) -> str:
        axes = ":" * self.ndim if self.shape is None else map(str, self.shape)
        return f"{self.gear} {self.dtype.name}[{', '.join(axes)}]"


@dataclass(frozen=True, slots=True)
class Held:
    """The kind of a dict with texts as keys, of a dataclass or a named tuple, by what it holds."""

    cls: type
    keys: tuple[str, ...]
    parts: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.cls.__name__}({', '.join(f'{k}={name_of(p)}' for k, p in zip(self.keys, self.parts))})"


@dataclass(frozen=True, slots=True)
class Strange:
    """The kind of an argument that no machine code takes."""

    name: str

    def __str__(self) -> str:
        return self.name


Argument = type | ArrayOf | Fixed | Foreign | Held | Strange | tuple[Any, ...]


def argument_of(value: Any, depth: int = 0) -> Argument:
    """The kind of an argument."""
    cls = type(value)
    if id(cls) in _NUMBERS or value is None:
        return cls
    if cls is np.ndarray:
        if value.dtype not in _KNOWN or not value.dtype.isnative or not value.ndim:
            return Strange(f"ndarray of {value.dtype}" if value.ndim else "ndarray without axes")
        return ArrayOf(value.dtype, value.ndim, bool(value.flags.c_contiguous))
    if cls is tuple and len(value) <= MOST_PARTS and depth < DEEPEST:
        return tuple([argument_of(part, depth + 1) for part in value])
    if type.__getattribute__(cls, "__name__") in _FOREIGN:
        return _foreign_of(value, cls)
    if depth < DEEPEST and (cls is dict or "__dataclass_fields__" in vars(cls) or "_fields" in vars(cls)):
        return _held_of(value, cls, depth)
    return Strange(type.__getattribute__(cls, "__name__"))


def _held_of(value: Any, cls: type, depth: int) -> Argument:
    try:
        found = parts(value) if _is_open(value, cls) else None
    except AttributeError:  # one that was deleted
        found = None
    if found is None or not all(type(key) is str and key.isidentifier() for key in found[1]):
        return Strange(cls.__name__)
    return Held(cls, found[1], tuple([argument_of(part, depth + 1) for part in found[2]]))


def _is_open(value: Any, cls: type) -> bool:
    """Whether what a value holds can be read without running anybody's code."""
    if cls is dict or issubclass(cls, tuple):
        return len(value) <= MOST_PARTS
    names = getattr(cls, "__dataclass_fields__", ())
    plain = cls.__getattribute__ is object.__getattribute__ and not hasattr(cls, "__getattr__")
    return plain and len(names) <= MOST_PARTS and not any(isinstance(getattr(cls, n, None), property) for n in names)


_FOREIGN = {"EagerTensor": "tensorflow", "ArrayImpl": "jax"}
"""Classes of arrays, by their names: nothing is imported to know them."""


def _foreign_of(value: Any, cls: type) -> Argument:
    name = cls.__name__
    gear = _FOREIGN[name]
    if cls.__module__.partition(".")[0] not in (gear, f"{gear}lib"):
        return Strange(name)
    if gear == "tensorflow":
        return Foreign(gear, cls, value.dtype, value.ndim)
    return Foreign(gear, cls, value.dtype, value.ndim, value.shape, value.weak_type)


def is_foreign(value: Any) -> bool:
    """Whether a value is an array of a framework."""
    return type.__getattribute__(type(value), "__name__") in _FOREIGN and isinstance(argument_of(value), Foreign)


def gives_tensors(result: Any) -> bool:
    """Whether a result is a tensor of TensorFlow's, or a tuple or list of them."""
    if type(result) in (tuple, list):
        return bool(result) and all(map(gives_tensors, result))
    return type.__getattribute__(type(result), "__name__") == "EagerTensor" and is_foreign(result)


def gear_of(kind: Sequence[Argument]) -> str:
    """Which gear is for arguments of such kinds."""
    gears = (leaf.gear for leaf in leaves_of(kind) if isinstance(leaf, Foreign))
    return next(gears, "llvm")


def parts_of(kind: Argument) -> tuple[Any, ...] | None:
    """The kinds of what a value holds; None where it is one value."""
    if isinstance(kind, Held):
        return kind.parts
    return kind if isinstance(kind, tuple) else None


def leaves_of(kinds: Sequence[Argument]) -> Iterator[Any]:
    """All kinds that hold no others."""
    for kind in kinds:
        inside = parts_of(kind)
        if inside is None:
            yield kind
        else:
            yield from leaves_of(inside)


def apart(kind: Argument, value: Any) -> Any:
    """An argument as a compiled call takes it: a tuple of parts, and None where its value is built in."""
    if isinstance(kind, Held):
        return tuple(map(apart, kind.parts, (parts(value) or ((), (), ()))[2]))
    if isinstance(kind, tuple):
        return tuple(map(apart, kind, value))
    return None if isinstance(kind, Fixed) else value


def together(kind: Argument, leaves: Iterator[Any]) -> Any:
    """An argument with other leaves; those that are built in as they are."""
    if isinstance(kind, Held):
        return assemble(kind.cls, kind.keys, [together(part, leaves) for part in kind.parts])
    if isinstance(kind, tuple):
        return tuple([together(part, leaves) for part in kind])
    if isinstance(kind, Fixed):
        return kind.value
    return None if kind is type(None) else next(leaves)


def class_of(kind: Kind) -> type:
    """The class of a kind of numbers."""
    return NUMBERS[_NAMES.index(kind.name)] if kind.python else kind.dtype.type


def fixed_of(value: Any) -> Argument:
    """The kind of an argument whose value is built in."""
    cls = type(value)
    return Fixed(value, cls) if cls in (str, int, bool) else argument_of(value)


def for_framework(kind: Argument, value: Any) -> Argument:
    """The kind of an argument beside a framework's arrays: flags and texts are built in."""
    if isinstance(kind, Held):
        held = (parts(value) or ((), (), ()))[2]
        return Held(kind.cls, kind.keys, tuple(map(for_framework, kind.parts, held)))
    if isinstance(kind, tuple):
        return tuple(map(for_framework, kind, value))
    return Fixed(value, type(value)) if type(value) in (bool, str) else kind


def is_strange(argument: Argument) -> bool:
    """Whether no machine code takes such an argument."""
    return any(isinstance(leaf, Strange) for leaf in leaves_of((argument,)))


def name_of(argument: Argument) -> str:
    """A kind in words."""
    if argument is type(None):
        return "None"
    if isinstance(argument, tuple):
        return f"({', '.join(map(name_of, argument))})"
    if isinstance(argument, type):
        return f"np.{argument.__name__}" if issubclass(argument, np.generic) else argument.__name__
    return str(argument)


Result = type | tuple[Any, ...]
"""What a call gives: a class (of numbers, np.ndarray, NoneType), or a tuple of such."""


def result_of(value: Any, depth: int = 0) -> Result | None:
    """The form of a result; None where no machine code gives one like it."""
    cls = type(value)
    if cls is tuple and len(value) <= MOST_PARTS and depth < DEEPEST:
        made = tuple([result_of(part, depth + 1) for part in value])
        return None if None in made else made
    return cls if value is None or cls is np.ndarray or id(cls) in _NUMBERS else None


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """Machine code for one call of a function: `run(*arguments, *captured)` gives the result, or raises.

    Whatever it raises, for whatever reason: the call is the plain function's.
    """

    run: Any
    bind: CaptureReader | None
    """`bind(f)`: what the function captured, or MISS where the code does not stand on it any more; None: nothing."""
    result: Result
    """Numbers come as Python's; where a class of NumPy's stands here, they are to be made that."""
    dependencies: Sequence[Capture]
    """What the function captured when it was compiled: what the code stands on, and its inputs in order."""
    written: Sequence[int] | None
    """Positions of arrays that it may write to, and puts back where it raises; None where that is not known."""
    allocates: bool
    """Whether it makes arrays or lists, which Numba does not free where it raises."""
    gear: str = "llvm"
    exact: bool = True
    """Whether its results are the plain function's to the last bit."""
    gains_little: bool = False
    """Whether better code is hardly faster: that of loops over whole arrays."""
    state: Any = None
    """What it changes besides its arguments, with `save()`, `restore(saved)` and `arrays(saved)`; None: nothing."""
    refresh: Callable[[], None] | None = None
    """What brings up to date what it knows of NumPy's settings, after a call was left; None: it knows none of them."""
    free: Callable[[], bool] | None = None
    """Whether a call may go to it now: not where something looks on that has to see the plain function's steps."""
    ticks: Any = None
    """An array of how many calls go by until one raises, to be looked at, whatever its arguments; such code looks at
    its arguments itself, and whether a debugger looks on. None: it does not."""
    better: Callable[[], CompiledFunction] | None = None
    """What makes better code of the same call, on any thread, for a price; None: there is none."""
