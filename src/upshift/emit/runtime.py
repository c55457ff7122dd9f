"""What emitted source calls: columns for its arguments, and results by the same law as `map`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.forms import LEAF, Form, flatten, parts
from ..columns.inputs import common_length, elements_of, lanes_of
from ..columns.kinds import BOOL, COMPLEX, FLOAT, INT, Column, Kind, array_kind, kind_of_dtype, kind_of_value
from ..columns.outputs import Numbers, Objects, Piece, Placed, Same, gather, piece_of
from ..errors import name_element
from ..rules import per_lane as each_lane
from ..rules.arrays import ArrayOp, Put, Slot, lower_call
from ..rules.arrays import each_lane as each_array
from ..trace.names import applied, member_of

_PYTHON_KINDS = {kind.name: kind for kind in (BOOL, INT, FLOAT, COMPLEX)}


def _kind(name: str) -> Kind | None:
    if name == "-":
        return None
    if "[" in name:
        dtype, _, sizes = name.rstrip("]").partition("[")
        return array_kind(np.dtype(dtype), tuple(int(size) for size in sizes.split(",") if size))
    return _PYTHON_KINDS.get(name) or kind_of_dtype(np.dtype(name.removeprefix("np.")))


def columns_of(*columns: Any) -> tuple[int, tuple[Column, ...]]:
    """Arguments as the user passes them -> their number, and one array for every number in an element."""
    elements = [elements_of(column) for column in columns]
    group = lanes_of(elements)[0]
    if group.lanes is None or group.index is not None:
        raise TypeError("this source is for elements of one kind")
    return common_length(elements), tuple(column[:] for column in group.lanes.columns)


def inside(x: Any, low: Any, high: Any) -> Any:
    """Which numbers are within bounds."""
    return (np.asarray(x) >= low) & (np.asarray(x) <= high)


def only(keep: Any, *columns: Any) -> tuple[Any, ...]:
    """The columns of the elements to keep."""
    keep = np.broadcast_to(np.asarray(keep, bool), columns[0].shape)
    return columns if keep.all() else tuple(_kept(column, keep) for column in columns)


def _kept(column: Any, keep: Column) -> Any:
    return tuple(_kept(one, keep) for one in column) if isinstance(column, tuple) else column[keep]


class of:
    """A column among the arguments of a call: one value for every element."""

    def __init__(self, column: Any, kind: str) -> None:
        self.column, self.kind = column, _kind(kind)


put = Put.of(())
"""`x[key] = value` as a function: put(x, value, key) is the changed x."""


def call(kinds: str, fn: Callable[..., Any], *args: Any, **keywords: Any) -> tuple[Any, Column]:
    """A call on every element's arrays, by the rule for it; and for which elements it made what is expected."""
    form, leaves = flatten((args, keywords))
    makes = tuple(_kind(name) for name in kinds.removeprefix("several ").split())
    several = kinds.startswith("several ")
    values = [leaf.column if isinstance(leaf, of) else leaf for leaf in leaves]
    slots = [_slot(i, leaf) for i, leaf in enumerate(leaves)]
    lanes = tuple(isinstance(leaf, of) for leaf in leaves)
    n = next(len(value) for value, lane in zip(values, lanes, strict=True) if lane)
    plain = applied(fn, form)
    op = lower_call(fn, form, tuple(slots), plain, makes, several)  # type: ignore[arg-type]
    if isinstance(op, ArrayOp):
        out, leave, _ = op.over(values, _no_spans)
    elif op is not None:
        out, leave = op.run(*values), None
    else:
        found = tuple(slot.kind if isinstance(slot, Slot) else None for slot in slots)
        made, leave = each_array(plain, values, lanes, found, makes, n)  # type: ignore[arg-type]
        out = made if several else made[0]
    return out, np.ones(n, bool) if leave is None else ~leave


def _slot(i: int, leaf: Any) -> Any:
    if isinstance(leaf, of):
        return Slot(i, leaf.kind, True)  # type: ignore[arg-type]
    kind = kind_of_value(leaf) if isinstance(leaf, np.ndarray) else None
    return leaf if kind is None else Slot(i, kind, False)


def _no_spans(i: int, tight: bool) -> Any:
    raise NotImplementedError


def method(name: str) -> Callable[..., Any]:
    """A method as a function of its object."""
    return member_of(name, True)


def attribute(name: str) -> Callable[..., Any]:
    """An attribute as a function of its object."""
    return member_of(name, False)


def per_lane(fn: Callable[..., Any], kinds: str, *args: Any) -> tuple[Column, Column]:
    """A plain call for every element, and for which elements it gave a number of the expected kind."""
    kind, *of = [_kind(name) for name in kinds.split()]
    assert kind is not None
    n = next(len(a) for a in args if isinstance(a, np.ndarray))
    lanes = [
        k.scalars(a) if isinstance(a, np.ndarray) and k is not None else [a] * n for a, k in zip(args, of, strict=True)
    ]
    out, leave = each_lane(fn, list(lanes), kind, n)
    return out, np.ones(n, bool) if leave is None else ~leave


def finish(f: Callable[..., Any], columns: tuple[Any, ...], done: list[Any], **shared: Any) -> Any:
    """Parts of the result, and the plain function for what no part covers -> the result."""
    elements = [elements_of(column) for column in columns]
    n = common_length(elements)
    rest = np.ones(n, bool)
    pieces: list[Placed] = []
    for at, value, kinds in done:
        if len(at):
            rest[at] = False
            form, leaves = _flat(value)
            made = iter([_leaf(v, _kind(k), len(at)) for v, k in zip(leaves, kinds.split(), strict=True)])
            pieces.append((at, piece_of(form, made, len(at))))
    plain = []
    for i in np.flatnonzero(rest).tolist():
        row = tuple(column[i] for column in elements)
        try:
            plain.append(f(*row, **shared))
        except Exception as error:
            name_element(error, i, row)
            raise
    if plain:
        pieces.append((np.flatnonzero(rest), Objects(plain)))
    return gather(n, pieces)


class Held:
    """A named tuple or dataclass among the results."""

    def __init__(self, cls: type, keys: tuple[str, ...], children: list[Any]) -> None:
        self.cls, self.keys, self.children = cls, keys, children


def record(module: str, name: str, keys: tuple[str, ...], children: list[Any]) -> Held:
    """A named tuple or dataclass of parts, by the name of its class."""
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return Held(found, keys, children)


def _flat(value: Any) -> tuple[Form, list[Any]]:
    found = (value.cls, value.keys, value.children) if isinstance(value, Held) else parts(value)
    if found is None:
        return LEAF, [value]
    cls, keys, children = found
    flats = [_flat(child) for child in children]
    return Form(cls, keys, tuple(form for form, _ in flats)), [leaf for _, leaves in flats for leaf in leaves]


def _leaf(value: Any, kind: Kind | None, n: int) -> Piece:
    if isinstance(value, np.ndarray) and kind is not None:
        return Numbers(value.astype(kind.dtype, copy=False), kind)
    return Same(value, n)
