"""TensorFlow functions that do to a whole batch what they do to each of its elements: one batching rule for each.

`tf.sin(column)` is every element's sine, and `tf.reduce_sum(column, axis=-1)` every element's sum, since axes that are
counted from the end are the element's. Where a batch needs other arguments than an element, as `tf.reduce_sum(x)` does,
a rule gives these (`Spelled`). It says how the last bits of a batch compare with those of one element, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf


class Unknown(Exception):
    """Nobody knows that a batch of this gives the same."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of which only this is known."""

    stacked: bool
    """Whether elements differ in it: in a batch, it has a first axis more."""
    rank: int
    """Of one element."""
    close: bool = False
    """Whether the last bits of a batch may be others."""
    sizes: tuple[int, ...] | None = field(default=None, compare=False)
    """Of one element, where they are known."""
    read: Callable[[Any], Any] | None = field(default=None, compare=False)
    """Where it stands when the function runs: the function in, the tensor out. None for what is computed."""
    step: int = field(default=-1, compare=False)
    """Which step of a program computes it."""


@dataclass(frozen=True, slots=True)
class Known:
    """A Python object that is the same for all elements."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """An operand whose elements get so many axes of length one in front, to meet others of more axes."""

    value: Value
    by: int


@dataclass(frozen=True, slots=True)
class Spelled:
    """What a function makes of a batch where it is given other arguments than those for one element."""

    made: Any
    args: Sequence[Any]
    keywords: dict[str, Any]


class Largest(NamedTuple):
    """What `tf.math.top_k` gives."""

    values: Value
    indices: Value


NUMBERS = (bool, int, float, complex)


def combined(operands: Sequence[Value | Known], close: bool, cuts: bool) -> Value | Spelled:
    """What an operation on every number alike makes. `cuts`: another bit of an operand may be another result."""
    tensors = [value if isinstance(value, Value) else _number(value) for value in operands]
    rank = max(value.rank for value in tensors)
    if cuts and any(value.close for value in tensors):
        raise Unknown("it decides by a number whose last bits differ between one element and a batch")
    stacked = any(value.stacked for value in tensors)
    after = (close or any(value.close for value in tensors)) and not cuts
    made = Value(stacked, rank, after, _broadcast([value.sizes for value in tensors]))
    raised = [
        Raised(tensor, rank - tensor.rank) if tensor.stacked and tensor.rank < rank else operand
        for operand, tensor in zip(operands, tensors, strict=True)
    ]
    return Spelled(made, raised, {}) if any(isinstance(one, Raised) for one in raised) else made


def alike(x: Any, close: bool = False, cuts: bool = False) -> Value:
    """What an operation makes of one tensor that keeps its form."""
    made = combined([x], close, cuts)
    assert isinstance(made, Value)
    return made


def _number(operand: Any) -> Value:
    """One of Python's numbers, as a tensor."""
    value = operand.value if isinstance(operand, Known) else operand
    if type(value) in NUMBERS:
        return Value(False, 0, sizes=())
    raise Unknown(f"a {type(value).__name__} meets a tensor")


def _broadcast(sizes: Sequence[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """Of what comes of operands of these sizes; None where nobody knows, or they do not fit."""
    known = [one for one in sizes if one is not None]
    try:
        return np.broadcast_shapes(*known) if len(known) == len(sizes) else None
    except ValueError:
        return None


Rule = Callable[[Sequence[Any], dict[str, Any]], Any]


def _elementwise(arity: int, close: bool = False, cuts: bool = False) -> Rule:
    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        if len(args) != arity or keywords.keys() - {"name"}:
            raise Unknown("arguments that nobody has looked at")
        return combined(args, close, cuts)

    return rule


ANY_DTYPE = Known("a dtype that nobody knows")
"""What `x.dtype` is."""


def _cast(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    x, dtype = _bound(args, keywords, "x", "dtype")
    if not isinstance(x, Value) or not isinstance(dtype, Known):
        raise Unknown("a cast")
    to_float = dtype is not ANY_DTYPE and (tf.as_dtype(dtype.value).is_floating or tf.as_dtype(dtype.value).is_complex)
    return alike(x, cuts=not to_float)


def _reduction(close: bool = False, cuts: bool = False) -> Rule:
    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        x, axis, keepdims = _bound(args, keywords, "input_tensor", "axis", "keepdims")
        axes, written = _axes(x, axis)
        kept = keepdims is not None and _constant(keepdims, bool)
        made = _without(alike(x, close, cuts), axes, kept)
        return made if written else Spelled(made, [x], {"axis": Known(axes), "keepdims": Known(kept)})

    return rule


def _without(value: Value, axes: Sequence[int], kept: bool = False) -> Value:
    """A tensor with less axes, or with some of length one."""
    sizes = None
    if value.sizes is not None:
        numbered = zip(range(-value.rank, 0), value.sizes, strict=True)
        sizes = tuple(1 if axis in axes else size for axis, size in numbered if kept or axis not in axes)
    return replace(value, rank=value.rank if kept else value.rank - len(axes), sizes=sizes)


def _axes(x: Any, axis: Any) -> tuple[list[int], bool]:
    """Axes of an element, counted from the end; and whether a batch may be told of them as the function is."""
    given = axis.value if isinstance(axis, Known) else axis
    if not isinstance(x, Value):
        raise Unknown("an axis of something else than a tensor")
    if given is None:
        return list(range(-x.rank, 0)), not x.stacked
    axes: list[Any] = [getattr(one, "value", one) for one in given] if isinstance(given, list | tuple) else [given]
    if not all(type(one) is int and -x.rank <= one < x.rank for one in axes):
        raise Unknown("an axis that is not there, or that is computed")
    behind = [one if one < 0 else one - x.rank for one in axes]
    if len({*behind}) < len(behind):
        raise Unknown("an axis twice")
    return behind, behind == axes or not x.stacked


def _axis(x: Any, axis: Any, default: int) -> tuple[int, bool]:
    """The same of one axis."""
    given = default if axis is None else getattr(axis, "value", None)
    if not isinstance(x, Value) or type(given) is not int:
        raise Unknown("an axis of something else than a tensor with axes, or one that is computed")
    (behind,), written = _axes(x, Known(given))
    return behind, written


def _constant(value: Any, cls: type) -> Any:
    if not isinstance(value, Known) or type(value.value) is not cls:
        raise Unknown("an argument that is computed")
    return value.value


def _along(close: bool, default: int) -> Rule:
    """Along one axis, which stays: `tf.nn.softmax`, `tf.cumsum`."""

    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        x, axis = _bound(args, keywords, "x", "axis")
        behind, written = _axis(x, axis, default)
        made = alike(x, close)
        return made if written else Spelled(made, [x], {"axis": Known(behind)})

    return rule


def _sorted(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    x, axis, direction = _bound(args, keywords, "values", "axis", "direction")
    behind, written = _axis(x, axis, -1)
    told = {} if direction is None else {"direction": Known(_constant(direction, str))}
    made = alike(x)
    return made if written else Spelled(made, [x], {"axis": Known(behind), **told})


def _largest(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    x, k, in_order = _bound(args, keywords, "input", "k", "sorted")
    _axis(x, None, -1)
    count = 1 if k is None else _constant(k, int)
    if in_order is not None and not _constant(in_order, bool):
        raise Unknown("an order that is left open")
    sizes = x.sizes and (*x.sizes[:-1], count)
    return Largest(replace(alike(x), sizes=sizes), replace(alike(x, cuts=True), sizes=sizes))


def _of_matrices(less: int) -> Rule:
    """Of the last two axes, of which the result has so many less."""

    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
        if len(args) != 1 or keywords.keys() - {"name"} or not isinstance(args[0], Value) or args[0].rank < 2:
            raise Unknown("something else than matrices")
        return _without(alike(args[0], close=True), range(-less, 0))

    return rule


def _solved(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    matrix, right = _bound(args, keywords, "matrix", "rhs")
    fit = isinstance(matrix, Value) and isinstance(right, Value) and matrix.stacked == right.stacked
    if not fit or matrix.rank < 2 or matrix.rank != right.rank:
        raise Unknown("something else than a matrix and a right side for every element")
    return alike(right, close=True)


def _position(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    x, axis, dtype = _bound(args, keywords, "input", "axis", "output_type")
    behind, written = _axis(x, axis, 0)
    made = _without(alike(x, cuts=True), [behind])
    told = {} if dtype is None else {"output_type": dtype}
    return made if written else Spelled(made, [x], {"axis": Known(behind), **told})


def _like(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    x, _ = _bound(args, keywords, "input", "dtype")
    if not isinstance(x, Value):
        raise Unknown("the shape of something else than a tensor")
    return Value(x.stacked, x.rank, sizes=x.sizes)


def _made(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    value, _ = _bound(args, keywords, "value", "dtype")
    return alike(value)


def part(x: Value, key: Any) -> Value | Spelled:
    """What `x[key]` makes, where the key is of Python's ints, slices, `None` and `...`."""
    keys = key if type(key) is tuple else (key,)
    kinds = [type(one) for one in keys]
    if not {*kinds} <= {int, slice, type(None), type(...)} or kinds.count(type(...)) > 1:
        raise Unknown("a part that is computed")
    taken = kinds.count(int) + kinds.count(slice)
    if taken > x.rank:
        raise Unknown("more axes than there are")
    filled: list[Any] = []
    for one in (*keys, *(() if type(...) in kinds else (...,))):
        filled += [slice(None)] * (x.rank - taken) if one is ... else [one]
    sizes = None if x.sizes is None else _sizes_of_part(x.sizes, filled)
    made = replace(x, rank=sum(type(one) is not int for one in filled), sizes=sizes)
    return Spelled(made, [x, Known((slice(None), *keys))], {}) if x.stacked else made


def _sizes_of_part(sizes: tuple[int, ...], keys: Sequence[Any]) -> tuple[int, ...]:
    rest = iter(sizes)
    found = []
    for key in keys:
        if key is None:
            found.append(1)
            continue
        size = next(rest)
        if type(key) is slice:
            found.append(len(range(*key.indices(size))))
        elif not -size <= key < size:
            raise Unknown("an index that is not there")
    return tuple(found)


def _bound(args: Sequence[Any], keywords: dict[str, Any], *names: str) -> list[Any]:
    """Arguments by position or name; None where one is missing."""
    if len(args) > len(names) or keywords.keys() - {*names, "name", "logits", "features", "tensor"}:
        raise Unknown("arguments that nobody has looked at")
    found = dict(zip(names, args, strict=False)) | {k: v for k, v in keywords.items() if k != "name"}
    for other in ("logits", "features", "tensor"):
        if other in found:
            found[names[0]] = found.pop(other)
    return [found.get(name) for name in names]


LOOP_NAMES = ("cond", "body", "loop_vars")
TOLD = frozenset(("parallel_iterations", "maximum_iterations", "back_prop", "swap_memory", "name"))
"""Arguments of a loop that say nothing of its results, as long as they are Python's."""


def turned(args: Sequence[Any], keywords: dict[str, Any], called: Callable[[Any, Sequence[Any]], Any]) -> Any:
    """What `tf.while_loop` makes where all elements take as many turns: its condition depends on none of them.

    `called`: what a function gives for some values.
    """
    told = {name: value for name, value in keywords.items() if name in TOLD}
    if not all(isinstance(value, Known) for value in told.values()):
        raise Unknown("an argument that is computed")
    given = {name: value for name, value in keywords.items() if name not in TOLD}
    cond, body, before = _bound(args, given, *LOOP_NAMES)
    if type(before) not in (tuple, list):
        raise Unknown("variables of a loop that are nested")
    state = [_of_loop(value) for value in before]
    while True:  # ends: a variable can only become less well known, once
        test = called(cond, state)
        if not isinstance(test, Value) or test.stacked or test.rank:
            raise Unknown("how often it loops depends on its element")
        made = called(body, state)
        if type(made) not in (tuple, list) or len(made) != len(state):
            raise Unknown("a loop gives something else than its variables")
        after = [_met(*pair) for pair in zip(state, map(_of_loop, made), strict=True)]
        if after == state:
            return type(before)(state)
        state = after


def _of_loop(value: Any) -> Value:
    return value if isinstance(value, Value) else _number(value)


def _met(before: Value, after: Value) -> Value:
    """A variable of a loop, before and behind a turn."""
    if (before.stacked, before.rank) != (after.stacked, after.rank):
        raise Unknown("a variable of a loop changes its shape")
    sizes = before.sizes if before.sizes == after.sizes else None
    return Value(before.stacked, before.rank, before.close or after.close, sizes)


def _rules() -> dict[Any, Rule]:
    exact1 = [tf.identity, tf.stop_gradient, tf.negative, tf.abs, tf.square, tf.sqrt, tf.math.reciprocal, tf.nn.relu,
              tf.nn.relu6, tf.math.conj, tf.math.real, tf.math.imag, tf.math.sign]  # fmt: skip
    exact2 = [tf.add, tf.subtract, tf.multiply, tf.divide, tf.truediv, tf.maximum, tf.minimum, tf.math.divide_no_nan,
              tf.math.squared_difference, tf.logical_and, tf.logical_or, tf.math.logical_xor, tf.bitwise.bitwise_and,
              tf.bitwise.bitwise_or, tf.bitwise.bitwise_xor]  # fmt: skip
    cuts1 = [tf.floor, tf.math.ceil, tf.round, tf.math.rint, tf.math.is_nan, tf.math.is_inf, tf.math.is_finite,
             tf.logical_not]  # fmt: skip
    cuts2 = [tf.less, tf.less_equal, tf.greater, tf.greater_equal, tf.equal, tf.not_equal, tf.math.floordiv,
             tf.math.floormod]  # fmt: skip
    close1 = [tf.exp, tf.math.expm1, tf.math.log, tf.math.log1p, tf.sin, tf.cos, tf.tan, tf.asin, tf.acos, tf.atan,
              tf.sinh, tf.cosh, tf.tanh, tf.asinh, tf.acosh, tf.atanh, tf.sigmoid, tf.math.erf, tf.math.erfc,
              tf.math.lgamma, tf.math.digamma, tf.math.rsqrt, tf.nn.softplus, tf.nn.softsign, tf.nn.elu, tf.nn.selu,
              tf.nn.leaky_relu, tf.nn.swish, tf.nn.gelu]  # fmt: skip
    close2 = [tf.pow, tf.atan2, tf.math.xlogy, tf.math.xdivy, tf.math.multiply_no_nan]
    found: dict[Any, Rule] = {}
    found |= dict.fromkeys(exact1, _elementwise(1)) | dict.fromkeys(exact2, _elementwise(2))
    found |= dict.fromkeys(cuts1, _elementwise(1, cuts=True)) | dict.fromkeys(cuts2, _elementwise(2, cuts=True))
    found |= dict.fromkeys(close1, _elementwise(1, close=True)) | dict.fromkeys(close2, _elementwise(2, close=True))
    found |= {tf.where: _elementwise(3), tf.clip_by_value: _elementwise(3), tf.cast: _cast, tf.constant: _made}
    found |= dict.fromkeys((tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_logsumexp), _reduction(close=True))
    found |= dict.fromkeys((tf.math.reduce_std, tf.math.reduce_variance), _reduction(close=True))
    found |= dict.fromkeys((tf.reduce_max, tf.reduce_min), _reduction())
    found |= dict.fromkeys((tf.reduce_any, tf.reduce_all), _reduction(cuts=True))
    found |= dict.fromkeys((tf.argmax, tf.argmin), _position)
    found |= dict.fromkeys((tf.nn.softmax, tf.nn.log_softmax), _along(True, -1)) | {tf.cumsum: _along(True, 0)}
    found |= dict.fromkeys((tf.zeros_like, tf.ones_like), _like)
    found |= {tf.sort: _sorted, tf.math.top_k: _largest, tf.linalg.eigvalsh: _of_matrices(1)}
    found |= dict.fromkeys((tf.linalg.inv, tf.linalg.cholesky, tf.linalg.expm), _of_matrices(0))
    found |= {tf.linalg.det: _of_matrices(2), tf.linalg.trace: _of_matrices(2), tf.linalg.solve: _solved}
    return found


RULES = _rules()
SMOOTH = frozenset(
    "negative square sqrt sin cos tan exp tanh sigmoid abs add subtract multiply divide maximum minimum "
    "sinh cosh asin acos atan asinh acosh atanh pow log log1p expm1 erf rsqrt relu softplus elu".split()
)
"""Names that in `tf`, `tf.math` and `tf.nn` all mean functions of every number alike, that decide nothing."""


def numbers_only(fn: Any) -> bool:
    """Functions that are called with Python's numbers alone, while a batch is looked at."""
    return (
        fn in (abs, float, int, bool, round, min, max, range) or getattr(math, getattr(fn, "__name__", ""), None) is fn
    )
