"""The table of rules: looks up the Op for a Python function and the kinds of its operands."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.kinds import Kind
from .op import Op, PerLane

Domain = tuple[tuple[Op, tuple[int, ...]], ...]
Lower = Callable[[tuple[Kind | None, ...], Kind], Op | None]


@dataclass(frozen=True, eq=False)
class Rule:
    """One row: how `fn` is batched for one class of operands.

    `domain` lists what must hold for a lane so that `fn` does not raise (or gives the same kind of number): predicates
    and the positions of the arguments that they look at. Each becomes a guard.
    """

    fn: Callable[..., Any]
    on: str
    lower: Lower
    domain: Domain | Callable[[tuple[Kind | None, ...]], Domain] = ()
    samples: tuple[tuple[Any, ...], ...] = field(default=())

    def guards(self, kinds: tuple[Kind | None, ...]) -> Domain:
        """The predicates for operands of these kinds."""
        return self.domain(kinds) if callable(self.domain) else self.domain


RULES: dict[tuple[Callable[..., Any], str], Rule] = {}
CLASSES = ("bool", "int", "float", "complex", "numpy")
_RANK = {np.dtype(np.bool_): 0, np.dtype(np.int64): 1, np.dtype(np.float64): 2, np.dtype(np.complex128): 3}


def class_of(kinds: Sequence[Kind | None]) -> str | None:
    """Whose arithmetic operands of these kinds follow: NumPy's where one is NumPy's, else the widest Python kind's."""
    known = [kind for kind in kinds if kind is not None]
    if len(known) != len(kinds) or not known:
        return None
    if not all(kind.python for kind in known):
        return "numpy"
    return CLASSES[max(_RANK[kind.dtype] for kind in known)]


def rule(
    *fns: Callable[..., Any],
    on: str,
    lower: Lower | Op,
    domain: Domain | Callable[[tuple[Kind | None, ...]], Domain] = (),
    samples: Sequence[tuple[Any, ...]] = (),
) -> None:
    """Add one row for every function and class named."""
    make: Lower = (lambda kinds, kind: lower) if isinstance(lower, Op) else lower
    for fn in fns:
        for cls in CLASSES if on == "any" else on.split():
            RULES[fn, cls] = Rule(fn, cls, make, domain, tuple(samples))


def find(fn: Callable[..., Any], kinds: Sequence[Kind | None]) -> Rule | None:
    """The rule for this function on operands of these kinds."""
    cls = class_of(kinds)
    return RULES.get((fn, cls)) if cls is not None else None


@functools.lru_cache(maxsize=4096)
def guards(fn: Callable[..., Any], kinds: tuple[Kind | None, ...]) -> Domain:
    """What must hold for a lane so that the rule for this call is right."""
    rule = find(fn, kinds)
    return rule.guards(kinds) if rule is not None else ()


@functools.lru_cache(maxsize=4096)
def lower(fn: Callable[..., Any], kinds: tuple[Kind | None, ...], kind: Kind) -> Op:
    """The Op for this call: a rule's, else the plain call lane by lane."""
    if isinstance(fn, np.ufunc):
        spell = f"np.{fn.__name__}({', '.join(f'{{{i}}}' for i in range(len(kinds)))})"
        return Op(fn.__name__, fn, spell, cuts=kind.dtype.kind in "bi", warns=True)
    row = find(fn, kinds)
    op = row.lower(kinds, kind) if row is not None else None
    return op if op is not None else lane_by_lane(fn, kinds, kind)


def lane_by_lane(fn: Callable[..., Any], kinds: tuple[Kind | None, ...], kind: Kind) -> PerLane:
    """The plain call as an Op: always right, never fast."""
    name = name_of(fn)
    holes = ", ".join(f"{{{i}}}" for i in range(len(kinds)))
    return PerLane(name, fn, f"per_lane({name}, {holes})", cuts=kind.dtype.kind in "bi", kinds=kinds, kind=kind)


def name_of(fn: Callable[..., Any]) -> str:
    """How a function is written in source."""
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or type(fn).__name__
    module = getattr(fn, "__module__", None)
    return f"{module}.{name}".replace("_operator.", "operator.") if module and module != "builtins" else name
