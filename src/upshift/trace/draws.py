"""Random numbers: a captured generator in, one whose draws are steps out. The user's own is never advanced by a trace.

A draw before the first decision is made by every element, in order: so the numbers of all elements are the ones that
the loop would have drawn, and can be drawn beforehand. What comes after a decision some elements draw and others do
not: the loop's numbers would hang on all elements before.
"""

from __future__ import annotations

import copy
import random
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.forms import Form, flatten
from ..columns.kinds import kind_of_value
from ..errors import Untraceable
from ..rules import Op
from ..rules.interned import Interned
from .lane import is_lane
from .names import user_line
from .paths import Path

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
_NO_DRAWS = frozenset("seed set_state get_state setstate getstate spawn shuffle bytes randbytes bit_generator".split())
_REMEDY = 'draw before the first decision, or pass randomness="independent"'


def generator_of(value: Any) -> Any:
    """The generator that a function of `random` or `np.random` draws from; None for anything else."""
    owner = getattr(value, "__self__", None)
    return owner if isinstance(owner, GENERATORS) and not isinstance(owner, random.SystemRandom) else None


class Draw(Interned):
    """One call of a generator's method, with its arguments laid out flat. `path` leads to the generator."""

    def __init__(self, path: Path, method: str, form: Form) -> None:
        self.path, self.method, self.form = path, method, form
        self.called(f"draw_{method}")

    def by(self, generator: Any, leaves: Any) -> Any:
        """One draw."""
        args, keywords = self.form.build(iter(leaves))
        return getattr(generator, self.method)(*args, **keywords)

    def __call__(self, *leaves: Any) -> Any:
        raise TypeError("a draw needs its generator")


@dataclass(frozen=True, eq=False)
class DrawOp(Op):
    """Numbers that were drawn beforehand for all lanes."""

    simple = False


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
        return lambda *args, **keywords: self._draw(name, args, keywords)

    def _draw(self, method: str, args: Any, keywords: dict[str, Any]) -> Any:
        trace = self._up_trace
        form, leaves = flatten((args, keywords))
        if any(is_lane(leaf) and not leaf._up_uniform for leaf in leaves):
            raise Untraceable("draws random numbers with a parameter of the element", where=user_line())
        if any(is_lane(leaf) and leaf._up_id >= 0 for leaf in leaves):
            raise Untraceable("draws random numbers with a parameter that it computes", where=user_line())
        if len(trace.trail) > 1:
            raise Untraceable("draws random numbers after a decision", _REMEDY, user_line())
        draw = Draw.of(self._up_path, method, form)
        if trace.drawn:
            value = trace.drawn.pop(0)
        else:
            value = draw.by(
                trace.copy_of(self._up_generator), [leaf._up_value if is_lane(leaf) else leaf for leaf in leaves]
            )
        kind = kind_of_value(value)
        if kind is None:
            raise Untraceable(f"draws a {type(value).__name__}, not numbers", where=user_line())
        kinds = tuple(kind_of_value(leaf._up_value) if is_lane(leaf) else None for leaf in leaves)
        id = trace._write(draw, tuple(leaves), kinds, kind, DrawOp("draw", draw, ""))
        return trace.arrays._fresh(value, id, uniform=False)


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


def copied(generator: Any) -> Any:
    """A generator in the same state."""
    if isinstance(generator, np.random.RandomState):
        twin = np.random.RandomState()
        twin.set_state(generator.get_state())
        return twin
    return copy.deepcopy(generator)
