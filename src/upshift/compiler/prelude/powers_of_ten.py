"""Powers of ten in 128 bits, from which the shortest digits of a float are found."""

from __future__ import annotations

import functools

LEAST, MOST = -292, 324
"""Exponents of the powers that doubles need."""


def _power(k: int) -> tuple[int, int]:
    """`10 ** k`, scaled so that its highest bit is the 128th, rounded up to the next: its upper and lower half."""
    size = (10**k).bit_length() if k >= 0 else -((10**-k - 1).bit_length()) + 1  # of 10 ** k, one bit behind the point
    shift = 128 - size
    scaled = (10**k << shift if shift >= 0 else 10**k >> -shift) if k >= 0 else (1 << shift) // 10**-k
    scaled += 1
    return scaled >> 64, scaled & (2**64 - 1)


@functools.cache
def powers() -> list[int]:
    """Upper and lower halves of all of them; made when they are first needed, which takes a millisecond."""
    return [half for k in range(LEAST, MOST + 1) for half in _power(k)]
