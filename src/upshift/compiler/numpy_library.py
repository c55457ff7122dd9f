"""NumPy's numbers in calls: classes, functions, methods and attributes, and what built-in functions make of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import calls
from .calls import ATTRIBUTES, SPECIAL, SPECIAL_METHODS, Given, Words, coerce
from .check import Leaves, Walk
from .code import Op
from .kinds import BOOL, COMPLEX, FLOAT, INT, NONE, NUMPY, Kind, Literal, Scalar, Static, Tuple
from .prelude.registry import IMPLEMENTS
from .rows import maths, numpy_conversions, numpy_functions, numpy_numbers
from .rows.numbers import base, is_numpy_number, rank, safe
from .values import constant, item_of_tuple, tuple_of

Handler = Callable[[Walk, Op, Given, Words], bool]


def before(*originals: Any) -> Callable[[Handler], Handler]:
    """A handler that is asked before what is there already: it says False where nothing of it is NumPy's."""

    def register(f: Handler) -> Handler:
        for original in originals:
            older = SPECIAL.get(original)

            def both(walk: Walk, op: Op, args: Given, words: Words, older: Handler | None = older) -> bool:
                return f(walk, op, args, words) or (older is not None and older(walk, op, args, words))

            SPECIAL[original] = both
        return f

    return register


def _of_numpy(walk: Walk, args: Given) -> bool:
    return any(is_numpy_number(walk.env[name]) for name in args)


def _give(walk: Walk, op: Op, row: Any, *args: str) -> bool:
    """The result of a row, where there is one."""
    if row is None:
        return False
    walk.give(op, row[0], row[1], *args)
    return True


# ---- classes and ufuncs


def _class(dtype: np.dtype[Any]) -> Handler:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if words:
            return False
        return _give(walk, op, numpy_conversions.class_row(dtype, *(walk.env[name] for name in args)), *args)

    return find


for _dtype, _kind in NUMPY.items():
    SPECIAL[_kind.cls] = _class(_dtype)


def _ufunc(ufunc: np.ufunc) -> Handler:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if words:
            return False
        return _give(walk, op, numpy_functions.ufunc_row(ufunc, *(walk.env[name] for name in args)), *args)

    return find


for _found in vars(np).values():
    if isinstance(_found, np.ufunc) and not _found.signature:
        SPECIAL[_found] = _ufunc(_found)


# ---- functions of NumPy that are not ufuncs


@before(np.round, np.around)
def _np_round(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = _by_name(args, words, ("a", "decimals"))
    if given is None or "a" not in given:
        return False
    digits = walk.env[given["decimals"]] if "decimals" in given else Literal(INT, 0)
    if not isinstance(digits, Literal) or digits.kind is not INT:
        return False
    return _give(walk, op, numpy_conversions.round_row(walk.env[given["a"]], digits.value), given["a"])


def _by_name(args: Given, words: Words, names: tuple[str, ...]) -> Words | None:
    """Arguments by their names; None where there are others."""
    if len(args) > len(names) or any(word not in names for word in words):
        return None
    return dict(zip(names, args)) | words


@before(np.clip)
def _np_clip(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = _by_name(args, words, ("a", "a_min", "a_max"))
    if given is None or len(given) != 3:
        return False
    kind = walk.env[given["a"]]
    row = numpy_conversions.clip_row(kind, walk.env[given["a_min"]], walk.env[given["a_max"]])
    return _give(walk, op, row, given["a"], given["a_min"], given["a_max"])


@before(np.fix)
def _np_fix(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return SPECIAL[np.trunc](walk, op, args, words) if len(args) == 1 else False


def _part(which: str) -> Handler:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if words or len(args) != 1:
            return False
        kind = walk.env[args[0]]
        for attribute in ATTRIBUTES if rank(kind) >= 0 or is_numpy_number(kind) else ():
            row = attribute(kind, which)
            if row is not None:
                return _give(walk, op, row, args[0])
        return False

    return find


before(np.real)(_part("real"))
before(np.imag)(_part("imag"))


@before(np.isscalar)
def _np_isscalar(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    if rank(kind) < 0 and not is_numpy_number(kind):
        return False
    made = Literal(BOOL, True)
    return _give(walk, op, (made, constant(made)))


# ---- built-in functions


@before(abs)
def _abs(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return (
        len(args) == 1
        and _of_numpy(walk, args)
        and _give(walk, op, numpy_numbers.unary("abs", walk.env[args[0]]), *args)
    )


@before(divmod)
def _divmod(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 2 or not _of_numpy(walk, args):
        return False
    row = numpy_numbers.division(walk.env[args[0]], walk.env[args[1]])
    if row is None:
        raise walk.doubt(f"divmod() of {walk.env[args[0]]!r} and {walk.env[args[1]]!r}")
    made = walk.temporary(row[0], row[1], *args)
    return walk.give_name(op, tuple_of(walk, [item_of_tuple(walk, made, i) for i in range(2)]))


@before(round)
def _round(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = _by_name(args, words, ("number", "ndigits"))
    if not given or "number" not in given or not is_numpy_number(walk.env[given["number"]]):
        return False
    name = given["number"]
    kind = walk.env[name]
    assert isinstance(kind, Scalar) and kind.dtype is not None
    if kind.dtype.kind in "bc":
        raise Leaves(TypeError, f"{kind!r} has no __round__")
    digits = walk.env[given["ndigits"]] if "ndigits" in given else NONE
    if digits is not NONE:
        if not isinstance(digits, Literal) or digits.kind is not INT:
            raise walk.doubt("rounds a number of NumPy's to a number of digits that is not known")
        return _give(walk, op, numpy_conversions.round_row(kind, digits.value), name)
    plain = coerce(walk, name, INT if kind.dtype.kind in "iu" else FLOAT)
    found = maths.rounding("llvm.roundeven.f64")(walk, walk.env[plain])
    return _give(walk, op, found, plain)


@before(complex)
def _complex(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if not _of_numpy(walk, [*args, *words.values()]):
        return False
    names = [_plain(walk, name) for name in args]
    calls.call_static(walk, op, Static(complex), names, {word: _plain(walk, name) for word, name in words.items()})
    return True


def _plain(walk: Walk, name: str) -> str:
    """A number of NumPy's as the number of Python's that it is."""
    kind = walk.env[name]
    if not is_numpy_number(kind):
        return name
    own = numpy_numbers.own_class(kind)
    return name if own is None else coerce(walk, name, own) if own is not BOOL else coerce(walk, name, FLOAT)


@before(complex)
def _complex_of_complex(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    """`complex(z)` of one that is complex already."""
    if len(args) != 1 or words or base(walk.env[args[0]]) is not COMPLEX:
        return False
    return walk.give_name(op, args[0])


def _as_floats(fn: Any) -> Handler:
    """A function of `math` takes numbers of NumPy's for floats."""

    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if not _of_numpy(walk, args):
            return False
        if fn is math.trunc and any(walk.env[name] is not NUMPY[np.dtype("float64")] for name in args):
            raise Leaves(TypeError, "has no __trunc__")
        names = [coerce(walk, name, FLOAT) if is_numpy_number(walk.env[name]) else name for name in args]
        calls.call_static(walk, op, Static(fn), names, words)
        return True

    return find


for _fn in maths.MATHS:
    if getattr(_fn, "__module__", None) in ("math", "cmath"):
        before(_fn)(_as_floats(_fn))
for _fn in IMPLEMENTS:
    if _fn in (math.isclose,):
        before(_fn)(_as_floats(_fn))


# ---- methods and attributes


def method(*names: str, of: str = "biufc") -> Callable[[Handler], Handler]:
    """A method of NumPy's numbers of these sorts."""

    def register(f: Handler) -> Handler:
        def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
            return is_numpy_number(walk.env[args[0]]) and f(walk, op, args, words)

        for dtype, kind in NUMPY.items():
            if dtype.kind in of:
                for name in names:
                    SPECIAL_METHODS[kind.cls.__name__, name] = find
        return f

    return register


@method("item", "tolist")
def _item(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    own = numpy_numbers.own_class(kind)
    row = numpy_numbers.converted(kind, own) if own is not None else None
    if len(args) != 1 or words or row is None:
        return False
    assert own is not None
    return _give(walk, op, (own, row), args[0])


@method("__index__", of="iu")
def _index(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return _item(walk, op, args, words)


@method("astype")
def _astype(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = _by_name(args[1:], words, ("dtype",))
    if not given:
        return False
    wanted = _dtype_of(walk.env[given["dtype"]])
    row = numpy_conversions.cast_row(walk.env[args[0]], wanted) if wanted is not None else None
    return _give(walk, op, row, args[0])


def _dtype_of(kind: Kind) -> np.dtype[Any] | None:
    value = kind.value if isinstance(kind, Static | Literal) else None
    if not isinstance(value, type | str | np.dtype):
        return None
    try:
        return np.dtype(value)
    except TypeError:
        return None


@method("conjugate", "conj")
def _conjugate(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    if base(kind) is NUMPY[np.dtype("bool")]:
        return False
    return len(args) == 1 and _give(walk, op, numpy_functions.ufunc_row(np.conjugate, kind), args[0])


@method("is_integer", of="iuf")
def _is_integer(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    name = coerce(walk, args[0], FLOAT)
    calls.method(walk, op, name, "is_integer", [], {})
    return True


@method("bit_count", of="iu")
def _bit_count(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    name = coerce(walk, args[0], INT)
    calls.method(walk, op, name, "bit_count", [], {})
    return True


@method("round", of="iuf")
def _round_method(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return _np_round(walk, op, args, words)


@method("clip", of="iuf")
def _clip_method(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = _by_name(args[1:], words, ("min", "max"))
    if given is None or len(given) != 2:
        return False
    row = numpy_conversions.clip_row(walk.env[args[0]], walk.env[given["min"]], walk.env[given["max"]])
    return _give(walk, op, row, args[0], given["min"], given["max"])


def _attribute(kind: Kind, name: str) -> Any:
    if not is_numpy_number(kind):
        return None
    assert isinstance(kind, Scalar) and kind.dtype is not None
    if name in ("real", "imag"):
        return numpy_conversions.real_row(kind, name)
    if name == "dtype":
        return Static(kind.dtype), safe(lambda w, x: "")
    if name == "shape":
        return Tuple(()), safe(lambda w, x: "undef")
    known = {"ndim": 0, "size": 1, "itemsize": kind.dtype.itemsize, "nbytes": kind.dtype.itemsize}
    if kind.dtype.kind in "iu":
        known["denominator"] = 1
        if name == "numerator":
            return kind, safe(lambda w, x: x)
    if name in known:
        value = known[name]
        return Literal(INT, value), safe(lambda w, x: str(value))
    return None


ATTRIBUTES.insert(0, _attribute)
