"""Gives every element a random stream of its own, for `randomness="independent"`.

Element i draws from generators seeded by the seed and i, whatever was drawn before: so the numbers are the same for any
order, gear and number of workers.
"""

from __future__ import annotations

import random
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..columns.kinds import Column
from ..errors import UpshiftError
from ..libraries import acting, is_left_alone
from ..rules.pcg import as_numpy_has_it
from ..rules.seeds import root_of
from ..rules.streams import Pcg64Streams, PythonStreams
from ..trace.draws import GENERATORS
from ..trace.independent_draws import streams_of
from ..trace.positions import Apart
from .draws import set_state, state_of
from .loop import cell_is_filled


def generators_in(f: Any, shared: dict[str, Any]) -> list[Any]:
    """The random generators that a function can reach by its names, closures, defaults, attributes and keywords."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    pending: list[Any] = [f, *shared.values()]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, GENERATORS):
            found[id(value)] = value
        elif isinstance(getattr(value, "__self__", None), GENERATORS):
            found[id(value.__self__)] = value.__self__
        else:
            pending += _within(value)
    return list(found.values())


def _within(value: Any) -> Iterator[Any]:
    if isinstance(value, types.FunctionType):
        for code in _codes(value.__code__):
            for name in code.co_names:
                if name in value.__globals__:
                    yield value.__globals__[name]
                    yield from _named_in(value.__globals__[name], code.co_names)
        yield from (cell.cell_contents for cell in value.__closure__ or () if cell_is_filled(cell))
        yield from (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    elif isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif value is random:
        yield random.random
    elif value is np or value is np.random:
        yield np.random.random_sample
    elif isinstance(value, list | tuple | dict):
        yield from value.values() if isinstance(value, dict) else value
    elif hasattr(value, "__dict__") and not isinstance(value, types.ModuleType | type):
        yield from vars(value).values()


def _named_in(module: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """What a function may read of a module of the user's."""
    if isinstance(module, types.ModuleType) and not is_left_alone(module.__name__) and not acting(module.__name__):
        yield from (vars(module)[name] for name in names if name in vars(module))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


BLOCK = 256
"""Elements whose streams are begun at once."""


class Streams:
    """`with Streams(f, shared, seed) as streams:` every element draws apart; then the generators are put back."""

    def __init__(self, f: Callable[..., Any], shared: dict[str, Any], seed: Any) -> None:
        self.generators = generators_in(f, shared)
        if not self.generators:
            raise UpshiftError('randomness="independent" needs a function that draws from a generator it captured')
        self.seed = seed if seed is not None else int(_bits(self.generators[0]))
        self.root = root_of(self.seed)
        self.apart = Apart(f, self.generators, self.root, self.start)
        """`f` of a position and an element."""
        self.block: tuple[int, list[list[Any]]] = -1, []

    def __enter__(self) -> Streams:
        self.before = [state_of(generator) for generator in self.generators]
        return self

    def start(self, i: int) -> None:
        """All generators at the beginning of element i's streams."""
        number, at = divmod(i, BLOCK)
        if self.block[0] != number:
            positions = np.arange(number * BLOCK, (number + 1) * BLOCK)
            self.block = number, [self._begun(j, positions) for j in range(len(self.generators))]
        for generator, states in zip(self.generators, self.block[1], strict=True):
            _begin(generator, states[at])

    def _begun(self, j: int, positions: Column) -> list[Any]:
        """The states of the streams that these elements have of one generator, or what they begin with."""
        streams = streams_of(self.generators[j], j)
        if isinstance(streams, Pcg64Streams):
            return [as_numpy_has_it(state) for state in streams.begun(self.root, positions)]
        if isinstance(streams, PythonStreams):
            return streams.seeds(self.root, positions)
        return [np.random.SeedSequence(self.seed, spawn_key=(i, j)) for i in positions.tolist()]

    def __exit__(self, *error: object) -> None:
        for generator, state in zip(self.generators, self.before, strict=True):
            set_state(generator, state)


def _bits(generator: Any) -> Any:
    """A seed from a generator, which moves on by it: two calls without a seed are not the same."""
    if isinstance(generator, random.Random):
        return generator.getrandbits(64)
    if isinstance(generator, np.random.Generator):
        return generator.integers(0, 2**63)
    return generator.randint(0, 2**31 - 1)


def _begin(generator: Any, begun: Any) -> None:
    if isinstance(begun, np.random.SeedSequence):
        begun = _stream(generator, begun)
    elif isinstance(generator, random.Random):
        return generator.seed(begun)
    set_state(generator, begun)


def _stream(generator: Any, seed: np.random.SeedSequence) -> Any:
    """The state in which another generator begins."""
    if isinstance(generator, np.random.Generator):
        return type(generator.bit_generator)(seed).state
    if isinstance(generator, random.Random):
        return random.Random(int(seed.generate_state(1, np.uint64)[0])).getstate()
    return np.random.RandomState(np.random.MT19937(seed)).get_state()
