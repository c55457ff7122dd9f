"""Functions to be mapped: random numbers, with a state of the function's own that each call repeats."""

from __future__ import annotations

import random

import numpy as np

from functions.data import SMALL_INTS, UNIT
from functions.table import Table

table = Table("randoms")
row = table.row


@row(SMALL_INTS, must_batch=False)
def seeded_by_element(x):
    return random.Random(int(x)).random()


@row(UNIT, must_batch=False)
def seeded_by_constant(x):
    dice = random.Random(3)
    return x + dice.gauss(0, 1) * dice.uniform(1, 2)


@row(UNIT, must_batch=False)
def draws_by_branch(x):
    dice = random.Random(5)
    return dice.random() if x > 0 else dice.random() + dice.randint(1, 6)


@row(SMALL_INTS, must_batch=False)
def numpy_generator_of_its_own(x):
    return np.random.default_rng(int(x)).normal()


@row(UNIT, must_batch=False)
def shuffled(x):
    values = [x, 1, 2, 3]
    random.Random(1).shuffle(values)
    return values


@row(UNIT, must_batch=False)
def chosen(x):
    return random.Random(2).choice([x, -x, 0.5])
