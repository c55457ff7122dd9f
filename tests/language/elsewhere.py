"""What another module of the user's holds: functions, constants, an object."""

from __future__ import annotations

import functools

RATE = 0.25
LIMITS = {"low": 1, "high": 9}


class Settings:
    gain = 1.5

    def __init__(self) -> None:
        self.offset = 2


settings = Settings()


def scaled(x, by=RATE):
    return x * by


def clamped(x, *, low=None, high=None):
    if low is not None and x < low:
        return low
    if high is not None and x > high:
        return high
    return x


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def traced(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


def doubled(f):
    @functools.wraps(f)
    def wrapper(x):
        return 2 * f(x)

    return wrapper


def repeated(times):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(x):
            for _ in range(times):
                x = f(x)
            return x

        return wrapper

    return decorate


@traced
def shifted(x, by=1):
    return x + by


@doubled
def squared(x):
    return x * x


@repeated(3)
def halved(x):
    return x / 2


def evens(limit):
    n = 0
    while n < limit:
        yield n
        n += 2


def positive(x):
    if x <= 0:
        raise ValueError(f"{x} is not positive")
    return x


class TooLarge(Exception):
    pass


class FarTooLarge(TooLarge):
    pass


def limited(x):
    if x > 100:
        raise FarTooLarge(x)
    if x > 10:
        raise TooLarge(f"{x} > 10")
    return x
