"""The ways to run a function over concrete tensors, behind one interface."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..columns.forms import LEAF
from ..columns.inputs import Lanes
from ..verify import differ, sample
from . import direct, graph, numbers, plain, results, vectorized, xla
from .batchwise import Unknown
from .bridge import Array, as_array
from .call import Call, element_of
from .operations import Unreadable
from .trace import Traced

READERS: dict[str, Any] = {"numpy": numbers, "xla": xla}
"""What runs the graph of one element otherwise than by TensorFlow's own maps."""
COMPARED_SECONDS = 10e-9
"""What it costs to compare one number of a result."""
MOST_LOOKED_AT = 1 << 20
"""Numbers of a column among which the smallest and the largest are sought."""
CHECKED_SECONDS = 10e-3
"""What a comparison with the loop may cost, roughly."""


@dataclass(frozen=True)
class Way:
    """A function of a call that gives its results leaf by leaf."""

    name: str
    over: Callable[[Call], list[Any]]
    structure: Any
    """What one element's result is nested like."""
    draws: bool = False
    """Whether results are random numbers, so that only their kind can be compared."""
    lengths: set[int] | None = None
    """For how many elements it was compiled; None where any number will do."""

    def fits(self, n: int) -> bool:
        """Whether it was made for so many elements."""
        return self.lengths is None or n in self.lengths

    def pack(self, columns: list[Any]) -> Any:
        """The results of all elements, nested like one."""
        structure = self.structure[0] if self.name == "direct" else self.structure
        if isinstance(structure, tf.Tensor):
            return columns[0]
        return tf.nest.pack_sequence_as(structure, columns)


def build_direct(call: Call) -> Way | str:
    """The function itself on whole columns, where it is known to do for these what it does for each element."""
    try:
        columnwise = direct.look_at(call)
    except Unknown as reason:
        return str(reason)
    structure: list[Any] = [None]

    def over(call: Call) -> list[Any]:
        if not direct.fits(call, columnwise):
            raise MemoryError("the numbers in between would take too much room")
        made = columnwise(call.fn, call.elems)
        structure[0] = made if call.signature is None else call.signature
        return direct.leaves_of(made, call)

    return Way("direct", over, structure)


def build_plain(call: Call, mixed: bool) -> Way | str:
    """The function itself on NumPy's numbers, without a graph; or one sentence why not."""
    try:
        return Way("python", *plain.over(call, mixed))
    except Unreadable as unreadable:
        return str(unreadable)
    except Exception as error:  # the function's own, which the loop will meet, too
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def build(name: str, call: Call, traced: Traced, gradients: bool) -> Way | str:
    """The way of this name, or one sentence why there is none. `gradients`: a tape records what it does."""
    reason = "" if name == "map" else vectorized.why_not_batched(traced)
    if name == "vectorized":
        reason = vectorized.why_not(traced, gradients)
    if reason:
        return reason
    if name in READERS:
        try:
            over_columns = READERS[name].over(call, traced)
            return Way(name, over_columns, traced.structure, traced.draws, set() if name == "xla" else None)
        except Unreadable as unreadable:
            return str(unreadable)
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            tf.errors.OpError,
        ) as error:  # nobody has met its kind
            return f"its graph cannot be read: {error}"
    try:
        return Way(name, graph.Batched(call, traced, name), traced.structure, traced.draws)
    except Exception as error:  # TensorFlow could not make it: the loop is still there
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def check(call: Call, made: list[Any], rate: float, kind_only: bool, done: Sequence[Any] = ()) -> tuple[str, float]:
    """Compare columns of results with the loop's on a sample; one sentence where they differ, and the loop's speed.
    `done`: what the loop has given already for the first elements."""
    numbers_each = sum(math.prod(column.shape[1:]) for column in made if isinstance(column, tf.Tensor))
    most = max(2, min(12, int(CHECKED_SECONDS / (rate + COMPARED_SECONDS * (numbers_each + 1)))))
    fastest = rate
    others = [i for i in positions(call, most) if i >= len(done)][: most - len(done)]
    for i in (*range(len(done)), *others):
        began = time.perf_counter()
        try:
            result = done[i] if i < len(done) else call.fn(call.row(i))
            want = leaves_of(call, result)
        except Exception as error:
            return f"element {i}: the loop raises {type(error).__name__}", rate
        if i >= len(done):
            fastest = min(fastest, time.perf_counter() - began)
        if len(want) != len(made):
            return f"element {i}: the loop gives {len(want)} results, the gear {len(made)}", rate
        for one, column in zip(want, made, strict=True):
            reason = _differ_at(one, column, i, kind_only)
            if reason:
                return f"element {i}: {reason}", rate
    return "", fastest


def leaves_of(call: Call, result: Any) -> list[Any]:
    """What the loop gives for one element, leaf by leaf."""
    return results.of_element(result, call)[0]


def _differ_at(want: Any, column: Any, i: int, kind_only: bool) -> str | None:
    """Why a column of results is not what the loop gives for element i; None where it is."""
    if isinstance(want, tf.Tensor) and isinstance(column, tf.Tensor):
        if want.dtype != column.dtype or want.shape != column.shape[1:]:
            return f"the loop gives {want.dtype.name}{want.shape}, the gear {column.dtype.name}{column.shape[1:]}"
        got = as_array(column)[i : i + 1].reshape(want.shape)
        return None if kind_only else differ(_flushed(as_array(want)), _flushed(got), False)
    got = element_of(column, i)
    same = type(want) is type(got) and _listed(want) == _listed(got)
    return None if same or kind_only else f"the loop gives {want!r}, the gear {got!r}"


def _flushed(array: Array) -> Array:
    """Without subnormal numbers, of which TensorFlow makes zeros in some places and not in others."""
    if array.dtype.char not in "fd":
        return array
    return np.where(np.abs(array) < np.finfo(array.dtype).smallest_normal, array.dtype.type(0), array)


def _listed(value: Any) -> Any:
    """The numbers of a ragged or sparse tensor, or of whatever is made of several."""
    if isinstance(value, tf.RaggedTensor):
        return value.dtype, value.to_list()
    return [(part.dtype, part.numpy().tolist()) for part in tf.nest.flatten(value, expand_composites=True)]


def positions(call: Call, most: int) -> list[int]:
    """Elements worth a look."""
    n = call.n or 0
    columns = [as_array(leaf) for leaf in call.leaves if isinstance(leaf, tf.Tensor)]
    numbers = [column for column in columns if column.dtype.kind in "iufb" and column.size <= MOST_LOOKED_AT]
    return sample(Lanes(LEAF, tuple(numbers), ()), n, most)[:most]
