"""Functions that make functions, and what is asked of objects by name."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
from typing import Any

from .arguments import Given, Words, known_of
from .calls import SPECIAL, SPECIAL_METHODS, attribute, call_value, special
from .check import Leaves, Walk
from .code import Op
from .containers import give_slice, item
from .follow import prelude, written
from .instances import class_path, has_attribute, make_instance, read_field, set_field
from .kinds import BOOL, NONE, Closure, List, Literal, Object, Partial, Range, Static, Super, Tuple
from .operations import compare, operate
from .rows.numbers import safe
from .values import constant, item_of_tuple, tuple_of, tuple_row


def _give_static(walk: Walk, op: Op, make: Any) -> bool:
    """Something that is made when the function is compiled, the same in every sweep."""
    made = Static(walk.cell("made", make))
    walk.give(op, made, constant(NONE))
    return True


# ---- functions


@special(functools.partial)
def _partial(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not args:
        raise Leaves(TypeError, "partial() of nothing")
    names = [*args, *words.values()]
    kind = Partial(tuple(walk.env[name] for name in names), tuple(words))
    walk.give(op, kind, tuple_row(kind), *names)
    return True


@special(operator.itemgetter, operator.attrgetter, operator.methodcaller)
def _getter(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kinds = [walk.env[name] for name in args]
    if words or not args or not all(isinstance(kind, Literal) for kind in kinds):
        return False
    which = walk.kind(op.args[0]) if op.code == "call" else None
    if not isinstance(which, Static):
        which = Static(getattr(operator, op.extra[0]))
    return _give_static(walk, op, lambda: which.value(*[kind.value for kind in kinds]))  # type: ignore[attr-defined]


@special(functools.cache, functools.lru_cache)
def _cached(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """A cache around a function that is made inside; or, with a size alone, what makes one."""
    if args and isinstance(walk.env[args[0]], Closure | Partial):
        return _cache_around(walk, op, args[0])
    if not any(isinstance(walk.env[name], Static) for name in args):
        kind = Partial((Static(_cache),))
        walk.give(op, kind, tuple_row(kind), walk.temporary(kind.items[0], constant(NONE)))
        return True
    return False


def _cache(f: Any) -> Any:
    """`functools.lru_cache(maxsize=None)`, before it is given a function."""


@special(_cache)
def _cache_made(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return _cache_around(walk, op, args[0])


def _cache_around(walk: Walk, op: Op, fn: str) -> bool:
    prelude(walk, op, "new_cache", [fn])
    return True


@special(functools.wraps)
def _wraps(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """A decorator that changes nothing but names."""
    kind = Partial((Static(_same),))
    walk.give(op, kind, tuple_row(kind), walk.temporary(kind.items[0], constant(NONE)))
    return True


def _same(f: Any) -> Any:
    """A decorator that changes nothing."""


@special(_same)
def _same_made(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return walk.give_name(op, args[0])


# ---- operators as functions


def _binary(sign: str, inplace: bool = False) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if len(args) != 2 or words:
            return False
        a, b = args
        operate(walk, op, sign, a, b, walk.env[a], walk.env[b], inplace)
        return True

    return find


def _comparison(sign: str, turned: bool = False) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if len(args) != 2 or words:
            return False
        a, b = reversed(args) if turned else args
        compare(walk, op, sign, a, b)
        return True

    return find


def _statement(text: str) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        written(walk, op, text, args)
        return not words

    return find


def _unary(text: str) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if len(args) != 1 or words:
            return False
        written(walk, op, f"def f(x):\n    return {text}", args)
        return True

    return find


_SIGNS = {
    "add": "Add", "sub": "Sub", "mul": "Mult", "truediv": "Div", "floordiv": "FloorDiv", "mod": "Mod", "pow": "Pow",
    "lshift": "LShift", "rshift": "RShift", "and_": "BitAnd", "or_": "BitOr", "xor": "BitXor", "matmul": "MatMult",
}  # fmt: skip
for _name, _sign in _SIGNS.items():
    SPECIAL[getattr(operator, _name)] = _binary(_sign)
    SPECIAL[getattr(operator, f"i{_name.rstrip('_')}")] = _binary(_sign, True)
_ORDERS = {"lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE", "eq": "Eq", "ne": "NotEq", "is_": "Is", "is_not": "IsNot"}
for _name, _sign in _ORDERS.items():
    SPECIAL[getattr(operator, _name)] = _comparison(_sign)
SPECIAL[operator.contains] = _comparison("In", turned=True)
SPECIAL[operator.concat] = _binary("Add")
for _name, _text in {
    "neg": "-x", "pos": "+x", "invert": "~x", "inv": "~x", "not_": "not x", "truth": "True if x else False",
    "abs": "abs(x)",
}.items():  # fmt: skip
    SPECIAL[getattr(operator, _name)] = _unary(_text)


@special(operator.getitem)
def _getitem(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 2 or words:
        return False
    of, at = args
    item(walk, op, of, at, walk.env[of], walk.env[at])
    return True


for _name, _text in {
    "setitem": "def put(a, b, c):\n    a[b] = c", "delitem": "def drop(a, b):\n    del a[b]",
}.items():  # fmt: skip
    SPECIAL[getattr(operator, _name)] = _statement(_text)


@special(operator.iconcat)
def _iconcat(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    lists = len(args) == 2 and all(isinstance(walk.env[name], List) for name in args)
    return lists and bool(_binary("Add", True)(walk, op, args, words))


@special(operator.length_hint)
def _length_hint(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not isinstance(walk.env[args[0]], List | Tuple | Range):
        return False
    written(walk, op, f"def hint(xs{', n' * (len(args) - 1)}):\n    return len(xs)", args)
    return True


@special(operator.call)
def _call(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not args:
        return False
    call_value(walk, op, walk.env[args[0]], args[0], args[1:], words)
    return True


@special(slice)
def _slice(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not 1 <= len(args) <= 3:
        return False
    none = walk.temporary(NONE, constant(NONE))
    give_slice(walk, op, [none, args[0], none] if len(args) == 1 else [*args, none][:3])
    return True


# ---- with


@special(contextlib.suppress)
def _suppress(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    classes = [kind.value if isinstance(kind, Static) else None for kind in (walk.env[name] for name in args)]
    if not all(isinstance(cls, type) for cls in classes):
        return False
    walk.give(op, Static((contextlib.suppress, *classes)), constant(NONE))
    return True


@special(contextlib.nullcontext)
def _nullcontext(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    value = args[0] if args else words.get("enter_result") or walk.temporary(NONE, constant(NONE))
    first = walk.temporary(Static(contextlib.nullcontext), constant(NONE))
    kind = Partial((walk.env[first], walk.env[value]))
    walk.give(op, kind, tuple_row(kind), first, value)
    return True


# ---- attributes by name


@special(hasattr)
def _hasattr(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    name = walk.env[args[1]]
    if not isinstance(name, Literal):
        return False
    found = has_attribute(walk, args[0], name.value)
    if isinstance(found, bool):
        made = Literal(BOOL, found)
        walk.give(op, made, constant(made))
    else:
        walk.give(op, BOOL, found, args[0])
    return True


@special(getattr)
def _getattr(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    name = walk.env[args[1]]
    if not isinstance(name, Literal) or not isinstance(name.value, str):
        return False
    if len(args) == 3:
        found = has_attribute(walk, args[0], name.value)
        if not isinstance(found, bool):
            return False
        if not found:
            return walk.give_name(op, args[2])
    attribute(walk, op, args[0], walk.env[args[0]], name.value)
    return True


@special(object.__setattr__)
def _set_attribute(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """How frozen dataclasses set their fields."""
    of, name = walk.env[args[0]], walk.env[args[1]]
    if not isinstance(of, Object) or not isinstance(name, Literal):
        return False
    set_field(walk, args[0], name.value, args[2])
    walk.give(op, NONE, constant(NONE))
    return True


@special(super)
def _super(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    cls = walk.env[args[0]] if len(args) == 2 else None
    if not isinstance(cls, Static):
        return False
    walk.give(op, Super(walk.env[args[1]], cls.value), safe(lambda w, v: v), args[1])
    return True


@special(dataclasses.replace)
def _replace(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    if not isinstance(kind, Object) or not dataclasses.is_dataclass(kind.cls):
        return False
    given = dict(words)
    for one in dataclasses.fields(kind.cls):
        if not one.init and one.name in given:
            raise Leaves(ValueError, f"{one.name} is set by the class itself")
        if one.init and one.name not in given:
            if one.name not in kind.fields.find().cells:
                return False
            inside, emit = read_field(walk, args[0], one.name)
            given[one.name] = walk.temporary(inside, emit, args[0])
    make_instance(walk, op, Static(kind.cls, class_path(walk, kind.cls)), [], given)
    return True


# ---- named tuples


def _named_tuple_method(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """`_replace` and `_asdict`."""
    kind = walk.env[args[0]]
    name = op.extra[0] if op.code == "method" else ""
    if not isinstance(kind, Tuple) or kind.cls is None or not hasattr(kind.cls, "_fields") or len(args) > 1:
        return False
    fields: tuple[str, ...] = kind.cls._fields
    given = {field: item_of_tuple(walk, args[0], i) for i, field in enumerate(fields)}
    if name == "_asdict":
        return walk.give_name(op, known_of(walk, given))
    if any(word not in given for word in words):
        raise Leaves(ValueError, "a field that the named tuple does not have")
    return walk.give_name(op, tuple_of(walk, list((given | words).values()), kind.cls))


SPECIAL_METHODS["tuple", "_replace"] = _named_tuple_method
SPECIAL_METHODS["tuple", "_asdict"] = _named_tuple_method
