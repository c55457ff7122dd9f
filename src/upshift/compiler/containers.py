"""What operations on containers do to kinds: tuples, lists, sets, dicts, slices; their items, and iteration."""

from __future__ import annotations

import enum
import functools
from collections.abc import Sequence
from typing import Any

from .calls import call_method, find_method, method, or_in_python
from .captures import literal_of
from .check import Leaves, Walk
from .code import Op, Shape
from .follow import prelude, written
from .instances import refuse_acting
from .kinds import (
    BOOL,
    INT,
    NONE,
    STR,
    Array,
    Either,
    Generator,
    Items,
    Kind,
    Known,
    List,
    Literal,
    Object,
    Range,
    Slice,
    Static,
    Tuple,
    ll_of,
    matches,
    plain,
)
from .operations import ARRAYS, HOOKS, OF_ARRAYS, capture, comparison, index_of, operation
from .protocol import is_object, is_user_object
from .rows import memory, numbers
from .rows.numbers import base, safe
from .values import captured, constant, item_of_tuple, list_of, nothing, storable, tuple_of, tuple_row, value_of_member

# ---- tuples, lists, slices


@operation("tuple")
def _tuple(walk: Walk, op: Op) -> None:
    kind = Tuple(tuple(walk.kind(name) for name in op.args))
    walk.put(op, kind, tuple_row(kind), *op.args)


@operation("list")
def _list(walk: Walk, op: Op) -> None:
    kinds = [walk.kind(name) for name in op.args]
    made = List(walk.cell())
    for kind in kinds:
        walk.learn(made.cell, storable(walk, kind))
    walk.put(op, made, lambda w, *values: memory.display(w, made, kinds, list(values)), *op.args)
    if op.dst is not None and op.dst[0] == "%":
        walk.displays[walk.name(op.dst)] = [walk.name(name) for name in op.args]


@operation("append")
def _append(walk: Walk, op: Op) -> None:
    append(walk, op, walk.name(op.args[0]), walk.name(op.args[1]))


def append(walk: Walk, op: Op, xs: str, value: str) -> None:
    """`xs.append(value)`, by their full names."""
    made, kind = walk.env[xs], walk.env[value]
    if isinstance(made, Either):  # where a variable has been of many kinds, it is told apart when it is used
        return walk.split(xs, made, walk.at)
    assert isinstance(made, List)
    walk.learn(made.cell, storable(walk, kind))
    walk.writes(made.cell)
    walk.step(lambda w, p, v: memory.append(w, made, p, v, kind), None, (xs, value))
    if op.dst is not None:
        return walk.give(op, NONE, constant(NONE))
    return walk.next_op()


@operation("slice")
def _slice(walk: Walk, op: Op) -> None:
    for name in op.args:
        walk.kind(name)
    give_slice(walk, op, [walk.name(name) for name in op.args])


def give_slice(walk: Walk, op: Op, bounds: Sequence[str]) -> None:
    """A slice of a start, a stop and a step, by their full names."""
    names = [index_of(walk, name) for name in bounds]
    kind = Slice(tuple(walk.env[name] for name in names))

    def emit(w: Any, *values: str) -> str:
        parts = [(ll_of(item), value or "0") for item, value in zip(kind.items, values)]
        return str(w.build(kind.ll, *parts))

    walk.give(op, kind, safe(emit), *names)


@operation("unpack")
def _unpack(walk: Walk, op: Op) -> None:
    """A tuple of as many parts as there are targets; the starred part is a list."""
    count, star = op.extra
    kind = walk.kind(op.args[0])
    full = walk.name(op.args[0])
    assert op.dst is not None
    if isinstance(kind, Tuple):
        have = len(kind.items)
        if have < count - (star is not None) or (star is None and have != count):
            raise Leaves(ValueError, f"unpacks {have} values into {count}")
        names = [item_of_tuple(walk, full, i) for i in range(have)]
        if star is not None:
            after = count - star - 1
            middle = names[star : have - after]
            names[star : have - after] = [list_of(walk, middle)]
        walk.give_name(op, tuple_of(walk, names))
        return
    if isinstance(kind, List) and star is None:
        return _unpack_list(walk, op, full, kind, count)
    if numbers.rank(kind) >= 0 or kind is NONE:
        raise Leaves(TypeError, f"unpacks {kind!r}")
    return _unpack_iterable(walk, op, full, kind, count, star)


def _unpack_iterable(walk: Walk, op: Op, full: str, kind: Kind, count: int, star: int | None) -> None:
    """`a, b = (f(x) for x in xs)`: item by item where there are few and no star, else by way of a list."""
    if star is None and count <= MOST_UNPACKED and not isinstance(kind, Object):
        lines = ["def unpacked(xs):", "    rest = iter(xs)"]
        for i in range(count):
            lines += [f"    for x{i} in rest:", "        break", "    else:", "        raise ValueError('too few')"]
        lines += ["    for _ in rest:", "        raise ValueError('too many')"]
        names = ", ".join(f"x{i}" for i in range(count))
        return written(walk, op, "\n".join([*lines, f"    return ({names},)"]), [full])
    items = [f"xs[{i}]" for i in range(count if star is None else star)]
    test = f"len(xs) != {count}" if star is None else f"len(xs) < {count - 1}"
    if star is not None:
        after = count - star - 1
        items.append(f"xs[{star}:len(xs) - {after}]")
        items += [f"xs[len(xs) - {after - i}]" for i in range(after)]
    made = "it" if isinstance(kind, List) else "list(it)"
    lines = ["def unpacked(it):", f"    xs = {made}", f"    if {test}:", "        raise ValueError('too few')"]
    return written(walk, op, "\n".join([*lines, f"    return ({', '.join(items)},)"]), [full])


MOST_UNPACKED = 8


def _unpack_list(walk: Walk, op: Op, full: str, kind: List, count: int) -> None:
    inside = walk.read(kind.cell)
    assert op.dst is not None

    def check(w: Any, xs: str) -> None:
        n = memory.length(w, xs)
        w.leave_if(w.new(f"icmp ne i64 {n}, {count}"), ValueError, f"unpacks a list into {count} values")

    walk.step(check, None, (full,))
    rows = [safe(lambda w, xs, at=str(i): memory.get(w, kind, xs, at)) for i in range(count)]
    walk.give_name(op, tuple_of(walk, [walk.temporary(inside, row, full) for row in rows]))


@operation("pick")
def _pick(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[0])
    assert isinstance(kind, Tuple) and op.dst is not None
    name = item_of_tuple(walk, walk.name(op.args[0]), op.extra)
    item = walk.env[name]
    if isinstance(item, Either):
        return walk.give(op, item, safe(lambda w, v: v), name)
    walk.give_name(op, name)


# ---- items


@operation("item")
def _item(walk: Walk, op: Op) -> None:
    item(walk, op, walk.name(op.args[0]), walk.name(op.args[1]), walk.kind(op.args[0]), walk.kind(op.args[1]))


def item(walk: Walk, op: Op, owner: str, index: str, of: Kind, at: Kind) -> None:
    """`owner[index]`, by their full names."""
    index = value_of_member(walk, index)
    at = walk.env[index]
    if isinstance(of, ARRAYS):
        run = functools.partial(OF_ARRAYS["item"], walk, op, owner, index)
        if or_in_python(walk, op, "item", "item", [owner, index], {}, run):
            return None
    if isinstance(of, List | Tuple | Range) or base(of) is STR:
        index = index_of(walk, index)
        at = walk.env[index]
    is_int = base(at) in (INT, BOOL)
    if isinstance(of, Known):
        return known_item(walk, op, owner, index, KeyError)
    if isinstance(of, Static) and not is_object(of):
        return _static_item(walk, op, of, at)
    if isinstance(of, List) and is_int:
        return walk.give(op, walk.read(of.cell), _list_item(of, at), owner, index)
    if base(of) is STR and is_int:

        def character(w: Any, s: str, i: str) -> str:
            where = memory.index(w, memory.text_length(w, s), numbers.to_int(w, i, at), "string")
            return str(memory.text_part(w, s, where, w.new(f"add i64 {where}, 1")))

        return walk.give(op, STR, character, owner, index)
    if isinstance(of, Tuple) and is_int:
        return _tuple_item(walk, op, owner, index, of, at)
    if isinstance(of, Tuple) and isinstance(at, Slice):
        return _tuple_slice(walk, op, owner, of, at)
    if isinstance(at, Slice) and (isinstance(of, List) or base(of) is STR):
        return prelude(walk, op, "list_slice" if isinstance(of, List) else "text_slice", [owner, index])
    if isinstance(of, Range) and is_int:
        return prelude(walk, op, "range_item", [owner, index])
    if _item_by_method(walk, op, owner, index, of, at):
        return None
    if isinstance(of, List | Tuple) or base(of) is STR:
        raise Leaves(TypeError, f"indexes {of!r} with {at!r}")
    raise walk.doubt(f"an item of {of!r}")


def known_item(walk: Walk, op: Op, owner: str, index: str, error: type, default: str | None = None) -> None:
    """An item of a dict whose keys are known; without it, such an error, or a default."""
    of, at = walk.env[owner], walk.env[index]
    assert isinstance(of, Known) and op.dst is not None
    if isinstance(at, Literal | Static) or at is NONE:
        key = getattr(at, "value", None)
        found = next((i for i, name in enumerate(of.names) if name == key), None)
        name = default if found is None else item_of_tuple(walk, owner, found)
        if name is None:
            raise Leaves(error, f"{key!r} is not there")
        walk.give_name(op, name)
        return
    rows = [comparison(walk, "Eq", at, literal_of(name)) for name in of.names]
    if any(row is None for row in rows):
        raise walk.doubt(f"looks for {at!r} in {of!r}")
    names = [item_of_tuple(walk, owner, i) for i in range(len(of.names))] + ([default] if default is not None else [])
    if not names:
        raise Leaves(error, "an item of an empty dict")
    listed = list_of(walk, names)
    made = walk.env[listed]
    assert isinstance(made, List)

    def emit(w: Any, xs: str, key: str) -> str:
        where = str(len(of.names))
        for i in range(len(of.names) - 1, -1, -1):
            literal = literal_of(of.names[i])
            same = rows[i][1](w, key, constant(literal)(w))
            where = w.choose(same, "i64", str(i), where)
        if default is None:
            w.leave_if(w.new(f"icmp eq i64 {where}, {len(of.names)}"), error, "a key that is not there")
        return memory.get(w, made, xs, where)

    return walk.give(op, walk.read(made.cell), emit, listed, index)


def _static_item(walk: Walk, op: Op, of: Static, at: Kind) -> None:
    """An item of something known: a member of an enum, `list[int]` in an annotation."""
    if isinstance(of.value, enum.EnumType) and isinstance(at, Literal) and of.path is not None:
        if at.value not in of.value.__members__:
            raise Leaves(KeyError, f"{at.value!r} is no member")
        return capture(walk, op, of.value[at.value], (*of.path, ("item", at.value)))
    refuse_acting(of.value)
    raise walk.doubt(f"an item of {of!r}")


def _list_item(of: List, at: Kind) -> Any:
    def emit(w: Any, xs: str, i: str) -> str:
        where = memory.index(w, memory.length(w, xs), numbers.to_int(w, i, at), of.cls.__name__)
        return memory.get(w, of, xs, where)

    return emit


def _tuple_item(walk: Walk, op: Op, owner: str, index: str, of: Tuple, at: Kind) -> None:
    n = len(of.items)
    if isinstance(at, Literal):
        i = int(at.value)
        if not -n <= i < n:
            raise Leaves(IndexError, "tuple index out of range")
        name = item_of_tuple(walk, owner, i % n)
        if isinstance(walk.env[name], Either):
            return walk.give(op, walk.env[name], safe(lambda w, v: v), name)
        assert op.dst is not None
        walk.give_name(op, name)
        return
    names = [item_of_tuple(walk, owner, i) for i in range(n)]
    listed = list_of(walk, names)
    made = walk.env[listed]
    assert isinstance(made, List)
    tuple_like = List(made.cell, tuple)
    return walk.give(op, walk.read(made.cell), _list_item(tuple_like, at), listed, index)


def _tuple_slice(walk: Walk, op: Op, owner: str, of: Tuple, at: Slice) -> None:
    if not all(k is NONE or isinstance(k, Literal) for k in at.items):
        raise walk.doubt("a slice of a tuple")
    bounds = slice(*[None if k is NONE else k.value for k in at.items])  # type: ignore[attr-defined]
    names = [item_of_tuple(walk, owner, i) for i in range(len(of.items))[bounds]]
    walk.give_name(op, tuple_of(walk, names))


@operation("setitem")
def _setitem(walk: Walk, op: Op) -> None:
    of, at, kind = (walk.kind(name) for name in op.args)
    owner, index, value = (walk.name(name) for name in op.args)
    if isinstance(of, ARRAYS):
        run = functools.partial(OF_ARRAYS["set_item"], walk, op, owner, index, value)
        if or_in_python(walk, op, "item", "set_item", [owner, index, value], {}, run):
            return None
    if isinstance(of, List):
        index = index_of(walk, index)
        at = walk.env[index]
    if isinstance(of, List) and of.cls is list and base(at) in (INT, BOOL):
        walk.learn(of.cell, storable(walk, kind))
        walk.writes(of.cell)

        def emit(w: Any, xs: str, i: str, v: str) -> None:
            where = memory.index(w, memory.length(w, xs), numbers.to_int(w, i, at), "list assignment")
            memory.keep_callers(w, of, xs)
            memory.put(w, of, xs, where, v, kind)

        walk.step(emit, None, (owner, index, value))
        return walk.next_op()
    if isinstance(of, List) and of.cls is list and isinstance(at, Slice):
        return prelude(walk, op, "set_list_slice", [owner, index, value])
    if _set_item_by_method(walk, op, owner, index, value, of, at, kind):
        return None
    raise walk.doubt(f"sets an item of {of!r}")


@operation("delitem")
def _delitem(walk: Walk, op: Op) -> None:
    of, at = (walk.kind(name) for name in op.args)
    owner, index = (walk.name(name) for name in op.args)
    if isinstance(of, List):
        index = index_of(walk, index)
        at = walk.env[index]
    if isinstance(of, List) and of.cls is list:
        return prelude(walk, op, "delete_item" if base(at) in (INT, BOOL) else "delete_slice", [owner, index])
    if _delete_item_by_method(walk, op, owner, index, of):
        return None
    raise walk.doubt(f"deletes an item of {of!r}")


# ---- iteration


@operation("iter")
def _iter(walk: Walk, op: Op) -> None:
    iterate(walk, op, walk.name(op.args[0]), walk.kind(op.args[0]))


def iterate(walk: Walk, op: Op, full: str, kind: Kind) -> None:
    """An iterator over a value: mostly a generator of the prelude."""
    assert op.dst is not None
    if isinstance(kind, Generator | Items):
        walk.give_name(op, full)
        return
    if isinstance(kind, List):
        return prelude(walk, op, "list_items", [full])
    if isinstance(kind, Array):
        return prelude(walk, op, "array_items", [full])
    if isinstance(kind, Range):
        step = "range_items" if kind.step is None else "range_up" if kind.step > 0 else "range_down"
        return prelude(walk, op, step, [full])
    if base(kind) is STR:
        return prelude(walk, op, "text_items", [full])
    if isinstance(kind, Tuple):
        if len(kind.items) > MOST_UNROLLED and all(matches(plain(kind.items[0]), plain(k)) for k in kind.items):
            names = [item_of_tuple(walk, full, i) for i in range(len(kind.items))]
            return prelude(walk, op, "list_items", [list_of(walk, names)])
        prefix = walk.spec.prefix(("items", walk.frame, walk.block, walk.at))
        walk.alias(f"{prefix}items", full)
        walk.env[f"{prefix}$at"] = Static((0,))
        walk.env[walk.name(op.dst)] = Items(prefix)
        walk.steps.append(nothing(walk, walk.name(op.dst)))
        return walk.next_op()
    if isinstance(kind, Known):
        names = [walk.temporary(literal_of(name), constant(literal_of(name))) for name in kind.names]
        full = tuple_of(walk, names)
        return iterate(walk, op, full, walk.env[full])
    if isinstance(kind, Static) and isinstance(kind.value, enum.EnumType) and kind.path is not None:
        members: list[Any] = list(kind.value)
        members = [captured(walk, one, (*kind.path, ("attr", one.name))) for one in members]
        full = tuple_of(walk, members)
        return iterate(walk, op, full, walk.env[full])
    if _iterate_by_method(walk, op, full, kind):
        return None
    raise walk.doubt(f"iterates over {kind!r}")


MOST_UNROLLED = 6


@operation("gather")
def _gather(walk: Walk, op: Op) -> None:
    """Arguments from the first star on: a tuple, or a list where their number is known only when a lane runs."""
    kinds = [walk.kind(name) for name in op.args]
    names = [walk.name(name) for name in op.args]
    assert op.dst is not None
    if all(isinstance(kind, Tuple) for kind, starred in zip(kinds, op.extra) if starred):
        given = []
        for name, kind, starred in zip(names, kinds, op.extra):
            count = len(kind.items) if isinstance(kind, Tuple) else 0
            given += [item_of_tuple(walk, name, i) for i in range(count)] if starred else [name]
        walk.give_name(op, tuple_of(walk, given))
        return
    if len(kinds) == 1 and isinstance(kinds[0], List):
        walk.give_name(op, names[0])
        return
    words = [f"x{i}" for i in range(len(names))]
    lines = [f"def gathered({', '.join(words)}):", "    made = []"]
    for word, starred in zip(words, op.extra):
        lines.append(f"    made.extend({word})" if starred else f"    made.append({word})")
    return written(walk, op, "\n".join([*lines, "    return made"]), names)


@operation("next")
def _next(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[0])
    if isinstance(kind, Generator):
        return walk.resume(op, kind)
    if isinstance(kind, Items):
        return _next_of_items(walk, op, kind)
    raise walk.doubt(f"iterates over {kind!r}")


def _next_of_items(walk: Walk, op: Op, kind: Items) -> None:
    position = walk.env[f"{kind.prefix}$at"]
    items = walk.env[f"{kind.prefix}items"]
    if isinstance(items, Either):
        return walk.split(f"{kind.prefix}items", items, walk.at)
    assert isinstance(position, Static) and isinstance(items, Tuple) and op.dst is not None
    at = position.value[0]
    if at == len(items.items):
        return walk.go(walk.block.targets[1])
    walk.env[f"{kind.prefix}$at"] = Static((at + 1,))
    walk.alias(walk.name(op.dst), item_of_tuple(walk, f"{kind.prefix}items", at))
    return walk.go(walk.block.targets[0])


# ---- sets and dicts


@operation("set", "dict")
def _set(walk: Walk, op: Op) -> None:
    for name in op.args:
        walk.kind(name)
    HOOKS[op.code](walk, op)


@operation("literal set")
def _literal_set(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    flags = [Literal(BOOL, flag) for flag in op.extra]
    prelude(walk, op, "literal_set", [walk.name(op.args[0]), *(walk.temporary(f, constant(f)) for f in flags)])


@operation("add")
def _add(walk: Walk, op: Op) -> None:
    call_method(walk, op, walk.name(op.args[0]), "add", [walk.name(op.args[1])], Shape((False,)))


@operation("put")
def _put(walk: Walk, op: Op) -> None:
    key, value = walk.name(op.args[1]), walk.name(op.args[2])
    walk.kind(op.args[1])
    walk.kind(op.args[2])
    call_method(walk, op, walk.name(op.args[0]), "__setitem__", [key, value], Shape((False, False)))


def _item_by_method(walk: Walk, op: Op, owner: str, index: str, of: Kind, at: Kind) -> bool:
    if is_object(of) and find_method(walk, of, "__getitem__") is not None:
        method(walk, op, owner, "__getitem__", [index], {})
        return True
    return False


def _set_item_by_method(walk: Walk, op: Op, owner: str, index: str, value: str, of: Kind, at: Kind, kind: Kind) -> bool:
    if isinstance(of, Object) and find_method(walk, of, "__setitem__") is not None:
        method(walk, op, owner, "__setitem__", [index, value], {})
        return True
    return False


def _delete_item_by_method(walk: Walk, op: Op, owner: str, index: str, of: Kind) -> bool:
    if isinstance(of, Object) and find_method(walk, of, "__delitem__") is not None:
        method(walk, op, owner, "__delitem__", [index], {})
        return True
    return False


def _iterate_by_method(walk: Walk, op: Op, full: str, kind: Kind) -> bool:
    if is_object(kind) and find_method(walk, kind, "__iter__") is not None:
        if is_user_object(kind):
            prelude(walk, op, "object_iterator", [full])
        else:
            method(walk, op, full, "__iter__", [], {})
        return True
    if is_user_object(kind) and find_method(walk, kind, "__getitem__") is not None:
        prelude(walk, op, "object_sequence", [full])
        return True
    return False
