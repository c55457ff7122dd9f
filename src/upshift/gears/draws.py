"""A tree's draws and the number of lanes in; the random numbers that the loop would have drawn out, in columns."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..columns.kinds import Column, Kind, kind_of_value
from ..errors import Untraceable
from ..trace import Const, Draw, Step
from ..trace.paths import Roots

_IN_A_BLOCK: dict[type, frozenset[str]] = {
    np.random.Generator: frozenset(
        ("random", "standard_normal", "normal", "uniform", "standard_exponential", "exponential")
    ),
    np.random.RandomState: frozenset(
        ("random", "random_sample", "uniform", "standard_normal", "normal", "exponential")
    ),
}
"""Methods whose numbers are the same whether they are drawn one by one or in a block."""


class Drawn:
    """The random numbers of all lanes; and the generators, which can be put back to where they were."""

    def __init__(self, steps: list[Step], f: Any, shared: dict[str, Any], captured: dict[int, Any], n: int) -> None:
        roots = Roots(f, shared)
        self.generators = [roots.read(draw_of(step).path) for step in steps]
        self.before = [state_of(generator) for generator in self.generators]
        self.columns: dict[int, Column] = {}
        leaves = [[_value(ref, captured) for ref in step.refs] for step in steps]
        try:
            self._draw(steps, leaves, n)
        except BaseException:
            self.put_back()
            raise
        self.after = [state_of(generator) for generator in self.generators]

    def _draw(self, steps: list[Step], leaves: list[list[Any]], n: int) -> None:
        if self._draw_block(steps, leaves, n):
            return
        kinds: list[Kind] = [step.kind for step in steps if step.kind is not None]
        columns = [np.empty((n, *kind.lane_shape), kind.dtype) for kind in kinds]
        calls = list(zip(columns, kinds, [draw_of(s) for s in steps], self.generators, leaves, strict=True))
        for i in range(n):
            for column, kind, draw, generator, given in calls:
                value = draw.by(generator, given)
                if kind_of_value(value) is not kind:
                    raise Untraceable("draws random numbers of different kinds")
                column[i] = value
        self.columns = {step.out: column for step, column in zip(steps, columns, strict=True)}

    def _draw_block(self, steps: list[Step], leaves: list[list[Any]], n: int) -> bool:
        """All numbers at once, where they come from one distribution."""
        generator, first = self.generators[0], draw_of(steps[0])
        methods = _IN_A_BLOCK.get(type(generator), frozenset())
        one = {
            (draw_of(step).method, repr(_parameters(draw_of(step), given)))
            for step, given in zip(steps, leaves, strict=True)
        }
        same = all(other is generator for other in self.generators) and len(one) == 1 and first.method in methods
        if not same or any(step.kind is None or step.kind.dtype != np.float64 for step in steps):
            return False
        parameters = _parameters(first, leaves[0])
        if parameters is None or any(np.ndim(p) for p in parameters.values()) or "dtype" in parameters:
            return False
        sizes = [int(np.prod(step.kind.lane_shape)) for step in steps if step.kind is not None]
        block = getattr(generator, first.method)(**parameters, size=(n, sum(sizes)))
        edges = np.cumsum([0, *sizes])
        for step, low, high in zip(steps, edges, edges[1:], strict=False):
            assert step.kind is not None
            part = np.ascontiguousarray(block[:, low:high])
            self.columns[step.out] = part.reshape(n, *step.kind.lane_shape)
        return True

    def put_back(self) -> None:
        """The generators as they were before."""
        for generator, state in zip(self.generators, self.before, strict=True):
            set_state(generator, state)

    def go_on(self) -> None:
        """The generators as the loop would have left them."""
        for generator, state in zip(self.generators, self.after, strict=True):
            set_state(generator, state)

    def of_lane(self, i: int, steps: Iterable[Step]) -> list[Any]:
        """What one lane drew, as the very objects that the loop would see."""
        found = []
        for step in steps:
            assert step.kind is not None
            value = step.kind.scalars(self.columns[step.out][i : i + 1])[0]
            found.append(value.copy() if isinstance(value, np.ndarray) else value)
        return found


def draw_of(step: Step) -> Draw:
    draw: Any = step.fn
    assert isinstance(draw, Draw)
    return draw


def _value(ref: Any, captured: dict[int, Any]) -> Any:
    return ref.value if isinstance(ref, Const) else captured[ref]


_NAMES = {"normal": ("loc", "scale", "size"), "uniform": ("low", "high", "size"), "exponential": ("scale", "size")}


def _parameters(draw: Draw, leaves: list[Any]) -> dict[str, Any] | None:
    """The distribution's parameters by name, without the size; None where they cannot be told."""
    args, keywords = draw.form.build(iter(leaves))
    names = _NAMES.get(draw.method, ("size",))
    if len(args) > len(names):
        return None
    found = dict(zip(names, args, strict=False)) | dict(keywords)
    found.pop("size", None)
    return found


def state_of(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.getstate() if isinstance(generator, random.Random) else generator.get_state()


def set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        generator.set_state(state)
