"""Calls a function on the first few elements of a dataset, to know dtypes, shapes and time."""

from __future__ import annotations

import functools
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..api import map as map_elements
from ..columns.forms import assemble, flatten, parts
from ..columns.inputs import copied, elements_of, lanes_of
from ..columns.stacking import stack
from ..gears.draws import set_state, state_of
from ..gears.streams import generators_in
from ..rules.arrays.dynamic import Each
from ..trace.grow import grow
from ..trace.names import Applied
from ..trace.tree import Tree
from .bridge import as_array, is_concrete
from .captured import snapshot_of

MOST_SAMPLES = 8
PATIENCE = 0.1
"""Seconds after which no more elements are looked at."""
BUDGET = 2_000
"""Steps that the trace of a sample may have."""
PASSES_ON = ("_PrefetchDataset", "_RepeatDataset", "_OptionsDataset", "_ShuffleDataset", "CacheDataset")
"""Transformations whose elements are those of their input."""
LIBRARIES = frozenset(("scipy", "skimage", "cv2"))
STATEFUL = ("Shuffle", "Cache", "Snapshot")
KEEPS_STATE = tuple(prefix + name for name in STATEFUL for prefix in ("", "_"))
"""Beginnings of the names of transformations that remember how often they were read, or what."""
MOST_COPIED = 1 << 28
"""Bytes in memory up to which a dataset is copied for a look; the shuffle of a larger one moves on by a round."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is known of a function on a dataset's elements."""

    spec: Any
    """A nest of `tf.TensorSpec`, as the function's results are nested."""
    seconds: float = 0.0
    """That one call takes."""
    pure: bool = False
    """Whether calls may be made in any order: traces saw all of the function, or nothing that it names has effects."""
    batches: bool = False
    """Whether traces saw all of the function, so that a batch of calls may be more than one call after the other."""
    again: bool = False
    """Whether calls may be made again: traces saw no effects as far as they went."""


def arguments_of(element: Any) -> tuple[Any, ...]:
    """What the function is called with: a tuple's items, or one thing."""
    return element if type(element) is tuple else (element,)


def sample(ds: Any, f: Callable[..., Any]) -> Sampled:
    """What `f` gives for the first elements. Random generators, shuffles and caches are left as they were."""
    generators = generators_in(f, {})
    before = [state_of(generator) for generator in generators]
    rows, results, error, seconds = [], [], None, 0.0
    try:
        for row in _rows(ds):
            began = time.perf_counter()
            try:
                results.append(f(*copied(row)))
                rows.append(row)
            except Exception as raised:  # other elements may tell, and this one will when its turn comes
                error = raised
            seconds += time.perf_counter() - began
            if seconds > PATIENCE and results:
                break
        if error is not None and not results:
            error.add_note("every element that was tried raised: pass output_signature= to tell what others give")
            raise error
        if not results:
            return Sampled(_spec_of(map_elements(f, *([] for _ in arguments_of(ds.element_spec))), f))
        return Sampled(_spec_of(stack(results), f), seconds / len(results), *_is_pure(f, rows, generators))
    finally:
        for generator, state in zip(generators, before, strict=True):
            set_state(generator, state)


def _rows(ds: Any) -> Iterator[tuple[Any, ...]]:
    for element in _untouched(ds).take(MOST_SAMPLES).as_numpy_iterator():
        yield arguments_of(element)


def _untouched(ds: Any) -> Any:
    """The same elements, in some order, from a copy that leaves the shuffles and caches of the dataset alone."""
    while type(ds).__name__ in PASSES_ON:
        (ds,) = ds._inputs()
    below = list(_sources(ds))
    heavy = sum(array.nbytes for one in below for array in _held_by(one)) > MOST_COPIED
    if heavy or not any(type(one).__name__.startswith(KEEPS_STATE) for one in below):
        return ds
    graph = tf.compat.v1.GraphDef.FromString(ds._as_serialized_graph().numpy())
    passed = {node.name: node.input[0] for node in graph.node if node.op.startswith(STATEFUL)}
    for node in graph.node:
        for i, source in enumerate(node.input):
            while source.partition(":")[0] in passed:
                source = passed[source.partition(":")[0]]
            node.input[i] = source
    variant = tf.raw_ops.DatasetFromGraph(graph_def=graph.SerializeToString())
    return tf.data.experimental.from_variant(variant, ds.element_spec)


def _sources(ds: Any) -> Iterator[Any]:
    yield ds
    for one in ds._inputs():
        yield from _sources(one)


def _held_by(ds: Any) -> list[Any]:
    held = [tensor for tensor in getattr(ds, "_tensors", ()) if is_concrete(tensor)]
    return [as_array(tensor) for tensor in held if tensor.dtype != tf.variant]


# ---- results


def _spec_of(stacked: Any, f: Any) -> Any:
    """What one element of stacked results is."""
    found = parts(stacked)
    if found is None or found[0] is list:
        return _spec_of_leaf(stacked, f)
    cls, keys, children = found
    if cls is not tuple and cls is not dict and not hasattr(cls, "_fields"):
        raise TypeError(f"a dataset holds tensors, tuples and dicts of them; {_name(f)} gives a {cls.__name__}")
    return assemble(cls, keys, [_spec_of(child, f) for child in children])


def _spec_of_leaf(column: Any, f: Any) -> Any:
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OUS":
        return tf.TensorSpec(column.shape[1:], _tensor_dtype(column.dtype, f))
    arrays = [as_strings(result) for result in column] if len(column) else [np.empty(0)]
    if len({array.ndim for array in arrays}) > 1:
        shape = None
    else:
        shape = [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*(array.shape for array in arrays))]
    return tf.TensorSpec(shape, _tensor_dtype(functools.reduce(np.promote_types, {a.dtype for a in arrays}), f))


def as_strings(result: Any) -> Any:
    """A result as an array; texts become the bytes that TensorFlow holds."""
    array = np.asarray(result, object if isinstance(result, bytes) else None)
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    if array.dtype.kind == "O" and not all(isinstance(item, bytes) for item in array.flat):
        odd = next(item for item in array.flat if not isinstance(item, bytes))
        raise TypeError(f"a dataset holds numbers and texts, not a {type(odd).__name__}: {odd!r:.80}")
    return array.astype(object) if array.dtype.kind == "S" else array


def _tensor_dtype(dtype: np.dtype[Any], f: Any) -> Any:
    try:
        return tf.as_dtype(dtype)
    except TypeError:
        raise TypeError(f"{_name(f)} gives {dtype}, which no tensor can hold") from None


def _name(f: Any) -> str:
    return getattr(f, "__qualname__", None) or type(f).__name__


# ---- order


def _is_pure(f: Any, rows: list[tuple[Any, ...]], generators: list[Any]) -> tuple[bool, bool, bool]:
    """Whether calls may be made in any order, whether a batch may be faster, and whether calls may be made again."""
    if any(generator is not np.random.mtrand._rand for generator in generators) or _names_random(f):
        return False, False, False
    quiet = not snapshot_of(f).acts
    group = lanes_of([elements_of(list(column)) for column in zip(*rows, strict=True)])[0]
    if group.lanes is None:
        return quiet, False, False
    tree = Tree(group.lanes)
    outcomes = [grow(tree, f, copied(row), {}, BUDGET) for row in rows[:2]]
    again = all(outcome.refusal is None for outcome in outcomes) and not tree.draws
    traced = again and all(outcome.grown for outcome in outcomes)
    return traced or (quiet and not tree.draws), traced and not any(map(_is_opaque, _steps(tree))), again


def _steps(tree: Tree) -> Iterator[Any]:
    return (step for node in tree.nodes() for step in node.steps)


def _is_opaque(step: Any) -> bool:
    """Whether a call is made for every element, or by a library that works on one image at a time."""
    fn = step.fn.fn if isinstance(step.fn, Applied) else step.fn
    return isinstance(step.op, Each) or (getattr(fn, "__module__", None) or "").partition(".")[0] in LIBRARIES


def _names_random(f: Any) -> bool:
    code = getattr(f, "__code__", None)
    pending = [code] if isinstance(code, types.CodeType) else []
    while pending:
        code = pending.pop()
        if "random" in code.co_names:
            return True
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return False


# ---- nests of specs


def leaves_of(spec: Any) -> list[Any]:
    """The tensor specs of a nest, in order."""
    return flatten(spec)[1]


def columns_in(spec: Any, value: Any, f: Any) -> list[Any]:
    """The columns of stacked results that are nested like a spec."""
    found = parts(spec)
    if found is None:
        return [value]
    cls, keys, children = found
    other = parts(value)
    if other is None or other[0] is not cls or set(other[1]) != set(keys):
        raise TypeError(f"{_name(f)} gives {spec!r} for some elements, and something else for others")
    by_key = dict(zip(other[1], other[2], strict=True))
    return [leaf for key, child in zip(keys, children, strict=True) for leaf in columns_in(child, by_key[key], f)]


def nested(spec: Any, leaves: list[Any]) -> Any:
    """Leaves in the form of a spec."""
    return flatten(spec)[0].build(iter(leaves))
