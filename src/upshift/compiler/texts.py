"""Texts: which row or function of the prelude stands for what makes them, reads them and formats values."""

from __future__ import annotations

import enum
import types
from typing import Any

from . import calls
from .arguments import Given, Words, coerce
from .calls import ROWS, SPECIAL
from .captures import Home, literal_of
from .check import Leaves, Walk
from .code import Op
from .follow import prelude, written
from .instances import find_method
from .kinds import (
    BIG,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STR,
    TEXT,
    Kind,
    List,
    Literal,
    Object,
    Range,
    Refused,
    Static,
    Tuple,
    items_in,
    plain,
)
from .operations import HOOKS
from .percent import Spec
from .prelude import digits, formats, intrinsics, parts, text
from .prelude.registry import FUNCTIONS
from .protocol import is_user_object
from .rows import maths, memory, texts
from .rows.numbers import base, is_numpy_number, rank, safe, to_int
from .values import constant, item_of_tuple, value_of_member

_EXAMPLES: dict[Any, Any] = {INT: 1, BOOL: True, FLOAT: 1.0, COMPLEX: 1j, STR: "a", NONE: None, BIG: 1, TEXT: "a"}
"""A value of each kind, whose formatting fails exactly where that of all others does."""

# ---- str, repr, format


def _give_literal(walk: Walk, op: Op, value: str) -> bool:
    made = literal_of(value)
    walk.give(op, made, constant(made))
    return True


def _is_shown(kind: Kind) -> bool:
    """Whether it cannot fail to make a text of such a value, and does nothing else."""
    return all(
        isinstance(one, List | Tuple | Range)
        or base(one) in _EXAMPLES
        or is_numpy_number(one)
        or (isinstance(one, Object) and hasattr(one.cls, "stands_for"))
        or (isinstance(one, Static) and isinstance(one.value, type) and type(one.value) is type)
        for one in items_in(plain(kind))
    )


def _is_unneeded(walk: Walk, op: Op) -> bool:
    return op.dst is not None and op.dst in walk.frame.code.unneeded


def _give_text(walk: Walk, op: Op) -> bool:
    """A text that nobody reads."""
    walk.give(op, TEXT, constant(NONE))
    return True


def show(walk: Walk, op: Op, full: str, how: str) -> bool:
    """`str(x)` and `repr(x)`; `how` is the function of the prelude that is meant."""
    kind = walk.env[full]
    if isinstance(kind, Static) and isinstance(kind.value, enum.Enum):
        return _show_member(walk, op, full, kind.value, "__str__" if how == "text_of" else "__repr__")
    if is_user_object(kind):
        return _show_object(walk, op, full, ("__str__", "__repr__") if how == "text_of" else ("__repr__",))
    if not _is_shown(kind):
        return False
    if _is_unneeded(walk, op) or TEXT in items_in(plain(kind)):
        return _give_text(walk, op)
    if isinstance(kind, Literal) and kind.kind is not BIG:
        return _give_literal(walk, op, str(kind.value) if how == "text_of" else repr(kind.value))
    if is_numpy_number(kind):
        return _show_numpy(walk, op, full, kind, how)
    inside = list(items_in(plain(kind)))
    if any(is_numpy_number(k) or isinstance(k, Range | Static) or base(k) is BIG for k in inside):
        return False
    prelude(walk, op, how, [full])
    return True


def _show_member(walk: Walk, op: Op, full: str, member: enum.Enum, name: str) -> bool:
    """A member of an enum: its text is known, unless the user's own method says what it is."""
    method = getattr(type(member), name)
    if isinstance(method, types.FunctionType) and method.__module__ != "enum":
        return _show_object(walk, op, full, (name,))
    text = str(member) if name == "__str__" else repr(member)
    return _give_literal(walk, op, text) if text.isascii() else _give_text(walk, op)


def _show_object(walk: Walk, op: Op, full: str, names: tuple[str, ...]) -> bool:
    """An object, by the first of these methods that its class has."""
    for name in names:
        found = find_method(walk, walk.env[full], name)
        if found is not None:
            try:
                if isinstance(found, Home):
                    found.code  # noqa: B018  (which may not be at hand)
            except Refused:
                return False
            calls.method(walk, op, full, name, [], {})
            return True
    return False


def _show_numpy(walk: Walk, op: Op, full: str, kind: Any, how: str) -> bool:
    """NumPy's ints, bools and float64: `str` shows them like Python's, `repr` with their class around."""
    if not (kind.dtype.kind in "iub" or kind.dtype.str == "<f8"):
        return False
    value = _as_pythons(walk, full)
    if how == "text_of":
        return show(walk, op, value, how)
    around = "'np.True_' if x else 'np.False_'" if kind.dtype.kind == "b" else f"'np.{kind.dtype.name}(' + str(x) + ')'"
    written(walk, op, f"def shown(x):\n    return {around}", [value])
    return True


def _literals(walk: Walk, *values: Any) -> list[str]:
    kinds = [literal_of(value) for value in values]
    return [walk.temporary(kind, constant(kind)) for kind in kinds]


def _shape_text(walk: Walk, op: Op, full: str, spec: Spec, how: str = "filled") -> bool:
    fill, align, _, _, width, _, precision, _ = spec
    prelude(walk, op, how, [full, *_literals(walk, fill, align, width, precision)])
    return True


_INTS = {"\0": ("decimal", 0, 0, ""), "d": ("decimal", 0, 0, ""), "b": ("signed_digits", 1, 97, "0b"),
         "o": ("signed_digits", 3, 97, "0o"), "x": ("signed_digits", 4, 97, "0x"),
         "X": ("signed_digits", 4, 65, "0X")}  # fmt: skip
"""How an int is shown: a function of the prelude, its arguments, and the prefix that `#` asks for."""
_FLOATS = {"f": "fixed", "F": "fixed_upper", "e": "exponential", "E": "exponential_upper", "g": "general",
           "G": "general_upper", "%": "percentage"}  # fmt: skip


def _shape_number(walk: Walk, op: Op, full: str, spec: Spec) -> bool:
    """An int or a float by a specification; what is not asked for is not compiled."""
    fill, align, sign, alternate, width, group, precision, code = spec
    letter = chr(code)
    prefix, by = "", 3
    if base(walk.env[full]) is FLOAT or letter in _FLOATS:
        if alternate or not (letter in _FLOATS or letter == "\0"):
            return False
        name = _FLOATS.get(letter) or ("shortest" if precision < 0 else "general")
        a, b = 6 if precision < 0 else precision, 0 if code else 2
        full = full if base(walk.env[full]) is FLOAT else coerce(walk, full, FLOAT)
    else:
        if letter not in _INTS or precision >= 0:
            return False
        name, a, b, prefix = _INTS[letter]
        full = full if base(walk.env[full]) is INT else coerce(walk, full, INT)
        prefix, by = prefix if alternate else "", 3 if name == "decimal" else 4
    given = [full, *_literals(walk, a, b)]
    if width <= 0 and not group and not prefix and sign in (0, 45):
        prelude(walk, op, name, given)
        return True
    shown = Static(FUNCTIONS[name])
    given = [walk.temporary(shown, constant(shown)), *given, *_literals(walk, prefix, fill, align, sign, width)]
    if group:
        prelude(walk, op, "grouped_out_by", [*given, *_literals(walk, group, by)])
    else:
        prelude(walk, op, "laid_out_by", given)
    return True


def _format_value(walk: Walk, op: Op, full: str, spec: str, conversion: int = -1) -> bool:
    """`f"{value!conversion:spec}"`, by full names."""
    kind, of = walk.env[full], walk.env[spec]
    how = {-1: "", 115: "text_of", 114: "repr_of", 97: "repr_of"}[conversion]
    if of is TEXT:
        return False
    if (
        isinstance(kind, Static)
        and isinstance(kind.value, enum.Enum)
        and not (isinstance(of, Literal) and of.value == "")
    ):
        full, how = _member_to_format(walk, full, kind.value, how), ""
        kind = walk.env[full]
    if not isinstance(of, Literal):
        if how or not (rank(kind) in (0, 1, 2) or base(kind) is STR):
            return False
        if base(kind) is BOOL:
            full = coerce(walk, full, INT)
        prelude(walk, op, "format_by", [full, spec])
        return True
    if of.value == "":
        if not how and is_numpy_number(kind):
            full = _as_pythons(walk, full)
        return show(walk, op, full, how or "text_of")
    return _format_by(walk, op, full, of.value, how)


def _member_to_format(walk: Walk, full: str, member: enum.Enum, how: str) -> str:
    """What is formatted where a member of an enum is: its text, or the int or text that it is."""
    own = type(member)
    if not how and own.__format__ is not enum.Enum.__format__:
        return value_of_member(walk, full)
    method = own.__repr__ if how == "repr_of" else own.__str__
    if isinstance(method, types.FunctionType) and method.__module__ != "enum":
        return full
    made = literal_of(method(member))
    return walk.temporary(made, constant(made))


_PYTHONS = {"i": INT, "u": INT, "f": FLOAT, "b": BOOL}


def _as_pythons(walk: Walk, full: str) -> str:
    """A number of NumPy's as the number of Python's by which it is formatted."""
    wanted = _PYTHONS.get(walk.env[full].dtype.kind)  # type: ignore[attr-defined]
    return full if wanted is None else coerce(walk, full, wanted)


def _format_by(walk: Walk, op: Op, full: str, spec: str, how: str) -> bool:
    """By a specification that stands in the source."""
    kind = walk.env[full]
    if not _is_shown(kind):
        return False
    if is_numpy_number(kind) and not how:
        full = _as_pythons(walk, full)
        kind = walk.env[full]
        if is_numpy_number(kind):
            return False
    shown = "a" if how else _EXAMPLES.get(base(kind), [])
    try:
        format(shown, spec)
    except (ValueError, TypeError) as error:
        raise Leaves(type(error), "a format specification that values of this class do not know") from None
    if not spec.isascii():
        return _give_text(walk, op)
    if _is_unneeded(walk, op) and spec[-1] not in "cn":
        return _give_text(walk, op)
    if TEXT in items_in(plain(kind)) or (rank(kind) not in (0, 1, 2) and base(kind) is not STR and not how):
        return False
    try:
        given = formats.parse_spec(spec, ord("<") if isinstance(shown, str) else ord(">"))
    except NotImplementedError:
        return False
    if base(kind) is STR or how:
        return _shape_text(walk, op, full, given, f"filled_{how}" if how else "filled")
    return _shape_number(walk, op, full, given)


def _format_op(walk: Walk, op: Op) -> None:
    walk.kind(op.args[1])
    kind = walk.kind(op.args[0])
    if not _format_value(walk, op, walk.name(op.args[0]), walk.name(op.args[1]), op.extra):
        raise walk.doubt(f"formats {kind!r}")


HOOKS["format"] = _format_op


def _percent(walk: Walk, op: Op) -> None:
    """One value of `"%5d" % value`; alone where it does not stand in a tuple."""
    letter, spec, alone = op.extra
    full, kind = walk.name(op.args[0]), walk.kind(op.args[0])
    if alone and isinstance(kind, Tuple):
        if len(kind.items) != 1:
            raise Leaves(TypeError, "another number of values than the format asks for")
        full = item_of_tuple(walk, full, 0)
        kind = walk.env[full]
    if (alone and isinstance(kind, List) and kind.cls is tuple) or not _percent_of(walk, op, full, letter, spec):
        raise walk.doubt(f"formats {kind!r} by %{letter}")


def _percent_of(walk: Walk, op: Op, full: str, letter: str, spec: Spec) -> bool:
    kind = walk.env[full]
    plain_ = spec[4] < 0 and spec[6] < 0 and not spec[2]
    if letter in "sra":
        how = "text_of" if letter == "s" else "repr_of"
        if plain_ or _is_unneeded(walk, op):
            return show(walk, op, full, how)
        if not _is_shown(kind) or isinstance(kind, Object) or TEXT in items_in(plain(kind)) or is_numpy_number(kind):
            return False
        return _shape_text(walk, op, full, spec, f"filled_{how}")
    if is_numpy_number(kind):
        full = _as_pythons(walk, full)
        kind = walk.env[full]
    if letter == "c" or rank(kind) not in (0, 1, 2):
        return False
    if base(kind) is FLOAT and letter not in "eEfFgG":
        if letter not in "diu":
            raise Leaves(TypeError, f"%{letter} of a float")
        made = maths.rounding(None)(walk, kind)
        full = walk.temporary(made[0], made[1], full)
    if _is_unneeded(walk, op):
        return _give_text(walk, op)
    return _shape_number(walk, op, full, spec)


HOOKS["percent"] = _percent


def _str(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if words or len(args) > 1:
        return False
    if not args:
        return _give_literal(walk, op, "")
    return show(walk, op, args[0], "text_of")


def _repr(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return len(args) == 1 and not words and show(walk, op, args[0], "repr_of")


def _format(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if words or not 1 <= len(args) <= 2:
        return False
    if len(args) == 1:
        return _format_value(walk, op, args[0], walk.temporary(literal_of(""), constant(literal_of(""))))
    if base(walk.env[args[1]]) is not STR:
        return False
    return _format_value(walk, op, args[0], args[1])


def _ord(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 1 or words or base(walk.env[args[0]]) is not STR:
        return False
    walk.give(op, INT, texts.code_of, args[0])
    return True


def _chr(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 1 or words or rank(walk.env[args[0]]) not in (0, 1):
        return False
    kind = walk.env[args[0]]
    walk.give(op, STR, lambda w, code: texts.character_of(w, to_int(w, code, kind)), args[0])
    return True


def _maketrans(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    prelude(walk, op, "maketrans", args, words)
    return True


SPECIAL.update({str: _str, repr: _repr, ascii: _repr, format: _format, ord: _ord, chr: _chr, str.maketrans: _maketrans})


# ---- operators


def add_texts(walk: Walk, op: Op, a: str, b: str) -> None:
    """`a + b`: behind what stands there already, where a variable grows."""
    grows = op.code == "inplace" or not a.rsplit(".", 1)[-1].startswith(("%", "~"))
    walk.give(op, STR, texts.extended(a) if grows else memory.text_join, a, b)


def is_in_text(walk: Walk, op: Op, operator: str, a: str, b: str) -> None:
    """`a in b` and `a not in b`."""
    known = walk.env[b]
    if not isinstance(known, Literal):
        return prelude(walk, op, "text_contains" if operator == "In" else "text_not_contains", [b, a])
    row = texts.is_in_known(known.value)
    if operator == "In":
        return walk.give(op, BOOL, row, a)
    return walk.give(op, BOOL, safe(lambda w, x: w.new(f"xor i1 {row(w, x)}, true")), a)


# ---- intrinsics


def _does(emit: Any) -> Any:
    """A function that writes, and gives None."""

    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        walk.step(emit, None, tuple(args))
        walk.give(op, NONE, constant(NONE))
        return True

    return find


SPECIAL.update({intrinsics.copy_text: _does(texts.copy_text), intrinsics.fill_text: _does(texts.fill_text)})
ROWS.update({
    intrinsics.finished: lambda walk, s: (STR, safe(lambda w, x: x)),
    intrinsics.character: lambda walk, code: (STR, texts.character),
    intrinsics.find_in: lambda walk, s, sub, i, j: (INT, texts.find),
    intrinsics.scaled_power: lambda walk, i, half: (INT, texts.scaled_power),
    intrinsics.c_text: lambda walk, x, style, precision: (STR, texts.c_text),
    intrinsics.c_float: lambda walk, s: (FLOAT, texts.c_float),
})  # fmt: skip
_USED = (digits, parts, text)
