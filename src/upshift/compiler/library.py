"""Which row or function of the prelude a call, method or operator stands for."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from . import calls, forms, intrinsic_calls, makers, operations, statics
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
    give_literal,
    prelude,
    prelude_home,
    special,
    written,
)
from .check import Leaves, Walk
from .classes import class_of, is_instance
from .code import Op
from .container_operators import as_long_tuple
from .containers import append, iterate
from .kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STATUS,
    STR,
    Array,
    Closure,
    Generator,
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
    Tuple,
    ll_of,
    matches,
    plain,
)
from .operations import HOOKS, operate, range_length
from .prelude import hashes, intrinsics, iterables, lists, objects, tables
from .prelude import numbers as _numbers
from .prelude.registry import METHODS, F, registered
from .protocol import truth_of
from .rows import maths, memory, numbers
from .rows.numbers import base, is_numpy_number, rank, safe, to_float, to_int
from .values import constant, item_of_tuple, list_of, tuple_of, value_of_member

ROWS.update(maths.MATHS)


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
    return give_literal(walk, op, is_instance(kind, classes))


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
    return give_literal(
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
        return give_literal(walk, op, len(kind.items))
    if isinstance(kind, Static) and isinstance(kind.value, enum.EnumType):
        return give_literal(walk, op, len(kind.value))
    if isinstance(kind, Literal) and kind.kind is STR:
        return give_literal(walk, op, len(kind.value))
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
        return give_literal(walk, op, 0)
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
            return give_literal(walk, op, int(kind.value))
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
        return give_literal(walk, op, 0.0)
    args = [value_of_member(walk, args[0]), *args[1:]]
    kind = walk.env[args[0]]
    if isinstance(kind, Literal):
        try:
            return give_literal(walk, op, float(kind.value))
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
        return give_literal(walk, op, False)
    if truth_of(walk, op, args[0], walk.env[args[0]]):
        return True
    answer = operations.truth(walk, args[0])
    if isinstance(answer, bool):
        return give_literal(walk, op, answer)
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
        owner = as_long_tuple(walk, [item_of_tuple(walk, owner, i) for i in range(len(kind.items))])
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
        return give_literal(walk, op, hash(kind.value))
    if own not in (enum.Enum.__hash__, str.__hash__):
        raise walk.doubt(f"the hash of {kind.value!r}")
    return give_literal(walk, op, hashes.hash_of_text(kind.value if own is str.__hash__ else kind.value.name))


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

_USED_TOO = (intrinsic_calls, _math_library, _numpy_library, _joined_arrays, _linalg, _python_calls, _written_arrays)
