"""Which row or function of the prelude a call, method or operator stands for."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from . import calls, forms, makers, operations, statics, texts
from .calls import (
    ATTRIBUTES,
    ROWS,
    SPECIAL,
    SPECIAL_METHODS,
    STARRED,
    Given,
    Words,
    call_function,
    coerce,
    find_method,
    prelude,
    prelude_home,
    special,
    written,
)
from .captures import literal_of
from .check import Leaves, Walk
from .classes import class_of, is_instance
from .code import Op
from .containers import append, iterate
from .kinds import (
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
    Tuple,
    ll_of,
    matches,
    plain,
)
from .operations import COMPARISONS, HOOKS, OPERATORS, operate, range_length
from .prelude import hashes, intrinsics, iterables, lists, objects, tables
from .prelude import numbers as _numbers
from .prelude.registry import METHODS, F, registered
from .protocol import COMPARED, is_object, is_user_object, operate_objects, truth_of
from .rows import maths, memory, numbers
from .rows.numbers import base, is_numpy_number, rank, safe, to_float, to_int
from .values import constant, item_of_tuple, list_of, tuple_of, value_of_member

ROWS.update(maths.MATHS)


def row(*originals: Any) -> Callable[[F], F]:
    """Registers a row for calls of these functions: from the kinds of operands to that of the result, and its IR."""
    return registered(ROWS, originals)


def _given_literal(walk: Walk, op: Op, value: Any) -> bool:
    made = literal_of(value)
    walk.give(op, made, constant(made))
    return True


# ---- classes


@special(isinstance)
def _isinstance(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind, wanted = (walk.env[name] for name in args)
    classes = _classes(wanted)
    if classes is None:
        return False
    if kind is STATUS:
        given = classes if isinstance(classes, tuple) else (classes,)
        walk.give(op, BOOL, operations.catching_row(walk, given), args[0])
        return True
    return _given_literal(walk, op, is_instance(kind, classes))


def _classes(kind: Kind) -> Any:
    if isinstance(kind, Static):
        return kind.value
    if isinstance(kind, Tuple):
        parts = [_classes(item) for item in kind.items]
        return None if None in parts else tuple(parts)
    return None


@special(type)
def _type(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 1:
        return False
    kind = walk.env[args[0]]
    if kind is STATUS:
        return False
    cls = class_of(kind)
    walk.give(op, Static(cls, walk.unit.class_paths.get(cls)), constant(NONE))
    return True


@special(callable)
def _callable(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    return _given_literal(
        walk, op, callable(kind.value) if isinstance(kind, Static) else isinstance(kind, Closure | Method | Partial)
    )


def _does_more(f: Any) -> Callable[..., bool]:
    def refuse(*_: Any) -> bool:
        raise Refused(f"calls {f.__name__}, which does more than compute", remedy="compute first, then do that")

    return refuse


for _f in (print, input, open, exec, eval, globals, setattr, delattr, vars, id):
    special(_f)(_does_more(_f))
    STARRED[_f] = _does_more(_f)


# ---- lengths, ranges, iteration


@special(len)
def _len(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 1:
        return False
    name, kind = args[0], walk.env[args[0]]
    if isinstance(kind, Tuple | Known):
        return _given_literal(walk, op, len(kind.items))
    if isinstance(kind, Static) and isinstance(kind.value, enum.EnumType):
        return _given_literal(walk, op, len(kind.value))
    if isinstance(kind, Literal) and kind.kind is STR:
        return _given_literal(walk, op, len(kind.value))
    if isinstance(kind, List):
        walk.give(op, INT, memory.length, name)
    elif kind is STR:
        walk.give(op, INT, memory.text_length, name)
    elif isinstance(kind, Range):
        walk.give(op, INT, range_length, name)
    elif isinstance(kind, Object):
        calls.method(walk, op, name, "__len__", [], {})
    elif rank(kind) >= 0 or kind is NONE:
        raise Leaves(TypeError, "has no len()")
    else:
        return False
    return True


@special(range)
def _range(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    args = [value_of_member(walk, name) for name in args]
    kinds = [walk.env[name] for name in args]
    if words or not 1 <= len(args) <= 3:
        return False
    if not all(base(kind) in (INT, BOOL) or _is_numpy_int(kind) for kind in kinds):
        raise Leaves(TypeError, "range() of something else than ints")
    names = [name if base(walk.env[name]) in (INT, BOOL) else coerce(walk, name, INT) for name in args]
    kinds = [walk.env[name] for name in names]
    step: int | None = 1
    if len(args) == 3:
        step = kinds[2].value if isinstance(kinds[2], Literal) else None
    if step == 0:
        raise Leaves(ValueError, "range() arg 3 must not be zero")

    def emit(w: Any, *values: str) -> str:
        ints = [to_int(w, value, kind) for value, kind in zip(values, kinds)]
        start, stop, by = ("0", ints[0], "1") if len(ints) == 1 else (*ints, "1") if len(ints) == 2 else ints
        if step is None:
            w.leave_if(w.new(f"icmp eq i64 {by}, 0"), ValueError, "range() arg 3 must not be zero")
        return str(w.build("{ i64, i64, i64 }", ("i64", start), ("i64", stop), ("i64", by)))

    walk.give(op, Range(step), emit if step is None else safe(emit), *names)
    return True


def _is_numpy_int(kind: Kind) -> bool:
    dtype = getattr(kind, "dtype", None)
    return dtype is not None and dtype.kind in "iu" and not isinstance(kind, Array)


@special(iter)
def _iter(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 1:
        return False
    iterate(walk, op, args[0], walk.env[args[0]])
    return True


@special(next)
def _next(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    if isinstance(kind, Generator):
        walk.resume(op, kind)
        return True
    return False


@special(reversed)
def _reversed(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    if isinstance(kind, List):
        prelude(walk, op, "list_backwards", args)
    elif base(kind) is STR:
        prelude(walk, op, "text_backwards", args)
    elif isinstance(kind, Range):
        prelude(walk, op, "range_reversed", args)
    elif isinstance(kind, Tuple):
        names = [item_of_tuple(walk, args[0], i) for i in reversed(range(len(kind.items)))]
        iterate(walk, op, tuple_of(walk, names), Tuple(tuple(walk.env[n] for n in names)))
    elif isinstance(kind, Object) and find_method(walk, kind, "__reversed__") is not None:
        calls.method(walk, op, args[0], "__reversed__", [], {})
    else:
        return False
    return True


@special(list)
def _list(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not args:
        made = List(walk.cell())
        walk.give(op, made, lambda w: memory.display(w, made, [], []))
        return True
    kind = walk.env[args[0]]
    if isinstance(kind, Tuple):
        walk.give_name(op, list_of(walk, [item_of_tuple(walk, args[0], i) for i in range(len(kind.items))]))
    elif isinstance(kind, List):
        calls.call_function(walk, op, prelude_home(METHODS["list", "copy"]), args, {})
    else:
        prelude(walk, op, "listed", args)
    return True


@special(tuple)
def _tuple(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    assert op.dst is not None
    if not args:
        walk.give_name(op, tuple_of(walk, []))
    elif isinstance(kind := walk.env[args[0]], Tuple):
        if kind.cls is not None:  # a named tuple: its items, in a plain one
            args = [tuple_of(walk, [item_of_tuple(walk, args[0], i) for i in range(len(kind.items))])]
        walk.give_name(op, args[0])
    elif isinstance(kind, List):
        prelude(walk, op, "tuple_of_list", args)
    else:
        prelude(walk, op, "tupled", args)
    return True


def _extreme(many: str, two: str) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if len(args) == 1:
            kind = walk.env[args[0]]
            if isinstance(kind, Tuple) and not words and kind.items:
                args = [item_of_tuple(walk, args[0], i) for i in range(len(kind.items))]
                if len(args) == 1:
                    return walk.give_name(op, args[0])
            else:
                prelude(walk, op, many, args, words)
                return True
        kinds = [walk.env[name] for name in args]
        if not words and all(matches(plain(kinds[0]), plain(kind)) for kind in kinds) and rank(kinds[0]) in (1, 2):
            sign = ("slt", "olt") if two == "min_of_two" else ("sgt", "ogt")
            walk.give(op, plain(kinds[0]), _chosen(sign, base(kinds[0])), *args)
            return True
        if len(args) == 2:
            prelude(walk, op, two, args, words)
            return True
        prelude(walk, op, many, [tuple_of(walk, args)], words)
        return True

    return find


def _chosen(sign: tuple[str, str], kind: Kind) -> Any:
    def emit(w: Any, *values: str) -> str:
        best = values[0]
        for other in values[1:]:
            test = f"icmp {sign[0]} i64" if kind is INT else f"fcmp {sign[1]} double"
            best = w.choose(w.new(f"{test} {other}, {best}"), ll_of(kind), other, best)
        return best

    return safe(emit)


SPECIAL[min] = _extreme("min_of", "min_of_two")
SPECIAL[max] = _extreme("max_of", "max_of_two")


# ---- numbers


@special(int)
def _int(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not args:
        return _given_literal(walk, op, 0)
    args = [value_of_member(walk, args[0]), *args[1:]]
    kind = walk.env[args[0]]
    if base(kind) is STR:
        if len(args) == 2 or "base" in words:
            prelude(walk, op, "int_of_text", [args[0], args[1] if len(args) == 2 else words["base"]])
        else:
            prelude(walk, op, "int_of_decimal", args)
        return True
    if isinstance(kind, Literal) and len(args) == 1 and kind.kind in (INT, FLOAT, BOOL):
        try:
            return _given_literal(walk, op, int(kind.value))
        except (ValueError, OverflowError):
            return False
    found = maths.rounding(None)(walk, kind) if len(args) == 1 else None
    if found is not None:
        walk.give(op, found[0], found[1], *args)
        return True
    if is_numpy_number(kind):
        name = coerce(walk, args[0], INT if kind.dtype.kind in "iu" else FLOAT)  # type: ignore[attr-defined]
        found = maths.rounding(None)(walk, walk.env[name])
        walk.give(op, found[0], found[1], name)
        return True
    if kind is NONE or isinstance(kind, List | Tuple) or kind is COMPLEX:
        raise Leaves(TypeError, "int() of something else than a number")
    return False


@special(float)
def _float(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not args:
        return _given_literal(walk, op, 0.0)
    args = [value_of_member(walk, args[0]), *args[1:]]
    kind = walk.env[args[0]]
    if isinstance(kind, Literal):
        try:
            return _given_literal(walk, op, float(kind.value))
        except ValueError:
            raise Leaves(ValueError, "could not convert string to float") from None
        except (OverflowError, TypeError):
            return False
    if kind is STR and len(args) == 1 and not words:
        prelude(walk, op, "float_of_text", args)
        return True
    if is_numpy_number(kind):
        name = coerce(walk, args[0], FLOAT)
        return walk.give_name(op, name)
    return False


@special(bool)
def _bool(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not args:
        return _given_literal(walk, op, False)
    if truth_of(walk, op, args[0], walk.env[args[0]]):
        return True
    answer = operations.truth(walk, args[0])
    if isinstance(answer, bool):
        return _given_literal(walk, op, answer)
    return walk.give_name(op, answer)


@special(complex)
def _complex(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    args = [*args, *(words[word] for word in ("real", "imag")[len(args) :] if word in words)]
    kinds = [walk.env[name] for name in args]
    if not all(0 <= rank(kind) <= 2 for kind in kinds):
        return False

    def emit(w: Any, *values: str) -> str:
        parts = [to_float(w, value, kind) for value, kind in zip(values, kinds)] + ["0.0", "0.0"]
        return str(w.build("{ double, double }", ("double", parts[0]), ("double", parts[1])))

    walk.give(op, COMPLEX, safe(emit), *args)
    return True


@special(round)
def _round(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    args = [*args, *(words[word] for word in ("number", "ndigits")[len(args) :] if word in words)]
    kind = walk.env[args[0]]
    if len(args) == 1 or walk.env[args[1]] is NONE:
        found = maths.rounding("llvm.roundeven.f64")(walk, kind)
        if found is None:
            return False
        walk.give(op, found[0], found[1], args[0])
        return True
    if base(walk.env[args[1]]) not in (INT, BOOL):
        raise Leaves(TypeError, "round() to something else than an int")
    if base(kind) is FLOAT:
        prelude(walk, op, "round_to", args)
        return True
    if rank(kind) in (0, 1):
        prelude(walk, op, "round_int_to", args)
        return True
    return False


@special(divmod)
def _divmod(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kinds = [walk.env[name] for name in args]
    if max(map(rank, kinds)) == 2 and min(map(rank, kinds)) >= 0:
        prelude(walk, op, "float_divmod", args)
        return True
    rows = [numbers.binary(operator, *kinds) for operator in ("FloorDiv", "Mod")]
    found = [one for one in rows if isinstance(one, tuple)]
    if len(found) != 2:
        return False
    names = [walk.temporary(one[0], one[1], *args) for one in found]
    return walk.give_name(op, tuple_of(walk, names))


@special(pow)
def _pow(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    args = [*args, *(words[word] for word in ("base", "exp", "mod")[len(args) :] if word in words)]
    if len(args) == 3 and walk.env[args[2]] is not NONE:
        if any(is_numpy_number(walk.env[name]) for name in args):
            raise Leaves(None, "pow(a, b, m) of NumPy's numbers")
        prelude(walk, op, "power_modulo", args)
    else:
        operate(walk, op, "Pow", args[0], args[1], walk.env[args[0]], walk.env[args[1]])
    return True


# ---- intrinsics


@row(intrinsics.item)
def _item(walk: Walk, of: Kind, at: Kind) -> Any:
    if isinstance(of, List):
        return walk.read(of.cell), safe(lambda w, xs, i: memory.get(w, of, xs, i))
    return None


@special(intrinsics.set_item)
def _set_item(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    of, _, kind = (walk.env[name] for name in args)
    if not isinstance(of, List):
        return False
    walk.learn(of.cell, kind)
    walk.writes(of.cell)

    def emit(w: Any, xs: str, i: str, v: str) -> None:
        memory.keep_callers(w, of, xs)
        memory.put(w, of, xs, i, v, kind)

    walk.step(emit, None, tuple(args))
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.sized)
def _sized(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    made = List(walk.cell())
    walk.give(op, made, lambda w, n: memory.new_list(w, made, n), *args)
    return True


@special(intrinsics.shortened)
def _shortened(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    of = walk.env[args[0]]
    assert isinstance(of, List)
    walk.writes(of.cell)
    walk.step(lambda w, xs, n: memory.set_length(w, of, xs, n), None, tuple(args))
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.same_object)
def _same_object(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kinds = [walk.env[name] for name in args]
    if not all(isinstance(kind, List | Object) for kind in kinds) or type(kinds[0]) is not type(kinds[1]):
        return _given_literal(walk, op, False)
    walk.give(op, BOOL, safe(lambda w, x, y: w.new(f"icmp eq ptr {x}, {y}")), *args)
    return True


@row(intrinsics.as_tuple)
def _as_tuple(walk: Walk, of: Kind) -> Any:
    assert isinstance(of, List)
    return List(of.cell, tuple), safe(lambda w, xs: xs)


def _ints(op: str) -> Any:
    return lambda walk, a, b: (INT, safe(lambda w, x, y: w.new(f"{op} i64 {x}, {y}")))


def _of_llvm(name: str) -> Any:
    """A function of doubles that is LLVM's own."""
    return safe(lambda w, *values: w.intrinsic(name, "double", *(("double", value) for value in values)))


def _product_fits(w: Any, a: str, b: str) -> str:
    both = w.intrinsic("llvm.smul.with.overflow.i64", "{ i64, i1 }", ("i64", a), ("i64", b))
    return str(w.new(f"xor i1 {w.extract('{ i64, i1 }', both, 1)}, true"))


def _high_product(w: Any, a: str, b: str) -> str:
    x, y = w.new(f"zext i64 {a} to i128"), w.new(f"zext i64 {b} to i128")
    product = w.new(f"mul i128 {x}, {y}")
    return str(w.new(f"trunc i128 {w.new(f'lshr i128 {product}, 64')} to i64"))


ROWS.update({
    intrinsics.plus: _ints("add nsw"), intrinsics.minus: _ints("sub nsw"), intrinsics.wrapping_add: _ints("add"),
    intrinsics.wrapping_mul: _ints("mul"), intrinsics.shift_down: _ints("lshr"), intrinsics.shift_up: _ints("shl"),
    intrinsics.unsigned_div: _ints("udiv"), intrinsics.unsigned_rem: _ints("urem"),
    intrinsics.unsigned_less: lambda walk, a, b: (BOOL, safe(lambda w, x, y: w.new(f"icmp ult i64 {x}, {y}"))),
    intrinsics.product_fits: lambda walk, a, b: (BOOL, safe(_product_fits)),
    intrinsics.high_product: lambda walk, a, b: (INT, safe(_high_product)),
    intrinsics.leading_zeros: lambda walk, a: (
        INT, safe(lambda w, x: w.intrinsic("llvm.ctlz.i64", "i64", ("i64", x), ("i1", "false")))),
    intrinsics.byte: lambda walk, s, i: (INT, memory.text_byte),
    intrinsics.part: lambda walk, s, i, j: (STR, memory.text_part),
    intrinsics.new_text: lambda walk, n: (STR, memory.text_new),
    intrinsics.whole: lambda walk, x: (FLOAT, _of_llvm("llvm.floor.f64")),
    intrinsics.nearest_even: lambda walk, x: (FLOAT, _of_llvm("llvm.roundeven.f64")),
    intrinsics.fma: lambda walk, a, b, c: (FLOAT, _of_llvm("llvm.fma.f64")),
    intrinsics.is_nan: lambda walk, x: (BOOL, safe(lambda w, v: w.new(f"fcmp uno double {v}, 0.0"))),
    intrinsics.bits_of: lambda walk, x: (INT, safe(lambda w, v: w.new(f"bitcast double {v} to i64"))),
    intrinsics.float_of_bits: lambda walk, x: (FLOAT, safe(lambda w, v: w.new(f"bitcast i64 {v} to double"))),
})  # fmt: skip


@special(intrinsics.set_byte)
def _set_byte(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    walk.step(memory.text_put, None, tuple(args))
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.poll)
def _poll(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    walk.step(lambda w: w.poll_now(), None, ())
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.give_up)
def _give_up(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    raise Leaves(None, "there is no short way for this")


def _part_of(at: int, of: type) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        kind = walk.env[args[0]]
        assert op.dst is not None
        if isinstance(kind, Range):
            walk.give(op, INT, safe(lambda w, r: w.extract("{ i64, i64, i64 }", r, at)), *args)
            return True
        if isinstance(kind, Slice):
            return walk.give_name(op, item_of_tuple(walk, args[0], at))
        return False

    return find


for _at, _name in enumerate(("start", "stop", "step")):
    SPECIAL[getattr(intrinsics, f"range_{_name}")] = _part_of(_at, Range)
    SPECIAL[getattr(intrinsics, f"slice_{_name}")] = _part_of(_at, Slice)


# ---- operators on lists, texts and tuples


def _list_operators(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool) -> bool:
    if isinstance(ka, List) and inplace and operator == "Add" and ka.cls is list:
        prelude(walk, op, "extended", [a, b])  # which changes the list, and gives it
        return True
    if isinstance(ka, List) and inplace and operator == "Mult" and ka.cls is list and base(kb) in (INT, BOOL):
        prelude(walk, op, "multiplied", [a, b])  # likewise
        return True
    if operator == "Add" and isinstance(ka, List) and isinstance(kb, List) and ka.cls is kb.cls:
        prelude(walk, op, "list_plus" if ka.cls is list else "tuple_plus", [a, b])
        return True
    if operator == "Mult" and isinstance(ka, List) and base(kb) in (INT, BOOL):
        prelude(walk, op, "list_times" if ka.cls is list else "tuple_times", [a, b])
        return True
    if operator == "Mult" and isinstance(kb, List) and base(ka) in (INT, BOOL):
        prelude(walk, op, "list_times" if kb.cls is list else "tuple_times", [b, a])
        return True
    return False


def _tuple_operators(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool) -> bool:
    assert op.dst is not None
    if operator == "Add" and isinstance(ka, Tuple) and isinstance(kb, Tuple):
        names = [item_of_tuple(walk, a, i) for i in range(len(ka.items))]
        names += [item_of_tuple(walk, b, i) for i in range(len(kb.items))]
        return walk.give_name(op, tuple_of(walk, names))
    if operator == "Mult" and isinstance(ka, Tuple) and isinstance(kb, Literal) and kb.kind is INT and kb.value <= 64:
        names = [item_of_tuple(walk, a, i) for i in range(len(ka.items))] * max(kb.value, 0)
        return walk.give_name(op, tuple_of(walk, names))
    return False


def _text_operators(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool) -> bool:
    if operator == "Add" and {base(ka), base(kb)} <= {STR, TEXT}:
        if TEXT in (ka, kb):
            walk.give(op, TEXT, constant(NONE))
        else:
            texts.add_texts(walk, op, a, b)
        return True
    if operator == "Mult" and base(ka) is STR and base(kb) in (INT, BOOL):
        prelude(walk, op, "text_times", [a, b])
        return True
    if operator == "Mult" and base(kb) is STR and base(ka) in (INT, BOOL):
        prelude(walk, op, "text_times", [b, a])
        return True
    return False


OPERATORS += [_list_operators, _tuple_operators, _text_operators, operate_objects]


def _list_comparisons(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    if not (isinstance(ka, List) and isinstance(kb, List) and ka.cls is kb.cls):
        return False
    if operator == "Eq":
        prelude(walk, op, "list_equal", [a, b])
    elif operator == "NotEq":
        prelude(walk, op, "list_unequal", [a, b])
    elif operator in ("Lt", "LtE"):
        prelude(walk, op, "list_less" if operator == "Lt" else "list_less_or_equal", [a, b])
    elif operator in ("Gt", "GtE"):
        prelude(walk, op, "list_less" if operator == "Gt" else "list_less_or_equal", [b, a])
    else:
        return False
    return True


def _membership(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """`a in b` and `a not in b`."""
    if operator not in ("In", "NotIn"):
        return False
    no = "not_" if operator == "NotIn" else ""
    if isinstance(kb, Known):
        names = [walk.temporary(literal_of(name), constant(literal_of(name))) for name in kb.names]
        b = tuple_of(walk, names)
        kb = walk.env[b]
    if isinstance(kb, Tuple):
        rows = [operations.item_comparison(walk, ka, item) for item in kb.items]
        if any(one is None for one in rows):
            return False

        def emit(w: Any, x: str, t: str) -> str:
            flag = "false"
            for i, one in enumerate(rows):
                item = kb.items[i]
                value = (
                    w.module.constant(item.kind, item.value)
                    if isinstance(item, Literal)
                    else (w.extract(kb.ll, t, i) if item.ll is not None else "")
                )
                flag = w.new(f"or i1 {flag}, {one[1](w, x, value)}")
            return flag if operator == "In" else str(w.new(f"xor i1 {flag}, true"))

        careful = any(not hasattr(one[1], "safe") for one in rows)
        walk.give(op, BOOL, emit if careful else safe(emit), a, b)
        return True
    if isinstance(kb, List):
        prelude(walk, op, f"list_{no}contains", [b, a])
    elif base(kb) is STR and base(ka) is STR:
        texts.is_in_text(walk, op, operator, a, b)
    elif isinstance(kb, Range) and base(ka) in (INT, BOOL):
        prelude(walk, op, f"range_{no}contains", [b, a])
    elif is_object(kb) and find_method(walk, kb, "__contains__") is not None:
        if not hasattr(class_of(kb), "__contains__"):  # `d.values()`, which is looked through
            prelude(walk, op, f"iterable_{no}contains", [b, a])
        elif operator == "In" and not is_user_object(kb):
            calls.method(walk, op, b, "__contains__", [a], {})
        elif not is_user_object(kb):
            prelude(walk, op, "object_not_contains", [b, a])
        else:
            prelude(walk, op, f"object_{no}in", [a, b])
    elif isinstance(kb, Generator | Items) or is_user_object(kb):
        prelude(walk, op, f"iterable_{no}contains", [b, a])
    else:
        return False
    return True


def _table_comparisons(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """Dicts and sets, by the methods of the prelude."""
    name = COMPARED.get(operator, "")
    if isinstance(ka, Object) and find_method(walk, ka, name) is not None:
        calls.method(walk, op, a, name, [b], {})
        return True
    return False


def _tuple_and_list(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """A tuple of known length and one of unknown length: both as the latter."""
    if isinstance(ka, Tuple) and isinstance(kb, Tuple | List) and getattr(kb, "cls", None) in (tuple, None):
        names = [item_of_tuple(walk, a, i) for i in range(len(ka.items))]
        a = _as_long_tuple(walk, names)
    if isinstance(kb, Tuple) and isinstance(walk.env[a], List):
        names = [item_of_tuple(walk, b, i) for i in range(len(kb.items))]
        b = _as_long_tuple(walk, names)
    ka, kb = walk.env[a], walk.env[b]
    return isinstance(ka, List) and isinstance(kb, List) and _list_comparisons(walk, op, operator, a, b, ka, kb)


def _as_long_tuple(walk: Walk, names: Given) -> str:
    listed = list_of(walk, names)
    kind = walk.env[listed]
    assert isinstance(kind, List)
    return walk.temporary(List(kind.cell, tuple), safe(lambda w, xs: xs), listed)


COMPARISONS += [_membership, _list_comparisons, _table_comparisons, _tuple_and_list]


# ---- methods


def special_method(cls: str, *names: str) -> Callable[[F], F]:
    """Registers what is done for a call of these methods of a built-in class."""
    return registered(SPECIAL_METHODS, [(cls, name) for name in names])


@special_method("list", "append")
def _append(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 2:
        return False
    append(walk, op, *args)
    return True


@special_method("complex", "conjugate")
def _conjugate(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    def emit(w: Any, z: str) -> str:
        real, imag = w.extract("{ double, double }", z, 0), w.extract("{ double, double }", z, 1)
        return str(w.build("{ double, double }", ("double", real), ("double", w.new(f"fneg double {imag}"))))

    walk.give(op, COMPLEX, safe(emit), *args)
    return True


def _operator_method(name: str) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if len(args) != 2 or words:
            return False
        written(walk, op, f"def asked(a, b):\n    return {name}", args)
        return True

    return find


for _cls in ("list", "tuple", "str"):
    SPECIAL_METHODS[_cls, "__getitem__"] = _operator_method("a[b]")
    SPECIAL_METHODS[_cls, "__contains__"] = _operator_method("b in a")


@special_method("tuple", "count", "index")
def _tuple_method(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    name = op.extra[0] if op.code == "method" else ""
    owner = args[0]
    if isinstance(kind, Tuple):
        owner = _as_long_tuple(walk, [item_of_tuple(walk, owner, i) for i in range(len(kind.items))])
    call_function(walk, op, prelude_home(METHODS["tuple", name]), [owner, *args[1:]], words)
    return True


def _new_table(walk: Walk, op: Op, cls: type) -> None:
    """`{}` and an empty set."""
    calls.make_instance(walk, op, Static(cls), [], {})


HOOKS["dict"] = lambda walk, op: _new_table(walk, op, tables.Dict)
HOOKS["set"] = lambda walk, op: _new_table(walk, op, tables.Set)


@special(dict)
def _dict(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if words:
        names = [f"x{i}" for i in range(len(words))]
        text = f"def made(of{''.join(f', {name}' for name in names)}):\n    d = dict(of)\n"
        text += "".join(f"    d[{word!r}] = {name}\n" for word, name in zip(words, names))
        first = args[0] if args else tuple_of(walk, [])
        written(walk, op, f"{text}    return d", [first, *words.values()])
        return True
    if not args:
        _new_table(walk, op, tables.Dict)
    else:
        prelude(walk, op, "new_dict", args)
    return True


@special(set)
def _set(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if words:
        return False
    if not args:
        _new_table(walk, op, tables.Set)
    else:
        prelude(walk, op, "new_set", args)
    return True


@special(frozenset)
def _frozenset(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if words:
        return False
    prelude(walk, op, "new_frozenset", args)
    return True


@special(intrinsics.zip_strict)
def _zip_strict(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """One iterable after the other, as zip asks them: none is asked for more once another one has ended."""
    n = len(args)
    lines = [f"def zipped({', '.join(f'a{i}' for i in range(n))}):"]
    lines += [f"    a{i} = iter(a{i})" for i in range(n)] + ["    for x0 in a0:" if n else "    return"]
    for i in range(1, n):
        lines += [f"        for x{i} in a{i}:", "            break", "        else:", "            raise ValueError"]
    lines.append(f"        yield ({''.join(f'x{i},' for i in range(n))})" if n else "    yield")
    for i in range(1, n):
        lines += [f"    for _ in a{i}:", "        raise ValueError"]
    written(walk, op, "\n".join(lines), args)
    return True


@special(intrinsics.hash_of_member)
def _hash_of_member(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    assert isinstance(kind, Static)
    own: Any = type(kind.value).__hash__
    if own is int.__hash__:
        return _given_literal(walk, op, hash(kind.value))
    if own not in (enum.Enum.__hash__, str.__hash__):
        raise walk.doubt(f"the hash of {kind.value!r}")
    return _given_literal(walk, op, hashes.hash_of_text(kind.value if own is str.__hash__ else kind.value.name))


@special(hash)
def _hash(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    args = [value_of_member(walk, name) for name in args]
    kind = walk.env[args[0]]
    parts = kind.items if isinstance(kind, Tuple) and kind.cls is None else (kind,)
    if any(rank(part) < 0 and not is_numpy_number(part) for part in parts):
        return False
    prelude(walk, op, "hash_of", args)
    return True


_USED = (_numbers, iterables, lists, objects, forms, makers, statics)


def _attribute_row(kind: Kind, name: str) -> Any:
    """An attribute that is a row: `z.real`."""
    of = base(kind)
    if of is COMPLEX and name in ("real", "imag"):
        at = 0 if name == "real" else 1
        return FLOAT, safe(lambda w, z: w.extract("{ double, double }", z, at))
    if of in (INT, BOOL) and name in ("real", "numerator"):
        return INT, safe(lambda w, x: to_int(w, x, kind))
    if of in (INT, BOOL) and name in ("imag", "denominator"):
        value = "0" if name == "imag" else "1"
        return INT, safe(lambda w, x: value)
    if of is FLOAT and name in ("real", "imag"):
        return FLOAT, safe(lambda w, x: x if name == "real" else "0.0")
    if isinstance(kind, Range) and name in ("start", "stop", "step"):
        at = ("start", "stop", "step").index(name)
        return INT, safe(lambda w, r: w.extract("{ i64, i64, i64 }", r, at))
    return None


ATTRIBUTES.append(_attribute_row)


from . import math_library as _math_library  # noqa: E402  (they stand on all of this)
from . import numpy_library as _numpy_library  # noqa: E402
from .arrays import joining as _joined_arrays  # noqa: E402
from .arrays import linalg as _linalg  # noqa: E402
from .arrays import python_calls as _python_calls  # noqa: E402
from .arrays import written as _written_arrays  # noqa: E402

_USED_TOO = (_math_library, _numpy_library, _joined_arrays, _linalg, _python_calls, _written_arrays)
