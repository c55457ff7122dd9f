"""Writes a NumPy function in TensorFlow's own operations, where that is provably the same.

The function is traced with made-up arrays. Where all of its paths are known, however long the arrays are, each step is
spelled in TensorFlow, each decision is a `tf.cond`, and the whole is compared with the function. All that could tell is
refused: effects, decisions that depend on last bits, lengths that are looked at, what it captured and may change; and
random numbers and branches that no example took, unless the caller deals with these (`Terms`).
"""

from __future__ import annotations

import functools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..columns.forms import flatten
from ..columns.inputs import copied
from ..config import settings
from ..trace.grow import bind
from ..trace.names import Applied
from ..trace.paths import Roots
from ..trace.sequential_draws import DrawOp
from ..trace.tree import Const, Step
from ..verify import differ
from . import arranging, elementwise
from .examples import examples, tries
from .mapping import as_written
from .proof import LENGTHS, STRICT, Path, Proved, Terms, drawn_for, prove
from .value import Call, NotNative, Value, of_input, operand

TRIED = (*LENGTHS, 1, 2)
"""Lengths of axes whose length is not known, while results are compared."""
AUTOGRAPHS = ("autograph_info__", "ag_dnc_wrapper__")
"""Attributes that TensorFlow gives to functions it has seen."""


@as_written
def native_form(func: Callable[..., Any], *specs: Any, stateful: bool = True) -> Native:
    """The function in TensorFlow's own operations, for tensors of these specs; `NotNative` says why there is none.

    >>> import numpy as np, tensorflow as tf, upshift.tensorflow as ut
    >>> ut.native_form(lambda x: np.tanh(x) * 2, tf.TensorSpec([None, 3]))(tf.zeros([1, 3]))[0].numpy().tolist()
    [[0.0, 0.0, 0.0]]
    """
    return _native_of(prove(func, specs), specs, stateful)


# ---- what is known already


@dataclass(frozen=True, slots=True)
class Known:
    """What became of a function: `why` where it has no form in TensorFlow's operations."""

    proved: Proved | None
    native: Native | None
    why: str = ""


_KNOWN: OrderedDict[Any, Known] = OrderedDict()
_LOCK = threading.Lock()
MOST_KNOWN = 256


def look_at(func: Any, specs: Sequence[Any], stateful: bool, terms: Terms = STRICT) -> Known:
    """What is known of a function for arguments of these specs; looked at anew where what it stands on has changed."""
    if settings().disable:
        return Known(None, None, "UPSHIFT_DISABLE is set")
    anchor = func
    if isinstance(func, types.FunctionType) and not (func.__closure__ or func.__defaults__ or func.__kwdefaults__):
        anchor = func.__code__
    key = (
        anchor,
        stateful,
        terms,
        *((spec.dtype, tuple(spec.shape) if spec.shape.rank is not None else None) for spec in specs),
    )
    try:
        known = _KNOWN.get(key)
    except TypeError:  # a callable that cannot be looked up
        return _look(func, specs, stateful, terms)
    if known is None or (known.proved is not None and bind(known.proved.tree, func, {}) is None):
        known = _look(func, specs, stateful, terms)
        with _LOCK:
            _KNOWN[key] = known
            while len(_KNOWN) > MOST_KNOWN:
                _KNOWN.popitem(last=False)
    return known


def _look(func: Any, specs: Sequence[Any], stateful: bool, terms: Terms) -> Known:
    proved = None
    try:
        proved = prove(func, specs, terms)
        return Known(proved, _native_of(proved, specs, stateful, terms))
    except NotNative as reason:
        return Known(proved, None, str(reason))


# ---- TensorFlow's operations


Python = Callable[[str], list[Any]]
"""Calls the function itself on the tensors that are given, and remembers why."""


@dataclass(frozen=True, slots=True)
class Native:
    """A function in TensorFlow's operations."""

    proved: Proved
    constants: dict[int, Any]
    """What it captured, as it was when this was made."""

    def __call__(self, *tensors: Any, python: Python | None = None, drawn: Sequence[Any] = ()) -> list[Any]:
        """Results, as tensors. `python`: what is asked on paths that have no operations; `drawn`: random numbers."""
        kinds = self.proved.tree.kinds
        values: dict[int, Any] = dict(self.constants)
        values |= {i: of_input(x, kind.dtype) for i, (x, kind) in enumerate(zip(tensors, kinds, strict=True))}
        for step in self._draws() if drawn else ():
            values[step.out] = of_input(drawn[step.refs[0].value], step.kind.dtype)
        return self._along(self.proved.path, values, python)

    def _draws(self) -> Iterator[Any]:
        """Steps that draw a number: every path has its own."""
        return (step for node in self.proved.tree.nodes() for step in node.steps if isinstance(step.op, DrawOp))

    def _along(self, path: Path, values: dict[int, Any], python: Python | None) -> list[Any]:
        values = dict(values)
        for step in path.steps:
            if step.out not in values:
                values[step.out] = _made(step, [_read(ref, values) for ref in step.refs])
        if path.leaf is not None:
            pairs = zip(path.leaf.refs, self.proved.outputs, strict=True)
            return [_result(_read(ref, values), spec) for ref, spec in pairs]
        decision = operand(_read(path.ref, values), np.dtype(bool))
        if decision.ndim:
            raise NotNative("it decides by an array")
        yes, no = (functools.partial(self._aside, branch, values, python) for branch in path.branches)
        made: list[Any] = tf.cond(decision.x, yes, no)
        for x, spec in zip(made, self.proved.outputs, strict=True):
            if python is None:
                x.set_shape(spec.shape)
        return made

    def _aside(self, path: Path, values: dict[int, Any], python: Python | None) -> list[Any]:
        """One side of a decision, which may be Python's."""
        if python is None:
            return self._along(path, values, None)
        try:
            if not path.unknown:
                return self._along(path, values, python)
            reason = path.unknown
        except NotNative as found:
            reason = str(found)
        return python(reason)


def _result(value: Any, spec: Any) -> Any:
    x = tf.identity(value.x) if isinstance(value, Value) else tf.constant(np.asarray(value), spec.dtype)
    if x.dtype != spec.dtype or x.shape.rank != spec.shape.rank:
        raise NotNative(f"TensorFlow makes {x.dtype.name}{x.shape}, NumPy {spec}")
    x.set_shape(spec.shape)
    return x


def _native_of(proved: Proved, specs: Sequence[Any], stateful: bool, terms: Terms = STRICT) -> Native:
    """A function in TensorFlow's operations, compared with the function itself."""
    made = Native(proved, _captured(proved, stateful))
    for length in TRIED if any(None in spec.shape.as_list() for spec in specs) else TRIED[:1]:
        for i in tries(specs):
            _compare(made, examples(specs, length, i), terms.partly)
    return made


def _captured(proved: Proved, stateful: bool) -> dict[int, Any]:
    roots = Roots(proved.func, {})
    found = {}
    for capture in proved.tree.captures.values():
        if capture.path[-1][1] in AUTOGRAPHS:
            continue
        value = roots.read(capture.path)
        if stateful and (capture.is_input or not _stays(value)) and capture.mode not in ("code", "type"):
            name = capture.path[-1][1]
            raise NotNative(f"it captures {name!r}, which may change: say stateful=False if it does not")
        if capture.is_input:
            found[capture.id] = np.array(value) if isinstance(value, np.ndarray) else value
    return found


def _stays(value: Any) -> bool:
    return callable(value) or isinstance(value, types.ModuleType | type | np.dtype)


def _compare(made: Native, row: tuple[Any, ...], partly: bool) -> None:
    tree, func = made.proved.tree, made.proved.func
    drawn = drawn_for(tree, func, 1) if tree.draws else None
    if drawn is not None:
        drawn.put_back()
    with np.errstate(all="ignore"):
        try:
            want = flatten(func(*copied(row)))[1]
        except Exception as error:
            if partly:
                return  # as it will in the graph
            raise NotNative(f"it raises {type(error).__name__} for some arguments") from error
        finally:
            if drawn is not None:
                drawn.put_back()
    outputs = made.proved.outputs

    def python(reason: str) -> list[Any]:
        return [tf.constant(one, spec.dtype) for one, spec in zip(want, outputs, strict=True)]

    try:
        with tf.init_scope():
            tensors = [tf.constant(argument) for argument in row]
            numbers = [tf.constant(one) for one in drawn.of_lane(0)] if drawn is not None else []
            got = [one.numpy() for one in made(*tensors, python=python if partly else None, drawn=numbers)]
    except (TypeError, ValueError, tf.errors.OpError) as error:
        text = str(error).strip().split("\n")[0]
        raise NotNative(f"TensorFlow does not take it: {text[:160]}") from error
    for one, other in zip(want, got, strict=True):
        reason = differ(np.asarray(one), np.asarray(other), exact=False)
        if reason is not None:
            raise NotNative(f"its result is not NumPy's: {reason}")


def _read(ref: Any, values: dict[int, Any]) -> Any:
    return ref.value if isinstance(ref, Const) else values[ref]


def _made(step: Step, args: list[Any]) -> Any:
    """What a step makes; by Python, where its arguments are constants."""
    if not any(isinstance(arg, Value) for arg in args):
        return step.fn(*args)
    fn, given, keywords = step.fn, tuple(args), {}
    if isinstance(fn, Applied):
        listed, keywords = fn.form.build(iter(args))
        fn, given = fn.fn, tuple(listed)
    row = elementwise.row_of(fn) or arranging.row_of(fn)
    if row is None or step.kind is None or step.kind.parts is not None:
        raise NotNative(f"{getattr(fn, '__name__', fn)} is not spelled in TensorFlow ({step.where})")
    value = row(Call(fn, given, dict(keywords), step.kind))
    if value.dtype != step.kind.dtype or value.ndim != len(step.kind.lane_shape):
        raise NotNative(f"TensorFlow's {getattr(fn, '__name__', fn)} makes {value.dtype}, NumPy's {step.kind}")
    return value
