"""When a decorated function is looked at next, and how many calls one look stands for."""

from __future__ import annotations

from collections.abc import Iterator

from .code_swap import ticks_of

LOOK = 5e-6
"""Seconds that a look costs more than a plain call."""
SHARE = 0.01
"""Of the time of a function, what looks may cost."""
FIRST_PAUSES = (0, 7, 119)
"""Calls before each of the first looks: a new function is not looked at too closely."""
GLIMPSES = 2
"""Of the first looks, those at the clock only, unless a call is long."""
LONGEST_PAUSE = 511
"""Calls between two looks, at most: so many may become dear before it is noticed."""
FAST_PAUSE = 511
"""The same where calls go to machine code."""


class Pace:
    """How closely a function is looked at."""

    __slots__ = ("fast_pause", "looks", "pause", "young")

    def __init__(self) -> None:
        self.looks = 0
        self.pause = LONGEST_PAUSE
        self.fast_pause = FAST_PAUSE
        self.young = True
        """Whether the first looks are still as they were planned."""

    def ticks(self) -> Iterator[bool]:
        """False for a call that is looked at."""
        return ticks_of(*FIRST_PAUSES, self.pause) if self.young else ticks_of(self.pause)

    def fast_ticks(self) -> Iterator[bool]:
        """The same for calls of machine code."""
        return ticks_of(self.fast_pause)

    @property
    def glimpses(self) -> bool:
        """Whether the next look is at the clock only."""
        return self.looks < GLIMPSES and self.young and len(FIRST_PAUSES) > GLIMPSES

    @property
    def last_glimpse(self) -> bool:
        """Whether this was the last look at the clock only."""
        return self.looks == GLIMPSES

    def stands_for(self) -> int:
        """How many calls this look tells of."""
        return 1 + (FIRST_PAUSES[self.looks - 1] if self.young and self.looks <= len(FIRST_PAUSES) else self.pause)

    @property
    def stands_for_fast(self) -> int:
        """The same for a look at a call of machine code."""
        return self.fast_pause + 1

    def hurry(self) -> None:
        """Look at nearly every call: there is machine code to be compared with the plain function."""
        self.pause, self.young = 1, False

    def changes(self, took: float) -> bool:
        """Whether other pauses are due: looks may cost a small share of a function's time."""
        wanted = _wanted(took, LONGEST_PAUSE)
        if self.young and self.looks < len(FIRST_PAUSES):
            due = wanted < FIRST_PAUSES[self.looks]
        else:
            due = _is_far(wanted, self.pause)
        if due:
            self.pause, self.young = wanted, False
        return due

    def changes_fast(self, took: float) -> bool:
        """The same for calls of machine code."""
        wanted = _wanted(took, FAST_PAUSE)
        due = _is_far(wanted, self.fast_pause)
        if due:
            self.fast_pause = wanted
        return due


def _wanted(took: float, longest: int) -> int:
    """Calls between two looks at calls that take so long."""
    return min(int(LOOK / (SHARE * took + 1e-12)), longest)


def _is_far(wanted: int, pause: int) -> bool:
    return not pause // 4 <= wanted <= 2 * pause + 1
