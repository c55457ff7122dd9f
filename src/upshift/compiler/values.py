"""Values that operations are made of: constants, what was captured, tuples and lists of other values."""

from __future__ import annotations

import enum
from typing import Any, cast

import numpy as np

from .captures import literal_of
from .check import Step, Walk
from .classes import has_operators
from .kinds import (
    INT,
    NUMPY,
    STATUS,
    Array,
    Closure,
    Compound,
    Fused,
    Generator,
    Items,
    Kind,
    Known,
    List,
    Literal,
    Slice,
    Static,
    Tuple,
    items_in,
    ll_of,
)
from .rows import memory
from .rows.numbers import is_numpy_number, safe


def constant(kind: Kind) -> Any:
    """A row that gives a literal's value."""
    if not isinstance(kind, Literal):
        return safe(lambda w: "")
    return safe(lambda w: w.module.constant(kind.kind, kind.value))


def captured(walk: Walk, value: Any, path: Any) -> str:
    """The name of a temporary that holds something captured."""
    captures = walk.unit.captures
    if type(value) is tuple or _is_named_tuple(value):
        captures.take(value, path)
        names = [captured(walk, item, None if path is None else (*path, ("item", i))) for i, item in enumerate(value)]
        if type(value) is not tuple and path is not None:
            where = walk.unit.class_paths.setdefault(type(value), (*path, ("class", None)))
            captures.look_at_class(where, type(value))
        return tuple_of(walk, names, None if type(value) is tuple else type(value))
    if type(value) is slice and path is not None:
        captures.take(value, path)
        names = [captured(walk, getattr(value, part), (*path, ("attr", part))) for part in ("start", "stop", "step")]
        kind = Slice(tuple(walk.env[name] for name in names))
        return walk.temporary(kind, tuple_row(kind), *names)
    if type(value) in (list, dict) and path is not None and not captures.is_table(path, value):
        return _captured_one_by_one(walk, value, path)
    taken, slot = captures.take(value, path)
    if slot is None:
        return walk.temporary(taken, constant(taken))
    ll = ll_of(taken)
    return walk.temporary(taken, safe(lambda w: w.captured(slot, ll)))


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


MOST_ONE_BY_ONE = 64


def _captured_one_by_one(walk: Walk, value: Any, path: Any) -> str:
    """A list or dict of functions, or of anything else that machine code does not keep in memory."""
    if len(value) > MOST_ONE_BY_ONE:
        raise walk.doubt(f"captures a {type(value).__name__} of {len(value)} items that are no numbers")
    walk.unit.captures.look_at_shape(path, value)
    if type(value) is list:
        names = [captured(walk, item, (*path, ("item", i))) for i, item in enumerate(value)]
        return tuple_of(walk, names, list)
    names = [captured(walk, item, (*path, ("item", key))) for key, item in value.items()]
    kind = Known(tuple(value), tuple(walk.env[name] for name in names))
    return walk.temporary(kind, tuple_row(kind), *names)


def value_of_member(walk: Walk, name: str) -> str:
    """A member of an enum of ints or texts as the int or text that it is."""
    kind = walk.env[name]
    if not isinstance(kind, Static) or not isinstance(kind.value, enum.Enum) or isinstance(kind.value, enum.Flag):
        return name
    cls, value = type(kind.value), cast(Any, kind.value)
    of = next((one for one in (int, str) if issubclass(cls, one)), None)
    if of is None or has_operators(cls):
        return name
    literal = literal_of(int.__int__(value) if of is int else str.__str__(value))
    return walk.temporary(literal, constant(literal))


def values_of_members(walk: Walk, names: list[str]) -> list[str]:
    """Operands, with members of enums as their ints and texts. Beside what is NumPy's a member is an int64: to NumPy it
    is not one of Python's ints, which take the class of the other operand."""
    values = [value_of_member(walk, one) for one in names]
    if values == names or not any(_is_numpys(walk.env[one]) for one in names):
        return values
    return [one if one == value else _as_int64(walk, value) for one, value in zip(names, values)]


def _is_numpys(kind: Kind) -> bool:
    return isinstance(kind, Array | Fused) or is_numpy_number(kind)


def _as_int64(walk: Walk, name: str) -> str:
    literal = walk.env[name]
    if not isinstance(literal, Literal) or literal.kind is not INT:
        return name
    return walk.temporary(NUMPY[np.dtype(np.int64)], safe(lambda w: str(literal.value)))


def tuple_of(walk: Walk, names: list[str], cls: type | None = None) -> str:
    """A temporary that holds a tuple of variables, given by their full names."""
    kind = Tuple(tuple(walk.env[name] for name in names), cls)
    return walk.temporary(kind, tuple_row(kind), *names)


def tuple_row(kind: Compound) -> Any:
    """A row that puts values side by side."""

    def emit(w: Any, *values: str) -> str:
        parts = [(ll_of(item), value or "0") for item, value in zip(kind.items, values)]
        return str(w.build(kind.ll, *parts)) if parts else "undef"

    return safe(emit)


def list_of(walk: Walk, names: list[str]) -> str:
    """A list of these values, as a list display makes it."""
    made = List(walk.cell(("list", len(names))))
    kinds = [walk.env[name] for name in names]
    for kind in kinds:
        walk.learn(made.cell, kind)
    return walk.temporary(made, lambda w, *values: memory.display(w, made, kinds, list(values)), *names)


def item_of_tuple(walk: Walk, full: str, i: int) -> str:
    """A temporary that holds an item of a tuple."""
    kind = walk.env[full]
    assert isinstance(kind, Compound)
    item = kind.items[i]
    if isinstance(item, Literal):
        return walk.temporary(item, constant(item))
    return walk.temporary(item, safe(lambda w, t: w.extract(kind.ll, t, i) if item.ll is not None else ""), full)


def nothing(walk: Walk, dst: str) -> Any:
    """A step that computes nothing, for a value of which everything is known."""
    return Step(safe(lambda w: ""), dst, (), 0, walk.frame, None)


def is_tied(kind: Kind) -> bool:
    """Whether a value needs variables of the function that is being followed."""
    return isinstance(kind, Generator | Items) or (isinstance(kind, Closure) and not kind.is_free)


def storable(walk: Walk, kind: Kind) -> Kind:
    """A kind that may be put into a list or a field."""
    if any(is_tied(k) or k is STATUS for k in items_in(kind)):
        raise walk.doubt(f"puts {kind!r} into a list")
    return kind
