"""TensorFlow functions that do to a whole batch what they do to each of its elements: one row for each.

`tf.sin(column)` is every element's sine, and `tf.reduce_sum(column, axis=-1)` every element's sum, since axes that are
counted from the end are the element's. A row says how the last bits of a batch compare with those of one element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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


@dataclass(frozen=True, slots=True)
class Known:
    """A Python object that is the same for all elements."""

    value: Any


class Largest(NamedTuple):
    """What `tf.math.top_k` gives."""

    values: Value
    indices: Value


NUMBERS = (bool, int, float, complex)


def combined(operands: Sequence[Value | Known], close: bool, cuts: bool) -> Value:
    """What an operation on every number alike makes. `cuts`: another bit of an operand may be another result."""
    tensors = [value if isinstance(value, Value) else Value(False, _rank_of(value)) for value in operands]
    stacked = {value.rank for value in tensors if value.stacked}
    rank = max(value.rank for value in tensors)
    if stacked and stacked != {rank}:
        raise Unknown("numbers of different ranks meet")
    if cuts and any(value.close for value in tensors):
        raise Unknown("it decides by a number whose last bits differ between one element and a batch")
    return Value(bool(stacked), rank, (close or any(value.close for value in tensors)) and not cuts)


def _rank_of(operand: Any) -> int:
    value = operand.value if isinstance(operand, Known) else operand
    if type(value) in NUMBERS:
        return 0
    raise Unknown(f"a {type(value).__name__} meets a tensor")


Rule = Callable[[Sequence[Any], dict[str, Any]], Any]


def _elementwise(arity: int, close: bool = False, cuts: bool = False) -> Rule:
    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
        if len(args) != arity or keywords.keys() - {"name"}:
            raise Unknown("arguments that nobody has looked at")
        return combined(args, close, cuts)

    return rule


def _cast(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    x, dtype = _bound(args, keywords, "x", "dtype")
    if not isinstance(x, Value) or not isinstance(dtype, Known):
        raise Unknown("a cast")
    to_float = tf.as_dtype(dtype.value).is_floating or tf.as_dtype(dtype.value).is_complex
    return combined([x], False, cuts=not to_float)


def _reduction(close: bool = False, cuts: bool = False) -> Rule:
    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
        x, axis, keepdims = _bound(args, keywords, "input_tensor", "axis", "keepdims")
        axes = _axes(x, axis)
        kept = keepdims is not None and _constant(keepdims, bool)
        made = combined([x], close, cuts)
        return made if kept else Value(made.stacked, made.rank - len(axes), made.close)

    return rule


def _axes(x: Any, axis: Any) -> list[int]:
    """Axes that are counted from the end, and are the element's."""
    given = axis.value if isinstance(axis, Known) else axis
    axes: list[Any] = [getattr(one, "value", one) for one in given] if isinstance(given, list | tuple) else [given]
    if not isinstance(x, Value) or not all(type(one) is int and -x.rank <= one < 0 for one in axes):
        raise Unknown("an axis that is not counted from the end")
    return axes


def _constant(value: Any, cls: type) -> Any:
    if not isinstance(value, Known) or type(value.value) is not cls:
        raise Unknown("an argument that is computed")
    return value.value


def _along(close: bool, default: int | None) -> Rule:
    """Along one axis, which stays: `tf.nn.softmax`, `tf.cumsum`."""

    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
        x, axis = _bound(args, keywords, "x", "axis")
        _axes(x, axis if axis is not None else Known(default))
        return combined([x], close, cuts=False)

    return rule


def _sorted(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    x, axis, direction = _bound(args, keywords, "values", "axis", "direction")
    _axes(x, axis if axis is not None else Known(-1))
    if direction is not None:
        _constant(direction, str)
    return combined([x], False, cuts=False)


def _largest(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    x, k, in_order = _bound(args, keywords, "input", "k", "sorted")
    _axes(x, Known(-1))
    if k is not None:
        _constant(k, int)
    if in_order is not None and not _constant(in_order, bool):
        raise Unknown("an order that is left open")
    return Largest(combined([x], False, cuts=False), combined([x], False, cuts=True))


def _of_matrices(less: int) -> Rule:
    """Of the last two axes, of which the result has so many less."""

    def rule(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
        if len(args) != 1 or keywords.keys() - {"name"} or not isinstance(args[0], Value) or args[0].rank < 2:
            raise Unknown("something else than matrices")
        return Value(args[0].stacked, args[0].rank - less, close=True)

    return rule


def _position(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    x, axis, _ = _bound(args, keywords, "input", "axis", "output_type")
    _axes(x, axis)
    made = combined([x], False, cuts=True)
    return Value(made.stacked, made.rank - 1)


def _like(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    x, _ = _bound(args, keywords, "input", "dtype")
    if not isinstance(x, Value):
        raise Unknown("the shape of something else than a tensor")
    return Value(x.stacked, x.rank)


def _made(args: Sequence[Any], keywords: dict[str, Any]) -> Value:
    value, _ = _bound(args, keywords, "value", "dtype")
    return combined([value], False, False)


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
    return value if isinstance(value, Value) else Value(False, _rank_of(value))


def _met(before: Value, after: Value) -> Value:
    """A variable of a loop, before and behind a turn."""
    if (before.stacked, before.rank) != (after.stacked, after.rank):
        raise Unknown("a variable of a loop changes its shape")
    return Value(before.stacked, before.rank, before.close or after.close)


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
    found |= dict.fromkeys((tf.nn.softmax, tf.nn.log_softmax), _along(True, -1)) | {tf.cumsum: _along(True, None)}
    found |= dict.fromkeys((tf.zeros_like, tf.ones_like), _like)
    found |= {tf.sort: _sorted, tf.math.top_k: _largest, tf.linalg.eigvalsh: _of_matrices(1)}
    found |= dict.fromkeys((tf.linalg.inv, tf.linalg.cholesky, tf.linalg.expm), _of_matrices(0))
    found |= {tf.linalg.det: _of_matrices(2), tf.linalg.trace: _of_matrices(2)}
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
