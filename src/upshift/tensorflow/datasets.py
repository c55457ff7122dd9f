"""`ut.map_dataset`: maps a plain function over a tf.data.Dataset, a batch at a time."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import debug_mode

from ..gears.streams import Streams
from .batches import FINE, Batches
from .mapping import as_written
from .native import look_at
from .proof import Terms, drawn_for
from .sampled import Sampled, arguments_of, leaves_of, nested, sample
from .value import NotNative

AUTOTUNE = tf.data.AUTOTUNE
MOST_ELEMENTS = 256
"""In a batch: more would not make the way through Python cheaper."""
BATCH_BYTES = 1 << 22
"""Of elements and results in a batch: larger ones leave the caches, and copying them costs more than calls do."""
BATCH_SECONDS = 0.02
OPAQUE_SECONDS = 100e-6
"""Of one call of a function that nobody sees into, from which on elements go alone, several at a time."""
DEAR_SECONDS = 1e-3
"""Of one call, from which on a plan is made even for elements that go alone."""
FEWEST_ELEMENTS = 16
"""In a batch, where copying its elements together still pays."""
LARGE_BYTES, LARGE_IN_BATCHES = 1 << 16, 1 << 19
"""Of an element and its result, from which on TensorFlow's own operations cost less than the way through Python."""
DRAWN_AHEAD = 64
"""Elements whose random numbers are drawn together, if these are not too many to stay in the caches."""
STRING_BYTES = 64
log = logging.getLogger("upshift")


@as_written
def map_dataset(
    ds: Any,
    f: Callable[..., Any],
    batch_size: int | None = None,
    num_parallel_calls: int | None = AUTOTUNE,
    deterministic: bool = True,
    *,
    ignore_errors: Callable[[int, Exception], object] | None = None,
    randomness: str = "loop",
    seed: Any = None,
    output_signature: Any = None,
) -> Any:
    """`ds.map` for a NumPy or plain Python function: gives `[f(*e) for e in ds.as_numpy_iterator()]`, as a dataset.

    >>> import numpy as np, tensorflow as tf, upshift.tensorflow as ut
    >>> ds = tf.data.Dataset.from_tensor_slices([1.0, 4.0, 9.0])
    >>> [float(x) for x in ut.map_dataset(ds, lambda x: np.sqrt(x) if x > 2 else -x)]
    [-1.0, 2.0, 3.0]
    >>> next(iter(ut.map_dataset(ds, lambda x: (x, x * x), batch_size=2)))[1].numpy().tolist()
    [1.0, 16.0]

    A tuple's items are several arguments of `f`, a dict is one. `f` is tried on the first elements to find out what it
    gives; `output_signature` (a nest of `tf.TensorSpec`) tells instead: needed where `ds` can be read only once.
    With `batch_size` elements stay in batches, which is by far the fastest. `deterministic=False` gives up the order of
    elements, and of calls; else functions that draw random numbers, or act, are called in order, one at a time.
    `ignore_errors(index, error)` is called for elements that raise, which are left out. An error that is not ignored
    names its element. `randomness="independent"`: every element has a random stream of its own, from `seed` and its
    place.
    """
    _check(ds, f, batch_size, randomness)
    if output_signature is None and not tf.executing_eagerly():
        raise ValueError("inside a graph no element can be tried: pass output_signature=")
    sampled = sample(ds, f) if output_signature is None else Sampled(output_signature)
    specs = (*tf.nest.flatten(ds.element_spec), *leaves_of(sampled.spec))
    size = batch_size or _size_for(specs, sampled.seconds)
    alone = not all(_has_room(spec) for spec in specs) or (batch_size is None and size < FEWEST_ELEMENTS)
    dear = sampled.batches and sampled.seconds > DEAR_SECONDS
    opaque = sampled.pure and not sampled.batches
    alone = alone or debug_mode.DEBUG_MODE or (opaque and sampled.seconds > OPAQUE_SECONDS)
    size = 1 if alone else size
    calls = Batches(f, ds.element_spec, sampled.spec, sampled.again, size, randomness, seed, dear, ignore_errors)
    large = _bytes_of(specs) >= (LARGE_BYTES if batch_size is None else LARGE_IN_BATCHES)
    if large and ignore_errors is None and randomness == "loop" and not debug_mode.DEBUG_MODE:
        try:
            made = _by_operations(ds, calls, num_parallel_calls, deterministic)
            return made if batch_size is None else made.batch(batch_size)
        except NotNative as reason:
            log.info("upshift: Python is called in a dataset: %s", reason)
    if deterministic and not sampled.pure and num_parallel_calls is not None:
        num_parallel_calls = 1
    build = _one_by_one if alone else _in_batches
    return build(ds, calls, batch_size, _how(num_parallel_calls, deterministic))


def map(f: Callable[..., Any], **options: Any) -> Callable[[Any], Any]:
    """`ds.apply(ut.map(f))`; options are those of `map_dataset`.

    >>> import tensorflow as tf, upshift.tensorflow as ut
    >>> [int(x) for x in tf.data.Dataset.range(3).apply(ut.map(lambda i: i * i))]
    [0, 1, 4]
    """
    return functools.partial(map_dataset, f=f, **options)


def _check(ds: Any, f: Any, batch_size: Any, randomness: str) -> None:
    if not isinstance(ds, tf.data.Dataset):
        raise TypeError(f"map_dataset needs a tf.data.Dataset, not {ds!r}")
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    if randomness not in ("loop", "independent"):
        raise ValueError(f'randomness must be "loop" or "independent", not {randomness!r}')
    if randomness == "independent":
        Streams(f, {}, 0)  # an error where there is nothing to draw from
    leaves = tf.nest.flatten(ds.element_spec)
    odd = [leaf for leaf in leaves if not isinstance(leaf, tf.TensorSpec)]
    if odd or not leaves:
        raise TypeError(f"elements must be tensors, or tuples and dicts of them, not {(odd or [ds.element_spec])[0]!r}")


def _how(num_parallel_calls: int | None, deterministic: bool) -> dict[str, Any]:
    """What `Dataset.map` is told."""
    if num_parallel_calls is None:
        return {"num_parallel_calls": None}
    return {"num_parallel_calls": num_parallel_calls, "deterministic": deterministic}


def _bytes_of(specs: Any) -> int:
    """Of an element and its result."""
    sizes = [spec.shape.num_elements() or 1 for spec in specs]
    widths = [STRING_BYTES if spec.dtype == tf.string else spec.dtype.size for spec in specs]
    return max(int(np.dot(sizes, widths)), 1)


def _size_for(specs: Any, seconds: float) -> int:
    """How many elements make a batch, where the user does not say."""
    by_time = max(int(BATCH_SECONDS / seconds), 16) if seconds else MOST_ELEMENTS
    return max(min(BATCH_BYTES // _bytes_of(specs), by_time, MOST_ELEMENTS), 1)


def _has_room(spec: Any) -> bool:
    """Whether all elements have the same shape, with numbers in it: `Dataset.unbatch` ends the process on others."""
    return bool(spec.shape.is_fully_defined()) and spec.shape.num_elements() > 0


# ---- pipelines


def _in_batches(ds: Any, calls: Batches, batch_size: int | None, how: dict[str, Any]) -> Any:
    batches = ds.batch(calls.size).enumerate()
    if calls.callback is not None:
        kept = batches.map(_graph(calls.kept, calls.spec, rows=True), **how)
        return kept.flat_map(_slices(calls.spec)) if batch_size is None else kept.rebatch(batch_size)
    if batch_size is not None:
        return batches.map(_graph(calls.whole, calls.spec, rows=True), **how)
    parts = batches.map(_in_parts(calls), **how).unbatch().map(_part(calls)).unbatch()
    n = ds.cardinality()
    return parts if tf.executing_eagerly() and n < 0 else parts.take(n)


def _one_by_one(ds: Any, calls: Batches, batch_size: int | None, how: dict[str, Any]) -> Any:
    elements = ds.enumerate()
    if calls.callback is not None:
        kept = elements.map(_graph(calls.one_kept, calls.spec, rows=True), **how)
        made = kept.flat_map(_slices(calls.spec))
    else:
        made = elements.map(_graph(calls.one, calls.spec, rows=False), **how)
    return made if batch_size is None else made.batch(batch_size)


def _by_operations(ds: Any, calls: Batches, num_parallel_calls: int | None, deterministic: bool) -> Any:
    """Results in TensorFlow's own operations; of Python nothing is left but to draw random numbers, in order."""
    specs = arguments_of(calls.element)
    if not all(isinstance(spec, tf.TensorSpec) for spec in specs):
        raise NotNative("its arguments are not tensors")
    known = look_at(calls.f, specs, stateful=True, terms=Terms(draws=True))
    native = known.native
    if native is None:
        raise NotNative(known.why)
    single = isinstance(calls.spec, tf.TensorSpec)
    if native.proved.outputs != leaves_of(calls.spec) or native.proved.several != (type(calls.spec) is tuple):
        raise NotNative("its results were others than expected")

    def mapped(element: Any, drawn: Any) -> Any:
        made = native(*arguments_of(element), drawn=drawn)
        return made[0] if single else tuple(made)

    how = _how(num_parallel_calls, deterministic)
    if not native.proved.tree.draws:
        return ds.map(as_written(lambda *element: mapped(element, ())), **how)
    return _with_draws(ds, calls.f, native.proved.tree).map(as_written(mapped), **how)


def _with_draws(ds: Any, f: Any, tree: Any) -> Any:
    """Every element, as a tuple, and its random numbers: drawn ahead where it is known how many elements there are."""
    n = int(ds.cardinality()) if tf.executing_eagerly() else tf.data.UNKNOWN_CARDINALITY
    kinds = [turn.kind for turn in tree.turns]

    def draw(size: int) -> list[Any]:
        return drawn_for(tree, f, int(size)).columns

    def columns(size: Any) -> Any:
        made = tf.numpy_function(draw, [size], [tf.as_dtype(kind.dtype) for kind in kinds])
        for tensor, kind in zip(made, kinds, strict=True):
            tensor.set_shape([None, *kind.lane_shape])
        return tuple(made)

    if n == tf.data.UNKNOWN_CARDINALITY:
        return ds.map(as_written(lambda *element: (element, tuple(column[0] for column in columns(1)))))
    ahead = min(max(BATCH_BYTES // sum(_bytes_of_draw(kind) for kind in kinds), 1), DRAWN_AHEAD)
    whole, rest = divmod(n, ahead) if n >= 0 else (-1, 0)
    sizes = tf.data.Dataset.from_tensors(tf.constant(ahead)).repeat(whole)
    sizes = sizes.concatenate(tf.data.Dataset.from_tensors(tf.constant(rest)).take(int(rest > 0)))
    drawn = sizes.map(as_written(columns)).unbatch()
    return tf.data.Dataset.zip((ds.map(as_written(lambda *element: element)), drawn))


def _bytes_of_draw(kind: Any) -> int:
    return int(kind.dtype.itemsize * np.prod(kind.lane_shape, dtype=int)) or 1


def _graph(call: Callable[..., list[Any]], spec: Any, rows: bool) -> Callable[[Any, Any], Any]:
    """A call of Python, as part of a dataset's graph."""
    specs = leaves_of(spec)

    def mapped(k: Any, element: Any) -> Any:
        made = tf.numpy_function(call, [k, *tf.nest.flatten(element)], [leaf.dtype for leaf in specs])
        made = made if isinstance(made, list | tuple) else [made]  # eagerly, one result is not listed
        for tensor, leaf in zip(made, specs, strict=True):
            tensor.set_shape(_column_shape(leaf) if rows else leaf.shape)
        return nested(spec, list(made))

    return as_written(mapped)


def _column_shape(spec: Any) -> Any:
    return tf.TensorShape([None]).concatenate(spec.shape)


# A batch whose third element raises is three parts: two elements, an error, the others. tf.data knows how many elements
# come out of `unbatch` only if their number is written in a shape, and where it is told how many there are, it fails at
# the end, for ever, if one was left out. So there are always three parts, their shapes promise full batches, and what
# was promised too much is cut off again.


def _in_parts(calls: Batches) -> Callable[[Any, Any], Any]:
    """A batch -> its parts, each of which is closed, so that it can be of any size."""
    specs = leaves_of(calls.spec)
    dtypes = [leaf.dtype for leaf in specs]

    def mapped(k: Any, element: Any) -> Any:
        *made, ticket = tf.numpy_function(calls.rows, [k, *tf.nest.flatten(element)], [*dtypes, *dtypes, tf.int64])
        before, behind = made[: len(specs)], made[len(specs) :]
        fine = tf.constant(FINE, tf.int64)
        parts = [[*before, fine], [*behind, ticket], [*behind, fine]]
        return tf.stack([tf.raw_ops.OptionalFromValue(components=part) for part in parts])

    return as_written(mapped)


def _part(calls: Batches) -> Callable[[Any], Any]:
    """A closed part of a batch -> its columns, or the error that it stands for."""
    specs = leaves_of(calls.spec)
    types = [*(leaf.dtype for leaf in specs), tf.int64]
    shapes = [*(_column_shape(leaf) for leaf in specs), tf.TensorShape(())]

    def mapped(part: Any) -> Any:
        *columns, ticket = tf.raw_ops.OptionalGetValue(optional=part, output_types=types, output_shapes=shapes)
        thrown = functools.partial(tf.numpy_function, calls.throw, [ticket], [])
        with tf.control_dependencies([tf.cond(tf.equal(ticket, FINE), tf.no_op, thrown)]):
            columns = [tf.identity(column) for column in columns]
        for column, leaf in zip(columns, specs, strict=True):
            column.set_shape([calls.size, *leaf.shape])
        return nested(calls.spec, columns)

    return as_written(mapped)


def _slices(spec: Any) -> Callable[..., Any]:
    """Columns -> the dataset of their rows. `Dataset.unbatch` would do, but for elements without numbers in them."""

    def rows_of(*columns: Any) -> Any:
        return tf.data.Dataset.from_tensor_slices(columns if type(spec) is tuple else columns[0])

    return as_written(rows_of)
