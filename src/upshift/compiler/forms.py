"""What the parts of `with`, `match` and `raise` do to kinds, and variables that are kept in memory."""

from __future__ import annotations

import contextlib
import types
from typing import Any

from ..trace.paths import Capture
from .arguments import known_of
from .calls import attribute, call_method
from .check import Leaves, Walk
from .code import Op, Shape
from .instances import has_attribute, member, read_field, set_field
from .kinds import (
    BOOL,
    NONE,
    UNSET,
    Array,
    Cell,
    Fields,
    Known,
    List,
    Literal,
    Object,
    Partial,
    Range,
    Refused,
    Static,
    Tuple,
)
from .operations import capture, catching_row, operation
from .prelude.objects import Box
from .rows import memory
from .rows.numbers import safe
from .values import captured, constant, item_of_tuple


def _flag(walk: Walk, op: Op, value: bool) -> None:
    made = Literal(BOOL, value)
    walk.give(op, made, constant(made))


# ---- variables in memory


@operation("box")
def _box(walk: Walk, op: Op) -> None:
    """A slot in memory for a variable that nested functions set, with its value where it is a parameter."""
    fields = walk.cell("box", Fields)
    cell = fields.find().cells.setdefault("value", Cell())
    made = Object(Box, fields)
    assert op.dst is not None
    name = walk.temporary(made, lambda w: memory.new_object(w, made))
    if op.args:
        walk.kind(op.args[0])
        set_field(walk, name, "value", walk.name(op.args[0]))
    else:
        walk.learn(cell, UNSET)
    walk.give_name(op, name)


@operation("unbox")
def _unbox(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    full = walk.name(op.args[0])
    cls = NameError if op.args[0][0] == "^" else UnboundLocalError
    walk.give(op, *read_field(walk, full, "value", cls), full)


@operation("setbox")
def _setbox(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    walk.kind(op.args[1])
    set_field(walk, walk.name(op.args[0]), "value", walk.name(op.args[1]))
    walk.next_op()


@operation("unset")
def _unset(walk: Walk, op: Op) -> None:
    walk.env.pop(walk.name(op.extra), None)
    walk.next_op()


# ---- dicts whose keys are known


@operation("known")
def _known(walk: Walk, op: Op) -> None:
    """A captured dict that is passed behind two stars."""
    way, name = op.extra
    captures, home = walk.unit.captures, walk.frame.home
    value, path = captures.cell_of(home, name) if way == "cell" else captures.global_of(home, name)
    if type(value) is not dict or path is None or not all(type(key) is str for key in value):
        return capture(walk, op, value, path)
    captures.looked_at.setdefault(path, Capture(path, "shape", (dict, tuple(value))))
    words = {key: captured(walk, item, (*path, ("item", key))) for key, item in value.items()}
    assert op.dst is not None
    walk.give_name(op, known_of(walk, words))


@operation("known dict")
def _known_dict(walk: Walk, op: Op) -> None:
    for name in op.args:
        walk.kind(name)
    assert op.dst is not None
    words = dict(zip(op.extra, [walk.name(name) for name in op.args]))
    walk.give_name(op, known_of(walk, words))


# ---- raise


@operation("may skip making")
def _may_skip(walk: Walk, op: Op) -> None:
    """Whether an exception is as good as its class: nobody catches it, or making it can do nothing."""
    kind = walk.kind(op.args[0])
    skip = not walk.unit.catches
    if op.extra and isinstance(kind, Static) and isinstance(kind.value, type):
        made = [member(kind.value, name)[0] for name in ("__init__", "__new__")]
        skip |= not any(isinstance(one, types.FunctionType | staticmethod) for one in made)
    _flag(walk, op, skip)


# ---- match


@operation("is sequence")
def _is_sequence(walk: Walk, op: Op) -> None:
    count, starred = op.extra
    kind = walk.kind(op.args[0])
    if isinstance(kind, Tuple):
        return _flag(walk, op, len(kind.items) >= count - 1 if starred else len(kind.items) == count)
    if isinstance(kind, List):
        sign, least = ("sge", count - 1) if starred else ("eq", count)
        row = safe(lambda w, xs: w.new(f"icmp {sign} i64 {memory.length(w, xs)}, {least}"))
        return walk.put(op, BOOL, row, op.args[0])
    if isinstance(kind, Range | Object | Static | Array):
        raise walk.doubt(f"matches {kind!r} with a sequence")
    return _flag(walk, op, False)


@operation("is mapping")
def _is_mapping(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[0])
    if isinstance(kind, Object) and getattr(kind.cls, "stands_for", None) is not dict:
        raise walk.doubt(f"matches {kind!r} with a mapping")
    if isinstance(kind, Static):
        raise walk.doubt(f"matches {kind!r} with a mapping")
    _flag(walk, op, isinstance(kind, Object | Known))


_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is met by the whole subject."""


def _part(walk: Walk, op: Op) -> str | None:
    """The attribute that a pattern of a class asks for; None where it asks for the whole subject."""
    if isinstance(op.extra, str):
        return op.extra
    kind = walk.kind(op.args[1])
    if not isinstance(kind, Static) or not isinstance(kind.value, type):
        raise walk.doubt("a pattern of something else than a class")
    names = getattr(kind.value, "__match_args__", None)
    if names is None and kind.value in _WHOLE and op.extra == 0:
        return None
    if type(names) is not tuple or op.extra >= len(names):
        raise Leaves(TypeError, f"{kind.value.__name__}() accepts fewer positional patterns")
    return str(names[op.extra])


@operation("has part")
def _has_part(walk: Walk, op: Op) -> None:
    name = _part(walk, op)
    if name is None:
        return _flag(walk, op, True)
    found = has_attribute(walk, walk.name(op.args[0]), name)
    if isinstance(found, bool):
        return _flag(walk, op, found)
    return walk.put(op, BOOL, found, op.args[0])


@operation("part")
def _get_part(walk: Walk, op: Op) -> None:
    name = _part(walk, op)
    kind = walk.kind(op.args[0])
    if name is not None:
        return attribute(walk, op, walk.name(op.args[0]), kind, name)
    assert op.dst is not None
    walk.give_name(op, walk.name(op.args[0]))


# ---- with


def _classes_of(kind: Any) -> Any:
    """The classes of exceptions that a manager suppresses; None where it is another manager."""
    made = kind.value if isinstance(kind, Static) else None
    return made[1:] if type(made) is tuple and made[:1] == (contextlib.suppress,) else None


def _is_null(kind: Any) -> bool:
    if isinstance(kind, Partial):
        return kind.items[0].value is contextlib.nullcontext  # type: ignore[attr-defined]
    return False


@operation("enter")
def _enter(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[0])
    if _classes_of(kind) is not None:
        return walk.give(op, NONE, constant(NONE))
    if _is_null(kind):
        assert op.dst is not None
        walk.give_name(op, item_of_tuple(walk, walk.name(op.args[0]), 1))
        return
    if isinstance(kind, Object):
        return call_method(walk, op, walk.name(op.args[0]), "__enter__", [], Shape(()))
    raise Refused(f"uses `with` on {kind!r}", remedy="contextlib.suppress and nullcontext are known")


@operation("exit")
def _exit(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[0])
    if not isinstance(kind, Object):
        return walk.next_op()
    none = walk.temporary(NONE, constant(NONE))
    return call_method(walk, op, walk.name(op.args[0]), "__exit__", [none] * 3, Shape((False,) * 3))


@operation("exit with")
def _exit_with(walk: Walk, op: Op) -> None:
    """Whether a manager ends the exception that has left its body."""
    kind = walk.kind(op.args[0])
    classes = _classes_of(kind)
    if classes is not None:
        return walk.put(op, BOOL, catching_row(walk, classes), op.args[1])
    if isinstance(kind, Object):
        raise walk.doubt("an exception leaves the body of `with`")
    return _flag(walk, op, False)
