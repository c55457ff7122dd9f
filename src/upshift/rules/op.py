"""How one call on an element becomes one call on all lanes, and which lanes are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from ..columns.kinds import FLOAT, Column, Kind, kind_of

Span = tuple[Any, Any]
"""Smallest and largest value that a column may hold."""
Spans = Callable[[int, bool], Span]
"""The span of argument i; tight (measured) or as already known."""


@dataclass(frozen=True, eq=False)
class Op:
    """A batched call that is right for every lane it is given.

    `close`: its last bits may differ from the loop's. `cuts`: a small change of an argument may change the result by a
    whole step (comparisons, floor, int), so its arguments must be the loop's very bits. `soft`: it does not mind the
    last bits of its arguments even where a decision depends on it. `warns`: NumPy warns in the loop.
    """

    name: str
    run: Callable[..., Any]
    spell: str
    close: bool = False
    cuts: bool = False
    soft: bool = False
    warns: bool = False

    simple = True
    each = False
    """Whether it is the plain call, made for every lane."""
    frees = False
    """Whether that call frees the interpreter."""

    def over(self, args: list[Any], spans: Spans) -> tuple[Any, Column | None, Span | None]:
        """Result column, mask of lanes that belong to the plain function, span of the result where it is known."""
        return self.run(*args), None, None

    def spelled(self, args: list[str]) -> str:
        """The call as source."""
        return self.spell.replace("{*}", ", ".join(args)).format(*args)

    def spelled_check(self, args: list[str], out: str) -> str:
        """Which lanes it was right for, as source; empty where it is right for all."""
        return ""


@dataclass(frozen=True, eq=False)
class Watched(Op):
    """A batched call whose result tells which lanes it is not right for (an overflow that Python raises)."""

    wrong: Callable[..., Column | None] = lambda *_: None
    check: str = "np.isfinite({out}) | ~np.isfinite({sum})"

    simple = False

    def spelled_check(self, args: list[str], out: str) -> str:
        """The test for lanes that this op is wrong for, as source."""
        return self.check.format(*args, out=out, sum=" + ".join(args))

    def over(self, args: list[Any], spans: Spans) -> tuple[Any, Column | None, Span | None]:
        """The result for all lanes, and which of them it is wrong for."""
        out = self.run(*args)
        return out, self.wrong(out, *args), None


@dataclass(frozen=True, eq=False)
class Proved(Op):
    """A batched call that is right while what it reaches stays within limits: proved from spans, else lane by lane.

    Most columns of ints are far from 64 bits: two comparisons of Python ints then replace a check of every lane.
    """

    reach: Callable[..., Span] = lambda a: a
    limits: Span = (0, 0)
    outside: Callable[..., Column] = lambda *_: np.zeros(0, bool)
    watch: tuple[int, ...] = ()
    makes_span: bool = True
    check: str = ""

    simple = False

    def spelled_check(self, args: list[str], out: str) -> str:
        """The test that all results fit, as source."""
        if self.check:
            return self.check.format(*args)
        floats = self.spelled([f"np.asarray({arg}, float)" for arg in args])
        slack = max(1, self.limits[1] >> 48)
        return f"inside({floats}, {self.limits[0] + slack}, {self.limits[1] - slack})"

    def over(self, args: list[Any], spans: Spans) -> tuple[Any, Column | None, Span | None]:
        """The result for all lanes; none is left if ranges prove that it fits, else those that do not fit."""
        low, high = self.limits
        for tight in (False, True):
            span = self.reach(*(spans(i, tight) for i in self.watch))
            if low <= span[0] and span[1] <= high:
                return self.run(*args), None, span if self.makes_span else None
        leave = self.outside(*args)
        return self.run(*args), leave if leave.any() else None, self.limits if self.makes_span else None


@dataclass(frozen=True, eq=False)
class PerLane(Op):
    """The plain call, once for every lane: exact, and the answer wherever no batched call exists."""

    kinds: tuple[Kind | None, ...] = ()
    kind: Kind | None = None

    simple = False
    each = True

    def spelled(self, args: list[str]) -> str:
        """The call lane by lane, as source."""
        kinds = [kind.name if kind is not None else "" for kind in (self.kind, *self.kinds)]
        return f"per_lane({self.name}, {' '.join(k or '-' for k in kinds)!r}, {', '.join(args)})"

    def over(self, args: list[Any], spans: Spans) -> tuple[Any, Column | None, Span | None]:
        """Calls the plain function for every lane; lanes whose call raises are left."""
        assert self.kind is not None
        n = next(len(a) for a in args if isinstance(a, np.ndarray))
        lanes = [_scalars(a, kind) for a, kind in zip(args, self.kinds, strict=True)]
        out, leave = per_lane(self.run, lanes, self.kind, n)
        return out, leave, None


def _scalars(arg: Any, kind: Kind | None) -> Iterable[Any]:
    return kind.scalars(arg) if isinstance(arg, np.ndarray) and kind is not None else repeat(arg)


def per_lane(fn: Callable[..., Any], lanes: list[Iterable[Any]], kind: Kind, n: int) -> tuple[Column, Column | None]:
    """`fn` of every lane, and a mask of the lanes where it raised or gave another kind of number."""
    lanes = [lane if isinstance(lane, repeat) else list(lane) for lane in lanes]
    try:
        if kind is FLOAT and getattr(fn, "__module__", "") == "math":  # always a float
            return np.fromiter(map(fn, *lanes), np.float64, n), None
        results = list(map(fn, *lanes))
        if len(set(map(type, results))) == 1 and kind_of(results[0]) is kind:
            return np.array(results, dtype=kind.dtype), None
    except Exception:  # of a pure function of numbers: the lanes that raise are found one by one
        pass
    out, leave = np.zeros(n, kind.dtype), np.zeros(n, bool)
    for i, args in enumerate(_rows(lanes, n)):
        try:
            result = fn(*args)
            if kind_of(result) is kind:
                out[i] = result
                continue
        except Exception:
            pass
        leave[i] = True
    return out, leave if leave.any() else None


def _rows(lanes: list[Iterable[Any]], n: int) -> Iterator[tuple[Any, ...]]:
    for _, row in zip(range(n), zip(*lanes, strict=False), strict=False):
        yield row
