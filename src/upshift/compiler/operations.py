"""What each operation of `code.py` does to kinds; those on containers are in `containers.py`."""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from .arguments import coerce, known_of
from .calls import attribute, call, call_method, find_method, method
from .captures import literal_of
from .check import OPERATIONS, Defer, Leaves, Step, Walk
from .classes import class_of
from .code import Op
from .follow import new_generator, prelude
from .instances import set_attribute
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
    Static,
    Super,
    Tuple,
    items_in,
    plain,
)
from .prelude.registry import registered
from .protocol import UNARY, compare_objects, compare_tuples, is_object, truth_of
from .rows import memory, numbers, numpy_numbers, texts
from .rows.numbers import base, is_numpy_number, safe
from .values import captured, constant, is_tied, tuple_row, value_of_member, values_of_members

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


def _unary_method(walk: Walk, op: Op, operator: str, kind: Kind) -> bool:
    name = UNARY[operator]
    if is_object(kind) and find_method(walk, kind, name) is not None:
        method(walk, op, walk.name(op.args[0]), name, [], {})
        return True
    return False


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
