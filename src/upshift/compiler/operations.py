"""What each operation does to kinds: one function for every word of `code.py`."""

from __future__ import annotations

import enum
import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from .arguments import coerce, known_of
from .calls import attribute, call, call_method, find_method, method, or_in_python
from .captures import literal_of
from .check import OPERATIONS, Defer, Leaves, Step, Walk
from .classes import class_of
from .code import Op, Shape
from .follow import new_generator, prelude, written
from .instances import refuse_acting, set_attribute
from .kinds import (
    BIG,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STATUS,
    STR,
    TEXT,
    Array,
    Closure,
    Either,
    Fused,
    Generator,
    Items,
    Kind,
    Known,
    List,
    Literal,
    Method,
    Object,
    Partial,
    Range,
    Refused,
    Slice,
    Static,
    Super,
    Tuple,
    items_in,
    ll_of,
    matches,
    plain,
)
from .prelude.registry import registered
from .protocol import UNARY, compare_objects, compare_tuples, is_object, is_user_object, truth_of
from .rows import memory, numbers, numpy_numbers, texts
from .rows.numbers import base, is_numpy_number, safe
from .values import (
    captured,
    constant,
    is_tied,
    item_of_tuple,
    list_of,
    nothing,
    storable,
    tuple_of,
    tuple_row,
    value_of_member,
    values_of_members,
)

OPERATORS: list[Callable[..., bool]] = []
"""Operators of lists, texts and objects: each says whether it was meant."""
COMPARISONS: list[Callable[..., bool]] = []
HOOKS: dict[str, Callable[[Walk, Op], None]] = {}
"""Operations that stand on the library."""
ARRAYS = (Array, Fused)
OF_ARRAYS: dict[str, Callable[..., Any]] = {}
"""Operations on arrays, each of which says whether it was meant."""


def operation(*codes: str) -> Callable[[Callable[[Walk, Op], None]], Callable[[Walk, Op], None]]:
    """Registers what an operation of `code.py` does to kinds."""
    return registered(OPERATIONS, codes)


# ---- values and variables


@operation("const")
def _const(walk: Walk, op: Op) -> None:
    kind = literal_of(op.extra)
    walk.give(op, kind, constant(kind))


@operation("move")
def _move(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    walk.give_name(op, walk.name(op.args[0]))


@operation("del")
def _del(walk: Walk, op: Op) -> None:
    if walk.env.pop(walk.name(op.extra), None) is None:
        raise Leaves(UnboundLocalError, f"{op.extra} is not set")
    walk.next_op()


@operation("global")
def _global(walk: Walk, op: Op) -> None:
    capture(walk, op, *walk.unit.captures.global_of(walk.frame.home, op.extra))


@operation("cell")
def _cell(walk: Walk, op: Op) -> None:
    capture(walk, op, *walk.unit.captures.cell_of(walk.frame.home, op.extra))


@operation("captured")
def _captured(walk: Walk, op: Op) -> None:
    capture(walk, op, *op.extra)


def capture(walk: Walk, op: Op, value: Any, path: Any) -> None:
    """The result of an operation is something captured."""
    assert op.dst is not None
    name = captured(walk, value, path)
    walk.give_name(op, name)


@operation("import")
def _import(walk: Walk, op: Op) -> None:
    name, whole, attribute = op.extra
    if whole not in sys.modules:
        raise Refused(f"imports {whole}, which is not imported yet", remedy=f"import {whole} outside of the function")
    value: Any = sys.modules[name]
    if attribute is not None:
        value = getattr(value, attribute, None)
        if value is None:
            raise Refused(f"imports {attribute} from {name}, which does not have it")
    capture(walk, op, value, None)


# ---- operators


@operation("binary", "inplace")
def _binary(walk: Walk, op: Op) -> None:
    a, b = op.args
    operate(walk, op, op.extra, walk.name(a), walk.name(b), walk.kind(a), walk.kind(b), op.code == "inplace")


def operate(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool = False) -> None:
    """`a operator b`, of variables by their full names."""
    a, b = values_of_members(walk, [a, b])
    ka, kb = walk.env[a], walk.env[b]
    if (isinstance(ka, ARRAYS) or isinstance(kb, ARRAYS)) and OF_ARRAYS["operator"](walk, op, operator, a, b, inplace):
        return None
    row = numbers.binary(operator, ka, kb)
    if row is None:
        row = _numpy_row(operator, ka, kb)
    if isinstance(row, str):
        return prelude(walk, op, row, [a, b])
    if row is not None:
        return walk.give(op, row[0], row[1], a, b)
    if operator == "Mult" and (is_numpy_number(ka) or is_numpy_number(kb)):  # `[0] * n`
        a, b = index_of(walk, a), index_of(walk, b)
        ka, kb = walk.env[a], walk.env[b]
    for operators in OPERATORS:
        if operators(walk, op, operator, a, b, ka, kb, inplace):
            return None
    raise walk.doubt(f"`{SIGNS.get(operator, operator)}` of {ka!r} and {kb!r}")


def index_of(walk: Walk, name: str) -> str:
    """An int of NumPy's as the int that Python takes it for, where it counts or finds things."""
    return coerce(walk, name, INT) if numpy_numbers.is_int(walk.env[name]) else name


def _numpy_row(operator: str, ka: Kind, kb: Kind) -> Any:
    if not is_numpy_number(ka) and not is_numpy_number(kb):
        return None
    return numpy_numbers.binary(operator, ka, kb)


SIGNS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "LShift": "<<",
    "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "MatMult": "@", "Eq": "==", "NotEq": "!=", "Lt": "<",
    "LtE": "<=", "Gt": ">", "GtE": ">=", "In": "in", "NotIn": "not in", "Is": "is", "IsNot": "is not",
}  # fmt: skip


@operation("product modulo")
def _product_modulo(walk: Walk, op: Op) -> None:
    """`a * b % m`: of ints without a limit on the product, of anything else one after the other."""
    a, b, m = op.args
    kinds = [walk.kind(name) for name in op.args]
    ints = all(base(kind) is INT for kind in kinds)
    if ints and not all(isinstance(kind, Literal) for kind in kinds[:2]):
        return prelude(walk, op, "product_modulo", [walk.name(name) for name in op.args])
    row = numbers.binary("Mult", kinds[0], kinds[1]) or _numpy_row("Mult", kinds[0], kinds[1])
    if isinstance(row, tuple) and not isinstance(row[0], Either):
        name = walk.temporary(row[0], row[1], walk.name(a), walk.name(b))
        return operate(walk, op, "Mod", name, walk.name(m), row[0], kinds[2])
    return prelude(walk, op, "times_then_modulo", [walk.name(name) for name in op.args])


@operation("unary")
def _unary(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    full = value_of_member(walk, walk.name(op.args[0]))
    kind = walk.env[full]
    if op.extra == "Not":
        answer = truth(walk, walk.name(op.args[0]))
        if isinstance(answer, bool):
            return walk.give(op, Literal(BOOL, not answer), constant(Literal(BOOL, not answer)))
        return walk.give(op, BOOL, safe(lambda w, x: w.new(f"xor i1 {x}, true")), answer)
    if isinstance(kind, ARRAYS) and OF_ARRAYS["unary"](walk, op, op.extra, walk.name(op.args[0])):
        return None
    row = numbers.unary(op.extra, kind) or numpy_numbers.unary(op.extra, kind)
    if row is not None:
        return walk.give(op, row[0], row[1], full)
    if _unary_method(walk, op, op.extra, kind):
        return None
    raise walk.doubt(f"a sign before {kind!r}")


@operation("compare")
def _compare(walk: Walk, op: Op) -> None:
    a, b = op.args
    compare(walk, op, op.extra, walk.name(a), walk.name(b))


def compare(walk: Walk, op: Op, operator: str, a: str, b: str) -> None:
    """A comparison of variables by their full names, as the result of an operation."""
    ka, kb = walk.env[a], walk.env[b]
    if operator in ("Is", "IsNot"):
        return _identity(walk, op, operator, a, b, ka, kb)
    if (isinstance(ka, ARRAYS) or isinstance(kb, ARRAYS)) and OF_ARRAYS["compare"](walk, op, operator, a, b):
        return None
    if operator not in ("Eq", "NotEq") or not (isinstance(ka, Static) and isinstance(kb, Static)):
        a, b = values_of_members(walk, [a, b])
        ka, kb = walk.env[a], walk.env[b]
    row = comparison(walk, operator, ka, kb)
    if row is not None:
        return walk.give(op, row[0], row[1], a, b)
    if compare_objects(walk, op, operator, a, b, ka, kb):
        return None
    for comparisons in COMPARISONS:
        if comparisons(walk, op, operator, a, b, ka, kb):
            return None
    if compare_tuples(walk, op, operator, a, b, ka, kb):
        return None
    raise walk.doubt(f"`{SIGNS[operator]}` between {ka!r} and {kb!r}")


def comparison(walk: Walk, operator: str, ka: Kind, kb: Kind) -> Any:
    """The row of a comparison that needs no loop; None where there is none."""
    row: Any = numbers.compare(operator, ka, kb)
    if row is None:
        row = _numpy_comparison(operator, ka, kb)
    if row is not None:
        return row
    if base(ka) is STR and base(kb) is STR and operator in numbers.SIGNED:
        return texts.compare(operator, ka, kb)
    if isinstance(ka, Tuple) and isinstance(kb, Tuple):
        return _compare_tuples(walk, operator, ka, kb)
    if isinstance(ka, Static) and isinstance(kb, Static) and operator in ("Eq", "NotEq"):
        answer = (ka.value == kb.value) is (operator == "Eq")
        return Literal(BOOL, answer), safe(lambda w, x, y: "true" if answer else "false")
    if is_numpy_number(ka) or is_numpy_number(kb):
        return None  # whose comparisons give NumPy's own bools
    if operator in ("Eq", "NotEq") and (ka is kb is NONE or _are_never_equal(ka, kb)):
        answer = (operator == "Eq") is (ka is kb)
        return Literal(BOOL, answer), safe(lambda w, x, y: "true" if answer else "false")
    return None


def _are_never_equal(a: Kind, b: Kind) -> bool:
    """Whether values of these kinds cannot be equal, whatever they are."""
    if (is_numpy_number(a) or is_numpy_number(b)) and NONE not in (a, b):
        return False  # which is for NumPy to say, in a class of its own
    families = [_family(kind) for kind in (a, b)]
    return None not in families and families[0] != families[1]


def _family(kind: Kind) -> str | None:
    kind = base(kind)
    if numbers.rank(kind) >= 0 or kind is BIG or is_numpy_number(kind):
        return "number"
    if isinstance(kind, List):
        return kind.cls.__name__
    if isinstance(kind, Tuple):
        return "tuple"
    if isinstance(kind, Object):
        shown = getattr(kind.cls, "stands_for", None)
        return shown.__name__ if shown is not None else None
    if isinstance(kind, Static) and isinstance(kind.value, enum.Enum) and type(kind.value).__eq__ is object.__eq__:
        return "member"
    return {STR: "text", NONE: "none"}.get(kind)  # type: ignore[call-overload,no-any-return]


def _numpy_comparison(operator: str, ka: Kind, kb: Kind) -> Any:
    if not is_numpy_number(ka) and not is_numpy_number(kb):
        return None
    return numpy_numbers.compare(operator, ka, kb)


def item_comparison(walk: Walk, ka: Kind, kb: Kind) -> Any:
    """The row that tells whether two items count as the same: as `==`, but that one NaN may be the very object that
    the other is, which machine code does not know."""
    row = comparison(walk, "Eq", ka, kb)
    if row is None or not (_may_be_nan(ka) and _may_be_nan(kb)):
        return row

    def emit(w: Any, x: str, y: str) -> str:
        odd = [w.new(f"xor i1 {equal[1](w, v, v)}, true") for equal, v in zip(own, (x, y))]
        w.leave_if(w.new(f"and i1 {odd[0]}, {odd[1]}"), None, "compares NaN with NaN in a list or tuple")
        return str(row[1](w, x, y))

    own = [comparison(walk, "Eq", kind, kind) for kind in (plain(ka), plain(kb))]
    return row[0], emit


def _may_be_nan(kind: Kind) -> bool:
    if isinstance(kind, Literal):
        return bool(kind.value != kind.value)
    return kind in (FLOAT, COMPLEX) or (is_numpy_number(kind) and kind.dtype.kind in "fc")  # type: ignore[attr-defined]


def _compare_tuples(walk: Walk, operator: str, ka: Tuple, kb: Tuple) -> Any:
    """Item by item; None where an item needs more than a row."""
    pairs = list(zip(ka.items, kb.items))
    equals = [item_comparison(walk, x, y) for x, y in pairs]
    if any(row is None for row in equals) or operator not in numbers.SIGNED:
        return None
    if operator in ("Eq", "NotEq") and len(ka.items) != len(kb.items):
        answer = operator == "NotEq"
        return Literal(BOOL, answer), safe(lambda w, x, y: "true" if answer else "false")
    orders = equals if operator in ("Eq", "NotEq") else [comparison(walk, operator, x, y) for x, y in pairs]
    if any(row is None or base(row[0]) is not BOOL for row in orders if operator not in ("Eq", "NotEq")):
        return None  # the result is that of the items that decide, of whatever class it is
    sizes = len(ka.items), len(kb.items)
    last = {"Lt": sizes[0] < sizes[1], "LtE": sizes[0] <= sizes[1], "Gt": sizes[0] > sizes[1],
            "GtE": sizes[0] >= sizes[1], "Eq": True, "NotEq": False}[operator]  # fmt: skip
    differs = {"Eq": "false", "NotEq": "true"}.get(operator)

    def emit(w: Any, x: str, y: str) -> str:
        """One item after the other, as later ones are not looked at where an earlier one decides."""
        end = w.fresh("compared")
        answers = []
        for i in range(len(pairs)):
            given = (*_item_of(w, ka, x, i), *_item_of(w, kb, y, i))
            same = equals[i][1](w, *given)
            other, following = w.fresh("differs"), w.fresh("same")
            w.do(f"br i1 {same}, label %{following}, label %{other}")
            w.start(other)
            answers.append((differs or orders[i][1](w, *given), w.label))
            w.do(f"br label %{end}")
            w.start(following)
        answers.append(("true" if last else "false", w.label))
        w.do(f"br label %{end}")
        w.start(end)
        return str(w.new("phi i1 " + ", ".join(f"[ {value}, %{label} ]" for value, label in answers)))

    def at_once(w: Any, x: str, y: str) -> str:
        flag = "true" if last else "false"
        for i in range(len(pairs) - 1, -1, -1):
            given = (*_item_of(w, ka, x, i), *_item_of(w, kb, y, i))
            flag = w.choose(equals[i][1](w, *given), "i1", flag, differs or orders[i][1](w, *given))
        return flag

    careful = any(not hasattr(row[1], "safe") for row in (*equals, *orders))
    return BOOL, emit if careful else safe(at_once)


def _item_of(w: Any, kind: Tuple, value: str, i: int) -> tuple[str]:
    item = kind.items[i]
    if isinstance(item, Literal):
        return (w.module.constant(item.kind, item.value),)
    return (w.extract(kind.ll, value, i) if item.ll is not None else "",)


def _identity(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> None:
    """`a is b`: known for None, classes and functions; for objects, whether they are at the same place."""
    answer: bool | None = None
    if NONE in (ka, kb):
        answer = ka is kb
    elif isinstance(ka, Static) and isinstance(kb, Static):
        answer = ka.value is kb.value
    elif base(ka) is BOOL and base(kb) is BOOL:
        row = numbers.compare("Eq" if operator == "Is" else "NotEq", ka, kb)
        assert row is not None
        return walk.give(op, row[0], row[1], a, b)
    elif type(plain(ka)) is not type(plain(kb)) or (base(ka) is BOOL) != (base(kb) is BOOL):
        answer = False
    elif isinstance(ka, List | Object) and isinstance(kb, List | Object):
        sign = "eq" if operator == "Is" else "ne"
        return walk.give(op, BOOL, safe(lambda w, x, y: w.new(f"icmp {sign} ptr {x}, {y}")), a, b)
    if answer is None:
        raise walk.doubt(f"`is` between {ka!r} and {kb!r}")
    made = Literal(BOOL, answer is (operator == "Is"))
    return walk.give(op, made, constant(made))


@operation("truth")
def _truth(walk: Walk, op: Op) -> None:
    """Whether something counts as true: an object is asked by its methods."""
    full = walk.name(op.args[0])
    if not truth_of(walk, op, full, walk.kind(op.args[0])):
        answer = truth(walk, full)
        assert op.dst is not None
        if isinstance(answer, bool):
            return walk.give(op, Literal(BOOL, answer), constant(Literal(BOOL, answer)))
        walk.give_name(op, answer)
    return None


def truth(walk: Walk, full: str) -> bool | str:
    """Whether a variable counts as true: known, or the full name of a flag."""
    kind = walk.env[full]
    if kind is BOOL:
        return full
    row = numbers.truth(kind)
    if isinstance(row, bool):
        return row
    if row is not None:
        return walk.temporary(row[0], row[1], full)
    if isinstance(kind, Tuple | Known):
        return len(kind.items) > 0
    if isinstance(kind, List):
        return walk.temporary(BOOL, safe(lambda w, x: w.new(f"icmp ne i64 {memory.length(w, x)}, 0")), full)
    if isinstance(kind, Range):
        return walk.temporary(BOOL, safe(lambda w, x: w.new(f"icmp ne i64 {range_length(w, x)}, 0")), full)
    if is_numpy_number(kind):
        return walk.temporary(BOOL, numpy_numbers.truth(kind), full)
    if isinstance(kind, Object) and getattr(kind.cls, "size", None) in kind.fields.find().cells:
        of, size = kind, kind.cls.size  # type: ignore[attr-defined]
        return walk.temporary(
            BOOL, safe(lambda w, x: w.new(f"icmp ne i64 {memory.get_field(w, of, x, size)}, 0")), full
        )
    if isinstance(kind, Array):
        return walk.temporary(BOOL, OF_ARRAYS["truth"](walk, kind), full)
    if isinstance(kind, Static) and _has_plain_truth(kind.value):
        return bool(kind.value)
    if isinstance(kind, Closure | Generator | Items | Partial | Method):
        return True
    if isinstance(kind, Object) and not any(hasattr(kind.cls, n) for n in ("__bool__", "__len__")):
        return True
    raise walk.doubt(f"the truth of {kind!r}")


def _has_plain_truth(value: Any) -> bool:
    """Whether to ask for the truth of something known runs no code of the user's."""
    methods = (getattr(type(value), name, None) for name in ("__bool__", "__len__"))
    return not any(isinstance(one, types.FunctionType) for one in methods) or isinstance(value, enum.Enum)


# ---- jumps


@operation("jump")
def _jump(walk: Walk, op: Op) -> None:
    walk.go(walk.block.targets[0])


@operation("branch")
def _branch(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    flag = truth(walk, walk.name(op.args[0]))
    yes, no = walk.block.targets
    if isinstance(flag, bool):
        walk.go(yes if flag else no)
    else:
        walk.branch(flag, yes, no)


@operation("return")
def _return(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[0])
    name = walk.name(op.args[0])
    if walk.frame.parent is not None:
        return walk.back(name)
    is_last = walk.spec.name == "f0"
    if any(k is STATUS or (is_last and _is_exception(k)) for k in items_in(kind)):
        raise walk.doubt("returns an exception")
    if is_last and any(is_tied(k) or isinstance(k, Closure) for k in items_in(kind)):
        raise Refused("returns a function or a generator")
    if any(is_tied(k) for k in items_in(kind)):
        walk.unit.inlined.add(walk.spec.code)
        walk.unit.changed = True
        raise Defer
    if is_last and TEXT in items_in(plain(kind)):
        raise walk.doubt("gives a text that machine code does not write")
    walk.learn(walk.spec.result, kind)
    walk.exit("return", name, kind)


def _is_exception(kind: Kind) -> bool:
    """Whether a value is an exception, or the class of one: which of the two is not known here."""
    return isinstance(kind, Static) and isinstance(kind.value, type) and issubclass(kind.value, BaseException)


@operation("raise")
def _raise(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[0])
    if kind is STATUS:
        return _reraise(walk, op)
    cls = kind.value if isinstance(kind, Static) else kind.cls if isinstance(kind, Object) else None
    if isinstance(cls, BaseException):
        cls = type(cls)
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise Leaves(None, "raises an exception")
    raise Leaves(cls, "raises")


@operation("reraise")
def _reraise(walk: Walk, op: Op) -> None:
    handler = walk.handler()
    line, frame = walk.place()
    walk.steps.append(Step(None, None, (), line, frame or walk.frame, handler))
    walk.exit("reraise", walk.name(op.args[0]))


@operation("is caught by")
def _is_caught_by(walk: Walk, op: Op) -> None:
    kind = walk.kind(op.args[1])
    wanted = []
    for one in kind.items if isinstance(kind, Tuple) else (kind,):
        if not isinstance(one, Static) or not isinstance(one.value, type) or not issubclass(one.value, BaseException):
            raise walk.doubt(f"catches {one!r}")
        wanted.append(one.value)
    walk.put(op, BOOL, catching_row(walk, wanted), op.args[0])


def catching_row(walk: Walk, wanted: Sequence[type]) -> Any:
    """A row that tells whether an exception is one of some classes."""
    classes = tuple(wanted)
    return safe(lambda w, status: w.module.is_one_of(w, status, classes))


@operation("poll")
def _poll(walk: Walk, op: Op) -> None:
    if walk.frame.home.path is not None:
        walk.step(lambda w: w.poll(), None, ())
    walk.next_op()


@operation("sweep")
def _sweep(walk: Walk, op: Op) -> None:
    if walk.frame.home.path is not None:
        OF_ARRAYS["sweep"](walk, *op.extra)
    walk.next_op()


@operation("yield")
def _yield(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    walk.yields(walk.name(op.args[0]))


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


@safe
def range_length(w: Any, r: str) -> str:
    """How many items a range has."""
    ll = "{ i64, i64, i64 }"
    start, stop, step = (w.extract(ll, r, i) for i in range(3))
    up = w.new(f"icmp sgt i64 {step}, 0")
    low, high = w.choose(up, "i64", start, stop), w.choose(up, "i64", stop, start)
    size = w.choose(up, "i64", step, w.new(f"sub i64 0, {step}"))
    some = w.new(f"icmp slt i64 {low}, {high}")
    span = w.new(f"sub i64 {w.new(f'sub i64 {high}, {low}')}, 1")
    count = w.new(f"add i64 {w.new(f'udiv i64 {span}, {size}')}, 1")
    return str(w.choose(some, "i64", count, "0"))


# ---- functions


@operation("closure")
def _closure(walk: Walk, op: Op) -> None:
    defaults = tuple(walk.kind(name) for name in op.args)
    made = Closure(op.extra, walk.frame.home, walk.frame.prefix, defaults)
    walk.put(op, made, tuple_row(made) if defaults else constant(NONE), *op.args)


@operation("genexpr")
def _genexpr(walk: Walk, op: Op) -> None:
    walk.kind(op.args[0])
    new_generator(walk, op, walk.frame.home, op.extra, walk.frame.prefix, {".0": walk.name(op.args[0])})


@operation("call")
def _call(walk: Walk, op: Op) -> None:
    for name in op.args:
        walk.kind(name)
    call(walk, op, walk.kind(op.args[0]), [walk.name(name) for name in op.args[1:]], op.extra, walk.name(op.args[0]))


@operation("owns")
def _owns(walk: Walk, op: Op) -> None:
    """A method is looked for before its arguments are made: there must be one."""
    kind = walk.kind(op.args[0])
    known = numbers.rank(kind) >= 0 or kind is NONE or base(kind) is STR or isinstance(kind, List | Tuple)
    if known and not hasattr(class_of(kind), op.extra):
        raise Leaves(AttributeError, f"{kind!r} has no {op.extra}")
    walk.next_op()


@operation("method")
def _method(walk: Walk, op: Op) -> None:
    for one in op.args:
        walk.kind(one)
    name, shape = op.extra
    call_method(walk, op, walk.name(op.args[0]), name, [walk.name(a) for a in op.args[1:]], shape)


@operation("attr")
def _attr(walk: Walk, op: Op) -> None:
    attribute(walk, op, walk.name(op.args[0]), walk.kind(op.args[0]), op.extra)


@operation("setattr")
def _setattr(walk: Walk, op: Op) -> None:
    of = walk.kind(op.args[0])
    walk.kind(op.args[1])
    if not isinstance(of, Object):
        raise Refused(f"sets {op.extra} of {of!r}")
    set_attribute(walk, op, walk.name(op.args[0]), op.extra, walk.name(op.args[1]))


@operation("super")
def _super(walk: Walk, op: Op) -> None:
    """`super()`: the class that the method stands in, and its first argument."""
    cls, owner = (walk.kind(name) for name in op.args)
    if not isinstance(cls, Static) or not isinstance(cls.value, type):
        raise walk.doubt("super() of something else than a class")
    walk.put(op, Super(owner, cls.value), safe(lambda w, v: v), op.args[1])


@operation("locals")
def _locals(walk: Walk, op: Op) -> None:
    """A dict of the variables that are set."""
    names = [name for name in op.extra if walk.name(name) in walk.env]
    walk.give_name(op, known_of(walk, {name: walk.name(name) for name in names}))


# ---- texts


@operation("format", "percent")
def _format(walk: Walk, op: Op) -> None:
    HOOKS[op.code](walk, op)


@operation("join")
def _join(walk: Walk, op: Op) -> None:
    kinds = [walk.kind(name) for name in op.args]
    if any(base(kind) is not STR for kind in kinds):
        return walk.give(op, TEXT, constant(NONE))
    return walk.put(op, STR, memory.text_join, *op.args)


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


def _unary_method(walk: Walk, op: Op, operator: str, kind: Kind) -> bool:
    name = UNARY[operator]
    if is_object(kind) and find_method(walk, kind, name) is not None:
        method(walk, op, walk.name(op.args[0]), name, [], {})
        return True
    return False


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
