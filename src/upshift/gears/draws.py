"""Draws for a whole batch the random numbers that the loop would have drawn, in the loop's order."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from ..columns.kinds import Column, kind_of_value
from ..errors import Untraceable
from ..trace.paths import Roots
from ..trace.sequential_draws import Turn

_IN_A_BLOCK: dict[type, frozenset[str]] = {
    np.random.Generator: frozenset(("random", "standard_normal", "standard_exponential")),
    np.random.RandomState: frozenset(("random", "random_sample", "standard_normal", "standard_exponential")),
}
"""Methods whose numbers are the same whether they are drawn one by one or in a block."""


class Drawn:
    """The random numbers of all lanes; and the generators, which can be put back to where they were."""

    def __init__(
        self,
        turns: list[Turn],
        f: Any,
        shared: dict[str, Any],
        captured: dict[int, Any],
        columns: dict[int, Column],
        n: int,
    ) -> None:
        """`columns`: what elements give to draws."""
        roots = Roots(f, shared)
        self.turns, self.n = turns, n
        self.generators = [roots.read(turn.path) for turn in turns]
        self.before = [state_of(generator) for generator in self.generators]
        try:
            self.columns = self._block() if self._is_a_block() else self._in_turn(captured, columns)
        except Exception as error:  # a parameter is not what it was: the loop will raise it, from the user's own line
            self.put_back()
            raise Untraceable(f"{type(error).__name__} in a draw") from error
        except BaseException:
            self.put_back()
            raise
        self.after = [state_of(generator) for generator in self.generators]

    def _in_turn(self, captured: dict[int, Any], given: dict[int, Column]) -> list[Column]:
        pairs = zip(self.turns, self.generators, strict=True)
        calls = [turn.calls(generator, captured, given) for turn, generator in pairs]
        drawn = [call() for _, *row in zip(range(self.n), *calls, strict=False) for call in row]
        columns = []
        for at, turn in enumerate(self.turns):
            values = drawn[at :: len(calls)]
            if turn.kind.shape is not None or len(set(map(type, values))) > 1:
                if any(kind_of_value(value) is not turn.kind for value in values):
                    raise Untraceable("draws random numbers of different kinds")
            elif kind_of_value(values[0]) is not turn.kind:
                raise Untraceable("draws random numbers of another kind")
            columns.append(np.array(values, turn.kind.dtype))
        return columns

    def _is_a_block(self) -> bool:
        """Whether all numbers come from one distribution, so that they can be drawn at once."""
        generator, method = self.generators[0], self.turns[0].drawing.method
        return (
            method in _IN_A_BLOCK.get(type(generator), frozenset())
            and all(other is generator for other in self.generators)
            and all(turn.drawing.method == method and turn.kind.dtype == np.float64 for turn in self.turns)
            and all(turn.drawing.is_plain for turn in self.turns)
        )

    def _block(self) -> list[Column]:
        sizes = [math.prod(turn.kind.lane_shape) for turn in self.turns]
        block = getattr(self.generators[0], self.turns[0].drawing.method)(size=(self.n, sum(sizes)))
        edges = np.cumsum([0, *sizes])
        return [
            np.ascontiguousarray(block[:, low:high]).reshape(self.n, *turn.kind.lane_shape)
            for turn, low, high in zip(self.turns, edges, edges[1:], strict=False)
        ]

    def put_back(self) -> None:
        """The generators as they were before."""
        for generator, state in zip(self.generators, self.before, strict=True):
            set_state(generator, state)

    def go_on(self) -> None:
        """The generators as the loop would have left them."""
        for generator, state in zip(self.generators, self.after, strict=True):
            set_state(generator, state)

    def of_lane(self, i: int) -> list[Any]:
        """What one lane drew, as the very objects that the loop would see."""
        found = [turn.kind.scalars(column[i : i + 1])[0] for turn, column in zip(self.turns, self.columns, strict=True)]
        return [value.copy() if isinstance(value, np.ndarray) else value for value in found]


def state_of(generator: Any) -> Any:
    """The state of a random generator of Python's or NumPy's."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.getstate() if isinstance(generator, random.Random) else generator.get_state()


def set_state(generator: Any, state: Any) -> None:
    """Puts a random generator back to a state."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        generator.set_state(state)
