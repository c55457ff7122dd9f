"""`ut.numpy_function` and `ut.py_function`, with TensorFlow's own signatures.

In eager mode the function is called at once. In a graph it becomes TensorFlow's own operations where that is provably
the same (`native.py`), on those of its paths for which that is so; else Python is called there, as TensorFlow does, on
TensorFlow's own memory. A function that writes into its arguments gets copies, so that nobody else sees it.

`Tout` is kept in eager mode as well: a result that cannot be made that dtype without loss is an error.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from .bridge import Array, as_tensor, handed_over
from .calling import Caller
from .mapping import as_written
from .native import Known, Python, look_at
from .proof import Proved, Terms
from .value import NotNative

log = logging.getLogger("upshift")
PYTHON = (bool, int, float, complex)
REASONS: dict[str, str] = {}
"""Why Python is called, by the name that TensorFlow gives to the call."""


@as_written
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """`tf.numpy_function`: the same arguments, the same results.

    >>> import numpy as np, tensorflow as tf, upshift.tensorflow as ut
    >>> ut.numpy_function(lambda x: np.sqrt(x) + 1, [tf.constant([4.0, 9.0])], tf.float32).numpy().tolist()
    [3.0, 4.0]
    >>> def shares(x):
    ...     return x / x.sum(axis=1, keepdims=True)
    >>> graph = tf.function(lambda x: ut.numpy_function(shares, [x], tf.float32))
    >>> graph(tf.constant([[1.0, 3.0]])).numpy().tolist()
    [[0.25, 0.75]]

    `stateful=False` says that the function gives the same for the same arguments. Then numbers and arrays that it
    captured may become constants of the graph. In TensorFlow's own operations it has gradients, compiles under XLA and
    can be saved; `ut.native_form(func, *specs)` tells whether it is, or why not.
    """
    if func is None:
        return functools.partial(_decorated, Tout=Tout, stateful=stateful, name=name)
    _check(func, inp)
    assert inp is not None
    inp = [tf.convert_to_tensor(x) for x in inp]
    if tf.executing_eagerly():
        return (
            _under_tape(func, inp, Tout, stateful) if record.should_record_backprop(inp) else _eagerly(func, inp, Tout)
        )
    wanted = _dtypes(Tout)
    results = _in_graph(func, inp, wanted, stateful, name)
    return results if isinstance(Tout, list | tuple) else results[0]


@as_written
def py_function(
    func: Callable[..., Any] | None = None, inp: Sequence[Any] | None = None, Tout: Any = None, name: str | None = None
) -> Any:
    """`tf.py_function`: in eager mode a plain call on the tensors, under whatever tape there is.

    >>> import tensorflow as tf, upshift.tensorflow as ut
    >>> ut.py_function(lambda x: x * 2 if x > 1 else x, [tf.constant(3.0)], tf.float32).numpy().item()
    6.0
    """
    if func is None:
        return tf.py_function(Tout=Tout, name=name)
    _check(func, inp)
    assert inp is not None
    wanted = Tout if isinstance(Tout, list | tuple) else [Tout]
    if not tf.executing_eagerly() or not all(isinstance(dtype, tf.DType | type | str) for dtype in wanted):
        return tf.py_function(func, inp, Tout, name)
    result = func(*(tf.convert_to_tensor(x) for x in inp))
    results = _several(result, len(wanted))
    made = [tf.convert_to_tensor(one, tf.as_dtype(dtype)) for one, dtype in zip(results, wanted, strict=True)]
    return made if isinstance(Tout, list | tuple) else made[0]


def _decorated(func: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    @functools.wraps(func)
    def called(*inp: Any) -> Any:
        return numpy_function(func, inp, **options)

    return called


class BrokenPromise(tf.errors.InvalidArgumentError, TypeError):  # type: ignore[misc]
    """Results are not what `Tout` says. A TypeError, too, which is an InvalidArgumentError when a graph raises it."""

    def __init__(self, text: str) -> None:
        super().__init__(None, None, text)


def _check(func: Any, inp: Any) -> None:
    if not callable(func):
        raise ValueError(f"func must be callable, not {func!r}")
    if not isinstance(inp, list | tuple):
        raise TypeError(f"inp must be a list of tensors, not {inp!r}")


def _dtypes(Tout: Any) -> list[Any]:
    return [tf.as_dtype(dtype) for dtype in (Tout if isinstance(Tout, list | tuple) else [Tout])]


def _several(result: Any, count: int) -> list[Any]:
    """A function's results as a list of so many."""
    results = list(result) if isinstance(result, list | tuple) else [] if result is None and not count else [result]
    if len(results) != count:
        raise BrokenPromise(f"func gives {len(results)} results, Tout has {count}")
    return results


def _eagerly(func: Callable[..., Any], inp: Sequence[Any], Tout: Any) -> Any:
    """The function's results; as in TensorFlow, one result is a tensor even if `Tout` is a list of one."""
    wanted = _dtypes(Tout)
    results = _several(func(*(np.array(x) for x in inp)), len(wanted))
    made = [as_tensor(_settled(one, dtype)) for one, dtype in zip(results, wanted, strict=True)]
    return made[0] if len(made) == 1 else made


def _under_tape(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool) -> Any:
    """With gradients, where the function can be told in TensorFlow's own operations."""
    known = look_at(func, [tf.TensorSpec([None] * x.ndim, x.dtype) for x in inp], stateful)
    if known.native is None:
        known = look_at(func, [tf.TensorSpec(x.shape, x.dtype) for x in inp], stateful)
    made, _ = _by_operations(known, inp, _dtypes(Tout), None, None)
    if made is None:
        return _eagerly(func, inp, Tout)
    return made[0] if len(made) == 1 else made


def _settled(value: Any, dtype: Any) -> Array:
    """A result as the array that was promised. Python's numbers have no dtype of their own."""
    array = np.asarray(value)
    if dtype == tf.string:
        return np.asarray(value, object) if array.dtype.kind == "S" else array
    wanted = np.dtype(dtype.as_numpy_dtype)
    if array.dtype == wanted:
        return array
    if type(value) in PYTHON and np.can_cast(type(value), wanted, "same_kind"):
        return np.asarray(value, wanted)
    if type(value) is int and wanted.kind in "u" and value >= 0:
        return np.asarray(value, wanted)
    if not np.can_cast(array.dtype, wanted, "safe"):
        raise BrokenPromise(f"func gives {array.dtype}, Tout says {dtype.name}")
    return array.astype(wanted)


# ---- graphs


def _in_graph(func: Any, inp: Sequence[Any], wanted: list[Any], stateful: bool, name: str | None) -> list[Any]:
    specs = [tf.TensorSpec(x.shape, x.dtype) for x in inp]
    known = look_at(func, specs, stateful)
    results, why = _by_operations(known, inp, wanted, name, None)
    if results is None:
        partly = look_at(func, specs, stateful, Terms(partly=True))
        if partly.proved is not None:
            python = functools.partial(_aside, func, inp, partly.proved, stateful)
            results, _ = _by_operations(partly, inp, wanted, name, python)
    if results is None:
        results = _by_python(func, inp, wanted, stateful, name, known.proved)
        _explain(func, results, why)
    return results


def _aside(func: Any, inp: Sequence[Any], proved: Proved, stateful: bool, why: str) -> list[Any]:
    """Python on a path of the graph that has no operations. It has no gradient there, and says so if asked for one."""
    dtypes = [spec.dtype for spec in proved.outputs]

    def computed(*tensors: Any) -> tuple[list[Any], Callable[..., Any]]:
        results = _by_python(func, tensors, dtypes, stateful, None, None)
        _explain(func, results, why)

        def refuse(*upstream: Any, **keywords: Any) -> NoReturn:
            raise NotNative(f"Python has no gradient: {_told(func, why)}")

        return results, refuse

    made: list[Any] = tf.custom_gradient(computed)(*inp)
    return made


def _by_operations(
    known: Known, inp: Sequence[Any], wanted: list[Any], name: str | None, python: Python | None
) -> tuple[list[Any] | None, str]:
    """Results in TensorFlow's own operations; None, and why, where there are none."""
    if known.native is None or known.proved is None:
        return None, known.why
    if not _fits(known.proved, wanted):
        return None, "its results are not what Tout says"
    try:
        with tf.name_scope(name or "numpy_function"):
            made = known.native(*inp, python=python)
            return [tf.cast(x, dtype) for x, dtype in zip(made, wanted, strict=True)], ""
    except NotNative as reason:
        return None, str(reason)


def _explain(func: Any, results: list[Any], why: str) -> None:
    told = _told(func, why)
    log.info("upshift: Python is called in a graph: %s", told)
    if results:
        REASONS[results[0].op.get_attr("token").decode()] = told


def _told(func: Any, why: str) -> str:
    code = getattr(func, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    return f"{getattr(func, '__qualname__', func)}{where}: {why}"


def _fits(proved: Proved, wanted: list[Any]) -> bool:
    """Whether its results are what was promised; if not, the call in the graph will say so."""
    if len(proved.outputs) != len(wanted):
        return False
    have = [np.dtype(spec.dtype.as_numpy_dtype) for spec in proved.outputs]
    pairs = zip(have, wanted, strict=True)
    return all(dtype != tf.string and np.can_cast(one, dtype.as_numpy_dtype, "safe") for one, dtype in pairs)


def _by_python(
    func: Any, inp: Sequence[Any], wanted: list[Any], stateful: bool, name: str | None, proved: Proved | None
) -> list[Any]:
    """One call of Python in the graph; shapes are set where they depend on nothing but the arguments' shapes."""
    results: list[Any] = tf.numpy_function(Called(func, wanted), inp, wanted, stateful, name)
    if proved is not None and len(proved.outputs) == len(wanted):
        for tensor, spec in zip(results, proved.outputs, strict=True):
            tensor.set_shape(spec.shape)
    return results


class Called:
    """A function, as a graph calls it."""

    def __init__(self, func: Callable[..., Any], wanted: list[Any]) -> None:
        self.call, self.wanted = Caller(func), wanted
        self.__name__ = getattr(func, "__name__", type(func).__name__)

    def __call__(self, *args: Any) -> list[Any]:
        made, given = self.call(args)
        results = _several(made.pop(), len(self.wanted))
        for i, dtype in enumerate(self.wanted):
            results[i] = _settled(results[i], dtype)
        return handed_over(results, given)
