"""NumPy's PCG64 generator for many lanes at once.

A state is a row of six words: the state's and the increment's high and low halves, then whether half of a word was kept
for the next draw of 32 bits, and that half. A lane for which NumPy's own code would take another word than the first
(the ziggurat's edges, the rest of a division) is not guessed: it is named, and NumPy draws for it.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..columns.kinds import Column
from .seeds import words_of

WORDS = 6
_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645
_LOW = np.uint64(0xFFFFFFFF)
_WORD = 2**64 - 1
_U = np.uint64
Halves = tuple[Column, Column]


def started(root: Column, positions: Column, stream: int) -> Column:
    """The states of these elements' streams before anything was drawn: as `PCG64(SeedSequence(...))`."""
    words = np.ascontiguousarray(words_of(root, positions, stream, 8)).astype("<u4", copy=False).view("<u8")
    high, low, odd_high, odd_low = (words[:, i].astype(np.uint64) for i in range(4))
    increment = (odd_high << _U(1)) | (odd_low >> _U(63)), (odd_low << _U(1)) | _U(1)
    out = np.zeros((len(positions), WORDS), np.uint64)
    out[:, 0], out[:, 1] = _stepped(_sum((high, low), increment), increment)
    out[:, 2], out[:, 3] = increment
    return out


def as_numpy_has_it(state: Column) -> dict[str, Any]:
    """One lane's state as `PCG64.state`."""
    high, low, odd_high, odd_low, kept, half = state.tolist()
    words = {"state": high << 64 | low, "inc": odd_high << 64 | odd_low}
    return {"bit_generator": "PCG64", "state": words, "has_uint32": kept, "uinteger": half}


def as_words(state: Any) -> Column:
    """`PCG64.state` as one lane's state."""
    whole, odd = state["state"]["state"], state["state"]["inc"]
    words = [whole >> 64, whole & _WORD, odd >> 64, odd & _WORD, state["has_uint32"], state["uinteger"]]
    return np.array(words, np.uint64)


def _sum(a: Halves, b: Halves) -> Halves:
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]), low


def _stepped(state: Halves, increment: Halves) -> Halves:
    """state * factor + increment, modulo 2**128."""
    high, low = state
    ours, theirs = _U(_FACTOR & _WORD), _U(_FACTOR >> 64)
    a, b, c, d = low >> _U(32), low & _LOW, ours >> _U(32), ours & _LOW
    ad, bc, bd = a * d, b * c, b * d
    middle = (bd >> _U(32)) + (ad & _LOW) + (bc & _LOW)
    carried = a * c + (ad >> _U(32)) + (bc >> _U(32)) + (middle >> _U(32))
    return _sum((high * ours + low * theirs + carried, low * ours), increment)


def _words(states: Column, count: int) -> tuple[Column, Column]:
    """The next words of every lane, (count, lanes), and the states after them."""
    state: Halves = states[:, 0].copy(), states[:, 1].copy()
    increment = states[:, 2].copy(), states[:, 3].copy()
    out = np.empty((count, len(states)), np.uint64)
    for i in range(count):
        high, low = state = _stepped(state, increment)
        mixed, turn = high ^ low, high >> _U(58)
        out[i] = (mixed >> turn) | (mixed << ((_U(64) - turn) & _U(63)))
    after = states.copy()
    after[:, 0], after[:, 1] = state
    return out, after


# ---- what is drawn: states and how many numbers in; numbers, states after, lanes that NumPy must draw for out

Drawn = tuple[Column, Column, Column]


def doubles(states: Column, count: int) -> Drawn:
    """`random()`."""
    words, after = _words(states, count)
    return (words >> _U(11)).T * (1.0 / 2**53), after, np.zeros(len(states), bool)


def normals(states: Column, count: int) -> Drawn:
    """`standard_normal()`: the inner parts of the ziggurat."""
    words, after = _words(states, count)
    widths, edges = _ziggurat("standard_normal")
    layer, signed = (words & _U(0xFF)).astype(np.intp), words >> _U(8)
    place = (signed >> _U(1)) & _U(2**52 - 1)
    numbers = place * widths[layer]
    return np.where(signed & _U(1), -numbers, numbers).T, after, np.logical_or.reduce(place >= edges[layer])


def exponentials(states: Column, count: int) -> Drawn:
    """`standard_exponential()`, likewise."""
    words, after = _words(states, count)
    widths, edges = _ziggurat("standard_exponential")
    layer, place = ((words >> _U(3)) & _U(0xFF)).astype(np.intp), words >> _U(11)
    return (place * widths[layer]).T, after, np.logical_or.reduce(place >= edges[layer])


def integers(states: Column, low: Any, high: Any) -> Drawn:
    """`integers(low, high)` of up to 32 bits: half a word, scaled. The other half is kept for the next."""
    low, high = np.asarray(low), np.asarray(high)
    reach = (high - low).astype(np.uint64)
    words, after = _words(states, 1)
    kept = states[:, 4] != 0
    half = np.where(kept, states[:, 5], words[0] & _LOW)
    after[:, :2] = np.where(kept[:, None], states[:, :2], after[:, :2])
    after[:, 4] = ~kept
    after[:, 5] = np.where(kept, states[:, 5], words[0] >> _U(32))
    scaled = half * reach
    odd = (high - low < 2) | (reach >= _LOW) | ((scaled & _LOW) < reach)
    odd = odd | (np.maximum(np.abs(low), np.abs(high)) > 2**40)  # whose difference may not be what it seems
    return low + (scaled >> _U(32)).astype(np.int64), after, np.broadcast_to(odd, len(states))


@functools.cache
def _ziggurat(method: str) -> Halves:
    """The widths of NumPy's layers, and how far into each of them a number is surely taken at once.

    NumPy is asked: a number at a known place in a layer is the place times the width.
    """
    layer_at, place_at, bits = (0, 9, 52) if method == "standard_normal" else (3, 11, 53)
    place = 1 << 30
    drawn = _drawn_from([place << place_at | layer << layer_at for layer in range(256)], method)
    widths = np.array(drawn) / place
    edges = np.zeros(256)
    edges[2:] = widths[1:-1] / widths[2:] - 1e-9  # of the layer above; rather a bit less
    return widths, (edges * 2.0**bits).astype(np.uint64)


def _drawn_from(words: list[int], method: str) -> list[float]:
    """What NumPy draws where the generator's next word is each of these."""
    pcg = np.random.PCG64(0)
    state, draw = pcg.state, getattr(np.random.Generator(pcg), method)
    back = pow(_FACTOR, -1, 1 << 128)
    drawn = []
    for word in words:
        state["state"]["state"] = (word - state["state"]["inc"]) * back % (1 << 128)
        pcg.state = state
        drawn.append(draw())
    return drawn
