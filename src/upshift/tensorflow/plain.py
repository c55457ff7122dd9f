"""Runs functions that use nothing of TensorFlow's but their element in the gears of `up.map`.

The function is given NumPy's numbers that look like tensors (`element.py`). For what NumPy and Python make of them the
loop is asked once: every element has to give the same, or the batch is the loop's. Where the function uses TensorFlow,
too, traces see stand-ins for it (`mixed.py`), and elements that are run one by one are true tensors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from ..trace.lane import is_lane
from . import results
from .bridge import Array, as_array, as_tensor
from .call import Call
from .element import Element, NotNumbers
from .mixed import standing_in
from .numbers import in_gears, mend, tiny_rows
from .operations import DTYPES, Unreadable

PYTHON = (bool, int, float)
PATIENT = 0.25
"""Seconds of calls after which a function of arrays is traced whatever that costs: it may loop over every number."""


def over(call: Call, mixed: bool = False) -> tuple[Callable[[Call], list[Any]], Any]:
    """A function of calls, and what results are nested like. `Unreadable`: elements or results are not numbers.

    `mixed`: the function uses more of TensorFlow than its element.
    """
    one = call.fn(call.row(0))
    wanted = _dtypes(one, call)
    numbers = all(leaf.shape.rank == 1 for leaf in call.leaves)  # a function of arrays may be a loop over all of them
    function, compute = of_numbers(call, one, mixed), in_gears(warns=True, after=0.0 if numbers else PATIENT)

    def run(call: Call) -> list[Any]:
        columns = [as_array(leaf) for leaf in call.leaves]
        with standing_in() if mixed else contextlib.nullcontext():
            made, _ = compute(function, columns)
        outs = [_column(*pair) for pair in zip(made, wanted, strict=True)]
        mend(call, tiny_rows(columns), outs)
        return [as_tensor(out) for out in outs]

    return run, one if call.signature is None else call.signature


def _dtypes(one: Any, call: Call) -> list[Any]:
    """Of the loop's results, leaf by leaf, where all elements give something like this."""
    made, _ = results.of_element(one, call)
    odd = next((leaf for leaf in (*made, *call.leaves) if leaf.dtype not in DTYPES), None)
    if odd is not None:
        raise Unreadable(f"it works with {odd.dtype.name}")
    return [leaf.dtype.as_numpy_dtype for leaf in made]


def _class_of(leaf: Any) -> Any:
    """What a leaf is, as far as the dtype of the loop's result depends on it."""
    if type(leaf) in PYTHON:
        return type(leaf)
    if tf.is_tensor(leaf) or isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.as_numpy_dtype if tf.is_tensor(leaf) else leaf.dtype.type
    raise Unreadable(f"it gives a {type(leaf).__name__}")


class Results:
    """What one element gives in; its leaves, as numbers and arrays, out. `NotNumbers`: not of the expected classes."""

    _up_aware = True

    def __init__(self, classes: tuple[Any, ...]) -> None:
        self.classes = classes

    def __call__(self, result: Any) -> tuple[Any, ...]:
        leaves = list(self._leaves(result))
        if len(leaves) != len(self.classes):
            raise NotNumbers("elements give different numbers of results")
        return tuple(map(self._settled, leaves, self.classes))

    def _leaves(self, result: Any) -> Iterator[Any]:
        """As `tf.nest.flatten` has them."""
        if type(result) is dict:
            for name in sorted(result):
                yield from self._leaves(result[name])
        elif type(result) is tuple or type(result) is list:
            for part in result:
                yield from self._leaves(part)
        else:
            yield result.value if isinstance(result, Element) else _number_of(result)

    def _settled(self, value: Any, cls: Any) -> Any:
        found = value.dtype.type if isinstance(value, np.ndarray | np.generic) else value.__class__
        if found is not cls:
            raise NotNumbers("elements give results of different classes")
        return value


def _number_of(result: Any) -> Any:
    """Of a tensor its numbers; asking whether it is one takes long."""
    if isinstance(result, np.ndarray | np.generic | int | float) or not tf.is_tensor(result):
        return result
    return result.numpy()


class Given:
    """NumPy's numbers in; what the function gets of them out. `mixed`: true tensors, where there is no trace."""

    _up_aware = True

    def __init__(self, mixed: bool) -> None:
        self.mixed = mixed

    def __call__(self, x: Any) -> Any:
        return tf.constant(x) if self.mixed and not is_lane(x) else Element.of(x)


def of_numbers(call: Call, one: Any, mixed: bool = False) -> Callable[..., Any]:
    """The function, of NumPy's numbers, giving a tuple of them; `NotNumbers` where they are not like this one."""
    fn, elems, given = call.fn, call.elems, Given(mixed)
    settled = Results(tuple(_class_of(leaf) for leaf in tf.nest.flatten(one)))
    if elems is call.leaves[0]:
        return _with_plans_of_its_own(lambda x: settled(fn(given(x))))
    if type(elems) not in (tuple, list, dict) or len(elems) != len(call.leaves):
        raise Unreadable("its elements are nested")
    if type(elems) is dict:
        names = tuple(sorted(elems))
        return _with_plans_of_its_own(
            lambda *xs: settled(fn({name: given(x) for name, x in zip(names, xs, strict=True)}))
        )
    cls = type(elems)
    return _with_plans_of_its_own(lambda *xs: settled(fn(cls([given(x) for x in xs]))))


def _with_plans_of_its_own(f: Any) -> Callable[..., Any]:
    """Plans are remembered by code, which all functions made here would share."""
    f.__code__ = f.__code__.replace()
    made: Callable[..., Any] = f
    return made


def _column(column: Any, dtype: Any) -> Array:
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "biufc":
        raise NotNumbers("results are not numbers of one shape")
    return column.astype(dtype, copy=False)
