"""`x[mask]`, `x[rows]`, `x[rows, columns]`: new arrays, and what is written there, by loops written for these axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..check import Walk
from ..code import Op
from ..follow import written
from ..kinds import NONE, Array, Kind, Slice
from .elementwise import force, is_array, may_share, order_row, overlap


@dataclass(slots=True)
class Part:
    """One item of an index: its sort ("int", "slice", "new", "dots", "array") and the variable that holds it."""

    sort: str
    name: str
    kind: Kind


def is_whole(kind: Kind) -> bool:
    """Whether a slice is `:`."""
    return isinstance(kind, Slice) and all(item is NONE for item in kind.items)


@dataclass(slots=True)
class Block:
    """Arrays of ints side by side in an index, with whole axes around them: `x[:, rows, columns]`."""

    before: int
    """Whole axes before the arrays."""
    names: list[str]
    """The arrays and ints."""
    is_array: list[bool]
    dims: int
    """Axes of the arrays, which all have one shape."""
    after: int


def _block(walk: Walk, kind: Array, parts: list[Part]) -> Block:
    sorts = [part.sort for part in parts]
    before = next(i for i, sort in enumerate(sorts) if sort != "slice")
    inside = [i for i, sort in enumerate(sorts) if sort in ("array", "int")]
    after = sorts[before + len(inside) :]
    slices = [part for part in parts if part.sort == "slice"]
    known = inside == list(range(before, before + len(inside))) and all(sort == "slice" for sort in after)
    if not known or not all(is_whole(part.kind) for part in slices):
        raise walk.doubt("indexes an array with arrays and slices")
    names = [parts[i].name for i in inside]
    kinds = [force(walk, parts[i].name) for i in inside if sorts[i] == "array"]
    if any(one.dtype.kind not in "iu" for one in kinds) or len({one.ndim for one in kinds}) != 1:
        raise walk.doubt("indexes an array with arrays of this sort")
    if len(parts) > kind.ndim:
        raise walk.doubt("has more indices than an array has axes")
    return Block(before, names, [sorts[i] == "array" for i in inside], kinds[0].ndim, kind.ndim - before - len(inside))


def _mask(walk: Walk, parts: list[Part]) -> str | None:
    """The name of the mask that an index is; None where it is something else."""
    kind = force(walk, parts[0].name) if len(parts) == 1 else None
    return parts[0].name if kind is not None and kind.dtype.kind == "b" else None


def _nested(lines: list[str], variables: list[str], lengths: list[str]) -> str:
    """Loops around what follows; how far that is moved to the right."""
    for depth, (variable, n) in enumerate(zip(variables, lengths), start=1):
        lines.append("    " * depth + f"for {variable} in range({n}):")
    return "    " * (len(variables) + 1)


def take(walk: Walk, op: Op, owner: str, parts: list[Part]) -> bool:
    """`owner[index]`, where an array is in the index."""
    kind = walk.env[owner]
    assert isinstance(kind, Array)
    mask = _mask(walk, parts)
    if mask is not None:
        written(walk, op, _masked(walk, kind, walk.env[mask]), [owner, mask])
        return True
    block = _block(walk, kind, parts)
    lines, variables, shape, source = _walked(block, ["x"])
    first, last = block.before, block.before + block.dims
    order = [*range(first, last), *range(first), *range(last, len(variables))]  # NumPy goes over indices outermost
    variables, shape = [variables[a] for a in order], [shape[a] for a in order]
    lines.append(f"    made = new_array(x, ({', '.join(shape)},))")
    inner = _nested(lines, variables, shape)
    back = "" if order == sorted(order) else f".transpose({', '.join(str(order.index(a)) for a in range(len(order)))})"
    lines += [inner + f"set_at(made, {', '.join(variables)}, at(x, {', '.join(source)}))", f"    return made{back}"]
    if len(variables) > 1:
        walk.step(order_row(kind), None, (owner,))
    written(walk, op, "\n".join(lines), [owner, *block.names])
    return True


def _walked(
    block: Block, first: list[str], last: tuple[str, ...] = ()
) -> tuple[list[str], list[str], list[str], list[str]]:
    """The head of a function, and the variables, lengths and indices of loops over what a block leads to."""
    own = [f"r{i}" for i in range(len(block.names))]
    lines = [f"def walked({', '.join([*first, *own, *last])}):"]
    arrays = [name for name, is_one in zip(own, block.is_array) if is_one]
    for other in arrays[1:]:
        lines += [f"    if {other}.shape != {arrays[0]}.shape:", "        raise_broadcast()"]
    inside = [f"i{a}" for a in range(block.dims)]
    where = ", ".join(inside)
    variables = [f"b{a}" for a in range(block.before)] + inside + [f"a{a}" for a in range(block.after)]
    behind = block.before + len(own)
    shape = [f"x.shape[{a}]" for a in range(block.before)]
    shape += [f"{arrays[0]}.shape[{a}]" for a in range(block.dims)]
    shape += [f"x.shape[{behind + a}]" for a in range(block.after)]
    source = [f"b{a}" for a in range(block.before)]
    for i, (name, is_one) in enumerate(zip(own, block.is_array)):
        index = f"at({name}, {where})" if is_one else name
        source.append(f"wrapped({index}, x.shape[{block.before + i}])")
    source += [f"a{a}" for a in range(block.after)]
    return lines, variables, shape, source


def _masked(walk: Walk, kind: Array, mask: Kind) -> str:
    assert isinstance(mask, Array)
    if mask.ndim > kind.ndim:
        raise walk.doubt("a mask of more axes than the array")
    rest = list(range(mask.ndim, kind.ndim))
    indices = [f"i{a}" for a in range(mask.ndim)]
    where = ", ".join(indices)
    shape = ", ".join(["count_true(m)", *(f"x.shape[{a}]" for a in rest)])
    lines = ["def masked(x, m):", *_same_shape(mask.ndim), f"    made = new_array(x, ({shape},))"]
    if not rest:
        return "\n".join([*lines, "    take_true(made, m, x)", "    return made"])
    lines.append("    k = 0")
    inner = _nested(lines, indices, [f"m.shape[{a}]" for a in range(mask.ndim)])
    lines += [inner + f"if at(m, {where}):"]
    lines += [inner + f"    made[k] = x[{where}]"]
    return "\n".join([*lines, inner + "    k += 1", "    return made"])


def _same_shape(ndim: int) -> list[str]:
    tests = " or ".join(f"x.shape[{a}] != m.shape[{a}]" for a in range(ndim))
    return [f"    if {tests}:", "        raise IndexError('boolean index did not match')"]


def put(walk: Walk, op: Op, owner: str, parts: list[Part], value: str) -> bool:
    """`owner[index] = value`, where an array is in the index."""
    kind = walk.env[owner]
    assert isinstance(kind, Array)
    walk.writes(kind.cell)
    given = force(walk, value) if is_array(walk.env[value]) else None
    mask = _mask(walk, parts)
    if mask is not None:
        for name in (mask, value):
            own = walk.env[name]
            if isinstance(own, Array) and may_share(own, kind):
                walk.step(_apart_row(own, kind), None, (name, owner))
        written(walk, op, _put_by_mask(walk, kind, walk.env[mask], given), [owner, mask, value])
        return True
    block = _block(walk, kind, parts)
    lines, variables, shape, source = _walked(block, ["x"], ("v",))
    if given is not None:
        if given.ndim != len(variables):
            raise walk.doubt("puts an array of other axes into an array")
        for a, n in enumerate(shape):
            lines += [f"    if v.shape[{a}] != {n}:", "        raise_broadcast()"]
    inner = _nested(lines, variables, shape)
    item = "v" if given is None else f"at(v, {', '.join(variables)})"
    lines.append(inner + f"set_at(x, {', '.join(source)}, {item})")
    written(walk, op, "\n".join(lines), [owner, *block.names, value])
    return True


def _apart_row(own: Array, kind: Array) -> Any:
    """Leave where what is read lies in the memory that is written to: NumPy reads what it has written meanwhile."""
    return lambda w, x, out: w.leave_if(overlap(w, own, x, kind, out), None, "a part of an array is put into another")


def _put_by_mask(walk: Walk, kind: Array, mask: Kind, given: Array | None) -> str:
    assert isinstance(mask, Array)
    if mask.ndim != kind.ndim or (given is not None and given.ndim != 1):
        raise walk.doubt("puts an array into another by a mask of fewer axes")
    lines = ["def put(x, m, v):", *_same_shape(mask.ndim)]
    if given is not None:
        lines += ["    if len(v) != count_true(m):", "        raise_broadcast()"]
    return "\n".join([*lines, "    put_true(x, m, v)"])
