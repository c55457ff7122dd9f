"""Numbers in, numbers out: what another module of the user holds (functions, constants, an object)."""

from __future__ import annotations

import math

K = 3
SCALE = 0.25
TABLE = [1.0, 10.0, 100.0]
OPTIONS = {"offset": 2, "deep": {"gain": 4.0}}


class Settings:
    limit = 1.5


settings = Settings()


def scale(x):
    return x * SCALE


def shift(x, by=K):
    return x + by


def normal_density(x, mean=0.0, deviation=1.0):
    z = (x - mean) / deviation
    return math.exp(-0.5 * z * z) / (deviation * math.sqrt(2 * math.pi))


def checked(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return x


def twice(g, x):
    return g(g(x))
