"""Several arrays as one: `concatenate`, `stack` and their relatives; and edges added around one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..calls import Given, Words
from ..check import Leaves, Walk
from ..code import Op
from ..follow import called
from ..kinds import NUMPY, Array, Fused, Kind, List, Tuple
from ..numpy_library import before
from ..values import item_of_tuple
from .elementwise import force, order_row
from .library import by_name
from .making import array_of
from .reductions import axes_of


def _arrays_of(walk: Walk, name: str) -> list[str] | None:
    """The arrays that a tuple holds; None for a list, whose length is not known."""
    kind = walk.env[name]
    if isinstance(kind, List):
        return None
    if not isinstance(kind, Tuple):
        raise walk.doubt(f"joins {kind!r}")
    names = [item_of_tuple(walk, name, i) for i in range(len(kind.items))]
    made = []
    for one in names:
        own = walk.env[one]
        made.append(
            one if isinstance(own, Array | Fused) or not isinstance(own, List | Tuple) else array_of(walk, one, None)
        )
    return made


def _axis(walk: Walk, name: str | None, ndim: int, default: int = 0) -> int:
    if name is None:
        return default
    found = axes_of(walk, name, ndim)
    if found is None or len(found) != 1:
        raise walk.doubt("joins arrays along an axis that is not known beforehand")
    return found[0]


def _ndims(walk: Walk, names: list[str]) -> list[int]:
    found = []
    for name in names:
        kind = walk.env[name]
        if isinstance(kind, Fused):
            kind = force(walk, name)
        found.append(kind.ndim if isinstance(kind, Array) else 0)
    return found


def _dtype(walk: Walk, kinds: list[Kind]) -> str:
    dtypes = [kind.dtype for kind in kinds if isinstance(kind, Array)]
    if len(dtypes) != len(kinds):
        raise walk.doubt("joins arrays and numbers")
    made = np.result_type(*dtypes)
    if made not in NUMPY:
        raise walk.doubt(f"joins arrays of {made}")
    return "bool_" if made.kind == "b" else made.name


def concatenated(walk: Walk, names: list[str], axis: int) -> str:
    """Arrays of the same axes, end to end along one of them."""
    ndims = _ndims(walk, names)
    if len(set(ndims)) != 1 or not ndims[0]:
        raise walk.doubt("joins arrays of several ranks")
    ndim = ndims[0]
    dtype = _dtype(walk, [walk.env[name] for name in names])
    for name in names:
        kind = walk.env[name]
        if isinstance(kind, Array) and ndim > 1 and not kind.contiguous:
            walk.step(order_row(kind), None, (name,))
    own = [f"x{i}" for i in range(len(names))]
    lines = [f"def joined({', '.join(own)}):"]
    for other in own[1:]:
        tests = [f"{other}.shape[{a}] != x0.shape[{a}]" for a in range(ndim) if a != axis]
        if tests:
            lines += [f"    if {' or '.join(tests)}:", "        raise ValueError('dimensions must match')"]
    shape = [f"x0.shape[{a}]" if a != axis else " + ".join(f"{x}.shape[{axis}]" for x in own) for a in range(ndim)]
    lines += [f"    made = np.empty(({', '.join(shape)},), np.{dtype})", "    k = 0"]
    for x in own:
        index = [":"] * ndim
        index[axis] = f"k:k + {x}.shape[{axis}]"
        lines += [f"    made[{', '.join(index)}] = {x}", f"    k += {x}.shape[{axis}]"]
    return called(walk, "\n".join([*lines, "    return made"]), names)


_OF_LIST = """def joined(xs):
    if len(xs) == 0:
        raise ValueError("need at least one array")
    x0 = xs[0]{index}
    n = 0
    for y in xs:
        x = y{index}
        if {tests}:
            raise ValueError("dimensions must match")
        if not lies_in_rows(x):
            give_up()
        n += x.shape[{axis}]
    made = new_array(x0, ({shape},))
    k = 0
    for y in xs:
        x = y{index}
        made[{before}k:k + x.shape[{axis}]] = x
        k += x.shape[{axis}]
    return made"""


def _joined_list(walk: Walk, name: str, ndim: int, axis: int, index: str = "") -> str:
    """The arrays of a list, which have so many axes after they were indexed."""
    others = [a for a in range(ndim) if a != axis]
    tests = " or ".join(f"x.shape[{a}] != x0.shape[{a}]" for a in others) or "False"
    shape = ", ".join("n" if a == axis else f"x0.shape[{a}]" for a in range(ndim))
    text = _OF_LIST.format(
        tests=tests, shape=shape, axis=axis, before=":, " * axis, index=f"[{index}]" if index else ""
    )
    return called(walk, text, [name])


def _inside(walk: Walk, name: str) -> Array:
    """What the arrays of a list are."""
    kind = walk.env[name]
    assert isinstance(kind, List)
    inside = walk.read(kind.cell)
    if not isinstance(inside, Array) or not inside.ndim:
        raise walk.doubt(f"joins a list of {inside!r}")
    return inside


@before(np.concatenate)
def _concatenate(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = by_name(walk, "concatenate", args, words, ("arrays", "axis"))
    names = _arrays_of(walk, given["arrays"])
    if names is None:
        ndim = _inside(walk, given["arrays"]).ndim
        axis = _axis(walk, given.get("axis"), ndim)
        return walk.give_name(op, _joined_list(walk, given["arrays"], ndim, axis))
    if not names:
        raise Leaves(ValueError, "need at least one array to concatenate")
    return walk.give_name(op, concatenated(walk, names, _axis(walk, given.get("axis"), max(_ndims(walk, names)))))


def _expanded(walk: Walk, names: list[str], index: str) -> list[str]:
    """Arrays with one more axis."""
    return [called(walk, f"def expanded(x):\n    return x[{index}]", [name]) for name in names]


@before(np.stack)
def _stack(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = by_name(walk, "stack", args, words, ("arrays", "axis"))
    names = _arrays_of(walk, given["arrays"])
    if names is None:
        ndim = _inside(walk, given["arrays"]).ndim + 1
        axis = _axis(walk, given.get("axis"), ndim)
        index = ", ".join([":"] * axis + ["None"] + ["..."])
        return walk.give_name(op, _joined_list(walk, given["arrays"], ndim, axis, index))
    ndim = max(_ndims(walk, names))
    axis = _axis(walk, given.get("axis"), ndim + 1)
    index = ", ".join([":"] * axis + ["None"] + ["..."])
    return walk.give_name(op, concatenated(walk, _expanded(walk, names, index), axis))


def _several(fn: Any, along: dict[int, tuple[str, int]], last: tuple[str, int]) -> None:
    """Functions that join arrays of one, two or more axes in different ways: how they are expanded, and the axis."""

    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if len(args) != 1 or words:
            return False
        names = _arrays_of(walk, args[0])
        if names is None:
            ndim = _inside(walk, args[0]).ndim
            index, axis = along.get(ndim, last)
            return walk.give_name(op, _joined_list(walk, args[0], ndim + ("None" in index), axis, index))
        ndims = _ndims(walk, names)
        made, axis = [], last[1]
        for name, ndim in zip(names, ndims):
            index, axis = along.get(ndim, last)
            made += _expanded(walk, [name], index) if index else [name]
        return walk.give_name(op, concatenated(walk, made, axis))

    before(fn)(find)


_several(np.vstack, {1: ("None, :", 0)}, ("", 0))
_several(np.hstack, {1: ("", 0)}, ("", 1))
_several(np.column_stack, {1: (":, None", 1)}, ("", 1))
