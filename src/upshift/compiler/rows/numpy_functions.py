"""NumPy's functions of numbers: a few instructions where they do, NumPy's own loop everywhere else.

Unlike operators, functions let ints wrap without a warning. The dtypes that a function computes in are asked of NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kinds import BIG, NUMPY, Kind, Literal, Tuple
from . import loops
from .numbers import safe
from .numpy_arithmetic import (
    OPERATIONS,
    checked,
    divided_floats,
    divided_ints,
    leave_far,
    leave_unless_finite,
    power_of_ints,
)
from .numpy_casts import (
    DOUBLE,
    HALF,
    DType,
    Operand,
    both,
    double,
    either,
    is_finite,
    is_infinite,
    is_nan,
    ll,
    loaded,
    narrowed,
    operand_of,
    size_of,
    warned,
    wide,
    widened,
)
from .numpy_numbers import compare_operands

Emit = Callable[..., Any]
_COMPARED = {
    np.less: "Lt", np.less_equal: "LtE", np.greater: "Gt", np.greater_equal: "GtE", np.equal: "Eq",
    np.not_equal: "NotEq",
}  # fmt: skip


@functools.cache
def resolved(ufunc: np.ufunc, given: tuple[Any, ...]) -> tuple[DType, ...] | None:
    """The dtypes of arguments and results; None where NumPy has no loop for them."""
    try:
        made = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))
    except TypeError:
        return None
    if any(dtype not in NUMPY or dtype.type is not NUMPY[dtype].cls for dtype in made):
        return None
    return tuple(made)


_WEAK: dict[str, type] = {"i": int, "f": float, "c": complex}


def ufunc_row(ufunc: np.ufunc, *kinds: Kind) -> Any:
    """What a ufunc gives for numbers of these kinds, and how; None where it is not known."""
    operands = [operand_of(kind) for kind in kinds]
    if len(kinds) != ufunc.nin or any(isinstance(kind, Literal) and kind.kind is BIG for kind in kinds):
        return None
    known = [one for one in operands if one is not None]
    if len(known) != len(kinds):
        return None
    if ufunc in _COMPARED:
        return compare_operands(_COMPARED[ufunc], *_strong(known))
    dtypes = resolved(ufunc, tuple(_WEAK[o.dtype.kind] if o.weak else o.dtype for o in known))
    if dtypes is None:
        return None
    made = _written(ufunc, dtypes)
    if made is None:
        return None
    emit, can_leave = made

    def whole(w: Any, *values: str) -> Any:
        return emit(w, *(loaded(w, value, o, want) for value, o, want in zip(values, known, dtypes)))

    outs = [NUMPY[dtype] for dtype in dtypes[ufunc.nin :]]
    result: Kind = outs[0] if len(outs) == 1 else Tuple(tuple(outs))
    quiet = not can_leave and all(never_leaves(o, want) for o, want in zip(known, dtypes))
    return result, safe(whole) if quiet else whole


def never_leaves(o: Operand, want: DType) -> bool:
    """Whether a cast to the dtype that is wanted neither warns nor overflows."""
    return o.dtype == want or (o.dtype.kind in "biu" and want == DOUBLE)


def _strong(operands: list[Operand]) -> list[Operand]:
    """Numbers of Python's by themselves have the dtypes that arrays of them have."""
    if any(not o.plain for o in operands):
        return operands
    return [Operand(o.dtype) for o in operands]


def _written(ufunc: np.ufunc, dtypes: tuple[DType, ...]) -> tuple[Emit, bool] | None:
    """How a ufunc is written for arguments that have its dtypes already, and whether it may leave."""
    of = dtypes[0]
    alike = all(dtype == of for dtype in dtypes[: ufunc.nin])
    if alike:
        family = "i" if of.kind == "u" else of.kind
        short = SHORT.get((family, ufunc))
        if of.kind == "f" and ufunc in _EXTREMES and of != HALF and loops.find(ufunc, dtypes) is not None:
            short = _extreme(ufunc, _EXTREMES[ufunc])
        if short is not None:
            return (lambda w, *values: short(w, of, *values)), not hasattr(short, "safe")
    if loops.find(ufunc, dtypes) is None or (ufunc, of.char) in _NOT:
        return None
    before = _BEFORE.get(ufunc) if of.kind in "iu" else _BEFORE_FLOATS.get(ufunc)

    def emit(w: Any, *values: str) -> Any:
        if before is not None:
            before(w, of, *values)
        made = loops.run(w, ufunc, dtypes, *values)
        _leave_warned(w, dtypes, ufunc.nin, values, made)
        if len(made) == 1:
            return made[0]
        outs = dtypes[ufunc.nin :]
        return w.build(Tuple(tuple(NUMPY[d] for d in outs)).ll, *((ll(d), value) for d, value in zip(outs, made)))

    return emit, True


def _leave_warned(w: Any, dtypes: tuple[DType, ...], nin: int, values: Any, made: list[str]) -> None:
    """Leave where a loop has warned: NaN of numbers, infinity of finite ones."""
    if any(dtype.kind == "c" for dtype in dtypes):
        for dtype, value in zip(dtypes, (*values, *made)):
            if dtype.kind == "c":
                leave_unless_finite(w, dtype, value)
            elif dtype.kind == "f":
                t = wide(dtype)
                w.leave_if(w.new(f"xor i1 {is_finite(w, t, widened(w, value, dtype))}, true"), None, "NumPy warns")
        return
    given = [(dtype, value) for dtype, value in zip(dtypes[:nin], values) if dtype.kind == "f"]
    for dtype, value in zip(dtypes[nin:], made):
        if dtype.kind == "f" and given:
            operands = [widened(w, x, of) for of, x in given]
            w.leave_if(warned(w, wide(dtype), widened(w, value, dtype), *operands), None, "NumPy warns")


def _not_zero(w: Any, of: DType, a: str, b: str) -> None:
    divided_ints(w, a, b, of)


def _not_itself_zero(w: Any, of: DType, a: str) -> None:
    w.leave_if(w.new(f"icmp eq {ll(of)} {a}, 0"), None, "NumPy warns of a division by zero")


def _not_negative(w: Any, of: DType, a: str, b: str) -> None:
    if of.kind == "i":
        w.leave_if(w.new(f"icmp slt {ll(of)} {b}, 0"), ValueError, "an int to a negative power")


_NOT = {(np.square, "F"), (np.square, "D"), (np.spacing, "e")}
"""Loops whose last bits depend on how their columns lie in memory, or that warn of NaN."""
_BEFORE: dict[np.ufunc, Emit] = {
    np.floor_divide: _not_zero, np.remainder: _not_zero, np.fmod: _not_zero, np.divmod: _not_zero,
    np.reciprocal: _not_itself_zero, np.power: _not_negative,
}  # fmt: skip
"""What must not be given to the loop of ints, because it would warn or raise."""


def _calm(w: Any, of: DType, *values: str) -> None:
    """Neither NaN nor so large that a difference is infinite."""
    for value in values:
        t = wide(of)
        near = w.new(f"fcmp olt {t} {size_of(w, t, widened(w, value, of))}, {double(float(np.finfo(of).max) / 4)}")
        w.leave_if(w.new(f"xor i1 {near}, true"), None, "NumPy warns")


def _base_of_power(w: Any, of: DType, a: str, b: str) -> None:
    if of.kind == "c":
        leave_far(w, b, of)
        return
    t = wide(of)
    zero, minus = (w.new(f"fcmp {sign} {t} {widened(w, x, of)}, 0.0") for sign, x in (("oeq", a), ("olt", b)))
    w.leave_if(both(w, zero, minus), None, "NumPy warns of a division by zero")
    w.leave_if(is_infinite(w, t, widened(w, b, of)), None, "NumPy may warn of an infinite exponent")


_BEFORE_FLOATS: dict[np.ufunc, Emit] = {
    np.logaddexp: _calm, np.logaddexp2: _calm, np.power: _base_of_power, np.float_power: _base_of_power,
    np.nextafter: lambda w, of, a, b: _calm(w, of, a),
}  # fmt: skip
"""What must not be given to the loop of floats, because it would warn without a sign of it in the result."""


# ---- functions of floats


def _of_float(op: str) -> Emit:
    return lambda w, of, *values: OPERATIONS["f"][op](w, *values, of)


def _sqrt(w: Any, of: DType, x: str) -> str:
    t, y = wide(of), widened(w, x, of)
    return checked(w, w.intrinsic(_name("sqrt", t), t, (t, y)), of, y)


def _name(word: str, t: str) -> str:
    return f"llvm.{word}.f{64 if t == 'double' else 32}"


def _quiet(word: str) -> Emit:
    """floor, ceil, ...: without warnings."""

    def emit(w: Any, of: DType, *values: str) -> str:
        t = wide(of)
        return narrowed(w, w.intrinsic(_name(word, t), t, *((t, widened(w, x, of)) for x in values)), of)

    return safe(emit)


def _square(w: Any, of: DType, x: str) -> Any:
    return OPERATIONS["f"]["Mult"](w, x, x, of)


def _reciprocal(w: Any, of: DType, x: str) -> str:
    t, y = wide(of), widened(w, x, of)
    return checked(w, w.new(f"fdiv {t} 1.0, {y}"), of, y)


def _negative(w: Any, of: DType, x: str) -> str:
    t = wide(of)
    return narrowed(w, w.new(f"fneg {t} {widened(w, x, of)}"), of)


def _sign(w: Any, of: DType, x: str) -> str:
    t = wide(of)
    y = widened(w, x, of)
    down = w.choose(w.new(f"fcmp olt {t} {y}, 0.0"), t, "-1.0", w.choose(is_nan(w, t, y), t, y, "0.0"))
    return narrowed(w, w.choose(w.new(f"fcmp ogt {t} {y}, 0.0"), t, "1.0", down), of)


def _test(of_float: Emit) -> Emit:
    return safe(lambda w, of, x: of_float(w, wide(of), widened(w, x, of)))


def _sign_bit(w: Any, t: str, x: str) -> str:
    n = 64 if t == "double" else 32
    return str(w.new(f"icmp slt i{n} {w.new(f'bitcast {t} {x} to i{n}')}, 0"))


def _extreme(ufunc: np.ufunc, sign: str) -> Emit:
    """minimum, maximum, fmin, fmax; which of two zeros it is, the loop knows."""
    skips_nan = ufunc in (np.fmin, np.fmax)

    def emit(w: Any, of: DType, a: str, b: str) -> Any:
        t, n = wide(of), 64 if of == DOUBLE else 32
        first = either(w, w.new(f"fcmp {sign} {t} {a}, {b}"), is_nan(w, t, b if skips_nan else a))
        made = w.choose(first, t, a, b)
        zeros = w.new(f"fcmp oeq {t} {a}, {b}")
        differ = w.new(f"icmp ne i{n} {w.new(f'bitcast {t} {a} to i{n}')}, {w.new(f'bitcast {t} {b} to i{n}')}")
        slow, on, before = w.fresh("zeros"), w.fresh("on"), w.label
        w.do(f"br i1 {both(w, zeros, differ)}, label %{slow}, label %{on}, !prof !0")
        w.start(slow)
        by_loop = loops.run(w, ufunc, (of, of, of), a, b)[0]
        w.do(f"br label %{on}")
        w.start(on)
        return w.new(f"phi {t} [ {made}, %{before} ], [ {by_loop}, %{slow} ]")

    return safe(emit)


def _divmod(w: Any, of: DType, a: str, b: str) -> Any:
    made = divided_ints(w, a, b, of) if of.kind in "iu" else divided_floats(w, a, b, of)
    return w.build(f"{{ {ll(of)}, {ll(of)} }}", *((ll(of), value) for value in made))


# ---- functions of ints, which wrap


def _of_ints(word: str) -> Emit:
    return safe(lambda w, of, a, b: w.new(f"{word} {ll(of)} {a}, {b}"))


def _extreme_int(sign: str) -> Emit:
    def emit(w: Any, of: DType, a: str, b: str) -> Any:
        word = ("s" if of.kind == "i" else "u") + sign
        return w.choose(w.new(f"icmp {word} {ll(of)} {a}, {b}"), ll(of), a, b)

    return safe(emit)


def _absolute_int(w: Any, of: DType, x: str) -> Any:
    t = ll(of)
    if of.kind == "u":
        return x
    return w.choose(w.new(f"icmp slt {t} {x}, 0"), t, w.new(f"sub {t} 0, {x}"), x)


def _sign_int(w: Any, of: DType, x: str) -> Any:
    t = ll(of)
    some = w.new(f"zext i1 {w.new(f'icmp ne {t} {x}, 0')} to {t}")
    return w.choose(w.new(f"icmp slt {t} {x}, 0"), t, "-1", some) if of.kind == "i" else some


def _always(answer: str) -> Emit:
    return safe(lambda w, of, x: answer)


def _shift(op: str) -> Emit:
    return safe(lambda w, of, a, b: OPERATIONS["i"][op](w, a, b, of))


def _power_of_ints(w: Any, of: DType, a: str, b: str) -> str:
    return power_of_ints(w, a, b, of)


def _fmod_int(w: Any, of: DType, a: str, b: str) -> Any:
    divided_ints(w, a, b, of)
    return w.new(f"{'s' if of.kind == 'i' else 'u'}rem {ll(of)} {a}, {b}")


def _same(w: Any, of: DType, x: str) -> str:
    return x


def _of_bools(word: str) -> Emit:
    return safe(lambda w, of, a, b: w.new(f"{word} i1 {a}, {b}"))


def _not(w: Any, of: DType, x: str) -> str:
    return str(w.new(f"xor i1 {x}, true"))


SHORT: dict[tuple[str, np.ufunc], Emit] = {
    ("f", np.add): _of_float("Add"), ("f", np.subtract): _of_float("Sub"), ("f", np.multiply): _of_float("Mult"),
    ("f", np.divide): _of_float("Div"), ("f", np.sqrt): _sqrt, ("f", np.square): _square,
    ("f", np.reciprocal): _reciprocal, ("f", np.absolute): _quiet("fabs"), ("f", np.fabs): _quiet("fabs"),
    ("f", np.negative): safe(_negative), ("f", np.positive): safe(_same), ("f", np.floor): _quiet("floor"),
    ("f", np.ceil): _quiet("ceil"), ("f", np.trunc): _quiet("trunc"), ("f", np.rint): _quiet("roundeven"),
    ("f", np.copysign): _quiet("copysign"), ("f", np.sign): safe(_sign), ("f", np.isnan): _test(is_nan),
    ("f", np.isinf): _test(is_infinite), ("f", np.isfinite): _test(is_finite), ("f", np.signbit): _test(_sign_bit),
    ("f", np.divmod): _divmod, ("f", np.conjugate): safe(_same),
    ("i", np.add): _of_ints("add"), ("i", np.subtract): _of_ints("sub"), ("i", np.multiply): _of_ints("mul"),
    ("i", np.bitwise_and): _of_ints("and"), ("i", np.bitwise_or): _of_ints("or"),
    ("i", np.bitwise_xor): _of_ints("xor"), ("i", np.left_shift): _shift("LShift"),
    ("i", np.right_shift): _shift("RShift"), ("i", np.minimum): _extreme_int("le"),
    ("i", np.maximum): _extreme_int("ge"), ("i", np.fmin): _extreme_int("le"), ("i", np.fmax): _extreme_int("ge"),
    ("i", np.absolute): safe(_absolute_int), ("i", np.sign): safe(_sign_int), ("i", np.power): _power_of_ints,
    ("i", np.floor_divide): lambda w, of, a, b: divided_ints(w, a, b, of)[0],
    ("i", np.remainder): lambda w, of, a, b: OPERATIONS["i"]["Mod"](w, a, b, of), ("i", np.divmod): _divmod,
    ("i", np.fmod): _fmod_int, ("i", np.floor): safe(_same), ("i", np.ceil): safe(_same),
    ("i", np.trunc): safe(_same), ("i", np.positive): safe(_same), ("i", np.conjugate): safe(_same),
    ("i", np.negative): safe(lambda w, of, x: w.new(f"sub {ll(of)} 0, {x}")),
    ("i", np.square): safe(lambda w, of, x: w.new(f"mul {ll(of)} {x}, {x}")),
    ("i", np.invert): safe(lambda w, of, x: w.new(f"xor {ll(of)} {x}, -1")),
    ("i", np.isnan): _always("false"), ("i", np.isinf): _always("false"), ("i", np.isfinite): _always("true"),
    ("b", np.logical_and): _of_bools("and"), ("b", np.logical_or): _of_bools("or"),
    ("b", np.logical_xor): _of_bools("xor"), ("b", np.logical_not): safe(_not), ("b", np.invert): safe(_not),
    ("b", np.bitwise_and): _of_bools("and"), ("b", np.bitwise_or): _of_bools("or"),
    ("b", np.bitwise_xor): _of_bools("xor"), ("b", np.add): _of_bools("or"), ("b", np.multiply): _of_bools("and"),
    ("b", np.isnan): _always("false"), ("b", np.isinf): _always("false"), ("b", np.isfinite): _always("true"),
}  # fmt: skip
"""Functions that are a few instructions: of floats, of ints, of bools."""


_EXTREMES = {np.minimum: "ole", np.fmin: "ole", np.maximum: "oge", np.fmax: "oge"}
