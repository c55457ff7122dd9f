"""A random stream for each lane, as a value that a tree can hold.

A draw makes the numbers and the state after them, so that a tree of draws has no order besides its arguments.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.forms import Form
from ..columns.kinds import Column, Kind, array_kind, kind_of_value
from . import pcg
from .arrays.dynamic import AS_MADE
from .arrays.op import rows_of
from .interned import Interned
from .op import Op, Span, Spans
from .seeds import words_of

MOST_NUMBERS = 32
"""For one lane in one draw; where there are more, NumPy draws them faster than all lanes at once do."""


class Drawing(Interned):
    """A call of a generator's method, with its arguments laid out flat."""

    def __init__(self, method: str, form: Form) -> None:
        self.method, self.form = method, form
        self.called(f"draw_{method}")

    @property
    def is_plain(self) -> bool:
        """Whether it has no parameter but the size of what it makes."""
        positional, named = self.form.children
        return len(positional.children) + len(named.children) <= 1 and named.keys in ((), ("size",))

    def __call__(self, generator: Any, *leaves: Any) -> Any:
        args, keywords = self.form.build(iter(leaves))
        return getattr(generator, self.method)(*args, **keywords)


class Streams(Interned):
    """The streams that elements have of one generator. `number`: which of the function's generators it is."""

    kind: Kind
    """Of a lane's state."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.called("stream")
        self.op = Op("stream", self.begun, "")

    def __call__(self, root: Column, position: int) -> Any:
        return self.begun(root, np.array([position]))[0]

    def begun(self, root: Column, positions: Column) -> Column:
        """The states of lanes before anything was drawn."""
        raise NotImplementedError

    def generator(self) -> Any:
        """What lanes that draw one by one draw with."""

    def draw(self, drawing: Drawing, state: Any, leaves: Sequence[Any], generator: Any) -> tuple[Any, Any]:
        """The state after one draw, and what was drawn."""
        raise NotImplementedError

    def draw_all(self, drawing: Drawing, states: Column, args: list[Any], kind: Kind) -> pcg.Drawn | None:
        """Numbers, states after, and the lanes that must draw one by one; None where all must."""
        return None


class Pcg64Streams(Streams):
    """Of the generator that `default_rng` makes: states are columns of words."""

    kind = array_kind(np.dtype(np.uint64), (pcg.WORDS,))  # type: ignore[assignment]

    def begun(self, root: Column, positions: Column) -> Column:
        """The state of every lane's stream before its first draw."""
        return pcg.started(root, positions, self.number)

    def generator(self) -> Any:
        """A generator whose state is replaced before every draw."""
        return np.random.Generator(np.random.PCG64(_NO_SEED))

    def draw(self, drawing: Drawing, state: Any, leaves: Sequence[Any], generator: Any) -> tuple[Any, Any]:
        """Draws for one lane: its number, and the state after it."""
        generator.bit_generator.state = pcg.as_numpy_has_it(state)
        value = drawing(generator, *leaves)
        return pcg.as_words(generator.bit_generator.state), value

    def draw_all(self, drawing: Drawing, states: Column, args: list[Any], kind: Kind) -> pcg.Drawn | None:
        """Draws for all lanes at once where the method is a plain one, or None."""
        if drawing.method == "integers":
            limits = _limits(drawing, args)
            return None if limits is None else pcg.integers(states, *limits)
        draw, count = _PLAIN.get(drawing.method), math.prod(kind.lane_shape)
        if draw is None or kind.dtype != np.float64 or not 0 < count <= MOST_NUMBERS or not drawing.is_plain:
            return None
        numbers, after, odd = draw(states, count)
        return numbers.reshape(len(states), *kind.lane_shape), after, odd


_PLAIN = {"random": pcg.doubles, "standard_normal": pcg.normals, "standard_exponential": pcg.exponentials}
_NO_SEED = np.random.SeedSequence(0)


def _limits(drawing: Drawing, args: list[Any]) -> tuple[Any, Any] | None:
    """The smallest integer, and the one above the largest; None where the call asks for more."""
    positional, named = drawing.form.children
    if named.keys or len(positional.children) != len(args) or not 1 <= len(args) <= 2:
        return None
    if any(np.asarray(arg).dtype.kind != "i" or np.ndim(arg) > 1 for arg in args):
        return None
    return (0, args[0]) if len(args) == 1 else (args[0], args[1])


class PythonStreams(Streams):
    """Of a `random.Random`: every lane has one of its own, which moves on as it draws."""

    kind = AS_MADE

    def begun(self, root: Column, positions: Column) -> Column:
        """A generator for every lane, seeded from the root and the lane's position."""
        out = np.empty(len(positions), object)
        for i, seed in enumerate(self.seeds(root, positions)):
            out[i] = random.Random(seed)
        return out

    def seeds(self, root: Column, positions: Column) -> list[int]:
        """One seed of 128 bits for every lane."""
        words = words_of(root, positions, self.number, 2)
        return (words[:, 0] | words[:, 1].astype(np.uint64) << np.uint64(32)).tolist()  # type: ignore[no-any-return]

    def draw(self, drawing: Drawing, state: Any, leaves: Sequence[Any], generator: Any) -> tuple[Any, Any]:
        """Draws for one lane; Python's generators keep their state themselves."""
        return state, drawing(state, *leaves)


class StreamDraw(Interned):
    """A draw from a lane's stream: a state and the draw's arguments in, the state after and what was drawn out."""

    def __init__(self, streams: Streams, drawing: Drawing) -> None:
        self.streams, self.drawing = streams, drawing
        self.called(drawing.__name__)

    def __call__(self, state: Any, *leaves: Any) -> tuple[Any, Any]:
        return self.streams.draw(self.drawing, state, leaves, self.streams.generator())


@dataclass(frozen=True, eq=False)
class StreamOp(Op):
    """The same for all lanes: at once where the streams know how, else one by one. Lanes that raise leave."""

    lanes: tuple[bool, ...] = ()
    kinds: tuple[Kind | None, ...] = ()
    makes: Kind = field(default=AS_MADE)

    simple = False

    def over(self, args: list[Any], spans: Spans) -> tuple[Any, Column | None, Span | None]:
        """Draws for all lanes at once, and one by one for those where that cannot be done."""
        call, states = self.run, args[0]
        assert isinstance(call, StreamDraw)
        n = len(states)
        drawn = call.streams.draw_all(call.drawing, states, args[1:], self.makes)
        if drawn is None:
            numbers, after = np.empty((n, *self.makes.lane_shape), self.makes.dtype), states.copy()
            drawn = numbers, after, np.ones(n, bool)
        numbers, after, odd = drawn
        leave = np.zeros(n, bool)
        places, generator = np.flatnonzero(odd), call.streams.generator()
        some = [arg[places] if lane else arg for arg, lane in zip(args, self.lanes, strict=True)]
        for i, (state, *leaves) in zip(
            places.tolist(), rows_of(some, self.lanes, self.kinds, len(places)), strict=True
        ):
            try:
                after[i], value = call.streams.draw(call.drawing, state, leaves, generator)
                fits = kind_of_value(value) is self.makes
            except Exception:  # the plain function will raise it
                fits = False
            if fits:
                numbers[i] = value
            else:
                leave[i] = True
        return (after, numbers), leave if leave.any() else None, None
