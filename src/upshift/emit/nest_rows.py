"""Calls on arrays in; how an element of their result is got out. One row for every function that nests know."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..trace import Step
from .nest import Id, Index, Value, Writer, element, is_view, number, offset_of
from .nest_counts import histogram
from .select_rows import FLOATS, FLOATS_AND_BOOL, SPELLED, NoSelect

SHORT = 8
"""Numbers that NumPy adds up one after the other; from so many on it does so by halves."""
LOOPS = frozenset(("exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh "
                   "arccosh arctanh").split())  # fmt: skip
"""Functions that are NumPy's own loop, called for a whole array."""


def value_of(w: Writer, step: Step, fn: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    """What a call makes; `NoSelect` where nests do not know it."""
    row = ROWS.get(fn)
    if row is None:
        row = _by_loop if isinstance(fn, np.ufunc) and fn.__name__ in LOOPS else _elementwise
    made: Value = row(w, step, args, keywords)
    return made


def name_of(fn: Any) -> str:
    return str(getattr(fn, "__name__", fn))


def _elementwise(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    assert step.kind is not None and step.op is not None
    name = _OPERATORS.get(step.fn, name_of(step.fn))
    spelled = SPELLED.get(name)
    if keywords or spelled is None or name in ("float", "cast", "copy", "min", "max", "abs_of"):
        raise NoSelect(f"{name} is not compiled for arrays")
    return _spelled(w, step, args, spelled.text)


def _spelled(w: Writer, step: Step, args: tuple[Any, ...], text: str, first_is_bool: bool = False) -> Value:
    """Elements by an expression on elements, in the type that NumPy would compute in."""
    assert step.kind is not None
    values = [w.value(arg) for arg in args]
    if not all(value.exact for value in values):
        raise NoSelect("it computes with what may be off in its last bits")
    computed = values[first_is_bool:]
    dtype = np.result_type(*(v.dtype.type(0).item() if v.weak else v.dtype for v in computed))
    if dtype not in FLOATS_AND_BOOL or (dtype.kind == "b") != all(v.dtype.kind == "b" for v in computed):
        raise NoSelect(f"it computes with {dtype}")
    if step.kind.dtype.kind == "f" and step.kind.dtype != dtype:
        raise NoSelect(f"it computes with {dtype} and makes {step.kind.dtype}")
    if first_is_bool and values[0].dtype.kind != "b":
        raise NoSelect("it asks where of numbers")
    wanted = [np.dtype(bool), dtype, dtype] if first_is_bool else [dtype] * len(values)
    shape = np.broadcast_shapes(*(value.shape for value in values))
    values = [w.stored(v) if v.shape and v.shape != shape and v.place is None and not is_view(v) else v for v in values]

    def combined(parts: list[str]) -> str:
        pairs = zip(values, parts, wanted, strict=True)
        given = [part if v.dtype == want else f"{want.name}_({part})" for v, part, want in pairs]
        return w.named(text.format(*(w.named(text) for text in given)))

    def flat(j: str) -> str:
        return combined([v.flat(j) for v in values if v.flat is not None])

    is_flat = all(v.flat is not None and (v.shape == shape or math.prod(v.shape) == 1) for v in values)
    return Value(
        shape, step.kind.dtype, lambda index: combined([element(v, index) for v in values]), flat if is_flat else None,
        in_order=all(value.in_order for value in values),
    )  # fmt: skip


def _power(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    """NumPy multiplies for a square, and takes the root for a half."""
    base, exponent = args
    if keywords or not isinstance(base, Id) or type(exponent) not in (int, float) or exponent not in (2, 0.5):
        raise NoSelect("a power other than a square is not compiled for arrays")
    value = w.value(base)
    if value.dtype not in FLOATS or not value.exact or not value.shape:
        raise NoSelect("a power is not compiled for this")

    def made(text: str) -> str:
        part = w.named(text)
        return w.named(f"{part} * {part}" if exponent == 2 else f"sqrt({part})")

    flat = value.flat
    return Value(
        value.shape, value.dtype, lambda index: made(value.at(index)),
        None if flat is None else lambda j: made(flat(j)), in_order=value.in_order,
    )  # fmt: skip


def _index(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    """`x[1:, None, 2]`: numbers, slices, new axes and an ellipsis, as they are written."""
    base, *rest = args
    key = rest[0] if len(rest) == 1 else tuple(rest)
    parts = list(key) if isinstance(key, tuple) else [key]
    value = w.value(base)
    if any(not isinstance(part, int | slice | type(None) | type(Ellipsis)) or isinstance(part, bool) for part in parts):
        raise NoSelect("it is indexed by other things than numbers and slices")
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if Ellipsis not in parts:
        parts.append(Ellipsis)
    dots = parts.index(Ellipsis)
    parts[dots : dots + 1] = [slice(None)] * (len(value.shape) - taken)
    ways: list[tuple[int, int] | int] = []  # of every axis of the base: a fixed number, or where it starts and steps
    kept: list[int | None] = []  # of every axis made: which of the base's it is
    shape: list[int] = []
    for part in parts:
        if part is None:
            kept.append(None)
            shape.append(1)
            continue
        n = value.shape[len(ways)]
        if isinstance(part, slice):
            span = range(n)[part]
            kept.append(len(ways))
            shape.append(len(span))
            ways.append((span.start, span.step))
        else:
            ways.append(range(n)[part])
    where = {axis: i for i, axis in enumerate(kept) if axis is not None}

    def seen(index: Index) -> str:
        found = []
        for axis, way in enumerate(ways):
            if isinstance(way, int):
                found.append(str(way))
            else:
                start, by = way
                j = index[where[axis]]
                found.append(f"{start} + {j}" if by == 1 and start else j if by == 1 else f"{start} + {by} * ({j})")
        return value.at(tuple(found))

    made = Value(tuple(shape), value.dtype, seen, None, None, value.in_order and _steps_up(ways), value.exact)
    if value.place is None and not is_view(value):
        raise NoSelect("it looks at parts of what it computed")
    return made


def _steps_up(ways: list[tuple[int, int] | int]) -> bool:
    return all(isinstance(way, int) or way[1] > 0 for way in ways)


def _transposed(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    if keywords or len(args) != 1:
        raise NoSelect("it is transposed in another way")
    value = w.value(args[0])

    def seen(index: Index) -> str:
        return value.at(tuple(reversed(index)))

    if value.place is None and not is_view(value):
        raise NoSelect("it transposes what it computed")
    return Value(value.shape[::-1], value.dtype, seen, None, None, len(value.shape) < 2, value.exact)


def _by_loop(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    """NumPy's own loop over the whole array, in place."""
    value = w.value(args[0])
    if keywords or len(args) != 1 or value.dtype not in FLOATS or not value.shape or not value.exact:
        raise NoSelect(f"{name_of(step.fn)} of this is not compiled for arrays")
    if not value.in_order:
        raise NoSelect("it computes with transposed arrays")
    stored = w.stored(value)
    assert stored.place is not None
    name = name_of(step.fn)
    w.made.loops.add(("map", name, value.dtype))
    w.line(f"map_{name}_{value.dtype.name}({stored.place}_)")
    return stored


def _reduced(ufunc: str) -> Any:
    def row(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
        value, axis, keepdims = _axis_of(w, args, keywords)
        return _along(w, value, axis, keepdims, ufunc)

    return row


def _axis_of(w: Writer, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Value, int | None, bool]:
    given = dict(zip(("a", "axis"), args, strict=False)) | keywords
    if len(args) > 2 or set(given) - {"a", "axis", "keepdims"}:
        raise NoSelect("it is added up in a special way")
    axis, keepdims = given.get("axis"), given.get("keepdims", False)
    if not (axis is None or type(axis) is int) or keepdims not in (True, False):
        raise NoSelect("it is added up along several axes")
    value = w.value(given["a"])
    if value.dtype not in FLOATS or not value.shape or not value.exact or 0 in value.shape:
        raise NoSelect("it adds up other things than floats")
    if not value.in_order:
        raise NoSelect("it adds up transposed arrays")
    if axis is not None:
        axis = range(len(value.shape))[axis] if len(value.shape) > 1 else None
    return value, axis, bool(keepdims)


def _along(w: Writer, value: Value, axis: int | None, keepdims: bool, ufunc: str) -> Value:
    """Numbers along an axis, or all, as NumPy takes them together."""
    last = len(value.shape) - 1
    n = math.prod(value.shape) if axis is None else value.shape[axis]
    if axis is None or (axis == last and (n >= SHORT or ufunc != "add")):
        return _by_runs(w, value, axis, keepdims, ufunc, n)
    left = tuple(m for i, m in enumerate(value.shape) if i != axis)
    if axis != last and ufunc == "add" and math.prod(left) == 1:
        raise NoSelect("it adds up along an axis in an order of NumPy's own")
    shape = tuple(1 if i == axis else m for i, m in enumerate(value.shape)) if keepdims else left
    start = {"add": "0.0"}.get(ufunc)

    def at(index: Index) -> str:
        assert axis is not None
        total = w.name("s")
        own = [j for i, j in enumerate(index) if i != axis] if keepdims else list(index)
        first = value.at((*own[:axis], "0", *own[axis:])) if start is None else f"{value.dtype.name}_({start})"
        w.line(f"{total} = {first}")
        r = w.name("r")
        w.line(f"for {r} in range({n}):")
        w.depth += 1
        part = w.named(value.at((*own[:axis], r, *own[axis:])))
        w.line(f"{total} = {_COMBINED[ufunc].format(total, part)}")
        w.depth -= 1
        return total

    return Value(shape, value.dtype, at)


_COMBINED = {"add": "{0} + {1}", "maximum": SPELLED["maximum"].text, "minimum": SPELLED["minimum"].text}


def _by_runs(w: Writer, value: Value, axis: int | None, keepdims: bool, ufunc: str, n: int) -> Value:
    """NumPy's own loop over numbers that lie side by side: for all of them, or for every row."""
    stored = value if value.place is not None else w.stored(value)
    name = f"{stored.place}_"
    reduce = f"reduce_{ufunc}_{value.dtype.name}"
    w.made.loops.add(("reduce", ufunc, value.dtype))
    if axis is None:
        call = f"{reduce}({name}, 0, {n})"
        total = w.totals[call] = w.totals.get(call) or w.named(call)
        return number(value.dtype, total, shape=(1,) * len(value.shape) if keepdims else ())
    rows = value.shape[:-1]

    def at(index: Index) -> str:
        return w.named(f"{reduce}({name}, ({offset_of(index[: len(rows)], rows)}) * {n}, {n})")

    return w.stored(Value((*rows, 1) if keepdims else rows, value.dtype, at))


def _mean(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    value, axis, keepdims = _axis_of(w, args, keywords)
    return _mean_of(w, value, axis, keepdims)


def _mean_of(w: Writer, value: Value, axis: int | None, keepdims: bool) -> Value:
    n = math.prod(value.shape) if axis is None else value.shape[axis]
    total = _along(w, value, axis, keepdims, "add")

    def at(index: Index) -> str:
        return w.named(f"{value.dtype.name}_(float64_({total.at(index)}) / {float(n)})")

    return _settled(w, Value(total.shape, value.dtype, at))


def _settled(w: Writer, value: Value) -> Value:
    if not _is_one(value):
        return value
    return number(value.dtype, value.at(("0",) * len(value.shape)), shape=value.shape)


def _is_one(value: Value) -> bool:
    return math.prod(value.shape) == 1


def _spread(root: bool) -> Any:
    def row(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
        ddof = keywords.get("ddof", 0)
        if type(ddof) is not int:
            raise NoSelect("it is spread in a special way")
        value, axis, keepdims = _axis_of(w, args, {k: v for k, v in keywords.items() if k != "ddof"})
        n = math.prod(value.shape) if axis is None else value.shape[axis]
        if n <= ddof:
            raise NoSelect("it is spread over too few numbers")
        mean = _mean_of(w, value, axis, True)
        mean = mean if _is_one(mean) else w.stored(mean)

        def square(one: str, middle: str) -> str:
            off = w.named(f"{one} - {middle}")
            return w.named(f"{off} * {off}")

        one, middle = value.flat, mean.flat
        flat = (lambda j: square(one(j), middle(j))) if one and middle and _is_one(mean) else None
        squares = Value(value.shape, value.dtype, lambda idx: square(value.at(idx), element(mean, idx)), flat)
        total = _along(w, squares, axis, keepdims, "add")

        def at(index: Index) -> str:
            found = w.named(f"{value.dtype.name}_(float64_({total.at(index)}) / {float(n - ddof)})")
            return w.named(f"sqrt({found})") if root else found

        return _settled(w, Value(total.shape, value.dtype, at))

    return row


def _product(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    """Matrices and vectors; BLAS adds up in an order of its own, so the result is only close, and must be the end."""
    a, b = (w.value(arg) for arg in args)
    ends = step.kind is not None and w.uses.get(step.out, 0) == 1 and step.out in w.results
    if keywords or w.exact or not ends or a.dtype != b.dtype or a.dtype not in FLOATS or not a.exact or not b.exact:
        raise NoSelect("products of matrices are NumPy's")
    if not 1 <= len(a.shape) <= 2 or not 1 <= len(b.shape) <= 2 or len(a.shape) + len(b.shape) == 2:
        raise NoSelect("products of this kind are NumPy's")
    n = a.shape[-1]
    if n > 16 or a.dtype.itemsize < 8:
        raise NoSelect("products of large matrices are BLAS's")
    shape = (*a.shape[:-1], *b.shape[1:])

    def at(index: Index) -> str:
        row, column = index[: len(a.shape) - 1], index[len(a.shape) - 1 :]
        terms = [f"{a.at((*row, str(k)))} * {b.at((str(k), *column))}" for k in range(n)]
        return w.named(" + ".join(terms))

    return Value(shape, a.dtype, at, exact=False)


def _convolved(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    """A short window over a long array, where the whole of it fits; only close, as products of matrices are."""
    given = dict(zip(("a", "v", "mode"), args, strict=False)) | keywords
    if set(given) != {"a", "v", "mode"} or given["mode"] != "valid" or w.exact or step.out not in w.results:
        raise NoSelect("convolutions of this kind are NumPy's")
    a, v = w.value(given["a"]), w.value(given["v"])
    fits = len(a.shape) == len(v.shape) == 1 and v.shape[0] <= min(32, a.shape[0])
    if not fits or a.dtype != v.dtype or a.dtype.itemsize < 8 or not a.exact or not v.exact:
        raise NoSelect("convolutions of this kind are NumPy's")
    n = v.shape[0]
    window = [w.named(v.at((str(n - 1 - k),))) for k in range(n)]

    def at(index: Index) -> str:
        return w.named(" + ".join(f"{a.at((f'{index[0]} + {k}',))} * {window[k]}" for k in range(n)))

    return Value((a.shape[0] - n + 1,), a.dtype, at, exact=False)


def _where(w: Writer, step: Step, args: tuple[Any, ...], keywords: dict[str, Any]) -> Value:
    if keywords or len(args) != 3:
        raise NoSelect("it asks where in another way")
    return _spelled(w, step, args, "{1} if {0} else {2}", first_is_bool=True)


_OPERATORS = {operator.neg: "neg", operator.pos: "pos", abs: "abs", operator.abs: "abs"}
ROWS: dict[Any, Any] = {
    operator.getitem: _index, np.transpose: _transposed, operator.pow: _power, np.power: _power,
    np.square: lambda w, step, args, keywords: _power(w, step, (*args, 2), keywords),
    np.sum: _reduced("add"), np.max: _reduced("maximum"), np.min: _reduced("minimum"), np.mean: _mean,
    np.var: _spread(False), np.std: _spread(True), np.matmul: _product, operator.matmul: _product, np.dot: _product,
    np.convolve: _convolved, np.where: _where,
}  # fmt: skip
SEVERAL: dict[Any, Any] = {np.histogram: histogram}
"""Calls that make several things."""
