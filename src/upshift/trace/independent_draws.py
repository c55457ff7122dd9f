"""Functions of an element and its position that draw random numbers independently for each element.

Element i draws from streams that start from the seed and i, whatever was drawn before: so the numbers are the same for
any order, gear and number of workers. Calls set the user's own generators; traces draw from states that are values.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ..columns.forms import flatten
from ..columns.kinds import bundle_kind, kind_of_value
from ..errors import Untraceable
from ..rules.arrays.dynamic import Item
from ..rules.streams import Drawing, Pcg64Streams, PythonStreams, StreamDraw, StreamOp, Streams
from .lane import Lane, is_lane
from .names import user_line
from .paths import Path


def streams_of(generator: Any, number: int) -> Streams | None:
    """How the streams of this generator are drawn from for all lanes; None where only it itself can."""
    if type(generator) is random.Random:
        return PythonStreams.of(number)
    if type(generator) is np.random.Generator and type(generator.bit_generator) is np.random.PCG64:
        return Pcg64Streams.of(number)
    return None


class OwnNumbers:
    """The numbers of one trace, from the streams of the element that it runs on."""

    def __init__(self, trace: Any, holder: Any, generators: list[Any], root: Any, position: Any) -> None:
        self.trace, self.holder, self.generators = trace, holder, generators
        self.root, self.position = root, position
        self.states: dict[int, Lane] = {}

    def draw(self, generator: Any, path: Path, method: str, args: Any, keywords: dict[str, Any]) -> Any:
        """Records a draw from the element's own stream."""
        trace = self.trace
        number = next((i for i, known in enumerate(self.generators) if known is generator), -1)
        streams = streams_of(generator, number) if number >= 0 else None
        if streams is None:
            raise Untraceable("draws from a generator that is not np.random.default_rng's", where=user_line())
        if "size" in keywords and is_lane(keywords["size"]):
            keywords["size"] = trace.pin(keywords["size"])
        form, leaves = flatten((args, keywords))
        state = self.states[number] if number in self.states else self._begun(streams, generator, path)
        call = StreamDraw.of(streams, Drawing.of(method, form))
        try:
            after, value = call(state._up_value, *(leaf._up_value if is_lane(leaf) else leaf for leaf in leaves))
        except Exception as error:
            raise trace._leaves(f"{type(error).__name__} in a draw") from error
        kind = kind_of_value(value)
        if kind is None:
            raise Untraceable(f"draws a {type(value).__name__}, not numbers", where=user_line())
        kinds = (streams.kind, *(kind_of_value(leaf._up_value) if is_lane(leaf) else None for leaf in leaves))
        lanes = (True, *(is_lane(leaf) and not leaf._up_uniform for leaf in leaves))
        op = StreamOp(call.__name__, call, "", cuts=True, lanes=lanes, kinds=kinds, makes=kind)
        both = bundle_kind((streams.kind, kind))
        made = Lane((after, value), trace._write(call, (state, *leaves), kinds, both, op), trace)
        ids = [trace._write(Item.of(j), (made,), (both,), k, Item.of(j).op) for j, k in enumerate((streams.kind, kind))]
        self.states[number] = Lane(after, ids[0], trace)
        return trace.arrays._fresh(value, ids[1], uniform=False)

    def _begun(self, streams: Streams, generator: Any, path: Path) -> Lane:
        if len(self.generators) > 1:  # which of them it is, the tree is built upon
            self.holder.note(path, "same", generator)
        if isinstance(generator, np.random.Generator):
            self.holder.note((*path, ("attr", "bit_generator")), "type", type(generator.bit_generator))
        args = (self.root, self.position)
        kinds = tuple(kind_of_value(arg._up_value) for arg in args)
        id = self.trace._write(streams, args, kinds, streams.kind, streams.op)
        return Lane(streams(*(arg._up_value for arg in args)), id, self.trace)

    def finish(self) -> None:
        """Elements may draw as they like."""
