"""Containers whose items are known one by one: collected keywords, dicts of functions, enums; lists behind a star."""

from __future__ import annotations

import enum
import itertools
from typing import Any

from .arguments import Given, Words, known_of
from .calls import OTHERS, SPECIAL_METHODS, STARRED
from .captures import literal_of
from .check import Leaves, Walk
from .code import Op
from .containers import known_item
from .follow import prelude, written
from .kinds import NONE, STR, Known, List, Literal, Static, Tuple, items_in
from .rows.numbers import base
from .values import captured, constant, item_of_tuple, tuple_of, tuple_row


def _name_of(op: Op) -> str:
    return op.extra[0] if op.code == "method" else ""


# ---- dicts whose keys are known


def _keys(walk: Walk, kind: Known) -> list[str]:
    return [walk.temporary(literal_of(name), constant(literal_of(name))) for name in kind.names]


def _view(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """`keys`, `values` and `items`, as tuples: nothing can change while one looks at them."""
    kind = walk.env[args[0]]
    assert isinstance(kind, Known)
    values = [item_of_tuple(walk, args[0], i) for i in range(len(kind.names))]
    if _name_of(op) == "values":
        return walk.give_name(op, tuple_of(walk, values))
    if _name_of(op) == "keys":
        return walk.give_name(op, tuple_of(walk, _keys(walk, kind)))
    if _name_of(op) != "items":
        return False
    pairs = [tuple_of(walk, [key, value]) for key, value in zip(_keys(walk, kind), values)]
    return walk.give_name(op, tuple_of(walk, pairs))


def _get(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    default = args[2] if len(args) == 3 else walk.temporary(NONE, constant(NONE))
    known_item(walk, op, args[0], args[1], KeyError, default)
    return True


def _copy(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return walk.give_name(op, args[0])


def _change(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """`pop` and `setdefault` of a dict that one variable alone holds: the variable holds another from then on."""
    kind, key = walk.env[args[0]], walk.env[args[1]]
    assert isinstance(kind, Known)
    if not isinstance(key, Literal) or not _is_alone(walk, op, args[0]):
        return False
    items = {name: item_of_tuple(walk, args[0], i) for i, name in enumerate(kind.names)}
    if _name_of(op) == "pop":
        if key.value not in items and len(args) < 3:
            raise Leaves(KeyError, f"{key.value!r} is not there")
        given = items.pop(key.value, args[2] if len(args) == 3 else "")
    else:
        if len(args) < 3:
            return False
        given = items.setdefault(key.value, args[2])
    walk.alias(walk.name(op.args[0]), known_of(walk, items))
    if op.dst is None:
        walk.next_op()
        return True
    return walk.give_name(op, given)


def _is_alone(walk: Walk, op: Op, full: str) -> bool:
    """Whether a variable is the only one that holds a dict."""
    if op.args[0].startswith("%") or walk.name(op.args[0]) != full:
        return False
    names = {walk.name(name) for name in walk.frame.code.live_at(walk.block, walk.at)} | {full}
    live = walk.spec.reach(list(names), walk.frame, walk.env)
    return not any(isinstance(inner, Known) for name, kind in live.items() if name != full for inner in items_in(kind))


for _name in ("keys", "values", "items"):
    SPECIAL_METHODS["dict", _name] = _view
for _name in ("pop", "setdefault"):
    SPECIAL_METHODS["dict", _name] = _change
SPECIAL_METHODS["dict", "get"] = _get
SPECIAL_METHODS["dict", "copy"] = _copy


# ---- enums


def _enum_by_value(walk: Walk, op: Op, target: Static, args: Given, keywords: Words) -> bool:
    """`Color(2)`: the member with this value."""
    cls: Any = target.value
    if type(cls) is not enum.EnumType or target.path is None or len(args) != 1 or keywords:
        return False
    if any("_missing_" in vars(one) for one in cls.__mro__ if one.__module__ != "enum") or issubclass(cls, enum.Flag):
        return False
    given, members = walk.env[args[0]], list(target.value)
    if isinstance(given, Static) and given.value in members:
        return walk.give_name(op, args[0])
    names = [captured(walk, one, (*target.path, ("attr", one.name))) for one in members]
    kind = Known(tuple(one.value for one in members), tuple(walk.env[name] for name in names))
    made = walk.temporary(kind, tuple_row(kind), *names)
    known_item(walk, op, made, args[0], ValueError)
    return True


OTHERS.append(_enum_by_value)


# ---- lists behind a star


def _extreme(name: str) -> Any:
    def find(walk: Walk, op: Op, args: Given, rest: str, words: Words) -> bool:
        if set(words) - {"key"}:
            return False
        prelude(walk, op, name, [tuple_of(walk, args), rest], words)
        return True

    return find


STARRED[max] = _extreme("max_of_star")
STARRED[min] = _extreme("min_of_star")


def _zip(walk: Walk, op: Op, args: Given, rest: str, words: Words) -> bool:
    """`zip(*rows)`: the columns."""
    rows = walk.env[rest]
    assert isinstance(rows, List)
    inside = walk.read(rows.cell)
    if args or words:
        return False
    if isinstance(inside, List) or base(inside) is STR:
        prelude(walk, op, "zip_lists", [rest])
        return True
    if not isinstance(inside, Tuple) or len(inside.items) > 8:
        return False
    lines = ["def zipped(rows):", "    if len(rows) > 0:", "        pass"]
    lines += [f"        yield tuple([row[{i}] for row in rows])" for i in range(len(inside.items))]
    written(walk, op, "\n".join([*lines, "    return", "    yield"]), [rest])
    return True


STARRED[zip] = _zip


def _product(walk: Walk, op: Op, args: Given, rest: str, words: Words) -> bool:
    rows = walk.env[rest]
    assert isinstance(rows, List)
    if args or words or not isinstance(walk.read(rows.cell), List):
        return False
    prelude(walk, op, "product_of_lists", [rest])
    return True


STARRED[itertools.product] = _product
