"""What a function takes from outside: read anew for every call where it is a number, looked at where it is built in."""

from __future__ import annotations

import builtins
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.kinds import fits_int64
from ..columns.kinds import kind_of as number_kind
from ..trace.paths import Capture, Path, about_class, frozen, plain_of
from .code import Code
from .kinds import (
    BIG,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    STR,
    TEXT,
    Array,
    Cell,
    Kind,
    Literal,
    Refused,
    Static,
    Tuple,
)
from .source import code_of
from .tables import kind_of_table

MOST_IN_TABLE = 100_000
HEAP_TYPE = 1 << 9
"""The flag of classes that were made by Python code."""
ROOT: Path = (("f", None),)


@dataclass(frozen=True, slots=True)
class Home:
    """A function, and the way to it from the one that is mapped; no way: it is of our own library."""

    fn: types.FunctionType
    path: Path | None
    given: Code | None = None
    """What it does, where it was written for certain kinds and has no source of its own."""

    @property
    def code(self) -> Code:
        """Its blocks of operations."""
        return self.given or code_of(plain_of(self.fn), trusted=self.path is None)


@dataclass(slots=True)
class Input:
    """A captured number, array or table: its kind, and where it is found in the block of captured values."""

    kind: Kind
    slot: int


@dataclass(slots=True)
class Captures:
    """All that is taken from outside by a function and what it calls."""

    looked_at: dict[Path, Capture] = field(default_factory=dict)
    """What has to be as it was, for machine code to be used."""
    inputs: dict[Path, Input] = field(default_factory=dict)
    tables: dict[Path, tuple[Kind, Any]] = field(default_factory=dict)
    size: int = 0
    """Bytes of the block of captured values."""

    def global_of(self, home: Home, name: str) -> tuple[Any, Path | None]:
        """The value of a global name, and the way to it."""
        if name in home.fn.__globals__:
            value, way = home.fn.__globals__[name], "global"
        elif hasattr(builtins, name):
            value, way = getattr(builtins, name), "global?"
        else:
            raise Refused(f"{name} is not defined")
        return value, None if home.path is None else (*home.path, (way, name))

    def cell_of(self, home: Home, name: str) -> tuple[Any, Path | None]:
        """What a variable of the function around it holds, and the path by which it is read again."""
        index = home.fn.__code__.co_freevars.index(name)
        try:
            value = home.fn.__closure__[index].cell_contents  # type: ignore[index]
        except ValueError:
            raise Refused(f"{name} is not set yet") from None
        return value, None if home.path is None else (*home.path, ("cell", index))

    def default_of(self, home: Home, index: int) -> tuple[Any, Path | None]:
        """A parameter's default, and the path by which it is read again."""
        defaults = home.fn.__defaults__ or ()
        if home.path is None:
            return defaults[index], None
        path = (*home.path, ("attr", "__defaults__"))
        self.looked_at.setdefault(path, Capture(path, "shape", (tuple, len(defaults))))
        return defaults[index], (*home.path, ("default", index))

    def keyword_default_of(self, home: Home, name: str) -> tuple[Any, Path | None]:
        """The default of a parameter that is given by keyword only, and the path by which it is read again."""
        value = (home.fn.__kwdefaults__ or {})[name]
        return value, None if home.path is None else (*home.path, ("kwdefault", name))

    def take(self, value: Any, path: Path | None) -> tuple[Kind, int | None]:
        """The kind of something captured, and its slot where it is read anew for every call."""
        if path is None:
            return literal_of(value), None
        if path in self.inputs:
            found = self.inputs[path]
            return found.kind, found.slot
        kind = _number(value)
        if kind is not None:
            return self._input(path, Capture(path, "input", number_kind(value)), kind)
        if type(value) is np.ndarray and value.dtype in NUMPY:
            array = Array(value.dtype, value.ndim, Cell(fixed=True))
            return self._input(path, Capture(path, "array", (value.dtype, value.ndim)), array)
        if isinstance(value, tuple) and (type(value) is tuple or hasattr(value, "_fields")):
            self.look_at_shape(path, value)
            return Tuple(()), None  # its items are captured one by one
        if type(value) in (list, dict, set, frozenset):
            return self._table(path, value)
        self._look_at(path, value)
        return literal_of(value, path), None

    def look_at_shape(self, path: Path, value: Any) -> None:
        """A container has to stay as long as it is, or a dict to keep its keys; its items are captured one by one."""
        inside = tuple(value) if isinstance(value, dict) else len(value)
        self.looked_at.setdefault(path, Capture(path, "shape", (type(value), inside)))

    def look_at_class(self, path: Path, cls: type) -> None:
        """A class and those that it is derived from have to keep their names: a new one may hide another."""
        for i, one in enumerate(cls.__mro__):
            if one.__flags__ & HEAP_TYPE:
                about = (*path, ("mro", i), ("about", None))
                self.looked_at.setdefault(about, Capture(about, "equal", frozen(about_class(one))))

    def is_table(self, path: Path, value: Any) -> bool:
        """Whether a list or dict can be kept in memory as it is."""
        if path in self.inputs:
            return True
        try:
            self.take(value, path)
        except (Refused, NotImplementedError):
            return False
        return True

    def _look_at(self, path: Path, value: Any) -> None:
        if type(value) in (str, int, bytes):
            self.looked_at.setdefault(path, Capture(path, "equal", frozen(value)))
            return
        if isinstance(value, types.FunctionType):  # what it captures in its turn has a path of its own
            if plain_of(value) is not value:
                self.looked_at.setdefault(path, Capture(path, "same", value))
            elif path != ROOT:
                self.looked_at.setdefault(path, Capture(path, "code", value.__code__))
            return
        if isinstance(value, types.MethodType):  # made anew whenever it is asked for
            for name in ("__func__", "__self__"):
                self.take(getattr(value, name), (*path, ("attr", name)))
            return
        if isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, type | np.ufunc):  # `np.add.outer`
            for name in ("__name__", "__self__"):
                self.take(getattr(value, name), (*path, ("attr", name)))
            return
        self.looked_at.setdefault(path, Capture(path, "same", value))

    def _input(self, path: Path, capture: Capture, kind: Kind) -> tuple[Kind, int]:
        slot = self.size
        self.size += 16 if not isinstance(kind, Array) else 16 * (kind.ndim + 1)
        self.looked_at[path] = capture
        self.inputs[path] = Input(kind, slot)
        return kind, slot

    def _table(self, path: Path, value: Any) -> tuple[Kind, int]:
        if len(value) > MOST_IN_TABLE:
            raise Refused(f"captures a {type(value).__name__} of {len(value)} items")
        kind = kind_of_table(value)
        kind, slot = self._input(path, Capture(path, "equal", frozen(value)), kind)
        self.tables[path] = kind, value
        return kind, slot


def _number(value: Any) -> Kind | None:
    cls = type(value)
    if cls is float:
        return FLOAT
    if cls is int:
        return INT if fits_int64(value) else None
    if cls is complex:
        return COMPLEX
    if isinstance(value, np.generic):
        known = NUMPY.get(value.dtype)
        return known if known is not None and known.cls is cls else None
    return None


def literal_of(value: Any, path: Path | None = None) -> Kind:
    """The kind of a value that stands in the source, or is as fixed as if it did."""
    cls = type(value)
    if value is None:
        return NONE
    if cls is bool:
        return Literal(BOOL, value)
    if cls is int:
        return Literal(INT if fits_int64(value) else BIG, value)
    if cls is float:
        return Literal(FLOAT, value)
    if cls is complex:
        return Literal(COMPLEX, value)
    if cls is str:
        return Literal(STR, value) if value.isascii() else TEXT
    return Static(value, path)
