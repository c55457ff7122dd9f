"""Columns of elements, ordinary and nasty: a kind in, a list or array of so many values of it out."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from fuzz.kinds import parsed
from fuzz.vocabulary import Pair

CALM_INTS = [*range(-12, 25), 97, 100, 255, 1000, -1000]
NASTY_INTS = [
    2**31 - 1, 2**31, -(2**31), 2**32 + 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 2**63 - 1, -(2**63),
    3037000500, 10**18, 0, -1,
]  # fmt: skip
WIDE_INTS = [2**63, -(2**63) - 1, 2**64, 10**30, -(10**40)]
CALM_FLOATS = [k / 4 for k in range(-20, 21)] + [0.1, 2.675, 1e-3, 1234.5678, 0.3, 1 / 3]
NASTY_FLOATS = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e16, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63),
    9.007199254740993e15, 1e22, 1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 0.49999999999999994,
    1.0000000000000002, 0.5, 1.5, 2.5, -2.5,
]  # fmt: skip
TEXTS = [
    "",
    "a",
    "abc",
    "Hello World",
    "12",
    "-7",
    " x ",
    "a,b,,c",
    "zz9",
    "0x1f",
    "3.5",
    "ABC abc",
    "\t\n",
    "aXbXc",
    "1e3",
]
LETTERS = "abcXYZ 0129,-_.\t"
DTYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool complex64 complex128".split()
KINDS = (
    ("int",) * 22 + ("float",) * 20 + ("np",) * 14 + ("list[int]",) * 12 + ("str",) * 9 + ("list[float]",) * 6
    + ("bool",) * 4 + ("complex",) * 5 + ("(int,float)",) * 3 + ("opt[int]",) * 3 + ("num",) * 3 + ("list[str]",) * 2
    + ("range",) * 2 + ("list[list[int]]",) * 2 + ("pair",) * 2 + ("wide",) * 2 + ("list[num]",) * 1 + ("none",)
)  # fmt: skip
NASTY = 0.25
"""Of all values, as many are nasty."""


def kind_of_numpy(dtype: str) -> str:
    """The grammar's kind of a NumPy number."""
    return {"i": "npi", "u": "npi", "f": "npf", "b": "npb", "c": "npc"}[np.dtype(dtype).kind]


def value(kind: str, dice: random.Random, nasty: float = NASTY) -> Any:
    """One value of a kind."""
    hard = dice.random() < nasty
    if kind == "int":
        return dice.choice(NASTY_INTS if hard else CALM_INTS)
    if kind == "wide":
        return dice.choice(WIDE_INTS) if dice.random() < 0.2 else value("int", dice, nasty)
    if kind == "float":
        return dice.choice(NASTY_FLOATS if hard else CALM_FLOATS)
    if kind == "bool":
        return dice.random() < 0.5
    if kind == "complex":
        return complex(value("float", dice, nasty / 2), value("float", dice, nasty / 2))
    if kind == "str":
        return "".join(dice.choices(LETTERS, k=dice.randrange(9))) if hard else dice.choice(TEXTS)
    if kind == "none":
        return None
    if kind == "num":
        return value(dice.choice(("int", "float", "bool")), dice, nasty)
    if kind == "pair":
        return Pair(value("int", dice, nasty), value("int", dice, nasty))
    head, parts = parsed(kind)
    if head == "opt":
        return None if dice.random() < 0.3 else value(parts[0], dice, nasty)
    if head == "()":
        return tuple(value(part, dice, nasty) for part in parts)
    assert head == "list", kind
    return [value(parts[0], dice, nasty / 2) for _ in range(dice.choice((0, 1, 2, 3, 3, 4, 6)))]


def column(kind: str, count: int, dice: random.Random) -> tuple[str, Any]:
    """A column of so many elements, and the grammar's kind of one of them."""
    nasty = dice.choice((0.0, NASTY, NASTY, 1.0))
    if kind == "range":
        start, step = dice.randrange(-9, 9), dice.choice((1, 2, -3))
        return "int", range(start, start + step * count, step)
    if kind == "np":
        dtype = dice.choice(DTYPES)
        return kind_of_numpy(dtype), array(dtype, count, dice, nasty)
    return ("int" if kind == "wide" else kind), [value(kind, dice, nasty) for _ in range(count)]


def array(dtype: str, count: int, dice: random.Random, nasty: float) -> Any:
    of = {"f": "float", "c": "complex", "b": "bool"}.get(np.dtype(dtype).kind, "int")
    with np.errstate(all="ignore"):
        return np.array([value(of, dice, nasty) for _ in range(count)]).astype(dtype)
