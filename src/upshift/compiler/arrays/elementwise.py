"""Arithmetic of whole arrays: put off until somebody needs the items, then done in one loop.

`a * b + 1` makes no array for the product. What is put off is the value of a temporary only: before a variable takes
it, or something is written to, it is computed. Lengths are looked at when an operation is met, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..check import FORCING, Leaves, Walk
from ..code import Op
from ..kinds import BOOL, INT, NUMPY, Array, Fused, Kind, Literal, Static, Tuple, ll_of
from ..rows import arrays, items, loops, nests
from ..rows.numbers import base, safe
from ..rows.numpy_casts import DType, Operand, loaded, operand_of
from ..rows.numpy_functions import resolved

MOST_PARTS = 16
"""Arrays and numbers in one loop; what has more is computed in parts."""
OPERATORS: dict[str, Any] = {
    "Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.true_divide, "FloorDiv": np.floor_divide,
    "Mod": np.remainder, "Pow": np.power, "LShift": np.left_shift, "RShift": np.right_shift,
    "BitAnd": np.bitwise_and, "BitOr": np.bitwise_or, "BitXor": np.bitwise_xor,
}  # fmt: skip
COMPARISONS: dict[str, Any] = {
    "Eq": np.equal, "NotEq": np.not_equal, "Lt": np.less, "LtE": np.less_equal, "Gt": np.greater,
    "GtE": np.greater_equal,
}  # fmt: skip
PRODUCT: dict[str, Any] = {}
"""What `@` is."""
UNARY: dict[str, Any] = {"USub": np.negative, "UAdd": np.positive, "Invert": np.invert}


def is_array(kind: Kind) -> bool:
    """Whether it is an array, computed or put off."""
    return isinstance(kind, Array | Fused)


def is_number(kind: Kind) -> bool:
    """Whether it may stand beside an array in arithmetic."""
    return operand_of(kind) is not None


def new_kind(walk: Walk, dtype: DType, ndim: int) -> Array:
    """The kind of an array that is made here."""
    walk.makes_arrays()
    return Array(dtype, ndim, walk.cell(("array", walk.made, len(walk.steps))), True)


def room_kind(dtype: DType, ndim: int) -> Array:
    """The kind of an array that nobody sees but the operation that makes it."""
    return Array(dtype, ndim, None, True)


# ---- putting off


def force(walk: Walk, name: str) -> Array:
    """Compute what was put off; the kind of the array that the variable holds from here on."""
    kind = walk.env[name]
    if isinstance(kind, Array):
        return kind
    assert isinstance(kind, Fused)
    made = new_kind(walk, kind.dtype, kind.ndim)

    def emit(w: Any, value: str) -> str:
        parts = [(part, w.extract(kind.ll, value, i)) for i, part in enumerate(kind.items) if isinstance(part, Array)]
        arrays.leave_unless_rowwise(w, kind.ndim, parts)
        x = arrays.new(w, made, _shape_of_fused(w, kind, value))
        nests.fill(w, made, x, kind, value)
        return x

    walk.step(emit, name, (name,), made)
    return made


def force_all(walk: Walk, but: Sequence[str] = ()) -> None:
    """Compute all that was put off: something is about to be written to."""
    for name, kind in list(walk.env.items()):
        if isinstance(kind, Fused) and name not in but:
            force(walk, name)


_TAKES = frozenset(("binary", "unary", "compare", "inplace", "setitem", "item", "attr", "call", "method"))
"""Operations whose arguments may be put off."""
_PURE = _TAKES - {"inplace", "setitem", "call", "method"} | {
    "const", "global", "cell", "captured", "tuple", "slice", "owns", "truth", "list",
}  # fmt: skip
"""Operations that write nothing."""


def _compute_before(walk: Walk, op: Op) -> None:
    """Compute what an operation cannot take as it is; and all else, where it may write into an array."""
    own = [walk.name(name) for name in op.args]
    waiting = [name for name, kind in walk.env.items() if isinstance(kind, Fused)]
    if not waiting:
        return
    live = walk.spec.reach([walk.name(n) for n in walk.frame.code.live_at(walk.block, walk.at)], walk.frame, walk.env)
    for name in waiting:
        if name not in live:
            del walk.env[name]
    takes = (
        op.code in _TAKES
        and (op.code not in ("call", "method") or _is_numpys(walk, own[0]))
        and op.extra not in ("T", "real", "imag")
    )
    for name in own:
        if not takes and isinstance(walk.env.get(name), Fused):
            force(walk, name)
    if op.code not in _PURE and not (takes and op.code == "call"):
        force_all(walk, own)


def _is_numpys(walk: Walk, name: str) -> bool:
    """Whether what is called is a function of NumPy's, or an array's method."""
    kind = walk.env.get(name)
    value = kind.value if isinstance(kind, Static) else None
    return (
        isinstance(kind, Array | Fused)
        or isinstance(value, np.ufunc)
        or value in (abs, len)
        or ((getattr(value, "__module__", None) or "").partition(".")[0] == "numpy")
    )


FORCING["before"] = _compute_before


def _shape_of_fused(w: Any, kind: Fused, value: str) -> list[str]:
    last = len(kind.items) - 1
    return [w.extract(kind.ll, value, last, i) for i in range(kind.ndim)]


def shape_of(w: Any, kind: Kind, value: str) -> list[str]:
    """The lengths of an array, computed or not; of a number none."""
    if isinstance(kind, Array):
        return arrays.shape_of(w, kind, value)
    return _shape_of_fused(w, kind, value) if isinstance(kind, Fused) else []


def stretch(w: Any, shapes: Sequence[list[str]]) -> list[str]:
    """The shape that all of these are stretched to; ValueError where there is none."""
    n = max(map(len, shapes))
    made = []
    for axis in range(n):
        found = ""
        for shape in shapes:
            at = axis - n + len(shape)
            if at < 0 or shape[at] == found:
                continue
            length = shape[at]
            if not found:
                found = length
                continue
            same, one = w.new(f"icmp eq i64 {found}, {length}"), w.new(f"icmp eq i64 {length}, 1")
            alone = w.new(f"icmp eq i64 {found}, 1")
            fits = w.new(f"or i1 {same}, {w.new(f'or i1 {one}, {alone}')}")
            w.leave_if(w.new(f"xor i1 {fits}, true"), ValueError, "operands could not be broadcast together")
            found = w.choose(alone, "i64", length, found)
        made.append(found)
    return made


def _moved(tree: Any, by: int) -> Any:
    """A tree whose leaves stand further behind."""
    if isinstance(tree, int):
        return tree + by
    word, dtypes, *children = tree
    return (word, dtypes, *(_moved(child, by) for child in children))


def transposed_row(kind: Array, order: list[int]) -> tuple[Array, Any]:
    """The array with its axes in another order."""
    same, turned = order == sorted(order), order == sorted(order)[::-1]
    contiguous = (kind.contiguous and same) or (kind.turned and turned)
    made = Array(kind.dtype, kind.ndim, kind.cell, contiguous, kind.contiguous and turned and not same)

    def emit(w: Any, x: str) -> str:
        shape, strides = arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x)
        return arrays.put_together(
            w, made, arrays.data(w, kind, x), [shape[a] for a in order], [strides[a] for a in order]
        )

    return made, safe(emit)


def transposed(walk: Walk, name: str, order: list[int]) -> str:
    """A view of an array with its axes in another order."""
    made, emit = transposed_row(force(walk, name), order)
    return walk.temporary(made, emit, name)


def _turned(walk: Walk, names: Sequence[str]) -> list[str] | None:
    """Operands with their axes turned around, where all matrices among them lie in Fortran's order, and so does what
    NumPy makes of them; None where they do not."""
    kinds = [walk.env[name] for name in names]
    wide = [kind for kind in kinds if isinstance(kind, Array | Fused) and kind.ndim > 1]
    if not wide or not all(isinstance(kind, Array) and kind.turned and kind.ndim == 2 for kind in wide):
        return None
    made = []
    for name, kind in zip(names, kinds):
        if isinstance(kind, Array | Fused):
            own = force(walk, name)
            name = transposed(walk, name, [1, 0]) if own.ndim == 2 else _column(walk, name, own)
        made.append(name)
    return made


def _turned_back(walk: Walk, name: str) -> str:
    """A new matrix with its axes turned around; a row or a column has the strides that NumPy gives it, row by row."""
    kind = force(walk, name)
    made, _ = transposed_row(kind, [1, 0])

    def emit(w: Any, x: str) -> str:
        shape, strides = arrays.shape_of(w, kind, x)[::-1], arrays.strides_of(w, kind, x)[::-1]
        ones = [w.new(f"icmp eq i64 {n}, 1") for n in shape]
        thin = w.new(f"or i1 {ones[0]}, {ones[1]}")
        rows = arrays.packed(w, kind.dtype, shape)
        steps = [w.new(f"select i1 {thin}, i64 {row}, i64 {own}") for row, own in zip(rows, strides)]
        return arrays.put_together(w, made, arrays.data(w, kind, x), shape, steps)

    return walk.temporary(made, safe(emit), name)


def _column(walk: Walk, name: str, kind: Array) -> str:
    """A vector as the column of a matrix."""
    made = Array(kind.dtype, 2, kind.cell)

    def emit(w: Any, x: str) -> str:
        shape, strides = arrays.shape_of(w, kind, x), arrays.strides_of(w, kind, x)
        return arrays.put_together(w, made, arrays.data(w, kind, x), [*shape, "1"], [*strides, "0"])

    return walk.temporary(made, safe(emit), name)


def put_off(walk: Walk, word: Any, dtypes: tuple[DType, ...], out: DType, names: Sequence[str]) -> str:
    """An operation on arrays and numbers of NumPy's, to be done later. `dtypes`: in which they are computed."""
    turned = _turned(walk, names)
    if turned is not None:
        return _turned_back(walk, put_off(walk, word, dtypes, out, turned))
    sizes = [len(walk.env[name].items) if isinstance(walk.env[name], Fused) else 1 for name in names]  # type: ignore[attr-defined]
    if sum(sizes) > MOST_PARTS:
        force(walk, max(zip(sizes, names))[1])
    kinds = [walk.env[name] for name in names]
    parts: list[Kind] = []
    children = []
    for kind in kinds:
        if isinstance(kind, Fused):
            children.append(_moved(kind.tree, len(parts)))
            parts += kind.items[:-1]
        else:
            children.append(len(parts))
            parts.append(kind)
    ndim = max(kind.ndim for kind in kinds if isinstance(kind, Array | Fused))
    made = Fused((*parts, Tuple((INT,) * ndim)), out, ndim, (word, dtypes, *children))
    walk.unit.fuses = True

    def emit(w: Any, *values: str) -> str:
        shape = stretch(w, [shape_of(w, kind, value) for kind, value in zip(kinds, values)])
        leaves: list[str] = []
        for kind, value in zip(kinds, values):
            if isinstance(kind, Fused):
                leaves += [w.extract(kind.ll, value, i) for i in range(len(kind.items) - 1)]
            else:
                leaves.append(value)
        lengths = w.build(made.items[-1].ll, *(("i64", n) for n in shape)) if shape else "undef"
        given = [(ll_of(part), leaf) for part, leaf in zip(made.items, [*leaves, lengths])]
        return str(w.build(made.ll, *given))

    return walk.temporary(made, emit, *names)


def check_order(walk: Walk, made: str, given: Sequence[str]) -> None:
    """Of a function that makes an array of others: leave where those lie in memory in another order than row by row."""
    kind = walk.env.get(made)
    if not isinstance(kind, Array) or kind.ndim < 2:
        return
    for name in given:
        own = walk.env.get(name)
        if not isinstance(own, Array) or own.ndim < 2 or own.contiguous or (own.turned and kind.turned):
            continue
        if own.cell.find() is not kind.cell.find():
            walk.step(order_row(own), None, (name,))


def order_row(kind: Array) -> Any:
    """Leave where an array lies in memory in another order than row by row."""
    return lambda w, x: arrays.leave_unless_rowwise(w, kind.ndim, [(kind, x)])


# ---- ufuncs


def as_dtype(walk: Walk, name: str, operand: Operand, want: DType) -> str:
    """A number in the dtype in which it is computed with an array."""
    if not operand.weak and operand.dtype == want:
        kind = walk.env[name]
        if not isinstance(kind, Literal) and base(kind) is not BOOL:
            return name
    return walk.temporary(NUMPY[want], lambda w, x: loaded(w, x, operand, want), name)


def _dtypes_of(walk: Walk, ufunc: Any, names: Sequence[str]) -> tuple[DType, ...] | None:
    """The dtypes that a ufunc computes in, and those of its results."""
    given: list[Any] = []
    for name in names:
        kind = walk.env[name]
        if isinstance(kind, Array | Fused):
            given.append(kind.dtype)
            continue
        operand = operand_of(kind)
        if operand is None:
            return None
        given.append({"i": int, "f": float, "c": complex}[operand.dtype.kind] if operand.weak else operand.dtype)
    return resolved(ufunc, tuple(given))


def apply(walk: Walk, ufunc: Any, names: Sequence[str]) -> str:
    """A ufunc of arrays and numbers, at least one of them an array: the name of its result."""
    dtypes = _dtypes_of(walk, ufunc, names)
    if dtypes is None:
        raise walk.doubt(f"{ufunc.__name__} of {', '.join(repr(walk.env[name]) for name in names)}")
    given = []
    for name, want in zip(names, dtypes):
        operand = operand_of(walk.env[name])
        given.append(name if operand is None else as_dtype(walk, name, operand, want))
    if ufunc.nout == 1 and items.row_of(ufunc, dtypes) is not None:
        return put_off(walk, ufunc, dtypes[: ufunc.nin] + dtypes[ufunc.nin :], dtypes[-1], given)
    if loops.find(ufunc, dtypes) is None:
        raise walk.doubt(f"{ufunc.__name__} of {dtypes[0]}")
    return _by_loop(walk, ufunc, dtypes, given)


def _by_loop(walk: Walk, ufunc: Any, dtypes: tuple[DType, ...], names: Sequence[str]) -> str:
    """NumPy's own loop, over arrays that are computed first."""
    names = [converted(walk, name, want) for name, want in zip(names, dtypes)]
    turned = _turned(walk, names) if ufunc.nout == 1 else None
    if turned is not None:
        return _turned_back(walk, _by_loop(walk, ufunc, dtypes, turned))
    kinds: list[Any] = [force(walk, name) if is_array(walk.env[name]) else walk.env[name] for name in names]
    ndim = max(kind.ndim for kind in kinds if isinstance(kind, Array))
    made = [new_kind(walk, dtype, ndim) for dtype in dtypes[ufunc.nin :]]
    whole: Kind = made[0] if len(made) == 1 else Tuple(tuple(made))

    def emit(w: Any, *values: str) -> str:
        shape = stretch(w, [shape_of(w, kind, value) for kind, value in zip(kinds, values)])
        parts = [(kind, value) for kind, value in zip(kinds, values) if isinstance(kind, Array)]
        arrays.leave_unless_rowwise(w, ndim, parts)
        outs = [(kind, arrays.new(w, kind, shape)) for kind in made]
        nests.by_loop(w, ufunc, dtypes, outs, list(zip(kinds, values)))
        if len(outs) == 1:
            return outs[0][1]
        return str(w.build(whole.ll, *((kind.ll, x) for kind, x in outs)))

    return walk.temporary(whole, emit, *names)


def converted(walk: Walk, name: str, want: DType) -> str:
    """An array in another dtype, as `astype` makes it; numbers and arrays that have it already are as they are."""
    kind = walk.env[name]
    if not isinstance(kind, Array | Fused) or kind.dtype == want:
        return name
    if kind.dtype.kind == "c" and want.kind != "c":
        raise walk.doubt("a complex array as a real one")
    return put_off(walk, "cast", (want,), want, [name])


def operator(walk: Walk, op: Op, word: str, a: str, b: str, inplace: bool = False) -> bool:
    """`a + b` where one of them is an array; whether it was."""
    ka, kb = walk.env[a], walk.env[b]
    if word == "MatMult" and is_array(ka) and is_array(kb) and not inplace:
        return walk.give_name(op, PRODUCT["matmul"](walk, a, b))
    if not (is_array(ka) or is_array(kb)) or word not in OPERATORS:
        return False
    if not all(is_array(kind) or is_number(kind) for kind in (ka, kb)):
        return False
    if inplace and is_array(ka):
        return _in_place(walk, op, word, a, b)
    name = _operate(walk, word, a, b)
    return walk.give_name(op, name)


def _operate(walk: Walk, word: str, a: str, b: str) -> str:
    if word == "Pow":
        special = _power(walk, a, b)
        if special is not None:
            return special
    return apply(walk, OPERATORS[word], [a, b])


_POWERS: dict[float, Any] = {2.0: np.square, 0.5: np.sqrt, -1.0: np.reciprocal, 1.0: np.positive}


def _power(walk: Walk, a: str, b: str) -> str | None:
    """Powers that NumPy computes in a way of their own: it looks at the value of a number that is no array."""
    ka, kb = walk.env[a], walk.env[b]
    if not isinstance(ka, Array | Fused) or is_array(kb):
        return None
    if isinstance(kb, Literal) and kb.kind is not BOOL:
        ufunc = _POWERS.get(kb.value) if type(kb.value) in (int, float) else None
        known = ka.dtype.kind in "fc" or (ufunc is np.square and ka.dtype.kind in "iu" and type(kb.value) is int)
        return apply(walk, ufunc, [a]) if ufunc is not None and known else None
    operand = operand_of(kb)
    if operand is None or ka.dtype.kind not in "fc" or operand.dtype.kind == "c":
        return None

    def check(w: Any, x: str) -> None:
        y = loaded(w, x, Operand(operand.dtype), np.dtype(float))
        for value in _POWERS:
            w.leave_if(
                w.new(f"fcmp oeq double {y}, {value:.1f}"), None, "a power that NumPy computes in a way of its own"
            )

    walk.step(check, None, (b,))
    return None


def _in_place(walk: Walk, op: Op, word: str, a: str, b: str) -> bool:
    """`a += b`: into the memory of a."""
    kind = force(walk, a)
    name = _operate(walk, word, a, b)
    made = walk.env[name]
    assert isinstance(made, Array | Fused)
    if not np.can_cast(made.dtype, kind.dtype, "same_kind"):
        raise Leaves(None, "an operator in place cannot cast its result")
    if made.ndim > kind.ndim:
        raise Leaves(ValueError, "an operand in place has fewer axes than the result")
    assign(walk, a, name)
    return walk.give_name(op, a)


def compare(walk: Walk, op: Op, word: str, a: str, b: str) -> bool:
    """A comparison with an array, as an array of bools that is put off; whether there was one."""
    ka, kb = walk.env[a], walk.env[b]
    if not (is_array(ka) or is_array(kb)) or word not in COMPARISONS:
        return False
    if not all(is_array(kind) or is_number(kind) for kind in (ka, kb)):
        return False
    return walk.give_name(op, apply(walk, COMPARISONS[word], [a, b]))


def unary(walk: Walk, op: Op, word: str, name: str) -> bool:
    """`-x`, `+x` or `~x` of an array, put off; whether it was one."""
    if not is_array(walk.env[name]) or word not in UNARY:
        return False
    return walk.give_name(op, apply(walk, UNARY[word], [name]))


# ---- writing into arrays


def assign(walk: Walk, target: str, value: str) -> None:
    """`target[...] = value`: an array, computed or not, or a number."""
    out, kind = walk.env[target], walk.env[value]
    assert isinstance(out, Array)
    force_all(walk, (value,))
    walk.writes(out.cell)
    if not isinstance(kind, Array | Fused):
        operand = operand_of(kind)
        if operand is None:
            raise walk.doubt(f"puts {kind!r} into an array")
        value = as_dtype(walk, value, operand, out.dtype)
        kind = walk.env[value]
    if isinstance(kind, Array | Fused):
        if kind.dtype.kind == "c" and out.dtype.kind != "c":
            raise walk.doubt("puts complex numbers into an array of real ones")
        if kind.ndim > out.ndim:
            raise walk.doubt("puts an array into one of fewer axes")
    own: Any = kind
    fused = own if isinstance(own, Fused) else Fused((own, Tuple((INT,) * out.ndim)), own.dtype, out.ndim, 0)
    shared = [
        i for i, part in enumerate(fused.items[:-1])
        if isinstance(part, Array) and may_share(part, out) and value != target
    ]  # fmt: skip

    def emit(w: Any, x: str, given: str) -> None:
        shape = arrays.shape_of(w, out, x)
        if isinstance(kind, Array | Fused):
            _check_fits(w, shape_of(w, kind, given), shape)
        if not isinstance(kind, Fused):
            lengths = w.build(fused.items[-1].ll, *(("i64", n) for n in shape)) if shape else "undef"
            given = w.build(fused.ll, (ll_of(kind), given), (ll_of(fused.items[-1]), lengths))
        parts = [(fused.items[i], w.extract(fused.ll, given, i)) for i in shared]
        flags = [overlap(w, part, own, out, x) for part, own in parts]  # type: ignore[arg-type]
        if not flags:
            return nests.fill(w, out, x, fused, given)
        either = flags[0]
        for flag in flags[1:]:
            either = w.new(f"or i1 {either}, {flag}")
        apart, direct, on = w.fresh("apart"), w.fresh("direct"), w.fresh("on")
        w.do(f"br i1 {either}, label %{apart}, label %{direct}, !prof !0")
        w.start(apart)
        room = room_kind(out.dtype, out.ndim)
        free = w.new("load i64, ptr %context")
        between = arrays.new(w, room, shape)
        nests.fill(w, room, between, fused, given)
        nests.copy(w, out, x, room, between)
        w.do(f"store i64 {free}, ptr %context")
        w.do(f"br label %{on}")
        w.start(direct)
        nests.fill(w, out, x, fused, given)
        w.do(f"br label %{on}")
        w.start(on)
        return None

    walk.step(emit, None, (target, value))


def _check_fits(w: Any, have: list[str], shape: list[str]) -> None:
    for n, want in zip(reversed(have), reversed(shape)):
        if n != want:
            fits = w.new(f"or i1 {w.new(f'icmp eq i64 {n}, {want}')}, {w.new(f'icmp eq i64 {n}, 1')}")
            w.leave_if(w.new(f"xor i1 {fits}, true"), ValueError, "could not broadcast input array")


def may_share(a: Array, b: Array) -> bool:
    """Whether two arrays may lie in the same memory: parts of one, or both of them somebody else's."""
    own, other = a.cell.find(), b.cell.find()
    return own is other or (own.borrowed and other.borrowed)


def overlap(w: Any, part: Array, own: str, out: Array, x: str) -> str:
    """Whether the memory of two arrays overlaps in another way than item by item."""
    (low, high), (bottom, top) = arrays.extent(w, part, own), arrays.extent(w, out, x)
    meet = w.new(f"and i1 {w.new(f'icmp ult i64 {low}, {top}')}, {w.new(f'icmp ult i64 {bottom}, {high}')}")
    if part.ndim != out.ndim or part.dtype != out.dtype:
        return str(meet)
    pairs = [(arrays.data(w, part, own), arrays.data(w, out, x), "ptr")]
    pairs += [(a, b, "i64") for a, b in zip(arrays.shape_of(w, part, own), arrays.shape_of(w, out, x))]
    pairs += [(a, b, "i64") for a, b in zip(arrays.strides_of(w, part, own), arrays.strides_of(w, out, x))]
    same = arrays.all_of(w, [w.new(f"icmp eq {ll} {a}, {b}") for a, b, ll in pairs if a != b])
    return str(w.new(f"and i1 {meet}, {w.new(f'xor i1 {same}, true')}"))


__all__ = ["apply", "assign", "compare", "force", "force_all", "is_array", "operator", "put_off", "unary"]
