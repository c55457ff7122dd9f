"""Random numbers in a trace: draws from a captured generator are steps, and the user's own is never advanced.

What a draw is as a step is told by the trace's `numbers`: the loop's own (`sequential_draws.py`), or those of a stream
that each element has for itself (`independent_draws.py`). Here is what both share: a number of any normal distribution
is one of the standard one, stretched and moved, so that its parameters may be whatever the function computes.
"""

from __future__ import annotations

import functools
import math
import operator
import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import Untraceable
from .lane import LaneArray, is_lane
from .names import user_line
from .paths import Path

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
_NO_DRAWS = frozenset("seed set_state get_state setstate getstate spawn shuffle bytes randbytes bit_generator".split())


def generator_of(value: Any) -> Any:
    """The generator that a function of `random` or `np.random` draws from; None for anything else."""
    owner = getattr(value, "__self__", None)
    return owner if isinstance(owner, GENERATORS) and not isinstance(owner, random.SystemRandom) else None


class Source:
    """What the traced copy sees of a generator: its methods draw from a copy."""

    def __init__(self, trace: Any, generator: Any, path: Path) -> None:
        self._up_trace, self._up_generator, self._up_path = trace, generator, path

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._up_generator)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._up_generator, name)
        if not callable(found) or name in _NO_DRAWS:
            raise Untraceable(f"uses .{name} of a random generator", where=user_line())
        return functools.partial(self._draw, name)

    def _draw(self, method: str, *args: Any, **keywords: Any) -> Any:
        cls: Any = type(self._up_generator)
        standard = _STANDARD.get((cls, method))
        if standard is not None and are_stretched(cls):
            try:
                return standard(self, *args, **keywords)
            except (_NotStandard, TypeError):  # parameters that only the generator knows what to do with
                pass
        return self._drawn(method, args, keywords)

    def _drawn(self, method: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return self._up_trace.numbers.draw(self._up_generator, self._up_path, method, args, keywords)


class Module(types.ModuleType):
    """`random` or `np.random`: its functions draw from the generator that they share."""

    def __init__(self, holder: Any, module: types.ModuleType, path: Path) -> None:
        super().__init__(module.__name__)
        self.__dict__["_up_read"] = holder, module, path

    def __getattr__(self, name: str) -> Any:
        holder, module, path = self.__dict__["_up_read"]
        value = getattr(module, name)
        if isinstance(value, type):
            return value
        generator = generator_of(value)
        if generator is None:
            raise Untraceable(f"uses {module.__name__}.{name}", where=user_line())
        return getattr(holder.generator(generator, (*path, ("attr", name), ("attr", "__self__"))), name)


# ---- standard numbers, stretched and moved


class _NotStandard(Exception):
    """These parameters have to be given to the generator."""


def _normal(source: Source, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    loc, scale, sized = _parameters(source, loc, scale, size)
    _insist(scale)
    return loc + _stretched(scale, source._drawn("standard_normal", (), sized))


def _exponential(source: Source, scale: Any = 1.0, size: Any = None) -> Any:
    _, scale, sized = _parameters(source, 0.0, scale, size)
    _insist(scale)
    return _stretched(scale, source._drawn("standard_exponential", (), sized))


def _uniform(source: Source, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    low, high, sized = _parameters(source, low, high, size)
    reach = high - low
    if isinstance(source._up_generator, np.random.RandomState):
        if not _all(np.isfinite, reach):
            raise _NotStandard
        return low + _stretched(reach, source._drawn("random_sample", (), sized))
    _insist(reach, finite=True)
    return low + _stretched(reach, source._drawn("random", (), sized))


def _stretched(by: Any, numbers: Any) -> Any:
    return numbers if type(by) is float and by == 1.0 else by * numbers


def _python_uniform(source: Source, a: Any, b: Any) -> Any:
    _insist_on_numbers(a, b)
    return a + (b - a) * source._drawn("random", (), {})


def _python_normal(method: str) -> Callable[..., Any]:
    def normal(source: Source, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        _insist_on_numbers(mu, sigma)
        return mu + source._drawn(method, (0.0, 1.0), {}) * sigma

    return normal


def _python_exponential(source: Source, lambd: Any = 1.0) -> Any:
    _insist_on_numbers(lambd)
    return source._drawn("expovariate", (1.0,), {}) / lambd


_STANDARD: dict[tuple[type, str], Callable[..., Any]] = {
    (np.random.Generator, "normal"): _normal,
    (np.random.Generator, "uniform"): _uniform,
    (np.random.Generator, "exponential"): _exponential,
    (np.random.RandomState, "normal"): _normal,
    (np.random.RandomState, "uniform"): _uniform,
    (np.random.RandomState, "exponential"): _exponential,
    (random.Random, "uniform"): _python_uniform,
    (random.Random, "gauss"): _python_normal("gauss"),
    (random.Random, "normalvariate"): _python_normal("normalvariate"),
    (random.Random, "expovariate"): _python_exponential,
}


def _parameters(source: Source, a: Any, b: Any, size: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Two parameters as floats, or arrays of them, and the size of what they make."""
    trace = source._up_trace
    shapes = [_shape(p) for p in (a, b)]
    if any(shapes):
        if size is not None:
            raise _NotStandard
        size = np.broadcast_shapes(*(shape or () for shape in shapes))
    made = [_as_floats(trace, p, shape) for p, shape in zip((a, b), shapes, strict=True)]
    return made[0], made[1], {} if size is None else {"size": size}


def _as_floats(trace: Any, parameter: Any, shape: tuple[int, ...] | None) -> Any:
    if shape is not None:
        return trace.arrays.call(np.astype, (parameter, np.float64), {})
    return trace.record(float, (parameter,)) if is_lane(parameter) else float(parameter)


def _shape(parameter: Any) -> tuple[int, ...] | None:
    """The shape of an array; None for a number."""
    value = parameter._up_value if is_lane(parameter) else parameter
    if isinstance(value, int | float | np.integer | np.floating):
        return None
    if type(value) is np.ndarray and value.ndim and value.dtype.kind in "iuf":
        return tuple(value.shape)
    raise _NotStandard


def _insist_on_numbers(*parameters: Any) -> None:
    if any(map(_shape, parameters)):
        raise _NotStandard


def _insist(parameter: Any, finite: bool = False) -> None:
    """The generator raises where a parameter is negative, or not finite: not so here, and that is a guard."""
    if not _all(_is_positive, parameter) or (finite and not _all(np.isfinite, parameter)):
        raise _NotStandard


def _is_positive(value: Any) -> Any:
    """As NumPy tells: by the sign, which zero has, too."""
    return ~np.signbit(value)


def _all(predicate: Callable[[Any], Any], parameter: Any) -> bool:
    if type(parameter) is LaneArray or isinstance(parameter, np.ndarray):
        return bool(predicate(parameter).all())
    if not is_lane(parameter):
        return bool(predicate(parameter))
    trace = parameter._up_trace
    if predicate is np.isfinite:
        return bool(trace.record(math.isfinite, (parameter,)))
    return bool(trace.record(operator.gt, (trace.record(math.copysign, (1.0, parameter)), 0.0)))


@functools.cache
def are_stretched(cls: Any) -> bool:
    """Whether this NumPy computes such numbers as is said here, to the last bit: a compiler may fuse operations."""
    if cls is random.Random:
        return True
    a, b = np.linspace(0.1, 3, 64), np.geomspace(0.01, 70, 64)
    one, other = (cls(np.random.MT19937(5)) for _ in range(2))
    reach = (a + b) - a
    uniform = other.random if cls is np.random.Generator else other.random_sample
    return (
        np.array_equal(one.normal(a, b), a + b * other.standard_normal(64))
        and np.array_equal(one.uniform(a, a + b), a + reach * uniform(64))
        and np.array_equal(one.exponential(b), b * other.standard_exponential(64))
    )
