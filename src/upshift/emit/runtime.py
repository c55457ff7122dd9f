"""What emitted source calls: columns in, and out again, by the same law as `map`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.forms import LEAF, Form, parts
from ..columns.inputs import common_length, elements_of, lanes_of
from ..columns.kinds import BOOL, COMPLEX, FLOAT, INT, Column, Kind, kind_of_dtype
from ..columns.outputs import Numbers, Objects, Piece, Placed, Same, gather, piece_of
from ..errors import name_element
from ..rules import per_lane as each_lane
from ..trace import call_of

_PYTHON_KINDS = {kind.name: kind for kind in (BOOL, INT, FLOAT, COMPLEX)}


def _kind(name: str) -> Kind | None:
    if name == "-":
        return None
    return _PYTHON_KINDS.get(name) or kind_of_dtype(np.dtype(name.removeprefix("np.")))


def columns_of(*columns: Any) -> tuple[int, tuple[Column, ...]]:
    """Arguments as the user passes them -> their number, and one array for every number in an element."""
    elements = [elements_of(column) for column in columns]
    group = lanes_of(elements)[0]
    if group.lanes is None or group.index is not None:
        raise TypeError("this source is for elements of one kind")
    return common_length(elements), group.lanes.columns


def inside(x: Any, low: Any, high: Any) -> Any:
    """Which numbers are within bounds."""
    return (np.asarray(x) >= low) & (np.asarray(x) <= high)


def only(keep: Any, *columns: Any) -> tuple[Any, ...]:
    """The columns of the elements to keep."""
    keep = np.broadcast_to(np.asarray(keep, bool), columns[0].shape)
    return columns if keep.all() else tuple(column[keep] for column in columns)


def method(name: str) -> Callable[..., Any]:
    """A method as a function of its object."""
    return call_of(name, True)


def attribute(name: str) -> Callable[..., Any]:
    """An attribute as a function of its object."""
    return call_of(name, False)


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
