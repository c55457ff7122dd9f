"""Rules for `int`, `float`, `bool`, `complex`, `round`, `min`, `max`, `sorted` and `sum`, and for casts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..columns.kinds import Column, Kind, kind_of_dtype
from .maths import WHOLE_DOMAIN, as_float, whole
from .op import Op, Proved, Watched
from .predicates import TRUE
from .table import Lower, rule

rule(int, on="any", lower=whole(int, np.trunc, "np.trunc({0})"), domain=WHOLE_DOMAIN,
     samples=[(2.5,), (-2.5,), (True,), (7,), (1e19,), (math.nan,)])  # fmt: skip
rule(round, on="any", lower=whole(round, np.rint, "np.rint({0})"),
     domain=lambda kinds: WHOLE_DOMAIN if len(kinds) == 1 else (),
     samples=[(2.5,), (3.5,), (-2.5,), (2.675, 2), (1234, -2), (7,), (math.inf,)])  # fmt: skip
rule(bool, on="any", lower=TRUE, samples=[(0.0,), (-0.0,), (math.nan,), (3,)])


def _to_float(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
    if kinds[0] is None or kinds[0].dtype.kind not in "biuf" or not kind.python:
        return None
    if kinds[0].dtype == np.float64:
        return Op("float", lambda x: x, "{0}")
    return Op("float", as_float, "{0}.astype(np.float64)")


def _to_complex(kinds: tuple[Kind | None, ...], kind: Kind) -> Op | None:
    if not all(k is not None and k.python and k.dtype.kind in "bif" for k in kinds):
        return None
    if len(kinds) == 1:
        return Op("complex", lambda x: x.astype(np.complex128), "{0}.astype(np.complex128)")
    return Op("complex", _join_parts, "np.asarray({0}) + 1j * np.asarray({1})")


def _join_parts(real: Any, imag: Any) -> Column:
    out = np.empty(np.broadcast(real, imag).shape, np.complex128)
    out.real, out.imag = real, imag
    return out


rule(float, on="any", lower=_to_float, samples=[(3,), (True,), (2**53 + 1,), (np.float32(0.1),)])
rule(complex, on="any", lower=_to_complex, samples=[(1.5,), (1.5, -2.0)])


def real_part(x: Any) -> Any:
    """`x.real` as a function."""
    return x.real


def imag_part(x: Any) -> Any:
    """`x.imag` as a function."""
    return x.imag


def conjugate(x: Any) -> Any:
    """`x.conjugate()` as a function."""
    return x.conjugate()


rule(real_part, on="complex numpy", lower=Op("real", lambda x: x.real, "{0}.real"), samples=[(1 + 2j,)])
rule(imag_part, on="complex numpy", lower=Op("imag", lambda x: x.imag, "{0}.imag"), samples=[(1 + 2j,)])
rule(conjugate, on="complex numpy", lower=Op("conjugate", np.conjugate, "np.conjugate({0})"), samples=[(1 + 2j,)])


def smaller(a: Any, b: Any) -> Any:
    """`min` of two, as Python decides it: the first unless the second is less."""
    return b if b < a else a


def larger(a: Any, b: Any) -> Any:
    """`max` of two, as Python decides it: the first unless the second is greater."""
    return b if b > a else a


_MIXED = [(2.5, 1.5), (0.0, -0.0), (math.nan, 1.0), (1.0, math.nan), (3, 3)]
rule(smaller, on="bool int float numpy", samples=_MIXED,
     lower=Op("min", lambda a, b: np.where(b < a, b, a), "np.where({1} < {0}, {1}, {0})"))  # fmt: skip
rule(larger, on="bool int float numpy", samples=_MIXED,
     lower=Op("max", lambda a, b: np.where(b > a, b, a), "np.where({1} > {0}, {1}, {0})"))  # fmt: skip


class Ranked:
    """Item `rank` of the sorted arguments."""

    made: ClassVar[dict[int, Ranked]] = {}

    def __init__(self, rank: int) -> None:
        self.rank, self.__name__ = rank, f"ranked_{rank}"

    def __call__(self, *numbers: Any) -> Any:
        return sorted(numbers)[self.rank]


def ranked(rank: int) -> Ranked:
    """The function that picks one item of the sorted arguments, with its rule."""
    if rank not in Ranked.made:
        fn = Ranked(rank)

        def sort(*columns: Any) -> Any:
            stacked = np.stack(np.broadcast_arrays(*columns))
            return np.sort(stacked, axis=0, kind="stable")[rank]

        def unordered(out: Column, *columns: Any) -> Column | None:
            bad = np.logical_or.reduce(np.broadcast_arrays(*map(np.isnan, columns)))
            return np.asarray(bad) if bad.any() else None

        spell = f"np.sort(np.stack(np.broadcast_arrays({{*}})), axis=0, kind='stable')[{rank}]"
        op = Watched(fn.__name__, sort, spell, wrong=unordered, check="~np.isnan({sum})")
        rule(fn, on="bool int float numpy", lower=op)
        Ranked.made[rank] = fn
    return Ranked.made[rank]


def total(start: Any, *numbers: Any) -> Any:
    """`sum` of the arguments, as this Python adds floats (compensated from 3.12 on)."""
    return sum(numbers, start)


def weak_cast(kind: Kind) -> tuple[Callable[..., Any], Lower]:
    """How a Python number becomes an operand of NumPy's kind: (the plain cast, its batched form)."""
    scalar = kind.dtype.type

    def make(kinds: tuple[Kind | None, ...], out: Kind) -> Op | None:
        spell = f"{{0}}.astype(np.{kind.dtype.name})"
        if kind.dtype.kind in "iu" and kinds[0] is not None and kinds[0].dtype.kind == "i":
            info = np.iinfo(kind.dtype)
            low, high = int(info.min), int(info.max)

            def outside(x: Column) -> Column:
                return np.asarray((x < low) | (x > high))

            return Proved("cast", lambda x: x.astype(kind.dtype), spell, limits=(low, high), outside=outside,
                          watch=(0,), check=f"inside({{0}}, {low}, {high})")  # fmt: skip
        return Op("cast", lambda x: x.astype(kind.dtype), spell)

    return scalar, make


def scalar_type(cls: type[np.generic]) -> None:
    """`np.float32(x)` of a number: a cast, where no number can be too large for it or no number at all."""
    dtype = np.dtype(cls)
    kind = kind_of_dtype(dtype)
    assert kind is not None
    _, make = weak_cast(kind)

    def lower(kinds: tuple[Kind | None, ...], out: Kind) -> Op | None:
        given = kinds[0]
        if len(kinds) != 1 or given is None or out is not kind:
            return None
        whole = given.dtype.kind in "bi"
        if dtype.kind in "fc" and (whole or given.dtype.kind == "f"):
            return Op("cast", lambda x: x.astype(dtype), f"{{0}}.astype(np.{dtype.name})")
        return make(kinds, out) if dtype.kind in "iu" and whole else None

    rule(cls, on="bool int float numpy", lower=lower, samples=[(1,), (2.5,), (-3,), (True,), (0.1,), (1e300,)])


for _cls in (np.float16, np.float32, np.float64, np.complex64, np.complex128, np.int8, np.int16, np.int32, np.int64,
             np.uint8, np.uint16, np.uint32, np.uint64):  # fmt: skip
    scalar_type(_cls)
