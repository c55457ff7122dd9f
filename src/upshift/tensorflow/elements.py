"""`up.map` of functions that give tensors, in the ways of `map_fn`.

Elements are what the loop gives to the function: tensors, NumPy's numbers and arrays, or Python's floats and ints.
Where a graph is made they are not known yet: then NumPy's may only be handed on to TensorFlow, which converts them
(`Raw`), and Python's become tensors of whatever dtype is asked for (`whole.Number`).
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..columns.inputs import common_length, elements_of, protected
from ..columns.stacking import stack
from ..config import settings
from ..gears.capture_reader import MISS
from ..plan.explained import Explanation
from .bridge import as_array, as_tensor
from .call import Call
from .captured import snapshot_of
from .eager import call_each, run_loop
from .explain import explain_call
from .mapping import run as run_call
from .operations import DTYPES
from .plan import at_a_glance
from .results import EAGER
from .surroundings import draws_as_told
from .whole import Number


class Raw:
    """A number or an array of NumPy's that is not known yet: TensorFlow may have it, and nobody else."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        wanted = self.x.dtype if dtype is None else tf.as_dtype(dtype)
        if wanted == self.x.dtype:
            return self.x
        if not (wanted.is_floating and self.x.dtype.is_floating):
            raise TypeError(f"a {self.x.dtype.name} of NumPy's does not become {wanted.name}")
        return tf.cast(self.x, wanted)

    def _compared(self, operation: Any, other: Any) -> Any:
        """With Python's numbers, floats of NumPy's and of TensorFlow's are compared alike; nothing warns."""
        if not self.x.dtype.is_floating or self.x.shape.rank or type(other) not in (int, float):
            raise TypeError("NumPy compares this")
        return operation(self.x, other)

    def __lt__(self, other: Any) -> Any:
        return self._compared(tf.less, other)

    def __le__(self, other: Any) -> Any:
        return self._compared(tf.less_equal, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(tf.greater, other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(tf.greater_equal, other)


class Given:
    """One element's tensor in; what the loop gives to the function out."""

    def __init__(self, cls: type | None) -> None:
        self.cls = cls
        """Python's own class, or None for NumPy's numbers and arrays."""

    def __call__(self, x: Any) -> Any:
        if not isinstance(x, tf.Tensor):
            raise TypeError("no tensor")
        if not hasattr(x, "_numpy"):
            return Raw(x) if self.cls is None else Number(x)
        array = as_array(x)
        if self.cls is None:
            return protected(array) if array.ndim else array[()]
        if array.ndim:
            raise TypeError("Python's numbers come one at a time")
        return array.item()


GIVEN: dict[str, Any] = {"numpy": Given(None), "float": Given(float), "int": Given(int)}
_CODES: dict[Any, tuple[Any, types.CodeType]] = {}
_GIVES_TENSORS: dict[Any, tuple[Any, bool]] = {}
MOST = 1024


def run(f: Any, xs: Sequence[Any], shared: dict[str, Any], exact: bool) -> Any:
    """What `up.map` gives, stacked as tensors; MISS where the function does not give tensors."""
    if len(xs) == 1 and type(xs[0]) is EAGER and not shared and not exact:
        code = getattr(f, "__code__", None)
        if _GIVES_TENSORS.get((id(code), ("tensor",))) == (code, True):
            made = at_a_glance(f, xs[0], lenient=True)
            if made is not MISS:
                return made
    call = call_for(f, xs, shared)
    if call is None:
        return MISS
    if not all(map(_is_of_tensors, call.begun)):
        return stack(call_each(call))
    return run_loop(call) if exact or settings().disable else run_call(call)


def explain(f: Any, xs: Sequence[Any], shared: dict[str, Any]) -> Explanation | None:
    """What is known of such a call; None where it is none."""
    call = call_for(f, xs, shared)
    if call is None or not all(map(_is_of_tensors, call.begun)):
        return None
    return explain_call(call, getattr(f, "__qualname__", None) or type(f).__name__)


def call_for(f: Any, xs: Sequence[Any], shared: dict[str, Any]) -> Call | None:
    """The arguments of `up.map` as a call of `map_fn`, if the function gives tensors; None if not."""
    if len(xs) == 1 and type(xs[0]) is tuple and not shared:
        return _of_records(f, xs[0])
    kinds = [_kind(x) for x in xs]
    if not xs or None in kinds or not tf.executing_eagerly():
        return None
    rows = [x if kind == "tensor" else elements_of(x) for x, kind in zip(xs, kinds, strict=True)]
    n = common_length(rows)
    inner = functools.partial(f, **shared) if shared else f
    if not n:
        return None
    columns = tuple(x if kind == "tensor" else as_tensor(np.asarray(x)) for x, kind in zip(xs, kinds, strict=True))
    if isinstance(getattr(f, "func", f), tf.types.experimental.GenericFunction):  # it makes tensors of arrays itself
        kinds = ["tensor" if kind == "numpy" else kind for kind in kinds]
    around = functools.partial(_wrapped, kinds=tuple(kinds), code=getattr(inner, "__code__", inner))
    plain = kinds == ["tensor"]
    elems: Any = columns[0] if len(columns) == 1 else columns
    call = Call(inner if plain else around(inner), elems, columns, None, n, lenient=True, loop=(inner, tuple(rows)),
                around=None if plain else around)  # fmt: skip
    return _if_tensors(call, tuple(kinds))


def _of_records(f: Any, columns: tuple[Any, ...]) -> Call | None:
    """Elements that are tuples of tensors, as those of `map_fn` are."""
    if any(_kind(x) != "tensor" for x in columns) or not tf.executing_eagerly():
        return None
    if len({len(x) for x in columns}) != 1:
        return None  # an error of `up.map`'s own
    n = len(columns[0])
    return _if_tensors(Call(f, columns, columns, None, n, lenient=True), ("record",)) if n else None


def _kind(x: Any) -> str | None:
    """What the elements of a column are; None for what is left to `up.map`."""
    if isinstance(x, tf.Tensor):
        return "tensor" if x.shape.rank and hasattr(x, "_numpy") else None
    if isinstance(x, np.ndarray) and x.ndim and x.dtype.kind in "biufc":
        return "numpy" if tf.as_dtype(x.dtype) in DTYPES else None
    if type(x) is list and x and type(x[0]) in (float, int):
        cls = type(x[0])
        fits = all(type(one) is cls for one in x) and (cls is float or all(-(2**31) <= one < 2**31 for one in x))
        return cls.__name__ if fits else None
    return None


def _if_tensors(call: Call, kinds: tuple[Any, ...]) -> Call | None:
    """The call, if results are tensors: by the function's first element, which is run for that if it is pure. A call
    whose first result is no tensor is for the loop."""
    f = call.fn if call.loop is None else call.loop[0]
    code = getattr(f, "__code__", f)
    key = id(code), kinds
    known = _GIVES_TENSORS.get(key)
    if known is not None and known[0] is code:
        return call if known[1] else None
    snapshot = snapshot_of(f)
    if snapshot.acts:
        return None
    try:
        (result,) = call_each(call, 0, 1)
    except Exception:  # which the loop will meet, too
        return None
    gives = _is_of_tensors(result)
    if len(_GIVES_TENSORS) > MOST:
        _GIVES_TENSORS.clear()
    _GIVES_TENSORS[key] = code, gives
    drawn = draws_as_told() and snapshot.uses_tensorflow  # it may be, and must not be drawn again
    return dataclasses.replace(call, begun=(result,)) if gives or drawn else None


def _is_of_tensors(result: Any) -> bool:
    leaves = tf.nest.flatten(result)
    return bool(leaves) and all(isinstance(leaf, tf.Tensor) for leaf in leaves)


def _wrapped(f: Any, kinds: tuple[Any, ...], code: Any) -> Callable[[Any], Any]:
    """A function of one element's tensors. For every code it has one of its own: plans are remembered by code."""
    key = id(code), kinds
    if key not in _CODES or _CODES[key][0] is not code:
        if len(_CODES) > MOST:
            _CODES.clear()
        places = ["t"] if len(kinds) == 1 else [f"t[{i}]" for i in range(len(kinds))]
        given = [p if kind == "tensor" else f"{kind}({p})" for p, kind in zip(places, kinds, strict=True)]
        text = f"lambda f, {', '.join(GIVEN)}: lambda t: f({', '.join(given)})"
        _CODES[key] = code, eval(text)(None, *GIVEN.values()).__code__.replace()
    made = _CODES[key][1]
    held = {"f": f, **GIVEN}
    return types.FunctionType(made, {}, "element", None, tuple(types.CellType(held[n]) for n in made.co_freevars))
