"""What each element's random streams start from: a seed and the element's position.

They are those of `np.random.SeedSequence(seed, spawn_key=(position, stream))`, for many positions at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns.kinds import Column

_POOL = 4
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_L, _MIX_R = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_HALF = np.uint32(16)
_MASK = 0xFFFFFFFF


def root_of(seed: Any) -> Column:
    """What all streams of a seed share: its pool of entropy, and the constant that is hashed with next."""
    words = max(_words_in(seed), _POOL)
    hashed = _POOL * words  # by each word, into each word of the pool
    constant = _INIT_A * pow(_MULT_A, hashed, 1 << 32) & _MASK
    return np.array([*np.random.SeedSequence(seed).pool, constant], np.uint32)


def _words_in(seed: Any) -> int:
    if isinstance(seed, int | np.integer):
        return max(-(-int(seed).bit_length() // 32), 1)
    return sum(map(_words_in, seed))


def words_of(root: Column, positions: Column, stream: int, count: int) -> Column:
    """The first words of one stream of these elements: (elements, count)."""
    pool = [np.full(len(positions), word, np.uint32) for word in root[:_POOL]]
    constant = int(root[_POOL])
    for word in (positions.astype(np.uint32), np.full(len(positions), stream, np.uint32)):
        for i in range(_POOL):
            hashed, constant = _hashed(word, constant, _MULT_A)
            mixed: Column = _MIX_L * pool[i] - _MIX_R * hashed
            pool[i] = mixed ^ (mixed >> _HALF)
    out = np.empty((len(positions), count), np.uint32)
    constant = _INIT_B
    for i in range(count):
        out[:, i], constant = _hashed(pool[i % _POOL], constant, _MULT_B)
    return out


def _hashed(word: Column, constant: int, factor: int) -> tuple[Column, int]:
    following = constant * factor & _MASK
    word = (word ^ np.uint32(constant)) * np.uint32(following)
    return word ^ (word >> _HALF), following
