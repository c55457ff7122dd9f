"""`up.vmap`: maps a function over chosen axes of its arguments, by the convention of jax.vmap and torch.vmap."""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .api import map as map_elements
from .columns.forms import assemble, parts
from .config import bytes_of, settings
from .errors import LengthError, trim
from .partials import Arguments, Partials

Axes = Any
"""An axis, None for what is shared, or a container of these, as deep as the argument or less deep."""
__tracebackhide__ = True  # pytest and IPython show the user's call, not ours
OPTIONS = frozenset(("gear", "exact", "on_error", "memory", "randomness", "seed"))


def vmap(
    f: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, *, axis_size: int | None = None, **options: Any
) -> Callable[..., Any]:
    """`f` over an axis of its arguments, as in `jax.vmap`, on NumPy arrays, with `up.map`'s results.

    >>> import numpy as np, upshift as up
    >>> up.vmap(lambda x, w: x @ w, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    >>> up.vmap(lambda p: p["x"] * p["scale"], in_axes=({"x": 1, "scale": None},))({"x": np.ones((2, 3)), "scale": 2})
    array([[2., 2.],
           [2., 2.],
           [2., 2.]])
    >>> up.vmap(lambda x: (x, -x), out_axes=(0, 1))(np.eye(2))[1]
    array([[-1., -0.],
           [-0., -1.]])

    `in_axes`: a tuple with an axis for each positional argument, or None for one that all elements share; or one axis
    for all. Negative axes count from the end. Where an argument is a tuple, list, dict, named tuple or dataclass, one
    axis is that of every array in it, and a container of axes built like it has one for each part. Lists are structures
    here, not columns. Keyword arguments of the call are mapped over axis 0.
    `out_axes`: where the axis of elements is put in the result, or in each part of it; None where all elements give the
    same. A list that `f` returns is an axis of the result, as in `up.map`: return a tuple for several results.
    `axis_size`: the number of elements, needed where no argument is mapped.
    Options are `up.map`'s: `gear`, `exact`, `on_error`, `memory`, `randomness`, `seed`.
    """
    level = Level(in_axes, out_axes, axis_size, check_options("vmap", f, options))
    inside = _VMAPPED.get(f) if isinstance(f, _FUNCTION) else None
    single = Nest(f, (level,), {"gear": "loop", **options} if inside else options)
    nest = single if inside is None else Nest(inside.f, (level, *inside.levels), options)
    plain = level.is_plain and inside is None
    fixed = Fixed(single.partials, in_axes) if level.is_fixed and inside is None else None

    @functools.wraps(f)
    def mapped(*args: Any, **keywords: Any) -> Any:
        try:
            if plain and not keywords and _are_columns(args):
                return map_elements(f, *args, **options)
            if fixed is not None and not keywords:
                columns = [args[i] for i in fixed.columns] if len(args) == fixed.count else ()
                if _are_columns(columns):
                    return map_elements(fixed.bind(args), *columns, **options)
            if nest is not single and nest.is_uniform:
                made = nest.over(args, keywords)
                if made is not TOO_LARGE:
                    return made
            return single.over(args, keywords)
        except BaseException as error:
            trim(error)
            raise

    _VMAPPED[mapped] = nest
    return mapped


def check_options(name: str, f: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options, which `map` knows, of a function that can be called."""
    if not callable(f):
        raise TypeError(f"the first argument of {name} must be callable, not {f!r}")
    for option in options:
        if option not in OPTIONS:
            raise TypeError(f"{name} has no option {option!r}; there are {', '.join(sorted(OPTIONS))}")
    return options


def _are_columns(args: Sequence[Any]) -> bool:
    """Whether these are arrays with elements along their first axes, the same number in each."""
    n = -1
    for x in args:
        if type(x) is not np.ndarray or not x.ndim:
            return False
        if len(x) != n:
            if n >= 0:
                return False
            n = len(x)
    return n >= 0


_FUNCTION = type(vmap)
TOO_LARGE = object()
"""In place of a result: all elements of a nest at once would need too much memory."""


@dataclass(frozen=True)
class Level:
    """One `vmap`."""

    in_axes: Axes
    out_axes: Axes
    axis_size: int | None
    options: dict[str, Any]

    def __post_init__(self) -> None:
        _check_axes("in_axes", self.in_axes)
        _check_axes("out_axes", self.out_axes)

    @property
    def is_plain(self) -> bool:
        """Whether elements lie along the first axis of everything."""
        return self.in_axes == self.out_axes == 0 and self.axis_size is None

    @property
    def is_fixed(self) -> bool:
        """Whether elements lie along the first axis of some arguments, and all others are shared."""
        of_columns = type(self.in_axes) is tuple and all(axis is None or axis == 0 for axis in self.in_axes)
        return of_columns and self.out_axes == 0 and self.axis_size is None

    def for_arguments(self, count: int) -> Sequence[Axes]:
        """The axes of every positional argument."""
        if self.in_axes is None or _is_axis(self.in_axes):
            return [self.in_axes] * count
        if not isinstance(self.in_axes, tuple | list):
            raise TypeError(f"in_axes must be an axis, None, or a tuple with one entry per argument: {self.in_axes!r}")
        if len(self.in_axes) != count:
            raise ValueError(f"in_axes has {len(self.in_axes)} entries for {count} arguments: {self.in_axes!r}")
        return self.in_axes


def _is_axis(axis: Any) -> bool:
    return isinstance(axis, int | np.integer) and not isinstance(axis, bool)


def _check_axes(name: str, axes: Axes) -> None:
    found = parts(axes)
    if found is not None:
        for child in found[2]:
            _check_axes(name, child)
    elif axes is not None and not _is_axis(axes):
        raise TypeError(f"{name} must be ints, None, or containers of them, not {axes!r}")


@dataclass(frozen=True, slots=True)
class Sized:
    """An axis along which elements lie."""

    name: str
    axis: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements lie along it."""
        return self.shape[self.axis]

    def __str__(self) -> str:
        return f"axis {self.axis} of {self.name} (shape {self.shape}) has {self.size}"


class Nest:
    """Some `vmap`s around one function, the outermost first, all of whose elements are mapped at once."""

    def __init__(self, f: Callable[..., Any], levels: tuple[Level, ...], options: dict[str, Any]) -> None:
        self.f, self.levels, self.options = f, levels, options
        self.partials = Partials(f)

    @property
    def is_uniform(self) -> bool:
        """Whether all levels ask for the same, and for nothing that happens within one of them."""
        same = all(level.options == self.options for level in self.levels)
        return same and self.options.keys() <= {"gear", "exact", "memory"}

    def over(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result for these arguments; TOO_LARGE where what is shared within a level would be repeated too often."""
        call = CallWriter(self.levels)
        axes = zip(*(level.for_arguments(len(args)) for level in self.levels), strict=True)
        passed = [call.write(f"argument {i}", a, x) for i, (a, x) in enumerate(zip(axes, args, strict=True))]
        for name, value in keywords.items():
            passed.append(f"{name}={call.write(f'argument {name}', (0,) * len(self.levels), value)}")
        sizes = call.sizes()
        if len(sizes) > 1 and call.repeated(sizes) > bytes_of(self.options.get("memory") or settings().memory):
            return TOO_LARGE
        columns = call.columns(sizes) or [range(math.prod(sizes))]
        result = map_elements(self.partials.of(call.arguments, passed), *columns, **self.options)
        return _place(tuple(level.out_axes for level in self.levels), result, sizes, "the result")


class Fixed:
    """Arguments that are columns and arguments that are shared: nothing has to be looked up in a call."""

    def __init__(self, partials: Partials, in_axes: tuple[Axes, ...]) -> None:
        self.count = len(in_axes)
        self.columns = [i for i, axis in enumerate(in_axes) if axis is not None]
        self.shared = [i for i, axis in enumerate(in_axes) if axis is None]
        self.partials = partials

    @functools.cached_property
    def _make(self) -> Callable[..., Any]:
        names = {i: f"v{k}" for k, i in enumerate(self.columns)} | {i: f"s{k}" for k, i in enumerate(self.shared)}
        return self.partials.maker([names[i] for i in range(self.count)], len(self.columns), len(self.shared))

    def bind(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """The function of the columns."""
        if not self.shared:
            return self.partials.f
        made: Callable[..., Any] = self._make(*[args[i] for i in self.shared])
        return made


class CallWriter:
    """The arguments of one call, written as an expression of their elements."""

    def __init__(self, levels: tuple[Level, ...]) -> None:
        self.levels = levels
        self.arguments = Arguments()
        self.sized: list[list[Sized]] = [[] for _ in levels]

    def write(self, name: str, axes: tuple[Axes, ...], value: Any) -> str:
        """One argument, or a part of one, with its axes at every level."""
        if value is None or all(axis is None for axis in axes):
            return self.arguments.share(value)
        found = parts(value)
        if found is None:
            return self.arguments.map(self._column(name, axes, value))
        cls, keys, children = found
        if not children:
            return self.arguments.share(value)
        below = [_axes_below(axis, cls, keys, f"in_axes of {name}", value) for axis in axes]
        written = [
            self.write(f"{name}{_step(cls, key)}", tuple(axes), child)
            for key, axes, child in zip(keys, zip(*below, strict=True), children, strict=True)
        ]
        return self.arguments.build(cls, keys, written)

    def _column(self, name: str, axes: tuple[Axes, ...], value: Any) -> np.ndarray[Any, Any]:
        """An array with the axes of all levels in front; of length one where a level shares it."""
        array = _array(name, value)
        for depth, axis in enumerate(axes):
            if axis is not None and not _is_axis(axis):
                raise ValueError(f"in_axes of {name} is {axis!r}, but it is an array, not a container")
            if axis is None:
                array = np.expand_dims(array, depth)
                continue
            rest = array.ndim - depth
            if not -rest <= axis < rest:
                raise ValueError(f"in_axes asks for axis {axis} of {name}, whose shape is {array.shape[depth:]}")
            self.sized[depth].append(Sized(name, int(axis) % rest, array.shape[depth:]))
            if axis:
                array = np.moveaxis(array, depth + axis % rest, depth)
        return array

    def sizes(self) -> tuple[int, ...]:
        """The number of elements at every level."""
        return tuple(_common_size(level, sized) for level, sized in zip(self.levels, self.sized, strict=True))

    def repeated(self, sizes: tuple[int, ...]) -> int:
        """Bytes of columns that have to be repeated along a level."""
        depth, total = len(sizes), math.prod(sizes)
        columns = [c for c in self.arguments.columns if c.shape[:depth] != sizes]
        return sum(total * math.prod(c.shape[depth:]) * c.itemsize for c in columns)

    def columns(self, sizes: tuple[int, ...]) -> list[Any]:
        """Every column with one axis of elements."""
        if len(sizes) == 1:
            return self.arguments.columns
        shapes = [c.shape[len(sizes) :] for c in self.arguments.columns]
        return [
            np.broadcast_to(column, sizes + shape).reshape(math.prod(sizes), *shape)
            for column, shape in zip(self.arguments.columns, shapes, strict=True)
        ]


def _array(name: str, value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__array__") and np.ndim(value):
        return np.asarray(value)
    raise ValueError(
        f"{name} has no axis to map over: {value!r} is a {type(value).__name__}; "
        "make it an array, or share it with None in in_axes"
    )


def _axes_below(axes: Axes, cls: type, keys: tuple[Any, ...], name: str, value: Any) -> Sequence[Axes]:
    """The axes of a container's children."""
    if axes is None or _is_axis(axes):
        return [axes] * len(keys)
    found = parts(axes)
    assert found is not None
    other, names, children = found
    if other is not cls or set(names) != set(keys):
        raise ValueError(f"{name}: {axes!r} is not built like {value!r}")
    by_name = dict(zip(names, children, strict=True))
    return [by_name[key] for key in keys]


def _step(cls: type, key: Any) -> str:
    return f"[{key!r}]" if cls in (tuple, list, dict) else f".{key}"


def _common_size(level: Level, sized: list[Sized]) -> int:
    for other in sized:
        if other.size != sized[0].size:
            raise LengthError(f"axes of unequal size: {sized[0]}, {other}")
    if not sized and level.axis_size is None:
        raise ValueError(f"nothing to map over: in_axes is {level.in_axes!r}; pass axis_size, or map one argument")
    if sized and level.axis_size not in (None, sized[0].size):
        raise LengthError(f"axis_size is {level.axis_size}, but {sized[0]}")
    return sized[0].size if sized else int(level.axis_size or 0)


def _place(axes: tuple[Axes, ...], result: Any, sizes: tuple[int, ...], name: str) -> Any:
    """The result, or a part of it, with the axes of elements where they were asked for."""
    found = None if type(result) is list else parts(result)
    if type(result) is np.ndarray and result.ndim > 1 and any(type(axis) is list for axis in axes):
        found = list, tuple(range(result.shape[1])), list(np.moveaxis(result, 1, 0))
    if found is None:
        return _place_leaf(axes, result, sizes, name)
    cls, keys, children = found
    below = [
        _axes_below(axis, cls, keys, f"out_axes of {name}", assemble(cls, keys, ["..."] * len(keys))) for axis in axes
    ]
    placed = [
        _place(tuple(axes), child, sizes, f"{name}{_step(cls, key)}")
        for key, axes, child in zip(keys, zip(*below, strict=True), children, strict=True)
    ]
    return assemble(cls, keys, placed)


def _place_leaf(axes: tuple[Axes, ...], result: Any, sizes: tuple[int, ...], name: str) -> Any:
    for axis in axes:
        if axis is not None and not _is_axis(axis):
            raise ValueError(f"out_axes of {name} is {axis!r}, but it is no container")
    if type(result) is list:
        if any(axes):
            raise ValueError(f"out_axes is {axes[0]!r}, but {name} is a list of what the elements gave")
        return _nested(result, sizes)
    if len(sizes) > 1:
        result = result.reshape(*sizes, *result.shape[1:])
    for depth in reversed(range(len(sizes))):
        axis, rest = axes[depth], result.ndim - depth
        if axis is None:
            result = _same(result, depth, name)
        elif not -rest <= axis < rest:
            raise ValueError(f"out_axes asks for axis {axis} of {name}, whose shape is {result.shape[depth:]}")
        elif axis:
            result = np.moveaxis(result, depth, depth + axis % rest)
    return result


def _nested(results: list[Any], sizes: tuple[int, ...]) -> list[Any]:
    if len(sizes) == 1:
        return results
    size = math.prod(sizes[1:])
    return [_nested(results[i * size : (i + 1) * size], sizes[1:]) for i in range(sizes[0])]


def _same(result: np.ndarray[Any, Any], depth: int, name: str) -> Any:
    """The one result of all elements."""
    if not result.shape[depth]:
        raise ValueError(f"out_axes is None for {name}, but there are no elements")
    first = result.take([0], axis=depth)
    if not np.array_equal(np.broadcast_to(first, result.shape), result, equal_nan=result.dtype.kind in "fc"):
        raise ValueError(f"out_axes is None for {name}, but elements gave different results")
    return first.squeeze(depth)


_VMAPPED: weakref.WeakKeyDictionary[Any, Nest] = weakref.WeakKeyDictionary()
"""What every function that `vmap` made maps, so that a `vmap` of it can map all of it at once."""
