"""Batches functions that mix TensorFlow's operations with NumPy and Python numbers, operation by operation.

A function that leaves TensorFlow in between (`.numpy()`, `int(x)`) has no graph, but each of its calls has one: of the
call alone, read as NumPy (`reading.py`) and computed on lane values. Numbers whose last bits are TensorFlow's own are
TensorFlow's where something is decided by them: it is then called for every lane. Only traces see these stand-ins.
Where an element is run by itself, TensorFlow runs it.
"""

from __future__ import annotations

import contextlib
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from ..errors import Untraceable
from ..rules.arrays.call import Called, Row, Run, WithRow
from ..rules.error_bounds import Error, Inexact
from ..trace.lane import is_lane
from ..trace.modules import STANDINS, HeldModule
from ..trace.names import user_line
from .element import Element
from .kinds import CLOSE
from .operations import Unreadable
from .reading import Read, read
from .trace import Traced
from .whole import Number

MOST_READ = 512
SURE = frozenset(
    "Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Atan2 Sinh Cosh Tanh Asinh Acosh Atanh Sigmoid".split()
)
"""Functions of numbers for which NumPy and TensorFlow are a few roundings apart at most (six were seen)."""
CONSTANTS = (bool, int, float, str, type(None), tf.DType, tf.TensorShape, np.dtype, slice, type(Ellipsis))


@contextlib.contextmanager
def standing_in() -> Iterator[None]:
    """Traces that begin here see TensorFlow's functions as they are below."""
    token = STANDINS.set(stand_in)
    try:
        yield
    finally:
        STANDINS.reset(token)


def stand_in(value: Any) -> Any:
    """What a trace sees of something that belongs to TensorFlow; None where it does not, or cannot be seen through."""
    owner = value if isinstance(value, types.ModuleType | types.FunctionType | type) else type(value)
    module = owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__ or ""
    if module.split(".")[0] != "tensorflow" or isinstance(value, type | tf.Variable):
        return None
    if isinstance(value, types.ModuleType | tf.DType | tf.TensorShape):
        return value
    if isinstance(value, tf.Tensor):
        return Element(value.numpy())
    return Operation(value) if callable(value) else None


class Operation:
    """One of TensorFlow's functions, of lane values."""

    _up_aware = True

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        given = [_given(leaf) for leaf in tf.nest.flatten((args, keywords))]
        form = tf.nest.map_structure(lambda _: None, (args, keywords))
        key = self.fn, repr(form), tuple(one.key for one in given)
        call = _READ.get(key)
        if call is None:
            call = _READ[key] = _one_call(self.fn, form, given)
            while len(_READ) > MOST_READ:
                _READ.popitem(last=False)
        return call.over([one.value for one in given if one.spec is not None])


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument of a call: what it is known by, a spec where elements differ in it, and its value."""

    key: Any
    spec: Any
    value: Any
    python: bool = False
    """Whether it is a number of Python's, which takes the dtype of what it meets."""


def _given(leaf: Any) -> Operand:
    value = leaf.value if isinstance(leaf, Element) else leaf
    if is_lane(value):
        true = value._up_value
        python = type(true) in (int, float)
        dtype = np.dtype(type(true)) if type(true) in (bool, int, float) else getattr(true, "dtype", None)
        if dtype is None:
            raise _refused(f"gives TensorFlow a {type(true).__name__} that elements differ in")
        spec = tf.TensorSpec(np.shape(true), dtype)
        return Operand((dtype.str, tuple(spec.shape), python), spec, value, python)
    tensor = isinstance(leaf, Element | tf.Tensor)
    value = value.numpy() if isinstance(value, tf.Tensor) else value
    if isinstance(value, np.ndarray | np.generic):
        return Operand(
            (value.dtype.str, value.shape, value.tobytes(), tensor), None, _Constant(value) if tensor else value
        )
    if not isinstance(value, CONSTANTS):
        raise _refused(f"gives TensorFlow a {type(value).__name__}")
    return Operand((type(value), repr(value)), None, value)


@dataclass(frozen=True, slots=True)
class _Constant:
    """The numbers of a tensor that is the same for all elements: in a graph, a tensor of that graph."""

    numbers: Any


def _refused(reason: str) -> Untraceable:
    return Untraceable(reason, where=user_line())


@dataclass(frozen=True, slots=True)
class OneCall:
    """A function of TensorFlow for arguments of some kinds, read."""

    read: Read
    structure: Any
    settled: tuple[Settled, ...]
    """For every result what settles it, where its last bits are TensorFlow's own."""

    def over(self, values: list[Any]) -> Any:
        """What it makes of these lane values."""
        lanes = [value for value in values if is_lane(value)]
        trace = lanes[0]._up_trace if lanes else None
        numpy = np if trace is None else HeldModule(SimpleNamespace(trace=trace), np, ())
        with np.errstate(all="ignore"):  # TensorFlow never warns
            made = self.read.function([], np=numpy)(*values)
            outs = list(made) if isinstance(made, tuple) else [made]
            if trace is not None:
                outs = [trace.arrays.call(one, (out, *values), {}) for one, out in zip(self.settled, outs)] or outs
        return tf.nest.pack_sequence_as(self.structure, list(map(Element.of, outs)))


class Settled(WithRow):
    """A result of TensorFlow's, from what NumPy made of it and from the arguments.

    For all lanes it is NumPy's, for one lane it is TensorFlow's own; what a decision depends on is made for one lane
    after the other, unless it is far from where NumPy and TensorFlow could differ (`sure`).
    """

    def __init__(self, fn: Callable[..., Any], form: Any, given: Sequence[Operand], i: int, sure: bool) -> None:
        self.fn, self.form, self.given, self.i = fn, form, given, i
        self.row = Row(self, _nearly, close=True)
        self.spread = _as_nearly if sure else None
        self.__name__ = self.__qualname__ = getattr(fn, "__name__", "operation")
        self.__module__ = "builtins"

    def __call__(self, nearly: Any, *values: Any) -> Any:
        rest = iter(values)
        leaves = [_known(one.value) if one.spec is None else _tensor(one, next(rest)) for one in self.given]
        args, keywords = tf.nest.pack_sequence_as(self.form, leaves)
        return tf.nest.flatten(self.fn(*args, **keywords))[self.i].numpy()


def _nearly(called: Called) -> Run:
    return lambda nearly, *values: nearly.copy()


def _as_nearly(nearly: Inexact, *values: Any) -> Error:
    """What NumPy made is as far off as its arguments make it; the difference to TensorFlow is added."""
    return Error(nearly.error.relative, nearly.error.absolute)


def _known(value: Any) -> Any:
    return tf.constant(value.numbers) if isinstance(value, _Constant) else value


def _tensor(given: Operand, value: Any) -> Any:
    return value if given.python else tf.constant(value)


_READ: OrderedDict[Any, OneCall] = OrderedDict()


def _one_call(fn: Callable[..., Any], form: Any, given: Sequence[Operand]) -> OneCall:
    """The call's own graph, read; `Untraceable` where NumPy cannot do it, or it does more than compute."""
    specs = [one.spec for one in given if one.spec is not None]

    def one(*tensors: Any) -> Any:
        rest = iter(tensors)
        leaves = [_known(one.value) if one.spec is None else _symbol(one, next(rest)) for one in given]
        args, keywords = tf.nest.pack_sequence_as(form, leaves)
        return SPELLED.get(fn, fn)(*args, **keywords)

    try:
        concrete = tf.function(one, autograph=False).get_concrete_function(*specs)
    except Exception as error:  # what is wrong with it, the loop will say
        raise _refused(f"a call of TensorFlow has no graph: {' '.join(str(error).split())[:200]}") from error
    structure = concrete.structured_outputs
    outs = tf.nest.flatten(structure)
    if not outs or not all(isinstance(out, tf.Tensor) for out in outs):
        raise _refused("a function of TensorFlow gives something else than tensors")
    traced = Traced(concrete.graph, structure, tuple(map(tf.type_spec_from_value, outs)))
    if traced.acts or traced.draws or traced.checks or concrete.captured_inputs:
        raise _refused(f"{traced.acts or 'a function of TensorFlow'} does more than compute with its arguments")
    if traced.edge:
        raise _refused(f"{traced.edge} decides by numbers whose last bits are TensorFlow's own")
    try:
        found = read(traced, len(specs))
    except Unreadable as reason:
        raise _refused(str(reason)) from None
    unsure = range(len(outs)) if traced.kinds & CLOSE else ()
    sure = traced.kinds & CLOSE <= SURE and all(out.shape.rank == 0 for out in outs)
    return OneCall(found, structure, tuple(Settled(fn, form, given, i, sure) for i in unsure))


def _symbol(given: Operand, tensor: Any) -> Any:
    return Number(tensor) if given.python else tensor


def _constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """`tf.constant`, which does not take what is not known yet."""
    made = tf.convert_to_tensor(value)
    if shape is not None or (dtype is not None and not (made.dtype.is_floating and tf.as_dtype(dtype).is_floating)):
        raise _refused("makes a tf.constant of numbers that elements differ in, with another dtype or shape")
    return made if dtype is None else tf.cast(made, dtype)


SPELLED: dict[Any, Callable[..., Any]] = {tf.constant: _constant}
"""Functions that are called otherwise with what is not known yet."""
